"""Giving named static sizes their values: as good as having written the numbers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source
from shapedsl.ir import Signature
from shapedsl.normalize.instantiate import check_open, instantiate

BODIES = {
    "dims": "def f(x: Tensor[B, K, 2 * K + M], y: Tensor[B * M]) -> Tensor[K, K // M]: ...",
    "wheres": "def f(x: Tensor[B, K], y: Tensor[M]):\n    where B >= K, B % M == 0, K <= 2 * M or B == 3",
    "values": "def f(ids: int64[B, K, M]):\n    values ids in [0, K * M - 1]",
    "lengths": "def f(xs: [Tensor[B, M]] * K, n: Scalar[K]): ...",
    "cases": "def f(x: Tensor[B, K, M]):\n    case small: B <= K * M\n    otherwise",
    "buckets": "def f(x: Tensor[B, K], y: Tensor[M]):\n    case c:\n        where B_pad > K\n        bucket B in {8, 64} pad x with M - 1 as masked\n    otherwise",
    "lets": "def f(x: Tensor[B, K, M]) -> Tensor[S]:\n    let S = B * K + min(M, 2)\n    where S >= 4",
}


def read(text: str, consts: Mapping[str, int] | None = None) -> Signature:
    report = Report()
    (signature,) = pipeline.read(Source("net.shapes", text), report, consts=consts)
    assert not report.errors
    return signature


def codes(signature: Signature) -> list[str]:
    report = Report()
    check_open(signature, report)
    return [diagnostic.code for diagnostic in report]


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@given(K=st.integers(1, 6), M=st.integers(1, 6))
def test_it_is_as_good_as_a_number(body: str, K: int, M: int) -> None:
    text = f"const K, M in [1, inf] = _\n{body}"
    values = {"K": K, "M": M}
    made = instantiate(read(text), values)
    written = read(text, values)
    expected = pipeline.normal_form(written, Report())
    if made is None:  # then the numbers contradict a constraint, whatever else is there
        assert expected.contradictory
        return
    found = pipeline.normal_form(made, Report())
    assert found.contradictory == expected.contradictory
    assert found.contradictory or found.signature == expected.signature


def test_what_is_not_about_the_values_is_nothing() -> None:
    signature = read("const first, K = _\ndef f(x: Tensor[B, K]):\n    where first == 1, K >= 2")
    assert instantiate(signature, {"first": 1, "K": 2}) is not None
    assert instantiate(signature, {"first": 0, "K": 2}) is None
    assert instantiate(signature, {"K": 1}) is None
    assert instantiate(signature, {"first": 1}) is not None


def test_a_divisor_of_zero_is_nothing() -> None:
    signature = read("const K, G = _\ndef f(x: Tensor[B, K, G]):\n    where K // G >= 1")
    assert instantiate(signature, {"K": 4, "G": 0}) is None


def test_names_that_it_lacks_are_left_alone() -> None:
    signature = read("def f(x: Tensor[B]): ...")
    assert instantiate(signature, {"K": 4}) == signature


def test_questions_may_still_use_the_name() -> None:
    made = instantiate(read("const K = _\ndef f(x: Tensor[B, K]): ..."), {"K": 4})
    assert made is not None
    assert pipeline.read_question(Source("question", "B >= K"), made, report := Report()) is not None
    assert not report.errors


def test_a_const_that_waits_is_no_finding() -> None:
    waiting = "const K, M = _\ndef f(x: Tensor[B, K]):\n    where B >= M"
    assert codes(read(waiting)) == []
    report = Report()
    pipeline.resolve(read(waiting), report)
    assert [diagnostic.code for diagnostic in report] == ["unbound-name"]
    assert codes(read("def f(x: Tensor[B]):\n    where B >= M")) == ["unbound-name"]
    assert codes(read("const M = _\ndef f(x: Tensor[B]):\n    where B // M >= 1")) == ["maybe-zero-divisor"]
