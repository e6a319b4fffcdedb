"""What a spec answers: a verdict with its reasons, or the range of a size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..ir import Constraint
from ..ir.write import write_predicate

Verdicts: TypeAlias = Literal["proved", "refuted", "unknown"]
Sizes: TypeAlias = "dict[str, int | tuple[int, ...]]"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a question. It is true if and only if the question is proved.

    Attributes:
        verdict: ``"proved"``, ``"refuted"``, or ``"unknown"``: neither was found.
        constraints: If proved: the constraints that it follows from; without any one of them it was not
            found to. None: it always holds.
        reason: Why it is unknown; or that it is proved because nothing satisfies the spec.
    """

    verdict: Verdicts
    constraints: tuple[Constraint, ...] = ()
    reason: str = ""
    _witness: tuple[tuple[str, int | tuple[int, ...]], ...] = field(default=(), repr=False)

    @property
    def core(self) -> list[str]:
        """The `constraints` as source texts, in the order of the file."""
        return texts(self.constraints)

    @property
    def witness(self) -> Sizes:
        """If refuted: sizes that the spec accepts and for which it fails; of a variadic a tuple.

        Sizes that have nothing to do with the question are left out.
        """
        return dict(self._witness)

    def sizes(self) -> str:
        """Returns the witness as text: ``B = 4, batch = (2, 3)``."""
        return ", ".join(f"{name} = {_written(size)}" for name, size in self._witness)

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    def __repr__(self) -> str:
        return f"<Answer {self}>"

    def __str__(self) -> str:
        details = self.sizes() or self.reason or "; ".join(self.core)
        return f"{self.verdict}: {details}" if details else self.verdict


@dataclass(frozen=True, slots=True)
class SizeRange:
    """What a size is proved to be in.

    Attributes:
        lo, hi: Inclusive; None: no bound is proved.
        modulus: All values differ by multiples of it: 1 says nothing, 0 that there is one value.
        residue: The values modulo it; the value itself where the modulus is 0.
        exact: Whether ``lo`` and ``hi``, where they are not None, are values that it takes.
    """

    lo: int | None
    hi: int | None
    modulus: int = 1
    residue: int = 0
    exact: bool = False

    def __str__(self) -> str:
        if self.lo is not None and self.lo == self.hi:
            return str(self.lo)
        ends = f"[{'-inf' if self.lo is None else self.lo}, {'inf' if self.hi is None else self.hi}]"
        return f"{ends}, {self.residue} modulo {self.modulus}" if self.modulus > 1 else ends


def texts(constraints: Iterable[Constraint]) -> list[str]:
    """Returns ``constraints`` as the user wrote them."""
    return [c.text or write_predicate(c.predicate) for c in constraints]


def in_order(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Returns ``constraints`` as they stand in the file, each once; those without a place, or of another file, first."""
    listed = list({(texts([c])[0], c.span): c for c in constraints}.values())
    last = next((c.span.source for c in reversed(listed) if c.span is not None), None)

    def place(constraint: Constraint) -> tuple[bool, int]:
        span = constraint.span
        return (False, 0) if span is None or span.source is not last else (True, span.start)

    return tuple(sorted(listed, key=place))


def _written(size: int | tuple[int, ...]) -> str:
    return str(size) if isinstance(size, int) else f"({', '.join(map(str, size))}{',' if len(size) == 1 else ''})"


__all__ = ["Answer", "SizeRange", "Sizes", "Verdicts", "in_order", "texts"]
