"""What ``program.module()`` refuses before its graph runs.

torch generates a function of assertions in front of the graph. Its texts are read off the function itself, since
nothing else says which of a program's ranges and guards are in it: a lower bound of 2 is not.

After::

    Guard failed: x.size()[1] == 4
    Guard failed: y.size()[0] == x.size()[0]

Where torch knows no example it generates none, and compares shapes with those of the placeholders at each call.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from ...ir import COMPARISONS, Compare, Const, Predicate, Size, Var
from ...ir.orient import orient
from ..printed import read_printed
from ..program import conjuncts
from ..symbolic import Unreadable, read_size
from .inputs import Input, number_of

_FAILED: Final = "Guard failed: "


UNKNOWN: Final = "the guards in front of the graph"


def guard_texts(module: Any) -> list[str] | None:
    """Returns the conditions that a module of a program checks first; None if it generates no function for that.

    `UNKNOWN` is among them where the function is not as this torch makes it.
    """
    guards = getattr(module, "_guards_fn", None)
    if guards is None:
        return None
    functions = list(_functions(guards.forward))
    texts: dict[str, None] = {} if any(each.__name__ == "_" for each in functions) else {UNKNOWN: None}
    for function in functions:
        for constant in function.__code__.co_consts:
            if isinstance(constant, str) and constant.startswith(_FAILED):
                texts[constant.removeprefix(_FAILED)] = None
    return list(texts)


def _functions(function: Any) -> Iterator[Any]:
    """Yields ``function`` and those that it wraps."""
    pending, seen = [function], set[int]()
    while pending:
        each = pending.pop()
        if id(each) in seen or not hasattr(each, "__code__"):
            continue
        seen.add(id(each))
        yield each
        pending += [cell.cell_contents for cell in each.__closure__ or () if callable(cell.cell_contents)]


def guarded(texts: Iterable[str], inputs: Iterable[Input]) -> Iterator[tuple[str, Predicate | None]]:
    """Yields each text with what it says of the inputs' places; None for what has no words."""
    places = {
        _normal(each.source_at(axis)): Var(each.place(axis)) for each in inputs for axis in range(len(each.sizes()))
    }
    for text in texts:
        try:
            for part in conjuncts(read_printed(text, places.get)):
                yield text, part
        except Unreadable:
            yield text, None


def _normal(source: str) -> str:
    """Returns the text of an operand as `read_printed` looks it up."""
    try:
        return ast.unparse(ast.parse(source, mode="eval"))
    except SyntaxError:
        return source


def compared(
    inputs: Iterable[Input], ranges: Mapping[Any, Any], lookup: Callable[[str], Size | None]
) -> Iterator[Predicate]:
    """Yields what a program without a function of guards checks: each size against its placeholder's.

    Args:
        inputs: Of the program.
        ranges: torch's, by expression.
        lookup: torch's name of a size → what it stands for.
    """
    known: dict[str, Size] = {}
    for each in inputs:
        for axis, size in enumerate(each.sizes()):
            place = Var(each.place(axis))
            number = number_of(size)
            if number is not None:
                yield Compare(COMPARISONS["=="], place, Const(number))
                continue
            expression = size.node.expr
            symbols = [symbol.name for symbol in expression.free_symbols]
            if len(symbols) != 1:
                continue  # left to an assertion of the graph
            (name,) = symbols
            if expression.is_Symbol:
                first = known.setdefault(name, place)
                if first != place:
                    yield orient(Compare(COMPARISONS["=="], place, first))
            else:
                with suppress(Unreadable):
                    yield orient(Compare(COMPARISONS["=="], place, read_size(expression, lookup)))
            bounds = ranges.get(expression)
            if bounds is not None and bounds.lower.is_Integer and int(bounds.lower) > 2:
                yield Compare(COMPARISONS[">="], place, Const(int(bounds.lower)))
            if bounds is not None and bounds.upper.is_Integer:
                yield Compare(COMPARISONS["<="], place, Const(int(bounds.upper)))


__all__ = ["UNKNOWN", "compared", "guard_texts", "guarded"]
