"""Random IR, drawn from the operator table: a new row is tested by every law without a line here.

What is drawn has the form that frontends give: closed sub-expressions are folded, `And` and `Or` are
flat, names are declared or reached. So ``parse(write(ir)) == ir`` may be asked of all of it.

Nodes are drawn by plain functions of ``draw``, and only the whole is a strategy: a strategy made
anew for each node took nine tenths of the time. One file, though a long one: the laws draw from all
of it, and each part from the one before.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from shapedsl.frontends.assemble import Declaration, assemble, constraints_of
from shapedsl.ir import (
    COMPARISONS,
    OPERATORS,
    Alternative,
    And,
    AnyType,
    Apply,
    Attribute,
    Bucket,
    Compare,
    Const,
    Constraint,
    Dim,
    Drop,
    Dtype,
    Edge,
    Ellipsis,
    Fill,
    Fresh,
    Item,
    MappingType,
    Mode,
    Module,
    Not,
    ObjectType,
    OptionalType,
    Or,
    Pad,
    Param,
    ParamKind,
    Path,
    Predicate,
    Rest,
    ScalarType,
    SequenceType,
    Signature,
    Size,
    Static,
    Step,
    TensorType,
    Type,
    Values,
    Var,
    VariableKind,
    Variadic,
)

T = TypeVar("T")

# Keywords are names too, unless they are reserved.
DIM_NAMES = ("B", "D", "S", "T", "batch", "seq", "dim", "multiple", "of", "hint", "x1", "_h", "case", "lambda", "eager")
INT_NAMES = ("k", "n", "pad", "int")
CONST_NAMES = ("HD", "NL")
VARIADIC_NAMES = ("lead", "rest")
PARAM_NAMES = ("x", "w", "mask", "kvs", "B", "type", "where", "values", "self_", "a_1", "left", "at")
DTYPES = ("float32", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64", "floating", "integral")
KEYS: tuple[str | int, ...] = ("k", "input ids", 'quo"te', "back\\slash", "ünï", "a\nb", "", 0, 1, 7, -1, -30)
MESSAGES = ("too small", 'say "why"', "ünï \\ code")
DOCS = ("What it does.", 'With "quotes" and \\.')
EDGES = (7, 8, 16, 100, 127, 128, 255, 256, 1024, 4096)
OPERATOR_ROWS = tuple(sorted(OPERATORS.values(), key=lambda row: row.name))
COMPARISON_ROWS = tuple(sorted(COMPARISONS.values(), key=lambda row: row.name))


@dataclass(frozen=True)
class Scope:
    """The names that expressions may use, and what they may be used for.

    Attributes:
        dims, ints, consts, variadics: The names.
        safe: Fit for evaluating and for torch: no divisor may be 0, no number is large, powers are
            squares, no dim is static or of unknown rank.
    """

    dims: tuple[str, ...] = ("B", "D")
    ints: tuple[str, ...] = ()
    consts: tuple[str, ...] = ()
    variadics: tuple[str, ...] = ()
    safe: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return self.dims + self.ints + self.consts


# ------------------------------------------------------------------------------------- drawing

_between = functools.cache(st.integers)


@functools.cache
def _among(options: Sequence[T]) -> SearchStrategy[T]:
    return st.sampled_from(options)


def between(draw: DrawFn, low: int, high: int) -> int:
    """Draws an int, both ends included; small ones are simpler."""
    return draw(_between(low, high))


def among(draw: DrawFn, options: Sequence[T]) -> T:
    """Draws one of ``options``."""
    chosen: T = draw(_among(tuple(options)))
    return chosen


def chance(draw: DrawFn, percent: int) -> bool:
    """Draws whether something rare happens; that it does not is simpler."""
    return between(draw, 0, 99) >= 100 - percent


def some(draw: DrawFn, options: Sequence[T], least: int = 0, most: int = 99) -> tuple[T, ...]:
    """Draws some of ``options``, in their order."""
    count = between(draw, least, min(most, len(options)))
    left = list(range(len(options)))
    chosen = {left.pop(between(draw, 0, len(left) - 1)) for _ in range(count)}
    return tuple(option for i, option in enumerate(options) if i in chosen)


# ---------------------------------------------------------------------------------------- sizes


def number(draw: DrawFn, *, large: bool = True) -> int:
    """Draws an int as it stands in specs: mostly small, sometimes at the edge of what torch can hold."""
    match between(draw, 0, 5):
        case 0 | 1 | 2:
            return between(draw, 0, 64)
        case 3 | 4:
            return among(draw, EDGES)
        case _:
            return between(draw, 0, 2**63 - 1 if large else 300)


def draw_size(draw: DrawFn, scope: Scope, depth: int = 3) -> Size:
    """Draws a size that is not constant."""
    if depth == 0 or chance(draw, 50):
        return Var(among(draw, scope.names))
    if scope.variadics and chance(draw, 10):
        return Apply(OPERATORS["prod"], (Variadic(among(draw, scope.variadics)),))
    op = among(draw, OPERATOR_ROWS)
    if op.name == "**":
        return Apply(op, (draw_size(draw, scope, depth - 1), Const(between(draw, 2, 2 if scope.safe else 4))))
    if op.name in ("//", "%", "cdiv"):
        if scope.safe or chance(draw, 60):
            return Apply(op, (draw_size(draw, scope, depth - 1), Const(between(draw, 1, 64))))
        return Apply(op, (_argument(draw, scope, depth), draw_size(draw, scope, depth - 1)))
    args = [_argument(draw, scope, depth) for _ in range(op.arity or between(draw, 2, 3))]
    if all(isinstance(arg, Const) for arg in args):
        args[between(draw, 0, len(args) - 1)] = draw_size(draw, scope, depth - 1)
    return Apply(op, tuple(args))


def _argument(draw: DrawFn, scope: Scope, depth: int) -> Size:
    if chance(draw, 35):
        return Const(number(draw, large=not scope.safe))
    return draw_size(draw, scope, depth - 1)


@st.composite
def sizes(draw: DrawFn, scope: Scope, *, depth: int = 3) -> Size:
    """A size that is not constant; ``depth`` is how deep operators nest at most."""
    return draw_size(draw, scope, depth)


def draw_comparison(draw: DrawFn, scope: Scope) -> Predicate:
    """Draws a comparison of a size with a number or another size."""
    left = draw_size(draw, scope, 2)
    right: Size
    match between(draw, 0, 3):
        case 0 | 1:
            right = Const(number(draw, large=not scope.safe))
        case 2:
            right = Const(-between(draw, 1, 70))
        case _:
            right = draw_size(draw, scope, 1)
    return Compare(among(draw, COMPARISON_ROWS), left, right)


def draw_predicate(draw: DrawFn, scope: Scope, depth: int = 2) -> Predicate:
    """Draws a predicate; `And` and `Or` never nest in themselves."""
    kind = among(draw, ("compare",) * 4 + ("and", "or", "not", "members")) if depth else "compare"
    if kind == "compare":
        return draw_comparison(draw, scope)
    if kind == "members":
        subject = draw_size(draw, scope, 1)
        members = sorted({between(draw, 0, 300) for _ in range(4)})
        if len(members) < 2:
            members.append(members[-1] + 3)
        return Or(tuple(Compare(COMPARISONS["=="], subject, Const(member)) for member in members))
    if kind == "not":
        return Not(draw_predicate(draw, scope, depth - 1))
    node = And if kind == "and" else Or
    parts: list[Predicate] = []
    while len(parts) < 2:
        part = draw_predicate(draw, scope, depth - 1)
        parts.append(draw_comparison(draw, scope) if isinstance(part, node) else part)
    return node(tuple(parts))


@st.composite
def predicates(draw: DrawFn, scope: Scope, *, depth: int = 2) -> Predicate:
    """A predicate; ``depth`` is how deep connectives nest at most."""
    return draw_predicate(draw, scope, depth)


# ---------------------------------------------------------------------------------------- types


def draw_tensor(draw: DrawFn, scope: Scope, *, fresh: bool = False) -> TensorType:
    """Draws a tensor type; at most one ``...`` or ``*name`` stands in it.

    Args:
        draw: Hypothesis's.
        scope: Names that may stand in it.
        fresh: Whether ``?`` and ``?K`` may stand in it.
    """
    dtype = Dtype(among(draw, DTYPES)) if chance(draw, 40) else None
    if not scope.safe and chance(draw, 8):
        return TensorType(None, dtype)
    dims: list[Dim] = [draw_dim(draw, scope, fresh=fresh) for _ in range(between(draw, 0, 4))]
    stretch: list[Dim] = [*map(Variadic, scope.variadics), *([] if scope.safe else [Ellipsis()])]
    if stretch and chance(draw, 30):
        dims.insert(between(draw, 0, len(dims)), among(draw, stretch))
    return TensorType(tuple(dims), dtype)


def draw_dim(draw: DrawFn, scope: Scope, *, fresh: bool) -> Dim:
    """Draws a dim that is one axis."""
    kinds = ("name", "name", "size", "number") + (() if scope.safe else ("static",)) + (("fresh",) if fresh else ())
    match among(draw, kinds):
        case "name":
            return Var(among(draw, scope.names))
        case "size":
            return draw_size(draw, scope, 2)
        case "number":
            return Const(number(draw, large=False))
        case "static":
            return Static()
        case _:
            return Fresh(among(draw, (None, "K")))


def draw_type(draw: DrawFn, scope: Scope, depth: int = 2) -> Type:
    """Draws any type that a parameter may have."""
    kinds: tuple[str, ...] = ("tensor",) * 5 + ("scalar", "any")
    if depth:
        kinds += ("sequence", "times", "mapping", "object", "optional", "repeat")
    match among(draw, kinds):
        case "tensor":
            return draw_tensor(draw, scope)
        case "scalar":
            if not scope.safe and chance(draw, 20):
                return ScalarType(None)
            return ScalarType(
                Const(number(draw, large=not scope.safe)) if chance(draw, 20) else draw_size(draw, scope, 1)
            )
        case "any":
            return AnyType()
        case "sequence":
            items = tuple(draw_type(draw, scope, depth - 1) for _ in range(between(draw, 0, 3)))
            return SequenceType(_sequence(draw), items, Rest.STATIC if chance(draw, 30) else Rest.NONE)
        case "repeat":
            items = tuple(draw_tensor(draw, scope, fresh=not scope.safe) for _ in range(between(draw, 1, 2)))
            return SequenceType(_sequence(draw), items, Rest.REPEAT)
        case "times":
            items = tuple(draw_type(draw, scope, depth - 1) for _ in range(between(draw, 1, 2)))
            count: Size = Const(between(draw, 0, 5))
            if scope.consts and chance(draw, 50):
                count = Var(among(draw, scope.consts))
            return SequenceType(_sequence(draw), items, times=count)
        case "mapping":
            return MappingType(tuple((key, draw_type(draw, scope, depth - 1)) for key in some(draw, KEYS, most=3)))
        case "object":
            label = among(draw, ("object", "Batch", "pkg.mod.Batch"))
            names = some(draw, PARAM_NAMES, most=3)
            return ObjectType(tuple((name, draw_type(draw, scope, depth - 1)) for name in names), label)
        case _:
            inner = draw_type(draw, scope, depth - 1)
            return inner if isinstance(inner, OptionalType) else OptionalType(inner)


def _sequence(draw: DrawFn) -> str:
    return among(draw, ("list", "tuple"))


def draw_params(draw: DrawFn, scope: Scope) -> tuple[Param, ...]:
    """Draws the parameters of a callable, in an order that Python allows."""
    names = some(draw, PARAM_NAMES, least=1, most=4)
    order = list(ParamKind)
    choices = (*(ParamKind.POSITIONAL_OR_KEYWORD,) * 3, ParamKind.POSITIONAL_ONLY, ParamKind.KEYWORD_ONLY)
    kinds = sorted((among(draw, choices) for _ in names), key=order.index)
    result: list[Param] = []
    defaulted = False
    for name, kind in zip(names, kinds, strict=True):
        positional = kind is not ParamKind.KEYWORD_ONLY
        default = (defaulted and positional) or chance(draw, 20)
        defaulted = default if positional else defaulted
        result.append(Param(name, draw_type(draw, scope), kind, default))
    if chance(draw, 15):
        if chance(draw, 50):  # any number of one type
            variadic = SequenceType("list", (draw_tensor(draw, scope),), Rest.REPEAT)
        else:
            variadic = SequenceType("list", tuple(draw_tensor(draw, scope) for _ in range(between(draw, 0, 2))))
        at = next((i for i, p in enumerate(result) if p.kind is ParamKind.KEYWORD_ONLY), len(result))
        result.insert(at, Param("args", variadic, ParamKind.VAR_POSITIONAL))
    if chance(draw, 15):
        mapping = MappingType(tuple((entry, draw_tensor(draw, scope)) for entry in some(draw, ("p", "q"))))
        result.append(Param("kwargs", mapping, ParamKind.VAR_KEYWORD))
    return tuple(result)


# ----------------------------------------------------------------------------------- signatures


def draw_scope(draw: DrawFn, *, safe: bool) -> Scope:
    """Draws names for one signature."""
    if safe:
        return Scope(some(draw, DIM_NAMES[:6], 1, 4), safe=True)
    return Scope(
        some(draw, DIM_NAMES, 1, 4),
        some(draw, INT_NAMES, 0, 2),
        some(draw, CONST_NAMES) if chance(draw, 30) else (),
        some(draw, VARIADIC_NAMES) if chance(draw, 30) else (),
    )


def draw_declarations(draw: DrawFn, scope: Scope) -> dict[str, Declaration]:
    """Draws a declaration for each int and const of ``scope``, and for some of the dims and variadics."""
    result: dict[str, Declaration] = {}
    for kind, names, variadic in (
        (VariableKind.DIM, scope.dims, False),
        (VariableKind.DIM, scope.variadics, True),
        (VariableKind.INT, scope.ints, False),
        (VariableKind.CONST, scope.consts, False),
    ):
        for name in names:
            if kind is VariableKind.DIM and chance(draw, 50):
                continue
            lowest = -20 if kind is VariableKind.INT else 0
            low = between(draw, lowest, 20) if chance(draw, 50) else (None if lowest else 0)
            start = -20 if low is None else low
            high = between(draw, start + (4 if scope.safe else 0), start + 2000) if chance(draw, 50) else None
            plain = kind is VariableKind.CONST or scope.safe
            modulus = 1 if plain else among(draw, (1, 1, 2, 8))
            residue = between(draw, 0, modulus - 1)
            hint = start + (residue - start) % modulus
            usable = kind is not VariableKind.CONST and (high is None or hint <= high) and chance(draw, 50)
            result[name] = Declaration(name, kind, variadic, low, high, modulus, residue, hint if usable else None)
    return result


def draw_wheres(draw: DrawFn, scope: Scope, most: int = 3, *, messages: bool = True) -> list[Constraint]:
    """Draws constraints as ``where`` gives them, some with a message."""
    result: list[Constraint] = []
    for _ in range(between(draw, 0, most)):
        message = among(draw, MESSAGES) if messages and chance(draw, 20) else None
        result += constraints_of(draw_predicate(draw, scope), message=message)
    return result


def draw_path(draw: DrawFn, roots: Sequence[str]) -> Path:
    """Draws a way into a parameter."""
    steps: list[Step] = []
    for _ in range(between(draw, 0, 2)):
        if chance(draw, 50):
            steps.append(Attribute(among(draw, PARAM_NAMES)))
        else:
            steps.append(Item(among(draw, tuple(key for key in KEYS if not (isinstance(key, int) and key < 0)))))
    return Path(among(draw, roots), tuple(steps))


def draw_fill(draw: DrawFn) -> Fill:
    """Draws what padded slots hold."""
    match between(draw, 0, 4):
        case 0:
            return between(draw, -100, 100)
        case 1:
            return among(draw, (True, False))
        case 2:
            return among(draw, (0.5, -1.5, 1e9))
        case 3:
            return Edge()
        case _:
            return tuple(among(draw, (0, 1, 0.25)) for _ in range(between(draw, 1, 3)))


def draw_bucket(draw: DrawFn, scope: Scope, roots: Sequence[str]) -> Bucket:
    """Draws a ``bucket`` line."""
    members, modulus, residue = None, None, 0
    if chance(draw, 50):
        members = tuple(sorted({between(draw, 1, 4096) for _ in range(between(draw, 1, 4))}))
    else:
        modulus = between(draw, 2, 64)
        residue = between(draw, 0, modulus - 1)
    pads = None
    if chance(draw, 50):
        pads = tuple(
            Pad(draw_path(draw, roots), draw_fill(draw), between(draw, 0, 3) if chance(draw, 30) else None)
            for _ in range(between(draw, 1, 2))
        )
    position: Size | str = draw_size(draw, scope, 1) if chance(draw, 20) else among(draw, ("end", "left"))
    reason = among(draw, ("masked", "isolated")) if chance(draw, 30) else None
    return Bucket(among(draw, scope.dims), members, modulus, residue, chance(draw, 20), position, pads, reason)


def draw_alternatives(draw: DrawFn, scope: Scope, roots: Sequence[str]) -> tuple[Alternative, ...]:
    """Draws ``case`` lines and blocks, a run of ``bucket`` lines, maybe an ``otherwise``."""
    result: list[Alternative] = []
    names: list[str | None] = [*some(draw, ("small", "fast", "eager"), most=2), *((None,) if chance(draw, 30) else ())]
    for name in names:
        constraints = tuple(dict.fromkeys(draw_wheres(draw, scope, 2, messages=False)))
        buckets = (draw_bucket(draw, scope, roots),) if name and chance(draw, 30) else ()
        if not constraints and not buckets:
            constraints = tuple(constraints_of(draw_comparison(draw, scope)))
        hints = tuple(sorted((hint, between(draw, 0, 64)) for hint in some(draw, scope.dims, most=2)))
        mode = Mode.COMPILED if buckets else among(draw, tuple(Mode))
        result.append(Alternative("case", name, constraints, mode, hints, buckets))
    if chance(draw, 20):
        result.append(Alternative("bucket", buckets=(draw_bucket(draw, scope, roots),)))
    if chance(draw, 50):
        result.append(Alternative("otherwise", None, (), among(draw, tuple(Mode))))
    return tuple(result)


@st.composite
def signatures(draw: DrawFn, *, safe: bool = False, name: str = "f", cases: bool = False) -> Signature:
    """A signature that the writer can write and the parser reads back.

    Args:
        draw: Hypothesis's.
        safe: Fit for lowering: see `Scope`; every dim stands bare in the first parameter.
        name: What it is called.
        cases: Whether it may have alternatives, buckets, values, drops.
    """
    scope = draw_scope(draw, safe=safe)
    declared = draw_declarations(draw, scope)
    parameters = draw_params(draw, scope)
    if safe:
        bare = Param("first", TensorType(tuple(Var(dim) for dim in scope.dims)), parameters[0].kind)
        parameters = (bare, *parameters)
    roots = [param.name for param in parameters]
    uses = repr(parameters)
    ranks = {
        variadic: between(draw, 0, 3)
        for variadic in scope.variadics
        if f"Variadic(name='{variadic}')" in uses and chance(draw, 50)
    }
    values: list[Values] = []
    drops: list[Drop] = []
    options: tuple[Alternative, ...] = ()
    if cases:
        options = draw_alternatives(draw, scope, roots)
        if chance(draw, 30):
            high = draw_size(draw, scope, 1)
            values.append(Values(draw_path(draw, roots), Const(between(draw, 0, 9)), high, chance(draw, 30)))
        if chance(draw, 30):
            drops.append(Drop(draw_path(draw, ("return",)), chance(draw, 50)))
    return assemble(
        name=name,
        params=parameters,
        returns=draw_type(draw, scope, 1) if chance(draw, 50) else None,
        declarations=declared,
        wheres=draw_wheres(draw, scope),
        alternatives=options,
        values=values,
        ranks=ranks,
        drops=drops,
        doc=among(draw, DOCS) if chance(draw, 20) else None,
    )


@st.composite
def modules(draw: DrawFn, *, safe: bool = False, cases: bool = False) -> Module:
    """Some signatures under different names, one of them maybe with a second spec."""
    names = some(draw, ("f", "g", "pkg.mod.fn", "case", "Net.forward"), 1, 3)
    drawn = [draw(signatures(safe=safe, name=name, cases=cases)) for name in names]
    if chance(draw, 20):
        drawn.append(replace(draw(signatures(safe=safe, name=names[-1], cases=cases)), index=2))
    return Module(tuple(drawn))


# ---------------------------------------------------------------------------------- broken input

_STRAY = (*"()[]{}:,->=*/%\"'#\t\n @?._", "\x00", "é", "\r", "def ", "where ", "case ", "0", "in", "\ufeff")


@st.composite
def broken(draw: DrawFn, text: str) -> str:
    """``text`` with a few characters removed, doubled or put in, and sometimes cut."""
    for _ in range(between(draw, 1, 4)):
        at = between(draw, 0, len(text))
        to = min(len(text), at + between(draw, 0, 12))
        match among(draw, ("insert", "remove", "double", "cut")):
            case "insert":
                text = text[:at] + among(draw, _STRAY) + text[at:]
            case "remove":
                text = text[:at] + text[to:]
            case "double":
                text = text[:to] + text[at:to] + text[to:]
            case _:
                text = text[:at]
    return text
