"""Random systems of constraints, the same for the same seed on every machine.

They look like what specs say (definitions, residues, limits, products under a limit, paddings) and
like what nobody says (soups of operators). Sizes are bounded or not, and may be negative; divisors
are constants or sizes, guarded against 0 or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from shapedsl.ir import (
    COMPARISONS,
    OPERATORS,
    And,
    Apply,
    Compare,
    Const,
    Not,
    Or,
    Predicate,
    Size,
    Var,
    Variable,
    VariableKind,
)
from shapedsl.ir.walk import holds
from shapedsl.ir.write import write_dim, write_predicate

NAMES = ("A", "B", "C", "D", "E")
WIDTHS = {1: 200, 2: 30, 3: 12, 4: 6, 5: 4}  # of a bounded variable's range, by the number of variables
SMALL = (2, 3, 4, 5, 6, 7, 8, 12, 16)


@dataclass(frozen=True)
class System:
    """A random system.

    Attributes:
        variables: Dims and ints.
        predicates: Bounds first; the last is also asked as a question about the others.
        size: One to ask the range of.
        box: The values of each variable, if all are bounded.
        linear: Whether each product and each divisor has but one variable side.
    """

    variables: tuple[Variable, ...]
    predicates: tuple[Predicate, ...]
    size: Size
    box: dict[str, range] | None
    linear: bool

    @property
    def kind(self) -> str:
        """The class that outcomes are counted by."""
        return f"{'linear' if self.linear else 'nonlinear'} {'unbounded' if self.box is None else 'bounded'}"

    def __str__(self) -> str:
        names = " ".join(f"{variable.kind.value} {variable.name}" for variable in self.variables)
        return f"{names} | {', '.join(map(write_predicate, self.predicates))} | {write_dim(self.size)}"


def random_system(seed: int, number: int) -> System:
    """Returns system ``number`` of ``seed``."""
    return _Generator(Random(f"{seed}/{number}")).system()


def apply(name: str, *args: Size) -> Size:
    """Returns an operator on sizes."""
    return Apply(OPERATORS[name], args)


def compare(left: Size, name: str, right: Size) -> Predicate:
    """Returns a comparison."""
    return Compare(COMPARISONS[name], left, right)


class _Generator:
    def __init__(self, random: Random) -> None:
        self.random = random
        count = random.choice((1, 2, 2, 2, 3, 3, 3, 4, 5))
        self.linear = random.random() < 0.6
        self.large = random.random() < 0.1
        self.variables = tuple(
            Variable(name, VariableKind.INT if random.random() < 0.25 else VariableKind.DIM) for name in NAMES[:count]
        )

    def system(self) -> System:
        bounded = self.random.random() < 0.45
        box: dict[str, range] = {}
        predicates: list[Predicate] = []
        for variable in self.variables:
            if bounded or self.random.random() < 0.3:
                values = self.bounds(variable)
                box[variable.name] = values
                predicates += [
                    compare(Var(variable.name), ">=", Const(values[0])),
                    compare(Var(variable.name), "<=", Const(values[-1])),
                ]
        planted = self.point(box) if self.random.random() < 0.5 else None
        for _ in range(self.random.randint(1, 5)):
            drawn = self.statement()
            for _ in range(6):
                if planted is None or _true(drawn, planted):
                    break
                drawn = self.statement()
            predicates.append(drawn)
        return System(
            self.variables,
            tuple(predicates),
            self.size(2),
            box if len(box) == len(self.variables) else None,
            self.linear,
        )

    def point(self, box: dict[str, range]) -> dict[str, int]:
        """Returns sizes that most predicates shall hold at: what is drawn blindly soon contradicts itself."""
        around = {v.name: range(-9 if v.kind is VariableKind.INT else 0, 24) for v in self.variables}
        return {name: self.random.choice(box.get(name, values)) for name, values in around.items()}

    def bounds(self, variable: Variable) -> range:
        width = self.random.randint(1, WIDTHS[len(self.variables)])
        low = self.random.randint(0, 9)
        if variable.kind is VariableKind.INT:
            low = self.random.randint(-width, 3)
        if self.large:
            low += self.random.choice((0, 100, 4096, 65_535))
        return range(low, low + width)

    # Predicates

    def statement(self) -> Predicate:
        return self.sensible() if self.random.random() < 0.5 else self.predicate(2)

    def sensible(self) -> Predicate:
        """Returns what a spec might say."""
        random = self.random
        one, two = self.variable(), self.variable()
        number = self.number()
        step = Const(random.choice(SMALL))
        match random.randrange(9):
            case 0:
                return compare(apply("%", one, step), "==", Const(random.randint(0, 3)))
            case 1:
                return compare(one, "==", apply("+", apply("*", step, two), Const(random.randint(-3, 3))))
            case 2:
                product = apply("*", one, two)
                return compare(
                    product if not self.linear else apply("*", step, two), random.choice(("<=", ">=", "==")), number
                )
            case 3:
                return compare(one, random.choice(("<=", "<", ">=", ">", "!=")), two)
            case 4:
                return compare(
                    apply(random.choice(("min", "max")), one, number), random.choice(("==", "<=", ">=")), two
                )
            case 5:
                padded = apply("*", apply("//", apply("+", one, Const(max(int(step.value) - 1, 0))), step), step)
                return compare(padded, random.choice(("==", "<=", ">")), two)
            case 6:
                return compare(apply("//", one, step), random.choice(("==", ">=", "<=")), two)
            case 7:
                cases = (compare(one, "==", Const(random.randint(0, 20))) for _ in range(random.randint(2, 3)))
                return Or(tuple(cases))
            case _:
                return (
                    self.guarded() if not self.linear else compare(apply("%", one, step), "!=", apply("%", two, step))
                )

    def guarded(self) -> Predicate:
        """Returns a predicate that divides by a size, and looks first."""
        divisor, dividend = self.variable(), self.size(1)
        quotient = compare(
            apply(self.random.choice(("//", "%", "cdiv")), dividend, divisor),
            self.random.choice(("==", "<=", ">=", "!=")),
            Const(self.random.randint(0, 5)),
        )
        if self.random.random() < 0.5:
            return And((compare(divisor, self.random.choice(("!=", ">=")), Const(1)), quotient))
        return Or((compare(divisor, self.random.choice(("==", "<=")), Const(0)), quotient))

    def predicate(self, depth: int) -> Predicate:
        chance = self.random.random()
        if depth == 0 or chance < 0.65:
            name = self.random.choice(("==", "==", "<=", "<", ">=", ">", "!="))
            return compare(self.size(2), name, self.size(1))
        if chance < 0.85:
            args = tuple(self.predicate(depth - 1) for _ in range(self.random.choice((2, 2, 3))))
            return Or(args) if self.random.random() < 0.6 else And(args)
        return Not(self.predicate(depth - 1))

    # Sizes

    def variable(self) -> Size:
        return Var(self.random.choice(self.variables).name)

    def number(self) -> Const:
        if self.large and self.random.random() < 0.3:
            return Const(self.random.choice((1024, 4096, 65_536, 2**31 - 1, 2**40 + 1, 10**9 + 7)))
        return Const(self.random.choice((self.random.randint(0, 9), self.random.randint(-9, 40))))

    def size(self, depth: int) -> Size:
        random = self.random
        if depth == 0 or random.random() < 0.25:
            return self.variable() if random.random() < 0.7 else self.number()
        match random.choices(
            ("+", "-", "scale", "*", "//", "%", "cdiv", "min", "neg", "divide"), (20, 12, 12, 8, 12, 12, 3, 9, 3, 4)
        )[0]:
            case "+" | "-" as name:
                return apply(name, self.size(depth - 1), self.size(depth - 1))
            case "scale":
                return apply("*", Const(random.choice((2, 3, 4, 5, -1, -2, 8))), self.size(depth - 1))
            case "//" | "%" | "cdiv" as name:
                divisor = random.choice(SMALL) * random.choice((1, 1, 1, 1, 1, -1))
                return apply(name, self.size(depth - 1), Const(divisor))
            case "min":
                args = [self.size(depth - 1) for _ in range(random.choice((2, 2, 3)))]
                return apply(random.choice(("min", "max")), *args)
            case "neg":
                return apply("neg", self.size(depth - 1))
            case _ if self.linear:
                return apply("+", self.size(depth - 1), self.number())
            case "*":
                return apply("*", self.size(depth - 1), self.size(depth - 1))
            case _:
                return apply(random.choice(("//", "%")), self.size(depth - 1), self.size(depth - 1))


def _true(predicate: Predicate, sizes: dict[str, int]) -> bool:
    try:
        return holds(predicate, sizes)
    except ZeroDivisionError:
        return False


def names_of(variables: Sequence[Variable]) -> list[str]:
    """Returns the names, sorted."""
    return sorted(variable.name for variable in variables)
