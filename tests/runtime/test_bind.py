"""`bind`: the sizes of a call by name."""

from __future__ import annotations

from typing import Any

import pytest

from shapedsl.diagnostics import ShapeError
from shapedsl.runtime.bind import Sizes, binder
from tests.runtime.fakes import TENSORS, FakeTensor, signature

T = FakeTensor


def bind(text: str, *args: Any, **kwargs: Any) -> Sizes:
    found: Sizes = binder(signature(text), TENSORS)(*args, **kwargs)
    return found


@pytest.mark.parametrize(
    ("text", "args", "sizes"),
    [
        ("def f(x: Tensor[B, D], w: Tensor[D, D]): ...", (T(8, 64), T(64, 64)), {"B": 8, "D": 64}),
        ("def f(x: Tensor[*batch, D]): ...", (T(2, 3, 4),), {"batch": (2, 3), "D": 4}),
        ("def f(x: Tensor[*batch, D]): ...", (T(4),), {"batch": (), "D": 4}),
        ("def f(x: Tensor[*batch]): ...", (T(4),), {"batch": (4,)}),
        ("def f(x: Tensor[2 * B + 1]): ...", (T(9),), {"B": 4}),
        ("def f(x: Tensor[B - 10]): ...", (T(9),), {"B": 19}),
        ("def f(x: Tensor[20 - B]): ...", (T(9),), {"B": 11}),
        ("int n\ndef f(n: Scalar[-3 * n]): ...", (12,), {"n": -4}),
        ("def f(x: Tensor[?, _, B], y: [Tensor[?K], ...]): ...", (T(1, 2, 3), [T(1)]), {"B": 3}),
        ("const HD, NL = _\ndef f(x: [Tensor[HD]] * NL): ...", ([T(64), T(64)],), {"HD": 64, "NL": 2}),
        ("def f(x: Tensor[B], m: Tensor[M] | None): ...", (T(3), None), {"B": 3}),
        ("def f(x: Tensor[P + T], y: Tensor[T]): ...", (T(10), T(4)), {"P": 6, "T": 4}),
        ("def f(x: Tensor[A + B], y: Tensor[A - B]): ...", (T(7), T(3)), {"A": 5, "B": 2}),
        (
            "def f(x: Tensor[A + B], y: Tensor[B + C], z: Tensor[A + C]): ...",
            (T(3), T(5), T(4)),
            {"A": 1, "B": 2, "C": 3},
        ),
        (
            "def f(x: Tensor[2 * A + 3 * B + K], y: Tensor[A + B], k: Tensor[K]): ...",
            (T(19), T(5), T(7)),
            {"A": 3, "B": 2, "K": 7},
        ),
        ("def f(): ...", (), {}),
    ],
)
def test_sizes(text: str, args: tuple[object, ...], sizes: Sizes) -> None:
    assert bind(text, *args) == sizes


def test_names_are_sorted() -> None:
    assert list(bind("def f(z: Tensor[Z, A]): ...", T(1, 2))) == ["A", "Z"]


def test_assumptions_are_not_looked_at_but_sizes_must_agree() -> None:
    text = "def f(x: Tensor[B], y: Tensor[B]):\n    where B < 4"
    assert bind(text, T(9), T(9)) == {"B": 9}
    with pytest.raises(ShapeError, match=r"`y.shape\[0\]` is 8, expected `B` = 9"):
        bind(text, T(9), T(8))
