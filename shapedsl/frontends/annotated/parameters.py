"""Type parameters with arguments: what ``N`` and ``*Ts`` stand for while ``Pair[B]`` is read.

Before::

    type Pair[N, *Ts] = tuple[Tensor[N], Tensor["2*N"], Tensor[*Ts]]
    x: Pair[B, D, 3]

After::

    x: (Tensor[B], Tensor[2*B], Tensor[D, 3])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...diagnostics import Report
from ...ir import Apply, Const, Dim, Ellipsis, Size, Static, Var, Variadic
from ...ir.walk import free_vars
from ..text.limits import UnreadableError
from ..text.sizes import apply


@dataclass(frozen=True, slots=True)
class Arguments:
    """What the parameters of an alias or class stand for.

    Attributes:
        values: By name of the parameter: one annotation or dim; of ``*Ts`` any number.
        outer: What the parameters stand for that stand in the values.
    """

    values: Mapping[str, Sequence[object]]
    outer: Arguments | None = None


def bind(generic: Any, arguments: Sequence[object], outer: Arguments | None) -> Arguments:
    """Returns what the parameters of ``generic``, an alias or class, stand for; those without an argument are left out."""
    found: Any = getattr(generic, "__type_params__", ()) or getattr(generic, "__parameters__", ())
    parameters: Sequence[Any] = found if hasattr(found, "__len__") else ()
    given: list[object] = []
    for argument in arguments:  # `Image[()]` has none
        given += cast("tuple[object, ...]", argument) if isinstance(argument, tuple) else (argument,)
    behind = 0  # how many parameters follow `*Ts`
    values: dict[str, Sequence[object]] = {}
    for at, parameter in enumerate(parameters):
        if type(parameter).__name__ == "TypeVarTuple":
            behind = len(parameters) - at - 1
            end = max(0, len(given) - behind)
            values[parameter.__name__], given = given[:end], given[end:]
        elif given:
            values[parameter.__name__] = (given.pop(0),)
    return Arguments(values, outer)


def fill_in(
    dims: Sequence[Dim], arguments: Arguments, read: Callable[[object], Sequence[Dim] | None], report: Report
) -> tuple[Dim, ...]:
    """Returns ``dims`` with the names of parameters replaced; of one that stands for no size, nothing is said.

    Args:
        dims: As they stand in the alias or class.
        arguments: From `bind`.
        read: Returns the dims that one argument spells; None if it is no size.
        report: Receives what has no value.
    """
    known: dict[str, Sequence[Dim]] = {}
    unsaid: set[str] = set()
    for name, values in arguments.values.items():
        found = [read(value) for value in values]
        known[name] = [dim for each in found for dim in each or ()]
        if None in found:  # a type, `Pair[int]`
            unsaid.add(name)
    sizes: dict[str, Size] = {
        name: dims[0] for name, dims in known.items() if len(dims) == 1 and isinstance(dims[0], (Const, Var, Apply))
    }
    filled: list[Dim] = []
    for dim in dims:
        if isinstance(dim, (Var, Variadic)) and dim.name in unsaid:
            filled.append(Static(dim.span) if isinstance(dim, Var) else Ellipsis(dim.span))
        elif isinstance(dim, (Var, Variadic)) and dim.name in known:
            filled += known[dim.name]
        elif isinstance(dim, Apply) and any(name in known and name not in sizes for name in free_vars(dim)):
            filled.append(Static(dim.span))  # of twice a size of which nothing is said, nothing is
        else:
            filled.append(_replaced(dim, sizes, report) if isinstance(dim, Apply) else dim)
    return tuple(filled)


def _replaced(size: Apply, sizes: Mapping[str, Size], report: Report) -> Size:
    """Returns ``size`` with names replaced, as if it had been written so: ``2 * 3`` is 6."""

    def of(part: Size) -> Size:
        match part:
            case Var(name=name):
                return sizes.get(name, part)
            case Apply(op=op, args=args, span=span):
                return apply(op, tuple([of(arg) for arg in args]), span, report)
            case _:
                return part

    try:
        return of(size)
    except UnreadableError as error:
        error.tell(report)
        return size


__all__ = ["Arguments", "bind", "fill_in"]
