"""``@shapes`` while a module is imported and at each call, checked and not, against jaxtyping with beartype.

Both get the same functions. Of the time at import only what annotations and decorators add counts: the same module
without them is subtracted.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable, Iterator
from typing import Any

from .measure import Row, side_by_side

COUNT = 200

_OURS = """\
from shapedsl import Tensor, shapes, where
from shapedsl.dims import B, D
"""
_OUR_FUNCTION = """\
@shapes(hints={{"B": 8}})
@where("B < 1024")
def project_{i}(x: Tensor[B, D], w: Tensor[D, D], scale_{i}: Tensor["D"]) -> Tensor[B, D]:
    return x
"""
_THEIRS = """\
from beartype import beartype
from jaxtyping import Float, jaxtyped
from torch import Tensor
"""
_THEIR_FUNCTION = """\
@jaxtyped(typechecker=beartype)
def project_{i}(x: Float[Tensor, "B D"], w: Float[Tensor, "D D"], scale_{i}: Float[Tensor, "D"]) -> Float[Tensor, "B D"]:
    return x
"""
_PLAIN_FUNCTION = """\
def project_{i}(x, w, scale_{i}):
    return x
"""


def _module(head: str, function: str, count: int = COUNT) -> tuple[Callable[[], dict[str, Any]], dict[str, Any]]:
    """Returns a call that runs a module of ``count`` functions, its imports done, and the namespace of the imports."""
    namespace: dict[str, Any] = {"__name__": "benchmark"}
    exec(compile(head, "<head>", "exec"), namespace)
    code = compile("".join(function.format(i=i) for i in range(count)), "<functions>", "exec", dont_inherit=True)

    def run() -> dict[str, Any]:
        made = dict(namespace)
        exec(code, made)
        return made

    return run, namespace


def rows() -> Iterator[Row]:
    """Yields the rows."""
    try:
        import beartype  # noqa: F401
        import jaxtyping  # noqa: F401
    except ImportError:
        print("jaxtyping or beartype is not installed: not compared (pip install -e '.[test]')", file=sys.stderr)
        return
    import torch

    ours, _ = _module(_OURS, _OUR_FUNCTION)
    theirs, _ = _module(_THEIRS, _THEIR_FUNCTION)
    plain, _ = _module("", _PLAIN_FUNCTION)
    first, base = side_by_side(ours, plain, rounds=25)
    second, other_base = side_by_side(theirs, plain, rounds=5)
    mine, other = (first - base) / COUNT, (second - other_base) / COUNT
    yield Row(
        f"`@shapes` on a function, while its module is imported ({mine * 1e6:.2f} µs)", "20 µs", mine / 20e-6, 1.0
    )
    yield Row("the same", f"jaxtyping with beartype ({other * 1e6:.0f} µs)", mine / other, 0.1, mine)

    torch.set_num_threads(1)  # else what other processes do shows in every call
    arguments = torch.randn(8, 64), torch.randn(64, 64), torch.randn(64)
    annotated, bare = ours()["project_0"], plain()["project_0"]
    mine, other = _fastest(lambda: annotated(*arguments), lambda: bare(*arguments))
    yield Row("calling it", "calling it without", mine / other, 1.05, mine)

    run, _ = _module(_OURS, _OUR_FUNCTION.replace("@shapes(", "@shapes(check=True, "), 1)
    checked, theirs_checked = run()["project_0"], theirs()["project_0"]
    mine, other = _fastest(lambda: checked(*arguments), lambda: theirs_checked(*arguments), number=1000)
    yield Row(
        f"calling it with `check=True` ({mine * 1e6:.2f} µs)",
        f"jaxtyping with beartype ({other * 1e6:.0f} µs)",
        mine / other,
        0.1,
        mine,
    )


def _fastest(first: Callable[[], object], second: Callable[[], object], number: int = 20_000) -> tuple[float, float]:
    """Returns the seconds of one call of each, timed in turns; the fastest round, since calls are short."""
    first(), second()
    rounds = [[timeit.timeit(call, number=number) / number for call in (first, second)] for _ in range(25)]
    return min(a for a, _ in rounds), min(b for _, b in rounds)
