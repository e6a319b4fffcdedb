"""Exit codes."""

from __future__ import annotations

import pytest

from shapedsl.cli.common import exit_code
from shapedsl.diagnostics import Report, Severity

E, W, N = Severity.ERROR, Severity.WARNING, Severity.NOTE


@pytest.mark.parametrize(
    ("found", "strict", "code"),
    [
        ([], False, 0),
        ([(E, "contradiction")], False, 1),
        ([(W, "ambiguous-multiple")], False, 0),
        ([(W, "ambiguous-multiple")], True, 1),
        ([(N, "ambiguous-multiple")], True, 0),
        ([(W, "undecided")], False, 3),
        ([(W, "undecided")], True, 1),
        ([(W, "undecided"), (W, "ambiguous-multiple")], False, 3),
        ([(W, "undecided"), (W, "ambiguous-multiple")], True, 1),
        ([(W, "undecided"), (E, "contradiction")], False, 1),
    ],
)
def test_exit_codes(found: list[tuple[Severity, str]], strict: bool, code: int) -> None:
    report = Report()
    for severity, name in found:
        report.emit(severity, name, "m")
    assert exit_code(report, strict=strict) == code
