"""The parser's callbacks for sizes, dims and predicates: one method a rule or alias of the grammar.

A method receives the offsets of the whole, then what the grammar keeps of the rule's parts.
"""
# ruff: noqa: ARG002, D102 - each method is a rule of the grammar, called with the same arguments

from __future__ import annotations

from typing import Any

from ...diagnostics import Edit, Fix, Report, Source, Span
from ...ir import (
    COMPARISONS,
    FUNCTIONS,
    OPERATORS,
    And,
    Apply,
    Compare,
    Const,
    Dim,
    Ellipsis,
    Fresh,
    Or,
    Predicate,
    Size,
    Static,
    Var,
    Variadic,
)
from . import limits, sizes
from .limits import fail
from .syntax import INFINITY, Bound, InSet, Multiple, MultipleOf, Name, Range

_SHORT = 120  # code points: a shorter text cannot nest too deep


class SizeBuilder:
    """Makes sizes, dims and predicates.

    Attributes:
        source: What is parsed.
        report: Receives what is wrong beyond syntax.
        used: The names of sizes since someone last took them.
        pending: Whether a pseudo node was made since then.
    """

    def __init__(self, source: Source, report: Report) -> None:
        self.source = source
        self.report = report
        self.used: set[str] = set()
        self.pending = False
        self._depths: dict[int, tuple[int, Any]] = {}  # by id; the node is kept, so that no id is used twice

    def span(self, start: int, end: int) -> Span:
        """Returns a span of the source."""
        return Span(self.source, start, end)

    def _bounded(self, node: Any, parts: tuple[Any, ...], start: int, end: int) -> Any:
        """Returns ``node``; ends the parse if it nests too deep. Cheap for short texts, which cannot."""
        if end - start > _SHORT:
            depth = 1 + max(self._depth(part) for part in parts)
            if depth > limits.DEPTH:
                fail(
                    "input-too-large",
                    f"more than {limits.DEPTH} operators inside each other, or in one sum or product",
                    self.span(start, end),
                )
            self._depths[id(node)] = depth, node
        return node

    def _depth(self, part: Any) -> int:
        known = self._depths.get(id(part))
        return known[0] if known is not None else sizes.depth_and_nodes(part)[0]

    # ---------------------------------------------------------------------------------- lists

    def empty(self, start: int, end: int) -> list[Any]:
        return []

    def one(self, start: int, end: int, item: Any) -> list[Any]:
        return [item]

    def two(self, start: int, end: int, first: Any, second: Any) -> list[Any]:
        return [first, second]

    def append(self, start: int, end: int, items: list[Any], item: Any) -> list[Any]:
        items.append(item)
        return items

    def grow(self, start: int, end: int, lines: list[Any], line: Any) -> list[Any]:
        lines.append(line)
        return lines

    # ---------------------------------------------------------------------------------- pieces

    def name(self, start: int, end: int, text: str) -> Name:
        return Name(text, Span(self.source, start, end))

    def dotted(self, start: int, end: int, text: str) -> Name:
        return Name(text, Span(self.source, start, end))

    def longer(self, start: int, end: int, name: Name, text: str) -> Name:
        return Name(f"{name.text}.{text}", Span(self.source, start, end))

    def text(self, start: int, end: int, written: str) -> str:
        if written.startswith('"""') and len(written) >= 6:
            body, raw = written[3:-3], written
        else:
            body, raw = written[1:-1], written
        if "\\" not in body:
            return body
        import ast  # only strings with escapes need it
        import warnings

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an unknown escape stays as it is
                return str(ast.literal_eval(raw))
        except (SyntaxError, ValueError):
            self.report.error("syntax-error", "an escape in this string is incomplete", at=self.span(start, end))
            return body

    # ------------------------------------------------------------------------------------ dims

    def static_dim(self, start: int, end: int, _: str) -> Dim:
        return Static(Span(self.source, start, end))

    def ellipsis(self, start: int, end: int, _: str) -> Dim:
        return Ellipsis(Span(self.source, start, end))

    def fresh(self, start: int, end: int, name: Name | None = None) -> Dim:
        return Fresh(None if name is None else name.text, Span(self.source, start, end))

    def variadic(self, start: int, end: int, name: Name) -> Dim:
        self.used.add(name.text)
        return Variadic(name.text, Span(self.source, start, end))

    # ----------------------------------------------------------------------------------- sizes

    def constant(self, start: int, end: int, text: str) -> Size:
        span = Span(self.source, start, end)
        return Const(int(text), span) if len(text) < 19 else sizes.literal(text, span)

    def variable(self, start: int, end: int, name: str) -> Size:
        self.used.add(name)
        return Var(name, Span(self.source, start, end))

    def binary(self, start: int, end: int, left: Size, op: str, right: Size) -> Size:
        operator = OPERATORS[op]
        span = Span(self.source, start, end)
        if op == "**" and type(right) is not Const:
            self.pending = True  # a const's name, or an error
        if op == "**" or (type(left) is Const and type(right) is Const):
            folded = sizes.apply(operator, (left, right), span, self.report)
            return self._bounded(folded, (left, right), start, end)  # type: ignore[no-any-return]
        return self._bounded(Apply(operator, (left, right), span), (left, right), start, end)  # type: ignore[no-any-return]

    def slash_sign(self, start: int, end: int) -> int:
        return start

    def true_division(self, start: int, end: int, left: Size, slash: int, right: Size) -> Size:
        sign = self.span(slash, slash + 1)
        self.report.error(
            "true-division",
            "sizes are divided by `//`, which floors",
            at=sign,
            label="true division",
            help="write `//`, or `cdiv(a, b)` to round up",
            fix=Fix("write `//`", (Edit(sign, "//"),)),
        )
        return self.binary(start, end, left, "//", right)

    def negative(self, start: int, end: int, arg: Size) -> Size:
        span = Span(self.source, start, end)
        if type(arg) is Const:
            return Const(-arg.value, span)
        return self._bounded(Apply(OPERATORS["neg"], (arg,), span), (arg,), start, end)  # type: ignore[no-any-return]

    def call(self, start: int, end: int, name: str, args: list[Size]) -> Size:
        operator = FUNCTIONS.get(name)
        span = self.span(start, end)
        if operator is None:
            self.report.error(
                "unknown-name",
                f"there is no function `{name}`",
                at=self.span(start, start + len(name)),
                help=f"the functions are {', '.join(FUNCTIONS)}",
            )
            return Const(1, span)
        if operator.arity not in (None, len(args)):
            self.report.error("syntax-error", f"`{name}` takes {operator.arity} arguments, not {len(args)}", at=span)
            return Const(1, span)
        for arg in args:
            if isinstance(arg, Variadic) and operator.arity is not None:
                self.report.error("syntax-error", f"`{name}` takes no `*{arg.name}`", at=arg.span)
                return Const(1, span)
        if len(args) > limits.NODES:
            fail("input-too-large", f"a call with more than {limits.NODES} arguments", span)
        return self._bounded(sizes.apply(operator, tuple(args), span, self.report), tuple(args), start, end)  # type: ignore[no-any-return]

    # --------------------------------------------------------------------- intervals, multiples

    def infinity(self, start: int, end: int) -> Bound:
        return INFINITY

    def minus_infinity(self, start: int, end: int) -> Bound:
        return -INFINITY

    def interval(self, start: int, end: int, bounds: list[Bound]) -> Range:
        span = self.span(self.source.text.index("[", start), end)  # without the `in`
        if len(bounds) != 2:
            self.report.error(
                "range-needs-two",
                f"a range has two ends, not {len(bounds)}",
                at=span,
                help="write `in [lo, hi]`, both inclusive; `in {1, 2, 4}` lists sizes",
            )
            return Range(-INFINITY, INFINITY, span)
        low, high = bounds
        if low == INFINITY or high == -INFINITY:
            self.report.error("syntax-error", "no integer is in this range", at=span)
            return Range(-INFINITY, INFINITY, span)
        return Range(low, high, span)

    def multiple(self, start: int, end: int, modulus: Size, residue: Size | None) -> Multiple:
        at = modulus.span
        if at is not None and _has_sum(at.text) and "(" not in self.source.text[start : at.start]:
            self.report.warning(
                "ambiguous-multiple",
                f"`multiple of {at.text}` reads as `multiple of ({at.text})`",
                at=at,
                help="write `multiple of m plus r` for a remainder, or parentheses",
            )
        return Multiple(modulus, residue, self.span(start, end))

    def progression(self, start: int, end: int, _: str) -> Any:
        return ...

    # ------------------------------------------------------------------------------ predicates

    def compare(self, start: int, end: int, first: Size, chain: list[tuple[str, Size]]) -> Predicate:
        if len(chain) > limits.MEMBERS:
            fail("input-too-large", f"more than {limits.MEMBERS} comparisons in a chain", self.span(start, end))
        if len(chain) == 1:
            return Compare(COMPARISONS[chain[0][0]], first, chain[0][1], Span(self.source, start, end))
        parts: list[Predicate] = []
        for op, right in chain:
            left_span, right_span = first.span, right.span
            assert left_span is not None  # the parser makes no node without one
            parts.append(Compare(COMPARISONS[op], first, right, left_span.to(right_span)))
            first = right
        return And(tuple(parts), Span(self.source, start, end))

    def link(self, start: int, end: int, op: str, right: Size) -> tuple[str, Size]:
        return op, right

    def in_range(self, start: int, end: int, subject: Size, bounds: Range) -> Predicate:
        return sizes.within(subject, bounds.low, bounds.high, self.span(start, end))

    def not_in_range(self, start: int, end: int, subject: Size, bounds: Range) -> Predicate:
        return sizes.negation(self.in_range(start, end, subject, bounds), self.span(start, end))

    def in_set(self, start: int, end: int, subject: Size, items: list[Any] | None) -> Predicate:
        span = self.span(start, end)
        if not items:
            self.report.error("empty-set", "a set without members accepts nothing", at=span)
            return Or((), span)
        if ... in items and any(item is not ... and type(item) is not Const for item in items):
            self.pending = True
            return InSet(subject, items, span)  # type: ignore[return-value]
        members = sizes.list_members(items, span, self.report)
        return And((), span) if members is None else sizes.member(subject, members, span)

    def not_in_set(self, start: int, end: int, subject: Size, items: list[Any] | None) -> Predicate:
        return sizes.negation(self.in_set(start, end, subject, items), self.span(start, end))

    def is_multiple(self, start: int, end: int, subject: Size, multiple: Multiple) -> Predicate:
        span = self.span(start, end)
        if type(multiple.modulus) is not Const or (multiple.residue and type(multiple.residue) is not Const):
            self.pending = True
            return MultipleOf(subject, multiple, span)  # type: ignore[return-value]
        checked = sizes.checked_multiple(multiple.modulus, multiple.residue, multiple.span, self.report)
        return And((), span) if checked is None else sizes.multiple_of(subject, *checked, span, self.report)

    def and_(self, start: int, end: int, left: Predicate, right: Predicate) -> Predicate:
        return self._joined(And, left, right, self.span(start, end))

    def or_(self, start: int, end: int, left: Predicate, right: Predicate) -> Predicate:
        return self._joined(Or, left, right, self.span(start, end))

    def _joined(self, kind: type[And] | type[Or], left: Predicate, right: Predicate, span: Span) -> Predicate:
        """Returns ``left`` and/or ``right``, without nesting one kind in itself."""
        parts = (*sizes.parts_of(kind, left), *sizes.parts_of(kind, right))
        if len(parts) > limits.MEMBERS:
            fail("input-too-large", f"more than {limits.MEMBERS} predicates joined", span)
        return kind(parts, span)

    def not_(self, start: int, end: int, arg: Predicate) -> Predicate:
        return self._bounded(sizes.negation(arg, self.span(start, end)), (arg,), start, end)  # type: ignore[no-any-return]


def _has_sum(text: str) -> bool:
    """Returns whether a ``+`` or a binary ``-`` stands outside brackets in ``text``."""
    depth = 0
    for i, char in enumerate(text):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char in "+-" and depth == 0 and i > 0:
            return True
    return False
