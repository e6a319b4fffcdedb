"""Independent answers to ask the decision procedure against: brute force, islpy, z3.

Each follows Python's meaning: ``//`` and ``%`` floor, ``and`` and ``or`` stop early, and where a
divisor is 0 a predicate neither holds nor fails.

- Brute force runs the predicate as Python code on every point of a box. It is always right.
- islpy decides Presburger arithmetic: exact wherever sizes are added, compared, multiplied, and divided
  by constants, bounded or not.
- z3 knows products as well, but may give up.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from shapedsl.ir import COMPARISONS, And, Apply, Compare, Const, Not, Or, Predicate, Size, Var, Variable, VariableKind
from shapedsl.ir.walk import free_vars

Z3_EFFORT = 3_000_000  # units of z3's `rlimit`; a second or so
ISL_EFFORT = 2_000_000  # units of isl's `max_operations`


class NotLinear(Exception):
    """islpy cannot say it."""


class GaveUp(Exception):
    """The oracle does not know."""


# Brute force


def python_text(node: Predicate | Size) -> str:
    """Returns Python code that means ``node``, fully parenthesized."""
    match node:
        case Const(value=value):
            return f"({value})"
        case Var(name=name):
            return name
        case Apply(op=op, args=args):
            parts = [python_text(arg) for arg in args]
            if op.name in ("min", "max"):
                return f"{op.name}(({', '.join(parts)},))"
            if op.name == "neg":
                return f"(-{parts[0]})"
            if op.name == "cdiv":
                return f"(-(-{parts[0]} // {parts[1]}))"
            return "(" + f" {'*' if op.name == 'prod' else op.name} ".join(parts) + ")"
        case Compare(op=comparison, left=left, right=right):
            return f"({python_text(left)} {comparison.name} {python_text(right)})"
        case And(args=arguments):
            return f"({' and '.join(map(python_text, arguments)) or 'True'})"
        case Or(args=arguments):
            return f"({' or '.join(map(python_text, arguments)) or 'False'})"
        case Not(arg=arg):
            return f"(not {python_text(arg)})"
        case _:
            raise TypeError(f"{node!r} has no one value")


def compiled(names: Sequence[str], node: Predicate | Size) -> Callable[..., Any]:
    """Returns ``node`` as a function of the variables called ``names``."""
    function: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {python_text(node)}")
    return function


def points(box: Mapping[str, range], predicates: Sequence[Predicate]) -> Iterator[dict[str, int]]:
    """Yields each point of ``box`` at which all ``predicates`` hold, small values first.

    Args:
        box: The values of every variable of ``predicates``.
    """
    names = sorted(box)
    tests = [compiled(names, predicate) for predicate in predicates]
    for point in itertools.product(*(sorted(box[name], key=lambda value: (abs(value), value < 0)) for name in names)):
        try:
            if all(test(*point) for test in tests):
                yield dict(zip(names, point, strict=True))
        except ZeroDivisionError:
            continue


# islpy


def isl_empty(variables: Sequence[Variable], predicates: Sequence[Predicate]) -> bool:
    """Returns whether no integers satisfy ``predicates``.

    Raises:
        NotLinear: They multiply variables.
        GaveUp: It would take isl too long.
    """
    islpy: Any = import_module("islpy")
    context = islpy.Context()
    kinds = {variable.name: variable.kind for variable in variables}
    names = sorted({*kinds, *(name for predicate in predicates for name in free_vars(predicate))})
    space = islpy.Space.create_from_names(context, set=names)
    translation = _Isl(islpy, space, {name: at for at, name in enumerate(names)})
    if hasattr(context, "set_max_operations"):
        context.set_max_operations(ISL_EFFORT)
    try:
        whole = islpy.Set.universe(space)
        for name in names:
            if kinds.get(name, VariableKind.INT) is not VariableKind.INT:
                whole &= translation.at_least_zero(Var(name))
        for predicate in predicates:
            whole &= translation.true(predicate)
        return bool(whole.is_empty())
    except islpy.Error as error:
        raise GaveUp(str(error)) from error


class _Isl:
    """Predicates as sets, sizes as piecewise affine functions."""

    def __init__(self, islpy: Any, space: Any, axes: Mapping[str, int]) -> None:
        self.islpy, self.space, self.axes = islpy, space, axes

    def constant(self, value: int) -> Any:
        number = self.islpy.Val.int_from_si(self.space.get_ctx(), value)
        return self.islpy.PwAff.from_aff(self.islpy.Aff.val_on_domain(self._local(), number))

    def _local(self) -> Any:
        return self.islpy.LocalSpace.from_space(self.space)

    def at_least_zero(self, size: Size) -> Any:
        return self.size(size).nonneg_set()

    def size(self, size: Size) -> Any:
        match size:
            case Const(value=value):
                return self.constant(value)
            case Var(name=name):
                aff = self.islpy.Aff.var_on_domain(self._local(), self.islpy.dim_type.set, self.axes[name])
                return self.islpy.PwAff.from_aff(aff)
            case Apply(op=op, args=args):
                return self._apply(op.name, args)
            case _:
                raise NotLinear

    def _apply(self, name: str, args: tuple[Size, ...]) -> Any:
        parts = [self.size(arg) for arg in args]
        first, *others = parts
        match name:
            case "neg":
                return first.neg()
            case "+":
                return first.add(others[0])
            case "-":
                return first.sub(others[0])
            case "min" | "max":
                for other in others:
                    first = getattr(first, name)(other)
                return first
            case "*" | "prod":
                if sum(not part.is_cst() for part in parts) > 1:
                    raise NotLinear
                for other in others:
                    first = first.mul(other)
                return first
            case "//" | "%" | "cdiv":
                divisor = _constant(args[1])
                if divisor is None:
                    raise NotLinear
                if divisor == 0:  # it has no value anywhere
                    return first.intersect_domain(self.islpy.Set.empty(self.space))
                dividend = first.neg() if name == "cdiv" else first
                quotient = dividend.div(self.constant(divisor)).floor()
                if name == "cdiv":
                    return quotient.neg()
                return quotient if name == "//" else first.sub(quotient.mul(self.constant(divisor)))
            case "**":
                exponent = _constant(args[1])
                if exponent is None or (exponent > 1 and not first.is_cst()):
                    raise NotLinear
                power = self.constant(1)
                for _ in range(exponent):
                    power = power.mul(first)
                return power
            case _:
                raise NotLinear

    def true(self, predicate: Predicate) -> Any:
        """Returns where ``predicate`` holds."""
        match predicate:
            case Compare(op=op, left=left, right=right):
                method = {"==": "eq_set", "!=": "ne_set", "<=": "le_set", "<": "lt_set", ">=": "ge_set", ">": "gt_set"}
                return getattr(self.size(left), method[op.name])(self.size(right))
            case And(args=args):
                return self._all(args, self.true)
            case Or(args=args):
                return self._any(args, self.true, self.false)
            case Not(arg=arg):
                return self.false(arg)

    def false(self, predicate: Predicate) -> Any:
        """Returns where ``predicate`` fails, which is not where it has no value."""
        match predicate:
            case Compare(op=op, left=left, right=right):
                return self.true(Compare(COMPARISONS[op.negated], left, right))
            case And(args=args):
                return self._any(args, self.false, self.true)
            case Or(args=args):
                return self._all(args, self.false)
            case Not(arg=arg):
                return self.true(arg)

    def _all(self, args: Sequence[Predicate], part: Callable[[Predicate], Any]) -> Any:
        whole = self.islpy.Set.universe(self.space)
        for arg in args:
            whole &= part(arg)
        return whole

    def _any(
        self, args: Sequence[Predicate], stops: Callable[[Predicate], Any], goes_on: Callable[[Predicate], Any]
    ) -> Any:
        whole = self.islpy.Set.empty(self.space)
        reached = self.islpy.Set.universe(self.space)
        for arg in args:
            whole |= reached & stops(arg)
            reached &= goes_on(arg)
        return whole


def _constant(size: Size) -> int | None:
    if list(free_vars(size)):
        return None
    try:
        return int(compiled((), size)())
    except ZeroDivisionError:
        return None


# z3


def z3_sizes(
    variables: Sequence[Variable], predicates: Sequence[Predicate], *, effort: int = Z3_EFFORT
) -> Mapping[str, int] | None:
    """Returns sizes that satisfy ``predicates``, or None if there are none.

    Raises:
        GaveUp: z3 does not know.
    """
    solver, unknowns = z3_solver(variables, predicates, effort=effort)
    answer = str(solver.check())
    if answer == "unsat":
        return None
    if answer != "sat":
        raise GaveUp(solver.reason_unknown())
    model = solver.model()
    return {name: model.eval(unknown, model_completion=True).as_long() for name, unknown in unknowns.items()}


def z3_solver(
    variables: Sequence[Variable], predicates: Sequence[Predicate], *, effort: int = Z3_EFFORT
) -> tuple[Any, dict[str, Any]]:
    """Returns a solver that was told ``predicates``, and its unknowns by name."""
    solver, formulas, unknowns = z3_formulas(variables, predicates, effort=effort)
    solver.add(*formulas)
    return solver, unknowns


def z3_formulas(
    variables: Sequence[Variable], predicates: Sequence[Predicate], *, effort: int = Z3_EFFORT
) -> tuple[Any, list[Any], dict[str, Any]]:
    """Returns a solver that knows what quotients and sizes are, a formula for each predicate, and the unknowns."""
    z3: Any = import_module("z3")

    solver = z3.Solver()
    solver.set("rlimit", effort)
    kinds = {variable.name: variable.kind for variable in variables}
    names = sorted({*kinds, *(name for predicate in predicates for name in free_vars(predicate))})
    unknowns = {name: z3.Int(name) for name in names}
    for name, unknown in unknowns.items():
        if kinds.get(name, VariableKind.INT) is not VariableKind.INT:
            solver.add(unknown >= 0)
    translation = _Z3(z3, unknowns)
    formulas = [translation.true(predicate) for predicate in predicates]
    solver.add(*translation.definitions)
    return solver, formulas, unknowns


class _Z3:
    """Predicates as z3's formulas. z3 divides as Euclid does, so quotients are unknowns of their own."""

    def __init__(self, z3: Any, unknowns: Mapping[str, Any]) -> None:
        self.z3, self.unknowns = z3, unknowns
        self.definitions: list[Any] = []  # what holds of the quotients, wherever they stand
        self.quotients: dict[tuple[bool, tuple[Size, ...]], tuple[Any, Any]] = {}

    def size(self, size: Size, defined: list[Any]) -> Any:
        """Returns ``size``; ``defined`` receives under which conditions it has a value."""
        match size:
            case Const(value=value):
                return self.z3.IntVal(value)
            case Var(name=name):
                return self.unknowns[name]
            case Apply(op=op, args=args):
                return self._apply(op.name, args, defined)
            case _:
                raise TypeError(f"{size!r} has no one value")

    def _apply(self, name: str, args: tuple[Size, ...], defined: list[Any]) -> Any:
        z3 = self.z3
        parts = [self.size(arg, defined) for arg in args]
        first, *others = parts
        match name:
            case "neg":
                return -first
            case "+":
                return first + others[0]
            case "-":
                return first - others[0]
            case "min" | "max":
                for other in others:
                    first = z3.If(first <= other if name == "min" else first >= other, first, other)
                return first
            case "*" | "prod":
                for other in others:
                    first = first * other
                return first
            case "**":
                exponent = _constant(args[1])
                if exponent is None:
                    raise GaveUp("a variable exponent")
                power = z3.IntVal(1)
                for _ in range(exponent):
                    power = power * first
                return power
            case _:
                divisor = others[0]
                defined.append(divisor != 0)
                dividend = -first if name == "cdiv" else first
                quotient, rest = self._divided(args, name == "cdiv", dividend, divisor)
                return {"//": quotient, "%": rest, "cdiv": -quotient}[name]

    def _divided(self, args: tuple[Size, ...], negated: bool, dividend: Any, divisor: Any) -> tuple[Any, Any]:
        key = (negated, args)
        if key not in self.quotients:
            z3 = self.z3
            quotient, rest = z3.FreshInt("q"), z3.FreshInt("r")
            self.definitions += [
                z3.Implies(divisor != 0, dividend == divisor * quotient + rest),
                z3.Implies(divisor > 0, z3.And(rest >= 0, rest < divisor)),
                z3.Implies(divisor < 0, z3.And(rest <= 0, rest > divisor)),
            ]
            self.quotients[key] = quotient, rest
        return self.quotients[key]

    def true(self, predicate: Predicate) -> Any:
        """Returns that ``predicate`` holds."""
        z3 = self.z3
        match predicate:
            case Compare(op=op, left=left, right=right):
                defined: list[Any] = []
                sides = self.size(left, defined), self.size(right, defined)
                return z3.And(*defined, op.python(*sides))
            case And(args=args):
                return z3.And(*(self.true(arg) for arg in args))
            case Or(args=args):
                return self._any(args, self.true, self.false)
            case Not(arg=arg):
                return self.false(arg)

    def false(self, predicate: Predicate) -> Any:
        """Returns that ``predicate`` fails, which is more than that it does not hold."""
        z3 = self.z3
        match predicate:
            case Compare(op=op, left=left, right=right):
                defined: list[Any] = []
                sides = self.size(left, defined), self.size(right, defined)
                return z3.And(*defined, z3.Not(op.python(*sides)))
            case And(args=args):
                return self._any(args, self.false, self.true)
            case Or(args=args):
                return z3.And(*(self.false(arg) for arg in args))
            case Not(arg=arg):
                return self.true(arg)

    def _any(
        self, args: Sequence[Predicate], stops: Callable[[Predicate], Any], goes_on: Callable[[Predicate], Any]
    ) -> Any:
        z3 = self.z3
        ways = [z3.And(*(goes_on(earlier) for earlier in args[:at]), stops(arg)) for at, arg in enumerate(args)]
        return z3.Or(*ways)
