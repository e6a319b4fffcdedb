"""Programs of a few lines, and what they become."""

from __future__ import annotations

from textwrap import dedent

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.legacy.source.finding.find import find_sites
from shapedsl.frontends.legacy.source.rewriting.rewrite import rewrite
from shapedsl.frontends.stubs.tree import parse

HEAD = """\
import collections
import torch
from torch.export import Dim, ShapesCollection, dims, export

class Net(torch.nn.Module):
    def forward(self, x, y):
        return x.sum() + y.sum()

class One(torch.nn.Module):
    def forward(self, x):
        return x + 1

x, y = torch.ones(4, 3), torch.ones(4, 2)
# ---
"""


def whole(text: str) -> tuple[str, Report]:
    """Returns what a program becomes, itself if it stays, and what was reported."""
    report = Report()
    tree = parse(Source("program.py", text), report)
    assert tree is not None, [found.message for found in report]
    made = rewrite(tree, find_sites(tree, report), "torch", report)
    return (text if made is None else made), report


def rewritten(text: str) -> str:
    """Returns what the lines after `HEAD` become; no line of it may be kept."""
    made, report = whole(HEAD + dedent(text))
    assert not report.errors, [found.message for found in report]
    return body(made)


def kept(text: str) -> list[str]:
    """Returns the codes of why the lines after `HEAD` stay as they are."""
    made, report = whole(HEAD + dedent(text))
    assert made == HEAD + dedent(text)
    return [found.code for found in report.errors]


def body(text: str) -> str:
    """Returns what follows the head."""
    return text[text.index("# ---\n") + len("# ---\n") :]
