"""Specs of real models: each is read without a finding, written, formatted and read again to equal IR."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends import text
from shapedsl.frontends.text.format import format_text
from shapedsl.ir import Module
from shapedsl.ir.json import from_json, to_json
from shapedsl.ir.write import write_module
from tests.golden import sampling

SAMPLES = sorted((Path(__file__).parent / "cases" / "samples").glob("*.shapes"))


def read(name: str, written: str) -> Module:
    report = Report()
    module = text.read(Source(name, written), report, base=SAMPLES[0].parent)
    assert report.diagnostics == ()
    return module


def test_all_samples_are_here() -> None:
    assert len(SAMPLES) == 21


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_survives_each_round_trip(path: Path) -> None:
    original = path.read_text(encoding="utf-8")
    module = read(path.name, original)
    assert len(module.signatures) == len(re.findall(r"^\s*def ", original, re.MULTILINE))

    again = read("written", write_module(module))
    assert again == module
    assert [s.name for s in again] == [s.name for s in module]

    report = Report()
    formatted = format_text(Source(path.name, original), report)
    assert report.diagnostics == ()
    assert formatted is not None
    assert read("formatted", formatted) == module
    assert format_text(Source(path.name, formatted), Report()) == formatted
    comments = re.findall(r"#.*", original)
    assert sorted(c.rstrip() for c in re.findall(r"#.*", formatted)) == sorted(c.rstrip() for c in comments)

    assert from_json(to_json(module)) == module


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_keeps_its_meaning_when_it_is_normalized(path: Path) -> None:
    from shapedsl.normalize import normalize

    for signature in read(path.name, path.read_text(encoding="utf-8")):
        report = Report()
        normal = normalize(signature, report).signature
        assert report.errors == ()
        assert sampling.difference(signature, normal, count=300) == ""
        assert any(sampling.accepts(signature, sizes) for sizes in sampling.samples(signature, normal, count=3000))
