"""Reading spec text for the tests of this folder."""

from __future__ import annotations

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.text import parse_dims, parse_where, read
from shapedsl.ir import And, Predicate, Signature, Size


def size(text: str) -> Size:
    """Returns the one dim that ``text`` is."""
    report = Report()
    dims = parse_dims(Source("<size>", text), report)
    assert dims is not None, text
    assert not report.errors, text
    (dim,) = dims
    return dim  # type: ignore[return-value]


def predicate(text: str) -> Predicate:
    """Returns the predicate that ``text`` is; of several, their conjunction."""
    several = predicates(text)
    return several[0] if len(several) == 1 else And(tuple(several))


def predicates(text: str) -> list[Predicate]:
    """Returns the predicates that ``text`` lists."""
    report = Report()
    constraints = parse_where(Source("<where>", text), report)
    assert constraints is not None, text
    assert not report.errors, text
    return [constraint.predicate for constraint in constraints]


def signature(text: str) -> Signature:
    """Returns the one signature that the file ``text`` holds."""
    report = Report()
    module = read(Source("<spec>", text), report)
    assert not report.errors, str(report.errors[0])
    (only,) = module.signatures
    return only
