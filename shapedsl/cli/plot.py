"""``shapedsl plot``: pictures of traffic, and of what the alternatives of a spec take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..diagnostics import Report, ShapeError
from .common import assignment, const_option, fail, read_specs, refusal, say, show, split_target, write_file
from .profile import read_profiles

if TYPE_CHECKING:
    from ..api.spec import Spec
    from ..api.suggesting import Profile


@click.command("plot", short_help="Draw observed sizes, and what cases and buckets take.")
@click.argument("inputs", metavar="(PROFILE|FILE[:SPEC])...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE.svg", type=click.Path(dir_okay=False), help="Write SVG instead of text.")
@click.option("--of", "names", metavar="SIZE[,SIZE]", help="Which sizes: of a map, its columns and rows.")
@click.option("--at", "sizes", metavar="SIZE=N", multiple=True, help="A size that is not on the map. May be repeated.")
@click.option("--fn", "name", metavar="NAME", help="Which callable, if the profiles are of several.")
@const_option
def command(
    inputs: tuple[str, ...],
    output: str | None,
    names: str | None,
    sizes: tuple[str, ...],
    name: str | None,
    consts: Mapping[str, int],
) -> None:
    """Draw how often sizes came, against the buckets of a spec; and which alternative takes which sizes.

    \b
    shapedsl plot traffic.json                     how often each size came
    shapedsl plot traffic.json net.shapes          against the buckets, and a map of the cases with their shares
    shapedsl plot net.shapes:Net.forward           the map alone
    shapedsl plot net.shapes --of B,S --at H=8     over these sizes, at that one
    shapedsl plot traffic.json net.shapes -o traffic.svg

    A map looks at single sizes, not to scale: those that something is compared with, and steps between them.

    Exit codes: 0 done, 1 nothing to draw or errors, 2 a file could not be read, or misuse.
    """
    targets = [each for each in inputs if _is_spec(each)]
    if len(targets) > 1:
        raise click.UsageError(f"one spec is drawn at a time, not {' and '.join(targets)}.")
    of = [part.strip() for part in (names or "").split(",") if part.strip()]
    if len(of) > 2:
        raise click.UsageError("--of takes one size or two: a map has columns and rows.")
    fixed = dict(assignment(each) for each in sizes)
    if fixed and not targets:
        raise click.UsageError("--at is for a map of what alternatives take: name a spec, FILE[:SPEC].")
    if output is not None and not output.lower().endswith(".svg"):
        raise click.UsageError(f"SVG is written, and '{output}' does not end with .svg.")
    profile = _profile([each for each in inputs if not _is_spec(each)], name)
    try:
        spec = _spec(targets[0], profile, consts) if targets else None
        _draw(profile, spec, of, fixed, output)
    except ShapeError as error:
        show(error.diagnostics, err=True)
        fail(refusal(error.diagnostics))


def _is_spec(name: str) -> bool:
    return split_target(name)[0].endswith(".shapes")


def _draw(
    profile: Profile | None, spec: Spec | None, of: Sequence[str], sizes: Mapping[str, int], output: str | None
) -> None:
    from ..api.plotting import pictures

    drawn = pictures(profile, spec, of=of, sizes=sizes)
    if not drawn.pictures:
        say("nothing to draw: the spec has no alternatives, and there are no calls; give a profile too", err=True)
        fail(1)
    if output is None:
        say(str(drawn))
        return
    try:
        write_file(Path(output), drawn.svg())
    except ImportError as error:
        raise click.UsageError(f"{error}.") from None
    except OSError as error:
        raise click.UsageError(f"cannot write '{output}': {error.strerror or error}.") from None
    say(f"wrote {output}")


def _profile(files: Sequence[str], name: str | None) -> Profile | None:
    """Returns the profile of the callable that is meant; ends the command where there are several."""
    if not files:
        return None
    report = Report()
    found = [each for each in read_profiles(files, report) if each.calls]
    if report.errors:
        show(report, err=True)
        fail(refusal(report.errors))
    if name is not None:
        found = [each for each in found if each.name == name or each.name.endswith(f".{name}")]
    if len(found) == 1:
        return found[0]
    if found:
        listing = ", ".join(each.name for each in found)
        raise click.UsageError(f"the profiles are of several callables: name one with --fn, of {listing}.")
    report.error("empty-profile", f"`{', '.join(files)}` has no calls{f' of {name}' if name else ''}")
    show(report, err=True)
    fail(1)
    return None


def _spec(target: str, profile: Profile | None, consts: Mapping[str, int]) -> Spec:
    """Returns the spec that is named, else that of the profile's callable, else the only one of the file."""
    from ..api.spec import Spec

    file, name = split_target(target)
    report = Report()
    found = read_specs(file, name, consts, report)
    if len(found) > 1 and profile is not None:
        last = profile.name.rpartition(".")[2]
        found = (
            [s for s in found if s.key == profile.name]
            or [s for s in found if s.key.rpartition(".")[2] == last]
            or found
        )
    if not report.errors and len(found) != 1:
        listing = ", ".join(each.key for each in found) or "none"
        report.error("ambiguous-spec", f"several specs of `{file}` could be drawn", help=f"name one of {listing}")
        if not found:
            raise click.UsageError(f"'{file}' has no specs.")
    report.raise_errors()
    return Spec(found[0])


__all__ = ["command"]
