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


def read_stub(source: Source, report: Report, module: str = "") -> Module:
    """Returns the specs of a ``.pyi`` or ``.py`` file.

    Args:
        source: Its text.
        report: Receives what is wrong with it, and what of it cannot be expressed.
        module: What the names of its specs begin with: the module's name, or nothing. The file's own word goes first.
    """
    from .tree import parse

    tree = parse(source, report)
    if tree is None:
        return Module(())
    from .functions import read_functions

    read = read_functions(tree, report)
    within = _MODULE.match(source.text)
    prefix = module if within is None else within[1]
    return Module(tuple([replace(each, name=f"{prefix}.{each.name}") for each in read])) if prefix else read


__all__ = ["read_stub"]
