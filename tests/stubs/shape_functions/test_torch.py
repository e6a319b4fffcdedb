"""The stubs' shape functions beside torch: at sampled sizes, for variables, and for variadics.

torch is the judge wherever it runs; where it refuses sizes nothing is compared, but what a shape function refuses
torch must refuse too. What holds for all sizes must hold at each.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="compares with torch")
pytest.importorskip("libcst", reason="shape functions are read with it")

from shapedsl.frontends.stubs.shape_functions import (
    Evaluated,
    IndexTensor,
    Invalid,
    NotEvaluated,
    Outcome,
    ShapeFunctions,
    load_shape_functions,
)
from shapedsl.ir import Apply, Const, Ellipsis, Static, Var, Variadic

from ..corpus import torch_stubs
from .operators import FOUND, Operator, T, shape_of

ROOT = Path(__file__).parents[3]
SAMPLES = 4
SIZES = (1, 2, 3, 4, 5, 6, 8, 9, 12)
Sizes = Mapping[str, Any]


@pytest.fixture(scope="module")
def functions() -> ShapeFunctions:
    return load_shape_functions(torch_stubs() / "_shapes.pyi")


def put(value: Any, sizes: Sizes) -> Any:
    """Returns a value with sizes for variables, ``*B`` spread, and operators computed by Python."""
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
        case IndexTensor(shape=shape, mask=mask):
            return IndexTensor(put(shape, sizes), mask)
        case _:
            return value


def filled(value: Any, shapes: list[Any]) -> Any:
    """Returns an argument with the shapes of tensors in their places."""
    if isinstance(value, T):
        return shapes[value.number]
    return tuple(filled(item, shapes) for item in value) if isinstance(value, tuple) else value


def evaluate(functions: ShapeFunctions, operator: Operator, sizes: Sizes | None = None) -> Outcome:
    args = [filled(arg, list(operator.tensors)) for arg in operator.args]
    return functions.evaluate(operator.function, args if sizes is None else put(tuple(args), sizes))


def run(operator: Operator, sizes: Sizes) -> Any:
    """Returns the shape that torch gives; None if it refuses."""
    device = "cpu" if operator.cpu else "meta"
    tensors = [
        torch.zeros(put(shape, sizes), dtype=torch.int64, device=device)
        if number in operator.integers
        else torch.ones(put(shape, sizes), device=device)
        for number, shape in enumerate(operator.tensors)
    ]
    more = {"s": sizes} if operator.sized else {}
    try:
        return shape_of(operator.run(*tensors, **more))
    except (RuntimeError, ValueError, IndexError):
        return None


def names(value: Any) -> Iterator[str]:
    match value:
        case Var(name=name):
            yield name
        case tuple():
            for item in value:
                yield from names(item)
        case _:
            return


def samples(operator: Operator) -> Iterator[Sizes]:
    drawn = random.Random(operator.name)
    wanted = sorted({*names(tuple(operator.tensors)), *names(tuple(operator.args))})
    yield dict.fromkeys(wanted, 6)  # where different variables are refused, equal ones may not be
    for _ in range(SAMPLES - 1):
        yield {name: drawn.choice(SIZES) for name in wanted}


def agrees(dims: Any, shape: Any) -> bool:
    """Returns whether sizes are those of a shape, where ``_`` is any size and ``...`` any sizes."""
    if isinstance(dims, tuple) and isinstance(shape, tuple):
        if any(isinstance(dim, Ellipsis) for dim in dims):
            return True
        return len(dims) == len(shape) and all(map(agrees, dims, shape))
    return isinstance(dims, Static) or dims == shape


@pytest.mark.parametrize("operator", FOUND, ids=lambda operator: operator.name)
def test_agrees_with_torch(functions: ShapeFunctions, operator: Operator) -> None:
    for_all = evaluate(functions, operator)
    assert isinstance(for_all, Evaluated if operator.symbolic else NotEvaluated), for_all
    compared = 0
    for sizes in samples(operator):
        shape, at_sizes = run(operator, sizes), evaluate(functions, operator, sizes)
        assert not isinstance(at_sizes, NotEvaluated), at_sizes
        if isinstance(at_sizes, Invalid):
            assert shape is None, (sizes, at_sizes)
        elif shape is not None:
            compared += 1
            assert agrees(put(at_sizes.value, sizes), shape), (sizes, at_sizes)
            if isinstance(for_all, Evaluated):
                assert agrees(put(for_all.value, sizes), shape), (sizes, for_all)
    assert compared > 0


def test_every_function_is_compared(functions: ShapeFunctions) -> None:
    """Those that no type of the stubs calls are called by these."""
    inner = {"_pad_shape", "replace_axis_extent", "unfold_checked_shape"}
    assert set(functions.names) - {operator.function for operator in FOUND} == inner
    assert len({operator.name.split()[0] for operator in FOUND}) >= 140


def test_the_page_gives_these_figures(functions: ShapeFunctions) -> None:
    page = " ".join((ROOT / "docs" / "stub-corpus.md").read_text(encoding="utf-8").split())
    called = len({operator.name.split()[0] for operator in FOUND})
    held = sum(operator.symbolic for operator in FOUND)
    assert f"All {len(functions.names)} functions" in page
    assert f"for {called} operators under {len(FOUND)} sets of arguments" in page
    assert f"For {held} of the {len(FOUND)} there is also a result for variables" in page


@pytest.mark.parametrize(
    "operator",
    [operator for operator in FOUND if "B" in names(tuple(operator.tensors)) and not operator.sized],
    ids=lambda operator: operator.name,
)
def test_variadics_hold_at_each_rank(functions: ShapeFunctions, operator: Operator) -> None:
    """Whatever is said of ``*B`` is true for no dim, one and two in its place."""

    def spread(value: Any) -> Any:
        match value:
            case Var(name="B"):
                return Variadic("B")
            case tuple():
                return tuple(map(spread, value))
            case _:
                return value

    tensors = [spread(shape) for shape in operator.tensors]
    outcome = functions.evaluate(operator.function, [spread(filled(arg, tensors)) for arg in operator.args])
    if not isinstance(outcome, Evaluated):
        return
    drawn = random.Random(operator.name)
    compared = 0
    for rank, sizes in enumerate(samples(operator)):
        given = {**sizes, "B": tuple(drawn.choice(SIZES) for _ in range(rank % 3))}
        shape = run(replace(operator, tensors=tensors), given)
        if shape is not None:
            compared += 1
            assert agrees(put(outcome.value, given), shape), (given, outcome)
    assert compared > 0


def test_every_function_of_the_file_can_be_interpreted(functions: ShapeFunctions) -> None:
    assert len(functions.names) >= 90
    assert functions.unreadable() == {}
