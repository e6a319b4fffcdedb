"""Laws of `redundant`, on drawn files: what is deleted is not missed, and what is cited suffices.

Expected values come from brute force: the sizes of a small box, tried with an evaluator of the tests' own.
"""

from __future__ import annotations

import itertools
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shapedsl import pipeline
from shapedsl.cli.check import _check
from shapedsl.diagnostics import Diagnostic, Report, Source
from shapedsl.ir import Module, Signature, VariableKind
from shapedsl.normalize.redundant import find_redundant
from tests.golden.sampling import accepts, truth

settings.register_profile("redundant", deadline=None, suppress_health_check=list(HealthCheck))
LARGEST = 9  # of the box; the constants below are smaller
TRIED = 400

names = st.sampled_from("ABCk")
numbers = st.integers(0, 6)


@st.composite
def sizes(draw: st.DrawFn) -> str:
    name = draw(names)
    match draw(st.integers(0, 5)):
        case 0:
            return f"{draw(st.integers(1, 3))}*{name}"
        case 1:
            return f"{name} + {draw(numbers)}"
        case 2:
            return f"{name} + {draw(names)}"
        case 3:
            return f"({name} - {draw(numbers)})"
        case _:
            return name


@st.composite
def predicates(draw: st.DrawFn) -> str:
    size, other = draw(sizes()), draw(sizes())
    n, m = sorted((draw(numbers), draw(numbers)))
    sign = draw(st.sampled_from(["<", "<=", ">=", ">", "=="]))
    match draw(st.integers(0, 10)):
        case 0:
            return f"{n} <= {size} <= {m}"
        case 1:
            return f"{size} in [{n}, {m}]"
        case 2:
            return f"{n} <= {size} < {other} <= {m + 3}"
        case 3:
            return f"{size} {sign} {other}"
        case 4:
            return f"{draw(names)} multiple of {draw(st.integers(1, 4))}"
        case 5:
            return f"{size} {sign} {n} and {other} >= {m}"
        case 6:
            return f"({size} >= {n} and ({other} in [{n}, inf]))"
        case 7:
            return f"{size} in {{{n}, {m}}} or {other} <= {n}"
        case 8:
            return f'{size} {sign} {m} "a message"'
        case _:
            return f"{size} {sign} {n}"


@st.composite
def wheres(draw: st.DrawFn) -> str:
    listed = ", ".join(draw(st.lists(predicates(), min_size=1, max_size=3)))
    comma = draw(st.sampled_from(["", ","]))
    return f"where {listed}{comma}{draw(st.sampled_from(['', '  # why']))}"


@st.composite
def declarations(draw: st.DrawFn, keyword: str, listed: str) -> str:
    n, m = sorted((draw(numbers), draw(numbers)))
    end = draw(st.sampled_from([str(m), "inf"]))
    multiple = draw(st.sampled_from(["", "", f" multiple of {draw(st.integers(1, 3))}"]))
    return f"{keyword} {listed} in [{n}, {end}]{multiple}"


@st.composite
def files(draw: st.DrawFn) -> str:
    """Returns a file of one or two defs over the sizes A, B, C and the int k."""
    lines: list[str] = []
    top = draw(st.integers(0, 3))
    if top & 1:
        lines.append(draw(declarations("dim", "A, B")))
    if top & 2:
        lines.append(draw(wheres()))
    for i in range(draw(st.integers(1, 2))):
        dims = draw(st.sampled_from(["A, B, C", "A, B, C - 2", "A, B, C + 1"]))
        head = f"def f{i}(x: Tensor[{dims}], k: Scalar[k]):"
        body = draw(st.lists(wheres(), min_size=1, max_size=3))
        if draw(st.booleans()):
            body.insert(0, draw(declarations("dim", "C")))
        if draw(st.booleans()):
            body.insert(draw(st.integers(0, len(body))), "# a comment of its own")
        if len(body) == 1 and draw(st.booleans()):
            lines.append(f"{head} {body[0]}")
        else:
            lines += [head, *(f"    {line}" for line in body)]
    return "\n".join(lines) + draw(st.sampled_from(["\n", ""]))


def checked(text: str) -> tuple[Module, Report]:
    report = Report()
    return pipeline.check(Source("f.shapes", text), report), report


def box(signature: Signature) -> Iterator[dict[str, int]]:
    low = {v.name: 0 if v.kind is not VariableKind.INT else -3 for v in signature.variables}
    every = list(itertools.product(*(range(low[name], LARGEST + 1) for name in low)))
    for each in random.Random(0).sample(every, min(TRIED, len(every))):
        yield dict(zip(low, each, strict=True))


def accepted(module: Module) -> list[list[dict[str, int]]]:
    every = {"A": 0, "B": 0, "C": 0, "k": 0}
    return [[s for s in box(signature) if accepts(signature, {**every, **s})] for signature in module.signatures]


def redundant(report: Report) -> list[Diagnostic]:
    return [diagnostic for diagnostic in report if diagnostic.code == "redundant"]


def edited(text: str, diagnostic: Diagnostic) -> str:
    assert diagnostic.fix is not None
    for edit in sorted(diagnostic.fix.edits, key=lambda e: -e.span.start):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text


@settings(settings.get_profile("redundant"), max_examples=80)
@given(files())
def test_all_fixes_together_accept_the_same_sizes(text: str) -> None:
    module, report = checked(text)
    if report.errors:
        return
    mended = fixed(text)
    again, report = checked(mended)
    assert not report.errors, mended
    assert not [d for d in redundant(report) if d.fix is not None], mended
    assert accepted(again) == accepted(module), mended
    assert mended.count("#") == text.count("#")  # no comment is lost


def fixed(text: str) -> str:
    """Returns ``text`` after ``shapedsl check --fix``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "f.shapes"
        file.write_text(text)
        _check(str(file), Source(str(file), text), {}, fix=True)
        return file.read_text()


@settings(settings.get_profile("redundant"), max_examples=60)
@given(files())
def test_each_fix_alone_accepts_the_same_sizes(text: str) -> None:
    module, report = checked(text)
    if report.errors:
        return
    before = accepted(module)
    for diagnostic in redundant(report):
        if diagnostic.fix is None:
            continue
        mended = edited(text, diagnostic)
        again, errors = checked(mended)
        assert not errors.errors, mended
        assert accepted(again) == before, mended


@settings(settings.get_profile("redundant"), max_examples=100)
@given(files())
def test_what_is_cited_suffices(text: str) -> None:
    module, report = checked(text)
    if report.errors:
        return
    for found in find_redundant(module.signatures):
        for each in box(found.signature):
            if all(truth(c.predicate, each) for c in found.core):
                assert all(truth(c.predicate, each) for c in found.constraints), (found, each)
