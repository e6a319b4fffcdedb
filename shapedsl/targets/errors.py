"""torch's messages about sizes, in the user's names.

torch says ``u0`` where the user wrote ``B``, and its own names never mention a parameter. Two kinds
of failure are translated, and everything else is left as it is:

- *while tracing*, a branch on a size that the spec does not decide::

      GuardOnDataDependentSymNode: Could not guard on data-dependent expression Eq(u0, 1)
      → error[data-dependent]: the program asks whether `S == 1`, which the spec leaves open

  or a size that has to be a number, as in ``range(x.shape[0])``::

      GuardOnDataDependentSymNode: Could not extract specialized integer from data-dependent expression u0
      → error[data-dependent]: the program needs the number `S` itself, which the spec leaves open

  or a branch that the spec decides, by a proof that torch does not find::

      GuardOnDataDependentSymNode: Could not guard on data-dependent expression Eq(8*u0*(u1//2 - 1), 0)
      → error[data-dependent]: the program asks whether `8 * B * (H // 2 - 1) == 0`; the spec implies
        `8 * B * (H // 2 - 1) != 0`, but torch does not conclude it

- *while running* a program, an input outside the spec::

      AssertionError: Guard failed: y.size()[0] == 2*x.size()[0]
      RuntimeError: Runtime assertion failed for expression Eq(Mod(u0, 2), 0) on node 'eq'
      → error[shape-violation]: this program needs `B % 2 == 0`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..diagnostics import Diagnostic, Severity, ShapeError
from ..ir import Apply, Predicate, Size, Var
from ..ir.expanded import Lowered
from ..ir.walk import free_vars
from ..ir.write import write_dim, write_predicate
from .asked import Asked, asked_of
from .printed import read_printed
from .symbolic import Unreadable, negated

_ASSERTION = re.compile(
    r"Runtime assertion failed for expression (?P<condition>.+?)(?: on node '[^']*'.*)?\s*$", re.DOTALL
)
_GUARD = re.compile(r"Guard failed: (?P<condition>.+)")
_EXPECTED = re.compile(r"Expected input at (?P<place>\S+) to be (?P<condition>.+?), but got (?P<size>-?\d+)")
_SYMBOL = re.compile(r"\b[us]\d+\b")


def trace_failure(error: BaseException, lowered: Lowered) -> ShapeError | None:
    """Returns what to raise from ``error``, or None if it is none of ours.

    Args:
        error: What compile, export or make_fx raised while tracing.
        lowered: The spec that was traced with.
    """
    asked = asked_of(error, lowered)
    if asked is None:
        return None
    if asked.text:
        message = "the program makes a text of a size, which needs the number itself"
        helps = ("write a number in the spec, or declare the size as `const … = _`", "or make no text of it")
        return _data_dependent(asked, message, [], helps)
    if asked.predicate is not None:
        message, helps = _asks(asked.predicate, lowered)
        names = list(dict.fromkeys(free_vars(asked.predicate)))
    elif asked.size is not None:
        message, helps = _needs_number(asked.size)
        if _counts_parts(asked.size, asked.line or ""):
            helps = (_PARTS, *helps)
        names = list(dict.fromkeys(free_vars(asked.size)))
    else:  # it comes from data: the spec has no say
        return None
    notes = [note for name in names if (note := _binding(name, lowered)) is not None]
    return _data_dependent(asked, message, notes, helps)


def _data_dependent(asked: Asked, message: str, notes: Iterable[str], helps: tuple[str, ...]) -> ShapeError:
    notes = (*(() if asked.line is None else (asked.line,)), *notes)
    return ShapeError([Diagnostic("data-dependent", Severity.ERROR, message, notes=notes, helps=helps)])


def _asks(predicate: Predicate, lowered: Lowered) -> tuple[str, tuple[str, ...]]:
    """Returns the message and the cures of a branch on ``predicate``."""
    text, opposite = write_predicate(predicate), write_predicate(negated(predicate))
    asks = f"the program asks whether `{text}`"
    decided = None if lowered.reasoner is None else lowered.reasoner.decide(lowered, predicate)
    if isinstance(decided, bool):
        implied = text if decided else opposite
        return f"{asks}; the spec implies `{implied}`, but torch does not conclude it", (
            f"add `where {implied}`, which excludes no size",
        )
    opened = "which the spec leaves open" if decided is None else "which torch cannot conclude from the spec"
    return f"{asks}, {opened}", (
        f"add `where {opposite}` or `where {text}`, if that is all the program is for",
        "two cases of the spec, one for each, give two programs",
    )


def _needs_number(size: Size) -> tuple[str, tuple[str, ...]]:
    """Returns the message and the cures of a use of ``size`` that only a number can serve."""
    names = list(dict.fromkeys(free_vars(size)))
    named = [name for name in names if name.isidentifier()]  # `batch[0]` and `?0` cannot be declared
    static = "write a number" if named else "write a number or `_`"
    if named:
        static += f", or declare `const {', '.join(named)} = _`: each value is then a program of its own"
    return f"the program needs the number `{write_dim(size)}` itself, which the spec leaves open", (
        static,
        "or let the program use the size as it is: `int()`, `range()`, `math.sqrt()`, keys and indices of lists need a number",
    )


_PARTS = (
    "`chunk(n)` and `split(size)` count their parts: of a size that is a multiple of n, `tensor_split(n)` gives the same "
    "ones; `split([…])` takes the size of each"
)


def _counts_parts(size: Size, line: str) -> bool:
    """Returns whether ``size`` is the number of parts of a tensor that ``line`` takes apart by another size."""
    match size:
        case Apply(op=op, args=(_, divisor)) if op.name == "//" and free_vars(divisor):
            return "chunk(" in line or "split(" in line
        case _:
            return False


def run_failure(error: BaseException, symbols: Mapping[str, Size]) -> ShapeError | None:
    """Returns what an exported program's or a graph's refusal of an input means, or None if it is none.

    Args:
        error: What it raised.
        symbols: From `program.symbols_of`: torch's names for sizes, and what they stand for.
    """
    text = str(error)
    if match := _ASSERTION.search(text):
        condition = _renamed(match["condition"], symbols)
        message = f"this program needs `{condition}`"
    elif match := _EXPECTED.search(text):
        message = f"`{match['place']}` is {match['size']}, but this program needs it to be {match['condition']}"
    elif match := _GUARD.search(text):
        message = f"this program needs `{_guard(match['condition'])}`"
    else:
        return None
    return ShapeError([Diagnostic("shape-violation", Severity.ERROR, message, notes=(f"torch: {text.strip()}",))])


def _binding(name: str, lowered: Lowered) -> str | None:
    """Returns where ``name`` is read, e.g. ``S is x.shape[1]``."""
    for leaf in lowered.expanded.leaves:
        for axis, dim in enumerate(leaf.dims):
            if getattr(dim, "name", None) == name:
                return f"{name} is {leaf.place(axis)}"
    for leaf in lowered.expanded.leaves:
        for axis, dim in enumerate(leaf.dims):
            if name in free_vars(dim):
                return f"{leaf.place(axis)} is {write_dim(dim)}"
    return None


def _renamed(condition: str, symbols: Mapping[str, Size]) -> str:
    """Returns a printed condition in the user's names, as a predicate of the language where it can be read."""

    def name(match: re.Match[str]) -> str:
        size = symbols.get(match[0])
        return match[0] if size is None else write_dim(size)

    try:
        return write_predicate(read_printed(condition, symbols.get))
    except Unreadable:
        return _SYMBOL.sub(name, condition)


def _guard(condition: str) -> str:
    """Returns a guard in the language's words: torch writes ``x.size()[0]`` for ``x.shape[0]``."""
    text = re.sub(r"\.size\(\)\[(\d+)\]", r".shape[\1]", condition).strip()
    try:
        return write_predicate(read_printed(text, Var))
    except Unreadable:
        return text
