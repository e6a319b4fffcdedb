"""What ``Dim`` and ``mark_dynamic`` promised and the program does not keep: torch's ConstraintViolationError.

Before::

    Constraints violated (b)! … - The values of b = L['y'].size()[0] and a = L['x'].size()[0] must always be equal.

After::

    error[merged-dims]: the program made two sizes one: `y.shape[0] == x.shape[0]`
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..diagnostics import Diagnostic, Severity, ShapeError
from ..ir import Var
from ..ir.write import write_predicate
from .calls import plain_source
from .printed import read_printed
from .symbolic import Unreadable
from .traces import chain, user_line

_EQUAL: Final = re.compile(r"The values of (?P<a>.+?) and (?P<b>.+?) must always be equal")
_PINNED: Final = re.compile(
    r"You marked (?P<what>.+?) as dynamic but your code specialized it to be a constant \((?P<size>\d+)\)"
)
_RANGE: Final = re.compile(
    r"Not all values of (?P<what>.+?) in the specified range (?P<range>.+?) satisfy the generated guard (?P<guard>.+)"
)


def violation(error: BaseException) -> ShapeError | None:
    """Returns what to raise of an error of torch about dims that were declared dynamic, or None if it is none."""
    for each in chain(error):
        if type(each).__name__ == "ConstraintViolationError":
            where = user_line(error)
            notes = () if where is None else (where,)
            found = list(_findings(str(each), notes))
            return ShapeError(found) if found else None
    return None


def _findings(text: str, notes: tuple[str, ...]) -> Iterator[Diagnostic]:
    for line in text.splitlines():
        if match := _EQUAL.search(line):
            a, b = _place(match["a"]), _place(match["b"])
            help_ = "write one name for both sizes in the spec, or change the program"
            yield _finding("merged-dims", f"the program made two sizes one: `{a} == {b}`", notes, help_)
        elif match := _PINNED.search(line):
            place = _place(match["what"])
            help_ = f"write {match['size']} there in the spec, let a `case` have it, or change the program"
            yield _finding("specialized-dim", f"the program pinned `{place}`: it is {match['size']}", notes, help_)
        elif match := _RANGE.search(line):
            guard = _predicate(_place(match["guard"].rstrip(" .")))
            help_ = f"add `where {guard}`, in the names of the spec"
            message = f"the program needs `{guard}`, which the declared range does not promise"
            yield _finding("extra-assumption", message, notes, help_)


def _predicate(text: str) -> str:
    """Returns a guard in the language's words, where it has words for it."""
    try:
        return write_predicate(read_printed(text, Var))
    except Unreadable:
        return text


def _place(text: str) -> str:
    """Returns ``x.shape[0]`` of ``a = L['x'].size()[0]``, and a name as it is."""
    source = text.partition(" = ")[2] or text
    return plain_source(re.sub(r"\.size\(\)\[(\d+)\]", r".shape[\1]", source))


def _finding(code: str, message: str, notes: tuple[str, ...], help_: str) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message, notes=notes, helps=(help_,))


__all__ = ["violation"]
