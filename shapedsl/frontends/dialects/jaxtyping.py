"""jaxtyping's notation → dims: ``Float[Tensor, "*batch t 2*d"]``.

An annotation is known by what it has, ``dim_str``, ``dtypes`` and ``array_type``: jaxtyping is not imported, and
its stand-ins (`stand_ins`) are read as it is.

=====================  ==================================================================
``b t 3``              ``b, t, 3``
``*batch``, ``...``    the same
``_``, ``_b``          ``_``
``*_``, ``*_batch``    ``...``
``rows=4``             ``4``: the name is a comment
``2*b``, ``(t+1)//2``  the same; the names may be bound anywhere
``#b``                 1 or ``b``: a size of its own, with a constraint; see `uses`
``{n}``                the value of the int parameter ``n``
``*#b``                ``...``, with a warning: which axes there are depends on the values
``?b``                 refused: it is a size for each leaf of a PyTree
``*``, ``#``           refused: no name
=====================  ==================================================================
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, NamedTuple

from ...diagnostics import Report, Severity, Source, Span
from ...ir import Apply, Const, Dim, Ellipsis, Size, Static, Var, Variadic
from ..text.fragments import parse_dims
from ..text.parse import tables
from .masked import Masked
from .uses import Uses

_HOLE = re.compile(r"\{[^{}]*\}")  # of an f-string
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")
_PREFIXES = "#*_?"


class Hint(NamedTuple):
    """An annotation of jaxtyping's, by its attributes."""

    dim_str: str
    dtypes: object
    array_type: Any


def hint_of(annotation: Any) -> Hint | None:
    """Returns what ``annotation`` says if it is one of jaxtyping's."""
    text = getattr(annotation, "dim_str", None)
    if isinstance(text, str) and hasattr(annotation, "array_type") and hasattr(annotation, "dtypes"):
        return Hint(text, annotation.dtypes, annotation.array_type)
    return None


def is_tree(annotation: Any) -> bool:
    """Whether ``annotation`` is jaxtyping's ``PyTree[…]``, whose leaves have shapes and whose structure is open."""
    return isinstance(annotation, type) and hasattr(annotation, "leaftype") and hasattr(annotation, "structure")


def is_foreign(array_type: Any) -> bool:
    """Whether ``array_type`` is a class of arrays that torch does not know, such as numpy's."""
    if array_type is Any or not isinstance(array_type, type):  # since 3.11 `Any` is a class
        return False
    return not any(base.__name__ == "Tensor" and base.__module__.startswith("torch") for base in array_type.__mro__)


def read_dims(source: Source, report: Report, uses: Uses) -> tuple[Dim, ...] | None:
    """Returns the dims that a text in jaxtyping's notation means; None if it has an error.

    Args:
        source: The text between the quotes.
        report: Receives ``inexpressible`` for what this language cannot say, and errors of expressions.
        uses: Receives ``#b`` and ``{n}``.
    """
    return _Reader(source, report, uses).dims()


class _Reader:
    """One text being read."""

    def __init__(self, source: Source, report: Report, uses: Uses) -> None:
        self._source = source
        self._report = report
        self._uses = uses

    def dims(self) -> tuple[Dim, ...] | None:
        found: list[Dim] = []
        broken = False
        for match in re.finditer(r"\S+", self._source.text):  # all that is wrong is told at once
            try:
                found.append(self._axis(match.start(), match.group()))
            except _UnsaidError as error:  # jaxtyping knows what it means, and only the language has no words
                found.append(error.dim)
                broken = broken or not self._uses.lenient
            except _RefusedError:
                broken = True
        runs = [dim for dim in found if isinstance(dim, (Ellipsis, Variadic))]
        if len(runs) > 1:
            self._report.error(
                "duplicate-name",
                "a tensor has one run of any number of axes",
                at=runs[1].span,
                also=[(runs[0].span, "the other one")],
                help="write `_` for each axis, or name the axes",
            )
            broken = True
        return None if broken else tuple(found)

    def _axis(self, start: int, text: str) -> Dim:
        """Returns one axis, or the run of axes, that ``text`` at offset ``start`` means."""
        span = self._source.span(start, start + len(text))
        if "..." in text:
            if text == "...":
                return Ellipsis(span)
            raise self._refusal(span, "`...` stands alone", "write `...`")
        if "," in text and "(" not in text:
            raise self._refusal(span, "axes are separated with spaces", f"write `{' '.join(text.split(','))}`")
        signs: set[str] = set()
        rest, at = text, start
        while rest:
            if rest[0] in _PREFIXES:
                if rest[0] in signs:
                    raise self._refusal(span, f"`{rest[0]}` is written twice", f"write it once: `{text}`")
                signs.add(rest[0])
                rest, at = rest[1:], at + 1
            elif rest.count("=") == 1:
                comment, rest = rest.split("=")
                at += len(comment) + 1
            else:
                break
        return self._signed(signs, rest, at, span)

    def _signed(self, signs: set[str], rest: str, at: int, span: Span) -> Dim:
        if "_" in signs:
            if "#" in signs:
                raise self._refusal(span, "an axis without a name cannot be `#`", "write `_`")
            if rest and not rest.isidentifier():
                raise self._refusal(span, f"`{span.text}`: only a name can be left open", "write `_`")
            return Ellipsis(span) if "*" in signs else Static(span)
        if not rest:
            raise self._refusal(
                span,
                f"`{span.text}` names nothing",
                "write `...` for any axes, or name them: `*batch`" if "*" in signs else "write `_`, or a name",
            )
        if "?" in signs:
            raise self._unsaid(
                span,
                f"`{span.text}` is another size for each leaf of a PyTree",
                "name the leaves: a TypedDict, a dataclass or a tuple",
                Ellipsis(span) if "*" in signs else Static(span),
            )
        if "*" in signs:
            return self._run(signs, rest, at, span)
        size = self._size(rest, at)
        return self._uses.broadcast(size, span) if "#" in signs else size

    def _run(self, signs: set[str], rest: str, at: int, span: Span) -> Dim:
        if not rest.isidentifier():
            raise self._refusal(span, f"`{span.text}`: only a name stands for several axes", f"write `{rest}`")
        if "#" in signs:
            self._report.warning(
                "inexpressible",
                f"`{span.text}`: axes that broadcast are taken as any static axes, `...`",
                at=span,
                help=f"write `*{rest}` where they are equal",
            )
            return Ellipsis(span)
        try:
            name = self._size(rest, at)  # reports a name that is not ASCII
        except _UnsaidError:
            raise _UnsaidError(Ellipsis(span)) from None
        assert isinstance(name, Var)
        return Variadic(name.name, span)

    def _size(self, text: str, at: int) -> Size:
        """Returns the size that ``text`` at offset ``at`` means."""
        span = self._source.span(at, at + len(text))
        if _NAME.match(text):
            return Var(self._plain(text, span), span)
        if "#" in text:  # to the parser it is a comment
            raise self._refusal(span, f"`{text}`: `#` stands in front", f"write `#{text.replace('#', '')}`")
        holes = [self._hole(hole, text, at) for hole in _HOLE.finditer(text)]
        masked = _HOLE.sub(lambda hole: f" {hole.group()[1:-1]} ", text)
        told = Report()
        dims = parse_dims(Masked(self._source, " " * at + masked), told)
        for diagnostic in told:
            wrong = self._uses.lenient and diagnostic.severity is Severity.ERROR
            self._report.add(
                replace(diagnostic, severity=Severity.WARNING, code="inexpressible") if wrong else diagnostic
            )
        if dims is None:
            raise _UnsaidError(Static(span))
        if self._uses.lenient and any(map(_is_open_power, dims)):
            raise self._unsaid(span, f"`{text}`: an exponent is a constant >= 0", "give the size a name", Static(span))
        if len(dims) != 1 or not isinstance(dims[0], (Const, Var, Apply)):
            raise self._refusal(span, f"`{text}` is no size", "write a name, a number or an expression")
        return self._placed(dims[0], set(holes))

    def _hole(self, hole: re.Match[str], text: str, at: int) -> int:
        """Returns where the parameter's name in ``{n}`` begins."""
        name = hole.group()[1:-1]
        span = self._source.span(at + hole.start(), at + hole.end())
        around = text[: hole.start()][-1:] + text[hole.end() :][:1]
        if not _NAME.match(name):
            raise self._unsaid(
                span,
                f"`{hole.group()}`: only the value of an int parameter can stand in braces",
                "give the size a name, and write that: `n`"
                if "." in name
                else "write `{n}`, and what is computed outside",
                Static(span),
            )
        if any(character.isalnum() or character == "_" for character in around):
            help_ = "write a name, or `{n}` alone"
            raise self._unsaid(span, f"`{text}`: a name cannot be made of values", help_, Static(span))
        return span.start + 1

    def _placed(self, size: Size, holes: set[int]) -> Size:
        """Returns ``size`` with each name at one of the offsets ``holes`` being the value of a parameter."""
        match size:
            case Var(name=name, span=Span() as span) if span.start in holes:
                return self._uses.argument(name, self._source.span(span.start - 1, span.end + 1))
            case Apply(args=args):
                return replace(size, args=tuple([self._placed(arg, holes) for arg in args]))
            case _:
                return size

    def _plain(self, name: str, span: Span) -> str:
        """Returns a name as this language can spell it: jaxtyping's may be one of its words."""
        if name not in tables().reserved:
            return name
        self._report.emit(
            Severity.NOTE, "inexpressible", f"`{name}` is a word of this language; it is called `{name}_` here", at=span
        )
        return f"{name}_"

    def _refusal(self, span: Span, message: str, help_: str) -> _RefusedError:
        """Returns what to raise, reported."""
        self._report.error("inexpressible", message, at=span, help=help_)
        return _RefusedError()

    def _unsaid(self, span: Span, message: str, help_: str, dim: Dim) -> _UnsaidError:
        """Returns what to raise, reported: a warning where nobody wrote the text for this language."""
        severity = Severity.WARNING if self._uses.lenient else Severity.ERROR
        self._report.emit(severity, "inexpressible", message, at=span, help=help_)
        return _UnsaidError(dim)


class _RefusedError(Exception):
    """An axis cannot be read; why is reported."""


class _UnsaidError(Exception):
    """An axis that jaxtyping takes cannot be said; why is reported.

    Attributes:
        dim: What is left of it.
    """

    def __init__(self, dim: Dim) -> None:
        super().__init__()
        self.dim = dim


def _is_open_power(dim: Dim) -> bool:
    """Whether a power with an exponent that may be any number stands in an expression."""
    if not isinstance(dim, Apply):
        return False
    own = dim.op.name == "**" and not isinstance(dim.args[1], Const)
    return own or any(map(_is_open_power, dim.args))


__all__ = ["Hint", "hint_of", "is_foreign", "is_tree", "read_dims"]
