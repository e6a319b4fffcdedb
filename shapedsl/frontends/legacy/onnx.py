"""Read ``dynamic_axes=`` of ``torch.onnx.export``.

Its keys are names of the ONNX graph's inputs and outputs, which ``input_names=`` gives in the order of the flattened inputs,
and which are the parameters' where it is not given. Axes have labels, or, in a list, none. Outputs follow from the inputs.

Before::

    dynamic_axes={"ids": {0: "batch", 1: "seq"}, "mask": {0: "batch"}, "image": [2, 3], "logits": {0: "batch"}},
    input_names=["ids", "mask", "image"], output_names=["logits"]

After::

    {"ids": {0: Named("batch"), 1: Named("seq")}, "mask": {0: Named("batch")}, "image": {2: DYNAMIC, 3: DYNAMIC}}

and the choice that ``batch``, which nothing compared, is one size.

Source: ``torch/onnx/_internal/torchscript_exporter/utils.py``, ``_validate_dynamic_axes``: a key that names nothing is
warned about and ignored.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from ...diagnostics import Report, Span
from ...ir import AnyType, Param, ParamKind
from .labels import Labels
from .model import (
    Entries,
    Hint,
    Hinted,
    Input,
    Items,
    LegacySpec,
    MappingInput,
    ObjectInput,
    SequenceInput,
    TensorInput,
    Tree,
    UnknownInput,
    Unsaid,
)
from .naming import Place, as_name, free
from .notes import choice, loss, remark
from .verdict import Note

_Axes: TypeAlias = "Mapping[int, str | int] | Sequence[int]"


@dataclass(slots=True)
class _Leaf:
    """A tensor of the inputs, its sizes in the example, and what is said of it."""

    place: Place
    sizes: tuple[int | None, ...] | None = None
    axes: _Axes | None = None


@dataclass(slots=True)
class _Part:
    """A container of the inputs, as a tree with leaves."""

    kind: str
    items: list[tuple[str | int, _Leaf | _Part | None]] = field(
        default_factory=list["tuple[str | int, _Leaf | _Part | None]"]
    )


def read_dynamic_axes(
    axes: Mapping[str, _Axes | None],
    report: Report,
    *,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    name: str = "f",
    params: tuple[Param, ...] | None = None,
    inputs: Mapping[str, Input] | None = None,
    receiver: str | None = None,
    span: Span | None = None,
) -> LegacySpec | None:
    """Returns what ``dynamic_axes`` says of the inputs.

    Args:
        axes: As it was passed: for each name a dict of labels by axis, or a list of axes.
        report: Receives ``legacy-parameter`` where it cannot be told what a name is.
        input_names: As they were passed; names of the inputs, flattened, in order.
        output_names: As they were passed.
        name: Of the callable.
        params: Its parameters, if they are known.
        inputs: The example's, if there is one.
        receiver: ``self`` for a method.
        span: Of the argument, in source.

    Returns:
        None if an error was reported.
    """
    if params is None and not input_names and output_names is None:
        report.error(
            "legacy-parameter",
            "`dynamic_axes` names inputs and outputs, and nothing tells which are inputs",
            at=span,
            help="pass `input_names=`, or the callable",
        )
        return None
    outputs = set(output_names or ())
    notes: list[Note] = []
    if params is None:
        names = list(input_names) if input_names else [key for key in axes if key not in outputs]
        params = tuple(Param(each, AnyType()) for each in _distinct(names))
        leaves = dict(zip(names, (_Leaf(Place(param.name, param.name)) for param in params), strict=True))
        tops: dict[str, _Leaf | _Part | None] = {leaf.place.text: leaf for leaf in leaves.values()}
    else:
        tops = {param.name: _top(param, inputs) for param in params}
        found = [leaf for top in tops.values() for leaf in _leaves(top)]
        named = list(input_names or ())
        leaves = {leaf.place.text: leaf for leaf in found[len(named) :]}
        leaves.update(zip(named, found, strict=False))
    for key, said in axes.items():
        if key in leaves:
            leaves[key].axes = said
        elif key not in outputs:
            notes.append(
                _unnamed(key, list(leaves), outputs, lost=bool(input_names) and output_names is not None, span=span)
            )
    if axes and output_names is None and not any(leaf.axes for leaf in leaves.values()):
        notes = [loss("no name in `dynamic_axes` is an input's: pass `input_names=`", span=span)]
    notes += _of_outputs(
        {key: said for key, said in axes.items() if key not in leaves and key in outputs}, leaves, span
    )
    labels = Labels(_apart(leaves.values()))
    tree = Entries(tuple((key, _tree(top, labels)) for key, top in tops.items() if _says(top)), span)
    known = inputs or {key: UnknownInput() for key in tops}
    inputs = {key: TensorInput() if isinstance(each, UnknownInput) else each for key, each in known.items()}
    renamed = [
        f"`{key}` is `{leaf.place.text}`" for key, leaf in leaves.items() if leaf.axes and key != leaf.place.text
    ]
    if renamed:
        notes.append(remark(f"names of the ONNX graph became the parameters': {', '.join(renamed)}", span=span))
    return LegacySpec(name, params, tree, inputs, receiver, (*notes, *labels.notes()), "engine", span)


def _unnamed(key: str, inputs: Sequence[str], outputs: Iterable[str], *, lost: bool, span: Span | None) -> Note:
    """Returns what is to be said of a key that names neither an input nor an output."""
    close = difflib.get_close_matches(key, [*inputs, *outputs], 1)
    message = f"`{key}` in `dynamic_axes` names no input, and an output follows from the inputs"
    if lost:
        return loss(f"{message}: dropped{f'; did you mean `{close[0]}`?' if close else ''}", span=span)
    if close and close[0] in inputs:
        return choice(message, (), "dropped, as torch does", [f"meant for `{close[0]}`"], span=span)
    return remark(f"{message}: dropped", span=span)


def _of_outputs(axes: Mapping[str, _Axes | None], inputs: Mapping[str, _Leaf], span: Span | None) -> Iterator[Note]:
    """Yields the labels that outputs alone have: what the exporter calls these sizes follows from the inputs."""
    known = {str(label) for leaf in inputs.values() for label in _labels(leaf.axes)}
    for key, said in axes.items():
        own = [str(label) for label in _labels(said) if str(label) not in known]
        if own:
            listed = ", ".join(f"`{label}`" for label in dict.fromkeys(own))
            yield loss(
                f"the output `{key}` has labels that no input has, which have no counterpart: {listed}", span=span
            )


def _labels(said: _Axes | None) -> Iterable[str | int]:
    return said.values() if isinstance(said, Mapping) else ()


def _distinct(names: Sequence[str]) -> list[str]:
    made: list[str] = []
    for each in names:
        made.append(free(as_name(each), made))
    return made


# --------------------------------------------------------------------------------------- the inputs, flattened


def _top(param: Param, inputs: Mapping[str, Input] | None) -> _Leaf | _Part | None:
    place = Place(param.name, param.name)
    if inputs is None:  # a tensor, as most are
        return None if param.kind in (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD) else _Leaf(place)
    return _part(inputs[param.name], place) if param.name in inputs else None


def _part(given: Input, place: Place) -> _Leaf | _Part | None:
    match given:
        case TensorInput(sizes=sizes):
            return _Leaf(place, sizes)
        case UnknownInput():
            return _Leaf(place)
        case SequenceInput(kind=kind, items=items):
            return _Part(kind, [(at, _part(item, place.item(at))) for at, item in enumerate(items)])
        case MappingInput(entries=entries):
            return _Part("dict", [(key, _part(item, place.item(key))) for key, item in entries])
        case ObjectInput(children=children, is_namedtuple=named):
            parts = [_part(item, place.attribute(key or str(at))) for at, (key, item) in enumerate(children)]
            return _Part("namedtuple" if named else "list", list(enumerate(parts)))
        case _:
            return None


def _leaves(part: _Leaf | _Part | None) -> Iterator[_Leaf]:
    if isinstance(part, _Leaf):
        yield part
    elif isinstance(part, _Part):
        for _, item in part.items:
            yield from _leaves(item)


def _apart(leaves: Iterable[_Leaf]) -> set[str]:
    """Returns the labels that stand for several sizes in the example."""
    given: dict[str, set[int]] = {}
    for leaf in leaves:
        sizes = leaf.sizes or ()
        for axis, label in leaf.axes.items() if isinstance(leaf.axes, Mapping) else ():
            if -len(sizes) <= axis < len(sizes) and (size := sizes[axis]) is not None:
                given.setdefault(str(label), set()).add(size)
    return {label for label, found in given.items() if len(found) > 1}


def _says(part: _Leaf | _Part | None) -> bool:
    return any(leaf.axes for leaf in _leaves(part))


def _tree(part: _Leaf | _Part | None, labels: Labels) -> Tree:
    match part:
        case None:
            return Unsaid()
        case _Leaf():
            return _axes(part, labels)
        case _Part(kind="dict", items=items):
            return Entries(tuple((key, _tree(item, labels)) for key, item in items))
        case _Part(kind=kind, items=items):
            made = tuple(_tree(item, labels) for _, item in items)
            return Items(cast("Any", kind), made) if any(_says(item) for _, item in items) else Unsaid()


def _axes(leaf: _Leaf, labels: Labels) -> Tree:
    said = leaf.axes
    if not said:
        return Unsaid()
    if not isinstance(said, Mapping):
        return Entries(tuple((axis, Hinted(Hint.DYNAMIC)) for axis in dict.fromkeys(said)))
    return Entries(tuple((axis, labels.dim(label, leaf.place.axis(axis).text)) for axis, label in said.items()))


__all__ = ["read_dynamic_axes"]
