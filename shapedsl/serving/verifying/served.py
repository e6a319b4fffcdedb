"""What the artifacts behind a choice keep: those of `sd.dispatch`, and programs and packages in files.

Each artifact has a spec of its own: the ``where`` part, its alternative, and what earlier ones leave. The choice in
front checks that, so what is asked of an artifact is what it demands beyond, and what it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...ir import COMPARISONS, Compare, Const, Signature, Type, Var
from ...ir.expanded import Expanded
from ...targets.enforced import enforced_by_program, statements
from ...targets.enforced.compiled import enforced_by_compiled
from ...targets.enforced.model import Enforced
from ...targets.enforced.packages import enforced_by_source
from ...targets.program import Demand
from ..dispatch.backend import CompileBackend
from ..dispatch.dispatcher import Dispatcher
from ..dispatch.running import RUN, State
from ..exported.exported_cases import ExportedCases
from ..exported.programs import Entry, structure_key

Call = tuple[Sequence[Any], Mapping[str, Any]]
# A signature and the arguments of a call → the spec at their structure.
Expand = Callable[[Signature, Mapping[str, Any]], Expanded]

# A signature and the values of what is static in it → calls that satisfy it.
Draw = Callable[[Signature, Mapping[str, Any]], Sequence[Call]]


def enforced_by_cases(
    cases: ExportedCases, expand: Expand, sources: Mapping[str, str], claims: Type | None
) -> Iterator[Enforced]:
    """Yields what each program or package behind a choice makes of its inputs.

    Args:
        cases: From `export_cases`, or a file.
        expand: Gives a spec at the structure of an artifact's inputs.
        sources: The C++ of packages, by label.
        claims: What the spec says of the result.
    """
    dispatcher = cases.dispatcher
    for entry in cases.entries:
        at = _at(dispatcher, entry)
        if at is None:
            continue
        own = replace(at, signature=replace(at.signature, returns=claims))
        if entry.program is not None:
            found = enforced_by_program(entry.program, own.signature, expand)
        elif entry.label in sources:
            found = enforced_by_source(sources[entry.label], own.signature, expand)
        else:
            found = Enforced("package", own)
        yield _behind(found, own, entry.label)


def _at(dispatcher: Any, entry: Entry) -> Expanded | None:
    """Returns the spec of an artifact at its structure."""
    for structure in dispatcher.structures.values():
        if structure_key(structure.expanded) == entry.structure:
            artifact = structure.artifact(entry.position, frozenset(), entry.key)
            if artifact is not None:
                at: Expanded = structure.given(artifact)[0]
                return at
    return None


def _behind(found: Enforced, own: Expanded, label: str) -> Enforced:
    """Returns what an artifact makes of its inputs behind the choice, which refuses what its spec forbids."""
    pinned = [Demand("specialized-dim", _equal(place, size), (place,)) for place, size in found.statics]
    checked = (*statements(own), *pinned, *found.checked)
    return replace(found, checked=checked, front=True, label=label, remarks=(), cures=())


def _equal(place: str, size: int) -> Compare:
    return Compare(COMPARISONS["=="], Var(place), Const(size))


def enforced_by_dispatch(dispatcher: Dispatcher, claims: Type | None, draw: Draw) -> Iterator[Enforced]:
    """Yields what each compiled artifact of `sd.dispatch` makes of its inputs, of those that were made.

    Args:
        dispatcher: Behind the function.
        claims: What the spec says of the result.
        draw: Makes calls. An artifact is run on one, in order to see how its result is nested.
    """
    backend = dispatcher.backend
    if not isinstance(backend, CompileBackend):
        return
    for structure in list(dispatcher.structures.values()):
        for artifact in list(structure.artifacts.values()):
            held = backend.held(artifact.cell[RUN]) if artifact.state is State.MADE else None
            if held is None:
                continue
            at = structure.given(artifact)[0]
            own = replace(at, signature=replace(at.signature, returns=claims))
            calls: Sequence[Call] = () if claims is None else draw(at.signature, dict(artifact.key))
            entered: list[Call] = [((*dispatcher.bound, *args), kwargs) for args, kwargs in calls]
            for each in enforced_by_compiled(held, own, entered):
                yield replace(each, label=", ".join(filter(None, (artifact.spec.label, each.label))))


def enforced_in_front(signature: Signature, arguments: Mapping[str, Any], expand: Expand, own: Signature) -> Enforced:
    """Returns what the check in front of artifacts refuses, for a spec that is not theirs.

    Args:
        signature: The spec that they are to keep.
        arguments: In a structure that there are artifacts for.
        expand: Gives a spec at a structure.
        own: The spec that they have.
    """
    asked = expand(replace(signature, alternatives=(), returns=None), arguments)
    checked = statements(expand(replace(own, alternatives=()), arguments))
    return Enforced("set of artifacts", asked, checked=checked, front=True, label="the check in front", cures=_CURES)


_CURES = ("make the artifacts again with this spec",)

__all__ = ["enforced_by_cases", "enforced_by_dispatch", "enforced_in_front"]
