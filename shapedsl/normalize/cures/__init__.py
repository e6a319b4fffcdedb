"""The smallest assumptions that decide a condition which a spec leaves open.

A trace asks ``S > 1``; under ``S >= 1`` nothing decides it. Before::

    S >= 1                     the program asks whether S > 1

After, the side that holds the hint first::

    Cure(add=(S >= 2,), holds=True, excludes=S == 1, cases=((S == 1,),), kind="bound")
    Cure(add=(S == 1,), holds=False, excludes=S >= 2, cases=((S >= 2,),), kind="equality")

Whatever is returned was proved: the spec and ``add`` decide the condition, some sizes satisfy them, and ``excludes``
is what the spec loses. All that is added is a comparison, since torch concludes nothing from an ``or``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from ...ir import COMPARISONS, And, Apply, Compare, Const, Not, Or, Predicate, Signature, Var
from ...ir.cure import Cure, CureKind
from ...ir.expanded import Lowered
from ...ir.walk import negated, nodes
from ...ir.write import write_predicate
from ..predicates import simplify_predicate
from .bounds import lowered as upper_bounds
from .bounds import raised
from .excluded import brief, excluded, guards, together, without_implied
from .question import Question, conjunction, names
from .sides import ways

MOST = 5
_KINDS: tuple[CureKind, ...] = ("bound", "disequality", "upper-bound", "residue", "equality")  # what takes least, first


def cures(
    spec: Signature | Lowered,
    predicate: Predicate,
    *,
    given: Sequence[Predicate] = (),
    hints: Mapping[str, int] | None = None,
    most: int = MOST,
) -> tuple[Cure, ...]:
    """Returns assumptions that decide ``predicate``, the best first: they keep the hints, and take least.

    None of them contradicts the spec. Where the spec decides ``predicate`` already, they say so in words that torch
    may conclude from, and exclude nothing.

    Args:
        spec: What holds; a signature without variadics, or a lowered one with what was taken from its example.
        predicate: The condition, over its variables.
        given: What is assumed beside the spec.
        hints: Sizes that should stay possible; the hints of the spec fill in.
        most: How many are wanted.
    """
    question = _question(spec, given, hints or {})
    decided = _decided(question, predicate)
    found: dict[frozenset[Predicate], tuple[tuple[object, ...], Cure]] = {}
    for holds in (False, True) if decided is None else (decided,):
        side = predicate if holds else negated(predicate)
        candidates = _candidates(question, side)
        if isinstance(side, Compare) and (decided is not None or _divides(side)):
            candidates = chain([(side,)], candidates)  # torch knows the very words that it asked in
        for candidate in candidates:
            add = _said(question, candidate)
            if add and frozenset(add) not in found and _decides(question, side, add) and question.possible(*add):
                cure = _cure(question, add, holds)
                found[frozenset(add)] = _rank(question, cure, side), cure
    if decided is None:
        ranked = sorted(found.values(), key=lambda each: each[0])
    else:
        ranked = sorted(found.values(), key=lambda each: (each[1].excludes is not None, each[0][0]))
    return tuple(cure for _, cure in ranked[:most])


def _question(spec: Signature | Lowered, given: Sequence[Predicate], hints: Mapping[str, int]) -> Question:
    known: list[Predicate] = []
    signature = spec
    if isinstance(signature, Lowered):
        known = [  # what was taken from the example
            Compare(COMPARISONS["=="], Var(name), size)
            for name, size in signature.definitions
            if isinstance(size, Const)
        ]
        signature = signature.expanded.signature
    stated = [constraint.predicate for constraint in signature.constraints]
    declared = {variable.name: variable.hint for variable in signature.variables if variable.hint is not None}
    return Question(signature.variables, (*stated, *known, *given), {**declared, **hints})


def _decided(question: Question, predicate: Predicate) -> bool | None:
    """Returns whether the spec implies ``predicate``, or its negation; None if neither is proved."""
    if question.implied(predicate):
        return True
    return False if question.implied(Not(predicate)) else None


def _candidates(question: Question, side: Predicate) -> Iterator[tuple[Predicate, ...]]:
    yield from ways(question, side)
    yield from raised(question, side)
    yield from upper_bounds(question, side)


def _decides(question: Question, side: Predicate, add: Sequence[Predicate]) -> bool:
    """Returns whether ``side`` holds where ``add`` does; what it says itself needs no proof."""
    return _is_said(side, add) or question.implied(side, *add) is True


def _is_said(side: Predicate, add: Sequence[Predicate]) -> bool:
    said = frozenset(map(simplify_predicate, add))

    def holds(predicate: Predicate) -> bool:
        match predicate:
            case And(args=args):
                return all(map(holds, args))
            case Or(args=args):
                return any(map(holds, args))
            case _:
                return predicate in said

    return holds(simplify_predicate(side))


def _said(question: Question, candidate: Sequence[Predicate]) -> tuple[Predicate, ...]:
    """Returns ``candidate`` as briefly as the spec allows, behind what keeps its divisors from 0."""
    parts = [brief(question, part) for part in candidate]
    needed = without_implied(question, [part for part in parts if not question.implied(part)] or parts)
    guarded = [guard for part in needed for guard in guards(question, part)]
    return tuple(dict.fromkeys([*guarded, *needed]))


def _cure(question: Question, add: tuple[Predicate, ...], holds: bool) -> Cure:
    """Returns what ``add`` means for the spec."""
    parts = tuple(excluded(question, add))
    return Cure(
        add=add,
        holds=holds,
        excludes=together(parts) if parts else None,
        cases=parts,
        holds_hint=question.hint_satisfies(conjunction(add)) is True,
        kind=_kind(add),
    )


def _kind(add: tuple[Predicate, ...]) -> CureKind:
    kinds = [_kind_of(part) for part in add]
    return next(kind for kind in reversed(_KINDS) if kind in kinds)


def _kind_of(predicate: Predicate) -> CureKind:
    match predicate:
        case Compare(op=op, left=Apply(op=inner), right=Const()) if op.name == "==" and inner.name == "%":
            return "residue"
        case Compare(op=op) if op.name == "!=":
            return "disequality"
        case Compare(op=op, right=Const()) if op.name in ("<", "<="):
            return "upper-bound"
        case Compare(op=op) if op.name != "==":
            return "bound"
        case _:
            return "equality"


def _rank(question: Question, cure: Cure, side: Predicate) -> tuple[object, ...]:
    """Returns what cures are sorted by."""
    loses_hint = False in [question.hint_satisfies(part) for part in cure.add]
    exact = question.implied(conjunction(cure.add), side) is True  # it takes no size that it could leave
    heard = _hearing(question, side, cure.add)
    entangled = any(len(names(part)) > 1 for part in cure.add)  # torch reasons best about one size at a time
    text = ", ".join(map(write_predicate, cure.add))
    return loses_hint, not exact, heard, entangled, _KINDS.index(cure.kind), len(cure.add), len(text), text


def _hearing(question: Question, side: Predicate, add: Sequence[Predicate]) -> int:
    """Returns 0 where torch will conclude ``side``; of a division it knows no other words than those it asked in."""
    if question.shown_by_ranges(side, add):
        return 0
    if not _is_said(side, add):
        return 2
    return 1 if _divides(side) and side not in add else 0


def _divides(predicate: Predicate) -> bool:
    return any(isinstance(node, Apply) and node.op.name in ("//", "%") for node in nodes(predicate))


__all__ = ["Cure", "CureKind", "cures"]
