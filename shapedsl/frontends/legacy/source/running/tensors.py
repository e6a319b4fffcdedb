"""The sizes of tensors that source shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..values import Constant, Sequence, Tensor, Unknown

if TYPE_CHECKING:
    import libcst as cst

    from ..values import Value
    from .machine import Machine

Sizes = "tuple[int | None, ...] | None"

_BY_SIZES: Final = frozenset(["torch.randn", "torch.rand", "torch.ones", "torch.zeros", "torch.empty"])
_LIKE: Final = frozenset(
    [
        "torch.randn_like",
        "torch.rand_like",
        "torch.ones_like",
        "torch.zeros_like",
        "torch.empty_like",
        "torch.full_like",
        "torch.randint_like",
        "torch.clone",
        "torch.relu",
        "torch.sigmoid",
        "torch.tanh",
        "torch.abs",
    ]
)
_SAME_SIZES: Final = frozenset(
    [
        "cuda",
        "cpu",
        "to",
        "float",
        "half",
        "double",
        "bfloat16",
        "long",
        "int",
        "short",
        "bool",
        "clone",
        "detach",
        "contiguous",
        "requires_grad_",
        "type",
        "pin_memory",
        "abs",
        "neg",
        "relu",
        "sigmoid",
        "tanh",
        "fill_",
        "zero_",
        "normal_",
        "uniform_",
        "random_",
        "type_as",
        "share_memory_",
        "clamp",
        "exp",
        "sqrt",
        "softmax",
    ]
)
TENSOR_METHODS: Final = _SAME_SIZES | frozenset(
    [
        "add",
        "sub",
        "mul",
        "div",
        "view",
        "reshape",
        "unsqueeze",
        "squeeze",
        "size",
        "dim",
        "ndimension",
        "numel",
        "t",
        "transpose",
        "permute",
        "flatten",
        "expand",
        "repeat",
        "new_zeros",
        "new_ones",
        "new_empty",
        "new_full",
        "tolist",
        "item",
    ]
)


def make_tensor(
    machine: Machine, node: cst.CSTNode, name: str, given: list[Value], named: dict[str, Value]
) -> Value | None:
    """Returns the tensor that a function of torch makes; None for another function."""
    if name in _BY_SIZES:
        return Tensor(_sizes(machine, [named["size"]] if "size" in named else given), node)
    if name in ("torch.full", "torch.empty_strided", "torch.normal"):
        size = named.get("size") if name != "torch.full" else named.get("size", given[0] if given else None)
        if name == "torch.empty_strided" and size is None and given:
            size = given[0]
        return Tensor(None if size is None else _sizes(machine, [size]), node)
    if name == "torch.randint":
        return Tensor(_randint(machine, given, named), node)
    if name in _LIKE and given:
        return Tensor(given[0].sizes if isinstance(given[0], Tensor) else None, node)
    if name in ("torch.arange", "torch.range"):
        return Tensor((_arange(given, named) if name == "torch.arange" else None,), node)
    if name in ("torch.linspace", "torch.logspace"):
        steps = named.get("steps", given[2] if len(given) > 2 else None)
        return Tensor((_int(steps),), node)
    if name == "torch.eye":
        rows = _int(named.get("n", given[0] if given else None))
        columns = named.get("m", given[1] if len(given) > 1 else None)
        return Tensor((rows, rows if columns is None else _int(columns)), node)
    if name in ("torch.randperm", "torch.hann_window"):
        return Tensor((_int(given[0] if given else None),), node)
    if name in ("torch.tensor", "torch.as_tensor", "torch.asarray") and (given or "data" in named):
        data = given[0] if given else named["data"]
        return Tensor(data.sizes if isinstance(data, Tensor) else _nested(machine, data), node)
    if name in (
        "torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.IntTensor", "torch.HalfTensor",
        "torch.DoubleTensor", "torch.BoolTensor",
    ):  # fmt: skip
        if given and all(_int(each) is not None for each in given):
            return Tensor(_sizes(machine, given), node)
        return Tensor(_nested(machine, given[0]) if len(given) == 1 else None, node)
    if name == "torch.nn.Parameter" and given:
        return Tensor(given[0].sizes if isinstance(given[0], Tensor) else None, node)
    return None


def _int(value: Value | None) -> int | None:
    if isinstance(value, Constant) and type(value.value) is int and value.value >= 0:
        return value.value
    return None


def _sizes(machine: Machine, given: list[Value]) -> tuple[int | None, ...] | None:
    """Returns the sizes of ``randn(4, 3)`` or ``randn((4, 3))``; None where even the rank is not known."""
    if len(given) == 1 and not isinstance(given[0], Constant):
        items = machine.items(given[0])
        return None if items is None else tuple(_int(each) for each in items)
    return tuple(_int(each) for each in given)


def _randint(machine: Machine, given: list[Value], named: dict[str, Value]) -> tuple[int | None, ...] | None:
    size = named.get("size")
    if size is None:  # randint(high, size) or randint(low, high, size)
        size = next((each for each in given[1:] if machine.items(each) is not None), None)
    return None if size is None else _sizes(machine, [size])


def _arange(given: list[Value], named: dict[str, Value]) -> int | None:
    numbers = [_number(each) for each in given]
    if named.keys() & {"start", "end", "step"} or any(each is None for each in numbers):
        return None
    if len(numbers) not in (1, 2, 3):
        return None
    try:
        return len(range(*numbers))  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return None


def _number(value: Value) -> int | None:
    return value.value if isinstance(value, Constant) and type(value.value) is int else None


def _nested(machine: Machine, data: Value, depth: int = 0) -> tuple[int | None, ...] | None:
    """Returns the sizes of nested lists of numbers."""
    if isinstance(data, Constant) and isinstance(data.value, (int, float)):
        return ()
    if depth > 20 or isinstance(data, (Constant, Tensor)):
        return None
    items = machine.items(data)
    if items is None:
        return None
    if not items:
        return (0,)
    first = _nested(machine, items[0], depth + 1)
    if first is None:
        return None
    return (len(items), *first)


def tensor_attribute(value: Tensor, name: str, node: cst.CSTNode) -> Value | None:
    """Returns an attribute of a tensor; None if it is not followed."""
    if name == "shape":
        if value.sizes is None:
            return Unknown("the sizes of this tensor are not known", node)
        unknown = Unknown("this size is not known", node)
        items: list[Value] = [unknown if each is None else Constant(each, node) for each in value.sizes]
        return Sequence("tuple", items, node, is_whole=False)
    if name in ("T", "mT") and value.sizes is not None and len(value.sizes) == 2:
        return replace(value, sizes=value.sizes[::-1], node=node)
    if name == "ndim" and value.sizes is not None:
        return Constant(len(value.sizes), node)
    if name == "data":
        return replace(value, node=node)
    return None


def tensor_item(value: Tensor, index: Value, node: cst.CSTNode) -> Value:
    """Returns ``x[index]``: what an int leaves; another index is not followed."""
    if value.sizes and isinstance(index, Constant) and type(index.value) is int:
        return Tensor(value.sizes[1:], node)
    if value.sizes is not None and isinstance(index, Constant) and index.value is None:
        return Tensor((1, *value.sizes), node)
    return Tensor(None, node)


def call_tensor_method(
    machine: Machine,
    node: cst.CSTNode,
    value: Tensor,
    name: str,
    spread: tuple[list[Value], dict[str, Value]] | None,
) -> Value:
    """Returns what a tensor's method returns."""
    if spread is None:
        return Unknown("the arguments of this call are not known", node)
    given, named = spread
    sizes = value.sizes
    if name in ("requires_grad_", "fill_", "zero_", "normal_", "uniform_", "random_", "share_memory_"):
        return value  # the tensor itself
    if name in _SAME_SIZES:
        return Tensor(sizes, node)
    if name in ("new_zeros", "new_ones", "new_empty", "new_full"):
        first = [named["size"]] if "size" in named else given[:1] if name == "new_full" else given
        return Tensor(_sizes(machine, first), node)
    if name in ("view", "reshape", "expand", "repeat"):
        return Tensor(_reshaped(machine, given) if given and name != "repeat" else None, node)
    if name == "size" and sizes is not None:
        shape = tensor_attribute(value, "shape", node)
        if not given:
            return shape or Unknown("this size is not known", node)
        axis = given[0]
        if isinstance(axis, Constant) and type(axis.value) is int and -len(sizes) <= axis.value < len(sizes):
            found = sizes[axis.value]
            return Unknown("this size is not known", node) if found is None else Constant(found, node)
    if name in ("dim", "ndimension") and sizes is not None:
        return Constant(len(sizes), node)
    if name == "unsqueeze" and sizes is not None and len(given) == 1:
        axis = given[0]
        if isinstance(axis, Constant) and type(axis.value) is int and -len(sizes) - 1 <= axis.value <= len(sizes):
            at = axis.value if axis.value >= 0 else axis.value + len(sizes) + 1
            return Tensor((*sizes[:at], 1, *sizes[at:]), node)
    if name == "t" and sizes is not None:
        return Tensor(sizes[::-1], node)
    if name in ("tolist", "item", "numel", "size", "dim", "ndimension"):
        return Unknown(f"`.{name}()` is not followed", node)
    return Tensor(None, node)


def _reshaped(machine: Machine, given: list[Value]) -> tuple[int | None, ...] | None:
    sizes = _sizes(machine, given)
    if len(given) == 1 and isinstance(given[0], Unknown):
        return None
    return sizes


__all__ = ["TENSOR_METHODS", "call_tensor_method", "make_tensor", "tensor_attribute", "tensor_item"]
