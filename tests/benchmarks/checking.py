"""``shapedsl check`` by the number of specs, and of one spec by the number of its cases; and `Spec.check` of a call.

The call is checked against asserts that a user would write by hand, and against jaxtyping with beartype, on the same
two tensors. All three say the same: class, dtype and rank of both, three equal sizes, and a bound.
"""

from __future__ import annotations

import statistics
import sys
import time
import timeit
from collections.abc import Callable, Iterator
from typing import Any

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source

from .corpus import cases, grid, specs
from .measure import Row, side_by_side, timed

CALL = """
def project(x: float32[B, D], w: float32[D, D]):
    where B < 32
"""
REFUSED = """
def attend(q: Tensor[B, H, S, 64], k: Tensor[B, H, T, 64], v: Tensor[B, H, T, 64], mask: Tensor[B, S, T]):
    where S % 8 == 0, S <= T, T <= 4096, B * H <= 512
"""


def check(text: str, allowed: frozenset[str] = frozenset()) -> Callable[[], Report]:
    """Returns a call that checks ``text``, which holds nothing wrong but what is ``allowed``."""
    source = Source("specs.shapes", text)

    def run() -> Report:
        report = Report()
        pipeline.check(source, report)
        unexpected = [each for each in report if each.code not in allowed]
        assert not unexpected, unexpected
        return report

    return run


def rows() -> Iterator[Row]:
    """Yields the rows."""
    timed(check(specs(4)))
    for count in (300, 1000):
        ours, theirs = side_by_side(check(specs(count)), check(specs(100)), rounds=5, budget=40)
        yield Row(
            f"`check`: one of {count:,} specs ({1000 * ours / count:.2f} ms)",
            "one of 100",
            (ours / count) / (theirs / 100),
            2.0,
            ours / count,
        )
    for what, text in (("boxes", grid), ("residues and products", cases)):
        for count in (40, 80):
            ours, theirs = side_by_side(check(text(count)), check(text(10)), rounds=5, budget=20)
            yield Row(
                f"`check` of {count} cases over 4 variables, {what} ({1000 * ours:.0f} ms)",
                f"10 cases ({1000 * theirs:.0f} ms)",
                ours / theirs,
                None,
                ours,
            )
    yield from calls()


def calls() -> Iterator[Row]:
    """Yields what checking a call costs."""
    import torch

    import shapedsl as sd

    torch.set_num_threads(1)  # else what other processes do shows in every call
    x, w = torch.randn(8, 64), torch.randn(64, 64)
    spec = sd.loads(CALL)["project"]

    def by_hand(x: Any, w: Any) -> None:
        assert isinstance(x, torch.Tensor)
        assert isinstance(w, torch.Tensor)
        assert x.dtype is torch.float32
        assert w.dtype is torch.float32
        assert x.ndim == 2
        assert w.ndim == 2
        b, d = x.shape
        assert w.shape == (d, d)
        assert b < 32

    def tersely(x: Any, w: Any) -> None:
        assert x.dtype is torch.float32
        assert w.dtype is torch.float32
        b, d = x.shape
        assert w.shape == (d, d)
        assert b < 32

    calls: dict[str, Callable[[], object]] = {
        "ours": lambda: spec.check(x, w),
        "hand": lambda: by_hand(x, w),
        "terse": lambda: tersely(x, w),
        "bind": lambda: spec.bind(x, w),
    }
    if (theirs := _jaxtyped()) is not None:
        calls["theirs"] = lambda: theirs(x, w)
    seconds = _fastest(calls)
    ours = seconds["ours"]
    label = f"`spec.check` of two tensors ({ours * 1e6:.2f} µs)"
    yield Row(label, "asserts by hand", ours / seconds["hand"], 1.5, ours)
    yield Row("the same", "asserts on sizes and dtypes alone, no more than these", ours / seconds["terse"], None, ours)
    if "theirs" in seconds:
        other = seconds["theirs"]
        yield Row("the same", f"jaxtyping with beartype ({other * 1e6:.0f} µs)", ours / other, 0.05, ours)
    bind = seconds["bind"]
    yield Row(f"`spec.bind` of them ({bind * 1e6:.2f} µs)", "`spec.check`", bind / ours, None, bind)

    attend = sd.loads(REFUSED)["attend"]
    arguments = [torch.empty(shape, device="meta") for shape in _REFUSED_SHAPES]

    def refuse() -> None:
        try:
            attend.check(*arguments)
        except sd.ShapeError:
            return
        raise AssertionError

    refuse()
    slow = statistics.median(timed(refuse) for _ in range(25))
    yield Row(
        f"the error of a refused call, with the nearest accepted ({slow * 1e3:.1f} ms)", "50 ms", slow / 0.05, 1.0
    )


_REFUSED_SHAPES = (4, 8, 100, 64), (4, 8, 90, 64), (4, 8, 90, 64), (4, 100, 91)


def _jaxtyped() -> Callable[..., object] | None:
    try:
        from beartype import beartype
        from jaxtyping import Float32, jaxtyped  # pyright: ignore[reportUnknownVariableType]
    except ImportError:
        print("jaxtyping or beartype is not installed: not compared (pip install -e '.[test]')", file=sys.stderr)
        return None
    from torch import Tensor

    def project(x: Any, w: Any) -> None:
        assert x.shape[0] < 32

    project.__annotations__ = {"x": Float32[Tensor, "B D"], "w": Float32[Tensor, "D D"], "return": None}
    made: Callable[..., object] = jaxtyped(typechecker=beartype)(project)
    return made


def _fastest(calls: dict[str, Callable[[], object]], rounds: int = 25) -> dict[str, float]:
    """Returns the seconds of one call of each, timed in turns; the fastest round, since calls are short."""
    numbers: dict[str, int] = {}
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        numbers[name] = max(1, int(0.005 / (time.perf_counter() - start)))
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            best[name] = min(best[name], timeit.timeit(call, number=numbers[name]) / numbers[name])
    return best
