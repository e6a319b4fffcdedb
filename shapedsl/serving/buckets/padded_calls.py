"""Run the artifacts of an alternative that pads: choose one by the members, pad, run it, and crop what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from ...targets.padding import Padder, PaddingError
from ..dispatch.running import CALLS, LAST, RUN, Artifact, Call

if TYPE_CHECKING:
    from ..dispatch.structure import Key, Structure

Unpad: TypeAlias = Mapping[str, Callable[..., Any]]


class PaddedCalls:
    """Of one alternative at one structure."""

    def __init__(self, structure: Structure, position: int, excluded: frozenset[int], unpad: Unpad) -> None:
        self.structure = structure
        self.position = position
        self.excluded = excluded
        self.joint = structure.joint(position)
        dispatcher = structure.dispatcher
        self._padder = Padder(
            structure.alternatives[position],
            structure.expanded,
            dispatcher.parameters,
            structure.signature.returns,
            dict(unpad),
        )
        self._table: dict[Key, Artifact] = {}

    def run(
        self,
        chosen: tuple[int, ...],
        sizes: Mapping[str, int],
        last: tuple[int, ...],
        key: Key,
        values: tuple[Any, ...],
    ) -> Any:
        """Returns the result of a call.

        Args:
            chosen: The padded sizes of the buckets.
            sizes: Of the call, by name.
            last: The same, as they are noted.
            key: What tells artifacts apart besides members.
            values: All arguments, one a parameter.
        """
        artifact = self.artifact(chosen, key)
        if artifact is None:
            return self.structure.eager(*values)
        cell = artifact.cell
        cell[CALLS] += 1
        cell[LAST] = last
        artifact.note_waste(self.joint, sizes, chosen)
        if cell[RUN] is None:
            return artifact.start(values, self.call(chosen, sizes))
        try:
            return artifact.settled(values, self._padder.call(artifact.positional, sizes, chosen, values))
        except PaddingError:
            raise
        except Exception as error:
            return artifact.failed(error, values)

    def artifact(self, chosen: tuple[int, ...], key: Key) -> Artifact | None:
        """Returns the artifact for chosen members, new or not; None where host ints make too many."""
        at = (*key, *chosen)
        artifact = self._table.get(at)
        if artifact is None:
            members = tuple(size for _, size in self.joint.combination(chosen))
            artifact = self.structure.artifact(self.position, self.excluded, (*key, *members))
            if artifact is not None:
                self._table[at] = artifact
        return artifact

    def free_buffers(self) -> int:
        """Frees the memory that is kept for later calls; returns how many bytes that was."""
        return self._padder.clear()

    def call(self, chosen: tuple[int, ...], sizes: Mapping[str, int]) -> Call:
        """Returns what runs an artifact with padded arguments."""
        return partial(self._call, chosen, sizes)

    def _call(
        self, chosen: tuple[int, ...], sizes: Mapping[str, int], made: Callable[..., Any], values: tuple[Any, ...]
    ) -> Any:
        return self._padder.call(self.structure.by_position(made), sizes, chosen, values)


__all__ = ["PaddedCalls", "Unpad"]
