"""What is to be edited in a file, by places in its text: everything between stays as it was, to the letter.

The stages of a rewrite write into one `Plan`: first the sites (`rewrite`), then what they left without a use
(`dead`), then the names that are needed and those that no longer are (`imports`).

Before::

    rows = Dim("rows", max=64)      # edit: `Dim` → `ShapeVar`
    export(net, args, dynamic_shapes={"a": {0: rows}})
                                    # edits: `{` → `ShapesSpec({`, `{0: ` → `TensorSpec([`, …

After::

    rows = ShapeVar("rows", max=64)
    export(net, args, dynamic_shapes=ShapesSpec({"a": TensorSpec([rows, None])}))
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from dataclasses import dataclass, replace
from functools import cached_property
from keyword import iskeyword
from typing import TYPE_CHECKING, Final

from ....stubs.tree import Tree
from .scopes import scopes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import libcst as cst

TORCH_SPECS: Final = "torch.fx.experimental.dynamic_spec"


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """``text[start:end]`` becomes ``text``. An insertion has ``start == end``; several at one place keep their order."""

    start: int
    end: int
    order: int
    text: str


class Plan:
    """The edits of one file.

    Attributes:
        tree: The file.
        needed: Qualified name → the name it is written with; `imports` adds what is not there.
        obsolete: What built specs that are built elsewhere now: displays, steps, definitions. `dead` deletes of it
            what nothing else uses.
        deleted: Whole statements and arguments that go.
    """

    def __init__(self, tree: Tree, imported: Mapping[str, str] | None = None) -> None:
        """Args:
        tree: The file.
        imported: Qualified name → the name under which the whole file knows it; see `imports.known`.
        """
        self.tree = tree
        self.needed: dict[str, str] = {}
        self.obsolete: list[cst.CSTNode] = []
        self.deleted: dict[cst.CSTNode, None] = {}
        self._imported = dict(imported or {})
        self._edits: list[Edit] = []
        self._before: dict[cst.CSTNode, list[str]] = {}
        self._fresh: list[tuple[str, str, tuple[int, int]]] = []  # a made name, the wish for it, where it is seen
        self._count = 0

    # ------------------------------------------------------------------------------------- names

    @cached_property
    def _words(self) -> set[str]:
        return {node.value for node in scopes_of(self.tree).of("Name")}

    def fresh(self, wish: str) -> str:
        """Returns ``wish``, or with a number what no name of the file is called; each answer once."""
        made, count = wish, 1
        while made in self._words or iskeyword(made):
            count += 1
            made = f"{wish}_{count}"
        self._words.add(made)
        return made

    def fresh_above(self, statement: cst.CSTNode, wish: str) -> str:
        """Returns a fresh name for what a line above ``statement`` defines; `settle_names` may find a nicer one."""
        import libcst as cst

        function = next(
            (each for each in scopes_of(self.tree).above(statement) if isinstance(each, cst.FunctionDef)), None
        )
        seen = (0, len(self.tree.source.text)) if function is None else self.tree.extent(function)
        made = self.fresh(wish)
        self._fresh.append((made, wish, seen))
        return made

    def settle_names(self) -> None:
        """Gives fresh names without need for their numbers the wished ones: of what goes, or is elsewhere."""
        scopes = scopes_of(self.tree)
        if scopes.is_reflective or all(made == wish for made, wish, _ in self._fresh):
            return
        from .texts import renamed

        used = self._staying()
        given = [(name.partition(".")[0], (0, len(self.tree.source.text))) for name in self.needed.values()]
        names: dict[str, str] = {}
        for made, wish, seen in self._fresh:
            name, count = wish, 1
            while (
                iskeyword(name)
                or any(low < seen[1] and seen[0] < high for low, high in used.get(name, []))
                or any(name == other and low < seen[1] and seen[0] < high for other, (low, high) in given)
            ):
                count += 1
                name = f"{wish}_{count}"
            given.append((name, seen))
            names[made] = name
        self._edits = [replace(each, text=renamed(each.text, names)) for each in self._edits]
        for lines in self._before.values():
            lines[:] = [renamed(line, names) for line in lines]

    def _staying(self) -> dict[str, list[tuple[int, int]]]:
        """Returns where each name of the file's text stays."""
        import libcst as cst

        from .dead import Stretches, gone_spans

        gone = Stretches(gone_spans(self))
        found: dict[str, list[tuple[int, int]]] = {}
        for node in scopes_of(self.tree).nodes:
            if isinstance(node, cst.Name) and not gone.holds(self.tree.extent(node)):
                found.setdefault(node.value, []).append(self.tree.extent(node))
        return found

    def need(self, name: str, module: str = TORCH_SPECS) -> str:
        """Returns how the file writes a name of ``module``, which is imported if it is not yet: ``ShapeVar``."""
        return self._needed(f"{module}.{name}", name)

    def need_module(self, module: str, wish: str) -> str:
        """Returns how the file writes a module: ``sd`` for ``import shapedsl as sd``."""
        return self._needed(module, wish)

    def _needed(self, qualified: str, wish: str) -> str:
        if qualified not in self.needed:
            known = self._imported.get(qualified)
            self.needed[qualified] = known if known is not None else self.fresh(wish)
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

    def begin(self, statement: cst.CSTNode) -> int:
        """Returns where a statement begins, its decorators included."""
        decorators = getattr(statement, "decorators", ())
        return self.tree.extent(decorators[0] if decorators else statement)[0]

    def edit(self, start: int, end: int, text: str) -> None:
        """Replaces a stretch of the text; edits within it, made before, are dropped, insertions at its ends are not."""
        if end > start:
            self._edits = [
                each
                for each in self._edits
                if not (start <= each.start and each.end <= end and (each.start < each.end or start < each.start < end))
            ]
        self._count += 1
        insort(self._edits, Edit(start, end, self._count, text))

    def replace(self, node: cst.CSTNode, text: str) -> None:
        """Replaces an expression, an argument or a statement, with the parentheses around it."""
        start, end = self.outer(node)
        self._edits = [each for each in self._edits if not start <= each.start <= each.end <= end]
        self.edit(start, end, text)

    def insert_before(self, statement: cst.CSTNode, lines: Iterable[str]) -> None:
        """Writes lines above a statement (a line of a block or a compound one), indented as it is."""
        self._before.setdefault(statement, []).extend(lines)

    def delete(self, node: cst.CSTNode) -> None:
        """Deletes a statement, small or compound, or an argument of a call; `dead` sees to commas and lines."""
        self.deleted[node] = None

    def is_gone(self, node: cst.CSTNode) -> bool:
        """Whether the original text of a node is replaced or deleted as a whole."""
        start, end = self.tree.extent(node)
        stretches = [(edit.start, edit.end) for edit in self._edits if edit.start < edit.end]
        stretches += [self.outer(each) for each in self.deleted]
        return any(low <= start and end <= high for low, high in stretches)

    def text(self, node: cst.CSTNode) -> str:
        """Returns what a node's text becomes, as far as it is planned, without the parentheses around it."""
        start, end = self.tree.extent(node)
        at = bisect_left(self._edits, start, key=lambda each: each.start)
        within: list[Edit] = []
        for edit in self._edits[at:]:
            if edit.start > end:
                break
            if edit.end <= end:
                within.append(edit)
        return _applied(self.tree.source.text, within, start, end)

    def spans(self) -> list[tuple[int, int]]:
        """Returns every stretch of the text that is replaced."""
        return [(edit.start, edit.end) for edit in self._edits if edit.start < edit.end]

    def additions(self) -> list[tuple[int, str]]:
        """Returns every text that is added, and where: of lines, where their statement begins."""
        found = [(edit.start, edit.text) for edit in self._edits if edit.text]
        for statement, lines in self._before.items():
            found += [(self.begin(statement), line) for line in lines]
        return found

    def lines_in(self, start: int, end: int) -> list[str]:
        """Returns the lines that are written above statements in a stretch of the text."""
        found: list[str] = []
        for statement, lines in self._before.items():
            if start <= self.begin(statement) < end:
                found += lines
        return found

    def written(self) -> Iterator[str]:
        """Yields every text that is added, for a look at the names in it."""
        for _, text in self.additions():
            yield text

    def apply(self) -> str:
        """Returns the text of the file with all of it done."""
        from .comments import lost
        from .deletion import edits_of

        text = self.tree.source.text
        cuts = [Edit(start, end, 0, new) for start, end, new in edits_of(self)]
        kept = [each for each in self._edits if not any(_falls(each, cut) for cut in cuts)]
        for statement, lines in self._before.items():
            at = self.begin(statement)
            if not any(cut.start <= at < cut.end for cut in cuts):  # else the cut has them
                kept.append(self._inserted(statement, lines))
        edits = sorted([*kept, *cuts], key=_rank)
        done = [(each.start, each.end, each.text) for each in _in_order(edits) if each.start < each.end]
        for statement, lines in lost(self.tree, scopes_of(self.tree), done):
            edits.append(self._inserted(statement, lines))
        return _applied(text, sorted(edits, key=_rank), 0, len(text))

    def _inserted(self, statement: cst.CSTNode, lines: list[str]) -> Edit:
        text = self.tree.source.text
        at = self.begin(statement)
        start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
        indent = text[start:at]
        if indent.strip(" \t\ufeff"):  # `if x: y = 1`, or not the first statement of its line
            return Edit(at, at, -1, "".join(f"{line}; " for line in lines))
        return Edit(at, at, -1, "".join(f"{line}{self.newline}{indent}" for line in lines))

    @cached_property
    def newline(self) -> str:
        """How the file ends its lines; as its first line does."""
        found = re.search(r"\r\n|\r|\n", self.tree.source.text)
        return found[0] if found else "\n"


def _rank(edit: Edit) -> tuple[int, int, int, int]:
    """Returns what edits are sorted by: at one place imports come first, then definitions, then what is inserted."""
    is_line = edit.start == edit.end and edit.text.endswith(("\n", "\r"))
    return edit.start, edit.end, 1 if edit.order < 0 else 0 if is_line else 2, edit.order


def _falls(edit: Edit, cut: Edit) -> bool:
    """Returns whether an edit lies within what is deleted; an insertion at its edge does not."""
    if edit.start == edit.end:
        return cut.start < edit.start < cut.end
    return cut.start <= edit.start and edit.end <= cut.end


def _in_order(edits: Iterable[Edit], start: int = 0) -> Iterator[Edit]:
    """Yields the edits from ``start`` on, without those that lie within one before them."""
    at = start
    for edit in edits:
        if edit.start >= at:
            yield edit
            at = edit.end


def _applied(text: str, edits: Iterable[Edit], start: int, end: int) -> str:
    parts: list[str] = []
    at = start
    for edit in _in_order(edits, start):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:end]])


__all__ = ["TORCH_SPECS", "Edit", "Plan"]
