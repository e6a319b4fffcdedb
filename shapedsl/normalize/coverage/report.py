"""Tell of gaps, overlaps and unreachable alternatives: with sizes, and with the lines that make them so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...diagnostics import Report
from ...ir import COMPARISONS, Alternative, Compare, Constraint, Signature
from ...ir.taking import asked_by
from ...ir.walk import free_vars
from ...ir.write import write_predicate
from ..comparisons import FALSE
from ..predicates import simplify_predicate
from .findings import Coverage, Misfit, Overlap, Unreachable
from .questions import coverage_of
from .regions import at_ranks, satisfies

MOST_SHOWN = 4  # alternatives that a finding points at


def check_coverage(signature: Signature, report: Report) -> Coverage:
    """Returns what the alternatives of ``signature`` do with the sizes it accepts.

    Args:
        signature: Without errors, and satisfiable.
        report: Receives ``unreachable-case``, ``case-overlap``, ``case-gap``, ``hint-out-of-range`` and ``undecided``.
    """
    signature = at_ranks(signature)
    coverage = coverage_of(signature)
    for unreachable in coverage.unreachable:
        if unreachable.taken_by:
            _tell_taken(signature, unreachable, report)
        else:
            _tell_refused(signature, unreachable, report)
    for overlap in coverage.overlaps:
        _tell_overlap(signature, overlap, report)
    for misfit in coverage.misfits:
        _tell_misfit(signature, misfit, report)
    if coverage.gap is not None:
        _tell_gap(signature, coverage.gap, report)
    if coverage.undecided:
        _tell_undecided(signature, coverage.undecided, report)
    return coverage


def _tell_taken(signature: Signature, found: Unreachable, report: Report) -> None:
    """Tells of an alternative whose sizes earlier ones take."""
    dead = signature.alternatives[found.at]
    takers = [signature.alternatives[at] for at in found.taken_by]
    many = len(takers) > MOST_SHOWN
    shown = f"{len(takers)} earlier ones" if many else called(*takers)
    since = [c for c in found.core if c in signature.constraints]
    last = any(taker.keyword == "otherwise" for taker in takers)
    if dead.keyword == "otherwise":
        silence = "# shapedsl: ignore[unreachable-case]"
        advice = (
            "delete it" if last else f"delete it, or end its line with `{silence}` if it is there for later changes"
        )
    elif last:
        advice = "move it in front of `otherwise`"
    elif dead.buckets == takers[0].buckets and _asks_same(dead, takers[0]):
        advice = "delete one of the two"
    else:
        advice = f"move it in front of {called(takers[0])}, or delete it"
    report.warning(
        "unreachable-case",
        f"no sizes reach {called(dead)}: {shown} {'takes' if len(takers) == 1 else 'take'} them all",
        at=dead.span or signature.span,
        label="nothing is left for it",
        also=[(t.span, "takes all of them" if len(takers) == 1 else "takes some") for t in takers[:MOST_SHOWN]],
        note=f"{_and([_text(c) for c in since])} {'is' if len(since) == 1 else 'are'} assumed" if since else (),
        help=advice,
    )


def _asks_same(one: Alternative, other: Alternative) -> bool:
    return {c.predicate for c in one.constraints} == {c.predicate for c in other.constraints}


def _tell_refused(signature: Signature, found: Unreachable, report: Report) -> None:
    """Tells of an alternative that asks for what is never accepted."""
    dead = signature.alternatives[found.at]
    mine = [c for c in found.core if c in asked_by(dead).conditions]
    given = [c for c in found.core if c not in mine]
    told = [*mine, *given]
    main = told[0] if told else None
    against = f"what is assumed excludes {'it' if len(mine) < 2 else 'them'}" if given else "it excludes itself"
    report.warning(
        "unreachable-case",
        f"no sizes reach {called(dead)}: {against}",
        at=(main.span if main else None) or dead.span or signature.span,
        label=_asks(main, "needs") if main else "never holds",
        also=[(c.span, _asks(c, "needs" if c in mine else "so")) for c in told[1:]],
        help="change one of these, or delete the alternative",
        core=[_text(c) for c in found.core],
    )


def _tell_overlap(signature: Signature, found: Overlap, report: Report) -> None:
    later, earlier = signature.alternatives[found.at], [signature.alternatives[at] for at in found.earlier]
    others = earlier[1:]
    report.warning(
        "case-overlap",
        f"{called(later)} overlaps {called(earlier[0])}: both match {_sizes(found.witness, [later, earlier[0]])}",
        at=later.span or signature.span,
        label="does not get them",
        also=[(earlier[0].span, "takes them, since it stands first")],
        note=f"it overlaps {called(*others) if len(others) <= MOST_SHOWN else f'{len(others)} others'} too"
        if others
        else (),
        help=_apart(earlier[0], later),
        witness=found.witness,
    )


def _apart(earlier: Alternative, later: Alternative) -> str:
    """Returns how to make two alternatives share nothing, in words to write where they are short."""
    if earlier.buckets or later.buckets:
        return "let them exclude each other, or put a case for both in front"
    first, second = asked_by(earlier).conditions, asked_by(later).conditions
    own = [c for c in first if c.predicate not in [each.predicate for each in second]]
    both = ", ".join(_text(c) for c in [*second, *own])
    if len(own) != 1 or len(second) + 1 > MOST_SHOWN:
        return "let them exclude each other, or put a case for both in front"
    return f"add `{_negated(own[0])}` to {called(later)}, or put `case {both}` in front of {called(earlier)}"


def _negated(constraint: Constraint) -> str:
    text = _text(constraint)
    match constraint.predicate:
        case Compare(op=op, left=left, right=right) if write_predicate(constraint.predicate) == text:
            return write_predicate(Compare(COMPARISONS[op.negated], left, right))
        case Compare():
            return f"not {text}"
        case _:
            return f"not ({text})"


def _tell_misfit(signature: Signature, found: Misfit, report: Report) -> None:
    alternative = signature.alternatives[found.at]
    taker = None if found.taken_by is None else signature.alternatives[found.taken_by]
    several = len(found.hints) > 1
    sizes = ", ".join(f"{name} = {value}" for name, value in found.hints)
    hint = f"the hints {sizes}" if several else f"hint {found.hints[0][1]} of `{found.hints[0][0]}`"
    verb = ("do not" if several else "does not") + (" fit" if taker is None else " reach")
    report.warning(
        "hint-out-of-range",
        f"{hint} {verb} {called(alternative)}" + (" together" if several and taker is None else ""),
        at=alternative.span or signature.span,
        label=f"hint {sizes}",
        also=[] if taker is None else [(taker.span, f"takes {'them' if several else 'it'}")],
        note=[] if found.nearest is None else f"{found.nearest} is used, the nearest size that fits",
    )


def _tell_gap(signature: Signature, witness: tuple[tuple[str, int], ...], report: Report) -> None:
    alternatives = signature.alternatives
    nearest = _nearest(alternatives, dict(witness))
    has_rest = any(alternative.keyword == "otherwise" for alternative in alternatives)
    advice = "let `otherwise` take them all" if has_rest else "add `otherwise`"
    report.warning(
        "case-gap",
        f"no alternative takes {_sizes(witness, alternatives)}",
        at=signature.span,
        label="accepts them",
        also=[] if nearest is None else [(nearest[1].span, "does not hold for them")],
        help=advice if nearest is None else f"{advice}, or widen {called(nearest[0])}",
        witness=witness,
    )


def _nearest(alternatives: Iterable[Alternative], sizes: dict[str, int]) -> tuple[Alternative, Constraint] | None:
    """Returns the first alternative that a single bound keeps from taking ``sizes``, and the bound."""
    for alternative in alternatives:
        broken = [c for c in asked_by(alternative).conditions if not satisfies(c.predicate, sizes)]
        match [c.predicate for c in broken]:
            case [Compare(op=op)] if op.name in ("<=", "<", ">=", ">"):
                return alternative, broken[0]
            case _:
                pass
    return None


def _tell_undecided(signature: Signature, what: Sequence[tuple[str | int, str]], report: Report) -> None:
    named = [signature.alternatives[at] for at, _ in what if isinstance(at, int)]
    parts = [] if len(named) == len(what) else ["whether every size is taken"]
    parts += [f"what is left for {called(*named)}"] if named else []
    report.warning(
        "undecided",
        f"could not decide {' and '.join(parts)}",
        at=named[0].span if named and len(parts) == 1 else signature.span,
        note=dict.fromkeys(reason for _, reason in what),
    )


# ----------------------------------------------------------------------------------------- words


def called(*alternatives: Alternative) -> str:
    """Returns what messages call alternatives: ``cases `a` and `b` ``, ``the bucket of `S` ``."""
    cases = [_name(each) for each in alternatives if each.keyword == "case"]
    names = [f"case{'s' if len(cases) > 1 else ''} {_and(cases)}"] if cases else []
    for each in alternatives:
        if each.keyword == "bucket":
            names.append(f"the bucket of {_and([f'`{bucket.variable}`' for bucket in each.buckets])}")
        elif each.keyword == "otherwise":
            names.append("`otherwise`")
    return _and(names)


def _name(case: Alternative) -> str:
    return f"`{case.name or ', '.join(_text(c) for c in asked_by(case).conditions)}`"


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _text(constraint: Constraint) -> str:
    return constraint.text or write_predicate(constraint.predicate)


def _asks(constraint: Constraint, verb: str) -> str:
    """Returns what a line asks for, in canonical form."""
    predicate = simplify_predicate(constraint.predicate)
    return "never holds" if predicate == FALSE else f"{verb} {write_predicate(predicate)}"


def _sizes(witness: Iterable[tuple[str, int]], alternatives: Iterable[Alternative]) -> str:
    """Returns ``B = 2, S = 0``: the sizes that ``alternatives`` speak of."""
    names = {name for a in alternatives for c in asked_by(a).conditions for name in free_vars(c.predicate)}
    return ", ".join(f"{name} = {size}" for name, size in witness if name in names)


__all__ = ["called", "check_coverage"]
