"""What code that the file does not show may do: what it is given it may change, and functions it knows it may call.

Before::

    spec = {0: n}
    register(spec)
    other()

After: ``spec`` may hold anything from the second line on, and changes again wherever code elsewhere runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ..values import Callable, Fork, Imported, Partial, Sequence, Unknown
from .heap import UNBOUND, Box, Scope, within
from .library import canonical
from .memory import Memory, identity

if TYPE_CHECKING:
    from collections.abc import Iterable

    import libcst as cst

    from ....stubs.tree import Tree
    from ..observe import Argument, Observer
    from ..values import Value
    from .heap import Key
    from .memory import Identity

_MADE: Final = ("torch.export.Dim", "torch.export.dims", "torch.export.ShapesCollection")  # what specs are made by


@dataclass(eq=False, slots=True)
class Changes:
    """What code elsewhere may change by calling functions of the file.

    Attributes:
        of: The functions, each with names and boxes that no earlier one changes.
        steps: How many they change, counted for each.
        pending: Those that change nothing as far as is known, while they are being run.
    """

    of: list[tuple[Callable, list[Key]]] = field(default_factory=list["tuple[Callable, list[Key]]"])
    steps: int = 0
    pending: list[Identity] = field(default_factory=list["Identity"])


class Elsewhere(Memory):
    """A memory that other code may change.

    Attributes:
        escaped: Functions that code elsewhere may call, each with the time since when.
        disturbing: Those of them that change something outside, or are not known to change nothing.
        effects_by_function: What each function changes, of those that were asked about.
    """

    def __init__(self, tree: Tree, observer: Observer) -> None:
        super().__init__(tree, observer)
        self.escaped: dict[Identity, tuple[Callable, int]] = {}
        self.disturbing: dict[Identity, bool] = {}
        self.effects_by_function: dict[Identity, list[Key]] = {}
        self._changes: Changes | None = None

    def effects(self, function: Callable) -> list[Key]:
        """Returns which names and boxes a function changes, whoever calls it."""
        raise NotImplementedError  # what runs functions knows

    def tell_callables(self, args: Iterable[Argument], node: cst.CSTNode) -> None:
        """Says that code elsewhere may call the functions that it is given, but changes no container."""
        found: list[Value] = [
            each.value for each in args if isinstance(each.value, (Callable, Fork, Sequence, Partial))
        ]
        functions: list[Value] = []
        while found:
            value = found.pop()
            if isinstance(value, Callable):
                functions.append(value)
            else:
                found.extend(within(value))
        self.escape(functions, node)
        if self.escaped:
            self.disturb(node)

    def forget_all(self, reason: Unknown) -> None:
        """Makes every name unknown that can be seen here, but functions and modules of torch: so a call is told of."""
        scope: Scope | None = self.scope
        while scope is not None:
            self.state.blur(scope.names.values())
            for name in list(scope.names):
                value = scope.names[name]
                if not isinstance(value, Imported) or canonical(value.name) in _MADE:
                    self.state.bind(scope, name, reason)
            scope = scope.parent

    def forget(self, keys: Iterable[Key], reason: str, node: cst.CSTNode) -> None:
        """Makes names and boxes unknown."""
        for key in keys:
            if isinstance(key, Box):
                if key.lost is None:
                    self.state.lose(key, Unknown(reason, node))
                continue
            value = key[0].names.get(key[1], UNBOUND)
            if not isinstance(value, Unknown):
                self.state.blur([value])
                self.state.bind(*key, Unknown(reason, node))

    def unknown_store(self, node: cst.CSTNode, *, of_object: bool = False) -> None:
        """Says that something that is not known is changed: an item of it, or an attribute."""
        self.steps += len(self.state.intact) // 4
        if self.is_tired:
            self.state.lose_for_good(Unknown("something that is not known here is changed, which it may be", node))
        for box in list(self.state.intact):
            if box.is_object or not of_object:
                self.state.lose(box, Unknown("something that is not known here is changed, which it may be", node))

    def escape(self, values: Iterable[Value | Box], node: cst.CSTNode, *, reason: str | None = None) -> None:
        """Hands values to code that the file does not show.

        Args:
            values: What it can reach from now on.
            node: Where.
            reason: Why boxes are not known from now on; None if they are stored, and change with the next call only.
        """
        todo: list[Value | Box] = list(values)
        seen: set[int] = set()
        while todo:
            value = todo.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Box):
                for content in value.contents:
                    todo.extend(within(content))
                self.state.escape(value)
                if reason is not None:
                    self.state.lose(value, Unknown(reason, node))
            elif isinstance(value, Callable):
                todo.extend(each for each in (value.inner, value.attributes) if each is not None)
                if value.kind == "function" and value.around is not None:
                    key = identity(value)
                    self.escaped.setdefault(key, (value, self.state.time))
                    if key not in self.disturbing:
                        self.disturbing[key] = True
                        self._changes = None
                if value in self.classes:
                    todo.extend(self.classes[value].scope.names.values())
            else:
                todo.extend(within(value))

    def unknown_call(self, values: Iterable[Value], node: cst.CSTNode) -> None:
        """Says that code elsewhere runs, and is given values."""
        reason = "a call may change it"
        self.escape(values, node, reason=reason)
        self.steps += len(self.state.intact) // 4
        if self.is_tired:
            self.state.lose_for_good(Unknown(reason, node))
        for box in list(self.state.intact):
            self.state.lose(box, Unknown(reason, node))
        self.disturb(node)

    def disturb(self, node: cst.CSTNode) -> None:
        """Says that what code elsewhere can call may be called."""
        if self._changes is not None:
            self.steps += self._changes.steps
            for function, changed in self._changes.of:
                self.forget(changed, f"`{function.name}` may change it", node)
            pending = self._changes.pending
        else:
            pending = list(self.disturbing)
        for key in pending:
            function = self.escaped[key][0]
            changed = self.effects(function)
            if changed:
                self.steps += len(changed)
                self.forget(changed, f"`{function.name}` may change it", node)
                self._changes = None
            elif all(activation.node is not function.node for activation in self.stack):
                self.disturbing.pop(key, None)
                self._changes = None
        if self._changes is None:
            self._changes = self._all_changes()

    def _all_changes(self) -> Changes | None:
        """Returns what functions that code elsewhere can call change, each name and box once; None if not all is known."""
        found = Changes()
        seen: set[Key] = set()
        for key in self.disturbing:
            changed = self.effects_by_function.get(key)
            if changed is None:
                return None
            if not changed:
                found.pending.append(key)
                continue
            found.steps += len(changed)
            new = [each for each in changed if each not in seen]
            if new:
                seen.update(new)
                found.of.append((self.escaped[key][0], new))
        return found

    def forget_functions(self, known: int, born: int) -> None:
        """Forgets functions that were made in a branch that is undone for good."""
        for key in list(self.escaped)[known:]:
            around = self.escaped[key][0].around
            if isinstance(around, Scope) and around.born > born:
                del self.escaped[key]
                self.disturbing.pop(key, None)
                self._changes = None


__all__ = ["Elsewhere"]
