"""Graph breaks: what torch cannot trace at all, and so no spec can help.

Before::

    Unsupported: Failed to trace builtin operator
      Explanation: Dynamo does not know how to trace builtin operator `print` with argument types ['str'] …

After::

    error[graph-break]: torch cannot trace this in one graph: failed to trace builtin operator
      = note: net.py:26, in forward: print("hi")
      = note: torch: Dynamo does not know how to trace builtin operator `print` with argument types ['str'] …
      = note: behind a graph break no spec holds: torch takes the sizes there from the call
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..diagnostics import Diagnostic, Severity, ShapeError
from .traces import chain, shape_env, user_line

_OF_SHAPES: Final = re.compile(r"dynamic shape|symbolic|SymInt|SymNode|size", re.IGNORECASE)
_LIMIT: Final = "recompile limit"
_MOST_HINTS: Final = 2

# what torch calls it → what to do about it, where its own hints miss the spec
_HELPS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "Data-dependent branching",
        (
            "it asks for values, not for sizes: no assumption decides it",
            "write it without a branch, with `torch.where`, or with `torch.cond`",
        ),
    ),
    (
        "RNN, GRU, or LSTM",
        (
            "make the length static: `const L = _`, or `bucket L in {…}` for a few lengths; the batch may stay dynamic",
            "or let a `case … eager` run it without torch.compile",
        ),
    ),
)


def graph_break(error: BaseException, *, under_spec: bool) -> ShapeError | None:
    """Returns what to raise of a graph break, or None if ``error`` is none, or has nothing to do with sizes.

    Args:
        error: What compile or strict export raised.
        under_spec: Whether a spec is known to be there; one that the trace knows counts as well.
    """
    found = next((each for each in chain(error) if type(each).__name__ == "Unsupported"), None)
    if found is None:
        return None
    kind = _kind(found)
    if _LIMIT in kind:
        return None
    spoken = under_spec or shape_env(error) is not None
    if not spoken and not _OF_SHAPES.search(kind):
        return None
    where = user_line(error)
    explanation, hints = _explained(str(found))
    notes = [] if where is None else [where]
    if explanation:
        notes.append(f"torch: {explanation}")
    if spoken:
        notes.append("behind a graph break no spec holds: torch takes the sizes there from the call")
    helps = next((helps for name, helps in _HELPS if name in f"{kind} {explanation}"), tuple(hints[:_MOST_HINTS]))
    message = f"torch cannot trace this in one graph: {kind[:1].lower()}{kind[1:]}"
    return ShapeError([Diagnostic("graph-break", Severity.ERROR, message, notes=tuple(notes), helps=helps)])


def _kind(error: Any) -> str:
    """Returns what torch calls this kind of break: the first line of its message."""
    named = getattr(error, "gb_type", None)
    return str(named) if named else next(iter(str(error).splitlines()), "unsupported").strip()


def _explained(text: str) -> tuple[str, list[str]]:
    """Returns torch's explanation, and its hints but for those that send users elsewhere."""
    explanation = re.search(r"^\s*Explanation:\s*(.+)$", text, re.MULTILINE)
    hints = [match[1].strip() for match in re.finditer(r"^\s*Hint:\s*(.+)$", text, re.MULTILINE)]
    kept = [hint for hint in hints if not re.search(r"report an issue|See http|graph break is fundamental", hint)]
    return (explanation[1].strip() if explanation else "", kept)


__all__ = ["graph_break"]
