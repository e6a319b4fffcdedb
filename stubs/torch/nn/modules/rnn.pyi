"""``torch.nn.LSTM`` and ``torch.nn.GRU``.

torch unrolls them, so the length is static: each gives a graph of its own. ``torch.compile`` takes them only under
``torch._dynamo.config.allow_rnn = True``.
"""

# Dims tell overloads apart, and checkers see none.
# mypy: disable-error-code="overload-cannot-match"
# pyright: reportOverlappingOverload=false

from typing import Literal as L
from typing import overload

from shapedsl import Tensor, shapes

# a projection, where there is one, takes the place of the hidden state
@shapes("""
const input_size, hidden_size, num_layers, bidirectional, batch_first, proj_size = _
const T in [1, inf] = _
let H = hidden_size
let projected = proj_size + (1 - min(proj_size, 1)) * hidden_size
let runs = (1 + bidirectional) * num_layers
let output = (1 + bidirectional) * projected
""")
class LSTM:
    @overload
    @shapes("where batch_first == 1, B >= 1")
    def forward(
        self,
        input: Tensor[L["B, T, input_size"]],
        hx: tuple[Tensor[L["runs, B, projected"]], Tensor[L["runs, B, H"]]] | None = None,
    ) -> tuple[Tensor[L["B, T, output"]], tuple[Tensor[L["runs, B, projected"]], Tensor[L["runs, B, H"]]]]: ...
    @overload
    @shapes("where batch_first == 0, B >= 1")
    def forward(
        self,
        input: Tensor[L["T, B, input_size"]],
        hx: tuple[Tensor[L["runs, B, projected"]], Tensor[L["runs, B, H"]]] | None = None,
    ) -> tuple[Tensor[L["T, B, output"]], tuple[Tensor[L["runs, B, projected"]], Tensor[L["runs, B, H"]]]]: ...

@shapes("""
const input_size, hidden_size, num_layers, bidirectional, batch_first = _
const T in [1, inf] = _
let H = hidden_size
let runs = (1 + bidirectional) * num_layers
let output = (1 + bidirectional) * hidden_size
""")
class GRU:
    @overload
    @shapes("where batch_first == 1, B >= 1")
    def forward(
        self, input: Tensor[L["B, T, input_size"]], hx: Tensor[L["runs, B, H"]] | None = None
    ) -> tuple[Tensor[L["B, T, output"]], Tensor[L["runs, B, H"]]]: ...
    @overload
    @shapes("where batch_first == 0, B >= 1")
    def forward(
        self, input: Tensor[L["T, B, input_size"]], hx: Tensor[L["runs, B, H"]] | None = None
    ) -> tuple[Tensor[L["T, B, output"]], Tensor[L["runs, B, H"]]]: ...
