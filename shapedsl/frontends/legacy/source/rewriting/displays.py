"""Displays and calls that show what they make: their brackets, and their parts with keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..values import Dict, Sequence, Value
from .draft import ImpossibleError, Stretch

if TYPE_CHECKING:
    import libcst as cst

    from .plan import Plan


@dataclass(frozen=True, slots=True)
class Part:
    """An entry of a dict, an item of a sequence, an argument of a call that makes one.

    Attributes:
        key: Of an entry, or the keyword of an argument; None for an item.
        at: The expression of the key; None if there is none.
        is_keyword: Whether it is a keyword.
        expression: What is written.
        value: What it is.
    """

    key: object
    at: cst.CSTNode | None
    is_keyword: bool
    expression: cst.BaseExpression
    value: Value


@dataclass(frozen=True, slots=True)
class Brackets:
    """The opening and the closing bracket, with the name of what is called.

    Attributes:
        opening, closing: Their stretches of the text; empty for a tuple without parentheses.
        span: From the one to the other.
        is_call: Whether it is a call.
        comma: A comma behind the only item of a tuple, which a list does not need.
        has_comment: Whether there is a comment between them.
    """

    opening: tuple[int, int]
    closing: tuple[int, int]
    is_call: bool = False
    comma: tuple[int, int] | None = None
    has_comment: bool = False
    text: str = ""

    @property
    def span(self) -> tuple[int, int]:
        """From the opening one to the closing one."""
        return self.opening[0], self.closing[1]

    def instead(self, opening: str, closing: str) -> list[Stretch]:
        """Returns the edits that put others in their place."""
        comma = [] if self.comma is None else [(*self.comma, "")]
        return [(*self.opening, opening), (*self.closing, closing), *comma]

    def within(self, opening: str, closing: str) -> list[Stretch]:
        """Returns the edits that put others around them."""
        first, last = self.text[slice(*self.opening)], self.text[slice(*self.closing)]
        return [(*self.opening, f"{opening}{first}"), (*self.closing, f"{last}{closing}")]


def parts(value: Dict | Sequence) -> list[Part]:
    """Returns what a display shows.

    Raises:
        ImpossibleError: It is no display, or shows something else than its value.
    """
    import libcst as cst

    values = [item for _, item in value.entries.values()] if isinstance(value, Dict) else value.items
    found: list[Part] = []
    match value.node:
        case cst.Dict(elements=elements):
            keys = list(value.entries) if isinstance(value, Dict) else []
            if len(elements) != len(keys):
                raise ImpossibleError("it is no plain display")
            for element, key, item in zip(elements, keys, values, strict=True):
                if not isinstance(element, cst.DictElement):
                    raise ImpossibleError("it is no plain display")
                found.append(Part(key, element.key, False, element.value, item))
        case cst.Tuple(elements=items) | cst.List(elements=items):
            if len(items) != len(values) or not all(isinstance(each, cst.Element) for each in items):
                raise ImpossibleError("it is no plain display")
            found = [Part(None, None, False, each.value, item) for each, item in zip(items, values, strict=True)]
        case cst.Call(args=args):
            if len(args) != len(values) or any(arg.star for arg in args):
                raise ImpossibleError("it is no plain call")
            if isinstance(value, Dict):
                if [arg.keyword.value if arg.keyword else None for arg in args] != list(value.entries):
                    raise ImpossibleError("it is no plain call")
                found = [
                    Part(key, arg.keyword, True, arg.value, item)
                    for arg, key, item in zip(args, value.entries, values, strict=True)
                ]
            else:
                if value.kind != "namedtuple":
                    raise ImpossibleError("it is no plain call")
                items_by_field = dict(zip(value.fields, values, strict=True))
                for arg, name in zip(args, value.fields, strict=True):
                    key = arg.keyword.value if arg.keyword else None
                    item = items_by_field[key or name]
                    found.append(Part(key, arg.keyword, key is not None, arg.value, item))
        case _:
            raise ImpossibleError("it is no display")
    return found


def brackets(plan: Plan, node: cst.CSTNode) -> Brackets:
    """Returns the brackets of a display or of a call."""
    import libcst as cst

    start, end = plan.tree.extent(node)
    text = plan.tree.source.text
    match node:
        case cst.Tuple(lpar=left, rpar=right, elements=elements):
            opening = plan.tree.extent(left[-1]) if left else (start, start)
            closing = plan.tree.extent(right[0]) if right else (end, end)
            comma = None
            if len(elements) == 1:
                last = plan.outer(elements[0].value)[1]
                between = text[last : closing[0] if right else end]
                if between.strip() == "," and "\n" not in between:
                    comma = (last, last + len(between))
                    if not right:
                        comma, closing = None, (last, end)
            return Brackets(opening, closing, False, comma, "#" in text[start:end], text)
        case cst.Call(func=function):
            after = text.index("(", plan.outer(function)[1]) + 1
            return Brackets((start, after), (end - 1, end), True, None, "#" in text[start:end], text)
        case _:
            return Brackets((start, start + 1), (end - 1, end), False, None, "#" in text[start:end], text)


__all__ = ["Brackets", "Part", "brackets", "parts"]
