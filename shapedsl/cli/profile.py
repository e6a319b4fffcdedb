"""``shapedsl profile``: what sizes calls had."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..diagnostics import Report
from .common import STANDARD_INPUT, fail, read_input, refusal, say, show

if TYPE_CHECKING:
    from ..api.suggesting import Profile


@click.command("profile", short_help="Show what sizes observed calls had.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print one profile file, all of them merged.")
def command(files: tuple[str, ...], as_json: bool) -> None:
    """Show what sizes observed calls had: of each argument, and of each size of the spec, if there was one.

    \b
    shapedsl profile traffic.json                 one file
    shapedsl profile traffic-*.json               those of several ranks, merged
    shapedsl profile --json a.json b.json > all.json

    Exit codes: 0, or 1 if there are no calls; 2 a file could not be read.
    """
    report = Report()
    found = read_profiles(files, report)
    if report.errors:
        show(report, err=True)
        fail(refusal(report.errors))
    from ..api.profiles import as_text, describe, uncounted

    if as_json:
        say(as_text(found).rstrip("\n"))
        return
    empty = not found
    for index, profile in enumerate(found):
        if index:
            say()
        if not profile.calls:
            empty = True
            why = uncounted(profile) or "call what `observe` returned, then save"
            report.warning("empty-profile", f"the profile of `{profile.name}` has no calls", help=why)
            continue
        say("\n".join(describe(profile)))
    if not found:
        report.warning(
            "empty-profile", f"`{', '.join(files)}` has no calls", help="call what `observe` returned, then save"
        )
    show(report, err=True)
    fail(int(empty))


def read_profiles(files: Iterable[str], report: Report) -> list[Profile]:
    """Returns the profiles of files, merged by callable; ``-`` is standard input.

    Args:
        files: Each once.
        report: Receives ``unreadable-file`` or ``damaged-profile``.
    """
    from ..api.profiles import load_profiles, merge_profiles, parse_profiles

    found: list[Profile] = []
    for name in dict.fromkeys(files):
        if name == STANDARD_INPUT:
            raw = read_input(report)
            found += [] if raw is None else parse_profiles("<stdin>", raw, report)
        else:
            found += load_profiles(Path(name), report)
    return merge_profiles(found)


__all__ = ["command", "read_profiles"]
