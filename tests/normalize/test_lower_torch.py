"""Each thing that lowering adds for torch's sake, through torch: with it a branch is decided, without it it is not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="lowering needs torch")

from torch import nn

from shapedsl.diagnostics import Report
from shapedsl.ir import Predicate
from shapedsl.ir.expand import expand
from shapedsl.ir.expanded import Lowered
from shapedsl.ir.write import write_predicate
from shapedsl.normalize import lower, normalize
from shapedsl.targets.shapes_spec import write

from .texts import predicate, signature


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Failed traces log tables and graphs."""
    logging.disable(logging.CRITICAL)
    torch._dynamo.reset()
    yield
    logging.disable(logging.NOTSET)


def lowered(text: str) -> Lowered:
    report = Report()
    expanded = expand(normalize(signature(text), report).signature, None, is_tensor=lambda _: True, report=report)
    assert expanded is not None
    form = lower(expanded, report, statics={})
    assert form is not None, [diagnostic.message for diagnostic in report]
    return form


def decides(form: Lowered, branch: Callable[[int, int], bool], sizes: tuple[int, int]) -> bool:
    """Returns whether torch can trace a function of two sizes that branches on ``branch``."""

    def f(x: Any, y: Any) -> Any:
        return x + 1 if branch(x.shape[0], y.shape[0]) else x - 1

    compiled = torch.compile(f, backend="eager", fullgraph=True, isolate_recompiles=True, dynamic_shapes=write(form))
    try:
        compiled(torch.ones(sizes[0]), torch.ones(sizes[1]))
    except torch._dynamo.exc.UserError:
        return False
    return True


DECIDED: list[tuple[str, str, Callable[[int, int], bool], tuple[int, int], str]] = [
    # spec of x and y, what is decided, with which sizes; and what alone would not decide it
    ("x: Tensor[A], y: Tensor[B] | A % 16 == 0", "a % 8 == 0", lambda a, b: a % 8 == 0, (32, 5), "A % 16 == 0"),
    ("x: Tensor[A], y: Tensor[B] | A < B", "a <= b", lambda a, b: a <= b, (4, 6), "A + 1 <= B"),
    ("x: Tensor[A], y: Tensor[B] | A < B", "a == b", lambda a, b: a == b, (4, 6), "A + 1 <= B"),
    ("x: Tensor[A], y: Tensor[B] | A + 3 <= B", "a <= b", lambda a, b: a <= b, (4, 9), "A + 3 <= B"),
    ("x: Tensor[A], y: Tensor[B] | A + 3 <= B", "a + 1 <= b", lambda a, b: a + 1 <= b, (4, 9), "A + 3 <= B"),
    ("x: Tensor[A], y: Tensor[B] | A == B - 2", "a < b", lambda a, b: a < b, (4, 6), "A == B - 2"),
    ("x: Tensor[A], y: Tensor[B] | A == B", "a == b", lambda a, b: a == b, (4, 4), "A <= B"),
]


@pytest.mark.parametrize(("spec", "what", "branch", "sizes", "alone"), DECIDED)
def test_a_branch_is_decided(
    spec: str, what: str, branch: Callable[[int, int], bool], sizes: tuple[int, int], alone: str
) -> None:
    params, where = spec.split(" | ")
    form = lowered(f"def f({params}):\n    where {where}\n")
    assert decides(form, branch, sizes), (what, list(map(write_predicate, form.assumptions)))


@pytest.mark.parametrize(("spec", "what", "branch", "sizes", "alone"), DECIDED)
def test_without_what_is_added_it_is_not(
    spec: str, what: str, branch: Callable[[int, int], bool], sizes: tuple[int, int], alone: str
) -> None:
    params, _ = spec.split(" | ")
    plain: tuple[Predicate, ...] = (predicate(alone),)
    form = replace(lowered(f"def f({params}): ...\n"), assumptions=plain)
    assert not decides(form, branch, sizes), f"torch now decides {what} from {alone}: the workaround can go"


def test_the_residue_of_a_derived_dim_decides() -> None:
    form = lowered("def f(x: Tensor[2 * A], y: Tensor[A]): ...\n")
    assert decides(form, lambda a, b: a % 2 == 0, (8, 4))


def test_dims_over_one_variable_that_is_never_bare() -> None:
    form = lowered("def f(x: Tensor[2 * N], y: Tensor[3 * N]): ...\n")
    assert decides(form, lambda a, b: a % 2 == 0, (8, 12))
    assert decides(form, lambda a, b: b % 3 == 0, (8, 12))


SPECS = [
    ("x: Tensor[2 * N], y: Tensor[3 * N] |", [(0, 0), (2, 3), (8, 12)], [(2, 4), (3, 3), (8, 9)]),
    ("x: Tensor[B], y: Tensor[2 * B + 1] | B >= 2", [(2, 5), (4, 9)], [(1, 3), (2, 4), (3, 5)]),
    ("x: Tensor[A], y: Tensor[B] | A < B, A % 4 == 0", [(0, 1), (4, 9)], [(4, 4), (3, 9), (8, 2)]),
    ("x: Tensor[A], y: Tensor[B] | B == max(A, 3)", [(2, 3), (5, 5)], [(2, 2), (5, 6)]),
    ("x: Tensor[A], y: Tensor[B] | B == cdiv(A, 4)", [(0, 0), (1, 1), (8, 2)], [(9, 2), (8, 3)]),
    ("x: Tensor[A], y: Tensor[B] | A == 2 or B == 5", [(2, 9), (7, 5)], [(3, 4)]),
    ("x: Tensor[A], y: Tensor[B] | not (A >= 3 and B != 2), A != 1", [(0, 9), (4, 2)], [(1, 2), (5, 5)]),
    ("x: Tensor[A - B], y: Tensor[A + B] | B >= 1", [(0, 2), (3, 5)], [(3, 4), (2, 2), (4, 2)]),
    ("x: Tensor[4 * N + 3], y: Tensor[N] | N <= 1", [(3, 0), (7, 1)], [(11, 2), (7, 0), (3, 1)]),
    ("x: Tensor[N], y: Tensor[2 * N] | N <= 1", [(0, 0), (1, 2)], [(2, 4), (1, 1), (0, 2)]),
    ("x: Tensor[B // 4], y: Tensor[S] | B % 4 == 0, B <= S", [(0, 0), (2, 8)], [(2, 7)]),
]


@pytest.mark.parametrize(("spec", "good", "bad"), SPECS)
def test_torch_accepts_what_the_signature_accepts(
    spec: str, good: list[tuple[int, int]], bad: list[tuple[int, int]]
) -> None:
    params, where = spec.split(" |")
    clause = f"\n    where {where}\n" if where.strip() else " ...\n"
    form = lowered(f"def f({params}):{clause}")

    def f(x: Any, y: Any) -> Any:
        return x.sum() + y.sum()

    compiled = torch.compile(f, backend="eager", fullgraph=True, isolate_recompiles=True, dynamic_shapes=write(form))
    for sizes in good:
        compiled(torch.ones(sizes[0]), torch.ones(sizes[1]))
    for sizes in bad:
        with pytest.raises((RuntimeError, AssertionError)):
            compiled(torch.ones(sizes[0]), torch.ones(sizes[1]))


def test_the_sign_of_a_product_is_decided() -> None:
    text = "def f(a: Tensor[B - 3], b: Tensor[A * B, B % 2, A], c: Tensor[B]): ...\n"
    form = lowered(text)

    class Double(nn.Module):
        def forward(self, a: Any, b: Any, c: Any) -> Any:
            return a * 2, b * 2, c * 2

    def export(assumptions: tuple[Predicate, ...]) -> None:
        spec = write(replace(form, assumptions=assumptions))
        example = torch.ones(1), torch.ones(8, 0, 2), torch.ones(4)
        torch.export.export(Double(), example, dynamic_shapes=spec, strict=False)

    export(form.assumptions)
    without = tuple(each for each in form.assumptions if each != predicate("A * B >= 0"))
    assert len(without) == len(form.assumptions) - 1
    with pytest.raises(torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode, match="< 0"):
        export(without)  # else the workaround can go
