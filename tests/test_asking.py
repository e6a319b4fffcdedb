"""Questions about a spec: `Spec.ask`, `Spec.range`, `Spec.core`. Expectations are worked out by hand."""

from __future__ import annotations

import json
import math
import pickle
from importlib import import_module
from itertools import product
from math import gcd
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shapedsl as sd
from shapedsl.api import asking
from shapedsl.dims import B, D, S, prod
from shapedsl.normalize.decide import Unknown

NET = """\
const LIMIT = 64
dim B in [2, LIMIT] multiple of 8
let S = 2 * B
def f(x: Tensor[B, D], y: Tensor[E]):
    where D == S + 1
"""


def spec(text: str) -> sd.Spec:
    return next(iter(sd.loads(text).values()))


def where(predicates: str, params: str = "x: Tensor[A, B, C]") -> sd.Spec:
    return spec(f"def f({params}):\n    where {predicates}\n")


# ------------------------------------------------------------------------------------ verdicts


@pytest.mark.parametrize(
    ("question", "core"),
    [
        ("B % 8 == 0", ["B % 8 == 0"]),
        ("B % 4 == 0", ["B % 8 == 0"]),
        ("B <= 64", ["B <= 64"]),
        ("B >= 8", ["B >= 2", "B % 8 == 0"]),
        ("D <= 129", ["B <= 64", "D == S + 1"]),
        ("D % 16 == 1", ["B % 8 == 0", "D == S + 1"]),
        ("B multiple of 8, D <= 129", ["B <= 64", "B % 8 == 0", "D == S + 1"]),
        ("B in {8, 16, ..., 64} or B in {24, 40, 48, 56}", ["B >= 2", "B <= 64", "B % 8 == 0"]),
        ("not B == 7", ["B % 8 == 0"]),
        ("B >= 0", []),  # a size is never negative
        ("E + 1 > E", []),
        ("1 == 1", []),
        ("S <= 2 * LIMIT", ["B <= 64"]),  # lets and consts of the file
        ("D == S + 1", ["D == S + 1"]),
    ],
)
def test_proved_from_a_minimal_set_of_constraints(question: str, core: list[str]) -> None:
    answer = spec(NET).ask(question)
    assert (answer.verdict, answer.core, answer.witness, answer.reason) == ("proved", core, {}, "")
    assert answer


@pytest.mark.parametrize(
    ("question", "witness"),
    [
        ("B % 16 == 0", {"B": 8, "D": 17}),  # what follows for D is told: D has to do with B
        ("B > 8", {"B": 8, "D": 17}),
        ("D > 33", {"B": 8, "D": 17}),
        ("E != 5", {"E": 5}),  # nothing ties E to B
        ("E > B", {"B": 8, "D": 17, "E": 0}),
        ("B <= 64, D <= 128", {"B": 64, "D": 129}),
        ("B >= 8 and 1 == 2", {"B": 8, "D": 17}),
        ("1 == 2", {}),
    ],
)
def test_refuted_by_small_sizes(question: str, witness: dict[str, int]) -> None:
    answer = spec(NET).ask(question)
    assert (answer.verdict, answer.core, answer.witness, answer.reason) == ("refuted", [], witness, "")
    assert not answer


def test_unknown_is_never_taken_for_proved() -> None:
    answer = where("A >= 1, B >= 1, C >= 1").ask("A**3 + B**3 != C**3")  # Fermat
    assert answer.verdict != "refuted"
    if answer.verdict == "unknown":
        assert answer.reason
        assert not answer


def test_text() -> None:
    net = spec(NET)
    assert str(net.ask("D <= 129")) == "proved: B <= 64; D == S + 1"
    assert str(net.ask("1 == 1")) == "proved"
    assert str(net.ask("B > 8")) == "refuted: B = 8, D = 17"
    assert str(net.ask("1 == 2")) == "refuted"


def test_objects_of_annotations_are_questions() -> None:
    net = spec(NET)
    assert net.ask(B % 8 == 0).core == ["B % 8 == 0"]
    assert net.ask((B >= 1) & ~(D > 129)).verdict == "proved"
    assert str(net.range(2 * B + 1)) == str(net.range("2*B + 1")) == "[17, 129], 1 modulo 16"
    assert net.ask(S <= 128).verdict == "proved"  # the file's let


@pytest.mark.parametrize("question", [True, 3, None, b"B < 3", B])
def test_what_is_no_question(question: Any) -> None:
    with pytest.raises(TypeError, match="a question is text or a predicate"):
        spec(NET).ask(question)


def test_what_has_no_range() -> None:
    wrong: Any = B < 3
    with pytest.raises(TypeError, match="a range is asked of"):
        spec(NET).range(wrong)


# -------------------------------------------------------------------------------- contradictions


def test_a_contradictory_spec_proves_everything_and_says_so() -> None:
    wrong = spec("dim B in [2, 64]\ndef f(x: Tensor[B, D]):\n    where D >= 3\n    where B >= 100\n")
    for question in ("B == 7", "D == 1", "B <= 64", "1 == 2"):
        answer = wrong.ask(question)
        assert (answer.verdict, answer.core) == ("proved", ["B <= 64", "B >= 100"])
        assert "no shape satisfies the spec" in answer.reason
    assert wrong.core() == ["B <= 64", "B >= 100"]
    with pytest.raises(sd.ShapeError) as error:
        wrong.range("D")
    assert (error.value.code, error.value.core) == ("contradiction", ["B <= 64", "B >= 100"])


@pytest.mark.parametrize(
    ("predicates", "core"),
    [
        ("A >= 3, B >= 1, A < 3", ["A >= 3", "A < 3"]),
        ("2 * A == 2 * B + 1, C >= 1", ["2 * A == 2 * B + 1"]),
        ("A % 2 == 0, C <= 4, A % 6 == 3", ["A % 2 == 0", "A % 6 == 3"]),
        ("A < B, B < C, C < A", ["A < B", "B < C", "C < A"]),
        ("A < B, B < C, A < C", []),
    ],
)
def test_core(predicates: str, core: list[str]) -> None:
    assert where(predicates).core() == core


def test_core_cites_declarations_and_dims_in_the_order_of_the_file() -> None:
    assert spec("dim D in [4, 9]\ndef f(x: Tensor[B - D]):\n    where B <= 3\n").core() == [
        "D >= 4",
        "B - D >= 0",
        "B <= 3",
    ]


def test_an_undecided_core_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "find_sizes", lambda *_, **__: Unknown("it would take too long"))
    monkeypatch.setattr(asking, "refutation_of", lambda *_: None)
    with pytest.raises(sd.ShapeError, match="it would take too long") as error:
        where("A >= 3").core()
    assert error.value.code == "undecided"


# --------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("question", "code", "place", "words"),
    [
        ("b < 3", "unknown-name", "1:1", "did you mean `B`?"),
        ("B < 3, Q == 1", "unknown-name", "1:8", "its sizes are B, D, E"),
        ("LIMITS > 1", "unknown-name", "1:1", "did you mean `LIMIT`?"),
        ("B <", "syntax-error", "1:3", "after `<`"),
        ("B = 3", "syntax-error", "1:3", "=="),
        ("B / 2 == 1", "true-division", "1:3", "//"),
        ("", "syntax-error", "1:1", ""),
        ("B", "syntax-error", "1:1", "a size, not a condition"),
        ("B ** D < 3", "not-constant", "1:6", ""),
        ("B in [1]", "range-needs-two", "1:6", ""),
        ("*B >= 1", "syntax-error", "1:1", ""),
        ("prod(*B) >= 1", "unknown-name", "1:6", "write `B`"),
    ],
)
def test_errors_point_at_the_place_in_the_question(question: str, code: str, place: str, words: str) -> None:
    with pytest.raises(sd.ShapeError) as error:
        spec(NET).ask(question)
    assert error.value.code == code
    assert f"--> <question>:{place}\n" in str(error.value)
    assert words in str(error.value)


@pytest.mark.parametrize("size", ["", "B, D", "_", "...", "?", "B < 3", "Q", "B +"])
def test_what_is_no_size(size: str) -> None:
    with pytest.raises(sd.ShapeError) as error:
        spec(NET).range(size)
    assert error.value.code in ("syntax-error", "unknown-name")
    assert error.value.diagnostics[0].span is not None


def test_a_divisor_that_can_be_0_is_an_error() -> None:
    net = spec("def f(x: Tensor[B, E]):\n    where B >= 1\n")
    assert net.ask("E // B <= E").verdict == "proved"
    with pytest.raises(sd.ShapeError) as error:
        net.ask("B % E == 0")
    assert (error.value.code, error.value.witness) == ("maybe-zero-divisor", {"E": 0})
    assert "--> <question>:1:5\n" in str(error.value)
    assert net.ask("E == 0 or B % E < E").verdict == "proved"  # evaluated where E is not 0
    with pytest.raises(sd.ShapeError, match="maybe-zero-divisor"):
        net.range("B // E")
    assert net.range("E // B").lo == 0


def test_a_let_that_speaks_of_another_variable_is_not_known() -> None:
    net = spec("dim B\nlet T = 2 * B\ndef f(x: Tensor[B, E]):\n    dim B in [1, 4]\n    let U = B + 1\n")
    assert net.ask("U <= 5").verdict == "proved"
    with pytest.raises(sd.ShapeError, match="`f` has no size `T`"):
        net.ask("T <= 8")


def test_a_variable_wins_over_a_let_of_its_name() -> None:
    net = spec("let B = 7\ndef f(x: Tensor[B, E]):\n    dim B in [1, 4]\n")
    assert net.ask("B <= 4").verdict == "proved"


def test_questions_after_a_trip_through_json_and_pickle() -> None:
    net = spec(NET)
    again = pickle.loads(pickle.dumps(net))
    assert again.ask("S <= 128").core == ["B <= 64"]
    bare = sd.from_json(net.to_json())
    assert isinstance(bare, sd.Spec)
    assert bare.ask("D <= 129").core == ["B <= 64", "D == S + 1"]
    with pytest.raises(sd.ShapeError, match="has no size `S`"):  # JSON holds no lets
        bare.ask("S <= 128")
    assert json.loads(net.to_json()).keys().isdisjoint({"names", "lets"})


def test_specs_of_annotations() -> None:
    @sd.shapes(x="B, 2*B", where="B % 8 == 0, B <= 64")
    def f(x: object) -> None:
        del x

    annotated = sd.spec_of(f)
    assert annotated is not None
    assert annotated.ask("B <= 100").core == ["B <= 64"]
    assert str(annotated.range("2*B")) == "[0, 128], 0 modulo 16"


# ---------------------------------------------------------------------------------------- cases

CASES = """\
def f(x: Tensor[B, T]):
    where B >= 1
    case small: B == 1
    case even: B % 2 == 0
    bucket T in {128, 256} pad x with 0
    otherwise
"""


@pytest.mark.parametrize(
    ("case", "question", "core"),
    [
        ("small", "B <= 1", ["B == 1"]),
        ("even", "B % 4 in {0, 2}", ["B % 2 == 0"]),
        ("otherwise", "B >= 3", ["not small", "not even"]),  # 0 is even
        ("otherwise", "T > 256", ["no bucket takes T"]),
    ],
)
def test_within_a_case(case: str, question: str, core: list[str]) -> None:
    cases = spec(CASES)
    assert cases.ask(question).verdict == "refuted"
    assert sorted(cases.ask(question, case=case).core) == sorted(core)
    assert cases.ask(question, case=case).verdict == "proved"


def test_refuted_within_a_case() -> None:
    assert spec(CASES).ask("B >= 4", case="otherwise").witness == {"B": 3}
    assert str(spec(CASES).range("B", case="otherwise")) == "[3, inf], 1 modulo 2"


def test_a_case_that_nothing_reaches() -> None:
    cases = spec("def f(x: Tensor[B]):\n    where B >= 1\n    case B <= 8\n    case small: B <= 4\n")
    answer = cases.ask("B == 7", case="small")
    assert (answer.verdict, answer.core) == ("proved", ["not (B <= 8)", "B <= 4"])
    assert answer.reason == "no shape gets to the case `small`, so everything follows"
    with pytest.raises(sd.ShapeError, match="it is asked within the case `small`"):
        cases.range("B", case="small")


@pytest.mark.parametrize("case", ["large", "bucket", ""])
def test_unknown_case(case: str) -> None:
    with pytest.raises(sd.ShapeError, match="its cases are small, even, otherwise"):
        spec(CASES).ask("B >= 1", case=case)


# ------------------------------------------------------------------------------------ variadics

VARIADIC = "dim *batch in [2, 8]\ndef f(x: Tensor[*batch, D]):\n    {rank}\n    where prod(*batch) * D <= 64, D >= 1\n"


@pytest.mark.parametrize(
    ("rank", "question", "verdict", "witness"),
    [
        ("", "batch <= 8", "proved", {}),
        ("", "prod(*batch) <= 64", "proved", {}),
        ("", "batch <= 7", "refuted", {"D": 1, "batch": (8,)}),
        ("", "prod(*batch) >= 1", "proved", {}),
        ("", "min(batch, 1) == 1", "proved", {}),  # of each dim
        ("rank batch = 2", "min(batch, 4) == min(*batch, 4)", "refuted", {"D": 1, "batch": (2, 3)}),
        ("", "batch <= prod(*batch)", "proved", {}),
        ("", "prod(*batch) * D >= D", "proved", {}),
        ("", "prod(*batch) <= 8", "refuted", {"D": 1, "batch": (2, 5)}),
        ("", "D <= 32", "refuted", {"D": 33, "batch": ()}),  # no dims: their product is 1
        ("", "prod(*batch) >= 2", "refuted", {"batch": ()}),
        ("rank batch = 2", "D <= 16", "proved", {}),
        ("rank batch = 2", "D <= 15", "refuted", {"D": 16, "batch": (2, 2)}),
        ("rank batch = 2", "prod(*batch) >= 4", "proved", {}),
        ("rank batch = 0", "D >= 64", "refuted", {"D": 1}),
        ("", "prod(*batch) <= 2 * D or batch >= 3", "refuted", {"D": 1, "batch": (2, 2)}),
    ],
)
def test_variadics(rank: str, question: str, verdict: str, witness: dict[str, object]) -> None:
    answer = spec(VARIADIC.format(rank=rank or '"any rank"')).ask(question)
    assert (answer.verdict, answer.witness) == (verdict, witness)


def test_what_holds_for_few_dims_only_is_not_proved() -> None:
    open_ = spec("dim *batch in [2, 8]\ndef f(x: Tensor[*batch, D]):\n    where D >= 1\n")
    answer = open_.ask("prod(*batch) <= 512")  # 8 * 8 * 8: false for four dims
    assert answer.verdict == "unknown"
    assert "up to 3 dims" in answer.reason
    assert open_.ask("prod(*batch) <= 511").witness == {"batch": (8, 8, 8)}


def test_objects_of_variadics() -> None:
    batch: Any = import_module("shapedsl.dims").batch
    assert spec(VARIADIC.format(rank="rank batch = 2")).ask(prod(*batch) <= 64).verdict == "proved"


@pytest.mark.parametrize(
    ("rank", "size", "expected"),
    [
        ("rank batch = 2", "prod(*batch)", "[4, 64]"),
        ("rank batch = 2", "batch", "[2, 8]"),
        ("rank batch = 2", "*batch", "[2, 8]"),
        ("rank batch = 2", "D", "[1, 16]"),
        ("rank batch = 2", "4 * batch + 1", "[9, 33], 1 modulo 4"),
        ("", "batch", "[2, 8]"),
    ],
)
def test_ranges_with_variadics(rank: str, size: str, expected: str) -> None:
    assert str(spec(VARIADIC.format(rank=rank or '"any rank"')).range(size)) == expected


@pytest.mark.parametrize(
    ("declared", "expected"), [("[2, 8]", "[1, inf]"), ("[0, 8]", "[0, inf]"), ("[1, 1]", "[1, inf]")]
)
def test_a_product_of_any_number_of_dims(declared: str, expected: str) -> None:
    found = spec(f"dim *batch in {declared}\ndef f(x: Tensor[*batch]): ...\n").range("prod(*batch)")
    assert str(found) == expected  # of no dims it is 1
    assert not found.exact


# --------------------------------------------------------------------------------------- ranges


@pytest.mark.parametrize(
    ("predicates", "size", "expected"),
    [
        ("A in [1, 64]", "2*A + 1", (3, 129, 2, 1)),
        ("A in [1, 64]", "-A", (-64, -1, 1, 0)),
        ("A >= 1", "A", (1, None, 1, 0)),
        ("A >= 1", "1 - A", (None, 0, 1, 0)),
        ("A == 5", "2 * A", (10, 10, 0, 10)),
        ("A % 8 == 3, A >= 1, A <= 100", "A", (3, 99, 8, 3)),
        ("A <= B, B <= C, C <= 9", "A + B", (0, 18, 1, 0)),
        ("A + B == 10", "A", (0, 10, 1, 0)),
        ("A * B <= 100, B >= 8", "A", (0, 12, 1, 0)),
        ("A != 0, A != 1, A % 2 == 0, A < 7", "A", (2, 6, 2, 0)),
        ("3 * A == 2 * B", "B", (0, None, 3, 0)),
        ("A <= 20", "A // 8 * 8", (0, 16, 8, 0)),
        ("A <= 20", "min(A, 7)", (0, 7, 1, 0)),
        ("A <= 3", "7", (7, 7, 0, 7)),
    ],
)
def test_range(predicates: str, size: str, expected: tuple[int | None, int | None, int, int]) -> None:
    found = where(predicates).range(size)
    assert (found.lo, found.hi, found.modulus, found.residue) == expected


@pytest.mark.parametrize(
    ("predicates", "expected"),
    [
        ("A in [1, 64]", "[1, 64]"),
        ("A in [1, 64], A % 2 == 1", "[1, 63], 1 modulo 2"),
        ("A == 4", "4"),
        ("A >= 0", "[0, inf]"),
    ],
)
def test_range_as_text(predicates: str, expected: str) -> None:
    assert str(where(predicates).range("A")) == expected


def test_range_of_an_int() -> None:
    scalar = spec("int k in [-inf, 4]\ndef f(k: Scalar[k]): ...\n")
    assert str(scalar.range("k")) == "[-inf, 4]"


# ------------------------------------------------------------------------------------------ law

HIGHEST = 5
NAMES = ("A", "B", "C")
BOX = [(a, b, c) for a in range(HIGHEST + 1) for b in range(HIGHEST + 1) for c in range(HIGHEST + 1)]


@st.composite
def sizes(draw: st.DrawFn) -> str:
    """Draws a size without a product of variables; Python reads it as the language does."""
    terms = [f"{draw(st.integers(1, 3))}*{name}" for name in draw(st.sets(st.sampled_from(NAMES), min_size=1))]
    text = " + ".join(sorted(terms)) + f" - {draw(st.integers(0, 6))}"
    match draw(st.integers(0, 3)):
        case 0:
            return f"({text}) // {draw(st.integers(2, 4))}"
        case 1:
            return f"({text}) % {draw(st.integers(2, 4))}"
        case _:
            return text


@st.composite
def predicates(draw: st.DrawFn) -> str:
    parts = [
        f"{draw(sizes())} {draw(st.sampled_from(('==', '!=', '<=', '>=', '<')))} {draw(st.integers(-2, 12))}"
        for _ in range(draw(st.integers(1, 2)))
    ]
    text = draw(st.sampled_from((" and ", " or "))).join(parts)
    return f"not ({text})" if draw(st.booleans()) else text


def value(text: str, point: tuple[int, ...]) -> Any:
    """Evaluates what was drawn, as Python."""
    return eval(text, {}, dict(zip(NAMES, point, strict=True)))


@given(st.lists(predicates(), max_size=3), predicates())
@settings(max_examples=150, deadline=None)
def test_answers_agree_with_brute_force(stated: list[str], question: str) -> None:
    lines = "".join(f"    where {each}\n" for each in stated) or "    ...\n"
    drawn = spec(f"dim A, B, C in [0, {HIGHEST}]\ndef f(x: Tensor[A, B, C]):\n{lines}")
    accepted = [point for point in BOX if all(value(each, point) for each in stated)]
    failing = [point for point in accepted if not value(question, point)]
    answer = drawn.ask(question)
    assert answer.verdict == ("refuted" if failing else "proved")  # linear and bounded: never unknown
    if failing:
        witness = answer.witness
        extended = [
            point for point in failing if all(dict(zip(NAMES, point, strict=True))[n] == witness[n] for n in witness)
        ]
        assert extended  # what it leaves out has nothing to do with it
        assert {name for name in NAMES if name in question} <= witness.keys()
    else:
        assert set(answer.core) <= {constraint.text for constraint in drawn.signature.constraints}
        wide = [(a, b, c) for a in range(9) for b in range(9) for c in range(9)]
        follows = [point for point in wide if all(value(each, point) for each in answer.core)]
        if accepted:
            assert all(value(question, point) for point in follows)
        else:
            assert not follows
            assert answer.reason
    assert bool(drawn.core()) == (not accepted)


@given(st.lists(predicates(), max_size=2), sizes())
@settings(max_examples=80, deadline=None)
def test_ranges_agree_with_brute_force(stated: list[str], size: str) -> None:
    lines = "".join(f"    where {each}\n" for each in stated) or "    ...\n"
    drawn = spec(f"dim A, B, C in [0, {HIGHEST}]\ndef f(x: Tensor[A, B, C]):\n{lines}")
    values = [value(size, point) for point in BOX if all(value(each, point) for each in stated)]
    if not values:
        with pytest.raises(sd.ShapeError, match="no shape satisfies"):
            drawn.range(size)
        return
    found = drawn.range(size)
    modulus = gcd(*(other - values[0] for other in values))
    residue = values[0] % modulus if modulus else values[0]
    assert (found.lo, found.hi, found.modulus, found.residue) == (min(values), max(values), modulus, residue)


@st.composite
def predicates_of_variadics(draw: st.DrawFn) -> str:
    left = draw(st.sampled_from(("A", "prod(*s)", "A * prod(*s)", "prod(*s) % 3", "prod(*s) - A", "prod(*s) // 2")))
    operator = draw(st.sampled_from(("==", "!=", "<=", ">=")))
    return f"{left} {operator} {draw(st.sampled_from(('2', '4', '9', 'A', 'prod(*s)')))}"


@given(st.lists(predicates_of_variadics(), max_size=2), predicates_of_variadics(), st.booleans(), st.integers(0, 2))
@settings(max_examples=100, deadline=None)
def test_answers_hold_for_any_number_of_dims(stated: list[str], asked: str, each: bool, lowest: int) -> None:
    question = f"s != 2 or {asked}" if each else asked
    lines = "".join(f"    where {part}\n" for part in stated) or "    ...\n"
    drawn = spec(f"dim A in [0, 4]\ndim *s in [{lowest}, 4]\ndef f(x: Tensor[A, *s]):\n{lines}")

    def holds(text: str, a: int, dims: tuple[int, ...], one: int = 0) -> bool:
        return bool(eval(text.replace("*s", "S"), {"prod": math.prod}, {"A": a, "S": dims, "s": one}))

    def fails(a: int, dims: tuple[int, ...]) -> bool:
        if not all(holds(part, a, dims) for part in stated):
            return False
        return any(not holds(question, a, dims, one) for one in (dims if each else (0,)))

    several = [dims for rank in range(4) for dims in product(range(lowest, 5), repeat=rank)]
    counterexample = next(((a, dims) for dims in several for a in range(5) if fails(a, dims)), None)
    answer = drawn.ask(question)
    if answer.verdict == "proved":
        assert counterexample is None
    elif answer.verdict == "refuted":
        witness = answer.witness
        values = [witness["A"]] if "A" in witness else range(5)
        lists = [witness["s"]] if "s" in witness else several
        assert any(fails(a, dims) for a in values for dims in lists)  # type: ignore[arg-type]


SOUP = ["B", "D", "E", "S", "LIMIT", "batch", "*batch", "prod", "min", "(", ")", "[", "]", "{", "}", ",", "+", "-", "*"]
SOUP += [
    "//",
    "%",
    "/",
    "**",
    "<",
    "<=",
    "==",
    "!=",
    "in",
    "not",
    "and",
    "or",
    "multiple",
    "of",
    "0",
    "1",
    "2",
    "64",
    "_",
]
SOUP += ["...", "?", "9223372036854775808", '"text"', "#", "\n", "where", "é", "\udcff", "\0"]


@given(st.one_of(st.text(max_size=20), st.lists(st.sampled_from(SOUP), max_size=8).map(" ".join)))
@settings(max_examples=300, deadline=None)
def test_no_text_gives_anything_but_an_answer_or_a_diagnostic(text: str) -> None:
    asked = spec(NET.replace("y: Tensor[E]", "y: Tensor[E, *batch]"))
    for question in (asked.ask, asked.range):
        try:
            answer = question(text)
        except sd.ShapeError as error:
            assert all(d.span is not None for d in error.diagnostics if d.code != "contradiction")
            assert str(error)
        else:
            assert str(answer)


def test_a_shown_answer_says_what_it_found() -> None:
    bounded = spec("def f(x: Tensor[B, D]):\n    where B <= 8\n")
    assert repr(bounded.ask("B <= 9")) == "<Answer proved: B <= 8>"
    assert repr(bounded.ask("B <= 7")) == "<Answer refuted: B = 8>"


def test_a_range_is_not_asked_of_a_condition() -> None:
    with pytest.raises(sd.ShapeError, match="this is a condition, not a size") as caught:
        spec(NET).range("B <= 8")
    assert "`ask`" in str(caught.value)


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("(16 + 16 * (H // 8) * (W // 8)) % (8 + 8 * (H // 8) * (W // 8)) == 0", "proved"),  # twice the divisor
        ("(3 * H + 3 * W) // (H + W) == 3", "proved"),
        ("(6 - 3 * H - 3 * W) // (2 - H - W) == 3", "proved"),  # below 0
        ("(3 * H + 2 * W) % (H + W) == 0", "refuted"),
        ("(3 * H + 5 * W) // (H + W) == 3", "refuted"),  # 4, where W is large
        ("(H + W) // (2 * H + 2 * W) == 0", "proved"),  # half of it: no multiple
    ],
)
def test_a_multiple_of_a_divisor_is_divided_by_it(question: str, verdict: str) -> None:
    sides = spec("def f(x: Tensor[H, W]):\n    where H >= 8, W >= 8\n")
    assert sides.ask(question).verdict == verdict
