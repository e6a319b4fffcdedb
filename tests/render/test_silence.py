"""``# shapedsl: ignore[code]``."""

from __future__ import annotations

import pytest

from shapedsl.diagnostics import Report, Severity, Source


@pytest.mark.parametrize(
    ("comment", "severity", "kept"),
    [
        ("", Severity.WARNING, True),
        ("  # shapedsl: ignore[ambiguous-multiple]", Severity.WARNING, False),
        ("  # seen. shapedsl: ignore[ambiguous-multiple]", Severity.WARNING, True),
        ("  # shapedsl:ignore[similar-name, ambiguous-multiple]", Severity.WARNING, False),
        ("  # shapedsl: ignore[similar-name]", Severity.WARNING, True),
        ("  # shapedsl: ignore", Severity.WARNING, True),
        ("  # shapedsl: ignore[ambiguous-multiple]", Severity.ERROR, True),
    ],
)
def test_a_comment_silences_warnings_of_its_line(comment: str, severity: Severity, kept: bool) -> None:
    source = Source("a", f"where B < 3{comment}\nwhere B < 4")
    report = Report()
    report.emit(severity, "ambiguous-multiple", "implied", at=source.span(6, 11))
    report.emit(severity, "ambiguous-multiple", "implied", at=source.span(len(source.text) - 5, len(source.text)))
    assert len(report) == 1 + kept


def test_the_same_finding_is_reported_once() -> None:
    source, report = Source("a", "where B < 3"), Report()
    for _ in range(3):
        report.warning("ambiguous-multiple", "implied", at=source.span(6, 11))
    assert len(report) == 1
