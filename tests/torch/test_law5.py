"""Law 5: what is lowered accepts exactly what `check` accepts, through every entry point of torch.

Each row is a spec and, by variable, the sizes to try. For every combination of them inputs are made
from the dims, and once more with each size of a tensor or scalar moved by one, so that relations
between sizes are broken too. The function touches nothing but the elements, so that it demands
nothing of its own. Static parts, ranks, dtypes and None-ness are the example's.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="lowering needs torch")

import torch
from torch.utils import _pytree as pytree

import shapedsl as sd
from shapedsl.diagnostics import ShapeError
from shapedsl.frontends.assemble import Declaration, assemble
from shapedsl.ir import Origin, Param, ScalarType, Signature, TensorType, Var, VariableKind
from shapedsl.ir.walk import evaluate, holds
from tests.normalize.test_lower_law import signatures

WAYS = ("compile", "non-strict", "strict", "make_fx")
MOST = 60  # calls of one program

Inputs = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Row:
    """A spec and how to make inputs for it.

    Attributes:
        spec: Text of one def, called ``f``.
        inputs: Sizes → arguments; a tensor is a tuple of its sizes, a scalar an int.
        sizes: Variable → sizes to try; the first of each make the example.
        ways: Entry points that can take it.
        fixed: Flat positions (tensor, axis) that are static, and stay as they are.
    """

    spec: str
    inputs: Callable[..., tuple[Any, ...]]
    sizes: Mapping[str, tuple[int, ...]]
    ways: tuple[str, ...] = WAYS
    fixed: frozenset[tuple[int, int]] = field(default_factory=frozenset)


ROWS = {
    "the first file": Row(
        "dim B in [0, 1024]\ndef f(x: Tensor[B, D], w: Tensor[D, D]):\n    where B < 6",
        lambda B, D: ((B, D), (D, D)),
        {"B": (3, 0, 1, 5, 6), "D": (2, 0, 3)},
    ),
    "a derived dim": Row(
        "def f(x: Tensor[2 * B], y: Tensor[B]): ...", lambda B: ((2 * B,), (B,)), {"B": (3, 0, 1, 2, 5)}
    ),
    "never bare": Row("def f(x: Tensor[2 * B + 1]): ...", lambda B: ((2 * B + 1,),), {"B": (3, 0, 1, 2)}),
    "never bare twice": Row(
        "def f(x: Tensor[2 * N], y: Tensor[3 * N]): ...", lambda N: ((2 * N,), (3 * N,)), {"N": (2, 0, 1, 3)}
    ),
    "a difference": Row("def f(x: Tensor[B - 3], y: Tensor[B]): ...", lambda B: ((B - 3,), (B,)), {"B": (7, 3, 4)}),
    "products and sums": Row(
        "def f(x: Tensor[A, B], y: Tensor[A * B], z: Tensor[A + B]): ...",
        lambda A, B: ((A, B), (A * B,), (A + B,)),
        {"A": (2, 0, 1, 3), "B": (3, 0, 2)},
    ),
    "floor and ceiling": Row(
        "def f(x: Tensor[B, S], y: Tensor[B // 2], z: Tensor[cdiv(S, 4)]): ...",
        lambda B, S: ((B, S), (B // 2,), (-(-S // 4),)),
        {"B": (4, 0, 1, 5), "S": (6, 0, 1, 8)},
    ),
    "a residue": Row(
        "dim B multiple of 4 plus 1\ndef f(x: Tensor[B, S]):\n    where B % 8 == 5, S % 6 == 0",
        lambda B, S: ((B, S),),
        {"B": (5, 1, 13, 4), "S": (6, 0, 3)},
    ),
    "an order": Row(
        "def f(x: Tensor[A], y: Tensor[B]):\n    where A < B, A + B <= 9",
        lambda A, B: ((A,), (B,)),
        {"A": (2, 0, 4), "B": (5, 0, 3, 8)},
    ),
    "an equality in two halves": Row(
        "def f(x: Tensor[A], y: Tensor[B]):\n    where A <= B, B <= A",
        lambda A, B: ((A,), (B,)),
        {"A": (2, 0, 1, 4), "B": (2, 0, 1, 4)},
    ),
    "a pinned size": Row("def f(x: Tensor[A]):\n    where A == 6", lambda A: ((A,),), {"A": (6, 0, 5)}),
    "pinned by its range": Row(
        "dim A in [1, 1]\ndef f(x: Tensor[A, B]): ...", lambda A, B: ((A, B),), {"A": (1, 0), "B": (3, 1)}
    ),
    # torch widens a range that ends at 1 to end at 2, and compares other ranges with the widened one
    "at most one": Row(
        "dim A in [0, 1]\ndef f(x: Tensor[A], y: Tensor[A]): ...", lambda A: ((A,), (A,)), {"A": (1, 0, 2)}
    ),
    "tied to at most one": Row(
        "dim A in [0, 1]\ndef f(x: Tensor[A], y: Tensor[3 * A + 2], z: Tensor[7 - A]): ...",
        lambda A: ((A,), (3 * A + 2,), (7 - A,)),
        {"A": (1, 0, 2)},
    ),
    "a bound that a floor of at most one hides": Row(
        "def f(x: Tensor[S, (S + 1) // 3]):\n    where S < 3", lambda S: ((S, (S + 1) // 3),), {"S": (2, 0, 1, 3, 4)}
    ),
    "a size that is never bare": Row("def f(x: Tensor[S + 2]): ...", lambda S: ((S + 2,),), {"S": (3, 0, 1)}),
    "excluded values": Row(
        "def f(x: Tensor[A]):\n    where A != 3, A not in {0, 5}", lambda A: ((A,),), {"A": (2, 0, 1, 3, 4, 5, 6)}
    ),
    "a set": Row("def f(x: Tensor[A]):\n    where A in {1, 2, 4}", lambda A: ((A,),), {"A": (2, 0, 1, 3, 4, 5)}),
    "and or not": Row(
        "def f(x: Tensor[A], y: Tensor[B]):\n    where (A == 1 and B < 3) or not (A <= 2 or B == 4)",
        lambda A, B: ((A,), (B,)),
        {"A": (3, 1, 2, 5), "B": (2, 0, 4, 3)},
    ),
    "extremes": Row(
        "def f(x: Tensor[A], y: Tensor[B], z: Tensor[max(A, B)]):\n    where min(A, B, 5) >= 1",
        lambda A, B: ((A,), (B,), (max(A, B),)),
        {"A": (2, 0, 4), "B": (3, 0, 1)},
    ),
    "powers": Row(
        "def f(x: Tensor[A, B]):\n    where A**2 <= 10, A * B <= 9",
        lambda A, B: ((A, B),),
        {"A": (2, 0, 3, 4), "B": (3, 0, 4)},
    ),
    "a guarded divisor": Row(
        "def f(x: Tensor[A], y: Tensor[B]):\n    where B == 0 or A % B == 0",
        lambda A, B: ((A,), (B,)),
        {"A": (4, 0, 1, 5), "B": (2, 0, 1, 3)},
    ),
    "a divisor that is a size": Row(
        "dim B in [1, inf]\ndef f(x: Tensor[A], y: Tensor[B]):\n    where A % B == 0",
        lambda A, B: ((A,), (B,)),
        {"A": (4, 0, 1, 5), "B": (2, 0, 1, 3)},
    ),
    "numbers and static dims": Row(
        "def f(x: Tensor[B, 3, _]): ...", lambda B: ((B, 3, 4),), {"B": (2, 0, 1)}, fixed=frozenset({(0, 2)})
    ),
    "anonymous dims": Row(
        "def f(x: Tensor[?, ?], y: Tensor[B]):\n    where B < 2", lambda B: ((B, B), (B,)), {"B": (1, 0, 2)}
    ),
    "a variadic": Row(
        "def f(x: Tensor[*batch, D], y: Tensor[*batch]):\n    where prod(*batch) <= 6",
        lambda A, B, D: ((A, B, D), (A, B)),
        {"A": (2, 0, 3), "B": (3, 1), "D": (4, 0)},
    ),
    "scalars": Row(
        "int n in [0, inf]\ndef f(x: Tensor[B], n: Scalar[n], m: Scalar[2 * B], k: Scalar[5]):\n    where n <= B",
        lambda B, n: ((B,), n, 2 * B, 5),
        {"B": (4, 0, 1), "n": (2, 0, 1, 4)},
    ),
    "a scalar that may be negative": Row(
        "int n in [-3, 9]\ndef f(x: Tensor[B], n: Scalar[n]):\n    where n <= B, n % 2 == 1",
        lambda B, n: ((B,), n),
        {"B": (4, 0, 1), "n": (3, -1, -3, -5, 1, 0)},
        ways=("compile", "non-strict", "make_fx"),
    ),
    "an unbounded scalar": Row(
        "int n\ndef f(x: Tensor[B], n: Scalar[n]):\n    where n <= B",
        lambda B, n: ((B,), n),
        {"B": (4, 0), "n": (3, -1, -30)},
        ways=("non-strict", "make_fx"),
    ),
    "containers": Row(
        'def f(d: {"k": Tensor[B], 0: Tensor[S]}, past: [(Tensor[B, S], Tensor[?K]), ...], s: [Tensor[B]] * 2): ...',
        lambda B, S: ({"k": (B,), 0: (S,)}, [((B, S), (S,)), ((B, S), (B,))], [(B,), (B,)]),
        {"B": (2, 0, 1), "S": (3, 1)},
    ),
    "a static size with a name": Row(
        "const H = _\ndef f(x: Tensor[B, H], y: Tensor[2 * H]):\n    where B != H",
        lambda B: ((B, 3), (6,)),
        {"B": (2, 0, 3)},
        fixed=frozenset({(0, 1), (1, 0)}),
    ),
    "a rank zero": Row(
        "def f(x: Tensor[()], y: Tensor[B]):\n    where B >= 2", lambda B: ((), (B,)), {"B": (3, 0, 1, 2)}
    ),
}


def total(*args: Any) -> Any:
    """Returns something of every element, whose computation asks nothing of the sizes."""
    result = torch.zeros(())
    for leaf in pytree.tree_leaves(args):
        result = result + (leaf.sum() if isinstance(leaf, torch.Tensor) else leaf)
    return result


def is_shape(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(size, int) for size in value)


def tensors(shapes: Any) -> Any:
    """Returns ``shapes`` with each tuple of ints as a tensor; an int stays."""
    return pytree.tree_map(lambda v: torch.ones(v) if is_shape(v) else v, shapes, is_leaf=is_shape)


def moved(shapes: Any, fixed: frozenset[tuple[int, int]]) -> Iterator[Any]:
    """Yields ``shapes`` with one size one up or down, for every size that is not fixed."""
    leaves, structure = pytree.tree_flatten(shapes, is_leaf=is_shape)
    for at, leaf in enumerate(leaves):
        for axis in range(len(leaf) if is_shape(leaf) else 1):
            for step in (1, -1):
                changed = list(leaf) if is_shape(leaf) else [leaf]
                changed[axis] += step
                if (at, axis) in fixed or (is_shape(leaf) and changed[axis] < 0):
                    continue
                new = tuple(changed) if is_shape(leaf) else changed[0]
                yield pytree.tree_unflatten([*leaves[:at], new, *leaves[at + 1 :]], structure)


def calls(row: Row) -> list[Any]:
    """Returns the shapes to try, the example first."""
    found: list[Any] = []
    for sizes in itertools.product(*row.sizes.values()):
        shapes = row.inputs(**dict(zip(row.sizes, sizes, strict=True)))
        for each in (shapes, *moved(shapes, row.fixed)):
            if each not in found:
                found.append(each)
    step = max(1, len(found) // MOST)
    return [found[0], *found[1::step]]


def program(row: Row, way: str, spec: sd.Spec, example: tuple[Any, ...]) -> Callable[..., Any]:
    names = [param.name for param in spec.signature.params]
    scope: dict[str, Any] = {"total": total}
    exec(f"def f({', '.join(names)}): return total({', '.join(names)})", scope)
    if way == "compile":
        compiled: Callable[..., Any] = sd.compile(scope["f"], spec, backend="eager")
        return compiled
    if way == "make_fx":
        return sd.make_fx(scope["f"], spec)(*example)
    exported = sd.export(scope["f"], example, spec=spec, strict=way == "strict")
    module: Callable[..., Any] = exported.module()
    return module


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ROWS)
def test_what_is_lowered_accepts_what_check_accepts(name: str, way: str) -> None:
    row = ROWS[name]
    spec = sd.loads(row.spec)["f"]
    shapes, *others = calls(row)
    if way not in row.ways:
        with pytest.raises(ShapeError) as refused:
            program(row, way, spec, tensors(shapes))(*tensors(shapes))
        assert refused.value.code == "negative-int"
        return
    torch._dynamo.reset()
    run = program(row, way, spec, tensors(shapes))
    wrong: list[str] = []
    outcomes = set()
    for each in (shapes, *others):
        arguments = tensors(each)
        try:
            spec.check(*arguments)
            checked = True
        except ShapeError:
            checked = False
        try:
            result = run(*arguments)
            accepted = True
        except (ShapeError, RuntimeError, AssertionError) as error:
            accepted = False
            reason = f"{type(error).__name__}: {str(error)[:200]}"
        if accepted and not torch.equal(result, total(*arguments)):
            wrong.append(f"{each}: another result")
        if accepted is not checked:
            wrong.append(f"{each}: check {checked}, torch {accepted or reason}")
        outcomes.add(checked)
    assert not wrong, "\n".join(wrong)
    assert outcomes == {True, False}, "nothing to tell apart"


# -------------------------------------------------------------------------------- drawn specs


def with_bases(signature: Signature) -> Signature:
    """Returns ``signature`` with a first tensor that has each variable bare, so that all are bound."""
    names = sorted({"B", "S", "D"} | {variable.name for variable in signature.variables})
    declarations = {name: Declaration(name, VariableKind.DIM, low=0) for name in names}
    first = Param("bases", TensorType(tuple(Var(name) for name in names)))
    wheres = [replace(c, origin=Origin.WHERE) for c in signature.constraints if c.origin is not Origin.DIM]
    return assemble(name="f", params=[first, *signature.params], declarations=declarations, wheres=wheres)


def sampled(signature: Signature, seed: int) -> tuple[list[Any], list[Any]]:
    """Returns shapes of calls: some that satisfy the spec, and some of all."""
    names = [variable.name for variable in signature.variables]
    good: list[Any] = []
    every: list[Any] = []
    for values in itertools.product(range(7), repeat=len(names)):
        sizes = dict(zip(names, values, strict=True))
        shapes = []
        for param in signature.params:
            match param.type:
                case TensorType(dims=dims):
                    shapes.append(tuple(evaluate(dim, sizes) for dim in dims or ()))  # type: ignore[arg-type]
                case ScalarType(size=size) if size is not None:
                    shapes.append(evaluate(size, sizes))  # type: ignore[arg-type]
                case _:
                    raise AssertionError(param)
        if any(size < 0 for shape in shapes if isinstance(shape, tuple) for size in shape):
            continue
        every.append(tuple(shapes))
        if all(holds(constraint.predicate, sizes) for constraint in signature.constraints):
            good.append(tuple(shapes))
    draw = random.Random(seed)
    return draw.sample(good, min(8, len(good))), draw.sample(every, min(8, len(every)))


@given(signatures(), st.integers(0, 1000), st.sampled_from(("make_fx", "make_fx", "non-strict")))
@settings(
    max_examples=20,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_drawn_specs_accept_what_check_accepts(drawn: Signature, seed: int, way: str) -> None:
    signature = with_bases(drawn)
    good, every = sampled(signature, seed)
    assume(good)
    spec = sd.Spec(signature)
    try:
        run = program(Row("", tuple, {}), way, spec, tensors(good[0]))
    except ShapeError as error:
        if error.code != "unsupported-by-torch":
            raise
        return
    for shapes in (*good, *every, *itertools.islice(moved(good[-1], frozenset()), 12)):
        arguments = tensors(shapes)
        checked = accepted = True
        try:
            spec.check(*arguments)
        except ShapeError:
            checked = False
        try:
            run(*arguments)
        except (ShapeError, RuntimeError, AssertionError):
            accepted = False
        assert accepted is checked, (shapes, str(spec))


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.ways == WAYS])
def test_a_spec_read_back_from_torch_accepts_the_same_calls(name: str) -> None:
    row = ROWS[name]
    spec = sd.loads(row.spec)["f"]
    shapes, *others = calls(row)
    back = sd.from_torch(spec.to_torch(tensors(shapes)))
    for each in (shapes, *others):
        accepted: list[bool] = []
        for checked in (spec, back):
            try:
                checked.check(*tensors(each))
                accepted.append(True)
            except ShapeError:
                accepted.append(False)
        assert accepted[0] is accepted[1], (each, str(back))
