"""What checks must know of a tensor library; `targets` hands torch's in, tests a fake one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


def _nothing(value: object) -> bool:
    del value
    return False


@dataclass(frozen=True, eq=False)
class Tensors:
    """A tensor library.

    Attributes:
        kind: Instances of it have ``shape`` (a sequence of ints) and ``dtype``.
        dtypes: The language's name of a dtype or family → the library's dtypes it admits.
        plain: Subclasses of it whose sizes are as its own: looking at them again is not worth the time.
        symbolic: Whether a value, tensor or int, is or has a size that is a symbol of a tracer's. To compare
            such a size with a number would tell the tracer that the program depends on it.
        opaque: Whether a value stands for one of which a tracer knows nothing at all, not even that it is a tensor.
        modes: How many tracers or the like are at work; while there are any, plain tensors may have such sizes, too.
            None if they never have.
    """

    kind: type
    dtypes: Mapping[str, frozenset[object]]
    plain: frozenset[type] = frozenset()
    symbolic: Callable[[object], bool] = _nothing
    opaque: Callable[[object], bool] = _nothing
    modes: Callable[[], int] | None = None

    def is_tensor(self, value: object) -> bool:
        """Returns whether ``value`` is a tensor, of a subclass too."""
        return isinstance(value, self.kind)
