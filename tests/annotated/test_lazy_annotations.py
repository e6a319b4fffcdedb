"""Python 3.14's lazy annotations, by a stand-in for `annotationlib`: what we ask of it, and what we make of its answers.

3.14 itself evaluates nothing before someone asks, and answers in one of three formats; the stand-in keeps that contract.
"""
# mypy: disable-error-code="arg-type,misc,no-untyped-call,valid-type"
# ruff: noqa: UP045

from __future__ import annotations

import enum
import sys
import types
from collections.abc import Callable
from typing import Annotated, Any, ForwardRef, Optional

import pytest

from shapedsl.annotations import Scalar, Shape, Tensor
from shapedsl.diagnostics import Report, Source
from shapedsl.dims import B, D
from shapedsl.frontends.annotated.callables import RawCallable, RawParameter
from shapedsl.frontends.annotated.fields import annotations_of
from shapedsl.frontends.annotated.namespace import Namespace
from shapedsl.frontends.annotated.read import read_raw
from shapedsl.frontends.text import read
from shapedsl.ir import ParamKind, Signature
from shapedsl.ir.write import write_signature


class Format(enum.IntEnum):
    VALUE = 1
    VALUE_WITH_FAKE_GLOBALS = 2
    FORWARDREF = 3
    STRING = 4


Answers = dict[Format, "dict[str, object] | Exception"]


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answers], list[Format]]:
    """Returns a function that sets what each format gives, and returns the list of formats that are asked for."""

    def install(answers: Answers) -> list[Format]:
        asked: list[Format] = []

        def get_annotations(_: object, *, format: Format = Format.VALUE) -> dict[str, object]:
            asked.append(format)
            answer = answers[format]
            if isinstance(answer, Exception):
                raise answer
            return answer

        module: Any = types.ModuleType("annotationlib")
        module.Format, module.get_annotations = Format, get_annotations
        monkeypatch.setitem(sys.modules, "annotationlib", module)
        monkeypatch.setattr(sys, "version_info", (3, 14, 0, "final", 0))
        return asked

    return install


def function(x: object, y: object) -> None: ...


class Nowhere:
    """Places of a callable that stands in no file."""

    def _source(self, text: str) -> Source:
        return Source("<nowhere>", text)

    decorator = function = returns = _source

    def parameter(self, name: str, text: str) -> Source:
        return Source(name, text)

    def shape_vars(self) -> str | None:
        return None


def signature_of(annotations: dict[str, object], report: Report) -> Signature:
    names = [name for name in annotations if name != "return"]
    parameters = tuple([RawParameter(name, ParamKind.POSITIONAL_OR_KEYWORD, False) for name in names])
    raw = RawCallable("f", parameters, None, annotations, None)
    signature = read_raw(raw, Namespace({"Tensor": Tensor, "B": B, "D": D}), Nowhere(), report)
    assert signature is not None
    return signature


def written(text: str) -> Signature:
    (signature,) = read(Source("pair.shapes", text), Report())
    return signature


def test_values_are_asked_for_first(answering: Callable[[Answers], list[Format]]) -> None:
    asked = answering({Format.VALUE: {"x": Tensor[B]}})
    assert annotations_of(function) == {"x": Tensor[B]}
    assert asked == [Format.VALUE]


def test_a_missing_name_leaves_the_others_evaluated(answering: Callable[[Answers], list[Format]]) -> None:
    late: dict[str, object] = {"x": Tensor[B], "y": ForwardRef("Missing"), "return": Tensor[ForwardRef("heads"), B]}
    asked = answering({Format.VALUE: NameError("Missing"), Format.FORWARDREF: late})
    assert annotations_of(function) is late
    assert asked == [Format.VALUE, Format.FORWARDREF]
    report = Report()
    assert signature_of(late, report) == written("def f(x: Tensor[B], y) -> Tensor[heads, B]: ...")
    assert [(d.code, d.severity.value) for d in report] == [("unresolved-annotation", "note")]


def test_what_raises_makes_all_of_them_text(answering: Callable[[Answers], list[Format]]) -> None:
    texts: dict[str, object] = {"x": "Tensor[B]", "y": "1 / 0", "return": "Tensor[Q]"}
    asked = answering({Format.VALUE: ZeroDivisionError(), Format.FORWARDREF: ZeroDivisionError(), Format.STRING: texts})
    assert annotations_of(function) is texts
    assert asked == [Format.VALUE, Format.FORWARDREF, Format.STRING]
    report = Report()
    assert signature_of(texts, report) == written("def f(x: Tensor[B], y) -> Tensor[Q]: ...")
    assert [d.code for d in report] == ["unresolved-annotation"]


def test_forward_references_wherever_they_may_stand() -> None:
    report = Report()
    signature = signature_of(
        {
            "a": Tensor[ForwardRef("L['2*B']"), ForwardRef("heads * 2"), ForwardRef("max(B, heads)")],
            "b": list[ForwardRef("Tensor[B]")],
            "c": Optional[ForwardRef("Tensor[heads]")],
            "d": Annotated[ForwardRef("torch.Tensor"), Shape["B", ForwardRef("heads")]],
            "e": Scalar[ForwardRef("heads")],
            "return": ForwardRef("tuple[Tensor[B], Missing]"),
        },
        report,
    )
    assert write_signature(signature) == (
        "def f(\n    a: Tensor[2 * B, heads * 2, max(B, heads)],\n    b: [Tensor[B], ...],\n    c: Tensor[heads] | None,\n"
        "    d: Tensor[B, heads],\n    e: Scalar[heads],\n) -> (Tensor[B], _): ..."
    )
    assert [d.message.partition(" ")[0] for d in report] == ["`Missing`"]
