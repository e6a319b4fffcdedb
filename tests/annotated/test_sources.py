"""What a call is given, what a file says and what stands on the function are one spec."""
# mypy: disable-error-code="valid-type"

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the entry points take the specs here")

import shapedsl as sd
from shapedsl import Tensor, shapes
from shapedsl.api.sources import as_spec
from shapedsl.dims import D, N


def make() -> Any:
    @shapes(hints={"N": 4})
    def f(x: Tensor[N, D], w: Tensor[D, 3], scale: float = 1.0) -> Tensor[N, 3]:
        return x @ w * scale

    return f


def test_a_given_spec_and_the_annotations_are_unified() -> None:
    spec = as_spec("def f(x: Tensor[B, _]): where B < 8", make())
    assert (
        spec
        == sd.loads(
            "def f(x: Tensor[B, D], w: Tensor[D, 3], scale = _) -> Tensor[B, 3]:\n    dim B hint 4\n    where B < 8"
        )["f"]
    )


def test_the_same_spec_stays_the_same_object() -> None:
    f = make()
    spec = sd.spec_of(f)
    assert spec is not None
    assert as_spec(spec, f) is spec


def test_an_attached_file_and_the_annotations_are_unified() -> None:
    f = make()
    sd.attach(sd.loads("def f(x: Tensor[B, 5]): where B < 8"), {"f": f})
    spec = sd.spec_of(f)
    assert spec is not None
    assert (
        spec
        == sd.loads(
            "def f(x: Tensor[B, 5], w: Tensor[D, 3], scale = _) -> Tensor[B, 3]:\n    dim B hint 4\n    where B < 8, D == 5"
        )["f"]
    )


def test_a_conflict_names_both() -> None:
    with pytest.raises(sd.ShapeError, match="conflicting-sources") as caught:
        as_spec("def f(x: Tensor[B, D], w: Tensor[D, 4]): ...", make())
    assert [a.span.source.name for a in caught.value.diagnostics[0].annotations] == ["<string>", __file__]


def test_compile_obeys_both() -> None:
    compiled = sd.compile(make(), "def f(x: Tensor[B, _]): where B < 8", backend="eager")
    assert compiled(torch.ones(2, 4), torch.ones(4, 3)).shape == (2, 3)
    with pytest.raises(sd.ShapeError, match="B < 8"):
        compiled(torch.ones(8, 4), torch.ones(4, 3))
    with pytest.raises(sd.ShapeError, match="expected 3"):
        compiled(torch.ones(2, 4), torch.ones(4, 4))
