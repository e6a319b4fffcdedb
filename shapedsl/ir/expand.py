"""Fix what a signature leaves open about structure: ranks, lengths, None-ness, omitted defaults.

Everything behind it (checks, lowering, messages) works on leaves with known paths and dims, so the
example is looked at once, here, and only for structure: sizes are read by `runtime`.

Before, with ``x`` of rank 3 and two caches::

    def f(x: Tensor[*batch, D], kvs: [Tensor[?K], ...], mask: Tensor[D] | None):
        where prod(*batch) <= 64

After::

    def f(x: Tensor[batch[0], batch[1], D], kvs: [Tensor[?K@kvs[0]], Tensor[?K@kvs[1]]], mask: None):
        where prod(batch[0], batch[1]) <= 64

A constraint that speaks of a variable which nothing in this structure binds is left out: there is
no size to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ..diagnostics import Report, Span
from .constraints import Constraint, Origin
from .dims import Compare, Const, Dim, Var, Variadic
from .expanded import Expanded
from .operators import COMPARISONS
from .paths import Path
from .specs import Param, Signature, Variable, VariableKind
from .structure import UNKNOWN, Structure
from .types import MappingType, ObjectType, OptionalType, SequenceType, TensorType, Type
from .variadic import expand_alternative, expand_constraint, splice
from .walk import free_vars, map_dims


def expand(
    signature: Signature,
    arguments: Mapping[str, object] | None,
    *,
    is_tensor: Callable[[object], bool],
    report: Report,
) -> Expanded | None:
    """Returns ``signature`` at the structure of ``arguments``.

    Args:
        signature: Resolved.
        arguments: Parameter name → value, as ``inspect.BoundArguments.arguments`` has them (``*args``
            a tuple, ``**kwargs`` a dict); an omitted default is missing. None without an example:
            then every parameter counts as passed and ``T | None`` as T.
        is_tensor: Whether a value is a tensor; a tensor has ``.shape``.
        report: Receives ``rank-mismatch``, ``unknown-rank``, ``unknown-length``, ``type-mismatch``,
            and ``shape-violation`` where lengths disagree.

    Returns:
        None if an error was reported.
    """
    found = Structure(signature, is_tensor, report, example=arguments is not None)
    errors = len(report.errors)
    params: list[Param] = []
    for param in signature.params:
        if arguments is not None and param.name not in arguments:
            found.key.append(("omitted", param.name))
            continue
        value = UNKNOWN if arguments is None else arguments[param.name]
        params.append(_typed(param, found.visit(param.type, value, Path(param.name), "")))
    if len(report.errors) > errors:
        return None

    lengths = {name: n for name, (n, _) in found.ranks.items()}

    def known(dim: Dim) -> Dim:
        return found.spliced(dim, lengths)

    params = [_typed(param, map_dims(param.type, known)) for param in params]
    leaves = tuple(replace(leaf, dims=tuple(known(dim) for dim in leaf.dims)) for leaf in found.leaves)
    if len(report.errors) > errors:
        return None
    bound = {name for leaf in leaves for dim in leaf.dims for name in free_vars(dim)} | found.lengths.keys()
    constraints: dict[Constraint, Constraint] = {}
    for constraint in signature.constraints:
        for each in expand_constraint(constraint, lengths):
            if bound.issuperset(free_vars(each.predicate)):
                constraints.setdefault(each, each)
    variables = tuple(_variables(signature, lengths, found.fresh, bound))
    # a size is never negative, although no dim or declaration says so where it stands in `Tensor[S + 2]` alone
    sizes = [_nonnegative(v.name, v.span) for v in variables if v.kind is not VariableKind.INT]
    for each in sizes:
        constraints.setdefault(each, each)
    return Expanded(
        replace(
            signature,
            params=tuple(params),
            returns=None if signature.returns is None else _returns(signature.returns, lengths),
            variables=variables,
            constraints=tuple(constraints.values()),
            alternatives=tuple(expand_alternative(each, lengths) for each in signature.alternatives),
            ranks=(),
        ),
        leaves,
        tuple(param.name for param in params),
        tuple(found.key),
        tuple(sorted((name, n) for name, (n, _) in found.lengths.items())),
        tuple(sorted(lengths.items())),
    )


def _typed(param: Param, type_: Type) -> Param:
    return param if type_ is param.type else replace(param, type=type_)


def _nonnegative(name: str, span: Span | None) -> Constraint:
    return Constraint(Compare(COMPARISONS[">="], Var(name, span), Const(0)), None, Origin.DIM, f"{name} >= 0", span)


def _variables(
    signature: Signature, lengths: Mapping[str, int], fresh: Mapping[str, Span | None], bound: set[str]
) -> Iterator[Variable]:
    """Yields the variables that this structure binds, sorted by name."""
    made: dict[str, Variable] = {}
    for variable in signature.variables:
        if variable.variadic:
            for axis in range(lengths.get(variable.name, 0)):
                name = f"{variable.name}[{axis}]"
                if name in bound:  # a rank may be fixed of what only an empty list would hold
                    made[name] = replace(variable, name=name, variadic=False)
        elif variable.name in bound:
            made[variable.name] = variable
    for name, span in fresh.items():
        made[name] = Variable(name, VariableKind.DIM, span=span)
    for name in sorted(made):
        yield made[name]


def _returns(type_: Type, lengths: Mapping[str, int]) -> Type:
    """Returns the claimed type with the variadics of known length written out; the rest stays as it is."""
    if isinstance(type_, TensorType) and type_.dims is not None:
        dims: list[Dim] = []
        for dim in type_.dims:
            if isinstance(dim, Variadic) and dim.name in lengths:
                dims += [Var(f"{dim.name}[{axis}]", dim.span) for axis in range(lengths[dim.name])]
            else:
                dims.append(splice(dim, lengths))
        return replace(type_, dims=tuple(dims))
    match type_:
        case SequenceType(items=items):
            return replace(type_, items=tuple(_returns(item, lengths) for item in items))
        case MappingType(entries=entries):
            return replace(type_, entries=tuple((key, _returns(entry, lengths)) for key, entry in entries))
        case ObjectType(fields=fields):
            return replace(type_, fields=tuple((name, _returns(inner, lengths)) for name, inner in fields))
        case OptionalType(inner=inner):
            return replace(type_, inner=_returns(inner, lengths))
        case _:
            return type_
