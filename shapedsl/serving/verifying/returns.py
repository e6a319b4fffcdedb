"""Decide what a spec claims of the result, on the symbolic shapes of an artifact's outputs.

A claim is proved for all sizes that spec and artifact accept, or refuted with sizes, or undecided: where data decides
a size, no input tells it. A name that stands in the return type alone is some size: the one at its first use.

Before::

    -> (Tensor[B, 2 * D], int64[N])        # the program: (FakeTensor(u0, u1 + u1), FakeTensor(u7))

After::

    kept   return[0].shape[0] == B    kept   return[0].shape[1] == 2 * D    kept   return[1] is int64
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from ...diagnostics import Span
from ...ir import (
    COMPARISONS,
    AnyType,
    Apply,
    Attribute,
    Compare,
    Const,
    Dim,
    Dtype,
    Ellipsis,
    Fresh,
    Item,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Path,
    Rest,
    ScalarType,
    SequenceType,
    Size,
    Static,
    TensorType,
    Type,
    Var,
    Variable,
    VariableKind,
    Variadic,
)
from ...ir.operators import OPERATORS
from ...ir.walk import free_vars, substitute_size
from ...ir.write import write_dim
from ...normalize.compare.dtypes import members, written
from ...normalize.decide import Proved, Refuted
from ...targets.enforced.model import Data, Enforced, Output
from ...targets.enforced.stated import Stated, stated
from .asking import Premises
from .promise import Promise


def returns(enforced: Enforced) -> tuple[Promise, ...]:
    """Returns what the spec claims of the result, each claim with what became of it.

    Args:
        enforced: The artifact, with the spec at its structure.
    """
    claimed = enforced.expanded.signature.returns
    if claimed is None or isinstance(claimed, AnyType):
        return ()
    if enforced.result is None:
        why = f"what the {enforced.kind} returns is not known"
        return (
            Promise("undecided", "the return type", "undecided", why=why, span=claimed.span, artifact=enforced.label),
        )
    walk = _Walk(enforced)
    walk.bind(claimed, enforced.result)
    return tuple(replace(each, artifact=enforced.label) for each in walk.claims(claimed, enforced.result))


_RETURN: Final = Path("return")


class _Walk:
    """One return type beside one result."""

    def __init__(self, enforced: Enforced) -> None:
        self.enforced = enforced
        self.said: Stated = stated(enforced.expanded)
        self.data: Mapping[str, Data] = {each.name: each for each in enforced.data}
        self.meanings: dict[str, Size] = dict(self.said.definitions)
        self.stars: dict[str, tuple[Size | None, ...]] = {}
        self.lengths = dict(enforced.expanded.lengths)
        kinds = [Variable(each.name, VariableKind.INT) for each in enforced.data]
        self.premises = Premises((*self.said.places, *kinds))
        for each in self.said.statements:
            self.premises.add(each.predicate)
        for demand in (*enforced.checked, *enforced.relied, *enforced.anew):
            self.premises.add(demand.predicate)
        for place, size in enforced.statics:
            self.premises.add(Compare(COMPARISONS["=="], Var(place), Const(size)))
        for symbol in enforced.data:
            for op, bound in ((">=", symbol.low), ("<=", symbol.high)):
                if bound is not None:
                    self.premises.add(Compare(COMPARISONS[op], Var(symbol.name), Const(bound)))
        self.dtypes = dict(enforced.dtypes)
        self.families: dict[str, str] = {}
        for leaf in enforced.expanded.leaves:
            if leaf.dtype is not None and leaf.dtype.variable is not None and str(leaf.path) in self.dtypes:
                self.families.setdefault(leaf.dtype.variable, self.dtypes[str(leaf.path)])

    # --------------------------------------------------------- names that stand in the return type alone

    def bind(self, type_: Type, value: object) -> None:
        """Gives each name that only the return type has the size at its first use alone."""
        match type_:
            case OptionalType(inner=inner) if not _is_none(value):
                self.bind(inner, value)
            case TensorType(dims=dims) if dims is not None and isinstance(value, Output) and value.kind == "tensor":
                for dim, size in _paired(dims, value.sizes, self.stars) or ():
                    self._bind_dim(dim, size)
            case ScalarType(size=size) if size is not None and isinstance(value, Output):
                self._bind_dim(size, _scalar(value))
            case _:
                for inner, part, _ in _parts(type_, value, _RETURN, self.lengths) or ():
                    self.bind(inner, part)

    def _bind_dim(self, dim: Dim, size: Size | None) -> None:
        if isinstance(dim, Var) and size is not None:
            self.meanings.setdefault(dim.name, size)

    # ------------------------------------------------------------------------------------------ claims

    def claims(self, type_: Type, value: object, path: Path = _RETURN) -> Iterator[Promise]:
        """Yields what ``type_`` claims of ``value``."""
        match type_:
            case AnyType():
                return
            case OptionalType(inner=inner):
                if not _is_none(value):
                    yield from self.claims(inner, value, path)
                else:
                    yield Promise("kept", f"{path} may be None", place=str(path), span=type_.span)
            case NoneType():
                yield self._structure(_is_none(value), f"{path} is None", path, value, type_.span)
            case TensorType():
                yield from self._tensor(type_, value, path)
            case ScalarType(size=size):
                what = f"{path} is an int"
                if not isinstance(value, Output) or (scalar := _scalar(value)) is None:
                    odd = isinstance(value, Output) and value.kind == "int"
                    yield (
                        self._unread(what, path, value, type_.span)
                        if odd
                        else self._structure(False, what, path, value, type_.span)
                    )
                elif size is None:
                    yield self._structure(True, what, path, value, type_.span)
                else:
                    yield self._size(size, scalar, str(path), value, size.span or type_.span)
            case _:
                yield from self._container(type_, value, path)

    def _container(self, type_: Type, value: object, path: Path) -> Iterator[Promise]:
        parts = _parts(type_, value, path, self.lengths)
        if parts is None:
            yield self._structure(False, f"{path} is {_kind(type_)}", path, value, type_.span)
            return
        empty = True
        for inner, part, at in parts:
            empty = False
            if part is _MISSING:
                what = f"{at} is there"
                yield self._structure(False, what, at, "nothing", inner.span or type_.span)
            else:
                yield from self.claims(inner, part, at)
        if empty:
            yield self._structure(True, f"{path} is {_kind(type_)}", path, value, type_.span)

    def _tensor(self, type_: TensorType, value: object, path: Path) -> Iterator[Promise]:
        if not isinstance(value, Output) or value.kind != "tensor":
            yield self._structure(False, f"{path} is a tensor", path, value, type_.span)
            return
        if type_.dtype is not None:
            yield self._dtype(type_.dtype, value, path, type_.span)
        if type_.dims is None:
            if type_.dtype is None:
                yield self._structure(True, f"{path} is a tensor", path, value, type_.span)
            return
        pairs = _paired(type_.dims, value.sizes, self.stars)
        what = f"{path} has {_dims(len(type_.dims))}"
        if pairs is None:
            yield self._structure(False, what, path, value, type_.span)
            return
        said = False
        for axis, (dim, size) in enumerate(pairs):
            if isinstance(dim, (Static, Fresh, Ellipsis, Variadic)):
                continue
            said = True
            place = f"{path}.shape[{axis}]"
            span = dim.span or type_.span
            if size is None:
                text = value.texts[axis] if axis < len(value.texts) else "?"
                why = f"torch says `{text}`, which has no words here"
                yield Promise("undecided", f"{place} == {write_dim(dim)}", "undecided", place=place, why=why, span=span)
            else:
                yield self._size(dim, size, place, value, span)
        if not said and type_.dtype is None:
            yield self._structure(True, what, path, value, type_.span)

    def _dtype(self, dtype: Dtype, value: Output, path: Path, span: Span | None) -> Promise:
        what = f"{path} is {written(dtype)}"
        if value.dtype is None:
            return Promise("undecided", what, "undecided", place=str(path), why="its dtype is not known", span=span)
        same = value.dtype in members(dtype.name)
        if same and dtype.variable is not None:
            same = self.families.setdefault(dtype.variable, value.dtype) == value.dtype
        found = Promise("kept", what, place=str(path), span=span)
        if same:
            return found
        return replace(found, status="refuted", code="return-mismatch", line=value.line, why=f"it is {value.dtype}")

    def _size(self, dim: Size, size: Size, place: str, value: Output, span: Span | None) -> Promise:
        found = Promise("kept", f"{place} == {write_dim(dim)}", place=place, span=span)
        unknown = [name for name in free_vars(dim) if name not in self.meanings]
        if unknown:
            return self._of_some(dim, size, unknown, found, value)
        claimed = substitute_size(dim, self.meanings)
        if claimed == size:
            return found
        claim = Compare(COMPARISONS["=="], size, claimed)
        by_data = [self.data[name] for name in dict.fromkeys(free_vars(claim)) if name in self.data]
        match self.premises.decide(claim):
            case Proved():
                return found
            case Refuted() if by_data:
                return replace(found, status="undecided", code="undecided", line=by_data[0].line, why=_data(by_data))
            case Refuted(witness=witness):
                why = f"it is {write_dim(self._in_names(size))}"
                names = {name for name in free_vars(claim) if name in dict(witness)}
                shown = tuple((self._name(name), n) for name, n in witness if name in names)
                return replace(found, status="refuted", code="return-mismatch", witness=shown, why=why, line=value.line)
            case other:
                return replace(found, status="undecided", code="undecided", why=other.reason)

    def _of_some(self, dim: Size, size: Size, unknown: Sequence[str], found: Promise, value: Output) -> Promise:
        """Returns whether there is a size for a name that stands nowhere alone: ``2 * N`` is an even size."""
        match dim:
            case Apply(op=op, args=(Const(value=factor), Var())) if op.name == "*" and factor > 0:
                even = Compare(COMPARISONS["=="], Apply(OPERATORS["%"], (size, Const(factor))), Const(0))
                verdict = self.premises.decide(even)
                if isinstance(verdict, Proved):
                    return found
                if isinstance(verdict, Refuted) and not self.data.keys() & set(free_vars(size)):
                    why = f"it is {write_dim(self._in_names(size))}, which is not always a multiple of {factor}"
                    names = set(free_vars(size))
                    shown = tuple((self._name(name), n) for name, n in verdict.witness if name in names)
                    return replace(
                        found, status="refuted", code="return-mismatch", why=why, witness=shown, line=value.line
                    )
            case _:
                pass
        why = f"`{unknown[0]}` stands in the return type alone, and nowhere by itself"
        return replace(found, status="undecided", code="undecided", why=why)

    def _in_names(self, size: Size) -> Size:
        """Returns a size over places in the user's names."""
        return substitute_size(size, {place: Var(self._name(place)) for place in free_vars(size)})

    def _name(self, place: str) -> str:
        name = self.said.names.get(place, place)
        return place if name.startswith("?") else name

    def _unread(self, what: str, path: Path, value: object, span: Span | None) -> Promise:
        texts = value.texts if isinstance(value, Output) else ()
        why = f"torch says `{', '.join(texts)}`, which has no words here"
        return Promise("undecided", what, "undecided", place=str(path), why=why, span=span)

    def _structure(self, fits: bool, what: str, path: Path, value: object, span: Span | None) -> Promise:
        found = Promise("kept", what, place=str(path), span=span)
        if fits:
            return found
        line = value.line if isinstance(value, Output) else None
        return replace(found, status="refuted", code="return-mismatch", why=f"it is {_described(value)}", line=line)


# ------------------------------------------------------------------------------------ types and values


class _Missing:
    """Stands for a part that a result lacks."""


_MISSING = _Missing()


def _parts(
    type_: Type, value: object, path: Path, lengths: Mapping[str, int]
) -> list[tuple[Type, object, Path]] | None:
    """Returns the parts of a container with what is claimed of each; None if ``value`` is none like it."""
    if isinstance(value, Output):
        return None
    match type_:
        case SequenceType():
            if not isinstance(value, (list, tuple)):
                return None
            return _items(type_, cast("Sequence[object]", value), path, lengths)
        case MappingType(entries=entries):
            if not isinstance(value, Mapping):
                return None
            known = cast("Mapping[object, object]", value)
            return [(inner, known.get(key, _MISSING), _at(path, Item(key))) for key, inner in entries]
        case ObjectType(fields=fields):
            return [(inner, getattr(value, name, _MISSING), _at(path, Attribute(name))) for name, inner in fields]
        case _:
            return None


def _items(
    type_: SequenceType, values: Sequence[object], path: Path, lengths: Mapping[str, int]
) -> list[tuple[Type, object, Path]] | None:
    count, there = len(type_.items), len(values)
    times = type_.times
    if times is not None:
        number = (
            times.value if isinstance(times, Const) else lengths.get(times.name) if isinstance(times, Var) else None
        )
        if number is not None and there != number * count:
            return None
    repeated = times is not None or type_.rest is Rest.REPEAT
    if repeated and count and there % count:
        return None
    if not repeated and (there < count or (there > count and type_.rest is Rest.NONE)):
        return None
    wanted = there if repeated else count
    return [(type_.items[at % count], values[at], _at(path, Item(at))) for at in range(wanted if count else 0)]


def _at(path: Path, step: Item | Attribute) -> Path:
    return Path(path.root, (*path.steps, step))


def _paired(
    dims: Sequence[Dim], sizes: Sequence[Size | None], stars: dict[str, tuple[Size | None, ...]]
) -> list[tuple[Dim, Size | None]] | None:
    """Returns the dims beside the sizes; None if there are more or fewer. What one dim stands for is written out."""
    opened = [at for at, dim in enumerate(dims) if isinstance(dim, (Ellipsis, Variadic))]
    if not opened:
        return list(zip(dims, sizes, strict=True)) if len(dims) == len(sizes) else None
    at = opened[0]
    count = len(sizes) - len(dims) + 1
    if len(opened) > 1 or count < 0:
        return None
    middle: list[Dim] = [Static()] * count
    star = dims[at]
    if isinstance(star, Variadic):
        known = stars.setdefault(star.name, tuple(sizes[at : at + count]))
        if len(known) != count:
            return None
        middle = [Var(f"{star.name}[{axis}]", star.span) for axis in range(count)]
    return list(zip((*dims[:at], *middle, *dims[at + 1 :]), sizes, strict=True))


def _scalar(value: Output) -> Size | None:
    if value.kind == "int":
        return value.sizes[0]
    plain = type(value.value) is int
    return Const(cast("int", value.value)) if value.kind == "constant" and plain else None


def _is_none(value: object) -> bool:
    return isinstance(value, Output) and value.kind == "constant" and value.value is None


def _described(value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, Output):
        kind: Any = type(value)
        length = f" of {len(cast('Sequence[object]', value))}" if isinstance(value, (list, tuple)) else ""
        return f"a {kind.__name__}{length}"
    if value.kind == "tensor":
        return f"a tensor of {_dims(len(value.sizes))}"
    if value.kind == "constant":
        return repr(value.value)
    return "an int" if value.kind == "int" else "something else"


def _dims(count: int) -> str:
    return "1 dim" if count == 1 else f"{count} dims"


def _kind(type_: Type) -> str:
    match type_:
        case SequenceType(kind=kind, items=items, rest=rest, times=times):
            length = "" if rest is not Rest.NONE or times is not None else f" of {len(items)}"
            return f"a {kind}{length}"
        case MappingType():
            return "a dict"
        case ObjectType(name=name):
            return f"an object `{name}`"
        case _:
            return "something else"


def _data(by: Sequence[Data]) -> str:
    first = by[0]
    return f"data decides it: torch calls it {first.name}"


__all__ = ["returns"]
