"""What stands in annotations: ``Tensor[B, D]``, ``int64[B]``, ``Scalar[N]``, ``Shape["B", "D"]``.

Their items are kept as they were written and read when someone asks for the spec, so that an
annotation costs about as much as a tuple, and a wrong one breaks no import. Type checkers see
something else: ``shapedsl/annotations.pyi``.

They are objects of our own, not ``typing.Annotated``: torch's ``fx.symbolic_trace`` fails on that.
What `typing` wants of an annotation they have: equality and a hash (``Union`` compares),
a ``__call__`` (3.10's ``Optional`` demands one), ``|``.
"""

from __future__ import annotations

import sys

from .symbols import Symbol

TYPE_CHECKING = False  # typing's flag, without importing typing
if TYPE_CHECKING:
    from typing import Any

# The families of dtypes, and which of torch's dtypes each one holds.
FAMILIES = ("floating", "integral", "complexfloating", "number")


def spell(item: Any) -> str | None:
    """Returns how the language spells one item of ``Tensor[…]``; None if it is no dim.

    Args:
        item: A string (any number of dims), an int, ``...``, None (static), a `Symbol`, a ``Literal``
            of strings and ints, a type parameter (``B`` or ``*S``) or a forward reference.
    """
    if isinstance(item, Symbol):
        return item.text
    if isinstance(item, str):
        return item
    if item is None:
        return "_"
    if item is ...:
        return "..."
    if isinstance(item, bool):
        return None
    if isinstance(item, int) or (type(item).__module__ == "numpy" and hasattr(item, "__index__")):
        return str(int(item))
    kind = type(item).__name__
    # typing's own objects, known by their class's name: typing is not imported here
    if kind in ("_LiteralGenericAlias", "_UnpackGenericAlias", "_UnpackAlias"):
        parts = [spell(part) for part in item.__args__]
        if None not in parts:
            return ", ".join(part for part in parts if part is not None)
    elif kind == "TypeVarTuple":
        return f"*{item.__name__}"
    elif kind == "TypeVar":
        return str(item.__name__)
    return forward_text(item)


def forward_text(item: Any) -> str | None:
    """Returns the text of a forward reference; None if ``item`` is none, as the class of all of them is none."""
    text = None if isinstance(item, type) else getattr(item, "__forward_arg__", None)
    return text if isinstance(text, str) else None


def shown(thing: object) -> str:
    """Returns the repr of any object, for messages; of one that has none, its class."""
    try:
        return repr(thing)
    except Exception:  # whatever a user's class raises
        return f"<{type(thing).__name__}>"


class Form:
    """``Tensor``, a dtype, a family, ``Scalar`` or ``Shape``; bare, or with its items.

    Attributes:
        name: ``Tensor``, ``Scalar``, ``Shape``, a dtype of torch or a family.
        items: What was written in the brackets; None where there are none.
    """

    __slots__ = ("__weakref__", "_text", "items", "name")

    def __init__(self, name: str, items: tuple[object, ...] | None = None) -> None:
        self.name = name
        self.items = items
        self._text: str | None = None

    def __getitem__(self, items: Any) -> Form:
        """Returns the form with ``items``, unread.

        Raises:
            TypeError: It has items already.
        """
        if self.items is not None:
            raise TypeError(f"{self} has its dims already")
        return Form(self.name, items if type(items) is tuple else (items,))  # pyright: ignore[reportUnknownArgumentType]

    @property
    def text(self) -> str | None:
        """What stands in the brackets, as the language spells it; None where there are none."""
        if self.items is None:
            return None
        if self._text is None:
            spelled = [(spell(item), item) for item in self.items]
            self._text = ", ".join(shown(item) if text is None else text for text, item in spelled) or "()"
        return self._text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Form):
            return NotImplemented
        return self.name == other.name and self.text == other.text

    def __hash__(self) -> int:
        return hash((self.name, self.text))

    def __repr__(self) -> str:
        return self.name if self.items is None else f"{self.name}[{self.text}]"

    def __call__(self, *_: object, **__: object) -> object:
        """Raises TypeError: an annotation makes no tensors. It is there because 3.10's ``Optional`` asks for it."""
        raise TypeError(f"{self} is an annotation and cannot be called; torch.tensor makes tensors")

    def __or__(self, other: object) -> object:
        import typing  # whoever writes a union has it loaded, or is about to

        return typing.Union[self, other]  # noqa: UP007  # objects, not classes

    def __ror__(self, other: object) -> object:
        import typing

        return typing.Union[other, self]  # noqa: UP007

    def __instancecheck__(self, instance: Any) -> bool:
        """Whether ``instance`` is a tensor (of this dtype or family), or an int for ``Scalar``.

        Raises:
            TypeError: The form has dims; ``spec.check`` tests those.
        """
        if self.items is not None or self.name == "Shape":
            raise TypeError(f"isinstance() cannot test {self}; spec.check(...) does")
        if self.name == "Scalar":
            return type(instance) is int
        torch: Any = sys.modules.get("torch")  # where there is a tensor, torch is loaded
        if torch is None or not isinstance(instance, torch.Tensor):
            return False
        return self.name == "Tensor" or self._holds(instance.dtype, torch)

    def _holds(self, dtype: Any, torch: Any) -> bool:
        if self.name not in FAMILIES:
            return bool(dtype is getattr(torch, self.name, None))
        integral = not (dtype.is_floating_point or dtype.is_complex or dtype is torch.bool)
        holds = {
            "floating": dtype.is_floating_point,
            "integral": integral,
            "complexfloating": dtype.is_complex,
            "number": dtype is not torch.bool,
        }
        return bool(holds[self.name])

    def __subclasscheck__(self, subclass: type) -> bool:
        torch: Any = sys.modules.get("torch")
        bare = self.name == "Tensor" and self.items is None
        return bare and torch is not None and issubclass(subclass, torch.Tensor)

    def __reduce__(self) -> tuple[type[Form], tuple[object, ...]]:
        return Form, (self.name, self.items)


Tensor = Form("Tensor")
Scalar = Form("Scalar")
Shape = Form("Shape")

__all__ = ["FAMILIES", "Form", "Scalar", "Shape", "Tensor", "forward_text", "shown", "spell"]
