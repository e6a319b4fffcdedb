"""Does one spec accept all sizes that another accepts, at one structure? Variables are matched by what they bind.

Each size of a call has a place, ``x.shape[0]``. What one spec knows of the places, the other is asked
with: its variables are computed from them (read where they stand bare, else solved for, which is
possible exactly where a check is), and then each of its constraints and dims is a question without
any variable of its own.

Before, is what ``old`` accepts accepted by ``new``?::

    old: x: Tensor[N, 2*N]  where N < 10        new: x: Tensor[B, S]  where B + S < 20

After, with ``B`` read from ``x.shape[0]``, which is ``N``, and ``S`` from ``x.shape[1]``, ``2*N``::

    N >= 0, N < 10  implies  N + 2*N < 20 ?     no: N = 7
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...diagnostics import Report, Span
from ...ir import COMPARISONS, Compare, Const, Dim, Fresh, Predicate, Size, Static, Var, Variable, VariableKind
from ...ir.expanded import Expanded
from ...ir.walk import evaluate, free_vars, substitute, substitute_size
from ...ir.write import write_dim, write_predicate
from ..comparisons import TRUE
from ..decide import WORK, Proved, Refuted, Unknown, decide, find_sizes
from ..lowerable import solve
from ..predicates import simplify_predicate, split
from .changes import Example, Sizes


@dataclass(frozen=True, slots=True)
class Places:
    """One spec at one structure, as a set of sizes at places.

    Attributes:
        expanded: The spec.
        sizes: Place → the size there over ``variables``; a static one is a variable named as the place is.
        variables: Those of the spec, and those of static places.
        given: What is known of them.
        spans: Place → where it is written.
    """

    expanded: Expanded
    sizes: Mapping[str, Size]
    variables: tuple[Variable, ...]
    given: tuple[Predicate, ...]
    spans: Mapping[str, Span | None]

    @property
    def varying(self) -> dict[str, bool]:
        """Place → whether more than the example's size is accepted there; pinned ones are left out."""
        static = {v.name for v in self.expanded.signature.variables if v.kind is VariableKind.CONST}
        found: dict[str, bool] = {}
        for leaf in self.expanded.leaves:
            for axis, dim in enumerate(leaf.dims):
                names = set(free_vars(dim))
                if isinstance(dim, Static) or names:
                    found[leaf.place(axis)] = bool(names - static)
        return found


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
    """A demand that is not met, or not known to be: then ``example`` is None and ``reason`` says why."""

    question: Question | None
    example: Example | None
    reason: str = ""


def places_of(expanded: Expanded, others: Sequence[Expanded]) -> Places:
    """Returns ``expanded`` over its places, and over those that ``others`` have at the same structure."""
    sizes: dict[str, Size] = {}
    spans: dict[str, Span | None] = {}
    made: dict[str, Variable] = {}
    for each in (expanded, *others):
        for leaf in each.leaves:
            for axis, dim in enumerate(leaf.dims):
                place = leaf.place(axis)
                if place in sizes:
                    continue
                if each is not expanded or isinstance(dim, Static):
                    made[place] = Variable(place, VariableKind.INT if leaf.scalar else VariableKind.DIM)
                    sizes[place] = Var(place)
                else:
                    sizes[place] = _size(dim)
                spans[place] = _span(dim) or leaf.span
    given = [constraint.predicate for constraint in expanded.signature.constraints]
    given += [Compare(COMPARISONS["=="], Var(name), Const(n)) for name, n in expanded.lengths]
    return Places(expanded, sizes, (*expanded.signature.variables, *made.values()), tuple(given), spans)


def _size(dim: Dim) -> Size:
    assert not isinstance(dim, (Static, Fresh)) and not hasattr(dim, "dims")
    return dim  # type: ignore[return-value]


def _span(dim: Dim) -> Span | None:
    return dim.span


def satisfiable(places: Places, work: int = WORK) -> Example | Unknown | None:
    """Returns sizes that a spec accepts, or None if there are none."""
    match find_sizes(places.variables, places.given, work=work):
        case None:
            return None
        case Unknown() as unknown:
            return unknown
        case found:
            return example_of(places, tuple(sorted(found.items())))


def example_of(places: Places, sizes: Sizes) -> Example:
    """Returns a model as an example: what the user's variables are, and what stands at the places."""
    known = dict(sizes)
    own = {variable.name for variable in places.expanded.signature.variables}
    named = tuple((name, size) for name, size in sizes if name in own and not name.startswith("?"))
    read = tuple((place, evaluate(size, known)) for place, size in places.sizes.items())
    return Example(named, read)


def unmet(accepted: Places, by: Places, work: int = WORK) -> Iterator[Answer]:
    """Yields each demand of ``by`` that some sizes accepted by ``accepted`` do not meet."""
    questions = _questions(accepted, by)
    if isinstance(questions, str):
        yield Answer(None, None, questions)
        return
    stated = {part for given in accepted.given for part in split(simplify_predicate(given))}
    for question in questions:
        simple = simplify_predicate(question.predicate)
        if simple == TRUE or all(part in stated for part in split(simple)):
            continue
        match decide(accepted.variables, accepted.given, question.predicate, work=work):
            case Proved():
                pass
            case Refuted(witness=witness):
                yield Answer(question, example_of(accepted, witness))
            case unknown:
                yield Answer(question, None, unknown.reason)


def definitions(accepted: Places, by: Places) -> Mapping[str, Size] | str:
    """Returns each variable of ``by`` as a size over those of ``accepted``, or why that is unknown."""
    found: dict[str, Size] = {name: Const(n) for name, n in by.expanded.lengths}
    for leaf in by.expanded.leaves:
        for axis, dim in enumerate(leaf.dims):
            if isinstance(dim, Var):
                found.setdefault(dim.name, accepted.sizes[leaf.place(axis)])
    missing = [variable.name for variable in by.expanded.signature.variables if variable.name not in found]
    if not missing:
        return found
    report = Report()
    solved = solve(by.expanded, report)
    if solved is None or solved.solution is None:
        return report.errors[0].message if report.errors else f"`{missing[0]}` cannot be computed"
    read = {
        name: accepted.sizes[by.expanded.leaves[number].place(axis)] for name, number, axis in solved.solution.readings
    }
    for name, size in solved.solution.definitions:
        found.setdefault(name, substitute_size(size, read))
    missing = [name for name in missing if name not in found]
    return f"`{missing[0]}` cannot be computed" if missing else found


def _questions(accepted: Places, by: Places) -> list[Question] | str:
    meaning = definitions(accepted, by)
    if isinstance(meaning, str):
        return meaning
    questions: list[Question] = []
    for leaf in by.expanded.leaves:
        for axis, dim in enumerate(leaf.dims):
            if isinstance(dim, Static):
                continue
            place = leaf.place(axis)
            there = accepted.sizes[place]
            predicate = Compare(COMPARISONS["=="], there, substitute_size(_size(dim), meaning))
            if predicate.left != predicate.right:
                text = f"{place} == {write_dim(dim)}"
                questions.append(Question(predicate, "dim", place, text, by.spans[place]))
    for constraint in by.expanded.signature.constraints:
        text = constraint.text or write_predicate(constraint.predicate)
        predicate = substitute(constraint.predicate, meaning)
        questions.append(Question(predicate, "constraint", "", text, constraint.span))
    return questions


__all__ = ["Answer", "Places", "Question", "definitions", "places_of", "replace", "satisfiable", "unmet"]
