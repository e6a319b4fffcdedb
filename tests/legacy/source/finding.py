"""Programs of a few lines, and what is found in them, as text."""

from __future__ import annotations

import re
from textwrap import dedent

from shapedsl.diagnostics import Diagnostic, Report, Source
from shapedsl.frontends.legacy.source.finding.find import find_sites
from shapedsl.frontends.legacy.source.sites import Site
from shapedsl.frontends.stubs.tree import Tree, parse
from shapedsl.ir.write import write_signature

NET = """\
import torch
from torch.export import Dim, export

class Net(torch.nn.Module):
    def forward(self, x, y):
        return x.sum(1) + y

net, x, y = Net(), torch.randn(4, 3), torch.randn(4)
b = Dim("b", max=64)
"""


def found(text: str, *, net: bool = True) -> tuple[list[Site], Report, Tree]:
    """Returns the sites of a program, with `NET` before it."""
    report = Report()
    tree = parse(Source("net.py", (NET if net else "") + dedent(text)), report)
    assert tree is not None, [d.message for d in report]
    return find_sites(tree, report), report, tree


def told(text: str, *, net: bool = True) -> list[str]:
    """Returns a line for each site: what is called, and its specs, or the codes of why it is kept."""
    sites, report, _ = found(text, net=net)
    lines: list[str] = []
    for site in sites:
        if site.kept:
            lines.append(f"{site.api}: kept")
            continue
        specs = " | ".join(spec_text(conversion.signature) for conversion in site.conversions)
        lines.append(f"{site.api}: {specs}")
    assert any(site.kept for site in sites) == bool(report.errors)
    return lines


def spec_text(signature: object) -> str:
    """Returns a spec in one line: ``forward(self, x: Tensor[b]) dim b in [0, 8]``."""
    text = re.sub(r"\s+", " ", write_signature(signature)).strip()  # type: ignore[arg-type]
    return re.sub(r"^(class \w+: )?def ", "", text).replace("): ...", ")").replace("): ", ") ")


def codes(text: str, *, net: bool = True) -> list[str]:
    """Returns the codes of all findings that are errors, in order."""
    return [diagnostic.code for diagnostic in errors(text, net=net)]


def errors(text: str, *, net: bool = True) -> tuple[Diagnostic, ...]:
    """Returns the errors of a program."""
    return found(text, net=net)[1].errors


def place(diagnostic: Diagnostic) -> str:
    """Returns the text that the main span of a diagnostic covers."""
    assert diagnostic.span is not None
    return diagnostic.span.text
