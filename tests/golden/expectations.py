"""``# error: [code] "label"`` comments: what a case expects, and what its diagnostics were, in the same words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shapedsl.diagnostics import Diagnostic, Severity

_EXPECTED = re.compile(r"""[ \t]*\# (?:error|warning|note): (?:\[[a-z0-9-]+\]|").*$""", re.MULTILINE)
_ONE = re.compile(
    r"""\# (?P<severity>error|warning|note): (?:\[(?P<code>[a-z0-9-]+)\])? ?(?:"(?P<label>(?:[^"\\]|\\.)*)")?"""
)

# (line, severity, code or "" for a secondary span, label or None for any)
Finding = tuple[int, str, str, "str | None"]


def strip(text: str) -> str:
    """Returns ``text`` without its expectation comments; what is left keeps its columns."""
    return _EXPECTED.sub("", text)


def expected(text: str) -> list[Finding]:
    """Returns what the comments of ``text`` expect, by line (1-based)."""
    findings: list[Finding] = []
    for number, line in enumerate(text.split("\n"), 1):
        comment = _EXPECTED.search(line)
        if comment is None:
            continue
        written = comment[0].strip()
        for part in re.split(r" (?=# (?:error|warning|note): )", written):
            match = _ONE.fullmatch(part.strip())
            if match is None:
                raise ValueError(f"line {number}: cannot read {part!r}")
            label = match["label"]
            unescaped = None if label is None else label.replace('\\"', '"').replace("\\\\", "\\")
            findings.append((number, match["severity"], match["code"] or "", unescaped))
    return sorted(findings, key=_order)


def actual(diagnostics: Iterable[Diagnostic], source_name: str, other_names: Iterable[str] = ()) -> list[Finding]:
    """Returns the diagnostics that stand in the source called ``source_name``, and their secondary spans.

    A diagnostic without a span, or with one in a source that is not in ``other_names``, counts for line 1.
    """
    findings: list[Finding] = []
    elsewhere = set(other_names)
    for diagnostic in diagnostics:
        span = diagnostic.span
        if span is None or (span.source.name != source_name and span.source.name not in elsewhere):
            findings.append((1, diagnostic.severity.value, diagnostic.code, ""))
        for index, annotation in enumerate(diagnostic.annotations):
            if annotation.span.source.name != source_name:
                continue
            line, _ = annotation.span.source.position(annotation.span.start)
            if index == 0:
                findings.append((line, diagnostic.severity.value, diagnostic.code, annotation.label))
            elif annotation.label:
                findings.append((line, Severity.NOTE.value, "", annotation.label))
    return sorted(findings, key=_order)


def _order(finding: Finding) -> tuple[int, bool, str, str, str]:
    line, severity, code, label = finding
    return line, not code, severity, code, label or ""


def differences(want: list[Finding], got: list[Finding]) -> list[str]:
    """Returns one line for each finding that is missing or unexpected.

    Secondary spans are compared only where the case names one; a label only where it names one.
    """
    if not any(not code for _, _, code, _ in want):
        got = [finding for finding in got if finding[2]]
    left = list(got)
    lines: list[str] = []
    for line, severity, code, label in want:
        for finding in left:
            if finding[:3] == (line, severity, code) and label in (None, finding[3]):
                left.remove(finding)
                break
        else:
            lines.append(f"missing     line {line}: {write((line, severity, code, label))}")
    lines += [f"unexpected  line {finding[0]}: {write(finding)}" for finding in left]
    return lines


def write(finding: Finding) -> str:
    """Returns the comment that expects ``finding``."""
    _, severity, code, label = finding
    escaped = "" if not label else ' "' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"# {severity}:{f' [{code}]' if code else ''}{escaped}"


def annotate(text: str, findings: Iterable[Finding]) -> str:
    """Returns ``text`` with its expectation comments replaced by ``findings``."""
    lines = strip(text).split("\n")
    for finding in findings:
        row = min(finding[0], len(lines)) - 1
        gap = "  " if "  # " not in lines[row] else " "
        lines[row] += f"{gap}{write(finding)}"
    return "\n".join(lines)
