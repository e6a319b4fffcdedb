"""Decide what an artifact keeps of a spec, and what it demands beyond.

Spec to artifact: each statement about the places of the inputs is asked of what the artifact checks.

* It follows: whatever violates it is refused. *Kept.*
* It does not, and sizes show it: *lost*.

Artifact to spec: each thing that the artifact checks or relies on is asked of the spec. What does not follow
*narrows* the spec.

Before::

    def f(x: Tensor[A], y: Tensor[B]): where A <= 8        # the artifact: x.shape[0] == y.shape[0], and no bound

After::

    lost      A <= 8      accepts A = 9
    narrowed  A == B      net.py:12, in forward: return x + y
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from ...diagnostics import Span
from ...ir import COMPARISONS, Compare, Const, Predicate, Size, Static, Var, VariableKind
from ...ir.walk import free_vars, substitute
from ...ir.write import write_predicate
from ...normalize.compare.dtypes import members, written
from ...normalize.decide import Proved, Refuted
from ...targets.enforced.model import Enforced
from ...targets.enforced.stated import Stated, Statement, stated
from ...targets.program import Demand, conjuncts, is_trivial, plain
from .asking import Premises, shorter
from .promise import Promise


def promises(enforced: Enforced, allowed: Collection[str] = ()) -> tuple[Promise, ...]:
    """Returns what spec and artifact demand of the inputs, each with what became of it.

    Args:
        enforced: The artifact, with the spec at its structure.
        allowed: Codes of what it may demand beyond the spec.
    """
    said = stated(enforced.expanded, dict(enforced.statics))
    return (*_kept_or_lost(enforced, said), *_of_other_dtypes(enforced), *_narrowed(enforced, said, allowed))


# -------------------------------------------------------------------------------- spec to artifact


def _kept_or_lost(enforced: Enforced, said: Stated) -> Iterator[Promise]:
    premises = Premises(said.places, (each.predicate for each in enforced.checked))
    statics = dict(enforced.statics)
    for each in said.statements:
        if each.kind == "size" and each.place in statics and not isinstance(said.dims.get(each.place), Const):
            continue  # that it is the size it was made for says more
        yield _asked(each, enforced, said, premises)
    for text in said.unsaid:
        why = "no size of an input tells its variables"
        yield Promise("undecided", text, "undecided", why=why, artifact=enforced.label)


def _asked(statement: Statement, enforced: Enforced, said: Stated, premises: Premises) -> Promise:
    about = Promise("kept", statement.text, place=statement.place, span=statement.span, artifact=enforced.label)
    if statement.kind == "static" and isinstance(said.dims.get(statement.place), Var):
        about = replace(about, what=f"{statement.text} (static)")
    match premises.decide(statement.predicate):
        case Proved():
            return about
        case Refuted(witness=witness) if enforced.unread:
            why = f"it also checks `{enforced.unread[0]}`, which could not be read"
            shown = _named(dict(witness), statement.predicate, said)
            return replace(about, status="undecided", code="undecided", why=why, witness=shown)
        case Refuted(witness=witness):
            shown = _named(dict(witness), statement.predicate, said)
            return replace(about, status="lost", code="lost-assumption", witness=shown)
        case unknown:
            return replace(about, status="undecided", code="undecided", why=unknown.reason)


def _named(witness: Mapping[str, int], predicate: Predicate, said: Stated) -> tuple[tuple[str, int], ...]:
    """Returns the sizes of a witness that ``predicate`` speaks of, by the user's names where they have one."""
    order = {each.name: at for at, each in enumerate(said.places)}
    names = sorted(set(free_vars(predicate)) & witness.keys(), key=lambda name: order.get(name, len(order)))
    return tuple((_user_name(name, said), witness[name]) for name in names)


def _user_name(place: str, said: Stated) -> str:
    name = said.names.get(place, place)
    return place if name.startswith("?") else name


# -------------------------------------------------------------------------------- artifact to spec


def _narrowed(enforced: Enforced, said: Stated, allowed: Collection[str]) -> Iterator[Promise]:
    signature = enforced.expanded.signature
    meanings = _meanings(enforced, said)
    spans = _spans(enforced)
    premises = Premises(signature.variables, (each.predicate for each in signature.constraints))
    for name, size in _known(enforced, said):
        premises.add(Compare(COMPARISONS["=="], Var(name), Const(size)))
    data = {each.name for each in enforced.data}
    checked = Premises(said.places, (each.predicate for each in enforced.checked))
    anew = () if enforced.front else enforced.anew
    for demand in (*enforced.relied, *anew, *enforced.checked):
        for part in conjuncts(substitute(demand.predicate, meanings)):
            predicate = plain(part)
            if is_trivial(predicate) or data & set(free_vars(predicate)):
                continue
            verdict = premises.decide(predicate)
            if isinstance(verdict, Proved):
                continue
            premises.add(predicate)  # what follows from a finding is none of its own
            yield _finding(demand, predicate, verdict, enforced, checked, spans, allowed)


def _of_other_dtypes(enforced: Enforced) -> Iterator[Promise]:
    """Yields the tensors that an artifact was made for in a dtype that the spec does not accept."""
    made = dict(enforced.dtypes)
    for leaf in enforced.expanded.leaves:
        dtype = made.get(str(leaf.path))
        if dtype is not None and leaf.dtype is not None and dtype not in members(leaf.dtype.name):
            yield Promise(
                "narrowed",
                f"{leaf.path} is {dtype}",
                "dtype-mismatch",
                place=str(leaf.path),
                span=leaf.span,
                why=f"it was made for that, and the spec accepts {written(leaf.dtype)}",
                artifact=enforced.label,
            )


def _finding(
    demand: Demand,
    predicate: Predicate,
    verdict: object,
    enforced: Enforced,
    checked: Premises,
    spans: Mapping[str, Span | None],
    allowed: Collection[str],
) -> Promise:
    names = set(free_vars(predicate))
    text = write_predicate(shorter(predicate) if names else demand.predicate)
    places = demand.places or tuple(name for name in dict.fromkeys(free_vars(demand.predicate)) if name in spans)
    found_at = [span for place in places if (span := spans.get(place)) is not None]
    found = Promise(
        "narrowed",
        text,
        demand.code,
        place=", ".join(demand.places),
        line=demand.line,
        span=found_at[0] if found_at else None,
        also=tuple(found_at[1:]),
        artifact=enforced.label,
    )
    if not isinstance(verdict, Refuted):
        return replace(found, status="undecided", code="undecided", why=getattr(verdict, "reason", ""))
    witness = tuple(sorted((name, size) for name, size in verdict.witness if not name.startswith("?")))
    why = ""
    if not isinstance(checked.decide(demand.predicate), Proved) and not enforced.unread:
        why = "it relies on that without checking it"
        if demand in enforced.anew:
            why = "other sizes make torch compile another graph"
    return replace(found, witness=witness, why=why, allowed=demand.code in allowed)


def _meanings(enforced: Enforced, said: Stated) -> dict[str, Size]:
    """Returns what each place is to the spec: a dim, or of a static one the size that the artifact was made for."""
    found: dict[str, Size] = {place: Const(size) for place, size in enforced.statics}
    found.update(said.dims)
    return found


def _known(enforced: Enforced, said: Stated) -> Iterator[tuple[str, int]]:
    """Yields the size of each ``const X = _`` that the artifact was made for, and the lengths that have names."""
    consts = {v.name for v in enforced.expanded.signature.variables if v.kind is VariableKind.CONST}
    found: dict[str, int] = dict(enforced.expanded.lengths)
    for place, size in enforced.statics:
        dim = said.dims.get(place)
        if isinstance(dim, Var) and dim.name in consts:
            found.setdefault(dim.name, size)
    yield from found.items()


def static_sizes(enforced: Enforced) -> dict[str, int]:
    """Returns the size of each ``const X = _`` that an artifact was made for."""
    return dict(_known(enforced, stated(enforced.expanded)))


def _spans(enforced: Enforced) -> dict[str, Span | None]:
    return {
        leaf.place(axis): getattr(dim, "span", None) or leaf.span
        for leaf in enforced.expanded.leaves
        for axis, dim in enumerate(leaf.dims)
        if not isinstance(dim, Static)
    }


__all__ = ["promises", "static_sizes"]
