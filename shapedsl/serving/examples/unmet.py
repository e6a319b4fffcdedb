"""Say why there is no example: the spec is contradictory, what is given does not fit, or something static is missing.

Before, for ``spec.example(B=40)``::

    def f(x: Tensor[B]): where B < 32

After: ``shape-violation``, no input of ``f`` has B = 40, which needs B < 32; the nearest that fits is B = 31.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from ...diagnostics import Report
from ...ir import COMPARISONS, Compare, Const, Predicate, Signature, Values, Var
from ...ir.expanded import Expanded
from ...ir.write import write_dim, write_predicate
from ...normalize.decide import minimal_core
from ...normalize.labels import lines_of, listed, text_of
from ...normalize.refute import Refutation, refutation_of, report_contradiction
from ...normalize.sampling import Nothing, point
from ...runtime.example import Missing


@dataclass(frozen=True, slots=True)
class Asked:
    """What an example has to satisfy besides the spec.

    Attributes:
        pins: Variable → its size.
        equations: That sizes of given values are what they are, with the places of these.
        values: For valid data to exist, with the clauses that describe them.
    """

    pins: Mapping[str, int]
    equations: tuple[tuple[str, Compare], ...] = ()
    values: tuple[tuple[Values, Predicate], ...] = ()

    @property
    def predicates(self) -> list[Predicate]:
        """All but the pins."""
        return [*(equation for _, equation in self.equations), *(predicate for _, predicate in self.values)]


def tell_unmet(
    signature: Signature, expanded: Expanded, asked: Asked, nothing: Nothing, report: Report, *, open_ended: bool
) -> None:
    """Reports why no sizes satisfy what is asked at ``expanded``.

    Args:
        signature: Not expanded.
        expanded: At the first structure that was tried.
        asked: Besides.
        nothing: What was found there.
        report: Receives the finding.
        open_ended: Whether other structures were tried too.
    """
    here = expanded.signature
    refutation = refutation_of(here.variables, here.constraints)
    if refutation is not None:
        shown = [f"with {shape}" for shape in _structure(expanded)] if open_ended else []
        report_contradiction(
            Refutation(refutation.core, refutation.stated), here, report, notes=[*shown] if shown else []
        )
        return
    constraints = list(here.constraints)
    clauses = {
        len(constraints) + at: values for at, (values, _) in enumerate(asked.values)
    }  # by their place among what is asked
    facts = [
        *(constraint.predicate for constraint in constraints),
        *(predicate for _, predicate in asked.values),
        *(equation for _, equation in asked.equations),
        *(Compare(COMPARISONS["=="], Var(name), Const(size)) for name, size in asked.pins.items()),
    ]
    core = None if nothing.reason else minimal_core(here.variables, facts)
    if core is None:
        report.error(
            "undecided",
            f"could not decide whether any input of `{signature.name}` exists",
            at=signature.span,
            note=nothing.reason or "sizes are multiplied or divided by each other",
            help="give sizes, e.g. `spec.example("
            + ", ".join(f"{v.name}=8" for v in here.variables[:2] if v.name.isidentifier())
            + ")`",
        )
        return
    blamed = [constraints[at] for at in core if at < len(constraints)]
    said = [clauses[at] for at in core if at in clauses]
    first = len(constraints) + len(asked.values)  # of what is given
    pinned = first + len(asked.equations)
    read = [asked.equations[at - first] for at in core if first <= at < pinned]
    given = [f"`{place}` = {write_dim(equation.right)}" for place, equation in read]
    given += [write_predicate(facts[at]).replace(" == ", " = ") for at in core if at >= pinned]
    lines = [*lines_of(blamed), *((values.span, _clause(values)) for values in said)]
    lines += [(equation.left.span, f"{write_dim(equation.right)} is given") for _, equation in read]
    main = next((line for line in lines if line[0] is not None), (signature.span, ""))
    headline = f"no input of `{signature.name}` has {listed(given)}"
    if not given:
        headline = f"no input of `{signature.name}` has valid data"
    report.error(
        "shape-violation" if given else "contradiction",
        headline,
        at=main[0],
        label=main[1],
        also=[line for line in lines if line is not main],
        help=_nearest(expanded, asked),
        core=[text_of(constraint) for constraint in blamed],
        witness=sorted(asked.pins.items()),
    )


def _clause(values: Values) -> str:
    low, high = write_dim(values.low), write_dim(values.high)
    return f"needs {low} <= {high}" if not values.sorted else f"begins at {low} and ends at {high}"


def _structure(expanded: Expanded) -> list[str]:
    return [f"{rank} dim{'s' * (rank != 1)} in `*{name}`" for name, rank in expanded.ranks]


def _nearest(expanded: Expanded, asked: Asked) -> list[str]:
    """Returns the sizes nearest to those given that fit, in words."""
    if not asked.pins:
        return []
    found = point(expanded.signature, near=asked.pins, given=asked.predicates)
    if isinstance(found, Nothing):
        return []
    shown = [f"{name} = {found[name]}" for name in asked.pins if name in found]
    return [f"the nearest sizes that fit: {', '.join(shown)}"]


def tell_missing(signature: Signature, missing: Sequence[Missing], report: Report) -> None:
    """Reports ``missing-input``: each thing that only the user can give."""
    places = listed([f"`{each.place}`" for each in missing])
    words = list(dict.fromkeys(f"{each.keyword}={'64' if each.size else '…'}" for each in missing))
    verb = (
        "is static, so an example has to give it" if len(missing) == 1 else "are static, so an example has to give them"
    )
    report.error(
        "missing-input",
        f"{places} {verb}",
        at=missing[0].span or signature.span,
        label=missing[0].what,
        also=[(each.span, each.what) for each in missing[1:]],
        help=f"pass {' and '.join(f'`{word}`' for word in words)}, or `like=(args, kwargs)` to take all of it from a call",
    )


def tell_unread(signature: Signature, name: str, report: Report) -> None:
    """Reports a given size that no parameter of the example has."""
    variable = signature.variable(name)
    report.error(
        "unknown-name",
        f"`{name}` is a size of no parameter that the example has",
        at=signature.span if variable is None or variable.span is None else variable.span,
        help=f"leave `{name}=` out, or pass an example that has it with `like=(args, kwargs)`",
    )


def tell_unknown(signature: Signature, sizes: Mapping[str, object], report: Report) -> bool:
    """Reports given sizes of what is no variable of a parameter; returns whether all are fine."""
    variables = {variable.name: variable for variable in signature.variables}
    for name, size in sizes.items():
        variable = variables.get(name)
        if variable is not None and variable.variadic == (not isinstance(size, int)):
            continue
        if variable is None:
            likely = get_close_matches(name, [*variables, *(param.name for param in signature.params)], n=1)
            report.error(
                "unknown-name",
                f"`{signature.name}` has no size and no parameter `{name}`",
                at=signature.span,
                help=f"did you mean `{likely[0]}`?" if likely else f"its sizes are {', '.join(variables) or 'none'}",
            )
        else:
            wanted = "a size for each dim, e.g. `(2, 3)`" if variable.variadic else "one size"
            report.error("type-mismatch", f"`{name}` needs {wanted}", at=variable.span or signature.span)
    return not report.errors


__all__ = ["Asked", "tell_missing", "tell_unknown", "tell_unmet", "tell_unread"]
