"""One generated function a structure, and the function in front that chooses among them.

A signature whose structure is fixed needs no choice: its only function is the front itself.

After, for an open structure (names shortened)::

    def f(x, mask=None):
        try: key = mask is None
        except Exception: key = None         # something is not what its type says; `find` tells
        chosen = get(key)
        if chosen is None: chosen = find(key, (x, mask))
        return chosen(x, mask)
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any, Protocol

from ..diagnostics import Report
from ..ir import AnyType, Signature
from ..ir.expanded import Expanded
from .code import Code
from .explain import explain
from .guard import Guard, Mismatch, guard
from .parameters import OMITTED, REQUIRED, Parameter, header
from .probe import Probe
from .solve import Solve, at_structure
from .tensors import Tensors


class Maker(Protocol):
    """What a generated function does beside checking."""

    def prologue(self, code: Code) -> list[str]:
        """Returns lines that run first, whatever the arguments are."""
        ...

    def body(self, code: Code, checked: Guard, expanded: Expanded) -> list[str]:
        """Returns lines that run after the check, and return."""
        ...


class Selector:
    """The functions of one spec for one callable."""

    def __init__(
        self,
        signature: Signature,
        parameters: Sequence[Parameter],
        tensors: Tensors,
        maker: Maker,
        *,
        name: str,
        where: bool = True,
        solve: Solve | None = None,
    ) -> None:
        """Args:
        signature: Not expanded.
        parameters: Of the callable; spec parameters that are not among them count as omitted.
        tensors: What a tensor is.
        maker: What to do with arguments that fit.
        name: What the functions are called.
        where: Whether assumptions are checked.
        solve: Computes variables that cannot be read off; without it their structures are refused.
        """
        self.signature = signature
        self.parameters = parameters
        self.tensors = tensors
        self.maker = maker
        self.name = name
        self.where = where
        self.solve = solve
        names = {param.name for param in parameters}
        self.listed = [param for param in signature.params if param.name in names]
        self.typed = {param.name for param in self.listed if not isinstance(param.type, AnyType)}
        self.spelled = {param.name: param.spelled for param in parameters}
        self._lock = threading.RLock()
        self._by_key: dict[object, FunctionType] = {}
        self._by_structure: dict[object, FunctionType] = {}

    def front(self) -> FunctionType:
        """Returns the function to call."""
        code = self._code()
        keys = self._keys(code)
        if not keys:
            report = Report()
            closed = replace(self.signature, params=tuple(self.listed))
            # nothing is open, so the types alone say it all
            expanded = at_structure(closed, None, self.tensors, report, self.solve)
            report.raise_errors()
            assert expanded is not None  # no error was reported
            return self._function(code, expanded, header(self.parameters, code), self.maker.prologue(code))
        key, chosen = code.local(), code.local()
        values = ", ".join(self.spelled.values())
        lines = [
            *self.maker.prologue(code),
            f"try: {key} = {keys[0] if len(keys) == 1 else '(' + ', '.join(keys) + ')'}",
            f"except {code.use(Exception, 'Exception')}: {key} = None",
            f"{chosen} = {code.use(self._by_key.get, 'get')}({key})",
            f"if {chosen} is None: {chosen} = {code.use(self._find, 'find')}({key}, ({values},))",
            f"return {chosen}({values})",
        ]
        return code.function(f"{code.prefix}f({header(self.parameters, code)})", lines, self.name)

    def _code(self) -> Code:
        return Code([*self.spelled.values(), self.name])

    def _keys(self, code: Code) -> list[str]:
        probe = Probe(self.signature)
        defaults = {param.name: param.default for param in self.parameters}
        keys: list[str] = []
        for param in self.listed:
            spelled, default = self.spelled[param.name], defaults[param.name]
            parts = list(probe.parts(param.type, spelled, code))
            if default is OMITTED or (param.name in self.typed and default is not REQUIRED):
                # an argument that is the default itself counts as omitted
                omitted = f"{spelled} is {code.use(default, f'default_of_{param.name}')}"
                keys.append(f"{omitted} or ({', '.join(parts)},)" if parts else omitted)
            else:
                keys += parts
        return keys

    def arguments(self, values: Sequence[object]) -> dict[str, object]:
        """Returns ``{parameter: value}`` without those that were omitted."""
        return {
            param.name: value
            for param, value in zip(self.parameters, values, strict=True)
            if value is not OMITTED and not (param.name in self.typed and value is param.default)
        }

    def _find(self, key: object, values: Sequence[object]) -> FunctionType:
        report = Report()
        arguments = self.arguments(values)
        expanded = at_structure(self.signature, arguments, self.tensors, report, self.solve)
        report.raise_errors()
        assert expanded is not None  # no error was reported
        with self._lock:
            structure = expanded.present, expanded.structure
            function = self._by_structure.get(structure)
            if function is None:
                code = self._code()
                function = self._function(code, expanded, ", ".join(self.spelled.values()), [])
                self._by_structure[structure] = function
            if key is not None:
                self._by_key[key] = function
        return function

    def _function(self, code: Code, expanded: Expanded, parameters: str, prologue: list[str]) -> FunctionType:
        checked = guard(expanded, code, self.tensors, self.spelled, where=self.where)
        values = ", ".join(self.spelled.values())
        lines = [*prologue]
        if checked.lines:
            lines += [
                "try:",
                *(f"    {line}" for line in checked.lines),
                f"except {code.use(Exception, 'Exception')}:",
                f"    {code.use(self._explain, 'explain')}({values})",
                "    raise",
            ]
        lines += self.maker.body(code, checked, expanded)
        return code.function(f"{code.prefix}f({parameters})", lines, self.name)

    def _explain(self, *values: Any) -> None:
        """Raises ShapeError for arguments that failed the fast check; an error of their own is left to come through."""
        report = Report()
        explain(self.signature, self.arguments(values), self.tensors, report, where=self.where, solve=self.solve)
        if not report.errors and isinstance(sys.exc_info()[1], Mismatch):
            report.error(
                "type-mismatch",
                f"a call of `{self.name}` does not satisfy its spec, but did when it was looked at again",
                at=self.signature.span,
                help="an argument changes while it is read",
            )
        try:
            report.raise_errors()
        except Exception as error:
            raise error from None
