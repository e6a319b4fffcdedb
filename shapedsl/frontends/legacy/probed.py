"""What a legacy export found, put in place of what its spec left open.

Before::

    f(x: Tensor[x_0, x_1], y: Tensor[B, _])     x_0, x_1 asked for as AUTO
    found: x.shape[0] is B, x.shape[1] is 768, which a weight fixes

After::

    f(x: Tensor[B, 768], y: Tensor[B, _])

What the user said stays as it was: a name, a pinned size, ``_``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from ...ir import (
    Attribute,
    Const,
    Dim,
    Item,
    MappingType,
    ObjectType,
    OptionalType,
    Param,
    Path,
    Predicate,
    ScalarType,
    SequenceType,
    Signature,
    Size,
    TensorType,
    Type,
    Var,
)
from ...ir.walk import free_vars, map_dims, scalar_sizes, tensor_dims
from ...ir.write import write_dim
from ..assemble import Declaration, assemble, constraints_of
from .notes import choice, loss, remark
from .programs import Found, notes_of
from .verdict import Conversion, Note, Verdict


def open_sizes(signature: Signature, named: Iterable[str]) -> dict[str, str]:
    """Returns the variables that stand for what a legacy spec left open, by place: each stands at one.

    Args:
        signature: The spec as converted.
        named: The names that the legacy spec has.
    """
    mine = {variable.name for variable in signature.variables} - set(named)
    return {place: size.name for place, size in _slots(signature.params) if isinstance(size, Var) and size.name in mine}


def bare_sizes(signature: Signature) -> dict[str, str]:
    """Returns the variable at each place where one stands alone."""
    return {place: size.name for place, size in _slots(signature.params) if isinstance(size, Var)}


def settle_open(
    conversion: Conversion,
    open_: Mapping[str, str],
    places: Mapping[str, Size],
    found: Iterable[Found],
    wheres: Iterable[Predicate],
    losses: Iterable[str],
) -> Conversion:
    """Returns ``conversion`` with what a program found.

    Args:
        conversion: Of the legacy spec.
        open_: From `open_sizes`.
        places: The size that the program has at each place.
        found: Its variables.
        wheres: What it demands of them.
        losses: What it demands beyond our words.
    """
    signature = conversion.signature
    answers = {name: places[place] for place, name in open_.items() if place in places}
    params = [replace(param, type=map_dims(param.type, partial(_answer, answers))) for param in signature.params]
    used = {name for param in params for size in _sizes(param.type) for name in free_vars(size)}
    declarations: dict[str, Declaration] = {}
    notes: list[Note] = []
    for size in found:
        known = signature.variable(size.name)
        declarations[size.name] = Declaration(
            size.name,
            size.kind if known is None else known.kind,
            low=size.low,
            high=size.high,
            modulus=size.modulus,
            residue=size.residue,
            hint=None if known is None else known.hint,
            span=None if known is None else known.span,
        )
        if size.name in used and size.name in open_.values():
            notes += notes_of(size)
    kept = [note for note in conversion.notes if not _is_answered(note, open_)]
    remarks = [_found(place, name, answers[name]) for place, name in open_.items() if name in answers]
    notes = [*kept, *remarks, *notes, *(loss(f"the program also demands `{text}`") for text in losses)]
    made = assemble(
        name=signature.name,
        params=params,
        declarations={name: each for name, each in declarations.items() if name in used},
        wheres=[each for where in wheres if used.issuperset(free_vars(where)) for each in constraints_of(where)],
        receiver=signature.receiver,
        span=signature.span,
    )
    return Conversion(made, tuple(notes))


def _is_answered(note: Note, open_: Mapping[str, str]) -> bool:
    """Returns whether a note is about what was left open, and no loss."""
    return bool(note.places) and set(note.places) <= set(open_) and note.verdict is not Verdict.LOSS


def _found(place: str, name: str, size: Size) -> Note:
    """Returns what the trace found for a size that was left open."""
    said = f"the trace found `{write_dim(size)}` at `{place}`"
    match size:
        case Const(value=0 | 1 as value):
            example = "probe with an example of 2 or more to learn which"
            message = f"{said}, as it does wherever the example has {value}"
            return choice(message, [place], f"the static size {value}", [f"dynamic: {example}"])
        case Const():
            return remark(f"{said}: a static size", [place])
        case Var(name=other):
            return remark(f"{said}: {'dynamic' if other == name else 'the size of another dim'}", [place])
        case _:
            return remark(f"{said}: computed from another size", [place])


def _answer(answers: Mapping[str, Size], dim: Dim) -> Dim:
    return answers.get(dim.name, dim) if isinstance(dim, Var) else dim


def _sizes(type_: Type) -> Iterator[Dim]:
    yield from tensor_dims(type_)
    yield from scalar_sizes(type_)


def _slots(params: Iterable[Param]) -> Iterator[tuple[str, Dim | None]]:
    """Yields each size of ``params`` with its place."""
    for param in params:
        yield from _slots_of(param.type, Path(param.name))


def _slots_of(type_: Type, path: Path) -> Iterator[tuple[str, Dim | None]]:
    def inner(part: Type, step: Item | Attribute) -> Iterator[tuple[str, Dim | None]]:
        return _slots_of(part, Path(path.root, (*path.steps, step)))

    match type_:
        case TensorType(dims=dims):
            for axis, dim in enumerate(dims or ()):
                yield f"{path}.shape[{axis}]", dim
        case ScalarType(size=size):
            yield str(path), size
        case SequenceType(items=items):
            for at, part in enumerate(items):
                yield from inner(part, Item(at))
        case MappingType(entries=entries):
            for key, part in entries:
                yield from inner(part, Item(key))
        case ObjectType(fields=fields):
            for name, part in fields:
                yield from inner(part, Attribute(name))
        case OptionalType(inner=part):
            yield from _slots_of(part, path)
        case _:
            pass


__all__ = ["bare_sizes", "open_sizes", "settle_open"]
