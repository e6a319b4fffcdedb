"""Which files are worth parsing: most of a code base never mentions a legacy spec, and finding a word is cheap."""

from __future__ import annotations

from typing import Final

# A call site names one of these, whatever its spec is made of; a file that only makes a `Dim` has no site.
WORDS: Final = (
    "dynamic_shapes",
    "dynamic_axes",
    "dynamic_dim",
    "mark_dynamic",
    "mark_static",
    "mark_unbacked",
    "ShapesCollection",
    "AdditionalInputs",
    "torch_tensorrt",
    "prefer_deferred_runtime_asserts_over_guards",
)
_RAW: Final = tuple(word.encode() for word in WORDS)


def may_have_sites(text: str | bytes) -> bool:
    """Returns whether a file mentions torch and anything that uses a legacy spec; its bytes do, undecoded."""
    if isinstance(text, bytes):
        return b"torch" in text and any(word in text for word in _RAW)
    return "torch" in text and any(word in text for word in WORDS)


__all__ = ["WORDS", "may_have_sites"]
