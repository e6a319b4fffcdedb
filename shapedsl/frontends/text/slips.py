"""Words with a letter wrong: which word was meant, and whether that is certain."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence


def closest(word: str, candidates: Sequence[str]) -> str | None:
    """Returns the candidate that ``word`` is a slip of: one edit away, or two if it is long."""
    best: tuple[int, str] | None = None
    for candidate in candidates:
        limit = 1 if len(candidate) < 5 else 2
        if len(candidate) < 3 or abs(len(candidate) - len(word)) > limit:
            continue
        distance = _distance(word.lower(), candidate)
        if distance <= limit and distance < len(candidate) - 1 and (best is None or (distance, candidate) < best):
            best = (distance, candidate)
    return best[1] if best else None


def is_slip(word: str, meant: str, candidates: Sequence[str]) -> bool:
    """Returns whether ``word`` can only be ``meant``: one edit away in letters, and no other candidate is as near."""
    if not word.isalpha() or _distance(word.lower(), meant) > 1:
        return False
    return all(other == meant or _distance(word.lower(), other) > 1 for other in candidates)


def is_alike(left: str, right: str) -> bool:
    """Returns whether two names of four or more letters are one edit apart, or differ in case, and not in digits alone."""
    if min(len(left), len(right)) < 4 or abs(len(left) - len(right)) > 1:
        return False
    if re.sub(r"[0-9]", "", left) == re.sub(r"[0-9]", "", right):
        return False
    return left.lower() == right.lower() or _distance(left, right) == 1


@functools.lru_cache(maxsize=4096)  # a broken file repeats its words
def _distance(a: str, b: str) -> int:
    """Returns how many insertions, deletions, replacements and swaps of neighbors turn ``a`` into ``b``."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        now = [i]
        for j, y in enumerate(b, 1):
            cost = min(row[j] + 1, now[-1] + 1, row[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        before, row = row, now
    return row[-1]
