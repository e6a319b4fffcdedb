"""Compare all artifacts of a dispatched callable, those that are made and those that inputs can be drawn for.

After::

    case one     8 calls, 8 the same
    case large   8 calls, 7 the same, 1 wrong       given up: the function itself serves its sizes from now on
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ...diagnostics import ShapeError
from ...ir import ParamKind
from ...runtime.parameters import OMITTED, REQUIRED
from ...targets.entry.serving import kept
from ..examples.draw import Given
from ..verifying.samples import arguments_at, draw_at
from ..verifying.values import Row, Sampled
from .running import Artifact, State
from .verifying import Verify, signature_of
from .warming import Call, inputs_for, reached, wanted_by

if TYPE_CHECKING:
    from .dispatcher import Dispatcher
    from .structure import Structure

_HELP: Final = "or verify with calls: `verify(examples=[(args, kwargs)])`"


def verified_all(dispatcher: Dispatcher, calls: Sequence[Call] | None, how: Verify) -> Sampled:
    """Returns how all artifacts compare with the original; those that may not serve are given up.

    Artifacts that are not there are made, so the target runs.

    Args:
        dispatcher: Whose.
        calls: Whose structures, static sizes and dtypes are compared; None: what the spec describes.
        how: How many sizes, and how closely.

    Raises:
        ShapeError: ``missing-input``: something is static, and no call is given.
    """
    return _All(dispatcher, how).found(calls)


class _All:
    def __init__(self, dispatcher: Dispatcher, how: Verify) -> None:
        self.dispatcher = dispatcher
        self.how = how
        self.rows: list[Row] = []
        self.remarks: dict[str, None] = {}
        self.seen: set[int] = set()
        self.changes = False

    def found(self, calls: Sequence[Call] | None) -> Sampled:
        dispatcher = self.dispatcher
        drawn = [
            (wanted, *inputs_for(dispatcher, wanted, call, self.how.seed, _HELP))
            for call in (calls if calls is not None else [None])
            for wanted in wanted_by(dispatcher.signature)
        ]
        for wanted, inputs, reason in drawn:
            with kept(dispatcher.target, dispatcher.bound):
                found = reached(dispatcher, wanted, inputs)
            if found is None:
                self._note(f"{wanted.label} was not compared: {reason or 'no inputs were found that reach it'}")
                continue
            self._compare(*found)
            if found[0].state is State.FAILED:
                with kept(dispatcher.target, dispatcher.bound):
                    reached(dispatcher, wanted, inputs)  # makes what serves its sizes instead
        for artifact in list(self._others()):
            values = _values(artifact, self.how.seed) if artifact.state is State.MADE else ()
            if values is None:
                self._note(f"{_called(artifact)} was not compared: pass an example of its calls")
            else:
                self._compare(artifact, values)
        return Sampled(dispatcher.name, tuple(self.rows), tuple(self.remarks), self.changes)

    def _others(self) -> Iterator[Artifact]:
        for structure in list(self.dispatcher.structures.values()):
            for artifact in list(structure.artifacts.values()):
                known = artifact.state is State.MADE or artifact.verified is not None
                if known and id(artifact) not in self.seen and not artifact.shared:
                    yield artifact

    def _compare(self, artifact: Artifact, values: tuple[Any, ...]) -> None:
        """Compares one artifact, and what serves its sizes if it was given up, once."""
        if id(artifact) in self.seen:
            return
        self.seen.add(id(artifact))
        if artifact.state is not State.MADE:
            before = artifact.verified
            if before is not None and not before.passed:  # it was given up because of it
                self._take(artifact, before)
            else:
                self._note(f"{_called(artifact)} was not compared: it {artifact.state.value}: {artifact.reason}")
            return
        self._take(artifact, artifact.verify(values, self.how))

    def _take(self, artifact: Artifact, found: Sampled) -> None:
        called = _called(artifact)
        self.rows += [replace(row, label=called) for row in found.rows]
        for remark in found.remarks:
            self._note(f"{called}: {remark}")
        if found.skipped:
            self._note(f"{called} cannot be compared: {found.skipped}")
        self.changes = self.changes or found.changes

    def _note(self, text: str) -> None:
        self.remarks[text] = None


def _called(artifact: Artifact) -> str:
    """Returns what tables call an artifact: what tells it from others, too."""
    structure = artifact.structure
    name = artifact.called
    if artifact.key:
        name += f" [{', '.join(f'{key}={value}' for key, value in artifact.key)}]"
    return name if len(structure.dispatcher.structures) == 1 else f"{name} (structure {structure.number})"


def _values(artifact: Artifact, seed: int) -> tuple[Any, ...] | None:
    """Returns all arguments of a call that an artifact takes; None where the spec does not describe it whole."""
    structure: Structure = artifact.structure
    at = replace(structure.expanded, signature=signature_of(artifact))
    bound = structure.dispatcher.receivers()
    given = Given(dict(artifact.key), values=bound, is_tensor=structure.dispatcher.tensors.is_tensor)
    try:
        drawn = draw_at(at, 1, seed, given=given)
        arguments = arguments_at(drawn[0], seed, {}, structure.dispatcher.device(), bound) if drawn else None
    except ShapeError:  # `missing-input`
        return None
    if arguments is None:
        return None
    values: list[Any] = []
    nothing: dict[ParamKind, object] = {ParamKind.VAR_POSITIONAL: (), ParamKind.VAR_KEYWORD: {}}
    for param in structure.parameters:
        value = arguments.get(param.name, nothing.get(param.kind, param.default))
        if value is REQUIRED:
            return None
        values.append(OMITTED if not structure.present.get(param.name, True) else value)
    return tuple(values)


__all__ = ["verified_all"]
