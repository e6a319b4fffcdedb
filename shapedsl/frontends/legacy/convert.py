"""A legacy spec → a signature, with what the conversion changed.

Every format comes here as a `LegacySpec`: this is the only place that decides what it means.

Before::

    export(Net(), (torch.randn(4, 3), torch.randn(8)), dynamic_shapes={"a": {0: rows}, "w": (2 * rows,)})

After::

    def Net.forward(a: Tensor[rows, _], w: Tensor[2 * rows]):
        dim rows in [1, 64]

and the note that size 0 ran although ``rows`` is at least 1. Nothing is dropped or guessed: what torch refuses
(two ranges for one name, a parameter that is none) is an error, with the places.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...diagnostics import Report
from ...ir import Param, ParamKind, SequenceType, Type
from ..assemble import assemble
from .model import (
    Derived,
    Entries,
    Input,
    Items,
    LegacySpec,
    MappingInput,
    Named,
    SequenceInput,
    Tree,
    UnknownInput,
)
from .naming import Place, is_name
from .pairing import Pairing
from .parameters import by_parameter
from .sizes import Sizes
from .verdict import Conversion


def convert(spec: LegacySpec, report: Report) -> Conversion | None:
    """Returns what ``spec`` says, as a signature, with what changed.

    Args:
        spec: From any of the formats.
        report: Receives the errors: ``legacy-bounds``, ``legacy-names``, ``legacy-object-keys``,
            ``legacy-parameter``, ``legacy-top-level``; and ``input-too-large`` for what is nested too deeply.

    Returns:
        None if an error was reported.
    """
    try:
        return _convert(spec, report)
    except RecursionError:
        report.error("input-too-large", "the legacy spec is nested too deeply", at=spec.span)
        return None


def _convert(spec: LegacySpec, report: Report) -> Conversion | None:
    errors = len(report.errors)
    assigned = by_parameter(spec, report)
    if assigned is None:
        return None
    taken = frozenset(named.name for named in _named(spec.tree))
    sizes = Sizes(report, taken, checked=spec.runtime != "export")
    pairing = Pairing(sizes, report)
    params: list[Param] = []
    for param, tree, given in assigned.trees:
        if not is_name(param.name):
            message = f"the parameter `{param.name}` of `{spec.name}` has a name that a spec cannot say"
            report.error("legacy-names", message, at=param.span or spec.span, help="rename the parameter")
        given = _collected(param, tree, given)
        params.append(replace(param, type=_typed(param, pairing.type(tree, given, Place(param.name, param.name)))))
    sizes.check()
    if len(report.errors) > errors:
        return None
    signature = assemble(
        name=spec.name,
        params=params,
        declarations=sizes.declarations(),
        receiver=spec.receiver,
        span=spec.span,
    )
    notes = (*spec.notes, *assigned.notes, *pairing.notes, *sizes.notes())
    return Conversion(signature, notes, sizes.open())


def _collected(param: Param, tree: Tree | None, given: Input) -> Input:
    """Returns the input of a parameter; what ``*args`` and ``**kwargs`` collect is a sequence and a dict, known or not."""
    match param.kind, tree:
        case ParamKind.VAR_POSITIONAL, _ if isinstance(given, SequenceInput):
            return given
        case ParamKind.VAR_POSITIONAL, Items(items=items):
            return SequenceInput("tuple", (UnknownInput(),) * len(items))
        case ParamKind.VAR_POSITIONAL, _:
            return SequenceInput("tuple", ())
        case ParamKind.VAR_KEYWORD, _ if isinstance(given, MappingInput):
            return given
        case ParamKind.VAR_KEYWORD, Entries(items=entries):
            return MappingInput(tuple((key, UnknownInput()) for key, _ in entries if isinstance(key, str)))
        case ParamKind.VAR_KEYWORD, _:
            return MappingInput(())
        case _:
            return given


def _typed(param: Param, type_: Type) -> Type:
    """Returns the type of a parameter; what ``*args`` collects is written as a list, whatever the legacy spec had."""
    if param.kind is ParamKind.VAR_POSITIONAL and isinstance(type_, SequenceType):
        return replace(type_, kind="list")
    return type_


def _named(tree: Tree | None) -> Iterator[Named]:
    """Yields every named dim of a tree, the roots of derived ones among them."""
    match tree:
        case Named():
            yield tree
        case Derived(root=root):
            yield root
        case Entries(items=entries):
            for _, item in entries:
                yield from _named(item)
        case Items(items=items):
            for item in items:
                yield from _named(item)
        case _:
            pass


__all__ = ["convert"]
