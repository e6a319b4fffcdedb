"""``shapedsl fmt``: the one layout."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from .. import pipeline
from ..diagnostics import Report, Source
from ..diagnostics.render.style import paint, wants_color
from .common import STANDARD_INPUT, fail, read_source, say, show, write_file


@click.command("fmt", short_help="Rewrite .shapes files in the one layout.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is not in layout.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
def command(files: tuple[str, ...], check: bool, diff: bool) -> None:
    """Rewrite .shapes files in the one layout. Comments and groups of lines are kept.

    \b
    shapedsl fmt net.shapes                 rewrite it
    shapedsl fmt --check *.shapes           are they in layout? (exit code 1 if not)
    shapedsl fmt --diff net.shapes          show what would change
    shapedsl fmt - < net.shapes             standard input to standard output

    A file with syntax errors is left alone. Exit codes: 0 done, 1 errors or (with --check or --diff)
    not in layout, 2 a file could not be read.
    """
    findings = Report()
    changed = unreadable = 0
    for name in dict.fromkeys(files):
        report = Report()
        source = _read(name, report)
        formatted = None if source is None else pipeline.format_text(source, report)
        unreadable += any(d.code == "unreadable-file" for d in report)
        if source is not None and formatted is not None:
            original = source.text
            if name != STANDARD_INPUT and formatted == original:
                # the decoder takes a byte-order mark away, and one is a difference
                formatted_bytes = formatted.encode()
                is_changed = Path(name).read_bytes() != formatted_bytes
            else:
                is_changed = formatted != original
            changed += is_changed
            if diff:
                show_diff(source.name, original, formatted)
            elif check:
                if is_changed:
                    say(f"would reformat {name}")
            elif name == STANDARD_INPUT:
                sys.stdout.write(formatted)
            elif is_changed:
                try:
                    write_file(Path(name), formatted)
                except OSError as error:
                    report.error("unreadable-file", f"cannot write `{name}`: {error.strerror or error}")
                    unreadable += 1
                else:
                    say(f"reformatted {name}")
        for diagnostic in report:
            findings.add(diagnostic)
    show(findings, err=True)
    fail(2 if unreadable else int(bool(findings.errors) or (bool(changed) and (check or diff))))


def _read(name: str, report: Report) -> Source | None:
    """Returns what is to be formatted: a pipe or a device cannot be rewritten, so it is refused."""
    if name != STANDARD_INPUT and os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name):
        report.error("unreadable-file", f"`{name}` is no regular file, so it cannot be rewritten")
        return None
    return read_source(name, report)


def show_diff(name: str, before: str, after: str) -> None:
    """Prints a unified diff."""
    from difflib import unified_diff

    color = wants_color(sys.stdout)
    for line in unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), name, name):
        row = line.rstrip("\r\n")
        role = {"+": "added", "-": "removed", "@": "note"}.get(row[:1], "")
        say(paint(row, role, color) if role else row)
        if not line.endswith("\n"):
            say("\\ No newline at end of file")
