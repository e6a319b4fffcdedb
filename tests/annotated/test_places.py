"""The file and line of annotations and decorators; found when someone looks, and never an error."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="arg-type,attr-defined,call-arg,empty-body,func-returns-value,misc,name-defined,no-untyped-call,operator,syntax,type-arg,unused-ignore,valid-type,return,explicit-override"
# ruff: noqa: F821, UP037

from __future__ import annotations

import dataclasses
import linecache
from collections.abc import Callable
from typing import Any

from shapedsl.annotations import Tensor, shapes, where
from shapedsl.frontends.annotated.places import ClassPlaces, Places

FIRST = 19  # the line of the decorator below


@shapes(
    hints={"B": 8},
    where="B < 32",
)
@where(
    "B > 2",
)
def decorated(
    x: Tensor["B"],
    *args: Tensor["D"],
    w: Tensor["D"] = None,  # type: ignore[assignment]
    **kwargs: object,
) -> Tensor["B"]: ...


@dataclasses.dataclass
class Batch:
    """x: Tensor["B"] is not what is looked for."""

    y: Tensor["D"]
    x: Tensor["B"]


class Net:
    @shapes(
        """
        where B < 3
        """
    )
    async def forward(
        self,
        x: Tensor["B"],
    ) -> None: ...


def line(source: Any) -> int:
    first: int = source.position(0)[0]
    return first


def test_the_lines_of_a_functions_parts() -> None:
    places = Places(decorated)
    assert line(places.decorator("B < 32")) == FIRST + 2
    assert line(places.decorator("B > 2")) == FIRST + 5
    assert line(places.decorator("not there")) == FIRST
    assert line(places.function("decorated")) == FIRST + 7
    assert [line(places.parameter(name, "B")) for name in ("x", "args", "w", "kwargs")] == [
        FIRST + offset for offset in (8, 9, 10, 11)
    ]
    assert line(places.returns("B")) == FIRST + 12
    assert places.parameter("x", "B").name == __file__


def test_the_lines_of_a_method() -> None:
    places = Places(Net.forward)
    start = Net.forward.__code__.co_firstlineno
    assert line(places.parameter("x", "B")) == start + 7
    text = "\n        where B < 3\n        "
    source = places.decorator(text)
    assert line(source) == start + 1
    assert source.position(text.index("where"))[0] == start + 2
    assert source.line(start + 2).strip() == "where B < 3"


def test_the_source_is_read_when_a_line_is_asked_for(monkeypatch: Any) -> None:
    asked: list[object] = []
    lines = linecache.getlines
    monkeypatch.setattr(linecache, "getlines", lambda *args: asked.append(args) or lines(*args))
    source = Places(decorated).parameter("x", "B")
    assert (source.text, source.span(0, 1).text, asked) == ("B", "B", [])
    assert line(source) == FIRST + 8
    assert len(asked) == 1


def test_without_source_it_is_the_first_line() -> None:
    namespace: dict[str, Callable[..., object]] = {}
    exec("\n\ndef f(x): ...\ng = lambda x: x", namespace)
    assert line(Places(namespace["f"]).parameter("x", "B")) == 3
    assert line(Places(namespace["g"]).parameter("x", "B")) == 4
    assert line(Places(namespace["f"]).parameter("missing", "B")) == 3


def test_text_that_stands_in_the_file_is_shown_there() -> None:
    places = Places(decorated)
    where_text = places.decorator("B < 32")
    assert where_text.position(0) == (FIRST + 2, len('    where="') + 1)
    assert where_text.line(FIRST + 2) == '    where="B < 32",'
    returned = places.returns("B")
    assert returned.position(0) == (FIRST + 12, len(') -> Tensor["') + 1)
    assert places.function("decorated").position(0) == (FIRST + 7, len("def ") + 1)


def test_a_parameters_name_is_shown_where_it_stands_though_it_is_annotated() -> None:
    places = Places(decorated)
    for name, row, column in (("x", 8, 5), ("args", 9, 6), ("w", 10, 5), ("kwargs", 11, 7)):
        source = places.parameter(name, name)
        assert (source.position(0), source.line(FIRST + row)[column - 1 :][: len(name)]) == (
            (FIRST + row, column),
            name,
        )


def test_text_that_was_put_together_is_shown_under_its_line() -> None:
    source = Places(decorated).parameter("x", "B, 2 * D")
    assert source.position(3) == (FIRST + 8, 4)
    assert source.line(FIRST + 8) == "B, 2 * D"


def test_fields_are_shown_in_their_class() -> None:
    for source in (ClassPlaces(Batch).field("x", "B"), Places(Batch.__init__).parameter("x", "B")):
        assert source.name == __file__
        line, column = source.position(0)
        assert (source.line(line), column) == ('    x: Tensor["B"]', 16)
    source = ClassPlaces(Batch).field("x", "B")
    line, column = source.position(0)
    assert source.line(line) == '    x: Tensor["B"]'
    assert column == len('    x: Tensor["') + 1
    made = dataclasses.make_dataclass("Made", [("x", Tensor["B"])])
    assert ClassPlaces(made).field("x", "B").position(0) == (1, 1)


def test_columns_are_code_points() -> None:
    def f(größe: Tensor["B"], x: Tensor["D"]) -> None: ...

    source = Places(f).parameter("x", "D")
    line, column = source.position(0)
    assert source.line(line)[column - 2 : column + 1] == '"D"'


@shapes
@where("B > 2", "B < 77")
def below(x: Tensor["B"]) -> None: ...


def test_a_predicate_is_looked_for_in_every_decorator() -> None:
    line = below.__code__.co_firstlineno + 1
    places = Places(below)
    assert places.decorator("B < 77").position(0) == (line, 18)
    assert places.decorator("B > 2").line(line) == '@where("B > 2", "B < 77")'


_B = __import__("shapedsl.dims").dims.B


@shapes
@where(_B >= 9, _B <= 3)
def objects(x: Tensor["_B"]) -> None: ...


def test_an_object_predicate_is_looked_for_in_every_decorator() -> None:
    line = objects.__code__.co_firstlineno + 1
    assert Places(objects).decorator("_B <= 3").position(0) == (line, 17)


def pieces(x: Tensor["B", 2, "T"], T: Tensor["B", 2, "T"]) -> Tensor["B, 2, T"]: ...


def test_text_that_was_put_together_is_shown_where_its_pieces_stand() -> None:
    written = linecache.getline(__file__, pieces.__code__.co_firstlineno)
    for name in ("x", "T"):
        source = Places(pieces).parameter(name, "B, 2, T")
        places = [source.position(source.text.index(item)) for item in ("B", "2", "T")]
        begin = written.index(f"{name}: Tensor")
        assert [column for _, column in places] == [
            written.index(item, begin) + offset for item, offset in (('"B"', 2), ("2", 1), ('"T"', 2))
        ]
        assert source.line(places[0][0]) == written.rstrip("\n")
