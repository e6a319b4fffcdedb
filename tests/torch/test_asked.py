"""What a failed trace asked, read off its error alike for compile, export and make_fx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="lowering needs torch")

import torch

import shapedsl as sd
from shapedsl.ir.expanded import Lowered
from shapedsl.ir.write import write_dim, write_predicate
from shapedsl.targets.asked import Asked, asked_of
from shapedsl.targets.data_dependent import told
from shapedsl.targets.traces import example_sizes

ones = torch.ones
ENTRIES = ["export", "strict", "compile", "make_fx"]


def trace(entry: str, f: Callable[..., Any], spec: str, *args: Any) -> Callable[..., Any]:
    """Returns what an entry point makes of ``f``."""
    if entry == "make_fx":
        return sd.make_fx(f, spec)(*args)
    if entry == "compile":
        compiled = sd.compile(f, spec, backend="eager")
        compiled(*args)
        return compiled
    return sd.export(f, args, spec=spec, strict=entry == "strict").module()


def failed(entry: str, f: Callable[..., Any], spec: str, *args: Any) -> tuple[Exception, Lowered]:
    """Returns the error of a trace, and the spec that it was traced with."""
    lowered = sd.loads(spec)["f"].lowered(None, allow_negative_ints=True)[0]
    try:
        trace(entry, f, spec, *args)
    except (sd.ShapeError, RuntimeError) as error:
        return error, lowered
    raise AssertionError("it was traced")


def asked(entry: str, f: Callable[..., Any], spec: str, *args: Any) -> Asked:
    error, lowered = failed(entry, f, spec, *args)
    found = asked_of(error, lowered)
    assert found is not None
    return found


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_condition_its_line_and_the_example(entry: str) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.shape[1] // 2 > 38 else x

    error, lowered = failed(entry, f, "def f(x: Tensor[B, S]): ...", ones(2, 8))
    found = asked_of(error, lowered)
    assert found is not None
    assert found.predicate is not None
    assert write_predicate(found.predicate) == "S >= 78"
    assert (found.size, found.text, found.symbols) == (None, False, ())
    assert found.line is not None
    assert found.line.endswith("in f: return x + 1 if x.shape[1] // 2 > 38 else x")
    assert "test_asked.py" in found.line
    assert found == asked_of(error.__cause__ or error, lowered), "torch's own error says the same"
    assert "S is x.shape[1], 8 in the example" in str(error)
    if entry == "compile":  # the others pass their arguments on
        assert example_sizes(error, lowered) == {"B": 2, "S": 8}


def test_a_number_a_text_and_what_comes_from_data() -> None:
    spec = "def f(x: Tensor[2 * B]): ..."
    number = asked("export", lambda x: x * int(x.shape[0] + 1), spec, ones(4))
    assert number.size is not None
    assert write_dim(number.size) == "2 * B + 1"
    text = asked("export", lambda x: x * len(f"{x.shape[0]:d}"), spec, ones(4))
    assert text.text
    data = asked("export", lambda x: x + 1 if x.nonzero().shape[0] > 3 else x, spec, ones(4))
    assert (data.predicate, data.size) == (None, None)
    (symbol,) = data.symbols
    assert data.printed == f"{symbol} > 3"


def test_another_failure_asked_nothing() -> None:
    lowered = sd.loads("def f(x: Tensor[B]): ...")["f"].lowered(None)[0]
    assert asked_of(RuntimeError("mat1 and mat2 shapes cannot be multiplied"), lowered) is None


BRANCHES: list[tuple[str, str, Callable[[int, int], bool], tuple[int, int]]] = [
    ("S > 1", "", lambda b, s: s > 1, (2, 8)),
    ("S == 0", "", lambda b, s: s == 0, (2, 8)),
    ("S == 1", "", lambda b, s: s == 1, (2, 8)),
    ("S > 77", "", lambda b, s: s > 77, (2, 8)),
    ("B * S == 0", "", lambda b, s: 16 * b * s == 0, (2, 8)),
    ("B * S > S", "", lambda b, s: b * s > s, (2, 8)),
    ("a product", "", lambda b, s: (b // 14) * (s // 14) == 16, (28, 28)),
    ("what torch does not conclude", "B >= 1, S >= 4", lambda b, s: 8 * b * (s // 2 - 1) == 0, (2, 8)),
    ("S // 2 == 1", "", lambda b, s: s // 2 == 1, (2, 8)),
    ("S % 8 == 0", "", lambda b, s: s % 8 == 0, (2, 8)),
    ("S % 8 != 0", "", lambda b, s: s % 8 == 0, (2, 9)),
    ("B == S", "", lambda b, s: b == s, (2, 8)),
    ("B <= S", "", lambda b, s: b <= s, (2, 8)),
    ("B + S > 0", "", lambda b, s: b + s > 0, (2, 8)),
    ("S % B == 0", "B >= 1", lambda b, s: s % b == 0, (2, 8)),
]


@pytest.mark.parametrize("entry", ["export", "compile"])
@pytest.mark.parametrize(("given", "branch", "size"), [b[1:] for b in BRANCHES], ids=[b[0] for b in BRANCHES])
def test_torch_concludes_from_the_first_assumptions(
    entry: str, given: str, branch: Callable[[int, int], bool], size: tuple[int, int]
) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if branch(x.shape[0], x.shape[1]) else x - 1

    head = "def f(x: Tensor[B, S]): where "
    error, lowered = failed(entry, f, head + (given or "B >= 0"), ones(*size))
    found = asked_of(error, lowered)
    assert found is not None
    assert found.predicate is not None
    assert lowered.reasoner is not None
    asked = found.predicate if found.written is None else found.written
    best = lowered.reasoner.cures(lowered, asked, dict(zip("BS", size, strict=True)))[0]
    cured = f"{head}{given or 'B >= 0'}, {', '.join(map(write_predicate, best.add))}"
    x = ones(*size)
    assert torch.equal(trace(entry, f, cured, x)(x), f(x))
    assert isinstance(error, sd.ShapeError)
    assert error.diagnostics[0].helps[0] == told(best)


def test_a_size_without_a_name_is_asked_for_one() -> None:
    error, _ = failed("export", lambda x: x + 1 if x.shape[0] > 1 else x, "def f(x: Tensor[?]): ...", ones(4))
    assert isinstance(error, sd.ShapeError)
    (finding,) = error.diagnostics
    assert finding.helps == (
        "give `x.shape[0]` a name, and add `where x.shape[0] >= 2`: it excludes x.shape[0] <= 1; "
        "a `case x.shape[0] <= 1` would serve that",
        "or give `x.shape[0]` a name, and add `where x.shape[0] <= 1`: it excludes x.shape[0] >= 2; "
        "a `case x.shape[0] >= 2` would serve that",
    )


def test_several_cases_that_would_serve_what_is_excluded() -> None:
    error, _ = failed("export", lambda x: x + 1 if x.numel() == 0 else x, "def f(x: Tensor[A, B]): ...", ones(4, 2))
    assert isinstance(error, sd.ShapeError)
    assert error.diagnostics[0].helps[0] == (
        "add `where A >= 1, B >= 1`: it excludes A == 0 or B == 0; a `case A == 0` and a `case B == 0` would serve these"
    )
