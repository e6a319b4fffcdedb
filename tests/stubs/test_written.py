"""Stubs written from specs: their text, and that reading them gives the same specs."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import shapedsl as sd
from shapedsl import pipeline
from shapedsl.diagnostics import Report, Severity, Source
from shapedsl.ir import Module, ParamKind
from shapedsl.ir.write import write_module
from shapedsl.ir.write_pyi import write_pyi
from tests import strategies
from tests.cli.helpers import run

pytest.importorskip("libcst", reason="stubs are read with it")

SAMPLES = sorted((Path(__file__).parents[1] / "cases" / "samples").glob("*.shapes"))


def module_of(text: str) -> Module:
    report = Report()
    module = pipeline.read(Source("given.shapes", text), report)
    assert [d.message for d in report.errors] == []
    return module


def stub_of(module: Module) -> str:
    report = Report()
    text = write_pyi(module, report)
    assert [d.message for d in report] == []
    return text


def read_back(text: str) -> Module:
    report = Report()
    module = pipeline.read_stub(Source("written.pyi", text), report)
    assert [d.message for d in report] == []
    return module


def test_the_text() -> None:
    module = module_of(
        """
type F = floating
def net.project(x: Tensor[B, D], w: F[D, 2 * D], *rest: Tensor[B], n: Scalar[n] = _, **kw: {"k": Tensor[B]}) -> F[B]:
    "What it does."
    dim B in [1, 64] hint 8
    where n < 4 "few"
class net.Net:
    def forward(self, x: int64[B, _] | None, state: {"h": [Tensor[B]]}) -> (Tensor[()], None): ...
    def shapes(self, pairs: [(Tensor[T], Scalar)], fixed: [Tensor] * 3, y: _): ...
    def forward@2(self, x: Tensor[*lead, 3]): ...
"""
    )
    assert (
        stub_of(module)
        == '''\
# shapedsl: module net
# shapedsl: overloads apart
# mypy: disable-error-code="overload-cannot-match,overload-overlap"
# pyright: reportOverlappingOverload=false, reportInconsistentOverload=false

from typing import Annotated, Any, Literal, overload

from _typeshed import Incomplete
from shapedsl import Scalar, Tensor, dtypes
from shapedsl import shapes as _shapes
from shapedsl.dims import B, D

@_shapes(
    """
    "What it does."
    type F = floating
    dim B in [1, 64] hint 8
    where n < 4 "few"
    """,
    params={"w": "F[D, 2 * D]", "kw": '{"k": Tensor[B]}'},
    returns="F[B]",
)
def project(
    x: Tensor[B, D],
    w: Any,
    *rest: Tensor[B],
    n: Scalar[Literal["n"]] = ...,
    **kw: Any,
) -> Any: ...

class Net:
    @overload
    @_shapes(params={"state": '{"h": [Tensor[B]]}'})
    def forward(
        self,
        x: dtypes.int64[Literal["B, _"]] | None,
        state: Any,
    ) -> tuple[Tensor[()], None]: ...
    @overload
    def forward(self, x: Tensor[Literal["*lead, 3"]]) -> Incomplete: ...
    @_shapes(params={"pairs": "[(Tensor[T], Scalar)]"})
    def shapes(
        self,
        pairs: Any,
        fixed: Annotated[list[Tensor], 3],
        y: Any,
    ) -> Incomplete: ...
'''
    )


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_come_back(path: Path) -> None:
    report = Report()
    source = pipeline.read_file(path, report)
    assert source is not None
    module = pipeline.read(source, report, base=path.parent)
    back = read_back(stub_of(module))
    assert back.by_key() == module.by_key()


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::shapedsl.diagnostics.ShapeWarning")
def test_samples_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written is Python too: the other reader, of objects, gives the same."""
    pytest.importorskip("torch", reason="a spec that is attached is torch's to find")
    report = Report()
    source = pipeline.read_file(path, report)
    assert source is not None
    module = pipeline.read(source, report, base=path.parent)
    text = stub_of(module)
    file = tmp_path / "written.py"
    file.write_text(text, encoding="utf-8")
    known_to_checkers = ModuleType("_typeshed")
    known_to_checkers.Incomplete = type("Incomplete", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "_typeshed", known_to_checkers)
    made = ModuleType("written")
    made.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "written", made)
    exec(compile(text, str(file), "exec"), made.__dict__)
    first = re.match(r"# shapedsl: module (\S+)", text)
    for signature in module:
        found: Any = made
        for name in signature.name.removeprefix(f"{first[1]}." if first else "").split("."):
            found = getattr(found, name)
        spec = sd.spec_of(found)
        assert spec is not None
        assert spec.signature == signature


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_writing_again_changes_nothing(path: Path) -> None:
    report = Report()
    source = pipeline.read_file(path, report)
    assert source is not None
    text = stub_of(pipeline.read(source, report, base=path.parent))
    assert stub_of(read_back(text)) == text


@given(strategies.modules() | strategies.modules(cases=True))
@settings(max_examples=200, suppress_health_check=list(HealthCheck), deadline=None)
def test_drawn_modules_come_back(module: Module) -> None:
    """With their names, each under the number that it had."""
    assume(len({signature.key for signature in module}) == len(module.signatures))
    text = stub_of(module)
    back = read_back(text)
    assert {s.name: s for s in back} == {s.name: s for s in module}, f"{write_module(module)}\n\n{text}"


def test_names_of_the_stub_come_first() -> None:
    """What it defines keeps its name; what is imported is called otherwise."""
    module = module_of(
        "class Tensor:\n    def forward(self, x: Tensor[Literal, B], n: Scalar[B]): ...\n"
        "    def Literal(self, x: float32[dtypes]) -> Tensor: ...\n"
        "def dtypes(x: Tensor[B]): ...\n"
        "def Any(x: _): ...\n"
        "def B(x: Tensor[B]): ...\n"
    )
    assert read_back(stub_of(module)).by_key() == module.by_key()


def test_names_of_the_stub_that_are_taken_twice() -> None:
    """Of Python's own names, too, and of the names that imported ones would be called by."""
    module = module_of(
        "class Tensor:\n    def tuple(self, x: Tensor[B]): ...\n    def f(self, x: (Tensor[B], [Tensor[B], ...])): ...\n"
        "    def staticmethod(self, x: Tensor[B]): ...\n"
        "def Tensor.g(x: Tensor[B]): ...\n"
        "def _Tensor(x: [Tensor[B]] * 2): ...\ndef list(x: [Tensor[B], ...]): ...\n"
        "def overload(x: Tensor[B]): ...\ndef overload@2(x: Tensor[B, B]): ...\ndef _overload(x: Tensor[B]): ...\n"
    )
    text = stub_of(module)
    assert read_back(text).by_key() == module.by_key()
    known_to_checkers = ModuleType("_typeshed")
    known_to_checkers.Incomplete = type("Incomplete", (), {})  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "_typeshed", known_to_checkers)
        exec(text, {"__name__": "written"})


def test_overloads_keep_their_order() -> None:
    module = module_of("def f(x: Tensor[B]): ...\ndef g(x: Tensor[3]): ...\ndef f@2(x: Tensor[B, B]): ...\n")
    back = read_back(stub_of(module))
    assert back.by_key() == module.by_key()
    assert list(back.by_key()) == ["f", "f@2", "g"]


def test_overloads_are_written_by_number() -> None:
    module = module_of("def f@3(x: Tensor[B, B, B]): ...\ndef f(x: Tensor[B]): ...\ndef f@2(x: Tensor[3]): ...\n")
    assert read_back(stub_of(module)).by_key() == module.by_key()


def test_a_number_that_is_not_kept_is_told() -> None:
    report = Report()
    text = write_pyi(module_of("def f(x: Tensor[B]): ...\ndef f@4(x: Tensor[3]): ...\n"), report)
    assert [(d.severity, d.message) for d in report] == [
        (Severity.NOTE, "`f@4` is `f@2` in the stub: overloads are counted from 1")
    ]
    assert read_back(text).by_key() == module_of("def f(x: Tensor[B]): ...\ndef f@2(x: Tensor[3]): ...\n").by_key()


def test_what_is_imported_under_another_name() -> None:
    """A method called ``overload`` or ``staticmethod`` makes the writer, or a user, rename the decorator."""
    module = module_of(
        "class Net:\n    def overload(self, x: Tensor[B]): ...\n    def f(self, x: Tensor[B]): ...\n"
        "    def f@2(self, x: Tensor[B, B]): ...\n"
    )
    text = stub_of(module)
    assert "overload as _overload" in text
    assert read_back(text).by_key() == module.by_key()
    own = read_back(
        "import typing as t\nfrom functools import cached_property as cp\nfrom typing import overload as o\n"
        "from shapedsl import Tensor\n@o\ndef f(x: Tensor[B]): ...\n@t.overload\ndef f(x: Tensor[B, D]): ...\n"
    )
    assert list(own.by_key()) == ["f", "f@2"]


def test_dotted_names() -> None:
    module = module_of(
        "def a.b.f(x: Tensor[B]): ...\n"
        "class a.b.Net:\n    def forward(self, x: Tensor[B]): ...\n    def make(cls, x: Tensor[B]): ...\n"
        "def a.b.Net.helper(x: Tensor[B]): ...\n"
        "def a.c.f(x: Tensor[B]): ...\n"
    )
    text = stub_of(module)
    assert text.startswith("# shapedsl: module a\n")
    assert "@classmethod" in text
    assert "@staticmethod" in text
    back = read_back(text)
    assert back.by_key() == module.by_key()


def test_attributes_of_self() -> None:
    module = module_of("class Net:\n    def f(self: object(w: Tensor[D]), x: Tensor[D]): ...\n")
    assert read_back(stub_of(module)).by_key() == module.by_key()


def test_every_kind_of_parameter() -> None:
    module = module_of(
        'def f(a: Tensor[A], /, b: Tensor[B] = _, *args: [Tensor[A], Tensor], c: Scalar = _, **kw: {"k": _}): ...\n'
        "def g(a: _, *, b: Scalar[2 * n], c: _): ...\n"
        "def h(*args: (Scalar, Tensor[B])): ...\n"
        "def i(*args: [_, ...]): ...\n"
        "def j(*args: _, **kw: _): ...\n"
    )
    back = read_back(stub_of(module))
    assert back.by_key() == module.by_key()
    kinds = [param.kind for param in back.signatures[0].params]
    assert kinds == [
        ParamKind.POSITIONAL_ONLY,
        ParamKind.POSITIONAL_OR_KEYWORD,
        ParamKind.VAR_POSITIONAL,
        ParamKind.KEYWORD_ONLY,
        ParamKind.VAR_KEYWORD,
    ]


@pytest.mark.parametrize("text", ['say "why"', "back\\slash", '"""', "tab\there", "line\nbreak", "ünï", "'"])
def test_texts_of_messages(text: str) -> None:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    module = module_of(
        f'def f(x: Tensor[B], y: {{"{escaped}": Tensor[B]}}):\n    "{escaped}"\n    where B < 3 "{escaped}"\n'
    )
    back = read_back(stub_of(module))
    assert back.by_key() == module.by_key()
    assert back.signatures[0].doc == text


def test_what_python_cannot_spell_is_told() -> None:
    report = Report()
    text = write_pyi(
        module_of("def f(class: Tensor[B]): ...\ndef del(x: _): ...\ndef g(x: Tensor[lambda]): ...\n"), report
    )
    assert [d.code for d in report.errors] == ["inexpressible", "inexpressible"]
    assert [d.span.text for d in report.errors if d.span is not None] == ["f", "del"]
    assert list(read_back(text).by_key()) == ["g"]


def test_no_specs_no_text() -> None:
    assert stub_of(Module(())) == ""


# ------------------------------------------------------------------------------ command line


def test_command(tmp_path: Path) -> None:
    file = tmp_path / "net.shapes"
    file.write_text("const LIMIT = 8\ndef net.f(x: Tensor[B]) -> Tensor[B]:\n    where B < LIMIT\n")
    result = run("stubs", "--to", "pyi", file)
    assert result.exit_code == 0
    assert result.output.startswith("# shapedsl: module net\n")
    back = tmp_path / "net.pyi"
    back.write_text(result.output)
    again = run("stubs", back)
    assert (again.exit_code, again.output) == (0, "def net.f(x: Tensor[B]) -> Tensor[B]:\n    where B < 8\n")
    assert "B < 4" in run("stubs", "--to", "pyi", "--const", "LIMIT=4", file).output
    assert run("stubs", "--to", "pyi", "-", text=file.read_text()).output == result.output


def test_command_tells_what_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "net.shapes"
    file.write_text("def f(class: Tensor[B]): ...\n")
    result = run("stubs", "--to", "pyi", file)
    assert result.exit_code == 1
    assert "inexpressible" in result.output
