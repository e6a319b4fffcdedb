"""Which leaf of a spec each of torch's flat inputs is.

Programs and graphs know their inputs by position in a flattened pytree, specs by paths. The two are
matched by filling the example's tree with markers and reading the paths from it, so that
namedtuples and registered classes need no code of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..ir import Attribute, Path
from ..ir.expanded import Leaf


class _Marker:
    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


def markers(structure: Any) -> Any:
    """Returns a tree of ``structure`` (a TreeSpec) whose leaves know their positions."""
    from torch.utils import _pytree as pytree

    return pytree.tree_unflatten([_Marker(at) for at in range(structure.num_leaves)], structure)


def positions(marked: Mapping[str, Any], leaves: Iterable[Leaf]) -> dict[int, Leaf]:
    """Returns the leaf at each flat position.

    Args:
        marked: Parameter → its part of a tree from `markers`.
        leaves: What to look for; one inside an object that torch does not flatten is left out.
    """
    found: dict[int, Leaf] = {}
    for leaf in leaves:
        marker = _at(leaf.path, marked)
        if isinstance(marker, _Marker):
            found[marker.position] = leaf
    return found


def _at(path: Path, marked: Mapping[str, Any]) -> Any:
    value: Any = marked.get(path.root)
    try:
        for step in path.steps:
            value = getattr(value, step.name) if isinstance(step, Attribute) else value[step.key]
    except (AttributeError, LookupError, TypeError):
        return None
    return value
