"""``torchvision.models.ResNet``.

Batch normalization refuses to train on a single value, so a batch of one image is for ``eval()`` only.
"""

from typing import overload

from shapedsl import Tensor, shapes
from shapedsl.dims import B, H, W, conv1_in_channels, fc_out_features

@shapes("const conv1_in_channels, fc_out_features, training = _")
class ResNet:
    @overload
    @shapes("where training == 0, B >= 1, H >= 1, W >= 1")
    def forward(self, x: Tensor[B, conv1_in_channels, H, W]) -> Tensor[B, fc_out_features]: ...
    @overload
    @shapes("where training == 1, B >= 2, H >= 1, W >= 1")
    def forward(self, x: Tensor[B, conv1_in_channels, H, W]) -> Tensor[B, fc_out_features]: ...
