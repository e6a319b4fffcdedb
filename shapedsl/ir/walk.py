"""Walking sizes, predicates and types: children, rebuilding, free variables, substitution, evaluation."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from .dims import And, Apply, Compare, Const, Dim, Not, Or, Predicate, Size, Var, Variadic
from .operators import COMPARISONS
from .types import MappingType, ObjectType, OptionalType, ScalarType, SequenceType, TensorType, Type


def free_vars(node: Dim | Predicate) -> Iterator[str]:
    """Returns the name of each variable in ``node``, left to right, once per use; of a variadic, its bare name."""
    found: list[str] = []
    _gather(node, found)
    return iter(found)


def _gather(node: Dim | Predicate, found: list[str]) -> None:
    # nothing is called more often, and a generator of generators takes three times as long
    if isinstance(node, (Var, Variadic)):
        found.append(node.name)
    elif isinstance(node, (Apply, And, Or)):
        for arg in node.args:
            _gather(arg, found)
    elif isinstance(node, Compare):
        _gather(node.left, found)
        _gather(node.right, found)
    elif isinstance(node, Not):
        _gather(node.arg, found)


def children(node: Dim | Predicate) -> tuple[Dim | Predicate, ...]:
    """Returns the sizes and predicates directly inside ``node``, left to right."""
    match node:
        case Apply(args=args) | And(args=args) | Or(args=args):
            return args
        case Compare(left=left, right=right):
            return left, right
        case Not(arg=arg):
            return (arg,)
        case _:
            return ()


def nodes(node: Dim | Predicate) -> Iterator[Dim | Predicate]:
    """Yields ``node`` and all sizes and predicates inside it, each before its own parts."""
    yield node
    for child in children(node):
        yield from nodes(child)


def same(before: Sequence[object], after: Sequence[object]) -> bool:
    """Returns whether both hold the very same nodes: then the node around them needs no copy."""
    return len(before) == len(after) and all(map(operator.is_, before, after))


def map_sizes(node: Predicate, function: Callable[[Size], Size]) -> Predicate:
    """Returns ``node`` with ``function`` applied to each side of each comparison."""
    match node:
        case Compare(op=op, left=left, right=right):
            new_left, new_right = function(left), function(right)
            return node if new_left is left and new_right is right else Compare(op, new_left, new_right, node.span)
        case And(args=args) | Or(args=args):
            parts = tuple(map_sizes(arg, function) for arg in args)
            return node if same(args, parts) else replace(node, args=parts)
        case Not(arg=arg):
            return replace(node, arg=map_sizes(arg, function))


def substitute_size(size: Size, bindings: Mapping[str, Size]) -> Size:
    """Returns ``size`` with each `Var` in ``bindings`` replaced. Spans of the replaced use are kept."""
    match size:
        case Var(name=name) if name in bindings:
            return replace(bindings[name], span=size.span)
        case Apply(op=op, args=args):
            parts = tuple(substitute_size(arg, bindings) for arg in args)
            return size if same(args, parts) else Apply(op, parts, size.span)
        case _:
            return size


def substitute(node: Predicate, bindings: Mapping[str, Size]) -> Predicate:
    """Returns ``node`` with each `Var` in ``bindings`` replaced."""
    return map_sizes(node, lambda size: substitute_size(size, bindings))


def evaluate(size: Size, sizes: Mapping[str, int]) -> int:
    """Returns the value of ``size``.

    Args:
        size: Without `Variadic`.
        sizes: A value for each of its variables.

    Raises:
        KeyError: A variable has no value.
        ZeroDivisionError: A divisor is 0.
    """
    match size:
        case Const(value=value):
            return value
        case Var(name=name):
            return sizes[name]
        case Apply(op=op, args=args):
            return op.python(*[evaluate(arg, sizes) for arg in args])
        case Variadic():
            raise TypeError(f"a variadic has no one value: {size!r}")


def holds(node: Predicate, sizes: Mapping[str, int]) -> bool:
    """Returns whether ``node`` is true; ``and`` and ``or`` stop where Python's would.

    Raises:
        KeyError: A variable has no value.
        ZeroDivisionError: A divisor is 0 where it is evaluated.
    """
    match node:
        case Compare(op=op, left=left, right=right):
            return op.python(evaluate(left, sizes), evaluate(right, sizes))
        case And(args=args):
            return all(holds(arg, sizes) for arg in args)
        case Or(args=args):
            return any(holds(arg, sizes) for arg in args)
        case Not(arg=arg):
            return not holds(arg, sizes)


def negated(predicate: Predicate) -> Predicate:
    """Returns the negation of ``predicate``; of a comparison the opposite comparison."""
    match predicate:
        case Compare(op=op):
            return replace(predicate, op=COMPARISONS[op.negated])
        case Not(arg=arg):
            return arg
        case _:
            return Not(predicate)


def subtypes(type_: Type) -> Iterator[Type]:
    """Yields the types directly inside ``type_``."""
    match type_:
        case SequenceType(items=items):
            yield from items
        case MappingType(entries=entries):
            for _, entry in entries:
                yield entry
        case ObjectType(fields=fields):
            for _, field in fields:
                yield field
        case OptionalType(inner=inner):
            yield inner
        case _:
            pass


def map_dims(type_: Type, function: Callable[[Dim], Dim]) -> Type:
    """Returns ``type_`` with ``function`` applied to each tensor dim, scalar size and sequence length.

    ``function`` maps a size to a size.
    """
    match type_:
        case TensorType(dims=dims) if dims is not None:
            mapped = tuple(map(function, dims))
            return type_ if same(dims, mapped) else replace(type_, dims=mapped)
        case ScalarType(size=size) if size is not None:
            return replace(type_, size=cast(Size, function(size)))
        case SequenceType(items=items, times=times):
            inner = tuple(map_dims(item, function) for item in items)
            count = None if times is None else cast(Size, function(times))
            return type_ if same(items, inner) and count is times else replace(type_, items=inner, times=count)
        case MappingType(entries=entries):
            return replace(type_, entries=tuple((key, map_dims(entry, function)) for key, entry in entries))
        case ObjectType(fields=fields):
            return replace(type_, fields=tuple((name, map_dims(field, function)) for name, field in fields))
        case OptionalType(inner=inner):
            return replace(type_, inner=map_dims(inner, function))
        case _:
            return type_


def tensor_dims(type_: Type) -> Iterator[Dim]:
    """Yields every dim of every tensor inside ``type_``, in order."""
    if isinstance(type_, TensorType):
        yield from type_.dims or ()
    for inner in subtypes(type_):
        yield from tensor_dims(inner)


def scalar_sizes(type_: Type) -> Iterator[Size]:
    """Yields every scalar's size and every sequence's length inside ``type_``, in order."""
    if isinstance(type_, ScalarType) and type_.size is not None:
        yield type_.size
    if isinstance(type_, SequenceType) and type_.times is not None:
        yield type_.times
    for inner in subtypes(type_):
        yield from scalar_sizes(inner)
