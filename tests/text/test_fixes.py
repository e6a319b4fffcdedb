"""Fixes: a safe one mends its finding and nothing else; one that could be a guess is not safe."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from shapedsl.diagnostics import Diagnostic, Fix, Report, Source
from shapedsl.frontends.text import read
from shapedsl.layout.tokens import scan

from ..golden import markdown

_CASES = Path(__file__).parents[1] / "cases" / "syntax"


def _golden() -> list[pytest.param]:  # type: ignore[valid-type]
    return [
        pytest.param(case.source.body, id=f"{path.stem}-{case.name}")
        for path in sorted(_CASES.glob("*.md"))
        for section in markdown.parse(path).sections
        for case in section.cases()
    ]


def _found(text: str) -> list[Diagnostic]:
    report = Report()
    read(Source("<text>", text), report)
    return list(report)


def _applied(text: str, fix: Fix) -> str:
    for edit in sorted(fix.edits, key=lambda e: e.span.start, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text


def _tokens(text: str) -> Counter[str]:
    """Words and signs, those in strings and comments one by one: new quotes make a string of what stands between."""
    return Counter(re.findall(r"\w+|[^\w\s]", " ".join(token.text for token in scan(text))))


def _errors(found: list[Diagnostic]) -> Counter[tuple[str, str]]:
    """Errors by message and by what they point at: where they stand moves."""
    return Counter((d.message, d.span.text if d.span else "") for d in found)


@pytest.mark.parametrize("text", _golden())
def test_a_safe_fix_removes_its_finding_and_adds_none(text: str) -> None:
    found = _found(text)
    for diagnostic in found:
        fix = diagnostic.fix
        if fix is None or not fix.safe:
            continue
        mended = _applied(text, fix)
        before = _errors(found)
        before.subtract(_errors([diagnostic]))
        after = [d for d in _found(mended) if not (d.fix is not None and d.fix.safe)]  # else: one mistake hid another
        assert not _errors(after) - before, mended
        named = _tokens(" ".join(edit.span.text for edit in fix.edits))
        assert not _tokens(text) - named - _tokens(mended), f"{mended!r} lost what the fix did not name"


def test_golden_cases_have_safe_fixes() -> None:
    """Or the property above would say nothing."""
    safe = [d for case in _golden() for d in _found(case.values[0]) if d.fix is not None and d.fix.safe]  # type: ignore[attr-defined]
    assert len(safe) >= 25


def fixed(text: str) -> str:
    """Returns ``text`` as ``check --fix`` leaves it."""
    for _ in range(20):
        safe = next((d.fix for d in _found(text) if d.fix is not None and d.fix.safe), None)
        if safe is None:
            return text
        text = _applied(text, safe)
    raise AssertionError("fixing never ends")


DEF = "def f(x: Tensor[B, D]):\n    "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{DEF}where B => 3\n", f"{DEF}where B >= 3\n"),
        ("def f(x: Tensor[B]): where B => 3\n", "def f(x: Tensor[B]): where B >= 3\n"),
        ("def f(x: Tensor[B]) => Tensor[B]: ...\n", "def f(x: Tensor[B]) -> Tensor[B]: ...\n"),
        ("dim B hint=8\n", "dim B hint 8\n"),
        ("dim B hint = 8\n", "dim B hint  8\n"),
        ("dim B multiple of=8\n", "dim B multiple of 8\n"),
        ("dim B multiple of8\n", "dim B multiple of 8\n"),
        ("dim B hint8\n", "dim B hint 8\n"),
        (f"{DEF}where B multiple 8\n", f"{DEF}where B multiple of 8\n"),
        ("def f(x: Tensor[B] = -3): ...\n", "def f(x: Tensor[B] = _): ...\n"),
        (f"{DEF}where B === 3\n", f"{DEF}where B == 3\n"),
        (f"{DEF}where B is not 3\n", f"{DEF}where B != 3\n"),
        ("def f(x: Tensor[B] || None): ...\n", "def f(x: Tensor[B] | None): ...\n"),
        ("def f(x: Tensor[B]):\ndef g(y: Tensor[B]): ...\n", "def f(x: Tensor[B]): ...\ndef g(y: Tensor[B]): ...\n"),
        (
            "def f(x: Tensor[B])  # why\n\n  # so\n  where B < 3\n",
            "def f(x: Tensor[B]):  # why\n\n  # so\n  where B < 3\n",
        ),
    ],
)
def test_what_is_certain_is_mended(text: str, expected: str) -> None:
    assert fixed(text) == expected
    assert not _found(expected)


@pytest.mark.parametrize(
    "text",
    [
        "dim B == 3\n",
        "dim B hint 4K\n",
        "let S = 3 // 2B\n",
        "let S =< 3\n",
        "let S: int = 3\n",
        "def f(x = Tensor[B]): ...\n",
        "def f(x: Tensor[B] = foo(3, 4)): ...\n",
        "def f(x: Tensor[B] = [1, 2]): ...\n",
        "def f(x: Tensor[B,, D]): ...\n",
        "def f(Tensor x): ...\n",
        "def f(x y): ...\n",
        "def f(x: Tensor(b: B)): ...\n",
        "def f(x: Tensor[B]) whre B < 3\n",
        "def f(x: Tensor[B]):\nwhere B < 3\ndef g(y: Tensor[B]): ...\n",
        "def f(x: Tensor[B])\n\n# so\nwhere B < 3\n",
        "def f(x: Tensor[B])\ndim B in [0, 3]\n",
        "class A:\ndef f(self, x: Tensor[B]): ...\n",
        f"{DEF}where B is None\n",
        f"{DEF}where B multiple off 8\n",
        f"{DEF}where B \N{IDENTICAL TO} 1\n",
        f"{DEF}where B \N{DIVISION SIGN} 2 == 1\n",
        f"{DEF}where B\N{HYPHEN}D > 2\n",
        f"{DEF}where B\N{SUBSCRIPT ONE} > 2\n",
        f"{DEF}where bat\N{ZERO WIDTH SPACE}ch > 2\n",
        "det f(x: Tensor[B]): ...\n",
    ],
)
def test_a_guess_is_not_applied(text: str) -> None:
    found = _found(text)
    assert any(d.code == "syntax-error" for d in found)
    assert fixed(text) == text


@pytest.mark.parametrize("value", ["foo(3, 4)", "[1, 2]", '{"a": (1, 2)}', "-3"])
def test_the_fix_of_a_default_covers_all_of_it(value: str) -> None:
    found = _found(f"def f(x: Tensor[B] = {value}, y: Tensor[B]): ...\n")
    fixes = [d.fix for d in found if d.fix is not None]
    assert [[edit.span.text for edit in fix.edits] for fix in fixes] == [[value]]
