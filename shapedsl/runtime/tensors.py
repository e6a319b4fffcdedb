"""What checks must know of a tensor library; `targets` hands torch's in, tests a fake one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Tensors:
    """A tensor library.

    Attributes:
        kind: Instances of it have ``shape`` (a sequence of ints) and ``dtype``.
        dtypes: The language's name of a dtype or family → the library's dtypes it admits.
    """

    kind: type
    dtypes: Mapping[str, frozenset[object]]

    def is_tensor(self, value: object) -> bool:
        """Returns whether ``value`` is a tensor, of a subclass too."""
        return isinstance(value, self.kind)
