"""What torch is told of backed sizes: statements of a generated function, which torch reads while it traces.

A backed size has a value while torch traces, so each ``torch._check`` is one guard, and what follows from it is known:
equal sizes are one symbol, derived ones expressions of it, ranges and residues are looked up.

Before::

    f(x: Tensor[B], y: Tensor[2*B])     B in [2, 64] multiple of 8

After::

    _check(x.size(0) >= 2); _check(x.size(0) <= 64)
    _check(x.size(0) % 8 == 0)
    _check(y.size(0) == 2 * x.size(0))

A disjunction is left out: torch would evaluate it to the side that the example is on, and hold every call to that.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

import torch

from ...ir import And, Apply, Compare, Const, Not, Or, Predicate, Size, Var, VariableKind
from ...ir.expanded import Lowered
from ...ir.operators import comparison_named
from ...runtime.code import Code


def told(lowered: Lowered, code: Code, spelled: Mapping[str, str]) -> Iterator[str]:
    """Yields the statements.

    Args:
        lowered: What is promised of the arguments.
        code: The function in which the statements will stand.
        spelled: Parameter → the name of the local variable that holds it.
    """
    check = code.use(torch._check, "check")
    places: dict[str, str] = {}
    for name, place in placed(lowered, code, spelled):
        if name in places:
            yield f"{check}({place} == {places[name]})"
        else:
            places[name] = place
    for variable in lowered.variables:
        if variable.name not in places:
            continue
        place = places[variable.name]
        if variable.low is not None and (variable.low > 0 or variable.kind is VariableKind.INT):
            yield f"{check}({place} >= {variable.low})"
        if variable.high is not None:
            yield f"{check}({place} <= {variable.high})"
    for predicate in lowered.assumptions:
        for part in conjuncts(predicate):
            written = write_part(part, code, places)
            if written is not None:
                yield f"{check}({written})"


def placed(lowered: Lowered, code: Code, spelled: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields each variable of torch's with the expression that reads it, once for each place."""
    for leaf in lowered.leaves:
        if leaf.path.root not in spelled:
            continue
        value = spelled[leaf.path.root]
        for step in leaf.path.steps:
            value = code.step(value, step)
        for axis, dim in enumerate(leaf.dims):
            if isinstance(dim, Var):
                yield dim.name, value if leaf.scalar else f"{value}.size({axis})"


def conjuncts(predicate: Predicate) -> Iterator[Predicate]:
    """Yields the parts of ``predicate`` that all hold."""
    match predicate:
        case And(args=args):
            for arg in args:
                yield from conjuncts(arg)
        case Not(arg=Compare(op=op, left=left, right=right)):
            yield Compare(comparison_named(op.negated), left, right)
        case Not(arg=Or(args=args)):
            for arg in args:
                yield from conjuncts(Not(arg))
        case Not(arg=Not(arg=arg)):
            yield from conjuncts(arg)
        case _:
            yield predicate


def write_part(predicate: Predicate, code: Code, places: Mapping[str, str]) -> str | None:
    """Returns ``predicate`` as torch's arithmetic, or None if torch cannot be told of it."""
    if not isinstance(predicate, Compare):
        return None  # a disjunction
    try:
        return f"{_size(predicate.left, code, places)} {predicate.op.name} {_size(predicate.right, code, places)}"
    except KeyError:  # of a size that no argument has
        return None


def _size(size: Size, code: Code, places: Mapping[str, str]) -> str:
    match size:
        case Const(value=value):
            return str(value) if value >= 0 else f"({value})"
        case Var(name=name):
            return places[name]
        case Apply(op=op, args=args):
            operands = [_size(arg, code, places) for arg in args]
            if op.name in ("min", "max"):
                pairwise = code.use(torch.sym_min if op.name == "min" else torch.sym_max, f"sym_{op.name}")
                return functools.reduce(lambda left, right: f"{pairwise}({left}, {right})", operands)
            if op.name == "prod":
                return f"({' * '.join(operands)})"
            return f"({op.torch.format(*operands)})"
        case _:
            raise TypeError(f"not expanded: {size!r}")


__all__ = ["conjuncts", "placed", "told", "write_part"]
