"""Random IR, drawn from the operator table: a new row is tested by every law without a line here.

One file, though a long one: the laws draw from all of it, and each part from the one before.

What is drawn has the form that frontends give: closed sub-expressions are folded, `And` and `Or` are
flat, names are declared or reached. So ``parse(write(ir)) == ir`` may be asked of all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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
    Fresh,
    Item,
    MappingType,
    Mode,
    Module,
    NoneType,
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
    TensorType,
    Type,
    Values,
    Var,
    VariableKind,
    Variadic,
)

T = TypeVar("T")

# Keywords are names too, unless they are reserved.
DIM_NAMES = ("B", "D", "S", "T", "batch", "seq", "dim", "multiple", "of", "hint", "x1", "_h", "case", "lambda")
INT_NAMES = ("k", "n", "pad", "int")
CONST_NAMES = ("HD", "NL")
VARIADIC_NAMES = ("lead", "rest")
PARAM_NAMES = ("x", "w", "mask", "kvs", "B", "type", "where", "values", "self_", "a_1", "left", "at")
DTYPES = ("float32", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64", "floating", "integral")


@dataclass(frozen=True)
class Scope:
    """The names that expressions may use."""

    dims: tuple[str, ...] = ("B", "D")
    ints: tuple[str, ...] = ()
    consts: tuple[str, ...] = ()
    variadics: tuple[str, ...] = ()
    fixed: tuple[str, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        return self.dims + self.ints + self.consts


# ---------------------------------------------------------------------------------------- sizes


def numbers(*, large: bool = True) -> SearchStrategy[int]:
    """Ints as they stand in specs: mostly small, sometimes at the edge of what torch can hold."""
    small = st.integers(0, 64) | st.sampled_from((7, 8, 16, 100, 127, 128, 255, 256, 1024, 4096))
    return small | st.integers(0, 2**63 - 1) if large else small


@st.composite
def sizes(draw: DrawFn, scope: Scope, *, depth: int = 3, safe: bool = False) -> Size:
    """A size that is not constant.

    Args:
        draw: Hypothesis's.
        scope: Names that may stand in it; at least one.
        depth: How deep operators nest at most.
        safe: No divisor may be 0, no number is large, powers are squares: fit for evaluating and for torch.
    """
    leaves: list[SearchStrategy[Size]] = [st.builds(Var, st.sampled_from(scope.names))]
    if depth == 0 or draw(st.booleans()):
        return draw(leaves[0])
    if scope.variadics and draw(st.integers(0, 9)) == 0:
        spread: list[Size] = [Variadic(draw(st.sampled_from(scope.variadics)))]
        return Apply(OPERATORS["prod"], tuple(spread))
    op = draw(st.sampled_from(sorted(OPERATORS.values(), key=lambda row: row.name)))
    inner = sizes(scope, depth=depth - 1, safe=safe)
    constants = st.builds(Const, numbers(large=not safe))
    if op.name == "**":
        return Apply(op, (draw(inner), Const(draw(st.integers(2, 2 if safe else 4)))))
    if op.name in ("//", "%", "cdiv"):
        divisors = st.builds(Const, st.integers(1, 64))
        dividends = inner if safe else inner | constants
        dividend = draw(dividends)
        divisor = draw(divisors if safe or (not isinstance(dividend, Const) and draw(st.booleans())) else inner)
        return Apply(op, (dividend, divisor))
    count = op.arity if op.arity is not None else draw(st.integers(2, 3))
    args: list[Size] = [draw(inner | constants) for _ in range(count)]
    if all(isinstance(arg, Const) for arg in args):
        args[draw(st.integers(0, count - 1))] = draw(inner)
    return Apply(op, tuple(args))


@st.composite
def comparisons(draw: DrawFn, scope: Scope, *, safe: bool = False) -> Predicate:
    """A comparison of a size with a number or another size."""
    op = draw(st.sampled_from(sorted(COMPARISONS.values(), key=lambda row: row.name)))
    left = draw(sizes(scope, depth=2, safe=safe))
    numeral = st.builds(Const, numbers(large=not safe))
    right = draw(
        numeral
        | numeral.filter(lambda c: c.value > 0).map(lambda c: Const(-c.value))
        | sizes(scope, depth=1, safe=safe)
    )
    return Compare(op, left, right)


@st.composite
def predicates(draw: DrawFn, scope: Scope, *, depth: int = 2, safe: bool = False) -> Predicate:
    """A predicate; `And` and `Or` never nest in themselves."""
    if depth == 0 or draw(st.integers(0, 2)):
        return draw(comparisons(scope, safe=safe))
    kind = draw(st.sampled_from(("and", "or", "not", "members")))
    if kind == "members":
        subject = draw(sizes(scope, depth=1, safe=safe))
        members = draw(st.lists(st.integers(0, 300), min_size=2, max_size=4, unique=True))
        return Or(tuple(Compare(COMPARISONS["=="], subject, Const(member)) for member in sorted(members)))
    inner = predicates(scope, depth=depth - 1, safe=safe)
    if kind == "not":
        return Not(draw(inner))
    node = And if kind == "and" else Or
    return node(tuple(draw(st.lists(inner.filter(lambda p: not isinstance(p, node)), min_size=2, max_size=3))))


# ---------------------------------------------------------------------------------------- types


@st.composite
def tensors(draw: DrawFn, scope: Scope, *, safe: bool = False, fresh: bool = False) -> TensorType:
    """A tensor type; at most one ``...`` or ``*name`` stands in it.

    Args:
        draw: Hypothesis's.
        scope: Names that may stand in it.
        safe: See `sizes`; then no dim is static either.
        fresh: Whether ``?`` and ``?K`` may stand in it.
    """
    dtype = draw(st.none() | st.builds(Dtype, st.sampled_from(DTYPES)))
    if not safe and draw(st.integers(0, 11)) == 0:
        return TensorType(None, dtype)
    choices: list[SearchStrategy[Dim]] = [
        sizes(scope, depth=0),
        sizes(scope, depth=0),
        sizes(scope, depth=2, safe=safe),
        st.builds(Const, numbers(large=False)),
    ]
    if not safe:
        choices.append(st.just(Static()))
    if fresh:
        choices.append(st.builds(Fresh, st.sampled_from((None, "K"))))
    dims: list[Dim] = draw(st.lists(st.one_of(choices), max_size=4))
    stretch: list[Dim] = [Variadic(name) for name in scope.variadics]
    if not safe:
        stretch.append(Ellipsis())
    if draw(st.booleans()) and stretch:
        dims.insert(draw(st.integers(0, len(dims))), draw(st.sampled_from(stretch)))
    return TensorType(tuple(dims), dtype)


KEYS: SearchStrategy[str | int] = st.sampled_from(
    ("k", "input ids", 'quo"te', "back\\slash", "ünï", "a\nb", "")
) | st.integers(-3, 40)


@st.composite
def types(draw: DrawFn, scope: Scope, *, depth: int = 2, safe: bool = False) -> Type:
    """Any type that a parameter may have."""
    kinds = ["tensor"] * 4 + ["scalar", "any"]
    if depth:
        kinds += ["sequence", "times", "mapping", "object", "optional", "repeat"]
    if not safe:
        kinds.append("static scalar")
    inner = types(scope, depth=max(depth - 1, 0), safe=safe)
    match draw(st.sampled_from(kinds)):
        case "tensor":
            return draw(tensors(scope, safe=safe))
        case "scalar":
            constants = st.builds(Const, numbers(large=not safe))
            return ScalarType(draw(sizes(scope, depth=1, safe=safe) | constants))
        case "static scalar":
            return ScalarType(None)
        case "any":
            return AnyType()
        case "sequence":
            kind = draw(st.sampled_from(("list", "tuple")))
            rest = draw(st.sampled_from((Rest.NONE, Rest.NONE, Rest.STATIC)))
            return SequenceType(kind, tuple(draw(st.lists(inner, max_size=3))), rest)
        case "repeat":
            kind = draw(st.sampled_from(("list", "tuple")))
            items: list[Type] = draw(st.lists(tensors(scope, fresh=not safe, safe=safe), min_size=1, max_size=2))
            return SequenceType(kind, tuple(items), Rest.REPEAT)
        case "times":
            kind = draw(st.sampled_from(("list", "tuple")))
            counts: list[Size] = [Const(draw(st.integers(0, 5))), *(Var(name) for name in scope.consts)]
            return SequenceType(
                kind, tuple(draw(st.lists(inner, min_size=1, max_size=2))), times=draw(st.sampled_from(counts))
            )
        case "mapping":
            keys = draw(st.lists(KEYS, max_size=3, unique=True))
            return MappingType(tuple((key, draw(inner)) for key in keys))
        case "object":
            names = draw(st.lists(st.sampled_from(PARAM_NAMES), max_size=3, unique=True))
            label = draw(st.sampled_from(("object", "Batch", "pkg.mod.Batch")))
            return ObjectType(tuple((name, draw(inner)) for name in names), label)
        case _:
            return OptionalType(draw(inner.filter(lambda t: not isinstance(t, (OptionalType, NoneType)))))


@st.composite
def params(draw: DrawFn, scope: Scope, *, safe: bool = False) -> tuple[Param, ...]:
    """The parameters of a callable, in an order that Python allows."""
    names = draw(st.lists(st.sampled_from(PARAM_NAMES), min_size=1, max_size=4, unique=True))
    order = list(ParamKind)
    kinds = sorted(
        (
            draw(
                st.sampled_from(
                    (ParamKind.POSITIONAL_OR_KEYWORD,) * 3 + (ParamKind.POSITIONAL_ONLY, ParamKind.KEYWORD_ONLY)
                )
            )
            for _ in names
        ),
        key=order.index,
    )
    result: list[Param] = []
    defaulted = False
    for name, kind in zip(names, kinds, strict=True):
        positional = kind is not ParamKind.KEYWORD_ONLY
        default = (defaulted and positional) or draw(st.integers(0, 4)) == 0
        defaulted = default if positional else defaulted
        result.append(Param(name, draw(types(scope, safe=safe)), kind, default))
    if draw(st.integers(0, 5)) == 0:
        items = draw(st.lists(tensors(scope, safe=safe), max_size=2))
        rest = draw(st.sampled_from((Rest.NONE, Rest.REPEAT))) if items else Rest.NONE
        at = next((i for i, p in enumerate(result) if p.kind is ParamKind.KEYWORD_ONLY), len(result))
        # a `*args` of any length repeats one type
        variadic = SequenceType("tuple", tuple(items[:1] if rest is Rest.REPEAT else items), rest)
        result.insert(at, Param("args", variadic, ParamKind.VAR_POSITIONAL))
    if draw(st.integers(0, 5)) == 0:
        entries = draw(st.lists(st.sampled_from(("p", "q")), max_size=2, unique=True))
        mapping = MappingType(tuple((entry, draw(tensors(scope, safe=safe))) for entry in entries))
        result.append(Param("kwargs", mapping, ParamKind.VAR_KEYWORD))
    return tuple(result)


# ----------------------------------------------------------------------------------- signatures


def subset(items: Sequence[T], *, least: int = 0) -> SearchStrategy[tuple[T, ...]]:
    """Some of ``items``, in their order."""
    return st.lists(st.sampled_from(items), min_size=least, unique=True).map(
        lambda chosen: tuple(item for item in items if item in chosen)
    )


@st.composite
def scopes(draw: DrawFn, *, safe: bool = False) -> Scope:
    """Names for one signature."""
    dims = draw(subset(DIM_NAMES[:6] if safe else DIM_NAMES, least=1).filter(lambda names: len(names) < 5))
    ints = draw(subset(INT_NAMES[:2])) if not safe else ()
    consts = draw(subset(CONST_NAMES)) if not safe and draw(st.booleans()) else ()
    variadics = draw(subset(VARIADIC_NAMES)) if not safe and draw(st.booleans()) else ()
    return Scope(dims, ints, consts, variadics)


@st.composite
def declarations(draw: DrawFn, scope: Scope, *, safe: bool = False) -> dict[str, Declaration]:
    """A declaration for each int and const of ``scope``, and for some of the dims and variadics."""
    result: dict[str, Declaration] = {}
    for kind, names, variadic in (
        (VariableKind.DIM, scope.dims, False),
        (VariableKind.DIM, scope.variadics, True),
        (VariableKind.INT, scope.ints, False),
        (VariableKind.CONST, scope.consts, False),
    ):
        for name in names:
            if kind is VariableKind.DIM and draw(st.booleans()):
                continue
            lowest = -20 if kind is VariableKind.INT else 0
            low = draw(st.integers(lowest, 20)) if draw(st.booleans()) else (None if lowest else 0)
            start = low if low is not None else -20
            high = draw(st.none() | st.integers(start + (4 if safe else 0), start + 2000))
            modulus = draw(st.sampled_from((1, 1, 2, 8))) if kind is not VariableKind.CONST and not safe else 1
            residue = draw(st.integers(0, modulus - 1))
            hint = None
            if kind is not VariableKind.CONST and draw(st.booleans()):
                hint = start + (residue - start) % modulus
                hint = None if high is not None and hint > high else hint
            result[name] = Declaration(name, kind, variadic, low, high, modulus, residue, hint)
    return result


def wheres(scope: Scope, *, safe: bool = False, most: int = 3) -> SearchStrategy[list[Constraint]]:
    """Constraints as ``where`` gives them, some with a message."""
    messages = st.none() | st.sampled_from(("too small", 'say "why"', "ünï \\ code"))
    return st.lists(st.tuples(predicates(scope, safe=safe), messages), max_size=most).map(
        lambda pairs: [c for predicate, message in pairs for c in constraints_of(predicate, message=message)]
    )


@st.composite
def paths(draw: DrawFn, roots: Sequence[str]) -> Path:
    """A way into a parameter."""
    step = st.builds(Attribute, st.sampled_from(PARAM_NAMES)) | st.builds(
        Item, KEYS.filter(lambda k: k not in (-3, -2, -1))
    )
    return Path(draw(st.sampled_from(roots)), tuple(draw(st.lists(step, max_size=2))))


@st.composite
def buckets(draw: DrawFn, scope: Scope, roots: Sequence[str]) -> Bucket:
    """A ``bucket`` line."""
    members, modulus, residue = None, None, 0
    if draw(st.booleans()):
        members = tuple(sorted(draw(st.sets(st.integers(1, 4096), min_size=1, max_size=4))))
    else:
        modulus = draw(st.integers(2, 64))
        residue = draw(st.integers(0, modulus - 1))
    fills = (
        st.integers(-100, 100)
        | st.booleans()
        | st.sampled_from((0.5, -1.5, 1e9))
        | st.just(Edge())
        | st.lists(st.integers(0, 9) | st.sampled_from((0.25,)), min_size=1, max_size=3).map(tuple)
    )
    pads = draw(
        st.none()
        | st.lists(st.builds(Pad, paths(roots), fills, st.none() | st.integers(0, 3)), min_size=1, max_size=2).map(
            tuple
        )
    )
    position: Size | str = draw(st.sampled_from(("end", "left")) | sizes(scope, depth=1))
    reason = draw(st.none() | st.sampled_from(("masked", "isolated")))
    return Bucket(
        draw(st.sampled_from(scope.dims)), members, modulus, residue, draw(st.booleans()), position, pads, reason
    )


@st.composite
def alternatives(draw: DrawFn, scope: Scope, roots: Sequence[str]) -> tuple[Alternative, ...]:
    """``case`` lines and blocks, maybe an ``otherwise``."""
    result = []
    names = draw(st.lists(st.none() | st.sampled_from(("small", "fast", "eager")), max_size=3))
    used: set[str] = set()
    for name in names:
        if name in used:
            continue
        used.update([name] if name else [])
        constraints = draw(wheres(scope, most=2).filter(bool))
        hints = draw(st.lists(st.sampled_from(scope.dims), max_size=2, unique=True))
        result.append(
            Alternative(
                "case",
                name,
                tuple(dict.fromkeys(replace_message(c) for c in constraints)),
                draw(st.sampled_from(Mode)),
                tuple(sorted((hint, draw(st.integers(0, 64))) for hint in hints)),
            )
        )
    if draw(st.booleans()):
        result.append(Alternative("otherwise", None, (), draw(st.sampled_from(Mode))))
    return tuple(result)


def replace_message(constraint: Constraint) -> Constraint:
    """Returns ``constraint`` without its message."""
    return Constraint(constraint.predicate)


@st.composite
def signatures(draw: DrawFn, *, safe: bool = False, name: str = "f", cases: bool = False) -> Signature:
    """A signature that the writer can write and the parser reads back.

    Args:
        draw: Hypothesis's.
        safe: Fit for lowering: see `sizes` and `tensors`; every variable stands bare in the first parameter.
        name: What it is called.
        cases: Whether it may have alternatives, buckets, values, drops.
    """
    scope = draw(scopes(safe=safe))
    declared = draw(declarations(scope, safe=safe))
    parameters = draw(params(scope, safe=safe))
    if safe:
        bare = Param("first", TensorType(tuple(Var(dim) for dim in scope.dims)), parameters[0].kind)
        parameters = (bare, *parameters)
    roots = [param.name for param in parameters]
    ranks = {
        variadic: draw(st.integers(0, 3))
        for variadic in scope.variadics
        if draw(st.booleans()) and _uses(parameters, variadic)
    }
    returns = draw(st.none() | types(scope, depth=1))
    values: list[Values] = []
    drops: list[Drop] = []
    options: tuple[Alternative, ...] = ()
    if cases:
        options = draw(alternatives(scope, roots))
        values = draw(
            st.lists(
                st.builds(
                    Values, paths(roots), st.builds(Const, st.integers(0, 9)), sizes(scope, depth=1), st.booleans()
                ),
                max_size=1,
            )
        )
        drops = draw(st.lists(st.builds(Drop, paths(("return",)), st.booleans()), max_size=1))
    return assemble(
        name=name,
        params=parameters,
        returns=returns,
        declarations=declared,
        wheres=draw(wheres(scope, safe=safe)),
        alternatives=options,
        values=values,
        ranks=ranks,
        drops=drops,
        doc=draw(st.none() | st.sampled_from(("What it does.", 'With "quotes" and \\.'))),
    )


def _uses(parameters: Sequence[Param], variadic: str) -> bool:
    return f"Variadic(name='{variadic}')" in repr(parameters)


def modules(**options: bool) -> SearchStrategy[Module]:
    """Some signatures under different names, one of them with a second spec."""
    names = st.lists(
        st.sampled_from(("f", "g", "pkg.mod.fn", "case", "Net.forward")), min_size=1, max_size=3, unique=True
    )
    return names.flatmap(lambda chosen: st.tuples(*(signatures(name=name, **options) for name in chosen))).map(
        lambda drawn: Module(tuple(drawn))
    )


# ---------------------------------------------------------------------------------- broken input


def broken(text: str) -> SearchStrategy[str]:
    """``text`` with a few characters removed, doubled, swapped or put in, and sometimes cut."""
    stray = st.sampled_from(
        [*"()[]{}:,->=*/%\"'#\t\n @?._", "\0", "é", "\r", "def ", "where ", "case ", "0", "in", "\ufeff"]
    )

    @st.composite
    def build(draw: DrawFn) -> str:
        result = text
        for _ in range(draw(st.integers(1, 4))):
            at = draw(st.integers(0, len(result)))
            to = draw(st.integers(at, min(len(result), at + 12)))
            match draw(st.sampled_from(("cut", "insert", "remove", "double"))):
                case "insert":
                    result = result[:at] + draw(stray) + result[at:]
                case "remove":
                    result = result[:at] + result[to:]
                case "double":
                    result = result[:to] + result[at:to] + result[to:]
                case _:
                    result = result[:at]
        return result

    return build()
