"""The prebuilt tables: up to date, read without Lark, and the same language as Lark's own parser reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput

from shapedsl.assets import asset
from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.text import grammar, tables
from shapedsl.frontends.text.automaton import Automaton, SyntaxFault
from shapedsl.frontends.text.build_statements import Builder

SAMPLES = sorted((Path(__file__).parents[1] / "cases" / "samples").glob("*.shapes"))


def test_they_fit_the_grammar() -> None:
    stored = json.loads(asset(tables.TABLES).read_text(encoding="ascii"))
    built = json.loads(json.dumps(grammar.build(asset(tables.GRAMMAR).read_bytes())))
    assert stored == built, "run python -m shapedsl.frontends.text.grammar"


def test_an_edited_grammar_is_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited = asset(tables.GRAMMAR).read_text(encoding="utf-8").replace('"rank"', '"ranks"')
    (tmp_path / "grammar").mkdir()
    (tmp_path / tables.GRAMMAR).write_text(edited, encoding="utf-8")
    (tmp_path / tables.TABLES).write_bytes(asset(tables.TABLES).read_bytes())
    monkeypatch.setattr(tables, "asset", lambda name: tmp_path / name)
    assert "ranks" in tables.load().keywords
    (tmp_path / tables.TABLES).write_text("{", encoding="utf-8")
    assert "ranks" in tables.load().keywords
    (tmp_path / tables.TABLES).unlink()
    assert "ranks" in tables.load().keywords


def test_without_the_grammar_the_tables_are_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "grammar").mkdir()
    monkeypatch.setattr(tables, "asset", lambda name: tmp_path / name)
    with pytest.raises(FileNotFoundError):
        tables.load()
    (tmp_path / tables.TABLES).write_bytes((Path(__file__).parents[2] / tables.TABLES).read_bytes())
    assert "rank" in tables.load().keywords


def test_they_are_written_atomically(tmp_path: Path) -> None:
    target = tmp_path / "t.json"
    grammar.write(target)
    assert target.read_bytes() == asset(tables.TABLES).read_bytes()
    assert list(tmp_path.iterdir()) == [target]


def test_reading_imports_neither_lark_nor_sympy() -> None:
    code = (
        "import sys; from shapedsl.diagnostics import Report, Source; from shapedsl.frontends.text import read;"
        "m = read(Source('t', 'def f(x: Tensor[B]): where B < 3'), Report()); assert len(m.signatures) == 1;"
        "print(sorted({'lark', 'sympy', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


TEXTS = [path.read_text(encoding="utf-8") for path in SAMPLES] + [
    "dim dim, int, of in [0, 8] multiple of 2 plus 1 hint 3\nlet let = of - -1\ndef where(case: Tensor[dim]) -> Tensor[of]:\n"
    "    where of<3, of not in {1, 2, ..., 8} \"no\"\n    case case: dim == 1 eager\n\n    # a comment\n\tcase hint hint = 3\n",
    "\n\n# leading\nconst A = 1_000\n\n\n",
    "def f(\n  x: {\n'a': Tensor[1, ...],\n# comment\n},  # more\n): ...\n",
    "def f(x: Tensor[B]):\n    bucket B in {1} pad x with [1.5, 2e3, -1., 1_0.0_1]\n    drop x.a[0]['k'], return[-1]\n",
]  # fmt: skip


@pytest.fixture(scope="module")
def lark() -> Lark:
    return grammar.compile_grammar(asset(tables.GRAMMAR).read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_lark_lexes_the_same_tokens(lark: Lark, number: int) -> None:
    text = TEXTS[number].rstrip() + "\n"
    if "\tcase" in text:
        text = text.replace("    case hint", "x").replace("\tcase hint hint = 3", "    case hint < 3")
    spelled = {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "str"}
    interactive = lark.parse_interactive(text, start="file")
    theirs = [(spelled.get(token.type, token.type), str(token)) for token in interactive.exhaust_lexer()]

    automaton = Automaton(tables.load(), Builder(Source("t", text), Report()), "file")
    ours: list[tuple[str, str]] = []
    step = automaton.feed

    def feed(kind: str, value: str, start: int, end: int) -> None:
        ours.append((kind, value))
        step(kind, value, start, end)

    automaton.feed = feed
    automaton.run(text, 0, len(text))
    automaton.indent(0, len(text))
    layout = ("_NL", "_INDENT", "_DEDENT")
    # Lark has a newline before the first line and its layout tokens carry text; what counts is their order
    trim = [(kind, "" if kind in layout else value) for kind, value in theirs]
    while trim and trim[0][0] == "_NL":
        trim = trim[1:]
    assert [(kind, "" if kind in layout else value) for kind, value in ours] == trim


@pytest.mark.parametrize(
    "text", ["def f(x Tensor): ...\n", "dim in [0, 8]\n", "let a = b c\n", "where a <> b\n", "def def(x): ...\nx\n"]
)
def test_lark_finds_the_same_fault(lark: Lark, text: str) -> None:
    with pytest.raises(UnexpectedInput) as theirs:
        lark.parse(text, start="file")
    automaton = Automaton(tables.load(), Builder(Source("t", text), Report()), "file")
    with pytest.raises(SyntaxFault) as ours:
        automaton.run(text, 0, len(text))
    assert ours.value.start == theirs.value.pos_in_stream
