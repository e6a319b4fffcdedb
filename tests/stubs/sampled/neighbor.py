"""What `spellings` takes from beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as L
from typing import TypedDict

from shapedsl import Tensor as Tensor
from shapedsl.dims import B, D

Hidden = Tensor[B, D]


@dataclass
class Output:
    hidden: Hidden
    extra: Tensor[L["2*B"]] | None = None


class Keys(TypedDict, total=False):
    mask: Tensor[B]
