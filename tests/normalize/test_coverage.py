"""Gaps, overlaps and unreachable alternatives: as told by hand, and by trying all sizes of small boxes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapedsl.diagnostics import Diagnostic, Report
from shapedsl.ir import Alternative, Signature
from shapedsl.ir.walk import holds
from shapedsl.normalize.coverage import Coverage, check_coverage, coverage_of

from .texts import signature


def spec(*lines: str, params: str = "x: Tensor[B, S]") -> Signature:
    body = "".join(f"    {line}\n" for line in lines)
    return signature(f"def f({params}) -> Tensor[B, S]:\n{body}")


def cover(*lines: str) -> Coverage:
    return coverage_of(spec(*lines))


# ------------------------------------------------------------------------------------------ by hand

GAPS: dict[tuple[str, ...], dict[str, int] | None] = {
    ("case B == 1",): {"B": 0},
    ("case B >= 1",): {"B": 0},
    ("where B >= 1", "case B == 1"): {"B": 2},
    ("where B >= 1", "case B == 1", "case B % 2 == 0"): {"B": 3},
    ("case B == 0 or S == 0", "case S >= 2"): {"B": 1, "S": 1},
    ("case B % 2 == 0", "case B % 2 == 1"): None,
    ("case B % 2 == 0", "case B % 3 == 0", "case B % 6 in {1, 5}"): None,
    ("case B < S", "case B == S", "case B > S"): None,
    ("case B < S", "case B > S"): {"B": 0, "S": 0},
    ("case B < S", "case B > S + 1", "case B == S"): {"B": 1, "S": 0},
    ("where B <= 64", "case B <= 32", "case B in [30, 50]", "case B >= 52"): {"B": 51},
    ("where S == 2 * B", "case S <= 8", "case B >= 5"): None,
    ("where S == 2 * B", "case S <= 8", "case B >= 6"): {"B": 5, "S": 10},
    ("where B * S <= 12", "case B <= 3", "case S <= 3"): None,
    ("where B * S <= 16", "case B <= 3", "case S <= 3"): {"B": 4, "S": 4},
    ("case max(B, S) <= 4", "case B >= 5"): {"B": 0, "S": 5},
    ("case B == 0 eager", "case B >= 1 backed"): None,
    ("bucket S in {4, 8} pad x with 0 as masked",): {"S": 9},
    ("where S <= 8", "bucket S in {4, 8} pad x with 0 as masked"): None,
    ("where S <= 8", "bucket S in {4, 8}"): {"S": 0},
    ("where S in {4, 8}", "bucket S in {4, 8}"): None,
    ("bucket S multiple of 8 pad x with 0 as masked",): None,
    ("bucket S multiple of 8",): {"S": 1},
    ("bucket S multiple of 8 plus 3",): {"S": 0},
    ("bucket S in {4, 8} pad x with 0 as masked", "bucket B in {2} pad x with 0 as masked"): {"B": 0, "S": 9},
    ("bucket S in {4, 8} pad x with 0 as masked", "case B >= 1", "bucket B in {2}"): {"B": 0, "S": 9},
    ("case p:", "    where S_pad > S", "    bucket S in {4, 8} pad x with 0 as masked", "case S >= 9"): {"S": 8},
    ("case p:", "    where S_pad > S", "    bucket S multiple of 4 pad x with 0 as masked"): {"S": 0},
    ("otherwise",): None,
    ("otherwise:", "    bucket S in {4, 8} pad x with 0 as masked"): {"S": 9},
}


@pytest.mark.parametrize(("lines", "witness"), GAPS.items(), ids=map("; ".join, GAPS))
def test_gap(lines: tuple[str, ...], witness: dict[str, int] | None) -> None:
    coverage = cover(*lines)
    assert coverage.undecided == ()
    if witness is None:
        assert coverage.gap is None
    else:
        assert coverage.gap is not None
        assert {name: size for name, size in coverage.gap if name in witness} == witness
        assert all(size == 0 for name, size in coverage.gap if name not in witness)


UNREACHABLE: dict[tuple[str, ...], list[tuple[int, tuple[int, ...]]]] = {
    ("case B == 1", "case B <= 8", "otherwise"): [],
    ("case B <= 8", "case B == 1", "otherwise"): [(1, (0,))],
    ("case B <= 8", "case S <= 8", "case B == S", "case B + S <= 12", "otherwise"): [(3, (0, 1))],
    ("case B <= 8", "case S >= 3", "case B >= 9", "case B in [2, 20]"): [(3, (0, 2))],
    ("case B % 4 == 0", "case B % 6 == 0", "case B % 12 == 0", "otherwise"): [(2, (0,))],
    ("case B % 2 == 0", "case B % 2 == 1", "otherwise"): [(2, (0, 1))],
    ("case B == 1", "otherwise", "case B == 2"): [(2, (1,))],
    ("case B == 1", "otherwise", "case B == 1"): [(2, (0,))],
    ("where B >= 2", "case B == 1", "otherwise"): [(0, ())],
    ("where S == B + 1", "case B == 3", "case S == 4", "otherwise"): [(1, (0,))],
    ("where B * S == 36", "case B == S", "case B == 6", "otherwise"): [(1, (0,))],
    ("case B >= 3, B <= 2", "otherwise"): [(0, ())],
    ("bucket S in {4, 8} pad x with 0 as masked", "case S == 7", "otherwise"): [(1, (0,))],
    ("bucket S in {4, 8}", "case S == 4", "case S == 7", "otherwise"): [(1, (0,))],
    ("bucket S multiple of 8 pad x with 0 as masked", "otherwise"): [(1, (0,))],
    ("where S <= 8", "case S == 0", "bucket S in {4, 8} pad x with 0 as masked", "otherwise"): [(2, (1,))],
}


@pytest.mark.parametrize(("lines", "expected"), UNREACHABLE.items(), ids=map("; ".join, UNREACHABLE))
def test_unreachable(lines: tuple[str, ...], expected: list[tuple[int, tuple[int, ...]]]) -> None:
    coverage = cover(*lines)
    assert coverage.undecided == ()
    assert [(found.at, found.taken_by) for found in coverage.unreachable] == expected


OVERLAPS: dict[tuple[str, ...], list[tuple[int, tuple[int, ...], dict[str, int]]]] = {
    ("case B == 1", "case S == 1", "otherwise"): [(1, (0,), {"B": 1, "S": 1})],
    ("case B == 1, S == 1", "case B == 1", "case S == 1", "otherwise"): [],
    ("case B == 1", "case B <= 8", "case B <= 64", "otherwise"): [],
    ("case B <= 8", "case B >= 8", "case B == 4"): [(1, (0,), {"B": 8})],
    ("case B <= 8", "case B >= 9"): [],
    ("case B % 2 == 0", "case B % 3 == 0", "otherwise"): [(1, (0,), {"B": 0})],
    ("where B >= 1", "case B % 2 == 0", "case B % 3 == 0", "otherwise"): [(1, (0,), {"B": 6})],
    ("case B % 2 == 0", "case B % 4 == 1", "otherwise"): [],
    ("where B == S", "case B == 1", "case S <= 4", "otherwise"): [],
    ("where B < S", "case B >= 4", "case S <= 6", "otherwise"): [(1, (0,), {"B": 4, "S": 5})],
    ("where B < S", "case B >= 4", "case S <= 4", "otherwise"): [],
    ("case B == 1", "bucket S in {4, 8} pad x with 0 as masked", "otherwise"): [],
    ("bucket S in {4, 8} pad x with 0 as masked", "case B == 1", "otherwise"): [(1, (0,), {"B": 1, "S": 0})],
    ("case B == 1", "bucket S in {4, 8}", "otherwise"): [(1, (0,), {"B": 1, "S": 4})],
    ("case B * S == 12", "case B <= 3", "otherwise"): [(1, (0,), {"B": 1, "S": 12})],
    ("case B == 1", "case S == 1", "case B + S == 2", "otherwise"): [
        (1, (0,), {"B": 1, "S": 1}),
        (2, (0,), {"B": 1, "S": 1}),
    ],
}


@pytest.mark.parametrize(("lines", "expected"), OVERLAPS.items(), ids=map("; ".join, OVERLAPS))
def test_overlap(lines: tuple[str, ...], expected: list[tuple[int, tuple[int, ...], dict[str, int]]]) -> None:
    coverage = cover(*lines)
    assert coverage.undecided == ()
    assert [(found.at, found.earlier, dict(found.witness)) for found in coverage.overlaps] == expected


# ----------------------------------------------------------------------------------- by trying all

LARGEST = 6
SIZES = [{"B": b, "S": s} for b, s in product(range(LARGEST + 1), repeat=2)]


def choices(alternative: Alternative, sizes: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yields the sizes, padded ones included, for each joint choice that the buckets allow."""
    each: list[list[int]] = []
    for bucket in alternative.buckets:
        size = sizes[bucket.variable]
        if bucket.members is None:
            assert bucket.modulus is not None
            padded = next(s for s in range(size, size + bucket.modulus) if s % bucket.modulus == bucket.residue)
            each.append([padded] if bucket.pads is not None or padded == size else [])
        else:
            each.append([m for m in bucket.members if (m >= size if bucket.pads is not None else m == size)])
    for combination in product(*each):
        pads = {f"{b.variable}_pad": m for b, m in zip(alternative.buckets, combination, strict=True)}
        yield {**sizes, **pads}


def asks(alternative: Alternative, sizes: Mapping[str, int]) -> bool:
    return any(all(holds(c.predicate, known) for c in alternative.constraints) for known in choices(alternative, sizes))


def bound(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


NAMES = st.sampled_from(["B", "S"])
FACTS = st.one_of(
    st.builds("{} in [{}, {}]".format, NAMES, bound(0, 3), bound(2, 6)),
    st.builds("{} == {}".format, NAMES, bound(0, 6)),
    st.builds("{} != {}".format, NAMES, bound(0, 6)),
    st.builds("{0} % {1} == {2}".format, NAMES, bound(3, 4), bound(0, 2)),
    st.builds("{} in {{{}, {}}}".format, NAMES, bound(0, 3), bound(4, 6)),
    st.builds("B + {} {} S".format, bound(0, 3), st.sampled_from(["<", "<=", "==", ">", "!="])),
    st.builds("B * S {} {}".format, st.sampled_from(["<=", "==", ">"]), bound(0, 16)),
    st.builds("(B == {} or S > {})".format, bound(0, 6), bound(1, 6)),
    st.builds("not (B >= {} and S % 2 == {})".format, bound(0, 6), bound(0, 1)),
    st.builds("B // 2 == S // {}".format, bound(1, 3)),
    st.builds("max(B, S) <= {}".format, bound(0, 6)),
)
PADS = st.sampled_from(["", " pad x with 0 as masked"])
BUCKETS = st.one_of(
    st.builds("bucket {} in {{{}, {}}}{}".format, NAMES, bound(0, 3), bound(4, 6), PADS),
    st.builds("bucket {} multiple of {} plus {}{}".format, NAMES, bound(2, 4), bound(0, 1), PADS),
)
RESTRICTIONS = st.sampled_from(["{0}_pad > {0}", "{0}_pad + S <= 9", "{0}_pad * B <= 12 or {0}_pad == {0}", ""])


@st.composite
def alternatives(draw: st.DrawFn) -> list[str]:
    facts = draw(st.lists(FACTS, min_size=1, max_size=3))
    match draw(bound(0, 5)):
        case 0:
            bucket = draw(BUCKETS)
            where = draw(RESTRICTIONS).format(bucket.split()[1])
            lines = [where] if where else []
            lines += facts[1:2]
            return ["case:", *(f"    where {line}" for line in lines), f"    {bucket}"]
        case 1:
            return [draw(BUCKETS), "values x in [0, 1]"]  # ends the run
        case _:
            return [f"case {', '.join(facts)}"]


@st.composite
def specs(draw: st.DrawFn) -> list[str]:
    lines = [f"where B <= {LARGEST}, S <= {LARGEST}"]
    lines += [f"where {fact}" for fact in draw(st.lists(FACTS, max_size=2))]
    for each in draw(st.lists(alternatives(), min_size=1, max_size=5)):
        lines += each
    if draw(st.booleans()):
        lines.append("otherwise")
    return lines


@settings(max_examples=150)
@given(specs())
def test_against_all_sizes(lines: list[str]) -> None:
    whole = spec(*lines)
    accepted = [sizes for sizes in SIZES if all(holds(c.predicate, sizes) for c in whole.constraints)]
    if not accepted:
        return
    asking = [(s, [at for at, each in enumerate(whole.alternatives) if asks(each, s)]) for s in accepted]
    coverage = coverage_of(whole)
    assert coverage.undecided == ()

    untaken = [sizes for sizes, by in asking if not by]
    assert (coverage.gap is not None) == bool(untaken)
    if coverage.gap is not None:
        named = [name for name, _ in coverage.gap]  # what the alternatives speak of, and what is tied to that
        assert tuple(size for _, size in coverage.gap) == min(tuple(s[name] for name in named) for s in untaken)

    taken = {by[0] for _, by in asking if by}
    dead = [at for at in range(len(whole.alternatives)) if at not in taken]
    assert [found.at for found in coverage.unreachable] == dead
    for found in coverage.unreachable:
        mine = [by for _, by in asking if found.at in by]
        assert all(any(at in by for at in found.taken_by) for by in mine)
        for spared in found.taken_by:  # without any one of them something would be left
            assert any(not any(at in by for at in found.taken_by if at != spared) for by in mine)

    expected: dict[int, set[int]] = {}
    for later, alternative in enumerate(whole.alternatives):
        padding = any(bucket.pads is not None for bucket in alternative.buckets)
        if later in dead or padding or alternative.keyword == "otherwise":
            continue
        for earlier in range(later):
            shared = {later in by for _, by in asking if by and by[0] == earlier}
            if shared == {False, True}:
                expected.setdefault(later, set()).add(earlier)
    assert [found.at for found in coverage.overlaps] == sorted(expected)
    for overlap in coverage.overlaps:
        assert set(overlap.earlier) <= expected[overlap.at]
        by = next(by for sizes, by in asking if sizes.items() >= dict(overlap.witness).items())
        assert by[0] == overlap.earlier[0]
        assert overlap.at in by


# --------------------------------------------------------------------------------------- many cases

Range = tuple[int, int, int, int]  # low, high, modulus, residue


def partition(count: int, seed: int) -> list[dict[str, Range]]:
    """Returns ``count`` disjoint cells that cover four sizes up to 255: halved by ranges, or by parity."""
    draw = random.Random(seed)
    cells: list[dict[str, Range]] = [dict.fromkeys("BDKS", (0, 255, 1, 0))]
    while len(cells) < count:
        cell = cells.pop(draw.randrange(len(cells)))
        name = draw.choice("BDKS")
        low, high, modulus, residue = cell[name]
        if draw.random() < 0.6 and high - low > 16 * modulus:
            middle = draw.randint(low + 2 * modulus, high - 2 * modulus)
            halves = [(low, middle, modulus, residue), (middle + 1, high, modulus, residue)]
        elif modulus <= 4 and high - low > 8 * modulus:
            halves = [(low, high, 2 * modulus, residue), (low, high, 2 * modulus, residue + modulus)]
        else:
            cells.append(cell)
            continue
        cells += [{**cell, name: half} for half in halves]
    draw.shuffle(cells)
    return cells


def as_case(cell: Mapping[str, Range]) -> str:
    facts = [f"{name} in [{low}, {high}]" for name, (low, high, _, _) in cell.items()]
    facts += [f"{name} % {modulus} == {residue}" for name, (_, _, modulus, residue) in cell.items() if modulus > 1]
    return f"case {', '.join(facts)}"


@pytest.mark.parametrize("count", [10, 40, 80])
@pytest.mark.parametrize("tied", ["", "B + S <= 600", "B * S <= 65025"])
def test_many_cases_that_divide_the_sizes(count: int, tied: str) -> None:
    cells = partition(count, count)
    where = f"where B <= 255, S <= 255, K <= 255, D <= 255{', ' if tied else ''}{tied}"
    params = "x: Tensor[B, S, K, D]"
    assert coverage_of(spec(where, *map(as_case, cells), params=params)) == Coverage()

    lost = cells.pop()
    coverage = coverage_of(spec(where, *map(as_case, cells), params=params))
    lowest = {name: low + (residue - low) % modulus for name, (low, _, modulus, residue) in lost.items()}
    assert coverage == Coverage(gap=tuple(sorted(lowest.items())))

    everything = spec(where, *map(as_case, [*cells, lost]), "otherwise", params=params)
    (dead,) = coverage_of(everything).unreachable
    assert (dead.at, dead.taken_by) == (count, tuple(range(count)))


# -------------------------------------------------------------------------------------- the report


def findings(*lines: str) -> list[Diagnostic]:
    report = Report()
    check_coverage(spec(*lines), report)
    return list(report)


def test_what_is_said_of_a_gap() -> None:
    (found,) = findings("where B >= 1", "case small: B <= 8", "case short: B >= 9, S <= 4")
    assert found.code == "case-gap"
    assert found.message == "no alternative takes B = 9, S = 5"
    assert found.witness == (("B", 9), ("S", 5))
    assert found.helps == ("add `otherwise`, or widen case `small`",)


def test_alternatives_without_a_name_are_called_by_what_they_ask_for() -> None:
    (found,) = findings("case B <= 8", "case S == 1, B == 2", "otherwise")
    assert found.message == "no sizes reach case `S == 1, B == 2`: case `B <= 8` takes them all"


def test_a_core_of_a_case_that_contradicts_the_assumptions() -> None:
    (found,) = findings("where B <= 8, S <= 3", "case B + S >= 12, B >= 1", "otherwise")
    assert found.core == ("B <= 8", "S <= 3", "B + S >= 12")


def test_variadics_of_fixed_rank_are_written_out() -> None:
    lines = ("rank b = 2", "case min(*b) >= 4", "case max(*b) <= 3")
    report = Report()
    check_coverage(spec(*lines, params="x: Tensor[*b], y: Tensor[B, S]"), report)
    (found,) = report
    assert found.message == "no alternative takes b[0] = 0, b[1] = 4"
    assert coverage_of(spec(*lines, "case prod(*b) >= 0", params="x: Tensor[*b], y: Tensor[B, S]")).gap is None


def test_without_alternatives_nothing_is_asked() -> None:
    assert coverage_of(spec("where B * S * B == S * S")) == Coverage()
