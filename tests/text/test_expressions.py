"""Sizes and predicates: Python's syntax and meaning on integers."""

from __future__ import annotations

import pytest

from shapedsl.ir import And, Apply, Compare, Const, Not, Or, TensorType, Var
from shapedsl.ir.walk import evaluate

from .helpers import constraints, findings, marked, one, same, written


def dim(text: str) -> object:
    """The second dim of a tensor."""
    type_ = one(f"def f(x: Tensor[B, {text}], y: Tensor[C, D, E]): ...").params[0].type
    assert isinstance(type_, TensorType)
    assert type_.dims is not None
    return type_.dims[1]


@pytest.mark.parametrize(
    "text",
    [
        "2 * B + 1", "B - C - D", "B - (C - D)", "B // C // D", "B // (C * D)", "B % 8 * C", "-B // 2", "-(B // 2)", "-B ** 2",
        "(-B) ** 2", "2 ** 3 ** 2 + B", "B ** 2 ** 2", "(B ** 2) ** 2", "B * -C", "- -B", "min(B, C, D) + max(B, 3)",
        "cdiv(B + 1, C)", "-cdiv(B, 2) % 5", "B % -3 + 100", "(B + C) * (D - E) // 7", "prod(B, C) - 1",
    ],
)  # fmt: skip
def test_python_agrees_on_the_value(text: str) -> None:
    sizes = {"B": 7, "C": 3, "D": 5, "E": 11}
    names = {"cdiv": lambda a, b: -(-a // b), "prod": lambda *v: v[0] if len(v) == 1 else v[0] * v[1]}
    expected = eval(text, {**names, **sizes})
    made = dim(text)
    assert isinstance(made, (Const, Apply))
    assert evaluate(made, sizes) == expected


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("2*B+1", "2 * B + 1"),
        ("(B)", "B"),
        ("(B*C)*D", "B * C * D"),
        ("B*(C*D)", "B * (C * D)"),
        ("B-(C-D)", "B - (C - D)"),
        ("(B+1)**2", "(B + 1)**2"),
        ("-(B+C)", "-(B + C)"),
        ("(-B)**2", "(-B)**2"),
        ("B*(-C)", "B * -C"),
        ("1_024*B", "1024 * B"),
        ("max( B , 3,)", "max(B, 3)"),
        ("3 - 1 + B", "2 + B"),
        ("B + 3 - 1", "B + 3 - 1"),
        ("2 ** 5 * 3", "96"),
        ("-7 // 2", "-4"),
        ("-7 % 4", "1"),
        ("cdiv(7, 2)", "4"),
        ("prod(*batch)", "prod(*batch)"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    line = written(f"def f(x: Tensor[B, {text}], y: Tensor[*batch, C, D]): ...").split("\n")[0]
    assert line == f"def f(x: Tensor[B, {canonical}], y: Tensor[*batch, C, D]): ..."


def test_spans_cover_what_they_name() -> None:
    size = dim("(B + 1) * C")
    assert isinstance(size, Apply)
    assert [part.span.text for part in (size, *size.args) if part.span] == ["(B + 1) * C", "B + 1", "C"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("0 <= B <= 8", "B >= 0, B <= 8"),
        ("B in [0, 8]", "B >= 0 and B <= 8"),
        ("B in [1, inf]", "B >= 1"),
        ("B - C in [-inf, 3]", "B - C <= 3"),
        ("B in {5}", "B == 5"),
        ("B in {1, 2, 4}", "B == 1 or B == 2 or B == 4"),
        ("B not in {1, 2}", "not B in {1, 2}"),
        ("B not in [1, 2]", "not (1 <= B and B <= 2)"),
        ("B in {16, 32, ..., 128}", "B in {16, 32, 64, 128}"),
        ("B in {1, 2, ..., 6}", "B in {1, 2, 3, 4, 5, 6}"),
        ("B in {1, 2, ..., 8}", "B in {1, 2, 4, 8}"),
        ("B in {2, 4, 6, ..., 10, 100}", "B in {2, 4, 6, 8, 10, 100}"),
        ("B in {3, 2, ..., 0}", "B in {3, 2, 1, 0}"),
        ("B multiple of 8", "B % 8 == 0"),
        ("B + C multiple of 8 plus 11", "(B + C) % 8 == 3"),
        ("32 > B", "B < 32"),
        ("C > B", "B < C"),
        ("2 * B == C", "C == 2 * B"),
        ("(B < 3 or B > 5) or B == 4", "B < 3 or B > 5 or B == 4"),
        ("B < 3 and (C < 3 and B < C)", "B < 3, C < 3, B < C"),
        ("(B) < 3, (B < 3)", "B < 3"),
    ],
)
def test_desugared(left: str, right: str) -> None:
    head = "def f(x: Tensor[B], y: Tensor[C]): where "
    assert same(head + left, head + right)


def test_precedence_of_and_or_not() -> None:
    (constraint,) = [
        c
        for c in one("def f(x: Tensor[B]): where not B < 3 and B < 9 or B == 1").constraints
        if c.origin.value == "where"
    ]
    match constraint.predicate:
        case Or(args=(And(args=(Not(), Compare())), Compare(left=Var(name="B"), right=Const(value=1)))):
            pass
        case other:
            pytest.fail(str(other))


def test_texts_are_what_the_user_wrote() -> None:
    assert constraints("def f(x: Tensor[B]): where B<32, 0 <= B <= 9") == {"B >= 0", "B<32", "B <= 9"}


def test_a_let_keeps_its_name_in_the_text() -> None:
    made = one("let S = 2*B\ndef f(x: Tensor[B]): where S >= 200, 3 <= S < 9")
    wheres = [c for c in made.constraints if c.origin.value == "where"]
    assert [c.text for c in wheres] == ["S >= 200", "S >= 3", "S < 9"]
    assert [(span.text, label) for span, label in wheres[0].notes] == [("2*B", "S is 2*B")]


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("B / 2", "true-division", "/"),
        ("B ** C", "not-constant", "C"),
        ("B ** -1", "not-constant", "-1"),
        ("5 // 0", "maybe-zero-divisor", "5 // 0"),
        ("5 % (2 - 2)", "maybe-zero-divisor", "5 % (2 - 2)"),
        ("9223372036854775807 + 1", "input-too-large", "9223372036854775807 + 1"),
        ("abs(B)", "unknown-name", "abs"),
        ("cdiv(B)", "syntax-error", "cdiv(B)"),
        ("cdiv(*b, 2)", "syntax-error", "*b"),
        ("2B", "syntax-error", "2B"),
        ("B +", "syntax-error", None),
    ],
)
def test_wrong_sizes(text: str, code: str, at: str | None) -> None:
    found = marked(f"def f(x: Tensor[B, {text}]): ...")
    assert found[0][0] == code
    assert at is None or found[0][1] == at


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("B in [1]", "range-needs-two"),
        ("B in [1, 2, 3]", "range-needs-two"),
        ("B in {}", "empty-set"),
        ("B multiple of 0", "not-constant"),
        ("B multiple of C", "not-constant"),
        ("B in {1, ..., 5}", "syntax-error"),
        ("B in {1, 3, ..., 6}", "syntax-error"),
        ("B in {1, 2, ...}", "syntax-error"),
        ("B in {C, 2, ..., 8}", "not-constant"),
        ("B", "syntax-error"),
        ("B = 3", "syntax-error"),
    ],
)
def test_wrong_predicates(text: str, code: str) -> None:
    assert [d.code for d in findings(f"def f(x: Tensor[B], y: Tensor[C]): where {text}")] == [code]


def test_multiple_of_a_sum_warns() -> None:
    (found,) = findings("def f(x: Tensor[B]): where B multiple of 8 + 1")
    assert (found.code, found.severity.value) == ("ambiguous-multiple", "warning")
    assert not findings("def f(x: Tensor[B]): where B multiple of (8 + 1)")


def test_true_division_has_a_fix() -> None:
    (found,) = findings("def f(x: Tensor[B / 2]): ...")
    assert found.fix is not None
    (edit,) = found.fix.edits
    assert (edit.span.text, edit.replacement) == ("/", "//")
