"""One name that is missing at run time is one diagnostic where it stands, and spoils nothing else."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="arg-type,attr-defined,call-arg,empty-body,misc,name-defined,no-untyped-call,operator,type-arg,unused-ignore,valid-type"
# ruff: noqa: F821, RUF036, UP006, UP007, UP035, UP037, UP045

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Optional, TypedDict, Union

import pytest

from shapedsl.annotations import Scalar, Shape, Tensor, shapes, where
from shapedsl.diagnostics import Report, Source
from shapedsl.dims import B, D
from shapedsl.frontends.annotated import read_callable
from shapedsl.frontends.text import read
from shapedsl.ir import Signature

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final, List, Tuple

    import torch
    import torch as th
    from somewhere import Config, Missing  # type: ignore[import-not-found]
    from typing_extensions import NotRequired, ReadOnly, Required, Self, Unpack

    from shapedsl.dtypes import int64


def written(text: str) -> Signature:
    report = Report()
    (signature,) = read(Source("pair.shapes", text), report)
    assert [d.message for d in report.errors] == []
    return signature


class Keys(TypedDict):
    a: Missing
    b: Tensor[B]


def plain(x: Missing, y: Tensor[B]) -> None: ...


def subscripted(x: Missing[Tensor[B]], y: Tensor[B]) -> None: ...


def attribute(x: Missing.sub, y: Tensor[B]) -> None: ...


def optional(x: Optional[Missing], y: Tensor[B]) -> None: ...


def bar(x: Missing | None, y: Tensor[B]) -> None: ...


def inside(x: tuple[Missing, Tensor[B]], y: Tensor[B]) -> None: ...


def twice(x: tuple[Missing, Missing], y: Tensor[B]) -> None: ...


def everywhere(x: Missing, y: Tensor[B], *args: Missing, z: list[Missing]) -> Missing: ...


def key(x: Keys, y: Tensor[B]) -> None: ...


def raising(x: 1 / 0, y: Tensor[B]) -> None: ...


def union(x: Union[Missing, Tensor[B]], y: Tensor[B]) -> None: ...


@pytest.mark.parametrize(
    ("function", "code", "type_", "places"),
    [
        (plain, "unresolved-annotation", "_", ["Missing"]),
        (subscripted, "unresolved-annotation", "_", ["Missing[Tensor[B]]"]),
        (attribute, "unresolved-annotation", "_", ["Missing.sub"]),
        (optional, "unresolved-annotation", "_", ["Missing"]),
        (bar, "unresolved-annotation", "_", ["Missing"]),
        (inside, "unresolved-annotation", "(_, Tensor[B])", ["Missing"]),
        (twice, "unresolved-annotation", "_", ["Missing"]),
        (everywhere, "unresolved-annotation", "_", ["Missing"] * 4),
        (key, "unresolved-annotation", '{"b": Tensor[B]}', ["Missing"]),
        (raising, "unresolved-annotation", "_", ["1 / 0"]),
    ],
)
def test_one_name_is_one_diagnostic(function: Callable[..., Any], code: str, type_: str, places: list[str]) -> None:
    report = Report()
    signature = read_callable(function, report)
    assert signature is not None
    two = written(f"def f(x: {type_}, y: Tensor[B]): ...")
    assert signature.params[:2] == two.params
    (found,) = report
    assert found.code == code
    assert [a.span.text for a in found.annotations] == places
    lines = {a.span.source.position(a.span.start)[0] for a in found.annotations}
    first = Keys.__annotations__ and function.__code__.co_firstlineno
    assert {a.span.source.name for a in found.annotations} == {__file__}
    if function is not key:
        assert lines == {first}
    else:
        assert len(lines) == 1


def test_a_union_of_a_missing_name_and_a_tensor_is_both_findings() -> None:
    report = Report()
    read_callable(union, report)
    assert [d.code for d in report] == ["unresolved-annotation", "unsupported-union"]


def spoken(
    x: Annotated[torch.Tensor, "B, D"],
    y: Annotated[torch.Tensor, Shape["B"], th.float32, where("B < 3")],
    z: Annotated[Optional[torch.Tensor], "D"],
    w: int64[B],
    n: Annotated[int, "N"],
    c: Config,
) -> Annotated[torch.Tensor, "B"]: ...


def test_what_is_said_beside_a_missing_type_holds_and_is_no_finding() -> None:
    report = Report()
    assert read_callable(shapes(spoken), report) == written(
        "def f(x: Tensor[B, D], y: float32[B], z: Tensor[D] | None, w: int64[B], n: Scalar[N], c) -> Tensor[B]:\n"
        "    where B < 3"
    )
    assert [(d.code, d.span and d.span.text) for d in report] == [("unresolved-annotation", "Config")]


def sizes(x: B, y: Tensor[B], z: B < 3, w: list[2 * D], v: Optional[D]) -> None: ...


def test_a_dim_is_no_type() -> None:
    report = Report()
    assert read_callable(sizes, report) == written("def f(x, y: Tensor[B], z, w, v) -> None: ...")
    assert [d.code for d in report] == ["unresolved-annotation"] * 4
    assert report.diagnostics[0].message == "`B` is a size, not a type"
    assert report.diagnostics[0].helps == ("write `Tensor[B]`, or `Scalar[B]` for an int",)


class Node:
    def merge(self, other: Self, x: Tensor[B]) -> Self: ...


def test_self_for_type_checkers_alone() -> None:
    report = Report()
    assert read_callable(Node.merge, report) == written("def f(other, x: Tensor[B]): ...")
    assert len(report) == 0


def test_quotes_that_ruff_removed() -> None:
    # UP037 makes Tensor[Q, R] of Tensor["Q", "R"]: what is undefined is a size
    def f(x: Tensor[Q, R, 2 * Q + 1], y: Annotated[Any, Shape[Q]], z: Tensor[max(Q, R)]) -> Scalar[Q]: ...

    report = Report()
    assert read_callable(f, report) == written(
        "def f(x: Tensor[Q, R, 2 * Q + 1], y: Tensor[Q], z: Tensor[max(Q, R)]) -> Scalar[Q]: ..."
    )
    assert len(report) == 0


class Partly(TypedDict, total=False):
    a: Required[Tensor[B]]
    b: ReadOnly[Tensor[B]]


class Whole(TypedDict):
    a: Tensor[B]
    b: NotRequired[ReadOnly[Tensor[D]]]


def typings(
    a: Sequence[Tensor[B]],
    b: List[Tensor[B]],
    c: Tuple[Tensor[B], ...],
    d: Final[Tensor[D]],
    e: Mapping[str, int],
    f: Partly,
    g: Whole,
    **keys: Unpack[Partly],
) -> Sequence[Tensor[D]]: ...


def test_what_typing_has_need_not_be_there() -> None:
    """Linters move imports that only annotations use under ``TYPE_CHECKING``."""
    report = Report()
    assert read_callable(typings, report) == written(
        "def typings(a: [Tensor[B], ...], b: [Tensor[B], ...], c: (Tensor[B], ...), d: Tensor[D], e,"
        ' f: {"a": Tensor[B], "b": Tensor[B] | None}, g: {"a": Tensor[B], "b": Tensor[D] | None},'
        ' **keys: {"a": Tensor[B], "b": Tensor[B] | None}) -> [Tensor[D], ...]: ...'
    )
    assert [d.message for d in report] == []


def bars(
    a: "Tensor[B]" | None,
    b: None | "Tensor[D]",
    c: list["Tensor[B]" | None],
    d: Tensor[B] | "None",
    e: "Missing" | None,
    f: "int" | None | "Tensor[B]",
) -> "Tensor[B]" | None: ...


def test_a_string_beside_a_bar() -> None:
    """Type checkers read it; Python could not evaluate it."""
    report = Report()
    assert read_callable(bars, report) == written(
        "def bars(a: Tensor[B] | None, b: Tensor[D] | None, c: [Tensor[B] | None, ...], d: Tensor[B] | None, e, f)"
        " -> Tensor[B] | None: ..."
    )
    assert [(d.code, d.annotations[0].span.text) for d in report] == [
        ("unresolved-annotation", "Missing"),
        ("unsupported-union", "int | None | Tensor[B]"),
    ]
