"""Does the result that holds for all sizes hold at some?

Shape functions ask whether a size is a concrete int, and answer symbolic sizes by a formula that need not be what
they answer ints with: ``(end - start) // step`` for the length of a range is too short by one unless the step
divides it. So a symbolic result that came of such a question is compared with what the function gives at some
sizes; sizes that it refuses, or cannot be evaluated at, say nothing. A refusal is tried likewise: a check that
only ints pass by must not refuse variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from . import sums
from .answers import Refused, Stop
from .sums import Sum
from .values import Block, IndexTensor, Slice, Unknown, Value, text

_SIZES: Final = (4, 6, 1, 2, 12, 3, 0, 5, 8, 7, 24, 16, 48)

Call: TypeAlias = "Callable[[tuple[Value, ...], Mapping[str, Value]], Value]"


class _Sizes:
    """Sizes for the names of some values."""

    def __init__(self, variables: list[str], variadics: list[str], turn: int) -> None:
        self.variables = {name: _SIZES[(turn + 5 * place) % len(_SIZES)] for place, name in enumerate(variables)}
        self.variadics = {
            name: tuple(_SIZES[(turn + 7 * place + dim) % len(_SIZES)] for dim in range((turn + place) % 3))
            for place, name in enumerate(variadics)
        }

    def put_into(self, value: Value) -> Value:
        """Returns a value at these sizes.

        Raises:
            ZeroDivisionError: It has none there.
        """
        match value:
            case Sum():
                return sums.value_at(value, self.variables, self.variadics)
            case tuple():
                return tuple(self._entries(value))
            case Slice(start=start, stop=stop, step=step):
                return Slice(self.put_into(start), self.put_into(stop), self.put_into(step))
            case IndexTensor(shape=shape, mask=mask):
                return IndexTensor(tuple(self._entries(shape)), mask)
            case Mapping():
                return {name: self.put_into(item) for name, item in value.items()}
            case _:
                return value

    def _entries(self, shape: tuple[Value, ...]) -> Iterator[Value]:
        for entry in shape:
            if isinstance(entry, Block) and entry.name in self.variadics:
                yield from self.variadics[entry.name]
            else:
                yield self.put_into(entry)

    def __str__(self) -> str:
        named = [f"{name} = {size}" for name, size in self.variables.items()]
        return ", ".join([*named, *(f"*{name} = {text(dims)}" for name, dims in self.variadics.items())])


def objection(
    call: Call, args: tuple[Value, ...], keywords: Mapping[str, Value], result: Value | Refused
) -> str | None:
    """Returns why ``result`` does not hold at all sizes; None if no sample contradicts it.

    Args:
        call: Calls the function with arguments.
        args: The arguments that gave the result.
        keywords: Those by name.
        result: It, or the refusal.
    """
    variables: dict[str, None] = {}
    variadics: dict[str, None] = {}
    for value in (*args, *keywords.values()):
        _collect(value, variables, variadics)
    if not variables and not variadics:
        return None
    for turn in range(len(_SIZES)):
        sizes = _Sizes(list(variables), list(variadics), turn)
        try:
            found = call(
                tuple(sizes.put_into(value) for value in args),
                {name: sizes.put_into(value) for name, value in keywords.items()},
            )
            if isinstance(result, Refused):
                return f"for all sizes it refuses ({result.message}), but at {sizes} it gives {text(found)}"
            expected = sizes.put_into(result)
        except (Stop, Refused, ZeroDivisionError):
            continue
        if not _agree(expected, found):
            return f"for all sizes it gives {text(result)}, but at {sizes} it gives {text(found)}"
    return None


def _collect(value: Value, variables: dict[str, None], variadics: dict[str, None]) -> None:
    match value:
        case Sum():
            for monomial, _ in value.terms:
                for atom in monomial:
                    if atom.kind == "variable":
                        variables[atom.name] = None
                    elif atom.kind != "applied":
                        variadics[atom.name] = None
                    for arg in atom.args:
                        _collect(arg, variables, variadics)
        case Block(name=name, stated=True):
            variadics[name] = None
        case tuple():
            for item in value:
                _collect(item, variables, variadics)
        case Slice(start=start, stop=stop, step=step):
            _collect((start, stop, step), variables, variadics)
        case IndexTensor(shape=shape):
            _collect(shape, variables, variadics)
        case Mapping():
            _collect(tuple(value.values()), variables, variadics)
        case _:
            pass


def _agree(expected: Value, found: Value) -> bool:
    """Returns whether two values are one, as far as both are known."""
    match expected, found:
        case (Unknown(), _) | (_, Unknown()):
            return True
        case (tuple(), tuple()):
            if any(isinstance(item, Block) for item in (*expected, *found)):
                return True
            return len(expected) == len(found) and all(map(_agree, expected, found))
        case _:
            return expected == found
