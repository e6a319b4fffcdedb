"""Where a function's annotations and decorators stand: file and line, found only when someone looks.

A span needs its line when a diagnostic is printed, which for most functions is never; so the
function's source is parsed then.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable
from typing import Any

from ...diagnostics import Source


class AnnotationSource(Source):
    """The text of an annotation; ``first_line`` is computed when it is first read."""

    __slots__ = ("_locate",)

    def __init__(self, name: str, text: str, locate: Callable[[], int]) -> None:
        super().__init__(name, text)
        self._locate = locate
        del self.first_line  # so that the next read asks __getattr__

    def __getattr__(self, name: str) -> int:
        if name != "first_line":
            raise AttributeError(name)
        line = self.first_line = self._locate()  # type: ignore[misc]
        return line


class Places:
    """Finds the lines of one function's parts.

    Args:
        function: A plain function.
    """

    def __init__(self, function: Any) -> None:
        code = function.__code__
        self.file: str = code.co_filename
        self._globals = function.__globals__
        self._first: int = code.co_firstlineno  # the first decorator's line
        self._node: ast.FunctionDef | ast.AsyncFunctionDef | None = None
        self._parsed = False

    def parameter(self, name: str, text: str) -> Source:
        """Returns the source of what stands behind parameter ``name``."""
        return AnnotationSource(self.file, text, lambda: self._parameter_line(name))

    def returns(self, text: str) -> Source:
        """Returns the source of what stands behind ``->``."""
        return AnnotationSource(self.file, text, self._returns_line)

    def decorator(self, text: str) -> Source:
        """Returns the source of ``text``, an argument of ``shapes`` or ``where``."""
        return AnnotationSource(self.file, text, lambda: self._decorator_line(text))

    def function(self, text: str) -> Source:
        """Returns the source of the function's name."""
        return AnnotationSource(self.file, text, self._def_line)

    def _parameter_line(self, name: str) -> int:
        node = self._definition()
        if node is not None:
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            for argument in every:
                if argument is not None and argument.arg == name:
                    return self._line(argument)
        return self._first

    def _returns_line(self) -> int:
        node = self._definition()
        return self._first if node is None or node.returns is None else self._line(node.returns)

    def _def_line(self) -> int:
        node = self._definition()
        return self._first if node is None else self._line(node)

    def _decorator_line(self, text: str) -> int:
        node = self._definition()
        calls = [] if node is None else [call for call in node.decorator_list if _is_ours(call)]
        for call in calls:
            for part in ast.walk(call):
                if isinstance(part, ast.Constant) and part.value == text:
                    return self._line(part)
        return self._line(calls[0]) if calls else self._first

    def _line(self, node: ast.expr | ast.arg | ast.stmt) -> int:
        return node.lineno + self._first - 2  # the block was parsed below an `if`

    def _definition(self) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Returns the function's syntax tree; None for a lambda, or where there is no source."""
        if not self._parsed:
            self._parsed = True
            lines = linecache.getlines(self.file, self._globals)[self._first - 1 :]
            try:
                block = "".join(inspect.getblock(lines))
                indented = block[:1] in (" ", "\t")
                statement = ast.parse(f"{'if 1:' if indented else ''}\n{block}").body[0]
            except (SyntaxError, IndentationError, IndexError, ValueError, RecursionError):
                return None
            if isinstance(statement, ast.If):
                statement = statement.body[0]
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._node = statement
        return self._node


def _is_ours(decorator: ast.expr) -> bool:
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    called = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
    return called in ("shapes", "where")


__all__ = ["AnnotationSource", "Places"]
