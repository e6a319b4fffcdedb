"""The variable table: what follows for one variable from all that is said."""

from __future__ import annotations

from importlib import import_module

import pytest

from shapedsl.diagnostics import Report
from shapedsl.ir import VariableKind
from shapedsl.normalize import Facts, normalize

from .texts import signature

DIM = VariableKind.DIM


def table(params: str, clauses: str) -> dict[str, Facts]:
    report = Report()
    normal = normalize(signature(f"def f({params}):\n    {clauses}\n"), report)
    assert not report.errors
    return dict(normal.table)


def test_the_example_of_the_module() -> None:
    assert table("x: Tensor[2 * B, D]", "dim B in [2, 64] multiple of 8 hint 8\n    where D == 2 * B + 1") == {
        "B": Facts(DIM, 8, 64, 8, 0, 8, "x.shape[0] = 2 * B"),
        "D": Facts(DIM, 17, 129, 16, 1, None, "x.shape[1]"),
    }


@pytest.mark.parametrize(
    ("where", "name", "expected"),
    [
        ("A <= B, B <= 9", "A", (0, 9, 1, 0)),
        ("A + B == 10", "A", (0, 10, 1, 0)),
        ("3 * A == 2 * B", "A", (0, None, 2, 0)),
        ("A * B <= 100, B >= 8", "A", (0, 12, 1, 0)),
        ("A // 4 == B, B in [2, 3]", "A", (8, 15, 1, 0)),
        ("B == A // 4, A <= 21", "B", (0, 5, 1, 0)),
        ("max(A, B) <= 7", "A", (0, 7, 1, 0)),
        ("A in {16, 32, 64}", "A", (16, 64, 16, 0)),
        ("A in {1, 3} or A == 9", "A", (1, 9, 2, 1)),
        ("A in {77, 512}", "A", (77, 512, 1, 0)),  # 77 modulo 435, by accident
        ("A % 4 == 1, A % 6 == 3", "A", (9, None, 12, 9)),
        ("A != 0, A != 1, A % 2 == 0", "A", (2, None, 2, 0)),
        ("A <= B, B < A + 1, B == 4", "A", (4, 4, 1, 0)),
    ],
)
def test_what_follows(where: str, name: str, expected: tuple[int | None, int | None, int, int]) -> None:
    facts = table("x: Tensor[A, B]", f"where {where}")[name]
    assert (facts.low, facts.high) == expected[:2]
    if facts.low != facts.high:
        assert (facts.modulus, facts.residue) == expected[2:]


@pytest.mark.parametrize(
    ("where", "name", "expected"),
    [
        ("B in [1, 64], A == 2 * B + 1", "A", (3, 129, 2, 1)),
        ("A % 2 == 0, A % 3 == 0, A in [1, 20]", "A", (6, 18, 6, 0)),
        ("A + B == 20, A - B == 4", "A", (12, 12, 1, 0)),
        ("A != 5, A in [5, 9]", "A", (6, 9, 1, 0)),
        ("A != 5, A != 7, A in [3, 7]", "A", (3, 6, 1, 0)),
        ("A == 4 or A == 12 or A == 20", "A", (4, 20, 8, 4)),
        ("A * A <= 50, A >= B, B >= 2", "A", (2, 7, 1, 0)),
        ("2 * A + 3 * B == 12", "A", (0, 6, 3, 0)),  # (0, 4), (3, 2), (6, 0)
        ("3 * A == 5 * B, A <= 20", "A", (0, 20, 5, 0)),
        ("A % 4 == B, B in [1, 2], A <= 7", "A", (1, 6, 1, 0)),  # 1, 2, 5, 6
        ("A * B == 12, B >= 2, B <= 4", "A", (3, 6, 1, 0)),  # 3, 4, 6
    ],
)
def test_the_ends_are_attained(where: str, name: str, expected: tuple[int | None, int | None, int, int]) -> None:
    facts = table("x: Tensor[A, B]", f"where {where}")[name]
    assert (facts.low, facts.high) == expected[:2]
    if facts.low != facts.high:
        assert (facts.modulus, facts.residue) == expected[2:]


@pytest.mark.parametrize(
    ("rank", "high"),
    [("rank batch = 2", 16), ("rank batch = 0", 64), ('"of any rank"', None)],  # of no dims the product is 1
)
def test_variadics(rank: str, high: int | None) -> None:
    clauses = f"{rank}\n    dim *batch in [2, 8]\n    where prod(*batch) * D <= 64"
    found = table("x: Tensor[*batch, D]", clauses)
    assert found["D"].high in (high, 64 if high is None else high)
    assert (found["batch"].low, found["batch"].high) == (2, 8)


def test_each_dim_of_a_variadic() -> None:
    clauses = "rank batch = 2\n    dim *batch in [2, 40]\n    where prod(*batch) <= 10"
    facts = table("x: Tensor[*batch]", clauses)["batch"]
    assert (facts.low, facts.high) == (2, 5)  # the other one is 2 or more


def test_nothing_is_worked_out_before_someone_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("shapedsl.normalize.table")
    asked: list[str] = []
    monkeypatch.setattr(module, "range_of", lambda *args, **_: asked.append(str(args)))
    normal = normalize(signature("def f(x: Tensor[A, B]):\n    where A == 2 * B\n"), Report())
    assert not asked
    assert sorted(normal.table) == ["A", "B"]
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("params", "binding"),
    [
        ("x: Tensor[B]", "x.shape[0]"),
        ("x: Tensor[B + 1], y: Tensor[3, B]", "y.shape[1]"),
        ("x: Tensor[_, B + 1]", "x.shape[1] = B + 1"),
        ("x: Tensor[..., B]", "x.shape[-1]"),
        ("n: Scalar[B], x: Tensor[B]", "n"),
        ('d: {"k": (Tensor[B],)}', 'd["k"][0].shape[0]'),
        ("kvs: [Tensor[B], ...]", "kvs[i].shape[0]"),
        ("b: Batch(x: Tensor[B])", "b.x.shape[0]"),
        ("x: Tensor[B] | None", "x.shape[0]"),
    ],
)
def test_bindings(params: str, binding: str) -> None:
    assert table(params, "where B >= 1")["B"].binding == binding
