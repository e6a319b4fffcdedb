"""Where annotations and decorators stand: file, line and column, found only when someone looks.

A span needs its place when a diagnostic is printed, which for most functions is never; so the file
is read and the function or class parsed then. Where the text that was read stands in the file as it is,
or was put together from pieces that do (``Tensor["B", D]`` is read as ``B, D``), messages show the
file's own line; else they show the text under the line's number.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from ...diagnostics import Source


class Found(NamedTuple):
    """Where a text stands.

    Attributes:
        line: 1-based.
        file: The whole file, if the text stands in it, whole or in pieces.
        pieces: Offsets of pieces in the text, ascending, and in the file.
    """

    line: int
    file: Source | None = None
    pieces: tuple[tuple[int, int], ...] = ()

    def offset(self, offset: int) -> int:
        """Returns the offset in the file of ``offset`` in the text."""
        start, at = max((piece for piece in self.pieces if piece[0] <= offset), default=self.pieces[0])
        return at + offset - start


class AnnotationSource(Source):
    """The text of an annotation, which answers with places in the file that it stands in."""

    __slots__ = ("_found", "_locate")

    def __init__(self, name: str, text: str, locate: Callable[[str], Found]) -> None:
        """Args:
        name: The file's name.
        text: What is read.
        locate: Finds the text; called when the first place is asked for.
        """
        super().__init__(name, text)
        self._locate = locate
        self._found: Found | None = None

    def _place(self) -> Found:
        if self._found is None:
            self._found = self._locate(self.text)
            self.first_line = self._found.line  # type: ignore[misc]  # known from here on
        return self._found

    @property
    def file(self) -> Source:
        """The file, if the text was found in it."""
        return self._place().file or self

    def called(self, name: str) -> AnnotationSource:
        """Returns the same text in a file of another name."""
        found = self._place()
        file = None if found.file is None else found.file.called(name)
        return AnnotationSource(name, self.text, lambda _: found._replace(file=file))

    def position(self, offset: int) -> tuple[int, int]:
        """Returns ``(line, column)`` of ``offset``, in the file if the text stands there."""
        found = self._place()
        return super().position(offset) if found.file is None else found.file.position(found.offset(offset))

    def line(self, number: int) -> str:
        """Returns the text of line ``number``, without its newline."""
        file = self._place().file
        return super().line(number) if file is None else file.line(number)


class CallablePlaces(Protocol):
    """Finds the parts of one callable; each method returns the source of ``text``."""

    def parameter(self, name: str, text: str) -> Source:
        """Of what stands behind parameter ``name``."""
        ...

    def returns(self, text: str) -> Source:
        """Of what stands behind ``->``."""
        ...

    def decorator(self, text: str) -> Source:
        """Of an argument of ``shapes`` or ``where``."""
        ...

    def function(self, text: str) -> Source:
        """Of the callable's name."""
        ...

    def shape_vars(self) -> str | None:
        """Returns the names that Pyrefly's ``shape_vars`` over the callable or its class declares; None without it."""
        ...


class _Definition:
    """The source of a function or class, read when it is first needed.

    Attributes:
        file: The file's name.
    """

    def __init__(self, file: str, first: int, module_globals: dict[str, Any]) -> None:
        """Args:
        file: The file's name.
        first: The number of the definition's first line, its decorators included.
        module_globals: Where a loader says how to get at the source.
        """
        self.file = file
        self._first = first
        self._globals = module_globals
        self._source: Source | None = None
        self._tree: ast.AST | None = None

    def _read(self) -> ast.AST | None:
        """Returns the definition's syntax tree; None where there is no source."""
        if self._source is None:
            lines = linecache.getlines(self.file, self._globals)
            self._source = Source(self.file, "".join(lines))
            self._tree = _parsed(lines[self._first - 1 :])
        return self._tree

    def _definitions(self) -> Iterator[Any]:
        """Yields the definition's syntax tree; nothing where there is no source."""
        raise NotImplementedError

    def decorator(self, text: str) -> Source:
        """Returns the source of ``text``, an argument of ``shapes`` or ``where``."""
        return AnnotationSource(self.file, text, lambda text: self._find(text, self._decorators(text)))

    def _decorators(self, text: str) -> Iterator[ast.AST]:
        """Yields the string that is ``text``, else the decorators that may hold it."""
        for node in self._definitions():
            calls = [call for call in node.decorator_list if _is_ours(call)]
            for call in calls:
                yield from (p for p in ast.walk(call) if isinstance(p, ast.Constant) and p.value == text)
            yield from calls

    def shape_vars(self) -> str | None:
        """Returns the names that Pyrefly's ``@shape_vars("B, *rest")`` over it declares, as text; None without it."""
        for node in self._definitions():
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and _called(call) == "shape_vars":
                    return "".join(a.value for a in call.args if isinstance(a, ast.Constant) and type(a.value) is str)
        return None

    def _find(self, text: str, nodes: Iterator[Any]) -> Found:
        """Returns where ``text`` stands in the first of ``nodes`` that holds it; else the first one's line."""
        first: Found | None = None
        for node in nodes:
            found = self._inside(text, node)
            if found.file is not None:
                return found
            first = first or found
        return first or Found(self._first)

    def _inside(self, text: str, node: Any) -> Found:
        file = self._source
        if file is None:
            return Found(self._first)
        shift = self._first - 2  # the definition was parsed below an `if`, its first line being line 2
        starts = file.line_starts
        first: int = node.lineno + shift
        last: int = (node.end_lineno or node.lineno) + shift
        begin = starts[first - 1] + _characters(file.line(first), node.col_offset)
        end = starts[last - 1] + _characters(file.line(last), node.end_col_offset or 0)
        return find_within(text, file, begin, end)


class ClassPlaces(_Definition):
    """Finds the fields of one class, and what its decorators say."""

    def __init__(self, cls: type) -> None:
        module = sys.modules.get(cls.__module__)
        super().__init__(getattr(module, "__file__", None) or f"<{cls.__module__}>", 1, getattr(module, "__dict__", {}))
        self._cls = cls

    def field(self, name: str, text: str) -> Source:
        """Returns the source of what stands behind the field ``name``."""
        return AnnotationSource(self.file, text, lambda text: self._find(text, self._fields(name)))

    def found(self, text: str) -> Found:
        """Returns where ``text`` stands in the decorators."""
        return self._find(text, self._decorators(text))

    def _fields(self, name: str) -> Iterator[ast.AST]:
        for tree in self._definitions():
            for node in tree.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
                    yield node.annotation
                    yield node.target

    def _definitions(self) -> Iterator[ast.ClassDef]:
        if self._source is None:
            try:
                self._first = inspect.getsourcelines(self._cls)[1]
            except (OSError, TypeError):  # made by a call, or in no file
                return
        tree = self._read()
        if isinstance(tree, ast.ClassDef):
            yield tree


class Places(_Definition):
    """Finds the parts of one function."""

    def __init__(self, function: Any, owner: type | None = None) -> None:
        """Args:
        function: A plain function.
        owner: The class that was decorated in its stead.
        """
        code = function.__code__
        super().__init__(code.co_filename, code.co_firstlineno, function.__globals__)
        self._qualname: str = function.__qualname__
        self._owner = owner

    def decorator(self, text: str) -> Source:
        """Returns the source of ``text``, an argument of ``shapes`` or ``where`` over the function, else over its class."""
        return AnnotationSource(self.file, text, self._decorator)

    def _decorator(self, text: str) -> Found:
        found = self._find(text, self._decorators(text))
        if found.file is None and self._owner is not None:
            above = ClassPlaces(self._owner)
            elsewhere = above.found(text)
            return found if elsewhere.file is None else elsewhere
        return found

    def parameter(self, name: str, text: str) -> Source:
        """Returns the source of what stands behind parameter ``name``; of a dataclass's ``__init__``, its field."""
        made_of = self._dataclass()
        if made_of is not None:
            return made_of.field(name, text)
        return AnnotationSource(self.file, text, lambda text: self._find(text, self._parameters(name)))

    def returns(self, text: str) -> Source:
        """Returns the source of what stands behind ``->``."""
        return AnnotationSource(self.file, text, lambda text: self._find(text, self._returns()))

    def function(self, text: str) -> Source:
        """Returns the source of the function's name."""
        return AnnotationSource(self.file, text, lambda text: self._find(text, self._definitions()))

    def shape_vars(self) -> str | None:
        """Returns what Pyrefly's ``shape_vars`` over the function and over its class declares; None without both."""
        found = [super().shape_vars()]
        scope: Any = self._globals
        for name in self._qualname.split(".")[:-1]:
            cls: object = scope.get(name)
            if not isinstance(cls, type):
                break
            found.append(ClassPlaces(cls).shape_vars())
            scope = vars(cls)
        texts = [text for text in found if text is not None]
        return ", ".join(texts) if texts else None

    def _dataclass(self) -> ClassPlaces | None:
        """Returns the class of whose fields this ``__init__`` was made; None for what somebody wrote."""
        if self.file != "<string>" or not self._qualname.endswith(".__init__"):
            return None
        found: Any = self._owner
        if found is None:
            first, *rest = self._qualname.split(".")[:-1]
            found = self._globals.get(first)
            for name in rest:
                found = getattr(found, name, None)
        return ClassPlaces(found) if isinstance(found, type) else None

    # ------------------------------------------------------------------- candidates, best first

    def _parameters(self, name: str) -> Iterator[ast.AST]:
        for node in self._definitions():
            rows = node.args
            for argument in (*rows.posonlyargs, *rows.args, *rows.kwonlyargs, rows.vararg, rows.kwarg):
                if argument is not None and argument.arg == name:
                    if argument.annotation is not None:
                        yield argument.annotation
                    yield argument  # its name stands before that

    def _returns(self) -> Iterator[ast.AST]:
        for node in self._definitions():
            if node.returns is not None:
                yield node.returns

    def _definitions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Yields the function's syntax tree; nothing for a lambda, or where there is no source."""
        tree = self._read()
        if isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield tree


def find_within(text: str, file: Source, begin: int, end: int) -> Found:
    """Returns where ``text`` stands in ``file.text[begin:end]``, whole or in pieces; else the line of ``begin``."""
    whole = _search(text, file.text, begin, end)
    pieces = ((0, whole),) if whole >= 0 else _pieces(text, file.text, begin, end)
    return Found(file.position(pieces[0][1] if pieces else begin)[0], file if pieces else None, pieces)


def _parsed(lines: list[str]) -> ast.AST | None:
    """Returns the function or class that begins with the first line, its decorators included."""
    try:
        block = "".join(inspect.getblock(lines))
        statement = ast.parse(f"{'if 1:' if block[:1] in (' ', chr(9)) else ''}\n{block}").body[0]
    except (SyntaxError, IndexError, ValueError, RecursionError, MemoryError):
        return None
    return statement.body[0] if isinstance(statement, ast.If) else statement


def _characters(line: str, column: int) -> int:
    """Returns how many code points the first ``column`` bytes of ``line`` are."""
    return len(line.encode()[:column].decode(errors="ignore"))


def _search(piece: str, text: str, begin: int, end: int) -> int:
    """Returns the first offset of ``piece`` in ``text[begin:end]`` as words of its own; -1 if there is none."""
    if not piece:
        return -1
    found = re.compile(rf"(?<!\w){re.escape(piece)}(?!\w)" if piece[0].isalnum() else re.escape(piece)).search(
        text, begin, end
    )
    return -1 if found is None else found.start()


def _pieces(composed: str, text: str, begin: int, end: int) -> tuple[tuple[int, int], ...]:
    """Returns where the items of ``composed`` stand, one behind the other; nothing if one of them does not."""
    found: list[tuple[int, int]] = []
    start = 0
    for item in composed.split(","):
        at = _search(item.strip(), text, begin, end)
        if at < 0:
            return ()
        found.append((start + len(item) - len(item.lstrip()), at))
        begin = at + len(item.strip())
        start += len(item) + 1
    return tuple(found)


def _is_ours(decorator: ast.expr) -> bool:
    return _called(decorator) in ("shapes", "where")


def _called(decorator: ast.expr) -> str:
    """Returns the last name of what decorates."""
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    return name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")


__all__ = ["AnnotationSource", "CallablePlaces", "ClassPlaces", "Found", "Places", "find_within"]
