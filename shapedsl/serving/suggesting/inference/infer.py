"""A profile → the spec that its calls suggest.

Before::

    ids int64 (1, 17) (8, 64) (2, 40) …   mask bool (1, 17) (8, 64) (2, 40) …   → float32 (1, 17, 768) …

After::

    def encode(ids: int64[B, S], mask: bool[B, S]) -> Tensor[B, S, 768]:
        dim B hint 8  # 1 to 8: 4 sizes in 310 calls
        dim S hint 40  # 3 to 512: 201 sizes in 310 calls

What was seen as bounds is a comment and a hint, never a limit. What was seen too rarely to tell is ``_`` or a size of its own, and is noted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ....ir import Const, Dim, Fresh, Param, ParamKind, Path, Size, Static, Type, Var
from ...profiles.calls import count
from ...profiles.histogram import Sizes
from ...profiles.profile import Profile, Structure
from .merged import Column, Instance, Merger, Shape
from .naming import is_sayable, name_of
from .relations import CONSTANT_CALLS, CONSTANT_ROWS, Derived, Group, derive, group, residue
from .returns import return_type
from .rows import Row, is_ragged, values_of
from .typed import Typer, dtypes_by_path, is_index

_SHARE: Final = 5  # a size is the hint if one call in so many has it; else the median is
_NOTES: Final = 12
_POSITIONAL: Final = (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL_OR_KEYWORD)
_VARIADIC: Final = (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Declared:
    """A size that the spec declares.

    Attributes:
        name: Its name.
        counts: Size → calls, ascending.
        low, high: The smallest and the largest that was seen, of calls that are counted elsewhere too.
        integer: Whether it stands in ints only, so that nothing keeps it from being negative.
        modulus, residue: 1 and 0 where it has none.
    """

    name: str
    counts: Mapping[int, int]
    low: int
    high: int
    integer: bool = False
    modulus: int = 1
    residue: int = 0

    @property
    def hint(self) -> int:
        """The size to optimize for."""
        return hint_of(self.counts)


def hint_of(counts: Mapping[int, int]) -> int:
    """Returns the size to optimize for: one that many calls have, else the median; 0 and 1 only where there is no other."""
    usual = {size: times for size, times in counts.items() if size > 1} or dict(counts)
    total = sum(usual.values())
    best = max(usual, key=lambda size: (usual[size], size))
    if usual[best] * _SHARE >= total:
        return best
    reached = 0
    for size, times in sorted(usual.items()):
        reached += times
        if 2 * reached >= total:
            return size
    return best


@dataclass(slots=True)
class Inferred:
    """What a profile suggests.

    Attributes:
        name: The callable.
        params: Its parameters.
        returns: Its return type, or None where outputs do not tell.
        declared: The sizes, in the order in which they appear.
        notes: What was seen and not taken, or taken with a risk; one line each.
    """

    name: str
    params: list[Param]
    returns: Type | None
    declared: list[Declared]
    notes: list[str] = field(default_factory=list[str])


def infer(profile: Profile) -> Inferred:
    """Returns the spec that the calls of ``profile`` suggest; of no calls, one that says nothing."""
    return _Inference(profile).result()


class _Inference:
    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.notes: list[str] = []
        self.structures = list(profile.tables)
        self.rows = [
            Row(number, sizes, table.sizes.counts.get(sizes, 0))
            for number, table in enumerate(profile.tables.values())
            for sizes in table.sizes.rows()
        ]
        self.calls = profile.calls
        self.merger = Merger()
        self.shapes = self._parameters()
        self.columns = self.merger.columns
        values = [values_of(column, self.rows) for column in self.columns]
        self.ragged = {
            index
            for index, (column, own) in enumerate(zip(self.columns, values, strict=True))
            if column.repeated and is_ragged(column, own, self.rows)
        }
        self.dtypes = dict(dtypes_by_path(self.shapes.values()))
        whole = [index for index in range(len(values)) if index not in self.ragged]
        self.groups, close = group([values[index] for index in whole], [max(row.times, 1) for row in self.rows])
        for each in self.groups:
            each.members = [whole[index] for index in each.members]
        self._tell_close(close, whole)
        self.sizes: dict[int, Dim] = {index: Fresh() for index in self.ragged}
        self.derived = derive(self.groups)
        self.declared = self._decide()

    def _parameters(self) -> dict[str, Shape]:
        """Returns the merged structure of each parameter that was passed at least once."""
        starts: list[dict[str, Instance]] = []
        for number, structure in enumerate(self.structures):
            own: dict[str, Instance] = {}
            start = 0
            for name, node in structure:
                own[name] = Instance(number, node, start)
                start += count(node)
            starts.append(own)
        known = [parameter.name for parameter in self.profile.parameters]
        names = dict.fromkeys([*known, *(name for own in starts for name in own)])
        shapes: dict[str, Shape] = {}
        for name in names:
            found = [own[name] for own in starts if name in own]
            if found:
                shapes[name] = self.merger.merge(found, Path(name))
        return shapes

    def _tell_close(self, close: Sequence[tuple[int, int]], whole: Sequence[int]) -> None:
        for first, distinct in close:
            column = self.columns[whole[first]]
            self.notes.append(
                f"another size equals {column} so far, in {distinct} size{'s' * (distinct > 1)}: too few to tell"
            )

    def _decide(self) -> list[Declared]:
        """Gives each group its size, and returns the bases."""
        declared: list[Declared] = []
        names: set[str] = set()
        solid = len(self.rows) >= CONSTANT_ROWS and self.calls >= CONSTANT_CALLS
        stayed: list[str] = []
        for position, each in enumerate(self.groups):
            columns = [self.columns[index] for index in each.members]
            if not each.seen:
                self._set(each, Static())
            elif len(each.seen) == 1:
                value = next(iter(each.seen))
                is_number = solid and value > 0 and columns[0].axis is not None
                self._set(each, Const(value) if is_number else Static())
                if not is_number and columns[0].axis is not None:
                    stayed.append(f"{columns[0]} was {value}")
            elif position not in self.derived:
                first = columns[0]
                is_tokens = first.axis is not None and is_index(self.dtypes.get(str(first.path), ()))
                each.name = name_of(columns, is_tokens, names)
                names.add(each.name)
                self._set(each, Var(each.name))
                declared.append(self._declare(each, columns))
        for position, made in self.derived.items():
            self._set(self.groups[position], _size(made))
        if stayed:
            more = f", and {len(stayed) - 6} more" if len(stayed) > 6 else ""
            self.notes.append(f"static (`_`) since too few calls could have changed it: {', '.join(stayed[:6])}{more}")
        return declared

    def _declare(self, each: Group, columns: Sequence[Column]) -> Declared:
        counts: dict[int, int] = {}
        for value, row in zip(each.values, self.rows, strict=True):
            if value is not None and row.times:
                counts[value] = counts.get(value, 0) + row.times
        integer = all(column.axis is None for column in columns)
        modulus, rest = residue(each.seen)
        if integer and min(each.seen) < 0:
            self.notes.append(
                f"the int {each.name} went down to {min(each.seen)}; torch takes none without a lower bound, so declare"
                f" `int {each.name} in [{min(each.seen)}, inf]` if that is one"
            )
        return Declared(each.name, dict(sorted(counts.items())), min(each.seen), max(each.seen), integer, modulus, rest)

    def _set(self, each: Group, size: Dim) -> None:
        for index in each.members:
            self.sizes[index] = size

    def result(self) -> Inferred:
        """Returns the spec."""
        number = {id(column): index for index, column in enumerate(self.columns)}
        typer = Typer(lambda column: self.sizes[number[id(column)]], self.notes)
        known = {parameter.name: parameter for parameter in self.profile.parameters}
        params: list[Param] = []
        optional = False
        for name, shape in self.shapes.items():
            if not is_sayable(name):
                self.notes.append(f"parameter {name} is left out: no .shapes file can say its name")
                continue
            about = known.get(name)
            kind = ParamKind.POSITIONAL_OR_KEYWORD if about is None else ParamKind[about.kind]
            always = all(any(name == each for each, _ in structure) for structure in self.structures)
            default = (about is not None and about.default) or not (always or kind in _VARIADIC)
            if kind in _POSITIONAL:  # none without a default follows one that has it
                optional = default = optional or default
            params.append(Param(name, typer.type(shape), kind, default=default))
        returns = self._returns()
        notes = list(dict.fromkeys(self.notes))
        more = [f"and {len(notes) - _NOTES} more"] if len(notes) > _NOTES else []
        return Inferred(self.profile.name, params, returns, self.declared, [*notes[:_NOTES], *more])

    def _returns(self) -> Type | None:
        """Returns the return type in names of the bases, then of what follows from them."""
        at = {(row.structure, row.sizes): number for number, row in enumerate(self.rows)}
        numbers = {structure: number for number, structure in enumerate(self.structures)}
        names: dict[str, Size] = {}
        values: dict[str, Group] = {}
        for derived in (False, True):
            for position, each in enumerate(self.groups):
                if len(each.seen) > 1 and (position in self.derived) is derived:
                    size: Size = _size(self.derived[position]) if derived else Var(each.name)
                    key = each.name or f"#{position}"
                    names[key], values[key] = size, each

        def lookup(structure: Structure, sizes: Sizes) -> dict[str, int] | None:
            row = at.get((numbers[structure], sizes))
            if row is None:
                return None
            own = {key: each.values[row] for key, each in values.items()}
            return {key: value for key, value in own.items() if value is not None}

        return return_type(self.profile, names, lookup, self.notes)


def _size(made: Derived) -> Size:
    return made.size(Var(made.first.name), None if made.second is None else Var(made.second.name))


__all__ = ["Declared", "Inferred", "hint_of", "infer"]
