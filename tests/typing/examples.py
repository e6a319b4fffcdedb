"""The Python blocks of the documentation, each as a file of its own that a type checker can look at.

A reader of a page has its earlier blocks in mind, so what a block uses of them is put in front: the imports, and
definitions with what these use in turn.

Before, the second block of a page::

    assert plain(3) == 3

After::

    def plain(x: int) -> int:  # from the first one
        return x

    assert plain(3) == 3

A block that is marked ``python unchecked`` shows what only works at run time, or another tool's dialect.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..golden import markdown

ROOT = Path(__file__).parents[2]
_TEXTS = {"L", "Literal", "Annotated", "Shape"}  # the strings in their brackets name nothing
PAGES = (
    "README.md",
    "docs/annotations.md",
    "docs/checking.md",
    "docs/stubs.md",
    "docs/stub-library.md",
)


@dataclass(frozen=True)
class Example:
    """One block.

    Attributes:
        page: The document, from the root of the checkout.
        line: The 1-based line of the block's first line.
        before: What earlier blocks contribute.
        body: The block itself.
        later: Names that later blocks of the page use.
    """

    page: str
    line: int
    before: str
    body: str
    later: frozenset[str]

    @property
    def name(self) -> str:
        """A file name that sorts like the blocks."""
        return f"{Path(self.page).stem.lower()}_{self.line:04}.py"

    @property
    def text(self) -> str:
        """The whole file."""
        return f"{self.before}\n{self.body}" if self.before else self.body


def examples(page: str) -> Iterator[Example]:
    """Yields the checked blocks of a page, in order."""
    document = markdown.parse(ROOT / page)
    blocks = [
        (block, ast.parse(block.body))
        for section in document.sections
        for block in section.blocks
        if block.language == "python" and ">>> " not in block.body
    ]
    earlier: list[ast.stmt] = []
    for at, (block, tree) in enumerate(blocks):
        if block.role != "unchecked":
            later = frozenset(name for _, other in blocks[at + 1 :] for name in _used(other))
            yield Example(page, block.line, _needed(tree, earlier), block.body, later)
        earlier += tree.body


def every() -> list[Example]:
    """Returns the checked blocks of all pages that there are."""
    return [example for page in PAGES if (ROOT / page).exists() for example in examples(page)]


def _needed(tree: ast.Module, earlier: list[ast.stmt]) -> str:
    """Returns the source of the statements of ``earlier`` that ``tree`` needs, the last one of each name."""
    wanted = _used(tree) - _bound(tree)
    chosen: list[ast.stmt] = []
    for statement in reversed(earlier):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            names = [alias for alias in statement.names if _name(alias) in wanted]
            wanted -= {_name(alias) for alias in names}
            if names and isinstance(statement, ast.Import):
                chosen.append(ast.Import(names))
            elif names and isinstance(statement, ast.ImportFrom):
                chosen.append(ast.ImportFrom(statement.module, names, statement.level))
        elif bound := _binds(statement) & wanted:
            chosen.append(statement)
            wanted = (wanted - bound) | (_used(statement) - bound)
    return "\n".join(ast.unparse(statement) for statement in reversed(chosen)) + "\n" if chosen else ""


def _name(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _binds(statement: ast.stmt) -> set[str]:
    """Returns the names that a statement of a module binds there."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {_name(alias) for alias in statement.names}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _bound(tree: ast.Module) -> set[str]:
    return {name for statement in tree.body for name in _binds(statement)}


def _used(tree: ast.AST) -> set[str]:
    """Returns the names that are read, in the strings of annotations too, and not bound inside of ``tree``."""
    found: set[str] = set()
    own: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (found if isinstance(node.ctx, ast.Load) else own).add(node.id)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) not in _TEXTS:
            for each in ast.walk(node.slice):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    found |= _quoted(each.value)
    return found - own - set(dir(builtins))


def _quoted(text: str) -> set[str]:
    try:
        return {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
    except SyntaxError:
        return set()
