"""What holds for all sizes holds at each: a result for variables, with sizes put in, is the result for the sizes."""

from __future__ import annotations

import ast
import random
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

pytest.importorskip("libcst", reason="shape functions are read with it")

from shapedsl.frontends.stubs.shape_functions import (
    Argument,
    Evaluated,
    NotEvaluated,
    ShapeFunctions,
    load_shape_functions,
)
from shapedsl.ir import OPERATORS, Apply, Const, Ellipsis, Static, Var, Variadic

from ..corpus import torch_stubs
from .language import result

NAMES = "abc"


def expressions() -> st.SearchStrategy[str]:
    """Returns Python expressions over ``a``, ``b`` and ``c`` of what shape functions may use."""
    leaves = st.sampled_from([*NAMES]) | st.integers(0, 6).map(str)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(
                lambda parts: f"({' '.join(parts)})"
            ),
            inner.map(lambda operand: f"(-{operand})"),
            st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
                lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})"
            ),
            inner.map(lambda operand: f"abs({operand})"),
        ),
        max_leaves=8,
    )


def python(expression: str, sizes: dict[str, int]) -> Any:
    try:
        return eval(expression, {"__builtins__": {"min": min, "max": max, "abs": abs}}, sizes)
    except ZeroDivisionError:
        return None


@settings(max_examples=120, deadline=None)
@given(expressions(), st.lists(st.integers(-5, 9), min_size=3, max_size=3))
def test_arithmetic_is_pythons(expression: str, values: list[int]) -> None:
    sizes = dict(zip(NAMES, values, strict=True))
    expected = python(expression, sizes)
    at_sizes = result(expression, *values)
    assert at_sizes == (Evaluated(Const(expected)) if expected is not None else NotEvaluated("a division by zero"))
    for_all = result(expression, *map(Var, NAMES))
    assume(isinstance(for_all, Evaluated) and expected is not None)
    assert isinstance(for_all, Evaluated)
    assert put(for_all.value, sizes) == expected


@settings(max_examples=120, deadline=None)
@example("(a * b)", "<", "(b * a + 1)", [[1, 2, 3]])
@given(
    expressions(),
    st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
    expressions() | st.sampled_from(["{left}", "({left} + 1)", "({left} * 2 - {left} - b // 3 + b // 3)"]),
    st.lists(st.lists(st.integers(-5, 9), min_size=3, max_size=3), min_size=4, max_size=4),
)
def test_what_is_decided_is_so_at_all_sizes(left: str, op: str, right: str, samples: list[list[int]]) -> None:
    comparison = f"{left} {op} {right.format(left=left)}"
    decided = result(f"1 if {comparison} else 0", *map(Var, NAMES))
    if not isinstance(decided, Evaluated) or isinstance(decided.value, Static):
        return
    for values in samples:
        expected = python(comparison, dict(zip(NAMES, values, strict=True)))
        assert expected is None or decided == Evaluated(Const(int(expected)))


def put(value: Any, sizes: Any) -> Any:
    """Returns a value with sizes for variables, ``*S`` spread, and operators computed by Python."""
    match value:
        case Const(value=number):
            return number
        case Var(name=name):
            return sizes[name]
        case Apply(op=op, args=args):
            return op.python(*[number for arg in args for number in put((arg,), sizes)])
        case tuple():
            return tuple(
                part
                for item in value
                for part in (sizes[item.name] if isinstance(item, Variadic) else (put(item, sizes),))
            )
        case _:
            return value


def agree(left: Any, right: Any) -> bool:
    """Returns whether two results are one, as far as both are known."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        if any(isinstance(dim, Ellipsis) for dim in (*left, *right)):
            return True
        return len(left) == len(right) and all(map(agree, left, right))
    return isinstance(left, Static) or isinstance(right, Static) or left == right


class Drawn:
    """Draws arguments by the annotations of parameters."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def dim(self) -> int | Var | Apply:
        kind = self.random.randrange(10)
        if kind < 4:
            return self.random.choice([0, 1, 1, 2, 3, 4, 6, 8])
        name = Var(self.random.choice("BNM"))
        if kind < 8:
            return name
        return Apply(OPERATORS[self.random.choice("+*")], (name, Const(self.random.choice([1, 2, 3]))))

    def shape(self) -> tuple[Any, ...]:
        dims: list[Any] = [self.dim() for _ in range(self.random.randrange(5))]
        if self.random.random() < 0.25:
            dims.insert(self.random.randrange(len(dims) + 1), Variadic("S"))
        return tuple(dims)

    def argument(self, annotation: str) -> Argument:
        draw = self.random
        match annotation.removesuffix(" | None"):
            case _ if annotation.endswith("None") and draw.random() < 0.4:
                return None
            case "IntTuple":
                return self.shape()
            case "IntTuples":
                shape = self.shape()
                return tuple(shape if draw.random() < 0.7 else self.shape() for _ in range(draw.randrange(1, 4)))
            case "Int":
                return self.dim() if draw.random() < 0.5 else draw.randrange(-2, 9)
            case "int":
                return draw.randrange(-3, 4)
            case "bool":
                return draw.random() < 0.5
            case "str":
                return draw.choice(["none", "mean", "ij", "xy", "ij,jk->ik", "...i->..."])
            case "tuple[int, ...]":
                return tuple(draw.randrange(-2, 4) for _ in range(draw.randrange(4)))
            case "int | tuple[int, ...]":
                return self.argument(draw.choice(["int", "tuple[int, ...]"]))
            case other:
                raise AssertionError(f"no such annotation yet: {other}")

    def sizes(self) -> dict[str, Any]:
        found: dict[str, Any] = {name: self.random.choice([0, 1, 2, 3, 4, 6, 8]) for name in "BNM"}
        return {**found, "S": tuple(self.random.choice([1, 2, 3]) for _ in range(self.random.randrange(3)))}


@pytest.fixture(scope="module")
def functions() -> ShapeFunctions:
    return load_shape_functions(torch_stubs() / "_shapes.pyi")


def test_the_corpus_keeps_the_law(functions: ShapeFunctions) -> None:
    """Every function of the file, at arguments of the declared kinds; a refusal for all sizes refuses each."""
    tree = ast.parse((torch_stubs() / "_shapes.pyi").read_text(encoding="utf-8"))
    compared, seen = 0, set()
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        drawn = Drawn(node.name)
        annotations = [ast.unparse(param.annotation) for param in node.args.args if param.annotation is not None]
        for _ in range(12):
            args = tuple(map(drawn.argument, annotations))
            for_all = functions.evaluate(node.name, args)
            for sizes in [] if isinstance(for_all, NotEvaluated) else [drawn.sizes() for _ in range(3)]:
                at_sizes = functions.evaluate(node.name, put(args, sizes))
                assert isinstance(for_all, Evaluated) or not isinstance(at_sizes, Evaluated), (node.name, args, sizes)
                if isinstance(for_all, Evaluated) and isinstance(at_sizes, Evaluated):
                    try:
                        expected = put(for_all.value, sizes)
                    except ZeroDivisionError:
                        continue
                    assert agree(expected, put(at_sizes.value, sizes)), (node.name, args, sizes)
                    compared += 1
                    seen.add(node.name)
    assert compared > 500
    assert len(seen) > 75
