"""The sizes of an annotated tensor have the types that torch says; Pyrefly's stubs of torch say something else."""

import torch
from shapedsl import Tensor
from shapedsl.dims import B
from typing_extensions import assert_type  # noqa: UP035  # of `typing` since 3.11


def sizes(x: Tensor[B], y: Tensor) -> int:
    assert_type(x.shape, torch.Size)
    assert_type(y.shape[0], int)
    rows: int = x.shape[0]
    return rows + x.size(0) + y.dim()
