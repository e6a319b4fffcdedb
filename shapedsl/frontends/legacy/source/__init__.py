"""Python source that holds legacy specs → the same source with new ones, and the specs: nothing is imported or run.

`interpret` runs a module over abstract values, `find` watches what it calls and reads the specs, `convert` says what
they mean, and `rewrite` writes them back; here is their order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ....diagnostics import Report, Severity, Source, Span
from ..telling import tell
from ..verdict import Verdict
from .results import file_text, site_result
from .sites import FileResult, Site, SiteResult
from .triggers import may_have_sites

if TYPE_CHECKING:
    from ...stubs.tree import Tree

Style: TypeAlias = Literal["torch", "shapedsl"]
Target: TypeAlias = Literal["python", "shapes"]

# What may be in a name, and is not ASCII: a name that is not normal has a part that is not.
_FOREIGN: Final = re.compile(r"[\w\x80-\U0010ffff]*[\x80-\U0010ffff][\w\x80-\U0010ffff]*")
_NOTHING: Final = FileResult(None, "", ())


def convert_source(
    source: Source,
    report: Report,
    *,
    style: Style = "torch",
    target: Target = "python",
    imported: Collection[str] = (),
) -> FileResult:
    """Returns what a Python file becomes, and the specs that it holds.

    Args:
        source: The file.
        report: Receives ``syntax-error`` and ``input-too-large``, why a use is kept, and what changes with it.
        style: What takes a spec's place: torch's own classes, or calls of this package.
        target: ``python`` rewrites the file, ``shapes`` leaves it alone.
        imported: The names that other files import from it, and which stay as they are; ``*`` for every one.
    """
    if not may_have_sites(source.text):
        return _NOTHING
    from ...stubs.tree import parse  # libcst is loaded for the first file that may need it

    tree = parse(source, report)
    if tree is None:
        return _NOTHING
    if not source.text.isascii() and (odd := _other_spelling(tree)) is not None:
        name, at = odd
        message = f"the file is left alone: Python reads `{name}` as `{unicodedata.normalize('NFKC', name)}`"
        report.emit(Severity.ERROR, "legacy-flow", message, at=at)
        return _NOTHING
    from .finding.find import find_sites

    sites = find_sites(tree, report, is_rewritten=target == "python")
    if not sites:
        return _NOTHING
    text = None
    if target == "python":
        from .rewriting.rewrite import rewrite
        from .rewriting.scopes import scopes_of

        scopes_of(tree).imported = frozenset(imported)
        text = rewrite(tree, sites, style, report)
    results = tuple([site_result(tree, site, target) for site in sites])
    _tell_changes(tree, sites, results, report)
    return FileResult(text, file_text(tree, sites, report), results)


def _tell_changes(tree: Tree, sites: Sequence[Site], results: Sequence[SiteResult], report: Report) -> None:
    """Adds what the conversions change, once for all uses of a dim; remarks that change nothing are for reports."""
    told: set[tuple[str, Span]] = set()
    for site, result in zip(sites, results, strict=True):
        if result.outcome != "converted":
            continue
        for note in (note for conversion in site.conversions for note in conversion.notes):
            span = note.span or tree.span(site.call.func)
            if note.verdict is not Verdict.EXACT and (note.message, span) not in told:
                told.add((note.message, span))
                tell([replace(note, span=span)], report)


def _other_spelling(tree: Tree) -> tuple[str, Span] | None:
    """Returns a name that is another one to Python than its letters say (``ﬁ`` is ``fi``), and where it stands."""
    if all(unicodedata.is_normalized("NFKC", word) for word in _FOREIGN.findall(tree.source.text)):
        return None  # as nearly always: the letters are in a comment, and no name has to be looked at
    import libcst as cst

    from .rewriting.scopes import scopes_of

    for node in scopes_of(tree).nodes:
        if isinstance(node, cst.Name) and not unicodedata.is_normalized("NFKC", node.value):
            return node.value, tree.span(node)
    return None


__all__ = ["FileResult", "Style", "Target", "convert_source"]
