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
from collections.abc import Mapping
from typing import Any

from ..diagnostics import Diagnostic, Severity, ShapeError
from ..ir import Size, Var
from ..ir.expanded import Lowered
from ..ir.write import write_dim, write_predicate
from .asked import asked_of
from .data_dependent import data_dependent, from_data
from .printed import read_printed
from .size_arguments import size_argument
from .symbolic import Unreadable
from .traces import example_sizes

_ASSERTION = re.compile(
    r"Runtime assertion failed for expression (?P<condition>.+?)(?: on node '[^']*'.*)?\s*$", re.DOTALL
)
_GUARD = re.compile(r"Guard failed: (?P<condition>.+)")
_SAME_FRAME = re.compile(
    r"Guard failed on the same frame.*?Guard fail reason: [^:]*: (?P<condition>.+?)\s*(?:#|$)", re.DOTALL
)
_PINNED = re.compile(r"tensor '(?P<tensor>.+)' size mismatch at index (?P<axis>\d+)\. expected (?P<size>\d+),")
_EXPECTED = re.compile(r"Expected input at (?P<place>\S+) to be (?P<condition>.+?), but got (?P<size>-?\d+)")
_SYMBOL = re.compile(r"\b[us]\d+\b")


def trace_failure(
    error: BaseException, lowered: Lowered, arguments: Mapping[str, Any] | None = None, *, data: bool = False
) -> ShapeError | None:
    """Returns what to raise from ``error``, or None if it is none of ours.

    Args:
        error: What compile, export or make_fx raised while tracing.
        lowered: The spec that was traced with.
        arguments: The example, by parameter; without it, it is looked for where ``error`` was caught.
        data: Whether a question about what comes from data is translated, too; torch's own message says more of it.
    """
    asked = asked_of(error, lowered)
    if asked is None:
        return size_argument(error)
    found = data_dependent(asked, lowered, example_sizes(error, lowered, arguments))
    return from_data(asked) if found is None and data else found


def run_failure(error: BaseException, symbols: Mapping[str, Size]) -> ShapeError | None:
    """Returns what an exported program's or a graph's refusal of an input means, or None if it is none.

    Args:
        error: What it raised.
        symbols: From `program.symbols_of`: torch's names for sizes, and what they stand for.
    """
    text = str(error)
    if match := _EXPECTED.search(text):
        message = f"`{match['place']}` is {match['size']}, but this program needs it to be {match['condition']}"
    elif (condition := condition_of(error)) is not None:
        message = f"this program needs `{_renamed(condition, symbols)}`"
    else:
        return None
    return ShapeError([Diagnostic("shape-violation", Severity.ERROR, message, notes=(f"torch: {said(error)}",))])


def said(error: BaseException) -> str:
    """Returns what torch said of a refusal, without the line that a guard's value comes from."""
    text = str(error)
    return (text.partition("#")[0] if _SAME_FRAME.search(text) else text).strip()


def condition_of(error: BaseException) -> str | None:
    """Returns the condition of a guard or an assertion that failed, as torch prints it but for ``x.shape[0]``; or None.

    Of a compiled function's guard as well: ``Guard failed on the same frame … Guard fail reason: 1/1: …``.
    """
    text = str(error)
    match = _ASSERTION.search(text) or _SAME_FRAME.search(text) or _GUARD.search(text)
    if match is None:
        bare = text.strip()  # inductor says nothing but the condition
        return bare if isinstance(error, RuntimeError) and _SYMBOL.search(bare) and _is_condition(bare) else None
    condition = re.sub(r"\.size\(\)\[(\d+)\]", r".shape[\1]", match["condition"]).strip()
    if pinned := _PINNED.match(condition):
        return f"{pinned['tensor']}.shape[{pinned['axis']}] == {pinned['size']}"
    return condition


def _is_condition(text: str) -> bool:
    try:
        read_printed(text, Var)
    except Unreadable:
        return False
    return True


def _renamed(condition: str, symbols: Mapping[str, Size]) -> str:
    """Returns a printed condition in the user's names, as a predicate of the language where it can be read.

    What has no name is called as it is: ``x.shape[0]``.
    """

    def name(match: re.Match[str]) -> str:
        size = symbols.get(match[0])
        return match[0] if size is None else write_dim(size)

    try:
        return write_predicate(read_printed(condition, lambda operand: symbols.get(operand, Var(operand))))
    except Unreadable:
        return _SYMBOL.sub(name, condition)
