"""A file's spec and the callable's own become one."""

from __future__ import annotations

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.merge import merge
from shapedsl.frontends.text import read
from shapedsl.ir import Signature


def written(name: str, text: str) -> Signature:
    report = Report()
    (signature,) = read(Source(name, text), report)
    assert [d.message for d in report.errors] == []
    return signature


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (
            "def f(x: Tensor[B, _], w: Tensor[D, D]): where B < 32",
            "def pkg.f(x: Tensor[N, D], w, *, scale = _):\n    dim N in [2, 64] hint 3\n    case one: N == 3 hint N = 3",
            "def f(x: Tensor[B, D], w: Tensor[D, D], *, scale = _):\n    dim B in [2, 64] hint 3\n"
            "    where B < 32, B >= 0\n    case one: B == 3 hint B = 3",
        ),
        (
            "def f(x: Tensor[B], y: Tensor[C]): ...",
            "def f(x: Tensor[N], y: Tensor[2 * N]) -> Tensor[N]: where N < 3",
            "def f(x: Tensor[B], y: Tensor[C]) -> Tensor[B]: where B < 3, C == 2 * B, 2 * B >= 0",
        ),
        (
            "def f(x: Tensor[S]) -> Tensor[S]: where S < 8",
            "def f(x: Tensor[2 * N]): where N > 0",
            "def f(x: Tensor[2 * N]) -> Tensor[2 * N]: where 2 * N < 8, N > 0",
        ),
        (
            "def f(x: Tensor[B], w: Tensor[D]): ...",
            "def f(x: Tensor[D], w: Tensor[B]): ...",
            "def f(x: Tensor[B], w: Tensor[D]): where B == D",
        ),
        (
            "def f(x: Tensor[B]):\n    dim B hint 8",
            "def f(x: Tensor[B], n: Scalar[N] = _) -> Tensor[B]:\n    dim B in [1, 64] hint 3\n    dim N hint 2",
            "def f(x: Tensor[B], n: Scalar[N] = _) -> Tensor[B]:\n    dim B in [1, 64] hint 8\n    dim N hint 2\n"
            "    where B >= 0",
        ),
        (
            "def f(x):\n    where B < 3",
            "def f(x: Tensor[B]):\n    case one: B == 1\n    otherwise",
            "def f(x: Tensor[B]):\n    where B < 3\n    case one: B == 1\n    otherwise",
        ),
        (
            "def f(x) -> Tensor[B]: ...",
            "def f(x: Tensor[B]) -> Tensor[2 * B]: ...",
            "def f(x: Tensor[B]) -> Tensor[B]: ...",
        ),
        (
            "def f(x: Tensor[*batch]):\n    rank batch = 2",
            "def f(x): ...",
            "def f(x: Tensor[*batch]):\n    rank batch = 2",
        ),
    ],
)
def test_merged(first: str, second: str, both: str) -> None:
    report = Report()
    assert merge(written("one", first), written("two", second), report) == written("both", both)
    assert len(report) == 0


def test_merging_with_itself_changes_nothing() -> None:
    one = written(
        "one", "def f(x: Tensor[B, 2 * B], n: Scalar[B]) -> Tensor[B]:\n    dim B in [1, 8] hint 4\n    case B == 1"
    )
    assert merge(one, one, Report()) == one


def test_conflicts_name_both_files() -> None:
    report = Report()
    first = "def f(x: Tensor[3], y: Tensor[*batch]):\n    rank batch = 1"
    second = "def f(x: Tensor[4], y: Tensor[*batch]):\n    rank batch = 2"
    merge(written("one", first), written("two", second), report)
    assert [d.code for d in report] == ["conflicting-sources"] * 2
    assert [a.span.source.name for a in report.diagnostics[0].annotations] == ["one", "two"]
