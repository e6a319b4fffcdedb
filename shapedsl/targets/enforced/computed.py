"""Predicates read from the operations that compute them: what a graph really asserts.

The text of an assertion says what torch wanted to assert. What is computed can be less: once two sizes are one, a
later pass may compute ``Eq(u1, u0)`` as ``size == size``.

Before::

    sym_size = aten.sym_size.int(y, 0);  mod = sym_size % 4;  eq = mod == 0;  _assert_scalar(eq, …)

After::

    y.shape[0] % 4 == 0
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any, Final

from ...ir import COMPARISONS, OPERATORS, And, Apply, Compare, Const, Or, Predicate, Size, Var
from ...ir.orient import orient
from ..assertions import COMPARED, COMPUTED
from ..symbolic import Unreadable, negated

_NAMED: Final = {"sym_max": "max", "sym_min": "min"}

# A placeholder and an axis → the size of it.
Measure = Callable[[Any, int], "Size | None"]


def computed_predicate(node: Any, measure: Measure) -> Predicate:
    """Returns what ``node``, a bool, says of the sizes of placeholders.

    Args:
        node: A node, or a bool.
        measure: A placeholder and an axis → its size.

    Raises:
        Unreadable: It is computed from something else, or by what the language has no words for.
    """
    if isinstance(node, bool):
        return And(()) if node else Or(())
    target: Any = getattr(node, "target", None)
    args: tuple[Any, ...] = getattr(node, "args", ())
    if target in COMPARED:
        left, right = (computed_size(arg, measure) for arg in args)
        return orient(Compare(COMPARISONS[COMPARED[target]], left, right))
    if target in (operator.and_, operator.or_):
        parts = tuple(computed_predicate(arg, measure) for arg in args)
        return And(parts) if target is operator.and_ else Or(parts)
    if getattr(target, "__name__", "") in ("sym_not", "not_"):
        return negated(computed_predicate(args[0], measure))
    raise Unreadable(str(node))


def computed_size(node: Any, measure: Measure) -> Size:
    """Returns what ``node``, an int, is in terms of the sizes of placeholders; see `computed_predicate`."""
    if isinstance(node, int) and not isinstance(node, bool):
        return Const(node)
    target: Any = getattr(node, "target", None)
    args: tuple[Any, ...] = getattr(node, "args", ())
    found: Size | None = None
    if getattr(node, "op", "") == "placeholder":
        found = measure(node, 0)
    elif is_size_of(node):
        found = measure(args[0], args[1]) if getattr(args[0], "op", "") == "placeholder" else _data(node)
    elif target in COMPUTED and target is not operator.pow:  # a power: only of a constant exponent, below
        found = Apply(OPERATORS[COMPUTED[target]], tuple(computed_size(arg, measure) for arg in args))
    elif target is operator.neg:
        found = Apply(OPERATORS["neg"], (computed_size(args[0], measure),))
    elif (name := getattr(target, "__name__", "")) in _NAMED:
        found = Apply(OPERATORS[_NAMED[name]], tuple(computed_size(arg, measure) for arg in args))
    elif name == "sym_sum":
        found = functools.reduce(_plus, (computed_size(arg, measure) for arg in args[0]))
    elif target in (operator.pow, pow) and isinstance(args[1], int) and args[1] >= 0:
        found = Apply(OPERATORS["**"], (computed_size(args[0], measure), Const(args[1])))
    else:
        found = _data(node)
    if found is None:
        raise Unreadable(str(node))
    return found


def constrained(graph: Any, measure: Measure) -> Iterator[tuple[Size, int | None, int | None]]:
    """Yields the sizes that ``graph`` keeps in a range by an operation of its own, each with its bounds."""
    for node in graph.nodes:
        if node.op != "call_function" or "sym_constrain_range" not in str(node.target):
            continue
        try:
            size = computed_size(node.args[0], measure)
        except Unreadable:  # about data
            continue
        given = [*node.args[1:], None, None]
        low, high = (node.kwargs.get(key, bound) for key, bound in (("min", given[0]), ("max", given[1])))
        yield size, low if isinstance(low, int) else None, high if isinstance(high, int) else None


def is_size_of(node: Any) -> bool:
    """Returns whether ``node`` is one size of a tensor."""
    return "sym_size" in str(getattr(node, "target", "")) and len(getattr(node, "args", ())) == 2


def _plus(left: Size, right: Size) -> Size:
    return Apply(OPERATORS["+"], (left, right))


def _data(node: Any) -> Size | None:
    """Returns the symbol of what data decides, such as ``.item()``: whatever it is, no input's size tells it."""
    value = getattr(node, "meta", {}).get("val")
    expression = getattr(getattr(value, "node", None), "_expr", None)
    target = str(getattr(node, "target", ""))
    if expression is not None and expression.is_Symbol and ("local_scalar_dense" in target or ".item" in target):
        return Var(expression.name)
    return None


def leaves_of(node: Any) -> Iterator[Any]:
    """Yields the nodes that an int or a bool is computed from: sizes of tensors, inputs, data."""
    pending, seen = [node], set[Any]()
    while pending:
        each = pending.pop()
        if not hasattr(each, "op") or each in seen:
            continue
        seen.add(each)
        if each.op == "placeholder" or is_size_of(each) or not _is_number(each):
            yield each
        else:
            pending += each.all_input_nodes


def _is_number(node: Any) -> bool:
    value = node.meta.get("val")
    return not hasattr(value, "shape") and "local_scalar_dense" not in str(node.target)


__all__ = ["computed_predicate", "computed_size", "constrained", "is_size_of", "leaves_of"]
