"""Refuse examples of which torch would make a wrong program, or none, with a message about something else.

- An object whose class is no pytree: what the spec says of its attributes has no place among torch's
  inputs, and export cannot take the object at all.
- Fake tensors, or any under an active FakeTensorMode: torch takes their sizes for numbers, so the
  program is pinned to the example whatever the spec says.

Before::

    ValueError: shapes_spec['batch']: ObjectSpec requires the runtime value's type to be pytree-registered…

After::

    error[unsupported-by-torch]: export cannot take `batch`: its class Batch is not registered as a pytree
      = help: register it: `torch.export.register_dataclass(Batch)`
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Final

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import Attribute, Path
from ...ir.expanded import Lowered


def refuse_fake(example: object, entry: str) -> None:
    """Raises `ShapeError` (``unsupported-by-torch``) for an example of fake tensors.

    Args:
        example: Any nesting of containers that torch's pytree knows.
        entry: What was called, for the message.
    """
    from torch._guards import detect_fake_mode
    from torch._subclasses import FakeTensor
    from torch.utils import _pytree as pytree

    leaves = pytree.tree_leaves(example)
    if detect_fake_mode(leaves) is None:
        return
    if any(isinstance(leaf, FakeTensor) for leaf in leaves):
        given, help_ = "fake tensors", "pass real tensors; small ones will do, if the spec allows them"
    else:
        given, help_ = "an example under a FakeTensorMode", f"call {entry} outside of the mode"
    raise _unsupported(f"{entry} cannot take {given}: torch would pin every size to the example's", help_)


def refuse_unregistered(arguments: Mapping[str, Any], lowered: Lowered, entry: str) -> None:
    """Raises `ShapeError` (``unsupported-by-torch``) for an object that the spec looks into and torch cannot.

    Args:
        arguments: The example, by parameter.
        lowered: The spec at the example's structure.
        entry: What was called, for the message.
    """
    from torch.utils import _pytree as pytree

    for leaf in lowered.leaves:
        if leaf.path.root not in arguments:
            continue
        value = arguments[leaf.path.root]
        for at, step in enumerate(leaf.path.steps):
            if isinstance(step, Attribute):
                if pytree.tree_is_leaf(value):
                    raise _unregistered(value, str(Path(leaf.path.root, leaf.path.steps[:at])), entry)
                value = getattr(value, step.name)
            else:
                value = value[step.key]


def unregistered_failure(error: Exception, arguments: Mapping[str, Any], entry: str) -> ShapeError | None:
    """Returns what to raise from an export's ``error`` about an object that no program can take, or None.

    torch bakes numbers, texts and None into a program, but no other object, whether the spec speaks of it or not.

    Args:
        error: What export raised.
        arguments: The example, by parameter.
        entry: What was called, for the message.
    """
    from torch.utils import _pytree as pytree

    text = str(error)
    if "unsupported object of type" not in text and "not supported or pytree-flattenable" not in text:
        return None
    for name, argument in arguments.items():
        for path, value in pytree.tree_flatten_with_path(argument)[0]:
            if f"object of type {type(value)}" in text or f"inputs with type `{type(value)}`" in text:
                return _unregistered(value, f"{name}{pytree.keystr(path)}", entry)
    return None


def returned_failure(error: Exception, entry: str) -> ShapeError | None:
    """Returns what to raise from an ``error`` about an object that the target returns and no program can, or None."""
    found = _RETURNED.match(str(error))
    if found is None:
        return None
    name = next(filter(None, found.groups())).rpartition(".")[2]
    return _unsupported(
        f"{entry} cannot return an object of class {name}, which is not registered as a pytree",
        f"register it: `torch.utils._pytree.register_pytree_node({name}, …, flatten_with_keys_fn=…)`",
        "or return the tensors that it holds",
    )


def _unregistered(value: object, place: str, entry: str) -> ShapeError:
    made = type(value)
    if made.__module__.partition(".")[0] in ("torch", "builtins"):
        return _unsupported(f"{entry} cannot take `{place}`, a {made.__qualname__}", _BIND)
    if dataclasses.is_dataclass(made):
        register = f"torch.export.register_dataclass({made.__qualname__})"
    else:
        register = f"torch.utils._pytree.register_pytree_node({made.__qualname__}, …, flatten_with_keys_fn=…)"
    message = f"{entry} cannot take `{place}`: its class {made.__qualname__} is not registered as a pytree"
    return _unsupported(message, f"register it: `{register}`", *(() if entry == "make_fx" else (_BIND,)))


# as non-strict export, strict export and make_fx put it
_RETURNED: Final = re.compile(
    r"Found <class '([^']+)'> in output"
    r"|Encountered unrecognized type UserDefinedObjectVariable\((.+)\) at output"
    r"|argument of type: <class '([^']+)'>"
)
_BIND: Final = "or leave it out of the program's inputs: bind it with `functools.partial`"


def _unsupported(message: str, *helps: str) -> ShapeError:
    return ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message, helps=helps)])
