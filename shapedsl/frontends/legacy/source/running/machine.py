"""The abstract machine: where a run stands, what names mean, what is shown, and what code elsewhere may do.

Functions are run where they are called, with what they are called with. Each is also run once for callers that the
file does not show, after the code around it: there, parameters are unknown, and a name outside means what it may mean
whenever such a caller comes.

The longest module of the interpreter: a call, a name and code elsewhere change one state, and what may happen to it is
read here in one place. What can be told apart from it has modules of its own: the journal (`heap`), scopes (`names`),
calls, classes and statements.
"""

from __future__ import annotations

from bisect import bisect_right
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from ..observe import Frame
from ..values import (
    Callable,
    Collection,
    Constant,
    Dict,
    Fork,
    Imported,
    Made,
    Member,
    Partial,
    Relation,
    Sequence,
    Tensor,
    Unknown,
)
from .heap import MOST_OPTIONS, UNBOUND, Box, Content, Delta, Scope, State, joined, same, settled, within
from .library import BUILTINS, canonical
from .names import Index, Names, index

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    import libcst as cst

    from ....stubs.tree import Tree
    from ..observe import Argument, Observer
    from ..values import Value
    from .heap import Key

_FREE: Final = 50_000  # steps that any file may take
_PER_NODE: Final = 10  # and further ones for each node
_DEEPEST_CALL: Final = 8
_NO_NAMES: Final = Names()
_MADE: Final = ("torch.export.Dim", "torch.export.dims", "torch.export.ShapesCollection")  # what specs are made by


@dataclass(eq=False, slots=True)
class Loop:
    """A loop that is being run: where it began, and the states in which it was left."""

    level: int
    turn: int = 0
    breaks: list[Delta] = field(default_factory=list["Delta"])
    continues: list[Delta] = field(default_factory=list["Delta"])


@dataclass(eq=False, slots=True)
class Activation:
    """A module or a function that is being run.

    Attributes:
        level: The journal that it began.
        calls: As `Frame.calls`.
        path: The statements that are being run, the outermost first.
        returns: What it returned, and the state it left.
        loops: That are being run in it.
        unknown_loops: How many of those are not unrolled.
        made: The functions that were defined in it, which are run once more when it is over.
        within: The class bodies and comprehensions inside that are being run.
    """

    scope: Scope
    name: str
    node: cst.CSTNode | None
    level: int
    calls: tuple[cst.CSTNode, ...]
    path: list[cst.CSTNode] = field(default_factory=list["cst.CSTNode"])
    returns: list[tuple[Value, Delta]] = field(default_factory=list["tuple[Value, Delta]"])
    loops: list[Loop] = field(default_factory=list["Loop"])
    unknown_loops: int = 0
    made: list[tuple[Callable, Scope | None]] = field(default_factory=list["tuple[Callable, Scope | None]"])


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
    pending: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


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


class Machine:
    """What a run knows; statements and expressions are run by the modules beside this one."""

    def __init__(self, tree: Tree, observer: Observer) -> None:
        self.tree = tree
        self.observer = observer
        self.index: Index = index(tree.module)
        self.state = State()
        self.live = True
        self.muted = 0
        self.steps = 0
        self.born = 0  # how many boxes and scopes were made
        self.limit = _FREE + _PER_NODE * self.index.size
        self.module = Scope("module", "", None, None, set(self.index.scopes[None].bound))
        self.scope = self.module
        self.stack: list[Activation] = []
        self.star: Unknown | None = None  # the last star import that may bind any name
        self.patched: set[str] = set()  # qualified names that the file assigns to
        self.refused: dict[tuple[int, int], cst.CSTNode] = {}  # functions → a call of it that was not entered
        # What code elsewhere may call, and since when; those of them that change something outside.
        self.escaped: dict[tuple[int, int], tuple[Callable, int]] = {}
        self.disturbing: dict[tuple[int, int], bool] = {}
        self.defaults_by_node: dict[tuple[cst.CSTNode, int], dict[str, Value]] = {}
        self.classes: dict[Callable, ClassInfo] = {}
        self.owners: dict[Scope, Callable] = {}  # the scope of a class's body → the class
        self.exits: dict[cst.CSTNode, bool] = {}  # loop → whether it has a `break` or a `continue`
        self._blurred: dict[tuple[int, str], int] = {}
        self._effects: dict[tuple[int, int], list[Key]] = {}
        self._changes: Changes | None = None
        self._shown: dict[int, tuple[object, Value]] = {}
        self._shown_at = -1

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

    # -------------------------------------------------------------------------------- functions

    def can_enter(self, function: Callable) -> bool:
        """Whether a function of the file may be run where it is called."""
        if self.is_tired or len(self.stack) > _DEEPEST_CALL:
            return False
        return all(activation.node is not function.node for activation in self.stack)

    def enter(self, function: Callable, names: dict[str, Value], call: cst.CSTNode | None) -> Value:
        """Returns what a function returns, after running its body.

        Args:
            function: A function or a lambda with a body.
            names: Its parameters.
            call: The call; None for callers that the file does not show.
        """
        import libcst as cst

        from .expressions import evaluate
        from .statements import execute

        node = function.node
        around = function.around if isinstance(function.around, Scope) else self.module
        scope = self.open("function", function.name, node, around)
        refused = self.refused.get(identity(function))
        if function.inner is None and identity(function) in self.escaped:
            refused = node  # what it is handed to calls it: `map(trace, sizes)`
        if call is not None:
            calls = (*self.here.calls, call)
        else:  # what it is called with where it calls itself is not known, as where others call it
            calls = () if refused is None else (refused,)
        before, live = self.scope, self.live
        activation = Activation(scope, function.name, node, self.state.push(), calls)
        self.stack.append(activation)
        self.scope, self.live = scope, True
        try:
            for name, value in names.items():
                self.state.bind(scope, name, value)
            if isinstance(node, cst.Lambda):
                activation.path.extend(self.stack[-2].path if call is not None and len(self.stack) > 1 else [])
                self.leave(evaluate(self, node.body))
            elif isinstance(node, cst.FunctionDef):
                execute(self, node.body)
                if self.live:
                    self.leave(Constant(None, node))
            if call is None:
                self.run_made(activation)
        finally:
            self.stack.pop()
            self.scope, self.live = before, live
            self.state.pop()
        if not activation.returns:  # it always raises, or never ends
            self.live = False
            return Unknown(f"`{function.name}` does not return", node)
        self.state.join([delta for _, delta in activation.returns], call or node)
        return self.joined([value for value, _ in activation.returns], call or node)

    def leave(self, value: Value) -> None:
        """Returns from the function that is being run."""
        here = self.here
        here.returns.append((value, self.state.capture(here.level, leave_out=None if here.made else here.scope)))
        self.live = False

    def run_unseen(self, function: Callable) -> None:
        """Runs a function for callers that the file does not show."""
        from .calls import unknown_params

        if any(activation.node is function.node for activation in self.stack):
            return
        mark, born, known = self.state.mark(), self.born, len(self.escaped)
        self.state.push()
        live = self.live
        self._look_back(function)
        self.enter(function, unknown_params(function), None)
        self.live = live
        self.state.pop()
        self.state.forget_since(mark, born)
        self._forget_functions(known, born)

    def _forget_functions(self, known: int, born: int) -> None:
        """Forgets functions that were made in a branch that is undone for good."""
        for key in list(self.escaped)[known:]:
            around = self.escaped[key][0].around
            if isinstance(around, Scope) and around.born > born:
                del self.escaped[key]
                self.disturbing.pop(key, None)
                self._changes = None

    def run_made(self, activation: Activation) -> None:
        """Runs the functions that were defined in a function, or the module, once it is over."""
        functions = [self._as_method(function, scope) for function, scope in activation.made]
        self.state.push()
        for function in functions:
            self.forget(self.effects(function), f"`{function.name}` may change it", function.node)
        if self.muted:
            self.state.commit()
            return
        for function in functions:
            self.run_unseen(function)
        self.state.pop()

    def _as_method(self, function: Callable, scope: Scope | None) -> Callable:
        """Returns a method of an object that is made elsewhere, or of its class; another function as it is."""
        import libcst as cst

        from .names import dotted

        owner = self.owners.get(scope) if scope is not None else None
        if owner is None or not isinstance(function.node, cst.FunctionDef):
            return function
        kinds = {dotted(each.decorator) for each in function.node.decorators}
        if "staticmethod" in kinds:
            return function
        lost = Unknown("attributes may be set elsewhere", function.node)
        attributes = Box([Dict({}, function.node)], function.node, lost, is_object=True)
        receiver = Callable("object", owner.signature, owner.name, owner.node, inner=owner, attributes=attributes)  # type: ignore[arg-type]
        return replace(function, inner=owner if "classmethod" in kinds else receiver)

    def effects(self, function: Callable) -> list[Key]:
        """Returns which names and boxes a function changes, whoever calls it."""
        found = self._effects.get(identity(function))
        if found is None:
            from .calls import unknown_params

            self._effects[identity(function)] = []
            if any(activation.node is function.node for activation in self.stack):
                return []
            mark, born, known = self.state.mark(), self.born, len(self.escaped)
            self.state.push()
            self.muted += 1
            live = self.live
            try:
                self.enter(function, unknown_params(replace(function, inner=None)), None)
            finally:
                self.muted -= 1
                self.live = live
                delta = self.state.pop()
            self.state.forget_since(mark, born)
            self._forget_functions(known, born)
            found = [key for key in delta if (key if isinstance(key, Box) else key[0]).born <= born]
            self._effects[identity(function)] = found
        return found

    def _look_back(self, function: Callable) -> None:
        """Gives names outside all values that they had since code elsewhere may call a function."""
        escaped = self.escaped.get(identity(function))
        if escaped is None:
            return
        since = escaped[1]
        scope = function.around if isinstance(function.around, Scope) else None
        while scope is not None:
            for name in scope.rebound:
                entries = scope.history[name]
                first = bisect_right(entries, since, key=lambda entry: entry[0])
                if first < len(entries):
                    value = self._any_of(scope, name, max(first - 1, 0), function.node)
                    if value is not scope.names.get(name):
                        self.state.bind(scope, name, value)
            scope = scope.parent
        changed: dict[Box, None] = {}
        for time, box in reversed(self.state.changed):
            if time <= since:
                break
            changed[box] = None
        for box in changed:
            self.state.lose(box, Unknown(f"it changes after `{function.name}` can be called", function.node))

    def _any_of(self, scope: Scope, name: str, first: int, node: cst.CSTNode) -> Value:
        """Returns any of the values that a name had since."""
        entries = scope.history[name]
        now = scope.names.get(name, UNBOUND)
        unknown = now if isinstance(now, Unknown) else None
        if len(entries) - first < 2 * MOST_OPTIONS - 1:
            values = [now, *(value for _, value in entries[first:]), *([UNBOUND] if first == 0 else [])]
            unknown = next((value for value in values if isinstance(value, Unknown)), None)
            if unknown is None:
                return self.joined(values, node)
        done = self._blurred.get((id(scope), name), 0)
        if done < len(entries):  # each once
            self.state.blur([value for _, value in entries[done:]])
            self._blurred[id(scope), name] = len(entries)
        return unknown or Unknown("it is bound too often", node)

    def function(self, node: cst.FunctionDef | cst.Lambda, name: str) -> Callable:
        """Returns the function that a definition or a lambda makes."""
        import libcst as cst

        from .expressions import evaluate
        from .signatures import signature_of

        scope = self.scope
        around: Scope | None = scope
        while around is not None and around.kind == "class":
            around = around.parent
        is_method = scope.kind == "class" and isinstance(node, cst.FunctionDef)
        made = Callable("function", signature_of(node, name, is_method=is_method), name, node, around=around)
        params = node.params
        defaults: dict[str, Value] = {}
        for each in (*params.posonly_params, *params.params, *params.kwonly_params):
            if each.default is not None:
                defaults[each.name.value] = evaluate(self, each.default)
        self.defaults_by_node[node, id(around)] = defaults
        self.here.made.append((made, scope if is_method else None))
        return made

    def defaults_of(self, function: Callable) -> dict[str, Value]:
        """Returns the values of a function's parameters that a call may leave out."""
        return self.defaults_by_node.get((function.node, id(function.around)), {})

    def method_of(self, value: Callable) -> Callable | None:
        """Returns the function that a call of an object runs, where the file shows it."""
        from .classes import attribute, member

        made = value.inner
        if not isinstance(made, Callable):
            return None
        for name in ("__call__", "forward"):
            held, at = member(self, made, name)
            if isinstance(held, Unknown) and name == "__call__":
                continue  # `torch.nn.Module` has it, or another class that is not in the file
            if held is not None:
                found = attribute(self, value, name, made.node) if at is not None else held
                return found if isinstance(found, Callable) and found.around is not None else None
        return None

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

    # ------------------------------------------------------------------------- what is elsewhere

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

    def joined(self, values: Iterable[Value], node: cst.CSTNode) -> Value:
        """Returns one of several values, as `heap.joined` does; what a value that is not known may be, it may change."""
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
            changed = self._effects.get(key)
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

    # ------------------------------------------------------------------------------------ shown

    def frame(self, node: cst.CSTNode) -> Frame:
        """Returns where the run stands, for an observer."""
        here = self.here
        scope = self.scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        inner = scope

        def lookup(name: str) -> Value:
            before, self.scope = self.scope, inner
            try:
                return self.show(self.lookup(name, node))
            finally:
                self.scope = before

        path = tuple(here.path)
        return Frame(
            here.name, scope.node, path[-1] if path else node, path, here.calls, here.unknown_loops > 0, lookup
        )

    def show(self, value: Value) -> Value:
        """Returns a value as observers see it: as it is now, whatever changes later."""
        if self._shown_at != self.state.time:
            self._shown.clear()
            self._shown_at = self.state.time
        return self._show(value, ())

    def _show(self, value: Value, around: tuple[int, ...]) -> Value:
        if isinstance(value, (Constant, Tensor, Imported, Made, Unknown)):
            return value
        found = self._shown.get(id(value))
        if found is not None:
            return found[1]
        if id(value) in around:
            return Unknown("it contains itself", value.node)
        self.steps += 1
        inner = (*around, id(value))
        shown: Value = value
        if isinstance(value, Box):
            if value.lost is not None:
                shown = value.lost
            else:
                every = [self._show(content, inner) for content in value.contents]
                shown = every[0] if len(every) == 1 else Fork(every, value.node)
        elif isinstance(value, Dict):
            entries = {k: (self._show(a, inner), self._show(b, inner)) for k, (a, b) in value.entries.items()}
            shown = replace(value, entries=entries, steps=list(value.steps))
        elif isinstance(value, Sequence):
            shown = replace(value, items=[self._show(item, inner) for item in value.items], steps=list(value.steps))
        elif isinstance(value, Collection):
            shown = replace(
                value, entries=[(self._show(a, inner), self._show(b, inner), step) for a, b, step in value.entries]
            )
        elif isinstance(value, Fork):
            shown = joined([self._show(option, inner) for option in value.options if option is not UNBOUND], value.node)
        elif isinstance(value, Callable):
            attributes = None if value.attributes is None else self._show(value.attributes, inner)
            shown = replace(
                value,
                inner=None if value.inner is None else self._show(value.inner, inner),
                attributes=attributes if isinstance(attributes, Dict) else None,
            )
        elif isinstance(value, Member):
            shown = replace(value, owner=self._show(value.owner, inner))
        elif isinstance(value, Relation):
            shown = replace(value, left=self._show(value.left, inner), right=self._show(value.right, inner))
        elif isinstance(value, Partial):
            args = [replace(each, value=self._show(each.value, inner)) for each in value.args]
            shown = replace(value, inner=self._show(value.inner, inner), args=args)
        self._shown[id(value)] = (value, shown)
        return shown


def identity(function: Callable) -> tuple[int, int]:
    """Returns what tells functions apart, whichever objects they are bound to: their definition, and where it was run."""
    return id(function.node), id(function.around)


__all__ = ["Activation", "ClassInfo", "Loop", "Machine", "identity"]
