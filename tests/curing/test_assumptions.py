"""Assumptions put into a text: where they go, and what stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source


def edited(
    text: str,
    lines: Sequence[str] = (),
    blocks: Mapping[int, Sequence[str]] | None = None,
    fronts: Mapping[int, Sequence[str]] | None = None,
    which: int = 0,
) -> str | None:
    report = Report()
    module = pipeline.read(Source("net.shapes", text), report)
    assert not report.errors
    return pipeline.with_assumptions(text, tuple(module)[which], lines, blocks, fronts)


CASES = {
    "a body that is dots": (
        "def f(x: Tensor[B, S]): ...  # doc\n\ndef g(y: Tensor[B]): ...\n",
        {"lines": ["where S >= 2  # net.py:1"]},
        "def f(x: Tensor[B, S]):  # doc\n    where S >= 2  # net.py:1\n\ndef g(y: Tensor[B]): ...\n",
    ),
    "a clause behind the colon, and no newline at the end": (
        "def f(x: Tensor[B, S]): where B < 8  # small",
        {"lines": ["where S >= 2"]},
        "def f(x: Tensor[B, S]):\n    where B < 8  # small\n    where S >= 2\n",
    ),
    "behind the last where, before what follows": (
        'def f(x: Tensor[B, S]):\n  "doc"\n  dim B in [1, 8]\n  where S < (\n    9\n  )  # end\n  # data\n  values x in [0, 1]\n',
        {"lines": ["where S >= 2", "# S == 1 is left out"]},
        'def f(x: Tensor[B, S]):\n  "doc"\n  dim B in [1, 8]\n  where S < (\n    9\n  )  # end\n  where S >= 2\n'
        "  # S == 1 is left out\n  # data\n  values x in [0, 1]\n",
    ),
    "in a class, dots on a line of their own": (
        "class Net:\n    dim S\n    def forward(self, x: Tensor[B, S]):\n        # nothing\n        ...\n    def other(self): ...\n",
        {"lines": ["where S >= 2"]},
        "class Net:\n    dim S\n    def forward(self, x: Tensor[B, S]):\n        where S >= 2\n        # nothing\n"
        "    def other(self): ...\n",
    ),
    "an alternative on one line becomes a block": (
        "def f(x: Tensor[B, S]):\n    # most\n    case short: S <= 64 hint S = 8  # calls\n    otherwise  # rest\n",
        {"blocks": {0: ["where S >= 2  # a"], 1: ["where S >= 3  # b"]}},
        "def f(x: Tensor[B, S]):\n    # most\n    case short:  # calls\n        where S <= 64\n        where S >= 2  # a\n"
        "        hint S = 8\n    otherwise:  # rest\n        where S >= 3  # b\n",
    ),
    "a block gets a line": (
        "def f(x: Tensor[B, S]):\n    case a:\n        where S <= 64\n        # why\n        hint S = 8\n    otherwise:\n        ...\n",
        {"blocks": {0: ["where S >= 2"], 1: ["where S >= 3"]}},
        "def f(x: Tensor[B, S]):\n    case a:\n        where S <= 64\n        where S >= 2\n        # why\n        hint S = 8\n"
        "    otherwise:\n        where S >= 3\n",
    ),
    "new alternatives stand above the comments of the old one": (
        "def f(x: Tensor[B, S]):\n    where B >= 1\n    # most\n    case S <= 64\n    otherwise\n",
        {"fronts": {0: ["case S == 1"], 2: ["case S == 9"]}},
        "def f(x: Tensor[B, S]):\n    where B >= 1\n    case S == 1\n    # most\n    case S <= 64\n    otherwise\n    case S == 9\n",
    ),
    "alternatives where there were none": (
        "def f(x: Tensor[B, S]): ...\n",
        {"fronts": {0: ["case S == 1", "otherwise:", "    where S >= 2"]}},
        "def f(x: Tensor[B, S]):\n    case S == 1\n    otherwise:\n        where S >= 2\n",
    ),
    "all three at once": (
        "def f(x: Tensor[B, S]):\n    case S > 8\n    otherwise\n",
        {
            "lines": ["where B >= 1"],
            "blocks": {0: ["where S >= 9"]},
            "fronts": {0: ["case B == 1"], 1: ["case B == 2"]},
        },
        "def f(x: Tensor[B, S]):\n    where B >= 1\n    case B == 1\n    case:\n        where S > 8\n        where S >= 9\n"
        "    case B == 2\n    otherwise\n",
    ),
    "line ends of Windows": (
        "def f(x: Tensor[B, S]): where B < 8\r\ndef g(y: Tensor[B]): ...\r\n",
        {"lines": ["where S >= 2"]},
        "def f(x: Tensor[B, S]):\r\n    where B < 8\r\n    where S >= 2\r\ndef g(y: Tensor[B]): ...\r\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_lines_are_put_in_and_all_else_stays(name: str) -> None:
    text, added, expected = CASES[name]
    made = edited(text, **added)  # type: ignore[arg-type]  # each case names arguments of `edited`
    assert made == expected
    report = Report()
    pipeline.read(Source("net.shapes", made), report)
    assert not report.errors


def test_the_second_def_of_a_text_is_edited_alone() -> None:
    text = "def f(x: Tensor[S]): ...\ndef g(x: Tensor[S]): ...\n"
    assert (
        edited(text, ["where S >= 2"], which=1) == "def f(x: Tensor[S]): ...\ndef g(x: Tensor[S]):\n    where S >= 2\n"
    )


def test_a_comment_inside_of_an_alternative_is_not_moved() -> None:
    text = "def f(x: Tensor[S]):\n    case S in {1,  # one\n        2}\n    otherwise\n"
    assert edited(text, blocks={0: ["where S >= 2"]}) is None


def test_a_signature_of_another_text_is_refused() -> None:
    report = Report()
    module = pipeline.read(Source("net.shapes", "def f(x: Tensor[S]): ...\n"), report)
    assert pipeline.with_assumptions("def f(x: Tensor[S]):  ...\n", next(iter(module)), ["where S >= 2"]) is None
