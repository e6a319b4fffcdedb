"""What `lower` says when there is no lowerable form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...diagnostics import Report
from ...ir import Apply, Const, Constraint, Size, Var, Variable, VariableKind
from ...ir.expanded import Expanded, TorchVariable
from ...ir.walk import free_vars
from ...ir.write import write_dim
from ..decide import Unknown
from .given import Given
from .slots import Slot, slots_of
from .twins import Twins, twins

MOST_TWINS = 4  # searches for two calls; what one finds is told of all variables that differ


def tell_missing_constants(
    expanded: Expanded, constraints: Sequence[Constraint], missing: frozenset[str] | set[str], report: Report
) -> bool:
    """Reports static sizes that are needed and have no value; returns whether there were any."""
    if not missing:
        return False
    needed: dict[str, Constraint | None] = {}
    for constraint in constraints:
        needed.update((name, constraint) for name in free_vars(constraint.predicate) if name in missing)
    own = {c.predicate for c in constraints if set(free_vars(c.predicate)) <= missing}
    needed = {name: c for name, c in needed.items() if c is not None and c.predicate not in own}
    for leaf in expanded.leaves:
        for dim in leaf.dims:
            names = set(free_vars(dim))
            if not names <= missing:
                needed.update((name, None) for name in names & missing)
    for name, source in sorted(needed.items()):
        report.error(
            "not-constant",
            f"the value of `{name}` is not known here",
            at=None if source is None else source.span,
            label=f"needs {name}",
            help=f"pass an example whose arguments hold `{name}`, or give it a value with `const {name} = ...`",
        )
    return bool(needed)


def tell_unsolved(
    names: Iterable[str],
    expanded: Expanded,
    given: Given,
    sizes: Iterable[Size],
    values: Mapping[str, Size],
    report: Report,
) -> None:
    """Reports ``not-invertible`` for each variable that no slot gives, with two calls that look the same.

    Args:
        names: The variables.
        expanded: As it is written.
        given: What holds.
        sizes: All that can be read, over the variables of ``given``.
        values: What the other variables of ``expanded`` are.
        report: Receives the findings.
    """
    written = slots_of(list(expanded.leaves)).values()
    sizes, names = tuple(sizes), tuple(names)
    variables = {variable.name: variable for variable in given.variables}
    shown: list[Twins] = []
    searches = 0
    for name in names:
        uses = [slot for slot in written if name in free_vars(slot.size)]
        variable = variables.get(name)
        if not uses:
            report.error(
                "unbound-name",
                f"no parameter binds `{name}`",
                at=None if variable is None else variable.span,
                help=f"write `{name}` in the dim of a parameter",
            )
            continue
        use = uses[0]
        span = use.leaf.dims[use.axis].span
        found: Twins | Unknown | None = next((pair for pair in shown if pair.first[name] != pair.second[name]), None)
        if found is None:
            found = twins(name, sizes, given, values) if searches < MOST_TWINS else Unknown("")
            searches += 1
        label = f"{use.place} is {write_dim(use.size)}"
        notes: list[str] = []
        if isinstance(found, Twins):
            shown.append(found)
            apart = {each for each in found.first if found.first[each] != found.second[each]}
            label = found.told([slot for slot in written if not apart.isdisjoint(free_vars(slot.size))])
        elif found is None:
            notes.append(f"the sizes determine `{name}`, but no formula that torch can compute was found for it")
        report.error(
            "not-invertible",
            f"`{name}` cannot be computed from {'its only use' if len(uses) == 1 else 'its uses'}",
            at=span if span is not None else None if variable is None else variable.span,
            label=label,
            note=[*notes, *([] if span is not None else [label])],
            help=_cure(name, use.size, names, given),
            witness=found.witness if isinstance(found, Twins) else (),
        )


def _cure(name: str, size: Size, unsolved: Sequence[str], given: Given) -> str:
    bare = f"write a bare `{name}` in some dim"
    match size:
        case Apply(op=op, args=(_, Const(value=by))) if op.name == "//" and list(free_vars(size)) == [name]:
            return f"{bare}, or add `{write_dim(size.args[0])} multiple of {by}`"
        case Apply(op=op, args=args) if op.name in ("min", "max") and Var(name) in args:
            order = "<=" if op.name == "min" else ">="
            others = [arg for arg in args if arg != Var(name)]
            return f"{bare}, or add `{' and '.join(f'{name} {order} {write_dim(other)}' for other in others)}`"
        case Apply(op=op, args=(left, right)) if op.name == "*" and Var(name) in (left, right) and left != right:
            other = right if left == Var(name) else left
            if not isinstance(other, Var) or other.name in unsolved or given.proves(other, ">=", Const(1)):
                return bare
            return f"{bare}, or add `{other.name} >= 1`"
        case _:
            return bare


def tell_negative_ints(
    torch_variables: Iterable[TorchVariable],
    variables: Mapping[str, Variable],
    slots: Iterable[Slot],
    report: Report,
) -> bool:
    """Reports scalars that may be negative; returns whether there were any."""
    by_name = {slot.name: slot for slot in slots}
    told = False
    for each in torch_variables:
        if each.kind is not VariableKind.INT or (each.low is not None and each.low >= 0):
            continue
        told = True
        slot = by_name[each.name]
        variable = variables.get(each.name)
        span = slot.leaf.dims[slot.axis].span
        low = "has no lower bound" if each.low is None else f"may be as low as {each.low}"
        report.error(
            "negative-int",
            f"torch takes no int here that may be negative: `{slot.place}` {low}",
            at=span if span is not None else None if variable is None else variable.span,
            label="this int may be negative",
            help=each.demand,
        )
    return told
