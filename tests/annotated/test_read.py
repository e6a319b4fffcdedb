"""Annotations and decorators give the IR that the same spec in ``.shapes`` text gives."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="arg-type,attr-defined,call-arg,empty-body,func-returns-value,misc,name-defined,no-untyped-call,operator,syntax,type-arg,unused-ignore,valid-type,return,explicit-override"
# ruff: noqa: F722, F821, SIM300, UP007, UP037, UP045

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, NewType, Optional, TypedDict, TypeVar, Union
from typing import Literal as L

import pytest

from shapedsl.annotations import Scalar, Shape, Tensor, shapes, where
from shapedsl.diagnostics import Report, Source
from shapedsl.dims import B, D, N, S, batch, cdiv, prod
from shapedsl.dtypes import floating, int64, long
from shapedsl.frontends.annotated import read_callable
from shapedsl.frontends.text import read
from shapedsl.ir import Signature

T = TypeVar("T")


NewTensor = NewType("NewTensor", int64[B])


class Foreign:
    """What stands for torch.Tensor here: a class that says nothing of shapes."""


def annotated(function: Callable[..., Any]) -> Signature:
    report = Report()
    signature = read_callable(function, report)
    assert signature is not None
    assert [d.message for d in report if d.severity.value != "note"] == []
    return signature


def written(text: str) -> Signature:
    report = Report()
    (signature,) = read(Source("pair.shapes", text), report)
    assert [d.message for d in report.errors] == []
    return signature


# ------------------------------------------------------------------ functions and their texts


@shapes(hints={"B": 8, "D": 64})
@where(0 <= B, B <= 1024, B < 32)
def project(x: Tensor[B, D], w: Tensor["D", "D"]) -> Tensor[B, D]: ...


@shapes(hints={"B": 8, "D": 64})
@where("0 <= B <= 1024", "B < 32")
def project_text(x: Tensor[B, D], w: Tensor["D", "D"]) -> Tensor[B, D]: ...


PROJECT = """
dim B in [0, 1024] hint 8
dim D hint 64
def project(x: Tensor[B, D], w: Tensor[D, D]) -> Tensor[B, D]:
    where B < 32
"""


def no_decorator(x: Tensor[B, 2 * B + 1, 3, None, ...], n: Scalar[N]) -> Scalar[2 * N]: ...


def literals(x: Tensor[B, L["2*B+1"], L[3], L["_"]], y: Tensor[L["*batch, D, 2*D"]], z: Tensor[()]) -> None: ...


def kinds(
    a: Tensor[B], /, b: Tensor[B], c: Any = None, *args: Tensor[D], d: Tensor[S], e: int = 3, **kw: Any
) -> int: ...


@shapes
def metadata(
    x: Annotated[Foreign, "B, D"],
    y: Annotated[Foreign, Shape["B", 2 * D], where("B < 32 'small'"), "prose: this is no shape"],
    z: Annotated[Foreign, Shape[B], int64],
    n: Annotated[int, "N"],
    mode: Annotated[str, "reduction"],
    many: Annotated[list[Tensor[B]], "all"],
    new: NewTensor,
    o: Annotated[Optional[Foreign], "B"] = None,
) -> Annotated[Foreign, "B"]: ...


def dtypes(ids: int64[B, S], x: floating[B, L[1]], y: long, b: floating) -> int64[B]: ...


@shapes("case one: B == 1 hint B = 1\notherwise hint B = 7")
def clauses(x: Tensor[B]) -> Tensor[B]: ...


@shapes(
    """
    "What it does."
    dim B in [1, 64] multiple of 8 hint 16
    let S = 2 * B
    values ids in [0, D - 1]
    where S < D "too long"
    """,
    hints={"D": 128},
)
def body(x: Tensor[B, S], ids: int64[D]) -> Tensor[S]: ...


@shapes(x="B, D", w=Tensor[D, "_"], returns="B, D", where="B < 32", params={"where": "B"}, consts={"HD": 128})
def keywords(x, w, where, other=None):  # type: ignore[no-untyped-def]
    ...


@shapes(consts={"HD": 128, "NL": None})
def constants(x: Tensor[B, "2*HD"], y: Tensor["NL"]) -> Tensor["HD"]: ...


@shapes(where=[B < 32, "D % 8 == 0"], x="batch_size, _")
@where((B == 1) | (B >= 8) & (D != 3), ~(B == 3), cdiv(B, 8) < 3)
def logic(x: Tensor[B, D]) -> None: ...


def variadic(x: Tensor["*batch", D], y: Tensor[D, prod(*batch)]) -> Tensor["*batch"]: ...


@shapes(x="_, 3, 2*D, ...", y="S")
def unified(x: Annotated[Foreign, Shape["B, 3, _, 4"]], y: Annotated[Foreign, Shape["2*D"]]) -> None: ...


class Pair(NamedTuple):
    k: Tensor[B]
    v: Tensor[D] | None
    other: int


class Entry(TypedDict, total=False):
    ids: int64[B]
    name: str


@dataclasses.dataclass
class Base:
    x: Tensor[B]
    _: dataclasses.KW_ONLY
    n: int


@dataclasses.dataclass
class Batch(Base):
    pair: Pair
    parent: Optional[Batch]


def containers(
    xs: list[Tensor[B]],
    pair: tuple[Tensor[B], int64[S]],
    many: tuple[Tensor[D], ...],
    fixed: Annotated[list[Tensor["?"]], 32],
    entry: Entry,
    batch: Batch,
    mask: Union[Tensor[B], None],
    numbers: list[int],
    shape: tuple[int, int],
    size: tuple[int, Tensor[B]],
) -> tuple[Tensor[B], Tensor[D]]: ...


class Net:
    @shapes
    def forward(self, x: Tensor[B, D], *, scale: float = 1.0) -> Tensor[B]: ...


def generic(x: T, y: Tensor[T, 2]) -> T: ...


PAIRS: list[tuple[Callable[..., Any], str]] = [
    (project, PROJECT),
    (project_text, PROJECT),
    (no_decorator, "def f(x: Tensor[B, 2*B + 1, 3, _, ...], n: Scalar[N]) -> Scalar[2*N]: ..."),
    (literals, "def f(x: Tensor[B, 2*B + 1, 3, _], y: Tensor[*batch, D, 2*D], z: Tensor[()]) -> None: ..."),
    (kinds, "def f(a: Tensor[B], /, b: Tensor[B], c = _, *args: Tensor[D], d: Tensor[S], e = _, **kw): ..."),
    (
        metadata,
        "def f(x: Tensor[B, D], y: Tensor[B, 2*D], z: int64[B], n: Scalar[N], mode, many: [Tensor[B], ...],"
        " new: int64[B], o: Tensor[B] | None = _) -> Tensor[B]:\n"
        '    where B < 32 "small"',
    ),
    (dtypes, "def f(ids: int64[B, S], x: floating[B, 1], y: int64, b: floating) -> int64[B]: ..."),
    (clauses, "def f(x: Tensor[B]) -> Tensor[B]:\n    case one: B == 1 hint B = 1\n    otherwise hint B = 7"),
    (
        body,
        "def f(x: Tensor[B, 2*B], ids: int64[D]) -> Tensor[2*B]:\n    dim B in [1, 64] multiple of 8 hint 16\n"
        '    dim D hint 128\n    values ids in [0, D - 1]\n    where 2*B < D "too long"',
    ),
    (
        keywords,
        "def f(x: Tensor[B, D], w: Tensor[D, _], where: Tensor[B], other = _) -> Tensor[B, D]:\n    where B < 32",
    ),
    (constants, "const NL = _\ndef f(x: Tensor[B, 256], y: Tensor[NL]) -> Tensor[128]: ..."),
    (
        logic,
        "def f(x: Tensor[batch_size, D]) -> None:\n    where batch_size < 32, D % 8 == 0\n"
        "    where batch_size == 1 or batch_size >= 8 and D != 3, not batch_size == 3, cdiv(batch_size, 8) < 3",
    ),
    (variadic, "def f(x: Tensor[*batch, D], y: Tensor[D, prod(*batch)]) -> Tensor[*batch]: ..."),
    (unified, "def f(x: Tensor[B, 3, 2*D, 4], y: Tensor[S]) -> None:\n    where S == 2*D"),
    (
        containers,
        "def f(xs: [Tensor[B], ...], pair: (Tensor[B], int64[S]), many: (Tensor[D], ...), fixed: [Tensor[?]] * 32,"
        ' entry: {"ids": int64[B] | None}, batch: Batch(x: Tensor[B], pair: Pair(k: Tensor[B], v: Tensor[D] | None)),'
        " mask: Tensor[B] | None, numbers, shape, size: (_, Tensor[B])) -> (Tensor[B], Tensor[D]): ...",
    ),
    (Net.forward, "class Net:\n    def forward(self, x: Tensor[B, D], *, scale = _) -> Tensor[B]: ..."),
    (generic, "def f(x, y: Tensor[T, 2]): ..."),
]


@pytest.mark.parametrize(("function", "text"), PAIRS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_two_frontends_agree(function: Callable[..., Any], text: str) -> None:
    one, two = annotated(function), written(text)
    assert one.params == two.params
    assert one.returns == two.returns
    assert one.variables == two.variables
    assert set(one.constraints) == set(two.constraints)
    assert one == two


@pytest.mark.parametrize(
    ("function", "name", "receiver"),
    [(project, "project", None), (Net.forward, "Net.forward", "self"), (Net().forward, "Net.forward", "self")],
)
def test_names(function: Callable[..., Any], name: str, receiver: str | None) -> None:
    signature = annotated(function)
    assert (signature.name, signature.receiver) == (name, receiver)


def test_a_return_type_assumes_nothing() -> None:
    @shapes(returns="2*B")
    def f(x: Tensor[B]) -> Annotated[Foreign, Shape[D], where("B < 3")]: ...

    assert annotated(f) == written("def f(x: Tensor[B]) -> Tensor[2*B]: ...")


def test_without_shape_text_there_is_no_signature() -> None:
    def silent(x: Foreign, y: Missing, z: Annotated[Foreign, "B, D"]) -> list[int]: ...  # type: ignore[name-defined]

    for target in (silent, lambda x: x, len, Foreign, dataclasses.field):
        report = Report()
        assert read_callable(target, report) is None
        assert len(report) == 0


def test_shapes_alone_is_enough() -> None:
    signature = annotated(shapes(lambda x, y=3: x))
    assert signature == written("def f(x, y = _): ...")
    assert signature.name == "_lambda"
