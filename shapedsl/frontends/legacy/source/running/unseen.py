"""Functions that are run for callers that the file does not show.

Each is run once, after the code around it: parameters are unknown, and a name outside means what it may mean whenever
such a caller comes. What it changes there is undone, and told to whoever asks what code elsewhere may change.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from ..values import Callable, Dict, Unknown
from .heap import UNBOUND, Box, Scope
from .joining import MOST_OPTIONS
from .memory import identity

if TYPE_CHECKING:
    import libcst as cst

    from ..values import Value
    from .activations import Activation
    from .heap import Key
    from .machine import Machine


def run_made(machine: Machine, activation: Activation) -> None:
    """Runs the functions that were defined in a function, or the module, once it is over."""
    functions = [_as_method(machine, function, scope) for function, scope in activation.made]
    machine.state.push()
    for function in functions:
        machine.forget(effects(machine, function), f"`{function.name}` may change it", function.node)
    if machine.muted:
        machine.state.commit()
        return
    for function in functions:
        _run_unseen(machine, function)
    machine.state.pop()


def _as_method(machine: Machine, function: Callable, scope: Scope | None) -> Callable:
    """Returns a method of an object that is made elsewhere, or of its class; another function as it is."""
    import libcst as cst

    from .names import dotted

    owner = machine.owners.get(scope) if scope is not None else None
    if owner is None or not isinstance(function.node, cst.FunctionDef):
        return function
    kinds = {dotted(each.decorator) for each in function.node.decorators}
    if "staticmethod" in kinds:
        return function
    lost = Unknown("attributes may be set elsewhere", function.node)
    attributes = Box([Dict({}, function.node)], function.node, lost, is_object=True)
    receiver = Callable("object", owner.signature, owner.name, owner.node, inner=owner, attributes=attributes)  # type: ignore[arg-type]
    return replace(function, inner=owner if "classmethod" in kinds else receiver)


def _run_unseen(machine: Machine, function: Callable) -> None:
    """Runs a function for callers that the file does not show."""
    from .calls import unknown_params

    if any(activation.node is function.node for activation in machine.stack):
        return
    mark, born, known = machine.state.mark(), machine.born, len(machine.escaped)
    machine.state.push()
    live = machine.live
    _look_back(machine, function)
    machine.enter(function, unknown_params(function), None)
    machine.live = live
    machine.state.pop()
    machine.state.forget_since(mark, born)
    machine.forget_functions(known, born)


def _look_back(machine: Machine, function: Callable) -> None:
    """Gives names outside all values that they had since code elsewhere may call a function."""
    escaped = machine.escaped.get(identity(function))
    if escaped is None:
        return
    since = escaped[1]
    scope = function.around if isinstance(function.around, Scope) else None
    while scope is not None:
        for name in scope.rebound:
            entries = scope.history[name]
            first = bisect_right(entries, since, key=lambda entry: entry[0])
            if first < len(entries):
                value = _any_of(machine, scope, name, max(first - 1, 0), function.node)
                if value is not scope.names.get(name):
                    machine.state.bind(scope, name, value)
        scope = scope.parent
    changed: dict[Box, None] = {}
    for time, box in reversed(machine.state.changed):
        if time <= since:
            break
        changed[box] = None
    for box in changed:
        machine.state.lose(box, Unknown(f"it changes after `{function.name}` can be called", function.node))


def _any_of(machine: Machine, scope: Scope, name: str, first: int, node: cst.CSTNode) -> Value:
    """Returns any of the values that a name had since."""
    entries = scope.history[name]
    now = scope.names.get(name, UNBOUND)
    unknown = now if isinstance(now, Unknown) else None
    if len(entries) - first < 2 * MOST_OPTIONS - 1:
        values = [now, *(value for _, value in entries[first:]), *([UNBOUND] if first == 0 else [])]
        unknown = next((value for value in values if isinstance(value, Unknown)), None)
        if unknown is None:
            return machine.joined(values, node)
    done = machine.blurred.get((scope, name), 0)
    if done < len(entries):  # each once
        machine.state.blur([value for _, value in entries[done:]])
        machine.blurred[scope, name] = len(entries)
    return unknown or Unknown("it is bound too often", node)


def effects(machine: Machine, function: Callable) -> list[Key]:
    """Returns which names and boxes a function changes, whoever calls it."""
    found = machine.effects_by_function.get(identity(function))
    if found is None:
        from .calls import unknown_params

        machine.effects_by_function[identity(function)] = []
        if any(activation.node is function.node for activation in machine.stack):
            return []
        mark, born, known = machine.state.mark(), machine.born, len(machine.escaped)
        machine.state.push()
        machine.muted += 1
        live = machine.live
        try:
            machine.enter(function, unknown_params(replace(function, inner=None)), None)
        finally:
            machine.muted -= 1
            machine.live = live
            delta = machine.state.pop()
        machine.state.forget_since(mark, born)
        machine.forget_functions(known, born)
        found = [key for key in delta if (key if isinstance(key, Box) else key[0]).born <= born]
        machine.effects_by_function[identity(function)] = found
    return found


__all__ = ["effects", "run_made"]
