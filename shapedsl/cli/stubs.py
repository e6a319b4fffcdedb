"""``shapedsl stubs``: the specs of stubs and annotated Python files, as ``.shapes`` text; and the way back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import pipeline
from ..diagnostics import Report, ShapeError
from .common import (
    STANDARD_INPUT,
    const_option,
    fail,
    format_option,
    read_source,
    refusal,
    say,
    show,
    write_file,
)

if TYPE_CHECKING:
    from ..pipeline import Module


@click.command("stubs", short_help="Read specs from .pyi stubs and annotated Python files.")
@click.argument("files", metavar="PATH...", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--to", "target", type=click.Choice(("shapes", "pyi")), default="shapes", help="What is written.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write to a file instead of standard output.")
@click.option("--list", "listed", is_flag=True, help="Print the entries of the stub library, or those named.")
@format_option
@const_option
def command(
    files: tuple[str, ...], target: str, output: str | None, listed: bool, format_: str, consts: Mapping[str, int]
) -> None:
    """Print the specs that stubs and annotated Python files state. They are read, and nothing is imported.

    \b
    shapedsl stubs net.pyi                  its specs, as .shapes text
    shapedsl stubs - < net.pyi              the same, of standard input
    shapedsl stubs src/net -o net.shapes    those of a folder; names begin with their module's
    shapedsl stubs --to pyi net.shapes      a stub that says the same
    shapedsl stubs --list                   the stub library: a line for each spec
    shapedsl stubs --list LSTM nn.modules.linear.Linear
                                            the specs of these entries

    What of an annotation cannot be said is told on standard error, with its place. With errors, FILE is not written.
    Exit codes: 0, or 1 if a file has errors; 2 misuse.
    """
    if listed:
        if target != "shapes" or consts:
            raise click.UsageError("With --list, neither --to nor --const means anything.")
        _list(files, output, format_)
        return
    if not all(files):
        raise click.UsageError("A PATH is empty; the current folder is '.'.")
    if not files:
        raise click.UsageError("Missing argument 'PATH...'.")
    if output is not None and any(name != STANDARD_INPUT and _same(name, output) for name in files):
        raise click.UsageError(f"'{output}' is read; it is not overwritten.")
    report = Report()
    module = pipeline.together(_read(files, target, consts, report))
    text = pipeline.write_text(pipeline.sayable(module, report)) if target == "shapes" else None
    if text is None:
        text = pipeline.write_stub(module, report).rstrip("\n")
    if output is None:
        if text:
            say(text)
    elif not report.errors:
        _write(Path(output), f"{text}\n" if text else "", report)
    if format_ == "full" and not tuple(module) and not len(report):
        say("no specs: nothing here speaks of shapes", err=True)
    show(report, format_, err=True)
    fail(refusal(report.errors) if report.errors else 0)


def _same(name: str, output: str) -> bool:
    try:
        return os.path.samefile(name, output)
    except (OSError, ValueError):  # one of them is not there
        return False


def _write(path: Path, text: str, report: Report) -> None:
    try:
        write_file(path, text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        report.error("unreadable-file", f"cannot write `{path}`: {reason}")


def _list(names: tuple[str, ...], output: str | None, format_: str) -> None:
    """Prints the entries of the stub library, or writes them to a file; all of them, where none is named."""
    from ..api import listed_text

    report = Report()
    try:
        text = "\n\n".join(map(listed_text, names)) if names else listed_text()
    except ShapeError as error:
        for diagnostic in error.diagnostics:
            report.add(diagnostic)
    else:
        if output is None:
            say(text)
        else:
            _write(Path(output), f"{text}\n", report)
    show(report, format_, err=True)
    fail(refusal(report.errors) if report.errors else 0)


def _read(files: Sequence[str], target: str, consts: Mapping[str, int], report: Report) -> Iterator[Module]:
    """Yields the specs of each file, and of each file in a folder; all are stubs but ``.shapes`` text."""
    texts = [name for name in files if name.endswith(".shapes") or (name == STANDARD_INPUT and target == "pyi")]
    for name in dict.fromkeys(texts):
        source = read_source(name, report)
        if source is not None:
            base = Path.cwd() if name == STANDARD_INPUT else Path(name).parent
            module = pipeline.read(source, report, consts=consts, base=base)
            for signature in module:
                pipeline.resolve(signature, report)
            yield module
    stubs = [name for name in files if name not in texts]
    paths = [Path(name) for name in stubs if name != STANDARD_INPUT]
    sources = [(pipeline.read_python(path, report), module) for path, module in pipeline.stubs_below(paths)]
    if STANDARD_INPUT in stubs:
        sources.append((read_source(STANDARD_INPUT, report), ""))
    for source, name in sources:
        if source is not None:
            module = pipeline.read_stub(source, report, name)
            for signature in module:
                pipeline.resolve_open(signature, report)
            yield module


__all__ = ["command"]
