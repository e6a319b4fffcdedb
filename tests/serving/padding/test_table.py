"""Every row of the table: what is safe passes, what is not is caught, with the error it is known for."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="padding needs torch")

import shapedsl as sd
from tests.serving.padding.table import TABLE, Row

# Where the error of an unsafe row is first seen: the buckets that pad, and the output.
WHERE = {
    "bert, mask 1": ({"S"}, "return"),
    "causal, left": ({"S"}, "return"),
    "cache, at the end": ({"P"}, "return"),
    "convolutions": ({"H", "W"}, "return"),
    "convolutions, group norm": ({"H", "W"}, "return"),
    "batch norm, train": ({"B"}, "return"),
    "vit": ({"H"}, "return"),
    "graph, no dummy node": ({"E"}, "return"),
    "graph, node 0": ({"N", "E", "G"}, "return"),
    "jagged, stretched": ({"T"}, "return"),
    "quantized, 1e3": ({"B"}, "return"),
    "lstm, last state": ({"S"}, "return[1]"),
    "lstm, bidirectional": ({"S"}, "return[0]"),
}


def checked(row: Row) -> Any:
    torch.manual_seed(0)
    return sd.check_padding(row.make(), row.text, n=5)


@pytest.mark.parametrize(
    "row", [row for row in TABLE.values() if row.safe], ids=[n for n, r in TABLE.items() if r.safe]
)
def test_safe_padding_passes(row: Row) -> None:
    report = checked(row)
    assert report.passed
    assert not report.missed
    assert sum(trial.count for trial in report.trials) > 0


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if not row.safe])
def test_unsafe_padding_is_caught(name: str) -> None:
    row = TABLE[name]
    with pytest.raises(sd.ShapeError) as caught:
        checked(row)
    assert caught.value.code == "unsafe-padding"
    report: Any = caught.value.report  # type: ignore[attr-defined]
    buckets, output = WHERE[name]
    assert max(trial.error for trial in report.unsafe if math.isfinite(trial.error)) >= row.error
    spans = [each.span for finding in caught.value.diagnostics for each in finding.annotations]
    assert {span.text.split()[1] for span in spans} == buckets
    assert any(trial.output.startswith(output) for trial in report.unsafe)


def test_every_unsafe_row_says_where() -> None:
    assert WHERE.keys() == {name for name, row in TABLE.items() if not row.safe}


def test_nan_in_a_cache_is_told() -> None:
    """The third figure of its row: slots never hold NaN, so that it leaks is no fault."""
    report = checked(TABLE["cache, at P"])
    assert report.passed
    assert any("NaN in padded slots of `k`, `v` reaches `return[0]`" in note for note in report.notes)


def test_approximate_padding_tells_its_error() -> None:
    report = checked(TABLE["convolutions, approximate"])
    accepted = [trial for trial in report.trials if trial.verdict == "accepted"]
    assert max(trial.error for trial in accepted) > 1e-2
    with pytest.raises(sd.ShapeError, match="unsafe-padding"):
        sd.check_padding(
            TABLE["convolutions, approximate"].make(), TABLE["convolutions, approximate"].text, tolerance=1e-4
        )
