"""``shapedsl lower``: a spec as Python that builds torch's ShapesSpec or its legacy dims, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from .. import pipeline
from ..diagnostics import Report
from .common import const_option, fail, read_specs, refusal, say, show, split_target
from .completion import complete_spec

if TYPE_CHECKING:
    from ..pipeline import DimsForm, Lowered, Signature


@click.command("lower", short_help="Print Python that builds torch's ShapesSpec.")
@click.argument("target", metavar="FILE[:SPEC]", type=click.Path(allow_dash=True), shell_complete=complete_spec)
@click.option(
    "--to",
    "language",
    type=click.Choice(("python", "json", "dims")),
    default="python",
    show_default=True,
    help="What is printed.",
)
@click.option("--case", metavar="NAME", help="Lower one case, or 'otherwise', instead of the 'where' part.")
@const_option
def command(target: str, language: str, case: str | None, consts: Mapping[str, int]) -> None:
    """Print Python source that builds torch's ShapesSpec with torch's own names. It needs torch only to be run.
    With --to json, print what the ShapesSpec is built of: an object with one entry a spec. With --to dims, print
    Python that builds the same with torch.export.Dim, for code that still takes it; what Dims cannot say is refused.

    \b
    shapedsl lower net.shapes                     every spec of the file
    shapedsl lower net.shapes:Net.forward         one of them
    shapedsl lower --case small net.shapes        one alternative
    shapedsl lower --to json net.shapes           variables, parameters and assumptions as JSON
    shapedsl lower --to dims net.shapes           dynamic_shapes= as older code has it

    Exit codes: 0, or 1 if the file has errors or cannot be lowered without an example; 2 misuse.
    """
    name, spec = split_target(target)
    report = Report()
    chosen = read_specs(name, spec, consts, report)
    if report.errors:
        show(report, err=True)
        fail(refusal(report.errors))
    if language == "dims":
        forms = [form for each in chosen if (form := _dims(each, case, report)) is not None]
        if forms:
            say(pipeline.dims_text(forms).rstrip("\n"))
        show(report, err=True)
        fail(refusal(report.errors) if report.errors else 0)
        return
    lowered = {each.key: made for each in chosen if (made := _lower(each, case, report)) is not None}
    if lowered and language == "json":
        documents = {key: pipeline.source_json(each) for key, each in lowered.items()}
        say(json.dumps(documents, indent=2, ensure_ascii=False))
    elif lowered:
        say(pipeline.source_text(list(lowered.values())).rstrip("\n"))
    show(report, err=True)
    fail(refusal(report.errors) if report.errors else 0)


def _lower(signature: Signature, case: str | None, report: Report) -> Lowered | None:
    """Returns one spec, lowered; None, with the reason in ``report``, if it cannot be."""
    selected = _selected(signature, case, report)
    return None if selected is None else pipeline.lower_without_example(selected, report)


def _dims(signature: Signature, case: str | None, report: Report) -> DimsForm | None:
    """Returns one spec in legacy dims; None, with the reason in ``report``, if they cannot say it."""
    selected = _selected(signature, case, report)
    own = Report()
    form = None if selected is None else pipeline.legacy_dims(selected, own)
    for diagnostic in own:
        report.add(diagnostic)
    return form


def _selected(signature: Signature, case: str | None, report: Report) -> Signature | None:
    """Returns what is to be lowered: one case, or the ``where`` part."""
    if case is not None:
        selected = pipeline.select(signature, case, report)
        return None if selected is None else selected.signature
    if signature.alternatives:
        report.warning(
            "cases-not-lowered",
            f"only the `where` part of `{signature.name}` was lowered",
            at=signature.alternatives[0].span,
            help="name one alternative with --case",
        )
    return signature
