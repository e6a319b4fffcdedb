"""What a call is: its sizes, the alternative that takes them, what is padded, and the artifact that runs.

After::

    B=5, S=40 → bucket S → pad 40→64 (37 % waste) → artifact 3
    artifact 3 of 4, bucket S=64: made, 12 calls, 1 graph
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...diagnostics import ShapeError
from ...ir import Mode
from .cases import combinations, label, numbered
from .paths import members, number_of, path
from .running import Artifact, State

if TYPE_CHECKING:
    from .dispatcher import Dispatcher
    from .structure import Structure, Taken


def explain_call(dispatcher: Dispatcher, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Returns what happens to a call, or why it is refused; nothing is run or made.

    Raises:
        TypeError: The call does not fit the parameters.
    """
    try:
        structure, found, values = dispatcher.asked(*args, **kwargs)
        taken = structure.which(values)
        if taken is None:
            dispatcher.refuse(structure, found)
    except ShapeError as error:
        return str(error)
    sizes = dict(zip(structure.names, taken.sizes, strict=True))
    alternative = structure.alternatives[taken.position]
    said = path(structure.signature, structure.expanded, taken.position, sizes, taken.chosen)
    lines = [said]
    if alternative.mode is not Mode.EAGER:
        artifact = dispatcher.found(structure, taken)
        lines.append(_state(structure, taken, artifact))
    return "\n".join(lines)


def _state(structure: Structure, taken: Taken, artifact: Artifact | None) -> str:
    """Returns what became of the artifact of a call."""
    signature = structure.signature
    sizes = dict(zip(structure.names, taken.sizes, strict=True))
    counted = numbered(signature)
    number = number_of(signature, taken.position, sizes, taken.chosen)
    if artifact is None:
        pinned = () if number is None else _combination(structure, taken, sizes)
        name = label(structure.alternatives[taken.position], taken.position, pinned)
        said = "not made yet"
    else:
        name = artifact.spec.label
        calls, graphs = artifact.calls, artifact.graphs()
        said = f"{calls:,} call{'' if calls == 1 else 's'}, {graphs} graph{'' if graphs == 1 else 's'}"
        if artifact.verified is not None:
            said += f", compared on {artifact.verified.compared} calls, largest error {artifact.verified.error:.1g}"
        if artifact.state is State.NEW:
            said = "not made yet"
        elif artifact.state is State.FAILED:
            said = f"failed ({artifact.reason}); a later alternative or the function itself serves its sizes"
        if artifact.key:
            name += f" [{', '.join(f'{n}={v}' for n, v in artifact.key)}]"
    which = f"artifact {number} of {counted.total}" if number is not None else "artifact"
    return f"{which}, {name}: {said}"


def _combination(structure: Structure, taken: Taken, sizes: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    alternative = structure.alternatives[taken.position]
    pinned = members(alternative, sizes, taken.chosen)
    for combination in combinations(alternative):
        if combination and all(pinned.get(name) == size for name, size in combination):
            return combination
    return ()


__all__ = ["explain_call"]
