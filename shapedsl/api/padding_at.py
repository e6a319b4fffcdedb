"""A padding check of what is named as ``MODULE:OBJECT``: the module is imported, a class is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..diagnostics import Report
from ..ir import Module, Signature
from .importing import callable_at, calls_at
from .padding import examined
from .sources import as_spec, choose
from .spec_file import SpecFile

if TYPE_CHECKING:
    from ..serving.buckets.check_padding import PaddingReport


def examined_at(
    target: str,
    signatures: Sequence[Signature] | None,
    examples: str | None = None,
    *,
    n: int | None = None,
    tolerance: float | None = None,
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
) -> tuple[PaddingReport, Report]:
    """Returns what padding does to the results of ``pkg.mod:net``, and what of it is a finding.

    Args:
        target: A function or a module; a class, which is made without arguments and put into eval mode; or
            ``pkg.mod:make()``, for what a function returns.
        signatures: A file's specs, of which one is chosen by the name of the callable; None for its annotations.
        examples: Calls, or a function that returns them, as ``pkg.mod:calls``.
        n, tolerance, seed, sizes: As `check_padding` takes them.

    Raises:
        ImportError: There is no such thing, or it is nothing that can be called.
        ShapeError: The spec is wrong, or has none; ``missing-input``: it has static parts, so it needs an example.
        TypeError: ``examples`` are no calls.
    """
    function = callable_at(target)
    if signatures is None:
        signature = as_spec(None, function).signature
    elif len(signatures) == 1:
        signature = signatures[0]
    else:
        signature = choose(SpecFile(Module(tuple(signatures))), None, function).signature
    calls = None if examples is None else calls_at(examples)
    found = examined(function, signature, calls, n=n, tolerance=tolerance, seed=seed, sizes=sizes)
    report = Report()
    found.tell({at: each.buckets for at, each in enumerate(signature.alternatives)}, report)
    return found, report


__all__ = ["examined_at"]
