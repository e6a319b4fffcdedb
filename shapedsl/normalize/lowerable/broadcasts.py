"""Refuses sizes that are 1 or another size, jaxtyping's ``#b``: no one program is right for both.

torch traces a size of 1 that broadcasts and a size that does not as different programs, and takes a dynamic
size for one that does not. ``x: Tensor[K]: where K == 1 or K == B`` would be traced for ``K == B``, and a call
with 1 be wrong or fail inside torch. It is looked for in the constraints themselves, whoever wrote them and in
whatever form: nothing else could be lost on the way here.

Before::

    def f(x: Tensor[K], y: Tensor[B]):
        where K == 1 or K == B

After::

    error[unsupported-by-torch]: `K` is 1 or `B`, and torch compiles one of the two
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...diagnostics import Report
from ...ir import COMPARISONS, Compare, Const, Constraint, Or, Predicate, Size, Var
from ...ir.expanded import Expanded
from ...ir.walk import free_vars
from ...ir.write import write_dim
from ..decide import Proved, implied_by


def refuse_broadcasts(expanded: Expanded, report: Report, statics: Mapping[str, int]) -> bool:
    """Returns whether a size of ``expanded`` may be 1 or another size; ``report`` receives ``unsupported-by-torch``.

    Args:
        expanded: A signature at one structure.
        report: Receives the size, and what to write.
        statics: The value of each ``const X = _`` at the example.
    """
    constraints = expanded.signature.constraints
    refused = False
    for constraint in constraints:
        for name, other in _alternatives(constraint.predicate):
            if _decided(expanded, constraint, statics):
                break
            wanted = write_dim(other)
            report.error(
                "unsupported-by-torch",
                f"`{name}` is 1 or `{wanted}`, and torch compiles one program for one of the two",
                at=constraint.span,
                label=f"1 or {wanted}",
                help=(
                    f"write `{wanted}` if it does not broadcast",
                    f"else two cases, `case one: {name} == 1` and `case same: {name} == {wanted}`, and name one: `case=`",
                ),
            )
            refused = True
            break
    return refused


def _alternatives(predicate: Predicate) -> Iterator[tuple[str, Size]]:
    """Yields each variable that ``predicate`` lets be 1 or another size, with that size."""
    if not isinstance(predicate, Or):
        return
    sides = [(arg.left, arg.right) for arg in predicate.args if isinstance(arg, Compare) and arg.op.name == "=="]
    sides += [(right, left) for left, right in sides]
    ones = {left.name for left, right in sides if isinstance(left, Var) and right == Const(1)}
    for left, right in sides:
        if isinstance(left, Var) and left.name in ones and set(free_vars(right)) - {left.name}:
            yield left.name, right


def _decided(expanded: Expanded, constraint: Constraint, statics: Mapping[str, int]) -> bool:
    """Whether the other constraints say which of its alternatives ``constraint`` is: a case may."""
    assert isinstance(constraint.predicate, Or)
    signature = expanded.signature
    given = [each.predicate for each in signature.constraints if each is not constraint]
    given += [Compare(COMPARISONS["=="], Var(name), Const(value)) for name, value in statics.items()]
    # an alternative holds of all sizes if it does wherever one of them does
    everything = [*given, constraint.predicate]
    return any(
        isinstance(implied_by(signature.variables, everything, alternative), Proved)
        for alternative in constraint.predicate.args
    )


__all__ = ["refuse_broadcasts"]
