"""Which dtypes a tensor may have, and which tensors must have the same one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from ...ir import (
    Attribute,
    Dtype,
    Item,
    MappingType,
    ObjectType,
    OptionalType,
    Param,
    Path,
    SequenceType,
    TensorType,
    Type,
)
from ...ir.dtypes import DTYPES
from .changes import Change, Effect, changed

_PREFIXES = {
    "floating": ("float", "bfloat"),
    "complexfloating": ("complex", "bcomplex"),
    "integral": ("int", "uint"),  # bool is a dtype of its own; qint8 and bits8 are no numbers
}


@cache
def members(name: str | None) -> frozenset[str]:
    """Returns the dtypes that a name admits; all of them for None."""
    if name is None:
        return DTYPES
    if name == "number":
        return members("floating") | members("complexfloating") | members("integral")
    if name in _PREFIXES:
        return frozenset(dtype for dtype in DTYPES if dtype.startswith(_PREFIXES[name]))
    return frozenset((name,))


def dtype_changes(old: tuple[Param, ...], new: tuple[Param, ...]) -> Iterator[Change]:
    """Yields what changed in the dtypes of parameters at one structure."""
    was, now = ({path: tensor for p in side for path, tensor in _tensors(p.type, Path(p.name))} for side in (old, new))
    shared = [path for path in was if path in now]
    for path in shared:
        before, after = was[path].dtype, now[path].dtype
        admitted, admits = (members(None if each is None else each.name) for each in (before, after))
        if admitted != admits:
            effect = Effect.GAINED if admitted < admits else Effect.LOST if admits < admitted else Effect.EXCHANGED
            message = f"`{path}` takes {written(after)}, it took {written(before)}"
            yield _changed(path, effect, message, was, now)
    for mine, other, effect, verb in (
        (now, was, Effect.LOST, "must have the dtype of"),
        (was, now, Effect.GAINED, "need no longer have the dtype of"),
    ):
        linked: dict[str, str] = {}
        for path in shared:
            dtype = mine[path].dtype
            if dtype is None or dtype.variable is None:
                continue
            anchor = linked.setdefault(dtype.variable, path)
            if anchor != path and not _same(other[path].dtype, other[anchor].dtype):
                yield _changed(path, effect, f"`{path}` {verb} `{anchor}`", was, now)


def _changed(
    path: str, effect: Effect, message: str, old: Mapping[str, TensorType], new: Mapping[str, TensorType]
) -> Change:
    texts = written(old[path].dtype), written(new[path].dtype)
    return changed("dtype", path, effect, message, texts=texts, spans=(old[path].span, new[path].span))


def _same(first: Dtype | None, second: Dtype | None) -> bool:
    """Whether two tensors always have one dtype."""
    if first is None or second is None:
        return False
    if first.variable is not None and first.variable == second.variable:
        return True
    return first.name == second.name and len(members(first.name)) == 1


def _tensors(type_: Type, path: Path) -> Iterator[tuple[str, TensorType]]:
    def at(step: Attribute | Item) -> Path:
        return Path(path.root, (*path.steps, step))

    match type_:
        case TensorType():
            yield str(path), type_
        case SequenceType(items=items):
            for index, item in enumerate(items):
                yield from _tensors(item, at(Item(index)))
        case MappingType(entries=entries):
            for key, entry in entries:
                yield from _tensors(entry, at(Item(key)))
        case ObjectType(fields=fields):
            for name, inner in fields:
                yield from _tensors(inner, at(Attribute(name)))
        case OptionalType(inner=inner):
            yield from _tensors(inner, path)
        case _:
            pass


def written(dtype: Dtype | None) -> str:
    """Returns how a dtype reads; ``any dtype`` where none is demanded."""
    if dtype is None:
        return "any dtype"
    return f"{dtype.variable} (a {dtype.name})" if dtype.variable else dtype.name
