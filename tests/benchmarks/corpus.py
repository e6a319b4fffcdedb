"""Files of any number of specs, with what real ones hold: ranges, residues, derived dims, containers, dtypes."""

from __future__ import annotations

from random import Random

FIRST_FILE = """\
# project.shapes
language 1

dim B in [0, 1024] hint 8
dim D hint 64

def project(x: Tensor[B, D], w: Tensor[D, D]) -> Tensor[B, D]:
    where B < 32
"""

_KINDS = (
    """\
def project_{i}(x: Tensor[B, D], w: Tensor[D, D]) -> Tensor[B, D]:
    where B < {bound}
""",
    """\
def attend_{i}(q: float16[B, 12, T, 64], k: float16[B, 12, S, 64], mask: bool[B, 1, T, S]) -> float16[B, 12, T, 64]:
    dim T in [1, {bound}] hint 16
    where T <= S, S <= 4 * {bound}
""",
    """\
def decode_{i}(ids: int64[B, 1], past: [(float16[B, 8, P, 64], float16[B, 8, P, 64])] * 4, step: Scalar[n]) -> Tensor[B, P + 1]:
    int n in [0, {bound}]
    where n <= P  # the cache is never behind
""",
    """\
def pool_{i}(image: floating[B, 3, 2 * H, 2 * W], sizes: {{"h": Scalar, "w": Scalar}} = _) -> floating[B, 3, H, W]:
    dim H, W in [1, {bound}] multiple of 4
    where H == W or H * W <= 16 * {bound}
""",
)


def specs(count: int) -> str:
    """Returns a file of ``count`` specs."""
    head = "language 1\n\ndim B in [1, 1024] hint 8\ndim D hint 64\n\n"
    return head + "\n".join(_KINDS[i % len(_KINDS)].format(i=i, bound=32 + i % 200) for i in range(count))


def cases(count: int) -> str:
    """Returns a spec with ``count`` cases over four variables: none overlap, and none is missing.

    Args:
        count: A multiple of 4, or one short of it by 2: then the last cases are broader.
    """
    parts = ("S % 8 == 0, T <= 64", "S % 8 == 0, T >= 65", "S % 8 != 0, H * T <= 4096", "S % 8 != 0, H * T > 4096")
    lines = []
    for at in range(count):
        low = 1 + 8 * (at // 4)
        limits = f"B in [{low}, {low + 7}]" if at // 4 < count // 4 else f"B >= {low}"
        rest = parts[at % 4] if at // 4 < count // 4 else parts[2 * (at % 4)][:10]
        lines.append(f"    case part_{at}: {limits}, {rest}\n")
    most = 8 * (count // 4) if count % 4 == 0 else 4096
    head = "language 1\n\ndef attend(q: Tensor[B, H, S], k: Tensor[B, H, T]):\n"
    return f"{head}    dim B in [1, {most}]\n    dim S, T, H in [1, 4096]\n" + "".join(lines)


def grid(count: int) -> str:
    """Returns a spec with ``count`` cases that cover a box of four variables exactly, in no order."""
    random = Random(count)
    boxes = [dict.fromkeys("BDKS", (0, 255))]
    while len(boxes) < count:
        boxes.sort(key=lambda box: -sum(high - low for low, high in box.values()))
        widest = boxes.pop(0)
        name = max("BDKS", key=lambda name: (widest[name][1] - widest[name][0], random.random()))
        low, high = widest[name]
        middle = random.randint(low, high - 1)
        boxes += [{**widest, name: (low, middle)}, {**widest, name: (middle + 1, high)}]
    random.shuffle(boxes)
    lines = [
        f"    case part_{at}: " + ", ".join(f"{name} in [{low}, {high}]" for name, (low, high) in box.items()) + "\n"
        for at, box in enumerate(boxes)
    ]
    head = "language 1\n\ndef f(x: Tensor[B, D, K, S]):\n    where B <= 255, D <= 255, K <= 255, S <= 255\n"
    return head + "".join(lines)
