"""Law 6: no input, however broken, gives anything but a diagnostic: no traceback, no hang, no lost file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import process, run

SIZE = 1_000_000

# name -> (text, a code that `check` must report; None where the text is correct)
TEXTS: dict[str, tuple[bytes, str | None]] = {
    "opening brackets": (b"[" * SIZE, "syntax-error"),
    "closing brackets": (b"]" * SIZE, "syntax-error"),
    "open parameters": (b"def f(x: " + b"[" * SIZE, "input-too-large"),
    "bracket pairs": (b"[]" * (SIZE // 2), "syntax-error"),
    "a size nested 10,000 deep": (b"let S = " + b"(" * 10_000 + b"B" + b")" * 10_000, "input-too-large"),
    "a type nested 10,000 deep": (b"type T = " + b"[" * 10_000 + b"B" + b"]" * 10_000, "input-too-large"),
    "a size nested 90 deep": (b"def f(x: Tensor[" + b"(" * 90 + b"B" + b")" * 90 + b"]): ...", None),
    "powers of powers": (b"let S = B" + b"**B" * 100_000, "input-too-large"),
    "a sum of 100,000": (b"let S = B" + b"+B" * 100_000, "input-too-large"),
    "nots": (b"where " + b"not " * 100_000 + b"B < 3", "input-too-large"),
    "a long path": (b"def f(x: Tensor[B]):\n values x" + b"[0]" * 100_000 + b" in [0, 1]", "input-too-large"),
    "NUL": (b"dim B\0\n", "syntax-error"),
    "NULs": (b"\0" * SIZE, "syntax-error"),
    "invalid UTF-8": (b"dim \xff\xfe B\n", "invalid-utf8"),
    "a surrogate": (b"dim \xed\xa0\x80\n", "invalid-utf8"),
    "UTF-16": ("dim B\n".encode("utf-16"), "invalid-utf8"),
    "a Cyrillic letter": ("dim \u0412\n".encode(), "syntax-error"),
    "a name of 100,000 Cyrillic letters": (("dim " + "\u0412" * 100_000).encode(), "syntax-error"),
    "a right-to-left override": ("dim \u202eB\n".encode(), "syntax-error"),
    "a number of 10,000 digits": (b"let S = " + b"9" * 10_000, "input-too-large"),
    "a hint of 10,000 digits": (b"dim B hint " + b"9" * 10_000, "input-too-large"),
    "an exponent bomb": (b"let S = 2**99999999", "input-too-large"),
    "a tower of exponents": (b"let S = 2**2**2**2**2**2", "input-too-large"),
    "a symbolic exponent bomb": (b"def f(x: Tensor[B**99999999]): ...", "input-too-large"),
    "a progression without end": (b"def f(x: Tensor[B]):\n where B in {0, 1, ..., 99999999999}", "input-too-large"),
    "repeated sequences": (b"def f(x: [[[Tensor[B]] * 9999] * 9999] * 9999): ...", "input-too-large"),
    "empty": (b"", None),
    "newlines": (b"\n" * (SIZE // 10), None),
    "spaces": (b" " * SIZE, None),
    "carriage returns": (b"\r" * SIZE, "syntax-error"),
    "one long comment": (b"#" * SIZE, None),
    "quotes": (b'"' * SIZE, "syntax-error"),
    "backslashes": (b'"\\' * (SIZE // 20), "syntax-error"),
    "one long name": (b"dim " + b"B" * SIZE, None),
    "stairs": (b"".join(b" " * i + b"x\n" for i in range(1000)), "syntax-error"),
    "wrong words": (b"wher B < 3\n" * 50_000, "syntax-error"),
    "heads that stay open": (b"def f(\n" * 50_000, "syntax-error"),
}


@pytest.mark.timeout(300)  # it ends, on a slow and busy machine too
@pytest.mark.parametrize("verb", ["check", "fmt"])
@pytest.mark.parametrize(("text", "code"), TEXTS.values(), ids=TEXTS.keys())
def test_text(text: bytes, code: str | None, verb: str, tmp_path: Path) -> None:
    file = tmp_path / "hostile.shapes"
    file.write_bytes(text)
    result = run(verb, *(["--check"] if verb == "fmt" else []), file)
    assert file.read_bytes() == text
    if verb == "check" and code is not None:
        assert result.exit_code == 1
        assert f"error[{code}]" in result.output
    elif verb == "check":
        assert result.exit_code == 0
    assert len(result.output) < 200_000


def test_nothing_is_written_where_there_are_errors(tmp_path: Path) -> None:
    for name, (text, code) in TEXTS.items():
        if code in ("syntax-error", "invalid-utf8") and len(text) < 100_000:
            file = tmp_path / "hostile.shapes"
            file.write_bytes(text)
            assert run("fmt", file).exit_code == 1, name
            assert file.read_bytes() == text, name


@pytest.mark.skipif(sys.platform == "win32", reason="resource limits are POSIX's")
@pytest.mark.parametrize("name", ["open parameters", "a size nested 10,000 deep", "NULs", "repeated sequences"])
def test_memory_is_bounded(name: str, tmp_path: Path) -> None:
    """A process that may have a gigabyte is enough, and no stack is exhausted."""
    file = tmp_path / "hostile.shapes"
    file.write_bytes(TEXTS[name][0])
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "from shapedsl.cli import main; sys.argv = ['shapedsl', 'check', sys.argv[1]]; main()"
    )
    import subprocess

    from tests.cli.helpers import ROOT

    done = subprocess.run(
        [sys.executable, "-c", code, file],
        capture_output=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert b"error[" in done.stdout


class TestFiles:
    def test_a_missing_file(self, tmp_path: Path) -> None:
        for verb in ("check", "fmt"):
            result = run(verb, tmp_path / "none.shapes")
            assert result.exit_code == 2
            assert "error[unreadable-file]" in result.output

    def test_a_folder(self, tmp_path: Path) -> None:
        for verb in ("check", "fmt", "explain", "lower"):
            result = run(verb, tmp_path)
            assert result.exit_code == 2
            assert "error[unreadable-file]" in result.output

    def test_names_no_file_can_have(self) -> None:
        for verb in ("check", "fmt", "explain", "lower"):
            for name in ("x" * 5000, ""):
                result = run(verb, name)
                assert result.exit_code == 2, (verb, name)

    @pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
    def test_an_unreadable_file(self, tmp_path: Path) -> None:
        file = tmp_path / "a.shapes"
        file.write_text("dim B\n")
        file.chmod(0)
        assert run("check", file).exit_code == 2

    @pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everything")
    def test_a_file_that_may_not_be_written(self, tmp_path: Path) -> None:
        file = tmp_path / "a.shapes"
        file.write_text("dim  B\n")
        file.chmod(0o444)
        assert run("fmt", file).exit_code == 2
        assert file.read_text() == "dim  B\n"

    def test_one_bad_file_does_not_hide_the_others(self, tmp_path: Path) -> None:
        good = tmp_path / "good.shapes"
        good.write_text("dim  B\n")
        assert run("fmt", tmp_path / "none.shapes", good).exit_code == 2
        assert good.read_text() == "dim B\n"

    @pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="/dev/zero is a device of POSIX")
    def test_a_device_that_never_ends(self, tmp_path: Path) -> None:
        (tmp_path / "a.shapes").write_text('from "/dev/zero" import B\ndef f(x: Tensor[B]): ...\n')
        assert "error[unreadable-file]: cannot read `/dev/zero`" in run("check", "/dev/zero").output
        assert "error[unreadable-file]" in run("check", tmp_path / "a.shapes").output
        assert run("fmt", "/dev/zero").exit_code == 2

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX's")
    def test_a_pipe_is_not_replaced(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        assert run("fmt", tmp_path / "pipe").exit_code == 2
        assert not (tmp_path / "pipe").is_file()

    @pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are text")
    def test_a_name_that_is_no_text(self, tmp_path: Path) -> None:
        name = os.fsencode(tmp_path) + b"/\xff.shapes"
        with open(name, "wb") as file:
            file.write(b"def f(x:  Tensor[B / 2]): ...\n")
        for format_ in ("full", "concise", "json", "github", "sarif"):
            result = run("check", "--format", format_, os.fsdecode(name))
            assert result.exit_code == 1
            assert "true-division" in result.output
        assert run("fmt", os.fsdecode(name)).exit_code == 0
        with open(name, "rb") as file:
            assert file.read() == b"def f(x: Tensor[B / 2]): ...\n"


class TestImports:
    def test_a_file_that_imports_itself(self, tmp_path: Path) -> None:
        file = tmp_path / "a.shapes"
        file.write_text('from "a.shapes" import B\ndef f(x: Tensor[B]): ...\n')
        result = run("check", file)
        assert result.exit_code == 1
        assert "error[import-cycle]" in result.output

    def test_a_long_cycle(self, tmp_path: Path) -> None:
        count = 20
        for i in range(count):
            (tmp_path / f"f{i}.shapes").write_text(
                f'from "f{(i + 1) % count}.shapes" import B{(i + 1) % count}\ndim B{i}\n'
            )
        assert "error[import-cycle]" in run("check", tmp_path / "f0.shapes").output

    def test_a_cycle_through_links_and_dots(self, tmp_path: Path) -> None:
        (tmp_path / "sub").mkdir()
        (tmp_path / "a.shapes").write_text('from "sub/../b.shapes" import D\ndim B\n')
        (tmp_path / "b.shapes").symlink_to("a.shapes")
        result = run("check", tmp_path / "a.shapes")
        assert result.exit_code == 1
        assert "error[" in result.output

    def test_a_chain_of_a_thousand_files(self, tmp_path: Path) -> None:
        for i in range(1000):
            (tmp_path / f"f{i}.shapes").write_text(f'from "f{i + 1}.shapes" import B\n')
        (tmp_path / "f1000.shapes").write_text("dim B\n")
        result = run("check", tmp_path / "f0.shapes")
        assert result.exit_code == 1
        assert "error[" in result.output

    @pytest.mark.parametrize("path", ["none.shapes", ".", "", "\\0", "/", "x" * 5000, "a\\nb"])
    def test_an_import_that_cannot_be_read(self, path: str, tmp_path: Path) -> None:
        file = tmp_path / "a.shapes"
        file.write_text(f'from "{path}" import B\ndef f(x: Tensor[D]): ...\n')
        result = run("check", file)
        assert result.exit_code == 1
        assert "error[" in result.output

    def test_an_import_that_is_no_text(self, tmp_path: Path) -> None:
        (tmp_path / "b.shapes").write_bytes(b"\xff\xfe\x00")
        file = tmp_path / "a.shapes"
        file.write_text('from "b.shapes" import B\ndef f(x: Tensor[B]): ...\n')
        result = run("check", file)
        assert result.exit_code == 1
        assert "error[invalid-utf8]" in result.output


def test_random_bytes_on_standard_input() -> None:
    done = process("check", "-", text=bytes(range(256)) * 100)
    assert done.returncode == 1
    assert b"error[invalid-utf8]" in done.stdout
    assert done.stderr == b""
