"""Specs from stubs and from annotated source files, which are read and never imported."""

from __future__ import annotations

import os
from pathlib import Path

from .. import pipeline
from ..diagnostics import Report
from ..ir import Module, Signature
from .spec import warn
from .spec_file import SpecFile


def from_stub(path: str | os.PathLike[str]) -> SpecFile:
    """Returns the specs that a ``.pyi`` stub or an annotated ``.py`` file states, and no more.

    Our own spellings, jaxtyping's strings and Pyrefly's dialect are read, as source: nothing is imported.

    Args:
        path: The file, whose specs are named as in it, ``Net.forward``; or a folder, with names that begin with their
            module's: ``pkg.net.Net.forward``. In a folder, a stub takes the place of the module beside it.

    Raises:
        ShapeError: A file cannot be read, or is no Python, or an annotation is wrong.

    Source:
        PEP 484 (stub files), PEP 593 (``Annotated``), PEP 646 and 695 (type parameters).
    """
    report = Report()
    if os.fspath(path).endswith(".shapes"):
        message = f"`{os.fspath(path)}` is the text of specs, not Python"
        report.error("unreadable-file", message, help="it is read by `load`")
        report.raise_errors()
    signatures: list[Signature] = []
    for file, module in pipeline.stubs_below([Path(path)]):
        source = pipeline.read_python(file, report)
        if source is not None:
            signatures += pipeline.read_stub(source, report, module)
    for signature in signatures:
        pipeline.resolve_open(signature, report)
    report.raise_errors()
    found = SpecFile(Module(tuple(signatures)), report.diagnostics)
    warn(report)
    return found


__all__ = ["from_stub"]
