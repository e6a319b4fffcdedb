"""``shapedsl check``: parse, normalize, report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from .. import pipeline
from ..diagnostics import Diagnostic, Edit, Report, Severity, Source
from .common import STANDARD_INPUT, const_option, exit_code, fail, format_option, read_source, say, show, write_file

_HIDDEN = 8  # mistakes of one statement that may hide each other
_ALONE = 50  # fixes that are tried one by one where they do not go together
_ROUNDS = 20  # of fixing and reading again: one fix may bring the next mistake of a statement to light


@click.command("check", short_help="Report everything that is wrong with .shapes files.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@format_option
@click.option("--strict", is_flag=True, help="Count warnings, and what is undecided, as findings: exit with 1.")
@click.option(
    "--fix",
    is_flag=True,
    help="Apply the fixes that cannot change which sizes are accepted: slips of spelling, and constraints that "
    "follow from others.",
)
@const_option
def command(files: tuple[str, ...], format_: str, strict: bool, fix: bool, consts: Mapping[str, int]) -> None:
    """Report everything that is wrong with .shapes files, in one run.

    \b
    shapedsl check net.shapes                       every finding, with its lines
    shapedsl check --fix net.shapes                 mend what is certain
    shapedsl check --strict --format github *.shapes    in continuous integration
    shapedsl check --const LIMIT=1024 net.shapes    with another limit
    shapedsl check - < net.shapes                   from standard input

    Exit codes: 0 clean, 1 findings, 2 a file could not be read, 3 only undecided.
    """
    if fix and STANDARD_INPUT in files:
        raise click.UsageError("--fix needs a file to write to, not standard input.")
    report = Report()
    specs = fixed = 0
    unreadable = False
    for name in dict.fromkeys(files):
        before = len(report)
        source = read_source(name, report)
        if source is None:
            unreadable |= any(d.code == "unreadable-file" for d in report.diagnostics[before:])
            continue
        count, found, mended = _check(name, source, consts, fix)
        specs, fixed = specs + count, fixed + mended
        for diagnostic in sorted(found, key=_place):
            report.add(diagnostic)
    show(report, format_)
    if format_ == "full":
        _summary(report, specs, fixed, fix)
    fail(2 if unreadable else exit_code(report, strict=strict))


def _check(name: str, source: Source, consts: Mapping[str, int], fix: bool) -> tuple[int, Report, int]:
    """Returns how many specs ``source`` holds, what is wrong with it, and how many findings were mended."""
    base = Path.cwd() if name == STANDARD_INPUT else Path(name).parent
    text = source.text
    fixed = specs = applied = fixable = 0
    report = Report()
    for remaining in range(_ROUNDS if fix else 0, -1, -1):
        report = Report()
        specs = len(pipeline.check(source, report, consts=consts, base=base).signatures)
        left = sum(map(_is_safe, report))
        fixed += max(applied, fixable - left)  # the edit of one finding may be what another one asks for too
        chosen = _helpful(source, _fixes(report, source), consts, base) if remaining else []
        if not chosen:
            break
        applied, fixable = len(chosen), left
        edited = _apply(source.text, [edit for edits in chosen for edit in edits])
        source = Source(source.name, edited)
    if source.text != text:
        try:
            write_file(Path(name), _mark(Path(name)) + source.text)
        except OSError as error:
            report.error("unreadable-file", f"cannot write `{name}`: {error.strerror or error}")
            fixed = 0
    return specs, report, fixed


def _mark(path: Path) -> str:
    """Returns the byte-order mark that a file starts with, if it does."""
    with path.open("rb") as file:
        return "\ufeff" if file.read(3) == b"\xef\xbb\xbf" else ""


def _helpful(
    source: Source, fixes: list[tuple[Severity, tuple[Edit, ...]]], consts: Mapping[str, int], base: Path
) -> list[tuple[Edit, ...]]:
    """Returns the edits that mend something: of errors, one by one, else those of warnings, if they break nothing."""
    mending = [edits for severity, edits in fixes if severity is Severity.ERROR and _helps(source, edits, consts, base)]
    if mending:
        return mending
    tidying = [edits for severity, edits in fixes if severity is not Severity.ERROR]
    if _is_harmless(source, tidying, consts, base):
        return tidying
    return [edits for edits in tidying[:_ALONE] if _is_harmless(source, [edits], consts, base)][:1]


def _is_harmless(source: Source, fixes: list[tuple[Edit, ...]], consts: Mapping[str, int], base: Path) -> bool:
    """Returns whether ``fixes`` together bring no error."""
    edited = Source(source.name, _apply(source.text, [edit for edits in fixes for edit in edits]))
    before, after = Report(), Report()
    pipeline.check(source, before, consts=consts, base=base)
    pipeline.check(edited, after, consts=consts, base=base)
    return len(after.errors) <= len(before.errors)


def _helps(source: Source, edits: tuple[Edit, ...], consts: Mapping[str, int], base: Path) -> bool:
    """Returns whether a fix leaves fewer errors: alone, or with the safe fixes of what it brings to light.

    What looks like one slip may be a part of another mistake: ``hint 8b`` is no product.
    """

    def errors(text: Source) -> list[Diagnostic]:
        report = Report()
        pipeline.read(text, report, consts=consts, base=base)
        return list(report.errors)

    before = errors(source)
    known = {_looks(diagnostic) for diagnostic in before}
    for _ in range(_HIDDEN):
        source = Source(source.name, _apply(source.text, list(edits)))
        after = errors(source)
        if len(after) < len(before):
            return True
        new = [diagnostic for diagnostic in after if _looks(diagnostic) not in known]
        fixes = [d.fix for d in new if d.fix is not None and d.fix.safe and d.fix.edits]
        if not fixes or len(new) > 1:
            return False
        edits = fixes[0].edits
    return False


def _looks(diagnostic: Diagnostic) -> tuple[str, str, str]:
    """Returns what a finding is known by in a text of which a part has moved: its message, its text and its line."""
    span = diagnostic.span
    if span is None:
        return diagnostic.message, "", ""
    return diagnostic.message, span.text, span.source.line(span.source.position(span.start)[0])


def _place(diagnostic: Diagnostic) -> tuple[bool, str, int]:
    """Sorts findings as a reader meets them; what has no place comes first, since it concerns the whole file."""
    span = diagnostic.span
    return (False, "", 0) if span is None else (True, span.source.name, span.start)


def _fixes(report: Report, source: Source) -> list[tuple[Severity, tuple[Edit, ...]]]:
    """Returns the edits of each safe fix in ``source``, and how bad its finding is; of overlapping ones, the first."""
    chosen: list[tuple[Severity, tuple[Edit, ...]]] = []
    taken: list[tuple[int, int]] = []
    for diagnostic in report:
        if diagnostic.fix is None or not diagnostic.fix.safe or not diagnostic.fix.edits:
            continue
        edits = diagnostic.fix.edits
        ranges = [(edit.span.start, edit.span.end) for edit in edits]
        inside = all(edit.span.source is source for edit in edits)
        clear = all(end < left or right < start for start, end in ranges for left, right in taken)
        if inside and clear:
            chosen.append((diagnostic.severity, edits))
            taken += ranges
    return chosen


def _apply(text: str, edits: list[Edit]) -> str:
    """Returns ``text`` with ``edits``, which do not overlap, done."""
    for edit in sorted(edits, key=lambda e: e.span.start, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text


def _summary(report: Report, specs: int, fixed: int, fix: bool) -> None:
    """Prints what the findings add up to."""
    errors, warnings = len(report.errors), sum(d.severity is Severity.WARNING for d in report)
    parts = [_count(n, word) for n, word in ((errors, "error"), (warnings, "warning")) if n]
    parts = parts or [f"{_count(specs, 'spec')}: no findings"]
    if fixed:
        parts.append(f"{fixed} fixed")
    fixable = sum(_is_safe(d) for d in report)
    if fixable and not fix:
        parts.append(f"{fixable} can be fixed with --fix")
    if len(report):
        say()
    say(", ".join(parts))


def _is_safe(diagnostic: Diagnostic) -> bool:
    return diagnostic.fix is not None and diagnostic.fix.safe and bool(diagnostic.fix.edits)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
