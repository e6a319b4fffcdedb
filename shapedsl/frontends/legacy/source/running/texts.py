"""The parts of f-strings: what they show of a value, and what their text says."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ..values import Constant

if TYPE_CHECKING:
    from ..values import Value


def formatted(value: Value, conversion: str, spec: str) -> str | None:
    """Returns a value as an f-string shows it; None if that is not known."""
    if not isinstance(value, Constant) or not isinstance(value.value, (int, str, float, type(None))):
        return None
    if sum(map(len, (spec, str(value.value)))) > 200 or re.search(r"\d{4}", spec):
        return None
    shown: object = value.value
    if conversion:
        shown = repr(shown) if conversion == "r" else ascii(shown) if conversion == "a" else str(shown)
    try:
        return format(shown, spec)
    except (ValueError, TypeError):
        return None


def unescaped(text: str, *, raw: bool) -> str:
    """Returns what text of an f-string stands for."""
    text = text.replace("{{", "{").replace("}}", "}")
    if raw or "\\" not in text:
        return text
    try:
        found = ast.literal_eval('"""' + text.replace('"', '\\"') + '"""')
    except (ValueError, SyntaxError):
        return text
    return str(found)


__all__ = ["formatted", "unescaped"]
