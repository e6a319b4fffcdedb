"""The laws of docs/architecture.md that text alone can break. Each one is asked of random specs.

Law 2 (normalize is idempotent and sound) is in ``tests/normalize``, law 5 (what is lowered accepts
exactly what check accepts) in ``tests/torch``: they need their stage's own kind of sample.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from shapedsl.diagnostics import CODES, Report, Source
from shapedsl.frontends import text
from shapedsl.frontends.text.format import format_text
from shapedsl.ir import Module
from shapedsl.ir.json import from_json, to_json
from shapedsl.ir.write import write_module
from tests import strategies

many = settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def parsed(written: str) -> Module:
    report = Report()
    module = text.read(Source("<law>", written), report)
    assert not report.errors, f"{report.errors[0]}\n\n{written}"
    return module


def assert_same(got: Module, want: Module, written: str) -> None:
    assert [s.key for s in got] == [s.key for s in want], written
    for ours, theirs in zip(got, want, strict=True):
        for part in ("params", "returns", "variables", "alternatives", "ranks"):
            assert getattr(ours, part) == getattr(theirs, part), f"{part} differ in\n{written}"
        assert ours == theirs, written
        assert ours.doc == theirs.doc, written


# ------------------------------------------------------------------------------------------ law 1


@given(strategies.modules())
@many
def test_what_is_written_is_read_back(module: Module) -> None:
    written = write_module(module)
    assert_same(parsed(written), module, written)


@given(strategies.modules(cases=True))
@many
def test_alternatives_are_read_back_too(module: Module) -> None:
    written = write_module(module)
    assert_same(parsed(written), module, written)


@given(strategies.modules(cases=True))
@many
def test_writing_is_a_fixed_point(module: Module) -> None:
    written = write_module(module)
    assert write_module(parsed(written)) == written


@given(strategies.modules(cases=True))
@many
def test_json_is_read_back(module: Module) -> None:
    back = from_json(to_json(module))
    assert isinstance(back, Module)
    assert_same(back, module, write_module(module))


@st.composite
def laid_out_badly(draw: st.DrawFn) -> str:
    """A file as a careless hand leaves it: comments, blank lines and spaces in odd places, brackets broken up."""
    written = write_module(draw(strategies.modules(cases=True)))
    lines: list[str] = []
    number = 0
    for line in written.split("\n"):
        if draw(st.integers(0, 5)) == 0:
            lines += [""] * draw(st.integers(1, 3))
        if draw(st.integers(0, 5)) == 0:
            lines.append(f"{' ' * draw(st.sampled_from((0, 4, 8)))}# own line {number}")
            number += 1
        if '"' not in line and "'" not in line:
            if draw(st.integers(0, 3)) == 0:
                line = re.sub(r"(?<=\S) ?([-+,:=]) ?(?=[\w ])", r"\1  ", line) if "->" not in line else line
            if draw(st.integers(0, 4)) == 0:
                head, bracket, tail = line.rpartition("[")
                if bracket and "]" in tail and "@" not in line:
                    line = f"{head}[\n        # inside {number}\n    {tail}"
                    number += 1
        if line.strip() and draw(st.integers(0, 3)) == 0:
            line += f"  # after {number}"
            number += 1
        lines.append(line)
    return "\n".join(lines)


@given(laid_out_badly())
@many
def test_fmt_is_idempotent_and_keeps_every_comment_and_the_meaning(careless: str) -> None:
    before = Report()
    module = text.read(Source("<law>", careless), before)
    assume(not before.errors)
    report = Report()
    formatted = format_text(Source("<law>", careless), report)
    assert formatted is not None, f"{report.diagnostics}\n{careless}"
    assert sorted(re.findall(r"# (?:own line|inside|after) \d+", formatted)) == sorted(
        re.findall(r"# (?:own line|inside|after) \d+", careless)
    ), f"{careless}\n->\n{formatted}"
    assert_same(parsed(formatted), module, formatted)
    assert format_text(Source("<law>", formatted), Report()) == formatted


def test_the_layouts_that_are_tried_are_mostly_valid() -> None:
    """Else the law above would hold of nothing."""
    seen: list[bool] = []

    @given(laid_out_badly())
    @settings(max_examples=100, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def collect(careless: str) -> None:
        report = Report()
        text.read(Source("<law>", careless), report)
        seen.append(not report.errors)

    collect()
    assert sum(seen) >= 0.7 * len(seen)


# ------------------------------------------------------------------------------------------ law 6


def assert_only_diagnostics(bad: str) -> None:
    source = Source("<law>", bad)
    for stage in (text.read, format_text):
        report = Report()
        result = stage(source, report)
        assert result is not None or report.errors
        for diagnostic in report:
            assert diagnostic.code in CODES
            for annotation in diagnostic.annotations:
                assert 0 <= annotation.span.start <= annotation.span.end <= len(bad)


@given(strategies.modules(cases=True).map(write_module).flatmap(strategies.broken))
@many
def test_a_broken_file_gives_diagnostics(bad: str) -> None:
    assert_only_diagnostics(bad)


@given(st.text(max_size=200) | st.text("BDdef()[]:,->*/= \n\t#\"'0123_.?|{}@%", max_size=200))
@example("")
@example("\0")
@example("\ufeff")
@example("def f(x: Tensor[Б]): ...")
@many
def test_any_text_gives_diagnostics(bad: str) -> None:
    assert_only_diagnostics(bad)


@given(st.data())
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
def test_a_broken_def_does_not_spoil_its_neighbors(data: st.DataObject) -> None:
    first, broken, last = (write_module(Module((data.draw(strategies.signatures(name=name)),))) for name in "fgh")
    bad = broken.replace("def g(", "def g((", 1)
    report = Report()
    module = text.read(Source("<law>", f"{first}\n\n{bad}\n\n{last}"), report)
    assert report.errors
    assert {"f", "h"} <= {s.name for s in module}


@pytest.mark.parametrize(
    "junk", ["(" * 5000, "[" * 5000, "-" * 5000, "not " * 5000, "a.b" * 5000, "(" * 900 + ")" * 900]
)
def test_deep_nesting_is_refused_in_time(junk: str) -> None:
    assert_only_diagnostics(f"def f(x: Tensor[B]):\n    where {junk}B < 3\n")
