"""What containers mean: optional keys, fields that are none, `Self`, lengths, and types that are given as text."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="arg-type,attr-defined,call-arg,empty-body,func-returns-value,misc,name-defined,no-untyped-call,no-untyped-def,operator,syntax,type-arg,unused-ignore,valid-type,return,explicit-override,var-annotated"
# ruff: noqa: F821, UP006, UP037, UP045

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Final, NamedTuple, Optional, TypedDict

import pytest
import typing_extensions
from typing_extensions import NotRequired, ReadOnly, Required, Self, Unpack

from shapedsl.annotations import Scalar, Tensor, shapes, where
from shapedsl.diagnostics import Report, Source
from shapedsl.dims import B, D
from shapedsl.frontends.annotated import read_callable
from shapedsl.frontends.text import read
from shapedsl.ir import Signature


def annotated(function: Callable[..., Any], *codes: str) -> Signature:
    report = Report()
    signature = read_callable(function, report)
    assert signature is not None
    assert [d.code for d in report if d.severity.value != "note"] == list(codes)
    return signature


def written(text: str) -> Signature:
    report = Report()
    (signature,) = read(Source("pair.shapes", text), report)
    assert [d.message for d in report.errors] == []
    return signature


class Foreign:
    """What stands for torch.Tensor here: a class that says nothing of shapes."""


class Whole(TypedDict):
    a: Tensor[B]
    b: NotRequired[Tensor[D]]
    c: Required[ReadOnly[Tensor[B]]]
    d: Annotated[NotRequired[Foreign], "B, D"]
    e: NotRequired[Annotated[Foreign, "B"]]
    f: ReadOnly[NotRequired[Tensor[B] | None]]


class Part(TypedDict, total=False):
    a: Tensor[B]
    b: Required[Tensor[D]]
    c: NotRequired[Tensor["T"]]
    d: Required[Tensor[B] | None]
    n: int


class Sub(Part):
    z: Tensor[B]


class Extended(typing_extensions.TypedDict, total=False):
    a: typing_extensions.Required[Tensor[B]]
    b: Tensor[D]


WHOLE = '{"a": Tensor[B], "b": Tensor[D] | None, "c": Tensor[B], "d": Tensor[B, D] | None, "e": Tensor[B] | None, "f": Tensor[B] | None}'
PART = '"a": Tensor[B] | None, "b": Tensor[D], "c": Tensor[T] | None, "d": Tensor[B] | None'


@shapes
def typed_dicts(x: Whole, y: Part, z: Sub, w: Extended, o: Optional[Whole] = None, **kwargs: Unpack[Part]) -> None: ...


def test_a_key_that_may_be_missing_is_optional() -> None:
    assert annotated(typed_dicts) == written(
        f'def f(x: {WHOLE}, y: {{{PART}}}, z: {{{PART}, "z": Tensor[B]}},'
        f' w: {{"a": Tensor[B], "b": Tensor[D] | None}}, o: {WHOLE} | None = _, **kwargs: {{{PART}}}) -> None: ...'
    )


@dataclasses.dataclass
class Data:
    x: Tensor[B]
    init: dataclasses.InitVar[Tensor[D]]
    shared: ClassVar[Tensor[D]]
    fixed: Final[Tensor[B]]
    counts: ClassVar[dict[str, int]] = {}
    other: Optional[Self] = None


def test_fields_that_objects_do_not_have_are_skipped() -> None:
    def f(data: Data) -> None: ...

    assert annotated(f) == written("def f(data: Data(x: Tensor[B], fixed: Tensor[B])) -> None: ...")


class Pair(NamedTuple):
    k: Tensor[B]
    v: Optional[Tensor[D]] = None

    def swapped(self, other: Self) -> Self: ...


@dataclasses.dataclass
class Node:
    value: Tensor[B]

    def merge(self, other: Self, others: list[Self], x: Tensor[D]) -> Self: ...

    def typed(self: Self, other: Tensor[B]) -> None: ...

    @classmethod
    def of(cls, x: Tensor[B]) -> Self: ...

    def expects(self: Node, other: Optional[typing_extensions.Self]) -> None: ...


class Leaf(Node):
    pass


class Plain:
    def merge(self, other: Self, x: Tensor[B]) -> Self: ...


NODE = "Node(value: Tensor[B])"


@pytest.mark.parametrize(
    ("method", "text"),
    [
        (Pair.swapped, "other: Pair(k: Tensor[B], v: Tensor[D] | None)) -> Pair(k: Tensor[B], v: Tensor[D] | None)"),
        (Node.merge, f"other: {NODE}, others: [{NODE}, ...], x: Tensor[D]) -> {NODE}"),
        (Node(None).merge, f"other: {NODE}, others: [{NODE}, ...], x: Tensor[D]) -> {NODE}"),
        (Leaf.merge, f"other: {NODE}, others: [{NODE}, ...], x: Tensor[D]) -> {NODE}"),
        (Node.typed, "other: Tensor[B]) -> None"),
        (Node.of, f"x: Tensor[B]) -> {NODE}"),
        (Node.expects, f"self: {NODE}, other: {NODE} | None) -> None"),
        (Plain.merge, "other, x: Tensor[B])"),
    ],
    ids=["namedtuple", "function", "method", "inherited", "receiver", "class", "receiver by name", "no fields"],
)
def test_self_is_the_class_by_its_fields(method: Callable[..., Any], text: str) -> None:
    assert annotated(method) == written(f"def f({text}: ...")


def test_self_in_a_class_of_a_function() -> None:
    @dataclasses.dataclass
    class Local:
        value: Tensor[B]

        @shapes
        def merge(self, other: Self) -> None: ...

    assert annotated(Local(None).merge) == written("def f(other: Local(value: Tensor[B])) -> None: ...")


def lengths(
    a: Annotated[list[Tensor[B]], 32],
    b: Annotated[Optional[list[Tensor[B]]], 3],
    c: Optional[Annotated[list[Annotated[Foreign, "B"]], 2]],
    d: Annotated[tuple[Tensor[B], ...], 4],
    e: Annotated[tuple[Tensor[B], Tensor[D]], 2],
    f: Annotated[list[Annotated[list[Tensor[B]], 2]], 3],
    *args: Annotated[Tensor[B], "prose: and no length"],
) -> Annotated[list[Tensor[B]], 0]: ...


def test_lengths() -> None:
    assert annotated(shapes(lengths)) == written(
        "def f(a: [Tensor[B]] * 32, b: [Tensor[B]] * 3 | None, c: [Tensor[B]] * 2 | None, d: (Tensor[B],) * 4,"
        " e: (Tensor[B], Tensor[D]), f: [[Tensor[B]] * 2] * 3, *args: Tensor[B]) -> [Tensor[B]] * 0: ..."
    )


def test_a_length_that_cannot_be() -> None:
    def f(
        a: Annotated[list[Tensor[B]], -1], b: Annotated[tuple[Tensor[B], Tensor[D]], 3], c: Annotated[Tensor[B], 3]
    ) -> None: ...

    report = Report()
    signature = read_callable(f, report)
    assert signature == written("def f(a: [Tensor[B], ...], b: (Tensor[B], Tensor[D]), c: Tensor[B]) -> None: ...")
    assert [d.code for d in report] == ["ignored-metadata", "conflicting-sources", "ignored-metadata"]
    first = f.__code__.co_firstlineno
    assert all(d.span is not None and d.span.source.position(d.span.start)[0] == first + 1 for d in report)


@shapes(
    params={
        "a": "{'a': Tensor[B], 'b': [int64[D], ...]}",
        "b": "[Tensor[B], Scalar[N]]",
        "c": "Tensor[B] | None",
        "d": "float32[B]",
        "e": "Scalar[N]",
        "f": "(B + 1), D",
        "g": "(Tensor[B], (Tensor[D],) * 2)",
        "h": "Tensor",
        "i": "int64",
        "j": "Batch(x: Tensor[B], n: Scalar)",
        "k": "None",
        "m": "Cache",
        "n": "_",
        "kwargs": "{'k': Tensor[B]}",
    },
    returns="(Tensor[B], Tensor[D])",
    args="[Tensor[B], Tensor[D]]",
    l="Other",
)
@shapes("type Cache = (Tensor[B], Tensor[B])")
def as_text(a, b, c, d, e, f, g, h, i, j, k, l, m, n, *args, **kwargs): ...  # noqa: E741


def test_a_string_may_be_a_whole_type() -> None:
    assert annotated(as_text) == written(
        "def f(a: {'a': Tensor[B], 'b': [int64[D], ...]}, b: [Tensor[B], Scalar[N]], c: Tensor[B] | None, d: float32[B],"
        " e: Scalar[N], f: Tensor[B + 1, D], g: (Tensor[B], (Tensor[D],) * 2), h: Tensor, i: int64,"
        " j: Batch(x: Tensor[B], n: Scalar), k: None, l: Tensor[Other], m: (Tensor[B], Tensor[B]), n: Tensor[_],"
        " *args: [Tensor[B], Tensor[D]], **kwargs: {'k': Tensor[B]}) -> (Tensor[B], Tensor[D]): ..."
    )


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("B +", "syntax-error", "+"),
        ("Tensor[B", "syntax-error", "["),
        ("{'a': Tensor[B],, }", "syntax-error", ","),
        ("Tensor[B] | int64[B]", "unsupported-union", "Tensor[B] | int64[B]"),
        ("Tensr[B]", "unknown-dtype", "Tensr"),
    ],
)
def test_what_is_wrong_in_such_a_string_is_told_once(text: str, code: str, at: str) -> None:
    @shapes(x=text)
    def f(x: Any, y: Tensor[B]) -> None: ...

    report = Report()
    signature = read_callable(f, report)
    assert signature is not None
    (found,) = report
    assert found.code == code
    assert found.span is not None
    assert found.span.source.name == __file__
    assert found.span.text == at
    assert signature.params[1] == written("def f(y: Tensor[B]): ...").params[0]


def test_a_string_and_the_annotation_are_unified() -> None:
    @shapes(x="{'a': Tensor[B], 'c': Tensor[3]}", y="[Tensor[B], Tensor[D]]")
    def f(x: Part, y: list[Tensor["_"]]) -> None: ...

    entries = '"a": Tensor[B] | None, "c": Tensor[3] | None, "b": Tensor[D], "d": Tensor[B] | None'
    assert annotated(f) == written(
        f"def f(x: {{{entries}}}, y: [Tensor[B], Tensor[D]]) -> None: ..."  # T is a name for 3
    )


def generics(
    x: dict[str, Tensor[B]], y: typing.Mapping[str, Tensor[B]], z: typing.Dict[str, int], **kwargs: Tensor[D]
) -> None: ...


def test_unknown_keys_have_no_meaning_and_are_told() -> None:
    assert annotated(generics, *["ignored-metadata"] * 3) == written("def f(x, y, z, **kwargs) -> None: ...")


class Layer:
    @shapes(params={"self": "object(weight: Tensor[D, D])"})
    def forward(self, x: Tensor[B, D]) -> Tensor[B, D]: ...


@pytest.mark.parametrize("target", [Layer.forward, Layer().forward, Layer], ids=["function", "method", "class"])
def test_attributes_of_self_as_text(target: Callable[..., Any]) -> None:
    assert annotated(target) == written(
        "class L:\n    def forward(self: object(weight: Tensor[D, D]), x: Tensor[B, D]) -> Tensor[B, D]: ..."
    )


@shapes("type F = floating\ntype Cache[N] = (F[B, N], F[B, N])", x="F[B, D]", cache="[Cache[P], ...]", returns="F[B]")
def families(x, cache): ...


def test_dtypes_and_types_that_the_clauses_declare() -> None:
    assert annotated(families) == written(
        "type F = floating\ndef f(x: F[B, D], cache: [(F[B, P], F[B, P]), ...]) -> F[B]: ..."
    )


@shapes(
    a={"x": Tensor[B], 0: [Tensor[D], Scalar["N"]]},
    b=(Tensor[B], Optional[Tensor[D]]),
    c=[Tensor[B]],
    d=Annotated[list[Tensor[B]], 3],
    e=(Tensor[B],),
    returns=(Tensor[B], None),
)
def as_objects(a, b, c, d, e): ...


def test_literals_of_containers_are_what_they_look_like() -> None:
    assert annotated(as_objects) == written(
        'def f(a: {"x": Tensor[B], 0: [Tensor[D], Scalar[N]]}, b: (Tensor[B], Tensor[D] | None), c: [Tensor[B]],'
        " d: [Tensor[B]] * 3, e: (Tensor[B],)) -> (Tensor[B], None): ..."
    )


@pytest.mark.parametrize(
    "said",
    [3, 2.5, b"B", B, B < 3, True, object(), ..., len, where("B < 3")],
    ids=lambda said: repr(said).partition(" at ")[0],
)
def test_what_is_no_type_is_told(said: object) -> None:
    @shapes(x=said)
    def f(x: Tensor[B]) -> None: ...

    assert annotated(f, "unresolved-annotation") == written("def f(x: Tensor[B]) -> None: ...")


def test_no_dims_as_text() -> None:
    @shapes(x="()")
    def f(x, v: Tensor["()"], w: Annotated[Any, "()"]) -> None: ...

    assert annotated(f) == written("def f(x: Tensor[()], v: Tensor[()], w: Tensor[()]) -> None: ...")


def test_keys_that_are_no_names() -> None:
    @shapes(params={3: "B"})  # type: ignore[dict-item]
    def f(x: Tensor[B]) -> None: ...

    assert annotated(f, "unknown-parameter") == written("def f(x: Tensor[B]) -> None: ...")
    for said in (3, 2.5, object()):
        with pytest.raises(TypeError, match="where\\(\\) takes predicates"):
            shapes(where=said)(lambda x: x)  # type: ignore[call-overload]


def test_a_class_itself_has_no_shapes() -> None:
    def f(x: type[Pair], y: type[Self], z: Tensor[B]) -> None: ...

    assert annotated(f) == written("def f(x, y, z: Tensor[B]) -> None: ...")


Json = Optional[typing.Union[int, list["Json"], dict[str, "Json"]]]  # noqa: UP007
Chain = Optional[tuple[Tensor[B], "Chain"]]


@dataclasses.dataclass
class Parent:
    value: Tensor[B]
    children: dict[str, "Parent"]


def test_an_alias_that_contains_itself_says_nothing_of_shapes() -> None:
    @shapes
    def f(x: Tensor[B], value: Json) -> Json: ...

    assert annotated(f) == written("def f(x: Tensor[B], value: _): ...")


def test_an_alias_with_shapes_is_static_inside_of_itself_and_told() -> None:
    def f(x: Chain) -> None: ...

    assert annotated(f, "unresolved-annotation") == written("def f(x: (Tensor[B], _) | None) -> None: ...")


def test_a_class_that_contains_itself_in_a_dict() -> None:
    def f(x: Parent) -> None: ...

    assert annotated(f) == written("def f(x: Parent(value: Tensor[B])) -> None: ...")


@shapes
def spliced(
    x: tuple[Tensor[B], Unpack[tuple[Scalar, int]], Tensor[D]],
    y: tuple[Unpack[tuple[Tensor[B], ...]]],
    z: typing.Tuple[Unpack[typing.Tuple[Tensor[D], Tensor[B]]]],
    *args: Unpack[tuple[Tensor[B], Tensor[D]]],
) -> None: ...


def test_a_tuple_in_a_tuple_without_its_brackets() -> None:
    assert annotated(spliced) == written(
        "def f(x: (Tensor[B], Scalar, _, Tensor[D]), y: (Tensor[B], ...), z: (Tensor[D], Tensor[B]),"
        " *args: [Tensor[B], Tensor[D]]) -> None: ...".replace("def f", "def spliced")
    )


@shapes
def open_ended(x: tuple[Tensor[B], Unpack[tuple[Tensor[B], ...]]], y: Tensor[B]) -> None: ...


def test_any_number_of_items_among_others_is_told() -> None:
    assert annotated(open_ended, "ignored-metadata") == written("def open_ended(x: _, y: Tensor[B]) -> None: ...")


@shapes
def each_is_one(*args: tuple[Tensor[B], Tensor[D]]) -> None: ...


@shapes
def each_is_some(*args: "list[Tensor[B]]") -> None: ...


def test_of_starred_arguments_each_is_what_is_annotated() -> None:
    """Without ``Unpack``: as Python's type checkers read it."""
    assert annotated(each_is_one) == written("def each_is_one(*args: [(Tensor[B], Tensor[D]), ...]) -> None: ...")
    assert annotated(each_is_some) == written("def each_is_some(*args: [[Tensor[B], ...], ...]) -> None: ...")
