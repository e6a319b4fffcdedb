"""Convolutions of `torch.nn`.

The padding is read where torch keeps it in full, ``padding="same"`` included. What is padded by other means than zeros
needs more of its input (a reflection needs more than it reflects), so only zeros are described. An empty side is refused
by torch, however much it is padded.

On CPU, inductor cannot compile them with sizes that torch knows nothing of: pass ``lowering="backed"`` or ``"auto"`` to
``sd.compile``.
"""

# Dims tell overloads apart, and checkers see none.
# mypy: disable-error-code="overload-cannot-match"
# pyright: reportOverlappingOverload=false

from typing import Literal as L
from typing import overload

from shapedsl import Tensor, shapes

@shapes("""
const in_channels, out_channels, kernel_size_0, dilation_0 = _
const stride_0 in [1, inf] = _
const _reversed_padding_repeated_twice_0, _reversed_padding_repeated_twice_1 = _
let padded = T + _reversed_padding_repeated_twice_0 + _reversed_padding_repeated_twice_1
let window = dilation_0 * (kernel_size_0 - 1) + 1
let least = max(1, window - _reversed_padding_repeated_twice_0 - _reversed_padding_repeated_twice_1)
""")
class Conv1d:
    padding_mode: L["zeros"]

    @overload
    @shapes("where T >= least")
    def forward(
        self, input: Tensor[L["B, in_channels, T"]]
    ) -> Tensor[L["B, out_channels, (padded - window) // stride_0 + 1"]]: ...
    @overload
    @shapes("""
    "unbatched"
    where T >= least
    """)
    def forward(
        self, input: Tensor[L["in_channels, T"]]
    ) -> Tensor[L["out_channels, (padded - window) // stride_0 + 1"]]: ...

@shapes("""
const in_channels, out_channels, kernel_size_0, kernel_size_1, dilation_0, dilation_1 = _
const stride_0, stride_1 in [1, inf] = _
const _reversed_padding_repeated_twice_0, _reversed_padding_repeated_twice_1 = _
const _reversed_padding_repeated_twice_2, _reversed_padding_repeated_twice_3 = _
let padded_height = H + _reversed_padding_repeated_twice_2 + _reversed_padding_repeated_twice_3
let padded_width = W + _reversed_padding_repeated_twice_0 + _reversed_padding_repeated_twice_1
let window_height = dilation_0 * (kernel_size_0 - 1) + 1
let window_width = dilation_1 * (kernel_size_1 - 1) + 1
let least_height = max(1, window_height - _reversed_padding_repeated_twice_2 - _reversed_padding_repeated_twice_3)
let least_width = max(1, window_width - _reversed_padding_repeated_twice_0 - _reversed_padding_repeated_twice_1)
let height = (padded_height - window_height) // stride_0 + 1
let width = (padded_width - window_width) // stride_1 + 1
""")
class Conv2d:
    padding_mode: L["zeros"]

    @overload
    @shapes("where H >= least_height, W >= least_width")
    def forward(self, input: Tensor[L["B, in_channels, H, W"]]) -> Tensor[L["B, out_channels, height, width"]]: ...
    @overload
    @shapes("""
    "unbatched"
    where H >= least_height, W >= least_width
    """)
    def forward(self, input: Tensor[L["in_channels, H, W"]]) -> Tensor[L["out_channels, height, width"]]: ...

@shapes("""
const in_channels, out_channels, kernel_size_0, kernel_size_1, stride_0, stride_1, dilation_0, dilation_1 = _
const padding_0, padding_1, output_padding_0, output_padding_1 = _
let height = (H - 1) * stride_0 - 2 * padding_0 + dilation_0 * (kernel_size_0 - 1) + output_padding_0 + 1
let width = (W - 1) * stride_1 - 2 * padding_1 + dilation_1 * (kernel_size_1 - 1) + output_padding_1 + 1
""")
class ConvTranspose2d:
    padding_mode: L["zeros"]

    @overload
    @shapes("""
    where output_padding_0 < max(stride_0, dilation_0), output_padding_1 < max(stride_1, dilation_1)
    where H >= 1, W >= 1, height >= 1, width >= 1
    """)
    def forward(
        self, input: Tensor[L["B, in_channels, H, W"]], output_size: None = None
    ) -> Tensor[L["B, out_channels, height, width"]]: ...
    @overload
    @shapes("""
    "unbatched"
    where output_padding_0 < max(stride_0, dilation_0), output_padding_1 < max(stride_1, dilation_1)
    where H >= 1, W >= 1, height >= 1, width >= 1
    """)
    def forward(
        self, input: Tensor[L["in_channels, H, W"]], output_size: None = None
    ) -> Tensor[L["out_channels, height, width"]]: ...
