"""The shape functions of Pyrefly's stubs, evaluated on the dims of the IR.

A stub says ``-> Tensor[matmul_shape(Left, Right)]``, and a file beside it what `matmul_shape` computes, in a part
of Python made for it. The file is read as source and interpreted within a budget; nothing of it is executed::

    functions = load_shape_functions(source)
    functions.evaluate("matmul_shape", [(B, M, N), (N, P)])     Evaluated((B, M, P))
    functions.evaluate("matmul_shape", [(2, 3), (4, 5)])        Invalid("…")
    functions.evaluate("matmul_shape", [(B, N), (N, D, P)])     NotEvaluated("…")

`reading` translates functions to `syntax`, `interpret` evaluates them with `pythons` and `intrinsics`; `sums` are
sizes, `logic` decides comparisons, `sequences` selects dims; `sampling` tries results that hold for all sizes.
"""

from __future__ import annotations

from .answers import Evaluated, Invalid, NotEvaluated, Outcome
from .library import ShapeFunctions, load_shape_functions
from .values import UNKNOWN, Argument, IndexTensor, Slice, Unknown

__all__ = [
    "UNKNOWN",
    "Argument",
    "Evaluated",
    "IndexTensor",
    "Invalid",
    "NotEvaluated",
    "Outcome",
    "ShapeFunctions",
    "Slice",
    "Unknown",
    "load_shape_functions",
]
