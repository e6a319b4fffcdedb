"""Hand-built lowered signatures, so that the torch targets are tested without the passes before them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shapedsl.ir import (
    COMPARISONS,
    OPERATORS,
    And,
    AnyType,
    Apply,
    Attribute,
    Compare,
    Const,
    Constraint,
    Dim,
    Item,
    MappingType,
    Not,
    ObjectType,
    OptionalType,
    Or,
    Param,
    ParamKind,
    Path,
    Predicate,
    ScalarType,
    SequenceType,
    Signature,
    Size,
    Static,
    Step,
    TensorType,
    Type,
    Var,
    Variable,
    VariableKind,
)
from shapedsl.ir.expanded import Expanded, Leaf, Lowered, TorchVariable

_ = Static()


def size(value: int | str | Dim) -> Dim:
    """Returns ``3`` as a constant and ``"B"`` as a variable."""
    if isinstance(value, int):
        return Const(value)
    return Var(value) if isinstance(value, str) else value


def apply(name: str, *args: int | str | Size) -> Apply:
    """Returns ``apply("*", 2, "B")`` as ``2 * B``."""
    return Apply(OPERATORS[name], tuple(size(arg) for arg in args))  # type: ignore[misc]


def compare(left: int | str | Size, op: str, right: int | str | Size) -> Compare:
    """Returns ``compare("A", "<=", "B")`` as ``A <= B``."""
    return Compare(COMPARISONS[op], size(left), size(right))  # type: ignore[arg-type]


def either(*args: Predicate) -> Or:
    """Returns the disjunction of ``args``."""
    return Or(args)


def both(*args: Predicate) -> And:
    """Returns the conjunction of ``args``."""
    return And(args)


def negation(arg: Predicate) -> Not:
    """Returns ``not arg``."""
    return Not(arg)


def tensor(*dims: int | str | Dim) -> TensorType:
    """Returns ``Tensor[dims]``."""
    return TensorType(tuple(size(dim) for dim in dims))


def scalar(value: int | str | Size) -> ScalarType:
    """Returns ``Scalar[value]``."""
    return ScalarType(size(value))  # type: ignore[arg-type]


def sequence(*items: Type, kind: str = "tuple") -> SequenceType:
    """Returns ``(items)``."""
    return SequenceType(kind, items)


def mapping(entries: Mapping[str | int, Type]) -> MappingType:
    """Returns ``{key: type}``."""
    return MappingType(tuple(entries.items()))


def fields(**members: Type) -> ObjectType:
    """Returns ``object(member: type)``."""
    return ObjectType(tuple(members.items()))


def var(
    name: str,
    low: int | None = 0,
    high: int | None = None,
    *,
    hint: int | None = None,
    kind: VariableKind = VariableKind.DIM,
    meaning: Size | None = None,
) -> TorchVariable:
    """Returns a size; ``meaning`` is the variable of the same name unless given."""
    return TorchVariable(name, kind, low, high, hint, meaning or Var(name))


def integer(name: str, low: int | None = None, high: int | None = None) -> TorchVariable:
    """Returns a scalar."""
    return var(name, low, high, kind=VariableKind.INT)


def lower(
    params: Mapping[str, Type | tuple[Type, ParamKind]],
    variables: Iterable[TorchVariable] = (),
    assumptions: Iterable[Predicate] = (),
    *,
    definitions: Mapping[str, Size] | None = None,
) -> Lowered:
    """Returns a lowered signature whose spec is also its source: constraints are the ranges and ``assumptions``."""
    variables, assumptions = tuple(variables), tuple(assumptions)
    written = [
        Param(name, *(given if isinstance(given, tuple) else (given, ParamKind.POSITIONAL_OR_KEYWORD)))
        for name, given in params.items()
    ]
    leaves = tuple(leaf for param in written for leaf in _leaves(param.type, param.name, ()))
    constraints = [
        Constraint(compare(variable.meaning, op, bound))
        for variable in variables
        for op, bound in ((">=", variable.low), ("<=", variable.high))
        if bound is not None
    ]
    constraints += [Constraint(predicate) for predicate in assumptions]
    signature = Signature(
        "f",
        tuple(written),
        variables=tuple(Variable(variable.name, variable.kind) for variable in sorted(variables, key=lambda v: v.name)),
        constraints=tuple(constraints),
    )
    expanded = Expanded(signature, leaves, tuple(param.name for param in written))
    known = definitions if definitions is not None else {variable.name: Var(variable.name) for variable in variables}
    return Lowered(expanded, leaves, variables, assumptions, tuple(sorted(known.items())))


def _leaves(type_: Type, root: str, steps: tuple[Step, ...]) -> Iterable[Leaf]:
    match type_:
        case TensorType(dims=dims) if dims is not None:
            yield Leaf(Path(root, steps), False, dims)
        case ScalarType(size=value) if value is not None:
            yield Leaf(Path(root, steps), True, (value,))
        case SequenceType(items=items):
            for at, item in enumerate(items):
                yield from _leaves(item, root, (*steps, Item(at)))
        case MappingType(entries=entries):
            for key, entry in entries:
                yield from _leaves(entry, root, (*steps, Item(key)))
        case ObjectType(fields=members):
            for name, member in members:
                yield from _leaves(member, root, (*steps, Attribute(name)))
        case _:
            pass


__all__ = [
    "AnyType",
    "OptionalType",
    "apply",
    "both",
    "compare",
    "either",
    "fields",
    "integer",
    "lower",
    "mapping",
    "negation",
    "scalar",
    "sequence",
    "size",
    "tensor",
    "var",
]
