"""A whole file: what becomes of it, its specs as one text, and what is told of it."""

from __future__ import annotations

import ast
import io
import pickle
import tokenize
from functools import cache
from typing import Literal

import pytest

import shapedsl as sd
from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.legacy.source import FileResult, convert_source
from shapedsl.frontends.text.format import format_text
from tests.legacy.golden import cases

PROGRAMS = {case.name: case.program.body for case in cases()}
Style = Literal["torch", "shapedsl"]

SCALE = """\
import torch
from torch.export import Dim, export

rows = Dim("rows", min=1, max=64)


class Scale(torch.nn.Module):
    def forward(self, a, w):
        return a.sum(1) * w


args = (torch.randn(4, 3), torch.randn(4))
ep = export(Scale(), args,
            dynamic_shapes={"a": {0: rows}, "w": {0: rows}})
"""


@cache
def convert(
    text: str, style: Style = "torch", target: Literal["python", "shapes"] = "python"
) -> tuple[FileResult, Report]:
    report = Report()
    return convert_source(Source("net/scale.py", text), report, style=style, target=target), report


# ------------------------------------------------------------------------- laws, over all cases


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("style", ["torch", "shapedsl"])
def test_a_result_parses_and_is_final(name: str, style: Style) -> None:
    text = PROGRAMS[name]
    result, _ = convert(text, style)
    if result.text is None:
        assert all(site.outcome == "kept" or style == "torch" for site in result.sites)
        return
    assert result.text != text
    compile(result.text, name, "exec", flags=ast.PyCF_ONLY_AST)
    assert [each for each in _comments(text) if each not in result.text] == []
    again, report = convert(result.text, style)
    assert again.text is None
    assert not [site for site in again.sites if site.outcome == "converted"]
    kept = [site for site in result.sites if site.outcome == "kept"]
    assert len(again.sites) == len(kept), list(report)


def _comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT and "noqa" not in token.string]


@pytest.mark.parametrize("name", PROGRAMS)
def test_extracted_specs_load(name: str) -> None:
    result, _ = convert(PROGRAMS[name], target="shapes")
    assert result.text is None
    converted = [site for site in result.sites if site.outcome == "converted"]
    assert bool(result.shapes) == bool(converted)
    if not converted:
        return
    loaded = sd.loads(result.shapes)
    assert {site.name for site in converted} == {name.partition("@")[0] for name in loaded}
    for site in converted:
        for spec in sd.loads(site.shapes).values():
            assert any(spec == each for each in loaded.values())
    report = Report()
    assert format_text(Source("", result.shapes), report) == result.shapes, list(report)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_kept_site_says_why(name: str) -> None:
    result, report = convert(PROGRAMS[name])
    kept = [site for site in result.sites if site.outcome == "kept"]
    assert all(site.notes and not site.shapes and not site.verdict for site in kept)
    assert len(kept) <= len(report)
    assert pickle.loads(pickle.dumps(result)) == result  # it travels between processes


# ------------------------------------------------------------------------------------- examples


def test_a_file_becomes_text_specs_and_lines() -> None:
    result, report = convert(SCALE)
    assert result.text == SCALE.replace(
        "import Dim, export\n",
        "import export\nfrom torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec\n",
    ).replace("Dim(", "ShapeVar(").replace(
        '{"a": {0: rows}, "w": {0: rows}}', 'ShapesSpec({"a": TensorSpec([rows, None]), "w": TensorSpec([rows])})'
    )
    (site,) = result.sites
    assert (site.line, site.column, site.api, site.name) == (13, 6, "torch.export.export", "Scale.forward")
    assert (site.outcome, site.verdict, site.summary) == (
        "converted",
        "stricter",
        "exact as declared, stricter at run time",
    )
    assert (
        result.shapes
        == f"""\
# Specs of scale.py, read from its legacy specs by `shapedsl convert --to shapes`.
language 1

# scale.py:13, torch.export.export: exact as declared, stricter at run time
#   {site.notes[0]}
{site.shapes}
"""
    )
    assert (
        site.shapes
        == "class Scale:\n    def forward(self, a: Tensor[rows, _], w: Tensor[rows]):\n        dim rows in [1, 64]"
    )
    assert "a.shape[0], w.shape[0]" in site.notes[0]
    assert not report.errors


def test_specs_leave_the_file_alone() -> None:
    assert convert(SCALE, target="shapes")[0].text is None


def test_one_spec_of_two_calls_is_written_once() -> None:
    call = SCALE[SCALE.index("ep =") :]
    result, _ = convert(SCALE + call, target="shapes")
    assert len(result.sites) == 2
    assert list(sd.loads(result.shapes)) == ["Scale.forward"]
    assert "# scale.py:13, torch" in result.shapes
    assert "# scale.py:15, torch" in result.shapes


def test_another_spec_of_one_name_is_numbered() -> None:
    call = SCALE[SCALE.index("ep =") :].replace('"w": {0: rows}', '"w": None')
    result, _ = convert(SCALE + call, target="shapes")
    found = sd.loads(result.shapes)
    assert list(found) == ["Scale.forward", "Scale.forward@2"]
    assert str(found["Scale.forward@2"]).count("rows") == 2


def test_any_name_of_a_file_can_be_a_comment() -> None:
    report = Report()
    result = convert_source(Source("a/b\nc\udcff.py", SCALE), report, target="shapes")
    assert result.shapes.startswith("# Specs of b c?.py, read")
    assert list(sd.loads(result.shapes)) == ["Scale.forward"]


def test_a_name_that_no_text_can_say_is_left_out_with_a_warning() -> None:
    text = SCALE.replace("Scale", "Größe")
    result, report = convert(text, target="shapes")
    assert result.shapes == ""
    assert [each.code for each in report if each.code == "inexpressible"]
    again, _ = convert(text)
    assert again.text is not None
    assert "ShapesSpec" in again.text


@pytest.mark.parametrize(
    "text",
    ["", "x = 1\n", "import torch\n", "dynamic_shapes = 3\n", "from mylib import export\nexport(dynamic_shapes={})\n"],
)
def test_a_file_without_legacy_specs_is_nothing(text: str) -> None:
    result, report = convert(text)
    assert result == FileResult(None, "", ())
    assert not list(report)


def test_a_syntax_error_is_a_finding() -> None:
    result, report = convert(SCALE + "def (:\n")
    assert result == FileResult(None, "", ())
    assert [each.code for each in report] == ["syntax-error"]


def test_a_file_that_no_site_can_be_in_is_not_parsed() -> None:
    result, report = convert("import torch\ndef (:\n")
    assert result == FileResult(None, "", ())
    assert not list(report)


def test_the_pipeline_has_it() -> None:
    report = Report()
    assert pipeline.convert_source(Source("net/scale.py", SCALE), report) == convert(SCALE)[0]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_ends_are_the_files(ending: str) -> None:
    text = SCALE.replace("\n", ending)
    found = convert(text)[0].text
    assert found is not None
    assert found.replace(ending, "\n") == convert(SCALE)[0].text
