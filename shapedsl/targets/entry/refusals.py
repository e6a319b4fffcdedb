"""What torch refuses at a call that satisfies its spec, for reasons of its own.

It tells of them as internal errors that name neither a parameter nor a cure::

    FailOnRecompileLimitHit: Hard failure due to fullgraph=True
    InternalTorchDynamoError: … shapes_spec walk: while processing source 'p.a', at 'p' the spec is SeqSpec

- Whatever is not declared dynamic costs a graph for each of its values, and their number is limited.
- torch binds the items of a tuple, list or dict where the program reads them by index or key. A
  namedtuple it reads by field, a UserDict or a MappingProxyType by what it wraps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from torch._dynamo.exc import FailOnRecompileLimitHit

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import AnyType, ScalarType, Static, TensorType, Type
from ...ir.expanded import Lowered
from ...ir.walk import subtypes
from ...runtime.parameters import Parameter

_WALK: Final = re.compile(
    r"shapes_spec walk: while processing source .+, at (?P<at>'[^\n]+'|\"[^\n]+\") the spec is (?P<kind>SeqSpec|DictSpec)"
)
_MOST_NAMED: Final = 4


def refusal(
    error: Exception, lowered: Lowered, parameters: Sequence[Parameter], present: Iterable[str], limit: int
) -> ShapeError | None:
    """Returns what to raise from ``error``, or None if torch did not refuse the call.

    Args:
        error: What a compiled call raised.
        lowered: The spec it was compiled under.
        parameters: The callable's.
        present: Names of those that this artifact passes.
        limit: How many graphs torch keeps for it.
    """
    if isinstance(error, FailOnRecompileLimitHit):
        return _too_many_graphs(lowered, parameters, set(present), limit)
    walked = _WALK.search(str(error))
    if walked is None:
        return None
    place = re.sub(r"'([^'\"\\]*)'", r'"\1"', walked["at"][1:-1])
    if walked["kind"] == "SeqSpec":
        message = f"torch obeys the spec of `{place}` only for a plain tuple or list"
        return _unsupported(
            message, f"pass `tuple({place})`, or write a namedtuple's fields: `object(name: Tensor[…])`"
        )
    return _unsupported(f"torch obeys the spec of `{place}` only for a dict", f"pass `dict({place})`")


def _too_many_graphs(lowered: Lowered, parameters: Sequence[Parameter], present: set[str], limit: int) -> ShapeError:
    static = list(_static(lowered, parameters, present))
    named = ", ".join(f"`{each}`" for each in static[:_MOST_NAMED]) + (", …" if len(static) > _MOST_NAMED else "")
    causes = f"each value of {named} costs a graph" if static else "a dtype, a stride or a flag may differ in each call"
    cure = "declare what changes: a dim as a name or `?`, an int as `Scalar[n]`; " if static else ""
    return _unsupported(
        f"`{lowered.expanded.signature.name}` needs more than {limit} graphs, torch's limit: {causes}",
        f"{cure}`recompile_limit=` of sd.compile raises the limit",
    )


def _static(lowered: Lowered, parameters: Sequence[Parameter], present: set[str]) -> Iterator[str]:
    """Yields the places of what torch takes for constant, as messages name them."""
    types = {param.name: param.type for param in lowered.expanded.signature.params}
    for parameter in parameters:
        if parameter.name in present and _is_open(types.get(parameter.name)):
            yield parameter.name
    for leaf in lowered.leaves:
        yield from (leaf.place(axis) for axis, dim in enumerate(leaf.dims) if isinstance(dim, Static))


def _is_open(type_: Type | None) -> bool:
    """Returns whether a value of ``type_`` holds what no size of the spec says."""
    match type_:
        case None | AnyType() | TensorType(dims=None) | ScalarType(size=None):
            return True
        case _:
            return any(_is_open(inner) for inner in subtypes(type_))


def _unsupported(message: str, cure: str) -> ShapeError:
    return ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message, helps=(cure,))])
