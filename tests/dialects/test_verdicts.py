"""jaxtyping's own verdict: what it accepts, the spec made of the same annotations accepts, and nothing else."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="empty-body,misc,name-defined,type-arg,unused-ignore,untyped-decorator,valid-type,attr-defined"

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import shapedsl as sd

torch = pytest.importorskip("torch", reason="jaxtyping's annotations here are of torch's tensors")
jaxtyping = pytest.importorskip("jaxtyping", reason="its verdict is what is compared with")
beartype = pytest.importorskip("beartype", reason="jaxtyping's decorator takes a checker")

# Names first: jaxtyping evaluates an expression when it meets it, and `#b` may leave `b` without a value.
BINDING = ("b", "t", "d")
AXES = (
    *("b", "t", "d", "b", "t", "#b", "#t", "_", "_any", "3", "rows=2", "1", "#3"),
    *("b+1", "2*t", "t-1", "(b+1)//2", "min(b,t)", "max(b,d)", "b%2", "b*t", "{n}", "{n}+1", "#{n}", "#b+t", "b**2"),
)
RUNS = ("*batch", "...", "*_", "*_any", "*batch")


@st.composite
def texts(draw: DrawFn) -> str:
    axes = draw(st.lists(st.sampled_from(AXES), max_size=3))
    if draw(st.integers(0, 2)) == 0:
        axes.insert(draw(st.integers(0, len(axes))), draw(st.sampled_from(RUNS)))
    return draw(st.sampled_from((" ", "  "))).join(axes)


@st.composite
def calls(draw: DrawFn) -> tuple[list[str], list[tuple[int, ...]], int]:
    """Draws the texts of some parameters, the shapes of a call, and an int."""
    written = [" ".join(BINDING), *draw(st.lists(texts(), min_size=1, max_size=3))]
    values = {name: draw(st.integers(0, 4)) for name in BINDING}
    values["n"] = draw(st.integers(0, 4))
    batch = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    shapes = []
    for text in written:
        shape: list[int] = []
        for axis in text.split():
            shape += _sizes(draw, axis, values, batch)
        if draw(st.integers(0, 3)) == 0 and shape:  # spoil one
            at = draw(st.integers(0, len(shape) - 1))
            shape[at] = draw(st.integers(0, 5))
        if draw(st.integers(0, 11)) == 0:
            shape.append(1)
        shapes.append(tuple(shape))
    return written, shapes, values["n"]


def _sizes(draw: DrawFn, axis: str, values: dict[str, int], batch: tuple[int, ...]) -> tuple[int, ...]:
    """Returns sizes that ``axis`` takes, as a rule."""
    if axis == "*batch":
        return batch
    if axis.startswith((".", "*")):
        return tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    if axis.startswith("_"):
        return (draw(st.integers(0, 4)),)
    if axis.startswith("#") and draw(st.booleans()):
        return (1,)
    expression = axis.lstrip("#").rpartition("=")[2].replace("{n}", "n")
    return (max(eval(expression, {"min": min, "max": max}, dict(values)), 0),)


def theirs(written: list[str], shapes: list[tuple[int, ...]], n: int) -> bool | None:
    """Returns jaxtyping's verdict; None where it has none."""
    f = function(written)
    try:
        jaxtyping.jaxtyped(f, typechecker=beartype.beartype)(*map(torch.zeros, shapes), n)
    except jaxtyping.TypeCheckError as error:
        cause = error.__cause__
        while cause is not None:
            if isinstance(cause, jaxtyping.AnnotationError):
                return None
            cause = cause.__cause__
        return False
    except jaxtyping.AnnotationError:
        return None
    return True


def ours(written: list[str], shapes: list[tuple[int, ...]], n: int) -> bool:
    """Returns the spec's verdict."""
    spec = sd.spec_of(function(written))
    assert spec is not None
    try:
        spec.check(*map(torch.zeros, shapes), n)
    except sd.ShapeError as error:
        assert error.code in ("shape-violation", "rank-mismatch"), str(error)
        return False
    return True


def function(written: list[str]) -> Any:
    names = [f"x{i}" for i in range(len(written))]
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(f"def f({', '.join(names)}, n): ...", namespace)
    made = namespace["f"]
    made.__annotations__ = {
        name: jaxtyping.Float[torch.Tensor, text] for name, text in zip(names, written, strict=True)
    } | {"n": int}
    return made


@given(calls())
@settings(max_examples=150, suppress_health_check=list(HealthCheck), deadline=None)
def test_both_say_the_same(call: tuple[list[str], list[tuple[int, ...]], int]) -> None:
    verdict = theirs(*call)
    if verdict is not None:
        assert ours(*call) == verdict


def test_both_verdicts_are_drawn() -> None:
    """Else the law above would hold of nothing."""
    seen: Counter[bool | None] = Counter()

    @given(calls())
    @settings(max_examples=60, derandomize=True, database=None, suppress_health_check=list(HealthCheck), deadline=None)
    def collect(call: tuple[list[str], list[tuple[int, ...]], int]) -> None:
        seen[theirs(*call)] += 1

    collect()
    assert seen[True] >= 10
    assert seen[False] >= 10


@pytest.mark.parametrize(
    ("texts", "shapes", "accepted"),
    [
        (("#b", "#b"), ((1,), (5,)), True),
        (("#b", "#b"), ((4,), (5,)), False),
        (("#b", "#b", "#b"), ((4,), (1,), (5,)), False),
        (("#b", "#b", "#b"), ((4,), (1,), (4,)), True),
        (("#b", "b"), ((1,), (5,)), True),
        (("#b", "b"), ((0,), (5,)), False),
        (("b #b",), ((3, 1),), True),
        (("b #b",), ((3, 2),), False),
        (("#b c", "#b c"), ((1, 2), (0, 2)), True),
        (("#4",), ((1,),), True),
        (("#4",), ((3,),), False),
    ],
)
def test_broadcast_sizes(texts: tuple[str, ...], shapes: tuple[tuple[int, ...], ...], accepted: bool) -> None:
    call = list(texts), list(shapes), 0
    assert (theirs(*call), ours(*call)) == (accepted, accepted)
