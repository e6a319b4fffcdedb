"""ShapesSpecs made with torch's own names, read as the signatures that say the same in text."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

pytest.importorskip("torch", reason="lowering needs torch")

import torch
from torch.fx.experimental.dynamic_spec import (
    DictSpec,
    IntVar,
    ObjectSpec,
    ParamsSpec,
    SeqSpec,
    ShapesSpec,
    ShapeVar,
    TensorSpec,
)

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source
from shapedsl.ir import Signature, VariableKind
from shapedsl.ir.walk import holds
from shapedsl.targets.read import read
from shapedsl.targets.shapes_spec import write
from tests.torch.lowered_by_hand import apply, compare, either, integer, lower, scalar, tensor, var


def of_text(text: str) -> Signature:
    report = Report()
    module = pipeline.read(Source("<string>", text), report)
    assert not report.errors, list(report)
    return module.signatures[0]


def of_torch(spec: Any) -> Signature:
    report = Report()
    signature = read(spec, report)
    assert list(report) == []
    assert signature is not None
    return signature


def test_the_first_file() -> None:
    b, d = ShapeVar("B", max=1024, optimization_hint=8), ShapeVar("D", optimization_hint=64)
    spec = ShapesSpec({"x": TensorSpec([b, d]), "w": TensorSpec([d, d])}, assumptions=[b < 32])
    assert of_torch(spec) == of_text(
        """
        dim B in [0, 1024] hint 8
        dim D hint 64
        def f(x: Tensor[B, D], w: Tensor[D, D]):
            where B < 32
        """.replace("\n        ", "\n")
    )


def test_containers_statics_numbers_and_variadic_parameters() -> None:
    b, n = ShapeVar("B"), IntVar("n", min=-3)
    spec = ShapesSpec(
        ParamsSpec(
            {
                "x": TensorSpec([b, 3, None]),
                "past": SeqSpec([SeqSpec([TensorSpec([b])]), None]),
                "batch": ObjectSpec({"x": TensorSpec([b]), "meta": None}),
                "table": DictSpec({"k": TensorSpec([b]), 0: None}),
                "static": None,
                "n": n,
                "five": 5,
                "double": b * 2,
                "*args": [TensorSpec([b]), None],
                "**kwargs": {"z": TensorSpec([])},
            }
        )
    )
    assert of_torch(spec) == of_text(
        """
dim B
int n in [-3, inf]
def f(
    x: Tensor[B, 3, _], past: [[Tensor[B], *_], _, *_], batch: object(x: Tensor[B], meta: _),
    table: {"k": Tensor[B], 0: _}, static: _, n: Scalar[n], five: Scalar[5], double: Scalar[2 * B],
    *args: (Tensor[B], _, *_), **kwargs: {"z": Tensor[()]},
): ...
"""
    )


def test_expressions_and_assumptions() -> None:
    a, b = ShapeVar("A"), ShapeVar("B")
    spec = ShapesSpec(
        {"x": TensorSpec([a, b, a * 2 + 1, a - b, a // 2, -(-a // 4)])},
        assumptions=[
            a % 8 == 0,
            b != 3,
            a <= 2 * b,
            torch.sym_max(a, b) <= 64,  # type: ignore[list-item]
            torch.sym_min(a, b) >= 1,  # type: ignore[list-item]
            (a == 1) | ((a > 4) & (b < 4)),
            torch.sym_not((a == 9) | (b == 9)),  # type: ignore[list-item]
            (a >= 2) & (a <= 50),
            3 * a == 2 * b + 7,
            a * b <= 99,
            a * a <= 99,
        ],
    )
    signature = of_torch(spec)
    expected = of_text(
        """
dim A, B
def f(x: Tensor[A, B, 2 * A + 1, A - B, A // 2, -(-A // 4)]):
    where A % 8 == 0, B != 3, A <= 2 * B, max(A, B) <= 64, min(A, B) >= 1
    where (A > 4 and B < 4) or A == 1, not (A == 9 or B == 9), 2 <= A <= 50
    where 3 * A == 2 * B + 7, A * B <= 99, A**2 <= 99
"""
    )
    assert signature.params == expected.params
    assert signature.variables == expected.variables
    for a_size, b_size in itertools.product(range(24), range(24)):
        sizes = {"A": a_size, "B": b_size}
        accepted = [all(holds(c.predicate, sizes) for c in s.constraints) for s in (signature, expected)]
        assert accepted[0] == accepted[1], sizes


def test_equal_names_of_different_objects_are_told_apart() -> None:
    first, second = ShapeVar("B", max=4), ShapeVar("B", max=9)
    signature = of_torch(ShapesSpec({"x": TensorSpec([first, second]), "y": TensorSpec([second, first])}))
    assert signature == of_text("dim B in [0, 4]\ndim B_2 in [0, 9]\ndef f(x: Tensor[B, B_2], y: Tensor[B_2, B]): ...")


def test_names_that_are_none_of_the_language() -> None:
    dims = [ShapeVar("2*B+1"), ShapeVar(), ShapeVar("in"), ShapeVar("größe"), ShapeVar("")]
    signature = of_torch(ShapesSpec({"x": TensorSpec(dims)}))
    assert signature == of_text(
        "dim size_2_B_1, anon, in_, gr_e, size\ndef f(x: Tensor[size_2_B_1, anon, in_, gr_e, size]): ..."
    )


def test_a_variable_that_is_never_bare_keeps_its_range() -> None:
    b = ShapeVar("B", min=2, max=9)
    n = IntVar("n", max=4)
    signature = of_torch(ShapesSpec({"x": TensorSpec([2 * b])}, assumptions=[n <= b]))
    assert signature == of_text("dim B in [2, 9]\nint n in [-inf, 4]\ndef f(x: Tensor[2 * B]):\n    where n <= B\n")


def test_a_plain_dict_and_a_params_spec_are_taken() -> None:
    b = ShapeVar("B")
    expected = of_text("dim B\ndef f(x: Tensor[B]): ...")
    assert of_torch({"x": TensorSpec([b])}) == expected
    assert of_torch(ParamsSpec({"x": TensorSpec([b])})) == expected
    assert of_torch(ShapesSpec()) == of_text("def f(): ...")


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda a: ShapesSpec({"x": TensorSpec([a])}, assumptions=[a > 2.5]), "unsupported-by-torch"),
        (lambda a: ShapesSpec({"x": TensorSpec([a])}, assumptions=[a == a + 1]), "contradiction"),
        (lambda a: ShapesSpec({"not a name": TensorSpec([a])}), "unsupported-by-torch"),
        (lambda a: ShapesSpec({"x": [TensorSpec([a])]}), "unsupported-by-torch"),
        (lambda a: ShapesSpec({"x": True}), "unsupported-by-torch"),
    ],
)
def test_what_cannot_be_said_is_refused(build: Any, code: str) -> None:
    report = Report()
    assert read(build(ShapeVar("A")), report) is None
    assert [finding.code for finding in report.errors] == [code]


def test_what_write_wrote_accepts_the_same_sizes() -> None:
    lowered = lower(
        {"x": tensor("A", "B"), "n": scalar("n")},
        [var("A", 1, 9, hint=4), var("B"), integer("n", -2, 5)],
        [
            compare(apply("%", "A", 2), "==", apply("%", "B", 2)),
            compare(apply("cdiv", "A", 4), "<=", "B"),
            either(compare("n", "<", 0), compare(apply("-", "A", "n"), ">=", apply("//", "B", 2))),
        ],
    )
    signature = of_torch(write(lowered))
    assert [v.kind for v in signature.variables] == [VariableKind.DIM, VariableKind.DIM, VariableKind.INT]
    assert signature.variables[0].hint == 4
    source = lowered.expanded.signature
    for a, b, n in itertools.product(range(11), range(8), range(-4, 8)):
        sizes = {"A": a, "B": b, "n": n}
        accepted = [all(holds(c.predicate, sizes) for c in s.constraints) for s in (source, signature)]
        assert accepted[0] == accepted[1], sizes
