"""What the dims of one callable say that no dim of the language does: noted while its types are read, settled after.

``#b`` of jaxtyping is 1 or ``b``, at each place by itself: a size of its own, with a constraint. ``{n}`` is
the value of the parameter ``n``: a scalar's size.

Before::

    def f(x: Float[Tensor, "b {n}"], y: Float[Tensor, "#b"], n: int)

After::

    def f(x: floating[b, n], y: floating[b_or_1], n: Scalar[n]):
        where b_or_1 == 1 or b_or_1 == b
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from ...diagnostics import Report, Severity, Span
from ...ir import (
    COMPARISONS,
    Apply,
    Compare,
    Const,
    Constraint,
    Dim,
    Fresh,
    Or,
    Param,
    ParamKind,
    ScalarType,
    Size,
    Type,
    Var,
)
from ...ir.walk import free_vars, map_dims, substitute_size
from ..assemble import constraints_of
from ..text.define import bound_names


class _Broadcast(NamedTuple):
    """A dim that is 1 or ``size``."""

    size: Size
    span: Span


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of the uses.

    Attributes:
        params: With every size named.
        returns: The same; a claim of "1 or b" claims nothing.
        names: What each name that was used in the meantime stands for.
        constraints: What the broadcast sizes satisfy.
    """

    params: tuple[Param, ...]
    returns: Type | None
    names: Mapping[str, Size]
    constraints: tuple[Constraint, ...]


class Uses:
    """The uses in one callable.

    Until they are settled each has a name that no text can spell.

    Attributes:
        integers: The parameters that are annotated as ints, and of which no size was said.
        lenient: Whether what the language has no words for is somebody else's text: a warning, and no error.
    """

    def __init__(self, *, lenient: bool = False) -> None:
        self.lenient = lenient
        self._broadcasts: dict[str, _Broadcast] = {}
        self._arguments: dict[str, tuple[str, Span]] = {}
        self.integers: set[str] = set()

    def broadcast(self, size: Size, span: Span) -> Size:
        """Returns the size of a dim that is 1 or ``size``."""
        if isinstance(size, Const) and size.value == 1:
            return size
        name = f"#{len(self._broadcasts)}"
        self._broadcasts[name] = _Broadcast(size, span)
        return Var(name, span)

    def argument(self, parameter: str, span: Span) -> Var:
        """Returns the size that is the value of ``parameter``."""
        name = f"{{{parameter}}}"
        self._arguments.setdefault(name, (parameter, span))
        return Var(name, span)

    def settle(
        self,
        params: tuple[Param, ...],
        returns: Type | None,
        others: Iterable[Size],
        constants: Callable[[], Iterable[str]],
        texts: Iterable[str],
        report: Report,
    ) -> Settled:
        """Returns the types of a callable with every use named, and what is to be assumed.

        Args:
            params: Its parameters, their types as they were read.
            returns: The return type.
            others: What other sources say is equal to dims of the parameters.
            constants: Returns the names that have a value wherever they stand.
            texts: Predicates and clauses, whose names are not to be taken.
            report: Receives ``inexpressible`` where ``{n}`` is the value of no int, or of one that may be left out.
        """
        if not self._broadcasts and not self._arguments:
            return Settled(params, returns, {}, ())
        bound = bound_names(params)
        bound.update(name for size in others for name in free_vars(size) if name in self._broadcasts)
        texts = [*texts]
        taken = {*bound, *(() if returns is None else bound_names([Param("", returns)]))}

        def fresh(wish: str) -> str:
            name, number = wish, 2
            while name in taken or any(name in text for text in texts):
                name, number = f"{wish}_{number}", number + 1
            taken.add(name)
            return name

        names: dict[str, Size] = {}
        params = self._scalars(params, names, fresh, report)
        known = {name for name in bound if name not in self._broadcasts and name not in self._arguments}
        known.update(name for size in names.values() for name in free_vars(size))
        known.update(constants())
        groups: dict[Size, list[str]] = {}
        for name, (size, _) in self._broadcasts.items():
            if name in bound:
                groups.setdefault(substitute_size(size, names), []).append(name)
        constraints: list[Constraint] = []
        for size, members in groups.items():
            base = size.name if isinstance(size, Var) else "size"
            unbound = not known.issuperset(free_vars(size))
            if unbound and len(members) == 1:  # one size, and nothing that it could differ from
                names[members[0]] = Var(base if base not in bound else fresh(base))
                continue
            for member in members:
                names[member] = Var(fresh(f"{base}_or_1"))
            constraints += self._pairs(members, names) if unbound else self._each(members, names, size)
        claims = {name: Fresh() for name in self._broadcasts}
        return Settled(
            tuple([replace(param, type=_named(param.type, names)) for param in params]),
            None if returns is None else _named(returns, {**names, **claims}),
            names,
            tuple(constraints),
        )

    def _scalars(
        self,
        params: tuple[Param, ...],
        names: dict[str, Size],
        fresh: Callable[[str], str],
        report: Report,
    ) -> tuple[Param, ...]:
        """Returns ``params`` with the size of each int that a dim names; ``names`` receives it."""
        found = list(params)
        places = {param.name: i for i, param in enumerate(params)}
        for placeholder, (name, span) in self._arguments.items():
            at = places.get(name)
            type_ = None if at is None else params[at].type
            if isinstance(type_, ScalarType) and type_.size is not None:
                names[placeholder] = type_.size
                continue
            names[placeholder] = size = Var(fresh(name), span)
            plain = at is not None and params[at].kind not in (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD)
            if at is not None and plain and (isinstance(type_, ScalarType) or name in self.integers):
                found[at] = replace(params[at], type=ScalarType(size, params[at].span))
                if params[at].default:
                    message = f"a call that leaves `{name}` out is not held to its default by `{{{name}}}`"
                    report.emit(Severity.NOTE, "inexpressible", message, at=span)
            elif at is None:
                report.emit(
                    self._severity,
                    "inexpressible",
                    f"`{{{name}}}` is the value of a parameter, and there is none called `{name}`",
                    at=span,
                    help=f"write `{name}` if it is a size of its own",
                )
            else:
                report.emit(
                    self._severity,
                    "inexpressible",
                    f"`{{{name}}}`: only the value of an int is a size",
                    at=span,
                    also=[(params[at].span, "this one is not annotated as an int")],
                    help=f"annotate it, `{name}: int`",
                )
        return tuple(found)

    @property
    def _severity(self) -> Severity:
        return Severity.WARNING if self.lenient else Severity.ERROR

    def _each(self, members: list[str], names: Mapping[str, Size], size: Size) -> Iterable[Constraint]:
        """Yields ``b_or_1 == 1 or b_or_1 == b`` for each of ``members``."""
        for member in members:
            own = names[member]
            yield from self._constraint(member, Or((_equal(own, Const(1)), _equal(own, size))))

    def _pairs(self, members: list[str], names: Mapping[str, Size]) -> Iterable[Constraint]:
        """Yields, for each two of ``members``, that one of them is 1 or they are equal: no other dim has that size."""
        for first, second in combinations(members, 2):
            one, other = names[first], names[second]
            either = Or((_equal(one, Const(1)), _equal(other, Const(1)), _equal(one, other)))
            yield from self._constraint(first, either, second)

    def _constraint(self, member: str, either: Or, other: str | None = None) -> Iterable[Constraint]:
        span = self._broadcasts[member].span
        notes = () if other is None else ((self._broadcasts[other].span, "and this one"),)
        return constraints_of(either, span=span, notes=notes)


def _equal(left: Size, right: Size) -> Compare:
    return Compare(COMPARISONS["=="], left, right)


def _named(type_: Type, names: Mapping[str, Size | Fresh]) -> Type:
    """Returns ``type_`` with the names in ``names`` replaced by what they stand for."""
    sizes = {name: size for name, size in names.items() if not isinstance(size, Fresh)}

    def of_dim(dim: Dim) -> Dim:
        if isinstance(dim, Var) and isinstance(names.get(dim.name), Fresh):
            return Fresh(None, dim.span)
        return substitute_size(dim, sizes) if isinstance(dim, (Var, Apply)) else dim

    return map_dims(type_, of_dim)


__all__ = ["Settled", "Uses"]
