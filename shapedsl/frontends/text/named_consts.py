"""Which constraints lean on the value of a ``const``, which whoever loads a file may set.

Before and after::

    const LIMIT = 64
    dim B in [1, LIMIT]          # B >= 1 does not, B <= 64 does
    ...
        where B <= 2 * LIMIT     # does
        where B <= 128           # does not, but that it follows from B <= 64 does

A `Const` that came by a name stands where the name does, so its text is no number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir import Compare, Const, Constraint, Origin, Predicate
from ...ir.walk import nodes
from ...layout.tokens import CLOSERS, OPENERS, scan
from .sizes import FUNCTIONS

_WORDS = FUNCTIONS.keys() | {"multiple", "of", "plus", "inf"}


def is_for_all_consts(redundant: Sequence[Constraint], core: Sequence[Constraint]) -> bool:
    """Returns whether ``redundant`` follows from ``core`` whatever value each ``const`` has: not seen otherwise."""
    written = {(c.origin, c.text) for c in (*redundant, *core)}
    twice = core and len(written) == 1 and redundant[0].origin is Origin.WHERE
    return bool(twice) or not any(map(leans_on_const, (*redundant, *core)))


def leans_on_const(constraint: Constraint) -> bool:
    """Returns whether ``constraint`` says something else once a ``const`` has another value."""
    if constraint.origin is not Origin.DECLARED:
        return any(_has_name(text) for text in _texts(constraint.predicate))
    text = constraint.span.text if constraint.span is not None else ""
    if not text.startswith("["):
        return _has_name(text)
    ends = _ends(text)
    match constraint.predicate:
        case Compare(op=op) if len(ends) == 2 and op.name in (">=", "<="):
            return _has_name(ends[op.name == "<="])
        case _:
            return _has_name(text)


def _has_name(text: str) -> bool:
    """Returns whether a constant's text has names; what is before ``multiple of`` is none of it."""
    names = [token.text for token in scan(text) if token.kind == "name"]
    after = names.index("multiple") + 1 if "multiple" in names else 0
    return any(name not in _WORDS for name in names[after:])


def _ends(text: str) -> list[str]:
    """Returns the two ends of ``[low, high]``."""
    ends = [""]
    depth = 0
    for token in scan(text):
        depth -= token.text in CLOSERS
        if token.text == "," and depth == 1:
            ends.append("")
        elif depth and token.kind != "comment":
            ends[-1] += token.text
        depth += token.text in OPENERS
    return [end for end in ends if end.strip()]


def _texts(predicate: Predicate) -> Iterator[str]:
    """Yields the texts of the constants in ``predicate``, and of each ``multiple of``, whose constants have none."""
    for node in nodes(predicate):
        match node:
            case Const(span=span) if span is not None:
                yield span.text
            case Compare(span=span) if span is not None and "multiple" in span.text:
                yield span.text
            case _:
                pass


__all__ = ["is_for_all_consts", "leans_on_const"]
