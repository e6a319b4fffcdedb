"""Overloads: specs of their own, or cases of one."""

from __future__ import annotations

from pathlib import Path

import pytest

import shapedsl as sd
from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source
from shapedsl.ir import Module
from shapedsl.ir.write import write_module

pytest.importorskip("libcst", reason="the reader of stubs parses with it")
HEAD = "from typing import overload\nfrom shapedsl import Tensor, shapes, where\nfrom shapedsl.dims import B, D\n"


def read(text: str) -> tuple[Module, Report]:
    report = Report()
    module = pipeline.read_stub(Source("o.pyi", HEAD + text), report)
    for signature in module:
        pipeline.resolve(signature, report)
    return module, report


def written(text: str) -> Module:
    report = Report()
    module = pipeline.read(Source("o.shapes", text), report)
    assert not report.errors
    return module


def overloads(*decorators: str, params: str = "x: Tensor[B]") -> str:
    return "".join(f"@overload\n{each}\ndef f({params}) -> Tensor[B]: ...\n" for each in decorators)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            overloads("@where(B == 1)", "@where(B > 1, B < 32)"),
            "def f(x: Tensor[B]) -> Tensor[B]:\n    where B == 1 or B > 1 and B < 32\n    case B == 1\n    case B > 1, B < 32",
        ),
        (
            overloads("@where(B == 1, B < 9)", "@where(B == 2, B < 9)", "@where(B < 9)"),
            "def f(x: Tensor[B]) -> Tensor[B]:\n    where B < 9\n    case B == 1\n    case B == 2\n    otherwise",
        ),
        # the same twice, one that takes all before the others, a documentation: apart
        (
            overloads("@where(B == 1)", "@where(B == 1)"),
            "def f(x: Tensor[B]) -> Tensor[B]: where B == 1\ndef f@2(x: Tensor[B]) -> Tensor[B]: where B == 1",
        ),
        (
            overloads("@shapes", "@where(B == 1)"),
            "def f(x: Tensor[B]) -> Tensor[B]: ...\ndef f@2(x: Tensor[B]) -> Tensor[B]: where B == 1",
        ),
        (
            "# shapedsl: overloads apart\n" + overloads("@where(B == 1)", "@where(B == 2)"),
            "def f(x: Tensor[B]) -> Tensor[B]: where B == 1\ndef f@2(x: Tensor[B]) -> Tensor[B]: where B == 2",
        ),
        (
            overloads("@where(B == 1)") + overloads("@where(B == 2)", params="x: Tensor[B, D]"),
            "def f(x: Tensor[B]) -> Tensor[B]: where B == 1\ndef f@2(x: Tensor[B, D]) -> Tensor[B]: where B == 2",
        ),
        (
            overloads("@shapes", "@shapes", params="x: Tensor[B, D]").replace("D", "3", 1) + "def f(x): ...\n",
            "def f(x: Tensor[B, 3]) -> Tensor[B]: ...\ndef f@2(x: Tensor[B, D]) -> Tensor[B]: ...",
        ),
    ],
)
def test_overloads(text: str, expected: str) -> None:
    module, report = read(text)
    assert [d.message for d in report.errors] == []
    assert [s.key for s in module] == [s.key for s in written(expected)]
    assert tuple(module) == tuple(written(expected)), write_module(module)


def test_the_text_of_cases_reads_back() -> None:
    module, _ = read(overloads("@where(B == 1)", "@where(B > 1, B < 32)"))
    assert tuple(written(write_module(module))) == tuple(module)


def test_the_implementation_is_what_python_calls() -> None:
    module, _ = read(overloads("@where(B == 1)") + "def f(x: Tensor[B, D]): ...\n")
    assert [s.key for s in module] == ["f@2", "f"]


def test_a_later_definition_counts() -> None:
    module, report = read("def f(x: Tensor[B]): ...\ndef f(x: Tensor[D]): ...\n")
    assert write_module(module).strip() == "def f(x: Tensor[D]): ..."
    assert [d.code for d in report] == ["inexpressible"]


def test_both_branches_of_an_open_condition() -> None:
    module, _ = read("if unknown():\n    def f(x: Tensor[B]): ...\nelse:\n    def f(x: Tensor[D]): ...\n")
    assert [s.key for s in module] == ["f", "f@2"]


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("TYPE_CHECKING", ["f"]),
        ("not TYPE_CHECKING", ["g"]),
        ("sys.version_info >= (3, 8)", ["f"]),
        ("sys.version_info < (3, 8)", ["g"]),
        ("sys.version_info[0] == 2", ["g"]),
        ("sys.version_info[:2] >= (3, 8) and TYPE_CHECKING", ["f"]),
        ("sys.platform == 'beos'", ["g"]),
        ("False or sys.platform.startswith('beos')", ["g"]),
        ("anything", ["f", "g"]),
    ],
)
def test_conditions(condition: str, kept: list[str]) -> None:
    module, _ = read(
        f"import sys\nfrom typing import TYPE_CHECKING\nif {condition}:\n    def f(x: Tensor[B]): ...\n"
        "else:\n    def g(x: Tensor[B]): ...\n"
    )
    assert [s.name for s in module] == kept


def test_a_property_is_told_of() -> None:
    module, report = read("class A:\n    @property\n    def size(self) -> Tensor[B]: ...\n")
    assert not tuple(module)
    (told,) = report
    assert told.code == "inexpressible"
    assert told.message.startswith("`A.size` is a property")


def test_what_has_no_words_spoils_nothing_else(tmp_path: Path) -> None:
    """Other people's annotations are no faults of theirs: what has no words is told, and the file is read."""
    path = tmp_path / "lib.pyi"
    path.write_text(
        "from jaxtyping import Float\nfrom torch import Tensor\n"
        'def f(x: Float[Tensor, "b"] | float, y: Float[Tensor, "b"]) -> Float[Tensor, "b"]: ...\n'
        "class Net:\n"
        '    def forward(self, x: Float[Tensor, "b {self.width}"], k) -> Float[Tensor, "b {k} {self.width*2}"]: ...\n',
        encoding="utf-8",
    )
    with pytest.warns(sd.ShapeWarning) as caught:
        specs = sd.from_stub(path)
    told = [str(each.message) for each in caught]
    for words in ("only `T | None` is a union", "`{self.width}`", "`{self.width*2}`", "`{k}`"):
        assert any(words in each for each in told)
    assert specs["f"] == sd.loads("def f(x: _, y: floating[b]) -> floating[b]: ...")["f"]
    assert (
        specs["Net.forward"]
        == (
            sd.loads(
                "class Net:\n    def forward(self, x: floating[b, _], k: _) -> floating[b, k, _]: ...",
            )["Net.forward"]
        )
    )
