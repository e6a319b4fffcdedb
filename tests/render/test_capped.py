"""Of very many findings a person is shown the first, and told how many more there are."""

from __future__ import annotations

import json

from shapedsl.diagnostics import Diagnostic, Severity, ShapeError
from shapedsl.diagnostics.render import MOST, concise, full
from shapedsl.diagnostics.render import json as as_json


def many(count: int) -> list[Diagnostic]:
    return [Diagnostic("duplicate-name", Severity.ERROR, f"number {n}") for n in range(count)]


def test_the_first_are_shown_and_the_rest_counted() -> None:
    for render in (full.render, concise.render):
        text = render(many(MOST + 1234))
        assert text.count("[duplicate-name]") == MOST
        assert text.endswith("\n... and 1234 more findings")
        assert render(many(MOST + 1)).endswith("\n... and 1 more finding")
        assert "more finding" not in render(many(MOST))


def test_an_exception_is_no_longer_than_that() -> None:
    assert len(str(ShapeError(many(100_000)))) < 20_000


def test_machines_get_them_all() -> None:
    assert len(json.loads(as_json.render(many(MOST + 5)))["diagnostics"]) == MOST + 5
