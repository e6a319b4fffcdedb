"""Loops: over a literal turn by turn; else with what may be at the start of any turn.

Both ways stay in one module, which that makes long: a loop that is unrolled may turn into one that is not, midway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from ..values import Constant, Dict, Fork, Sequence, Unknown
from .heap import UNBOUND, Box, frozen, joined_held, same, within
from .machine import Loop
from .names import children

if TYPE_CHECKING:
    from collections.abc import Callable as Function

    import libcst as cst

    from ..values import Value
    from .heap import Delta, Held, Key
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
        start = _anything(machine, node)
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
            settled = _widen(machine, node, start, ends, harder=count >= 2)
            if settled:
                break
        if not settled:
            for key, value in start.items():
                machine.state.blur([value] if not isinstance(key, Box) else [])  # type: ignore[list-item]
            start = {**_anything(machine, node), **{key: _lost(key, node) for key in start}}
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


def _widen(machine: Machine, node: cst.CSTNode, start: Delta, ends: list[Delta], *, harder: bool) -> bool:
    """Adds to a start what turns lead to. Returns whether there was nothing to add."""
    is_stable = True
    for end in ends:
        for key, value in end.items():
            before = start.get(key)
            if before is None:
                before = frozen(machine.state.current(key))
                if not isinstance(key, Box) and before is UNBOUND and key[0] is not machine.scope:
                    pass
            if _holds(machine, before, value, start, end):
                if key not in start:
                    start[key] = before
                continue
            is_stable = False
            if not isinstance(key, Box):
                machine.state.blur([before, value])  # type: ignore[list-item]
            start[key] = _lost(key, node) if harder else joined_held([before, value], node)
    return is_stable


def _lost(key: Key, node: cst.CSTNode) -> Held:
    reason = Unknown("it changes in a loop", node)
    return ([], reason, False) if isinstance(key, Box) else reason


def _holds(machine: Machine, before: Held, after: Held, start: Delta, end: Delta) -> bool:
    """Whether what a key holds after a turn is among what it holds at the start of one."""
    if isinstance(before, tuple):
        contents, lost, many = before
        after_contents, after_lost, after_many = cast("tuple[list[object], Unknown | None, bool]", after)
        if lost is not None:
            return True
        if after_lost is not None or (after_many and not many):
            return False
        return all(any(_alike(one, two, start, end, 0) for two in contents) for one in after_contents)
    del machine
    options = before.options if isinstance(before, Fork) else [before]
    found = after.options if isinstance(after, Fork) else [after]
    return all(any(_alike(one, two, start, end, 0) for two in options) for one in found)


def _alike(one: object, two: object, start: Delta, end: Delta, depth: int) -> bool:
    """Whether a value after a turn is one at its start, or the like: a display's object of another turn."""
    if one is two:
        return True
    if depth > 50 or type(one) is not type(two):
        return isinstance(two, Unknown)
    if isinstance(one, Box) and isinstance(two, Box):
        if one.node is not two.node:
            return False
        ones, lost, _ = cast("tuple[list[object], Unknown | None, bool]", end.get(one) or frozen_box(one))
        twos, other, _ = cast("tuple[list[object], Unknown | None, bool]", start.get(two) or frozen_box(two))
        if (lost is None) != (other is None):
            return False
        if not all(any(_alike(a, b, start, end, depth + 1) for b in twos) for a in ones):
            return False
        two.is_many = True
        if two in start:
            start[two] = (twos, other, True)  # type: ignore[assignment]
        return True
    if isinstance(one, (Dict, Sequence)):
        assert isinstance(two, (Dict, Sequence))
        if one.node is not two.node or len(one.steps) != len(two.steps):
            return False
        if isinstance(one, Dict) and isinstance(two, Dict) and list(one.entries) != list(two.entries):
            return False
        if any(a is not b for a, b in zip(one.steps, two.steps, strict=False)):
            return False
        mine, yours = within(one), within(two)
        return len(mine) == len(yours) and all(
            _alike(a, b, start, end, depth + 1) for a, b in zip(mine, yours, strict=False)
        )
    return same(one, two)  # type: ignore[arg-type]


def frozen_box(box: Box) -> Held:
    """Returns what a box holds, apart from later changes."""
    return frozen((box.contents, box.lost, box.is_many))


def _anything(machine: Machine, node: cst.CSTNode) -> Delta:
    """Returns a state in which everything that a loop may change is unknown, without running it."""
    start: Delta = {}
    scope = machine.scope
    at = machine.scope
    names: set[str] = set()
    todo: list[cst.CSTNode] = [node]
    while todo:
        each = todo.pop()
        if type(each).__name__ == "Name":
            names.add(each.value)  # type: ignore[attr-defined]
        todo.extend(children(each))
    seen: set[int] = set()
    for name in names:
        owner = machine.owner(name, at)
        if owner is None or name not in owner.names:
            continue
        values: list[Value] = [owner.names[name]]
        while values:
            value = values.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Box):
                start[value] = _lost(value, node)
                for content in value.contents:
                    values.extend(within(content))
            else:
                values.extend(within(value))
    for name in _assigned(node):
        owner = machine.owner(name, at) or scope
        machine.state.blur([owner.names.get(name, UNBOUND)])
        start[owner, name] = _lost((owner, name), node)
    return start


def _assigned(node: cst.CSTNode) -> set[str]:
    """Returns the names that a statement may bind."""
    from .names import Index, Names, binds

    found = Names()
    todo = [node]
    while todo:
        at = todo.pop()
        kind = type(at).__name__
        if kind in ("FunctionDef", "ClassDef"):
            found.bound.add(at.name.value)  # type: ignore[attr-defined]
            continue
        if kind == "Lambda":
            continue
        binds(at, found, found, Index({}, {}, 0))
        if kind == "CompFor":
            from .names import targets

            targets(at.target, found, Index({}, {}, 0))  # type: ignore[attr-defined]
        todo.extend(children(at))
    return found.bound


__all__ = ["has_exits", "repeat", "run_for", "run_while"]
