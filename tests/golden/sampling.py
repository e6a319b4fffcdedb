"""Whether two signatures accept the same sizes, by trying sizes. Written without the package's own evaluator."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterable, Iterator, Mapping

from shapedsl.ir import (
    And,
    Apply,
    Compare,
    Const,
    Dim,
    Not,
    Or,
    Predicate,
    ScalarType,
    Signature,
    TensorType,
    Type,
    Var,
    VariableKind,
    Variadic,
)
from shapedsl.ir.walk import free_vars, subtypes

Sizes = Mapping[str, "int | tuple[int, ...]"]


def values(size: Dim, sizes: Sizes) -> tuple[int, ...]:
    """Returns the value of ``size``: one int, or those of a variadic."""
    match size:
        case Const(value=value):
            return (value,)
        case Var(name=name) | Variadic(name=name):
            found = sizes[name]
            return found if isinstance(found, tuple) else (found,)
        case Apply(op=op, args=args):
            return (op.python(*itertools.chain.from_iterable(values(arg, sizes) for arg in args)),)
    raise TypeError(f"not a size: {size!r}")


def truth(predicate: Predicate, sizes: Sizes) -> bool:
    """Returns whether ``predicate`` holds; a comparison of a variadic, whether each of its sizes does."""
    match predicate:
        case Compare(op=op, left=left, right=right):
            lefts, rights = values(left, sizes), values(right, sizes)
            return all(op.python(a, b) for a in lefts for b in rights)
        case And(args=args):
            return all(truth(arg, sizes) for arg in args)
        case Or(args=args):
            return any(truth(arg, sizes) for arg in args)
        case Not(arg=arg):
            return not truth(arg, sizes)


def accepts(signature: Signature, sizes: Sizes) -> bool:
    """Returns whether every constraint holds, and no tensor dim is negative. Where a divisor is 0 none does."""
    try:
        held = all(truth(constraint.predicate, sizes) for constraint in signature.constraints)
        return held and all(value >= 0 for dim in _dims(signature) for value in values(dim, sizes))
    except ZeroDivisionError:
        return False


def _types(signature: Signature) -> Iterator[Type]:
    todo = [param.type for param in reversed(signature.params)]
    while todo:
        type_ = todo.pop()
        yield type_
        todo.extend(reversed(list(subtypes(type_))))


def _dims(signature: Signature) -> Iterator[Dim]:
    for type_ in _types(signature):
        if isinstance(type_, TensorType):
            yield from (dim for dim in type_.dims or () if isinstance(dim, (Const, Var, Apply, Variadic)))


def _sizes(signature: Signature) -> Iterator[Dim]:
    """Yields the dims, and the sizes of scalars, in order."""
    for type_ in _types(signature):
        if isinstance(type_, TensorType):
            yield from (dim for dim in type_.dims or () if isinstance(dim, (Const, Var, Apply, Variadic)))
        elif isinstance(type_, ScalarType) and type_.size is not None:
            yield type_.size


def _numbers(signatures: Iterable[Signature]) -> Iterator[int]:
    """Yields each number that the constraints and dims name."""
    todo: list[object] = []
    for signature in signatures:
        todo += [constraint.predicate for constraint in signature.constraints]
        todo += list(_sizes(signature))
    while todo:
        match todo.pop():
            case Const(value=value):
                yield value
            case Apply(args=args) | And(args=args) | Or(args=args):
                todo.extend(args)
            case Compare(left=left, right=right):
                todo += [left, right]
            case Not(arg=arg):
                todo.append(arg)


def samples(*signatures: Signature, count: int = 600, seed: int = 0) -> Iterator[Sizes]:
    """Yields sizes for the variables of ``signatures``: small ones, and ones near the numbers that they name.

    Most satisfy what is said of each variable alone, or nothing would be left to compare.
    """
    rng = random.Random(seed)
    variables = {v.name: v for signature in signatures for v in signature.variables}
    ranks = {name: rank for signature in signatures for name, rank in signature.ranks}
    near = sorted({n + d for n in _numbers(signatures) for d in (-1, 0, 1) if abs(n) < 2**40} | set(range(9)))
    pool = near + [n * m for n in near for m in (2, 3) if abs(n) < 4096]

    alone: dict[str, list[Predicate]] = {name: [] for name in variables}
    for constraint in signatures[0].constraints:
        names = set(free_vars(constraint.predicate))
        if len(names) == 1:
            alone[names.pop()].append(constraint.predicate)

    def least(name: str) -> int:
        return 0 if variables[name].kind is not VariableKind.INT else -(2**62)

    def pick(name: str) -> int:
        lowest = least(name)
        choice = 0
        for _ in range(rng.choice((1, 40, 40, 40))):
            choice = rng.choice(pool) if rng.random() < 0.7 else rng.randrange(-4, 70)
            choice = choice if choice >= lowest else abs(choice)
            with contextlib.suppress(ZeroDivisionError, OverflowError):
                if all(truth(predicate, {name: choice}) for predicate in alone[name]):
                    break
        return choice

    for _ in range(count):
        sizes: dict[str, int | tuple[int, ...]] = {}
        for name, variable in variables.items():
            if variable.variadic:
                sizes[name] = tuple(pick(name) for _ in range(ranks.get(name, rng.randrange(3))))
            else:
                sizes[name] = pick(name)
        if rng.random() < 0.3 and len(sizes) > 1:  # equal sizes are rare by chance, and equalities are not
            plain = [name for name, value in sizes.items() if isinstance(value, int)]
            if len(plain) > 1:
                a, b = rng.sample(plain, 2)
                value = sizes[b]
                if isinstance(value, int) and value >= least(a):  # an int may be negative, a dim may not
                    sizes[a] = value
        yield sizes


def difference(before: Signature, after: Signature, *, count: int = 600) -> str:
    """Returns how the two differ on some sizes, or an empty string.

    They may differ in variables that one of them does not use. Compared are acceptance, and the dims of
    the parameters, in order.
    """
    for sizes in samples(before, after, count=count):
        first, second = accepts(before, sizes), accepts(after, sizes)
        if first != second:
            verb = "rejects" if first else "accepts"
            return f"the second {verb} {sizes}, the first does not"
        if first:
            left = [values(dim, sizes) for dim in _sizes(before)]
            right = [values(dim, sizes) for dim in _sizes(after)]
            if left != right:
                return f"at {sizes} the sizes are {left} and {right}"
    return ""
