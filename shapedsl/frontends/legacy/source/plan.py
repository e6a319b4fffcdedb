"""What is to be edited in a file, by places in its text: everything between stays as it was, to the letter.

The stages of a rewrite write into one `Plan`: first the sites (`rewrite`), then what they left without a use
(`dead`), then the names that are needed and those that no longer are (`imports`).

Before::

    rows = Dim("rows", max=64)      # edit: `Dim` → `ShapeVar`
    export(net, args, dynamic_shapes={"a": {0: rows}})
                                    # edits: `{` → `ShapesSpec({`, `{0: ` → `TensorSpec([`, …

After::

    rows = ShapeVar("rows", max=64)      # edit: `Dim` → `ShapeVar`
    export(net, args, dynamic_shapes=ShapesSpec({"a": TensorSpec([rows, None])}))
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ...stubs.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import libcst as cst

TORCH_SPECS: Final = "torch.fx.experimental.dynamic_spec"


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """``text[start:end]`` becomes ``text``. An insertion has ``start == end``; several at one place keep their order."""

    start: int
    end: int
    order: int
    text: str


@dataclass(eq=False, slots=True)
class Deletion:
    """A statement, an argument or an element that goes, with its comma or its line."""

    node: cst.CSTNode


class Plan:
    """The edits of one file.

    Attributes:
        tree: The file.
        needed: Qualified name → the name it is written with; `imports` adds what is not there.
        spent: What built specs that are built elsewhere now: displays, steps, definitions, names of Dims. `dead`
            deletes of it what nothing else uses.
        deleted: Whole statements, arguments and elements that go.
    """

    def __init__(self, tree: Tree, imported: Mapping[str, str] | None = None) -> None:
        """Args:
        tree: The file.
        imported: Qualified name → the name under which the whole file knows it already (of imports at its top).
        """
        self.tree = tree
        self.needed: dict[str, str] = {}
        self.spent: list[cst.CSTNode] = []
        self.deleted: dict[cst.CSTNode, None] = {}
        self._imported = dict(imported or {})
        self._edits: list[Edit] = []
        self._before: dict[cst.CSTNode, list[str]] = {}
        self._count = 0

    # ------------------------------------------------------------------------------------- names

    @cached_property
    def _words(self) -> set[str]:
        return set(re.findall(r"\w+", self.tree.source.text))

    def fresh(self, wish: str) -> str:
        """Returns ``wish``, or with a number what no name of the file is called; each answer once."""
        made, count = wish, 1
        while made in self._words:
            count += 1
            made = f"{wish}_{count}"
        self._words.add(made)
        return made

    def need(self, name: str, module: str = TORCH_SPECS) -> str:
        """Returns how the file writes a name of ``module``, which is imported if it is not yet."""
        qualified = f"{module}.{name}"
        if qualified not in self.needed:
            known = self._imported.get(qualified)
            self.needed[qualified] = known if known is not None else self.fresh(name)
        return self.needed[qualified]

    # ------------------------------------------------------------------------------------- edits

    def outer(self, node: cst.CSTNode) -> tuple[int, int]:
        """Returns the offsets of a node with the parentheses around it."""
        start, end = self.tree.extent(node)
        left, right = getattr(node, "lpar", ()), getattr(node, "rpar", ())
        if left:
            start = self.tree.extent(left[0])[0]
        if right:
            end = self.tree.extent(right[-1])[1]
        return start, end

    def edit(self, start: int, end: int, text: str) -> None:
        """Replaces a stretch of the text. Edits within it, made before, are dropped; insertions at its ends are not."""
        if end > start:
            self._edits = [each for each in self._edits if not self._within(each, start, end)]
        self._count += 1
        insort(self._edits, Edit(start, end, self._count, text))

    @staticmethod
    def _within(edit: Edit, start: int, end: int) -> bool:
        if edit.start == edit.end:
            return start < edit.start < end
        return start <= edit.start and edit.end <= end

    def replace(self, node: cst.CSTNode, text: str) -> None:
        """Replaces an expression or a statement, with the parentheses around it."""
        start, end = self.outer(node)
        self._edits = [each for each in self._edits if not start <= each.start <= each.end <= end]
        self.edit(start, end, text)

    def before(self, statement: cst.CSTNode, line: str) -> None:
        """Writes a statement above another one (a line of a block); what it is indented by is added."""
        self._before.setdefault(statement, []).append(line)

    def delete(self, node: cst.CSTNode) -> None:
        """Deletes a statement (with its line), or an argument or an element (with its comma)."""
        self.deleted[node] = None

    def is_gone(self, node: cst.CSTNode) -> bool:
        """Whether the original text of a node is replaced or deleted as a whole."""
        start, end = self.tree.extent(node)
        for edit in self._edits:
            if edit.start <= start and end <= edit.end and edit.start < edit.end:
                return True
        for each in self.deleted:
            outer_start, outer_end = self.tree.extent(each)
            if outer_start <= start and end <= outer_end:
                return True
        return False

    def text(self, node: cst.CSTNode) -> str:
        """Returns what a node's text becomes, as far as it is planned, without the parentheses around it."""
        return self._applied(*self.tree.extent(node))

    def written(self) -> Iterator[str]:
        """Yields every text that is added, for a look at the names in it."""
        for edit in self._edits:
            yield edit.text
        for lines in self._before.values():
            yield from lines

    def _applied(self, start: int, end: int) -> str:
        text = self.tree.source.text
        parts: list[str] = []
        at = start
        first = bisect_left(self._edits, Edit(start, start, 0, ""))
        for edit in self._edits[first:]:
            if edit.start > end or edit.end > end:
                break
            if edit.start < at:
                continue  # within one that was applied
            parts += [text[at : edit.start], edit.text]
            at = edit.end
        return "".join([*parts, text[at:end]])


__all__ = ["TORCH_SPECS", "Deletion", "Edit", "Plan"]
