"""What the writer writes is laid out as ``fmt`` lays it out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.text import read
from shapedsl.frontends.text.format import format_text
from shapedsl.ir import Signature
from shapedsl.ir.write import write_module, write_signature

from .. import strategies

_SAMPLES = sorted((Path(__file__).parents[1] / "cases" / "samples").glob("*.shapes"))
_HEAD = "def f(x: Tensor[B, T], dense: Tensor[B, T], bags: Tensor[T]):\n    "
_SET = "{1, 2, 5, 9, 11, 14, 55, 66, 78, 79, 91, 93, 95, 97, 99, 101, 109, 203, 305, 501, 707, 808}"
_TUPLE = "(Tensor[B, T], Tensor[B, 2 * T], Tensor[B, 2 * T], Tensor[B, 2 * T], Tensor[B, T])"


def formatted(text: str) -> str | None:
    report = Report()
    result = format_text(Source("<text>", text), report)
    assert not report.errors, report.errors
    return result


def canonical(text: str, base: Path | None = None) -> str:
    report = Report()
    made = read(Source("<text>", text), report, base=base)
    assert not report.errors, report.errors
    return write_module(made)


LONG = [
    _HEAD + "bucket T in {64, 128, ..., 1024} pad (dense with 0, bags with edge, x axis 1 with 0) as rows_independent",
    _HEAD
    + f"case c:\n        bucket T in {_SET} shared at B + 1 pad (dense with 0, bags with edge) as rows_independent",
    _HEAD + f"bucket T in {_SET} pad (x with 0, dense with 0, bags with 3)",
    _HEAD + f"where B in {_SET}",
    _HEAD + f"where T in {_SET} or (B < 3 and T > 7) or B > 5",
    _HEAD + "where (" + " + ".join(["B * T"] * 20) + ") * B < 3",
    _HEAD + "case longname: " + ", ".join(f"B != {n}" for n in range(20)),
    f"def f(first_argument: {_TUPLE}, second_argument: {_TUPLE}) -> {_TUPLE}: ...",
    f"class A:\n    def method(self, first_argument: {_TUPLE}) -> {_TUPLE}: ...",
]


@pytest.mark.parametrize("text", LONG)
def test_long_lines_are_broken_alike(text: str) -> None:
    written = canonical(text + "\n")
    assert formatted(written) == written
    assert canonical(written) == written


def test_a_bucket_fits_its_rows() -> None:
    assert canonical(LONG[0] + "\n") == (
        _HEAD + "bucket T in {64, 128, ..., 1024} pad (\n"
        "        dense with 0,\n        bags with edge,\n        x axis 1 with 0,\n    ) as rows_independent\n"
    )


def test_a_long_set_is_filled() -> None:
    assert canonical(LONG[3] + "\n") == (
        _HEAD + "where B in {\n"
        "        1, 2, 5, 9, 11, 14, 55, 66, 78, 79, 91, 93, 95, 97, 99, 101, 109, 203, 305, 501,\n"
        "        707, 808,\n    }\n"
    )


@pytest.mark.parametrize("path", _SAMPLES, ids=lambda path: path.stem)
def test_samples(path: Path) -> None:
    written = canonical(path.read_text(encoding="utf-8"), path.parent)
    assert formatted(written) == written


@settings(max_examples=60, deadline=None)
@given(strategies.signatures(cases=True))
def test_any_signature(signature: Signature) -> None:
    written = write_signature(signature) + "\n"
    assert formatted(written) == written
