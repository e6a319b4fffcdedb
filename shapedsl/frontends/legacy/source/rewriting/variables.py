"""The variables that a ShapesSpec of torch needs for a converted signature.

torch reads a variable off a dim that is the variable alone. A root that is no size of an input (a phantom root)
cannot be read, so the variable becomes the dim itself, with what the root said of it as assumptions.

Before::

    x: Tensor[2*u], y: Tensor[3*u], z: Tensor[n], w: Tensor[n + 1]      dim u in [1, 16]

After::

    x: Tensor[u_x2], y: Tensor[u_x3], z: Tensor[n], w: Tensor[n + 1]
    u_x2 in [2, 32], u_x3 in [3, 48], u_x2 % 2 == 0, u_x3 % 3 == 0, 3*u_x2 == 2*u_x3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import gcd
from typing import Literal

from .....ir import (
    COMPARISONS,
    OPERATORS,
    Apply,
    Compare,
    Const,
    Dim,
    Origin,
    Param,
    Predicate,
    Signature,
    Size,
    Var,
    VariableKind,
)
from .....ir.walk import free_vars, map_dims, scalar_sizes, tensor_dims
from ...naming import free


@dataclass(frozen=True, slots=True)
class Needed:
    """A ShapeVar or an IntVar.

    Attributes:
        name: What torch is told.
        class_name: Which of the two.
        low, high: Inclusive; None where nothing is to be said.
        hint: The size to optimize for.
        root: The legacy dim that is this variable; None for one that stands for ``factor * root + offset``.
    """

    name: str
    class_name: Literal["ShapeVar", "IntVar"]
    low: int | None
    high: int | None
    hint: int | None = None
    root: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """What a signature becomes.

    Attributes:
        params: Its parameters; their dims are sums over ``variables``.
        variables: By name.
        assumptions: Over ``variables``.
        phantoms: The roots that are no variables any longer, each with the names of those that took their place.
        open: As `Conversion.open`.
    """

    params: tuple[Param, ...]
    variables: Mapping[str, Needed]
    assumptions: tuple[Predicate, ...] = ()
    phantoms: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    open: Mapping[str, str] = field(default_factory=dict[str, str])


def table(signature: Signature) -> Table | None:
    """Returns the variables of a converted signature; None if something in it is no sum of a size and a number."""
    dims = [dim for param in signature.params for dim in (*tensor_dims(param.type), *scalar_sizes(param.type))]
    bare = {dim.name for dim in dims if isinstance(dim, Var)}
    phantoms: dict[str, dict[tuple[int, int], None]] = {}
    for dim in dims:
        if isinstance(dim, Apply):
            form = linear(dim)
            if form is None:
                return None
            factor, name, offset = form
            if name not in bare:
                phantoms.setdefault(name, {})[factor, offset] = None
    ranges, assumptions = _said(signature)
    if any(name in phantoms for each in assumptions for name in free_vars(each)):
        return None
    variables: dict[str, Needed] = {}
    for variable in signature.variables:
        name = variable.name
        if name in phantoms or name not in bare:
            continue
        is_int = variable.kind is VariableKind.INT
        low, high = ranges.get(name, (None, None))
        if not is_int and low == 0:
            low = None
        variables[name] = Needed(name, "IntVar" if is_int else "ShapeVar", low, high, variable.hint, name)
    taken = {variable.name for variable in signature.variables}
    forms: dict[tuple[str, int, int], Size] = {}
    replaced: dict[str, tuple[str, ...]] = {}
    for root, shapes in phantoms.items():
        made, told, sizes = _rebased(root, list(shapes), ranges.get(root, (None, None)), taken)
        variables |= made
        assumptions += told
        replaced[root] = tuple(made)
        forms |= {(root, *shape): size for shape, size in sizes.items()}

    def rebase(dim: Dim) -> Dim:
        form = linear(dim) if isinstance(dim, Apply) else None
        return dim if form is None else forms.get((form[1], form[0], form[2]), dim)

    params = tuple([replace(param, type=map_dims(param.type, rebase)) for param in signature.params])
    return Table(params, variables, tuple(assumptions), replaced)


def linear(size: Dim) -> tuple[int, str, int] | None:
    """Returns ``(factor, name, offset)`` of a sum with one variable; None for anything else.

    >>> linear(Apply(OPERATORS["*"], (Const(2), Var("n"))))
    (2, 'n', 0)
    """
    match size:
        case Var(name=name):
            return 1, name, 0
        case Apply(op=op, args=(Const(value=value), inner)) if op.name in ("*", "+"):
            form = linear(inner)
        case Apply(op=op, args=(inner, Const(value=value))) if op.name in ("*", "+", "-"):
            form = linear(inner)
        case _:
            return None
    if form is None:
        return None
    factor, name, offset = form
    match op.name:
        case "*":
            return factor * value, name, offset * value
        case "+":
            return factor, name, offset + value
        case _:
            return factor, name, offset - value


def combined(factor: int, name: str, offset: int) -> Size:
    """Returns ``factor * name + offset`` as it is written: without a factor of 1, an offset of 0."""
    size: Size = Var(name)
    if factor != 1:
        size = Apply(OPERATORS["*"], (Const(factor), size))
    if offset:
        size = Apply(OPERATORS["+" if offset > 0 else "-"], (size, Const(abs(offset))))
    return size


def _said(signature: Signature) -> tuple[dict[str, tuple[int | None, int | None]], list[Predicate]]:
    """Returns the declared ranges, and what else is assumed."""
    ranges: dict[str, tuple[int | None, int | None]] = {}
    others: list[Predicate] = []
    for constraint in signature.constraints:
        match constraint.predicate:
            case Compare(op=op, left=Var(name=name), right=Const(value=value)) if op.name in ("<=", ">="):
                low, high = ranges.get(name, (None, None))
                if op.name == ">=":
                    low = value if low is None else max(low, value)
                else:
                    high = value if high is None else min(high, value)
                ranges[name] = (low, high)
            case predicate:
                if constraint.origin is not Origin.DIM:  # which torch knows
                    others.append(predicate)
    return ranges, others


def _rebased(
    root: str, forms: list[tuple[int, int]], bounds: tuple[int | None, int | None], taken: set[str]
) -> tuple[dict[str, Needed], list[Predicate], dict[tuple[int, int], Size]]:
    """Returns the variables in the place of a phantom root, what ties them, and what each ``(factor, offset)`` is."""
    low, high = bounds[0] or 0, bounds[1]
    variables: dict[str, Needed] = {}
    assumptions: list[Predicate] = []
    sizes: dict[tuple[int, int], Size] = {}
    unit = next((form for form in forms if form[0] == 1), None)
    first: tuple[str, int, int] | None = None
    for factor, offset in [unit] if unit is not None else forms:
        name = free(_called(root, factor, offset), taken)
        taken.add(name)
        least = factor * low + offset
        most = None if high is None else factor * high + offset
        variables[name] = Needed(name, "ShapeVar", least if least > 0 else None, most)
        sizes[factor, offset] = Var(name)
        if factor > 1:
            assumptions.append(_equal(Apply(OPERATORS["%"], (Var(name), Const(factor))), Const(offset % factor)))
        if first is None:
            first = name, factor, offset
        else:  # factor * (first - its offset) == its factor * (this - offset)
            common = gcd(factor, first[1])
            left = combined(factor // common, first[0], (first[1] * offset - factor * first[2]) // common)
            assumptions.append(_equal(left, combined(first[1] // common, name, 0)))
    if unit is not None:
        (base,) = variables
        for factor, offset in forms:
            sizes[factor, offset] = combined(factor, base, offset - factor * unit[1])
    return variables, assumptions, sizes


def _equal(left: Size, right: Size) -> Compare:
    return Compare(COMPARISONS["=="], left, right)


def _called(root: str, factor: int, offset: int) -> str:
    name = root if factor == 1 else f"{root}_x{factor}"
    return name if not offset else f"{name}_{'plus' if offset > 0 else 'minus'}_{abs(offset)}"


__all__ = ["Needed", "Table", "combined", "linear", "table"]
