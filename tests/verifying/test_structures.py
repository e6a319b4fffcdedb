"""Values are compared of every artifact that a callable has, whatever structure or static size it was made for."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="artifacts are torch's")

import torch

import shapedsl as sd

ones = torch.ones
Backend = Callable[..., Any]


def wrong_where(is_wrong: Callable[[list[Any]], bool]) -> Backend:
    """Returns a backend whose graphs are off by one where the tensors that they are compiled for say so."""

    def backend(graph: Any, inputs: list[Any]) -> Any:
        wrong = is_wrong([each for each in inputs if isinstance(each, torch.Tensor)])

        def run(*args: Any) -> Any:
            outputs = graph(*args)
            return tuple(each + 1 for each in outputs) if wrong else outputs

        return run

    return backend


def scaled(x: Any, y: Any = None) -> Any:
    return x * 2 if y is None else x * y


CASES: dict[str, tuple[str, Backend, list[tuple[Any, ...]]]] = {
    "a static size": (
        "const D = _\ndef f(x: float32[B, D]): where B <= 9",
        wrong_where(lambda tensors: any(each.shape[-1] == 5 for each in tensors)),
        [(ones(2, 3),), (ones(2, 5),)],
    ),
    "a rank": (
        "def f(x: float32[*batch]): ...",
        wrong_where(lambda tensors: any(each.dim() == 3 for each in tensors)),
        [(ones(2, 3),), (ones(2, 3, 2),)],
    ),
    "an optional argument": (
        "def f(x: float32[B], y: float32[B] | None = None): where B <= 9",
        wrong_where(lambda tensors: len(tensors) == 2),
        [(ones(3),), (ones(3), ones(3))],
    ),
}


@pytest.mark.parametrize("entry", [sd.compile, sd.dispatch])
@pytest.mark.parametrize("case", CASES)
def test_the_second_artifact_is_compared_too(entry: Any, case: str) -> None:
    text, backend, calls = CASES[case]
    torch._dynamo.reset()
    fast = entry(scaled, text, backend=backend)
    for args in calls:
        fast(*args)
    report = sd.verify(fast, text, against=scaled, samples=2, raises=False)
    assert report.samples is not None
    assert {row.verdict for row in report.samples.rows} == {"same", "wrong"}
    assert len({row.label for row in report.samples.rows}) == 2
    assert not report.kept


def test_an_artifact_without_an_example_is_undecided() -> None:
    torch._dynamo.reset()
    text = "def f(x: float32[*batch, _]): ..."
    fast: Any = sd.compile(scaled, text, backend="eager")
    fast(ones(2, 3))
    fast(ones(2, 4, 3))
    report = sd.verify(fast, text, against=scaled, samples=2, examples=[((ones(5, 3),), {})], raises=False)
    assert report.kept
    assert report.undecided
    assert report.samples is not None
    assert "there is no example" in report.samples.skipped


@pytest.mark.parametrize(
    "more", [{"tolerance": math.nan}, {"tolerance": -1.0}, {"tolerance": math.inf}, {"samples": -1}]
)
def test_what_would_let_anything_pass_is_refused(more: dict[str, Any]) -> None:
    fast = sd.compile(scaled, "def f(x: float32[B]): where B <= 9", backend="eager")
    with pytest.raises(ValueError, match="not"):
        sd.verify(fast, against=scaled, **more)


def test_what_a_bucket_drops_is_not_compared_and_what_it_keeps_is() -> None:
    spec = """def f(x: Tensor[B, T]) -> (Tensor[B, T], Tensor[B]):
    where 1 <= B <= 4, 1 <= T <= 8
    bucket T in {4, 8} pad x with 0 as causal_right
    drop return[1]
"""

    def both(x: Any) -> Any:
        return x.cumsum(1), x.mean(1)

    def off(x: Any) -> Any:
        return x.cumsum(1) + (x.shape[1] == 8), x.mean(1)

    x = torch.rand(2, 3)
    served = sd.dispatch(both, spec, backend="eager")
    assert served(x)[1] is None
    found = sd.verify(served, spec, against=both).samples
    assert found is not None
    assert found.passed
    wrong = sd.verify(served, spec, against=off, raises=False).samples
    assert wrong is not None
    assert {row.sizes["T"] for row in wrong.rows if row.verdict == "wrong"} == {8}
