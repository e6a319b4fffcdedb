"""Recompiles that torch was told to refuse: what costs a graph for each of its values.

Before::

    FailOnRecompileLimitHit: Hard failure due to fullgraph=True
    RecompileError: Recompiling function f in net.py:14 … tensor 'x' size mismatch at index 1. expected 2, actual 3

After::

    error[recompiled]: `f` needs a graph for each value of `x.shape[1]`, and torch keeps 8
      = note: torch: tensor 'x' size mismatch at index 1. expected 9, actual 10
      = help: the spec leaves `x.shape[1]` static: write a name there, or `?`
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from ..diagnostics import Diagnostic, Severity, ShapeError
from ..ir import Static
from ..ir.expanded import Lowered
from .calls import plain_source
from .traces import chain

_MOST: Final = 3  # reasons that are told
_TENSOR: Final = re.compile(
    r"tensor '(?P<tensor>.+?)' (?P<what>size|rank|dtype|stride|requires_grad|dispatch key set) mismatch(?: at index (?P<axis>\d+))?"
)
_VALUE: Final = re.compile(r"(?P<place>[\w.\[\]'\"]+) == (?P<value>-?\d+|True|False|None)")
_LENGTH: Final = re.compile(r"len\((?P<place>[^()]+)\) == \d+")
_SIZE: Final = re.compile(r"\.size\(\)\[(\d+)\]")
_NOT_OF_SIZES: Final = ("dtype", "stride", "requires_grad", "dispatch key set")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one graph did not serve a call.

    Attributes:
        place: What differs: ``x.shape[1]``, ``n``; a condition where it is one.
        kind: ``size``, ``value``, ``rank``, ``length``, ``condition``, or what else of a tensor differs.
        text: As torch says it.
    """

    place: str
    kind: str
    text: str


def recompiled(error: BaseException, lowered: Lowered | None) -> ShapeError | None:
    """Returns what to raise of a recompile that torch refuses, or None if ``error`` is none, or not about shapes.

    Args:
        error: What a compiled function raised.
        lowered: Its spec, where one is known.
    """
    for each in chain(error):
        kind = type(each).__name__
        if kind == "RecompileError":
            named = re.search(r"Recompiling function (\S+) in (.+):(\d+)", str(each))
            name = named[1] if named else "the function"
            return _told(name, _reasons(_listed(str(each))), lowered, "and recompiling is an error here")
        if kind == "FailOnRecompileLimitHit":
            code, lines, limit = _refused(each)
            return _told(
                code, _reasons(lines), lowered, f"and torch keeps {limit}" if limit else "more than torch keeps"
            )
    return None


def _listed(text: str) -> Iterator[str]:
    """Yields the guards that failed, of the message of a RecompileError."""
    for line in text.splitlines():
        if found := re.match(r"\s*- (\d+/\d+: .+)", line):
            yield found[1]


def _refused(error: BaseException) -> tuple[str, list[str], int | None]:
    """Returns the function's name, the guards that failed, and the limit, off the frames of torch's compiler."""
    import torch

    for frame, _ in traceback.walk_tb(error.__traceback__):
        values = frame.f_locals
        if frame.f_code.co_name == "_compile" and "code" in values:
            reasons: Any = values.get("reasons") or ()
            limit = torch._dynamo.config.recompile_limit
            return values["code"].co_name, [str(each).splitlines()[0] for each in reasons if str(each)], limit
    return "the function", [], None


def _reasons(lines: Iterable[str]) -> list[Reason]:
    """Returns what differs, each thing once."""
    found: dict[tuple[str, str], Reason] = {}
    for line in lines:
        text = re.sub(r"^\d+/\d+: ", "", line).partition(" # ")[0].strip()
        reason = _reason(text)
        found[reason.place, reason.kind] = reason
    return list(found.values())


def _reason(text: str) -> Reason:
    if match := _TENSOR.match(text):
        place = plain_source(match["tensor"])
        return Reason(f"{place}.shape[{match['axis']}]" if match["what"] == "size" else place, match["what"], text)
    if match := _LENGTH.match(text):
        return Reason(plain_source(match["place"]), "length", text)
    if match := _VALUE.fullmatch(text):
        return Reason(plain_source(match["place"]), "value", text)
    return Reason(plain_source(_SIZE.sub(r".shape[\1]", text)), "condition", text)


def _told(name: str, reasons: list[Reason], lowered: Lowered | None, limit: str) -> ShapeError | None:
    of_sizes = [reason for reason in reasons if reason.kind not in _NOT_OF_SIZES]
    if lowered is None and not of_sizes:
        return None  # of dtypes and strides a spec says nothing
    shown = (of_sizes or reasons)[:_MOST]
    what = " and for each ".join(_what(reason) for reason in shown)
    message = f"`{name}` needs a graph for each {what}, {limit}" if shown else f"`{name}` needs more graphs, {limit}"
    helps = tuple(dict.fromkeys(_help(reason, lowered) for reason in shown)) or (
        "declare what changes: a dim as a name or `?`, an int as `Scalar[n]`",
    )
    notes = tuple(f"torch: {reason.text}" for reason in shown)
    return ShapeError([Diagnostic("recompiled", Severity.ERROR, message, notes=notes, helps=helps)])


def _what(reason: Reason) -> str:
    match reason.kind:
        case "size" | "value":
            return f"value of `{reason.place}`"
        case "condition":
            return f"side of `{reason.place}`"
        case "length":
            return f"length of `{reason.place}`"
        case other:
            return f"{other} of `{reason.place}`"


def _help(reason: Reason, lowered: Lowered | None) -> str:
    root = re.split(r"[.\[]", reason.place, maxsplit=1)[0]
    match reason.kind:
        case "size" if lowered is not None and _is_static(reason.place, lowered):
            return f"the spec leaves `{reason.place}` static: write a name there, or `?`"
        case "size":
            return f"declare `{reason.place}` dynamic: a name in `{root}: Tensor[…]` of the spec"
        case "value":
            return f"declare `{root}: Scalar[{root}]`: then one graph serves all its values"
        case "condition":
            return "a spec that has both sides serves them with one graph, if no branch depends on it; else a `case` for each"
        case "rank" | "length":
            return f"each {reason.kind} of `{reason.place}` has a graph of its own, under any spec: raise `recompile_limit=`"
        case _:
            return "a spec says nothing of it: call it alike, or raise `recompile_limit=`"


def _is_static(place: str, lowered: Lowered) -> bool:
    """Returns whether the spec knows ``place`` and leaves it static, or does not know its tensor at all."""
    places = {leaf.place(axis): dim for leaf in lowered.expanded.leaves for axis, dim in enumerate(leaf.dims)}
    return place not in places or isinstance(places[place], Static)


__all__ = ["Reason", "recompiled"]
