"""Ask z3 what the engine does not know; the extra ``smt`` installs it.

z3 is asked last, with a fixed seed and a limit on its own count of work, never on time: the same
question has the same answer on every machine that has the same z3. Its sizes are believed only after
Python's own integers confirm them. That there are none (``unsat``) is believed: nothing here checks
its proofs, which is why the engine, whose steps are, goes first.

Before::

    B // D == 2 and D < 0

After (z3 rounds so that the remainder is never negative; Python rounds down)::

    D != 0 and If(D > 0, B div D, -B div -D) == 2 and D < 0

Without z3, or with ``SHAPEDSL_SMT=0`` in the environment, what is unknown stays unknown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ...ir import And, Apply, Compare, Const, Not, Or, Predicate, Size, Var, Variable, VariableKind, Variadic
from ...ir.walk import holds
from .verdict import Unknown

SWITCH = "SHAPEDSL_SMT"
LIMIT_OF_A_UNIT = 3  # of z3's resource units for one of ours; about as long
LARGEST_POWER = 16
HINT = "install shapedsl[smt] to ask z3"


def consulted(
    unknown: Unknown, variables: Sequence[Variable], predicates: Sequence[Predicate], *, work: int
) -> Mapping[str, int] | Unknown | None:
    """Returns what z3 knows, or ``unknown``, if need be with a hint how to get z3.

    Args:
        unknown: What the engine said.
        variables: Their kinds count.
        predicates: What is to be satisfied.
        work: How hard to try.
    """
    if not enabled():
        return unknown
    if not installed():
        return Unknown(f"{unknown.reason}; {HINT}")
    found = ask(variables, predicates, work=work)
    return unknown if isinstance(found, Unknown) else found


def enabled() -> bool:
    """Returns whether z3 may be asked: ``SHAPEDSL_SMT`` is not ``0``."""
    return os.environ.get(SWITCH, "1") != "0"


@cache
def installed() -> bool:
    """Returns whether z3 can be imported."""
    return find_spec("z3") is not None


def ask(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int
) -> Mapping[str, int] | Unknown | None:
    """Returns sizes that satisfy ``predicates``, None if z3 says that there are none, or that it does not know.

    Args:
        variables: Their kinds count. A name that is not among them stands for any integer.
        predicates: Any predicates; where a divisor is 0 they do not hold.
        work: How hard to try.
    """
    z3: Any = import_module("z3")  # late, and untyped
    known = tuple(variables)
    context = z3.Context()
    translation = _Translation(z3, context)
    solver = z3.SimpleSolver(ctx=context)  # the combined one may spend the limit twice
    solver.set("rlimit", work * LIMIT_OF_A_UNIT)
    solver.set("random_seed", 0)
    try:
        wanted = [translation.truth(predicate)[0] for predicate in predicates]
    except _NotTranslatable as problem:
        return Unknown(str(problem))
    for variable in known:
        if variable.kind is not VariableKind.INT:
            solver.add(translation.variable(variable.name) >= 0)
    solver.add(*wanted)
    answer = solver.check()
    if answer == z3.unsat:
        return None
    if answer == z3.sat:
        model = solver.model()
        sizes = {variable.name: 0 for variable in known}
        for name, term in translation.variables.items():
            sizes[name] = model.eval(term, model_completion=True).as_long()
        if _confirmed(sizes, known, predicates):
            return sizes
    return Unknown("z3 does not know")


def _confirmed(sizes: Mapping[str, int], variables: Iterable[Variable], predicates: Iterable[Predicate]) -> bool:
    if any(sizes[v.name] < 0 for v in variables if v.kind is not VariableKind.INT):
        return False
    try:
        return all(holds(predicate, sizes) for predicate in predicates)
    except ZeroDivisionError:
        return False


class _NotTranslatable(Exception):
    """z3 has no words for it."""


@dataclass(slots=True)
class _Translation:
    """Predicates in z3's terms.

    Attributes:
        z3: The module.
        context: Where terms live; one for each question, so that no question changes the next.
        variables: The terms of the variables, by name.
    """

    z3: Any
    context: Any
    variables: dict[str, Any] = field(default_factory=dict[str, Any])

    def variable(self, name: str) -> Any:
        """Returns the term of the variable ``name``."""
        if name not in self.variables:
            self.variables[name] = self.z3.Int(name, self.context)
        return self.variables[name]

    def truth(self, predicate: Predicate) -> tuple[Any, Any]:
        """Returns when ``predicate`` holds and when it fails; where a divisor is 0, neither.

        ``and`` and ``or`` stop where Python's would: what stands behind need not be defined.
        """
        match predicate:
            case Compare(op=op, left=left, right=right):
                defined: list[Any] = []
                said = op.python(self.term(left, defined), self.term(right, defined))
                return self._all([*defined, said]), self._all([*defined, self.z3.Not(said)])
            case Not(arg=arg):
                true, false = self.truth(arg)
                return false, true
            case And(args=args):
                return self._in_turn([self.truth(arg) for arg in args])
            case Or(args=args):
                false, true = self._in_turn([self.truth(arg)[::-1] for arg in args])
                return true, false

    def _in_turn(self, parts: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
        """Returns when all of ``parts`` hold, and when one fails before which all hold."""
        true, false = self.z3.BoolVal(True, self.context), self.z3.BoolVal(False, self.context)
        for its_true, its_false in reversed(parts):
            true, false = self._all([its_true, true]), self.z3.Or(its_false, self._all([its_true, false]))
        return true, false

    def _all(self, parts: Sequence[Any]) -> Any:
        return self.z3.And(*parts) if len(parts) > 1 else parts[0]

    def term(self, size: Size, defined: list[Any]) -> Any:
        """Returns the term of ``size``; appends to ``defined`` when it has a value."""
        match size:
            case Const(value=value):
                return self.z3.IntVal(value, self.context)
            case Var(name=name):
                return self.variable(name)
            case Variadic():
                raise _NotTranslatable("a variadic is any number of sizes")
            case Apply(op=op, args=args):
                return self._apply(op.name, args, defined)

    def _apply(self, op: str, args: Sequence[Size], defined: list[Any]) -> Any:
        terms = [self.term(arg, defined) for arg in args]
        match op:
            case "+":
                return terms[0] + terms[1]
            case "-":
                return terms[0] - terms[1]
            case "neg":
                return -terms[0]
            case "*" | "prod":
                result = self.z3.IntVal(1, self.context)
                for term in terms:
                    result = result * term
                return result
            case "//" | "%" | "cdiv":
                return self._divide(op, terms[0], terms[1], args[1], defined)
            case "**":
                return self._power(terms[0], args[1])
            case "min" | "max":
                result = terms[0]
                for term in terms[1:]:
                    result = self.z3.If(term < result if op == "min" else term > result, term, result)
                return result
            case _:
                raise _NotTranslatable(f"z3 is not told what {op} means")

    def _divide(self, op: str, dividend: Any, divisor: Any, by: Size, defined: list[Any]) -> Any:
        if op == "cdiv":
            return -self._divide("//", -dividend, divisor, by, defined)
        if isinstance(by, Const) and by.value > 0:
            return dividend / divisor if op == "//" else dividend % divisor
        defined.append(divisor != 0)
        # with a divisor above 0 z3 rounds as Python does; below, exchanging both signs changes no quotient
        if op == "//":
            return self.z3.If(divisor > 0, dividend / divisor, -dividend / -divisor)
        return self.z3.If(divisor > 0, dividend % divisor, -(-dividend % -divisor))

    def _power(self, base: Any, exponent: Size) -> Any:
        if not isinstance(exponent, Const) or not 0 <= exponent.value <= LARGEST_POWER:
            raise _NotTranslatable("z3 is not told what this power means")
        result = self.z3.IntVal(1, self.context)
        for _ in range(exponent.value):
            result = result * base
        return result
