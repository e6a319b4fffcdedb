"""No annotation, however broken, gives anything but a diagnostic."""
# mypy: disable-error-code="arg-type,attr-defined,misc,no-untyped-call,operator,type-arg,unused-ignore,valid-type"

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypedDict

import pytest

from shapedsl.annotations import Scalar, Shape, Tensor, shapes, where
from shapedsl.diagnostics import Report, ShapeError
from shapedsl.dims import B
from shapedsl.frontends.annotated import read_callable
from shapedsl.ir.write import write_type


class Nasty:
    """Raises whatever is asked of it."""

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class Worse(Nasty):
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("getattr")


@dataclasses.dataclass
class Recursive:
    child: Recursive
    children: list[Recursive]
    x: Tensor[B]


class Missing(TypedDict):
    a: NotDefinedAnywhere  # type: ignore[name-defined]  # noqa: F821
    b: Tensor["B +"]  # noqa: F722


TEXTS = [
    "(" * 10_000,
    "[" * 100_000,
    ")" * 1000,
    "B" * 1_000_000,
    "+".join(["B"] * 5000),
    "B, " * 20_000,
    "9" * 10_000,
    "2**99999999",
    "2**2**2**2**2**2**2",
    "B // 0",
    "\0",
    "\ud800",
    "B\nD",
    "# nothing",
    "'",
    "\u0412",  # a Cyrillic letter
    "\u202eB",
    "] | None, y: Tensor[D",
    "B: ...",
    "*, *",
    "..., ...",
    "?" * 3,
]


@pytest.mark.timeout(100)  # it ends, on a slow and busy machine too
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:12]))
@pytest.mark.parametrize("make", [Tensor.__getitem__, Scalar.__getitem__, lambda t: Annotated[int, Shape[t]]])
def test_shape_text(text: str, make: Callable[[str], object]) -> None:
    def f(x: object) -> None: ...

    f.__annotations__ = {"x": make(text), "return": None}
    report = Report()
    assert read_callable(shapes(f), report) is not None
    str(ShapeError(report)) if len(report) else None


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:12]))
def test_predicates_clauses_and_keywords(text: str) -> None:
    def f(x: Tensor[B]) -> None: ...

    report = Report()
    decorated = shapes(text, where=[text], x=text, hints={text: 3}, consts={text: 3})(where(text)(f))
    assert read_callable(decorated, report) is not None
    assert report.errors
    str(ShapeError(report))


# What Python evaluates may take as long as Python takes.
QUICK = [text for text in TEXTS if not text.startswith("2**")]


@pytest.mark.parametrize(
    "text", [*QUICK, "1 / 0", "Tensor[" * 200, "'" * 3, "lambda: x", "exit()", "x.y.z[0](3) | None"]
)
def test_annotations_kept_as_strings(text: str) -> None:
    def f(x: Tensor[B], y: object) -> None: ...

    f.__annotations__ = {"x": "Tensor[B]", "y": text}
    report = Report()
    signature = read_callable(f, report)
    assert signature is not None
    assert write_type(signature.params[0].type) == "Tensor[B]"


@pytest.mark.parametrize(
    "annotation",
    [
        Nasty(),
        Nasty,
        Worse,
        Tensor[Nasty()],
        Tensor[Nasty],
        Tensor[B, Literal[b"x"], object()],
        Annotated[Any, Nasty(), 3, True, None, -1, [], Shape],
        Annotated[list[Tensor[B]], -5],
        Annotated[list[Tensor[B]], 10**30],
        Recursive,
        Missing,
        list[Recursive],
        tuple[Recursive, ...],
        3,
        "list",
        "list['list']",
        [Tensor[B]],
        (Tensor[B], None),
        {"a": Tensor[B]},
        typing.NoReturn,
        typing.ClassVar,
        Callable[[Tensor[B]], Tensor[B]],
        typing.ForwardRef,
        type[typing.ForwardRef],
        list[typing.ForwardRef],
        Annotated[Any, typing.ForwardRef],
        Tensor[B, typing.ForwardRef],
        typing.NewType,
        typing.TypeVar,
        type(typing.NoReturn),
        type(Tensor),
        type(B),
        type(Literal["a"]),
        type(Annotated[int, 3]),
        typing.ForwardRef("nope"),
        typing.ForwardRef("Tensor[B]"),
        type("Odd", (), {"__dataclass_fields__": 3, "_fields": 4}),
        type("Odder", (), {"__annotations__": 3, "_fields": ("a",)}),
    ],
    ids=lambda a: type(a).__name__,
)
def test_odd_objects(annotation: object) -> None:
    def f(x: Tensor[B], y: object, *args: object, **kwargs: object) -> None: ...

    f.__annotations__ = {
        "x": Tensor[B],
        "y": annotation,
        "args": annotation,
        "kwargs": annotation,
        "return": annotation,
    }
    report = Report()
    signature = read_callable(f, report)
    assert signature is not None
    assert len(signature.params) == 4


Endless = "list['Endless']"


def test_aliases_that_contain_themselves() -> None:
    def f(x: Tensor[B], y: Endless, z: list[Endless]) -> None: ...

    report = Report()
    assert read_callable(f, report) is not None
    assert {d.code for d in report} == {"unresolved-annotation"}


@pytest.mark.parametrize("annotations", [{}, {"x": None}, {"nobody": Tensor[B]}])
def test_odd_tables(annotations: dict[str, object]) -> None:
    def f(x: object) -> None: ...

    f.__annotations__ = annotations
    assert read_callable(shapes(f), Report()) is not None
