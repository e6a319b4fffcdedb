"""The shape functions of a file, ready to be called: what `evaluate` gives is a result or a reason, never an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ....diagnostics import Report, Source
from .answers import Evaluated, Invalid, NotEvaluated, Outcome, Refused, Stop
from .einops import EINOPS
from .interpret import TOO_MUCH, Machine
from .intrinsics import INTRINSICS
from .pythons import PYTHON
from .sampling import objection
from .syntax import Function
from .values import Argument, Builtin, Value, give_back, take_in

if TYPE_CHECKING:
    import libcst as cst

    from ..tree import Tree
    from .reading import Reader

_PACKAGE: Final = "shape_extensions."
_TOO_DEEP: Final = "it nests too deeply"


class ShapeFunctions:
    """The shape functions of one file, and the intrinsics that any file may use.

    >>> functions = load_shape_functions('''
    ... import shape_extensions.dsl as dsl
    ... from shape_extensions import type_shape_dsl_function
    ... @type_shape_dsl_function
    ... def halved(shape):
    ...     if len(shape) == 0:
    ...         return dsl.Invalid("a scalar has no half")
    ...     return dsl.concat(shape[:-1], dsl.IntTuple((shape[-1] // 2,)))
    ... ''')
    >>> functions.evaluate("halved", [(4, 6)]).value
    (Const(value=4), Const(value=3))
    >>> functions.evaluate("halved", [()])
    Invalid(message='a scalar has no half')
    """

    def __init__(self, module: cst.Module | None = None, fault: str = "") -> None:
        """Reads no function yet: each is translated when it is first called.

        Args:
            module: The file; None for the intrinsics alone.
            fault: Why there is no file, for the reasons of what cannot be evaluated.
        """
        self.fault = fault
        self._reader = None if module is None else _reader(module)
        self._definitions = {} if self._reader is None else dict(self._reader.functions())
        self._imports = {} if self._reader is None else self._reader.imports()
        self._functions: dict[str, Function] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the file's own functions, as they follow each other."""
        return tuple(self._definitions)

    def unreadable(self) -> dict[str, str]:
        """Returns, for each function that cannot be interpreted whatever its arguments are, why."""
        reasons: dict[str, str] = {}
        for name in self._definitions:
            try:
                self.function(name)
            except Stop as stop:
                reasons[name] = stop.reason
            except RecursionError:
                reasons[name] = _TOO_DEEP
        return reasons

    def evaluate(self, name: str, args: Sequence[Argument], keywords: Mapping[str, Argument] | None = None) -> Outcome:
        """Returns what a shape function gives.

        Args:
            name: A function of the file, or an intrinsic of `shape_extensions` such as ``broadcast``.
            args: Ints, strings, bools, None; sizes of the IR; shapes as tuples of dims, where ``...`` stands for any
                dims; tuples of shapes; `UNKNOWN` for any value that is not known.
            keywords: Arguments by name.
        """
        machine = Machine(self)
        try:
            values = tuple(take_in(argument, machine.names) for argument in args)
            named = {key: take_in(argument, machine.names) for key, argument in (keywords or {}).items()}
            path = self.resolve(name)
            result = self._outcome(machine, path, values, named)
            notes = tuple(dict.fromkeys(machine.notes))
            if machine.guarded:
                # on the same machine, so that all samples together share what is left of the budget
                fault = objection(partial(machine.call, path), values, named, result)
                if fault is not None or machine.exhausted:
                    return NotEvaluated(fault or TOO_MUCH)
            if isinstance(result, Refused):
                return Invalid(result.message)
            return Evaluated(give_back(result), notes)
        except Stop as stop:
            return NotEvaluated(stop.reason)
        except RecursionError:
            return NotEvaluated(_TOO_DEEP)

    @staticmethod
    def _outcome(
        machine: Machine, path: str, args: tuple[Value, ...], keywords: Mapping[str, Value]
    ) -> Value | Refused:
        try:
            return machine.call(path, args, keywords)
        except Refused as refused:
            return refused

    def resolve(self, path: str) -> str:
        """Returns a name of the file as the name of one of its functions, or of what it imports."""
        first, dot, rest = path.partition(".")
        if first in self._definitions and not dot:
            return path
        return (self._imports.get(first, first) + dot + rest).removeprefix(_PACKAGE)

    def function(self, name: str) -> Function | None:
        """Returns a function of the file; None if there is no such.

        Raises:
            Stop: It cannot be interpreted.
        """
        if name not in self._functions:
            if self._reader is None or name not in self._definitions:
                return None
            try:
                self._functions[name] = self._reader.function(self._definitions[name])
            except Stop as stop:
                raise Stop(f"`{name}` cannot be interpreted: {stop.reason}") from None
        return self._functions[name]

    def builtin(self, path: str) -> Builtin | None:
        """Returns what is not of the file: an intrinsic, or a function of Python."""
        return INTRINSICS.get(path) or EINOPS.get(path) or PYTHON.get(path)


def _reader(module: cst.Module) -> Reader:
    from .reading import Reader  # needs libcst, which is no dependency

    return Reader(module)


def load_shape_functions(source: Source | Tree | Path | str, report: Report | None = None) -> ShapeFunctions:
    """Returns the shape functions of a file; those of an unreadable one are none.

    Args:
        source: The file, its path (read once while it stays as it is), its tree, or its text.
        report: Receives why the file cannot be read.
    """
    from ..tree import parse

    if isinstance(source, Path):
        try:
            return _of_path(source, source.stat().st_mtime_ns)
        except (OSError, UnicodeError) as error:
            return ShapeFunctions(fault=f"{source} cannot be read: {error}")
    if isinstance(source, str):
        source = Source("<shape functions>", source)
    if not isinstance(source, Source):
        return ShapeFunctions(source.module)
    report = Report() if report is None else report
    tree = parse(source, report)
    if tree is None:
        return ShapeFunctions(fault=f"{source.name}: {report.diagnostics[-1].message}")
    return ShapeFunctions(tree.module)


@lru_cache(maxsize=8)
def _of_path(path: Path, _changed: int) -> ShapeFunctions:
    return load_shape_functions(Source(str(path), path.read_text(encoding="utf-8")))
