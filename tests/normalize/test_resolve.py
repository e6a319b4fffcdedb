"""Names, hints, divisors, signs."""

from __future__ import annotations

import pytest

from shapedsl.diagnostics import Report, Severity
from shapedsl.normalize import resolve
from shapedsl.normalize.names import likely_pairs
from shapedsl.normalize.uses import alike

from .texts import signature


def findings(text: str) -> list[tuple[str, str, str]]:
    """Returns severity, code and the source text at fault of each finding."""
    report = Report()
    assert resolve(signature(text), report) is not None
    return [(d.severity.value, d.code, d.span.text if d.span else "") for d in report]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x: Tensor[B]):\n    where S >= 1\n", [("error", "unbound-name", "S")]),
        ("def f(x: Tensor[B]):\n    where S >= 1, S < B\n", [("error", "unbound-name", "S")]),
        ("def f(x: Tensor[B]):\n    case S == 1\n    otherwise\n", [("error", "unbound-name", "S")]),
        ("def f(x: Tensor[B], n: Scalar[prod(*lead)]): ...\n", [("error", "unbound-name", "*lead")]),
        ("def f(x: Tensor[prod(*lead)], n: Scalar[prod(*lead)]): ...\n", []),
        ("const V = _\ndef f(x: int64[B]):\n    values x in [0, V - 1]\n", []),
        ("const V = _\ndef f(x: Tensor[B]) -> Tensor[V]: ...\n", []),
        ("def f(x: Tensor[B]) -> Tensor[K]: ...\n", []),
        ("def f(x: Tensor[B], n: Scalar[N]):\n    where N <= B\n", []),
        ("def f(x: Tensor[*batch, batch]): ...\n", [("error", "duplicate-name", "batch")]),
        (
            "def f(x: Tensor[batch, D], y: Tensor[bacth, D], z: Tensor[batch]): ...\n",
            [("warning", "similar-name", "bacth")],
        ),
        (
            "def f(x: Tensor[batch, D], y: Tensor[Batch, D], z: Tensor[batch]): ...\n",
            [("warning", "similar-name", "Batch")],
        ),
        (
            "def f(x: Tensor[batch, D], y: Tensor[batc, D], z: Tensor[batch]): ...\n",
            [("warning", "similar-name", "batc")],
        ),
        ("def f(x: Tensor[head1, head2]): ...\n", []),  # told apart by digits alone
        ("def f(x: Tensor[row, rows]): ...\n", []),  # `row` has three letters
        ("def f(x: Tensor[state_h, state_c]): ...\n", []),  # a word of one letter is meant
        ("def f(x: Tensor[state_ho, state_co]): ...\n", [("warning", "similar-name", "state_co")]),
        ("def f(x: Tensor[seqs, seqt], y: Tensor[seqs, seqt]): ...\n", []),  # both occur twice
    ],
)
def test_names(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert findings(text) == expected


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("dim B in [0, 8] hint 9", [("error", "hint-out-of-range", "B")]),
        ("dim B multiple of 8 hint 12", [("error", "hint-out-of-range", "B")]),
        ("dim B in [0, 8] multiple of 4 hint 8", []),
        ("dim B hint 8\n    where B <= 4", [("warning", "hint-out-of-range", "B <= 4")]),
        ("dim B hint 8\n    where B == 4", []),  # one size needs no hint
        ("dim B hint 8\n    where B in {2, 4}", [("warning", "hint-out-of-range", "B in {2, 4}")]),
        ("dim B hint 8\n    case B == 1\n    otherwise", []),
        ("dim B in [1, 8]\n    case B == 1 hint B = 9\n    otherwise", [("error", "hint-out-of-range", "")]),
    ],
)
def test_hints(clauses: str, expected: list[tuple[str, str, str]]) -> None:
    found = findings(f"def f(x: Tensor[B]):\n    {clauses}\n")
    assert [each[:2] for each in found] == [each[:2] for each in expected]
    assert [each[2] for each in found if each[2] and each[0] == "warning"] == [
        e[2] for e in expected if e[0] == "warning"
    ]


def test_the_nearest_hint_is_named() -> None:
    report = Report()
    resolve(signature("def f(x: Tensor[B]):\n    dim B hint 9\n    where B in {2, 4, 16}\n"), report)
    (warning,) = report
    assert warning.severity is Severity.WARNING
    assert warning.notes == ("4 is used, the nearest size that fits",)


@pytest.mark.parametrize(
    ("where", "divisor"),
    [
        ("S % B == 0", "B"),
        ("S % B == 0 or B == 0", "B"),
        ("B == 0 or S % B == 0", None),
        ("B != 0 and S % B == 0", None),
        ("not (B >= 1) or S // B <= 3", None),
        ("B >= 1, S % B == 0", None),
        ("S % B == 0, B >= 1", None),
        ("S % (B + 1) == 0", None),
        ("S % (B - 1) == 0", "B - 1"),
        ("B >= 2, S % (B - 1) == 0", None),
        ("S % (2 * B + 1) == 0", None),
        ("S <= 4, B >= S + 1, D % B == 0", None),
        ("D % (S % B) == 0, B >= 1", "S % B"),
        ("B % 8 == 3, S % B == 0", None),
        ("S % B == 0, D % (S % B + 1) == 0", "B"),
    ],
)
def test_divisors(where: str, divisor: str | None) -> None:
    found = findings(f"def f(x: Tensor[B, S, D]):\n    where {where}\n")
    assert {code for _, code, _ in found} <= {"maybe-zero-divisor"}
    assert [text for _, _, text in found][:1] == ([] if divisor is None else [divisor])


def test_divisors_of_dims_and_returns() -> None:
    assert findings("def f(x: Tensor[B, S, B // S]): ...\n") == [("error", "maybe-zero-divisor", "S")]
    assert findings("def f(x: Tensor[B, S]) -> Tensor[B // S]:\n    where S >= 1\n") == []
    assert findings("def f(x: Tensor[B, S]) -> Tensor[B // S]: ...\n") == [("error", "maybe-zero-divisor", "S")]


def test_a_divisor_that_can_be_0_comes_with_sizes() -> None:
    report = Report()
    resolve(signature("def f(x: Tensor[B, S]):\n    where S % (B - 2) == 0\n"), report)
    (error,) = report.errors
    assert dict(error.witness)["B"] == 2


@pytest.mark.parametrize(
    ("text", "dims"),
    [
        ("def f(x: Tensor[3 - B]):\n    dim B in [4, inf]\n", ["3 - B"]),
        ("def f(x: Tensor[B - 10]):\n    dim B in [0, 9]\n", ["B - 10"]),
        ("def f(x: Tensor[B - 10]):\n    dim B in [0, 10]\n", []),
        ("def f(x: Tensor[B - 10]):\n    where B <= 9\n", []),  # a contradiction of two lines
    ],
)
def test_negative_dims(text: str, dims: list[str]) -> None:
    assert findings(text) == [("error", "negative-dim", dim) for dim in dims]


@pytest.mark.parametrize(
    ("clauses", "at"),
    [
        ("values idx in [0, 3]", "idx"),
        ("values qq[0] sorted from 0 to B", "qq[0]"),
        ("drop retrun[1]", "retrun[1]"),
        ("keep retrun", "retrun"),
        ("bucket B in {1, 2} pad nosuch with 0", "nosuch"),
        ("bucket B in {1, 2} pad ids with 0, nosuch axis 0 with 0", "nosuch"),
    ],
)
def test_a_path_must_start_at_a_parameter(clauses: str, at: str) -> None:
    text = f"def f(ids: int64[B]) -> (Tensor[B], Tensor[B]):\n    {clauses}\n"
    assert findings(text) == [("error", "unknown-parameter", at)]


def test_a_path_in_a_block_counts() -> None:
    text = (
        "def f(x: Tensor[B]) -> Tensor[B]:\n    case B == 1\n    otherwise:\n        bucket B in {2, 4} pad x with 0\n"
    )
    assert findings(text) == []
    assert findings(text + "        drop retrun\n") == [("error", "unknown-parameter", "retrun")]


def test_paths_that_exist() -> None:
    text = (
        "def f(ids: {'a': int64[B]}, *args: [int64[B], ...]) -> (Tensor[B], Tensor[B]):\n"
        "    values ids['a'] in [0, 3]\n    values args[0] in [0, 3]\n    values return[0] in [0, 3]\n"
        "    bucket B in {1, 2} pad args[0] with 0\n    drop return[1]\n"
    )
    assert findings(text) == []


def test_a_slip_in_a_path_is_renamed() -> None:
    report = Report()
    resolve(signature("def f(mask: bool[B]) -> Tensor[B]:\n    values maks[0] in [0, 1]\n"), report)
    (found,) = report
    assert found.fix is not None
    assert [(edit.span.text, edit.replacement) for edit in found.fix.edits] == [("maks", "mask")]
    assert found.annotations[0].label == "did you mean `mask`?"


@pytest.mark.parametrize("name", ["batch", "B"])
def test_only_a_variadic_has_a_rank(name: str) -> None:
    assert findings(f"def f(x: Tensor[B]):\n    rank {name} = 2\n") == [("error", "unbound-name", "f")]
    assert findings(f"def f(x: Tensor[*{name}]):\n    rank {name} = 2\n") == []


@pytest.mark.parametrize(
    ("cases", "at"),
    [
        ("case D == 0\n    case B // D > 1\n    otherwise", []),
        ("case D == 0, B == 1\n    case B // D > 1\n    otherwise", ["D"]),  # D == 0, B == 2 gets there
        ("case D < 2\n    case B == 3\n    case B // (D - 1) > 1\n    otherwise", []),
        ("case B // D > 1\n    case D == 0\n    otherwise", ["D"]),
    ],
)
def test_an_alternative_is_tried_where_none_before_held(cases: str, at: list[str]) -> None:
    expected = [("error", "maybe-zero-divisor", span) for span in at]
    assert findings(f"def f(x: Tensor[B, D]):\n    {cases}\n") == expected


def test_no_assumption_makes_a_zero_another_number() -> None:
    report = Report()
    resolve(signature("def f(x: Tensor[D]):\n    where D // 0 == 1\n"), report)
    assert [diagnostic.helps for diagnostic in report] == [("divide by another number",)]


EDITS = ["batches", "batc", "btch", "abtch", "batch2", "Batch", "BATCH", "batxh", "bacth", "xbatch", "batch_"]


@pytest.mark.parametrize("slip", EDITS)
def test_pairs_that_look_like_one_are_found_among_many(slip: str) -> None:
    others = [f"q{at}w{at * 7}" for at in range(40)]
    names = [*others[:20], "batch", *others[20:], slip]
    pairs = likely_pairs(names)
    assert {pair for pair in pairs if alike(*pair)} == {
        (left, right) for at, right in enumerate(names) for left in names[:at] if alike(left, right)
    }


def test_many_names_are_not_compared_each_with_each() -> None:
    assert len(likely_pairs([f"name{at}" for at in range(2000)])) < 2000 * 60
