"""A plan → the lines of a def that say it, each with what was seen as its comment.

hint B = 8, S = 40
case S == 1  # 700 of 1,000 calls
bucket S in {61, 130, 260, 512} pad ids with 0  # 300 calls, 18.2% of their elements is padding; not checked yet
otherwise eager  # no call so far; 6 artifacts, about 2 min to compile
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...ir import Signature
from ...ir.write_clauses import write_bucket
from ..buckets.padding_fills import bucket
from ..profiles.traffic import Traffic
from .inference.infer import Declared, hint_of
from .keeping import Kept
from .suggest import Members, Plan


class Line(NamedTuple):
    """A clause and what is said about it."""

    text: str
    comment: str = ""

    def __str__(self) -> str:
        return f"{self.text}  # {self.comment}" if self.comment else self.text


def declaration(size: Declared) -> Line:
    """Returns the line that declares an inferred size."""
    text = f"{'int' if size.integer else 'dim'} {size.name}"
    if size.integer and size.low >= 0:
        text += " in [0, inf]"
    if size.modulus > 1:
        text += f" multiple of {size.modulus}" + (f" plus {size.residue}" if size.residue else "")
    return Line(f"{text} hint {size.hint}", seen(size))


def seen(size: Declared) -> str:
    """Returns what was seen of a size in words: ``3 to 512: 201 sizes in 310 calls``."""
    calls = sum(size.counts.values())
    return f"{size.low} to {size.high}: {number(len(size.counts), 'size')} in {number(calls, 'call')}"


def hints(signature: Signature, traffic: Traffic) -> list[Line]:
    """Returns the hints of the sizes that have none, as one line."""
    given = {variable.name for variable in signature.variables if variable.hint is not None or variable.variadic}
    found = {name: traffic.counts(name) for name in traffic.variables() if name not in given and "[" not in name}
    varying = [f"{name} = {hint_of(counts)}" for name, counts in found.items() if len(counts) > 1]
    return [Line(f"hint {', '.join(varying)}", "the sizes that most calls have")] if varying else []


def alternatives(signature: Signature, plan: Plan, dtypes: Mapping[str, str], kept: Kept) -> list[Line]:
    """Returns the lines of the cases, the buckets and ``otherwise``; none where there is nothing to choose.

    Args:
        signature: The spec.
        plan: What is chosen.
        dtypes: The observed dtype of tensors by path.
        kept: The alternatives that the spec has: a bucket keeps its pads and its reason.
    """
    lines = [
        Line(
            "case " + ", ".join(f"{name} == {size}" for name, size in case.sizes),
            f"{case.calls:,} of {number(plan.calls, 'call')}",
        )
        for case in plan.cases
    ]
    members = plan.members
    if members is not None:
        for index, (variable, sizes) in enumerate(members.sizes):
            known = kept.bucket(variable)
            made = bucket(signature, variable, sizes, dtypes) if known is None else replace(known, members=sizes)
            lines.append(Line(write_bucket(made), "" if index else _waste(members, checked=made.reason is not None)))
    if not lines:
        return []
    rest = "no call so far" if not plan.eager else f"{plan.eager:,} of {number(plan.calls, 'call')}"
    cost = f"{number(plan.artifacts, 'artifact')}, about {duration(plan.artifacts * plan.compile_seconds)} to compile"
    if plan.ends:
        lines[-1] = Line(lines[-1].text, "; ".join(filter(None, (lines[-1].comment, cost))))
    else:
        lines.append(Line("otherwise" if plan.rest == "dynamic" else f"otherwise {plan.rest}", f"{rest}; {cost}"))
    return lines


def _waste(members: Members, *, checked: bool) -> str:
    told = f"{number(members.calls, 'call')}, {members.waste:.1%} of their elements is padding"
    return told if checked else f"{told}; not checked yet"


def number(count: int, what: str) -> str:
    """Returns ``1 call`` or ``1,204 calls``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """Returns ``40 s``, ``4 min``, ``2.5 h``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def comments(lines: Iterable[str], width: int = 100) -> list[str]:
    """Returns ``lines`` as comments, wrapped."""
    from textwrap import wrap

    return [f"# {row}" if row else "#" for line in lines for row in wrap(line, width) or [""]]


def indented(lines: Sequence[Line], margin: str) -> str:
    """Returns lines as text, each with its newline."""
    return "".join(f"{margin}{line}\n" for line in lines)


__all__ = ["Line", "alternatives", "comments", "declaration", "duration", "hints", "indented", "number", "seen"]
