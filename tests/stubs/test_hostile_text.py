"""Whatever a stub holds: a diagnostic at its place, never a crash, and never a wait without end."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source
from shapedsl.ir import Module
from shapedsl.ir.write import write_signature

pytest.importorskip("libcst", reason="the reader of stubs parses with it")
HERE = Path(__file__).parent
SAMPLE = (HERE / "sampled" / "spellings.py").read_text(encoding="utf-8")
HEAD = "from shapedsl import Tensor\nfrom shapedsl.dims import B\n"


def read(text: str) -> tuple[Module, Report]:
    report = Report()
    return pipeline.read_stub(Source("hostile.pyi", text), report), report


N = 20_000
DEEP = {
    "brackets": "x = " + "(" * N + "1" + ")" * N,
    "open brackets": "(" * N,
    "squares": "x = " + "[" * N,
    "dicts": "x = " + "{1:" * N,
    "tuples": "x = " + "(1," * N + ")" * N,
    "walrus": "x = " + "(a:=" * N + "1" + ")" * N,
    "signs": "-" * N + "1",
    "negations": "not " * N + "x",
    "attributes": "x" + ".a" * N,
    "calls": "x" + "()" * N,
    "subscripts": "x" + "[0]" * N,
    "nested subscripts": "x = " + "a[" * N + "]" * N,
    "sums": "x = " + "1+" * N + "1",
    "powers": "x = " + "1**" * N + "1",
    "ors": "x = " + "a or " * N + "1",
    "comparisons": "x = " + "a<" * N + "1",
    "lambdas": "lambda:" * N + "x",
    "lambdas with commas": "lambda a, b:" * N + "x",
    "conditionals": "a if b else " * N + "c",
    "comprehension": "x = [a " + "for a, b in c " * N + "]",
    "strings": "x = (" + "'a' " * N + ")",
    "elifs": "if a:\n p\n" + "elif a:\n p\n" * N,
    "blocks": "".join(" " * i + "if a:\n" for i in range(500)) + " " * 500 + "p\n",
    "a pattern": "match x:\n case " + "(" * 60 + "a" + ")" * 60 + ": pass\n",
    "a pattern's alternatives": "match x:\n case " + "a|" * N + "b: pass\n",
    "formats": "x = f'" + "{a:" * N + "}" * N + "'",
    "code behind a format": """x = f"{'"'}" + """ + "(" * N + " '",
    "escaped quotes": '\\"""' * N,
    "awaits": "await " * N + "x",
    "an annotation": f"{HEAD}def f(x: {'Tensor[' * N}B{']' * N}): ...",
    "a quoted annotation": f'{HEAD}def f(x: Tensor[B], y: "{"(" * N}"): ...',
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_deep_text(text: str) -> None:
    _, report = read(text)
    codes = {d.code for d in report}
    assert codes & {"input-too-large", "syntax-error", "unresolved-annotation"}
    for diagnostic in report:
        assert diagnostic.span is None or 0 <= diagnostic.span.start <= len(text)


def test_what_is_let_through_fits_any_threads_stack() -> None:
    """The deepest texts that are parsed, in a thread with a small stack."""
    text = f"{HEAD}x = {'(' * 99}1{')' * 99}\ny = a{'.a' * 390}\nz = {'1+' * 390}1\ndef f(x: Tensor[B]): ...\n"
    found: list[Module] = []
    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(read(text)[0]))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert [write_signature(signature) for signature in found[0]] == ["def f(x: Tensor[B]): ..."]


def test_long_is_not_deep() -> None:
    """Tables, documentation and chains as people write them are read."""
    rows = ", ".join(f"{i}: [-{i}, 'a.b-c', ({i} + 1) * 2]" for i in range(3000))
    prose = "....----" * 1000
    chain = " + ".join(f"part{i}" for i in range(150))
    strings = "\n".join(f"    'line {i}'" for i in range(150))
    text = (
        f'"""{prose}"""\n{HEAD}TABLE = {{{rows}}}\ny = {chain}\nz = (\n{strings}\n)\n'
        f"print(f'{{y}} {prose}')\ndef f(x: Tensor[B]): ...\n"
    )
    module, report = read(text)
    assert len(tuple(module)) == 1
    assert not report.diagnostics


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("x = 1\ndef f(:\n", 2, 7),
        ("def f(x: Tensor['B'] y): ...\n", 1, 10),
        ("print 'a'\n", 1, 1),
        ("class A:\n    def f(self)\n        pass\n", 2, 16),
        ("x = 'abc\n", 1, 5),
        ("x = 1\ny = '''\n", 2, 5),
        ("def f(x):\n\ty\n        z\n", 3, 1),
        ("x = 1\n\0", 2, 1),
        ("é = 1\nñ = $\n", 2, 5),
        ("x\n\fdef f(:\n", 2, 8),
    ],
)
def test_syntax_errors_point_at_the_place(text: str, line: int, column: int) -> None:
    module, report = read(text)
    (error,) = report.errors
    assert not tuple(module)
    assert error.code == "syntax-error"
    assert error.span is not None
    found_line, found_column = error.span.source.position(error.span.start)
    assert found_line == line
    assert abs(found_column - column) <= 1  # Pythons differ by one


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\t",
        "#",
        "\ufeff",
        "\f\n",
        "x = 1",
        "'''doc'''",
        "# -*- coding: latin-1 -*-\n",
        "...",
        "def f(): ...",
    ],
)
def test_little_text(text: str) -> None:
    module, report = read(text)
    assert (tuple(module), report.diagnostics) == ((), ())


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\f", "# é ∂ \U0001d4b3\n"])
def test_newlines_and_marks(newline: str, start: str) -> None:
    text = start + HEAD + "def f(x: Tensor[B, 'é'], ñ: int): ...\n\fdef g(x: Tensor[B, 'D D']): ...\n"
    module, report = read(text.replace("\n", newline))
    assert [signature.name for signature in module] == ["f", "g"]
    for diagnostic in report.errors:
        assert diagnostic.span is not None
        at = diagnostic.span.source.position(diagnostic.span.start)
        assert diagnostic.span.source.line(at[0])[at[1] - 1 :].startswith(("é", " D"))
    assert len(report.errors) == 2


@pytest.mark.parametrize("seed", range(60))
def test_mutated_text(seed: int) -> None:
    """Cut, doubled, swapped and flipped pieces of a stub: read or refused; every place lies in the text."""
    rng = random.Random(seed)
    text = SAMPLE
    for _ in range(rng.randint(1, 6)):
        a, b = sorted(rng.sample(range(len(text)), 2))
        b = min(b, a + rng.choice([1, 3, 20, 200]))
        piece = rng.choice(["", text[a:b] * 2, rng.choice("()[]{}\"'\\:,*#\n\t\f\0é@"), text[b : b + 5]])
        text = text[:a] + piece + text[b:]
    if rng.random() < 0.3:
        text = text[: rng.randrange(len(text))]
    module, report = read(text)
    for signature in module:
        write_signature(signature)
    for diagnostic in report:
        for annotation in diagnostic.annotations:
            line, column = annotation.span.source.position(annotation.span.start)
            assert line >= 1
            assert column >= 1


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "def",
                "f",
                "class",
                "(",
                ")",
                "[",
                "]",
                "{",
                "}",
                ":",
                ",",
                ".",
                "*",
                "**",
                "->",
                "=",
                "x",
                "Tensor",
                "B",
                '"',
                "'",
                "\n",
                "\t",
                "if",
                "else",
                "lambda",
                'f"',
                "@",
                "#",
                "\\",
            ]
        )
    )
)
def test_token_soup(tokens: list[str]) -> None:
    read(" ".join(tokens))


@settings(max_examples=150, deadline=None)
@given(st.text())
def test_any_text(text: str) -> None:
    read(text)


def test_an_alias_of_itself() -> None:
    module, report = read(
        f"{HEAD}A = list[C]\nC = A\nD: type = D\ntype E[N] = E[N]\nclass F(F): x: F\n"
        "def f(x: A, y: Tensor[B], z: D, u: E[B], v: F): ...\n"
    )
    (signature,) = module
    assert write_signature(signature) == "def f(x: _, y: Tensor[B], z: _, u: _, v: _): ..."
    assert not report.errors


@pytest.mark.parametrize("params", ["", "[N]"])
def test_aliases_that_double_each_other(params: str) -> None:
    lines = "".join(f"type A{i + 1}{params} = tuple[A{i}{params}, A{i}{params}]\n" for i in range(40))
    text = f"{HEAD}type A0{params} = Tensor[B]\n{lines}def f(x: A40{params.replace('N', 'B')}, y: Tensor[B]): ...\n"
    module, report = read(text)
    (signature,) = module
    assert signature.params[1].type == next(iter(read(f"{HEAD}def f(y: Tensor[B]): ...")[0])).params[0].type
    assert report.diagnostics


def test_numbers_beyond_all_sizes() -> None:
    module, report = read(
        f"{HEAD}N = 9**9**9\nM = 10**300\ndef f(x: Tensor[B, N], y: Tensor[B, M], z: Tensor[B]): ...\n"
    )
    (signature,) = module
    assert write_signature(signature) == "def f(x: _, y: _, z: Tensor[B]): ..."
    assert [d.code for d in report] == ["unresolved-annotation"] * 2
