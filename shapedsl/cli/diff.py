"""``shapedsl diff``: does a new version of a spec break the callers of the old one?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import pipeline
from ..diagnostics import Diagnostic, Report, Severity, ShapeError, Span
from .common import (
    STANDARD_INPUT,
    choose_specs,
    const_option,
    exit_code,
    fail,
    format_option,
    read_specs,
    say,
    show,
    split_target,
)
from .completion import complete_spec
from .revisions import RevisionError, read_at, revision

if TYPE_CHECKING:
    from ..pipeline import Signature

MISUSE = 2


@click.command("diff", short_help="Say whether a new version of a spec breaks the callers of the old one.")
@click.argument(
    "versions", metavar="OLD NEW | FILE...", nargs=-1, required=True, type=click.Path(allow_dash=True),
    shell_complete=complete_spec,
)  # fmt: skip
@click.option("--git", "revision_", metavar="REV", help="Compare each FILE with what it was at a git revision.")
@format_option
@const_option
def command(versions: tuple[str, ...], revision_: str | None, format_: str, consts: Mapping[str, int]) -> None:
    """Say whether a new version of a spec breaks the callers of the old one, with sizes as proof.

    \b
    shapedsl diff old.shapes new.shapes                   every spec, by name
    shapedsl diff old.shapes:f new.shapes:g               one spec with another
    shapedsl diff --git HEAD net.shapes                   what was changed since the last commit
    shapedsl diff --git main --format github *.shapes     in continuous integration
    shapedsl diff net.shapes mypkg.net                    a file with the annotations in a module
    shapedsl diff net.shapes mypkg.net:Net.forward        with those of one function (the module is imported)
    git show v1:net.shapes | shapedsl diff - net.shapes   from standard input

    Variables are matched by what they bind, not by name. Each change that breaks callers is an error,
    any other is listed as a note.

    Exit codes: 0 nothing breaks, 1 something does, 2 a version could not be read, 3 it could not be decided.
    """
    if revision_ is None and len(versions) != 2:
        raise click.UsageError("diff takes two versions, OLD and NEW; or --git REV and files.")
    if revision_ is not None and STANDARD_INPUT in versions:
        raise click.UsageError("--git needs files, not standard input.")
    if versions.count(STANDARD_INPUT) > 1:
        raise click.UsageError("standard input is one version, not two.")
    report = Report()
    relations: list[str] = []
    if revision_ is None:
        read = Report()
        sides = _sides(versions[0], versions[1], consts, read)
        relations += _compare(*sides, read, report)
    else:
        for target in dict.fromkeys(versions):
            read = Report()
            old = _at_revision(target, revision_, consts, read)
            new = _file(target, consts, read)
            relations += _compare(old, new, read, report)
    show(map(_from_here, report), format_)
    if format_ == "full":
        _summary(report, relations)
    fail(MISUSE if any(d.code not in _FOUND for d in report.errors) else exit_code(report))


def _from_here(diagnostic: Diagnostic) -> Diagnostic:
    """Returns a finding whose places in code are named from the current folder, as those in files are."""
    return replace(diagnostic, annotations=tuple(replace(a, span=_named(a.span)) for a in diagnostic.annotations))


def _named(span: Span) -> Span:
    source, here = span.source, os.path.join(os.getcwd(), "")
    if not source.name.startswith(here) or not source.name.endswith(".py"):
        return span
    return Span(source.called(source.name.removeprefix(here)), span.start, span.end)


_FOUND = ("breaking-change", "compatible-change", "undecided")


def _compare(old: list[Signature], new: list[Signature], read: Report, report: Report) -> list[str]:
    """Adds to ``report`` what differs, or why the versions could not be read; returns the relation, if there is one."""
    if read.errors:
        for diagnostic in read:
            report.add(diagnostic)
        return []
    from ..api.comparing import tell_files

    return [tell_files(old, new, report)]


def _file(target: str, consts: Mapping[str, int], report: Report) -> list[Signature]:
    name, spec = split_target(target)
    found = read_specs(name, spec, consts, report)
    return _resolved(found, report)


def _at_revision(target: str, name: str, consts: Mapping[str, int], report: Report) -> list[Signature]:
    """Returns the specs of a file as they were, under its name of then; none if it is new."""
    file, spec = split_target(target)
    path = Path(file)
    try:
        at = revision(name, path)
        before = at.former(path)
        if before is None and path.is_file():
            return []
        before = before or path
        source = read_at(at, before, report)
    except RevisionError as error:
        raise click.UsageError(f"{error}.") from None
    if source is None:
        return []
    module = pipeline.read(source, report, consts=consts, base=before.parent, load=at.load)
    return _resolved(choose_specs(list(module), spec, report), report)


def _resolved(signatures: list[Signature], report: Report) -> list[Signature]:
    for signature in signatures:
        pipeline.resolve(signature, report)
    return signatures


def _sides(old: str, new: str, consts: Mapping[str, int], report: Report) -> tuple[list[Signature], list[Signature]]:
    """Returns the specs of both versions; a module's or a function's, where one is no file."""
    for target in (old, new):
        name, _ = split_target(target)
        if name.endswith(".py"):
            module = name.removesuffix(".py").removeprefix("./").replace("/", ".")
            raise click.UsageError(
                f"`{name}` is Python, which is named as a module: `{module}` or `{module}:FUNCTION`."
            )
    files = [_is_file(old), _is_file(new)]
    read = [_file(target, consts, report) if is_file else [] for target, is_file in zip((old, new), files, strict=True)]
    if all(files):
        return read[0], read[1]
    from ..api.importing import annotated

    for at, (target, is_file) in enumerate(zip((old, new), files, strict=True)):
        if is_file:
            continue
        try:
            specs = annotated(target, read[1 - at] if files[1 - at] else None)
        except ShapeError as error:
            for diagnostic in error.diagnostics:
                report.add(diagnostic)
            continue
        except ImportError as error:
            raise click.UsageError(f"{error}.") from None
        read[at] = list(specs.signatures)
        if files[1 - at]:
            read[1 - at] = list(specs.others)
    return read[0], read[1]


def _is_file(target: str) -> bool:
    """Whether ``target`` is a file (with a spec's name perhaps), not the name of a module."""
    name, _ = split_target(target)
    if name == STANDARD_INPUT or name.endswith(".shapes") or os.path.exists(name):
        return True
    module, colon, item = target.partition(":")
    return not (_is_dotted(module) and (not colon or _is_dotted(item)))


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _summary(report: Report, relations: Sequence[str]) -> None:
    """Prints what the changes add up to."""
    if not relations:
        return
    breaking = sum(d.code == "breaking-change" for d in report)
    others = sum(d.severity is Severity.NOTE for d in report)
    parts = [f"{n} {word}" for n, word in ((breaking, "breaking"), (others, "compatible")) if n]
    if len(report):
        say()
    relation = relations[0] if len(set(relations)) == 1 else "mixed"
    if relation == "equal" and breaking:  # less is claimed of a result
        relation = "the same calls are accepted"
    say(f"{relation}: {', '.join(parts)}" if parts else relation)
