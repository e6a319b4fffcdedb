"""Say a spec in torch's legacy dims, or say why they cannot.

A ``Dim`` has a name and a range, and a size may be ``a * B + b``. So an equation becomes one ``Dim`` in two
places, and a residue a root that is no size itself. What remains (``B <= S``, ``B * S``, ``B // 2``) they cannot say.

Before::

    f(x: Tensor[B], y: Tensor[S])     B in [0, 64] multiple of 8, S == B + 1

After::

    B_div8 in [0, 8]     x: {0: 8*B_div8}   y: {0: 8*B_div8 + 1}

Invariant: the set of declared sizes is the same. torch checks less of it when a program runs, which is noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..diagnostics import Report, Severity, Span
from ..ir import (
    COMPARISONS,
    OPERATORS,
    AnyType,
    Apply,
    Compare,
    Const,
    Dim,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Origin,
    Param,
    ParamKind,
    Predicate,
    Rest,
    ScalarType,
    SequenceType,
    Signature,
    Size,
    Static,
    TensorType,
    Type,
    Var,
    Variable,
    VariableKind,
)
from ..ir.legacy import DictDims, DimHint, DimRoot, DimsForm, DimSlot, DimTree, DimUse, ListDims, TensorDims
from ..ir.walk import free_vars, map_dims, scalar_sizes, substitute_size, tensor_dims
from ..ir.write import write_dim, write_predicate
from .algebra import TooLarge, terms
from .decide import range_of
from .predicates import simplify_predicate, split
from .settle import Facts, Settled, settle

_CODE = "unsupported-by-torch"


def legacy_dims(signature: Signature, report: Report) -> DimsForm | None:
    """Returns what torch's legacy dims say of a callable.

    Args:
        signature: At one structure, and satisfiable.
        report: Receives ``unsupported-by-torch`` for what they cannot say, and notes of what torch does not check.

    Returns:
        None if an error was reported.
    """
    errors = len(report.errors)
    form = _Former(signature, report).form()
    return None if len(report.errors) > errors else form


def without_trailing_ellipses(signature: Signature) -> Signature:
    """Returns ``signature`` with ``Tensor[B]`` for ``Tensor[B, ...]``: legacy dims number the axes, and need no rank."""
    return replace(signature, params=tuple(replace(p, type=_cut(p.type)) for p in signature.params))


def _cut(type_: Type) -> Type:
    from ..ir import Ellipsis

    match type_:
        case TensorType(dims=dims) if dims and isinstance(dims[-1], Ellipsis):
            return replace(type_, dims=dims[:-1])
        case SequenceType(items=items):
            return replace(type_, items=tuple(map(_cut, items)))
        case MappingType(entries=entries):
            return replace(type_, entries=tuple((key, _cut(item)) for key, item in entries))
        case ObjectType(fields=fields):
            return replace(type_, fields=tuple((name, _cut(item)) for name, item in fields))
        case OptionalType(inner=inner):
            return replace(type_, inner=_cut(inner))
        case _:
            return type_


@dataclass(frozen=True, slots=True)
class _Root:
    """What a variable is: ``factor * name + offset``, in a range of its own."""

    name: str
    factor: int
    offset: int
    low: int | None
    high: int | None


class _Former:
    def __init__(self, signature: Signature, report: Report) -> None:
        self.signature = signature
        self.report = report
        self.consts = {each.name for each in signature.variables if each.kind is VariableKind.CONST}
        self.uses: dict[str, int] = {}
        self.roots: dict[str, _Root] = {}
        self.used: dict[str, None] = {}
        self.bare: set[str] = set()
        self.factors: dict[str, set[int]] = {}

    def form(self) -> DimsForm | None:
        settled = self._settled()
        if settled is None:
            return None
        for param in settled.params:
            for size in (*tensor_dims(param.type), *scalar_sizes(param.type)):
                for name in free_vars(size):
                    self.uses[name] = self.uses.get(name, 0) + 1
        self._roots(settled)
        params = tuple((param, self._tree(param.type, param.name, param.kind)) for param in settled.params)
        roots = tuple(DimRoot(root.name, root.low, root.high) for name in self.used for root in [self.roots[name]])
        for name in self.used:
            self._tell(name, self.roots[name])
        return DimsForm(self.signature.name, self.signature.index, roots, params)

    # ------------------------------------------------------------------------------- constraints

    def _settled(self) -> Settled | None:
        """Returns the spec without equations; what is left of its assumptions is reported."""
        params = tuple(replace(p, type=map_dims(p.type, self._without_consts)) for p in self.signature.params)
        spans: dict[Predicate, Span | None] = {}
        predicates: list[Predicate] = []
        for constraint in self.signature.constraints:
            names = set(free_vars(constraint.predicate))
            if constraint.origin is Origin.DIM or (names <= self.consts and names):
                continue
            if names & self.consts:
                self._refuse(constraint.text or write_predicate(constraint.predicate), constraint.span)
                continue
            spans.update(dict.fromkeys(split(simplify_predicate(constraint.predicate)), constraint.span))
            predicates.append(constraint.predicate)
        variables = [each for each in self._in_order(params) if each.name not in self.consts]
        facts = {each.name: Facts(0 if each.kind is VariableKind.DIM else None, None) for each in variables}
        settled = settle(params, variables, facts, predicates)
        if settled is None:
            self.report.error("contradiction", f"no shape satisfies `{self.signature.name}`", at=self.signature.span)
            return None
        for where in settled.wheres:
            self._refuse(write_predicate(where), spans.get(where))
        return settled

    def _in_order(self, params: tuple[Param, ...]) -> list[Variable]:
        """Returns the variables, those that stand alone at a size first, then as they are met."""
        sizes = [size for param in params for size in (*tensor_dims(param.type), *scalar_sizes(param.type))]
        bare = [size.name for size in sizes if isinstance(size, Var)]
        met = dict.fromkeys([*bare, *(name for size in sizes for name in free_vars(size))])
        known = {each.name: each for each in self.signature.variables}
        order = [*met, *(name for name in known if name not in met)]
        return [known[name] for name in order if name in known]

    def _without_consts(self, dim: Dim) -> Dim:
        used = set(free_vars(dim))
        if not used & self.consts:
            return dim
        if not isinstance(dim, Var):
            self._refuse(write_dim(dim), dim.span)
        return Static(dim.span)

    def _roots(self, settled: Settled) -> None:
        """Finds the root and the range of each variable."""
        dims = [dim for param in settled.params for dim in tensor_dims(param.type) if isinstance(dim, Apply)]
        given = [Compare(COMPARISONS[">="], dim, Const(0)) for dim in dims]
        stated = [fact for name, facts in settled.facts.items() for fact in facts.predicates(name)]
        variables = [each for each in self.signature.variables if each.name in settled.facts]
        for variable in variables:
            name, facts = variable.name, settled.facts[variable.name]
            low, high = facts.low, facts.high
            if any(name in free_vars(dim) for dim in dims):  # `B - 1` needs a B of at least 1
                found = range_of(variables, [*stated, *given], Var(name))
                low, high = (low, high) if found is None else (found.low, found.high)
            if facts.modulus > 1:
                low = None if low is None else -((facts.residue - low) // facts.modulus)
                high = None if high is None else (high - facts.residue) // facts.modulus
                made = f"{_identifier(name)}_div{facts.modulus}"
                while made in settled.facts:
                    made += "_"
                self.roots[name] = _Root(made, facts.modulus, facts.residue, low, high)
            else:
                self.roots[name] = _Root(name, 1, 0, low, high)

    # -------------------------------------------------------------------------------------- types

    def _tree(self, type_: Type, place: str, kind: ParamKind | None = None) -> DimTree:
        match type_:
            case TensorType(dims=dims):
                slots = [(axis, self._slot(dim, dim.span)) for axis, dim in enumerate(dims or ())]
                axes = tuple((axis, slot) for axis, slot in slots if slot is not None)
                return TensorDims(axes) if axes else None
            case ScalarType(size=size):
                return None if size is None else self._scalar(size, type_.span)
            case SequenceType(items=items, rest=rest):
                if rest is Rest.STATIC and kind is not ParamKind.VAR_POSITIONAL:
                    message = f"legacy dims speak of every item of `{place}`, and how many there are is not said"
                    self.report.error("unknown-length", message, at=type_.span, help="write `_` for each other item")
                trees = tuple(self._tree(item, f"{place}[{at}]") for at, item in enumerate(items))
                return ListDims("tuple" if kind is ParamKind.VAR_POSITIONAL else type_.kind, trees)
            case MappingType(entries=entries):
                return DictDims(tuple((key, self._tree(item, f"{place}[{key!r}]")) for key, item in entries))
            case OptionalType(inner=inner):
                return self._tree(inner, place)
            case ObjectType(fields=fields):
                if any(True for _ in _dynamic(type_)):
                    message = f"legacy dims describe `{place}` by an object of its class, which a spec does not know"
                    self.report.error(_CODE, message, at=type_.span)
                del fields
                return None
            case AnyType() | NoneType():
                return None

    def _slot(self, dim: Dim, span: Span | None) -> DimSlot:
        match dim:
            case Const(value=value):
                return value
            case Var(name=name) if name.startswith("?") and self.uses[name] == 1 and self.roots[name].factor == 1:
                root = self.roots[name]
                return DimHint(root.low or None, root.high)
            case Var() | Apply():
                pass
            case _:
                return None
        bindings: dict[str, Size] = {name: _size(root) for name, root in self.roots.items()}
        try:
            polynomial = terms(substitute_size(dim, bindings))
        except TooLarge:
            polynomial = {}
        monomials = [monomial for monomial in polynomial if monomial]
        offset = polynomial.get((), 0)
        if len(monomials) == 1 and len(monomials[0]) == 1 and isinstance(monomials[0][0], Var):
            factor, (variable,) = polynomial[monomials[0]], monomials[0]
            assert isinstance(variable, Var)
            if factor > 0:
                name = next(name for name, root in self.roots.items() if root.name == variable.name)
                if self._is_int(name):
                    self._refuse(write_dim(dim), span)
                    return None
                self.used.setdefault(name)
                self.factors.setdefault(variable.name, set()).add(factor)
                if factor == 1 and not offset:
                    self.bare.add(variable.name)
                return DimUse(variable.name, factor, offset)
        self._refuse(write_dim(dim), span)
        return None

    def _is_int(self, name: str) -> bool:
        variable = self.signature.variable(name)
        return variable is not None and variable.kind is VariableKind.INT

    def _scalar(self, size: Size, span: Span | None) -> DimSlot:
        """Returns what is said of an int: torch takes no named dim there."""
        if isinstance(size, Const):
            return None
        if isinstance(size, Var) and self.uses[size.name] == 1:
            root = self.roots[size.name]
            if root.factor == 1 and root.low is not None and root.low >= 0:
                return DimHint(root.low or None, root.high)
            if root.factor == 1:
                self.report.error(
                    "negative-int",
                    f"`{size.name}` may be negative, and legacy dims take an int for none",
                    at=span,
                    help=f"declare `int {size.name} in [0, inf]`",
                )
                return None
        self.report.error(
            _CODE, f"legacy dims cannot tie an int to another size: `{write_dim(size)}`", at=span, label="an int"
        )
        return None

    # -------------------------------------------------------------------------------------- words

    def _refuse(self, text: str, span: Span | None) -> None:
        self.report.error(
            _CODE,
            f"torch's legacy dims cannot say `{text}`",
            at=span,
            note="a Dim has a name and a range, and a size may be `a * B + b`",
        )

    def _tell(self, name: str, root: _Root) -> None:
        """Notes what torch does not check when a program runs."""
        message = ""
        if root.name not in self.bare and min(self.factors[root.name]) > 1:
            parts = f"`{name} % {root.factor} == {root.offset}`" if root.factor > 1 else f"that `{name}` is an integer"
            message = f"torch does not check {parts} when a program runs: no size of an input is `{root.name}`"
        elif root.factor == 1 and root.low in (1, 2):
            message = f"torch does not check `{name} >= {root.low}` when a program runs"
        if message:
            self.report.emit(Severity.NOTE, "legacy-note", message)


def _size(root: _Root) -> Size:
    size: Size = Var(root.name)
    if root.factor != 1:
        size = Apply(OPERATORS["*"], (Const(root.factor), size))
    return Apply(OPERATORS["+"], (size, Const(root.offset))) if root.offset else size


def _dynamic(type_: Type) -> Iterator[Size]:
    for size in (*tensor_dims(type_), *scalar_sizes(type_)):
        if isinstance(size, (Var, Apply, Const)):
            yield size


def _identifier(name: str) -> str:
    made = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "size"
    return f"size_{made}" if made[0].isdigit() else made


__all__ = ["legacy_dims", "without_trailing_ellipses"]
