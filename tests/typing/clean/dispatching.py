"""What is dispatched, as users call it."""

import torch
from typing_extensions import assert_type  # of `typing` since 3.11

import shapedsl as sd
from shapedsl import Tensor
from shapedsl.dims import B, D


@sd.dispatch(backend="eager")
def total(x: Tensor[B, D], scale: float = 1.0) -> torch.Tensor:
    return x.sum(-1) * scale


class Net(torch.nn.Module):
    @sd.dispatch
    def step(self, x: Tensor[B, D]) -> torch.Tensor:
        return x

    def forward(self, x: Tensor[B, D]) -> torch.Tensor:
        return x.sum(-1)


assert_type(total(torch.zeros(3, 4), scale=2.0), torch.Tensor)
assert_type(total.explain(torch.zeros(3, 4)), str)
total.warm(examples=[(torch.zeros(3, 4),)], background=True).wait()
print(total.stats()["calls"], total.stats(), total.spec.name)


def crop(x: torch.Tensor, sizes: dict[str, int]) -> torch.Tensor:
    return x[: sizes["B"]]


served = sd.dispatch(Net(), "net.shapes:f", strict=True, unpad={"return[1]": crop})
served.eval()
served(torch.zeros(3, 4))
print(served.explain(torch.zeros(3, 4)), served.stats(), served.state_dict(), served.check_padding(n=2))
assert_type(sd.dispatch(crop, spec="net.shapes:crop")(torch.zeros(3), {"B": 2}), torch.Tensor)
