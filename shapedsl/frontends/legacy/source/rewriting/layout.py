"""Lines of what is edited: a spec that outgrows its line is broken at its entries, comments stay behind what they are of.

Before::

    export(net, args, dynamic_shapes={"tokens": {0: batch, 1: length}, "mask": {0: batch, 1: length}})

After::

    export(net, args, dynamic_shapes=ShapesSpec({
        "tokens": TensorSpec([batch, length]),
        "mask": TensorSpec([batch, length]),
    }))
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .displays import Brackets, Part
from .draft import Draft, Stretch
from .plan import Plan
from .texts import WIDE

if TYPE_CHECKING:
    import libcst as cst


def is_long(draft: Draft, node: cst.CSTNode) -> bool:
    """Returns whether a display that was on one line has become too long for it."""
    plan = draft.file.plan
    text = plan.tree.source.text
    start, end = plan.outer(node)
    line = len(line_before(text, start).expandtabs(4))
    rest = len(text[end:].partition("\n")[0].rstrip().partition("#")[0].rstrip())
    found = draft.text(node)
    is_short = line + len(found) + rest <= WIDE
    return not is_short and "\n" not in found and "\r" not in found and "#" not in text[start:end]


def broken(plan: Plan, items: list[Part], around: Brackets, stretches: list[Stretch]) -> list[Stretch]:
    """Returns the edits of a spec with each of its entries on a line of its own.

    Args:
        plan: Of the file.
        items: The entries; at least one.
        around: The brackets around them.
        stretches: The edits without line breaks.
    """
    opening, closing = around.opening, around.closing
    margin = _margin(line_before(plan.tree.source.text, opening[0]))
    step = plan.tree.module.default_indent
    head = next(new for start, end, new in stretches if (start, end) == opening)
    tail = next(new for start, end, new in stretches if (start, end) == closing)
    entries, _, assumed = tail.partition(", assumptions=")
    outer, inner = f"{plan.newline}{margin}", f"{plan.newline}{margin}{step}"
    if assumed:
        name = head.removesuffix("{").removesuffix("dict(")
        head, inner = f"{name}{inner}{head.removeprefix(name)}", f"{inner}{step}"
        tail = f"{outer}{step}{entries},{outer}{step}assumptions={assumed[:-1]},{outer})"
    else:
        tail = f"{outer}{tail}"
    found = [each for each in stretches if each[:2] not in (opening, closing, around.comma)]
    at = opening[1]
    found.append((*opening, f"{head}{inner}"))
    for index, part in enumerate(items):
        start = _start(plan, part)
        if at < start:
            found.append((at, start, f",{inner}" if index else ""))
        at = plan.outer(part.expression)[1]
    return [*found, (at, closing[0], ","), (*closing, tail)]


def remark(plan: Plan, node: cst.CSTNode) -> str:
    """Returns the comment behind an element, on its line."""
    found = re.compile(r"[ \t]*,?[ \t]*(#[^\r\n]*)").match(plan.tree.source.text, plan.outer(node)[1])
    return f"  {found[1]}" if found is not None else ""


def in_lines(plan: Plan, first: Part, texts: list[str], remarks: list[str]) -> str:
    """Returns dims in the order of their axes: on lines of their own, as ``first`` was, if one has a comment."""
    if not any(remarks):
        return ", ".join(texts)
    margin = _margin(line_before(plan.tree.source.text, _start(plan, first)))
    rows = "".join(f"{plan.newline}{margin}{each},{comment}" for each, comment in zip(texts, remarks, strict=True))
    return f"{rows}{plan.newline}{margin.removesuffix(plan.tree.module.default_indent)}"


def _start(plan: Plan, part: Part) -> int:
    return plan.outer(part.expression if part.at is None else part.at)[0]


def line_before(text: str, at: int) -> str:
    """Returns what stands before an offset on its line."""
    return text[max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1 : at]


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


__all__ = ["broken", "in_lines", "is_long", "line_before", "remark"]
