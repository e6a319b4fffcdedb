"""The files around a stub of Pyrefly's: which version they are written for, and the modules beside it, by reading.

A stub package keeps what its files share, its shape functions and named tuples, in modules of its own; they are
looked for in the folders above the file, then on `sys.path`. Nothing is imported.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

from ....diagnostics import Report, Source
from ..tree import Tree, parse

VERSION: Final = "1.4"  # the one whose notation is read
_HEADER: Final = re.compile(r"^#\s*shapedsl:\s*pyrefly\s+(\d+(?:\.\d+)*)\s*$", re.MULTILINE)
_DISTRIBUTION: Final = re.compile(r"pyrefly_(?:torch_stubs|shape_extensions)-(\d+(?:\.\d+)*)[^/]*\.dist-info\Z")
_HIGHEST: Final = 8  # folders above a file
_LARGEST: Final = 4_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Version:
    """The version that a file is written for.

    Attributes:
        number: As it is written there.
        told: Where it was found, for messages.
    """

    number: str
    told: str

    @property
    def known(self) -> bool:
        """Whether it is the one that is read."""
        return self.number.split(".")[:2] == VERSION.split(".")


class Files:
    """The files around one stub.

    Attributes:
        own: The stub.
    """

    def __init__(self, own: Tree) -> None:
        """Args:
        own: The stub.
        """
        self.own = own
        self._steps = [0]  # shared with the files around
        self._source = own.source
        self._trees: dict[str, Tree | None] = {}
        self._beside: dict[int, Files] = {}

    def start(self) -> None:
        """Begins to count expressions anew: a function is read."""
        self._steps[0] = 0

    def step(self) -> int:
        """Returns how many expressions of a function were read: with aliases of aliases more than there is time for."""
        self._steps[0] += 1
        return self._steps[0]

    @cached_property
    def _roots(self) -> list[Path]:
        """The folders that packages may lie in: those above the file, the nearest first, then `sys.path`."""
        path = Path(self._source.name)
        above = list(path.absolute().parents)[:_HIGHEST] if path.suffix else []
        return [*above, *(Path(entry) for entry in sys.path if entry)]

    @cached_property
    def version(self) -> Version | None:
        """The version that the file says in a comment, ``# shapedsl: pyrefly 1.4``, or that is installed around it."""
        said = _HEADER.search(self._source.text)
        if said is not None:
            return Version(said[1], "the file's comment")
        for root in self._roots:
            for entry in _entries(root):
                found = _DISTRIBUTION.match(entry)
                if found is not None:
                    return Version(found[1], f"`{entry}`")
        return None

    @cached_property
    def _folders(self) -> list[Path]:
        """The folders of the packages that the file lies in, the outermost first."""
        found: list[Path] = []
        for folder in Path(self._source.name).absolute().parents:
            if not any((folder / f"__init__{suffix}").is_file() for suffix in (".pyi", ".py")):
                break
            found.insert(0, folder)
        return found

    @cached_property
    def _package(self) -> list[str]:
        """The names of these packages."""
        return [folder.name.removesuffix("-stubs") for folder in self._folders]

    def absolute(self, name: str) -> str:
        """Returns a name that a relative import binds, ``..x.y``, from the top; as it is if there is no such package."""
        inner = name.lstrip(".")
        level = len(name) - len(inner)
        if not level or level > len(self._package):
            return name
        return ".".join([*self._package[: len(self._package) - level + 1], inner])

    def path(self, module: str) -> Path | None:
        """Returns the stub or the code of a module of this package, or the stub of a package of stubs; None without it.

        What other packages have beside their code is not looked at: it is not written for type checkers alone.
        """
        top, *inner = module.split(".")
        own = self._package[:1] == [top]
        for folder in self._folders[:1] if own else (root / f"{top}-stubs" for root in self._roots):
            base = folder.joinpath(*inner)
            for suffix in (".pyi", ".py") if own else (".pyi",):
                for path in (base.with_name(base.name + suffix), base / f"__init__{suffix}"):
                    if path.is_file():
                        return path
        return None

    def tree(self, module: str) -> Tree | None:
        """Returns the syntax tree of a module's stub; None where there is none, or it is no Python."""
        if module not in self._trees:
            path = self.path(module)
            own = path is not None and path == Path(self._source.name).absolute()
            self._trees[module] = self.own if own else None if path is None else _read(path)
        return self._trees[module]

    def around(self, tree: Tree) -> Files:
        """Returns the files around another stub, one of these."""
        if tree is self.own:
            return self
        if id(tree) not in self._beside:
            self._beside[id(tree)] = Files(tree)
            self._beside[id(tree)]._beside = self._beside
            self._beside[id(tree)]._steps = self._steps
        return self._beside[id(tree)]


def _entries(folder: Path) -> Iterator[str]:
    try:
        for entry in folder.iterdir():
            if entry.name.startswith("pyrefly_"):
                yield entry.name
    except OSError:  # no folder, or not ours to read
        return


def _read(path: Path) -> Tree | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return _tree(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _tree(path: Path, changed: int, size: int) -> Tree | None:
    del changed  # a key of the cache
    if size > _LARGEST:
        return None
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return parse(Source(str(path), text), Report())


__all__ = ["VERSION", "Files", "Version"]
