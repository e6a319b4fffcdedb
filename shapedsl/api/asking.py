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
from dataclasses import dataclass, field, replace
from itertools import product
from math import gcd
from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias, cast

from .. import pipeline
from ..diagnostics import Report, ShapeError, Source
from ..ir import COMPARISONS, Alternative, And, Compare, Const, Constraint, Predicate, Signature, Size, Variable
from ..ir.taking import asked_by, negation
from ..ir.variadic import expand_constraint
from ..ir.walk import free_vars
from ..ir.write import write_predicate
from ..surface.symbols import Predicate as PredicateObject
from ..surface.symbols import Symbol

if TYPE_CHECKING:
    from ..normalize.decide import Range, Verdict

Verdicts: TypeAlias = Literal["proved", "refuted", "unknown"]
Sizes: TypeAlias = "dict[str, int | tuple[int, ...]]"

_LENGTHS: Final = range(4)  # of a variadic, in which a counterexample is looked for
_STRUCTURES: Final = 16  # combinations of lengths


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a question. It is true if and only if the question is proved.

    Attributes:
        verdict: ``"proved"``, ``"refuted"``, or ``"unknown"``: neither was found.
        constraints: If proved: the constraints that it follows from; without any one of them it was not
            found to. None: it always holds.
        reason: Why it is unknown; or that it is proved because nothing satisfies the spec.
    """

    verdict: Verdicts
    constraints: tuple[Constraint, ...] = ()
    reason: str = ""
    _witness: tuple[tuple[str, int | tuple[int, ...]], ...] = field(default=(), repr=False)

    @property
    def core(self) -> list[str]:
        """The `constraints` as source texts, in the order of the file."""
        return texts(self.constraints)

    @property
    def witness(self) -> Sizes:
        """If refuted: sizes that the spec accepts and for which it fails; of a variadic a tuple.

        Sizes that have nothing to do with the question are left out.
        """
        return dict(self._witness)

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    def sizes(self) -> str:
        """Returns the witness as text: ``B = 4, batch = (2, 3)``."""
        return ", ".join(f"{name} = {_written(size)}" for name, size in self._witness)

    def __str__(self) -> str:
        details = self.sizes() or self.reason or "; ".join(self.core)
        return f"{self.verdict}: {details}" if details else self.verdict


@dataclass(frozen=True, slots=True)
class SizeRange:
    """What a size is proved to be in.

    Attributes:
        lo, hi: Inclusive; None: no bound is proved.
        modulus: All values differ by multiples of it: 1 says nothing, 0 that there is one value.
        residue: The values modulo it; the value itself where the modulus is 0.
        exact: Whether ``lo`` and ``hi``, where they are not None, are values that it takes.
    """

    lo: int | None
    hi: int | None
    modulus: int = 1
    residue: int = 0
    exact: bool = False

    def __str__(self) -> str:
        if self.lo is not None and self.lo == self.hi:
            return str(self.lo)
        ends = f"[{'-inf' if self.lo is None else self.lo}, {'inf' if self.hi is None else self.hi}]"
        return f"{ends}, {self.residue} modulo {self.modulus}" if self.modulus > 1 else ends


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
    if found.verdict == "refuted" and not exact:
        return Answer("unknown", reason=f"it fails at {found.sizes()}, but an earlier bucket may take these sizes")
    return found


def answer(signature: Signature, question: Predicate) -> Answer:
    """Returns whether ``signature`` implies ``question``, which divides by nothing that can be 0."""
    fixed = dict(signature.ranks)
    mine = _related(signature, question)
    open_ = [v.name for v in signature.variables if v.variadic and v.name in mine and v.name not in fixed]
    for lengths in _structures(open_):
        known = {**fixed, **lengths}
        empty = [name for name, length in lengths.items() if not length]
        found = _answer(at_lengths(signature, known), _question_at(question, known), empty, core=False)
        if found.verdict != "proved":
            return found
    whole = _answer(at_lengths(signature, fixed), _question_at(question, fixed))
    if not open_ or whole.verdict == "proved":
        return whole
    names = ", ".join(f"`*{name}`" for name in open_)
    return Answer("unknown", reason=f"it holds where {names} is up to {_LENGTHS[-1]} dims; for more it was not shown")


def _answer(signature: Signature, question: Predicate, empty: Iterable[str] = (), *, core: bool = True) -> Answer:
    """Returns the answer at one structure, in which the variadics ``empty`` have no dims; maybe without its core."""
    from ..normalize.decide import Proved, Refuted, decide

    given = [constraint.predicate for constraint in signature.constraints]
    verdict: Verdict = decide(signature.variables, given, question, core=core)
    match verdict:
        case Proved(core=at):
            clash, _ = contradiction(signature) if core else ((), "")
            if clash:
                return Answer("proved", clash, "no shape satisfies the spec, so everything follows")
            return Answer("proved", in_order(signature.constraints[index] for index in at))
        case Refuted(witness=witness):
            mine = _related(signature, question)
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
    signature, _ = within(signature, case)
    report = Report()
    read = pipeline.read_size(Source("<question>", size), signature, report)
    report.raise_errors()
    assert read is not None
    found = size_range(signature, read)
    if found is None:
        raise_contradiction(signature)
    return found


def size_range(signature: Signature, size: Size) -> SizeRange | None:
    """Returns the tightest range and residue of ``size``, or None if no shape satisfies ``signature``."""
    from ..normalize.decide import range_of as decided_range

    fixed = dict(signature.ranks)
    written = at_lengths(signature, fixed)
    given = [constraint.predicate for constraint in written.constraints]
    ranges: list[Range] = []
    for each in _sizes_at(size, fixed):
        found = decided_range(written.variables, given, each)
        if found is None:
            return None
        ranges.append(found)
    return _hull(ranges) if ranges else SizeRange(None, None)


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
    from ..normalize.decide import Unknown, find_sizes, minimal_core
    from ..normalize.refute import refutation_of

    signature = at_lengths(signature, dict(signature.ranks))
    refutation = refutation_of(signature.variables, signature.constraints)  # what `check` says
    if refutation is not None:
        return in_order(refutation.core), ""
    predicates = [constraint.predicate for constraint in signature.constraints]
    match find_sizes(signature.variables, predicates):
        case None:
            chosen = minimal_core(signature.variables, predicates) or range(len(predicates))
            return in_order(signature.constraints[at] for at in chosen), ""
        case Unknown(reason=reason):
            return (), reason
        case _:
            return (), ""


def reasons(signature: Signature, fact: Predicate) -> tuple[Constraint, ...] | None:
    """Returns a minimal set of constraints that ``fact`` follows from, in the file's order; None if none was found.

    Args:
        signature: Some shape satisfies it.
        fact: Of one variable.
    """
    from ..normalize.decide import Proved, decide

    given = [constraint.predicate for constraint in signature.constraints]
    match decide(signature.variables, given, fact, core=True):
        case Proved(core=core):
            return in_order(signature.constraints[at] for at in core)
        case _:
            return None


def raise_contradiction(signature: Signature) -> NoReturn:
    """Raises the ``contradiction`` of ``signature``, which no shape satisfies.

    Raises:
        ShapeError: Always.
    """
    from ..normalize.refute import Refutation, report_contradiction

    report = Report()
    report_contradiction(Refutation(contradiction(signature)[0]), signature, report)
    raise ShapeError(report)


# -------------------------------------------------------------------------------------- parts


def is_size(question: str) -> bool:
    """Whether ``question`` is an expression, of which a range can be asked, and no predicate."""
    from ..frontends.text.questions import is_size

    return is_size(question)


def within(signature: Signature, case: str | None) -> tuple[Signature, bool]:
    """Returns what may be assumed where ``case`` is taken: its own predicates, and that no earlier one is.

    Returns:
        Also whether all that satisfies it is taken: not where an alternative chooses among too many
        joint members of buckets for all of them to be written out.

    Raises:
        ShapeError: ``unknown-case``.
    """
    if case is None:
        return signature, True
    report = Report()
    position = pipeline.alternative_at(signature, case, report)
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
        return f"not {alternative.name or alternative.keyword}"
    return f"no bucket takes {', '.join(bucket.variable for bucket in alternative.buckets)}"


def texts(constraints: Iterable[Constraint]) -> list[str]:
    """Returns ``constraints`` as the user wrote them."""
    return [c.text or write_predicate(c.predicate) for c in constraints]


def in_order(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Returns ``constraints`` as they stand in the file; those without a place, or of another file, first.

    One that was written out for several dims comes once.
    """
    listed = list({(texts([c])[0], c.span): c for c in constraints}.values())
    last = next((c.span.source for c in reversed(listed) if c.span is not None), None)

    def place(constraint: Constraint) -> tuple[bool, int]:
        span = constraint.span
        return (False, 0) if span is None or span.source is not last else (True, span.start)

    return tuple(sorted(listed, key=place))


def at_lengths(signature: Signature, lengths: Mapping[str, int]) -> Signature:
    """Returns the variables and constraints of ``signature`` with the variadics of ``lengths`` written out."""
    if not lengths:
        return signature
    variables: list[Variable] = []
    for variable in signature.variables:
        if variable.variadic and variable.name in lengths:
            names = [f"{variable.name}[{axis}]" for axis in range(lengths[variable.name])]
            variables += [replace(variable, name=name, variadic=False) for name in names]
        else:
            variables.append(variable)
    constraints = [
        replace(each, text=stated.text)  # what the user wrote speaks of each dim
        for stated in signature.constraints
        for each in expand_constraint(stated, lengths)
    ]
    return replace(signature, variables=tuple(variables), constraints=tuple(constraints))


def _question_at(question: Predicate, lengths: Mapping[str, int]) -> Predicate:
    """Returns ``question`` with the variadics of ``lengths`` written out: it is asked of each of their dims."""
    if not lengths:
        return question
    parts = tuple(each.predicate for each in expand_constraint(Constraint(question), lengths))
    return parts[0] if len(parts) == 1 else And(parts)


def _sizes_at(size: Size, lengths: Mapping[str, int]) -> list[Size]:
    """Returns ``size`` for each dim of the variadics of ``lengths`` that it speaks of one by one."""
    if not lengths:
        return [size]
    asked = Constraint(Compare(COMPARISONS["=="], size, Const(0)))
    return [each.predicate.left for each in expand_constraint(asked, lengths) if isinstance(each.predicate, Compare)]


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


def _related(signature: Signature, question: Predicate) -> set[str]:
    """Returns the variables that have to do with ``question``: its own, and those of constraints that lead to them."""
    related = set(free_vars(question))
    groups = [set(free_vars(constraint.predicate)) for constraint in signature.constraints]
    while True:
        more = {name for group in groups if not group.isdisjoint(related) for name in group}
        if more <= related:
            return related
        related |= more


def _folded(
    witness: Sequence[tuple[str, int]], empty: Iterable[str]
) -> tuple[tuple[str, int | tuple[int, ...]], ...]:
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


def _written(size: int | tuple[int, ...]) -> str:
    return str(size) if isinstance(size, int) else f"({', '.join(map(str, size))}{',' if len(size) == 1 else ''})"
