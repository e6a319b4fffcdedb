"""Pictures of traffic and of what alternatives take; figures worked out by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

import shapedsl as sd
from shapedsl.serving.pictures import svg
from shapedsl.serving.pictures.coverage import NONE, REFUSED, CoverageMap, Taker, axes_of, coverage_map, deciding
from shapedsl.serving.pictures.histogram import MOST_BINS, Bin, Histogram, histogram
from shapedsl.serving.pictures.text import coverage_text, histogram_text

CASES = """
def f(x: Tensor[B, S]) -> Tensor[B, S]:
    where B <= 6, S <= 600
    case one: B == 1
    case even: B % 2 == 0, S <= 512
    bucket S in {128, 512} pad x with 0 as masked
"""


def test_few_sizes_are_bins_of_their_own() -> None:
    picture = histogram("S", {3: 2, 60: 1, 65: 1, 100: 1}, [64, 128])
    assert picture.bins == (Bin(3, 3, 2, 64), Bin(60, 60, 1, 64), Bin(65, 65, 1, 128), Bin(100, 100, 1, 128))
    # (3 * 64 - 66) / 192 and (2 * 128 - 165) / 256; in all (448 - 231) / 448
    assert [each.waste for each in picture.paddings] == pytest.approx([126 / 192, 91 / 256])
    assert picture.waste == pytest.approx(217 / 448)


def test_sizes_above_the_largest_member_are_not_padded() -> None:
    picture = histogram("S", {64: 1, 65: 3}, [64])
    assert picture.beyond == 3
    assert picture.bins[-1] == Bin(65, 65, 3, None)
    assert picture.waste == 0


def test_no_bin_spans_a_member_and_every_call_is_in_one() -> None:
    counts = dict.fromkeys(range(1, 2000), 1)
    picture = histogram("S", counts, [100, 333, 1024])
    assert len(picture.bins) <= MOST_BINS + 4
    assert sum(each.count for each in picture.bins) == 1999
    assert {100, 333, 1024} <= {each.high for each in picture.bins}
    assert all(low.high + 1 == high.low for low, high in zip(picture.bins, picture.bins[1:], strict=False))


def test_nothing_observed_is_an_empty_picture() -> None:
    assert histogram_text(histogram("S", {})) == "S, 0 calls"
    assert histogram_text(histogram("S", {}, [8])) == "S, 0 calls\npadded to 8: no calls\nin all: 0 % waste"


def test_a_histogram_as_text() -> None:
    picture = histogram("S", {3: 2, 60: 1, 130: 1}, [64, 128])
    assert histogram_text(picture, width=8).splitlines() == [
        "S, 4 calls",
        "    3  2   50 %  → 64       │████████",
        "   60  1   25 %  → 64       │████",
        "  130  1   25 %  not padded │████",
        "padded to 64: 3 calls, 66 % waste",
        "padded to 128: no calls",
        "in all: 66 % waste",
        "above the largest member: 1 call",
    ]


def test_who_takes_sizes() -> None:
    taker = Taker(sd.loads(CASES)["f"].signature)
    assert taker.labels == ("case one", "case even", "bucket S")
    found = {
        (b, s): taker.position({"B": b, "S": s}) for b, s in [(1, 600), (2, 512), (3, 512), (2, 513), (7, 1), (3, 513)]
    }
    assert found == {(1, 600): 0, (2, 512): 1, (3, 512): 2, (2, 513): NONE, (7, 1): REFUSED, (3, 513): NONE}


def test_a_map_looks_at_what_sizes_are_compared_with() -> None:
    signature = sd.loads(CASES)["f"].signature
    assert axes_of(signature) == ["B", "S"]
    assert deciding(signature) == {"B", "S"}
    traffic: dict[tuple[tuple[str, int], ...], int] = {(("B", 1), ("S", 5)): 3, (("B", 5), ("S", 5)): 1}
    picture = coverage_map(signature, ["B", "S"], {}, {"B": (0, 8), "S": (1, 700)}, traffic)
    assert picture.columns == (0, 1, 2, 3, 4, 5, 6, 7, 8)
    assert {1, 127, 128, 129, 512, 513, 600, 601, 700} <= set(picture.rows)
    assert picture.shares == (0.75, 0.0, 0.25)
    assert coverage_text(picture).splitlines() == [
        "S",
        "601…700 │·········",
        "513…600 │?1?????··",
        "  1…512 │2123232··",
        "        └───────── B",
        "         ╵ ╵ ╵ ╵ ╵",
        "         0 2 4 6 8",
        "1  case one  75 % of the calls",
        "2  case even  0 % of the calls",
        "3  bucket S  25 % of the calls",
        "?  no alternative takes it",
        "·  not accepted",
    ]


def test_svg_says_what_it_shows_and_is_the_same_each_time() -> None:
    pytest.importorskip("matplotlib", reason="SVG pictures are drawn by matplotlib, which is not installed")
    signature = sd.loads(CASES)["f"].signature
    pictures: list[Histogram | CoverageMap] = [
        histogram("S", {3: 2, 60: 1, 130: 1}, [64, 128]),
        coverage_map(signature, ["B", "S"], {}, {"B": (0, 8), "S": (1, 700)}),
    ]
    document = svg.pictures_svg(pictures)
    assert document == svg.pictures_svg(pictures)
    texts = {"".join(each.itertext()).strip() for each in ElementTree.fromstring(document).iter() if "text" in each.tag}
    assert {
        "→ 64: 3 calls, 66 % waste",
        "not padded: 1 call",
        "4 calls, 66 % of what buckets compute is padding",
    } <= texts
    assert {"case one", "case even", "bucket S", "no alternative", "not accepted", "B", "S"} <= texts
