"""A plan put into the text that its spec was read from. Layout and comments stay; the result says what is planned.

Before::

    def encode(ids: int64[B, S]):
        dim B in [1, 64]
        where S >= 1  # there is a first token

After ``B >= 2`` and ``S >= 2`` were found::

    def encode(ids: int64[B, S]):
        # B >= 2: net.py:12 asks whether `B == 1`
        dim B in [2, 64]
        where S >= 2  # net.py:20 asks whether `S > 1`

What the def itself says in fewer sizes is replaced, so that nothing is said in vain; what a file declares stays as it
is, since other specs import it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from .. import pipeline
from ..diagnostics import Diagnostic, Report, Source, Span
from ..ir import Compare, Const, Constraint, Level, Origin, Predicate, Signature, Var
from ..normalize.decide import Proved, implied_by
from ..serving.curing.lines import Lines, left_out_rows, lines_of, reasons
from ..serving.curing.model import Added, is_bound
from ..serving.curing.planned import Plan

MOST_SUPERSEDED: Final = 8  # bounds of the old text
_INTERVAL = re.compile(r"(?P<head>in\s*\[\s*)(?P<low>-?[0-9_]+|-\s*inf)(?P<comma>\s*,\s*)(?P<high>-?[0-9_]+|inf)")


def patched(source: Source, plan: Plan, overrides: Mapping[str, int] | None) -> tuple[str, Signature] | None:
    """Returns the text with what a plan adds, and what it then says; None if the def cannot be edited as it stands.

    Args:
        source: What the spec was read from.
        plan: What is to be added.
        overrides: Of ``const`` statements, with which it was read.
    """
    reader = _Reader(source, plan, overrides)
    tightened = _tightened(source, plan)
    if tightened is not None and (found := reader.tried(*tightened)) is not None:
        return found
    return reader.tried(source.text, lines_of(plan))


def text_of(signature: Signature, overrides: Mapping[str, int] | None) -> Source | None:
    """Returns the ``.shapes`` text that a spec was read from, if there is one that says it."""
    if signature.span is None or signature.span.source.name.endswith((".py", ".pyi")):
        return None
    source = signature.span.source
    found = _find(source, signature.key, overrides)[0]
    return source if found == signature else None


def diff(source: Source, text: str) -> str:
    """Returns a unified diff."""
    from difflib import unified_diff

    old, new = source.text.splitlines(keepends=True), text.splitlines(keepends=True)
    return "".join(
        row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n"
        for row in unified_diff(old, new, source.name, source.name)
    )


class _Reader:
    """Edits one text, and reads what became of it."""

    def __init__(self, source: Source, plan: Plan, overrides: Mapping[str, int] | None) -> None:
        self.source = source
        self.plan = plan
        self.overrides = overrides
        self.is_laid_out = pipeline.format_text(source, Report()) == source.text
        _, self.others, self.before = _find(source, plan.signature.key, overrides)

    def tried(self, text: str, lines: Lines) -> tuple[str, Signature] | None:
        """Returns the text with ``lines``, and what it says, if that is what is planned and nothing else."""
        signature = self.plan.signature
        if text != self.source.text:  # the same def, in the text that was edited before
            found = _find(Source(self.source.name, text), signature.key, self.overrides)[0]
            if found is None or len(found.alternatives) != len(signature.alternatives):
                return None
            signature = found
        made = pipeline.with_assumptions(text, signature, lines.where, lines.blocks, lines.fronts)
        if made is None:
            return None
        made = self._without_superseded(made, {row.strip() for row in _rows(lines)})
        if self.is_laid_out:
            made = pipeline.format_text(Source(self.source.name, made), Report())
        if made is None:
            return None
        now, others, report = _find(Source(self.source.name, made), signature.key, self.overrides)
        if now is None or report.errors or others != self.others:
            return None
        return (made, now) if _says(now, self.plan.cured(), self.plan.where) else None

    def _without_superseded(self, text: str, new: Collection[str]) -> str:
        """Returns the text without the bounds that the new lines say in fewer sizes.

        What else is redundant now stays, and the finding is silenced: torch does not conclude ``A <= B`` from
        ``2 * A <= B``, so that a trace may need both.

        Args:
            text: With the new lines.
            new: These, none of which goes.
        """
        known = {(d.code, d.message) for d in self._checked(self.source.text)}
        for _ in range(len(new) + MOST_SUPERSEDED):
            report = self._checked(text)
            found = [d for d in report if d.code == "redundant" and (d.code, d.message) not in known]
            if not found or report.errors:
                break
            changed = next((made for each in found if (made := self._mended(text, each, new)) is not None), None)
            if changed is None:
                break
            text = changed
        return text

    def _mended(self, text: str, found: Diagnostic, new: Collection[str]) -> str | None:
        """Returns the text without one redundant finding; None where nothing can be done about it."""
        if found.span is None:
            return None
        start, end = _row_of(text, found.span.start)
        row = text[start:end]
        if row.strip() in new or not self._is_superseded(text, found.span):
            if "shapedsl:" in row or not row.lstrip().startswith("where"):
                return None
            return f"{text[:start]}{row.rstrip()}  # shapedsl: ignore[redundant]{row[len(row.rstrip()) :]}{text[end:]}"
        if found.fix is None or not found.fix.safe or not found.fix.edits:
            return None
        for edit in sorted(found.fix.edits, key=lambda edit: edit.span.start, reverse=True):
            text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
        return text

    def _is_superseded(self, text: str, span: Span) -> bool:
        """Returns whether a bound stands here of which a narrower one was added: torch loses nothing with it."""
        now = _find(Source(self.source.name, text), self.plan.signature.key, self.overrides)[0]
        there = [] if now is None else [c for c in now.constraints if c.span is not None and c.span.start == span.start]
        added = {_end(each.predicate) for each in self.plan.where}
        for each in self.plan.blocks.values():
            added.update(_end(one.predicate) for one in each)
        return bool(there) and all((end := _end(c.predicate)) is not None and end in added for c in there)

    def _checked(self, text: str) -> Report:
        report = Report()
        base = Path(self.source.name).parent
        pipeline.check(Source(self.source.name, text), report, consts=self.overrides, base=base)
        return report


def _rows(lines: Lines) -> Iterator[str]:
    yield from lines.where
    for rows in (*lines.blocks.values(), *lines.fronts.values()):
        yield from rows


def _find(
    source: Source, key: str, overrides: Mapping[str, int] | None
) -> tuple[Signature | None, list[Signature], Report]:
    """Returns the spec that is called ``key``, the others of its text, and what is wrong with that."""
    report = Report()
    module = pipeline.read(source, report, consts=overrides, base=Path(source.name).parent)
    found = next((each for each in module if each.key == key), None)
    return found, [each for each in module if each.key != key], report


def _says(now: Signature, planned: Signature, added: Sequence[Added]) -> bool:
    """Returns whether ``now`` is what is planned, but for bounds that others imply."""
    if replace(now, constraints=planned.constraints) != planned:
        return False
    stated = [constraint.predicate for constraint in now.constraints]
    wanted = [constraint.predicate for constraint in planned.constraints]
    needed = [each.predicate for each in added if not is_bound(each.predicate)]
    return all(p in stated for p in needed) and all(
        p in there or isinstance(implied_by(now.variables, there, p), Proved)
        for predicates, there in ((wanted, stated), (stated, wanted))
        for p in predicates
    )


def _tightened(source: Source, plan: Plan) -> tuple[str, Lines] | None:
    """Returns the text with narrower ranges where the def declares them, and the lines that are then left; None if none.

    A declaration of several sizes is narrowed if all of them are, alike.
    """
    signature = plan.signature
    edits: list[tuple[int, int, str]] = []
    done: list[Added] = []
    for added in plan.where:
        if added in done:
            continue
        match added.predicate:
            case Compare(op=op, left=Var(name=name), right=Const(value=value)) if op.name in (">=", "<="):
                pass
            case _:
                continue
        declared = _declared(signature, name, op.name)
        if declared is None or declared.span is None or declared.span.source is not source:
            continue
        shared = {
            each.left.name
            for constraint in signature.constraints
            if constraint.span == declared.span and isinstance(each := constraint.predicate, Compare)
            if isinstance(each.left, Var) and each.op.name == op.name
        }
        together = [
            each
            for each in plan.where
            if any(each.predicate == Compare(op, Var(other), Const(value)) for other in shared)
        ]
        place = _INTERVAL.search(source.text, *_row_of(source.text, declared.span.start))
        if len(together) != len(shared) or place is None:
            continue
        group = "low" if op.name == ">=" else "high"
        edits.append((place.start(group), place.end(group), str(value)))
        row = source.text.rfind("\n", 0, place.start()) + 1
        margin = source.text[row : row + len(source.text[row:]) - len(source.text[row:].lstrip(" \t"))]
        said = [line for each in together for line in (f"# {each.text}: {reasons(each)}", *left_out_rows(each, plan))]
        newline = "\r\n" if "\r\n" in source.text else "\n"
        edits.append((row, row, "".join(f"{margin}{line}{newline}" for line in said)))
        done += together
    if not done:
        return None
    text = source.text
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text, lines_of(replace(plan, where=[each for each in plan.where if each not in done]))


def _end(predicate: Predicate) -> tuple[str, bool] | None:
    """Returns of which size a bound is, and whether it is a lower one; None if it is no bound."""
    match predicate:
        case Compare(op=op, left=Var(name=name), right=Const()) if is_bound(predicate):
            return name, op.name in (">", ">=")
        case _:
            return None


def _declared(signature: Signature, name: str, op: str) -> Constraint | None:
    """Returns the end of a range that the def itself declares."""
    for constraint in signature.constraints:
        match constraint.predicate:
            case Compare(op=found, left=Var(name=left), right=Const()) if (left, found.name) == (name, op):
                if constraint.origin is Origin.DECLARED and constraint.level is Level.DEF:
                    return constraint
            case _:
                pass
    return None


def _row_of(text: str, at: int) -> tuple[int, int]:
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, end if end >= 0 else len(text)


__all__ = ["diff", "patched", "text_of"]
