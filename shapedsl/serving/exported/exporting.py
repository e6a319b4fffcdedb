"""Find out what has to be exported: each artifact of a spec, with arguments as it would be called with.

After, for ``case one: B == 1``, ``bucket S in {64, 128} pad x with 0``::

    case one         f(x of shape (1, 9))       what the user gave, if it is one
    bucket S=64      f(x of shape (3, 64))      drawn, and padded
    bucket S=128     f(x of shape (3, 128))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir.expanded import Expanded
from ...targets.entry.programs import Call, Captured, capture
from ..dispatch import told
from ..dispatch.artifacts import ArtifactSpec
from ..dispatch.dispatcher import Dispatcher
from ..dispatch.running import Artifact
from ..dispatch.structure import Key, Structure
from ..dispatch.warming import Wanted, inputs_for, wanted_by
from .programs import Entry, structure_key
from .saved_structures import structure_as_json

_HELP = "or pass an example, `args=(...)`"


class Nothing:
    """The backend of a dispatcher that only tells what a call is."""

    def make(
        self, spec: ArtifactSpec, at: Expanded, statics: Mapping[str, int], present: Mapping[str, bool]
    ) -> NoReturn:
        """Makes nothing."""
        raise AssertionError(spec, at, statics, present)

    def translate(self, run: object, error: Exception) -> None:
        """Returns None."""
        del run, error

    def graphs(self, run: object) -> int:
        """Returns 0."""
        del run
        return 0


@dataclass(frozen=True, slots=True)
class Export:
    """One artifact that is to be exported.

    Attributes:
        label: What users call it.
        spec: What it may assume.
        key: What tells it from others of its alternative.
        structure: Of the arguments; see `structure_key`.
        at: The signature of ``spec`` at that structure.
        statics: The values of ``const X = _``.
        nesting: The structure, as JSON.
        calls: Arguments as the artifact is called with: padded, one structure. There is at least one.
    """

    label: str
    spec: ArtifactSpec
    key: Key
    structure: str
    at: Expanded
    statics: Mapping[str, int]
    nesting: Mapping[str, Any]
    calls: Sequence[Call]


def exports(
    dispatcher: Dispatcher, example: Call | None, seed: int, most: int = 1, *, tell: bool = True
) -> Iterator[Export]:
    """Yields what has to be exported; of what no example could be made, a warning tells.

    Args:
        dispatcher: Of the spec. Nothing is run by it.
        example: Its structure, static parts and dtypes are those of all; it is the first call of the artifact that
            takes it. By default, what is drawn first decides.
        seed: Of what is drawn.
        most: How many calls an artifact has.
        tell: Whether it warns.

    Raises:
        ShapeError: ``missing-input``: something is static, and there is no example. Or ``example`` does not satisfy
            the spec.
    """
    like = example
    labels: dict[str, int] = {}
    for wanted in wanted_by(dispatcher.signature):
        drawn, reason = inputs_for(dispatcher, wanted, like, seed, _HELP)
        tried = [*([example] if example is not None else []), *drawn]
        if like is None and drawn:
            like = drawn[0]
        structure: Structure | None = None
        nesting: Mapping[str, Any] = {}
        if like is not None:
            structure, _, values = dispatcher.asked(*like[0], **like[1])
            nesting = structure_as_json(dispatcher, values)
        found: tuple[Structure, Artifact, Key] | None = None
        calls: list[Call] = []
        for call in tried:
            reached = _reached(dispatcher, wanted, call)
            if reached is None or reached[0] is not structure:
                continue
            at, artifact, key, passed = reached
            if found is None:
                found = at, artifact, key
            if artifact is found[1] and len(calls) < most:
                calls.append(passed)
        if found is None:
            if tell:
                told.warn(_left_out(dispatcher, wanted, reason))
            continue
        taken_by, artifact, key = found
        expanded, statics, _ = taken_by.given(artifact)
        times = labels[wanted.label] = labels.get(wanted.label, 0) + 1
        name = wanted.label if times == 1 else f"{wanted.label} ({times})"
        yield Export(name, artifact.spec, key, structure_key(taken_by.expanded), expanded, statics, nesting, calls)


def sampled(dispatcher: Dispatcher, entries: Sequence[Entry], samples: int, seed: int) -> Mapping[str, Sequence[Call]]:
    """Returns arguments of each entry with a program, by its label: those that it was exported with, and drawn ones.

    Args:
        dispatcher: Of the spec. Nothing is run by it.
        entries: Artifacts.
        samples: How many are drawn for each.
        seed: Of these.
    """
    examples = {each.label: each.program.example_inputs for each in entries if each.program is not None}
    found: dict[str, list[Call]] = {name: [call] for name, call in examples.items() if call}
    # padded ones may be outside of the spec
    like = next((call for call in examples.values() if call and _is_taken(dispatcher, call)), None)
    for export in exports(dispatcher, like, seed, samples, tell=False):
        if export.label in found:
            found[export.label] += export.calls
    return found


def _is_taken(dispatcher: Dispatcher, call: Call) -> bool:
    try:
        dispatcher.asked(*call[0], **call[1])
    except (ShapeError, TypeError):
        return False
    return True


def _reached(dispatcher: Dispatcher, wanted: Wanted, call: Call) -> tuple[Structure, Artifact, Key, Call] | None:
    """Returns the artifact that takes ``call`` and its arguments, if it is the one that is wanted."""
    structure, sizes, values = dispatcher.asked(*call[0], **call[1])
    taken = structure.which(values)
    if taken is None or taken.position != wanted.position:
        return None
    key = taken.key
    if taken.chosen is not None:
        members = structure.joint(taken.position).combination(taken.chosen)
        if members != wanted.combination:
            return None
        key = (*key, *(size for _, size in members))
    elif wanted.combination and key[len(key) - len(wanted.combination) :] != tuple(n for _, n in wanted.combination):
        return None
    artifact = dispatcher.found(structure, taken, make=True)
    if artifact is None:
        return None
    try:
        if taken.chosen is None:
            structure.call(capture, values)
        else:
            structure.padded(taken.position, frozenset()).call(taken.chosen, sizes)(capture, values)
    except Captured as captured:
        return structure, artifact, key, captured.call
    raise AssertionError("an artifact was not called")


def _left_out(dispatcher: Dispatcher, wanted: Wanted, reason: str) -> Diagnostic:
    why = reason or "no inputs were found that reach it"
    return Diagnostic(
        "no-program",
        Severity.WARNING,
        f"`{wanted.label}` of `{dispatcher.name}` is not exported, so its calls are refused",
        notes=(why,),
        helps=("pass an example that it takes, `args=(...)`",),
    )


__all__ = ["Export", "Nothing", "exports", "sampled"]
