"""The functions of `shape_extensions` and of its `dsl`, by their dotted names behind `shape_extensions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from . import sums
from .answers import Refused, Stop
from .broadcasting import broadcast, gufunc_broadcast
from .indexing import index_shape
from .logic import truth
from .pythons import sequence, total
from .sums import Number, Sum
from .values import UNKNOWN, Block, Builtin, Undecided, Unknown, Value, has_blocks, text

if TYPE_CHECKING:
    from .interpret import Machine


def _invalid(_: Machine, message: Value) -> Value:
    raise Refused(message if isinstance(message, str) else text(message))


def _unknown_size(_: Machine) -> Value:
    return UNKNOWN


def _unknown_shape(machine: Machine) -> Value:
    return (machine.names.block(),)


def _unknown_shapes(_: Machine) -> Value:
    raise Stop("the function leaves open how many shapes there are")


def _shape(_: Machine, values: Value = ()) -> Value:
    items = sequence(values)
    for item in items:
        if not isinstance(item, (int, Sum, Unknown, Block)):
            raise Stop(f"{text(item)} is no size")
    return items


def _shapes(_: Machine, values: Value = ()) -> Value:
    items = sequence(values)
    for item in items:
        if not isinstance(item, tuple):
            raise Stop(f"{text(item)} is no shape")
    return items


def _is_concrete_int(machine: Machine, value: Value) -> Value:
    if isinstance(value, (Sum, Unknown, Block)):
        machine.guarded = True
    return isinstance(value, int)


def _is_int_value(_: Machine, value: Value) -> Value:
    return isinstance(value, (int, Sum))


def _concat(_: Machine, left: Value, right: Value) -> Value:
    return (*sequence(left), *sequence(right))


def product(items: tuple[Value, ...]) -> Value:
    """Returns the product of a shape's dims."""
    factors: list[Number] = []
    for item in items:
        match item:
            case int() | Sum():
                factors.append(item)
            case Block(name=name, stated=True):
                factors.append(sums.product_of(name))
            case Block() | Unknown():
                return 0 if 0 in items else UNKNOWN
            case _:
                raise Stop(f"the product of {text(items)}")
    return sums.multiply_all(factors)


def _prod(_: Machine, shape: Value) -> Value:
    return product(sequence(shape))


def _sum(_: Machine, shape: Value) -> Value:
    return total(sequence(shape))


def _axis_reduce(
    _: Machine,
    shape: Value,
    axis: Value,
    keepdims: Value,
    empty_means_all: Value,
    scalar_axis_ok: Value,
    scalar_tuple_axis_ok: Value,
) -> Value:
    """Drops axes, or makes them 1; axes before a block count from the front, axes behind it from the end."""
    dims = sequence(shape)
    keep, every = _known(keepdims), _known(empty_means_all)
    if axis is None or (axis == () and every):
        if keep and has_blocks(dims):
            raise Stop(f"how many dims {text(dims)} has is not known")
        return (1,) * len(dims) if keep else ()
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not dims and _known(scalar_tuple_axis_ok if isinstance(axis, tuple) else scalar_axis_ok):
        if not all(item in (0, -1) for item in axes):
            raise Refused("reduction dimension out of range")
        places = [0 for _ in axes]
    else:
        places = [_axis(dims, item) for item in axes]
    if len(set(places)) != len(places):
        raise Refused("reduction dimensions must be unique")
    if keep:
        return tuple(1 if place in places else dim for place, dim in enumerate(dims))
    return tuple(dim for place, dim in enumerate(dims) if place not in places)


def _axis(dims: tuple[Value, ...], axis: Value) -> int:
    """Returns the entry of a shape that an axis names."""
    if not isinstance(axis, int):
        raise Stop(f"the axis {text(axis)} is not known")
    place = axis if axis >= 0 else len(dims) + axis
    on_the_way = dims[: axis + 1] if axis >= 0 else dims[max(place, 0) :]
    if has_blocks(on_the_way) or (has_blocks(dims) and not 0 <= place < len(dims)):
        raise Stop(f"which dim of {text(dims)} is {axis} is not known")
    if not 0 <= place < len(dims):
        raise Refused("reduction dimension out of range")
    return place


def _known(value: Value) -> bool:
    decided = truth(value)
    if isinstance(decided, Undecided):
        raise Stop(decided.reason)
    return decided


def _broadcast(_: Machine, left: Value, right: Value) -> Value:
    return broadcast(sequence(left), sequence(right))


def _gufunc_broadcast(_: Machine, spec: Value, shapes: Value) -> Value:
    if not isinstance(spec, str):
        raise Stop("the signature is not known")
    return gufunc_broadcast(spec, [sequence(shape) for shape in sequence(shapes)])


INTRINSICS: Final[dict[str, Builtin]] = {
    "dsl.Invalid": _invalid,
    "dsl.Int.gradual": _unknown_size,
    "dsl.IntTuple.gradual": _unknown_shape,
    "dsl.IntTuples.gradual": _unknown_shapes,
    "dsl.IntTuple": _shape,
    "dsl.IntTuples": _shapes,
    "IntTuple": _shape,
    "IntTuples": _shapes,
    "dsl.is_concrete_int": _is_concrete_int,
    "dsl.is_int_value": _is_int_value,
    "dsl.concat": _concat,
    "dsl.axis_reduce": _axis_reduce,
    "dsl.prod": _prod,
    "dsl.sum": _sum,
    "dsl._gufunc_broadcast": _gufunc_broadcast,
    "gufunc_broadcast": _gufunc_broadcast,
    "broadcast": _broadcast,
    "index_shape": index_shape,
}
