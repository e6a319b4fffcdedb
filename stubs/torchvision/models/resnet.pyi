"""``torchvision.models.ResNet``.

Batch normalization refuses to train on a single value, so a batch of one image is for ``eval()`` only.
"""

# Dims tell overloads apart, and checkers see none.
# mypy: disable-error-code="overload-cannot-match"
# pyright: reportOverlappingOverload=false

from typing import Literal as L
from typing import overload

from shapedsl import Tensor, shapes

@shapes("const conv1_in_channels, fc_out_features, training = _")
class ResNet:
    @overload
    @shapes("where training == 0, B >= 1, H >= 1, W >= 1")
    def forward(self, x: Tensor[L["B, conv1_in_channels, H, W"]]) -> Tensor[L["B, fc_out_features"]]: ...
    @overload
    @shapes("where training == 1, B >= 2, H >= 1, W >= 1")
    def forward(self, x: Tensor[L["B, conv1_in_channels, H, W"]]) -> Tensor[L["B, fc_out_features"]]: ...
