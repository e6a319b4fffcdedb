"""The file that is read, and the files beside it that it takes names from; nothing is imported.

``from .types import Hidden`` names an alias of a neighbor: within one package the neighbor's text is looked
at, so that the alias means what it means there. Other packages are known by the names in `known` alone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...diagnostics import Report, Source
from .bindings import names_of
from .places import source_in
from .reading import package_of
from .scope import Binding, Imported, Scope
from .tree import Tree, parse

if TYPE_CHECKING:
    import libcst as cst

_LARGEST: Final = 4_000_000  # bytes of a neighbor
_FARTHEST: Final = 2  # imports of imports
_SHAPES: Final = re.compile(r"\b(?:shapedsl|jaxtyping|shape_extensions)\b")
_IMPORTS: Final = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import\b", re.MULTILINE)
_KNOWN: Final = {"typing", "typing_extensions", "collections", "builtins", "types", "torch", "shapedsl", "jaxtyping"}


class File:
    """One file.

    Attributes:
        tree: Its syntax tree.
        scope: The names of its top level.
        stars: The modules of which it imports all names.
        classes: What annotations mean by its classes, as far as they were asked for.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.scope = Scope(names_of(tree.module.body))
        self.stars = [b.qualified for key, b in self.scope.names.items() if key[0] == "*" and isinstance(b, Imported)]
        self.classes: dict[cst.CSTNode, Any] = {}
        self._absolute: dict[str, str] = {}
        self._found: dict[str, tuple[File, Binding] | None] = {}
        self._path = _existing(tree.source.name)

    def source_of(self, node: cst.CSTNode, text: str) -> Source:
        """Returns the source of a text that stands in a node."""
        return source_in(self.tree, text, node)

    def absolute(self, qualified: str) -> str:
        """Returns a dotted name with its module's full name: ``.types.X`` in ``pkg/net.py`` is ``pkg.types.X``."""
        if not qualified.startswith("."):
            return qualified
        if qualified not in self._absolute:
            inner = qualified.lstrip(".")
            package = () if self._path is None else package_of(self._path)
            above = len(qualified) - len(inner) - 1
            base = package[: len(package) - above] if above <= len(package) else ()
            self._absolute[qualified] = ".".join([*base, inner])
        return self._absolute[qualified]

    def find(self, qualified: str) -> tuple[File, Binding] | None:
        """Returns what the files of this package bind to a dotted name; None if they are others, or bind nothing."""
        if qualified not in self._found:
            module, _, name = self.absolute(qualified).rpartition(".")
            file = self.module(module)
            binding = None if file is None else file.scope.find(name)
            self._found[qualified] = None if file is None or binding is None else (file, binding)
        return self._found[qualified]

    def module(self, name: str) -> File | None:
        """Returns the file of a module of this package, or beside this file; None if none of it can speak of shapes."""
        path = _module_path(self._path, name)
        return _read(path, _changed(path)) if path is not None and _speaks(path, _changed(path)) else None


def _module_path(near: Path | None, name: str) -> Path | None:
    """Returns the file of a module that lies in the package of ``near``, or beside it; None if there is none."""
    if near is None or not name or name.partition(".")[0] in _KNOWN:
        return None
    base = near.parents[len(package_of(near))].joinpath(*name.split("."))
    stems = (base.parent / base.name, base / "__init__")
    return next((path for stem in stems for path in _variants(stem) if _is_file(path)), None)


def _variants(stem: Path) -> tuple[Path, ...]:
    return stem.with_name(f"{stem.name}.pyi"), stem.with_name(f"{stem.name}.py")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _LARGEST
    except (OSError, ValueError):  # a name that no file can have
        return False


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=1024)
def _speaks(path: Path, changed: int, depth: int = 0) -> bool:
    """Whether a file, or what it imports from its package, names something of shapes: only then is it worth parsing."""
    del changed  # a key of the cache
    text = _text(path)
    if text is None or _SHAPES.search(text) is not None:
        return text is not None
    if depth == _FARTHEST:
        return False
    here = package_of(path)
    for found in _IMPORTS.finditer(text):
        dots, module = len(found[1]), found[2] or ""
        base = here[: len(here) - dots + 1] if dots else ()
        other = _module_path(path, ".".join([*base, module]).strip("."))
        if other is not None and other != path and _speaks(other, _changed(other), depth + 1):
            return True
    return False


def _existing(name: str) -> Path | None:
    try:
        path = Path(name).absolute()
        return path if path.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


@lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> File | None:
    del changed  # a key of the cache
    text = _text(path)
    # what is wrong with it is told where it is read itself
    tree = None if text is None else parse(Source(str(path), text), Report())
    return None if tree is None else File(tree)


__all__ = ["File"]
