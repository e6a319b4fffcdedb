"""A size, or a condition on sizes, that is given to a function of torch which takes a plain number only.

Before::

    scaled_dot_product_attention(q, k, v, is_causal=x.shape[1] > 1)
    TypeError: scaled_dot_product_attention(): argument 'is_causal' must be bool, not SymBool

After::

    error[data-dependent]: `is_causal` of `scaled_dot_product_attention` is a condition on sizes, and torch
      takes a plain bool only
      = note: net.py:12, in forward: return scaled_dot_product_attention(q, k, v, is_causal=x.shape[1] > 1)
      = help: write `True if … else False` there: a condition that the spec decides is then decided while tracing

`bool(…)` would do for export, and not for compile.
"""

from __future__ import annotations

import re
from typing import Final

from ..diagnostics import Diagnostic, Severity, ShapeError
from .traces import chain, user_line

_REFUSED: Final = re.compile(
    r"(?P<function>\w+)\(\): argument '(?P<name>\w+)'(?: \(position \d+\))? must be (?P<type>bool|int|float), "
    r"not Sym(?P<given>Bool|Int|Float)"
)


def size_argument(error: BaseException) -> ShapeError | None:
    """Returns what to raise of a trace that ended at such a call, or None if it did not."""
    match = next((match for each in chain(error) if (match := _REFUSED.search(str(each))) is not None), None)
    if match is None:
        return None
    if match["given"] == "Bool":
        given = "a condition on sizes"
        helps = ("write `True if … else False` there: a condition that the spec decides is then decided while tracing",)
    else:
        given = "a size"
        helps = (
            "make the size static: write a number, or declare `const … = _`: each value is then a program of its own",
        )
    message = f"`{match['name']}` of `{match['function']}` is {given}, and torch takes a plain {match['type']} only"
    line = user_line(error)
    notes = () if line is None else (line,)
    return ShapeError([Diagnostic("data-dependent", Severity.ERROR, message, notes=notes, helps=helps)])


__all__ = ["size_argument"]
