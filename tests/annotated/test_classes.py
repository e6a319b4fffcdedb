"""``@shapes`` on a class shares its declarations with the methods, as a ``class`` block of a file does."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="call-overload,arg-type,attr-defined,call-arg,empty-body,func-returns-value,misc,name-defined,no-untyped-call,no-untyped-def,operator,syntax,type-arg,unused-ignore,valid-type,return,explicit-override"
# ruff: noqa: F821, UP037

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest

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


def written(text: str) -> dict[str, Signature]:
    report = Report()
    module = read(Source("pair.shapes", text), report)
    assert [d.message for d in report.errors] == []
    return {signature.name.rpartition(".")[2]: signature for signature in module}


class Foreign:
    """What stands for torch.Tensor here: a class that says nothing of shapes."""


@shapes(
    """
    dim B in [1, 64] multiple of 2 hint 8
    dim T, unused in [1, 512]
    const HD = 128
    const layers = _
    let wide = 4 * HD
    where B <= T "one step each"
    where T % 8 == 0
    """,
    hints={"T": 32},
    consts={"heads": 4, "width": None},
)
@where(D < 100)
class Net:
    def forward(self, x: Tensor[B, "T", D], n: Scalar["layers"]) -> Tensor[B, "HD"]: ...

    @shapes(hints={"B": 16, "D": 50})
    def encode(self, x: Tensor[B, D, "wide"], y: Annotated[Foreign, "heads, width"]) -> Tensor["HD"]: ...

    @shapes("dim B in [0, 4]")
    def shadow(self, x: Tensor[B, "T"]) -> None: ...

    @staticmethod
    def static(x: Tensor["T"], y: Annotated[Foreign, "heads"]) -> None: ...

    @classmethod
    def of_class(cls, x: Tensor[D]) -> None: ...

    def silent(self, x: int) -> int: ...


NET = """
class Net:
    dim B in [1, 64] multiple of 2 hint 8
    dim T in [1, 512] hint 32
    let HD = 128
    let heads = 4
    let wide = 4 * HD
    where B <= T "one step each"
    where T % 8 == 0
    where D < 100

    def forward(self, x: Tensor[B, T, D], n: Scalar[layers]) -> Tensor[B, HD]: ...
    def encode(self, x: Tensor[B, D, wide], y: Tensor[heads, width]) -> Tensor[HD]:
        hint B = 16, D = 50
    def shadow(self, x: Tensor[B, T]) -> None:
        dim B in [0, 4]
    def static(x: Tensor[T], y: Tensor[heads]) -> None: ...
    def of_class(cls, x: Tensor[D]) -> None: ...
"""
NET = "const layers, width = _\n" + NET


@pytest.mark.parametrize("name", ["forward", "encode", "shadow", "static", "of_class"])
def test_each_method_reads_as_in_a_class_block(name: str) -> None:
    one, two = annotated(getattr(Net, name)), written(NET)[name]
    assert one.variables == two.variables
    assert set(one.constraints) == set(two.constraints)
    assert one == two
    assert one.name == f"Net.{name}"


def test_objects_and_the_class_itself_mean_forward() -> None:
    assert annotated(Net().forward) == annotated(Net) == annotated(Net.forward)


def test_a_method_without_shapes_has_no_spec() -> None:
    assert read_callable(Net.silent, Report()) is None


def test_only_forward_is_attached_by_the_class() -> None:
    assert "_dynamic_spec" in vars(Net.forward)
    assert "_dynamic_spec" in vars(Net.encode)  # by its own
    assert "_dynamic_spec" not in vars(Net.static)
    assert "_dynamic_spec" not in vars(Net.silent)


def test_what_belongs_to_a_def_belongs_to_forward() -> None:
    @shapes("dim B in [1, 8]\ncase one: B == 1\notherwise", returns="B", x="B, 3")
    class Local:
        def forward(self, x: Any) -> Any: ...

        def other(self, x: Tensor[B]) -> None: ...

    assert (
        annotated(Local)
        == written(
            "class L:\n    def forward(self, x: Tensor[B, 3]) -> Tensor[B]:\n        dim B in [1, 8]\n"
            "        case one: B == 1\n        otherwise\n"
        )["forward"]
    )
    assert annotated(Local.other) == written("def other(x: Tensor[B]) -> None:\n    dim B in [1, 8]")["other"]


def test_a_class_needs_no_forward() -> None:
    @where(B < 32)
    @shapes("dim B in [1, 64]")
    class Ops:
        def scale(self, x: Tensor[B]) -> None: ...

    assert (
        annotated(Ops.scale)
        == written("def scale(x: Tensor[B]) -> None:\n    dim B in [1, 64]\n    where B < 32")["scale"]
    )
    assert "_dynamic_spec" not in vars(Ops.scale)
    for arguments in ({"x": "B"}, {"returns": "B"}):
        with pytest.raises(TypeError, match="defines no forward"):
            shapes(**arguments)(Ops)


def test_clauses_of_a_def_need_a_forward() -> None:
    @shapes("dim B in [1, 64]\ncase one: B == 1")
    class Ops:
        def scale(self, x: Tensor[B]) -> None: ...

    report = Report()
    read_callable(Ops.scale, report)
    (found,) = report
    assert (found.code, found.span is not None and found.span.text) == ("syntax-error", "case one: B == 1")


def test_functions_of_others_are_left_alone() -> None:
    def borrowed(self: Any, x: Tensor[B]) -> None: ...

    @shapes("dim B in [1, 64]")
    class Ops:
        mine = borrowed

        def scale(self, x: Tensor[B]) -> None: ...

    assert annotated(borrowed).constraints != annotated(Ops.scale).constraints


def test_a_predicate_that_no_method_binds_is_told_once_per_spec_and_where_it_stands() -> None:
    @shapes(
        """
        dim B in [1, 64]
        where B < Q
        """,
        hints={"R": 3, "D": 4},
    )
    class Ops:
        def one(self, x: Tensor[B]) -> None: ...

        def two(self, x: Tensor[B, D]) -> None: ...

    report = Report()
    assert read_callable(Ops.one, report) is not None
    assert [(d.code, d.span is not None and d.span.text) for d in report] == [
        ("unbound-name", "where B < Q"),
        ("unbound-name", "R"),
    ]
    for diagnostic in report:
        assert diagnostic.span is not None
        assert diagnostic.span.source.name == __file__
    first = report.diagnostics[0].span
    assert first is not None
    line = first.source.position(first.start)[0]
    assert first.source.line(line) == "        where B < Q"


def test_a_hint_leaves_the_shared_predicates_in_force() -> None:
    @where("B % 2 == 0")
    class Ops:
        @shapes(hints={"B": 8})
        def one(self, x: Tensor[B]) -> None: ...

    assert (
        annotated(Ops.one) == written("def one(x: Tensor[B]) -> None:\n    dim B hint 8\n    where B % 2 == 0")["one"]
    )


def test_a_contradiction_shows_the_class_and_the_method() -> None:
    from shapedsl.diagnostics import ShapeError
    from shapedsl.normalize import normalize

    report = Report()
    signature = read_callable(Clash.forward, report)
    assert signature is not None
    normalize(signature, report)
    text = str(ShapeError(report.errors))
    assert "dim B in [1, 64]" in text
    assert "B > 64" in text


@shapes("dim B in [1, 64]")
class Clash:
    @where(B > 64)
    def forward(self, x: Tensor[B]) -> None: ...


def test_names_that_are_local_to_the_function_around() -> None:
    from shapedsl.annotations import Tensor as Form

    alias = Form["B", 3]

    @shapes("dim B in [1, 8]")
    class Local:
        inner = Form["B"]

        def one(self, x: alias, y: inner) -> None: ...

    assert (
        annotated(Local.one) == written("def one(x: Tensor[B, 3], y: Tensor[B]) -> None:\n    dim B in [1, 8]")["one"]
    )
    assert alias is not None


def test_a_type_that_the_class_declares() -> None:
    @shapes("type Cache[N] = (Tensor[B, N], Tensor[B, N])\nwhere B < 3, P > 1")
    class Local:
        @shapes(cache="Cache[P]", y="Cache[2]")
        def one(self, cache, y): ...

    assert (
        annotated(Local.one)
        == written(
            "def one(cache: (Tensor[B, P], Tensor[B, P]), y: (Tensor[B, 2], Tensor[B, 2])):\n    where B < 3, P > 1"
        )["one"]
    )


def test_types_that_the_class_decorator_gives_stand_there() -> None:
    report = Report()
    read_callable(Disagrees, report)
    (found,) = report
    assert found.code == "conflicting-sources"
    shown = [a.span.source.line(a.span.source.position(a.span.start)[0]).strip() for a in found.annotations]
    assert shown == ['@shapes(x="B, 3")', "def forward(self, x: Tensor[B, 4]) -> None: ..."]


@shapes(x="B, 3")
class Disagrees:
    def forward(self, x: Tensor[B, 4]) -> None: ...


class Said:
    """What stands for a module, with declarations over its own forward."""

    @shapes("dim B in [1, 64] hint 8", hints={"D": 2})
    def forward(self, x: Tensor[B, D]) -> Tensor[B]: ...

    def named_parameters(self) -> None:
        """What tells a module from other objects."""


@pytest.mark.parametrize("target", [Said, Said(), Said.forward, Said().forward])
def test_an_object_and_its_class_have_one_spec(target: Callable[..., Any]) -> None:
    text = """
class Said:
    def forward(self, x: Tensor[B, D]) -> Tensor[B]:
        dim B in [1, 64] hint 8
        dim D hint 2
"""
    assert annotated(target) == written(text)["forward"]
