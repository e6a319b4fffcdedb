"""What a trace asked and torch could not answer: a condition on sizes, or the number that a size is.

Before (the error of a failed trace)::

    GuardOnDataDependentSymNode: Could not guard on data-dependent expression Eq(u0, 1)

After::

    Asked(predicate=B == 1, line="net.py:12, in forward: if x.shape[0] == 1:")

It reads what torch raised, and what shapedsl raised from that alike, for compile, export and make_fx.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any

from ..ir import Predicate, Size
from ..ir.expanded import Lowered
from .symbolic import Unreadable, read_predicate, read_size
from .traces import chain, shape_env, spec_symbols, user_line

_TEXT_MADE = ("SymNodeVariable has tp_repr slot", "unsupported format string passed to SymInt.__format__")


@dataclass(frozen=True, slots=True)
class Asked:
    """What torch could not tell while it traced; one of ``predicate``, ``size``, ``text`` and ``symbols`` is given.

    Attributes:
        predicate: The condition, over the signature's variables.
        size: The size of which the number itself is needed.
        text: Whether a text was to be made of a size; which one, torch does not tell.
        line: Of the user's code: ``net.py:12, in forward: if n > 1:``.
        symbols: torch's names of what the condition speaks of and the spec does not: it comes from data.
        printed: What torch prints of it.
        written: ``predicate`` as the program has it, where that is another text: `(A + 3) % 4 == 3` for `A % 4 == 0`.
    """

    predicate: Predicate | None = None
    size: Size | None = None
    text: bool = False
    line: str | None = None
    symbols: tuple[str, ...] = ()
    printed: str = ""
    written: Predicate | None = None


def asked_of(error: BaseException, lowered: Lowered) -> Asked | None:
    """Returns what the trace that ``error`` ended had asked, or None if it failed for another reason.

    Args:
        error: What compile, export or make_fx raised while tracing, torch's or ours.
        lowered: The spec that was traced with.
    """
    found = next((asked for each in chain(error) if (asked := _expression(each)) is not None), None)
    if found is None:
        if any(text in str(each) for each in chain(error) for text in _TEXT_MADE):
            return Asked(text=True, line=user_line(error))
        return None
    condition, environment = found
    environment = environment or shape_env(error)
    if environment is None:
        return None
    meanings = spec_symbols(environment, lowered)
    asked = environment.replace(condition)
    line, printed = user_line(error), str(asked)
    try:
        if asked.is_Relational or asked.is_Boolean:
            predicate = read_predicate(asked, meanings.get)
            reasoner = lowered.reasoner
            shorter = predicate if reasoner is None else reasoner.shorter(predicate)
            written = None if shorter == predicate else predicate
            return Asked(shorter, line=line, printed=printed, written=written)
        size = read_size(asked, meanings.get)
        size = size if lowered.reasoner is None else lowered.reasoner.shorter_size(size)
        return Asked(size=size, line=line, printed=printed)
    except Unreadable:  # a symbol that comes from data (`.item()`), or an operator that the language lacks
        unknown = sorted({symbol.name for symbol in asked.free_symbols} - meanings.keys())
        return Asked(line=line, symbols=tuple(unknown), printed=printed)


def _expression(error: BaseException) -> tuple[Any, Any] | None:
    """Returns the expression whose value torch could not give, and its ShapeEnv where that is known; or None."""
    if type(error).__name__ == "GuardOnDataDependentSymNode":
        condition = getattr(error, "cond", None)
        return None if condition is None else (condition, None)
    if isinstance(error, TypeError) and str(error) == "unhashable type: non-nested SymInt":
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)  # the size was to be a key
        node = getattr(frame.f_locals.get("self"), "node", None)
        return None if node is None else (node.expr, node.shape_env)
    return None


__all__ = ["Asked", "asked_of"]
