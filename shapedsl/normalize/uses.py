"""Where names stand in a signature, with spans; and whether two of them look like one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from ..diagnostics import Span
from ..ir import (
    Alternative,
    And,
    Apply,
    Compare,
    Const,
    Constraint,
    Dim,
    MappingType,
    Not,
    ObjectType,
    Or,
    Origin,
    Predicate,
    Rest,
    ScalarType,
    SequenceType,
    Signature,
    Size,
    TensorType,
    Type,
    Var,
    Variadic,
)
from ..ir.walk import nodes, scalar_sizes, subtypes, tensor_dims


def names_in(node: Dim | Predicate, span: Span | None = None) -> Iterator[tuple[str, Span | None]]:
    """Yields each variable of ``node`` with its own span, or the nearest one around it; once per use."""
    match node:
        case Var(name=name) | Variadic(name=name):
            yield name, node.span or span
        case Apply(args=args) | And(args=args) | Or(args=args):
            for arg in args:
                yield from names_in(arg, node.span or span)
        case Compare(left=left, right=right):
            yield from names_in(left, node.span or span)
            yield from names_in(right, node.span or span)
        case Not(arg=arg):
            yield from names_in(arg, node.span or span)
        case _:
            pass


def sizes_of(type_: Type) -> Iterator[Dim]:
    """Yields every dim, scalar and length inside ``type_``."""
    yield from tensor_dims(type_)
    yield from scalar_sizes(type_)


def sure_types(type_: Type) -> Iterator[Type]:
    """Yields the tensors and scalars of ``type_`` that every call has: none that may be None, or repeated no times."""
    match type_:
        case TensorType() | ScalarType():
            yield type_
        case SequenceType(times=None, rest=rest) if rest is not Rest.REPEAT:
            for item in type_.items:
                yield from sure_types(item)
        case MappingType() | ObjectType():
            for inner in subtypes(type_):
                yield from sure_types(inner)
        case _:
            pass


def parameter_names(signature: Signature) -> Iterator[tuple[str, Span | None]]:
    """Yields the names that parameters hold."""
    for param in signature.params:
        for size in sizes_of(param.type):
            yield from names_in(size, param.span)


def return_names(signature: Signature) -> Iterator[tuple[str, Span | None]]:
    """Yields the names in the return type."""
    if signature.returns is not None:
        for size in sizes_of(signature.returns):
            yield from names_in(size)


def where_names(signature: Signature) -> Iterator[tuple[str, Span | None]]:
    """Yields the names in ``where`` clauses."""
    for constraint in signature.constraints:
        if constraint.origin is Origin.WHERE:
            yield from names_in(constraint.predicate, constraint.span)


def value_names(signature: Signature) -> Iterator[tuple[str, Span | None]]:
    """Yields the names in ``values`` clauses."""
    for value in signature.values:
        yield from names_in(value.low, value.span)
        yield from names_in(value.high, value.span)


def case_names(alternative: Alternative) -> Iterator[tuple[str, Span | None]]:
    """Yields the names in one alternative; a padded size ``T_pad`` is its own size ``T``."""
    padded = {f"{bucket.variable}_pad": bucket.variable for bucket in alternative.buckets}
    for constraint in alternative.constraints:
        for name, span in names_in(constraint.predicate, constraint.span or alternative.span):
            yield padded.get(name, name), span
    for name, _ in alternative.hints:
        yield name, alternative.span
    for bucket in alternative.buckets:
        yield bucket.variable, bucket.span
        for fill in (bucket.position, *(pad.fill for pad in bucket.pads or ())):
            if isinstance(fill, (Const, Var, Apply, Variadic)):
                for name, span in names_in(fill, bucket.span):
                    yield padded.get(name, name), span


def all_names(signature: Signature) -> Iterator[tuple[str, Span | None]]:
    """Yields every use of a name, in the order of the text, declarations left out."""
    yield from parameter_names(signature)
    yield from return_names(signature)
    yield from where_names(signature)
    yield from value_names(signature)
    for alternative in signature.alternatives:
        yield from case_names(alternative)


def constraint_sizes(constraint: Constraint) -> Iterator[Size]:
    """Yields both sides of each comparison of ``constraint``."""
    for node in nodes(constraint.predicate):
        if isinstance(node, Compare):
            yield node.left
            yield node.right


# ------------------------------------------------------------------------------------- slips


def alike(left: str, right: str) -> bool:
    """Returns whether two different names of four or more letters are one edit apart, or differ in case only.

    ``state_h_0`` and ``state_c_0`` are not: a word of one letter is meant.
    """
    if left == right or min(len(left), len(right)) < 4 or _without_digits(left) == _without_digits(right):
        return False
    words = [(a, b) for a, b in zip_longest(left.split("_"), right.split("_"), fillvalue="") if a != b]
    if len(words) == 1 and all(len(word) == 1 for word in words[0]) and "_" in left:
        return False
    return left.lower() == right.lower() or _one_edit(left, right)


def _without_digits(name: str) -> str:
    return "".join(character for character in name if not character.isdigit())


def _one_edit(left: str, right: str) -> bool:
    """Returns whether one insertion, deletion, replacement, or exchange of neighbors makes one of the other."""
    if len(left) > len(right):
        left, right = right, left
    if len(right) - len(left) > 1:
        return False
    start = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), len(left))
    if len(left) < len(right):
        return left[start:] == right[start + 1 :]
    if left[start + 1 :] == right[start + 1 :]:
        return True
    return left[start : start + 2] == right[start : start + 2][::-1] and left[start + 2 :] == right[start + 2 :]
