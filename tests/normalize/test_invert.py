"""Variables that stand bare nowhere: how they are computed, and what is said where they cannot be.

Expected formulas are worked out by hand. Slots print as their expressions: ``2*B // 2`` is the size of the
axis that is ``2 * B``, halved.
"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapedsl.diagnostics import Diagnostic
from shapedsl.ir import Var
from shapedsl.ir.walk import evaluate
from shapedsl.normalize.lowerable.hermite import Row, determined, hermite
from shapedsl.normalize.polynomial import Monomial, Terms, build

from .test_lower import lowered, shown


@pytest.mark.parametrize(
    ("dims", "where", "assumptions", "definitions"),
    [
        # one unknown, linear
        ("2 * B", "", "2*B % 2 == 0", "B = 2*B // 2"),
        ("2 * B + 1", "", "2*B+1 % 2 == 1", "B = (2*B+1 - 1) // 2"),
        ("B - 1", "", "", "B = B-1 + 1"),
        ("7 - B", "", "", "B = 7 - 7-B"),
        ("2 * B + S, S", "", "(2*B+S + S) % 2 == 0; S <= 2*B+S", "B = (2*B+S - S) // 2; S = S"),
        # a floor whose rest is known
        ("B // 8", "B % 8 == 0", "", "B = 8 * B//8"),
        ("B // 8", "B % 8 == 5", "", "B = 8 * B//8 + 5"),
        ("cdiv(B, 8)", "B % 8 == 0", "", "B = 8 * (B+7)//8"),
        ("3 * (B // 2)", "B % 2 == 0", "3*(B//2) % 3 == 0", "B = 2 * 3*(B//2) // 3"),
        ("(A + B) // 8, A", "(A + B) % 8 == 0", "A <= 8 * (A+B)//8", "A = A; B = 8 * (A+B)//8 - A"),
        # a floor whose dividend moves by more than the divisor: the least that gives it
        ("3 * B // 2", "", "B+B//2 == (2 * B+B//2 + 2) // 3 + (B+B//2 + 1) // 3", "B = (2 * B+B//2 + 2) // 3"),
        ("(2 * B + 1) // 3", "B % 2 == 1", None, "B = 2 * (3 * (2*B+1)//3 // 4) + 1"),
        ("(20 - 4 * B) // 3", "", None, "B = 5 - (3 * 6-B-B//3 + 2) // 4"),
        # a floor by a size that leaves no rest
        ("B // S, S", "S >= 1, B % S == 0", None, "B = B//S * S; S = S"),
        # quotient and rest of one size
        ("B // 16, B % 16", "", None, "B = B%16 + 16 * B//16"),
        # a remainder within one block
        ("B % 8", "B in [16, 23]", "", "B = B%8 + 16"),
        # extremes whose order is known, by ranges or by proof
        ("max(B, 4)", "B >= 4", "", "B = B"),
        ("min(B, 4)", "B <= 4", "", "B = B"),
        ("max(B, S), S", "B >= S", "S <= max(B,S)", "B = max(B,S); S = S"),
        ("max(B, S) + 1, S", "B >= 2 * S", "2 * S < max(B,S)+1", "B = max(B,S)+1 - 1; S = S"),
        ("max(A, B), min(A, B)", "A <= B", "min(A,B) <= max(A,B)", "A = min(A,B); B = max(A,B)"),
        # products
        ("B * S, S", "S >= 1", "B*S % S == 0", "B = B*S // S; S = S"),
        ("B * S, 2 * S", "S >= 1", "2*S % 2 == 0; 2 * B*S % 2*S == 0", "B = 2 * B*S // 2*S; S = 2*S // 2"),
        ("B * (S + 1), S", "", "B*S+B % (S + 1) == 0", "B = B*S+B // (S + 1); S = S"),
        ("A * B * C, A, B", "A >= 1, B >= 1", "A*B*C % (A * B) == 0", "A = A; B = B; C = A*B*C // (A * B)"),
        ("B * S + A, S, A", "S >= 1", None, "A = A; B = (B*S+A - A) // S; S = S"),
        # mixed radix
        ("16 * A + B", "B < 16", "", "A = 16*A+B // 16; B = 16*A+B % 16"),
        (
            "256 * A + 16 * B + C",
            "B < 16, C < 16",
            "",
            "A = 256*A+16*B+C // 256; B = 256*A+16*B+C % 256 // 16; C = 256*A+16*B+C % 16",
        ),
        ("N * A + B, N", "B < N", "A*N+B % N < N", "A = A*N+B // N; B = A*N+B % N; N = N"),
        ("6 * A + 4 * B", "B < 3", None, "A = (6*A+4*B - 4 * (-(6*A+4*B // 2) % 3)) // 6; B = -(6*A+4*B // 2) % 3"),
        ("(H // 14) * (W // 14), H // 14", "H % 14 == 0, W % 14 == 0, H >= 14", None, "H = 14 * H//14; W = 14 * H//14*(W//14) // H//14"),
        # halves, of which one is rounded up
        ("T // 2, cdiv(T, 2)", "", "T//2 == ((T+1)//2 + T//2) // 2", "T = (T+1)//2 + T//2"),
        # a remainder that is known
        ("T + (-T) % 8", "T % 8 == 3", "T+-T%8 % 2 == 0; T+-T%8 % 4 == 0; T+-T%8 % 8 == 0", "T = T+-T%8 - 5"),
        # several together
        (
            "2 * A + 3 * B, A + B",
            "",
            "2*A+3*B <= 3 * A+B; 2 * A+B <= 2*A+3*B",
            "A = 3 * A+B - 2*A+3*B; B = 2*A+3*B - 2 * A+B",
        ),
        ("A + B, A - B", "", None, "A = (A+B + A-B) // 2; B = (A+B - A-B) // 2"),
        ("A + B, A - B, 2 * A + B", "", None, "A = 2*A+B - A+B; B = 2 * A+B - 2*A+B"),
        ("A + B + C, B + C, C", "", "B+C <= A+B+C; C <= B+C", "A = A+B+C - B+C; B = B+C - C; C = C"),
        ("A * B + B, A * B", "B >= 1", None, "A = A*B // max(A*B+B - A*B, 1); B = A*B+B - A*B"),
    ],
)  # fmt: skip
def test_what_can_be_computed(dims: str, where: str, assumptions: str | None, definitions: str) -> None:
    body = f"\n    where {where}\n" if where else " ...\n"
    _, _, found, computed = shown(f"def f(x: Tensor[{dims}]):{body}")
    assert computed == definitions
    if assumptions is not None:
        assert found == assumptions


def test_scalars_are_inverted_too() -> None:
    assert shown("def f(n: Scalar[-B]):\n    int B in [-9, 0]\n")[1::2] == ("-B int 0..9", "B = --B")


def test_the_hint_is_carried_over() -> None:
    text = "def f(x: Tensor[2 * B], y: Tensor[16 * C + D]):\n    dim B hint 8\n    dim C hint 2\n    dim D in [0, 15] hint 3\n"
    assert shown(text)[1] == "2*B dim 0..None hint 16; 16*C+D dim 0..None hint 35"


def test_a_formula_is_put_in_everywhere() -> None:
    text = (
        "def f(x: Tensor[16 * A + B], y: Tensor[A * B]):\n    where B < 16, A <= 5, B % 2 == A % 2, A != 3 or B == 7\n"
    )
    _, variables, assumptions, _ = shown(text)
    assert variables == "16*A+B dim 0..95; A*B dim 0..75"
    assert assumptions.split("; ") == [
        "A*B == 16*A+B % 16 * (16*A+B // 16)",
        "16*A+B % 2 == 16*A+B // 16 % 2",
        "16*A+B % 16 == 7 or 16*A+B // 16 != 3",
    ]


# ------------------------------------------------------------------------------- not invertible


def refused(dims: str, where: str = "", name: str = "B") -> Diagnostic:
    body = f"\n    where {where}\n" if where else " ...\n"
    form, report = lowered(f"def f(x: Tensor[{dims}]):{body}")
    assert form is None
    found = [each for each in report.errors if f"`{name}`" in each.message]
    assert [each.code for each in found] == ["not-invertible"]
    return found[0]


@pytest.mark.parametrize(
    ("dims", "where", "label", "witness"),
    [
        ("B // 8", "B >= 8", "B = 8 and B = 9 both give x.shape[0] = 1", {"B": 8, "B'": 9}),
        ("B // 8", "B % 4 == 0", "B = 0 and B = 4 both give x.shape[0] = 0", {"B": 0, "B'": 4}),
        ("max(B, 4)", "B >= 3", "B = 3 and B = 4 both give x.shape[0] = 4", {"B": 3, "B'": 4}),
        ("min(B, S), S", "", "B = 0 and B = 1 both give x.shape[0] = 0 with S = 0", {"B": 0, "B'": 1, "S": 0}),
        ("B * S, S", "", "B = 0 and B = 1 both give x.shape[0] = 0 with S = 0", {"B": 0, "B'": 1, "S": 0}),
        (
            "16 * A + B",
            "B <= 16",
            "A = 0, B = 16 and A = 1, B = 0 both give x.shape[0] = 16",
            {"A": 0, "A'": 1, "B": 16, "B'": 0},
        ),
        (
            "A + B, 2 * A + 2 * B",
            "",
            "A = 0, B = 1 and A = 1, B = 0 both give x.shape[0] = 1, x.shape[1] = 2",
            {"A": 0, "A'": 1, "B": 1, "B'": 0},
        ),
        ("S, B % 3, B % 4", "", "B = 0 and B = 12 both give x.shape[1] = 0, x.shape[2] = 0", {"B": 0, "B'": 12, "S": 0}),
    ],
)  # fmt: skip
def test_two_calls_that_look_the_same_are_shown(dims: str, where: str, label: str, witness: dict[str, int]) -> None:
    error = refused(dims, where)
    assert error.annotations[0].label == label
    assert dict(error.witness) == witness


def test_what_is_determined_and_has_no_formula_is_told_apart() -> None:
    error = refused("B**2")
    assert error.witness == ()
    assert error.annotations[0].label == "x.shape[0] is B**2"
    assert error.notes == ("the sizes determine `B`, but no formula that torch can compute was found for it",)


@pytest.mark.parametrize(
    ("dims", "cure"),
    [
        ("B // 8", "B multiple of 8"),
        ("max(B, 4)", "B >= 4"),
        ("min(B, S), S", "B <= S"),
        ("B * S, S", "S >= 1"),
    ],
)
def test_the_cure_that_is_proposed_works(dims: str, cure: str) -> None:
    assert refused(dims).helps == (f"write a bare `B` in some dim, or add `{cure}`",)
    shown(f"def f(x: Tensor[{dims}]):\n    where {cure}\n")


# -------------------------------------------------------------------------- Hermite normal form

NAMES: tuple[Monomial, ...] = ((Var("A"),), (Var("B"),), (Var("C"),))
matrices = st.lists(st.lists(st.integers(-4, 4), min_size=3, max_size=3), min_size=1, max_size=4)


def rows_of(matrix: list[list[int]]) -> list[Row]:
    """Returns ``matrix * (A, B, C) == (u0, u1, …)``."""
    return [
        Row({name: value for name, value in zip(NAMES, line, strict=True) if value}, {(Var(f"u{at}"),): 1})
        for at, line in enumerate(matrix)
    ]


def valued(known: Terms, sizes: dict[str, int]) -> int:
    return evaluate(build(known), sizes)


@given(matrices)
@settings(max_examples=200, deadline=None)
def test_the_hermite_normal_form_is_one_and_has_the_same_solutions(matrix: list[list[int]]) -> None:
    form = hermite(rows_of(matrix))
    pivots = [NAMES.index(column) for column, _ in form]
    assert len(set(pivots)) == len(pivots)
    order = [column for row in rows_of(matrix) for column in row.unknowns]
    positions = [order.index(column) for column, _ in form]
    assert positions == sorted(positions)
    for at, (column, row) in enumerate(form):
        assert row.unknowns[column] > 0
        assert all(0 <= above.unknowns.get(column, 0) < row.unknowns[column] for _, above in form[:at])
        assert all(column not in below.unknowns for _, below in form[at + 1 :])
    for point in itertools.product(range(-2, 3), repeat=3):
        sizes = {f"u{at}": sum(a * b for a, b in zip(line, point, strict=True)) for at, line in enumerate(matrix)}
        for _, row in form:
            left = sum(value * point[NAMES.index(column)] for column, value in row.unknowns.items())
            assert left == valued(row.known, sizes)


@given(matrices)
@settings(max_examples=200, deadline=None)
def test_an_unknown_is_determined_exactly_if_it_alone_is_a_sum_of_rows(matrix: list[list[int]]) -> None:
    found = {NAMES.index(name): (divisor, known) for name, divisor, known in determined(rows_of(matrix))}
    rank = _rank(matrix)
    assert set(found) == {at for at in range(3) if _rank([*matrix, [int(at == other) for other in range(3)]]) == rank}
    for point in itertools.product((-3, 0, 1, 2), repeat=3):
        sizes = {f"u{at}": sum(a * b for a, b in zip(line, point, strict=True)) for at, line in enumerate(matrix)}
        for unknown, (divisor, known) in found.items():
            assert divisor > 0
            assert valued(known, sizes) == divisor * point[unknown]


def _rank(matrix: list[list[int]]) -> int:
    """Returns the rank of three columns, by the largest minor that is not 0."""

    def minor(rows: tuple[list[int], ...], columns: tuple[int, ...]) -> int:
        first, *others = columns
        if not others:
            return rows[0][first]
        return sum(
            (-1) ** at * row[first] * minor((*rows[:at], *rows[at + 1 :]), tuple(others)) for at, row in enumerate(rows)
        )

    return max(
        (
            size
            for size in (1, 2, 3)
            for rows in itertools.combinations(matrix, size)
            for columns in itertools.combinations(range(3), size)
            if minor(rows, columns)
        ),
        default=0,
    )
