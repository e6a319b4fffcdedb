"""torch's run-time messages in the user's names; failed traces are tested beside the entry points."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="lowering needs torch")

import torch

from shapedsl.ir import Predicate, Size, Var
from shapedsl.ir.write import write_predicate
from shapedsl.targets.entry.export import export
from shapedsl.targets.entry.make_fx import make_fx
from shapedsl.targets.errors import run_failure
from shapedsl.targets.printed import read_printed
from shapedsl.targets.program import symbols_of
from shapedsl.targets.symbolic import Unreadable, read_predicate
from tests.torch.lowered_by_hand import apply, compare, integer, lower, scalar, tensor, var

ones = torch.ones
SPEC = lower(
    {"x": tensor("B", "S"), "y": tensor("2*B"), "n": scalar("n")},
    [var("B", 0, 10), var("S"), var("2*B", meaning=apply("*", 2, "B")), integer("n", 0)],
    [compare("2*B", "==", apply("*", 2, "B")), compare(apply("%", "S", 4), "==", 0), compare("n", "<=", "S")],
)
BAD = [
    ((12, 4), 24, 0, "B <= 10"),
    ((3, 4), 7, 0, "2 * B"),
    ((3, 5), 6, 0, "S % 4 == 0"),
    ((3, 4), 6, 5, "n <= S"),
]


def failure(callee: Any, size: tuple[int, int], length: int, n: int) -> Exception:
    with pytest.raises((AssertionError, RuntimeError)) as caught:
        callee(ones(*size), ones(length), n)
    return caught.value


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
@pytest.mark.parametrize(("size", "length", "n", "said"), BAD)
def test_an_exported_program_refuses_in_the_users_names(
    strict: bool, size: tuple[int, int], length: int, n: int, said: str
) -> None:
    program = export(lambda x, y, n: x.sum() + y.sum() * n, (ones(3, 4), ones(6), 2), {}, SPEC, strict=strict)
    error = failure(program.module(), size, length, n)
    translated = run_failure(error, symbols_of(program, SPEC))
    assert translated is not None
    (finding,) = translated.diagnostics
    assert finding.code == "shape-violation"
    assert said in finding.message or "x.shape[0] <= 10" in finding.message or "y.shape[0]" in finding.message
    assert "u0" not in finding.message
    assert finding.notes == (f"torch: {str(error).strip()}",)


@pytest.mark.parametrize(("size", "length", "n", "said"), BAD)
def test_a_traced_graph_refuses_in_the_users_names(size: tuple[int, int], length: int, n: int, said: str) -> None:
    graph = make_fx(lambda x, y, n: x.sum() + y.sum() * n, (ones(3, 4), ones(6), 2), {}, SPEC)
    translated = run_failure(failure(graph, size, length, n), symbols_of(graph, SPEC))
    assert translated is not None
    assert said in translated.diagnostics[0].message


def test_the_message_without_guards() -> None:
    error = RuntimeError("Expected input at *args[0].shape[0] to be <= 10, but got 12")
    translated = run_failure(error, {})
    assert translated is not None
    assert translated.diagnostics[0].message == "`*args[0].shape[0]` is 12, but this program needs it to be <= 10"


def test_another_error_is_none_of_ours() -> None:
    assert run_failure(RuntimeError("mat1 and mat2 shapes cannot be multiplied"), {}) is None


NAMES: dict[str, Size] = {"u0": Var("B"), "u1": apply("*", 2, "N"), "x.size()[0]": Var("X")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Eq(Mod(u0, 2), 0)", "B % 2 == 0"),
        ("u1 <= u0", "2 * N <= B"),
        ("(5 < u1) & (0 < u0 + 6)", "2 * N > 5 and B + 6 > 0"),
        ("Eq(u0, 4*((u0//4)))", "B == 4 * (B // 4)"),
        ("Ne(u0, 3) | Eq(u1, 4)", "B != 3 or 2 * N == 4"),
        ("~(Eq(u0, 3))", "B != 3"),
        ("Max(3, u0) <= u1", "max(3, B) <= 2 * N"),
        ("u0**2 - u1 >= -1", "B**2 - 2 * N >= -1"),
        ("-(((-u0)//4)) > 1", "-(-B // 4) > 1"),
        ("2*x.size()[0] == 3", "2 * X == 3"),
        ("1 <= u0 <= 4", "B >= 1 and B <= 4"),
    ],
)
def test_printed_conditions_are_read(text: str, expected: str) -> None:
    assert write_predicate(read_printed(text, NAMES.get)) == expected


@pytest.mark.parametrize("text", ["u7 == 1", "u0", "f(u0) == 1", "u0 == 1.5", "u0 ==", "u0 is 3", "Eq(u0)", "(" * 500])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        read_printed(text, NAMES.get)


def from_sympy(build: Any) -> Predicate:
    import sympy  # type: ignore[import-untyped]

    u0, u1 = sympy.Symbol("u0", integer=True), sympy.Symbol("u1", integer=True)
    return read_predicate(build(sympy, u0, u1), {"u0": Var("A"), "u1": Var("B")}.get)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda s, a, b: s.Eq(2 * a, 3 * b), "2 * A == 3 * B"),
        (lambda s, a, b: s.Eq(a, s.Rational(2, 3) * b), "2 * B == 3 * A"),
        (lambda s, a, b: s.Le(a - 2 * b + 3, 0), "A - 2 * B + 3 <= 0"),
        (lambda s, a, b: s.Gt(a * b, 7), "A * B > 7"),
        (lambda s, a, b: s.Ge(-a, -5), "-A >= -5"),
        (lambda s, a, b: s.Ne(a**2, 4), "A**2 != 4"),
        (lambda s, a, b: s.Or(s.Eq(a, 1), s.And(a > 4, b < 4)), "A > 4 and B < 4 or A == 1"),
        (lambda s, a, b: s.Eq(s.Max(a, 3), s.Min(b, 9)), "max(3, A) == min(9, B)"),
        (lambda s, a, b: s.true, ""),
    ],
)
def test_expressions_are_read(build: Any, expected: str) -> None:
    assert write_predicate(from_sympy(build)) == expected


@pytest.mark.parametrize("name", ["FloorDiv", "Mod", "PythonMod", "CleanDiv"])
def test_torchs_own_functions_are_read(name: str) -> None:
    from torch.utils._sympy import functions

    spelled = {"FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%"}[name]
    predicate = from_sympy(lambda s, a, b: s.Eq(getattr(functions, name)(a, 4), 1))
    assert write_predicate(predicate) == f"A {spelled} 4 == 1"


def test_an_expression_beyond_our_words_is_refused() -> None:
    with pytest.raises(Unreadable):
        from_sympy(lambda s, a, b: s.Eq(s.Function("OpaqueUnaryFn_sqrt")(a), 1))
    with pytest.raises(Unreadable):
        from_sympy(lambda s, a, b: s.Eq(s.Symbol("u9", integer=True), 1))
