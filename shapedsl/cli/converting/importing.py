"""Which names of each file other files import: such a name is not theirs alone to change.

The files of one run are looked at, and nothing beyond them. Import statements are found by their words, with none
parsed: a word too many keeps a definition that might have gone, and changes nothing else.

Before::

    net.py      batch = Dim("batch", max=8)
    train.py    from net import batch

After::

    {("net",): {"batch"}}       so `batch` stays a `Dim`, and what `net.py` itself exports gets a variable beside it
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeAlias

from ...diagnostics.files import read_bytes

_REST: Final = rb"(?:\\\r?\n|[^\n#;])*"
_FROM: Final = re.compile(rb"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|" + _REST + rb")", re.MULTILINE)
_IMPORT: Final = re.compile(rb"^[ \t]*import[ \t]+(" + _REST + rb")", re.MULTILINE)
_COMMENT: Final = re.compile(rb"#[^\n]*")
_NAME: Final = re.compile(r"(\*|[\w.]+)(?:\s+as\s+\w+)?", re.ASCII)

EVERY: Final = "*"
Imports: TypeAlias = "dict[tuple[str, ...], set[str]]"


def imports_in(paths: Iterable[Path]) -> Imports:
    """Returns what the files import: the parts of a module's name, from one place of the path on → names, or `EVERY`.

    Args:
        paths: The files; one that cannot be read imports nothing, and is told of where it is converted.
    """
    found: Imports = {}
    for path in paths:
        try:
            raw = read_bytes(path)
        except (OSError, ValueError):
            continue
        for statement in _FROM.finditer(raw):
            module = tuple(part for part in _text(statement[1]).split(".") if part)
            for name in _names(statement[2]):
                if module:
                    found.setdefault(module, set()).add(name)
                found.setdefault((*module, name), set()).add(EVERY)  # it may be a module itself
        for statement in _IMPORT.finditer(raw):
            for name in _names(statement[1]):
                found.setdefault(tuple(name.split(".")), set()).add(EVERY)
    return found


def imported_of(path: Path, imports: Imports) -> frozenset[str]:
    """Returns the names of a file that the others import, as far as its path tells that it is meant."""
    parts = path.absolute().with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    found: set[str] = set()
    for at in range(1, len(parts)):
        found |= imports.get(parts[at:], set())
    return frozenset(found)


def _names(clause: bytes) -> list[str]:
    return _NAME.findall(_text(_COMMENT.sub(b"", clause)).replace("\\", " "))


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="replace")


__all__ = ["EVERY", "Imports", "imported_of", "imports_in"]
