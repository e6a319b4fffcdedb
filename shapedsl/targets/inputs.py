"""Make the inputs of a call: tensors of given sizes, in the containers that a spec names.

Before::

    f(x: float32[B, D], ids: int64[B], mask: bool[B] | None): values ids in [0, V - 1]
    {"B": 2, "D": 3, "V": 10}

After::

    ((tensor([[0.3, …], …]), tensor([7, 2]), tensor([True, False])), {})

Where no dtype is said it is float32; of a family the most common one is taken: float32, int64, complex64. Data obey
``values`` clauses. Integers of which nothing is said are 0 and 1, which is valid for masks, labels and most ids.
Random numbers are drawn on the CPU, so that a seed gives the same data on every device.
"""

from __future__ import annotations

import copy
import dataclasses
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final, cast

from ..diagnostics import Report
from ..ir import (
    AnyType,
    Attribute,
    Dim,
    Dtype,
    Item,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Param,
    Path,
    ScalarType,
    SequenceType,
    Signature,
    Size,
    Static,
    TensorType,
    Type,
)
from ..ir.expanded import Expanded, Leaf
from ..ir.structure import INT64_MAX
from ..ir.walk import evaluate, free_vars
from ..runtime.example import positional
from ..runtime.valid import values_at
from .data import filled
from .tensors import torch_tensors

MOST: Final = 2**27  # elements of one call: half a gigabyte of float32

_COMMON: Final = {
    "floating": "float32",
    "integral": "int64",
    "complexfloating": "complex64",
    "number": "float32",
}
_ABSENT: Final = object()


def make(
    expanded: Expanded,
    sizes: Mapping[str, int],
    seed: int = 0,
    *,
    given: Mapping[str, Any] | None = None,
    like: Mapping[str, Any] | None = None,
    objects: Mapping[str, type] | None = None,
    device: Any = None,
    most: int = MOST,
    params: Sequence[Param] | None = None,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns ``(args, kwargs)`` of a call at one structure.

    Args:
        expanded: At that structure.
        sizes: Of every variable; `normalize.sampling` draws them.
        seed: Of the data.
        given: Parameter → the value that is passed as it is.
        like: Parameter → a value that what is static is copied from: dims ``_``, bare tensors, unlisted keys.
        objects: The class of an object, by the name that the spec calls it; else it is a ``SimpleNamespace``.
        device: Of the tensors; ``"meta"`` allocates nothing.
        most: How many elements all tensors may have together, on a device with memory.
        params: Of the spec, those too that this structure omits; without them what may go by keyword does, once
            one is omitted.

    Raises:
        ShapeError: ``too-many-elements``: they have more; ``missing-input``: something static is neither given nor
            copied; ``unsupported-by-torch``: no tensors of a dtype can be made.
    """
    maker = _Maker(expanded, sizes, seed, given or {}, like or {}, objects or {}, device)
    if not maker.meta:
        count = elements(expanded, sizes, given=given, like=like)
        if count > most:
            shown = ", ".join(f"{name} = {size}" for name, size in sorted(sizes.items()) if not name.startswith("?"))
            refuse(expanded.signature, count, most, f"at {shown}")
    arguments = {
        param.name: maker.given[param.name]
        if param.name in maker.given
        else maker.build(param.type, Path(param.name), maker.like.get(param.name, _ABSENT))
        for param in expanded.signature.params
    }
    if params is not None:
        return positional(params, arguments)
    structure = expanded.structure if isinstance(expanded.structure, tuple) else ()
    omitted = any(isinstance(part, tuple) and part[:1] == ("omitted",) for part in structure)
    return positional(expanded.signature.params, arguments, gap=omitted)


def elements(
    expanded: Expanded,
    sizes: Mapping[str, int],
    *,
    given: Mapping[str, Any] | None = None,
    like: Mapping[str, Any] | None = None,
) -> int:
    """Returns how many elements the tensors have that would be made.

    Args:
        expanded: At their structure.
        sizes: Of every variable.
        given: Parameters that are passed as they are: nothing is made for them.
        like: Parameter → where the sizes of dims ``_`` are taken from.
    """
    total = 0
    for leaf in expanded.leaves:
        if leaf.scalar or leaf.path.root in (given or ()):
            continue
        shape: list[int] = [
            _at(leaf.path, like or {}).shape[axis] if isinstance(dim, Static) else evaluate(_size(dim), sizes)
            for axis, dim in enumerate(leaf.dims)
        ]
        span = prod(max(size, 1) for size in shape)
        total += span if span > INT64_MAX else prod(shape)  # torch cannot even say so large a shape, empty or not
    return total


def refuse(signature: Signature, count: int, most: int, note: str) -> None:
    """Raises ``too-many-elements``."""
    report = Report()
    report.error(
        "too-many-elements",
        f"inputs of `{signature.name}` would have {count:,} elements; at most {most:,} are made",
        at=signature.span,
        note=note,
        help='give smaller sizes, pass `device="meta"` for tensors without data, or raise `most=`',
    )
    report.raise_errors()


@dataclass
class _Maker:
    expanded: Expanded
    sizes: Mapping[str, int]
    seed: int
    given: Mapping[str, Any]
    like: Mapping[str, Any]
    objects: Mapping[str, type]
    device: Any
    leaves: dict[Path, Leaf] = field(default_factory=dict[Path, Leaf])
    dtypes: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        import torch

        self.meta = self.device is not None and torch.device(self.device).type == "meta"
        self.generator = torch.Generator("cpu").manual_seed(self.seed % 2**63)
        self.leaves = {leaf.path: leaf for leaf in self.expanded.leaves}
        for leaf in self.expanded.leaves:  # `type F = floating` is the dtype of what is given
            source = {**self.like, **self.given}
            if leaf.dtype is not None and leaf.dtype.variable is not None and leaf.path.root in source:
                value = _at(leaf.path, source)
                if isinstance(value, torch.Tensor):
                    self.dtypes.setdefault(leaf.dtype.variable, value.dtype)

    # ------------------------------------------------------------------------------------ containers

    def build(self, type_: Type, path: Path, like: Any) -> Any:
        match type_:
            case TensorType():
                return self.tensor(type_, path, like)
            case ScalarType(size=size):
                return self.copied(like, path) if size is None else evaluate(size, self.sizes)
            case SequenceType(items=items, kind=kind):
                parts = [
                    self.build(item, _below(path, Item(at)), _part(like, Item(at))) for at, item in enumerate(items)
                ]
                if hasattr(type(like), "_fields") and isinstance(like, tuple):
                    return type(like)(*parts)
                return parts if kind == "list" else tuple(parts)
            case MappingType(entries=entries):
                mapping: Any = {} if like is _ABSENT else copy.copy(like)
                for key, inner in entries:
                    if like is not _ABSENT and key not in like:
                        continue  # an optional key
                    mapping[key] = self.build(inner, _below(path, Item(key)), _part(like, Item(key)))
                return mapping
            case ObjectType(fields=fields):
                values = {
                    name: self.build(inner, _below(path, Attribute(name)), _part(like, Attribute(name)))
                    for name, inner in fields
                }
                return self.object(type_, path, values, like)
            case NoneType():
                return None
            case OptionalType(inner=inner):
                return self.build(inner, path, like)
            case AnyType():
                return self.copied(like, path)

    def object(self, type_: ObjectType, path: Path, values: dict[str, Any], like: Any) -> Any:
        if like is not _ABSENT:
            try:
                return _changed(like, values)
            except (AttributeError, TypeError, ValueError) as error:
                self.no_object(type_, path, type(like), error)
        cls = self.objects.get(type_.name) or self.objects.get(type_.name.rpartition(".")[2])
        if cls is None:
            return types.SimpleNamespace(**values)
        try:
            return cls(**values)
        except TypeError as error:
            self.no_object(type_, path, cls, error)
            raise

    def no_object(self, type_: ObjectType, path: Path, cls: type, error: Exception) -> None:
        report = Report()
        report.error(
            "missing-input",
            f"no `{cls.__name__}` can be made for `{path}`: {error}",
            at=type_.span,
            help=f"pass `{path.root}=`, which is passed as it is",
        )
        report.raise_errors()

    def copied(self, like: Any, path: Path) -> Any:
        if like is not _ABSENT:
            return like
        report = Report()
        report.error("missing-input", f"`{path}` is static, so it must be given", at=path.span)
        report.raise_errors()
        return None

    # --------------------------------------------------------------------------------------- tensors

    def tensor(self, type_: TensorType, path: Path, like: Any) -> Any:
        import torch

        if type_.dims is None:
            return self.copied(like, path)
        shape: list[int] = []
        for axis, dim in enumerate(type_.dims):
            if isinstance(dim, Static):
                shape.append(self.copied(like, path).shape[axis])
            else:
                shape.append(evaluate(_size(dim), self.sizes))
        limits = self.limits(path)
        dtype = self.dtype(type_, like, bounded=limits is not None)
        try:
            if self.meta:
                return torch.empty(shape, dtype=dtype, device="meta")
            made = filled(shape, dtype, limits, self.generator)
        except (RuntimeError, NotImplementedError, TypeError) as error:
            report = Report()
            report.error(
                "unsupported-by-torch",
                f"no {str(dtype).removeprefix('torch.')} tensor of shape {shape} can be made for `{path}`",
                at=type_.span,
                note=str(error).partition("\n")[0],
                help=f"pass `{path.root}=`",
            )
            report.raise_errors()
            raise
        if like is not _ABSENT and self.device is None:
            return made.to(like.device)
        return made if self.device is None else made.to(self.device)

    def limits(self, path: Path) -> tuple[int, int, bool] | None:
        """Returns the least and the largest value at ``path``, and whether they are sorted between."""
        leaf = self.leaves.get(path)
        clauses = [] if leaf is None else values_at(self.expanded.signature, leaf)
        found: tuple[int, int, bool] | None = None
        for clause in clauses:
            if not {*free_vars(clause.low), *free_vars(clause.high)} <= self.sizes.keys():
                continue  # it speaks of a size that this structure lacks
            low, high = evaluate(clause.low, self.sizes), evaluate(clause.high, self.sizes)
            if found is not None:
                low, high = max(low, found[0]), min(high, found[1])
            found = low, high, clause.sorted or (found is not None and found[2])
        return found

    def dtype(self, type_: TensorType, like: Any, *, bounded: bool) -> Any:
        import torch

        declared = type_.dtype
        if declared is None:
            if like is not _ABSENT:
                return like.dtype
            return torch.int64 if bounded else torch.float32
        admitted = torch_tensors().dtypes.get(declared.name, frozenset())
        known = self.dtypes.get(declared.variable or "")
        if known is None and like is not _ABSENT and like.dtype in admitted:
            known = like.dtype
        if known is None:
            known = getattr(torch, _COMMON.get(declared.name, declared.name), None)
        if known is None:
            _refuse_dtype(declared, type_)
        if declared.variable is not None:
            self.dtypes.setdefault(declared.variable, known)
        return known


def _refuse_dtype(declared: Dtype, type_: TensorType) -> None:
    report = Report()
    report.error("unsupported-by-torch", f"this torch has no dtype {declared.name}", at=type_.span)
    report.raise_errors()


def _size(dim: Dim) -> Size:
    return cast("Size", dim)  # an expanded type has sizes and `_` only


def _below(path: Path, step: Attribute | Item) -> Path:
    return Path(path.root, (*path.steps, step))


def _part(value: Any, step: Attribute | Item) -> Any:
    if value is _ABSENT:
        return _ABSENT
    if isinstance(step, Attribute):
        return getattr(value, step.name)
    return value.get(step.key, _ABSENT) if isinstance(value, Mapping) else value[step.key]


def _at(path: Path, values: Mapping[str, Any]) -> Any:
    value = values[path.root]
    for step in path.steps:
        value = _part(value, step)
    return value


def _changed(value: Any, fields: Mapping[str, Any]) -> Any:
    """Returns a copy of an object with other attributes."""
    if hasattr(type(value), "_replace") and isinstance(value, tuple):
        return value._replace(**fields)  # type: ignore[attr-defined]  # a namedtuple
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **fields)
    changed = copy.copy(value)
    for name, part in fields.items():
        setattr(changed, name, part)
    return changed


__all__ = ["MOST", "elements", "make", "refuse"]
