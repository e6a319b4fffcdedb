"""Run a callable so that nothing of the run is left behind, and compare two runs.

Every run gets clones of its arguments and the same random numbers; what it changes (a module's buffers
and attributes) is noted and put back. Gradients are off.

After, for a padded run cut back to the sizes of the plain one::

    return[0]             largest error 3e-7 of 96 numbers
    return[1]             largest error 0.27 of 64 numbers
    buffer norm.running_mean   largest error 0.11 of 8 numbers
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import torch
from torch.utils import _pytree as pytree

from ..ir import Attribute, Item, Path

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
        count: How many numbers were compared.
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


@dataclass(slots=True)
class Run:
    """What one run did.

    Attributes:
        result: What it returned.
        error: What it raised instead.
        arguments: The arguments, as the run left them.
        buffers: A module's buffers after the run, where they changed.
        attributes: Names of other tensors that a module holds and that the run changed.
        drew: Whether it drew random numbers.
    """

    result: Any = None
    error: Exception | None = None
    arguments: Any = None
    buffers: dict[str, Any] = field(default_factory=dict[str, Any])
    attributes: tuple[str, ...] = ()
    drew: bool = False


class Bench:
    """Where one callable is run."""

    def __init__(self, target: Callable[..., Any]) -> None:
        self.modules = dict(_modules(target))

    def run(self, call: Callable[[Any], Any], arguments: Any) -> Run:
        """Returns what ``call`` did with clones of ``arguments``.

        Args:
            call: Takes the arguments as one object.
            arguments: Any nesting of containers; they stay as they are.
        """
        given = cloned(arguments)
        kept = [(name, module, _Kept(module)) for name, module in self.modules.items()]
        done = Run(arguments=given)
        before = random.getstate()
        devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
        with torch.random.fork_rng(devices=devices), torch.no_grad():
            torch.manual_seed(0)
            random.seed(0)
            seeded = torch.get_rng_state()
            try:
                done.result = cloned(call(given))
            except Exception as error:  # the user's code may raise anything
                done.error = error
            finally:
                done.drew = not torch.equal(seeded, torch.get_rng_state())
                random.setstate(before)
                attributes: list[str] = []
                for name, module, state in kept:
                    buffers, others = state.changed(module)
                    prefix = f"{name}." if name else ""
                    done.buffers.update({f"{prefix}{key}": value for key, value in buffers.items()})
                    attributes += [f"{prefix}{key}" for key in others]
                    state.restore(module)
                done.attributes = tuple(attributes)
        return done


class _Kept:
    """A module's own state, without its submodules' and its parameters' numbers."""

    def __init__(self, module: torch.nn.Module) -> None:
        self.entries = {key: _shallow(value) for key, value in vars(module).items()}
        self.tensors = [(tensor, tensor.detach().clone()) for tensor in _tensors(module)]

    def changed(self, module: torch.nn.Module) -> tuple[dict[str, Any], list[str]]:
        """Returns the buffers, and the names of the attributes, that are not as they were."""
        known = {id(tensor): copy for tensor, copy in self.tensors}
        buffers: dict[str, Any] = {}
        for name, buffer in module.named_buffers(recurse=False):
            if not _equal(buffer, known.get(id(buffer))):
                buffers[name] = buffer.detach().clone()
        attributes = [
            name
            for name, value in vars(module).items()
            if isinstance(value, torch.Tensor) and not _equal(value, known.get(id(value)))
        ]
        return buffers, attributes

    def restore(self, module: torch.nn.Module) -> None:
        """Puts everything back."""
        state = vars(module)
        state.clear()
        state.update({key: _shallow(value) for key, value in self.entries.items()})
        for tensor, numbers in self.tensors:
            if not _equal(tensor, numbers):
                tensor.detach().resize_(numbers.shape).copy_(numbers)


def _shallow(value: Any) -> Any:
    return copy.copy(value) if isinstance(value, (dict, list, set)) else value


def _tensors(module: torch.nn.Module) -> Iterator[torch.Tensor]:
    yield from (buffer for buffer in module.buffers(recurse=False))
    for value in vars(module).values():
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):  # a cache
            yield from (item for item in value if isinstance(item, torch.Tensor))


def _equal(one: torch.Tensor, other: torch.Tensor | None) -> bool:
    if other is None or one.shape != other.shape or one.dtype != other.dtype:
        return False
    one = one.detach()
    return bool(((one == other) | ((one != one) & (other != other))).all())  # NaN is NaN


def _modules(target: Any) -> Iterator[tuple[str, torch.nn.Module]]:
    """Yields the modules that ``target`` is, or is a method of, with their names."""
    while isinstance(target, functools.partial):
        target = target.func
    for owner in (target, getattr(target, "__self__", None)):
        if isinstance(owner, torch.nn.Module):
            yield from owner.named_modules()
            return
    for cell in getattr(target, "__closure__", None) or ():
        try:
            held = cell.cell_contents
        except ValueError:  # empty
            continue
        if isinstance(held, torch.nn.Module):
            yield from held.named_modules()


def cloned(value: Any) -> Any:
    """Returns ``value`` with every tensor in it cloned, and every container copied. Tensors share nothing afterwards."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, tuple):
        items = [cloned(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items) if type(value) is tuple else value
    if type(value) is list:
        return [cloned(item) for item in value]
    if type(value) is dict:
        return {key: cloned(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        made = copy.copy(value)
        for each in dataclasses.fields(value):
            object.__setattr__(made, each.name, cloned(getattr(value, each.name, None)))
        return made
    if not pytree.tree_is_leaf(value):
        return pytree.tree_map(cloned, value)
    if hasattr(value, "__dict__") and not isinstance(value, (type, torch.nn.Module)) and not callable(value):
        made = copy.copy(value)
        vars(made).update({key: cloned(item) for key, item in vars(value).items()})
        return made
    return value


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


# ------------------------------------------------------------------------------------- comparing


def differences(
    reference: Run, other: Run, ignored: Collection[Path], *, arguments: bool = True
) -> Iterator[Difference]:
    """Yields how two runs differ, an output at a time; both returned.

    Args:
        reference: The run that is right.
        other: The run that should agree.
        ignored: Outputs that are not compared.
        arguments: Whether what they left in their arguments is compared.
    """
    yield from _compare(Path("return"), reference.result, other.result, frozenset(map(str, ignored)))
    if arguments:
        for name in reference.arguments:
            for each in _compare(Path(name), reference.arguments[name], other.arguments[name], frozenset()):
                yield replace(each, path=f"argument {each.path}")
    for name in sorted({*reference.buffers, *other.buffers}):
        if name in reference.buffers and name in other.buffers:
            for each in _compare(Path(name), reference.buffers[name], other.buffers[name], frozenset()):
                yield replace(each, path=f"buffer {each.path}")
        else:
            what = "changes in one run only"
            yield Difference(f"buffer {name}", math.inf, math.inf, 0.0, 0, what)


def uncompared(value: Any, path: Path | None = None) -> Iterator[str]:
    """Yields the parts of a result that cannot be compared, with their kinds."""
    path = Path("return") if path is None else path
    children = _children(value)
    if children is not None:
        for step, child in children:
            yield from uncompared(child, replace(path, steps=(*path.steps, step)))
    elif not isinstance(value, (torch.Tensor, bool, int, float, complex, str, bytes, type(None))):
        yield f"`{path}` ({type(value).__name__})"


def _children(value: Any) -> Sequence[tuple[Item | Attribute, Any]] | None:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        names: Sequence[str] = getattr(value, "_fields")  # noqa: B009 - a tuple has none for a type checker
        return [(Attribute(name), getattr(value, name)) for name in names]
    if isinstance(value, (list, tuple)):
        return [(Item(at), item) for at, item in enumerate(value)]
    if isinstance(value, dict) and not dataclasses.is_dataclass(value):
        return [(Item(key if isinstance(key, int) else str(key)), item) for key, item in value.items()]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(Attribute(each.name), getattr(value, each.name, None)) for each in dataclasses.fields(value)]
    if isinstance(value, (torch.Tensor, bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device)):
        return None
    if not pytree.tree_is_leaf(value):
        flat = pytree.tree_flatten_with_path(value)[0]
        return [(Item(pytree.keystr(keys)), item) for keys, item in flat]
    if hasattr(value, "__dict__") and not callable(value):
        return [(Attribute(name), item) for name, item in vars(value).items()]
    return None


def _compare(path: Path, one: Any, other: Any, ignored: frozenset[str]) -> Iterator[Difference]:
    if str(path) in ignored:
        return
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        yield _tensors_differ(str(path), one, other)
        return
    first, second = _children(one), _children(other)
    if first is not None and second is not None:
        if [step for step, _ in first] != [step for step, _ in second]:
            yield _apart(path, f"holds {len(first)} parts, and padded {len(second)}")
            return
        for (step, child), (_, its) in zip(first, second, strict=True):
            yield from _compare(replace(path, steps=(*path.steps, step)), child, its, ignored)
    elif isinstance(one, (bool, int, float, complex)) and type(one) is type(other):
        yield _tensors_differ(str(path), torch.tensor(one), torch.tensor(other))
    elif isinstance(one, (str, bytes, type(None))) and type(one) is type(other):
        if one != other:
            yield _apart(path, f"is {one!r:.40}, and padded {other!r:.40}")
    elif type(one) is not type(other):
        yield _apart(path, f"is {_kind(one)}, and padded {_kind(other)}")


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _apart(path: Path, what: str) -> Difference:
    return Difference(str(path), math.inf, math.inf, 0.0, 0, what)


def _tensors_differ(path: str, one: torch.Tensor, other: torch.Tensor) -> Difference:
    if one.shape != other.shape:
        what = f"has shape {tuple(one.shape)}, and padded {tuple(other.shape)}"
        return Difference(path, math.inf, math.inf, 0.0, 0, what)
    if one.dtype != other.dtype:
        return Difference(path, math.inf, math.inf, 0.0, 0, f"is {one.dtype}, and padded {other.dtype}")
    if one.is_sparse or one.layout != torch.strided:
        one, other = one.to_dense(), other.to_dense()
    count = one.numel()
    if not (one.is_floating_point() or one.is_complex()):
        wrong = int((one != other).sum())
        return Difference(path, wrong / count if wrong else 0.0, float(_gap(one, other)) if wrong else 0.0, 0.0, count)
    tolerance = TOLERANCES.get(one.dtype, _COARSE)
    if not count:
        return Difference(path, 0.0, 0.0, tolerance, 0)
    wide = torch.complex128 if one.is_complex() else torch.float64
    a, b = one.to(wide), other.to(wide)
    sound = torch.isfinite(a)
    same = sound & torch.isfinite(b)
    agreed = same | (a == b) | (torch.isnan(a) & torch.isnan(b))
    finite = bool(agreed.all())
    absolute = error = 0.0
    if bool(same.any()):
        size = a[same].abs()
        usual = size[size > 0].median() if bool((size > 0).any()) else size.new_zeros(())
        gaps = (a - b)[same].abs()
        absolute = float(gaps.max())
        error = float((gaps / torch.maximum(size, usual.clamp(min=_FLOOR))).max())
    if not finite:
        broken = bool(torch.isnan(b[~agreed]).any())
        what = "becomes NaN" if broken else "becomes infinite" if bool(sound[~agreed].any()) else "becomes finite"
        return Difference(path, math.inf, math.inf, tolerance, count, what, finite=bool((~sound[~agreed]).all()))
    return Difference(path, error, absolute, tolerance, int(sound.sum()))


def _gap(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one.to(torch.float64) - other.to(torch.float64)).abs().max())


__all__ = ["TOLERANCES", "Bench", "Difference", "Run", "cloned", "differences", "range_of", "reveal", "uncompared"]
