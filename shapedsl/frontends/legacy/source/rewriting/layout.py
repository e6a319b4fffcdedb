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
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from .displays import Brackets, Part
from .draft import Draft, Stretch
from .plan import Plan
from .texts import WIDE

if TYPE_CHECKING:
    import libcst as cst

# A string, a comment, a bracket or a comma.
_TOKEN: Final = re.compile(r"""\"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#.*|[()\[\]{},]""")


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


def folded(plan: Plan, text: str) -> str:
    """Returns a converted file with the specs that are too long for their lines broken at their items.

    Args:
        plan: Of the file.
        text: What it becomes. Lines that it had already stay as they are.
    """
    names = "|".join(re.escape(name) for name in plan.needed.values())
    lines = text.splitlines(keepends=True)
    if not names or all(len(line) <= WIDE for line in lines):
        return text
    known = set(plan.tree.source.text.splitlines(keepends=True))
    call = re.compile(rf"(?<![\w.])(?:{names})\([\[{{]")
    step = plan.tree.module.default_indent
    made: list[str] = []
    while lines:
        line = lines.pop(0)
        parts = None if len(line.rstrip()) <= WIDE or line in known else _fold(line, call, step, plan.newline)
        if parts is None:
            made.append(line)
        else:
            lines[:0] = parts
    return "".join(made)


def _fold(line: str, call: re.Pattern[str], step: str, newline: str) -> list[str] | None:
    """Returns a line with the items of the first call in it on lines of their own; None if it has none to break."""
    for found in call.finditer(line):
        depth, at, starts = 1, found.end(), [found.end()]
        for token in _TOKEN.finditer(line, found.end()):
            at = token.start()
            if token[0][0] == "#":
                return None
            depth += (token[0] in "([{") - (token[0] in ")]}")
            if not depth:
                break
            if depth == 1 and token[0] == ",":
                starts.append(token.end())
        items = [line[low:high].strip(" ,") for low, high in pairwise([*starts, at])]
        items = [item for item in items if item]
        if depth or "TensorSpec" in found[0] or not items:
            continue
        margin = _margin(line)
        rows = [f"{margin}{step}{item},{newline}" for item in items]
        return [f"{line[: found.end()]}{newline}", *rows, f"{margin}{line[at:]}"]
    return None


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


__all__ = ["broken", "folded", "in_lines", "is_long", "line_before", "remark"]
