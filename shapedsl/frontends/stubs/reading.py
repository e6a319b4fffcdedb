"""Files and folders of Python → texts with the names of their modules."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from ...diagnostics import Report, Source

_BOM: Final = codecs.BOM_UTF8
_COOKIE: Final = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")  # PEP 263
_BLANK: Final = re.compile(rb"^[ \t\f]*(?:#.*)?$")


def decode(name: str, raw: bytes, report: Report) -> Source | None:
    """Returns a Python file's text, in the encoding that its first lines name, else UTF-8.

    Args:
        name: What messages call it.
        raw: What it holds.
        report: Receives ``invalid-utf8``.
    """
    encoding = _encoding(raw)
    try:
        return Source(name, raw.decode(encoding))
    except (UnicodeDecodeError, LookupError) as error:
        reason = (
            str(error) if isinstance(error, LookupError) else f"byte {raw[error.start]:#04x} at offset {error.start}"
        )
        start = 0 if isinstance(error, LookupError) else error.start
        good = raw[:start].decode("latin-1" if encoding != "utf-8-sig" else encoding, errors="ignore")
        report.error(
            "invalid-utf8",
            f"`{name}` is no text in {encoding.removesuffix('-sig').upper()}: {reason}",
            at=Source(name, good).span(len(good), len(good)),
            help="save the file as UTF-8",
        )
        return None


def encode(text: str, raw: bytes) -> bytes:
    """Returns a text as the bytes of a file: in the encoding of ``raw``, and with a byte-order mark if that has one.

    Args:
        text: What the file is to hold.
        raw: What it holds.

    Raises:
        UnicodeEncodeError: The encoding lacks a character.
        LookupError: Nobody knows the encoding.
    """
    return (_BOM if raw.startswith(_BOM) else b"") + text.encode(_encoding(raw).removesuffix("-sig"))


def _encoding(raw: bytes) -> str:
    if raw.startswith(_BOM):
        return "utf-8-sig"
    for line in raw.splitlines()[:2]:
        found = _COOKIE.match(line)
        if found is not None:
            name = found[1].decode("ascii", errors="replace")
            return "utf-8-sig" if name.lower().replace("_", "-") in ("utf-8", "utf8") else name
        if not _BLANK.match(line):
            break
    return "utf-8-sig"


def modules_in(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yields the Python files below a folder, sorted, each with the dotted name of its module.

    A stub takes the place of the module beside it. Names begin below the folder, or, if that is a package, with its own.
    """
    above = _module_of(folder / "__init__.py") if _is_package(folder) else []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        here = [*above, *Path(root).relative_to(folder).parts]
        for file in sorted(files, key=lambda name: (Path(name).stem != "__init__", name)):
            stem, suffix = os.path.splitext(file)
            if suffix == ".pyi" or (suffix == ".py" and f"{stem}.pyi" not in files):
                if not Path(root, file).is_file() and Path(root, file).exists():
                    continue  # a pipe: nobody may ever write to it
                yield Path(root, file), ".".join(here if stem == "__init__" else [*here, stem])


def _is_package(folder: Path) -> bool:
    return any((folder / f"__init__{suffix}").is_file() for suffix in (".pyi", ".py"))


def module_name(path: Path) -> str:
    """Returns the dotted name of a file's module, as far as the packages around it tell."""
    return ".".join(_module_of(path))


@lru_cache(maxsize=4096)
def package_of(path: Path) -> tuple[str, ...]:
    """Returns the names of the packages that a file lies in, the outermost first."""
    found: list[str] = []
    for folder in path.parents:
        if not any((folder / f"__init__{suffix}").is_file() for suffix in (".pyi", ".py")):
            break
        found.insert(0, folder.name)
    return tuple(found)


def _module_of(path: Path) -> list[str]:
    """Returns the parts of a file's module name, as far as the packages around it tell."""
    package = list(package_of(path.absolute()))
    return package if path.stem == "__init__" else [*package, path.stem]


__all__ = ["decode", "encode", "module_name", "modules_in", "package_of"]
