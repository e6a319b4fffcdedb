"""Loops: over a literal turn by turn; else with what may be at the start of any turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from ..values import Constant, Unknown
from .activations import Loop
from .heap import Box
from .names import children
from .widening import anything, lost, widen

if TYPE_CHECKING:
    from collections.abc import Callable as Function

    import libcst as cst

    from ..values import Value
    from .heap import Delta
    from .machine import Machine

_MOST_TURNS: Final = 512
_PASSES: Final = 6
_DEEPEST: Final = 3  # loops in loops that are run several times to see what they change


def run_for(machine: Machine, node: cst.For) -> None:
    """Runs a ``for`` statement."""
    from .expressions import evaluate
    from .statements import assign, assign_unknown, execute

    over = evaluate(machine, node.iter)
    items = None if node.asynchronous is not None else machine.items(over)
    orelse = node.orelse.body if node.orelse is not None else None
    if items is None or len(items) > _MOST_TURNS or machine.is_tired:
        reason = over.reason if isinstance(over, Unknown) else "it is an item of what is not known"

        def turn() -> None:
            assign_unknown(machine, node.target, Unknown(reason, node.target))
            execute(machine, node.body)

        machine.escape([over], node, reason="its items are changed where they are not followed")
        repeat(machine, node, turn, orelse)
        return
    if not has_exits(machine, node):
        for position, item in enumerate(items):
            changes = len(machine.state.changed)
            assign(machine, node.target, item, node)
            execute(machine, node.body)
            if not machine.live:
                return
            if not machine.gives_still(over, items, position, changes):
                _rest(machine, node, over, orelse)
                return
        if orelse is not None:
            execute(machine, orelse)
        return
    _unrolled(machine, node, over, items, orelse)


def _rest(machine: Machine, node: cst.For, over: Value, orelse: cst.BaseSuite | None) -> None:
    """Runs further turns of a loop that changes what it iterates."""
    from .statements import assign_unknown, execute

    machine.state.blur([over])

    def turn() -> None:
        assign_unknown(machine, node.target, Unknown("what is iterated changes meanwhile", node.target))
        execute(machine, node.body)

    repeat(machine, node, turn, orelse)


def _unrolled(machine: Machine, node: cst.For, over: Value, items: list[Value], orelse: cst.BaseSuite | None) -> None:
    """Runs a loop that has ``break`` or ``continue`` turn by turn."""
    from .statements import assign, execute

    here = machine.here
    loop = Loop(machine.state.push())
    here.loops.append(loop)
    changed = False
    for position, item in enumerate(items):
        changes = len(machine.state.changed)
        loop.turn = machine.state.push()
        loop.continues = []
        assign(machine, node.target, item, node)
        execute(machine, node.body)
        delta = machine.state.pop()
        states = [*loop.continues, *([delta] if machine.live else [])]
        machine.live = bool(states)
        if not states:
            break
        machine.state.join(states, node)
        if not machine.gives_still(over, items, position, changes):
            changed = True
            break
    here.loops.pop()
    if machine.live and changed:
        _rest(machine, node, over, orelse)
    elif machine.live and orelse is not None:
        execute(machine, orelse)
    delta = machine.state.pop()
    states = [*loop.breaks, *([delta] if machine.live else [])]
    machine.live = bool(states)
    if states:
        machine.state.join(states, node)


def has_exits(machine: Machine, loop: cst.For | cst.While) -> bool:
    """Whether a loop has a ``break`` or a ``continue`` of its own."""
    found = machine.exits.get(loop)
    if found is None:
        found, todo = False, [loop.body]
        while todo and not found:
            at = todo.pop()
            kind = type(at).__name__
            if kind in ("Break", "Continue"):
                found = True
            elif kind in _STATEMENTS:
                todo.extend(each for each in children(at))  # type: ignore[misc]
        machine.exits[loop] = found
    return found


_STATEMENTS: Final = frozenset(
    [
        "IndentedBlock",
        "SimpleStatementLine",
        "SimpleStatementSuite",
        "If",
        "Else",
        "Try",
        "TryStar",
        "ExceptHandler",
        "ExceptStarHandler",
        "Finally",
        "With",
        "For",
        "While",
        "Match",
        "MatchCase",
    ]
)


def run_while(machine: Machine, node: cst.While) -> None:
    """Runs a ``while`` statement."""
    from .arithmetic import truth
    from .expressions import evaluate
    from .statements import execute

    known: list[bool | None] = []

    def turn() -> None:
        known[:] = [truth(machine, evaluate(machine, node.test))]
        if known[0] is False:
            machine.live = False
        else:
            execute(machine, node.body)

    is_endless = isinstance(_constant(node.test), Constant) and bool(cast("Constant", _constant(node.test)).value)
    repeat(machine, node, turn, node.orelse.body if node.orelse is not None else None, is_endless=is_endless)
    if machine.live and not is_endless:
        machine.muted += 1  # the test, once more, for what it binds
        evaluate(machine, node.test)
        machine.muted -= 1


def _constant(node: cst.BaseExpression) -> Value | None:
    import libcst as cst

    if isinstance(node, cst.Name) and node.value == "True":
        return Constant(True, node)
    if isinstance(node, cst.Integer) and node.value == "1":
        return Constant(1, node)
    return None


def repeat(
    machine: Machine,
    node: cst.CSTNode,
    turn: Function[[], None],
    orelse: cst.BaseSuite | None = None,
    *,
    is_endless: bool = False,
) -> None:
    """Runs what happens any number of times, zero included.

    Names and boxes that a turn changes hold, at its start, what they held before the loop or after any turn. That is
    found by running turns unheard until nothing new comes; what keeps changing becomes unknown.

    Args:
        machine: The machine.
        node: The loop.
        turn: Runs one turn.
        orelse: What is run when the loop ends without a ``break``.
        is_endless: Whether only a ``break`` ends it.
    """
    from .statements import execute

    here = machine.here
    here.unknown_loops += 1
    start: Delta = {}
    breaks: list[Delta] = []
    if machine.is_tired or here.unknown_loops > _DEEPEST:
        start = anything(machine, node)
        if not machine.muted:
            breaks = _pass(machine, node, start, turn)[1]
        else:
            breaks = [{}]
    else:
        settled = False
        for count in range(_PASSES):
            machine.muted += 1
            ends, breaks = _pass(machine, node, start, turn)
            machine.muted -= 1
            settled = widen(machine, node, start, ends, harder=count >= 2)
            if settled:
                break
        if not settled:
            for key, value in start.items():
                machine.state.blur([value] if not isinstance(key, Box) else [])  # type: ignore[list-item]
            start = {**anything(machine, node), **{key: lost(key, node) for key in start}}
            breaks = [{}]
        if not machine.muted:
            breaks = _pass(machine, node, start, turn)[1] or ([] if settled else breaks)
    here.unknown_loops -= 1
    for key, value in start.items():
        machine.state.put(key, value)
    states = list(breaks)
    if not is_endless:
        machine.state.push()
        machine.live = True
        if orelse is not None:
            execute(machine, orelse)
        delta = machine.state.pop()
        states.extend([delta] if machine.live else [])
    machine.live = bool(states)
    if states:
        machine.state.join(states, node)


def _pass(
    machine: Machine, node: cst.CSTNode, start: Delta, turn: Function[[], None]
) -> tuple[list[Delta], list[Delta]]:
    """Runs one turn from a start. Returns the states at its ends, and those at its breaks, apart from the start."""
    del node
    here = machine.here
    machine.state.push()
    for key, value in start.items():
        machine.state.put(key, value)
    loop = Loop(machine.state.push())
    loop.turn = machine.state.push()
    here.loops.append(loop)
    machine.live = True
    turn()
    here.loops.pop()
    delta = machine.state.pop()
    machine.state.pop()
    machine.state.pop()
    return [*loop.continues, *([delta] if machine.live else [])], loop.breaks


__all__ = ["has_exits", "repeat", "run_for", "run_while"]
