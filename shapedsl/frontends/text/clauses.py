"""A def's clauses → constraints, alternatives, values, …, in the def's scope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ...diagnostics import Span
from ...ir import Alternative, Bucket, Const, Constraint, Drop, Edge, Fill, Mode, Pad, Values
from ...ir.orient import orient
from ...ir.write import write_predicate
from ..assemble import constraints_of
from . import sizes
from .expand import Expander
from .scope import LetEntry
from .syntax import (
    AlternativeClause,
    BucketClause,
    Clause,
    Doc,
    Drops,
    HintLine,
    Labeled,
    RankClause,
    Row,
    ValuesClause,
    Where,
)


@dataclass(slots=True)
class Body:
    """What a def's clauses say, declarations aside."""

    wheres: list[Constraint] = field(default_factory=list[Constraint])
    alternatives: list[Alternative] = field(default_factory=list[Alternative])
    values: list[Values] = field(default_factory=list[Values])
    ranks: dict[str, int] = field(default_factory=dict[str, int])
    drops: list[Drop] = field(default_factory=list[Drop])
    hints: dict[str, int] = field(default_factory=dict[str, int])
    doc: str | None = None


def constraints(labeled: Iterable[Labeled], expander: Expander | None) -> Iterator[Constraint]:
    """Yields the constraints of a ``where``; with ``expander`` None they are as they should be already."""
    for predicate, message, span in labeled:
        if expander is None:
            found = list(constraints_of(predicate, message=message, text=span.text, span=span))
            yield from found if len(found) == 1 else [replace(c, part=part) for part, c in enumerate(found)]
            continue
        expander.lets = []
        expanded = expander.predicate(predicate)
        if sizes.is_too_large(expanded, span, expander.report):
            continue
        lets = tuple(dict.fromkeys(expander.lets))
        notes = tuple(_note(let) for let in lets)
        found = list(constraints_of(expanded, message=message, text=span.text, span=span, notes=notes))
        if lets and len(found) > 1:  # each part with the names of the lets
            written = list(constraints_of(predicate, span=span))
            if len(written) == len(found):
                found = [
                    replace(c, text=write_predicate(orient(w.predicate))) for c, w in zip(found, written, strict=True)
                ]
        yield from found if len(found) == 1 else [replace(c, part=part) for part, c in enumerate(found)]


def _note(let: LetEntry) -> tuple[Span, str]:
    """Returns what a let stands for, as it was written, and where."""
    span = let.statement.value.span or let.name.span
    return span, f"{let.name.text} is {' '.join(span.text.split())}"


def read_body(clauses: Iterable[Clause | str], expander: Expander, *, expand: bool) -> Body:
    """Returns what ``clauses`` say.

    Args:
        clauses: In written order; a `str` is a line that says nothing.
        expander: Of the def's scope.
        expand: Whether a let, a const or a pseudo node may stand in them.
    """
    body = Body()
    run: list[BucketClause] = []  # adjacent bucket lines are one joint choice
    report = expander.report
    names: dict[str, Span] = {}
    for position, clause in enumerate(clauses):
        if isinstance(clause, BucketClause):
            if any(other.variable.text == clause.variable.text for other in run):
                _end_run(run, body, expander)
            run.append(clause)
            continue
        _end_run(run, body, expander)
        match clause:
            case Where(predicates=predicates):
                body.wheres += constraints(predicates, expander if expand else None)
            case AlternativeClause():
                if clause.name is not None:
                    if clause.name in names:
                        report.error(
                            "duplicate-name",
                            f"two cases are called `{clause.name}`",
                            at=clause.span,
                            also=[(names[clause.name], "first here")],
                        )
                    names.setdefault(clause.name, clause.span)
                body.alternatives.append(_alternative(clause, expander))
            case ValuesClause(paths=paths, low=low, high=high):
                low, high = expander.size(low), expander.size(high)
                body.values += [Values(path, low, high, clause.sorted, clause.span) for path in paths]
            case RankClause(pairs=pairs):
                for name, rank in expander.pairs(pairs, "a rank").items():
                    if rank < 0:
                        report.error("not-constant", "a rank is 0 or more", at=pairs[0].name.span)
                    elif body.ranks.setdefault(name, rank) != rank:
                        report.error("duplicate-name", f"the rank of `{name}` is given twice", at=pairs[0].name.span)
            case HintLine(pairs=pairs):
                body.hints.update(expander.pairs(pairs, "a hint"))
            case Drops(drops=drops):
                body.drops += drops
            case Doc(text=text):
                if position:
                    report.error("syntax-error", "documentation is a def's first clause")
                body.doc = text
            case _:
                pass
    _end_run(run, body, expander)
    return body


def _end_run(run: list[BucketClause], body: Body, expander: Expander) -> None:
    if run:
        made = tuple(_bucket(clause, expander) for clause in run)
        body.alternatives.append(Alternative("bucket", buckets=made, span=run[0].span))
        run.clear()


def _alternative(clause: AlternativeClause, expander: Expander) -> Alternative:
    return Alternative(
        clause.keyword,
        clause.name,
        tuple(constraints(clause.predicates, expander)),
        clause.mode,
        tuple(sorted(expander.pairs(clause.hints, "a hint").items())),
        tuple(_bucket(bucket, expander) for bucket in clause.buckets),
        tuple(clause.drops),
        clause.span,
    )


def _bucket(clause: BucketClause, expander: Expander) -> Bucket:
    bucket = clause.bucket
    expander.is_variable(clause.variable)
    members: tuple[int, ...] | None = None
    modulus: int | None = None
    residue = 0
    if clause.multiple is not None:
        modulus, residue = expander.multiple(clause.multiple) or (1, 0)
    else:
        members = _members(clause, expander)
    pads = bucket.pads
    return Bucket(
        bucket.variable,
        members,
        modulus,
        residue,
        bucket.shared,
        bucket.position if isinstance(bucket.position, str) else expander.size(bucket.position),
        None if pads is None else tuple(Pad(p.path, _fill(p.fill, expander), p.axis, p.span) for p in pads),
        bucket.reason,
        bucket.span,
    )


def _members(clause: BucketClause, expander: Expander) -> tuple[int, ...]:
    items = [item if item is ... else expander.size(item) for item in clause.items or ()]
    if not items:
        expander.report.error("empty-set", "a bucket without members takes nothing", at=clause.span)
        return ()
    found = sizes.list_members(items, clause.span, expander.report) or []
    values: set[int] = set()
    for size in found:
        if not isinstance(size, Const):
            expander.report.error("not-constant", "a bucket's members are constants", at=size.span or clause.span)
        elif size.value < 0:
            expander.report.error(
                "not-constant", "a bucket's members are sizes, 0 or more", at=size.span or clause.span
            )
        else:
            values.add(size.value)
    return tuple(sorted(values))


def _fill(fill: Fill | Row, expander: Expander) -> Fill:
    match fill:
        case Row(cells=cells):
            numbers = [c if isinstance(c, (int, float)) else expander.integer(c, "a cell of a row") for c in cells]
            return tuple(0 if number is None else number for number in numbers)
        case bool() | int() | float() | Edge() | tuple():
            return fill
        case _:
            size = expander.size(fill)
            return size.value if isinstance(size, Const) else size


__all__ = ["Body", "Mode", "constraints", "read_body"]
