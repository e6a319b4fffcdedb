"""A tensor library of one class, and specs from text, so that checks are tested without torch."""

from __future__ import annotations

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.text import read
from shapedsl.ir import Signature
from shapedsl.runtime.tensors import Tensors


class FakeTensor:
    """Has a shape and a dtype; shows no more of itself than checks may look at."""

    def __init__(self, *shape: int, dtype: str = "float32") -> None:
        self.shape = shape
        self.dtype = dtype


TENSORS = Tensors(
    FakeTensor,
    {
        "float32": frozenset({"float32"}),
        "float16": frozenset({"float16"}),
        "int64": frozenset({"int64"}),
        "floating": frozenset({"float32", "float16"}),
    },
)


def signature(text: str) -> Signature:
    """Returns the only signature of ``text``."""
    report = Report()
    module = read(Source("test.shapes", text), report)
    report.raise_errors()
    (found,) = module
    return found
