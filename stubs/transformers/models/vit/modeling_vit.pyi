"""``ViTModel``.

- ``forward``: images of the size that the position table is made for.
- ``forward@2``: images of other sizes, with ``interpolate_pos_encoding=True``. The model asks whether there are as many
  patches as in a native image, so these have another number.

A side that is no multiple of ``patch_size`` loses the rest.
"""

# Dims tell overloads apart, and checkers see none.
# mypy: disable-error-code="overload-cannot-match"

from dataclasses import dataclass
from typing import Any, overload
from typing import Literal as L

from shapedsl import shapes
from shapedsl.dtypes import floating

@dataclass
class BaseModelOutputWithPooling:
    last_hidden_state: floating[L["B, patches + 1, hidden_size"]]

@shapes("""
const num_channels, image_size, hidden_size = _
const patch_size in [1, inf] = _
let patches = (H // patch_size) * (W // patch_size)
let native = (image_size // patch_size) * (image_size // patch_size)
where B >= 1
""")
class ViTModel:
    return_dict: L[True]

    @overload
    @shapes("let patches = native")
    def forward(
        self, pixel_values: floating[L["B, num_channels, image_size, image_size"]], **kwargs: Any
    ) -> BaseModelOutputWithPooling: ...
    @overload
    @shapes("where H >= patch_size, W >= patch_size, patches != native")
    def forward(
        self, pixel_values: floating[L["B, num_channels, H, W"]], *, interpolate_pos_encoding: bool, **kwargs: Any
    ) -> BaseModelOutputWithPooling: ...
