"""Run a module abstractly: what each expression is known to be where it is reached, and nothing that is not known.

Statements are run in order over `values.Value`. Branches are joined, loops over literals are run turn by turn, other
loops as often as it takes to see what they may change, and functions where they are called. What code elsewhere may
change is unknown from there on. Time grows with the length of a file: a file that takes too many steps is run on with
less detail, never without end.

Before::

    spec = {}
    for name in ("x", "y"):
        spec[name] = {0: Dim(f"{name}_len")}
    export(Net(), args, dynamic_shapes=spec)

After: the observer hears of the call of ``torch.export.export``, whose ``dynamic_shapes`` is a `Dict` of two `Dict`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...stubs.room import with_room
from .observe import Argument, Frame, Observer
from .running.activations import Activation
from .running.machine import Machine
from .running.statements import execute
from .running.unseen import run_made

if TYPE_CHECKING:
    from ...stubs.tree import Tree


def interpret(tree: Tree, observer: Observer) -> None:
    """Runs a module.

    Args:
        tree: The module.
        observer: Hears of each call that is reached.
    """
    with_room(lambda: _run(Machine(tree, observer)))


def _run(machine: Machine) -> None:
    activation = Activation(machine.module, "", None, machine.state.push(), ())
    machine.stack.append(activation)
    execute(machine, machine.tree.module)
    machine.live = True  # whatever ended the module, functions were defined in it
    run_made(machine, activation)


__all__ = ["Argument", "Frame", "Observer", "interpret"]
