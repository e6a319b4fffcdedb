"""The parser's callbacks for statements and clauses."""
# ruff: noqa: ARG002, D102 - each method is a rule of the grammar, called with the same arguments

from __future__ import annotations

from typing import Any, Final

from ...diagnostics import Span
from ...ir import Bucket, Const, Drop, Edge, Mode, Pad, Path, Predicate, Size, Type, VariableKind
from . import limits
from .build_types import TypeBuilder, param_list
from .limits import fail
from .syntax import (
    INFINITY,
    SIZES,
    AlternativeClause,
    BucketClause,
    Class,
    ConstStatement,
    Def,
    Doc,
    Drops,
    HintLine,
    Import,
    Labeled,
    Language,
    Let,
    Multiple,
    Name,
    Pair,
    Range,
    RankClause,
    Row,
    SizesStatement,
    TypeStatement,
    ValuesClause,
    Where,
)

BROKEN: Final = "\0broken"  # what a def, class or case is called whose first line could not be read
NOTHING: Final = "..."  # a line that says nothing; it keeps two runs of buckets apart
RECEIVERS: Final = ("self", "cls")


class Builder(TypeBuilder):
    """Makes everything; what `parse` hands to the automaton."""

    def file(self, start: int, end: int, _: object, statements: list[Any]) -> list[Any]:
        return statements

    # ------------------------------------------------------------------------------ statements

    def language(self, start: int, end: int, version: str) -> Language:
        return Language(version, self.span(start, end))

    def import_(self, start: int, end: int, path: Name, names: list[Name]) -> Import:
        return Import(path.text, names, self.span(start, end), path.span)

    def quoted(self, start: int, end: int, written: str) -> Name:
        return Name(self.text(start, end, written), self.span(start, end))

    def const(self, start: int, end: int, names: list[Name], value: Size) -> ConstStatement:
        self.taken()
        return ConstStatement(names, value, self.span(start, end))

    def static_const(self, start: int, end: int, names: list[Name], interval: Range | None, _: str) -> SizesStatement:
        self.taken()
        return SizesStatement(
            VariableKind.CONST, [(name, False) for name in names], interval, None, None, self.span(start, end)
        )

    def starred(self, start: int, end: int, name: Name) -> tuple[Name, bool]:
        return Name(name.text, self.span(start, end)), True

    def dim_sizes(self, start: int, end: int, *parts: Any) -> SizesStatement:
        return self._sizes(VariableKind.DIM, start, end, *parts)

    def int_sizes(self, start: int, end: int, *parts: Any) -> SizesStatement:
        return self._sizes(VariableKind.INT, start, end, *parts)

    def _sizes(
        self,
        kind: VariableKind,
        start: int,
        end: int,
        names: list[Any],
        interval: Range | None,
        multiple: Multiple | None,
        hint: Size | None,
    ) -> SizesStatement:
        pairs = [(item, False) if isinstance(item, Name) else item for item in names]
        self.taken()
        return SizesStatement(kind, pairs, interval, multiple, hint, self.span(start, end))

    def let(self, start: int, end: int, name: Name, value: Size) -> Let:
        self.taken()
        return Let(name, value, self.span(start, end))

    def type_name(self, start: int, end: int, name: Name, parameters: list[Name] | None, value: Type) -> TypeStatement:
        self.taken()
        seen: dict[str, Span] = {}
        for parameter in parameters or ():
            if seen.setdefault(parameter.text, parameter.span) is not parameter.span:
                self.report.error(
                    "duplicate-name",
                    f"two sizes of `{name.text}` are called `{parameter.text}`",
                    at=parameter.span,
                    also=[(seen[parameter.text], "first here")],
                )
        return TypeStatement(name, parameters, value, self.span(start, end))

    def labeled(self, start: int, end: int, predicate: Predicate, message: str | None) -> Labeled:
        return Labeled(predicate, message, predicate.span or self.span(start, end))

    def where(self, start: int, end: int, predicates: list[Labeled]) -> Where:
        if len(predicates) > limits.MEMBERS:
            fail("input-too-large", f"more than {limits.MEMBERS} predicates in a line", self.span(start, end))
        return Where(predicates, self.span(start, end), *self.taken())

    def class_(self, start: int, end: int, name: Name, _: object, members: list[Any]) -> Class:
        return Class(name, members, name.span)

    def empty_class(self, start: int, end: int, name: Name, _: str) -> Class:
        return Class(name, [], name.span)

    def class_head(self, start: int, end: int, name: Name) -> Name:
        return name

    def def_head(
        self, start: int, end: int, name: Name, index: str | None, params: list[Any] | None, returns: Type | None
    ) -> Def:
        number = 1 if index is None else self.number(start, end, index)
        if number < 1:
            self.report.error("syntax-error", "`name@2` counts from 1", at=name.span)
            number = 1
        return Def(name, number, param_list(params or [], self), returns, [], name.span, *self.taken())

    def def_(self, start: int, end: int, head: Def, body: list[Any]) -> Def:
        head.clauses = body
        used, pending = self.taken()
        head.names |= used
        head.pending = head.pending or pending
        for clause in body:
            if isinstance(clause, Where):
                head.names |= clause.names
                head.pending = head.pending or clause.pending
        return head

    # --------------------------------------------------------------------------------- clauses

    def nothing(self, start: int, end: int, _: str) -> Any:
        return NOTHING

    def doc(self, start: int, end: int, text: str) -> Doc:
        return Doc(text)

    def values(self, start: int, end: int, paths: list[Path], interval: Range) -> ValuesClause:
        span = self.span(start, end)
        if isinstance(interval.low, SIZES) and isinstance(interval.high, SIZES):
            return ValuesClause(paths, interval.low, interval.high, False, span)
        self.report.error("not-constant", "the range of values has finite ends", at=interval.span)
        return ValuesClause(paths, Const(0), Const(0), False, span)

    def sorted_values(self, start: int, end: int, paths: list[Path], low: Size, high: Size) -> ValuesClause:
        return ValuesClause(paths, low, high, True, self.span(start, end))

    def pair(self, start: int, end: int, name: Name, value: Size) -> Pair:
        return Pair(name, value)

    def rank(self, start: int, end: int, pairs: list[Pair]) -> RankClause:
        return RankClause(pairs)

    def hint_line(self, start: int, end: int, pairs: list[Pair]) -> HintLine:
        self.used.update(pair.name.text for pair in pairs)
        return HintLine(pairs)

    def drop(self, start: int, end: int, paths: list[Path]) -> Drops:
        return Drops([Drop(path, False, path.span) for path in paths])

    def keep(self, start: int, end: int, paths: list[Path]) -> Drops:
        return Drops([Drop(path, True, path.span) for path in paths])

    def mode_line(self, start: int, end: int, mode: str) -> Mode:
        return Mode(mode)

    def case(
        self,
        start: int,
        end: int,
        name: str | None,
        predicates: list[Predicate],
        mode: str | None,
        hints: list[Pair] | None,
    ) -> AlternativeClause:
        labeled = [Labeled(p, None, p.span or self.span(start, end)) for p in predicates]
        return self._alternative("case", name, start, end, labeled, mode, hints)

    def otherwise(self, start: int, end: int, mode: str | None, hints: list[Pair] | None) -> AlternativeClause:
        return self._alternative("otherwise", None, start, end, [], mode, hints)

    def _alternative(
        self,
        keyword: str,
        name: str | None,
        start: int,
        end: int,
        predicates: list[Labeled],
        mode: str | None,
        hints: list[Pair] | None,
    ) -> AlternativeClause:
        self.used.update(pair.name.text for pair in hints or ())
        return AlternativeClause(
            keyword,
            name,
            predicates,
            Mode.COMPILED if mode is None else Mode(mode),
            hints or [],
            [],
            [],
            self.span(start, end),
        )

    def case_block(self, start: int, end: int, name: str | None, block: list[Any]) -> AlternativeClause:
        return self._block("case", name, start, block)

    def otherwise_block(self, start: int, end: int, block: list[Any]) -> AlternativeClause:
        return self._block("otherwise", None, start, block)

    def _block(self, keyword: str, name: str | None, start: int, block: list[Any]) -> AlternativeClause:
        colon = self.source.text.find(":", start)
        made = AlternativeClause(keyword, name, [], Mode.COMPILED, [], [], [], self.span(start, max(colon, start)))
        for line in block:
            match line:
                case Where(predicates=predicates):
                    made.predicates += predicates
                case HintLine(pairs=pairs):
                    made.hints += pairs
                case BucketClause():
                    made.buckets.append(line)
                case Drops(drops=drops):
                    made.drops += drops
                case Mode():
                    if made.mode not in (Mode.COMPILED, line):
                        message = f"this {keyword} is both `{made.mode.value}` and `{line.value}`"
                        self.report.error("syntax-error", message, at=made.span, help="keep one of the two")
                    made.mode = line
                case _:
                    pass
        return made

    # --------------------------------------------------------------------------------- buckets

    def row(self, start: int, end: int, cells: list[Any]) -> Row:
        return Row(cells)

    def pad(self, start: int, end: int, path: Path, axis: Any, fill: Any) -> Pad:
        return Pad(path, fill, axis, self.span(start, end))

    def bucket(
        self,
        start: int,
        end: int,
        variable: Name,
        rounding: list[Any] | Multiple | None,
        shared: str | None,
        place: Size | str | None,
        pads: list[Pad] | None,
        reason: Name | None,
    ) -> BucketClause:
        span = self.span(start, end)
        self.used.add(variable.text)
        bucket = Bucket(
            variable.text,
            shared=shared is not None,
            position="end" if place is None else place,
            pads=None if pads is None else tuple(pads),
            reason=None if reason is None else reason.text,
            span=span,
        )
        if isinstance(rounding, Multiple):
            return BucketClause(bucket, variable, None, rounding, span)
        return BucketClause(bucket, variable, rounding or [], None, span)

    def true(self, start: int, end: int, _: str) -> bool:
        return True

    def false(self, start: int, end: int, _: str) -> bool:
        return False

    def edge(self, start: int, end: int, _: str) -> Edge:
        return Edge()

    def real(self, start: int, end: int, text: str) -> Any:
        return float(text)

    def negative_real(self, start: int, end: int, text: str) -> Any:
        return -float(text)

    def real_infinity(self, start: int, end: int) -> Any:
        return INFINITY

    def minus_real_infinity(self, start: int, end: int) -> Any:
        return -INFINITY

    def taken(self) -> tuple[set[str], bool]:
        """Returns the names of sizes, and whether there were pseudo nodes, since the last call; forgets both."""
        used, pending = self.used, self.pending
        self.used, self.pending = set(), False
        return used, pending


__all__ = ["BROKEN", "NOTHING", "RECEIVERS", "Builder"]
