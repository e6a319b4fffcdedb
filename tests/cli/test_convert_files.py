"""``shapedsl convert``: which files it looks into, and which it leaves alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shapedsl.cli.converting.files import files_in
from shapedsl.cli.converting.outcome import Outcome
from shapedsl.cli.converting.work import Task, convert_file
from shapedsl.diagnostics import Report

from .converting import NEW, OLD, SHAPES, WRITTEN, convert


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str | bytes = OLD) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def found(*names: str, excluded: tuple[str, ...] = ()) -> list[str]:
    return [each.name for each in files_in(names, excluded, Report())]


def done(name: str, *, named: bool = True, target: str = "python") -> Outcome:
    return convert_file(Task(name, named, "torch", target, convert))  # type: ignore[arg-type]


def codes(outcome: Outcome) -> list[str]:
    return [d.code for d in outcome.diagnostics]


# --------------------------------------------------------------------------------------------- folders


def test_folders_are_walked_in_order() -> None:
    for name in ("b.py", "a.py", "pkg/z.py", "pkg/__init__.py", "pkg/deep/er/m.py", "notes.txt", "stub.pyi"):
        write(name)
    assert found(".") == ["a.py", "b.py", "pkg/__init__.py", "pkg/z.py", "pkg/deep/er/m.py"]
    assert found("pkg/", "a.py") == ["pkg/__init__.py", "pkg/z.py", "pkg/deep/er/m.py", "a.py"]


def test_each_file_is_meant_once() -> None:
    write("pkg/a.py")
    os.symlink("pkg", "again")
    assert found("pkg", "pkg/a.py", "./pkg//a.py", "again/a.py") == ["pkg/a.py"]


def test_what_tools_and_others_made_is_left_out() -> None:
    for name in (".git/a.py", "__pycache__/a.py", "node_modules/a.py", "lib/site-packages/a.py", "src/.hidden.py"):
        write(name)
    write("env/pyvenv.cfg")
    write("env/bin/tool.py")
    write("build/mine.py")
    assert found(".") == ["build/mine.py"]
    assert found("node_modules") == ["node_modules/a.py"]  # who names it, means it


@pytest.mark.parametrize(
    ("glob", "left"),
    [
        ("*.py", []),
        ("test_*.py", ["a.py", "old/b.py"]),
        ("old", ["a.py", "test_a.py"]),
        ("old/*", ["a.py", "test_a.py"]),
        ("old/b.py", ["a.py", "test_a.py"]),
        ("ld", ["a.py", "test_a.py", "old/b.py"]),
    ],
)
def test_exclude(glob: str, left: list[str]) -> None:
    for name in ("a.py", "test_a.py", "old/b.py"):
        write(name)
    assert found(".", excluded=(glob,)) == left


def test_what_is_not_there_is_reported() -> None:
    report = Report()
    assert files_in(["nope.py"], (), report) == []
    assert [(d.code, d.message) for d in report] == [
        ("unreadable-file", "cannot read `nope.py`: No such file or directory")
    ]


def test_a_link_to_a_folder_is_not_followed() -> None:
    write("real/a.py")
    os.symlink("real", "alias")
    os.symlink("..", "real/up")
    report = Report()
    assert [each.name for each in files_in(["."], (), report)] == ["real/a.py"]
    assert sorted(d.message for d in report) == [
        "`alias` is a symbolic link to a folder, which is not followed",
        "`real/up` is a symbolic link to a folder, which is not followed",
    ]


# ------------------------------------------------------------------------------------------- one file


def test_a_file_is_converted() -> None:
    write("a.py")
    outcome = done("a.py")
    assert outcome.change is not None
    assert (outcome.change.before, outcome.change.after) == (OLD.encode(), NEW.encode())
    assert outcome.change.diff == (
        "--- a.py",
        "+++ a.py",
        "@@ -1,2 +1,2 @@",
        " import torch",
        '-run(dynamic_shapes="old")',
        '+run(dynamic_shapes="new")',
    )
    assert (outcome.converted, outcome.kept, outcome.skipped, outcome.diagnostics) == (1, 0, False, ())


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"\xef\xbb\xbf" + OLD.encode(), id="byte-order mark"),
        pytest.param(OLD.replace("\n", "\r\n").encode(), id="crlf"),
        pytest.param(OLD.replace("\n", "\r").encode(), id="cr"),
        pytest.param((OLD + "x = 1\r\ny = 2\n\x0c\n").encode(), id="mixed"),
        pytest.param(OLD.rstrip("\n").encode(), id="no newline at the end"),
        pytest.param(b"# -*- coding: latin-1 -*-\n" + OLD.encode() + b"s = '\xe9'\n", id="latin-1"),
        pytest.param(b"# vim: set fileencoding=cp1252 :\n" + OLD.encode() + b"s = '\x80'\n", id="cp1252"),
        pytest.param(b"#!/usr/bin/python\n# coding=koi8-r\n" + OLD.encode() + b"s = '\xc1'\n", id="koi8-r"),
        pytest.param(b"\xef\xbb\xbf# coding: utf-8\r\n" + OLD.encode() + "s = 'é🦊'\r\n".encode(), id="all of it"),
    ],
)
def test_bytes_around_a_change_stay(raw: bytes) -> None:
    write("a.py", raw)
    outcome = done("a.py")
    assert outcome.change is not None, outcome.diagnostics
    assert outcome.change.after == raw.replace(b'"old"', b'"new"')


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        pytest.param(OLD.encode() + b"# \xff\n", "invalid-utf8", id="no UTF-8"),
        pytest.param(b"# coding: nonsense\n" + OLD.encode(), "invalid-utf8", id="unknown encoding"),
        pytest.param(OLD.encode() + b"# wrong\n", "syntax-error", id="no Python"),
        pytest.param(OLD.encode() + b"# raise\n", "skipped-file", id="a fault of ours"),
        pytest.param(b"# coding: utf-7\n" + OLD.encode() + b"s = '+AOk-+AOk-'\n", "skipped-file", id="no way back"),
        pytest.param(b"# @generated by make\n" + OLD.encode(), "skipped-file", id="generated"),
        pytest.param(b'"""Automatically generated. DO NOT EDIT."""\n' + OLD.encode(), "skipped-file", id="do not edit"),
        pytest.param(OLD.encode() + b"#" * (4 * 1024 * 1024), "skipped-file", id="huge"),
    ],
)
def test_bad_files_are_skipped_with_a_reason(raw: bytes, code: str) -> None:
    write("a.py", raw)
    for named in (True, False):
        outcome = done("a.py", named=named)
        assert (codes(outcome), outcome.change, outcome.skipped) == ([code], None, True)


def test_a_generator_mentioned_by_code_generates_nothing() -> None:
    write("a.py", OLD + 'HEAD = "# @generated: do not edit"\n')
    assert done("a.py").change is not None


def test_files_without_legacy_specs_are_not_judged() -> None:
    for raw in (b"# @generated\n", b"\xff\xfe", b"def (:\n", b"", b"#" * (5 * 1024 * 1024)):
        write("a.py", raw)
        assert done("a.py", named=False) == Outcome("a.py")


def test_links_to_files_are_left_alone() -> None:
    write("real.py")
    write("plain.py", "x = 1\n")
    os.symlink("real.py", "alias.py")
    os.symlink("plain.py", "dull.py")
    os.symlink("gone.py", "broken.py")
    os.symlink("loop.py", "loop.py")
    outcome = done("alias.py")
    assert [(d.code, d.helps) for d in outcome.diagnostics] == [
        ("skipped-file", ("convert what it points to: real.py",))
    ]
    assert done("dull.py", named=False) == Outcome("dull.py")
    assert done("broken.py", named=False) == Outcome("broken.py")
    assert done("loop.py", named=False) == Outcome("loop.py")
    assert codes(done("broken.py")) == codes(done("loop.py")) == ["unreadable-file"]


def test_pipes_are_not_opened() -> None:
    os.mkfifo("pipe.py")
    assert [(d.code, d.message) for d in done("pipe.py").diagnostics] == [
        ("unreadable-file", "cannot read `pipe.py`: it is no regular file")
    ]
    assert done("pipe.py", named=False) == Outcome("pipe.py")


# ------------------------------------------------------------------------------------------- extraction


def test_specs_are_extracted_beside_the_source() -> None:
    write("pkg/net.py")
    change = done("pkg/net.py", target="shapes").change
    assert change is not None
    assert (change.name, change.before) == (os.path.join("pkg", "net.shapes"), None)
    assert change.diff[:3] == ("--- /dev/null", "+++ pkg/net.shapes", "@@ -0,0 +1,3 @@")
    Path("pkg/net.shapes").write_bytes(change.after)
    assert done("pkg/net.py", target="shapes").change is None  # nothing is new


def test_what_was_extracted_from_an_older_source_is_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    write("net.py")
    with monkeypatch.context() as patch:
        patch.setattr("tests.cli.converting.SHAPES", SHAPES.replace("[B]", "[C]"))
        older = done("net.py", target="shapes").change
    assert older is not None
    Path("net.shapes").write_bytes(older.after.replace(b"\n", b"\r\n"))  # as git may check it out
    change = done("net.py", target="shapes").change
    assert change is not None
    assert change.after.decode() == WRITTEN.format(name="net.py")


def test_what_was_edited_since_is_not_overwritten() -> None:
    write("net.py")
    write("net.shapes", WRITTEN.format(name="net.py").replace("[B]", "[B, 3]"))
    outcome = done("net.py", target="shapes")
    assert (codes(outcome), outcome.change, outcome.skipped) == (["skipped-file"], None, True)


@pytest.mark.parametrize("text", ["def f(x: Tensor[B]): ...\n", ""])
def test_a_spec_that_somebody_wrote_is_not_overwritten(text: str) -> None:
    write("net.py")
    write("net.shapes", text)
    outcome = done("net.py", target="shapes")
    assert (codes(outcome), outcome.change, outcome.skipped) == (["skipped-file"], None, True)


def test_reading_a_read_only_source_is_allowed() -> None:
    write("net.py").chmod(0o444)
    assert done("net.py", target="shapes").change is not None


# ------------------------------------------------------------------------------- files that the user names


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        pytest.param(b"def f(:\n", "syntax-error", id="no Python"),
        pytest.param(b"print 'hello'\n", "syntax-error", id="Python 2"),
        pytest.param(b"x = '\xff'\n", "invalid-utf8", id="no UTF-8"),
        pytest.param(b"x = 1\0\n", "syntax-error", id="a NUL"),
    ],
)
def test_what_is_no_python_is_told_to_who_names_it(raw: bytes, code: str) -> None:
    write("a.py", raw)
    outcome = done("a.py")
    assert (codes(outcome), outcome.skipped) == ([code], True)
    assert done("a.py", named=False) == Outcome("a.py")  # in a folder, it is not even parsed


def test_python_of_any_version_is_python() -> None:
    for text in ("type A[T] = int\n", "match x:\n    case 1: pass\n", "def f[T](x: T) -> T: return x\n", "x = 'é'\n"):
        write("a.py", text)
        assert done("a.py") == Outcome("a.py")


def test_names_with_spaces_in_a_diff() -> None:
    write("my net.py")
    change = done("my net.py").change
    assert change is not None
    assert change.diff[:2] == ("--- my net.py\t", "+++ my net.py\t")
