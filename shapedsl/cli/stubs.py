"""``shapedsl stubs``: the specs of stubs and annotated Python files, as ``.shapes`` text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .. import pipeline
from ..diagnostics import Report
from .common import fail, read_source, refusal, say, show

if TYPE_CHECKING:
    pass


@click.command("stubs", short_help="Read specs from .pyi stubs and annotated Python files.")
@click.argument("files", metavar="FILE.pyi...", nargs=-1, required=True, type=click.Path(allow_dash=True))
def command(files: tuple[str, ...]) -> None:
    """Print the specs that stubs and annotated Python files state. They are read, and nothing is imported.

    \b
    shapedsl stubs net.pyi                  its specs, as .shapes text

    Exit codes: 0, or 1 if a file has errors; 2 misuse.
    """
    report = Report()
    for name in files:
        source = read_source(name, report)
        if source is None:
            continue
        module = pipeline.read_stub(source, report)
        for signature in module:
            pipeline.resolve(signature, report)
        say(pipeline.write_text(module))
    show(report, err=True)
    fail(refusal(report.errors) if report.errors else 0)


__all__ = ["command"]
