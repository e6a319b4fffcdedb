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
from typing import Final

from ...diagnostics import Span
from ...ir import (
    COMPARISONS,
    AnyType,
    Apply,
    Compare,
    Const,
    Dim,
    Dtype,
    Ellipsis,
    Fresh,
    MappingType,
    NoneType,
    OptionalType,
    Path,
    ScalarType,
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
from .result_parts import MISSING, described, dims_text, is_none, kind_text, paired, parts_of, scalar_of


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
        known = [each.predicate for each in self.said.statements]
        known += [demand.predicate for demand in (*enforced.checked, *enforced.anew)]
        known += [Compare(COMPARISONS["=="], Var(place), Const(size)) for place, size in enforced.statics]
        for symbol in enforced.data:
            for op, bound in ((">=", symbol.low), ("<=", symbol.high)):
                if bound is not None:
                    known.append(Compare(COMPARISONS[op], Var(symbol.name), Const(bound)))
        self.sure = Premises((*self.said.places, *kinds), known)  # of every call that gets through
        relied = [demand.predicate for demand in enforced.relied]
        self.premises = Premises((*self.said.places, *kinds), (*known, *relied)) if relied else self.sure
        self.dtypes = dict(enforced.dtypes)
        self.families: dict[str, str] = {}
        for leaf in enforced.expanded.leaves:
            if leaf.dtype is not None and leaf.dtype.variable is not None and str(leaf.path) in self.dtypes:
                self.families.setdefault(leaf.dtype.variable, self.dtypes[str(leaf.path)])

    # --------------------------------------------------------- names that stand in the return type alone

    def bind(self, type_: Type, value: object) -> None:
        """Gives each name that only the return type has the size at its first use alone."""
        match type_:
            case OptionalType(inner=inner) if not is_none(value) and value is not MISSING:
                self.bind(inner, value)
            case TensorType(dims=dims) if dims is not None and isinstance(value, Output) and value.kind == "tensor":
                for dim, size in paired(dims, value.sizes, self.stars) or ():
                    self._bind_dim(dim, size)
            case ScalarType(size=size) if size is not None and isinstance(value, Output):
                self._bind_dim(size, scalar_of(value))
            case _:
                for inner, part, _ in parts_of(type_, value, _RETURN, self.lengths) or ():
                    self.bind(inner, part)

    def _bind_dim(self, dim: Dim, size: Size | None) -> None:
        if isinstance(dim, Var) and size is not None:
            self.meanings.setdefault(dim.name, size)

    # ------------------------------------------------------------------------------------------ claims

    def claims(self, type_: Type, value: object, path: Path = _RETURN) -> Iterator[Promise]:
        """Yields what ``type_`` claims of ``value``."""
        open_at = self._granted(value) if isinstance(value, Output) and value.granted else ""
        for each in self._claims(type_, value, path):
            if open_at and each.status == "kept" and not each.what.startswith(f"{path} is "):  # a dtype stays
                yield replace(each, status="undecided", code="undecided", why=open_at)
            else:
                yield each

    def _granted(self, value: Output) -> str:
        """Returns what torch took for granted of a result and the spec leaves open, in words; or nothing."""
        for size in value.granted:
            if size is None:
                return "torch took a size for other than 1 where the program squeezes it, and does not check that"
            if not isinstance(self.sure.decide(Compare(COMPARISONS["!="], size, Const(1))), Proved):
                text = write_dim(self._in_names(size))
                return f"torch took `{text} != 1` for granted where the program squeezes it, and does not check that"
        return ""

    def _claims(self, type_: Type, value: object, path: Path) -> Iterator[Promise]:
        match type_:
            case AnyType():
                return
            case OptionalType(inner=inner):
                if not is_none(value):
                    yield from self.claims(inner, value, path)
                else:
                    yield Promise("kept", f"{path} may be None", place=str(path), span=type_.span)
            case NoneType():
                yield self._structure(is_none(value), f"{path} is None", path, value, type_.span)
            case TensorType():
                yield from self._tensor(type_, value, path)
            case ScalarType(size=size):
                what = f"{path} is an int"
                if not isinstance(value, Output) or (scalar := scalar_of(value)) is None:
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
        parts = parts_of(type_, value, path, self.lengths)
        if parts is None:
            yield self._structure(False, f"{path} is {kind_text(type_)}", path, value, type_.span)
            return
        empty = True
        for inner, part, at in parts:
            empty = False
            if part is MISSING and isinstance(type_, MappingType) and isinstance(inner, OptionalType):
                yield Promise("kept", f"{at} may be absent", place=str(at), span=inner.span)
            elif part is MISSING:
                what = f"{at} is there"
                yield self._structure(False, what, at, "nothing", inner.span or type_.span)
            else:
                yield from self.claims(inner, part, at)
        if empty:
            yield self._structure(True, f"{path} is {kind_text(type_)}", path, value, type_.span)

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
        pairs = paired(type_.dims, value.sizes, self.stars)
        what = f"{path} has {dims_text(len(type_.dims))}"
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
        odd = self._negative(size, value)
        if odd and claimed == size:
            return replace(found, status="undecided", code="undecided", line=value.line, why=odd)
        if claimed == size:
            return found
        claim = Compare(COMPARISONS["=="], size, claimed)
        by_data = [self.data[name] for name in dict.fromkeys(free_vars(claim)) if name in self.data]
        match self.premises.decide(claim):
            case Proved():
                if odd:
                    return replace(found, status="undecided", code="undecided", line=value.line, why=odd)
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

    def _negative(self, size: Size, value: Output) -> str:
        """Returns why a size is not what the program gives a tensor everywhere, or nothing: no size is negative.

        torch took for granted that it is none, such as that of ``x[:-1]`` where ``x`` may be empty.
        """
        if value.kind != "tensor" or isinstance(size, (Var, Const)):
            return ""
        match self.sure.decide(Compare(COMPARISONS[">="], size, Const(0))):
            case Refuted(witness=witness):
                names = set(free_vars(size))
                at = ", ".join(f"{self._name(name)} = {n}" for name, n in witness if name in names)
                return f"torch says it is `{write_dim(self._in_names(size))}`, which is negative at {at}"
            case _:
                return ""

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
        return replace(found, status="refuted", code="return-mismatch", why=f"it is {described(value)}", line=line)


def _data(by: Sequence[Data]) -> str:
    first = by[0]
    return f"data decides it: torch calls it {first.name}"


__all__ = ["returns"]
