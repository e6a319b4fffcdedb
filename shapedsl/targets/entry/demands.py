"""What a compiled program demands of a call that satisfies its spec.

``x[A] + y[B]`` needs ``A == B``, ``x.view(-1, 4)`` needs ``A % 4 == 0``: torch adds what the program
needs and tells of it at the call that fails, in its own names, as a bug of its own::

    AssertionError: Guard failed on the same frame it was created. This is a bug - please create an issue…
    …Guard fail reason: 0/1: tensor 'x' size mismatch at index 0. expected 4, actual 3
    RuntimeError: Runtime assertion failed for expression Eq(Mod(u0, 4), 0)

Since the call was checked against the spec before, the spec is what lacks something.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping
from typing import Final

import torch
from torch._guards import TracingContext

from ...diagnostics import Annotation, Diagnostic, Severity, ShapeError, Span
from ...ir import COMPARISONS, Apply, Compare, Const, Dim, Predicate, Size, Var
from ...ir.expanded import Lowered
from ...ir.walk import free_vars
from ...ir.write import write_predicate
from ..printed import read_printed
from ..symbolic import Unreadable
from ..traces import spec_symbols

_GUARD: Final = re.compile(
    r"Guard failed on the same frame.*?Guard fail reason: [^:]*: (?P<condition>.+?)\s*(?:#|$)", re.DOTALL
)
_ASSERTION: Final = re.compile(
    r"Runtime assertion failed for expression (?P<condition>.+?)(?: on node '.*')?\s*$", re.DOTALL
)
_PINNED: Final = re.compile(r"tensor '(?P<tensor>.+)' size mismatch at index (?P<axis>\d+)\. expected (?P<size>\d+),")
_BARE: Final = re.compile(r"(?P<condition>[^\n]*\bu\d+\b[^\n]*)\s*$")  # what inductor says, without a word around it


def note_symbols(symbols: MutableMapping[str, Size], lowered: Lowered) -> Callable[[], None]:
    """Returns a function for the entry function to call; while torch traces it, it notes torch's names of our sizes.

    A compiled program does not know them any more when it fails.
    """

    def note() -> None:
        context = TracingContext.try_get()
        if context is not None and context.fake_mode is not None and context.fake_mode.shape_env is not None:
            symbols.update(spec_symbols(context.fake_mode.shape_env, lowered))

    # torch runs it while tracing, and puts nothing into the graph
    made: Callable[[], None] = torch.compiler.assume_constant_result(note)  # type: ignore[no-untyped-call]
    return made


def demand_failure(error: Exception, lowered: Lowered, symbols: Mapping[str, Size]) -> ShapeError | None:
    """Returns what to raise from ``error``, or None if it tells of no demand.

    Args:
        error: What a compiled call raised.
        lowered: The spec it was compiled under.
        symbols: From `note_symbols`.
    """
    if not isinstance(error, (AssertionError, RuntimeError)):
        return None
    text = str(error)
    match = _GUARD.search(text) or _ASSERTION.search(text) or _BARE.fullmatch(text)
    if match is None:
        return None
    places = {leaf.place(axis): dim for leaf in lowered.expanded.leaves for axis, dim in enumerate(leaf.dims)}
    if pinned := _PINNED.search(match["condition"]):
        return _pin(pinned, places)
    condition = re.sub(r"\.size\(\)\[(\d+)\]", r".shape[\1]", match["condition"]).strip()

    def lookup(operand: str) -> Size | None:
        dim = places.get(operand, symbols.get(operand))
        return dim if dim is None or any(True for _ in free_vars(dim)) else None  # type: ignore[return-value]

    try:
        predicate: Predicate = read_printed(condition, lookup)
    except Unreadable:
        if match.re is _BARE:
            return None
        if "mismatch" in condition:  # of strides and the like: no condition, and not about sizes
            return _finding("extra-assumption", f"the program refuses a call that satisfies the spec: {condition}")
        return _finding("extra-assumption", f"the program needs `{condition}`, which the spec does not promise")
    written = write_predicate(lowered.reasoner.shorter(predicate) if lowered.reasoner else predicate)
    message = f"the program needs `{written}`, which the spec does not promise"
    help_ = f"add `where {written}`, or `Tensor[…]` dims that say so"
    return _finding("extra-assumption", message, help_, at=_places(predicate, lowered))


def _places(predicate: Predicate, lowered: Lowered) -> tuple[Annotation, ...]:
    """Returns where the sizes that ``predicate`` speaks of stand in the spec, the first place of each."""
    found: dict[str, Span] = {}
    for leaf in lowered.expanded.leaves:
        for dim in leaf.dims:
            for name in free_vars(dim):
                if (span := dim.span or leaf.span) is not None:
                    found.setdefault(name, span)
    named = dict.fromkeys(free_vars(predicate))
    return tuple(Annotation(span, "") for span in dict.fromkeys(found[name] for name in named if name in found))


def _pin(match: re.Match[str], places: Mapping[str, Dim]) -> ShapeError:
    """Returns the finding for a size that became a number: torch guards it as a static one."""
    tensor = re.sub(r"\['([^'\"\\]*)'\]", r'["\1"]', match["tensor"])
    place = f"{tensor}.shape[{match['axis']}]"
    dim = places.get(place)
    if isinstance(dim, (Var, Apply)):
        written = write_predicate(Compare(COMPARISONS["=="], dim, Const(int(match["size"]))))
        help_ = f"add `where {written}` to the spec, or change the program"
        return _finding("specialized-dim", f"the program pinned `{place}`: `{written}`", help_)
    return _finding("specialized-dim", f"the program pinned `{place}`: it is {match['size']}")


def _finding(code: str, message: str, *helps: str, at: tuple[Annotation, ...] = ()) -> ShapeError:
    return ShapeError([Diagnostic(code, Severity.ERROR, message, annotations=at, helps=helps)])
