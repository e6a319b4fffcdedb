"""The assertions of a graph → predicates.

An assertion is read from its text, because its expression has been simplified by what was learned:
``Eq(u0, u1)`` has become ``True``. Where the text speaks of a symbol that nothing else names (a program that was
saved forgets what was replaced), it is worked out again from the operations that the assertion is computed by.

Before::

    sym_size_int_1 = aten.sym_size.int(y, 0);  mod = sym_size_int_1 % 4;  eq = mod == 1
    _assert_scalar(eq, "Runtime assertion failed for expression Eq(Mod(u1, 4), 1) on node 'eq'")

After::

    y.shape[0] % 4 == 1
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from ..ir import COMPARISONS, OPERATORS, And, Apply, Compare, Const, Or, Predicate, Size
from ..ir.orient import orient
from .printed import read_printed
from .symbolic import Unreadable, negated, read_predicate, read_size

_TEXT: Final = re.compile(r"Runtime assertion failed for expression (?P<condition>.+?) on node '", re.DOTALL)
SYMBOL: Final = re.compile(r"\b[us]\d+\b")  # torch's name of a size
COMPARED: Final[dict[Any, str]] = {
    operator.eq: "==",
    operator.ne: "!=",
    operator.le: "<=",
    operator.lt: "<",
    operator.ge: ">=",
    operator.gt: ">",
}
COMPUTED: Final[dict[Any, str]] = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
}


@dataclass(frozen=True, slots=True)
class Assertion:
    """One assertion.

    Attributes:
        predicate: What it demands; None for one that sizes alone do not decide.
        names: torch's symbols in its text.
        text: As torch printed it.
    """

    predicate: Predicate | None
    names: frozenset[str]
    text: str


def assertions(
    graph: Any, lookup: Callable[[str], Size | None], measure: Callable[[Any, int], Size | None] | None = None
) -> Iterator[Assertion]:
    """Yields what ``graph`` asserts.

    Args:
        graph: An fx graph.
        lookup: torch's name of a size → what it stands for.
        measure: A placeholder and an axis → what the size of it is; None where only ``lookup`` tells.
    """
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if "_assert_scalar" in str(node.target):
            yield _asserted(node, lookup, measure)
        elif "sym_constrain_range" in str(node.target):
            yield from _constrained(node, lookup, measure)


def assertion_texts(graph: Any) -> Iterator[tuple[Any, str]]:
    """Yields the condition of each assertion of ``graph``: the node that computes it, and as torch prints it."""
    for node in graph.nodes:
        if node.op == "call_function" and "_assert_scalar" in str(node.target):
            found = _TEXT.search(str(node.args[1])) if len(node.args) > 1 else None
            yield node.args[0], found["condition"] if found is not None else str(node.args[0])


def _asserted(
    node: Any, lookup: Callable[[str], Size | None], measure: Callable[[Any, int], Size | None] | None
) -> Assertion:
    found = _TEXT.search(str(node.args[1])) if len(node.args) > 1 else None
    text = found["condition"] if found is not None else str(node.args[0])
    names = frozenset(SYMBOL.findall(text)) if found is not None else frozenset[str]()
    try:
        if found is not None:
            return Assertion(read_printed(text, lookup), names, text)
        value = getattr(node.args[0], "meta", {}).get("val")
        if hasattr(value, "node"):
            expression: Any = value.node._expr  # type: ignore[union-attr]
            names = frozenset(symbol.name for symbol in expression.free_symbols)
            return Assertion(read_predicate(expression, lookup), names, text)
    except Unreadable:  # about data, or beyond our words, or of a symbol that was replaced
        pass
    if measure is not None:
        with suppress(Unreadable):
            return Assertion(_predicate(node.args[0], measure), names, text)
    return Assertion(None, names, text)


def _constrained(
    node: Any, lookup: Callable[[str], Size | None], measure: Callable[[Any, int], Size | None] | None
) -> Iterator[Assertion]:
    value = getattr(node.args[0], "meta", {}).get("val")
    if not hasattr(value, "node"):
        return
    size: Size | None = None
    try:
        size = read_size(value.node._expr, lookup)  # type: ignore[union-attr]
    except Unreadable:
        with suppress(Unreadable):
            size = _size(node.args[0], measure) if measure is not None else None
    given = [*node.args[1:], None, None]
    for op, key, bound in ((">=", "min", given[0]), ("<=", "max", given[1])):
        bound = node.kwargs.get(key, bound)
        if isinstance(bound, int):
            predicate = None if size is None else Compare(COMPARISONS[op], size, Const(bound))
            yield Assertion(predicate, frozenset(), f"{node.args[0]} {op} {bound}")


def _predicate(node: Any, measure: Callable[[Any, int], Size | None]) -> Predicate:
    if isinstance(node, bool):
        return And(()) if node else Or(())
    target: Any = getattr(node, "target", None)
    args: tuple[Any, ...] = getattr(node, "args", ())
    if target in COMPARED:
        left, right = (_size(arg, measure) for arg in args)
        return orient(Compare(COMPARISONS[COMPARED[target]], left, right))
    if target in (operator.and_, operator.or_):
        parts = tuple(_predicate(arg, measure) for arg in args)
        return And(parts) if target is operator.and_ else Or(parts)
    if getattr(target, "__name__", "") in ("sym_not", "not_"):
        return negated(_predicate(args[0], measure))
    raise Unreadable(str(node))


def _size(node: Any, measure: Callable[[Any, int], Size | None]) -> Size:
    if isinstance(node, int) and not isinstance(node, bool):
        return Const(node)
    target: Any = getattr(node, "target", None)
    args: tuple[Any, ...] = getattr(node, "args", ())
    if getattr(node, "op", "") == "placeholder":
        found = measure(node, 0)
    elif "sym_size" in str(target):
        found = measure(args[0], args[1])
    elif target in COMPUTED:
        found = Apply(OPERATORS[COMPUTED[target]], tuple(_size(arg, measure) for arg in args))
    elif target is operator.neg:
        found = Apply(OPERATORS["neg"], (_size(args[0], measure),))
    else:
        found = None
    if found is None:
        raise Unreadable(str(node))
    return found


__all__ = ["COMPARED", "COMPUTED", "SYMBOL", "Assertion", "assertion_texts", "assertions"]
