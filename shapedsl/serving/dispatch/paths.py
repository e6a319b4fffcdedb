"""Where sizes lead: the alternative that takes them, what is padded, and the number of the artifact. Knows no torch.

After::

    B=5, S=40 → bucket S → pad 40→64 (37 % waste) → artifact 3
"""

from __future__ import annotations

from collections.abc import Mapping

from ...ir import Alternative, Mode, Signature
from ...ir.expanded import Expanded
from ..buckets.joint import chooser
from .cases import Numbered, combinations, label, numbered


def path(
    signature: Signature,
    expanded: Expanded,
    position: int,
    sizes: Mapping[str, int],
    chosen: tuple[int, ...] | None,
) -> str:
    """Returns ``B=5, S=40 → bucket S → pad 40→64 (37 % waste) → artifact 3``.

    Args:
        signature: With the alternatives that are numbered.
        expanded: At the structure of the call.
        position: Of the alternative that takes the sizes.
        sizes: Of the call.
        chosen: The padded sizes of its buckets, if it pads.
    """
    parts = [", ".join(f"{name}={size}" for name, size in sizes.items()) or "no sizes"]
    alternative = signature.alternatives[position] if signature.alternatives else None
    if alternative is not None:
        parts.append(label(alternative, position))
        if chosen is not None:
            parts.append(chooser(alternative, expanded).describe(sizes, chosen) or "no padding")
    if alternative is not None and alternative.mode is Mode.EAGER:
        return " → ".join([*parts, "runs eagerly"])
    number = number_of(signature, position, sizes, chosen)
    return " → ".join([*parts, "an artifact" if number is None else f"artifact {number}"])


def number_of(
    signature: Signature, position: int, sizes: Mapping[str, int], chosen: tuple[int, ...] | None
) -> int | None:
    """Returns the number of an artifact, counted from 1; None where there are too many to count."""
    counted: Numbered = numbered(signature)
    first = counted.first[position]
    if first is None or not counted.exact:
        return None
    if not signature.alternatives:
        return first
    alternative = signature.alternatives[position]
    pinned = members(alternative, sizes, chosen)
    for at, combination in enumerate(combinations(alternative)):
        if all(pinned.get(name) == size for name, size in combination):
            return first + at
    return None


def members(alternative: Alternative, sizes: Mapping[str, int], chosen: tuple[int, ...] | None) -> Mapping[str, int]:
    """Returns the size of each bucket that an artifact is for: padded where there is a choice, else as it is."""
    if chosen is None:
        return sizes
    return {bucket.variable: size for bucket, size in zip(alternative.buckets, chosen, strict=True)}


__all__ = ["members", "number_of", "path"]
