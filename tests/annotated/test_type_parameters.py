"""Type parameters: sizes in functions, filled in where an alias or class has arguments. PEP 695 is text for older Pythons."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="arg-type,attr-defined,call-arg,empty-body,misc,name-defined,no-any-return,no-untyped-call,operator,type-arg,unused-ignore,valid-type,type-var"
# ruff: noqa: F821, UP037

from __future__ import annotations

import dataclasses
import sys
import textwrap
import types
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import pytest
from typing_extensions import TypeAliasType, TypedDict, TypeVarTuple, Unpack

from shapedsl.annotations import Tensor, shapes
from shapedsl.diagnostics import Report, Source
from shapedsl.dims import B, D
from shapedsl.frontends.annotated import read_callable
from shapedsl.frontends.text import read
from shapedsl.ir import Signature

T = TypeVar("T")
N = TypeVar("N")
Ts = TypeVarTuple("Ts")


def annotated(function: Callable[..., Any]) -> Signature:
    report = Report()
    signature = read_callable(function, report)
    assert signature is not None
    assert [d.message for d in report] == []
    return signature


def written(text: str) -> Signature:
    report = Report()
    (signature,) = read(Source("pair.shapes", text), report)
    assert [d.message for d in report.errors] == []
    return signature


Pair = TypeAliasType("Pair", tuple[Tensor[N], Tensor["2*N"]], type_params=(N,))
Maybe = TypeAliasType("Maybe", T | None, type_params=(T,))  # type: ignore[operator]
Image = TypeAliasType("Image", Tensor[Unpack[Ts], 3], type_params=(Ts,))
Nested = TypeAliasType("Nested", list[Pair[N]], type_params=(N,))


@dataclasses.dataclass
class Batch(Generic[T]):
    x: T
    y: Tensor[B]


def aliases(
    a: Pair[B],
    b: Maybe[Tensor[D]],
    c: Image[B, D],
    d: Nested["S"],
    e: Pair,
    f: Maybe[Pair[3]],
    g: Image[()],
) -> Pair[D]: ...


def test_aliases_with_arguments() -> None:
    assert annotated(aliases) == written(
        "def f(a: (Tensor[B], Tensor[2*B]), b: Tensor[D] | None, c: Tensor[B, D, 3], d: [(Tensor[S], Tensor[2*S]), ...],"
        " e: (Tensor[N], Tensor[2*N]), f: (Tensor[3], Tensor[6]) | None, g: Tensor[3]) -> (Tensor[D], Tensor[2*D]): ..."
    )


def test_classes_with_arguments() -> None:
    def f(x: Batch[Tensor[B, D]], y: Batch[int], z: list[Batch[Pair[D]]]) -> None: ...

    assert annotated(f) == written(
        "def f(x: Batch(x: Tensor[B, D], y: Tensor[B]), y: Batch(y: Tensor[B]),"
        " z: [Batch(x: (Tensor[D], Tensor[2*D]), y: Tensor[B]), ...]) -> None: ..."
    )


@dataclasses.dataclass
class Sized(Generic[T, N]):
    x: T
    y: Tensor[N, "2*N"]


@dataclasses.dataclass
class Given(Sized[Tensor[B, 3], D]):
    z: Tensor[3]


class Still(Sized[T, N], Generic[N, T]):  # the names change places
    pass


@dataclasses.dataclass
class Further(Still[D, Tensor["N"]]):
    """``N`` is a size here."""


class Keys(TypedDict, Generic[T]):
    a: T


class MoreKeys(Keys[Tensor[D]], total=False):
    b: Tensor[B]


def inherited(a: Given, b: Still[D, Tensor[B]], c: MoreKeys, d: Further) -> None: ...


def test_arguments_of_bases() -> None:
    assert annotated(inherited) == written(
        "def f(a: Given(x: Tensor[B, 3], y: Tensor[D, 2*D], z: Tensor[3]), b: Still(x: Tensor[B], y: Tensor[D, 2*D]),"
        ' c: {"a": Tensor[D], "b": Tensor[B] | None}, d: Further(x: Tensor[N], y: Tensor[D, 2*D])) -> None: ...'
    )


Least = TypeVar("Least", bound=Tensor[B, D])
Later = TypeVar("Later", bound="Tensor[D] | None")
Either = TypeVar("Either", Tensor[B], Tensor[D])
Count = TypeVar("Count", bound=int)


def bounds(a: Least, b: list[Least], c: Later, d: Count, e: Pair[Count]) -> Least: ...


def either(x: Either, y: Tensor[B]) -> None: ...


def test_what_every_argument_is_is_said_of_each() -> None:
    assert annotated(bounds) == written(
        "def f(a: Tensor[B, D], b: [Tensor[B, D], ...], c: Tensor[D] | None, d, e: (Tensor[Count], Tensor[2*Count]))"
        " -> Tensor[B, D]: ..."
    )


def test_one_of_several_types_is_not_read() -> None:
    report = Report()
    assert read_callable(either, report) == written("def f(x, y: Tensor[B]) -> None: ...")
    assert [(d.code, d.message) for d in report] == [
        ("ignored-metadata", "the shapes inside `Either` are not read"),
    ]


PEP_695 = """
from __future__ import annotations
import dataclasses
from typing import NamedTuple, TypedDict, Unpack, NotRequired
from shapedsl import Tensor, Scalar, shapes
from shapedsl.dims import D

def plain[B, *S](x: Tensor[*S, B], n: Scalar[B]) -> Tensor[B, *S]: ...

type Pair[N] = tuple[Tensor[N], Tensor["2*N"]]
type Image[*Ts] = Tensor[*Ts, 3]
type Late = list[Tensor["Q"]]

def alias[B](x: Pair[B], y: Image[B, D], z: Late, *args: *tuple[Tensor[B], Tensor[D]]) -> None: ...

@dataclasses.dataclass
class Batch[B, T]:
    ids: Tensor[B]
    rest: T

class Keys[N](TypedDict):
    a: Tensor[N]
    b: NotRequired[Tensor[D]]

class Point[N](NamedTuple):
    x: Tensor[N]

def classes[M](x: Batch[M, Tensor[D]], y: Keys[M], z: Point[3], **kwargs: Unpack[Keys[M]]) -> None: ...

class Net[B]:
    @shapes
    def forward[T](self, x: Tensor[B, T]) -> Tensor[T]: ...

def bound[T: Tensor["B", D], U: int](x: T, y: U) -> T: ...

def outer():
    def inner[K](x: Tensor[K, Missing]) -> None: ...
    return inner
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 came with 3.12")
@pytest.mark.parametrize("late", [True, False], ids=["as text", "evaluated"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain", "def f(x: Tensor[*S, B], n: Scalar[B]) -> Tensor[B, *S]: ..."),
        (
            "alias",
            "def f(x: (Tensor[B], Tensor[2*B]), y: Tensor[B, D, 3], z: [Tensor[Q], ...], *args: [Tensor[B], Tensor[D]])"
            " -> None: ...",
        ),
        (
            "classes",
            'def f(x: Batch(ids: Tensor[M], rest: Tensor[D]), y: {"a": Tensor[M], "b": Tensor[D] | None},'
            ' z: Point(x: Tensor[3]), **kwargs: {"a": Tensor[M], "b": Tensor[D] | None}) -> None: ...',
        ),
        ("Net.forward", "class N:\n    def forward(self, x: Tensor[B, T]) -> Tensor[T]: ..."),
        ("bound", "def f(x: Tensor[B, D], y) -> Tensor[B, D]: ..."),
        ("outer()", "def f(x: Tensor[K, Missing]) -> None: ..."),
    ],
)
def test_pep_695(name: str, text: str, late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    source = textwrap.dedent(PEP_695)
    if not late:  # what only a late reader can read is left out
        source = source.replace("from __future__ import annotations\n", "").replace(", Missing]", ', "Missing"]')
    module = types.ModuleType("pep_695")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look there
    exec(source, vars(module))
    assert annotated(eval(name, vars(module))) == written(text)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 came with 3.12")
def test_a_name_that_an_alias_lacks_is_one_note() -> None:
    namespace: dict[str, Any] = {"__name__": __name__, "Tensor": Tensor, "B": B}
    exec("type Lacks = list[Tensor[Q]]\ndef f(x: Lacks, y: Tensor[B], z: Lacks): ...", namespace)
    report = Report()
    assert read_callable(namespace["f"], report) == written("def f(x, y: Tensor[B], z): ...")
    assert [(d.code, d.severity.value) for d in report] == [("unresolved-annotation", "note")]


def test_parameters_of_a_function_are_its_sizes() -> None:
    @shapes
    def f(x: Tensor[N, T], y: Tensor[Unpack[Ts], N]) -> T: ...

    assert annotated(f) == written("def f(x: Tensor[N, T], y: Tensor[*Ts, N]): ...")


class Loop(TypedDict):
    again: list[Loop]
    x: Tensor[B]


Endless = TypeAliasType("Endless", "list[Endless[N]]", type_params=(N,))


def test_what_contains_itself() -> None:
    def f(x: Loop, y: Endless[B]) -> None: ...

    report = Report()
    assert read_callable(f, report) == written('def f(x: {"x": Tensor[B]}, y) -> None: ...')


def test_a_size_that_is_not_given_is_not_known() -> None:
    """Nor is twice that size: the parameter's name would be taken for one of the function's sizes."""

    @shapes
    def f(n: Tensor["N"], a: Pair[int], b: Pair["_"], c: Image[()], d: Nested[Any]) -> None: ...  # type: ignore[type-var]

    assert annotated(f) == written(
        "def f(n: Tensor[N], a: (Tensor[_], Tensor[_]), b: (Tensor[_], Tensor[_]), c: Tensor[3],"
        " d: [(Tensor[_], Tensor[_]), ...]) -> None: ..."
    )
