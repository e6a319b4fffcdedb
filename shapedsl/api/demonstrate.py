"""The first file through all of the pipeline: what ``shapedsl demo`` prints, a section at a time."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Final

from ..diagnostics import ShapeError
from .entries import compile, export, make_fx
from .sources import loads

FIRST_FILE: Final = """\
# project.shapes
language 1

dim B in [0, 1024] hint 8
dim D hint 64

def project(x: Tensor[B, D], w: Tensor[D, D]) -> Tensor[B, D]:
    where B < 32
"""
_BATCHES: Final = (0, 1, 8, 31)
_EXCLUDED: Final = 40


class UnknownBackend(Exception):
    """torch.compile has no backend of this name."""


def demonstrate(backend: str) -> Iterator[tuple[str, str]]:
    """Yields titles and texts, each when it is ready.

    Args:
        backend: torch.compile's.

    Raises:
        ImportError: torch is not installed.
        UnknownBackend: torch has no such backend.
    """
    yield "The spec: a file, project.shapes", FIRST_FILE
    spec = loads(FIRST_FILE, name="project.shapes")["project"]
    yield "Its normal form: what the file says, said once", str(spec.normalize())

    from ..targets import demo

    if not demo.has_backend(backend):
        raise UnknownBackend(backend)
    yield "As torch's ShapesSpec", str(spec.to_torch())
    yield "The function, with a fast path for small batches", inspect.getsource(demo.project)

    seen: list[list[str]] = []
    failed: list[str] = []
    compiled = compile(demo.project, spec, backend=demo.recording(backend, seen, failed))
    rows = [f"batch {batch:>2}: {_verdict(demo.agrees(compiled, batch))}" for batch in _BATCHES]
    graphs = f"{len(seen)} graph{'' if len(seen) == 1 else 's'} for all of them"
    if failed:
        rows.append(f"{backend} does not work here, so the graph ran as it is: {failed[0]}")
    yield f"sd.compile(project, spec), backend {backend}", "\n".join([*rows, graphs, _path(seen[0])])

    program = export(demo.project, demo.inputs(8), spec=spec)
    rows = [f"batch {batch:>2}: {_verdict(demo.agrees(program.module(), batch))}" for batch in _BATCHES]
    yield "sd.export(project, inputs, spec=spec)", "\n".join([*rows, _path(demo.operations(program.graph))])

    traced = make_fx(demo.project, spec)(*demo.inputs(8))
    rows = [f"batch {batch:>2}: {_verdict(demo.agrees(traced, batch))}" for batch in _BATCHES]
    yield "sd.make_fx(project, spec)(*inputs)", "\n".join([*rows, _path(demo.operations(traced.graph))])

    try:
        compiled(*demo.inputs(_EXCLUDED))
    except ShapeError as error:
        text = str(error)
    else:
        text = "accepted, which is wrong"
    yield f"A batch of {_EXCLUDED}, which the spec excludes", text


def _verdict(agrees: bool) -> str:
    return "as x @ w" if agrees else "DIFFERS from x @ w"


def _path(names: list[str]) -> str:
    """Returns a sentence about the operations of a graph."""
    from ..targets import demo

    taken = "the fast path, since the spec says B < 32" if demo.took_fast_path(names) else "the slow path"
    return f"operations: {', '.join(names)}: {taken}"
