"""``torch.nn.Linear``."""

from typing import Literal as L

from shapedsl import Tensor, shapes

@shapes("const in_features, out_features = _")
class Linear:
    def forward(self, input: Tensor[L["*batch, in_features"]]) -> Tensor[L["*batch, out_features"]]: ...
