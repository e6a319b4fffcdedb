"""Branches: ``if``, ``match``, ``try`` and ``with``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..values import Callable, Imported, Unknown
from .heap import UNBOUND, Box
from .library import is_harmless

if TYPE_CHECKING:
    from collections.abc import Callable as Function

    import libcst as cst

    from ..values import Value
    from .heap import Delta, Scope
    from .machine import Machine


def branch(machine: Machine, run: Function[[], None]) -> list[Delta]:
    """Runs one of several branches. Returns what it changed, in a list; an empty one if it does not end here."""
    machine.state.push()
    machine.live = True
    run()
    delta = machine.state.pop()
    return [delta] if machine.live else []


def meet(machine: Machine, states: list[Delta], node: cst.CSTNode) -> None:
    """Goes on after branches."""
    machine.live = bool(states)
    if states:
        machine.state.join(states, node)


def run_if(machine: Machine, node: cst.If) -> None:
    """Runs an ``if`` statement, with all its ``elif``."""
    import libcst as cst

    from .arithmetic import truth
    from .expressions import evaluate
    from .statements import execute

    states: list[Delta] = []
    at: cst.If | cst.Else | None = node
    while isinstance(at, cst.If):
        known = truth(machine, evaluate(machine, at.test))
        if not machine.live:
            break
        body = at.body
        if known is True and not states:
            execute(machine, body)
            return
        if known is not False:
            states.extend(branch(machine, lambda body=body: execute(machine, body)))  # type: ignore[misc]
            machine.live = True
        if known is True:
            meet(machine, states, node)
            return
        at = at.orelse
    if machine.live:
        if at is None:
            states.append({})
        elif states:
            states.extend(branch(machine, lambda: execute(machine, at.body)))
        else:
            execute(machine, at.body)
            return
    meet(machine, states, node)


def run_match(machine: Machine, node: cst.Match) -> None:
    """Runs a ``match`` statement: any case may be the one, unless the subject and the pattern tell."""
    from .expressions import evaluate
    from .statements import execute

    subject = evaluate(machine, node.subject)
    machine.escape([subject], node)
    states: list[Delta] = []
    is_done = False
    for case in node.cases:
        names = _captured(case.pattern)

        def run(case: cst.MatchCase = case, names: list[str] = names) -> None:
            for name in names:
                machine.bind(name, Unknown("it is bound by a pattern", case))
            if case.guard is not None:
                evaluate(machine, case.guard)
            execute(machine, case.body)

        if names:
            machine.escape([subject], node, reason="it is taken apart by a pattern")
        states.extend(branch(machine, run))
        machine.live = True
        is_done = is_done or (case.guard is None and _takes_all(case.pattern))
    if not is_done:
        states.append({})
    meet(machine, states, node)


def _takes_all(pattern: cst.MatchPattern) -> bool:
    import libcst as cst

    return isinstance(pattern, cst.MatchAs) and pattern.pattern is None


def _captured(pattern: cst.MatchPattern) -> list[str]:
    import libcst as cst

    from .names import children

    names: list[str] = []
    todo: list[cst.CSTNode] = [pattern]
    while todo:
        at = todo.pop()
        if isinstance(at, (cst.MatchAs, cst.MatchStar)) and at.name is not None:
            names.append(at.name.value)
        elif isinstance(at, cst.MatchMapping) and at.rest is not None:
            names.append(at.rest.value)
        todo.extend(children(at))
    return names


def run_try(machine: Machine, node: cst.Try | cst.TryStar) -> None:
    """Runs a ``try`` statement. A handler begins with what may be after any part of the body."""
    from .statements import execute

    state = machine.state
    since, position = state.time, _position(machine)
    states: list[Delta] = []

    def body() -> None:
        execute(machine, node.body)
        if machine.live and node.orelse is not None:
            execute(machine, node.orelse.body)

    states.extend(branch(machine, body))

    def handle(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> None:
        anywhere_since(machine, since, position, handler)
        if handler.name is not None:
            machine.bind(handler.name.name.value, Unknown("it is an exception", handler))  # type: ignore[union-attr]
        execute(machine, handler.body)
        if machine.live and handler.name is not None:
            machine.bind(handler.name.name.value, UNBOUND)  # type: ignore[union-attr]

    for handler in node.handlers:
        states.extend(branch(machine, lambda handler=handler: handle(handler)))  # type: ignore[misc]
    final = node.finalbody
    if final is not None:

        def fail() -> None:
            anywhere_since(machine, since, position, final)
            execute(machine, final.body)

        branch(machine, fail)
    meet(machine, states, node)
    if final is not None and machine.live:
        execute(machine, final.body)


def _position(machine: Machine) -> list[tuple[Scope, int]]:
    """Returns how much was logged in each scope that can be seen."""
    found: list[tuple[Scope, int]] = []
    scope: Scope | None = machine.scope
    while scope is not None:
        found.append((scope, len(scope.log)))
        scope = scope.parent
    return found


def anywhere_since(machine: Machine, since: int, position: list[tuple[Scope, int]], node: cst.CSTNode) -> None:
    """Gives names and boxes what they may have had at any point of a body that was run since, and undone."""
    state = machine.state
    for scope, start in position:
        several: dict[str, list[Value]] = {}
        for _, name, value in scope.log[start:]:
            several.setdefault(name, [scope.names.get(name, UNBOUND)]).append(value)
        for name, values in several.items():
            state.bind(scope, name, machine.joined(values, node))
    changed: dict[Box, None] = {}
    for time, box in reversed(state.changed):
        if time <= since:
            break
        changed[box] = None
    for box in changed:
        state.lose(box, Unknown("it is changed in a `try`", node))


def run_with(machine: Machine, node: cst.With) -> None:
    """Runs a ``with`` statement. What is entered may swallow an exception, unless it is known not to."""
    from .expressions import evaluate
    from .statements import assign_unknown, execute

    swallows = False
    for item in node.items:
        before = machine.muted
        value = evaluate(machine, item.item)
        machine.muted = before
        swallows = swallows or not _is_quiet(machine, item.item)
        machine.escape([value], item)
        if isinstance(value, Callable):  # its own `__enter__` and `__exit__`
            machine.unknown_call([value], item)
        if item.asname is not None:
            assign_unknown(machine, item.asname.name, Unknown("it is what a `with` enters", item))
    if not machine.live:
        return
    if not swallows:
        execute(machine, node.body)
        return
    since, position = machine.state.time, _position(machine)
    states = branch(machine, lambda: execute(machine, node.body))
    states.extend(branch(machine, lambda: anywhere_since(machine, since, position, node)))
    meet(machine, states, node)


def _is_quiet(machine: Machine, item: cst.BaseExpression) -> bool:
    """Whether a context manager is known to let exceptions pass."""
    from .names import dotted

    called = getattr(item, "func", item)
    head, _, rest = dotted(called).partition(".")
    value = machine.lookup(head, item) if head else None
    if not isinstance(value, Imported):
        return False
    name = f"{value.name}.{rest}" if rest else value.name
    return is_harmless(name) and name not in _SWALLOWS and not name.startswith(("unittest.", "pytest."))


_SWALLOWS = ("contextlib.suppress", "contextlib.ExitStack")

__all__ = ["anywhere_since", "branch", "meet", "run_if", "run_match", "run_try", "run_with"]
