"""Check that buckets can pad: each argument that grows is named, and the result says what of it is valid.

Before::

    def f(x: Tensor[B, S], mask: Tensor[S]):      # error: [bucket-without-return]
        bucket S in {64, 128} pad x with 0        # error: [unpadded-argument] `mask` grows too

What depends on the arguments (whether an optional one is there, which items a sequence has) is checked again
when a structure is served; here a pad that may name a tensor is taken to name it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..diagnostics import Report
from ..ir import (
    Alternative,
    AnyType,
    Attribute,
    Bucket,
    Dim,
    Drop,
    Ellipsis,
    Item,
    MappingType,
    ObjectType,
    OptionalType,
    Pad,
    Path,
    Rest,
    SequenceType,
    Signature,
    Step,
    TensorType,
    Type,
    Variadic,
)
from ..ir.padding import mentions, needs_return
from ..ir.walk import scalar_sizes, subtypes
from ..ir.write_sizes import write_dim


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor of a parameter: a step that is None stands for any index."""

    root: str
    steps: tuple[Step | None, ...]
    type: TensorType

    def __str__(self) -> str:
        return str(Path(self.root, tuple(Item(0) if step is None else step for step in self.steps)))

    def axes(self, variable: str) -> list[tuple[int, Dim]]:
        """Returns where the size stands."""
        return [(at, dim) for at, dim in enumerate(self.type.dims or ()) if mentions(dim, variable)]

    @property
    def is_open(self) -> bool:
        """Whether axes have no numbers yet."""
        return any(isinstance(dim, (Ellipsis, Variadic)) for dim in self.type.dims or ())

    def may_be_named(self, path: Path) -> bool:
        """Returns whether ``path`` names it, or a container around it."""
        pairs = zip(path.steps, self.steps, strict=False)
        shorter = len(path.steps) <= len(self.steps)
        return path.root == self.root and shorter and all(b is None or a == b for a, b in pairs)


def check_buckets(signature: Signature, report: Report) -> None:
    """Adds ``bucket-without-return``, ``unpadded-argument`` and ``wrong-pad`` findings."""
    tensors = [each for param in signature.params for each in _tensors(param.type, param.name, ())]
    for drop in (*signature.drops, *(drop for each in signature.alternatives for drop in each.drops)):
        _check_drop(drop, signature, report)
    for alternative in signature.alternatives:
        _check_result(signature, alternative, report)
        for bucket in alternative.buckets:
            if bucket.pads is None:
                continue
            for pad in bucket.pads:
                _check_pad(pad, bucket, signature, tensors, report)
            for tensor in tensors:
                _check_tensor(tensor, bucket, report)


def _check_result(signature: Signature, alternative: Alternative, report: Report) -> None:
    if not needs_return(signature, alternative):
        return
    bucket = next(bucket for bucket in alternative.buckets if bucket.pads is not None)
    report.error(
        "bucket-without-return",
        f"nothing says where the result has slots of `{bucket.variable}`",
        at=bucket.span or alternative.span,
        label="pads",
        help="claim a return type, `-> Tensor[…]`, or write `keep return` or `drop return`",
    )


def _check_drop(drop: Drop, signature: Signature, report: Report) -> None:
    word = "keep" if drop.keep else "drop"
    if drop.path.root != "return":
        if any(param.name == drop.path.root for param in signature.params):  # else `unknown-parameter` was told
            report.error(
                "wrong-pad",
                f"`{word} {drop.path}` is about an argument, and only results are cropped",
                at=drop.path.span or drop.span,
                help=f"write `{word} return`, `{word} return[1]` or `{word} return.name`",
            )
        return
    type_: Type | None = signature.returns
    for at, step in enumerate(drop.path.steps):
        type_ = type_.inner if isinstance(type_, OptionalType) else type_
        if type_ is None or isinstance(type_, AnyType):
            return
        found = _part(type_, step)
        if found is None:
            missing = Path("return", drop.path.steps[: at + 1])
            report.error(
                "wrong-pad",
                f"the return type has no `{missing}`",
                at=drop.path.span or drop.span,
                help="write the path of a result that it claims",
            )
            return
        type_ = found


def _part(type_: Type, step: Step) -> Type | None:
    """Returns what the type says of a part, `AnyType` where it is open, None where there is no such part."""
    match type_:
        case SequenceType(items=items, rest=rest, times=times):
            if not isinstance(step, Item) or not isinstance(step.key, int):
                return None
            if rest is Rest.REPEAT or times is not None:
                return items[step.key % len(items)] if items else AnyType()
            if -len(items) <= step.key < len(items) and (step.key >= 0 or rest is Rest.NONE):
                return items[step.key]
            return None if rest is Rest.NONE else AnyType()
        case MappingType(entries=entries):
            # keys that are not listed may be there
            return dict(entries).get(step.key, AnyType()) if isinstance(step, Item) else None
        case ObjectType(fields=fields):
            # a named tuple has indices too
            return dict(fields).get(step.name, AnyType()) if isinstance(step, Attribute) else AnyType()
        case _:
            return None


def _check_pad(pad: Pad, bucket: Bucket, signature: Signature, tensors: list[_Tensor], report: Report) -> None:
    names = {param.name for param in signature.params}
    if pad.path.root not in names and pad.path.root not in ("return", signature.receiver):
        return  # `unknown-parameter` was told
    mine = [tensor for tensor in tensors if tensor.may_be_named(pad.path)]
    found = [(tensor, axis) for tensor in mine for axis, _ in tensor.axes(bucket.variable)]
    scalars = any(
        pad.path.root == param.name and _holds_scalar(param.type, bucket.variable) for param in signature.params
    )
    if pad.path.root == "return":
        message, help_ = "a result is not padded", "write the type that it has; slots are taken out of it"
    elif not found and not scalars:
        message, help_ = f"`{pad.path}` does not hold `{bucket.variable}`", "delete this pad"
    elif found and pad.axis is not None and not any(t.is_open or pad.axis == axis for t, axis in found):
        dims = ", ".join(write_dim(dim) for dim in found[0][0].type.dims or ())
        message = f"axis {pad.axis} of `{found[0][0]}`, [{dims}], does not hold `{bucket.variable}`"
        help_ = "axes count from 0"
    else:
        return
    report.error("wrong-pad", message, at=pad.span or bucket.span, label="nothing to pad here", help=help_)


def _check_tensor(tensor: _Tensor, bucket: Bucket, report: Report) -> None:
    pads = [pad for pad in bucket.pads or () if tensor.may_be_named(pad.path)]
    for axis, _ in tensor.axes(bucket.variable):
        if not any(pad.axis is None or tensor.is_open or pad.axis == axis for pad in pads):
            where = f"`{tensor}`" if not pads else f"axis {axis} of `{tensor}`"
            report.error(
                "unpadded-argument",
                f"{where} grows with `{bucket.variable}`, and no pad names it",
                at=bucket.span,
                label=f"pads `{bucket.variable}`",
                also=[(tensor.type.span, f"holds `{bucket.variable}`")] if tensor.type.span is not None else [],
                help=f"add `{tensor}{f' axis {axis}' if pads else ''} with 0`, or what else new slots are to hold",
            )


def _tensors(type_: Type, root: str, steps: tuple[Step | None, ...]) -> Iterator[_Tensor]:
    match type_:
        case TensorType():
            yield _Tensor(root, steps, type_)
        case SequenceType(items=items, rest=rest, times=times):
            repeated = rest is Rest.REPEAT or times is not None
            for at, item in enumerate(items):
                yield from _tensors(item, root, (*steps, None if repeated else Item(at)))
        case MappingType(entries=entries):
            for key, entry in entries:
                yield from _tensors(entry, root, (*steps, Item(key)))
        case ObjectType(fields=fields):
            for name, field in fields:
                yield from _tensors(field, root, (*steps, Attribute(name)))
        case _:
            for inner in subtypes(type_):
                yield from _tensors(inner, root, steps)


def _holds_scalar(type_: Type, variable: str) -> bool:
    return any(mentions(size, variable) for size in scalar_sizes(type_))


__all__ = ["check_buckets"]
