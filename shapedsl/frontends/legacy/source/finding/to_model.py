"""Values of a source file → the model of a legacy spec.

Before (of ``{"x": {0: rows, 1: 3}}``)::

    Dict({"x": (Constant("x"), Dict({0: (Constant(0), DimValue("rows", None, 64)), 1: (Constant(1), Constant(3))}))})

After::

    Entries((("x", Entries(((0, Named("rows", None, 64)), (1, Pinned(3))))),))

Nothing is left out: one part that is not known makes the whole spec unknown.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from typing import TYPE_CHECKING, TypeAlias

from ...model import (
    Derived,
    Entries,
    Hinted,
    Input,
    IntInput,
    Items,
    MappingInput,
    Named,
    ObjectInput,
    OtherInput,
    Pinned,
    SequenceInput,
    TensorInput,
    Tree,
    UnknownInput,
    Unsaid,
)
from ..values import (
    Callable,
    Collection,
    Constant,
    Dict,
    DimValue,
    Fork,
    HintValue,
    Imported,
    Made,
    Member,
    Relation,
    Sequence,
    Tensor,
    Unknown,
    Value,
)
from .refused import not_known, refuse

if TYPE_CHECKING:
    import libcst as cst

    from .....diagnostics import Span

Spans: TypeAlias = "Function[[cst.CSTNode], Span]"

# Where torch keeps the new specs, and where this package does: a spec made by these is no legacy spec.
_NEW = ("torch.fx.experimental.dynamic_spec.", "shapedsl.")


def to_tree(value: Value, spans: Spans, label: Function[[str, Span], Tree] | None = None) -> Tree:
    """Returns what a value says as a legacy spec, or as a part of one.

    Args:
        value: Without a `Fork` in it.
        spans: Where a node stands.
        label: What a string says in place of a dim, where it may.

    Raises:
        RefusedError: It says nothing that source shows.
    """
    at = value.node
    match value:
        case Constant(value=None):
            return Unsaid(spans(at))
        case Constant(value=int(number)):
            return Pinned(int(number), spans(at))
        case Constant(value=str(text)) if label is not None:
            return label(text, spans(at))
        case DimValue():
            return _dim(value, spans)
        case HintValue(kind=kind, low=low, high=high):
            return Hinted(kind, low, high, None, spans(at), _open(at, value.open, spans))
        case Dict(entries=entries):
            return Entries(
                tuple([(_key(key, made), to_tree(item, spans, label)) for key, (made, item) in entries.items()]),
                spans(at),
            )
        case Sequence(kind=kind, items=items, fields=fields):
            return Items(kind, tuple([to_tree(item, spans, label) for item in items]), fields, spans(at))
        case Callable(kind="object", signature=None, attributes=Dict(entries=entries)) if entries:  # a dataclass
            inside = [to_tree(item, spans, label) for _, item in entries.values()]
            return Items("namedtuple", tuple(inside), tuple(map(str, entries)), spans(at))
        case Unknown():
            raise not_known(value)
        case Made(name=name) | Imported(name=name):
            raise refuse(f"`{name}` is defined elsewhere", at)
        case Fork(options=options):  # beyond what branches are told apart for
            for option in options:
                to_tree(option, spans, label)
            raise refuse("too many branches lead to it", at, label="one of several")
        case _:
            raise refuse(f"{described(value)} is no part of a legacy spec", at, label="neither a dim nor a container")


def _dim(value: DimValue, spans: Spans) -> Named | Derived:
    written = _open(value.root, value.open, spans)
    root = Named(value.name, value.low, value.high, None, spans(value.root), written)
    if (value.factor, value.offset) == (1, 0):
        return root
    return Derived(root, value.factor, value.offset, spans(value.node))


def _open(call: cst.CSTNode, bounds: tuple[str, ...], spans: Spans) -> tuple[str, ...]:
    return tuple([f"{bound}={_bound(call, bound, spans)}" for bound in bounds])


def _bound(root: cst.CSTNode, name: str, spans: Spans) -> str:
    """Returns a bound as the call that makes a dim writes it, in one line; ``…`` where it comes from elsewhere."""
    for arg in getattr(root, "args", ()):
        if arg.keyword is not None and arg.keyword.value == name:
            span = spans(arg.value)
            return " ".join(span.source.text[span.start : span.end].split())
    return "…"


def _key(key: object, made: Value) -> str | int:
    if isinstance(key, (str, int)):
        return key if isinstance(key, str) else int(key)
    if isinstance(made, Unknown):
        raise not_known(made)
    raise refuse(f"{described(made)} is no key of a legacy spec", made.node, label="neither a name nor an axis")


def described(value: Value) -> str:
    """Returns what a value is, for a message."""
    match value:
        case Constant(value=constant):
            return f"`{constant!r}`"
        case DimValue(name=name):
            return f"a dim, `{name}`,"
        case Imported(name=name) | Callable(name=name):
            return f"`{name}`"
        case Made(name=name):
            return f"what `{name}` makes"
        case Member(name=name):
            return f"`{name}` of an object of another module"
        case Tensor():
            return "a tensor"
        case Collection():
            return "a ShapesCollection"
        case Relation():
            return "a comparison"
        case HintValue():
            return "a hint"
        case Dict():
            return "a dict"
        case Sequence(kind=kind):
            return f"a {kind}"
        case _:
            return "this"


def is_new_name(name: str) -> bool:
    """Returns whether a qualified name is of the new specs, or of this package."""
    return name.startswith(_NEW)


def is_new(value: Value) -> bool:
    """Returns whether a spec, or a part of it, is one of torch's new ones already."""
    match value:
        case Made(name=name) | Imported(name=name):
            return is_new_name(name)
        case Member(owner=owner):
            return is_new(owner)
        case Dict(entries=entries):
            return any(is_new(item) for _, item in entries.values())
        case Sequence(items=items) | Fork(options=items):
            return any(is_new(item) for item in items)
        case _:
            return False


# ---------------------------------------------------------------------------------------- inputs


def to_input(value: Value, known: Function[[Value], Value] = lambda value: value) -> Input:
    """Returns what an example input is, as far as source shows it.

    Args:
        value: The input.
        known: What else tells of a value that is not known: its annotation.
    """
    value = known(value)
    match value:
        case Tensor(sizes=sizes):
            return TensorInput(None if sizes is None else len(sizes), sizes)
        case Constant(value=bool()):
            return OtherInput("bool")
        case Constant(value=int(number)):
            return IntInput(number)
        case Constant(value=constant):
            return OtherInput("None" if constant is None else type(constant).__name__)
        case Sequence(kind="namedtuple", items=items, fields=fields, class_name=name):
            children = tuple([(field, to_input(item, known)) for field, item in zip(fields, items, strict=True)])
            return ObjectInput(name, children, is_namedtuple=True)
        case Sequence(kind=kind, items=items):
            return SequenceInput(
                "list" if kind == "list" else "tuple", tuple([to_input(item, known) for item in items])
            )
        case Dict(entries=entries) if all(isinstance(key, (str, int)) for key in entries):
            return MappingInput(tuple([(key, to_input(item, known)) for key, (_, item) in entries.items()]))  # type: ignore[misc]
        case Callable(kind="object", signature=None, attributes=Dict(entries=entries), name=name) if entries:
            parts = [(str(key), to_input(item, known)) for key, (_, item) in entries.items()]
            # torch leaves a field out that is None
            return ObjectInput(name, tuple([part for part in parts if part[1] != OtherInput("None")]))
        case Made(name="builtins.int"):
            return IntInput()
        case Made(name="builtins.float" | "builtins.bool" | "builtins.str" as name):
            return OtherInput(name.removeprefix("builtins."))
        case Made(name=name) if _is_class(name):
            return ObjectInput(name.rpartition(".")[2], ())
        case Fork(options=options):
            return _joined([to_input(option, known) for option in options])
        case _:
            return UnknownInput()


def _is_class(name: str) -> bool:
    """Returns whether a qualified name is a class's by custom, and not one of torch's, which make tensors."""
    return not name.startswith("torch.") and name.rpartition(".")[2][:1].isupper()


def _joined(inputs: list[Input]) -> Input:
    if all(each == inputs[0] for each in inputs):
        return inputs[0]
    ranks = {each.rank if isinstance(each, TensorInput) else None for each in inputs}
    if all(isinstance(each, TensorInput) for each in inputs):
        return TensorInput(ranks.pop() if len(ranks) == 1 else None)
    return UnknownInput()


__all__ = ["Spans", "described", "is_new", "is_new_name", "to_input", "to_tree"]
