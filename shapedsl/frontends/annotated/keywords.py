"""Whether a string of ``shapes(x="…")`` is what stands inside ``Tensor[…]``, or a whole type.

Before::

    @shapes(x="B, D", pair="(Tensor[B], Scalar[N])", state="{'h': Tensor[B]}", mask="Tensor[B] | None", ids="int64")

After::

    x: Tensor[B, D]
    pair: (Tensor[B], Scalar[N])
    state: {"h": Tensor[B]}
    mask: Tensor[B] | None
    ids: int64

A name alone is a dim, unless it is a type of the language or one that is declared beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ...diagnostics import Report, Source
from ...ir.dtypes import dtype_name
from ..text.fragments import parse_dims, parse_type

_LIKE_A_TYPE = re.compile(r"\s*[\[{]|.*(\w\s*\[|\|)", re.DOTALL)  # what no dims have


def is_type(source: Source, declared: Callable[[], Iterable[str]]) -> bool:
    """Returns whether ``source`` is to be read as a type; of what is neither, what it looks like.

    Args:
        source: The string.
        declared: Returns the names of types that are declared where it stands.
    """
    text = source.text.strip()
    if text == "()":  # no dims
        return False
    if text.isidentifier():
        return text in ("Tensor", "Scalar", "None", "Any") or dtype_name(text) is not None or text in declared()
    if parse_dims(source, Report()) is not None:
        return False
    return _LIKE_A_TYPE.match(text) is not None or parse_type(source, Report()) is not None


__all__ = ["is_type"]
