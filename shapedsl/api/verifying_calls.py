"""Calls with which `verify` looks at what it cannot see otherwise: functions that were never called, and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..diagnostics import ShapeError
from .examples import examples_of
from .spec import Spec

Call = tuple[Sequence[Any], Mapping[str, Any]]


class Example:
    """Calls that satisfy a spec: those that were given, else some that are made.

    Attributes:
        remarks: That one was run.
    """

    def __init__(self, spec: Spec, given: Sequence[Call], seed: int) -> None:
        """Args:
        spec: What they satisfy.
        given: By a user.
        seed: Of inputs that are made.
        """
        self._spec = spec
        self._given = tuple(given)
        self._seed = seed
        self._calls: list[Call] = list(given)
        self.remarks: tuple[str, ...] = ()

    def calls(self) -> Sequence[Call]:
        """Returns the calls; none where only a user knows one."""
        try:
            return self.required()
        except ShapeError:
            return ()

    def required(self) -> Sequence[Call]:
        """Returns the calls, first those whose sizes torch takes for no others.

        Raises:
            ShapeError: ``missing-input``: only a user knows one.
        """
        if not self._calls:
            self._calls = made_for(self._spec, {}, self._seed)
        return self._calls

    def run(self, program: Any) -> None:
        """Calls ``program``, so that torch compiles it."""
        args, kwargs = self.required()[0]
        program(*args, **kwargs)
        by = "an example" if self._given else "inputs made by the spec"
        self.remarks = (f"it had not been called: it was, once, with {by}",)


def made_for(spec: Spec, sizes: Mapping[str, Any], seed: int) -> list[Call]:
    """Returns calls that satisfy a spec; torch takes 0 and 1 for numbers and equal sizes for one, so such come last.

    Raises:
        ShapeError: ``missing-input``: only a user knows one.
    """
    calls: list[Call] = list(examples_of(spec, _TRIED, seed, sizes))
    return sorted(calls, key=lambda call: _speciality(spec.bind(*call[0], **call[1])))


def _speciality(sizes: Mapping[str, int | tuple[int, ...]]) -> tuple[int, int]:
    """Returns how many sizes are such that torch specializes them, and how many are equal to others."""
    numbers: list[int] = []
    for size in sizes.values():
        numbers += [size] if isinstance(size, int) else list(size)
    return sum(size < _LEAST for size in numbers), len(numbers) - len(set(numbers))


_TRIED: Final = 12
_LEAST: Final = 2


__all__ = ["Example", "made_for"]
