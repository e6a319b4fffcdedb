"""Compare what two runs returned, left in their arguments and left in a module's buffers.

After, for a padded run cut back to the sizes of the plain one::

    return[0]                  largest error 3e-7 of 96 numbers
    return[1]                  largest error 0.27 of 64 numbers
    buffer norm.running_mean   largest error 0.11 of 8 numbers

An error is relative to the number itself, or to the usual one of its tensor where it is smaller than that.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, TypeAlias

import torch
from torch.utils import _pytree as pytree

from ..ir import Attribute, Item, Path
from .trials import Run

# How far results may be apart that differ by rounding alone, relative to their size.
TOLERANCES: Final[Mapping[torch.dtype, float]] = {
    torch.float64: 1e-8,
    torch.complex128: 1e-8,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.float16: 1e-2,
    torch.bfloat16: 5e-2,
}
_COARSE: Final = 0.25  # eight bits
_DEEPEST: Final = 24  # objects may hold each other
# what is equal or is not
_PLAIN: Final = (bool, int, str, bytes, type(None), Enum, torch.dtype, torch.device, torch.Size)
_Keys: TypeAlias = "tuple[int | str, ...]"  # a path below a value
_OTHER: Final = "\0"  # stands for what the other run is called
_FLOOR: Final = 1e-3  # numbers below it are compared as if they were that large: sums that cancel are noise


@dataclass(frozen=True, slots=True)
class Difference:
    """How one output of two runs differs.

    Attributes:
        path: ``return[1]``, ``buffer norm.running_mean``, ``argument x``.
        error: The largest error, relative to the size of what is compared; ``inf`` where they are no
            numbers of one shape.
        absolute: The same, absolute.
        tolerance: What rounding may do, of its dtype.
        count: How many numbers were compared; not those that are so small that any number near zero would do.
        what: Why it is ``inf``, in words; or empty.
        finite: Whether the second run has no NaN or infinity that the first lacks.
    """

    path: str
    error: float
    absolute: float
    tolerance: float
    count: int
    what: str = ""
    finite: bool = True


def differences(
    reference: Run, other: Run, ignored: Collection[Path], *, called: str = "padded"
) -> Iterator[Difference]:
    """Yields how two runs differ, an output at a time; both returned.

    Args:
        reference: The run that is right.
        other: The run that should agree.
        ignored: Outputs that are not compared.
        called: What messages call the other run.
    """
    for each in _differences(reference, other, ignored):
        yield replace(each, what=each.what.replace(_OTHER, called)) if each.what else each


def _differences(reference: Run, other: Run, ignored: Collection[Path]) -> Iterator[Difference]:
    yield from _compare(
        Path("return"), reference.result, other.result, [tuple(map(_key, each.steps)) for each in ignored]
    )
    for name in reference.arguments:
        for each in _compare(Path(name), reference.arguments[name], other.arguments[name], ()):
            yield replace(each, path=f"argument {each.path}")
    for name in sorted({*reference.buffers, *other.buffers}):
        if name in reference.buffers and name in other.buffers:
            for each in _compare(Path(name), reference.buffers[name], other.buffers[name], ()):
                yield replace(each, path=f"buffer {each.path}")
        else:
            what = "changes in one run only"
            yield Difference(f"buffer {name}", math.inf, math.inf, 0.0, 0, what)


def uncompared(value: Any, path: Path | None = None) -> Iterator[str]:
    """Yields the parts of a result that cannot be compared, with their kinds."""
    path = Path("return") if path is None else path
    children = _children(value) if len(path.steps) < _DEEPEST else None
    if children is not None:
        for step, child in children:
            yield from uncompared(child, replace(path, steps=(*path.steps, step)))
    elif not isinstance(value, (torch.Tensor, float, complex, *_PLAIN)):
        yield f"`{path}` ({type(value).__name__})"


def tensors_in(value: Any, path: Path) -> Iterator[tuple[Path, torch.Tensor]]:
    """Yields the tensors in a value, with where they are: of objects, too, that torch does not take apart."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif len(path.steps) < _DEEPEST:
        for step, child in _children(value) or ():
            yield from tensors_in(child, replace(path, steps=(*path.steps, step)))


def _children(value: Any) -> Sequence[tuple[Item | Attribute, Any]] | None:
    if isinstance(value, (torch.Tensor, float, complex, *_PLAIN)):
        return None
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        names: Sequence[str] = getattr(value, "_fields")  # noqa: B009 - a tuple has none for a type checker
        return [(Attribute(name), getattr(value, name)) for name in names]
    if isinstance(value, (list, tuple)):
        return [(Item(at), item) for at, item in enumerate(value)]
    if isinstance(value, dict) and not dataclasses.is_dataclass(value):
        return [(Item(key if isinstance(key, int) else str(key)), item) for key, item in value.items()]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(Attribute(each.name), getattr(value, each.name, None)) for each in dataclasses.fields(value)]
    if not pytree.tree_is_leaf(value):
        flat = pytree.tree_flatten_with_path(value)[0]
        return [(Item(pytree.keystr(keys)), item) for keys, item in flat]
    if hasattr(value, "__dict__") and not callable(value):
        return [(Attribute(name), item) for name, item in vars(value).items()]
    return None


def _compare(path: Path, one: Any, other: Any, ignored: Sequence[_Keys]) -> Iterator[Difference]:
    """Yields how two values differ, but for what is at ``ignored`` below them."""
    if () in ignored:
        return
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        yield _tensors_differ(str(path), one.detach(), other.detach())
        return
    if len(path.steps) >= _DEEPEST:
        return
    first, second = _children(one), _children(other)
    if first is not None and second is not None:
        if type(one) is not type(other):
            yield _apart(path, f"is {_kind(one)}, and {_OTHER} {_kind(other)}")
            return
        if [step for step, _ in first] != [step for step, _ in second]:
            yield _apart(path, f"holds {len(first)} parts, and {_OTHER} {len(second)}")
            return
        for at, ((step, child), (_, its)) in enumerate(zip(first, second, strict=True)):
            below = [keys[1:] for keys in ignored if keys[0] in (_key(step), at)]
            yield from _compare(replace(path, steps=(*path.steps, step)), child, its, below)
    elif isinstance(one, (float, complex)) and type(one) is type(other):
        yield _tensors_differ(str(path), torch.tensor(one), torch.tensor(other))
    elif isinstance(one, _PLAIN) and type(one) is type(other):
        yield (
            Difference(str(path), 0.0, 0.0, 0.0, 1)
            if one == other
            else _apart(path, f"is {one!r:.40}, and {_OTHER} {other!r:.40}")
        )
    elif type(one) is not type(other):
        yield _apart(path, f"is {_kind(one)}, and {_OTHER} {_kind(other)}")


def _key(step: Item | Attribute) -> int | str:
    """Returns what a step is known by: a spec may call a field an item, and the other way round."""
    return step.name if isinstance(step, Attribute) else step.key


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _apart(path: Path, what: str) -> Difference:
    return Difference(str(path), math.inf, math.inf, 0.0, 0, what)


def tensors_differ(path: str, one: torch.Tensor, other: torch.Tensor, *, called: str = "padded") -> Difference:
    """Returns how one tensor differs from another that is right.

    Args:
        path: What messages call it.
        one: The one that is right.
        other: The one that should agree.
        called: What messages call the other.
    """
    found = _tensors_differ(path, one.detach(), other.detach())
    return replace(found, what=found.what.replace(_OTHER, called))


def _tensors_differ(path: str, one: torch.Tensor, other: torch.Tensor) -> Difference:
    if one.shape != other.shape:
        what = f"has shape {tuple(one.shape)}, and {_OTHER} {tuple(other.shape)}"
        return Difference(path, math.inf, math.inf, 0.0, 0, what)
    if one.dtype != other.dtype:
        return Difference(path, math.inf, math.inf, 0.0, 0, f"is {one.dtype}, and {_OTHER} {other.dtype}")
    if one.device != other.device:
        return Difference(path, math.inf, math.inf, 0.0, 0, f"is on {one.device}, and {_OTHER} on {other.device}")
    if one.layout != other.layout:
        return Difference(path, math.inf, math.inf, 0.0, 0, f"is {one.layout}, and {_OTHER} {other.layout}")
    if one.is_meta:
        return Difference(path, 0.0, 0.0, 0.0, 0)
    if one.layout != torch.strided:
        one, other = one.to_dense(), other.to_dense()
    count = one.numel()
    if not (one.is_floating_point() or one.is_complex()):
        wrong = int((one != other).sum())
        return Difference(path, wrong / count if wrong else 0.0, float(_gap(one, other)) if wrong else 0.0, 0.0, count)
    tolerance = TOLERANCES.get(one.dtype, _COARSE)
    if not count:
        return Difference(path, 0.0, 0.0, tolerance, 0)
    if one.dtype in TOLERANCES and torch.equal(one, other):  # neither has NaN
        return Difference(path, 0.0, 0.0, tolerance, int(torch.isfinite(one).sum()))
    wide = torch.complex128 if one.is_complex() else torch.float64
    a, b = one.to(wide), other.to(wide)  # eight bits know no arithmetic
    sound = torch.isfinite(a)
    same = sound & torch.isfinite(b)
    agreed = same | (a == b) | (torch.isnan(a) & torch.isnan(b))
    finite = bool(agreed.all())
    absolute = error = 0.0
    told = 0
    if bool(same.any()):
        size = a[same].abs()
        usual = size[size > 0].median() if bool((size > 0).any()) else size.new_zeros(())
        gaps = (a - b)[same].abs()
        absolute = float(gaps.max())
        error = float((gaps / torch.maximum(size, usual.clamp(min=_FLOOR))).max())
        told = int(((gaps <= tolerance * torch.maximum(size, usual)) | (gaps > tolerance * _FLOOR)).sum())
    if not finite:
        broken = bool(torch.isnan(b[~agreed]).any())
        what = "becomes NaN" if broken else "becomes infinite" if bool(sound[~agreed].any()) else "becomes finite"
        return Difference(path, math.inf, math.inf, tolerance, count, what, finite=bool((~sound[~agreed]).all()))
    return Difference(path, error, absolute, tolerance, told)


def _gap(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one.to(torch.float64) - other.to(torch.float64)).abs().max())


def range_of(value: Any) -> tuple[str, float, float]:
    """Returns what a tensor holds: ``"float"``, ``"int"``, ``"bool"`` or ``"other"``, its least and its largest number.

    0 where there is no finite one.
    """
    if not isinstance(value, torch.Tensor) or value.is_complex() or value.layout != torch.strided:
        return "other", 0.0, 0.0
    if value.dtype is torch.bool:
        return "bool", 0.0, 1.0
    if value.dtype not in TOLERANCES and value.is_floating_point():
        return "other", 0.0, 0.0
    kind = "float" if value.is_floating_point() else "int"
    numbers = value[torch.isfinite(value)]
    return (kind, float(numbers.min()), float(numbers.max())) if numbers.numel() else (kind, 0.0, 0.0)


def reveal(value: Any, axis: int) -> None:
    """Makes the first and the last slot of a mask along ``axis`` say that there is something; other tensors stay."""
    if not isinstance(value, torch.Tensor) or not value.numel():
        return
    if value.dtype is torch.bool or bool(((value == 0) | (value == 1)).all()):
        value.select(axis, 0).fill_(1)
        value.select(axis, -1).fill_(1)


__all__ = [
    "TOLERANCES",
    "Difference",
    "differences",
    "range_of",
    "reveal",
    "tensors_differ",
    "tensors_in",
    "uncompared",
]
