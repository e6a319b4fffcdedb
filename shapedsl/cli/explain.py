"""``shapedsl explain``: what a spec means, or what a code means."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from .. import pipeline
from ..diagnostics import CODES, Diagnostic, Report, ShapeError
from .common import (
    STANDARD_INPUT,
    assignment,
    const_option,
    fail,
    page,
    read_specs,
    refusal,
    say,
    show,
    split_target,
)
from .completion import complete_sizes, complete_spec_or_code

if TYPE_CHECKING:
    from ..pipeline import Signature


@click.command("explain", short_help="Show what a spec means, stage by stage; or explain a code.")
@click.argument(
    "target", metavar="FILE[:SPEC]|CODE", type=click.Path(allow_dash=True), shell_complete=complete_spec_or_code
)
@click.argument("sizes", metavar="[NAME=SIZE[,SIZE]...]...", nargs=-1, shell_complete=complete_sizes)
@click.option("--code", "code", is_flag=True, help="Show the Python code that checks a call.")
@const_option
def command(target: str, sizes: tuple[str, ...], consts: Mapping[str, int], code: bool) -> None:
    """Show what a spec means, stage by stage; or explain a diagnostic's code.

    \b
    shapedsl explain net.shapes                   every spec of the file
    shapedsl explain net.shapes:Net.forward       one of them
    shapedsl explain net.shapes B=5 S=40          and what these sizes do
    shapedsl explain net.shapes batch=2,3         the sizes of a variadic, *batch
    shapedsl explain --code net.shapes            the Python code that checks a call
    shapedsl explain contradiction                what the code means, with an example

    Exit codes: 0, or 1 if the file has errors or the sizes are refused; 2 misuse; 3 if a size is missing to tell.
    """
    if code and sizes:
        raise click.UsageError("--code shows one check for all sizes: leave them out.")
    if target in CODES and not os.path.exists(target):
        if code:
            raise click.UsageError("--code belongs to a spec, not to a diagnostic's code.")
        if sizes:
            raise click.UsageError("sizes belong to a spec, not to a code.")
        say(page(target))
        return
    name, spec = split_target(target)
    if name != STANDARD_INPUT and not os.path.exists(name):
        near = get_close_matches(target, CODES, n=1)
        hint = f"did you mean the code '{near[0]}'?" if near else "it is neither a file nor a diagnostic's code."
        raise click.UsageError(f"there is no '{target}': {hint}")
    given = _sizes(sizes)
    report = Report()
    chosen = read_specs(name, spec, consts, report)
    if report.errors:
        show(report, err=True)
        fail(refusal(report.errors))
    if code:
        _show_code(chosen)
        return
    from ..api.explaining import explain

    verdicts: list[bool | None] = []
    for index, signature in enumerate(chosen):
        known = {variable.name: variable.variadic for variable in signature.variables}
        unknown = [size for size in given if size not in known]
        if unknown and len(chosen) == 1:
            raise click.UsageError(
                f"'{signature.key}' has no variable '{unknown[0]}'; it has {', '.join(sorted(known)) or 'none'}."
            )
        normal = pipeline.normal_form(signature, report)
        explanation = explain(signature, normal, {k: _fitting(k, v, known[k]) for k, v in given.items() if k in known})
        verdicts.append(explanation.accepted)
        if index:
            say()
        say(explanation.text)
    if not chosen:
        say("no specs")
    show(report, err=True)
    if report.errors or False in verdicts:
        fail(1)
    fail(3 if None in verdicts else 0)


def _show_code(chosen: Sequence[Signature]) -> None:
    """Prints the checks of specs; one that has none is an error, and the others are printed."""
    from ..api.generated import code_text

    failed: list[Diagnostic] = []
    for index, signature in enumerate(chosen):
        if index:
            say()
        if len(chosen) > 1:
            say(f"# {signature.key}")
        try:
            say(code_text(signature))
        except ShapeError as error:
            failed += error.diagnostics
    if not chosen:
        say("no specs")
    if failed:
        show(Report(failed), err=True)
        fail(1)


def _sizes(texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Returns ``{"B": (5,), "batch": (2, 3)}`` of ``B=5 batch=2,3``; ``batch=`` has no dims.

    Raises:
        click.UsageError: A text is no such thing, or a name comes twice.
    """
    given: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, sign, values = text.partition("=")
        parts = values.split(",") if values.strip() or not sign else []
        name = name.strip()
        if name in given:
            raise click.UsageError(f"'{name}' is given twice.")
        if not name:
            assignment(text)  # refuses it
        given[name] = tuple(assignment(f"{name}{sign}{part}")[1] for part in parts)
    return given


def _fitting(name: str, given: tuple[int, ...], variadic: bool) -> int | tuple[int, ...]:
    """Returns what is given as what ``name`` is, one size or several.

    Raises:
        click.UsageError: Several, or no sizes are given for one.
    """
    if variadic:
        return given
    if len(given) != 1:
        told = f"not {len(given)}" if given else f"and none is given: {name}=8 gives one"
        raise click.UsageError(f"'{name}' is one size, {told}.")
    return given[0]
