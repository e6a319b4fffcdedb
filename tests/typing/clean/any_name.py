"""A name that the stub of `shapedsl.dims` does not list: clean everywhere but in pyright's strict mode."""

from shapedsl import Tensor, where
from shapedsl.dims import rows_nobody_declared


@where(rows_nobody_declared < 3, 2 * rows_nobody_declared + 1 < 8)
def names(x: Tensor[rows_nobody_declared], y: Tensor["rows_nobody_declared"]) -> Tensor:
    return x + y
