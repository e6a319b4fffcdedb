"""Which leaf of a spec each of torch's flat inputs is.

Programs and graphs know their inputs by position in a flattened pytree, specs by paths. The two are
matched by filling the example's tree with markers and reading the paths from it, so that
namedtuples and registered classes need no code of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..ir import Attribute, Path, Signature
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


def by_parameter(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], names: list[str], signature: Signature
) -> dict[str, Any]:
    """Returns the arguments by parameter; torch calls the elements of ``*rest`` ``rest_0``, ``rest_1``."""
    params = {param.name: param for param in signature.params}
    variadic = next((name for name, param in params.items() if param.kind.name == "VAR_POSITIONAL"), None)
    keywords = next((name for name, param in params.items() if param.kind.name == "VAR_KEYWORD"), None)
    names = names or list(params)
    marked: dict[str, Any] = {}
    rest: list[Any] = []
    for name, value in zip(names, args, strict=False):
        if name in params or variadic is None or name != f"{variadic}_{len(rest)}":
            marked[name] = value
        else:
            rest.append(value)
    if variadic is not None:
        marked[variadic] = rest
    others: dict[str, Any] = {}
    for name, value in kwargs.items():
        (marked if name in params and name != keywords else others)[name] = value
    if keywords is not None:
        marked[keywords] = others
    return marked


def _at(path: Path, marked: Mapping[str, Any]) -> Any:
    value: Any = marked.get(path.root)
    try:
        for step in path.steps:
            value = getattr(value, step.name) if isinstance(step, Attribute) else value[step.key]
    except (AttributeError, LookupError, TypeError):
        return None
    return value
