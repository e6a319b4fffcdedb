"""How far a constraint reaches: over how many parts of a call, and over how many dims of a variadic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir import Apply, Dim, Predicate, Signature, Type
from ...ir.operators import PROD
from ...ir.walk import children, free_vars, scalar_sizes, tensor_dims
from ..components import components


def multiplies(signature: Signature) -> bool:
    """Whether `prod` stands over a variadic."""
    starred = {variable.name for variable in signature.variables if variable.variadic}
    nodes = [*(c.predicate for c in signature.constraints), *(d for p in signature.params for d in _sizes(p.type))]
    return any(name in starred for node in nodes for name in _products(node))


def _sizes(type_: Type) -> Iterator[Dim]:
    yield from tensor_dims(type_)
    yield from scalar_sizes(type_)


def _products(node: Dim | Predicate) -> Iterator[str]:
    """Yields the names that `prod` multiplies."""
    gathers = isinstance(node, Apply) and node.op is PROD
    for child in children(node):
        yield from free_vars(child) if gathers else _products(child)


def parts_of_a_question(signatures: Sequence[Signature]) -> int:
    """Returns how many parts of a call one question can speak of: the one it is asked of, and one a variable.

    A variable that only a system of dims gives (``A + B``, ``A - B``) needs all dims of the system.
    """
    most = 0
    for signature in signatures:
        dims = [dim for param in signature.params for dim in _sizes(param.type)]
        joint = [dim for dim in dims if len(set(free_vars(dim))) > 1]
        systems = {name: members for members in components(joint) for at in members for name in free_vars(joint[at])}
        for node in (*dims, *(constraint.predicate for constraint in signature.constraints)):
            names = set(free_vars(node))
            together = {id(systems[name]): len(systems[name]) + 1 for name in names if name in systems}
            most = max(most, sum(together.values()) + sum(name not in systems for name in names))
    return 1 + most
