"""A failed export prints no graph: what was asked is in the error."""

from __future__ import annotations

import logging
import sys
import threading
from typing import Any

import pytest

pytest.importorskip("torch", reason="lowering needs torch")

import torch
from torch.export import _trace

import shapedsl as sd

SPEC = "def f(x: Tensor[B]): where B >= 1"


def f(x: torch.Tensor) -> torch.Tensor:
    if not torch.compiler.is_dynamo_compiling():  # which knows no streams
        sys.stderr.write("from f\n")
    return x * 2 if x.shape[0] > 3 else x


def asked(**options: Any) -> BaseException | None:
    with pytest.raises(sd.ShapeError) as caught:
        sd.export(f, (torch.ones(5),), spec=SPEC, **options)
    assert caught.value.code == "data-dependent"
    return caught.value.__cause__


@pytest.mark.parametrize("strict", [False, True])
def test_graphs_of_failed_traces_are_not_printed(capsys: pytest.CaptureFixture[str], strict: bool) -> None:
    cause = asked(strict=strict)
    assert "def forward" not in capsys.readouterr().err
    assert strict or "def forward" in getattr(cause, "partial_fx_graph", "")  # whoever wants it finds it
    assert "print" not in vars(_trace)


def test_what_the_program_prints_is(capsys: pytest.CaptureFixture[str]) -> None:
    asked()
    assert capsys.readouterr().err == "from f\n"


@pytest.mark.parametrize("name", ["torch.export", "torch.fx.experimental.symbolic_shapes"])
def test_graphs_are_printed_to_those_who_ask_torch(capsys: pytest.CaptureFixture[str], name: str) -> None:
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.INFO)  # as TORCH_LOGS does
    try:
        asked()
    finally:
        logger.setLevel(before)
    assert "def forward" in capsys.readouterr().err


def test_other_threads_print_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    def g(x: torch.Tensor) -> torch.Tensor:
        other = threading.Thread(target=lambda: vars(_trace)["print"]("elsewhere", file=sys.stderr))
        other.start()
        other.join()
        vars(_trace)["print"]("here", file=sys.stderr)
        vars(_trace)["print"]("to standard output")
        return x

    sd.export(g, (torch.ones(5),), spec="def g(x: Tensor[B]): ...")
    captured = capsys.readouterr()
    assert (captured.err, captured.out) == ("elsewhere\n", "to standard output\n")


def test_nothing_is_printed_while_curing(capsys: pytest.CaptureFixture[str]) -> None:
    assert sd.cure(f, SPEC, entries=("export",)).cured
    assert "def forward" not in capsys.readouterr().err
