"""The Python that `shapedsl lower` prints builds what `write` builds."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

pytest.importorskip("torch", reason="lowering needs torch")

import torch
from torch.fx.experimental import dynamic_spec

from shapedsl.diagnostics import ShapeError
from shapedsl.ir import AnyType, ParamKind, Static
from shapedsl.ir.expanded import Lowered
from shapedsl.targets.shapes_spec import write
from shapedsl.targets.source_json import write_json
from shapedsl.targets.source_text import write_source
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


def plain(spec: object) -> str:
    """Returns the spec's text with the counters of its variables renumbered by first use."""
    seen: dict[str, str] = {}
    return re.sub(r"#(\d+)", lambda m: f"#{seen.setdefault(m[1], str(len(seen)))}", repr(spec))


def built(source: str, name: str) -> Any:
    scope: dict[str, Any] = {}
    exec(source, scope)
    return scope[name]


EVERYTHING = lower(
    {
        "x": tensor("A", "2*B+1", 3, Static()),
        "past": sequence(sequence(tensor("B")), AnyType(), kind="list"),
        "obj": fields(x=tensor("B"), meta=AnyType()),
        "table": mapping({'quo"ted\n': tensor("B"), 0: tensor("class"), "skip": AnyType()}),
        "args": (sequence(AnyType(), tensor("batch[0]")), ParamKind.VAR_POSITIONAL),
        "kwargs": (mapping({"z": tensor("?0")}), ParamKind.VAR_KEYWORD),
        "n": scalar("n"),
        "five": scalar(5),
        "r0": tensor(),
    },
    [
        var("A", 2, 64, hint=8),
        var("2*B+1"),
        var("B"),
        var("class"),
        var("batch[0]"),
        var("batch_0"),
        var("?0"),
        var("torch"),
        integer("n", -3, 9),
    ],
    [
        compare("2*B+1", "==", apply("+", apply("*", 2, "B"), 1)),
        compare(apply("-", "A", apply("-", "B", 1)), ">=", -7),
        compare(apply("*", apply("+", "A", 1), "B"), "!=", 3),
        compare(apply("%", apply("//", "A", 2), 8), "==", 0),
        compare(apply("//", "A", apply("*", 2, 2)), "==", 0),
        compare(apply("neg", apply("+", "A", "B")), "<", 1),
        compare(apply("**", apply("+", "A", 1), 2), "<=", 100),
        compare(apply("neg", apply("**", "A", 2)), "<=", 100),
        compare(apply("cdiv", apply("+", "A", 1), apply("*", 2, 2)), ">", "B"),
        compare(apply("-", 9, apply("cdiv", "A", 4)), ">", "B"),
        compare(apply("min", "A", "B", 3), "<=", 2),
        compare(apply("max", "A", apply("min", "B")), "<=", 64),
        compare(apply("prod", "A", apply("+", "B", 1), 2), "<=", 64),
        either(compare("A", "==", 1), both(compare("A", ">", 4), compare("B", "<", 4)), compare(2, "==", 3)),
        negation(compare("A", "==", 7)),
        negation(either(compare("A", "==", 9), compare("torch", "==", 9))),
        both(compare(1, "==", 1)),
    ],
)


def built_of(document: Any) -> Any:
    """Returns the ShapesSpec that a JSON document describes."""
    document = json.loads(json.dumps(document))
    variables = {
        key: getattr(dynamic_spec, row["type"])(
            row["name"], min=row["min"], max=row["max"], optimization_hint=row["optimization_hint"]
        )
        for key, row in document["variables"].items()
    }

    def spec(node: Any) -> Any:
        if isinstance(node, str):
            return variables[node]
        if isinstance(node, list):
            return [spec(item) for item in node]
        if not isinstance(node, dict):
            return node
        match node.get("type"):
            case "TensorSpec":
                return dynamic_spec.TensorSpec(spec(node["dims"]))
            case "SeqSpec":
                return dynamic_spec.SeqSpec(spec(node["entries"]))
            case "DictSpec":
                return dynamic_spec.DictSpec({key: spec(item) for key, item in node["entries"]})
            case "ObjectSpec":
                return dynamic_spec.ObjectSpec({name: spec(item) for name, item in node["fields"].items()})
            case _:
                return {name: spec(item) for name, item in node.items()}

    assumptions = [eval(text, {"torch": torch, **variables}) for text in document["assumptions"]]
    return dynamic_spec.ShapesSpec(dynamic_spec.ParamsSpec(spec(document["params"])), assumptions=assumptions)


def test_it_builds_what_write_builds() -> None:
    source = write_source(EVERYTHING)
    assert plain(built(source, "f_spec")) == plain(write(EVERYTHING)), source


def test_the_json_says_what_write_builds() -> None:
    document = write_json(EVERYTHING)
    assert plain(built_of(document)) == plain(write(EVERYTHING)), document


@pytest.mark.parametrize(
    "lowered",
    [
        lower({"x": tensor("B", "D")}, [var("B", 0, 31, hint=8), var("D")]),
        lower({"x": tensor(3, Static())}),
        lower({"x": AnyType()}),
        lower({"n": scalar("n")}, [integer("n")]),
        lower({"x": tensor("torch")}, [var("torch")], [compare(apply("max", "torch", 2), "<=", 9)]),
        lower({"x": tensor("ShapeVar")}, [var("ShapeVar")]),
    ],
)
def test_small_ones(lowered: Lowered) -> None:
    source = write_source(lowered)
    assert plain(built(source, "f_spec")) == plain(write(lowered)), source
    assert plain(built_of(write_json(lowered))) == plain(write(lowered))


def test_it_reads_as_a_person_would_write_it() -> None:
    lowered = lower(
        {"x": tensor("B", "2*B", Static())},
        [var("B", 0, 31, hint=8), var("2*B")],
        [compare("2*B", "==", apply("*", 2, "B"))],
    )
    assert write_source(lowered, "project_spec") == (
        "from torch.fx.experimental.dynamic_spec import ParamsSpec, ShapesSpec, ShapeVar, TensorSpec\n"
        "\n"
        'B = ShapeVar("B", max=31, optimization_hint=8)\n'
        'size_2_B = ShapeVar("2*B")\n'
        "\n"
        "project_spec = ShapesSpec(\n"
        "    ParamsSpec({\n"
        '        "x": TensorSpec([B, size_2_B, None]),\n'
        "    }),\n"
        "    assumptions=[\n"
        "        size_2_B == 2 * B,\n"
        "    ],\n"
        ")\n"
    )


def test_a_false_assumption_is_a_contradiction() -> None:
    with pytest.raises(ShapeError) as caught:
        write_source(lower({"x": tensor("A")}, [var("A")], [compare(3, "<", 2)]))
    assert caught.value.code == "contradiction"
