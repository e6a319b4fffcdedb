"""Questions about a spec: does it imply a predicate, what can a size be, which constraints exclude each other?

A question is text in the language, or an object as annotations have them (``B % 8 == 0``); its names are
the spec's variables, and the lets and consts of its file. It is held to the rules that a ``where`` is held
to: a name that the spec lacks, and a divisor that can be 0, are errors. So *proved* means that it
holds, and has a value, for all sizes that the spec accepts.

Where the number of dims of a ``*name`` is open, what fails for few dims is refuted, and what is proved is
proved for any number of them. ``batch <= 8`` speaks of each dim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import gcd
from typing import TYPE_CHECKING, Final, NoReturn, cast

from .. import pipeline
from ..diagnostics import Report, ShapeError, Source
from ..ir import COMPARISONS, Alternative, Compare, Constraint, Predicate, Signature, Size
from ..ir.taking import asked_by, negation
from ..ir.walk import free_vars
from ..normalize.decide import Proved, Refuted, Unknown, decide, find_sizes, minimal_core
from ..normalize.decide import range_of as decided_range
from ..normalize.posing import Posed, pose
from ..normalize.refute import Refutation, refutation_of, report_contradiction
from ..surface.symbols import Predicate as PredicateObject
from ..surface.symbols import Symbol
from .answers import Answer, SizeRange, in_order, texts

if TYPE_CHECKING:
    from ..normalize.decide import Range, Verdict

_LENGTHS: Final = range(4)  # of a variadic, in which a counterexample is looked for
_STRUCTURES: Final = 16  # combinations of lengths


def ask(signature: Signature, question: str | PredicateObject, *, case: str | None = None) -> Answer:
    """Returns whether ``signature``, or one case of it, implies ``question``.

    Raises:
        ShapeError: ``unknown-case``, ``unknown-name``, ``maybe-zero-divisor``, or the text is no predicate.
        TypeError: It is no text, nor a predicate object.
    """
    if isinstance(question, PredicateObject):
        question = question.text
    if not isinstance(cast("object", question), str):
        raise TypeError(f"a question is text or a predicate such as B < 32, not {type(question).__name__}")
    signature, exact = within(signature, case)
    report = Report()
    predicate = pipeline.read_question(Source("<question>", question), signature, report)
    report.raise_errors()
    assert predicate is not None
    found = answer(signature, predicate)
    if found.verdict == "proved" and found.reason and case is not None:
        return replace(found, reason=f"no shape gets to the case `{case}`, so everything follows")
    if found.verdict == "refuted" and not exact:
        return Answer("unknown", reason=f"it fails at {found.sizes()}, but an earlier bucket may take these sizes")
    return found


def answer(signature: Signature, question: Predicate) -> Answer:
    """Returns whether ``signature`` implies ``question``, which divides by nothing that can be 0."""
    fixed = dict(signature.ranks)
    whole = pose(signature, fixed, question)
    open_ = _open(signature, question, whole)
    for lengths in _structures(open_):
        empty = [name for name, length in lengths.items() if not length]
        found = _answer(pose(signature, {**fixed, **lengths}, question), question, empty, core=False)
        if found.verdict != "proved":
            return found
    found = _answer(whole, question, core=False)
    if found.verdict == "proved":
        clash, _ = contradiction(signature)
        if clash:
            return Answer("proved", clash, "no shape satisfies the spec, so everything follows")
        return _answer(whole, question)
    if not open_:
        return found
    names = ", ".join(f"`*{name}`" for name in open_)
    return Answer("unknown", reason=f"it holds where {names} is up to {_LENGTHS[-1]} dims; for more it was not shown")


def _answer(posed: Posed, question: Predicate, empty: Iterable[str] = (), *, core: bool = True) -> Answer:
    """Returns the answer at one structure, in which the variadics ``empty`` have no dims; maybe without its core."""
    asked = posed.question(question)
    verdict: Verdict = decide(posed.variables, posed.given, asked, core=core)
    match verdict:
        case Proved(core=at):
            return Answer("proved", in_order(posed.stated(at)))
        case Refuted(witness=witness):
            mine = _related(posed.given, asked)
            return Answer("refuted", _witness=_folded([(n, v) for n, v in witness if n in mine], empty))
        case unknown:
            return Answer("unknown", reason=unknown.reason)


def range_of(signature: Signature, size: str | Symbol | type, *, case: str | None = None) -> SizeRange:
    """Returns the tightest range and residue of ``size`` that is proved, of a case where one is named.

    Raises:
        ShapeError: ``contradiction``, ``unknown-case``; ``unknown-name``, ``maybe-zero-divisor``, or the text is no size.
        TypeError: It is no text, nor a size object.
    """
    if isinstance(size, Symbol):
        size = size.text
    if not isinstance(size, str):
        raise TypeError(f"a range is asked of text or a size such as 2 * B + 1, not {type(size).__name__}")
    signature, exact = within(signature, case)
    report = Report()
    read = pipeline.read_size(Source("<question>", size), signature, report)
    report.raise_errors()
    assert read is not None
    found = size_range(signature, read)
    if found is None:
        raise_contradiction(signature, case)
    return found if exact else replace(found, exact=False)


def size_range(signature: Signature, size: Size) -> SizeRange | None:
    """Returns the tightest range and residue of ``size``, or None if no shape satisfies ``signature``."""
    fixed = dict(signature.ranks)
    ranges: list[Range] = []
    possible = False
    for empty in _empty(_open(signature, Compare(COMPARISONS["=="], size, size), pose(signature, fixed, size))):
        posed = pose(signature, {**fixed, **empty}, size)
        for each in posed.sizes(size):
            found = decided_range(posed.variables, posed.given, each)
            if found is not None:
                ranges.append(replace(found, exact=False) if posed.unknowns else found)
        possible = possible or not posed.sizes(size)
    if ranges:
        return _hull(ranges)
    return SizeRange(None, None) if possible else None


def core(signature: Signature) -> list[str]:
    """Returns a minimal set of constraints that exclude each other, as source texts; none if some shape satisfies all.

    Raises:
        ShapeError: ``undecided``: neither was found.
    """
    clash, reason = contradiction(signature)
    if reason:
        report = Report()
        report.error(
            "undecided",
            f"could not decide whether any shape satisfies `{signature.name}`",
            at=signature.span,
            note=reason,
        )
        report.raise_errors()
    return texts(clash)


def contradiction(signature: Signature) -> tuple[tuple[Constraint, ...], str]:
    """Returns the constraints of ``signature`` that exclude each other, in the file's order; or why that is unknown.

    Neither: some shape satisfies it.
    """
    fixed = dict(signature.ranks)
    posed = pose(signature, fixed)
    if not posed.lengths and not posed.unknowns:
        refutation = refutation_of(signature.variables, signature.constraints)  # what `check` says
        if refutation is not None:
            return in_order(refutation.core), ""
    open_ = [v.name for v in signature.variables if v.variadic and v.name not in fixed]
    reason = ""
    match find_sizes(posed.variables, posed.given):
        case None:
            chosen = minimal_core(posed.variables, posed.given) or range(len(posed.given))
            core = in_order(posed.stated(chosen))
        case Unknown(reason=reason):
            core = ()
        case _ if not open_:
            return (), ""
        case _:
            core, reason = (), f"no shape was found with up to {_LENGTHS[-1]} dims of each variadic"
    for lengths in _structures(open_):
        written = pose(signature, {**fixed, **lengths})
        if isinstance(find_sizes(written.variables, written.given), Mapping):
            return (), ""
    return core, reason


def reasons(signature: Signature, fact: Predicate) -> tuple[Constraint, ...] | None:
    """Returns a minimal set of constraints that ``fact`` follows from, in the file's order; None if none was found.

    Args:
        signature: Some shape satisfies it.
        fact: Of one variable.
    """
    posed = pose(signature, dict(signature.ranks), fact)
    match decide(posed.variables, posed.given, posed.question(fact), core=True):
        case Proved(core=core):
            return in_order(posed.stated(core))
        case _:
            return None


def raise_contradiction(signature: Signature, case: str | None = None) -> NoReturn:
    """Raises the ``contradiction`` of ``signature``, maybe that of a case, which no shape satisfies.

    Raises:
        ShapeError: Always.
    """
    report = Report()
    notes = [] if case is None else [f"it is asked within the case `{case}`"]
    report_contradiction(Refutation(contradiction(signature)[0]), signature, report, notes=notes)
    raise ShapeError(report)


# -------------------------------------------------------------------------------------- parts


def is_size(question: str) -> bool:
    """Whether ``question`` is an expression, of which a range can be asked, and no predicate."""
    from ..frontends.text.questions import is_size

    return is_size(question)


def within(signature: Signature, case: str | int | None) -> tuple[Signature, bool]:
    """Returns what may be assumed where ``case`` is taken: its own predicates, and that no earlier one is.

    Args:
        signature: With alternatives.
        case: The name of one, or its position.

    Returns:
        Also whether all that satisfies it is taken: not where an alternative chooses among too many
        joint members of buckets for all of them to be written out.

    Raises:
        ShapeError: ``unknown-case``.
    """
    if case is None:
        return signature, True
    report = Report()
    position = case if isinstance(case, int) else pipeline.alternative_at(signature, case, report)
    report.raise_errors()
    assert position is not None
    own = asked_by(signature.alternatives[position])
    constraints, exact = [*signature.constraints, *own.conditions], own.exact
    for earlier in signature.alternatives[:position]:
        if asked_by(earlier).exact:
            constraints.append(Constraint(negation(earlier), text=_refusal(earlier), span=earlier.span))
        else:
            exact = False
    return replace(signature, constraints=tuple(constraints), alternatives=()), exact


def _refusal(alternative: Alternative) -> str:
    """Returns that ``alternative`` is not taken, for a core."""
    if alternative.name or not alternative.buckets:
        own = " and ".join(texts(alternative.constraints))
        return f"not {alternative.name or f'({own})'}"
    return f"no bucket takes {', '.join(bucket.variable for bucket in alternative.buckets)}"


def _hull(ranges: Sequence[Range]) -> SizeRange:
    """Returns what all of ``ranges`` lie in."""
    lows, highs = [each.low for each in ranges], [each.high for each in ranges]
    first = ranges[0].residue
    modulus = gcd(*(number for each in ranges for number in (each.modulus, each.residue - first)))
    return SizeRange(
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
        modulus,
        first % modulus if modulus else first,
        all(each.exact for each in ranges),
    )


def _structures(names: Sequence[str]) -> Iterator[dict[str, int]]:
    """Yields lengths for the variadics ``names``, the usual one first, then small ones."""
    if not names:
        return
    several = sorted(product(_LENGTHS, repeat=len(names)), key=lambda lengths: sum(abs(n - 1) for n in lengths))
    for lengths in several[:_STRUCTURES]:
        yield dict(zip(names, lengths, strict=True))


def _empty(names: Sequence[str]) -> Iterator[dict[str, int]]:
    """Yields which of the variadics ``names`` have no dims, none of them first."""
    for lengths in product((None, 0), repeat=len(names)):
        yield {name: length for name, length in zip(names, lengths, strict=True) if length is not None}


def _open(signature: Signature, question: Predicate, posed: Posed) -> list[str]:
    """Returns the variadics whose number of dims is open, and that have to do with ``question``, or are multiplied.

    Where dims are multiplied, not even whether some shape satisfies the spec is known before they are counted.
    """
    mine = _related([constraint.predicate for constraint in signature.constraints], question)
    mine |= {name for size in posed.unknowns.values() for name in free_vars(size)}
    return [v.name for v in signature.variables if v.variadic and v.name in mine and v.name not in posed.lengths]


def _related(given: Iterable[Predicate], question: Predicate) -> set[str]:
    """Returns the variables that have to do with ``question``: its own, and those of predicates that lead to them."""
    related = set(free_vars(question))
    groups = [set(free_vars(predicate)) for predicate in given]
    while True:
        more = {name for group in groups if not group.isdisjoint(related) for name in group}
        if more <= related:
            return related
        related |= more


def _folded(witness: Sequence[tuple[str, int]], empty: Iterable[str]) -> tuple[tuple[str, int | tuple[int, ...]], ...]:
    """Returns ``batch[0]`` and ``batch[1]`` as one tuple ``batch``."""
    folded: dict[str, int | tuple[int, ...]] = dict.fromkeys(empty, ())
    for name, value in witness:
        base, bracket, _ = name.partition("[")
        if bracket:
            before = folded.get(base, ())
            folded[base] = (*before, value) if isinstance(before, tuple) else (value,)
        else:
            folded[name] = value
    return tuple(sorted(folded.items()))
