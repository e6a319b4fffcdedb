"""Clauses of a def: what they mean and how they are written."""

from __future__ import annotations

import pytest

from shapedsl.ir import Alternative, Bucket, Edge, Mode, Var

from .helpers import findings, marked, one, same, written

HEAD = 'def f(x: Tensor[B, S], d: {"k": _}, T: Tensor[*batch], n: Scalar[k]) -> (_, _):\n'


def body(*lines: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("lines", "canonical"),
    [
        (['"doc \'x\'"'], ['"doc \'x\'"']),
        (["'''".replace("'", '"') + "two\n    lines" + '"""', "..."], ['"two\\n    lines"']),
        (["dim B in [0,8] multiple of 4 plus 1 hint 5"], ["dim B in [0, 8] multiple of 4 plus 1 hint 5"]),
        (["dim B, S hint 4"], ["dim B hint 4", "dim S hint 4"]),
        (["dim B in [3, inf]"], ["dim B in [3, inf]"]),
        (["dim B multiple of 4"], ["dim B multiple of 4"]),
        (["dim B"], []),
        (["dim *batch in [1, 8] hint 2"], ["dim *batch in [1, 8] hint 2"]),
        (["int k in [-inf, 8]"], ["int k in [-inf, 8]"]),
        (["int k in [-3, inf] multiple of 2 hint -2"], ["int k in [-3, inf] multiple of 2 hint -2"]),
        (["int k"], []),
        (["dim k"], ["dim k"]),
        (["int B"], ["int B"]),
        (["const B, S in [1, 9] = _"], ["const B in [1, 9] = _", "const S in [1, 9] = _"]),
        (["hint B = 8, k = -1"], ["dim B hint 8", "int k hint -1"]),
        (["where B < 3, S < 4", 'where B < S "why", k < 3'], ["where B < 3, S < 4", 'where B < S "why"', "where k < 3"]),
        (["rank batch = 2"], ["rank batch = 2"]),
        (["values d[\"k\"], x in [0, S - 1]"], ["values d[\"k\"], x in [0, S - 1]"]),
        (["values d['k'] sorted from 0 to B"], ["values d[\"k\"] sorted from 0 to B"]),
        (["case B == 1, S == 2 eager hint S = 2, B = 1"], ["case B == 1, S == 2 eager hint B = 1, S = 2"]),
        (["case small: B in {2, 4}", "otherwise backed"], ["case small: B in {2, 4}", "otherwise backed"]),
        (["case c:", "    where B == 1", "    hint B = 1", "    eager"], ["case c: B == 1 eager hint B = 1"]),
        (["case c:", "    ..."], ["case c:", "    ..."]),
        (["otherwise:", "    where B < 9 \"no\"", "    drop return[1]", "    keep return[0]"],) * 2,
        (["bucket B in {4, 1, 2}"], ["bucket B in {1, 2, 4}"]),
        (
            ["bucket S in {1, 2} shared left pad x with 0, d[\"k\"] axis 0 with -1.5 as masked"],
            ["bucket S in {1, 2} shared left pad (x with 0, d[\"k\"] axis 0 with -1.5) as masked"],
        ),
        (["bucket S multiple of 8 plus 1 at B pad (x with S_pad - 1,)"], ["bucket S multiple of 8 plus 1 at B pad x with S_pad - 1"]),
        (["bucket S in {1, 2, ..., 16} pad x with [0, 1.5, -1]"], ["bucket S in {1, 2, ..., 16} pad x with [0, 1.5, -1]"]),
        (["bucket S in {5} pad x with -inf"], ["bucket S in {5} pad x with -inf"]),
        (["bucket S in {5}", "...", "bucket B in {5}"],) * 2,
        (["drop return[1]", "keep return[0]"], ["drop return[1]", "keep return[0]"]),
        (["type F = floating", "let W = 2"], []),
    ],
)  # fmt: skip
def test_canonical_text(lines: list[str], canonical: list[str]) -> None:
    text = written(body(*lines))
    assert text.split("\n")[0].removesuffix(" ...") + "\n" == HEAD
    assert [line.removeprefix("    ") for line in text.split("\n")[1:-1]] == canonical
    assert written(text) == text


def alternatives(*lines: str) -> tuple[Alternative, ...]:
    return one(body(*lines)).alternatives


def test_adjacent_buckets_are_one_choice() -> None:
    made = alternatives("bucket B in {1}", "bucket S in {2}", "bucket B in {3}", "case B == 9", "bucket S in {4}")
    assert [[b.variable for b in a.buckets] for a in made] == [["B", "S"], ["B"], [], ["S"]]
    assert [a.keyword for a in made] == ["bucket", "bucket", "case", "bucket"]


def test_a_bucket_in_full() -> None:
    (made,) = alternatives("bucket B in {2, 4} shared at S pad x with edge, T with false, d with true as masked")
    (bucket,) = made.buckets
    assert bucket == Bucket("B", (2, 4), shared=True, position=Var("S"), pads=bucket.pads, reason="masked")
    assert [pad.fill for pad in bucket.pads or ()] == [Edge(), False, True]
    assert [str(pad.path) for pad in bucket.pads or ()] == ["x", "T", "d"]


def test_modes() -> None:
    made = alternatives("case B == 1", "case B == 2 eager", "case x:", "    backed", "otherwise")
    assert [a.mode for a in made] == [Mode.COMPILED, Mode.EAGER, Mode.BACKED, Mode.COMPILED]


def test_a_clause_on_the_defs_line() -> None:
    assert same("def f(x: Tensor[B]): where B < 3", "def f(x: Tensor[B]):\n  where B < 3\n")
    assert same('def f(x: Tensor[B]): """doc"""', "def f(x: Tensor[B]): ...")
    assert same("def f(x: Tensor[B]):\n    ...\n", "def f(x: Tensor[B]): ...")


def test_a_progression_of_constants() -> None:
    text = "const N = 8\n" + body("bucket B in {N, 2 * N, ..., 8 * N}", "case S in {N, 2 * N, ..., 4 * N}")
    assert same(text, body("bucket B in {8, 16, 32, 64}", "case S in {8, 16, 32}"))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("dim B in [0, k]", "not-constant"),
        ("dim B hint S", "not-constant"),
        ("dim B in [1]", "range-needs-two"),
        ("dim B multiple of 0", "not-constant"),
        ("dim B in [inf, 3]", "syntax-error"),
        ("dim B, B", "duplicate-name"),
        ("rank batch = -1", "not-constant"),
        ("rank batch = 1, batch = 2", "duplicate-name"),
        ("values x in [0, inf]", "not-constant"),
        ("bucket B in {}", "empty-set"),
        ("bucket B in {S}", "not-constant"),
        ("bucket B in {-1}", "not-constant"),
        ("bucket B multiple of S", "not-constant"),
        ("bucket B in {1, 2} pad x with [S]", "not-constant"),
        ("case a: B == 1\n    case a: B == 2", "duplicate-name"),
        ("hint B = 1, B = 2", "duplicate-name"),
        ('where B < 3\n    "late"', "syntax-error"),
        ("case", "syntax-error"),
        ("otherwise B < 3", "syntax-error"),
        ("eager", "syntax-error"),
    ],
)
def test_wrong_clauses(line: str, code: str) -> None:
    assert [d.code for d in findings(body(line))] == [code]


def test_hints_of_what_is_no_variable() -> None:
    assert marked("let W = 2\n" + body("hint W = 3")) == [("unknown-name", "W")]
    assert marked("let W = 2\n" + body("bucket W in {3}")) == [("unknown-name", "W")]


def test_what_cannot_both_be_said() -> None:
    text = "def f(x: Tensor[B]):\n    case one:\n        where B == 1\n        eager\n        backed\n"
    assert [d.message for d in findings(text)] == ["this case is both `eager` and `backed`"]
    assert [d.code for d in findings("type C[N, N] = Tensor[N]\ndef f(x: C[B, B]): ...\n")] == ["duplicate-name"]


def test_a_star_without_parameters_behind_it() -> None:
    assert [d.message for d in findings("def f(*): ...\n")] == ["a parameter is named behind `*`"]
    assert [d.message for d in findings("def f(x: Tensor[B], *): ...\n")] == ["a parameter is named behind `*`"]
    assert findings("def f(*, x: Tensor[B]): ...\n") == []
