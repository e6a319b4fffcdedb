"""What is dispatched, as users call it."""

import shapedsl as sd
import torch
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


summed: torch.Tensor = total(torch.zeros(3, 4), scale=2.0)
told: str = total.explain(torch.zeros(3, 4))
total.warm(examples=[(torch.zeros(3, 4),)], background=True).wait()
print(summed, told, total.stats()["calls"], total.stats(), total.spec.name)


def crop(x: torch.Tensor, sizes: dict[str, int]) -> torch.Tensor:
    return x[: sizes["B"]]


def serve(path: str) -> None:
    """Is not called: there is no such file."""
    served = sd.dispatch(Net(), path, strict=True, unpad={"return[1]": crop})
    served.eval()
    served(torch.zeros(3, 4))
    print(served.explain(torch.zeros(3, 4)), served.stats(), served.state_dict(), served.check_padding(n=2))
    cropped: torch.Tensor = sd.dispatch(crop, spec=path)(torch.zeros(3), {"B": 2})
    print(cropped)
