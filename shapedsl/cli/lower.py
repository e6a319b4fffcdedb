"""``shapedsl lower``: a spec as Python that builds torch's ShapesSpec, or as JSON."""

from __future__ import annotations

from collections.abc import Mapping

import click

from ..diagnostics import Report, ShapeError
from .common import const_option, fail, read_specs, say, show, split_target


@click.command("lower", short_help="Print Python that builds torch's ShapesSpec.")
@click.argument("target", metavar="FILE[:SPEC]", type=click.Path(allow_dash=True))
@click.option(
    "--to",
    "language",
    type=click.Choice(("python", "json")),
    default="python",
    show_default=True,
    help="What is printed.",
)
@click.option("--case", metavar="NAME", help="Lower one case, or 'otherwise', instead of the 'where' part.")
@const_option
def command(target: str, language: str, case: str | None, consts: Mapping[str, int]) -> None:
    """Print Python source that builds torch's ShapesSpec with torch's own names. It needs torch only to be run.

    \b
    shapedsl lower net.shapes                     every spec of the file
    shapedsl lower net.shapes:Net.forward         one of them
    shapedsl lower --case small net.shapes        one alternative
    shapedsl lower --to json net.shapes           the resolved spec as JSON

    Exit codes: 0, or 1 if the file has errors or cannot be lowered without an example.
    """
    name, spec = split_target(target)
    report = Report()
    chosen = read_specs(name, spec, consts, report)
    if report.errors:
        show(report, err=True)
        fail(2 if any(d.code == "unreadable-file" for d in report.errors) else 1)
    from .. import api

    texts: list[str] = []
    for signature in chosen:
        found = api.Spec(signature)
        try:
            texts.append(found.to_json() if language == "json" else api.source_text(found, case=case))
        except ShapeError as error:
            for diagnostic in error.diagnostics:
                report.add(diagnostic)
    if language == "json" and len(texts) != 1:
        texts = [f"[{', '.join(texts)}]"] if texts else ["[]"]
    if texts:
        say("\n\n".join(text.rstrip("\n") for text in texts))
    show(report, err=True)
    fail(int(bool(report.errors)))
