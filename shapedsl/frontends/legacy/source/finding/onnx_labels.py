"""``torch.onnx.export`` with labels for dims: ``dynamic_axes=``, and strings in ``dynamic_shapes=``.

Before::

    torch.onnx.export(net, (x, mask), "net.onnx", dynamic_shapes={"x": {0: "batch"}, "mask": {0: "batch"}})

After: ``batch`` at both, with the choice that it is one size, which nothing compared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from .....diagnostics import Report
from ...labels import Labels
from ...model import Entries, Items, LegacySpec, Named, Tree
from ...onnx import read_dynamic_axes
from ..values import Constant, Dict, Fork, Sequence, Value
from .plain import plain
from .refused import refuse
from .to_model import to_tree

if TYPE_CHECKING:
    from ....stubs.tree import Tree as File
    from ..values import Signature
    from .example import Example
    from .uses import Use

_LABEL: Final = "\0"  # begins the name of a dim that is a label: no name of a dim can


def has_labels(value: Value) -> bool:
    """Returns whether a string stands for a dim somewhere in a spec."""
    match value:
        case Constant(value=str()):
            return True
        case Dict(entries=entries):
            return any(has_labels(item) for _, item in entries.values())
        case Sequence(items=items) | Fork(options=items):
            return any(map(has_labels, items))
        case _:
            return False


def labeled_tree(world: Value, file: File) -> tuple[Tree, Labels]:
    """Returns a spec whose strings are labels, and these.

    Raises:
        RefusedError: It says something that source does not show.
    """
    labels = Labels()
    tree = to_tree(world, file.span, lambda label, span: Named(_LABEL + label, span=span))
    return _named(tree, "", labels), labels


def _named(tree: Tree, place: str, labels: Labels) -> Tree:
    match tree:
        case Named(name=name) if name.startswith(_LABEL):
            return labels.dim(name.removeprefix(_LABEL), place, tree.span)
        case Entries(items=items):
            return replace(tree, items=tuple([(key, _named(item, _within(place, key), labels)) for key, item in items]))
        case Items(items=inside):
            return replace(
                tree, items=tuple([_named(item, _within(place, at), labels) for at, item in enumerate(inside)])
            )
        case _:
            return tree


def _within(place: str, key: str | int) -> str:
    if not place:
        return str(key) if isinstance(key, str) else f"arg{key}"
    return f"{place}[{key!r}]" if isinstance(key, str) else f"{place}.shape[{key}]"


def axes_spec(
    use: Use,
    world: Value,
    names: dict[str, Value],
    example: Example,
    signature: Signature | None,
    name: str,
    file: File,
) -> LegacySpec:
    """Returns what ``dynamic_axes=`` says.

    Args:
        use: The call.
        world: The argument.
        names: ``input_names`` and ``output_names``, as far as they are passed.
        example: The inputs.
        signature: Of the model; None where it is not known.
        name: What its spec is called without one.
        file: Where it stands.

    Raises:
        RefusedError: It says something that source does not show.
    """
    axes: Any = plain(world)
    if not _are_axes(axes):
        raise refuse(
            "`dynamic_axes` is a dict by name, of labels by axis or of lists of axes",
            world.node,
            label="something else",
        )
    given = {each: plain(value) for each, value in names.items() if each in ("input_names", "output_names")}
    for each, listed in given.items():
        if listed is not None and not (isinstance(listed, (list, tuple)) and _all_are(listed, str)):
            raise refuse(f"`{each}` is a list of strings", names[each].node, label="something else")
    report = Report()
    spec = read_dynamic_axes(
        cast("dict[str, Any]", axes),
        report,
        input_names=given.get("input_names"),
        output_names=given.get("output_names"),
        name=signature.name if signature is not None else name,
        params=signature.params if signature is not None else None,
        inputs=None if signature is None else example.inputs(signature, Entries(()), use.call),
        receiver=signature.receiver if signature is not None else "self" if name.endswith(".forward") else None,
        span=file.span(world.node),
    )
    if spec is None:
        error = report.errors[0]
        raise refuse(error.message, world.node, error.code, "not known of which inputs", "; ".join(error.helps))
    return spec


def _are_axes(axes: Any) -> bool:
    """Returns whether a value has the form of ``dynamic_axes``."""
    if not isinstance(axes, dict) or not _all_are(axes, str):
        return False
    for said in cast("dict[str, Any]", axes).values():
        labels: Any = getattr(said, "values", tuple)()  # of a dict
        if not isinstance(said, (dict, list, tuple)) or not _all_are(said, int) or not _all_are(labels, (str, int)):
            return False
    return True


def _all_are(items: Any, kind: type | tuple[type, ...]) -> bool:
    return all(isinstance(each, kind) for each in items)


__all__ = ["axes_spec", "has_labels", "labeled_tree"]
