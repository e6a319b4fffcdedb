"""``shapedsl verify``: do the artifacts of a function or a module keep its spec, and compute what it does?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click

from .common import const_option, fail, say, show
from .completion import complete_spec
from .running import running, signatures_of, size_option

if TYPE_CHECKING:
    from ..api.lowering import LoweringName
    from ..api.verifying import Verification

_NOT_GIVEN: Final = {"missing-input", "unknown-name", "unknown-case", "cases-not-lowered", "unreadable-file"}
_CODES: Final = ("merged-dims", "specialized-dim", "extra-assumption")


@click.command("verify", short_help="Say whether artifacts keep a spec, and compute what the original does.")
@click.argument("target", metavar="MODULE:OBJECT")
@click.argument("file", metavar="FILE[:SPEC]", required=False, shell_complete=complete_spec)
@click.option(
    "--backend",
    metavar="NAME",
    default="inductor",
    show_default=True,
    help="torch.compile's, for what is compiled; `export` for exported programs alone.",
)
@click.option(
    "--lowering",
    type=click.Choice(["unbacked", "backed", "auto"]),
    default="unbacked",
    show_default=True,
    help="How sizes are told to torch.",
)
@click.option("--case", metavar="NAME", help="Only this alternative of the spec.")
@click.option("--samples", metavar="N", type=click.IntRange(min=0), help="How many calls of each artifact to compare.")
@click.option("--grad", is_flag=True, help="Compare gradients, too.")
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
    help="Calls that structure and static parts are copied from: a list of (args, kwargs), or a function that returns one.",
)
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of sizes and data.")
@click.option("--against", metavar="MODULE:OBJECT", help="The original of a file or a program, to compare it with.")
@click.option(
    "--allow",
    type=click.Choice(_CODES),
    multiple=True,
    help="What artifacts may demand beyond the spec. May be repeated.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 if something is undecided.")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Of the report."
)
@const_option
def command(
    target: str,
    file: str | None,
    backend: str,
    lowering: LoweringName,
    case: str | None,
    samples: int | None,
    grad: bool,
    tolerance: float | None,
    sizes: Mapping[str, int],
    examples: str | None,
    seed: int,
    against: str | None,
    allow: tuple[str, ...],
    strict: bool,
    format_: str,
    consts: Mapping[str, int],
) -> None:
    """Say whether artifacts keep a spec, and compute what the original does. It imports MODULE, and needs torch.

    \b
    shapedsl verify net:model net.shapes                   a module or a function of net.py
    shapedsl verify net:Net net.shapes:Net.forward         a class: one is made, in eval mode
    shapedsl verify net:make() net.shapes                  what a function makes; a program, too
    shapedsl verify net:encode                             a function with annotations
    shapedsl verify --backend export net:model net.shapes  exported programs alone: nothing is compiled
    shapedsl verify --lowering auto net:model net.shapes   backed where unbacked fails
    shapedsl verify --against net:model net.pt2 net.shapes    a file: a program, a package, saved artifacts
    shapedsl verify --size HD=8 net:model net.shapes       a size that only an example has

    Each alternative is exported, and compiled. Of a program, each promise of the spec and the return type are decided
    for all sizes; programs and compiled artifacts are compared with the original on sampled sizes.

    Exit codes: 0 everything is kept, 1 something is lost, narrowed or wrong, or the file has errors, 2 misuse,
    3 something is undecided and nothing is wrong.
    """
    chosen = None if file is None else signatures_of(file, consts)
    from ..api.verifying_at import How, verified_at

    how = How(backend, lowering, case, samples, grad, tolerance, seed, sizes, examples, against, allow)
    with running(target, file):
        try:
            reports = verified_at(target, chosen, how)
        except OSError as error:
            raise click.UsageError(f"cannot read '{target}': {error.strerror or error}") from None
    _print(reports, format_)
    wrong = any(not each.kept for each in reports)
    undecided = not reports or any(each.undecided for each in reports)
    fail(1 if wrong or (undecided and strict) else 3 if undecided else 0)


def _print(reports: Sequence[Verification], format_: str) -> None:
    if format_ == "json":
        data = {
            "kept": all(each.kept for each in reports),
            "undecided": not reports or any(each.undecided for each in reports),
            "artifacts": [each.to_dict() for each in reports],
        }
        say(json.dumps(data, indent=2))
        return
    found = [each for report in reports for each in report.diagnostics]
    if found:
        show(found)
        say()
    say("\n\n".join(str(each) for each in reports) if reports else "there is no artifact: every alternative is eager")


__all__ = ["command"]
