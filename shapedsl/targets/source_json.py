"""Write a lowered signature as JSON that says what its ShapesSpec is made of, for readers without torch.

`source_text` in data: the same variables under the same names, and the same assumptions. A slot is a
key of ``variables``, a number (pinned), or null (static). Variables are listed apart, since torch
tells them apart as objects, whatever their names.

Before::

    x: [B, 2*B, _]       B in [0, 31] hint 8, 2*B == 2 * B

After::

    {"type": "ShapesSpec",
     "variables": {"B": {"type": "ShapeVar", "name": "B", "min": 0, "max": 31, "optimization_hint": 8},
                   "size_2_B": {"type": "ShapeVar", "name": "2*B", "min": 0, "max": null, "optimization_hint": null}},
     "params": {"x": {"type": "TensorSpec", "dims": ["B", "size_2_B", null]}},
     "assumptions": ["size_2_B == 2 * B"]}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from ..ir import (
    Attribute,
    Const,
    Dim,
    Item,
    MappingType,
    ObjectType,
    ParamKind,
    Path,
    ScalarType,
    SequenceType,
    Step,
    TensorType,
    Type,
    Var,
    VariableKind,
)
from ..ir.expanded import Lowered, TorchVariable
from .source_text import Writer

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | None"


def write_json(lowered: Lowered) -> dict[str, Json]:
    """Returns the document of ``lowered``, ready for `json.dumps`.

    Args:
        lowered: Each dim is a variable, a constant or static.

    Raises:
        ShapeError: ``contradiction``: an assumption about constants alone is false.
    """
    writer = Writer(lowered, "")
    tree = _Tree(writer)
    assumptions: list[Json] = [text for each in lowered.assumptions if (text := writer.assumption(each))]
    return {
        "type": "ShapesSpec",
        "variables": {writer.names[each.name]: _variable(each) for each in lowered.variables},
        "params": tree.params(),
        "assumptions": assumptions,
    }


def _variable(variable: TorchVariable) -> Json:
    is_int = variable.kind is VariableKind.INT
    return {
        "type": "IntVar" if is_int else "ShapeVar",
        "name": variable.name,
        "min": variable.low if is_int else variable.low or 0,
        "max": variable.high,
        "optimization_hint": variable.hint,
    }


class _Tree:
    """The specs of the parameters. What is all static is left out, or null where a position has to be kept."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def params(self) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for param in self.writer.lowered.expanded.signature.params:
            match param.kind, param.type:
                case ParamKind.VAR_POSITIONAL, SequenceType(items=items):
                    if entries := self.items(items, param.name, ()):
                        found["*args"] = entries
                case ParamKind.VAR_KEYWORD, MappingType(entries=named):
                    if keywords := self.named(named, param.name, ()):
                        found["**kwargs"] = {str(key): spec for key, spec in keywords}
                case _, type_:
                    if (spec := self.type(type_, param.name, ())) is not None:
                        found[param.name] = spec
        return found

    def type(self, type_: Type, root: str, steps: tuple[Step, ...]) -> Json:
        match type_:
            case TensorType() | ScalarType():
                leaf = self.writer.leaves.get(Path(root, steps))
                if leaf is None:
                    return None
                slots = [self.slot(dim) for dim in leaf.dims]
                return slots[0] if leaf.scalar else {"type": "TensorSpec", "dims": slots}
            case SequenceType(items=items):
                entries = self.items(items, root, steps)
                return {"type": "SeqSpec", "entries": entries} if entries else None
            case MappingType(entries=named):
                pairs: list[Json] = [[key, spec] for key, spec in self.named(named, root, steps)]
                return {"type": "DictSpec", "entries": pairs} if pairs else None  # a key may be 0, and another "0"
            case ObjectType(fields=fields):
                members = {name: self.type(item, root, (*steps, Attribute(name))) for name, item in fields}
                members = {name: spec for name, spec in members.items() if spec is not None}
                return {"type": "ObjectSpec", "fields": members} if members else None
            case _:
                return None

    def items(self, items: Iterable[Type], root: str, steps: tuple[Step, ...]) -> list[Json]:
        entries = [self.type(item, root, (*steps, Item(at))) for at, item in enumerate(items)]
        return entries if any(entry is not None for entry in entries) else []

    def named(
        self, entries: Iterable[tuple[str | int, Type]], root: str, steps: tuple[Step, ...]
    ) -> list[tuple[str | int, Json]]:
        named = [(key, self.type(item, root, (*steps, Item(key)))) for key, item in entries]
        return [(key, spec) for key, spec in named if spec is not None]

    def slot(self, dim: Dim) -> Json:
        match dim:
            case Var(name=name):
                return self.writer.names[name]
            case Const(value=value):
                return value
            case _:
                return None
