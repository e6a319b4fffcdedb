"""The report of a verification: a table, JSON, diagnostics."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("torch", reason="programs are torch's")

import torch

import shapedsl as sd

TEXT = """\
def add(x: Tensor[A, 4], y: Tensor[B, 4]) -> Tensor[B, D]:
    where A <= 8
"""
NEWER = """\
def add(x: Tensor[A, 4], y: Tensor[B, 4]) -> Tensor[B, 3]:
    where A <= 6
"""


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def subtract(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x - y


@pytest.fixture(scope="module")
def program() -> Any:
    return sd.export(add, (torch.ones(4, 4), torch.ones(4, 4)), spec=TEXT, verify=False)


@pytest.fixture(scope="module")
def report(program: Any) -> sd.Verification:
    return sd.verify(program, sd.loads(NEWER)["add"], raises=False)


def without_lines(text: str) -> str:
    return text.replace(f"; {__file__}:{add.__code__.co_firstlineno + 1}, in add: return x + y", "")


def test_the_table(report: sd.Verification) -> None:
    assert (
        without_lines(f"{report}\n")
        == """\
add: the exported program keeps 3 of 6 promises: 1 lost, 1 narrowed, 1 refuted
  kept      x.shape[1] == 4
  kept      y.shape[1] == 4
  lost      A <= 6                accepts A = 7
  narrowed  A == B                the spec accepts A = 0, B = 1
  kept      return.shape[0] == B
  refuted   return.shape[1] == 3  it is 4
  note: dtypes and ranks are not checked by this exported program
"""
    )


def test_the_data(report: sd.Verification) -> None:
    data = json.loads(report.to_json())
    assert data == report.to_dict()
    assert (data["name"], data["artifact"], data["kept"], data["undecided"]) == (
        "add",
        "exported program",
        False,
        False,
    )
    lost, narrowed = (each for each in data["promises"] if each["status"] != "kept")
    assert lost == {"status": "lost", "what": "A <= 6", "code": "lost-assumption", "witness": {"A": 7}}
    assert narrowed.pop("line").endswith("in add: return x + y")
    assert narrowed == {
        "status": "narrowed",
        "what": "A == B",
        "code": "merged-dims",
        "witness": {"A": 0, "B": 1},
        "place": "x.shape[0], y.shape[0]",
    }
    assert [each["status"] for each in data["returns"]] == ["kept", "refuted"]
    assert data["samples"] is None


def test_the_diagnostics(report: sd.Verification) -> None:
    found = report.diagnostics
    assert [each.code for each in found] == ["lost-assumption", "merged-dims", "return-mismatch"]
    lost, merged, refuted = found
    assert lost.message == "the exported program accepts A = 7, and the spec demands `A <= 6`"
    assert lost.witness == (("A", 7),)
    assert lost.helps[0].startswith("export it with `sd.export`")
    assert merged.message == "the program made `x.shape[0]` and `y.shape[0]` one size: `A == B`"
    assert merged.notes[0].startswith("needed by ")
    assert merged.notes[1] == "the spec accepts A = 0, B = 1, the exported program does not"
    assert merged.helps == (
        "add `where A == B` to the spec, or change the program",
        'or allow it: `allow={"merged-dims"}`',
    )
    assert [each.span.text for each in merged.annotations] == ["A", "B"]
    assert refuted.message == "the spec claims `return.shape[1] == 3`, but it is 4"


def test_what_is_not_kept_raises_with_the_report(program: Any, report: sd.Verification) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        sd.verify(program, sd.loads(NEWER)["add"])
    error: Any = caught.value
    assert error.code == "lost-assumption"
    assert error.report.promises == report.promises


def test_what_is_kept(program: Any) -> None:
    report = sd.verify(
        program, "def add(x: Tensor[A, 4], y: Tensor[A, 4]) -> Tensor[A, 4]: where A <= 8", add, samples=3
    )
    assert report.kept
    assert report.diagnostics == ()
    assert str(report).splitlines()[0] == "add: the exported program keeps all 6 promises"
    assert report.samples is not None
    assert report.samples.passed
    assert f"  {report.samples.summary()}" in str(report).splitlines()
    assert json.loads(report.to_json())["samples"]["passed"]


def test_values_that_differ_are_an_error(program: Any) -> None:
    spec = sd.loads("def add(x: Tensor[A, 4], y: Tensor[A, 4]): where A <= 8")["add"]
    with pytest.raises(sd.ShapeError) as caught:
        sd.verify(program, spec, subtract, samples=3)
    assert caught.value.code == "wrong-artifact"
    report = sd.verify(program, spec, subtract, samples=3, raises=False)
    assert not report.kept
    assert all(each.status == "kept" for each in report.promises)


def test_what_the_claims_cannot_be_decided_warns_and_counts_as_kept() -> None:
    def positive(x: torch.Tensor) -> torch.Tensor:
        return x.nonzero()

    text = "def positive(x: Tensor[B]) -> Tensor[B, 1]: ..."
    program = sd.export(positive, (torch.ones(3),), spec=text)
    with pytest.warns(
        sd.ShapeWarning, match=r"could not prove that the exported program keeps `return\.shape\[0\] == B`"
    ):
        report = sd.verify(program, text)
    assert report.kept
    assert report.undecided
    (undecided,) = (each for each in report.returns if each.status == "undecided")
    assert undecided.why.startswith("data decides it: torch calls it u")
    assert undecided.line is not None
    assert undecided.line.endswith("in positive: return x.nonzero()")
