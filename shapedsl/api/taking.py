"""Which alternative takes sizes, what it pads, and which artifact that is: `explain` with sizes, as `dispatch` decides.

After::

    B=5, S=40 → bucket S → pad 40→64 (37 % waste) → artifact 3 of 4
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .. import pipeline
from ..diagnostics import Report
from ..ir import Constraint, Mode, Signature, VariableKind
from ..ir.expanded import Expanded
from ..ir.taking import asked_by, pads
from ..ir.variadic import expand_alternative
from ..ir.walk import holds
from ..serving.buckets.joint import chooser
from ..serving.dispatch.cases import label, numbered
from ..serving.dispatch.paths import number_of, path


def taken(signature: Signature, sizes: Mapping[str, int], lengths: Mapping[str, int]) -> str:
    """Returns a sentence about the alternative that takes ``sizes``.

    Args:
        signature: With alternatives.
        sizes: That it accepts, ``batch[0]`` for a dim of a variadic; some may be missing.
        lengths: Of variadics.
    """
    alternatives = tuple(expand_alternative(each, lengths) for each in signature.alternatives)
    written = replace(signature, alternatives=alternatives)
    given = ", ".join(f"{name}={size}" for name, size in sizes.items())
    for position, alternative in enumerate(alternatives):
        verdicts = [_verdict(condition, sizes) for condition in asked_by(alternative).conditions]
        if False in verdicts:
            continue
        needed = {bucket.variable for bucket in alternative.buckets}
        if None in verdicts or not sizes.keys() >= needed:
            return f"{given} → {label(alternative, position)}, if it matches: a size is not given"
        expanded = _structure(signature, sizes, lengths)
        chosen: tuple[int, ...] | None = None
        if pads(alternative):
            joint = chooser(alternative, expanded)
            if not sizes.keys() >= set(joint.needs):
                return f"{given} → {label(alternative, position)}, if it matches: a size is not given"
            chosen = joint.choose(*(sizes[name] for name in joint.needs), *(1 for _ in joint.places))
            if chosen is None:
                continue
        said = path(written, expanded, position, sizes, chosen)
        if alternative.mode is Mode.EAGER or number_of(written, position, sizes, chosen) is None:
            return said
        return f"{said} of {numbered(written).total}"
    return f"{given} → no alternative: `check` accepts them, `dispatch` does not"


def artifacts(signature: Signature) -> list[str]:
    """Returns how many artifacts a spec with alternatives makes, in words."""
    counted = numbered(signature)
    total = f"{counted.total}{'' if counted.exact else ' or more'}"
    lines = [f"{total} artifact{'' if counted.total == 1 else 's'}"]
    statics = [v.name for v in signature.variables if v.kind is VariableKind.CONST]
    if statics:
        lines[0] += f" for each value of {' and '.join(statics)}"
    eager = [label(each, at) for at, each in enumerate(signature.alternatives) if each.mode is Mode.EAGER]
    if eager:
        lines.append(f"without one: {', '.join(eager)}")
    return lines


def _verdict(constraint: Constraint, sizes: Mapping[str, int]) -> bool | None:
    """Returns whether a condition holds; None if a size is missing or it has no value."""
    try:
        return holds(constraint.predicate, sizes)
    except (KeyError, ZeroDivisionError, TypeError):
        return None


def _structure(signature: Signature, sizes: Mapping[str, int], lengths: Mapping[str, int]) -> Expanded:
    """Returns the structure of which the sizes are; where it is open, one that has these sizes and no tensors."""
    ranked = replace(signature, ranks=tuple(sorted({**dict(signature.ranks), **lengths}.items())))
    whole = pipeline.at_structure(ranked, None, lambda _: False, Report())
    return whole or Expanded(signature, (), (), lengths=tuple(sorted(sizes.items())))


__all__ = ["artifacts", "taken"]
