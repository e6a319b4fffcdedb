"""Write variadics out once their lengths are known.

Before, with two dims in ``*batch``::

    prod(*batch) * D        *batch >= 1

After::

    prod(batch[0], batch[1]) * D        batch[0] >= 1, batch[1] >= 1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import overload

from .alternatives import Alternative
from .constraints import Constraint
from .dims import Apply, Const, Dim, Predicate, Size, Var, Variadic
from .walk import children, map_sizes, same
from .write import write_predicate


@overload
def splice(dim: Size, lengths: Mapping[str, int]) -> Size: ...
@overload
def splice(dim: Dim, lengths: Mapping[str, int]) -> Dim: ...
def splice(dim: Dim, lengths: Mapping[str, int]) -> Dim:
    """Returns ``dim`` with each variadic argument of an operator written out.

    Args:
        dim: A variadic that is not an operator's argument stays as it is.
        lengths: Variadic → how many dims; those of unknown length stay as they are.
    """
    if not isinstance(dim, Apply):
        return dim
    args: list[Size] = []
    for arg in dim.args:
        if isinstance(arg, Variadic) and arg.name in lengths and dim.op.arity is None:
            args += [Var(f"{arg.name}[{axis}]", arg.span) for axis in range(lengths[arg.name])]
        else:
            args.append(splice(arg, lengths))
    if not args:
        return Const(1, dim.span)  # the product of nothing
    return dim if same(dim.args, args) else replace(dim, args=tuple(args))


def _bare(node: Dim | Predicate) -> Iterator[str]:
    """Yields the variadics that stand for each of their dims in turn: those outside ``prod(…)``."""
    if isinstance(node, Variadic):
        yield node.name
    gathers = isinstance(node, Apply) and node.op.arity is None
    for child in children(node):
        if not (gathers and isinstance(child, Variadic)):
            yield from _bare(child)


def _element(size: Size, name: str, axis: int) -> Size:
    match size:
        case Variadic(name=other) if other == name:
            return Var(f"{name}[{axis}]", size.span)
        case Apply(op=op, args=args):
            keep = op.arity is None
            return replace(
                size,
                args=tuple(arg if keep and isinstance(arg, Variadic) else _element(arg, name, axis) for arg in args),
            )
        case _:
            return size


def expand_constraint(constraint: Constraint, lengths: Mapping[str, int]) -> Iterator[Constraint]:
    """Yields ``constraint`` for each dim of the variadic it speaks of, else itself with ``prod`` written out."""
    name = next(_bare(constraint.predicate), None)
    if name is None or name not in lengths:
        spliced = map_sizes(constraint.predicate, lambda size: splice(size, lengths))
        yield constraint if spliced == constraint.predicate else replace(constraint, predicate=spliced)
        return
    for axis in range(lengths[name]):

        def element(size: Size, axis: int = axis) -> Size:
            return _element(size, name, axis)

        made = map_sizes(constraint.predicate, element)
        yield from expand_constraint(replace(constraint, predicate=made, text=write_predicate(made)), lengths)


def expand_alternative(alternative: Alternative, lengths: Mapping[str, int]) -> Alternative:
    """Returns ``alternative`` with the variadics in its constraints written out."""
    constraints = tuple(
        each for constraint in alternative.constraints for each in expand_constraint(constraint, lengths)
    )
    return alternative if constraints == alternative.constraints else replace(alternative, constraints=constraints)
