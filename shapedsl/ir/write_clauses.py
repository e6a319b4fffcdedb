"""Alternatives, buckets, values and drops → canonical text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .alternatives import Alternative, Bucket, Drop, Edge, Fill, Mode, Values
from .dims import Apply, Const, Var, Variadic
from .paths import quote
from .write_sizes import write_dim, write_predicate, write_set

MARGIN: Final = "    "  # of one block


def write_values(values: Iterable[Values]) -> list[str]:
    """Returns ``values`` lines; paths with one range share a line."""
    lines: dict[str, list[str]] = {}
    for value in values:
        low, high = write_dim(value.low), write_dim(value.high)
        tail = f"sorted from {low} to {high}" if value.sorted else f"in [{low}, {high}]"
        lines.setdefault(tail, []).append(str(value.path))
    return [f"values {', '.join(paths)} {tail}" for tail, paths in lines.items()]


def write_drops(drops: Iterable[Drop]) -> list[str]:
    """Returns ``drop`` and ``keep`` lines."""
    lines: list[str] = []
    for keep, word in ((False, "drop"), (True, "keep")):
        paths = [str(drop.path) for drop in drops if drop.keep is keep]
        lines += [f"{word} {', '.join(paths)}"] if paths else []
    return lines


def write_alternatives(alternatives: Iterable[Alternative]) -> list[str]:
    """Returns the lines of ``case``, ``otherwise`` and ``bucket`` clauses, in order."""
    lines: list[str] = []
    run: set[str] = set()  # the variables of the `bucket` lines right above
    for alternative in alternatives:
        if alternative.keyword == "bucket":
            if run and alternative.buckets and alternative.buckets[0].variable not in run:
                lines.append("...")  # keeps two joint choices apart
            lines += [write_bucket(bucket) for bucket in alternative.buckets]
            run = {bucket.variable for bucket in alternative.buckets}
            continue
        run = set()
        inline = _inline(alternative)
        lines += [inline] if inline else _block(alternative)
    return lines


def _inline(alternative: Alternative) -> str:
    """Returns an alternative on one line; empty if it needs a block."""
    if alternative.buckets or alternative.drops or any(c.message is not None for c in alternative.constraints):
        return ""
    if (alternative.keyword == "case") is not bool(alternative.constraints):
        return ""
    words = [alternative.keyword]
    words += [f"{alternative.name}:"] if alternative.name is not None else []
    words += (
        [", ".join(write_predicate(c.predicate) for c in alternative.constraints)] if alternative.constraints else []
    )
    words += [alternative.mode.value] if alternative.mode is not Mode.COMPILED else []
    words += [_hints(alternative)] if alternative.hints else []
    return " ".join(words)


def _block(alternative: Alternative) -> list[str]:
    head = alternative.keyword + ("" if alternative.name is None else f" {alternative.name}")
    lines: list[str] = []
    for constraint in alternative.constraints:
        message = "" if constraint.message is None else f" {quote(constraint.message)}"
        lines.append(f"where {write_predicate(constraint.predicate)}{message}")
    lines += [_hints(alternative)] if alternative.hints else []
    lines += [alternative.mode.value] if alternative.mode is not Mode.COMPILED else []
    lines += [write_bucket(bucket) for bucket in alternative.buckets]
    lines += write_drops(alternative.drops)
    return [f"{head}:", *(f"{MARGIN}{line}" for line in lines or ["..."])]


def _hints(alternative: Alternative) -> str:
    return "hint " + ", ".join(f"{name} = {value}" for name, value in alternative.hints)


def write_bucket(bucket: Bucket) -> str:
    """Returns a ``bucket`` line."""
    words = ["bucket", bucket.variable]
    if bucket.members is not None:
        words.append(f"in {write_set(bucket.members)}")
    else:
        words.append(f"multiple of {bucket.modulus}" + (f" plus {bucket.residue}" if bucket.residue else ""))
    words += ["shared"] if bucket.shared else []
    if bucket.position == "left":
        words.append("left")
    elif not isinstance(bucket.position, str):
        words.append(f"at {write_dim(bucket.position)}")
    if bucket.pads is not None:
        pads = [
            f"{pad.path}{'' if pad.axis is None else f' axis {pad.axis}'} with {_fill(pad.fill)}" for pad in bucket.pads
        ]
        words.append(f"pad {pads[0]}" if len(pads) == 1 else f"pad ({', '.join(pads)})")
    words += [f"as {bucket.reason}"] if bucket.reason is not None else []
    return " ".join(words)


def _fill(fill: Fill) -> str:
    match fill:
        case bool():
            return "true" if fill else "false"
        case int() | float():
            return repr(fill)
        case tuple():
            return f"[{', '.join(map(repr, fill))}]"
        case Edge():
            return "edge"
        case Const() | Var() | Apply() | Variadic():
            return write_dim(fill)
