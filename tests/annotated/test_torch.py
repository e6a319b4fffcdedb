"""Annotated functions in torch's hands: nothing of ours breaks what torch does with a function and its annotations."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="arg-type,attr-defined,call-arg,empty-body,func-returns-value,misc,name-defined,no-untyped-call,operator,syntax,type-arg,unused-ignore,valid-type,return,explicit-override"
# ruff: noqa: UP045

from __future__ import annotations

import typing
from typing import Annotated, Optional

import pytest

torch = pytest.importorskip("torch", reason="torch reads the annotations here")

from shapedsl.annotations import Shape, Tensor, shapes, where
from shapedsl.diagnostics import Report
from shapedsl.dims import B, D
from shapedsl.dtypes import floating
from shapedsl.frontends.annotated import read_callable
from shapedsl.ir.write import write_type


def early(x, w=None):  # type: ignore[no-untyped-def]
    return x @ x if w is None else x @ w


# evaluated, as without `from __future__ import annotations`
early.__annotations__ = {"x": Tensor[B, D], "w": Optional[Tensor[D, D]], "return": Tensor[B, D]}


@pytest.fixture
def wrapped_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undoes what a traced ``concrete_args={"w": None}`` leaves behind: every later trace would be a KeyError (2.14.1)."""
    from torch.fx import _symbolic_trace

    monkeypatch.setattr(_symbolic_trace, "_wrapped_fns_to_patch", dict(_symbolic_trace._wrapped_fns_to_patch))


@pytest.mark.usefixtures("wrapped_functions")
def test_fx_traces_a_function_with_our_annotations() -> None:
    traced = torch.fx.symbolic_trace(early, concrete_args={"w": None})
    x = torch.ones(2, 2)
    assert torch.equal(traced(x), x @ x)
    again = torch.fx.symbolic_trace(traced)  # the annotations went into generated code
    assert torch.equal(again(x), x @ x)


def test_typing_reads_our_annotations() -> None:
    hints = typing.get_type_hints(early)
    assert hints["x"] == Tensor[B, D]
    assert hints["w"] == Optional[Tensor[D, D]]


def test_dtypes_in_metadata() -> None:
    @shapes
    def f(
        x: Annotated[torch.Tensor, "B, D", torch.int64], y: Annotated[torch.Tensor, floating, Shape["B"]]
    ) -> None: ...

    report = Report()
    signature = read_callable(f, report)
    assert signature is not None
    assert len(report) == 0
    assert [write_type(param.type) for param in signature.params] == ["int64[B, D]", "floating[B]"]


def test_a_described_function_compiles_as_it_did() -> None:
    @shapes(attach=False)
    @where(B < 32)
    def plain(x: Tensor[B]) -> Tensor[B]:
        return x + 1

    compiled = torch.compile(plain, backend="eager", dynamic=True, fullgraph=True)
    assert torch.equal(compiled(torch.zeros(40)), torch.ones(40))
