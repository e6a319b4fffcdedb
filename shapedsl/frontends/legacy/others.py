"""Read what other tools take for a spec, by its kind: a dump, ``dynamic_axes``, inputs of an engine.

None of them knows the parameters of a callable. With one, and an example, what they say in the order of a call is
given to its parameters.

Before::

    [Input(min_shape=(1, 8), opt_shape=(4, 8), max_shape=(16, 8)), Input((1, 64))]  for  def forward(self, q, k)

After::

    q: (Named("q_0", 1, 16, hint=4), Pinned(8)), k: (Pinned(1), Pinned(64))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

from ...diagnostics import Report
from ...ir import AnyType, Param, ParamKind
from .dump import is_dump, read_dump
from .examples import Example, Reader, Target
from .model import Entries, Input, Items, LegacySpec, TensorInput, Tree, Unsaid
from .notes import loss
from .onnx import read_dynamic_axes
from .tensorrt import engine_input, is_engine_input, read_engine_inputs

Other: TypeAlias = Callable[["Given", Report], "LegacySpec | None"]


class Given:
    """What is known beside a spec.

    Attributes:
        shapes: The spec.
        target: The callable.
        example: A call of it.
        reader: Reads the example.
        input_names: ONNX's.
    """

    __slots__ = ("example", "input_names", "reader", "shapes", "target")

    def __init__(
        self,
        shapes: Any,
        target: Target,
        example: Example | None,
        reader: Reader,
        input_names: Sequence[str] | None,
    ) -> None:
        self.shapes = shapes
        self.target = target
        self.example = example
        self.reader = reader
        self.input_names = input_names

    @property
    def params(self) -> tuple[Param, ...] | None:
        """The parameters of the callable; None where there is none."""
        return self.target.params if self.target.is_known else None

    @property
    def inputs(self) -> dict[str, Input] | None:
        """The example by parameter; None where one of the two is not known."""
        if self.example is None or self.target.params is None:
            return None
        bound = self.target.bind(self.example.args, self.example.kwargs)
        return {name: self.reader.input(value) for name, value in bound.items()}


def other(given: Given) -> Other | None:
    """Returns what reads a spec if it is of another tool; None for a spec of dims."""
    shapes = given.shapes
    if is_dump(shapes):
        return _dump
    if is_engine_input(shapes) or any(map(is_engine_input, _values(shapes))):
        return _engine
    if given.input_names is not None or _is_labeled(shapes):
        return _axes
    return _axes if _has_axes(shapes) and _are_no_sizes(shapes, given.inputs or {}) else None


def _values(shapes: Any) -> list[Any]:
    if isinstance(shapes, Mapping):
        return list(shapes.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType, reportUnknownMemberType]
    return list(cast("Sequence[Any]", shapes)) if isinstance(shapes, (list, tuple)) else []


def _is_labeled(shapes: Any) -> bool:
    """Whether ``shapes`` is ``dynamic_axes`` with a label: without one it may as well be pinned sizes."""
    if not _has_axes(shapes):
        return False
    return any(
        isinstance(label, str) for said in _values(shapes) if isinstance(said, Mapping) for label in _values(said)
    )


def _are_no_sizes(shapes: Mapping[str, Any], inputs: Mapping[str, Input]) -> bool:
    """Whether each name has a list of axes of its input in the example, and one of them cannot be its sizes.

    ``{"x": [0, 1]}`` is two axes of a tensor of (4, 3), and torch refuses sizes that are not the example's.
    """
    wrong = False
    for name, said in shapes.items():
        given = inputs.get(name)
        if not said:
            continue
        if not isinstance(said, (list, tuple)) or not isinstance(given, TensorInput) or given.rank is None:
            return False
        axes = cast("Sequence[int]", said)
        if len(set(axes)) != len(axes) or not all(-given.rank <= axis < given.rank for axis in axes):
            return False
        wrong = wrong or len(axes) != given.rank or (given.sizes is not None and tuple(axes) != given.sizes)
    return wrong


def _has_axes(shapes: Any) -> bool:
    """Whether ``shapes`` is ``{name: {axis: label}}``; a name may have a list of axes instead, or None."""
    if not isinstance(shapes, Mapping):
        return False
    return all(isinstance(name, str) for name in _listed(shapes)) and all(map(_is_axes, _values(shapes)))


def _is_axes(said: Any) -> bool:
    if not isinstance(said, (Mapping, list, tuple)):
        return said is None
    labels = _values(said) if isinstance(said, Mapping) else []
    return all(isinstance(axis, int) for axis in _listed(said)) and all(isinstance(each, (str, int)) for each in labels)


def _listed(container: Any) -> list[Any]:
    return list(container)


def _dump(given: Given, report: Report) -> LegacySpec | None:
    target = given.target
    spec = read_dump(given.shapes, report, name=target.name, params=given.params, receiver=target.receiver)
    return None if spec is None else _called(spec, given)


def _engine(given: Given, report: Report) -> LegacySpec | None:
    shapes, target, params = given.shapes, given.target, given.params
    if is_engine_input(shapes):
        shapes = [shapes]
    if isinstance(shapes, Mapping):  # `kwarg_inputs=`, by parameter
        named = cast("Mapping[str, Any]", shapes)
        params = params or tuple(Param(name, AnyType()) for name in named)
        unknown = [name for name in named if name not in {param.name for param in params}]
        if unknown:
            names = ", ".join(f"`{param.name}`" for param in params)
            report.error("legacy-parameter", f"`{target.name}` has no parameter `{unknown[0]}`", note=f"it has {names}")
            return None
        shapes = [named.get(param.name) for param in params]
    items = [engine_input(each) if is_engine_input(each) else None for each in shapes]
    spec = read_engine_inputs(items, report, name=target.name, params=params, receiver=target.receiver)
    if spec is None:
        return None
    nested = [
        param.name
        for param, each in zip(spec.params or (), shapes, strict=False)
        if not is_engine_input(each) and any(map(is_engine_input, _values(each)))
    ]
    if nested:
        spec = replace(spec, notes=(*spec.notes, loss("the Inputs in a container are not read: it is static", nested)))
    if isinstance(given.shapes, Mapping):
        return replace(spec, tree=_by_name(spec), inputs=(given.inputs if target.is_known else None) or spec.inputs)
    return _called(spec, given)


def _by_name(spec: LegacySpec) -> Tree | None:
    if not isinstance(spec.tree, Items):
        return spec.tree
    pairs = zip(spec.params or (), spec.tree.items, strict=False)
    return Entries(tuple((param.name, tree) for param, tree in pairs if not isinstance(tree, Unsaid)))


def _called(spec: LegacySpec, given: Given) -> LegacySpec:
    """Returns ``spec``, whose tree has an entry for each argument of a call, with one for each parameter."""
    if given.target.params is None:
        return spec
    kinds = {param.kind for param in given.target.params}
    said = None if kinds & {ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD} else spec.inputs
    names = [param.name for param in given.target.params]
    if said is not None:  # in the order of the parameters, whatever they were called
        said = dict(zip(names, said.values(), strict=False))
    spec = replace(spec, params=given.target.params, inputs=said if given.inputs is None else given.inputs)
    if not isinstance(spec.tree, Items):
        return spec
    trees, example = spec.tree.items, given.example
    if example is not None and len(trees) != len(example.args) + len(example.kwargs):
        return spec  # told when it is converted
    front = len(trees) if example is None else len(example.args)
    back = () if example is None else tuple(example.kwargs)
    try:
        bound = given.target.bind(trees[:front], dict(zip(back, trees[front:], strict=True)))
    except TypeError:  # more than the callable takes: told when it is converted
        return spec
    return replace(spec, tree=Entries(tuple((name, _gathered(tree)) for name, tree in bound.items())))


def _gathered(tree: Any) -> Tree:
    """Returns what ``*args`` and ``**kwargs`` collect as a tree."""
    if isinstance(tree, tuple):
        return Items("tuple", cast("tuple[Tree, ...]", tree))
    if isinstance(tree, dict):
        return Entries(tuple(cast("dict[str, Tree]", tree).items()))
    return cast("Tree", tree)


def _axes(given: Given, report: Report) -> LegacySpec | None:
    target, example = given.target, given.example
    if not _has_axes(given.shapes):
        report.error(
            "legacy-parameter",
            "`input_names=` belongs to `dynamic_axes`, a dict by name of dicts of labels or lists of axes",
            help="leave out `input_names=`, or pass what `torch.onnx.export` takes as `dynamic_axes=`",
        )
        return None
    spec = read_dynamic_axes(
        given.shapes,
        report,
        input_names=given.input_names,
        name=target.name,
        params=given.params,
        inputs=given.inputs if target.is_known else None,
        receiver=target.receiver,
    )
    if spec is None or target.is_known or example is None or spec.params is None:
        return spec
    values = [*example.args, *example.kwargs.values()]
    inputs = [given.reader.input(value) for value in values]
    if len(inputs) != len(spec.params) or not all(isinstance(each, TensorInput) for each in inputs):
        return spec  # the names are of flattened inputs
    return replace(spec, inputs={param.name: each for param, each in zip(spec.params, inputs, strict=True)})


__all__ = ["Given", "Other", "other"]
