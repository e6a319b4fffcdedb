"""Comprehensions over what is known, turn by turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..values import Dict, Fork, Sequence, Unknown
from .heap import Box
from .keys import key_of

if TYPE_CHECKING:
    from collections.abc import Callable as Function

    import libcst as cst

    from ..values import Value
    from .machine import Machine

_MOST: Final = 2_048


def comprehension(machine: Machine, node: cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp) -> Value:
    """Returns what a comprehension makes.

    What it iterates must be known, and each ``if`` in it decided; else the result is unknown, and its parts are run
    once for what may be called in them.
    """
    import libcst as cst

    if isinstance(node, cst.GeneratorExp):
        return _generator(machine, node)
    return _comprehension(machine, node)


def _generator(machine: Machine, node: cst.GeneratorExp) -> Value:
    """Returns what a generator gives, if running it changes nothing: nobody knows when it is run."""
    born = machine.born
    machine.state.push()
    result = _comprehension(machine, node)
    live, machine.live = machine.live, True
    delta = machine.state.pop()
    outer = [key for key in delta if (key if isinstance(key, Box) else key[0]).born <= born]
    if not outer and live:
        machine.state.join([delta], node)
        return result
    machine.state.blur([result])
    machine.forget(outer, "a generator may change it", node)
    return Unknown("when this generator is run is not known", node)


def _comprehension(machine: Machine, node: cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp) -> Value:
    import libcst as cst

    from .expressions import evaluate

    scope = machine.open("comprehension", machine.scope.name, node, machine.scope)
    first = evaluate(machine, node.for_in.iter)
    made: list[tuple[Value, Value]] = []

    def element() -> None:
        if isinstance(node, cst.DictComp):
            key = machine.settled(evaluate(machine, node.key))
            made.append((key, machine.settled(evaluate(machine, node.value))))
        else:
            value = machine.settled(evaluate(machine, node.elt))
            made.append((value, value))

    with machine.inside(scope):
        reason = _run(machine, node.for_in, first, element, [0])
    if reason is not None:
        machine.escape(
            [each for pair in made for each in pair], node, reason="it is part of a result that is not known"
        )
        return Unknown(reason, node)
    return _made(machine, node, made)


def _made(machine: Machine, node: cst.CSTNode, made: list[tuple[Value, Value]]) -> Value:
    import libcst as cst

    if isinstance(node, cst.SetComp):
        return Unknown("a set is not followed", node)
    if isinstance(node, cst.DictComp):
        entries: dict[object, tuple[Value, Value]] = {}
        for name, value in made:
            key = key_of(name)
            if key is None:
                return Unknown("a key of this dict is not known", node)
            entries[key[0]] = (entries[key[0]][0] if key[0] in entries else name, value)
        return machine.box(Dict(entries, node, is_whole=False))
    items = [value for value, _ in made]
    if isinstance(node, cst.ListComp):
        return machine.box(Sequence("list", items, node, is_whole=False))
    return Sequence("tuple", items, node, is_whole=False, class_name="iterator")


def _run(machine: Machine, loop: cst.CompFor, over: Value, element: Function[[], None], turns: list[int]) -> str | None:
    """Runs one ``for`` of a comprehension. Returns why its result is not known; None if it is."""
    from .arithmetic import truth
    from .expressions import evaluate
    from .statements import assign

    items = None if loop.asynchronous is not None else machine.items(over)
    if items is None or machine.is_tired:
        machine.state.blur([over])
        _once(machine, loop, element)
        if isinstance(over, Unknown):
            return over.reason
        if isinstance(over, Fork):
            return "what is iterated may be one of several"
        return "what is iterated is not known"
    for position, item in enumerate(items):
        changes = len(machine.state.changed)
        turns[0] += 1
        if turns[0] > _MOST:
            return "this comprehension is too long"
        assign(machine, loop.target, item, loop)
        skip: bool | None = False
        for test in loop.ifs:
            known = truth(machine, evaluate(machine, test.test))
            if known is None:
                _once(machine, loop, element)
                return "a test in this comprehension is not known"
            if not known:
                skip = True
                break
        if skip:
            continue
        if loop.inner_for_in is not None:
            inner = evaluate(machine, loop.inner_for_in.iter)
            reason = _run(machine, loop.inner_for_in, inner, element, turns)
            if reason is not None:
                return reason
        else:
            element()
        if not machine.live:
            return "it raises"
        if not machine.gives_still(over, items, position, changes):
            machine.state.blur([over])
            _once(machine, loop, element)
            return "what is iterated changes meanwhile"
    return None


def _once(machine: Machine, loop: cst.CompFor, element: Function[[], None]) -> None:
    """Runs what a comprehension does with items that are not known."""
    from .loops import repeat
    from .statements import assign_unknown

    def turn() -> None:
        from .expressions import evaluate

        at: cst.CompFor | None = loop
        while at is not None:
            if at is not loop:
                evaluate(machine, at.iter)
            assign_unknown(machine, at.target, Unknown("it is an item of what is not known", at.target))
            for test in at.ifs:
                evaluate(machine, test.test)
            at = at.inner_for_in
        element()

    repeat(machine, loop, turn)


__all__ = ["comprehension"]
