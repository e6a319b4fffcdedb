"""Sizes made right: constants folded, nesting bounded, members of sets listed. Used by the parser and by `expand`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...diagnostics import Report, Span
from ...ir import (
    COMPARISONS,
    FUNCTIONS,
    OPERATORS,
    And,
    Apply,
    Compare,
    Const,
    Not,
    Operator,
    Or,
    Predicate,
    Size,
)
from . import limits
from .limits import fail
from .syntax import SIZES, Bound

POW = OPERATORS["**"]
MOD = OPERATORS["%"]
EQ = COMPARISONS["=="]
GE = COMPARISONS[">="]
LE = COMPARISONS["<="]


def apply(op: Operator, args: tuple[Size, ...], span: Span | None, report: Report) -> Size:
    """Returns ``op`` on ``args``, folded to a `Const` where all of them are constants.

    Args:
        op: The operator.
        args: As many as it takes.
        span: The whole's.
        report: Receives what has no value: a division by 0, a negative exponent.

    Raises:
        UnreadableError: The value is not within int64.
    """
    if op is POW and not _good_exponent(args, span, report):
        return Const(1, span)
    values: list[int] = []
    for arg in args:
        if type(arg) is not Const:
            return Apply(op, args, span)
        values.append(arg.value)
    try:
        value = op.python(*values)
    except ZeroDivisionError:
        report.error("maybe-zero-divisor", "the divisor is 0", at=span, label="divides by 0")
        return Const(1, span)
    return constant(value, span)


def constant(value: int, span: Span | None) -> Const:
    """Returns a `Const`.

    Raises:
        UnreadableError: It is not within int64.
    """
    if not -limits.INTEGER <= value <= limits.INTEGER:
        fail("input-too-large", "a number beyond 2**63 - 1", span)
    return Const(value, span)


def literal(text: str, span: Span) -> Const:
    """Returns the number that ``text`` spells; a number of thousands of digits is not computed."""
    if len(text) > 40 and len(text.replace("_", "").lstrip("0")) > 19:
        return constant(limits.INTEGER + 1, span)
    return constant(int(text), span)


def _good_exponent(args: tuple[Size, ...], span: Span | None, report: Report) -> bool:
    base, exponent = args
    if type(exponent) is not Const:
        return True  # a const's name; `checked_powers` looks again once it is expanded
    if exponent.value < 0:
        report.error("not-constant", "an exponent is a constant >= 0", at=exponent.span or span)
        return False
    cheap = type(base) is Const and -1 <= base.value <= 1
    if exponent.value > limits.EXPONENT and not cheap:
        fail("input-too-large", f"an exponent above {limits.EXPONENT}", exponent.span or span)
    return True


def compare(name: str, left: Size, right: Size, span: Span | None) -> Compare:
    """Returns a comparison by its operator's spelling."""
    return Compare(COMPARISONS[name], left, right, span)


def within(subject: Size, low: Bound, high: Bound, span: Span) -> Predicate:
    """Returns ``subject in [low, high]``: an infinite end is no conjunct."""
    parts: list[Predicate] = []
    if isinstance(low, SIZES):
        parts.append(Compare(GE, subject, low, span))
    if isinstance(high, SIZES):
        parts.append(Compare(LE, subject, high, span))
    return parts[0] if len(parts) == 1 else And(tuple(parts), span)


def member(subject: Size, members: Sequence[Size], span: Span) -> Predicate:
    """Returns ``subject in {members}``."""
    seen: list[Predicate] = [Compare(EQ, subject, size, span) for size in dict.fromkeys(members)]
    return seen[0] if len(seen) == 1 else Or(tuple(seen), span)


def multiple_of(subject: Size, modulus: int, residue: int, span: Span, report: Report) -> Predicate:
    """Returns ``subject multiple of modulus plus residue``."""
    remainder = apply(MOD, (subject, Const(modulus)), span, report)
    return Compare(EQ, remainder, Const(residue % modulus), span)


def checked_multiple(modulus: Size, residue: Size | None, span: Span, report: Report) -> tuple[int, int] | None:
    """Returns the modulus and the residue below it; None if they are no constants, or not positive (reported)."""
    if type(modulus) is not Const or (residue is not None and type(residue) is not Const):
        report.error("not-constant", "`multiple of` takes constants", at=span, label="not a constant")
        return None
    if modulus.value <= 0:
        report.error("not-constant", "`multiple of` takes a positive constant", at=modulus.span or span)
        return None
    return modulus.value, (residue.value if isinstance(residue, Const) else 0) % modulus.value


def parts_of(kind: type[And] | type[Or], predicate: Predicate) -> tuple[Predicate, ...]:
    """Returns what ``predicate`` joins if it is of ``kind``, else itself: nothing nests in its own kind."""
    return predicate.args if isinstance(predicate, (And, Or)) and type(predicate) is kind else (predicate,)


def negation(predicate: Predicate, span: Span) -> Predicate:
    """Returns ``not predicate``."""
    return Not(predicate, span)


def list_members(items: Sequence[Any], span: Span, report: Report) -> list[Size] | None:
    """Returns the members of a set, progressions continued; None if that cannot be done (reported).

    Args:
        items: Sizes, and ``...`` for "and so on": what stands before it continues to what stands behind.
        span: The set's.
        report: Receives ``not-constant``, ``syntax-error`` or ``input-too-large``.
    """
    members: list[Size] = []
    for i, item in enumerate(items):
        if item is not ...:
            members.append(item)
            continue
        known = [size.value for size in members if type(size) is Const]
        end = items[i + 1] if i + 1 < len(items) else None
        if len(known) < len(members) or (end is not None and type(end) is not Const and end is not ...):
            report.error("not-constant", "a progression is made of constants", at=span)
            return None
        if end is None or end is ... or len(known) < 2:
            report.error(
                "syntax-error",
                "a progression has two members before `...` and its last one behind",
                at=span,
                help="write it like {16, 32, ..., 256} or {1, 2, ..., 10}",
            )
            return None
        between = _progression(known, end.value)
        if between is None:
            report.error(
                "syntax-error",
                f"the progression never reaches {end.value}",
                at=end.span or span,
                note=f"it goes {known[-2]}, {known[-1]}, {2 * known[-1] - known[-2]}, and so on",
            )
            return None
        if len(between) + len(members) > limits.MEMBERS:
            return _too_many(span, report)
        members += [Const(value, span) for value in between]
    return members if len(members) <= limits.MEMBERS else _too_many(span, report)


def _too_many(span: Span, report: Report) -> list[Size] | None:
    report.error("input-too-large", f"a set of more than {limits.MEMBERS} members", at=span)
    return None


def _progression(known: list[int], end: int) -> range | list[int] | None:
    """Returns what stands strictly between the last of ``known`` and ``end``: geometric if that fits, else arithmetic."""
    last, step = known[-1], known[-1] - known[-2]
    ratio = last // known[-2] if known[-2] > 0 and last % known[-2] == 0 else 0
    if ratio >= 2 and all(a * ratio == b for a, b in pairwise(known)):
        between: list[int] = []
        value = last * ratio
        while value < end:
            between.append(value)
            value *= ratio
        if value == end:
            return between
    reaches = step and (end - last) % step == 0 and (end - last) // step > 0
    if reaches and all(b - a == step for a, b in pairwise(known)):
        return range(last + step, end, step)
    return None


def depth_and_nodes(root: Any) -> tuple[int, int]:
    """Returns how deep a size or predicate nests and how many nodes it has, counting no further than the limits.

    Shared parts count as often as they stand; the walk keeps its own stack.
    """
    deepest = nodes = 0
    stack: list[tuple[Any, int]] = [(root, 1)]
    while stack and nodes <= limits.NODES and deepest <= limits.DEPTH:
        node, depth = stack.pop()
        nodes += 1
        deepest = max(deepest, depth)
        children: tuple[Any, ...] = ()
        if isinstance(node, (Apply, And, Or)):
            children = node.args
        elif isinstance(node, Compare):
            children = (node.left, node.right)
        elif isinstance(node, Not):
            children = (node.arg,)
        stack += [(child, depth + 1) for child in children]
    return deepest, nodes


def is_too_large(root: Any, span: Span | None, report: Report) -> bool:
    """Returns whether a size or predicate is beyond the limits, and says so."""
    deepest, nodes = depth_and_nodes(root)
    if deepest > limits.DEPTH:
        report.error(
            "input-too-large",
            f"more than {limits.DEPTH} operators inside each other, or in one sum or product",
            at=span,
        )
        return True
    if nodes > limits.NODES:
        report.error("input-too-large", f"an expression of more than {limits.NODES} parts", at=span)
        return True
    return False


__all__ = ["FUNCTIONS", "apply", "checked_multiple", "compare", "constant", "is_too_large", "list_members", "literal"]
