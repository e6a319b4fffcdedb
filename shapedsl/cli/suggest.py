"""``shapedsl suggest``: a spec, its cases and its buckets, from what `observe` has seen."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..diagnostics import Report, ShapeError
from .common import (
    STANDARD_INPUT,
    choose_specs,
    const_option,
    fail,
    read_source,
    read_specs,
    refusal,
    say,
    show,
    split_target,
    write_file,
)
from .completion import complete_spec
from .fmt import show_diff
from .profile import read_profiles

if TYPE_CHECKING:
    from ..api.suggesting import Choices, Profile, Suggestion
    from ..pipeline import Signature

_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "": 1.0}


@click.command("suggest", short_help="Infer a spec, cases and buckets from observed calls.")
@click.argument("files", metavar="PROFILE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--spec", "target", metavar="FILE[:SPEC]", shell_complete=complete_spec, help="Print a patch to this spec instead."
)
@click.option("--write", is_flag=True, help="With --spec: change the file.")
@click.option("--fn", "name", metavar="NAME", help="Which callable, if the profiles are of several.")
@click.option("-k", "artifacts", metavar="N", type=click.IntRange(1, 4096), help="At most so many artifacts.")
@click.option("--budget", metavar="TIME", help="As many artifacts as compile in this time: 90s, 5m, 1h.")
@click.option(
    "--compile-time", metavar="TIME", default="20s", show_default=True, help="What one artifact takes to compile."
)
@click.option("--over", metavar="SIZE[,SIZE]", help="What to pad; by default the size with most different values.")
@click.option(
    "--worth",
    metavar="SHARE",
    type=click.FloatRange(0, 1),
    default=0.01,
    show_default=True,
    help="Without -k: what one more artifact must save of all elements.",
)
@click.option(
    "--tail",
    metavar="SHARE",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="The share of calls, the largest ones, left to `otherwise`.",
)
@click.option(
    "--otherwise",
    "rest",
    type=click.Choice(["eager", "dynamic"]),
    help="What becomes of all other sizes; by default what the spec says, else eager; dynamic where nothing can be padded.",
)
@const_option
def command(
    files: tuple[str, ...],
    target: str | None,
    write: bool,
    name: str | None,
    artifacts: int | None,
    budget: str | None,
    compile_time: str,
    over: str | None,
    worth: float,
    tail: float,
    rest: str | None,
    consts: Mapping[str, int],
) -> None:
    """Infer a spec from observed calls, and choose cases and buckets for a budget of artifacts.

    \b
    shapedsl suggest traffic.json                          a spec, and as many buckets as are worth it
    shapedsl suggest traffic.json -k 8                     with at most eight artifacts
    shapedsl suggest traffic.json --budget 5m              as many as compile in five minutes
    shapedsl suggest traffic.json --spec net.shapes        a patch to this spec
    shapedsl suggest traffic.json --spec net.shapes --write
    shapedsl suggest traffic.json --over B,S -k 12         pad two sizes together
    shapedsl suggest traffic.json --tail 0.01              leave the largest hundredth of the calls to eager

    Several profiles are merged. Bounds that were seen are hints, never limits; buckets have no reason until you
    declare one or a padding check passes.

    Exit codes: 0 done, 1 no calls or errors, 2 a file could not be read, or misuse.
    """
    seconds = _seconds(compile_time, "--compile-time")
    if budget is not None:
        if artifacts is not None:
            raise click.UsageError("-k and --budget both say how many artifacts: give one of them.")
        artifacts = math.floor(_seconds(budget, "--budget") / seconds)
        if artifacts < 1:
            raise click.UsageError(f"--budget {budget} is less than one artifact takes, {compile_time}.")
    if write and target is None:
        raise click.UsageError("--write changes the file that --spec names.")
    sizes = tuple(filter(None, (part.strip() for part in (over or "").split(","))))
    choices: Choices = {"over": sizes, "worth": worth, "tail": tail, "compile_seconds": seconds}
    if rest is not None:
        choices["otherwise"] = "dynamic" if rest == "dynamic" else "eager"
    profile = _profile(files, name)
    try:
        if target is None:
            _print(profile, artifacts, choices)
        else:
            _patch(profile, artifacts, choices, target, consts, write)
    except ShapeError as error:
        show(error.diagnostics, err=True)
        fail(refusal(error.diagnostics))


def _seconds(text: str, option: str) -> float:
    """Returns ``90.0`` of ``90s``.

    Raises:
        click.UsageError: It is no time.
    """
    found = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(s|m|min|h|)\s*", text)
    if found is None or not float(found[1]):
        raise click.UsageError(f"{option} is a time such as 90s, 5m or 1h, not '{text[:40]}'.")
    return float(found[1]) * _UNITS[found[2]]


def _profile(files: tuple[str, ...], name: str | None) -> Profile:
    """Returns the one profile that is meant; ends the command where there is none, or are several."""
    report = Report()
    found = read_profiles(files, report)
    if report.errors:
        show(report, err=True)
        fail(refusal(report.errors))
    listing = ", ".join(profile.name for profile in found)
    if name is not None:
        matching = [p for p in found if p.name == name] or [p for p in found if p.name.endswith(f".{name}")]
        if len(matching) != 1:
            raise click.UsageError(f"there is no one profile of '{name}': the files have {listing or 'none'}.")
        return matching[0]
    if not found:
        report.error(
            "empty-profile", f"`{', '.join(files)}` has no calls", help="call what `observe` returned, then save"
        )
        show(report, err=True)
        fail(1)
    called = [profile for profile in found if profile.calls] or found
    if len(called) > 1:
        raise click.UsageError(f"the profiles are of several callables: name one with --fn, of {listing}.")
    return called[0]


def _print(profile: Profile, k: int | None, choices: Choices) -> None:
    from ..api.suggesting import suggest_profile

    say(suggest_profile(profile, k, **choices).text.rstrip("\n"))


def _patch(
    profile: Profile, k: int | None, choices: Choices, target: str, consts: Mapping[str, int], write: bool
) -> None:
    from ..api.patching import patched
    from ..api.spec import Spec
    from ..api.suggesting import suggest_profile

    report = Report()
    file, spec = split_target(target)
    signature = _chosen(read_specs(file, None, consts, report), spec, profile, report)
    source = read_source(file, Report()) if file != STANDARD_INPUT and not report.errors else None
    if file == STANDARD_INPUT:
        raise click.UsageError("--spec needs a file.")
    if report.errors or signature is None or source is None:
        show(report, err=True)
        fail(refusal(report.errors) or 1)
        return
    choices["spec"] = Spec(signature)
    made = suggest_profile(profile, k, **choices)
    text = patched(source, signature, made, report, consts=consts)
    if text is None:
        show(report, err=True)
        fail(1)
        return
    for line in _remarks(made):
        say(line, err=True)
    if not write:
        show_diff(file, source.text, text)
        return
    try:
        mark = b"\xef\xbb\xbf" if Path(file).read_bytes().startswith(b"\xef\xbb\xbf") else b""
        write_file(Path(file), mark + text.encode())
    except OSError as error:
        raise click.UsageError(f"cannot write '{file}': {error.strerror or error}.") from None
    say(f"changed {file}")


def _chosen(found: list[Signature], spec: str | None, profile: Profile, report: Report) -> Signature | None:
    """Returns the spec that is named, else the one that is called like the profile's callable, else the only one."""
    if report.errors:
        return None
    if spec is None:
        parts = profile.name.split(".")
        for start in range(len(parts)):
            tail = ".".join(parts[start:])
            matching = [s for s in found if s.key == tail or s.key.endswith(f".{tail}")]
            if len(matching) == 1:
                return matching[0]
        if len(found) == 1:
            return found[0]
        listing = ", ".join(s.key for s in found) or "none"
        report.error(
            "ambiguous-spec", f"several specs could be meant for `{profile.name}`", help=f"name one of {listing}"
        )
        return None
    chosen = choose_specs(found, spec, report)
    return chosen[0] if len(chosen) == 1 and not report.errors else None


def _remarks(made: Suggestion) -> list[str]:
    return [row for row in made.text.splitlines() if row.startswith("#")]


__all__ = ["command"]
