"""The abstract machine: functions are run where they are called, with what they are called with.

What it knows is `memory`, what code that the file does not show may do to that `elsewhere`, what is shown to an observer
`showing`; the functions are run once more in `unseen`, for callers that the file does not show. Statements and
expressions are run by the modules beside these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..values import Callable, Constant, Unknown
from .activations import Activation
from .elsewhere import Elsewhere
from .heap import Scope
from .memory import identity
from .showing import Shower
from .unseen import effects, run_made

if TYPE_CHECKING:
    import libcst as cst

    from ....stubs.tree import Tree
    from ..observe import Frame, Observer
    from ..values import Value
    from .heap import Key
    from .memory import Identity

_DEEPEST_CALL: Final = 8


class Machine(Elsewhere):
    """What runs a module.

    Attributes:
        refused: Functions → a call of each that was not entered.
        blurred: Names, and how many of their values may be held by one that is not known.
    """

    def __init__(self, tree: Tree, observer: Observer) -> None:
        super().__init__(tree, observer)
        self.shower = Shower(self)
        self.refused: dict[Identity, cst.CSTNode] = {}
        self.defaults_by_function: dict[Identity, dict[str, Value]] = {}
        self.blurred: dict[tuple[Scope, str], int] = {}

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
                run_made(self, activation)
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

    def effects(self, function: Callable) -> list[Key]:
        """Returns which names and boxes a function changes, whoever calls it."""
        return effects(self, function)

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
        self.defaults_by_function[identity(made)] = defaults
        self.here.made.append((made, scope if is_method else None))
        return made

    def defaults_of(self, function: Callable) -> dict[str, Value]:
        """Returns the values of a function's parameters that a call may leave out."""
        return self.defaults_by_function.get(identity(function), {})

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

    def frame(self, node: cst.CSTNode) -> Frame:
        """Returns where the run stands, for an observer."""
        return self.shower.frame(node)

    def show(self, value: Value) -> Value:
        """Returns a value as observers see it: as it is now, whatever changes later."""
        return self.shower.show(value)


__all__ = ["Machine"]
