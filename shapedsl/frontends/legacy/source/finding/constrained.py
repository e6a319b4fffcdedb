"""The removed ``constraints=[dynamic_dim(x, 0) <= 8, …]`` → the tree that says the same.

Before::

    constraints = [dynamic_dim(x, 0) <= 8, dynamic_dim(x, 0) == dynamic_dim(y, 0)]
    export(net, (x, y), constraints=constraints)

After::

    {"x": {0: Named("x_0", None, 8)}, "y": {0: Named("x_0", None, 8)}}

A size that equals another is one variable, called after the first of them; any other gets a name of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...model import Entries, Hint, Hinted, LegacyDim, Named, Tree
from ..values import Constant, Made, Relation, Sequence, Unknown, Value
from .refused import not_known, refuse
from .to_model import described

if TYPE_CHECKING:
    from collections.abc import Mapping


DYNAMIC_DIM: Final = frozenset(
    ("torch.export.dynamic_dim", "torch._export.dynamic_dim", "torch.export.dynamic_shapes.dynamic_dim")
)
_MIRRORED: Final = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "==": "=="}


@dataclass(frozen=True, slots=True)
class _Slot:
    param: str
    axis: int


class _Slots:
    """The sizes that are spoken of: which are one, and between what bounds."""

    def __init__(self, args: Mapping[str, Value]) -> None:
        self._args = args
        self._first: dict[_Slot, _Slot] = {}
        self._low: dict[_Slot, int] = {}
        self._high: dict[_Slot, int] = {}
        self.order: list[_Slot] = []

    def slot(self, made: Made) -> _Slot:
        """Returns the size that a call of ``dynamic_dim`` means."""
        args = {name or ("t", "index", "debug_name")[at]: value for at, (name, value) in enumerate(made.args or ())}
        tensor, axis = args.get("t"), args.get("index")
        if not isinstance(axis, Constant) or not isinstance(axis.value, int) or axis.value < 0:
            raise refuse("the axis of a `dynamic_dim` is not known", made.node, label="which axis?")
        for param, value in self._args.items():
            if value is tensor:
                found = _Slot(param, axis.value)
                if found not in self._first:
                    self._first[found] = found
                    self.order.append(found)
                return found
        raise refuse(
            "a `dynamic_dim` speaks of a tensor that is not seen among the inputs",
            made.node,
            label="of which parameter?",
            help="write `dynamic_shapes=` by parameter",
        )

    def root(self, slot: _Slot) -> _Slot:
        """Returns the first size that a size equals."""
        while self._first[slot] != slot:
            slot = self._first[slot]
        return slot

    def unite(self, left: _Slot, right: _Slot) -> None:
        """Makes two sizes one."""
        first, other = sorted((self.root(left), self.root(right)), key=self.order.index)
        self._first[other] = first
        for bounds, pick in ((self._low, max), (self._high, min)):
            known = [bounds[each] for each in (first, other) if each in bounds]
            if known:
                bounds[first] = pick(known)

    def bound(self, slot: _Slot, operator: str, number: int) -> None:
        """Bounds a size."""
        at = self.root(slot)
        if operator in (">", ">=", "=="):
            low = number + (operator == ">")
            self._low[at] = max(low, self._low.get(at, low))
        if operator in ("<", "<=", "=="):
            high = number - (operator == "<")
            self._high[at] = min(high, self._high.get(at, high))

    def tree(self) -> Entries:
        """Returns what is said, by parameter."""
        members: dict[_Slot, int] = {}
        for slot in self.order:
            members[self.root(slot)] = members.get(self.root(slot), 0) + 1
        by_param: dict[str, list[tuple[str | int, Tree]]] = {}
        for slot in self.order:
            at = self.root(slot)
            low, high = self._low.get(at), self._high.get(at)
            dim: LegacyDim = Hinted(Hint.DYNAMIC, low, high)
            if members[at] > 1:
                dim = Named(f"{at.param}_{at.axis}", low, high)
            by_param.setdefault(slot.param, []).append((slot.axis, dim))
        return Entries(
            tuple(
                [
                    (param, Entries(tuple(sorted(axes, key=lambda each: int(each[0])))))
                    for param, axes in by_param.items()
                ]
            )
        )


def constrained(value: Value, args: Mapping[str, Value]) -> Tree:
    """Returns what a list of constraints says.

    Args:
        value: The argument.
        args: The inputs, by parameter.

    Raises:
        RefusedError: Something in it is not known.
    """
    if isinstance(value, Unknown):
        raise not_known(value)
    if not isinstance(value, Sequence):
        raise refuse("constraints are a list", value.node, label="no list that the file shows")
    slots = _Slots(args)
    for item in value.items:
        _read(item, slots)
    return slots.tree()


def _read(item: Value, slots: _Slots) -> None:
    match item:
        case Made() if is_dim(item):
            slots.slot(item)
        case Relation(left=left, operator=operator, right=right) if operator in _MIRRORED:
            if not is_dim(left):
                left, right, operator = right, left, _MIRRORED[operator]
            if not isinstance(left, Made) or not is_dim(left):
                raise _odd(item)
            if isinstance(right, Made) and is_dim(right) and operator == "==":
                slots.unite(slots.slot(left), slots.slot(right))
            elif isinstance(right, Constant) and isinstance(right.value, int):
                slots.bound(slots.slot(left), operator, right.value)
            elif isinstance(right, Unknown):
                raise not_known(right)
            else:
                raise _odd(item)
        case Sequence(items=items):  # what several helpers gave
            for inner in items:
                _read(inner, slots)
        case Unknown():
            raise not_known(item)
        case _:
            raise _odd(item)


def _odd(item: Value) -> Exception:
    return refuse(f"{described(item)} is no constraint", item.node, label="neither a `dynamic_dim` nor a bound of one")


def is_dim(value: Value) -> bool:
    """Returns whether a value is what ``dynamic_dim`` made."""
    return isinstance(value, Made) and value.name in DYNAMIC_DIM


__all__ = ["DYNAMIC_DIM", "constrained", "is_dim"]
