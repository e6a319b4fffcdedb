"""What a program needs beyond its spec is told in the spec's names, where torch reports a bug of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="compiling needs torch")

from shapedsl.diagnostics import ShapeError
from tests.entry.compiling import compiled

ones = torch.ones
DEMANDS: list[tuple[Callable[..., Any], str, tuple[int, ...], tuple[int, ...], str]] = [
    (lambda x, y: x + y, "def f(x: Tensor[A], y: Tensor[B]): ...", (3, 3), (3, 4), "A == B"),
    (lambda x: x.view(-1, 4) + 1, "def f(x: Tensor[A]): ...", (8,), (7,), "A % 4 == 0"),
    (lambda x: x[5] + 1, "def f(x: Tensor[A]): ...", (8,), (3,), "A >= 6"),
    (
        lambda y, x: x.view(-1, 4) + y.sum(),
        "def f(y: Tensor[B], x: Tensor[2 * A]): ...",
        (1, 8),
        (1, 6),
        "A % 2 == 0",
    ),
]


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(("target", "text", "good", "bad", "needed"), DEMANDS)
def test_the_demand_is_told(
    target: Callable[..., Any], text: str, good: tuple[int, ...], bad: tuple[int, ...], needed: str, backend: str
) -> None:
    run, _ = compiled(target, text, backend=backend)
    run(*map(ones, good))
    for _ in range(2):
        with pytest.raises(ShapeError) as caught:
            run(*map(ones, bad))
        assert caught.value.code == "extra-assumption"
        assert caught.value.diagnostics[0].message == f"the program needs `{needed}`, which the spec does not promise"
    run(*map(ones, good))


@pytest.mark.parametrize(
    ("target", "text", "good", "bad", "said"),
    [
        (lambda x: x + ones(4), "def f(x: Tensor[A]): ...", ones(4), ones(3), "`x.shape[0]`: `A == 4`"),
        (
            lambda x: x + ones(2, 4),
            "def f(x: Tensor[?, 2 * A]): ...",
            ones(2, 4),
            ones(2, 6),
            "`x.shape[1]`: `2 * A == 4`",
        ),
        (
            lambda x: x["k"][0] + ones(4),
            'def f(x: {"k": [Tensor[A]]}): ...',
            {"k": [ones(4)]},
            {"k": [ones(3)]},
            '`x["k"][0].shape[0]`: `A == 4`',
        ),
    ],
    ids=["bare", "derived", "nested"],
)
def test_a_pinned_size_is_told(target: Callable[..., Any], text: str, good: Any, bad: Any, said: str) -> None:
    run, _ = compiled(target, text, backend="eager")
    run(good)
    with pytest.raises(ShapeError) as caught:
        run(bad)
    assert caught.value.code == "specialized-dim"
    assert caught.value.diagnostics[0].message == f"the program pinned {said}"


def test_plain_torch_says_that_it_has_a_bug() -> None:
    from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec

    spec = ShapesSpec({"x": TensorSpec([ShapeVar("A")]), "y": TensorSpec([ShapeVar("B")])})
    run = torch.compile(lambda x, y: x + y, backend="eager", fullgraph=True, dynamic_shapes=spec)
    run(ones(3), ones(3))
    with pytest.raises(AssertionError, match="This is a bug - please create an issue"):
        run(ones(3), ones(4))


def test_errors_that_are_the_programs_own_are_left_alone() -> None:
    def f(x: Any) -> Any:
        raise RuntimeError("u0 is a fine name")

    run, _ = compiled(f, "def f(x: Tensor[A]): ...", disable=True)
    with pytest.raises(RuntimeError, match="u0 is a fine name") as caught:
        run(ones(2))
    assert not isinstance(caught.value, ShapeError)


@pytest.mark.slow
def test_inductor() -> None:
    if shutil.which("g++") is None and shutil.which("clang++") is None:
        pytest.skip("inductor needs a C++ compiler")
    text = "dim B in [1, 64]\ndef f(x: Tensor[B, D], w: Tensor[D, D]):\n    where D >= 2"
    run, _ = compiled(lambda x, w: (x @ w).relu().view(-1, 4), text, backend="inductor")
    for size in (1, 4, 7):
        assert torch.equal(run(ones(size, 4), ones(4, 4)), torch.full((size, 4), 4.0))
    with pytest.raises(ShapeError) as caught:
        run(ones(3, 3), ones(3, 3))
    assert caught.value.code == "extra-assumption"
    assert "B * D % 4 == 0" in str(caught.value)
    with pytest.raises(ShapeError) as caught:
        run(ones(65, 4), ones(4, 4))
    assert caught.value.code == "shape-violation"


def test_the_sizes_are_shown_where_the_spec_has_them() -> None:
    run, _ = compiled(lambda x, y: x + y, "def f(x: Tensor[A], y: Tensor[B]): ...", backend="eager")
    run(ones(3), ones(3))
    with pytest.raises(ShapeError) as caught:
        run(ones(3), ones(4))
    spans = [annotation.span for annotation in caught.value.diagnostics[0].annotations]
    assert [span.source.text[span.start : span.end] for span in spans] == ["A", "B"]
