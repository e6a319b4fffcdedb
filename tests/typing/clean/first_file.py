"""The first file of the documentation, as annotations."""

from shapedsl import Tensor, shapes, where
from shapedsl.dims import B, D


@shapes(hints={"B": 8, "D": 64})
@where(0 <= B, B <= 1024, B < 32)
def project(x: Tensor[B, D], w: Tensor["D", "D"]) -> Tensor[B, D]:
    return x @ w


@shapes(hints={"B": 8, "D": 64})
@where("0 <= B <= 1024", "B < 32")
def quoted(x: Tensor["B", "D"], w: Tensor[D, D]) -> Tensor["B", "D"]:
    return x.matmul(w)
