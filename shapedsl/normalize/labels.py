"""What findings write of constraints: under their lines, and in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..diagnostics import Span
from ..ir import Compare, Constraint, Origin
from ..ir.write import write_dim, write_predicate
from .comparisons import FALSE
from .predicates import simplify_predicate

Line = tuple["Span | None", str]


def lines_of(constraints: Iterable[Constraint], verb: str = "needs") -> list[Line]:
    """Returns where ``constraints`` stand, with what they ask for, and then where their lets stand.

    Args:
        constraints: What stands at one place is one line; what is assumed comes before what is declared.
        verb: What is said of an assumption: ``needs B >= 100``. Of what is declared, ``so B <= 64``.
    """
    ordered = sorted(constraints, key=lambda c: c.origin is not Origin.WHERE)
    said: dict[Span | None, tuple[str, list[str]]] = {}
    nowhere: list[Line] = []
    for constraint in ordered:
        words = verb if constraint.origin is Origin.WHERE else "so"
        predicate = simplify_predicate(constraint.predicate)
        if constraint.span is None:
            nowhere.append((None, f"{words} {write_predicate(predicate)}"))
        elif predicate == FALSE:
            said[constraint.span] = ("never", ["holds"])
        else:
            said.setdefault(constraint.span, (words, []))[1].append(write_predicate(predicate))
    lines: list[Line] = [
        (span, f"{words} {' and '.join(dict.fromkeys(texts))}") for span, (words, texts) in said.items()
    ]
    lets = dict.fromkeys(note for constraint in ordered for note in constraint.notes)
    return [*lines, *nowhere, *(note for note in lets if note[0] not in said)]


def text_of(constraint: Constraint) -> str:
    """Returns a constraint as it was written, on one line."""
    return " ".join(constraint.text.split()) or write_predicate(constraint.predicate)


def cited(constraint: Constraint) -> str:
    """Returns what sentences call a constraint; what a tensor dim implies by the dim."""
    match constraint.predicate:
        case Compare(left=left) if constraint.origin is Origin.DIM:
            return f"the dim `{write_dim(left)}`"
        case _:
            return f"`{text_of(constraint)}`"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Returns ``a, b and c``."""
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
