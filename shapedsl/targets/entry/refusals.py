"""What torch refuses at a call that satisfies its spec, for reasons of its own.

It tells of them as internal errors that name neither a parameter nor a cure::

    FailOnRecompileLimitHit: Hard failure due to fullgraph=True
    InternalTorchDynamoError: … shapes_spec walk: while processing source 'p.a', at 'p' the spec is SeqSpec

- Whatever is not declared dynamic costs a graph for each of its values, and their number is limited.
- torch binds the items of a tuple, list or dict where the program reads them by index or key. A
  namedtuple it reads by field, a UserDict or a MappingProxyType by what it wraps.
- inductor on CPU plans another layout than a convolution with unbacked sizes returns (2.14.1)::

    AssertionError: expected size 4==4, stride 1==272 at dim=1; …
    Error in op: torch.ops.aten.convolution.default
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
_LAYOUT: Final = re.compile(
    r"expected size \d+==\d+, stride \d+==\d+ at dim=\d+.*Error in op: torch\.ops\.(?P<op>aten\.\w+)", re.DOTALL
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


def layout_refusal(error: Exception, lowered: Lowered) -> ShapeError | None:
    """Returns what to raise where inductor planned another layout than a kernel of torch returns, or None.

    Args:
        error: What a call raised that was compiled with unbacked sizes.
        lowered: The spec it was compiled under.
    """
    found = _LAYOUT.search(str(error)) if isinstance(error, AssertionError) and lowered.variables else None
    if found is None:
        return None
    return _unsupported(
        f"inductor planned another layout than `{found['op']}` returns, since the sizes of the spec are unbacked",
        'lower them as backed ones: `lowering="backed"`, or `"auto"`, which compares; in a spec `backed` stands behind a case',
    )


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
