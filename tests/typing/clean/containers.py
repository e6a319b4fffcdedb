"""Containers of annotated tensors: fields, keys and items are tensors to a type checker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import partial, wraps
from typing import Annotated, Any, ClassVar, NamedTuple
from typing import Literal as L

import torch
from shapedsl import Scalar, Shape, Tensor, shapes, where
from shapedsl.dims import B, D, H, T
from shapedsl.dtypes import int64
from typing_extensions import (  # noqa: UP035  # of `typing` since 3.11, and 3.13
    NotRequired,
    ReadOnly,
    Required,
    Self,
    TypedDict,
    Unpack,
    assert_type,
)


class Options(TypedDict, total=False):
    mask: Required[Tensor[B, T]]
    bias: NotRequired[Tensor[T]]
    ids: Required[ReadOnly[int64[B]]]


class Pair(NamedTuple):
    key: Tensor[B, H, T]
    value: Tensor[B, H, T] | None = None


@dataclass
class Batch:
    kind: ClassVar[str] = "text"
    ids: int64[B, T]
    seed: InitVar[int]
    past: list[Pair] = field(default_factory=list[Pair])
    note: str = ""

    @shapes
    def with_ids(self, ids: int64[B, T]) -> Self:
        self.ids = ids
        return self


@shapes
def every(
    batch: Batch,
    pair: tuple[Tensor[B], Tensor[D]],
    layers: Annotated[list[Pair], 12],
    several: Sequence[Tensor[B, D]],
    named: Mapping[str, Tensor[B]],
    table: dict[str, Tensor[D]],
    maybe: Annotated[torch.Tensor | None, Shape["B", "D"], where("B < 32")] = None,
    *rest: Tensor[B],
    count: Scalar[B] = 1,
    **options: Unpack[Options],
) -> tuple[Tensor[B], Batch]:
    assert_type(batch.ids, torch.Tensor)
    assert_type(batch.past[0].key, torch.Tensor)
    assert_type(batch.past[0].value, torch.Tensor | None)
    assert_type(pair, tuple[torch.Tensor, torch.Tensor])
    assert_type(layers[count].key, torch.Tensor)
    assert_type(several[0] @ table["w"], torch.Tensor)
    assert_type(named["x"], torch.Tensor)
    assert_type(rest[0], torch.Tensor)
    assert_type(options["mask"], torch.Tensor)
    x = maybe if maybe is not None else options.get("bias", pair[0])
    return x + options["ids"], batch.with_ids(batch.ids)


def logged(function: Any) -> Any:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@shapes("dim B in [1, 64]\nconst hidden = _")
class Net(torch.nn.Module):
    @shapes(attach=False, consts={"hidden": None})
    def forward(self, x: Tensor[B, L["hidden"]], batch: Batch | None = None) -> Tensor[B, L["hidden"]]:
        return x if batch is None else self.add(x, batch.ids)

    @logged
    @shapes
    def other(self, x: Tensor[B, L["hidden"]]) -> Tensor[B]:
        return x.sum(-1)

    @shapes
    def add(self, x: Tensor[B, L["hidden"]], y: int64[B, T]) -> Tensor[B]:
        return x + y


class Child(Net):
    def forward(self, x: Tensor[B, L["hidden"]], batch: Batch | None = None) -> Tensor[B, L["hidden"]]:
        return super().forward(x * 2, batch)


bound = partial(Net().add, y=torch.zeros(2, 3))
assert_type(Net().add(torch.zeros(2), torch.zeros(2)), torch.Tensor)
assert_type(Child().forward(torch.zeros(2)), torch.Tensor)
