"""What comes of evaluating a shape function, and the two ways in which it ends early."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ....ir import Dim

Answer: TypeAlias = "Dim | tuple[Dim, ...] | tuple[tuple[Dim, ...], ...]"


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A shape function gave a result.

    Attributes:
        value: A dim where the function returns an int, dims where it returns a shape, a tuple of these where it
            returns several shapes. ``_`` stands for a size that is not known, ``...`` for any number of these.
        notes: Why dims are not known, one sentence each; empty if the function itself leaves them open.
    """

    value: Answer
    notes: tuple[str, ...] = ()

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The dims of a shape.

        Raises:
            TypeError: The result is no shape.
        """
        if isinstance(self.value, tuple) and not any(isinstance(dim, tuple) for dim in self.value):
            return self.value  # type: ignore[return-value]
        raise TypeError(f"no shape: {self.value!r}")


@dataclass(frozen=True, slots=True)
class Invalid:
    """The shape function refuses its arguments.

    Attributes:
        message: Its own words.
    """

    message: str


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """There is no result.

    Attributes:
        reason: Why, as it follows "not evaluated, because".
    """

    reason: str


Outcome: TypeAlias = "Evaluated | Invalid | NotEvaluated"


class Stop(Exception):
    """Evaluation goes no further; the text says why. Never leaves this package."""

    @property
    def reason(self) -> str:
        """Why."""
        return str(self.args[0])


class Refused(Exception):
    """`Invalid` was returned, or an intrinsic found a fault; the text is the complaint. Never leaves this package."""

    @property
    def message(self) -> str:
        """The complaint."""
        return str(self.args[0])
