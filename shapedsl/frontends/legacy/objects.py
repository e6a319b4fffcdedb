"""Read whatever is passed as ``dynamic_shapes=``, with its example and its callable → a `LegacySpec`.

Before::

    sd.from_dims({"x": {0: rows}, "w": (rows,)}, (torch.randn(4, 3), torch.randn(4)), fn=Net())

After::

    LegacySpec("Net.forward", (x, w), Entries(…), {"x": TensorInput(2, (4, 3)), "w": TensorInput(1, (4,))}, "self")

A `ShapesCollection` and `AdditionalInputs` become the tree that torch makes of them. Where nothing is said
(None, ``{}``, ``()``), torch obeys the marks on the example's tensors, and so they are read then, and only then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...diagnostics import Report
from ...ir import AnyType, Param, ParamKind
from .examples import Example, Reader, Target, Torch, target_of
from .labels import Labels
from .live import is_a, tree_of
from .marks import dims_of
from .model import Entries, Input, Items, LegacySpec, TensorInput, Tree, Unsaid
from .notes import choice
from .others import Given, other
from .verdict import Note


def read(
    shapes: Any,
    report: Report,
    *,
    torch: Torch,
    fn: Callable[..., Any] | None = None,
    example: Example | None = None,
    input_names: Sequence[str] | None = None,
) -> LegacySpec | None:
    """Returns what ``shapes`` says.

    Args:
        shapes: What ``torch.export.export`` takes as ``dynamic_shapes=``, in its legacy forms.
        report: Receives ``legacy-parameter`` and ``legacy-bounds``.
        torch: What must be asked of torch.
        fn: The callable, whose parameters are meant.
        example: A call of it.
        input_names: ONNX's names of its parameters.

    Returns:
        None if an error was reported.

    Raises:
        NotLegacyError: ``shapes`` holds something that no legacy spec may.
        TypeError: The example does not fit the parameters of ``fn``.
    """
    target = target_of(fn, example)
    reader = Reader(torch)
    given = Given(shapes, target, example, reader, input_names)
    read_other = other(given)
    if read_other is not None:
        return read_other(given, report)
    collected = is_a(shapes, "ShapesCollection") or is_a(shapes, "AdditionalInputs")
    if collected:
        shapes = _expanded(shapes, target, example, report)
        if shapes is None:
            return None
    labels = Labels()
    tree = tree_of(shapes, labels)
    if example is None:
        said = None if _says_nothing(tree) else tree
        return _labeled(LegacySpec(target.name, target.params, said, receiver=target.receiver), labels)
    guessed = not target.is_known and not collected and isinstance(tree, Entries) and bool(tree.items)
    if guessed and isinstance(tree, Entries):
        named = _named_by(tree, example, report)
        if named is None:
            return None
        target = replace(named, name=target.name)
    bound = target.bind(example.args, example.kwargs)
    inputs = {name: reader.input(value) for name, value in bound.items()}
    spec = LegacySpec(target.name, target.params, tree, inputs, target.receiver)
    names = list(bound)[: len(example.args)]
    if guessed and isinstance(tree, Entries) and target.params and not _alike(tree, names, inputs):
        spec = replace(spec, notes=(_ordered(target),))
    return _with_marks(spec, bound, reader, report) if _says_nothing(tree) else _labeled(spec, labels)


def _labeled(spec: LegacySpec, labels: Labels) -> LegacySpec:
    """Returns ``spec`` with what is to be said of its labels: ONNX's exporter takes them for dims."""
    found = labels.notes()
    return replace(spec, notes=(*spec.notes, *found), runtime="engine") if labels.any else spec


def _says_nothing(tree: Tree) -> bool:
    return isinstance(tree, Unsaid) or (isinstance(tree, (Entries, Items)) and not tree.items)


def _with_marks(spec: LegacySpec, bound: Mapping[str, Any], reader: Reader, report: Report) -> LegacySpec | None:
    """Returns ``spec`` with what the marks on its example say."""
    errors = len(report.errors)
    marked = [each for name, value in bound.items() for each in reader.marked(value, name)]
    dims, notes = dims_of(marked, report)
    if len(report.errors) > errors:
        return None
    trees = tuple((name, reader.tree(value, name, dims)) for name, value in bound.items())
    return replace(spec, tree=Entries(trees), notes=notes, runtime="compile") if dims else replace(spec, tree=None)


def _expanded(shapes: Any, target: Target, example: Example | None, report: Report) -> object:
    """Returns the tree that torch makes of a collection; None if an error was reported."""
    name = type(shapes).__name__
    if example is None:
        report.error(
            "legacy-parameter",
            f"a {name} speaks of the example's tensors, and there is no example",
            help="pass the example as `args=` and `kwargs=`",
        )
        return None

    def stand_in() -> None:
        """Has the parameters; torch asks for no more."""

    try:
        setattr(stand_in, "__signature__", target.signature)  # noqa: B010 - type checkers know no such attribute
        # what it takes for a spec of no inputs says nothing, as `{}` does
        return shapes.dynamic_shapes(stand_in, tuple(example.args), dict(example.kwargs)) or {}
    except (AssertionError, TypeError, ValueError) as error:
        report.error("legacy-parameter", f"the {name} does not fit the example", note=str(error))
        return None


def _named_by(tree: Entries, example: Example, report: Report) -> Target | None:
    """Returns parameters after the keys of a dict, which names all inputs: positional ones in its order."""
    names = [key for key, _ in tree.items if isinstance(key, str)]
    free = [name for name in names if name not in example.kwargs]
    if len(names) < len(tree.items):  # an axis at the top: told when it is converted
        return Target(params=(), is_known=False)
    if len(free) != len(example.args):
        report.error(
            "legacy-parameter",
            f"which of {', '.join(f'`{name}`' for name in free) or 'no parameters'} "
            f"the {len(example.args)} positional arguments are for is not known",
            help="pass the callable as `fn=`",
        )
        return None
    params = [Param(name, AnyType()) for name in free]
    named = [Param(name, AnyType(), ParamKind.KEYWORD_ONLY) for name in example.kwargs]
    return Target(params=(*params, *named), is_known=False)


def _alike(tree: Entries, names: Sequence[str], inputs: Mapping[str, Input]) -> bool:
    """Whether positional arguments cannot be mistaken: those that a spec of axes fits are of one rank."""
    said = dict(tree.items)
    ranks: set[int | None] = set()
    for name in names:
        given, own = inputs[name], said.get(name)
        if isinstance(own, Unsaid) or (isinstance(own, Entries) and all(isinstance(key, int) for key, _ in own.items)):
            ranks.add(given.rank if isinstance(given, TensorInput) else -1)
    return len(ranks) < 2


def _ordered(target: Target) -> Note:
    names = [param.name for param in target.params or ()]
    listed = ", ".join(f"`{name}`" for name in names)
    return choice(
        "the parameters of the callable are not known",
        names,
        f"the arguments are for {listed}, in the order of the dict",
        ["another order: pass the callable as `fn=`"],
    )


__all__ = ["read"]
