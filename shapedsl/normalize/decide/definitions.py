"""Replace what other sizes define: equalities and divisibilities between products become plain to see.

Before::

    D % H == 0, H % G == 0, D % G != 0

After, with ``D = H * k`` and ``H = G * m``::

    G != 0, G * m != 0, G * m * k % G != 0        never: the remainder is 0

Both say the same: whoever has sizes for one has sizes for the other. Only variables defined by sums and
products are replaced, so nothing is divided more often than before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...ir import COMPARISONS, OPERATORS, Apply, Compare, Const, Predicate, Size, Var, Variable, VariableKind
from ...ir.walk import evaluate, free_vars, holds, substitute, substitute_size
from .budget import Budget
from .verdict import Unknown

Answer: TypeAlias = "Mapping[str, int] | Unknown | tuple[int, ...]"
POLYNOMIAL = ("+", "-", "*", "neg", "prod")
MOST_USES = 64  # of variables in one definition


def replaced(
    variables: Sequence[Variable],
    predicates: Sequence[Predicate],
    unknown: Unknown,
    budget: Budget,
    search: Callable[[Sequence[Variable], Sequence[Predicate], Budget], Answer],
) -> Answer:
    """Returns what ``search`` says of ``predicates`` once defined variables are replaced; else ``unknown``.

    Args:
        variables: Their kinds count.
        predicates: Without variadics: those are no one variable.
        unknown: What is answered where nothing can be replaced, or that does not help.
        budget: How hard to try.
        search: Looks for sizes, or for predicates that cannot hold together.
    """
    kinds = {variable.name: variable.kind for variable in variables}
    replacement = _Replacement(kinds, list(predicates))
    if not replacement.run():
        return unknown
    answer = search(replacement.variables(), replacement.predicates, budget)
    if isinstance(answer, Unknown):
        return unknown
    if isinstance(answer, tuple):
        return tuple(sorted({at for at in answer if at < len(predicates)} | replacement.used))
    sizes = replacement.sizes(answer)
    return unknown if sizes is None or not _satisfied(predicates, sizes, kinds) else sizes


def _satisfied(predicates: Sequence[Predicate], sizes: Mapping[str, int], kinds: Mapping[str, VariableKind]) -> bool:
    if any(sizes.get(name, 0) < 0 for name, kind in kinds.items() if kind is not VariableKind.INT):
        return False
    try:
        return all(holds(predicate, sizes) for predicate in predicates)
    except ZeroDivisionError:
        return False


@dataclass(slots=True)
class _Replacement:
    """Definitions, and the predicates without what they define.

    Attributes:
        kinds: Of the variables; fresh ones are added.
        predicates: Those that were given, replaced in place, and behind them what the definitions need.
        defined: By variable, its size over variables that are not defined.
        used: Which predicates are definitions.
    """

    kinds: dict[str, VariableKind]
    predicates: list[Predicate]
    defined: dict[str, Size] = field(default_factory=dict[str, Size])
    used: set[int] = field(default_factory=set[int])

    def run(self) -> bool:
        """Replaces one variable after the other; returns whether there was any."""
        for at in range(len(self.predicates)):
            definition = self.definition(self.predicates[at])
            if definition is not None:
                self.used.add(at)
                self.replace(at, *definition)
        return bool(self.defined)

    def definition(self, predicate: Predicate) -> tuple[str, Size, Predicate] | None:
        """Returns a variable, what it equals, and what has to hold besides, if ``predicate`` says so."""
        match predicate:
            case Compare(op=op, left=Apply(op=mod, args=(Var(name=name), by)), right=Const(value=0)) if (
                op.name == "==" and mod.name == "%" and _may_define(name, by)
            ):
                fresh = f"~{name}/{len(self.used)}"
                whole = all(
                    self.kinds.get(each, VariableKind.INT) is not VariableKind.INT for each in (name, *free_vars(by))
                )
                positive = whole and isinstance(by, Var)  # a dim over a dim
                self.kinds[fresh] = VariableKind.DIM if positive else VariableKind.INT
                return name, Apply(OPERATORS["*"], (by, Var(fresh))), Compare(COMPARISONS["!="], by, Const(0))
            case Compare(op=op, left=left, right=right) if op.name == "==":
                for side, other in ((left, right), (right, left)):
                    match side:
                        case Var(name=name) if _may_define(name, other):
                            return name, other, Compare(COMPARISONS["=="], Const(0), Const(0))
                        case _:
                            pass
                return None
            case _:
                return None

    def replace(self, at: int, name: str, size: Size, besides: Predicate) -> None:
        """Takes ``name`` for ``size`` everywhere."""
        now = {name: size}
        self.predicates[at] = besides
        self.predicates = [substitute(predicate, now) for predicate in self.predicates]
        self.defined = {other: substitute_size(its, now) for other, its in self.defined.items()}
        self.defined[name] = size
        if self.kinds.get(name, VariableKind.INT) is not VariableKind.INT:
            self.predicates.append(Compare(COMPARISONS[">="], size, Const(0)))

    def variables(self) -> list[Variable]:
        """Returns the variables that are left."""
        return [Variable(name, kind) for name, kind in self.kinds.items() if name not in self.defined]

    def sizes(self, found: Mapping[str, int]) -> dict[str, int] | None:
        """Returns ``found`` with the defined variables, without the fresh ones."""
        try:
            free = {name: 0 for size in self.defined.values() for name in free_vars(size)}
            known = {**free, **found}
            values = {name: evaluate(size, known) for name, size in self.defined.items()}
        except ZeroDivisionError:
            return None
        return {name: value for name, value in {**known, **values}.items() if not name.startswith("~")}


def _may_define(name: str, size: Size) -> bool:
    names = list(free_vars(size))
    return name not in names and 0 < len(names) <= MOST_USES and _polynomial(size)


def _polynomial(size: Size) -> bool:
    match size:
        case Const() | Var():
            return True
        case Apply(op=op, args=args):
            return op.name in POLYNOMIAL and all(map(_polynomial, args))
        case _:
            return False
