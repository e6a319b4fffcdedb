"""No text, however broken or large, gives anything but findings, without a hang."""

from __future__ import annotations

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.text import parse_clauses, parse_dims, parse_type, parse_where, read
from shapedsl.ir.write import write_module

N = 100_000


def lines(*parts: str) -> str:
    return "\n".join(parts) + "\n"


CASES: dict[str, tuple[str, str | None]] = {
    "open brackets": ("(" * N, "syntax-error"),
    "closing brackets": (")" * N, "syntax-error"),
    "brackets in a type": ("def f(x: Tensor[" + "[" * N, "syntax-error"),
    "nested parentheses": (f"def f(x: Tensor[{'(' * 10_000}B{')' * 10_000}]): ...", "input-too-large"),
    "nested lists": (f"def f(x: {'[' * 10_000}Tensor{']' * 10_000}): ...", "input-too-large"),
    "NUL": ("def f(x: Tensor[B\0]): ...", "syntax-error"),
    "a Cyrillic letter": ("def f(x: Tensor[\u0412]): ...", "syntax-error"),
    "a lone surrogate": ('def f(x: {"\ud800": Tensor}): ...', None),
    "10,000 digits": (f"def f(x: Tensor[{'9' * 10_000}]): ...", "input-too-large"),
    "100,000 digits": (f"def f(x: Tensor[{'9' * N}]): ...", "input-too-large"),
    "2**99999999": ("def f(x: Tensor[2**99999999]): ...", "input-too-large"),
    "B**99999999": ("def f(x: Tensor[B**99999999]): ...", "input-too-large"),
    "a tower of powers": (f"def f(x: Tensor[{'**'.join(['2'] * 10_000)}]): ...", "input-too-large"),
    "(-1)**99999999 is cheap": ("def f(x: Tensor[B, 1 + (-1)**99999998]): ...", None),
    "minus signs": (f"def f(x: Tensor[{'-' * N}B]): ...", "input-too-large"),
    "nots": ("where " + "not " * N + "B < 3", "input-too-large"),
    "a long sum": (f"def f(x: Tensor[{'+'.join(['B'] * N)}]): ...", "input-too-large"),
    "a sum of 99": (f"def f(x: Tensor[{'+'.join(['B'] * 99)}]): ...", None),
    "calls and sums": (f"def f(x: Tensor[{'max(1, ' * 90}B{' + B)' * 90}]): ...", "input-too-large"),
    "many ors": ("def f(x: Tensor[B]): where " + " or ".join(["B<3"] * N), "input-too-large"),
    "many predicates": ("def f(x: Tensor[B]): where " + ", ".join(["B<3"] * N), "input-too-large"),
    "a long chain": ("def f(x: Tensor[B]): where " + "<".join(["B"] * N), "input-too-large"),
    "a huge progression": ("def f(x: Tensor[B]): where B in {1, 2, ..., 10**9}", "input-too-large"),
    "a huge bucket": ("def f(x: Tensor[B]): bucket B in {1, 3, ..., 10**9 + 1}", "input-too-large"),
    "a huge list": ("def f(x: [Tensor[B]] * 10**9): ...", "input-too-large"),
    "lists of lists": (f"def f(x: {'[' * 50}Tensor[B]{']*10' * 50}): ...", "input-too-large"),
    "spaces": (" " * N, None),
    "spaces behind a token": ("dim B" + " " * N, None),
    "spaces at the end": ("dim B\n" + " " * N, None),
    "newlines": ("\n" * N, None),
    "carriage returns": ("\r" * N, "syntax-error"),
    "quotes": ('"' * N, "syntax-error"),
    "an open string": ('"""' + "a\n" * N, "syntax-error"),
    "lets that double": (
        lines(
            "let a0 = B + B",
            *(f"let a{i} = a{i - 1} + a{i - 1}" for i in range(1, 60)),
            "def f(x: Tensor[B, a59]): ...",
        ),
        "input-too-large",
    ),
    "a chain of lets": (
        lines("let a0 = B", *(f"let a{i} = a{i - 1}" for i in range(1, 3000)), "def f(x: Tensor[B, a2999]): ..."),
        None,
    ),
    "a chain of lets, backwards": (
        lines(*(f"let a{i} = a{i + 1}" for i in range(3000)), "def f(x: Tensor[B, a0]): ..."),
        "input-too-large",
    ),
    "types that double": (
        lines(
            "type T0 = (Tensor[B], Tensor[B])",
            *(f"type T{i} = (T{i - 1}, T{i - 1})" for i in range(1, 30)),
            "def f(x: T29): ...",
        ),
        "input-too-large",
    ),
    "types in types": (
        lines("type T0 = Tensor[B]", *(f"type T{i} = [T{i - 1}]" for i in range(1, 500)), "def f(x: T499): ..."),
        "input-too-large",
    ),
    "a let of itself": (lines("let a = b", "let b = a", "def f(x: Tensor[a]): ..."), "definition-cycle"),
    "a type of itself": (lines("type A = [B]", "type B = [A]", "def f(x: A): ..."), "definition-cycle"),
    "a const of itself": (lines("const A = B", "const B = A + 1", "def f(x: Tensor[A]): ..."), "definition-cycle"),
    "wheres times defs": (
        "where B < 3\n" * 5000 + "".join(f"def f{i}(x: Tensor[B]): ...\n" for i in range(5000)),
        "input-too-large",
    ),
    "broken lines": ("def f(((\n" * N, "syntax-error"),
    "broken declarations": ("dim B in [\n" * N, "syntax-error"),
    "no statements": ("$\n" * N, "syntax-error"),
    "one name again and again": ("dim B\n" * 20_000, "duplicate-name"),
    "one def again and again": ("def f(x: Tensor[B]): ...\n" * 5000, "duplicate-name"),
    "steps": ("".join(" " * i + "dim B\n" for i in range(1000)), "syntax-error"),
    "steps of cases": (
        "def f(x: Tensor[B]):\n" + "".join(" " * (i + 1) + "case c:\n" for i in range(500)),
        "syntax-error",
    ),
    "many arguments": (f"def f(x: Tensor[max({','.join(['B'] * N)})]): ...", "input-too-large"),
    "many dims": (f"def f(x: Tensor[{','.join(['B'] * 20_000)}]): ...", None),
    "many parameters": (f"def f({','.join(f'x{i}: Tensor[B]' for i in range(5000))}): ...", None),
    "a long name": (f"def {'a' * N}(x: Tensor[B]): ...", None),
    "a union of nothing": (f"def f(x: {'|'.join(['None'] * N)}): ...", None),
    "a let in many places": (
        f"let S = {'+'.join(['B'] * 90)}\ndef f({','.join(f'x{i}: Tensor[S]' for i in range(20_000))}): ...",
        "input-too-large",
    ),
}


@pytest.mark.timeout(120)  # each takes far less than a second
@pytest.mark.parametrize("name", CASES)
def test_a_finding_without_a_hang(name: str) -> None:
    text, code = CASES[name]
    report = Report()
    module = read(Source("<hostile>", text), report)
    codes = {diagnostic.code for diagnostic in report}
    assert codes == set() if code is None else code in codes
    if code is None:
        assert read(Source("<again>", write_module(module)), Report()) == module


@pytest.mark.parametrize("parse", [parse_dims, parse_type, parse_where, parse_clauses])
@pytest.mark.parametrize(
    "text", ["(" * N, "\0", "[" * 10_000 + "B" + "]" * 10_000, "B\udc00", "\n\n", "9" * 10_000, "a = $"]
)
def test_fragments_too(parse: object, text: str) -> None:
    report = Report()
    parse(Source("<hostile>", text), report)  # type: ignore[operator]
    assert text.isspace() or report.errors


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", "\ufeff", "   ", "\n\n   \n# c", "\ufeff\r\n"])
def test_an_empty_file_is_an_empty_module(text: str) -> None:
    report = Report()
    assert read(Source("<empty>", text), report).signatures == ()
    assert not report.diagnostics


def test_findings_are_capped() -> None:
    report = Report()
    read(Source("<hostile>", "dim B in [\n" * 10_000), report)
    assert len(report) == 101  # 100 and the one that says so
