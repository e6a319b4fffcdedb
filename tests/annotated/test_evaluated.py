"""Annotations that Python evaluated when the function was made: this file has no `from __future__ import annotations`."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="arg-type,attr-defined,call-arg,empty-body,func-returns-value,misc,name-defined,no-untyped-call,operator,syntax,type-arg,unused-ignore,valid-type,return,explicit-override"
# ruff: noqa: F722, F821

import sys
import typing
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import pytest

from shapedsl.annotations import Scalar, Shape, Tensor, shapes, where
from shapedsl.diagnostics import Report, Source
from shapedsl.dims import B, D
from shapedsl.dtypes import int64
from shapedsl.frontends.annotated import read_callable
from shapedsl.frontends.text import read
from shapedsl.ir import Signature

if TYPE_CHECKING:
    from shapedsl.dims import heads

L = Literal


def annotated(function: typing.Callable[..., object], *codes: str) -> Signature:
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


def test_objects() -> None:
    @shapes
    @where(B < 32)
    def f(
        x: Tensor[B, L["2*B"], "D, 3", None, ...],
        y: "Tensor[B, heads]",  # quoted whole, and a name for type checkers only
        z: Annotated[object, Shape["B"], int64] | None,
        w: Optional["Tensor[D]"],
        n: Scalar[B] = 3,
        *args: Tensor[D],
        m: "int64[B]" = None,  # type: ignore[assignment]
    ) -> Tensor[B]: ...

    assert annotated(f) == written(
        "def f(x: Tensor[B, 2*B, D, 3, _, ...], y: Tensor[B, heads], z: int64[B] | None, w: Tensor[D] | None,"
        " n: Scalar[B] = _, *args: Tensor[D], m: int64[B] = _) -> Tensor[B]:\n    where B < 32"
    )


def test_local_names_closures_and_locally_imported_forms() -> None:
    width = 4
    from shapedsl.annotations import Tensor as Form

    alias = Form["B", width]

    def quoted(x: "Form[B, width]", y: "alias", z: "Form[B, unheard_of]") -> object:
        return Form, alias, width  # so that they are closed over

    def not_closed(x: "Tensor[B, local_to_nobody]", y: "list['Tensor[D]']") -> None: ...

    assert annotated(quoted) == written("def f(x: Tensor[B, 4], y: Tensor[B, 4], z: Tensor[B, unheard_of]): ...")
    assert annotated(not_closed) == written("def f(x: Tensor[B, local_to_nobody], y: [Tensor[D], ...]) -> None: ...")


def test_one_bad_name_spoils_no_other() -> None:
    def f(
        x: Tensor[B, D],
        unknown: "Missing",  # type: ignore[name-defined]
        subscripted: "Missing[B]",  # type: ignore[name-defined]
        raising: "1 / 0",  # type: ignore[valid-type]
        broken: "Tensor[",  # type: ignore[valid-type]
        y: "Tensor[D]",
    ) -> None: ...

    report = Report()
    signature = read_callable(f, report)
    assert signature == written(
        "def f(x: Tensor[B, D], unknown, subscripted, raising, broken, y: Tensor[D]) -> None: ..."
    )
    first = f.__code__.co_firstlineno
    found = []
    for diagnostic in report:
        assert diagnostic.span is not None
        assert diagnostic.span.source.name == __file__
        line = diagnostic.span.source.position(0)[0]
        found.append((diagnostic.code, diagnostic.severity.value, line - first))
    assert found == [
        ("unresolved-annotation", "note", 2),
        ("unresolved-annotation", "warning", 3),
        ("unresolved-annotation", "warning", 4),
        ("unresolved-annotation", "warning", 5),
    ]


def test_shape_text_is_never_evaluated() -> None:
    hit: list[int] = []

    def f(x: Tensor["hit.append(1)"], y: Annotated[object, Shape["hit.append(1)"]]) -> None: ...

    annotated(f, "syntax-error", "syntax-error")
    assert hit == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="stars in brackets came with 3.11")
def test_stars_in_brackets() -> None:
    namespace: dict[str, typing.Any] = {}
    source = "from shapedsl.annotations import Tensor\nfrom shapedsl.dims import batch, D\n"
    exec(source + "def f(x: Tensor[*batch, D]): ...", namespace)
    assert annotated(namespace["f"]) == written("def f(x: Tensor[*batch, D]): ...")
    exec("from __future__ import annotations\n" + source + "def f(x: Tensor[*batch, D, *nobody]): ...", namespace)
    assert namespace["f"].__annotations__ == {"x": "Tensor[*batch, D, *nobody]"}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with 3.12")
@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_type_parameters_are_sizes(future: str) -> None:
    namespace: dict[str, typing.Any] = {}
    exec(
        future + "from shapedsl.annotations import Tensor\n"
        "type Pair = tuple[Tensor['B'], 'Tensor[D]']\n"
        "def f[B, *S](x: Tensor[*S, B], y: Tensor[B, '2*B'], z: Pair) -> Tensor[*S]: ...\n"
        "class C[D]:\n    def method[B](self, x: Tensor[B, D]): ...\n",
        namespace,
    )
    assert annotated(namespace["f"]) == written(
        "def f(x: Tensor[*S, B], y: Tensor[B, 2*B], z: (Tensor[B], Tensor[D])) -> Tensor[*S]: ..."
    )
    assert annotated(namespace["C"].method) == written("class C:\n    def method(self, x: Tensor[B, D]): ...")


def test_lazily_evaluated_annotations() -> None:
    """As 3.14 has them: nothing is evaluated before someone asks, and a name may be missing then."""
    namespace: dict[str, typing.Any] = {}
    exec(
        "from shapedsl.annotations import Tensor\nfrom shapedsl.dims import B\n"
        "def outer():\n    local = Tensor[B, 3]\n"
        "    def f(x: local, y: 'Tensor[B, later, 2 * later + B]', z: 'Missing') -> 'Tensor[later]': ...\n"
        "    return f\nf = outer()",
        namespace,
    )
    if sys.version_info >= (3, 14):  # unquoted, too
        exec(
            "def outer():\n    local = Tensor[B, 3]\n"
            "    def f(x: local, y: Tensor[B, later, 2 * later + B], z: Missing) -> Tensor[later]: ...\n"
            "    return f\nf = outer()",
            namespace,
        )
    assert annotated(namespace["f"]) == written(
        "def f(x: Tensor[B, 3], y: Tensor[B, later, 2*later + B], z) -> Tensor[later]: ..."
    )


def test_locals_that_only_a_text_names() -> None:
    def outer() -> tuple[object, object]:
        T = Tensor["B", 4]

        @shapes
        def inner(x: "T", y: "Tensor[B]") -> None: ...

        class Net:
            U = Tensor["C", 2]

            @shapes
            def forward(self, x: "T", y: "U") -> None: ...

        return inner, Net.forward

    inner, forward = outer()
    assert annotated(inner) == written("def inner(x: Tensor[B, 4], y: Tensor[B]) -> None: ...")
    assert annotated(forward) == written("def forward(x: Tensor[B, 4], y: Tensor[C, 2]) -> None: ...")
