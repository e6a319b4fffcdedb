"""Count work instead of time, so that the same question has the same answer on every machine."""

from __future__ import annotations


class TooHard(Exception):
    """One part of a question is beyond what is tried for it; the rest may still be decided."""


class OutOfBudget(TooHard):
    """Nothing is left of the work for the whole question."""


class Budget:
    """Counts work. One unit is about one coefficient touched, half a microsecond.

    Attributes:
        left: What may still be spent.
    """

    __slots__ = ("left",)

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int = 1) -> None:
        """Takes ``units`` away.

        Raises:
            OutOfBudget: Nothing is left.
        """
        self.left -= units
        if self.left < 0:
            raise OutOfBudget
