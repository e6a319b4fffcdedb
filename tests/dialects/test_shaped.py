"""Pyrefly's ``Shaped`` with ``@shape_vars``: at run time `typing.Annotated` and a decorator that leaves no trace."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="empty-body,misc,name-defined,type-arg,unused-ignore,untyped-decorator,valid-type,attr-defined"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated as Shaped
from typing import Any

import pytest

import shapedsl as sd
from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.dialects.shaped import declared_runs, read_shaped
from shapedsl.ir import ScalarType, TensorType, Var, Variadic

torch = pytest.importorskip("torch", reason="the annotations here are of torch's tensors")
Tensor: Any = torch.Tensor


def shape_vars(declaration: str, *, required: bool = False) -> Callable[[Any], Any]:
    """What `shape_extensions.shape_vars` does of a function: nothing. (It makes classes subscriptable.)"""
    return lambda target: target


class extensions:  # noqa: N801  # a module, as a rule
    shape_vars = staticmethod(shape_vars)


@shape_vars("B, D, M, N, *rest")
def everything(
    x: Shaped[Tensor, "[B, 2*D, 3]"],
    y: Shaped[Tensor, "[B, *Elements[rest], D + 1]"],
    z: Shaped[Tensor, "rest"],
    w: Shaped[Tensor, " [ * shape_extensions.Elements[ rest ] ] "],
    scalar: Shaped[Tensor, "[]"],
    n: Shaped[int, "N"],
    m: Shaped[int, "M // 2"],
    size: Shaped[tuple[int, int], "[M, N + 1]"],
    maybe: Shaped[Tensor, "[B]"] | None = None,
) -> tuple[Shaped[Tensor, "[*Elements[rest]]"], int]: ...


@extensions.shape_vars("B, D")
def dotted(x: Shaped[Tensor, "[B, D]"]) -> None: ...


def undecorated(x: Shaped[Tensor, "[B, D]"]) -> None: ...


@sd.shapes
def ours(x: Shaped[Tensor, "[B, D]"], y: Shaped[Tensor, "rest"], note: Shaped[list[int], "[of numbers]"]) -> None: ...


@shape_vars("H")
class Net:
    @shape_vars("B")
    def forward(self, x: Shaped[Tensor, "[B, H]"]) -> None: ...

    def other(self, x: Shaped[Tensor, "[H]"]) -> None: ...


@shape_vars("B, *rest")
@dataclass
class Batch:
    x: Shaped[Tensor, "[B]"]
    y: Shaped[Tensor, "rest"]


def with_batch(batch: Batch) -> None: ...


def written(text: str) -> sd.Spec:
    return sd.loads(text)["f"]


def test_every_form() -> None:
    assert sd.spec_of(everything) == written(
        "def f(x: Tensor[B, 2*D, 3], y: Tensor[B, *rest, D + 1], z: Tensor[*rest], w: Tensor[*rest], scalar: Tensor[()],\n"
        "      n: Scalar[N], m: Scalar[M // 2], size: (Scalar[M], Scalar[N + 1]), maybe: Tensor[B] | None = _)"
        " -> (Tensor[*rest], _): ..."
    )


def test_how_a_function_is_recognized() -> None:
    assert sd.spec_of(dotted) == written("def f(x: Tensor[B, D]) -> None: ...")
    assert sd.spec_of(undecorated) is None


def test_under_shapes_brackets_are_dims_too() -> None:
    assert sd.spec_of(ours) == written("def f(x: Tensor[B, D], y: Tensor[rest], note: _) -> None: ...")


def test_classes() -> None:
    assert sd.spec_of(Net.forward) == written("def f(x: Tensor[B, H]) -> None: ...")
    assert sd.spec_of(Net.other) == written("def f(x: Tensor[H]) -> None: ...")
    assert sd.spec_of(with_batch) == written("def f(batch: Batch(x: Tensor[B], y: Tensor[*rest])) -> None: ...")


@shape_vars("B, D, *rest")
def beyond(
    x: Shaped[Tensor, "[B, D]"],
    y: Shaped[Tensor, "[B, broadcast(D)]"],
    z: Shaped[tuple[int, ...], "rest"],
    net: Shaped[Net, "4, D"],
    n: Shaped[int, "B, D"],
) -> None: ...


def test_what_cannot_be_said_is_left_open_and_told() -> None:
    with pytest.warns(sd.ShapeWarning, match="inexpressible") as warned:
        found = sd.spec_of(beyond)
    assert found == written("def f(x: Tensor[B, D], y: Tensor, z: _, net: _, n: _) -> None: ...")
    assert len(warned) == 4
    assert found is not None
    for diagnostic, text in zip(found.diagnostics, ("broadcast", "rest", "4, D", "B, D"), strict=True):
        assert diagnostic.span is not None
        assert diagnostic.span.text == text
        line, column = diagnostic.span.source.position(diagnostic.span.start)
        assert diagnostic.span.source.line(line)[column - 1 :].startswith(text)


@pytest.mark.parametrize("text", ["[", "[B", "[B,,D]", "[*]", "[B / 2]", "[é]", "[[B]]", "[Elements[rest]]", "[#]"])
def test_no_text_is_a_traceback(text: str) -> None:
    report = Report()
    found = read_shaped(Tensor, Source("f.py", text), ("rest",), report)
    assert found == TensorType(None)
    assert [d.code for d in report] == ["inexpressible"]


def test_as_text_alone() -> None:
    report = Report()
    assert declared_runs("B, *rest, * more ,D") == {"rest", "more"}
    assert read_shaped(int, Source("f.py", "N"), (), report) == ScalarType(Var("N"))
    spread = read_shaped(Tensor, Source("f.py", "[*Elements[rest]]"), (), report)
    assert spread == TensorType((Variadic("rest"),))
    assert not report.diagnostics
