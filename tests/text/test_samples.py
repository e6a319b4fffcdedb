"""Specs of real models: they are read, printed, and read back as the same IR."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedsl.assets import asset
from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.text import read
from shapedsl.frontends.text.format import format_text
from shapedsl.frontends.text.grammar import compile_grammar
from shapedsl.ir import Module
from shapedsl.ir.write import write_module, write_signature

SAMPLES = sorted((Path(__file__).parents[1] / "cases" / "samples").glob("*.shapes"))


def module(text: str, name: str = "<text>") -> Module:
    report = Report()
    made = read(Source(name, text), report)
    assert not report.diagnostics, report.diagnostics
    return made


def test_there_are_samples() -> None:
    assert len(SAMPLES) == 21


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_printed_and_read_back(path: Path) -> None:
    made = module(path.read_text(encoding="utf-8"), path.name)
    assert made.signatures
    printed = write_module(made)
    again = module(printed)
    assert again == made
    assert write_module(again) == printed
    for signature in made:
        assert module(write_signature(signature)).signatures == (signature,)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_line_endings_and_the_last_newline_do_not_count(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    made = module(text)
    assert module("\ufeff" + text.replace("\n", "\r\n")) == made
    assert module(text.rstrip("\n")) == made
    assert module(text + "\n\n   \n# the end") == made


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_formatter_leaves_canonical_text_alone(path: Path) -> None:
    printed = write_module(module(path.read_text(encoding="utf-8"), path.name))
    assert format_text(Source("<text>", printed), Report()) == printed


def test_lark_reads_the_same_grammar() -> None:
    lark = compile_grammar(asset("grammar/shapes.lark").read_text(encoding="utf-8"))
    for path in SAMPLES:
        lark.parse(path.read_text(encoding="utf-8") + "\n", start="file")


def test_a_sample_in_full() -> None:
    path = next(path for path in SAMPLES if path.stem.startswith("01"))
    assert (
        write_module(module(path.read_text(encoding="utf-8")))
        == """\
class serve.llm.DecoderStep:
    def forward(
        self,
        ids: int64[B, 1],
        mask: bool[B, 1, 1, P + 1],
        kvs: [(F[B, HKV, P, HD], F[B, HKV, P, HD])] * NL,
    ) -> (F[B, 1, VOCAB], [(F[B, HKV, P + 1, HD], F[B, HKV, P + 1, HD])] * NL):
        type F = floating
        dim B in [1, inf] hint 16
        const HD = _
        const HKV = _
        const NL = _
        dim P in [0, 8192] hint 1024
        const VOCAB = _
        values ids in [0, VOCAB - 1]
        case first: P == 0 hint B = 16
        case latency: B == 1
        case small:
            bucket B in {2, 4, 8}
        case padded:
            where B <= 256
            where P >= 1
            bucket B in {16, 32, ..., 256} pad (
                ids with 0,
                mask with true,
                kvs with 0,
            ) as rows_independent
            bucket P in {512, 1024, ..., 8192} at P pad (
                kvs with 0,
                mask with false,
            ) as masked
        otherwise hint B = 300
"""
    )
