"""What the arguments of a bucket are padded with, as far as their types say: ints and floats with 0, bools with false.

Before, of a bucket over S::

    def f(ids: int64[B, S], kvs: [Tensor[B, 4, S, 8], ...], mask: bool[B, S] | None = _, n: Scalar[S])

After::

    pad (ids with 0, kvs with 0, mask with false)

A guess that a padding check judges: no reason is invented why it should be sound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...ir import (
    Bucket,
    Fill,
    MappingType,
    ObjectType,
    OptionalType,
    Pad,
    Path,
    Rest,
    SequenceType,
    Signature,
    TensorType,
    Type,
    Var,
)
from ..profiles.calls import below


def bucket(signature: Signature, variable: str, members: tuple[int, ...], dtypes: Mapping[str, str]) -> Bucket:
    """Returns a bucket that pads every argument on which ``variable`` stands.

    Args:
        signature: The spec.
        variable: One that stands bare wherever it stands.
        members: Ascending.
        dtypes: The observed dtype of tensors by path, for what the spec leaves open.
    """
    pads: list[Pad] = []
    for param in signature.params:
        found = dict(_fills(param.type, Path(param.name), variable, dtypes))
        if len({repr(fill) for fill in found.values()}) == 1:  # a whole container at once
            found = {Path(param.name): next(iter(found.values()))}
        pads += [Pad(path, fill) for path, fill in found.items()]
    return Bucket(variable, members, pads=tuple(pads))


def _fills(type_: Type, path: Path, variable: str, dtypes: Mapping[str, str]) -> Iterator[tuple[Path, Fill]]:
    match type_:
        case TensorType(dims=dims, dtype=dtype):
            if dims is not None and any(isinstance(dim, Var) and dim.name == variable for dim in dims):
                name = dtypes.get(str(path), "") if dtype is None else dtype.name
                yield path, False if name == "bool" else 0
        case OptionalType(inner=inner):
            yield from _fills(inner, path, variable, dtypes)
        case SequenceType(items=items, rest=rest, times=times):
            inside = [fill for item in items for _, fill in _fills(item, below(path, 0), variable, dtypes)]
            if (rest is Rest.REPEAT or times is not None) and inside:
                yield path, inside[0]
                return
            for index, item in enumerate(items):
                yield from _fills(item, below(path, index), variable, dtypes)
        case MappingType(entries=entries):
            for key, item in entries:
                yield from _fills(item, below(path, key), variable, dtypes)
        case ObjectType(fields=fields):
            for name, item in fields:
                yield from _fills(item, below(path, name, attribute=True), variable, dtypes)
        case _:
            pass


__all__ = ["bucket"]
