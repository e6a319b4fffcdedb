"""The file that is read, and the files beside it that it takes names from; nothing is imported.

``from .types import Hidden`` names an alias of a neighbor: within one package the neighbor's text is looked
at, so that the alias means what it means there. Other packages are known by the names in `known` alone.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...diagnostics import Report, Source
from .bindings import names_of
from .places import source_in
from .scope import Binding, Scope
from .tree import Tree, parse

if TYPE_CHECKING:
    import libcst as cst

_LARGEST: Final = 4_000_000  # bytes of a neighbor
_KNOWN: Final = {"typing", "typing_extensions", "collections", "builtins", "types", "torch", "shapedsl", "jaxtyping"}


class File:
    """One file.

    Attributes:
        tree: Its syntax tree.
        scope: The names of its top level.
        classes: What annotations mean by its classes, as far as they were asked for.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.scope = Scope(names_of(tree.module.body))
        self.classes: dict[cst.CSTNode, Any] = {}
        self._absolute: dict[str, str] = {}
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
            package = [] if self._path is None else package_of(self._path)
            above = len(qualified) - len(inner) - 1
            base = package[: len(package) - above] if above <= len(package) else []
            self._absolute[qualified] = ".".join([*base, inner])
        return self._absolute[qualified]

    def find(self, qualified: str) -> tuple[File, Binding] | None:
        """Returns what the files of this package bind to a dotted name; None if they are others, or bind nothing."""
        module, _, name = self.absolute(qualified).rpartition(".")
        file = self.module(module)
        binding = None if file is None else file.scope.find(name)
        return None if file is None or binding is None else (file, binding)

    def module(self, name: str) -> File | None:
        """Returns the file of a module of this package, or beside this file; None if there is none."""
        if self._path is None or not name or name.partition(".")[0] in _KNOWN:
            return None
        package = package_of(self._path)
        root = self._path.parents[len(package)]
        return _beside(root.joinpath(*name.split(".")))


def package_of(path: Path) -> list[str]:
    """Returns the names of the packages that a file lies in, the outermost first."""
    found: list[str] = []
    for folder in path.parents:
        if not any((folder / f"__init__{suffix}").is_file() for suffix in (".pyi", ".py")):
            break
        found.insert(0, folder.name)
    return found


def module_of(path: Path) -> list[str]:
    """Returns the parts of a file's module name, as far as the packages around it tell."""
    package = package_of(path.absolute())
    return package if path.stem == "__init__" else [*package, path.stem]


def _existing(name: str) -> Path | None:
    try:
        path = Path(name).absolute()
        return path if path.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


def _beside(base: Path) -> File | None:
    for path in (
        base.with_name(f"{base.name}.pyi"),
        base.with_name(f"{base.name}.py"),
        base / "__init__.pyi",
        base / "__init__.py",
    ):
        try:
            status = path.stat()
        except (OSError, ValueError):
            continue
        return _read(path, status.st_mtime_ns) if status.st_size <= _LARGEST else None
    return None


@lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> File | None:
    del changed  # a key of the cache
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    tree = parse(Source(str(path), text), Report())  # what is wrong with it is told where it is read
    return None if tree is None else File(tree)


__all__ = ["File", "module_of", "package_of"]
