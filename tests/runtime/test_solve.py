"""Variables that cannot be read off one dim after the other: found as lowering finds them, or refused."""

from __future__ import annotations

import pytest

from shapedsl import pipeline
from shapedsl.diagnostics import Report, ShapeError
from shapedsl.runtime.bind import Sizes, binder
from shapedsl.runtime.check import checker

from .fakes import TENSORS, FakeTensor, signature

PRODUCT = "def f(a: Tensor[A], x: Tensor[A * B]): where "


def check(text: str, *shapes: tuple[int, ...]) -> str:
    """Returns the code of the error that a call with tensors of these shapes raises, or ``""``."""
    try:
        checker(signature(text), TENSORS, solve=pipeline.solve)(*(FakeTensor(*shape) for shape in shapes))
    except ShapeError as error:
        return error.code or "?"
    return ""


def bind(text: str, *shapes: tuple[int, ...]) -> Sizes:
    found: Sizes = binder(signature(text), TENSORS, solve=pipeline.solve)(*(FakeTensor(*shape) for shape in shapes))
    return found


@pytest.mark.parametrize(
    ("text", "good", "sizes", "bad"),
    [
        # a canonical dim is bare
        ("def f(x: Tensor[max(A, 0)]): where A <= 3", [(2,)], {"A": 2}, [(9,)]),
        ("def f(x: Tensor[min(A, A)]): where A <= 3", [(3,)], {"A": 3}, [(4,)]),
        # an assumption pins what a product hides
        (PRODUCT + "B == 3", [(2,), (6,)], {"A": 2, "B": 3}, [(2,), (7,)]),
        (PRODUCT + "B >= 3, B <= 3", [(0,), (0,)], {"A": 0, "B": 3}, [(0,), (3,)]),
        # an assumption ties it to what is known
        (PRODUCT + "B == A", [(3,), (9,)], {"A": 3, "B": 3}, [(3,), (6,)]),
        (PRODUCT + "2 * B == A + 2", [(4,), (12,)], {"A": 4, "B": 3}, [(3,), (7,)]),
        # a floor of a known residue is exact
        ("def f(x: Tensor[B // 8]): where B % 8 == 0, B <= 16", [(2,)], {"B": 16}, [(3,)]),
        ("def f(x: Tensor[A + B, B // 2]): where B % 2 == 0", [(5, 1)], {"A": 3, "B": 2}, [(1, 1)]),
        # what no size depends on needs no value
        ("const H = _\ndef f(x: Tensor[max(H, 0), 2]): where H <= 3", [(2, 2)], {"H": 2}, [(4, 2)]),
    ],
)
def test_what_lowering_can_invert_is_checked(
    text: str, good: list[tuple[int, ...]], sizes: Sizes, bad: list[tuple[int, ...]]
) -> None:
    assert check(text, *good) == ""
    assert bind(text, *good) == sizes
    assert check(text, *bad) == "shape-violation"


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("def f(x: Tensor[A // 2]): where A in [4, 5]", [(2,)]),
        ("def f(x: Tensor[A**2]): where A <= 3", [(4,)]),
        ("def f(x: Tensor[A * B, A]): where B in [1, 3]", [(6, 2)]),
        ("def f(x: Tensor[C % 2]): ...", [(1,)]),
        ("def f(x: Tensor[A - A + 2]): where A <= 3", [(2,)]),
        ("def f(x: Tensor[*s, A * B], y: Tensor[A]): ...", [(2, 6), (2,)]),  # known at the first call only
    ],
)
def test_what_nobody_can_invert_is_refused(text: str, shapes: list[tuple[int, ...]]) -> None:
    assert check(text, *shapes) == "not-invertible"
    with pytest.raises(ShapeError, match="not-invertible"):
        bind(text, *shapes)


def test_without_algebra_nothing_is_skipped_either() -> None:
    with pytest.raises(ShapeError, match=r"`B` cannot be computed from `A \* B`"):
        checker(signature(PRODUCT + "B == 3"), TENSORS)


def test_the_explanation_says_that_an_assumption_gave_the_size() -> None:
    with pytest.raises(ShapeError) as caught:
        bind(PRODUCT + "B == 3", (2,), (7,))
    assert "`x.shape[0]` is 7, expected `A * B` = 6" in str(caught.value)
    assert "`B` is 3, from the assumptions" in str(caught.value)


def test_static_sizes_are_found_where_they_do_not_stand_bare() -> None:
    report = Report()
    arguments = {"x": FakeTensor(2, 3)}
    spec = signature("const H = _\ndef f(x: Tensor[B, max(H, 0)]): where B <= H")
    expanded = pipeline.at_structure(spec, arguments, TENSORS.is_tensor, report)
    assert expanded is not None
    assert pipeline.static_sizes(expanded, arguments) == {"H": 3}
