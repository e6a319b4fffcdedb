"""Every spelling that the documentation calls clean, in its order."""

from __future__ import annotations

from typing import Annotated, Optional
from typing import Literal as L

import torch
from shapedsl import Scalar, Shape, Tensor, shapes, where
from shapedsl.dims import B, D, S, cdiv
from shapedsl.dtypes import floating, int64
from torch import nn


@shapes
def names(x: Tensor[B, S], y: Tensor[B, S]) -> Tensor:
    return x + y


@shapes()
def expressions(x: Tensor[B, L["2*B+1"], L[3], L["_"]], y: Tensor[L["*batch, D, 2*D"]]) -> torch.Tensor:
    return x.sum() + y.sum()


@shapes
@where((B < 32) | (D % 8 == 0), ~(B == 3) & (2 * B + 1 <= D), cdiv(B, 8) < 3)
def metadata(
    x: Annotated[torch.Tensor, "B, D"],
    y: Annotated[torch.Tensor, Shape["B", "D"], where("B < 32"), torch.float32],
) -> Annotated[torch.Tensor, "B, D"]:
    return x + y


@shapes
def dtypes(ids: int64[B, S], x: floating[B, L[1]], n: Scalar[B], m: Scalar) -> floating:
    return x[: n + m] + ids


@shapes("case B == 1 hint B = 1\notherwise hint B = 7")
def clauses(x: Tensor[B]) -> Tensor[B]:
    return x


@shapes(x="B, D", w=Tensor[D, D], returns="B, D", where=["B < 32", D < 8], params={"where": "B"}, consts={"HD": 128})
def keywords(x: torch.Tensor, w: torch.Tensor, where: torch.Tensor | None = None) -> torch.Tensor:
    return x @ w if where is None else where


@shapes
def optional(x: Tensor[B] | None, y: Optional[Tensor[B]] = None) -> Tensor[B]:  # noqa: UP045
    if x is None:
        assert y is not None
        return y
    return x


@shapes
def containers(xs: list[Tensor[B]], pair: tuple[Tensor[B], int64[S]], *args: Tensor[B], **kwargs: Tensor[D]) -> Tensor:
    return xs[0] + pair[0] + args[0] + kwargs["x"]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3))

    @shapes(attach=False)
    def forward(self, x: Tensor[B, L[3]]) -> Tensor[B]:
        return (x * self.weight).sum(-1)


def use(x: torch.Tensor, net: Net) -> torch.Tensor:
    """The decorated functions keep their types."""
    result: torch.Tensor = names(x, y=x)
    number: int = 3
    dtypes(x, x, number, m=number)
    return net.forward(result)
