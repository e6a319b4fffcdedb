"""Put a spec to the decision procedure where it has variadics: ``*batch`` is any number of sizes.

The procedure reasons about sizes one by one. Where the number of dims is known, each becomes a variable;
where it is open, what an operator makes of all of them is unknown, but the same wherever it stands.

Before::

    *batch >= 2, prod(*batch) * D <= 64

After, with two dims::

    batch[0] >= 2, batch[1] >= 2, batch[0] * batch[1] * D <= 64

After, with their number open::

    batch >= 2, p * D <= 64, p >= 1, batch <= p        # p for prod(*batch), batch for any one of them

What follows in the last form follows for any number of dims but none. What does not follow may follow all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..ir import (
    COMPARISONS,
    And,
    Apply,
    Compare,
    Const,
    Constraint,
    Predicate,
    Signature,
    Size,
    Var,
    Variable,
    VariableKind,
    Variadic,
)
from ..ir.variadic import expand_constraint
from ..ir.walk import map_sizes
from ..ir.write import write_dim
from .decide import Proved, decide


@dataclass(frozen=True, slots=True)
class Posed:
    """A spec as the decision procedure takes it.

    Attributes:
        variables: With one for each dim of a known number, and one for each operator on an open number.
        given: What may be assumed.
        owners: For each of ``given``, the spec's constraints that it comes from.
        lengths: The known numbers of dims.
        unknowns: The operators on an open number of dims, by the variable that stands for each.
    """

    variables: tuple[Variable, ...]
    given: tuple[Predicate, ...]
    owners: tuple[tuple[Constraint, ...], ...]
    lengths: Mapping[str, int] = field(default_factory=dict[str, int])
    unknowns: Mapping[str, Apply] = field(default_factory=dict[str, Apply])

    def question(self, predicate: Predicate) -> Predicate:
        """Returns ``predicate`` in these variables; one that speaks of each dim speaks of all of them."""
        parts = tuple(each.predicate for each in expand_constraint(Constraint(predicate), self.lengths))
        whole = parts[0] if len(parts) == 1 else And(parts)
        return map_sizes(whole, self._hidden)

    def sizes(self, size: Size) -> list[Size]:
        """Returns ``size`` in these variables: for each dim that it speaks of, one."""
        asked = Constraint(Compare(COMPARISONS["=="], size, Const(0)))
        expanded = [each.predicate for each in expand_constraint(asked, self.lengths)]
        return [self._hidden(each.left) for each in expanded if isinstance(each, Compare)]

    def stated(self, at: Iterable[int]) -> list[Constraint]:
        """Returns the spec's constraints from which ``given`` at these indices comes."""
        return [constraint for index in at for constraint in self.owners[index]]

    def _hidden(self, size: Size) -> Size:
        return _hide(size, {})


def pose(signature: Signature, lengths: Mapping[str, int], *questions: Size | Predicate) -> Posed:
    """Returns the constraints of ``signature`` for the decision procedure.

    Args:
        signature: Its alternatives do not count.
        lengths: How many dims variadics have; of the others the number is open.
        questions: What will be asked: operators on an open number of dims in it get variables too.
    """
    variables: list[Variable] = []
    for variable in signature.variables:
        if variable.variadic and variable.name in lengths:
            names = [f"{variable.name}[{axis}]" for axis in range(lengths[variable.name])]
            variables += [replace(variable, name=name, variadic=False) for name in names]
        else:
            variables.append(replace(variable, variadic=False))
    given: list[Predicate] = []
    owners: list[tuple[Constraint, ...]] = []
    for constraint in signature.constraints:
        for each in expand_constraint(constraint, lengths):
            given.append(each.predicate)
            owners.append((constraint,))
    if all(variable.name in lengths for variable in signature.variables if variable.variadic):
        return Posed(tuple(variables), tuple(given), tuple(owners), lengths)
    unknowns: dict[str, Apply] = {}
    kinds = {variable.name: variable for variable in variables}

    def hidden(size: Size) -> Size:
        return _hide(size, unknowns)

    given = [map_sizes(predicate, hidden) for predicate in given]
    for question in questions:
        if isinstance(question, (Const, Var, Apply, Variadic)):
            hidden(question)
        else:
            map_sizes(question, hidden)
    for name, size in unknowns.items():
        kind = VariableKind.DIM if size.op.name == "prod" and _never_negative(size, kinds) else VariableKind.INT
        variables.append(Variable(name, kind))
    posed = Posed(tuple(variables), tuple(given), tuple(owners), lengths, unknowns)
    lemmas = list(_lemmas(posed))
    return replace(
        posed,
        given=(*given, *(predicate for predicate, _ in lemmas)),
        owners=(*owners, *(owner for _, owner in lemmas)),
    )


def _hide(size: Size, unknowns: dict[str, Apply]) -> Size:
    """Returns ``size`` with a variable for each operator on an open number of dims, and one for any one of them.

    Args:
        size: Any.
        unknowns: Receives those operators, by the variable that stands for each.
    """
    if isinstance(size, Variadic):
        return Var(size.name, size.span)
    if not isinstance(size, Apply):
        return size
    if size.op.arity is None and any(isinstance(arg, Variadic) for arg in size.args):
        name = write_dim(size)
        unknowns[name] = size
        return Var(name, size.span)
    args = tuple(_hide(arg, unknowns) for arg in size.args)
    return size if args == size.args else replace(size, args=args)


def _never_negative(size: Apply, kinds: Mapping[str, Variable]) -> bool:
    for arg in size.args:
        match arg:
            case Const(value=value) if value >= 0:
                pass
            case Var(name=name) | Variadic(name=name) if name in kinds and kinds[name].kind is not VariableKind.INT:
                pass
            case _:
                return False
    return True


def _lemmas(posed: Posed) -> Iterator[tuple[Predicate, tuple[Constraint, ...]]]:
    """Yields what is known of a product of dims that are all 1 or more, and the constraints that say they are."""
    for name, size in posed.unknowns.items():
        match size:
            case Apply(op=op, args=(Variadic() as dims,)) if op.name == "prod":
                one = Var(dims.name)
                positive = Compare(COMPARISONS[">="], one, Const(1))
                match decide(posed.variables, posed.given, positive, core=True):
                    case Proved(core=core):
                        owner = tuple(posed.stated(core))
                        yield Compare(COMPARISONS[">="], Var(name), Const(1)), owner
                        yield Compare(COMPARISONS["<="], one, Var(name)), owner
                    case _:
                        pass
            case _:
                pass


__all__ = ["Posed", "pose"]
