"""Python text of sizes and predicates, and names that cannot collide with a user's.

Dims may be called ``lambda`` or ``class`` and parameters ``_target`` or ``isinstance``: a generated
function spells only its parameters as the user does; everything else starts with a prefix that no
parameter starts with, built-in functions included.
"""

from __future__ import annotations

import linecache
import re
import weakref
from collections.abc import Iterable, Mapping
from itertools import count
from keyword import iskeyword
from types import FunctionType
from typing import Any, Final

from ..ir import And, Apply, Attribute, Compare, Const, Not, Or, Predicate, Size, Step, Var

LOCAL: Final = "v_"  # between the prefix and the word: no global that the function sees begins so

_serial: Final = count()


class Code:
    """One generated function in the making.

    Attributes:
        prefix: What every name of ours starts with.
        scope: The function's globals: what it calls and compares with, by reference.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        """Args:
        taken: Names that the user chose: parameters, and the function's own name.
        """
        taken = tuple(taken)
        prefix = "_s_"
        while any(name.startswith(prefix) for name in taken):
            prefix = "_" + prefix
        self.prefix = prefix
        self.scope: dict[str, Any] = {}
        self._locals = count()
        self._named: set[str] = set()

    def use(self, value: object, name: str) -> str:
        """Returns the global name under which the function sees ``value``; ``name`` is for the reader."""
        made = self.prefix + name
        while made in self.scope and self.scope[made] is not value:
            made += "_"
        self.scope[made] = value
        return made

    def local(self, meaning: str = "") -> str:
        """Returns the name of a new local variable; it resembles ``meaning``, any text, for whoever reads the code."""
        word = re.sub(r"\W+", "_", meaning, flags=re.ASCII).strip("_")
        if not word:
            return f"{self.prefix}{next(self._locals)}"
        made = f"{self.prefix}{LOCAL}{word}"
        while made in self._named:
            made += "_"
        self._named.add(made)
        return made

    def size(self, size: Size, known: Mapping[str, str]) -> str:
        """Returns ``size`` as a Python expression that binds as tightly as an operand.

        Args:
            size: Its variables are in ``known``.
            known: Variable → Python expression.
        """
        match size:
            case Const(value=value):
                return str(value) if value >= 0 else f"({value})"
            case Var(name=name):
                return known[name]
            case Apply(op=op, args=args):
                operands = [self.size(arg, known) for arg in args]
                if op.infix:
                    return f"({f' {op.name} '.join(operands)})"
                return f"{self.use(op.python, op.name)}({', '.join(operands)})"
            case _:
                raise TypeError(f"not expanded: {size!r}")

    def predicate(self, predicate: Predicate, known: Mapping[str, str]) -> str:
        """Returns ``predicate`` as a Python expression, in parentheses where it needs them."""
        match predicate:
            case Compare(op=op, left=left, right=right):
                return f"{self.size(left, known)} {op.name} {self.size(right, known)}"
            case And(args=args):
                return f"({' and '.join(self.predicate(arg, known) for arg in args)})" if args else "True"
            case Or(args=args):
                return f"({' or '.join(self.predicate(arg, known) for arg in args)})" if args else "False"
            case Not(arg=arg):
                return f"(not ({self.predicate(arg, known)}))"

    def step(self, value: str, step: Step) -> str:
        """Returns the Python expression of one step into ``value``."""
        if not isinstance(step, Attribute):
            return f"{value}[{step.key!r}]"
        if step.name.isidentifier() and not iskeyword(step.name):
            return f"{value}.{step.name}"
        return f"{self.use(getattr, 'getattr')}({value}, {step.name!r})"

    def function(self, header: str, body: Iterable[str], name: str) -> FunctionType:
        """Compiles ``def {header}:`` with ``body`` into a function that is called ``name``.

        The source stays readable in tracebacks for as long as the function lives.

        Args:
            header: ``run(x, w)``; the text before the parenthesis is only a label.
            body: Lines, relative to the function's body.
            name: What torch's logs and tracebacks print; any text.
        """
        label = header.partition("(")[0]
        text = f"def {header}:\n" + "".join(f"    {line}\n" for line in body)
        file = f"<shapedsl {name} {next(_serial)}>"
        scope = self.scope
        scope.setdefault("__name__", "shapedsl.generated")
        namespace: dict[str, Any] = {}
        exec(compile(text, file, "exec", dont_inherit=True), scope, namespace)  # noqa: S102 - our own text
        made: FunctionType = namespace[label]
        made.__code__ = made.__code__.replace(co_name=name)
        made.__name__ = made.__qualname__ = name
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        weakref.finalize(made, linecache.cache.pop, file, None).atexit = False
        return made


def parameter_name(name: str, code: Code) -> str:
    """Returns ``name``, or a mangled one where Python has no such parameter: then it is passed by position."""
    return f"{code.prefix}{name}" if iskeyword(name) else name


def source_of(function: FunctionType) -> str:
    """Returns the text of a generated function, for tests and debugging."""
    return "".join(linecache.getlines(function.__code__.co_filename))
