"""Specs from stubs and from annotated source files, which are read and never imported."""

from __future__ import annotations

import os
from pathlib import Path

from .. import pipeline
from ..diagnostics import Report
from ..ir import Module
from .spec import SpecFile, warn


def from_stub(path: str | os.PathLike[str]) -> SpecFile:
    """Returns the specs that a ``.pyi`` stub or an annotated ``.py`` file states, and no more.

    Our own spellings, jaxtyping's strings and Pyrefly's dialect are read, as source: nothing is imported.

    Args:
        path: The file.

    Raises:
        ShapeError: The file cannot be read, or is no Python, or an annotation is wrong.

    Source:
        PEP 484 (stub files), PEP 593 (``Annotated``), PEP 646 and 695 (type parameters).
    """
    report = Report()
    source = pipeline.read_file(Path(path), report)
    module = Module(()) if source is None else pipeline.read_stub(source, report)
    for signature in module:
        pipeline.resolve_open(signature, report)
    report.raise_errors()
    found = SpecFile(module, report.diagnostics)
    warn(report)
    return found


__all__ = ["from_stub"]
