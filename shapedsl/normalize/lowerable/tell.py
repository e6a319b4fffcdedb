"""What `lower` says when there is no lowerable form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...diagnostics import Report
from ...ir import Apply, Const, Constraint, Size, Variable, VariableKind
from ...ir.expanded import Expanded, TorchVariable
from ...ir.walk import evaluate, free_vars
from ...ir.write import write_dim
from .slots import Slot, slots_of


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


def tell_unsolved(names: Iterable[str], expanded: Expanded, variables: Mapping[str, Variable], report: Report) -> None:
    """Reports ``not-invertible`` for each variable that no slot gives."""
    written = slots_of(list(expanded.leaves)).values()
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
        label = _same_value(name, use.size) or f"{use.place} is {write_dim(use.size)}"
        report.error(
            "not-invertible",
            f"`{name}` cannot be computed from {'its only use' if len(uses) == 1 else 'its uses'}",
            at=span if span is not None else None if variable is None else variable.span,
            label=label,
            note=[] if span is not None else [label],
            help=_cure(name, use.size),
        )


def _same_value(name: str, size: Size) -> str | None:
    """Returns two values of ``name`` that give the same size, as a sentence."""
    for others in (0, 1, 2):
        sizes = dict.fromkeys(free_vars(size), others)
        seen: dict[int, int] = {}
        for value in range(12):
            try:
                result = evaluate(size, {**sizes, name: value})
            except ZeroDivisionError:
                continue
            if result in seen:
                with_others = "".join(f", {other} = {others}" for other in sorted(sizes) if other != name)
                return f"{name} = {seen[result]} and {name} = {value} both give {result}{with_others and ' with' + with_others[1:]}"
            seen[result] = value
    return None


def _cure(name: str, size: Size) -> str:
    bare = f"write a bare `{name}` in some dim"
    match size:
        case Apply(op=op, args=(_, Const(value=by))) if op.name == "//" and list(free_vars(size)) == [name]:
            return f"{bare}, or add `{write_dim(size.args[0])} multiple of {by}`"
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
