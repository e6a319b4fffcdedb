"""The nearest number to a hint that a domain allows."""

from __future__ import annotations

from ..domains import Domain


def fitting(value: int, domain: Domain) -> int:
    """Returns the member of ``domain`` nearest to ``value``; of two at one distance, the smaller.

    Args:
        value: The wish.
        domain: Not empty; finite ends are members.
    """
    if value <= domain.low:
        return int(domain.low)
    if value >= domain.high:
        return int(domain.high)
    below = value - (value - domain.residue) % domain.modulus
    above = below + domain.modulus
    if below == value or domain.high < above:
        return below
    if domain.low > below:
        return above
    return below if value - below <= above - value else above


__all__ = ["fitting"]
