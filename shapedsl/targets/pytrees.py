"""What torch's pytree takes apart, asked without importing torch: whoever registered a class has."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any


class Pytrees:
    """Answers what `frontends.legacy.examples` asks."""

    def is_tensor(self, value: object) -> bool:
        """Whether ``value`` is a tensor."""
        torch = sys.modules.get("torch")
        return torch is not None and isinstance(value, torch.Tensor)

    def children(self, value: Any) -> Sequence[tuple[str | None, object]] | None:
        """Returns what an object of a registered class is flattened to, each with the attribute that holds it.

        Only an attribute can be addressed by a ShapesSpec: for a key of another kind, or none, it is None.

        Returns:
            None where ``value`` is a leaf, or a container that needs no registration.
        """
        pytree: Any = sys.modules.get("torch.utils._pytree")
        if pytree is None:
            return None
        kind = pytree._get_node_type(value)
        node = pytree.SUPPORTED_NODES.get(kind)
        if node is None or kind in pytree.BUILTIN_TYPES:
            return None
        plain: list[object] = list(node.flatten_fn(value)[0])
        if node.flatten_with_keys_fn is None:
            return [(None, child) for child in plain]
        keyed: list[tuple[Any, object]] = list(node.flatten_with_keys_fn(value)[0])
        named = [key.name if isinstance(key, pytree.GetAttrKey) else None for key, _ in keyed]
        if len(named) != len(plain):
            return [(None, child) for child in plain]
        return list(zip(named, plain, strict=True))


__all__ = ["Pytrees"]
