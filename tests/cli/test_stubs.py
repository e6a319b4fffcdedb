"""``shapedsl stubs``: what goes where, and what it answers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import shapedsl as sd

from .helpers import run

pytest.importorskip("libcst", reason="the reader of stubs parses with it")
STUB = 'from shapedsl import Tensor\ndef f(x: Tensor["B", "2*B"]): ...\n'
TEXT = "def f(x: Tensor[B, 2 * B]): ...\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Returns a folder with a package of two modules, one of which has a stub."""
    folder = tmp_path / "pkg"
    (folder / "sub").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "sub" / "__init__.py").write_text("from shapedsl import Tensor as T\n")
    (folder / "sub" / "net.py").write_text("from . import T\nclass Net:\n    def forward(self, x: T['B']): ...\n")
    (folder / "a.py").write_text(STUB.replace("f(", "old("))
    (folder / "a.pyi").write_text(STUB)
    return folder


def test_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.pyi"
    path.write_text(STUB)
    done = run("stubs", str(path))
    assert (done.exit_code, done.output) == (0, TEXT)


def test_a_folder(package: Path) -> None:
    done = run("stubs", str(package))
    assert done.exit_code == 0
    assert done.output.splitlines() == [
        "def pkg.a.f(x: Tensor[B, 2 * B]): ...",
        "",
        "class pkg.sub.net.Net:",
        "    def forward(self, x: Tensor[B]): ...",
    ]
    assert list(sd.from_stub(package)) == ["pkg.a.f", "pkg.sub.net.Net.forward"]


def test_several_files(package: Path) -> None:
    done = run("stubs", str(package / "a.pyi"), str(package / "a.pyi"), str(package / "sub" / "net.py"))
    assert done.exit_code == 0
    assert [line for line in done.output.splitlines() if "def pkg" in line or "class" in line] == [
        "def pkg.a.f(x: Tensor[B, 2 * B]): ...",
        "class pkg.sub.net.Net:",
    ]


def test_to_a_file(package: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.shapes"
    done = run("stubs", str(package / "a.pyi"), "-o", str(target))
    assert (done.exit_code, done.output) == (0, "")
    assert target.read_text() == TEXT
    assert sd.load(target) == sd.from_stub(package / "a.pyi")
    assert [each.name for each in tmp_path.iterdir()] == ["pkg", "out.shapes"] or len(list(tmp_path.iterdir())) == 2


def test_nothing_is_written_with_errors_or_over_an_input(tmp_path: Path) -> None:
    path, target = tmp_path / "a.pyi", tmp_path / "out.shapes"
    path.write_text(STUB)
    assert run("stubs", str(path), "-o", str(path)).exit_code == 2
    assert path.read_text() == STUB
    path.write_text("def f(:")
    target.write_text("kept")
    assert run("stubs", str(path), "-o", str(target)).exit_code == 1
    assert target.read_text() == "kept"


def test_what_is_not_there(tmp_path: Path) -> None:
    assert run("stubs", str(tmp_path / "none.pyi")).exit_code == 2
    assert run("stubs").exit_code == 2


@pytest.mark.parametrize(
    ("raw", "codes"),
    [
        (b"# coding: latin-1\n# \xe9\n", []),
        (b"\xef\xbb\xbf# coding: utf-8\n", []),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n# \x80\n", []),
        (b"# \xe9\n", ["invalid-utf8"]),
        (b"# coding: nonsense\n", ["invalid-utf8"]),
    ],
)
def test_encodings(tmp_path: Path, raw: bytes, codes: list[str]) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(raw + STUB.encode())
    if codes:
        with pytest.raises(sd.ShapeError) as caught:
            sd.from_stub(path)
        assert [d.code for d in caught.value.diagnostics] == codes
    else:
        assert list(sd.from_stub(path)) == ["f"]


def test_names_that_no_text_can_say(tmp_path: Path) -> None:
    path = tmp_path / "a.pyi"
    path.write_text(STUB + 'def é(x: Tensor["B"]): ...\n', encoding="utf-8")
    done = run("stubs", "--format", "concise", str(path))
    assert done.exit_code == 0
    assert TEXT in done.output
    assert "inexpressible" in done.output
    assert list(sd.from_stub(path)) == ["f", "é"]


def test_without_libcst(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.pyi"
    path.write_text(STUB)
    monkeypatch.setitem(sys.modules, "libcst", None)
    with pytest.raises(sd.ShapeError, match=r"shapedsl\[stubs\]") as caught:
        sd.from_stub(path)
    assert caught.value.code == "missing-extra"


@pytest.mark.parametrize("text", ["", "x = 1\n", "def f(x: int) -> int: ...\n"])
def test_a_file_without_specs_is_told_of(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.py"
    path.write_text(text)
    done = run("stubs", str(path))
    assert (done.exit_code, done.output) == (0, "no specs: nothing here speaks of shapes\n")
    assert run("stubs", "--format", "concise", str(path)).output == ""


@pytest.mark.parametrize("verb", [("check",), ("fmt",), ("explain",), ("lower",), ("ask", "B > 1")])
def test_verbs_for_specs_say_what_reads_python(tmp_path: Path, verb: tuple[str, ...]) -> None:
    path = tmp_path / "a.py"
    path.write_text(STUB)
    done = run(verb[0], str(path), *verb[1:])
    assert done.exit_code == 2
    assert f"error[unreadable-file]: `{path}` is Python, not the text of specs" in done.output
    assert f"help: `shapedsl stubs {path}` prints the specs that it states" in done.output


def test_load_says_what_reads_python(tmp_path: Path) -> None:
    path = tmp_path / "a.pyi"
    path.write_text(STUB)
    for given in (path, str(path)):
        with pytest.raises(sd.ShapeError, match="Python is read by `from_stub`") as caught:
            sd.load(given)
        assert caught.value.code == "unreadable-file"
    with pytest.raises(sd.ShapeError, match="Python is read by `from_stub`"):  # a path, not text
        sd.attach("a.pyi", {})
    with pytest.raises(sd.ShapeError, match="a file is read by `from_stub`"):
        sd.loads("a.pyi")


def test_from_stub_says_what_reads_specs(tmp_path: Path) -> None:
    path = tmp_path / "a.shapes"
    path.write_text(TEXT)
    with pytest.raises(sd.ShapeError, match="it is read by `load`") as caught:
        sd.from_stub(path)
    assert caught.value.code == "unreadable-file"


def test_an_empty_path_is_no_folder() -> None:
    done = run("stubs", "")
    assert done.exit_code == 2
    assert "A PATH is empty" in done.output


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX's")
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.pyi").write_text(STUB)
    os.mkfifo(tmp_path / "b.pyi")
    assert list(sd.from_stub(tmp_path)) == ["a.f"]
