"""Shift ints that may be negative until they are not: torch forces ``0 <= n`` on every scalar it compiles.

Before::

    k: IntVar in [-5, 10]      assumptions  k < T

After, while the caller adds 5 and the entry function subtracts it::

    k: IntVar in [0, 15]       assumptions  k - 5 < T
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...diagnostics import Annotation, Diagnostic, Severity, ShapeError
from ...ir import OPERATORS, Apply, Const, Predicate, Size, Var, VariableKind
from ...ir.expanded import Lowered, TorchVariable
from ...ir.walk import substitute, substitute_size


def shift(lowered: Lowered) -> tuple[Lowered, dict[str, int]]:
    """Returns ``lowered`` without negative ints, and what the caller must add to which parameter.

    Raises:
        ShapeError: ``negative-int``: an int has no lower bound, or stands inside a container, where no
            caller can add to it.
    """
    offsets = {v.name: -v.low for v in lowered.variables if v.kind is VariableKind.INT and (v.low or -1) < 0 and v.low}
    for variable in lowered.variables:
        if variable.kind is VariableKind.INT and variable.low is None:
            raise ShapeError([_negative(lowered, variable, "has no lower bound", variable.demand)])
    if not offsets:
        return lowered, {}
    params: dict[str, int] = {}
    for leaf in lowered.leaves:
        for dim in leaf.dims:
            if isinstance(dim, Var) and dim.name in offsets:
                if leaf.path.steps or not leaf.scalar:
                    variable = next(v for v in lowered.variables if v.name == dim.name)
                    raise ShapeError(
                        [_negative(lowered, variable, f"stands at `{leaf.path}`", "pass it as a parameter")]
                    )
                params[leaf.path.root] = offsets[dim.name]
    shifted: dict[str, Size] = {
        name: Apply(OPERATORS["-"], (Var(name), Const(offset))) for name, offset in offsets.items()
    }
    assumptions: tuple[Predicate, ...] = tuple(substitute(each, shifted) for each in lowered.assumptions)
    return (
        replace(
            lowered,
            variables=tuple(_moved(variable, offsets) for variable in lowered.variables),
            assumptions=assumptions,
            definitions=tuple((name, substitute_size(size, shifted)) for name, size in lowered.definitions),
        ),
        params,
    )


def _moved(variable: TorchVariable, offsets: Mapping[str, int]) -> TorchVariable:
    offset = offsets.get(variable.name, 0)
    if not offset:
        return variable
    return replace(
        variable,
        low=0,
        high=None if variable.high is None else variable.high + offset,
        hint=None if variable.hint is None else variable.hint + offset,
        meaning=Apply(OPERATORS["+"], (variable.meaning, Const(offset))),
    )


def _negative(lowered: Lowered, variable: TorchVariable, why: str, cure: str) -> Diagnostic:
    spans = [leaf.span for leaf in lowered.leaves if leaf.span is not None and Var(variable.name) in leaf.dims]
    return Diagnostic(
        "negative-int",
        Severity.ERROR,
        f"`{variable.name}` may be negative, which torch cannot take: it {why}",
        annotations=tuple(Annotation(span, "an int of any sign") for span in spans[:1]),
        notes=("torch.compile forces `0 <= n` on every int it is given",),
        helps=(cure,),
    )
