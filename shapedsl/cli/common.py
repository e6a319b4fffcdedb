"""What the verbs share: reading sources, writing files safely, printing findings, exit codes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .. import assets
from ..diagnostics import CODES, Diagnostic, Report, Severity, Source
from ..diagnostics.files import MOST, replacing
from ..diagnostics.render import FORMATS
from ..diagnostics.render.style import wants_color

if TYPE_CHECKING:
    from ..pipeline import Signature

STANDARD_INPUT = "-"
_NOT_THERE = {"unreadable-file", "unknown-spec", "ambiguous-spec", "unknown-case"}
F = TypeVar("F", bound="Callable[..., Any]")


def read_source(name: str, report: Report) -> Source | None:
    """Returns the text of a file, or of standard input for ``-``; None, with a finding, if it cannot be read.

    Args:
        name: A path.
        report: Receives ``unreadable-file`` or ``invalid-utf8``.
    """
    from .. import pipeline

    if name != STANDARD_INPUT:
        source = pipeline.read_file(Path(name), report)
        if source is not None and name.endswith((".py", ".pyi")):
            message = f"`{name}` is Python, not the text of specs"
            report.error("unreadable-file", message, help=f"`shapedsl stubs {name}` prints the specs that it states")
            return None
        return source
    raw = read_input(report)
    return None if raw is None else pipeline.decode("<stdin>", raw, report)


def read_input(report: Report) -> bytes | None:
    """Returns what standard input holds, or None with the reason in ``report`` (``unreadable-file``)."""
    if sys.stdin is None:
        report.error("unreadable-file", "there is no standard input")
        return None
    try:
        raw = sys.stdin.buffer.read(MOST + 1)
    except OSError as error:
        report.error("unreadable-file", f"cannot read standard input: {error.strerror or error}")
        return None
    if len(raw) > MOST:
        report.error("unreadable-file", "cannot read standard input: it is too large")
        return None
    return raw


def write_file(path: Path, text: str | bytes) -> None:
    """Replaces a file's contents at once, or makes the file; see `replacing`.

    Raises:
        OSError: It cannot be written; the file is as it was.
    """
    with replacing(path) as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def show(diagnostics: Iterable[Diagnostic], format_: str = "full", *, err: bool = False) -> None:
    """Prints findings.

    Args:
        diagnostics: In the order they are shown.
        format_: One of `FORMATS`.
        err: Print to standard error.
    """
    found = list(diagnostics)
    stream = sys.stderr if err else sys.stdout
    renderer: Any = import_module(f"shapedsl.diagnostics.render.{format_}")
    options: dict[str, Any] = {}
    if format_ == "full":
        options = {"color": stream is not None and wants_color(stream)}
    elif format_ == "sarif":
        options = {"page": page, "version": sys.modules[__name__.partition(".")[0]].__version__}
    text = renderer.render(found, **options)
    if text:
        say(text, err=err)


def say(text: str = "", *, err: bool = False) -> None:
    """Prints a line (or several), whatever the terminal's encoding: what it cannot show is escaped."""
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    try:
        stream.write(text + "\n")
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def page(code: str) -> str:
    """Returns the page of a diagnostic's code, in Markdown."""
    path = assets.asset(f"docs/codes/{code}.md")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:  # an incomplete installation still knows the one line
        return f"{code}: {CODES[code]}"
    return re.sub(r"<!--.*?-->\n+", "", text).strip("\n")


def exit_code(diagnostics: Iterable[Diagnostic], *, strict: bool = False) -> int:
    """Returns 1 if there are findings, 3 if all there is is undecided, else 0.

    Args:
        diagnostics: What was found.
        strict: Whether warnings are findings, and what is undecided too.
    """
    found = list(diagnostics)
    undecided = any(d.code == "undecided" for d in found)
    counted = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    if any(d.severity in counted and (strict or d.code != "undecided") for d in found):
        return 1
    return 3 if undecided else 0


def refusal(diagnostics: Iterable[Diagnostic]) -> int:
    """Returns the exit code of a command that could not do what it was asked: 2 if what was asked for is not there, else 1.

    A mistyped name of a spec must not look like an answer: ``ask`` exits with 1 for what is refuted.
    """
    return 2 if any(d.code in _NOT_THERE for d in diagnostics) else 1


def fail(code: int) -> None:
    """Ends the command with an exit code.

    Raises:
        click.exceptions.Exit: Always, unless ``code`` is 0.
    """
    if code:
        raise click.exceptions.Exit(code)


def format_option(function: F) -> F:
    """Adds ``--format``."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        default="full",
        show_default=True,
        help="How findings are shown.",
    )(function)


def _consts(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, int]:
    return dict(assignment(value) for value in values)


def const_option(function: F) -> F:
    """Adds ``--const NAME=VALUE``, as ``consts``: a mapping."""
    return click.option(
        "--const",
        "consts",
        metavar="NAME=VALUE",
        multiple=True,
        callback=_consts,
        help="Override a const; an imported one as FILE.shapes:NAME=VALUE. May be repeated.",
    )(function)


def assignment(text: str) -> tuple[str, int]:
    """Returns name and value of ``B=5``.

    Raises:
        click.BadParameter: It is no such thing.
    """
    name, sign, value = text.rpartition("=")
    digits = value.strip().replace("_", "")
    if (
        not sign
        or not name.strip()
        or len(digits) > 20
        or not digits.removeprefix("-").isdecimal()
        or not digits.isascii()
    ):
        raise click.BadParameter(f"'{text[:60]}' is not NAME=INTEGER.")
    return name.strip(), int(digits)


def split_target(target: str) -> tuple[str, str | None]:
    """Returns the file and the spec's name of ``FILE[:SPEC]``; a file whose name has a colon is a file."""
    name, colon, spec = target.rpartition(":")
    if (
        colon
        and not os.path.exists(target)
        and (name == STANDARD_INPUT or name.endswith(".shapes") or os.path.exists(name))
    ):
        return name, spec
    return target, None


def read_specs(name: str, spec: str | None, consts: Mapping[str, int], report: Report) -> list[Signature]:
    """Returns the signatures of a file, or the one that is asked for.

    Args:
        name: The file.
        spec: A spec's name, or the last part of it; None for all.
        consts: Overrides.
        report: Receives what is wrong, ``unknown-spec`` included.
    """
    from .. import pipeline

    source = read_source(name, report)
    if source is None:
        return []
    base = Path.cwd() if name == STANDARD_INPUT else Path(name).parent
    return choose_specs(list(pipeline.read(source, report, consts=consts, base=base)), spec, report)


def choose_specs(signatures: list[Signature], spec: str | None, report: Report) -> list[Signature]:
    """Returns those of a file's signatures that are asked for; see `read_specs`."""
    if spec is None:
        return signatures
    exact = [s for s in signatures if s.key == spec]
    found = exact or [s for s in signatures if s.key.endswith(f".{spec}")]
    if len(found) != 1 and not (report.errors and not found):
        listing = ", ".join(s.key for s in found or signatures) or "none"
        if found:
            report.error("ambiguous-spec", f"several specs could be meant by `{spec}`", help=f"name one of {listing}")
        else:
            report.error("unknown-spec", f"there is no spec `{spec}`", help=f"the file's specs are {listing}")
    return found
