"""The same, with annotations that Python keeps as text."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: ignore-errors
# ruff: noqa: F401, F821, I001, SIM300, UP006, UP007, UP013, UP014, UP035, UP037, UP045

from __future__ import annotations

import functools
import typing as t
from collections.abc import Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import (
    Annotated,
    Any,
    ClassVar,
    List,
    Literal as L,
    NamedTuple,
    NewType,
    Optional,
    Tuple,
    TypedDict,
    Union,
    overload,
)

from typing_extensions import NotRequired, ReadOnly, Required, Self, TypeAliasType, TypeVar, TypeVarTuple, Unpack

import shapedsl as sd
from shapedsl import Scalar, Shape, Tensor, dtypes, shapes, where
from shapedsl.dims import B, D, S, batch, cdiv
from shapedsl.dtypes import floating, int64

from . import neighbor
from .neighbor import Hidden, Keys, Output, Tensor as Again

try:
    from shapedsl.dims import H
except ImportError:
    H = None

if t.TYPE_CHECKING:
    from shapedsl.dims import Q

N = TypeVar("N")
Ts = TypeVarTuple("Ts")
SIZE = 8
TWICE = 2 * SIZE
Local = Tensor[B, 2 * D]
Pair = TypeAliasType("Pair", Tuple[Tensor[N], Tensor["2*N"]], type_params=(N,))
Image = TypeAliasType("Image", Tensor[Unpack[Ts], 3], type_params=(Ts,))
Embedding = NewType("Embedding", Tensor[B, 3])
K, V = Tensor[S], Tensor[S, D]
LIMITS = [B < 32, "D < 8"]
OPTIONS = {"hints": {"B": 8}, "where": "B < 30"}
Functional = TypedDict("Functional", {"a": Tensor[B], "b": "Tensor[D]"}, total=False)
Point = NamedTuple("Point", [("x", Tensor[B]), ("y", int)])


@dataclass
class Base:
    x: Tensor[B]
    count: ClassVar[Tensor[D]] = None
    width: InitVar[int] = 0
    plain: int = 0


@dataclass
class Child(Base):
    _: KW_ONLY
    y: Optional[Hidden] = None
    inner: "Optional[Child]" = None


class Plain(Child):
    z: Tensor[S]


class Keyed(TypedDict):
    ids: int64[B, L["2*T"]]
    name: str
    maybe: NotRequired[Tensor[D]]
    fixed: ReadOnly[Required[Tensor[D, 3]]]


class More(Keyed, total=False):
    extra: Tensor[S]


class Tree(NamedTuple):
    leaf: Tensor[B]
    children: "List[Tree]"


@dataclass
class Box(t.Generic[N]):
    item: N
    size: Tensor[B]


def says_nothing(x: int, y: "str" = "", *args: Any) -> Optional[Sequence[int]]: ...


@shapes
def bare(x, y): ...


@sd.shapes("dim B in [1, 64]\ncase B == 1 hint B = 1\notherwise", hints={"B": 8}, consts={"HD": 128, "W": None})
@sd.where(0 <= B, B <= 1024, "B < 32", (B < 3) | ~(D % 8 == 0), cdiv(B, 8) < 3)
def clauses(x: sd.Tensor[B, D, L["HD"]], w: Tensor["W"]) -> sd.Tensor[B, D]: ...


@shapes(x="B, D", w=Tensor[D, D], returns="B, D", where=LIMITS, params={"where": "B", "y": "{'k': Tensor[B]}"})
def keywords(x, w, where, y, *, z=None): ...


@shapes(**OPTIONS)
def splat(x: Tensor[B]): ...


@functools.lru_cache
@where(B < TWICE)
def numbers(x: Tensor[B, 3, SIZE, TWICE, -1 + B, 2 * B // 3 % 5, B**2], n: Scalar[N], m: Scalar = 0): ...


def items(
    a: Tensor["B, D"], b: Tensor[B, ...], c: Tensor[None, "_"], d: Tensor[()], e: Tensor[L["*batch"], D], f: Tensor
): ...


def literals(a: Tensor[B, L["2*B+1"], L[3], L["_"]], b: Tensor[L["*batch, D, 2*D"]], c: Tensor[L["B", "D"]]): ...


@shapes
def metadata(
    a: Annotated[Any, "B, D"],
    b: Annotated[Tensor[B], where("B < 32", D > 3), "some prose, it is"],
    c: Annotated[Optional[Tensor], Shape["B", D]],
    d: Annotated[List[Tensor[B]], 32],
    e: Annotated[int, "N"],
) -> Annotated[Any, "B, D"]: ...


def kinds(a: dtypes.int64[B], b: floating[B, L[1]], c: "dtypes.long", d: dtypes.bool[D]) -> floating: ...


def containers(
    a: tuple[Tensor[B], ...],
    b: Tuple[Tensor[B], Tensor[D], int],
    c: List[Tensor[B]],
    d: Sequence[Hidden],
    e: Union[Tensor[B], None],
    f: Tensor[B] | None,
    g: dict[str, Tensor[B]],
    h: Tuple[()],
    i: t.Optional[tuple[Tensor[B], list[int64[S]]]] = None,
) -> tuple[Tensor[B], None]: ...


def classes(a: Child, b: Keyed, c: Tree, d: Output, e: More, f: Functional, g: Point, h: Plain, i: neighbor.Output): ...


def generic(a: Pair[B], b: Image[B, D], c: Box[Tensor[S]], d: List[Pair[3]], e: Pair, f: Embedding, g: Box[int]): ...


def aliases(a: Local, b: Hidden, c: neighbor.Hidden, d: K, e: V, f: Again["3"], g: neighbor.Tensor[H]) -> "Local": ...


def quoted(a: "Tensor[B, 2 * D]", b: Optional["Tensor[B]"], c: "Keys | None", d: "Tensor['B', 'D//2']", e: "Q[0]"): ...


def variadic(a: Tensor[B], /, b: Tensor[D] = None, *args: Tensor[S], c: Tensor[B], **kwargs: Unpack[Keyed]) -> None: ...


def pairs(*args: Unpack[Tuple[Tensor[B], Tensor[D]]], **kwargs: Tensor[B]) -> None: ...


async def asynchronous(x: Tensor[B]) -> Tensor[B]: ...


@overload
def overloaded(x: Tensor[B]) -> None: ...
@overload
def overloaded(x: int) -> None: ...
def overloaded(x: Tensor[B, D]) -> None: ...


@shapes("dim B in [1, 64]\nlet E = 2*D\nwhere B % 2 == 0", hints={"D": 4})
@where(D < 512)
class Net:
    def __init__(self, w: Tensor[D, D]) -> None: ...

    @where("B > 3")
    def forward(self, x: Tensor[B, D], y: Tensor["E"]) -> Tensor[B]: ...

    @staticmethod
    def static(x: Tensor[B]) -> None: ...

    @classmethod
    def made(cls, n: Scalar[N]) -> Tensor[D]: ...

    class Inner:
        def method(self, x: Tensor[S]) -> None: ...


@dataclass
class Cache:
    keys: Tensor[B, D]

    def join(self, other: Self) -> Self: ...

    @shapes(params={"self": "object(keys: Tensor[B, D])"})
    def read(self, other: "Cache") -> Tensor[B]: ...
