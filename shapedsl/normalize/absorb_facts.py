"""Move univariate facts out of the assumptions and into the variables' declarations.

A range or a residue is looked up by every later pass, and torch decides branches better from
``min``/``max`` on a variable than from an assumption that says the same.

Before::

    def f(x: Tensor[B, S]):
        where B >= 3, B % 8 == 0, B <= S

After (inside the def: a file-level dim would change its neighbors)::

    def f(x: Tensor[B, S]):
        dim B in [8, inf] multiple of 8
        where B <= S

A fact that carries a message stays in ``where``. What follows from several variables is not written:
the normal form says what was said, once. A relation that a tensor dim already implies is not repeated.

Invariant: the set of accepted sizes does not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import inf

from ..diagnostics import Report
from ..ir import (
    COMPARISONS,
    OPERATORS,
    Apply,
    Compare,
    Const,
    Constraint,
    Dim,
    Origin,
    Predicate,
    Signature,
    Size,
    Var,
    Variable,
    VariableKind,
    Variadic,
)
from ..ir.walk import free_vars, scalar_sizes, tensor_dims
from ..ir.write import write_predicate
from .domains import Contradiction, Domain, Domains
from .facts import excluded_value, is_fact_of, stated_domains
from .predicates import may_divide, predicate_key, simplify_predicate, split
from .uses import sure_types


def absorb_facts(signature: Signature, _report: Report) -> Signature:
    """Returns ``signature`` with every single-variable fact as a declaration; unchanged if a range is empty.

    Args:
        signature: Simplified.
        _report: Receives nothing: `refute` has told of empty ranges.
    """
    try:
        stated, rest = _stated(signature)
    except Contradiction:
        return signature
    dims = list(nonnegative_dims(signature))
    implied = set(_implied_by_dims(signature))
    written = {constraint.predicate for constraint in rest if constraint.message is not None}
    kept: dict[Constraint, Constraint] = {}
    for constraint in rest:
        if constraint.message is None and (constraint.predicate in implied or constraint.predicate in written):
            continue
        kept.setdefault(constraint, replace(constraint, origin=Origin.WHERE))
    reached = set(_reached(signature, kept))
    sized = {name for dim in dims for name in free_vars(dim.predicate)}
    said = set(dims)
    variables: list[Variable] = []
    facts: list[Constraint] = []
    for variable in signature.variables:
        mine = list(_written(variable, stated.domain(variable.name)))
        if variable.name not in reached and all(_says_nothing(variable, fact) for fact in mine):
            continue  # the algebra canceled it
        declared = _needs_declaration(variable, mine, sized, said)
        variables.append(replace(variable, declared=declared))
        facts += mine if declared else []
    wheres = sorted(kept, key=lambda c: (may_divide(c.predicate), predicate_key(c.predicate), c.message or ""))
    together = dict.fromkeys((*facts, *dims, *wheres))
    return replace(signature, variables=tuple(variables), constraints=tuple(together))


def _implied_by_dims(signature: Signature) -> Iterator[Predicate]:
    """Yields what the tensors say that every call has; not one that may be None, omitted, or repeated no times."""
    for param in signature.params:
        for leaf in sure_types(param.type) if not param.default else ():
            for dim in tensor_dims(leaf):
                if isinstance(dim, (Var, Apply, Variadic)):
                    yield from split(simplify_predicate(Compare(COMPARISONS[">="], dim, Const(0))))


def nonnegative_dims(signature: Signature) -> Iterator[Constraint]:
    """Yields ``dim >= 0`` for each size in a tensor of a parameter, as the frontends do."""
    for param in signature.params:
        for dim in tensor_dims(param.type):
            if isinstance(dim, (Var, Apply, Variadic)):
                predicate = Compare(COMPARISONS[">="], dim, Const(0))
                yield Constraint(predicate, None, Origin.DIM, write_predicate(predicate), dim.span)


def _stated(signature: Signature) -> tuple[Domains, list[Constraint]]:
    """Returns what is said about single variables without a message, and the other constraints."""
    plain = [c for c in signature.constraints if c.message is None]
    stated = stated_domains(signature.variables, plain)
    rest: list[Constraint] = []
    for constraint in signature.constraints:
        if constraint.message is not None:
            rest.append(constraint)
        elif edge := excluded_value(constraint.predicate):
            name, value = edge
            domain = stated.domain(name)
            if domain.low <= value <= domain.high and (value - domain.residue) % domain.modulus == 0:
                rest.append(constraint)
        elif not is_fact_of(stated, constraint.predicate) and constraint.origin is not Origin.DIM:
            rest.append(constraint)
    return stated, rest


def _written(variable: Variable, domain: Domain) -> Iterator[Constraint]:
    """Yields the declared facts of one variable, in the order of a declaration."""
    subject: Size = Variadic(variable.name) if variable.variadic else Var(variable.name)
    modulo = Apply(OPERATORS["%"], (subject, Const(domain.modulus)))
    facts = [
        (">=", subject, domain.low, domain.low > -inf),
        ("<=", subject, domain.high, domain.high < inf),
        ("==", modulo, domain.residue, domain.modulus > 1 and domain.value is None),
    ]
    for op, left, bound, there in facts:
        if there:
            predicate = Compare(COMPARISONS[op], left, Const(int(bound)))
            yield Constraint(predicate, None, Origin.DECLARED, write_predicate(predicate), variable.span)


def _says_nothing(variable: Variable, fact: Constraint) -> bool:
    """Returns whether the kind of ``variable`` says ``fact`` already."""
    return variable.kind is not VariableKind.INT and fact.predicate == Compare(
        COMPARISONS[">="], Variadic(variable.name) if variable.variadic else Var(variable.name), Const(0)
    )


def _needs_declaration(variable: Variable, facts: list[Constraint], sized: set[str], said: set[Constraint]) -> bool:
    """Returns whether the parameters alone do not say all of it.

    Args:
        variable: One that is reached.
        facts: What is to be said of it.
        sized: The variables that stand in a tensor dim: dims, if nothing else is said.
        said: What tensor dims imply.
    """
    if variable.hint is not None or variable.kind is VariableKind.CONST:
        return True
    if (variable.kind is VariableKind.DIM) != (variable.name in sized):
        return True
    return not all(fact in said or _says_nothing(variable, fact) for fact in facts)


def _reached(signature: Signature, wheres: Iterable[Constraint]) -> Iterator[str]:
    """Yields the names that types, constraints, alternatives and values use."""
    for type_ in (*(param.type for param in signature.params), *([signature.returns] if signature.returns else [])):
        sizes: list[Dim] = [*tensor_dims(type_), *scalar_sizes(type_)]
        for size in sizes:
            yield from free_vars(size)
    for constraint in wheres:
        yield from free_vars(constraint.predicate)
    for value in signature.values:
        yield from free_vars(value.low)
        yield from free_vars(value.high)
    for alternative in signature.alternatives:
        for constraint in alternative.constraints:
            yield from free_vars(constraint.predicate)
        yield from (name for name, _ in alternative.hints)
        for bucket in alternative.buckets:
            yield bucket.variable
            for fill in (bucket.position, *(pad.fill for pad in bucket.pads or ())):
                if isinstance(fill, (Var, Apply)):
                    yield from free_vars(fill)
