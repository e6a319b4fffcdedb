"""What is told of a file: a line for each use, and its specs as one ``.shapes`` file.

Comments say of each spec where it came from, and what changed::

    # Specs of net.py, read from its legacy specs by `shapedsl convert --to shapes`.
    language 1

    # net.py:11, torch.export.export: exact as declared, stricter at run time
    #   size 0 was accepted at run time, and is now rejected (a.shape[0], w.shape[0])
    class Scale:
        def forward(self, a: Tensor[rows, _], w: Tensor[rows]):
            dim rows in [1, 64]
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

from ....diagnostics import Report, Source
from ....ir import Signature
from ....ir.write import write_signature
from ..verdict import Conversion, Note, Verdict
from .sites import Site, SiteResult

if TYPE_CHECKING:
    from ...stubs.tree import Tree

_ORDER: Final = tuple(Verdict)
_RESERVED: Final = frozenset(("and", "or", "not", "in", "None", "_", "inf", "true", "false"))


def site_result(tree: Tree, site: Site, target: Literal["python", "shapes"]) -> SiteResult:
    """Returns what a report says of one use, where that is what is written."""
    line, column = tree.source.position(tree.extent(site.call)[0])
    name = site.spec.name if site.spec is not None else site.name
    kept = [*site.kept, f"`{site.api}` {site.only_shapes}"] if site.only_shapes and target == "python" else site.kept
    if kept or not site.conversions:
        return SiteResult(line, column, site.api, name, "kept", "", "", tuple(map(_one_line, kept)), "")
    gravest = max(site.conversions, key=lambda conversion: _ORDER.index(conversion.verdict))
    notes = dict.fromkeys(note_text(note) for conversion in site.conversions for note in conversion.notes)
    found = dict.fromkeys(replace(conversion.signature, index=1) for conversion in site.conversions)
    texts = [write_signature(replace(each, index=index)) for index, each in enumerate(found, 1) if not site.open]
    name = site.conversions[0].signature.name or name
    verdict = gravest.verdict.value
    return SiteResult(
        line, column, site.api, name, "converted", verdict, gravest.summary, tuple(notes), "\n\n".join(texts)
    )


def note_text(note: Note) -> str:
    """Returns a note in one line: what it says, where, and what else could have been chosen."""
    text = _one_line(note.message)
    if note.places:
        text += f" ({', '.join(note.places)})"
    if note.taken:
        text += f"; taken: {_one_line(note.taken)}"
    if note.others:
        text += f"; or: {_one_line('; '.join(note.others))}"
    return text


def _one_line(text: str) -> str:
    return " ".join(text.split())


# ------------------------------------------------------------------------------------ the file


@dataclass
class _Spec:
    """A def of the file, with the uses that gave it."""

    signature: Signature
    places: list[tuple[Site, Conversion]] = field(default_factory=list["tuple[Site, Conversion]"])


def file_text(tree: Tree, sites: Sequence[Site], report: Report) -> str:
    """Returns the ``.shapes`` text of a file's specs, which loads; empty if there are none.

    A spec that several uses give is written once, another of the same name as ``name@2``.

    Args:
        tree: The file.
        sites: Its uses, with what became of them.
        report: Receives ``inexpressible`` for a name that no such text can say.
    """
    specs = _specs(sites, report)
    if not specs:
        return ""
    file = _one_line(os.path.basename(tree.source.name)).encode(errors="replace").decode()
    lines = [f"# Specs of {file}, read from its legacy specs by `shapedsl convert --to shapes`.", "language 1"]
    for spec in specs:
        lines.append("")
        for site, conversion in spec.places:
            line, _ = tree.source.position(tree.extent(site.call)[0])
            lines.append(f"# {file}:{line}, {site.api}: {conversion.summary}")
            lines += [f"#   {text}" for text in dict.fromkeys(map(note_text, conversion.notes))]
        lines.append(write_signature(spec.signature))
    return "\n".join(lines) + "\n"


def _specs(sites: Sequence[Site], report: Report) -> list[_Spec]:
    """Returns the defs of a file in the order of their first uses, with those that no text can say left out."""
    found: dict[tuple[str, Signature], _Spec | None] = {}
    counts: dict[str, int] = {}
    for site in sites:
        for conversion in site.conversions if not site.open else ():
            signature = replace(conversion.signature, index=1)
            key = signature.name, signature  # equality leaves the name out
            if key not in found:
                if _is_sayable(signature, report):
                    counts[signature.name] = counts.get(signature.name, 0) + 1
                    found[key] = _Spec(replace(signature, index=counts[signature.name]))
                else:
                    found[key] = None
            spec = found[key]
            if spec is not None and (site, conversion) not in spec.places:
                spec.places.append((site, conversion))
    return [spec for spec in found.values() if spec is not None]


def _is_sayable(signature: Signature, report: Report) -> bool:
    """Returns whether a text can say the names of a spec: Python has more of them."""
    names = [*signature.name.split("."), *(param.name for param in signature.params)]
    if all(name.isascii() and name.isidentifier() and name not in _RESERVED for name in names):
        return True
    from ...text import read

    trial = Report()
    read(Source("", write_signature(signature)), trial)
    if trial.errors:
        report.warning(
            "inexpressible",
            f"`{signature.name}` has a name that no .shapes file can say; it is left out",
            at=signature.span,
        )
    return not trial.errors


__all__ = ["file_text", "note_text", "site_result"]
