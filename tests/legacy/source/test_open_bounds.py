"""Bounds that reading does not tell: they stay as they are written, or the call does, and what is not known is told."""

from __future__ import annotations

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.legacy.source import FileResult, Style, Target, convert_source

HEAD = """\
import torch
from torch.export import Dim, export

class Net(torch.nn.Module):
    def forward(self, x, y):
        return x.sum(1) * y

args = (torch.ones(4, 3), torch.ones(4))
"""


def converted(lines: str, *, style: Style = "torch", target: Target = "python") -> tuple[FileResult, Report]:
    report = Report()
    return convert_source(Source("program.py", HEAD + lines), report, style=style, target=target), report


def trace(bounds: str) -> str:
    return f"""\
def trace(cfg):
    batch = Dim("batch", {bounds})
    return export(Net(), args, dynamic_shapes={{"x": {{0: batch}}, "y": {{0: batch}}}})
"""


@pytest.mark.parametrize(
    ("bounds", "verdict", "note"),
    [
        (
            "max=cfg.longest",
            "exact",
            "`max=cfg.longest` of `batch` is not known here, and stays as it is written (x.shape[0], y.shape[0])",
        ),
        (
            "min=cfg.least",
            "stricter",
            "`min=cfg.least` of `batch` is not known here: for 1 and 2, smaller sizes may have run, and are now rejected; None "
            "and numbers below 0 were no bound, and are now refused (x.shape[0], y.shape[0])",
        ),
        (
            "min=1, max=cfg.longest",
            "stricter",
            "size 0 ran although `batch` is at least 1, and is now rejected (x.shape[0], y.shape[0])",
        ),
    ],
    ids=["max", "min", "a known min"],
)
def test_what_is_not_known_is_told(bounds: str, verdict: str, note: str) -> None:
    result, report = converted(trace(bounds))
    (site,) = result.sites
    assert not report.errors
    assert (site.outcome, site.verdict) == ("converted", verdict)
    assert note in site.notes
    assert result.text is not None
    assert f'ShapeVar("batch", {bounds})' in result.text


def test_no_file_of_specs_holds_them() -> None:
    result, report = converted(trace("min=3, max=cfg.longest"), target="shapes")
    (site,) = result.sites
    assert (site.outcome, result.shapes, result.text) == ("kept", "", None)
    (error,) = report.errors
    assert error.code == "legacy-flow"
    assert "`max=cfg.longest` is no number that reading tells" in error.message
    assert converted(trace("max=cfg.longest"))[0].shapes == ""


def test_a_text_holds_none_so_torch_s_classes_do() -> None:
    result, report = converted(trace("max=cfg.longest"), style="shapedsl")
    assert not report.errors
    assert result.text is not None
    assert 'ShapeVar("batch", max=cfg.longest)' in result.text


@pytest.mark.parametrize(
    "bound", ["max=LONGEST", "max=cfg.read()", "max=cfg['longest']", "max=min(cfg.longest, 64)", "max=cfg.a or None"]
)
def test_the_expression_stays_to_the_letter(bound: str) -> None:
    result, report = converted(f"from ours import LONGEST\n{trace(bound)}")
    assert not report.errors
    assert result.text is not None
    assert f'batch = ShapeVar("batch", {bound})\n' in result.text


def test_the_order_of_what_is_evaluated_stays() -> None:
    result, report = converted(trace("max=cfg.pop(), min=cfg.pop()"))
    assert not report.errors
    assert result.text is not None
    assert 'ShapeVar("batch", max=cfg.pop(), min=cfg.pop())' in result.text


def test_the_name_behind_its_bounds_keeps_the_call() -> None:
    result, report = converted(
        trace("max=cfg.longest").replace('"batch", max=cfg.longest', 'max=cfg.longest, name="b"')
    )
    assert result.text is None
    assert [error.code for error in report.errors] == ["legacy-flow"]


def test_callers_that_the_file_does_not_show_keep_their_bound() -> None:
    lines = """\
def trace(longest):
    shapes = {}
    shapes["x"] = {1: Dim("width", min=3, max=longest)}
    return export(Net(), args, dynamic_shapes=shapes)
trace(64)
"""
    result, report = converted(lines)
    assert result.text is None  # `ShapeVar("width", max=64)` would be right for one caller only
    assert [error.code for error in report.errors] == ["legacy-flow"]


def test_a_bound_that_is_read_off_another_dim_keeps_both() -> None:
    lines = """\
def trace(cfg):
    batch = Dim("batch", max=cfg.longest)
    width = Dim("width", max=batch.max)
    return export(Net(), args, dynamic_shapes={"x": {0: batch, 1: width}, "y": {0: batch}})
"""
    result, report = converted(lines)
    assert result.text is None
    assert [error.code for error in report.errors] == ["legacy-flow"]


def test_a_dim_that_may_be_negative_is_told() -> None:
    lines = """\
class Pair(torch.nn.Module):
    def forward(self, x, y):
        return x.sum() + y.sum()

def trace(cfg):
    n = Dim("n", min=cfg.least)
    return export(Pair(), (torch.ones(4), torch.ones(3)), dynamic_shapes={"x": {0: n}, "y": {0: n - 1}})
"""
    result, report = converted(lines)
    assert not report.errors
    (site,) = result.sites
    assert any("no longer checked where it is made" in note for note in site.notes)
