"""Give named static sizes their values: of a stub's consts, the attributes of a live module.

Before::

    const in_features, bias = _
    def forward(input: Tensor[*batch, in_features]) -> Tensor[*batch, in_features + 1]:
        where bias == 1, in_features >= 1

After, where ``in_features`` is 64 and ``bias`` is 1 (nothing is left, where it is 0)::

    def forward(input: Tensor[*batch, 64]) -> Tensor[*batch, 65]: ...

Invariant: what is accepted is what was accepted of inputs with these static sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..diagnostics import Report
from ..ir import (
    Alternative,
    Apply,
    Bucket,
    Const,
    Constraint,
    Dim,
    Pad,
    Param,
    ParamKind,
    ScalarType,
    Signature,
    Size,
    Type,
    Var,
    VariableKind,
)
from ..ir.walk import evaluate, free_vars, holds, map_dims, scalar_sizes, substitute, substitute_size, tensor_dims
from .resolve import resolve
from .simplify import simplify


def instantiate(signature: Signature, values: Mapping[str, int]) -> Signature | None:
    """Returns ``signature`` with the consts named in ``values`` as numbers, and sizes in canonical form.

    Args:
        signature: Resolved.
        values: By name; what the signature lacks is left alone.

    Returns:
        None if a constraint is false for these values, whatever the inputs: the signature is not about them.
    """
    names = {variable.name for variable in signature.variables}
    bindings: dict[str, Size] = {name: Const(value) for name, value in values.items() if name in names}
    constraints = _constraints(signature.constraints, bindings)
    if constraints is None:
        return None

    def bound(dim: Dim) -> Dim:
        return substitute_size(dim, bindings) if isinstance(dim, (Apply, Var)) else dim

    after = replace(
        signature,
        params=tuple(replace(param, type=map_dims(param.type, bound)) for param in signature.params),
        returns=None if signature.returns is None else map_dims(signature.returns, bound),
        variables=tuple(variable for variable in signature.variables if variable.name not in bindings),
        constraints=constraints,
        alternatives=tuple(_alternative(each, bindings) for each in signature.alternatives),
        values=tuple(
            replace(each, low=substitute_size(each.low, bindings), high=substitute_size(each.high, bindings))
            for each in signature.values
        ),
        repeated=(),
        names={
            **{name: substitute_size(size, bindings) for name, size in signature.names.items()},
            **bindings,
        },
    )
    return simplify(after, Report())


def check_open(signature: Signature, report: Report) -> None:
    """Checks a signature as `resolve` does, while its consts wait for the object that gives them values.

    Args:
        signature: As a stub states it.
        report: Receives what `resolve` finds; a const that no parameter holds is no finding.
    """
    held = {name for param in signature.params for dim in _sizes(param.type) for name in free_vars(dim)}
    waiting = [v.name for v in signature.variables if v.kind is VariableKind.CONST and v.name not in held]
    given = tuple(Param(f"self.{name}", ScalarType(Var(name)), ParamKind.KEYWORD_ONLY) for name in waiting)
    resolve(replace(signature, params=(*signature.params, *given)), report)


def _sizes(type_: Type) -> Iterator[Dim]:
    yield from tensor_dims(type_)
    yield from scalar_sizes(type_)


def _constraints(constraints: tuple[Constraint, ...], bindings: Mapping[str, Size]) -> tuple[Constraint, ...] | None:
    """Returns the constraints that still say something; None if one is false."""
    kept: list[Constraint] = []
    for constraint in constraints:
        predicate = substitute(constraint.predicate, bindings)
        if predicate is constraint.predicate or any(True for _ in free_vars(predicate)):
            kept.append(replace(constraint, predicate=predicate))
            continue
        try:
            if not holds(predicate, {}):
                return None
        except ZeroDivisionError:
            return None
    return tuple(kept)


def _alternative(each: Alternative, bindings: Mapping[str, Size]) -> Alternative:
    constraints = tuple(replace(c, predicate=substitute(c.predicate, bindings)) for c in each.constraints)
    return replace(each, constraints=constraints, buckets=tuple(_bucket(bucket, bindings) for bucket in each.buckets))


def _bucket(bucket: Bucket, bindings: Mapping[str, Size]) -> Bucket:
    position = bucket.position if isinstance(bucket.position, str) else substitute_size(bucket.position, bindings)
    pads = None if bucket.pads is None else tuple(_pad(pad, bindings) for pad in bucket.pads)
    return replace(bucket, position=position, pads=pads)


def _pad(pad: Pad, bindings: Mapping[str, Size]) -> Pad:
    if not isinstance(pad.fill, (Apply, Var)):
        return pad
    fill = substitute_size(pad.fill, bindings)
    return replace(pad, fill=fill if any(True for _ in free_vars(fill)) else evaluate(fill, {}))


__all__ = ["check_open", "instantiate"]
