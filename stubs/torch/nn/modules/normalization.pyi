"""``torch.nn.LayerNorm`` and ``torch.nn.GroupNorm``."""

# Dims tell overloads apart, and checkers see none.
# mypy: disable-error-code="overload-cannot-match"
# pyright: reportOverlappingOverload=false

from typing import Literal as L
from typing import overload

from shapedsl import Tensor, shapes

@shapes("""
const normalized_shape_len = _
const normalized_shape_0, normalized_shape_1, normalized_shape_2 = _
""")
class LayerNorm:
    @overload
    @shapes("where normalized_shape_len == 1")
    def forward(self, input: Tensor[L["*batch, normalized_shape_0"]]) -> Tensor[L["*batch, normalized_shape_0"]]: ...
    @overload
    @shapes("where normalized_shape_len == 2")
    def forward(
        self, input: Tensor[L["*batch, normalized_shape_0, normalized_shape_1"]]
    ) -> Tensor[L["*batch, normalized_shape_0, normalized_shape_1"]]: ...
    @overload
    @shapes("where normalized_shape_len == 3")
    def forward(
        self, input: Tensor[L["*batch, normalized_shape_0, normalized_shape_1, normalized_shape_2"]]
    ) -> Tensor[L["*batch, normalized_shape_0, normalized_shape_1, normalized_shape_2"]]: ...

# torch refuses to normalize a single value, and must see that there are more
@shapes("""
const num_channels, num_groups in [1, inf] = _
dim *spatial in [1, inf]
""")
class GroupNorm:
    @shapes("where B >= 1, B * (num_channels // num_groups) * prod(*spatial) != 1")
    def forward(self, input: Tensor[L["B, num_channels, *spatial"]]) -> Tensor[L["B, num_channels, *spatial"]]: ...
