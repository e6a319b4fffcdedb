"""Write a lowered signature as torch's ShapesSpec. Nothing is decided here, and nothing is dropped.

Choosing bases, inverting, splitting and adding consequences are passes of `normalize`; what they
leave is mapped one to one. The one thing that is checked: torch folds some comparisons of symbolic
ints to a constant while they are built, and a spec with a false one is accepted silently.

Before::

    x: [B, 3, _], n: N       B in [0, 1024] hint 8, N: int
    N == 2 * B

After::

    ShapesSpec({"x": TensorSpec([B, 3, None]), "n": N}, assumptions=[N == 2 * B])
    # B = ShapeVar("B", min=0, max=1024, optimization_hint=8), N = IntVar("N")
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..diagnostics import Diagnostic, Severity, ShapeError
from ..ir import (
    And,
    Apply,
    Attribute,
    Compare,
    Const,
    Item,
    MappingType,
    Not,
    ObjectType,
    Operator,
    Or,
    ParamKind,
    Path,
    Predicate,
    ScalarType,
    SequenceType,
    Size,
    Step,
    TensorType,
    Type,
    Var,
    VariableKind,
    Variadic,
)
from ..ir.expanded import Leaf, Lowered, TorchVariable
from ..ir.operators import comparison_named
from ..ir.write import write_predicate

if TYPE_CHECKING:
    from torch.fx.experimental.dynamic_spec import ShapesSpec

ARGS = "*args"
KWARGS = "**kwargs"


def write(lowered: Lowered) -> ShapesSpec:
    """Returns ``lowered`` as a ShapesSpec of fresh variables.

    Args:
        lowered: Each dim is a variable, a constant or static.

    Raises:
        ShapeError: ``contradiction``: torch folds an assumption to false. Without this check the
            spec would be accepted and the assumption forgotten.
    """
    from torch.fx.experimental.dynamic_spec import ParamsSpec, ShapesSpec

    params, assumptions = parts(lowered)
    return ShapesSpec(ParamsSpec(params), assumptions=assumptions)


def parts(lowered: Lowered) -> tuple[dict[str, Any], list[Any]]:
    """Returns what `write` makes a ShapesSpec of: the parameters' specs, and the assumptions.

    Raises:
        ShapeError: See `write`.
    """
    variables = {variable.name: _variable(variable) for variable in lowered.variables}
    leaves = {leaf.path: leaf for leaf in lowered.leaves}
    params: dict[str, Any] = {}
    for param in lowered.expanded.signature.params:
        match param.kind, param.type:
            case ParamKind.VAR_POSITIONAL, SequenceType() as type_:
                if entries := _entries(type_, param.name, (), leaves, variables):
                    params[ARGS] = entries  # torch wants the bare list here, not a SeqSpec
            case ParamKind.VAR_KEYWORD, MappingType() as type_:
                if named := _named(type_, param.name, (), leaves, variables):
                    params[KWARGS] = named
            case _, type_:
                if (spec := _type(type_, param.name, (), leaves, variables)) is not None:
                    params[param.name] = spec
    assumptions = [symbolic for each in lowered.assumptions if (symbolic := _assumption(each, variables)) is not None]
    return params, assumptions


def _variable(variable: TorchVariable) -> Any:
    from torch.fx.experimental.dynamic_spec import IntVar, ShapeVar

    if variable.kind is VariableKind.INT:
        return IntVar(variable.name, min=variable.low, max=variable.high, optimization_hint=variable.hint)
    low = variable.low or 0
    return ShapeVar(variable.name, min=low, max=variable.high, optimization_hint=variable.hint)


def _type(
    type_: Type, root: str, steps: tuple[Step, ...], leaves: Mapping[Path, Leaf], variables: Mapping[str, Any]
) -> Any:
    """Returns the spec of one value, or None where all of it is static."""
    from torch.fx.experimental.dynamic_spec import DictSpec, ObjectSpec, SeqSpec, TensorSpec

    match type_:
        case TensorType() | ScalarType():
            leaf = leaves.get(Path(root, steps))
            if leaf is None:
                return None
            slots = [_slot(dim, variables) for dim in leaf.dims]
            return slots[0] if leaf.scalar else TensorSpec(slots)
        case SequenceType():
            entries = _entries(type_, root, steps, leaves, variables)
            return SeqSpec(entries) if entries else None
        case MappingType():
            named = _named(type_, root, steps, leaves, variables)
            return DictSpec(named) if named else None
        case ObjectType(fields=fields):
            members = {name: _type(item, root, (*steps, Attribute(name)), leaves, variables) for name, item in fields}
            members = {name: spec for name, spec in members.items() if spec is not None}
            return ObjectSpec(members) if members else None
        case _:
            return None  # `_`, None: static


def _entries(
    type_: SequenceType, root: str, steps: tuple[Step, ...], leaves: Mapping[Path, Leaf], variables: Mapping[str, Any]
) -> list[Any]:
    """Returns the items' specs; empty where all of them are static."""
    entries = [_type(item, root, (*steps, Item(at)), leaves, variables) for at, item in enumerate(type_.items)]
    return entries if any(entry is not None for entry in entries) else []


def _named(
    type_: MappingType, root: str, steps: tuple[Step, ...], leaves: Mapping[Path, Leaf], variables: Mapping[str, Any]
) -> dict[Any, Any]:
    """Returns the entries' specs without the static ones."""
    named = {key: _type(item, root, (*steps, Item(key)), leaves, variables) for key, item in type_.entries}
    return {key: spec for key, spec in named.items() if spec is not None}


def _slot(dim: object, variables: Mapping[str, Any]) -> Any:
    match dim:
        case Var(name=name):
            return variables[name]
        case Const(value=value):
            return value
        case _:
            return None  # torch's STATIC


def _assumption(predicate: Predicate, variables: Mapping[str, Any]) -> Any:
    """Returns the SymBool, or None if torch itself knows it to be true."""
    symbolic = _known(_predicate(predicate, variables))
    if symbolic is True:
        return None
    if symbolic is False:
        raise ShapeError([_false(predicate)])
    return symbolic


def _false(predicate: Predicate) -> Diagnostic:
    text = write_predicate(predicate)
    return Diagnostic("contradiction", Severity.ERROR, f"no sizes satisfy `{text}`", core=(text,))


def _known(symbolic: Any) -> Any:
    """Returns the bool that a SymBool was folded to, if it was: `A == A + 1` stays a SymBool of a constant."""
    if isinstance(symbolic, bool):
        return symbolic
    folded = symbolic.node.maybe_as_bool()
    return symbolic if folded is None else folded


def _predicate(predicate: Predicate, variables: Mapping[str, Any]) -> Any:
    match predicate:
        case Compare(op=op, left=left, right=right):
            return op.python(_size(left, variables), _size(right, variables))
        case And(args=args):
            return _join(args, True, _both, variables)
        case Or(args=args):
            return _join(args, False, _either, variables)
        case Not(arg=Compare(op=op) as arg):
            return _negated(arg, variables)
        case Not(arg=arg):
            symbolic = _known(_predicate(arg, variables))
            return (not symbolic) if isinstance(symbolic, bool) else _sym_not(symbolic)


def _negated(compare: Compare, variables: Mapping[str, Any]) -> Any:
    """Returns the negation of ``compare``, as the opposite comparison: torch reasons better about `!=` than `~ ==`."""
    negated = comparison_named(compare.op.negated)
    return negated.python(_size(compare.left, variables), _size(compare.right, variables))


def _sym_not(symbolic: Any) -> Any:
    import torch

    return torch.sym_not(symbolic)


def _both(left: Any, right: Any) -> Any:
    return left & right


def _either(left: Any, right: Any) -> Any:
    return left | right


def _join(
    args: tuple[Predicate, ...], neutral: bool, operation: Callable[[Any, Any], Any], variables: Mapping[str, Any]
) -> Any:
    """Returns ``args`` joined; Python bools are folded, since torch refuses to mix them with SymBools."""
    joined: Any = neutral
    for arg in args:
        symbolic = _known(_predicate(arg, variables))
        if isinstance(symbolic, bool):
            if symbolic is not neutral:
                return symbolic
        else:
            joined = symbolic if isinstance(joined, bool) else operation(joined, symbolic)
    return joined


def _size(size: Size, variables: Mapping[str, Any]) -> Any:
    match size:
        case Const(value=value):
            return value
        case Var(name=name):
            return variables[name]
        case Apply(op=op, args=args):
            return _apply(op, [_size(arg, variables) for arg in args])
        case Variadic():
            raise TypeError(f"not expanded: {size!r}")


def _apply(op: Operator, args: list[Any]) -> Any:
    if all(isinstance(arg, int) for arg in args):
        return op.python(*args)
    if op.name not in ("min", "max"):
        return op.python(*args)  # Python's own operators are torch's on symbolic ints
    import torch

    pairwise: Callable[[Any, Any], Any] = torch.sym_min if op.name == "min" else torch.sym_max
    return functools.reduce(pairwise, args)
