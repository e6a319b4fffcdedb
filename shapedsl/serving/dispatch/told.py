"""What dispatch tells: that no alternative takes some sizes, and that an artifact failed."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ...diagnostics import Annotation, Diagnostic, Severity, ShapeError, ShapeWarning, Span
from ...ir import Alternative, Constraint, Signature, Var
from ...ir.expanded import Expanded
from ...ir.taking import asked_by
from ...ir.walk import free_vars, holds
from ...ir.write import write_predicate
from ...normalize.sampling import nearest
from ...runtime.plan import plan
from .cases import bound_only, label

if TYPE_CHECKING:
    from .running import Artifact

_PACKAGE: Final = __name__.partition(".")[0]
MOST_SHOWN: Final = 4  # alternatives that a message points at
MOST_TRIED: Final = 16  # alternatives near whose sizes one looks


def no_alternative(name: str, expanded: Expanded, sizes: Mapping[str, int]) -> Diagnostic:
    """Returns that no alternative takes ``sizes``: which clause fails, where they come from, what would be taken.

    Args:
        name: What was called.
        expanded: Its signature at the structure of the call, with alternatives.
        sizes: Of the call, by variable.
    """
    signature = expanded.signature
    failing = [(each, broken) for each in signature.alternatives if (broken := _broken(each, sizes))]
    named = {n for _, broken in failing for c in broken for n in free_vars(c.predicate) if n in sizes}
    named.update(b.variable for a in signature.alternatives for b in a.buckets if b.variable in sizes)
    shown = {n: size for n, size in sizes.items() if n in named} or dict(sizes)
    told = ", ".join(f"{n} = {size}" for n, size in shown.items())
    found = _nearest(signature, sizes)
    helps: list[str] = []
    if found is not None:
        position, near = found
        failing.sort(key=lambda each: each[0] is not signature.alternatives[position])  # what is nearest comes first
        changed = ", ".join(f"{n} = {size}" for n, size in near.items() if size != sizes[n])
        helps.append(f"the nearest size that is taken is {changed}, by {_called(signature.alternatives[position])}")
    helps.append("add `otherwise eager` to run what no alternative takes without an artifact")
    main = failing[0] if failing else None
    return Diagnostic(
        "no-alternative",
        Severity.ERROR,
        f"no alternative of `{name}` takes {told}",
        annotations=tuple(_annotations(failing, signature.span)),
        notes=tuple(_places(expanded, shown)),
        helps=tuple(helps),
        witness=tuple(sorted((n, size) for n, size in sizes.items() if not n.startswith("?"))),
        core=tuple(_text(c) for c in main[1]) if main else (),
    )


def _nearest(signature: Signature, sizes: Mapping[str, int]) -> tuple[int, Mapping[str, int]] | None:
    """Returns which alternative takes the sizes nearest to ``sizes``, and these."""
    best: tuple[int, int, Mapping[str, int]] | None = None
    for position, alternative in enumerate(signature.alternatives[:MOST_TRIED]):
        own = (*signature.constraints, *asked_by(alternative).conditions)
        found = nearest(bound_only(replace(signature, constraints=own, alternatives=())), sizes)
        if found is None:
            continue
        near = {name: size for name, size in found.items() if name in sizes}
        change = sum(abs(size - sizes[name]) for name, size in near.items())
        if best is None or change < best[0]:
            best = change, position, near
    return best and best[1:]


def _broken(alternative: Alternative, sizes: Mapping[str, int]) -> list[Constraint]:
    """Returns the clauses of an alternative that do not hold; a joint choice without members breaks all of them."""
    known = [c for c in asked_by(alternative).conditions if sizes.keys() >= set(free_vars(c.predicate))]
    return [c for c in known if not _holds(c, sizes)] or known


def _holds(constraint: Constraint, sizes: Mapping[str, int]) -> bool:
    try:
        return holds(constraint.predicate, sizes)
    except ZeroDivisionError:
        return False


def _annotations(
    failing: Sequence[tuple[Alternative, Sequence[Constraint]]], fallback: Span | None
) -> Iterable[Annotation]:
    seen: set[tuple[Span, str]] = set()
    for alternative, broken in failing[:MOST_SHOWN]:
        for constraint in broken[:1]:
            span = constraint.span or alternative.span
            text = f"`{_text(constraint)}` does not hold"
            if span is not None and (span, text) not in seen:
                seen.add((span, text))
                yield Annotation(span, text)
    if not seen and fallback is not None:
        yield Annotation(fallback, "has no alternative for them")


def _places(expanded: Expanded, sizes: Mapping[str, int]) -> Iterable[str]:
    places = plan(expanded).places
    for name, size in sizes.items():
        slot = places.get(name)
        if slot is not None:
            leaf = expanded.leaves[slot.leaf]
            plain = isinstance(leaf.dims[slot.axis], Var)
            yield f"`{name}` is {size}, from `{leaf.place(slot.axis)}`" + ("" if plain else ", which depends on it")


def _text(constraint: Constraint) -> str:
    return constraint.text or write_predicate(constraint.predicate)


def _called(alternative: Alternative) -> str:
    if alternative.keyword == "bucket":
        return f"the bucket of {' and '.join(f'`{bucket.variable}`' for bucket in alternative.buckets)}"
    return f"`{label(alternative, 0)}`"


# ----------------------------------------------------------------------------------------- failures


def failed_artifact(name: str, artifact: Artifact, error: Exception, later: Sequence[Alternative]) -> Diagnostic:
    """Returns that an artifact cannot run, why, and who serves its sizes instead.

    Args:
        name: What was called.
        artifact: Which.
        error: Why.
        later: The alternatives behind it.
    """
    extra = f", made for the sizes of {len(artifact.excluded)} failed alternatives too," if artifact.excluded else ""
    instead = (
        "later alternatives that match them serve its sizes, or `{0}` itself" if later else "`{0}` itself serves them"
    )
    alternative = artifact.structure.alternatives[artifact.spec.position]
    span = alternative.span or artifact.structure.signature.span
    diagnostics = error.diagnostics if isinstance(error, ShapeError) else ()
    return Diagnostic(
        "failed-artifact",
        Severity.WARNING,
        f"`{artifact.spec.label}` of `{name}`{extra} cannot be compiled",
        annotations=(Annotation(span, "its sizes run without it"),) if span is not None else (),
        notes=(artifact.reason or type(error).__name__, *(n for each in diagnostics[:1] for n in each.notes[:2])),
        helps=(*(h for each in diagnostics[:1] for h in each.helps[:2]), instead.format(name)),
    )


def failed_calls(name: str, artifact: Artifact, error: Exception) -> Diagnostic:
    """Returns that some calls of an artifact that otherwise runs are served without it."""
    diagnostics = error.diagnostics if isinstance(error, ShapeError) else ()
    return Diagnostic(
        "failed-artifact",
        Severity.WARNING,
        f"`{artifact.spec.label}` of `{name}` cannot be compiled for some calls, which run without it",
        notes=tuple(each.message for each in diagnostics[:1]) or (f"{type(error).__name__}: {error}"[:300],),
        helps=tuple(h for each in diagnostics[:1] for h in each.helps[:2]),
    )


def too_many(name: str, what: str, ints: Sequence[str], most: int, signature: Signature) -> Diagnostic:
    """Returns that host ints tell too many artifacts of one alternative apart."""
    shown = " and ".join(f"`{each}`" for each in ints)
    return Diagnostic(
        "failed-artifact",
        Severity.WARNING,
        f"`{what}` of `{name}` has {most} artifacts, one for each value of {shown}; calls with others run without one",
        annotations=(Annotation(signature.span, "says nothing of their values"),) if signature.span else (),
        helps=(f"declare it a size, as in `{ints[0]}: Scalar[N]`, and one artifact serves all values",),
    )


def warn(diagnostic: Diagnostic) -> None:
    """Passes ``diagnostic`` to `warnings.warn`, as of the caller's line."""
    frame = inspect.currentframe()
    level = 1
    while frame is not None and _is_ours(str(frame.f_globals.get("__name__"))):
        frame = frame.f_back
        level += 1
    warnings.warn(str(ShapeError([diagnostic])), ShapeWarning, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == _PACKAGE


__all__ = ["failed_artifact", "failed_calls", "no_alternative", "too_many", "warn"]
