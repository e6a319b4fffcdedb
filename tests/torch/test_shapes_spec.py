"""Lowered → ShapesSpec, against specs written by hand with torch's own names."""

from __future__ import annotations

import cProfile
import pstats
import re
from collections.abc import Callable

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

from shapedsl.diagnostics import ShapeError
from shapedsl.ir import AnyType, ParamKind, Static
from shapedsl.targets.shapes_spec import write
from tests.torch.lowered_by_hand import (
    apply,
    both,
    compare,
    either,
    fields,
    integer,
    lower,
    mapping,
    negation,
    scalar,
    sequence,
    tensor,
    var,
)


def plain(spec: ShapesSpec) -> str:
    """Returns the spec's text with the per-process counters of its variables renumbered by first use."""
    seen: dict[str, str] = {}
    return re.sub(r"#(\d+)", lambda m: f"#{seen.setdefault(m[1], str(len(seen)))}", repr(spec))


def test_the_first_file() -> None:
    lowered = lower(
        {"x": tensor("B", "D"), "w": tensor("D", "D")},
        [var("B", 0, 31, hint=8), var("D", hint=64)],
    )
    b, d = ShapeVar("B", max=31, optimization_hint=8), ShapeVar("D", optimization_hint=64)
    assert plain(write(lowered)) == plain(ShapesSpec({"x": TensorSpec([b, d]), "w": TensorSpec([d, d])}))


def test_constants_and_static_dims() -> None:
    lowered = lower({"x": tensor("B", 3, Static()), "y": AnyType(), "r0": tensor()}, [var("B")])
    expected = ShapesSpec({"x": TensorSpec([ShapeVar("B"), 3, None]), "r0": TensorSpec([])})
    assert plain(write(lowered)) == plain(expected)


def test_containers_and_variadic_parameters() -> None:
    lowered = lower(
        {
            "past": sequence(sequence(tensor("B")), AnyType(), kind="list"),
            "batch": fields(x=tensor("B"), meta=AnyType()),
            "table": mapping({"k": tensor("B"), 0: tensor("N"), "skip": AnyType()}),
            "static": sequence(AnyType()),
            "args": (sequence(AnyType(), tensor("N")), ParamKind.VAR_POSITIONAL),
            "kwargs": (mapping({"z": tensor("B")}), ParamKind.VAR_KEYWORD),
            "n": scalar("n"),
            "five": scalar(5),
        },
        [var("B"), var("N"), integer("n", -3, 9)],
    )
    b, size, n = ShapeVar("B"), ShapeVar("N"), IntVar("n", min=-3, max=9)
    expected = ShapesSpec(
        ParamsSpec(
            {
                "past": SeqSpec([SeqSpec([TensorSpec([b])]), None]),
                "batch": ObjectSpec({"x": TensorSpec([b])}),
                "table": DictSpec({"k": TensorSpec([b]), 0: TensorSpec([size])}),
                "*args": [None, TensorSpec([size])],
                "**kwargs": {"z": TensorSpec([b])},
                "n": n,
                "five": 5,
            }
        )
    )
    assert plain(write(lowered)) == plain(expected)


def test_every_operator_and_connective() -> None:
    lowered = lower(
        {"x": tensor("A", "B")},
        [var("A"), var("B")],
        [
            compare(apply("+", apply("*", 2, "A"), 1), "<=", "B"),
            compare(apply("-", "A", "B"), ">=", -7),
            compare(apply("//", "A", 2), "!=", 3),
            compare(apply("%", "A", 8), "==", 0),
            compare(apply("neg", "A"), "<", 1),
            compare(apply("**", "A", 2), "<=", 100),
            compare(apply("cdiv", "A", 4), ">", "B"),
            compare(apply("min", "A", "B", 3), "<=", 2),
            compare(apply("max", "A", "B"), "<=", 64),
            either(compare("A", "==", 1), both(compare("A", ">", 4), compare("B", "<", 4))),
            negation(compare("A", "==", 7)),
            negation(either(compare("A", "==", 9), compare("B", "==", 9))),
        ],
    )
    a, b = ShapeVar("A"), ShapeVar("B")
    expected = ShapesSpec(
        {"x": TensorSpec([a, b])},
        assumptions=[
            2 * a + 1 <= b,
            a - b >= -7,
            a // 2 != 3,
            a % 8 == 0,
            -a < 1,
            a**2 <= 100,
            -(-a // 4) > b,
            torch.sym_min(torch.sym_min(a, b), 3) <= 2,  # type: ignore[list-item]
            torch.sym_max(a, b) <= 64,  # type: ignore[list-item]
            (a == 1) | ((a > 4) & (b < 4)),
            a != 7,
            torch.sym_not((a == 9) | (b == 9)),  # type: ignore[list-item]
        ],
    )
    assert plain(write(lowered)) == plain(expected)


@pytest.mark.parametrize(
    "predicate",
    [
        compare("A", "==", apply("+", "A", 1)),  # folded by sympy
        compare(3, "<", 2),  # folded by Python
        both(compare("A", ">=", 1), compare("A", "!=", "A")),
        either(compare(1, "==", 2), compare(3, "==", 2)),
        negation(compare("A", "==", "A")),
    ],
)
def test_an_assumption_that_torch_folds_to_false_is_a_contradiction(predicate: object) -> None:
    """Trap: torch accepts such a spec and drops the assumption without a word."""
    lowered = lower({"x": tensor("A")}, [var("A")], [predicate])  # type: ignore[list-item]
    with pytest.raises(ShapeError) as caught:
        write(lowered)
    assert caught.value.code == "contradiction"


def test_an_assumption_that_torch_folds_to_true_is_left_out() -> None:
    lowered = lower({"x": tensor("A")}, [var("A")], [compare("A", "==", "A"), either(compare(1, "==", 1))])
    assert write(lowered).assumptions == []


def test_writing_costs_about_what_a_hand_written_spec_costs() -> None:
    count = 30
    names = [f"v{i}" for i in range(count)]
    lowered = lower(
        {f"x{i}": tensor(name, 3) for i, name in enumerate(names)},
        [var(name, 0, 1024, hint=8) for name in names],
        [compare(apply("%", name, 8), "==", 0) for name in names],
    )

    def by_hand() -> ShapesSpec:
        made = [ShapeVar(name, min=0, max=1024, optimization_hint=8) for name in names]
        params = {f"x{i}": TensorSpec([each, 3]) for i, each in enumerate(made)}
        return ShapesSpec(dict(params), assumptions=[each % 8 == 0 for each in made])

    write(lowered), by_hand()
    ours, hand = calls(lambda: write(lowered)), calls(by_hand)
    assert ours <= 1.3 * hand, f"{ours / hand:.2f} times as many calls"


def calls(function: Callable[[], object]) -> int:
    """Returns how many Python and C functions a call runs: as good as time, and the same on a busy machine."""
    profile = cProfile.Profile()
    profile.runcall(function)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]
