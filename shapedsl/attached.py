"""The object that torch finds on an annotated function as ``_dynamic_spec``.

torch's consumers test ``isinstance(spec, ShapesSpec)`` and read ``_params``, ``_assumptions``,
``assumptions``, ``to_jsonable`` and the repr. This object answers all of that by making the real
thing first, so that decorating a function costs one small allocation and loads nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's flag, without importing typing
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class AttachedSpec:
    """Stands for the ShapesSpec of one function until someone reads it.

    Attributes:
        function: Whose spec it is.
    """

    __slots__ = ("_real", "function")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._real: Any = None

    def _read(self) -> Any:
        """Returns what `shapedsl.api.lower_attached` made of the function's spec.

        Raises:
            ShapeError: The spec is wrong, or a rank is unknown: it comes out of ``torch.compile`` itself.
        """
        real: Any = self._real
        if real is None:
            from .api.entries import lower_attached  # the whole compiler; only now

            real = self._real = lower_attached(self.function)
        return real

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._read().__class__  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copy, pickle and inspect ask for many that nobody has
            raise AttributeError(name)
        return getattr(self._read(), name)

    def __repr__(self) -> str:
        try:
            return repr(self._read())
        except ValueError as error:  # a ShapeError; a debugger that prints attributes must not raise it
            name = getattr(self.function, "__qualname__", "a function")
            return f"<AttachedSpec of {name}: {getattr(error, 'code', error)}>"

    def __reduce_ex__(self, protocol: object) -> tuple[type[AttachedSpec], tuple[object]]:
        return AttachedSpec, (self.function,)  # copyreg would ask for __class__


__all__ = ["AttachedSpec"]
