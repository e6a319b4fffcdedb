"""Serve exported programs, or packages made of them, behind the choice that `sd.dispatch` generates.

Nothing is compiled when a call comes: an artifact is there, or the call is refused. So its structure (None-ness,
lengths, ranks), its static sizes and its plain ints have to be those of an example.

After, for ``otherwise eager`` behind two cases (names shortened)::

    if B == 1: return program_0(x, w)
    if B > 100: return program_1(x, w)
    return target(x, w)                   # the module; without it, `no-program`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any, NoReturn

from ...ir import Mode, ParamKind, Signature
from ...ir.expanded import Expanded
from ...runtime.code import Code
from ...runtime.guard import guard
from ...runtime.parameters import Parameter
from ...runtime.solve import Solve
from ...targets.entry.program_inputs import Input, no_program
from ...targets.entry.programs import outside_graphs
from ..buckets.padded_calls import Unpad
from ..dispatch.artifacts import ArtifactSpec
from ..dispatch.cases import label as label_of
from ..dispatch.dispatcher import Dispatcher
from ..dispatch.running import Artifact
from ..dispatch.structure import Key, Structure


@dataclass(frozen=True, slots=True)
class Entry:
    """One artifact that is ready to run.

    Attributes:
        label: What users call it; no two have the same.
        structure: Of the arguments; see `structure_key`.
        position: Of its alternative.
        key: What tells it from others of its alternative; see `structure.Key`.
        inputs: What it takes, flat.
        run: Takes what the target takes, those arguments that the structure has.
        program: The exported program, if there is one.
    """

    label: str
    structure: str
    position: int
    key: Key
    inputs: tuple[Input, ...]
    run: Callable[..., Any]
    program: Any = None


def positional_names(parameters: Sequence[Parameter]) -> list[str]:
    """Returns the names of the parameters that may be passed by position, in order."""
    kinds = (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL_OR_KEYWORD)
    return [each.name for each in parameters if each.kind in kinds]


def structure_key(expanded: Expanded) -> str:
    """Returns what tells structures apart, as text that a file can hold."""
    return repr((expanded.present, expanded.structure))


class Ready:
    """The backend of artifacts that were made before."""

    def make(
        self, spec: ArtifactSpec, at: Expanded, statics: Mapping[str, int], present: Mapping[str, bool]
    ) -> Callable[..., Any]:
        """Raises, since none is made while serving.

        Raises:
            ShapeError: ``no-program``.
        """
        del at, statics, present
        raise no_program(f"`{spec.label}` was not exported")

    def translate(self, run: Callable[..., Any], error: Exception) -> Exception | None:
        """Returns None: whatever a program raises is for the caller."""
        del run, error
        return None

    def graphs(self, run: Callable[..., Any]) -> int:
        """Returns 1 for a program, 0 for what refuses calls."""
        return int(not isinstance(run, partial))


class _Made(Artifact):
    """An artifact that is made from the start."""

    def __init__(
        self,
        structure: Structure,
        spec: ArtifactSpec,
        key: tuple[tuple[str, int], ...],
        run: Callable[..., Any],
    ) -> None:
        super().__init__(structure, spec, key, frozenset())
        self._install(run)


class _ReadyStructure(Structure):
    """A structure whose artifacts are there."""

    def __init__(self, dispatcher: ExportedDispatcher, expanded: Expanded, number: int) -> None:
        super().__init__(dispatcher, expanded, number)
        self.key = structure_key(expanded)
        self._entries = dispatcher.entries

    def _new(self, position: int, excluded: frozenset[int], key: Key) -> Artifact:
        made = super()._new(position, excluded, key)
        entry = self._entries.get((self.key, position, key))
        run = partial(self._missing, made) if entry is None else entry.run
        return _Made(self, made.spec, made.key, run)

    def _missing(self, artifact: Artifact, *args: Any, **kwargs: Any) -> NoReturn:
        del args, kwargs
        entries = list(self._entries.values())
        same = [each for each in entries if each.position == artifact.spec.position]
        name = self.dispatcher.name
        if not any(each.structure == self.key for each in entries):
            notes = ["the arguments have another structure than in the examples: what is None, lengths, or ranks"]
        elif artifact.key:
            notes = [f"this call has {', '.join(f'{n} = {v}' for n, v in artifact.key)}, and no example had"]
        else:
            notes = ["no example of it could be made" if not same else "it was exported for other arguments"]
        helps = ("export with an example like this call",)
        raise no_program(f"no program of `{artifact.spec.label}` of `{name}` is for this call", notes, helps)


class ExportedDispatcher(Dispatcher):
    """Chooses among artifacts that are there.

    Attributes:
        entries: By structure, alternative, and what tells its artifacts apart.
        has_target: Whether there is a module to run eagerly, and to trace.
    """

    def __init__(
        self,
        target: Callable[..., Any] | None,
        parameters: Sequence[Parameter],
        signature: Signature,
        entries: Sequence[Entry],
        *,
        name: str,
        solve: Solve | None = None,
        unpad: Unpad | None = None,
    ) -> None:
        """Args:
        target: The original; None where a file was loaded without it.
        parameters: Its own, secrets of defaults kept.
        signature: Its spec, with alternatives or without.
        entries: The artifacts.
        name: What messages call it.
        solve: Computes variables that cannot be read off.
        unpad: What crops an output, by its path.
        """
        self.entries = {(each.structure, each.position, each.key): each for each in entries}
        self.has_target = target is not None
        called = self._without_target if target is None else target
        super().__init__(called, parameters, signature, Ready(), name=name, solve=solve, unpad=unpad)

    def front(self) -> FunctionType:
        """Returns the function to call; without a target it runs between the graphs of whoever compiles around it."""
        made = super().front()
        return made if self.has_target else outside_graphs(made, f"artifacts of `{self.name}` are compiled already")

    def prologue(self, code: Code) -> list[str]:
        """Returns the lines that leave a call to whoever is compiling around it."""
        return super().prologue(code) if self.has_target else []

    def structure(self, expanded: Expanded) -> Structure:
        """Returns what is served at one structure."""
        key = expanded.present, expanded.structure
        with self.lock:
            if key not in self.structures:
                self.structures[key] = _ReadyStructure(self, expanded, len(self.structures) + 1)
            return self.structures[key]

    def meet(self, expanded: Expanded) -> None:
        """Makes the artifacts of a structure known, so that statistics tell of them before the first call."""
        structure = self.structure(expanded)
        checked = guard(expanded, Code(structure.spelled.values()), self.tensors, structure.spelled)
        structure.names = tuple(name for name in checked.sizes if not name.startswith("?"))
        key = structure_key(expanded)
        for each in self.entries.values():
            if each.structure == key:
                structure.artifact(each.position, frozenset(), each.key)

    def _without_target(self, *args: Any, **kwargs: Any) -> NoReturn:
        del args, kwargs
        eager = [label_of(each, at) for at, each in enumerate(self.signature.alternatives) if each.mode is Mode.EAGER]
        names = " and ".join(f"`{each}`" for each in eager)
        raise no_program(
            f"{names} of `{self.name}` runs the module itself, which the artifacts were loaded without",
            helps=("pass it: `load_artifacts(path, module=...)`",),
        )


__all__ = ["Entry", "ExportedDispatcher", "Ready", "positional_names", "structure_key"]
