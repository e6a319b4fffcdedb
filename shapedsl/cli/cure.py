"""``shapedsl cure``: the assumptions under which a function or a module can be traced, as a patch of its spec."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..diagnostics.files import read_bytes
from .common import (
    STANDARD_INPUT,
    const_option,
    fail,
    say,
    split_target,
    write_file,
)
from .completion import complete_spec
from .fmt import show_diff
from .running import running, signatures_of, size_option

if TYPE_CHECKING:
    from ..api.cured import Cured


@click.command("cure", short_help="Find the assumptions under which a function or a module can be traced.")
@click.argument("target", metavar="MODULE:OBJECT")
@click.argument("file", metavar="FILE[:SPEC]", required=False, shell_complete=complete_spec)
@click.option("--write", is_flag=True, help="Change the file.")
@click.option("--cases", is_flag=True, help="Give the sizes that assumptions leave out cases of their own.")
@click.option(
    "--static",
    metavar="NAME",
    multiple=True,
    help="A size that may become static, where the program needs the number itself. May be repeated.",
)
@click.option(
    "--entry",
    "entries",
    type=click.Choice(["export", "compile"]),
    multiple=True,
    help="Trace by this one only.  [default: both]",
)
@click.option(
    "--traces",
    metavar="N",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="How often each may trace, for each part of the spec.",
)
@click.option("--case", metavar="NAME", help="The one alternative that is meant.")
@size_option("A size of the example")
@click.option(
    "--examples",
    metavar="MODULE:OBJECT",
    help="Calls, or a function that returns them: a list of (args, kwargs). The first is the example.",
)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@const_option
def command(
    target: str,
    file: str | None,
    write: bool,
    cases: bool,
    static: tuple[str, ...],
    entries: tuple[str, ...],
    traces: int,
    case: str | None,
    sizes: Mapping[str, int],
    examples: str | None,
    format_: str,
    consts: Mapping[str, int],
) -> None:
    """Find the assumptions under which a function or a module can be traced. It imports MODULE, and needs torch.

    \b
    shapedsl cure net:model net.shapes             print a patch of the file
    shapedsl cure net:model net.shapes --write     change the file
    shapedsl cure net:Net net.shapes:Net.forward   a class: one is made, in eval mode
    shapedsl cure net:make() net.shapes            what a function makes
    shapedsl cure net:model net.shapes --cases     serve what assumptions leave out by cases
    shapedsl cure net:tagger net.shapes --static S     a size that may become static
    shapedsl cure --entry export net:encode        a function with annotations

    It is traced, what the spec leaves open is read, the least that decides it is assumed, and it is traced again.
    Assumptions are only added, each with the line that needs it as its comment. No size becomes static unasked.

    A file is changed only where everything traces afterwards.

    Exit codes: 0 nothing to add, or the file was changed; 1 there is a patch, or something stays that only you can
    decide; 2 misuse.
    """
    if write and file is None:
        raise click.UsageError("--write changes a file: name FILE[:SPEC].")
    if write and file is not None and split_target(file)[0] == STANDARD_INPUT:
        raise click.UsageError("--write needs a file, not standard input.")
    chosen = None if file is None else signatures_of(file, consts)
    from ..api.curing_at import cured_at

    with running(target, file):
        found = cured_at(
            target,
            chosen,
            examples,
            entries=entries or ("export", "compile"),
            traces=traces,
            static=static,
            cases=cases,
            case=case,
            sizes=sizes,
            overrides=consts,
        )
    written = write and found.cured and found.text is not None
    if written:
        _write(found)
    if format_ == "json":
        say(json.dumps({**found.to_dict(), "written": written}, indent=2))
    else:
        _tell(found, written)
    fail(int(bool(found.errors) or bool(found.patch and not written)))


def _tell(found: Cured, written: bool) -> None:
    """Prints the story, and the patch where nobody has applied it."""
    for row in str(found).splitlines():
        say(row, err=bool(found.patch) and not written)
    if written:
        assert found.source is not None
        say(f"changed {found.source.name}")
    elif found.source is not None and found.text is not None:
        show_diff(found.source.name, found.source.text, found.text)
    elif found.patch:
        say(found.apply, err=True)
        say(found.patch.rstrip("\n"))


def _write(found: Cured) -> None:
    assert found.source is not None
    assert found.text is not None
    path = Path(found.source.name)
    try:
        raw = read_bytes(path)
        mark = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
        if raw.removeprefix(mark) != found.source.text.encode():  # tracing takes a while
            raise click.UsageError(f"'{path}' was changed while it was cured; cure it again.")
        write_file(path, mark + found.text.encode())
    except OSError as error:
        raise click.UsageError(f"cannot write '{path}': {error.strerror or error}.") from None


__all__ = ["command"]
