"""Two specs of one callable → one: what a file says and what stands on the callable itself.

Before::

    f.shapes       def f(x: Tensor[B, _], w: Tensor[D, D]): where B < 32
    on f itself    def f(x: Tensor[N, D], w, *, scale = _): where N > 2

After::

    def f(x: Tensor[B, D], w: Tensor[D, D], *, scale = _): where B < 32, B > 2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count

from ..diagnostics import Report
from ..ir import Apply, Constraint, Param, Signature, Size, Type, Var, Variable, VariableKind
from ..ir.walk import map_dims, substitute, substitute_size
from .annotated.equalities import Equality, eliminate
from .annotated.unify import unify
from .assemble import orient
from .text.define import bound_names


def merge(first: Signature, second: Signature, report: Report) -> Signature:
    """Returns what both signatures say together.

    Args:
        first: The source that comes first: its expressions, hints and alternatives are kept.
        second: What stands on the callable: its parameters' order, kinds and defaults are the callable's.
        report: Receives ``conflicting-sources``, with both places.
    """
    equalities: list[Equality] = []
    said = {param.name: param for param in first.params}
    params: list[Param] = []
    for param in second.params:
        other = said.pop(param.name, None)
        if other is not None:
            type_ = unify(other.type, param.type, report, equalities, f"parameter `{param.name}`")
            param = replace(param, type=type_, span=other.span or param.span)
        params.append(param)
    params += said.values()  # the callable lacks them; whoever compiles it says so
    variables = {variable.name: variable for variable in second.variables}
    for variable in first.variables:
        variables[variable.name] = _variable(variable, variables.get(variable.name), report)
    meaning, equalities = eliminate(equalities, bound_names(params), ())
    constraints = (*first.constraints, *second.constraints, *[equality.constraint() for equality in equalities])
    merged = replace(
        first,
        name=second.name,
        params=tuple(params),
        returns=_returns(first, second, report),
        variables=tuple(sorted(variables.values(), key=lambda variable: variable.name)),
        constraints=tuple(dict.fromkeys(constraints)),
        alternatives=first.alternatives or second.alternatives,
        values=tuple(dict.fromkeys((*first.values, *second.values))),
        ranks=_ranks(first, second, report),
        drops=tuple(dict.fromkeys((*first.drops, *second.drops))),
        receiver=first.receiver or second.receiver,
        doc=first.doc or second.doc,
    )
    return _renamed(merged, meaning) if meaning else merged


def apart(signature: Signature, other: Signature) -> Signature:
    """Returns ``signature`` with sizes of its own: none but a variadic is called as one of ``other``.

    Two functions that both speak of ``B`` speak of two sizes, until a parameter tells that they are one.
    """
    names = {variable.name for variable in other.variables}
    taken = names | {variable.name for variable in signature.variables}
    clashing = [variable for variable in signature.variables if variable.name in names and not variable.variadic]
    rows: list[Variable] = []
    for variable in clashing:
        name = next(name for i in count(1) if (name := f"{variable.name}_{i}") not in taken)
        taken.add(name)
        rows.append(replace(variable, name=name))
    moved = _renamed(signature, {old.name: Var(new.name) for old, new in zip(clashing, rows, strict=True)})
    return replace(moved, variables=tuple(sorted((*moved.variables, *rows), key=lambda variable: variable.name)))


def _renamed(signature: Signature, meaning: Mapping[str, Size]) -> Signature:
    """Returns ``signature`` with the names in ``meaning`` replaced by what they stand for."""

    def of_type(type_: Type) -> Type:
        return map_dims(type_, lambda dim: substitute_size(dim, meaning) if isinstance(dim, (Var, Apply)) else dim)

    def of_constraints(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
        replaced = [replace(c, predicate=orient(substitute(c.predicate, meaning))) for c in constraints]
        return tuple(dict.fromkeys(replaced))

    def of_hints(hints: Iterable[tuple[str, int]]) -> dict[str, int]:
        """A hint goes along where a name became another; nothing can be said of an expression."""
        found: dict[str, int] = {}
        for name, hint in hints:
            size = meaning.get(name, Var(name))
            if isinstance(size, Var):
                found.setdefault(size.name, hint)
        return found

    hints = of_hints((v.name, v.hint) for v in signature.variables if v.hint is not None)
    return replace(
        signature,
        params=tuple([replace(param, type=of_type(param.type)) for param in signature.params]),
        returns=None if signature.returns is None else of_type(signature.returns),
        variables=tuple(
            [replace(v, hint=v.hint or hints.get(v.name)) for v in signature.variables if v.name not in meaning]
        ),
        constraints=of_constraints(signature.constraints),
        alternatives=tuple(
            [
                replace(a, constraints=of_constraints(a.constraints), hints=tuple(sorted(of_hints(a.hints).items())))
                for a in signature.alternatives
            ]
        ),
        values=tuple(
            [
                replace(v, low=substitute_size(v.low, meaning), high=substitute_size(v.high, meaning))
                for v in signature.values
            ]
        ),
    )


def _returns(first: Signature, second: Signature, report: Report) -> Type | None:
    if first.returns is None or second.returns is None:
        return first.returns or second.returns
    # a claim assumes nothing: where the expressions differ, the first source's stands
    return unify(first.returns, second.returns, report, [], "the return value")


def _variable(first: Variable, second: Variable | None, report: Report) -> Variable:
    if second is None:
        return first
    if first.variadic != second.variadic:
        report.error(
            "duplicate-name",
            f"`*{first.name}` and `{first.name}` are both used",
            at=first.span,
            also=[(second.span, "and here")],
        )
    # a name that one source has only in a predicate is an int there, and the other's dim
    kind = second.kind if first.kind is VariableKind.INT and not first.declared else first.kind
    hint = second.hint if first.hint is None else first.hint
    return replace(first, kind=kind, hint=hint, declared=first.declared or second.declared)


def _ranks(first: Signature, second: Signature, report: Report) -> tuple[tuple[str, int], ...]:
    ranks = dict(first.ranks)
    for name, rank in second.ranks:
        if ranks.setdefault(name, rank) != rank:
            report.error(
                "conflicting-sources", f"the rank of `{name}` is {ranks[name]} in one source, {rank} in another"
            )
    return tuple(sorted(ranks.items()))


__all__ = ["apart", "merge"]
