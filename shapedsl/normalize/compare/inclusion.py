"""Does one spec accept all sizes that another accepts, at one structure?

What one spec knows of the places, the other is asked with: its variables are computed from them (read
where they stand bare, else solved for, as a check would), and then each of its constraints and dims is
a question without any variable of its own.

Before, is what the old spec accepts accepted by the new one?::

    old: x: Tensor[N, 2*N]  where N < 10        new: x: Tensor[B, S]  where B + S < 20

After, with ``B`` read from ``x.shape[0]``, which is ``N``, and ``S`` from ``x.shape[1]``, ``2*N``::

    N >= 0, N < 10  implies  N + 2*N < 20 ?     no: N = 7

Where a variable cannot be solved for (``Tensor[A * B]``), some value of it has to be found for every
call: the one is tried that stands in the same part of the same expression. If that fails for a call,
the call itself is asked about; a few of them, since each takes a search of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ...diagnostics import Span
from ...ir import (
    COMPARISONS,
    And,
    Apply,
    Compare,
    Const,
    Constraint,
    Or,
    Predicate,
    Size,
    Static,
    Var,
    Variable,
    VariableKind,
)
from ...ir.operators import PROD
from ...ir.walk import evaluate, free_vars, map_sizes, substitute, substitute_size
from ...ir.write import write_dim, write_predicate
from ..comparisons import TRUE
from ..decide import Proved, Refuted, Unknown
from ..predicates import simplify_predicate, split
from .asking import Asker, Known
from .changes import Example
from .places import Places, example_of, parts, size_of

_CALLS: Final = 6  # calls that are asked about one by one


@dataclass(frozen=True, slots=True)
class Question:
    """What the other spec demands of the places.

    Attributes:
        predicate: Over the variables of the spec that is asked.
        kind: ``dim`` or ``constraint``.
        place: Of a dim.
        text: As its user would write it.
        span: Where it stands.
    """

    predicate: Predicate
    kind: str
    place: str
    text: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Answer:
    """A demand that is not met, or not known to be: then ``example`` is None and ``reason`` says why.

    Attributes:
        question: The demand; None where it is no single one.
        example: Sizes that are accepted and do not meet it.
        reason: Why it is not known; of an example where there is no question, the variables that do not give it.
    """

    question: Question | None
    example: Example | None
    reason: str = ""


def unmet(accepted: Places, by: Places, asker: Asker, *, any_rank: bool = False) -> Iterator[Answer]:
    """Yields each demand of ``by`` that some sizes accepted by ``accepted`` do not meet.

    Args:
        accepted: What is accepted.
        by: At the same structure.
        asker: Answers questions.
        any_rank: Whether this structure stands for others, with more dims.
    """
    for part in parts(by):
        guess = _guess(accepted, part)
        if guess is not None and not any(True for _ in _open_questions(accepted, part, guess)):
            continue  # the same dims and constraints, up to names
        meaning = _definitions(accepted, part, asker)
        if isinstance(meaning, str):
            yield from _unmet_unsolved(accepted, part, guess, meaning, asker)
            continue
        for question in _open_questions(accepted, part, meaning):
            match asker.decide(accepted.known, question.predicate):
                case Proved():
                    if any_rank and not _holds_at_any_rank(accepted, question, asker):
                        yield Answer(question, None, "proved of few dims, not of any number of them")
                case Refuted(witness=witness):
                    yield Answer(question, example_of(accepted, witness))
                case unknown:
                    yield Answer(question, None, unknown.reason)


def definitions(accepted: Places, by: Places, asker: Asker) -> dict[str, Size]:
    """Returns each variable of ``by`` as a size over those of ``accepted``, where it is known."""
    found: dict[str, Size] = {}
    for part in parts(by):
        meaning = _definitions(accepted, part, asker)
        found.update(_read(accepted, part) if isinstance(meaning, str) else meaning)
    return found


def _definitions(accepted: Places, by: Places, asker: Asker) -> dict[str, Size] | str:
    """Returns each variable of a part over the variables of ``accepted``, or why that is unknown."""
    found = _read(accepted, by)
    missing = [variable.name for variable in by.expanded.signature.variables if variable.name not in found]
    if not missing:
        return found
    solved = asker.solved(by.expanded)
    if isinstance(solved, str):
        return solved
    for name, size in solved.items():
        if all(place in accepted.sizes for place in free_vars(size)):
            found.setdefault(name, substitute_size(size, accepted.sizes))
    missing = [name for name in missing if name not in found]
    return f"`{missing[0]}` cannot be computed" if missing else found


def _read(accepted: Places, by: Places) -> dict[str, Size]:
    """Returns the variables of ``by`` that stand bare, and those that name a length."""
    found: dict[str, Size] = {name: Const(n) for name, n in by.expanded.lengths}
    for leaf in by.expanded.leaves:
        for axis, dim in enumerate(leaf.dims):
            if isinstance(dim, Var):
                found.setdefault(dim.name, accepted.sizes[leaf.place(axis)])
    return found


def _open_questions(accepted: Places, by: Places, meaning: Mapping[str, Size]) -> Iterator[Question]:
    """Yields the demands of ``by`` that ``accepted`` does not state itself."""
    groups = accepted.known.groups
    stated = {part for group in groups for given in group.given for part in split(simplify_predicate(given))}
    for question in _questions(accepted, by, meaning):
        simple = simplify_predicate(question.predicate)
        if simple != TRUE and not all(part in stated for part in split(simple)):
            yield question


def _questions(accepted: Places, by: Places, meaning: Mapping[str, Size]) -> Iterator[Question]:
    for leaf in by.expanded.leaves:
        for axis, dim in enumerate(leaf.dims):
            if isinstance(dim, Static):
                continue
            place = leaf.place(axis)
            there = accepted.sizes[place]
            predicate = Compare(COMPARISONS["=="], there, substitute_size(size_of(dim), meaning))
            if predicate.left != predicate.right:
                yield Question(predicate, "dim", place, f"{place} == {write_dim(dim)}", by.spans[place])
    for constraint in by.expanded.signature.constraints:
        asked = substitute(constraint.predicate, meaning)
        yield Question(asked, "constraint", "", write(constraint), constraint.span)


def write(constraint: Constraint) -> str:
    """Returns a constraint as its user wrote it."""
    return constraint.text or write_predicate(constraint.predicate)


def counterpart(accepted: Places, question: Question) -> Constraint | None:
    """Returns the constraint of ``accepted`` that differs from what is asked in a number alone."""
    if question.kind != "constraint":
        return None
    asked = _without_numbers(question.predicate)
    if asked is None:
        return None
    found = [c for c in accepted.expanded.signature.constraints if _without_numbers(c.predicate) == asked]
    return found[0] if len(found) == 1 else None


def _without_numbers(predicate: Predicate) -> object:
    """Returns what is compared with a number, and how; None if nothing is."""
    match simplify_predicate(predicate):
        case Compare(op=op, left=Apply(op=operator, args=(size, Const())), right=Const()) if operator.name == "%":
            return op, operator, size
        case Compare(op=op, left=left, right=Const()):
            return op, left
        case _:
            return None


# ------------------------------------------------------------------------------- products of any rank


def _holds_at_any_rank(accepted: Places, question: Question, asker: Asker) -> bool:
    """Returns whether what was proved of two dims of each variadic holds of any number of them.

    All but ``prod`` speaks of each dim alone, so it does unless ``prod`` matters. That is taken for a number of
    which nothing is known, the same one where it multiplies the same dims.
    """
    made: dict[str, Variable] = {}

    def opaque(size: Size) -> Size:
        match size:
            case Apply(op=op, args=args) if op is PROD and len(args) > 1:
                name = write_dim(size)
                made[name] = Variable(name, VariableKind.DIM)
                return Var(name)
            case Apply(args=args):
                return Apply(size.op, tuple(opaque(arg) for arg in args), size.span)
            case _:
                return size

    about, _ = accepted.known.about(question.predicate)
    given = [map_sizes(predicate, opaque) for predicate in about.given]
    asked = map_sizes(question.predicate, opaque)
    if not made:
        return True
    return isinstance(asker.decide(Known((*about.variables, *made.values()), given), asked), Proved)


# ------------------------------------------------------------------------- what cannot be solved for


def _guess(accepted: Places, by: Places) -> dict[str, Size] | None:
    """Returns what each variable of a part is where the same expressions stand at the same places."""
    guessed = _read(accepted, by)
    for leaf in by.expanded.leaves:
        for axis, dim in enumerate(leaf.dims):
            if isinstance(dim, Apply):
                _match(dim, accepted.sizes[leaf.place(axis)], guessed)
    return guessed if all(variable.name in guessed for variable in by.expanded.signature.variables) else None


def _unmet_unsolved(
    accepted: Places, by: Places, guess: Mapping[str, Size] | None, reason: str, asker: Asker
) -> Iterator[Answer]:
    """Yields what `unmet` does, for a part of which the dims do not give a variable."""
    questions = [] if guess is None else list(_open_questions(accepted, by, guess))
    places = [
        leaf.place(axis)
        for leaf in by.expanded.leaves
        for axis, dim in enumerate(leaf.dims)
        if not isinstance(dim, Static)
    ]
    # where there is no guess, every call is asked about, so nothing is taken for accepted
    there = [accepted.sizes[place] for place in places]
    asked = tuple(question.predicate for question in questions)
    about, others = accepted.known.about(And((*asked, *(_differs(size, size) for size in there))))
    whole = And(asked) if questions else Or(())
    given = list(about.given)
    for _ in range(_CALLS):
        match asker.decide(Known(about.variables, given), whole):
            case Proved():
                return
            case Refuted(witness=witness):
                sizes = dict(witness)
            case unknown:
                yield Answer(None, None, unknown.reason)
                return
        call = {place: evaluate(accepted.sizes[place], sizes) for place in places}
        refused = _refuses(by, call, asker)
        if refused is None:
            break
        if refused:
            rest = asker.sizes(Known([v for o in others for v in o.variables], [g for o in others for g in o.given]))
            if isinstance(rest, Unknown):
                yield Answer(None, None, rest.reason)
            elif rest is not None:
                example = example_of(accepted, tuple(sorted({**sizes, **rest}.items())))
                names = [v.name for v in by.expanded.signature.variables if not v.name.startswith("?")]
                yield Answer(None, example, ", ".join(f"`{name}`" for name in names) or "size")
            return
        # it is accepted, so the others are looked at
        given.append(Or(tuple(_differs(accepted.sizes[place], Const(n)) for place, n in call.items())))
    yield Answer(None, None, reason)


def _differs(first: Size, second: Size) -> Predicate:
    return Compare(COMPARISONS["!="], first, second)


def _match(mine: Size, theirs: Size, guessed: dict[str, Size]) -> None:
    """Adds what the variables of ``mine`` are where ``theirs`` is the same expression of others."""
    match mine, theirs:
        case Var(name=name), _:
            guessed.setdefault(name, theirs)
        case Apply(op=op, args=args), Apply(op=other, args=others) if op is other and len(args) == len(others):
            for arg, there in zip(args, others, strict=True):
                _match(arg, there, guessed)
        case _:
            pass


def _refuses(by: Places, call: Mapping[str, int], asker: Asker) -> bool | None:
    """Returns whether a part refuses these sizes; None if that is unknown."""
    given = [constraint.predicate for constraint in by.expanded.signature.constraints]
    given += [Compare(COMPARISONS["=="], Var(name), Const(n)) for name, n in by.expanded.lengths]
    given += [Compare(COMPARISONS["=="], by.sizes[place], Const(size)) for place, size in call.items()]
    match asker.sizes(Known(by.expanded.signature.variables, given)):
        case None:
            return True
        case Unknown():
            return None
        case _:
            return False


__all__ = ["Answer", "Question", "counterpart", "definitions", "unmet", "write"]
