"""``shapedsl stubs``: the specs of stubs and annotated Python files, as ``.shapes`` text; and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import pipeline
from ..diagnostics import Report, ShapeError
from .common import STANDARD_INPUT, const_option, fail, read_source, refusal, say, show

if TYPE_CHECKING:
    from ..pipeline import Module


@click.command("stubs", short_help="Read specs from .pyi stubs and annotated Python files.")
@click.argument("files", metavar="FILE...", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--to", "target", type=click.Choice(("shapes", "pyi")), default="shapes", help="What is written.")
@click.option("--list", "listed", is_flag=True, help="Print the entries of the stub library, or those named.")
@const_option
def command(files: tuple[str, ...], target: str, listed: bool, consts: Mapping[str, int]) -> None:
    """Print the specs that stubs and annotated Python files state. They are read, and nothing is imported.

    \b
    shapedsl stubs net.pyi                  its specs, as .shapes text
    shapedsl stubs --to pyi net.shapes      a stub that says the same
    shapedsl stubs --to pyi - < net.shapes  the same, of standard input
    shapedsl stubs --list                   the stub library: a line for each spec
    shapedsl stubs --list LSTM nn.modules.linear.Linear
                                            the specs of these entries

    Exit codes: 0, or 1 if a file has errors; 2 misuse.
    """
    if listed:
        _list(files)
        return
    if not files:
        raise click.UsageError("Missing argument 'FILE...'.")
    report = Report()
    for name in files:
        text = name.endswith(".shapes") or (name == STANDARD_INPUT and target == "pyi")
        module = _read(name, text, consts, report)
        if module is not None:
            say(pipeline.write_text(module) if target == "shapes" else pipeline.write_stub(module, report))
    show(report, err=True)
    fail(refusal(report.errors) if report.errors else 0)


def _list(names: tuple[str, ...]) -> None:
    """Prints the entries of the stub library; all of them, where none is named."""
    from ..api import listed_text

    try:
        say("\n\n".join(map(listed_text, names)) if names else listed_text())
    except ShapeError as error:
        report = Report()
        for diagnostic in error.diagnostics:
            report.add(diagnostic)
        show(report, err=True)
        fail(refusal(report.errors))


def _read(name: str, text: bool, consts: Mapping[str, int], report: Report) -> Module | None:
    """Returns the specs of a file, of a stub unless it is ``.shapes`` text."""
    source = read_source(name, report)
    if source is None:
        return None
    if text:
        base = Path.cwd() if name == STANDARD_INPUT else Path(name).parent
        module = pipeline.read(source, report, consts=consts, base=base)
    else:
        module = pipeline.read_stub(source, report)
    for signature in module:
        (pipeline.resolve if text else pipeline.resolve_open)(signature, report)
    return module


__all__ = ["command"]
