"""``shapedsl check-padding``: does padding change what a function or a module returns?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from .common import const_option, fail, say, show
from .completion import complete_spec
from .running import running, signatures_of, size_option

if TYPE_CHECKING:
    pass


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
@size_option("A size that is given")
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
    chosen = None if file is None else signatures_of(file, consts)
    from ..api.padding_at import examined_at

    with running(target, file):
        found, report = examined_at(target, chosen, examples, n=count, tolerance=tolerance, seed=seed, sizes=sizes)
    if report.errors:
        show(report)
        say()
    say(str(found))
    fail(1 if found.unsafe else 0 if found.passed else 3)


__all__ = ["command"]
