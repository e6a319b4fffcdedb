"""What users write in annotations, in one place: `Tensor`, `Scalar`, `Shape`, `shapes`, `where`.

Type checkers read ``annotations.pyi`` instead, where ``Tensor[B, D]`` is an alias of ``torch.Tensor``.
"""

from __future__ import annotations

from .decorators import shapes, where
from .surface.forms import Scalar, Shape, Tensor

__all__ = ["Scalar", "Shape", "Tensor", "shapes", "where"]
