"""What jaxtyping's ``dtypes`` hold → a dtype or family of the language, the narrowest that holds all of them.

====================  ======================================
``Float``             ``floating``
``Integer``           ``integral``
``Int``, ``UInt``     ``integral``, with a note: it is wider
``Complex``           ``complexfloating``
``Num``               ``number``
``Real``, ``Inexact`` ``number``, with a note
``Bool``, ``Float32`` ``bool``, ``float32``
``Shaped``            any
``Key``               any, with a note: torch has no such dtype
====================  ======================================
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from ...diagnostics import Report, Severity, Span
from ...ir import Dtype
from ...ir.dtypes import DTYPES

# What a set of dtypes must hold to be the whole family: the dtypes that torch computes in.
_COMMON: Final = {
    "floating": {"float16", "bfloat16", "float32", "float64"},
    "complexfloating": {"complex64", "complex128"},
    "integral": {"uint8", "int8", "int16", "int32", "int64"},
}
_ALL: Final = {
    "floating": {name for name in DTYPES if name.startswith(("float", "bfloat"))},
    "complexfloating": {name for name in DTYPES if name.startswith(("complex", "bcomplex"))},
    "integral": {name for name in DTYPES if name.startswith(("int", "uint"))},
}
_NUMBERS: Final = {name for names in _COMMON.values() for name in names}
_FAMILIES: Final = [
    *((name, _COMMON[name], _ALL[name]) for name in _COMMON),
    ("number", _NUMBERS, {name for names in _ALL.values() for name in names}),
]


def dtype_of(dtypes: Any, report: Report, at: Span | None) -> Dtype | None:
    """Returns the dtype that ``dtypes`` means; None for any.

    Args:
        dtypes: Names and patterns of dtypes, or one; anything else means any dtype.
        report: Receives a note where what is returned holds more.
        at: Where the annotation stands.
    """
    single = isinstance(dtypes, (str, re.Pattern))
    if not single and not isinstance(dtypes, (tuple, list)):
        return None
    wanted: list[Any] = [dtypes] if single else [*dtypes]
    found = {name for name in DTYPES if any(_matches(each, name) for each in wanted)}
    if len(found) == 1:
        return Dtype(found.pop())
    for family, common, every in _FAMILIES:
        if found and found <= every:
            if not common <= found:
                _tell_wider(report, at, found, family)
            return Dtype(family)
    if not found >= {*_NUMBERS, "bool"}:
        _tell_wider(report, at, found or {str(each) for each in wanted}, "any dtype")
    return None


def _matches(wanted: Any, name: str) -> bool:
    match: Callable[[str], object] | None = getattr(wanted, "match", None)  # a pattern's
    return wanted == name if match is None else match(name) is not None


def _tell_wider(report: Report, at: Span | None, found: set[str], taken: str) -> None:
    shown = sorted(found)
    more = ", …" if len(shown) > 4 else ""
    report.emit(
        Severity.NOTE,
        "inexpressible",
        f"no family of dtypes holds {', '.join(shown[:4])}{more} alone: taken as {taken}",
        at=at,
    )


__all__ = ["dtype_of"]
