"""To a type checker, what is annotated with a shape is a `torch.Tensor`: nothing is lost, nothing has to be cast."""

from collections.abc import Callable
from typing import Annotated
from typing import Literal as L

import torch
from shapedsl import Scalar, Tensor, shapes, where
from shapedsl.dims import B, D
from shapedsl.dtypes import floating, int64
from typing_extensions import assert_type  # noqa: UP035  # of `typing` since 3.11


def typed(x: torch.Tensor) -> torch.Tensor:
    """A function of somebody who knows nothing of shapes."""
    return x


def several(xs: list[torch.Tensor]) -> int:
    """Lists are invariant: their items must be the very same type."""
    return len(xs)


def called(function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
    """Takes a function that was decorated."""
    assert_type(function(torch.zeros(2, 2), torch.zeros(2, 2)), torch.Tensor)


@shapes(hints={"B": 8})
@where(B < 32)
def project(x: Tensor[B, D], w: Tensor["D", "D"]) -> Tensor[B, D]:
    assert_type(x, torch.Tensor)
    assert_type(w, torch.Tensor)
    assert_type(x @ w, torch.Tensor)
    assert_type(x.sum(dim=-1, keepdim=True), torch.Tensor)
    assert_type(torch.cat([x, w]), torch.Tensor)
    variable: torch.Tensor = x
    variable = w + 1
    x = typed(variable)
    several([x, w, variable])
    names: dict[str, torch.Tensor] = {"x": x}
    return names["x"]


@shapes
def others(
    ids: int64[B],
    table: floating[D, L[64]],
    plain: Annotated[torch.Tensor, "B, D"],
    bare: Tensor,
    last: Scalar[B],
) -> floating:
    assert_type(ids, torch.Tensor)
    assert_type(table, torch.Tensor)
    assert_type(plain, torch.Tensor)
    assert_type(bare, torch.Tensor)
    assert_type(last, int)
    assert_type(table[ids], torch.Tensor)
    return table[: last + 1]


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(64, 64)
        self.scale = torch.nn.Parameter(torch.ones(64))

    @shapes("where B >= 1")
    def forward(self, x: Tensor[B, L[64]]) -> Tensor[B, L[64]]:
        hidden: torch.Tensor = self.linear(x)
        return torch.nn.functional.relu(hidden) * self.scale

    @shapes(check=True)
    def both(self, x: Tensor[B, L[64]], y: "Tensor[B, L[64]]") -> tuple[Tensor[B], Tensor[B]]:
        return self.forward(x).sum(-1), y.sum(-1)


assert_type(project(torch.zeros(2, 2), torch.zeros(2, 2)), torch.Tensor)
zeros = torch.zeros(2, dtype=torch.int64)
assert_type(others(zeros, zeros, zeros, zeros, last=3), torch.Tensor)
assert_type(Net().forward(torch.zeros(2, 64)), torch.Tensor)
assert_type(Net().both(torch.zeros(2, 64), torch.zeros(2, 64)), tuple[torch.Tensor, torch.Tensor])
result: torch.Tensor = Net()(torch.zeros(2, 64))
called(project)
