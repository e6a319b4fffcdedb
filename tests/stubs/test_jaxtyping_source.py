"""jaxtyping in source text: what its stand-ins have to know that at run time jaxtyping and torch tell."""

from __future__ import annotations

import pytest

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Severity, Source
from shapedsl.ir import Module

pytest.importorskip("libcst", reason="the reader of stubs parses with it")
HEAD = """\
import torch
import torch.nn as nn
from collections.abc import Callable
from jaxtyping import Bool, Float, Int
from torch import Tensor
Image = Float[Tensor, "c h w"]
"""


def read(text: str) -> tuple[Module, Report]:
    report = Report()
    return pipeline.read_stub(Source("lib.pyi", HEAD + text), report), report


def written(text: str) -> Module:
    report = Report()
    module = pipeline.read(Source("lib.shapes", text), report)
    assert not report.errors
    return module


@pytest.mark.parametrize(
    "array",
    ["Tensor", "torch.Tensor", "nn.Parameter", "torch.nn.parameter.Parameter", "nn.Buffer", "torch._tensor.Tensor"],
)
def test_tensors(array: str) -> None:
    module, report = read(f'def f(x: Float[{array}, "b t"]) -> Float[{array}, "t"]: ...\n')
    assert module == written("def f(x: floating[b, t]) -> floating[t]: ...\n")
    assert [d.message for d in report] == []


def test_an_array_type_that_nobody_knows() -> None:
    module, report = read('from mine import Array\ndef f(x: Float[Array, "b"], y: Float[Tensor, "b"]): ...\n')
    assert module == written("def f(x: _, y: floating[b]): ...\n")
    assert [(d.severity, d.code) for d in report] == [(Severity.NOTE, "inexpressible")]


@pytest.mark.parametrize("annotation", ['Int[Image, "b"]', "\"Bool[Image, 'b']\""])
def test_an_alias_of_other_dtypes(annotation: str) -> None:
    """Nothing can be both; jaxtyping raises a ValueError."""
    module, report = read(f'def f(x: {annotation}, y: Float[Image, "b"]): ...\n')
    assert module == written("def f(x: _, y: floating[b, c, h, w]): ...\n")
    assert [(d.severity, d.code) for d in report] == [(Severity.WARNING, "unresolved-annotation")]


def test_messages_name_what_was_written() -> None:
    _, report = read('def f(f: Callable[[Image], None], x: Float[Tensor, "b"]): ...\n')
    (only,) = report
    assert "Callable[[Float[Tensor, 'c h w']], None]" in only.message
    assert "stand_ins" not in only.message


def test_a_type_parameter_that_is_something_else_below() -> None:
    module, _ = read(
        "from typing import TypeVar\nfrom typing_extensions import TypeAliasType\nimport shapedsl as sd\n"
        'K = TypeVar("K")\n'
        'Pair = TypeAliasType("Pair", tuple[sd.Tensor["B"], sd.Tensor["D"]], type_params=(K,))\n'
        "def f(x: Pair[int]): ...\n"
        "class K:\n    attr: int\n"
    )
    assert module == written("def f(x: (Tensor[B], Tensor[D])): ...\n")


def test_a_class_is_named_in_messages_as_in_the_file() -> None:
    _, report = read(
        "from dataclasses import dataclass\nfrom typing import Generic, TypeVar\n"
        'T = TypeVar("T")\n@dataclass\nclass Out(Generic[T]):\n    x: T\n'
        'def f(x: Float[Tensor, "b"], y: dict[str, Out[Image]]): ...\n'
    )
    (only,) = report
    assert only.message == "the shapes inside `dict[str, Out[Float[Tensor, 'c h w']]]` are not read"
