"""What a run knows: what names mean where it stands, and what boxes hold.

Before::

    n = 4

    def build(spec):
        spec["x"] = n

After: inside ``build``, ``n`` is looked up in its scope and those around it, and ``spec`` is a box whose content changes.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from ..values import Callable, Collection, Constant, Dict, Fork, Imported, Sequence, Tensor, Unknown
from .heap import UNBOUND, Box, Content, Scope, State, settled, within
from .joining import joined, same
from .library import BUILTINS
from .names import Index, Names, index

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    import libcst as cst

    from ....stubs.tree import Tree
    from ..observe import Observer
    from ..values import Value
    from .activations import Activation

_FREE: Final = 50_000  # steps that any file may take
_PER_NODE: Final = 10  # and further ones for each node
_NO_NAMES: Final = Names()
Identity: TypeAlias = "tuple[cst.CSTNode, object]"  # not their addresses: another may have that of one that is gone


@dataclass(eq=False, slots=True)
class ClassInfo:
    """What is known of a class.

    Attributes:
        scope: The names in its body.
        bases: In order.
        fields: Of a namedtuple or a dataclass, with their defaults (None without one); None for another class.
        is_tuple: Whether it is a namedtuple.
        is_dataclass: Whether `dataclasses.dataclass` decorates it.
        is_changed: Whether a decorator that is not known may have changed it.
    """

    scope: Scope
    bases: list[Value]
    fields: dict[str, Value | None] | None = None
    is_tuple: bool = False
    is_dataclass: bool = False
    is_changed: bool = False


class Memory:
    """The names and boxes of a run, and where it stands."""

    def __init__(self, tree: Tree, observer: Observer) -> None:
        self.tree = tree
        self.observer = observer
        self.index: Index = index(tree.module)
        self.state = State()
        self.live = True
        self.muted = 0
        self.steps: int = 0
        self.born = 0  # how many boxes and scopes were made
        self.limit = _FREE + _PER_NODE * self.index.size
        self.module = Scope("module", "", None, None, set(self.index.scopes[None].bound))
        self.scope = self.module
        self.stack: list[Activation] = []
        self.star: Unknown | None = None  # the last star import that may bind any name
        self.patched: set[str] = set()  # qualified names that the file assigns to
        self.classes: dict[Callable, ClassInfo] = {}
        self.owners: dict[Scope, Callable] = {}  # the scope of a class's body → the class
        self.exits: dict[cst.CSTNode, bool] = {}  # loop → whether it has a `break` or a `continue`

    @property
    def here(self) -> Activation:
        """The function that is being run."""
        return self.stack[-1]

    @property
    def is_tired(self) -> bool:
        """Whether the file took so many steps that nothing is run twice any more."""
        return self.steps + self.state.time > self.limit

    # ------------------------------------------------------------------------------------ names

    def lookup(self, name: str, node: cst.CSTNode) -> Value:
        """Returns the value of a name."""
        scope = self.owner(name)
        value = UNBOUND if scope is None else scope.names.get(name, UNBOUND)
        if value is UNBOUND or (isinstance(value, Fork) and any(each is UNBOUND for each in value.options)):
            options = [each for each in value.options if each is not UNBOUND] if isinstance(value, Fork) else []
            if (scope is None or scope.kind in ("module", "class")) and name in BUILTINS:
                if self.star is not None:
                    return self.star
                options.append(Imported(f"builtins.{name}", node))
            elif scope is not None and scope.kind == "class":
                outer = self._global(name, node)
                options.extend([] if isinstance(outer, Unknown) and options else [outer])
            if not options:
                return self.star or Unknown(f"`{name}` is not bound here", node)
            return joined(options, node)
        return value

    def _global(self, name: str, node: cst.CSTNode) -> Value:
        value = self.module.names.get(name, UNBOUND)
        return Unknown(f"`{name}` is not bound here", node) if value is UNBOUND else value

    def owner(self, name: str, scope: Scope | None = None) -> Scope | None:
        """Returns the scope that a name belongs to; None if it is bound in none."""
        first = scope or self.scope
        at: Scope | None = first
        while at is not None:
            taken = at.outer.get(name)
            if taken == "global":
                return self.module
            if taken is None and name in at.bound and (at is first or at.kind != "class"):
                return at
            at = at.parent
        return None

    def bind(self, name: str, value: Value) -> None:
        """Binds a name in the scope that is being run."""
        self.state.bind(self.owner(name) or self.scope, name, value)

    def open(self, kind: str, name: str, node: cst.CSTNode, parent: Scope | None) -> Scope:
        """Returns a new scope."""
        names = self.index.scopes.get(node, _NO_NAMES)
        self.born += 1
        return Scope(kind, name, node, parent, set(names.bound), names.outer, born=self.born)

    @contextmanager
    def inside(self, scope: Scope) -> Generator[None, None, None]:
        """Runs what is in a scope of the same function: a class body, a comprehension."""
        before, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = before

    def walrus_scope(self) -> Scope:
        """Returns the scope that a walrus binds in: the one around comprehensions."""
        scope = self.scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope

    # ------------------------------------------------------------------------------------ boxes

    def box(self, content: Content) -> Value:
        """Returns a new mutable object, a `Box`: to those outside no value, but where values are, it may be."""
        self.born += 1
        made = Box([content], content.node, born=self.born)
        self.steps += len(within(content))
        return cast("Value", made)

    def content(self, value: Value | Box) -> Content | None:
        """Returns what a value holds now; None where that is not known, or may be one of several."""
        if isinstance(value, Box):
            return value.contents[0] if value.lost is None and len(value.contents) == 1 else None
        return value if isinstance(value, Sequence) else None

    def items(self, value: Value | Box) -> list[Value] | None:
        """Returns what a value gives when it is iterated; None where that is not known."""
        content = self.content(value)
        if isinstance(content, Sequence):
            return list(content.items)
        if isinstance(content, Dict):
            return [key for key, _ in content.entries.values()]
        if isinstance(value, Constant) and isinstance(value.value, str) and len(value.value) <= 256:
            return [Constant(each, value.node) for each in value.value]
        if isinstance(value, Tensor) and value.sizes and value.sizes[0] is not None and value.sizes[0] <= 64:
            return [Tensor(value.sizes[1:], value.node) for _ in range(value.sizes[0])]
        return None

    def items_now(self, value: Value | Box) -> list[Value] | None:
        """Returns what a value gives when it is iterated, which for an iterator is what its sources hold now."""
        if isinstance(value, Sequence) and value.again is not None:
            return value.again()  # type: ignore[operator,no-any-return]
        return self.items(value)

    def gives_still(self, value: Value | Box, items: list[Value], position: int, changes: int) -> bool:
        """Whether what is iterated still gives the items behind a position, after so many changes of boxes."""
        if len(self.state.changed) == changes:
            return True
        found = self.items_now(value)
        if found is None or len(found) != len(items):
            return False
        self.steps += len(items) - position
        return all(same(one, other) for one, other in zip(found[position + 1 :], items[position + 1 :], strict=True))

    def taken(self, value: Value) -> Value:
        """Returns a value from an observer, with objects that can change."""
        if isinstance(value, Dict):
            entries = {key: (name, self.taken(each)) for key, (name, each) in value.entries.items()}
            return self.box(replace(value, entries=entries))
        if isinstance(value, Sequence):
            made = replace(value, items=[self.taken(each) for each in value.items])
            return self.box(made) if value.kind == "list" else made
        if isinstance(value, Collection):
            return self.box(replace(value, entries=list(value.entries)))
        return value

    def joined(self, values: Iterable[Value], node: cst.CSTNode) -> Value:
        """Returns one of several values, as `joining.joined` does; what a value that is not known may be, it may change."""
        every = list(values)
        result = joined(every, node)
        if isinstance(result, Unknown):
            self.state.blur(every)
        return result

    def settled(self, value: Value) -> Value:
        """Returns a value that may be kept, as `heap.settled` does."""
        kept = settled(value)
        if kept is not value:
            self.state.blur([value])
        return kept


def identity(function: Callable) -> Identity:
    """Returns what tells functions apart, whichever objects they are bound to: their definition, and where it was run."""
    return function.node, function.around


__all__ = ["ClassInfo", "Identity", "Memory", "identity"]
