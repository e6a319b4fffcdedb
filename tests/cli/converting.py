"""A stand-in for `pipeline.convert_source`, so that the command is tested apart from what it converts."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection
from pathlib import Path

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.legacy.source.sites import FileResult, SiteResult

OLD = 'import torch\nrun(dynamic_shapes="old")\n'
NEW = 'import torch\nrun(dynamic_shapes="new")\n'
SHAPES = (
    "# Specs of {name}, read from its legacy specs by `shapedsl convert --to shapes`.\n\ndef f(x: Tensor[B]): ...\n"
)
# as it is written: the digest is what `tail -n +2 net.shapes | sha256sum` begins with
WRITTEN = SHAPES.replace("`.\n", "`, digest 9a8c7864.\n")


def convert(
    source: Source,
    report: Report,
    *,
    style: str = "torch",
    target: str = "python",
    imported: Collection[str] = (),
) -> FileResult:
    """Converts every ``"old"`` and keeps every ``"odd"``; words in the text make it fail in many ways."""
    text = source.text
    if "# wrong" in text:
        at = text.index("# wrong")
        report.error("syntax-error", "this is no Python", at=source.span(at, at + 7))
        return FileResult(None, "", ())
    if "# raise" in text:
        raise RecursionError("too deep")
    if "# die" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    sites: list[SiteResult] = []
    for at in range(len(text)):
        word = text[at : at + 5]
        if word not in ('"old"', '"odd"'):
            continue
        line, column = source.position(at)
        if word == '"old"':
            site = SiteResult(line, column, "run", "f", "converted", "exact", "exact", ("a | note",), "def f(): ...")
        else:
            site = SiteResult(line, column, "run", "g", "kept", "", "", ("it is odd",), "")
            report.error("legacy-flow", "it is odd", at=source.span(at, at + 5))
        sites.append(site)
    done = any(site.outcome == "converted" for site in sites)
    name = Path(source.name).name
    shapes = SHAPES.format(name=name) if done else ""
    new = '"new"' if style == "torch" else '"ours"'
    return FileResult(text.replace('"old"', new) if done and target == "python" else None, shapes, tuple(sites))
