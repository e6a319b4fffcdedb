"""The edits of one site, collected before any is made: a site is rewritten whole or not at all.

Several sites may edit one node (a Dim they share): then they must want the same of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from .places import Places
from .plan import Plan
from .scopes import Scopes

if TYPE_CHECKING:
    import libcst as cst

    from .variables import Needed

Stretch: TypeAlias = tuple[int, int, str]


class ImpossibleError(Exception):
    """A node cannot be edited in place; what it stands in may still be written anew.

    Attributes:
        node: That another use needs it as it is, so that the next attempt leaves it alone.
    """

    def __init__(self, reason: str, node: cst.CSTNode | None = None) -> None:
        super().__init__(reason)
        self.node = node


@dataclass(eq=False)
class File:
    """What the sites of a file share, for one attempt.

    Attributes:
        plan: Receives the edits.
        scopes: Which uses a name has.
        places: Where definitions may stand.
        frozen: Nodes that stay as they are: something uses them that is not converted.
        done: Node → what was done to it.
        covered: Expressions that give a converted site its spec, or a part of it.
        kinds: Node → the class of torch of what it makes now.
        names: ``(variable, statement)`` → the name of the definition that was written above the statement.
    """

    plan: Plan
    scopes: Scopes
    places: Places
    frozen: frozenset[cst.CSTNode]
    done: dict[cst.CSTNode, tuple[Stretch, ...]] = field(default_factory=dict["cst.CSTNode", "tuple[Stretch, ...]"])
    covered: set[cst.CSTNode] = field(default_factory=set["cst.CSTNode"])
    kinds: dict[cst.CSTNode, str] = field(default_factory=dict["cst.CSTNode", str])
    names: dict[tuple[Needed, cst.CSTNode], str] = field(default_factory=dict["tuple[Needed, cst.CSTNode]", str])


class Draft:
    """The edits of one site.

    Attributes:
        file: What they are for.
        done: Node → what is done to it, in the order of discovery: what surrounds comes first.
        covered: As `File.covered`.
        obsolete: Nodes whose values are built elsewhere.
        kinds: As `File.kinds`.
        ranks: Display → how many dims the tensor has that it is for.
        laid_out: Node → the same edits, and those of its layout.
    """

    def __init__(self, file: File) -> None:
        self.file = file
        self.done: dict[cst.CSTNode, tuple[Stretch, ...]] = {}
        self.covered: set[cst.CSTNode] = set()
        self.obsolete: dict[cst.CSTNode, None] = {}
        self.ranks: dict[cst.CSTNode, int] = {}
        self.kinds: dict[cst.CSTNode, str] = {}
        self.laid_out: dict[cst.CSTNode, list[Stretch]] = {}
        self._lines: dict[tuple[Needed, cst.CSTNode], tuple[str, str]] = {}

    def edit(self, node: cst.CSTNode, stretches: list[Stretch], kind: str = "") -> None:
        """Edits a node.

        Args:
            node: What is edited.
            stretches: The edits.
            kind: The class of torch of what it makes then.

        Raises:
            ImpossibleError: It is to stay, or another site, or another branch, wants something else of it.
        """
        wanted = tuple(stretches)
        if node in self.file.frozen:
            raise ImpossibleError("it is used elsewhere", node)
        for known in (self.done.get(node), self.file.done.get(node)):
            if known is not None and known != wanted:
                raise ImpossibleError("it is used in two ways", node)
        self.done[node] = wanted
        if kind:
            self.kinds[node] = kind

    def replace(self, node: cst.CSTNode, text: str) -> None:
        """Replaces an expression, with the parentheses around it."""
        start, end = self.file.plan.outer(node)
        self.edit(node, [(start, end, text)])

    def define(self, variable: Needed, statement: cst.CSTNode, text: str, wish: str) -> str:
        """Writes ``name = text`` above a statement, once; returns the name."""
        key = (variable, statement)
        if key in self.file.names:
            return self.file.names[key]
        if key not in self._lines:
            name = self.file.plan.fresh_above(statement, wish)
            self._lines[key] = name, f"{name} = {text}"
        return self._lines[key][0]

    def mark(self) -> Callable[[], None]:
        """Returns what forgets all that is done from here on."""
        done, covered, obsolete, lines = dict(self.done), set(self.covered), dict(self.obsolete), dict(self._lines)

        def reset() -> None:
            self.done, self.covered, self.obsolete, self._lines = done, covered, obsolete, lines

        return reset

    def text(self, node: cst.CSTNode) -> str:
        """Returns what an expression becomes by this draft, with the parentheses around it."""
        start, end = self.file.plan.outer(node)
        stretches = sorted(
            stretch for each in self.done.values() for stretch in each if start <= stretch[0] and stretch[1] <= end
        )
        text, parts, at = self.file.plan.tree.source.text, list[str](), start
        for low, high, new in stretches:
            if low >= at:
                parts += [text[at:low], new]
                at = high
        return "".join([*parts, text[at:end]])

    def commit(self) -> None:
        """Makes the edits."""
        plan = self.file.plan
        for node, stretches in self.done.items():
            if node not in self.file.done:
                for start, end, text in self.laid_out.get(node, stretches):
                    plan.edit(start, end, text)
        for key, (name, line) in self._lines.items():
            self.file.names[key] = name
            plan.insert_before(key[1], [line])
        self.file.done |= self.done
        self.file.covered |= self.covered
        self.file.kinds |= {node: kind for node, kind in self.kinds.items() if node in self.done}
        plan.obsolete += self.obsolete


__all__ = ["Draft", "File", "ImpossibleError", "Stretch"]
