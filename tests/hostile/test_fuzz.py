"""Law 6 on real specs with mistakes put in: diagnostics only, and what is formatted means the same."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source
from shapedsl.diagnostics.render import concise, full, github, sarif
from shapedsl.diagnostics.render import json as json_format

SAMPLES = [
    path.read_text(encoding="utf-8") for path in sorted((Path(__file__).parents[1] / "cases/samples").glob("*.shapes"))
]
SIGNS = [*"()[]{},:=<>+-*/%@?|#\"'\\ \n\t\0_", "**", "//", "...", "->", "==", "<=", "&&", ";", "\r\n", '"""']
LETTERS = ["\ufeff", "\u0412", "≤", "é", "\U0001d401"]
WORDS = [
    *(
        "and",
        "or",
        "not",
        "in",
        "if",
        "where",
        "dim",
        "def",
        "class",
        "case",
        "otherwise",
        "bucket",
        "hint",
        "multiple",
    ),
    *("of", "plus", "pad", "with", "as", "inf", "None", "B", "x.y", "Tensor[B]", "\n    ", "\ndef f(x: "),
]
NUMBERS = ["0", "9" * 30, "1.5", "0x1", "1_0", "in [0, 1]", "{1, 2, ..., 64}"]
FRAGMENTS = st.sampled_from([*SIGNS, *LETTERS, *WORDS, *NUMBERS])


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A sample with a few pieces taken out, doubled, moved, or put in."""
    text = draw(st.sampled_from(SAMPLES))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        match draw(st.sampled_from(["delete", "insert", "replace", "double", "move"])):
            case "delete":
                text = text[:start] + text[end:]
            case "insert":
                text = text[:start] + draw(FRAGMENTS) + text[start:]
            case "replace":
                text = text[:start] + draw(FRAGMENTS) + text[end:]
            case "double":
                text = text[:end] + text[start:end] + text[end:]
            case _:
                piece, rest = text[start:end], text[:start] + text[end:]
                at = draw(st.integers(0, len(rest)))
                text = rest[:at] + piece + rest[at:]
    return text


def test_there_are_samples() -> None:
    assert len(SAMPLES) == 21


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(mutated())
def test_reading_gives_diagnostics_that_can_be_shown(text: str) -> None:
    report = Report()
    pipeline.read(Source("fuzz.shapes", text), report)
    for renderer in (full, concise, json_format, github, sarif):
        assert isinstance(renderer.render(report), str)
    for diagnostic in report:
        for annotation in diagnostic.annotations:
            assert 0 <= annotation.span.start <= annotation.span.end <= len(text)
        for edit in diagnostic.fix.edits if diagnostic.fix else ():
            assert 0 <= edit.span.start <= edit.span.end <= len(text)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(mutated())
def test_what_is_formatted_means_the_same(text: str) -> None:
    report = Report()
    formatted = pipeline.format_text(Source("fuzz.shapes", text), report)
    assert (formatted is None) == bool(report.errors)
    assert "not-formatted" not in {d.code for d in report}
    if formatted is None:
        return
    again = pipeline.format_text(Source("fuzz.shapes", formatted), Report())
    assert again == formatted
    before, after = Report(), Report()
    assert pipeline.read(Source("fuzz.shapes", text), before) == pipeline.read(Source("fuzz.shapes", formatted), after)
    assert [d.code for d in before] == [d.code for d in after]
