"""Patterns over dims: einsum's equations, and einops' ``b (h w) c -> b c h w``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from .answers import Refused, Stop
from .arithmetic import arithmetic
from .broadcasting import Shape, broadcast_all, broadcast_sizes, same_size
from .intrinsics import product
from .pythons import sequence
from .values import Builtin, Value, has_blocks, text

if TYPE_CHECKING:
    from .interpret import Machine

ELLIPSIS: Final = "..."


def _einsum(_: Machine, spec: Value, shapes: Value) -> Value:
    """Letters are axes; one that repeats within an operand is its diagonal, and sizes of 1 broadcast."""
    left, arrow, right = "".join(_pattern(spec).split()).partition("->")
    operands = [_letters(operand) for operand in left.split(",")]
    if arrow:
        result = _letters(right)
    else:
        counts = Counter(axis for axes in operands for axis in axes)
        dots = [ELLIPSIS] if ELLIPSIS in counts else []
        result = [*dots, *sorted(axis for axis, count in counts.items() if count == 1 and axis != ELLIPSIS)]
    return _contracted(operands, result, shapes, broadcasts=True)


def _letters(operand: str) -> list[str]:
    axes = re.findall(r"\.\.\.|[A-Za-z]", operand)
    if "".join(axes) != operand:
        raise Refused(f"`{operand}` is no operand of an einsum equation")
    return axes


def _einops_einsum(_: Machine, spec: Value, shapes: Value) -> Value:
    """Names are axes, and their sizes must be equal."""
    left, arrow, right = _pattern(spec).partition("->")
    if not arrow:
        raise Refused("an einops equation needs `->`")
    return _contracted([_words(operand) for operand in left.split(",")], _words(right), shapes, broadcasts=False)


def _words(operand: str) -> list[str]:
    words = operand.split()
    if not all(word == ELLIPSIS or word.isidentifier() for word in words):
        raise Refused(f"`{operand.strip()}` is no operand of an einops equation")
    return words


def _contracted(operands: Sequence[list[str]], result: list[str], shapes: Value, *, broadcasts: bool) -> Shape:
    given = [sequence(shape) for shape in sequence(shapes)]
    if len(operands) != len(given):
        raise Refused(f"the equation is for {len(operands)} operands, not {len(given)}")
    sizes: dict[str, Value] = {}
    batches: list[Shape] = []
    for axes, shape in zip(operands, given, strict=True):
        own: dict[str, Value] = {}
        for axis, dims in _matched(axes, shape):
            if axis == ELLIPSIS:
                batches.append(dims)
            else:
                own[axis] = same_size(own[axis], dims[0], f"axis `{axis}`") if axis in own else dims[0]
        for axis, size in own.items():
            if axis not in sizes:
                sizes[axis] = size
            elif broadcasts:
                sizes[axis] = broadcast_sizes(sizes[axis], size)
            else:
                sizes[axis] = same_size(sizes[axis], size, f"axis `{axis}`")
    batch = broadcast_all(batches)
    missing = [axis for axis in result if axis not in sizes and axis != ELLIPSIS]
    if missing or len(set(result)) != len(result):
        raise Refused(f"the result has the axis `{(missing or result)[0]}`, which no operand has, or has one twice")
    return tuple(dim for axis in result for dim in (batch if axis == ELLIPSIS else (sizes[axis],)))


def _matched(axes: list[str], shape: Shape) -> Iterable[tuple[str, Shape]]:
    """Yields each axis with the dims that it names: one, or for an ellipsis any number.

    Raises:
        Refused: The shape has too few or too many.
        Stop: Which dims they are is not known.
    """
    dots = axes.index(ELLIPSIS) if ELLIPSIS in axes else len(axes)
    behind = max(len(axes) - dots - 1, 0)
    outer = (*shape[:dots], *(shape[len(shape) - behind :] if behind else ()))
    if has_blocks(outer) or (ELLIPSIS not in axes and has_blocks(shape)):
        raise Stop(f"which dims of {text(shape)} `{' '.join(axes)}` names is not known")
    if len(shape) < len(axes) - 1 or (ELLIPSIS not in axes and len(shape) != len(axes)):
        raise Refused(f"`{' '.join(axes)}` does not fit {text(shape)}")
    for axis, dim in zip(axes[:dots], shape, strict=False):
        yield axis, (dim,)
    if ELLIPSIS in axes:
        yield ELLIPSIS, shape[dots : len(shape) - behind]
        for axis, dim in zip(axes[dots + 1 :], shape[len(shape) - behind :], strict=False):
            yield axis, (dim,)


def _pattern(spec: Value) -> str:
    if not isinstance(spec, str):
        raise Stop("the pattern is not known")
    if len(spec) > 1000:
        raise Stop("a pattern longer than 1,000 characters")
    return spec


Group = str | tuple[str, ...]  # an axis, or axes in brackets


def _rearrange(_: Machine, spec: Value, shape: Value, axes: Value = None) -> Value:
    left, right, sizes = _solved(spec, shape, axes)
    names, others = _flat(left), _flat(right)
    if set(names) != set(others):
        raise Refused(f"axes stand on one side only: {', '.join(sorted(set(names) ^ set(others)))}")
    return _composed(right, sizes)


def _reduce(_: Machine, spec: Value, shape: Value, axes: Value = None) -> Value:
    left, right, sizes = _solved(spec, shape, axes)
    extra = set(_flat(right)) - set(_flat(left))
    if extra:
        raise Refused(f"the result has new axes: {', '.join(sorted(extra))}")
    return _composed(right, sizes)


def _repeat(_: Machine, spec: Value, shape: Value, axes: Value = None) -> Value:
    left, right, sizes = _solved(spec, shape, axes)
    lost = set(_flat(left)) - set(_flat(right))
    if lost:
        raise Refused(f"the result lacks axes: {', '.join(sorted(lost))}")
    return _composed(right, sizes)


def _solved(spec: Value, shape: Value, axes: Value) -> tuple[list[Group], list[Group], dict[str, Shape]]:
    """Returns both sides of a pattern, and the dims of each axis."""
    before, arrow, after = _pattern(spec).partition("->")
    if not arrow:
        raise Refused("an einops pattern needs `->`")
    left, right = _groups(before), _groups(after)
    if axes is not None and not isinstance(axes, Mapping):
        raise Stop("the lengths of the axes are not known")
    sizes: dict[str, Shape] = {name: (size,) for name, size in (axes or {}).items()}
    outer = [ELLIPSIS if group == ELLIPSIS else str(place) for place, group in enumerate(left)]
    for label, dims in _matched(outer, sequence(shape)):
        if label == ELLIPSIS:
            sizes[ELLIPSIS] = dims
        else:
            _decompose(_flat([left[int(label)]]), dims[0], sizes)
    unknown = set(_flat(right)) - sizes.keys()
    if unknown:
        raise Refused(f"nothing gives the length of {', '.join(sorted(unknown))}")
    return left, right, sizes


def _groups(side: str) -> list[Group]:
    """Returns the dims of one side, each as the axes that it is made of; 1 is made of none.

    A group in brackets that holds an ellipsis flattens all its dims.
    """
    groups: list[Group] = []
    for piece in re.findall(r"\([^()]*\)|\.\.\.|\w+|\S", side):
        names = re.findall(r"\.\.\.|\w+|\S", piece.strip("()")) if piece.startswith("(") else [piece]
        if not all(name in (ELLIPSIS, "1") or name.isidentifier() for name in names):
            raise Refused(f"`{piece}` is no part of an einops pattern")
        groups.append(tuple(name for name in names if name != "1") if piece.startswith("(") or piece == "1" else piece)
    named = _flat(groups)
    if len(set(named)) != len(named):
        raise Refused("an axis stands twice on one side")
    return groups


def _flat(groups: list[Group]) -> list[str]:
    return [name for group in groups for name in ((group,) if isinstance(group, str) else group)]


def _decompose(group: list[str], dim: Value, sizes: dict[str, Shape]) -> None:
    """Finds the length of the one axis of a group that is not given."""
    if ELLIPSIS in group:
        raise Stop("`...` in brackets on the left")
    open_axes = [name for name in group if name not in sizes]
    if len(open_axes) > 1:
        raise Refused(f"nothing tells {' and '.join(open_axes)} apart")
    given = _product(sizes[name] for name in group if name in sizes)
    if not open_axes:
        same_size(given, dim, f"({' '.join(group)})")
        return
    if given == 1:
        sizes[open_axes[0]] = (dim,)
        return
    if isinstance(dim, int) and isinstance(given, int) and (given == 0 or dim % given != 0):
        raise Refused(f"{dim} does not divide by {given}")
    sizes[open_axes[0]] = (arithmetic("//", dim, given),)


def _composed(groups: list[Group], sizes: Mapping[str, Shape]) -> Shape:
    result: list[Value] = []
    for group in groups:
        if isinstance(group, str):
            result.extend(sizes[group])
        else:
            result.append(_product(sizes[name] for name in group))
    return tuple(result)


def _product(parts: Iterable[Shape]) -> Value:
    return product(tuple(dim for part in parts for dim in part))


EINOPS: Final[dict[str, Builtin]] = {
    "dsl.einsum": _einsum,
    "dsl.einops_einsum": _einops_einsum,
    "dsl.rearrange": _rearrange,
    "dsl.reduce": _reduce,
    "dsl.repeat": _repeat,
}
