"""``shapedsl check-padding``: does padding change what a function or a module returns?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from .. import pipeline
from ..diagnostics import Report, ShapeError
from .common import assignment, const_option, fail, read_specs, refusal, say, show, split_target
from .completion import complete_spec

if TYPE_CHECKING:
    from ..pipeline import Signature

_NOT_GIVEN = {"missing-input", "unknown-name"}


def _sizes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, int]:
    return dict(assignment(value) for value in values)


@click.command("check-padding", short_help="Say whether padding changes what a function or a module returns.")
@click.argument("target", metavar="MODULE:OBJECT")
@click.argument("file", metavar="FILE[:SPEC]", required=False, shell_complete=complete_spec)
@click.option("-n", "count", metavar="N", type=click.IntRange(min=1), help="How many calls of each alternative.")
@click.option(
    "--tolerance",
    metavar="ERROR",
    type=click.FloatRange(min=0),
    help="Relative error that is allowed, of every floating dtype.  [default: what rounding does]",
)
@click.option(
    "--size",
    "sizes",
    metavar="NAME=INTEGER",
    multiple=True,
    callback=_sizes,
    help="A size that is given, as of `const NAME = _`. May be repeated.",
)
@click.option(
    "--examples",
    metavar="MODULE:OBJECT",
    help="Calls to check in place of made ones: a list of (args, kwargs), or a function that returns one.",
)
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of sizes and data.")
@const_option
def command(
    target: str,
    file: str | None,
    count: int | None,
    tolerance: float | None,
    sizes: Mapping[str, int],
    examples: str | None,
    seed: int,
    consts: Mapping[str, int],
) -> None:
    """Say whether padding changes what a function or a module returns. It imports MODULE, and needs torch.

    \b
    shapedsl check-padding net:model net.shapes            a module or a function of net.py
    shapedsl check-padding net:Net net.shapes:Net.forward  a class: one is made, in eval mode
    shapedsl check-padding net:make() net.shapes           what a function makes
    shapedsl check-padding net:encode                      a function with annotations
    shapedsl check-padding --size HD=8 net:model net.shapes    a size that only an example has
    shapedsl check-padding --examples data:calls net:model net.shapes    with your own inputs

    The original runs plain and padded, on inputs that are made for the purpose; results are cut back and compared.

    Exit codes: 0 nothing changes, 1 something does or the file has errors, 2 misuse, 3 a bucket could not be checked.
    """
    chosen = None if file is None else _signatures(file, consts)
    from ..api.padding_at import examined_at

    try:
        with warnings.catch_warnings():  # of torch and of the module that is imported: they concern nobody here
            warnings.simplefilter("ignore")
            found, report = examined_at(target, chosen, examples, n=count, tolerance=tolerance, seed=seed, sizes=sizes)
    except (ImportError, TypeError) as error:
        raise click.UsageError(str(error)) from None
    except SystemExit as error:  # of the module or the function: it shall not pass for a verdict
        raise click.UsageError(f"`{target}` ended the process, with {error.code!r}.") from None
    except ShapeError as error:
        if file is None and error.code == "unknown-spec":
            raise click.UsageError(f"`{target}` has no spec: annotate it, or name a FILE[:SPEC].") from None
        show(error.diagnostics, err=True)
        fail(2 if error.code in _NOT_GIVEN else refusal(error.diagnostics))
        return
    if report.errors:
        show(report)
        say()
    say(str(found))
    fail(1 if found.unsafe else 0 if found.passed else 3)


def _signatures(file: str, consts: Mapping[str, int]) -> list[Signature]:
    """Returns the specs of a file; ends the command, with the reasons, if there are none."""
    name, spec = split_target(file)
    report = Report()
    chosen = read_specs(name, spec, consts, report)
    for signature in chosen:
        pipeline.resolve(signature, report)
    if report.errors:
        show(report, err=True)
        fail(refusal(report.errors))
    if not chosen:
        raise click.UsageError(f"'{name}' has no specs.")
    return chosen


__all__ = ["command"]
