"""Sizes and predicates as Python objects, for use in annotations: ``Tensor[B, 2 * B]``, ``where(B < 32)``.

They are text with a precedence: an operator writes the longer text, and the language's own parser
reads it when someone asks for the spec. So what is wrong with an expression is reported like
everything else, with file and line, and importing this module loads nothing.

`shapedsl.dims` makes them: ``from shapedsl.dims import B, cdiv``.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's flag, without importing typing
if TYPE_CHECKING:
    from collections.abc import Callable

# How tightly each construct binds, lowest first; Python's order.
_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(9)

_NO_TRUTH = """\
`{text}` is a claim about sizes that are not known here: it is neither true nor false.
Write a chain as text, where("0 <= B <= 1024"), or as two predicates, where(0 <= B, B <= 1024);
`&`, `|` and `~` for and, or and not; where("min(B, S) <= 4") for min and max; where("B in {{2, 4}}") for in."""


_BRACKETS = """\
`{sign}` binds tighter than a comparison, so it joins sizes here, not predicates.
Put each comparison in brackets: where((B < 3) {sign} (D > 2)); or write where(B < 3, D > 2), or text."""


def _no_logic(sign: str) -> Callable[[object, object], Predicate]:
    """Returns a method for ``B < 3 & D > 2``, of which Python makes ``3 & D`` first: always a TypeError."""

    def refuse(self: object, other: object) -> Predicate:
        del self, other
        raise TypeError(_BRACKETS.format(sign=sign))

    return refuse


def _no_size(what: str) -> Callable[..., Symbol]:
    """Returns a method for what Python's ints have and sizes have not: always a TypeError."""

    def refuse(self: object, other: object = None) -> Symbol:
        del self, other
        raise TypeError(
            f"sizes have no {what}: they have + - * // % **, min, max and cdiv, as shapedsl.dims or in text"
        )

    return refuse


def _operand(value: object) -> tuple[str, int] | None:
    """Returns the text of an operand and how tightly it binds; None if it is no size."""
    if isinstance(value, Symbol):
        return value.text, value._binds  # pyright: ignore[reportPrivateUsage]
    if type(value) is int:
        return str(value), _ATOM if value >= 0 else _UNARY
    return None


def _within(operand: tuple[str, int], at_least: int) -> str:
    text, binds = operand
    return text if binds >= at_least else f"({text})"


class Symbol:
    """A size: a name or an expression. Operators and calls write the longer expression.

    Attributes:
        text: As the language spells it.
    """

    __slots__ = ("_binds", "text")

    def __init__(self, text: str, binds: int = _ATOM) -> None:
        self.text = text
        self._binds = binds

    def _infix(self, name: str, binds: int, other: object, swapped: bool = False) -> Symbol:
        mine, theirs = (self.text, self._binds), _operand(other)
        if theirs is None:
            return NotImplemented  # type: ignore[no-any-return]
        left, right = (theirs, mine) if swapped else (mine, theirs)
        return Symbol(f"{_within(left, binds)} {name} {_within(right, binds + 1)}", binds)

    def __add__(self, other: object) -> Symbol:
        return self._infix("+", _SUM, other)

    def __radd__(self, other: object) -> Symbol:
        return self._infix("+", _SUM, other, True)

    def __sub__(self, other: object) -> Symbol:
        return self._infix("-", _SUM, other)

    def __rsub__(self, other: object) -> Symbol:
        return self._infix("-", _SUM, other, True)

    def __mul__(self, other: object) -> Symbol:
        return self._infix("*", _PRODUCT, other)

    def __rmul__(self, other: object) -> Symbol:
        return self._infix("*", _PRODUCT, other, True)

    def __floordiv__(self, other: object) -> Symbol:
        return self._infix("//", _PRODUCT, other)

    def __rfloordiv__(self, other: object) -> Symbol:
        return self._infix("//", _PRODUCT, other, True)

    # The language has no `/`; it is written out all the same, for the parser explains it and offers `//`.
    def __truediv__(self, other: object) -> Symbol:
        return self._infix("/", _PRODUCT, other)

    def __rtruediv__(self, other: object) -> Symbol:
        return self._infix("/", _PRODUCT, other, True)

    def __mod__(self, other: object) -> Symbol:
        return self._infix("%", _PRODUCT, other)

    def __rmod__(self, other: object) -> Symbol:
        return self._infix("%", _PRODUCT, other, True)

    def _power(self, base: tuple[str, int] | None, exponent: tuple[str, int] | None) -> Symbol:
        if base is None or exponent is None:
            return NotImplemented  # type: ignore[no-any-return]
        return Symbol(f"{_within(base, _ATOM)}**{_within(exponent, _UNARY)}", _POWER)

    def __pow__(self, other: object) -> Symbol:
        return self._power((self.text, self._binds), _operand(other))

    def __rpow__(self, other: object) -> Symbol:
        return self._power(_operand(other), (self.text, self._binds))

    def __neg__(self) -> Symbol:
        return Symbol(f"-{_within((self.text, self._binds), _UNARY)}", _UNARY)

    def __call__(self, *arguments: object) -> Symbol:
        """Returns the call of one of the language's functions: ``cdiv(B, 8)``, ``prod(*batch)``."""
        texts = [_operand(argument) for argument in arguments]
        if any(text is None for text in texts):
            raise TypeError(f"`{self.text}(…)` takes sizes and ints")
        return Symbol(f"{self.text}({', '.join(text[0] for text in texts if text is not None)})")

    __and__ = __rand__ = _no_logic("&")
    __or__ = __ror__ = _no_logic("|")
    __xor__ = __rxor__ = _no_logic("^")
    __lshift__ = __rlshift__ = _no_size("`<<`")
    __rshift__ = __rrshift__ = _no_size("`>>`")
    __divmod__ = __rdivmod__ = _no_size("divmod()")
    __abs__ = _no_size("abs()")
    __invert__ = _no_size("`~`, which negates a predicate: ~(B < 3)")

    def __bool__(self) -> bool:
        raise TypeError(
            f"`{self.text}` is a size that is not known here: it is neither true nor false; `and`, `or` and `if` join no sizes"
        )

    def __contains__(self, other: object) -> bool:
        raise TypeError(f'a size has no members; write where("{other!r} == {self.text}"), or "B in {{2, 4}}" as text')

    def __iter__(self):  # type: ignore[no-untyped-def]  # naming Iterator would import typing
        """Yields the variadic ``*batch``, once: what ``Tensor[*batch, D]`` asks for."""
        yield Symbol(f"*{self.text}")

    def _compare(self, name: str, other: object) -> Predicate:
        theirs = _operand(other)
        if theirs is None and name not in ("==", "!=") and isinstance(other, (bool, float, str)):  # dicts compare keys
            raise TypeError(f"`{self.text} {name} {other!r}`: a size is compared with an int or a size")
        if theirs is None:
            return NotImplemented  # type: ignore[no-any-return]
        return Predicate(f"{self.text} {name} {theirs[0]}", _COMPARISON)

    def __eq__(self, other: object) -> Predicate:  # type: ignore[override]
        return self._compare("==", other)

    def __ne__(self, other: object) -> Predicate:  # type: ignore[override]
        return self._compare("!=", other)

    def __lt__(self, other: object) -> Predicate:
        return self._compare("<", other)

    def __le__(self, other: object) -> Predicate:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> Predicate:
        return self._compare(">", other)

    def __ge__(self, other: object) -> Predicate:
        return self._compare(">=", other)

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[Symbol], tuple[str, int]]:
        return Symbol, (self.text, self._binds)


class Predicate:
    """A claim about sizes, e.g. ``B < 32``. ``&``, ``|`` and ``~`` combine claims.

    Attributes:
        text: As the language spells it.
    """

    __slots__ = ("_binds", "text")

    def __init__(self, text: str, binds: int) -> None:
        self.text = text
        self._binds = binds

    def _join(self, word: str, binds: int, other: object) -> Predicate:
        if isinstance(other, (Symbol, int)):
            raise TypeError(
                f"`{self.text}` is joined with `{other!r}`, which is no predicate: compare it with something"
            )
        if not isinstance(other, Predicate):
            return NotImplemented  # type: ignore[no-any-return]
        sides = [_within((side.text, side._binds), binds) for side in (self, other)]
        return Predicate(f" {word} ".join(sides), binds)

    def __and__(self, other: object) -> Predicate:
        return self._join("and", _AND, other)

    def __or__(self, other: object) -> Predicate:
        return self._join("or", _OR, other)

    def __xor__(self, other: object) -> Predicate:
        raise TypeError("there is no `^`: write (p & ~q) | (~p & q)")

    def __invert__(self) -> Predicate:
        return Predicate(f"not {_within((self.text, self._binds), _COMPARISON)}", _NOT)

    def __bool__(self) -> bool:
        raise TypeError(_NO_TRUTH.format(text=self.text))

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[Predicate], tuple[str, int]]:
        return Predicate, (self.text, self._binds)


__all__ = ["Predicate", "Symbol"]
