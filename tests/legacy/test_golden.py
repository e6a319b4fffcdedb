"""The markdown cases of conversion hold; see `tests.legacy.golden`."""

from __future__ import annotations

import ast
import os

import pytest

from tests.golden import markdown

from . import golden

CASES = {case.name: case for case in golden.cases()}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, request: pytest.FixtureRequest) -> None:
    case = CASES[name]
    text = case.program.body
    result, report = golden.convert(text)
    edits: list[tuple[markdown.Block, str]] = []
    problems: list[str] = []
    for style in ("torch", "shapedsl"):
        block = case.expected.get(style)
        if block is None and style == "shapedsl":
            continue
        got = result.text if style == "torch" else golden.convert(text, style="shapedsl")[0].text
        if block is None or got is None:
            assert got == (None if block is None else block.body), f"{style}: {got}"
        elif difference := golden.difference(block.body, got):
            problems.append(f"line {block.line}, {style}:\n{difference}")
            edits.append((block, got))
    said = golden.said(result, report)
    assert case.report is not None
    if difference := golden.difference(case.report.body, said):
        problems.append(f"line {case.report.line}, report:\n{difference}")
        edits.append((case.report, said))
    extracted = golden.convert(text, target="shapes")[0].shapes
    assert golden.spec_differences(case.shapes.body if case.shapes else "", extracted) == [], extracted
    if problems and request.config.getoption("--bless"):
        assert "PYTEST_XDIST_WORKER" not in os.environ, "--bless writes files: run it without -n"
        request.config.stash[golden_blessed()].setdefault(case.path, []).extend(edits)
        pytest.skip("blessed: the expectation is rewritten; run it again")
    assert problems == [], "\n\n".join(problems)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "torch" in case.expected])
def test_what_is_converted_stays_as_it_is(name: str) -> None:
    converted = CASES[name].expected["torch"].body
    ast.parse(converted)
    assert golden.convert(converted)[0].text is None


def golden_blessed() -> pytest.StashKey[dict[object, list[tuple[markdown.Block, str]]]]:
    from tests.golden.plugin import BLESSED

    return BLESSED  # type: ignore[return-value]
