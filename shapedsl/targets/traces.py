"""What a failed trace leaves behind: its errors, its ShapeEnv, and the line of the user's code that it was at.

A finished trace leaves a program whose placeholders know their symbols; a failed one leaves only a traceback, and the
ShapeEnv is a local variable of some frame in it::

    ShapeError ← GuardOnDataDependentSymNode ← … frame of `evaluate_expr`, whose `self` is the ShapeEnv

`spec_symbols` says what its symbols are in the spec's words: ``{"u0": B, "u1": 2 * N}``.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..ir import Size
from ..ir.expanded import Lowered
from ..runtime.explain import sizes_of


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yields ``error`` and all that it comes from or holds, each once; but none that has no text."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop(0)
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            if _has_text(each):
                yield each
            pending += [each.__cause__, each.__context__]
            if type(each).__name__ in ("ExceptionGroup", "BaseExceptionGroup"):
                pending += getattr(each, "exceptions", ())


def _has_text(error: BaseException) -> bool:
    try:
        str(error)
    except Exception:  # the user's class may do as it likes
        return False
    return True


def shape_env(error: BaseException) -> Any:
    """Returns the ShapeEnv of a trace that failed under a ShapesSpec, or None."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    for each in chain(error):
        for frame, _ in traceback.walk_tb(each.__traceback__):
            for value in frame.f_locals.values():
                try:
                    environment = value if isinstance(value, ShapeEnv) else getattr(value, "shape_env", None)
                except Exception:  # any object of the user's may answer getattr as it likes
                    continue
                if isinstance(environment, ShapeEnv) and environment._spec_symbol_to_compile_symbol:
                    return environment
    return None


def spec_symbols(environment: Any, lowered: Lowered) -> dict[str, Size]:
    """Returns what torch's symbols stand for, by name, in the variables of the signature.

    Args:
        environment: The ShapeEnv of a trace, finished or failed.
        lowered: The spec that was traced with; its names are unique.
    """
    meanings = {variable.name: variable.meaning for variable in lowered.variables}
    found: dict[str, Size] = {}
    for ours, theirs in environment._spec_symbol_to_compile_symbol.items():
        name = ours.name.rpartition("#")[0]
        if name in meanings:
            for symbol in (theirs, environment.replace(theirs)):
                if symbol.is_Symbol:
                    found.setdefault(symbol.name, meanings[name])
    return found


def example_sizes(error: BaseException, lowered: Lowered, arguments: Mapping[str, Any] | None = None) -> dict[str, int]:
    """Returns the sizes of the example that was traced with, by variable; as far as they are found.

    Args:
        error: What the trace raised; the frame that called torch holds the arguments.
        lowered: The spec.
        arguments: The example, by parameter, where it is known.
    """
    roots = {leaf.path.root for leaf in lowered.expanded.leaves}
    frames = (frame.f_locals for each in chain(error) for frame, _ in traceback.walk_tb(each.__traceback__))
    for values in frames if arguments is None else (arguments,):
        if roots <= values.keys():
            try:
                sizes = sizes_of(lowered.expanded, values)
            except Exception:  # other things of these names, of any class of the user's
                continue
            if sizes and all(type(size) is int for size in sizes.values()):  # no symbols of a trace
                return sizes
    return {}


def user_line(error: BaseException) -> str | None:
    """Returns the innermost line of the user's code that was being traced: ``net.py:12, in forward: if n > 1:``."""
    import torch

    library, ours = str(torch.__path__[0]), str(Path(__file__).parents[1])
    found: traceback.FrameSummary | None = None
    for each in chain(error):
        stack = getattr(each, "real_stack", None) or traceback.extract_tb(each.__traceback__)
        for frame in stack:
            if not frame.filename.startswith((library, ours, "<")):
                found = frame
        if found is not None and getattr(each, "real_stack", None):
            break  # dynamo knows the user's stack, which the traceback has not
    if found is None:
        return None
    return f"{found.filename}:{found.lineno}, in {found.name}: {(found.line or '').strip()}"


__all__ = ["chain", "example_sizes", "shape_env", "spec_symbols", "user_line"]
