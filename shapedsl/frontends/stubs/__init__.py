"""Stubs and annotated Python files → IR, by reading: nothing is imported.

libcst parses the file (it knows newer syntax than the Python that runs it); `interpret` turns each
annotation into the objects that Python would make of it, and `frontends.annotated` reads those, so
that a stub and the function it describes give the same spec.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...diagnostics import Report, Source
from ...ir import Module

# The first line of a stub that was written from specs whose names begin with their module's.
_MODULE = re.compile(r"# shapedsl: module ([\w.]+)\s*$", re.MULTILINE)


def read_stub(source: Source, report: Report) -> Module:
    """Returns the specs of a ``.pyi`` or ``.py`` file.

    Args:
        source: Its text.
        report: Receives what is wrong with it, and what of it cannot be expressed.
    """
    from .tree import parse

    tree = parse(source, report)
    if tree is None:
        return Module(())
    from .functions import read_functions

    module = read_functions(tree, report)
    within = _MODULE.match(source.text)
    if within is None:
        return module
    return Module(tuple([replace(each, name=f"{within[1]}.{each.name}") for each in module]))


__all__ = ["read_stub"]
