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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from types import FunctionType
from typing import Any, Protocol

from ..diagnostics import Report
from ..ir import AnyType, Signature
from ..ir.expanded import Expanded
from .code import Code
from .explain import explain, without_symbols
from .guard import Guard, Mismatch, Symbolic, guard
from .locks import Lock
from .nearest import Seek
from .parameters import OMITTED, REQUIRED, Parameter, header
from .probe import Probe
from .skeleton import StandIn, skeleton, stand_in
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


_OMITTED = "omitted"


def _nothing(*values: object) -> None:
    del values


class _Holder:
    """Has functions as attributes."""


class Symbols(Enum):
    """What is done where a size is a symbol of some tracer's."""

    COMPARED = "compared"  # as any other: the tracer learns of it
    LEFT_OUT = "left out"  # what does not depend on symbols is checked, and nothing is returned
    UNCHECKED = "unchecked"  # sizes are read and computed, and nothing is compared


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
        seek: Seek | None = None,
        symbols: Symbols = Symbols.COMPARED,
    ) -> None:
        """Args:
        signature: Not expanded.
        parameters: Of the callable; spec parameters that are not among them count as omitted.
        tensors: What a tensor is.
        maker: What to do with arguments that fit.
        name: What the functions are called.
        where: Whether assumptions are checked.
        solve: Computes variables that cannot be read off; without it their structures are refused.
        seek: Finds sizes, for what errors say of the nearest that are accepted.
        symbols: What is done where a size is a tracer's symbol.
        """
        self.signature = signature
        self.parameters = parameters
        self.tensors = tensors
        self.maker = maker
        self.name = name
        self.where = where
        self.solve = solve
        self.seek = seek
        self.symbols = symbols
        names = {param.name for param in parameters}
        self.listed = [param for param in signature.params if param.name in names]
        self.typed = {param.name for param in self.listed if not isinstance(param.type, AnyType)}
        self.spelled = {param.name: param.spelled for param in parameters}
        self._lock = Lock()
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
        key, chosen = code.local("key"), code.local("chosen")
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

    def traced(self) -> FunctionType:
        """Returns the function to call within a trace: nothing is compared, and the structure alone is looked at.

        A tracer that runs Python code finds only reading of sizes and arithmetic in it. What it should call, and
        not look into, is marked as `torch.compiler.assume_constant_result` does; dynamo takes nothing of that but
        plain constants, so the function of the structure is an attribute whose name it is told.
        """
        code = self._code()
        holder = _Holder()
        names: dict[object, str] = {}
        defaults = {param.name: param.default for param in self.parameters}
        found: list[str] = []
        for param in self.listed:
            spelled, default = self.spelled[param.name], defaults[param.name]
            part = skeleton(param.type, spelled, code)
            if default is OMITTED:
                omitted = code.use(default, f"default_of_{param.name}")
                part = f"({_OMITTED!r} if {spelled} is {omitted} else {part})"
            elif default is not REQUIRED and param.name in self.typed:
                part = f"({_OMITTED!r} if {spelled} is {code.use(default, f'default_of_{param.name}')} else {part})"
            found.append(part)

        def choose(skeletons: tuple[object, ...]) -> str:
            arguments = {
                param.name: stand_in(param.type, each)
                for param, each in zip(self.listed, skeletons, strict=True)
                if each != _OMITTED
            }
            expanded = self._at(arguments)
            structure = expanded.present, expanded.structure
            with self._lock:
                if structure not in names:
                    names[structure] = f"at_{len(names)}"
                    setattr(holder, names[structure], self._unchecked(expanded))
                return names[structure]

        vars(choose)["_dynamo_marked_constant"] = True
        structure = f"({''.join(f'{part}, ' for part in found)})"
        chosen = (
            f"{code.use(getattr, 'getattr')}({code.use(holder, 'holder')}, {code.use(choose, 'choose')}({structure}))"
        )
        call = f"return {chosen}({', '.join(self.spelled.values())})"
        return code.function(f"{code.prefix}f({header(self.parameters, code)})", [call], self.name)

    def _at(self, stand_ins: Mapping[str, object]) -> Expanded:
        """Returns the structure of arguments that `stand_in` made."""
        report = Report()
        expanded = at_structure(self.signature, stand_ins, replace(self.tensors, kind=StandIn), report, self.solve)
        report.raise_errors()
        assert expanded is not None  # no error was reported
        return expanded

    def at(self, stand_ins: Mapping[str, object]) -> FunctionType:
        """Returns the function that calls of the structure of ``stand_ins`` end in, for whoever wants to read it.

        Args:
            stand_ins: Parameter → value, with `StandIn` for tensors; an omitted default is missing.

        Raises:
            ShapeError: The spec allows no such structure.
        """
        return self._function(self._code(), self._at(stand_ins), ", ".join(self.spelled.values()), [])

    def _unchecked(self, expanded: Expanded) -> FunctionType:
        """Returns the function of a structure that compares nothing; it takes every parameter by position."""
        code = self._code()
        read = guard(expanded, code, self.tensors, self.spelled, checked=False)
        lines = [*read.lines, *self.maker.body(code, read, expanded)]
        return code.function(f"{code.prefix}f({', '.join(self.spelled.values())})", lines, self.name)

    def _unchecked_later(self, expanded: Expanded) -> Callable[..., object]:
        made: list[FunctionType] = []

        def run(*values: object) -> object:
            if not made:
                made.append(self._unchecked(expanded))
            return made[0](*values)

        return run

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

    def _find(self, key: object, values: Sequence[object]) -> Callable[..., object]:
        report = Report()
        arguments = self.arguments(values)
        if self.symbols is not Symbols.COMPARED:
            if self.symbols is Symbols.LEFT_OUT and any(map(self.tensors.opaque, values)):
                return _nothing
            arguments = {name: without_symbols(value, self.tensors) for name, value in arguments.items()}
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
        symbols = self.symbols is not Symbols.COMPARED
        checked = guard(expanded, code, self.tensors, self.spelled, where=self.where, symbols=symbols)
        values = ", ".join(self.spelled.values())
        lines = [*prologue]
        if checked.lines:
            lines += ["try:", *(f"    {line}" for line in checked.lines)]
            if symbols:
                left = (
                    code.use(self._check_known, "check_known")
                    if self.symbols is Symbols.LEFT_OUT
                    else code.use(self._unchecked_later(expanded), "unchecked")
                )
                lines.append(f"except {code.use(Symbolic, 'Symbolic')}: return {left}({values})")
            lines += [
                f"except {code.use(Exception, 'Exception')}:",
                f"    {code.use(self._explain, 'explain')}({values})",
                "    raise",
            ]
        lines += self.maker.body(code, checked, expanded)
        return code.function(f"{code.prefix}f({parameters})", lines, self.name)

    def _check_known(self, *values: object) -> None:
        """Raises ShapeError for what is wrong whatever the symbols among the sizes are."""
        if any(map(self.tensors.opaque, values)):
            return
        report = Report()
        explain(self.signature, self.arguments(values), self.tensors, report, where=self.where, solve=self.solve)
        report.raise_errors()

    def _explain(self, *values: Any) -> None:
        """Raises ShapeError for arguments that failed the fast check; an error of their own is left to come through."""
        report = Report()
        arguments = self.arguments(values)
        explain(self.signature, arguments, self.tensors, report, where=self.where, solve=self.solve, seek=self.seek)
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
