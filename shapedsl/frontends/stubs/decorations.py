"""What ``@shapes`` and ``where`` over a function or class say → `Facts`, as running them would note it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import libcst as cst

from ...diagnostics import Report
from ...surface.facts import Facts, Predicates
from .interpret import Interpreter, UninterpretedError
from .known import SHAPES, WHERE
from .tree import Tree

_OWN = ("hints", "consts", "returns", "where", "attach", "check", "params")


@dataclass(slots=True)
class _Said:
    """What one ``shapes(…)`` says."""

    text: str | None = None
    keywords: dict[str, Any] = field(default_factory=dict[str, Any])
    params: dict[str, object] = field(default_factory=dict[str, object])


class Decorations:
    """The decorators of one function or class."""

    def __init__(
        self, decorators: Sequence[cst.Decorator], interpreter: Interpreter, tree: Tree, report: Report
    ) -> None:
        """Args:
        decorators: In the order they are written.
        interpreter: Interprets their arguments.
        tree: The file.
        report: Receives what of them is not read.
        """
        self._decorators = decorators
        self._interpreter = interpreter
        self._tree = tree
        self._report = report

    def of_function(self, outer: Facts | None = None) -> Facts | None:
        """Returns what is said of a function; None if nothing.

        Args:
            outer: What the decorators of its class say of it, which apply last.
        """
        facts: Facts | None = None
        for said in self._said():
            facts = facts or Facts(None)
            if isinstance(said, Predicates):
                facts.wheres[:0] = said.texts
            else:
                self._guarded(facts, said, params=said.params, **said.keywords)
        return facts if outer is None else outer.over(facts) if facts is not None else outer

    def of_class(self) -> tuple[Facts, Facts] | None:
        """Returns what is said of a class and shared by its methods, and what is said of its ``forward``; None if nothing."""
        shared, forward = Facts(None), Facts(None)
        spoken = False
        for said in self._said():
            spoken = True
            if isinstance(said, Predicates):
                shared.wheres[:0] = said.texts
                continue
            returns = said.keywords.pop("returns", None)
            self._guarded(shared, said, **said.keywords)
            self._guarded(forward, _Said(), params=said.params, returns=returns)
        return (shared, forward) if spoken else None

    def _guarded(self, facts: Facts, said: _Said, **keywords: Any) -> None:
        try:
            facts.say(said.text, **keywords)
        except TypeError as error:  # a predicate that is none
            self._refuse(self._decorators[0], error)

    def _said(self) -> Iterator[_Said | Predicates]:
        """Yields what each decorator of ours says; decorators apply from the bottom up."""
        for decorator in reversed(self._decorators):
            expression = decorator.decorator
            call = expression if isinstance(expression, cst.Call) else None
            name = self._interpreter.qualified(expression if call is None else call.func)
            if name in SHAPES:
                yield self._shapes(call)
            elif name in WHERE and call is not None:
                predicates = [self._value(arg.value) for arg in call.args if arg.keyword is None]
                texts = [text for each in predicates for text in _texts(each, self._refuser(call))]
                yield Predicates(tuple(texts))

    def _shapes(self, call: cst.Call | None) -> _Said:
        said = _Said()
        for argument in () if call is None else call.args:
            value = self._value(argument.value)
            if value is _UNREAD:
                continue
            if argument.star == "**" and isinstance(value, dict):
                for name, each in cast("dict[object, Any]", value).items():
                    self._keyword(said, str(name), each)
            elif argument.keyword is not None:
                self._keyword(said, argument.keyword.value, value)
            elif isinstance(value, str):
                said.text = value
        return said

    def _keyword(self, said: _Said, name: str, value: Any) -> None:
        if name == "params" and isinstance(value, dict):
            said.params.update(cast("dict[str, object]", value))
        elif name not in _OWN:
            said.params[name] = value
        elif name not in ("check", "attach", "params"):
            said.keywords[name] = value

    def _value(self, node: cst.BaseExpression) -> Any:
        try:
            return self._interpreter.value(node)
        except UninterpretedError as error:
            self._refuse(node, error)
            return _UNREAD

    def _refuser(self, node: cst.CSTNode) -> Callable[[Exception], None]:
        return lambda error: self._refuse(node, error)

    def _refuse(self, node: cst.CSTNode, error: Exception) -> None:
        first, _, rest = str(error).partition("\n")
        self._report.error(
            "unresolved-annotation",
            "what this decorator says was not read",
            at=self._tree.span(node),
            label=first,
            help=rest.split("\n") if rest else (),
        )


def _texts(value: object, refuse: Callable[[Exception], None]) -> Sequence[str]:
    """Returns the texts of what stands in ``where(…)``."""
    from .known import where

    if value is _UNREAD:
        return ()
    try:
        return where(value).texts
    except TypeError as error:
        refuse(error)
        return ()


_UNREAD = object()

__all__ = ["Decorations"]
