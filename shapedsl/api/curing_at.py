"""Curing of what is named as ``MODULE:OBJECT``: the module is imported, a class is made."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ..ir import Module, Signature
from .cured import Cured
from .curing import TRACES, cure_spec
from .importing import callable_at, calls_at
from .sources import as_spec, choose
from .spec import Spec
from .spec_file import SpecFile

if TYPE_CHECKING:
    from ..serving.curing.traces import Call


def cured_at(
    target: str,
    signatures: Sequence[Signature] | None,
    examples: str | None = None,
    *,
    entries: Collection[str],
    traces: int = TRACES,
    static: Collection[str] = (),
    cases: bool = False,
    case: str | None = None,
    sizes: Mapping[str, int] | None = None,
    overrides: Mapping[str, int] | None = None,
) -> Cured:
    """Returns what curing ``pkg.mod:net`` gives.

    Args:
        target: A function or a module; a class, which is made without arguments and put into eval mode; or
            ``pkg.mod:make()``, for what a function returns.
        signatures: A file's specs, of which one is chosen by the name of the callable; None for its annotations.
        examples: Calls, or a function that returns them, as ``pkg.mod:calls``; the first of them is the example.
        entries, traces, static, cases, case: As `cure` takes them.
        sizes: Of an example that is made.
        overrides: Of ``const`` statements, with which the file was read.

    Raises:
        ImportError: There is no such thing, or it is nothing that can be called.
        ShapeError: The spec is wrong, or has none; ``missing-input``: it has static parts, so it needs an example.
        TypeError: ``examples`` are no calls.
        ValueError: ``static`` names no size.
    """
    function = callable_at(target)
    call: Call | None = None
    if examples is not None:
        calls = calls_at(examples)
        if not calls:
            raise TypeError(f"`{examples}` holds no calls: each is (args, kwargs)")
        call = tuple(calls[0][0]), dict(calls[0][1])
    if signatures is None:
        spec = as_spec(None, function)
    elif len(signatures) == 1:
        spec = Spec(signatures[0])
    else:
        spec = choose(SpecFile(Module(tuple(signatures))), None, function)
    return cure_spec(
        function,
        spec,
        call,
        case=case,
        entries=entries,
        traces=traces,
        static=static,
        cases=cases,
        consts=sizes,
        overrides=overrides,
    )


__all__ = ["cured_at"]
