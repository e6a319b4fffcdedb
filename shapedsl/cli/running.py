"""What the verbs share that run a user's code: its spec, the sizes that are given, and how a failure is told."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .. import pipeline
from ..diagnostics import Report, ShapeError
from .common import assignment, fail, read_specs, refusal, show, split_target

if TYPE_CHECKING:
    from ..pipeline import Signature

F = TypeVar("F", bound="Callable[..., Any]")
_NOT_GIVEN = {"missing-input", "unknown-name", "cases-not-lowered"}


def size_option(what: str) -> Callable[[F], F]:
    """Returns ``--size NAME=INTEGER``, which the command takes as ``sizes``.

    Args:
        what: Whose sizes, as the help begins: ``"A size of the example"``.
    """

    def sizes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, int]:
        return dict(assignment(value) for value in values)

    return click.option(
        "--size",
        "sizes",
        metavar="NAME=INTEGER",
        multiple=True,
        callback=sizes,
        help=f"{what}, as of `const NAME = _`. May be repeated.",
    )


def signatures_of(file: str, consts: Mapping[str, int]) -> list[Signature]:
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


@contextmanager
def running(target: str, file: str | None) -> Generator[None]:
    """Ends the command, with the reason, where what a target names cannot be run, or its spec is wrong.

    Args:
        target: ``MODULE:OBJECT``.
        file: Where its spec is; None for its annotations.
    """
    try:
        with warnings.catch_warnings():  # of torch and of the module that is imported: they concern nobody here
            warnings.simplefilter("ignore")
            yield
    except ShapeError as error:
        if file is None and error.code == "unknown-spec":
            raise click.UsageError(f"`{target}` has no spec: annotate it, or name a FILE[:SPEC].") from None
        show(error.diagnostics, err=True)
        fail(2 if error.code in _NOT_GIVEN else refusal(error.diagnostics))
    except (ImportError, TypeError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    except SystemExit as error:  # of the module or the function: it shall not pass for a verdict
        raise click.UsageError(f"`{target}` ended the process, with {error.code!r}.") from None


__all__ = ["running", "signatures_of", "size_option"]
