"""``shapedsl fmt``, and that no file is ever lost."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from shapedsl.cli.common import write_file

from .helpers import BROKEN, FIRST, run

LOOSE = "dim  B   # batch\ndef f( x:Tensor[B,2*B] ) : ...\n"
TIDY = "dim B  # batch\ndef f(x: Tensor[B, 2 * B]): ...\n"


def test_standard_input_to_standard_output() -> None:
    result = run("fmt", "-", text=LOOSE)
    assert (result.exit_code, result.output) == (0, TIDY)


def test_files_are_rewritten(tmp_path: Path) -> None:
    file = tmp_path / "loose.shapes"
    file.write_text(LOOSE)
    result = run("fmt", file)
    assert (result.exit_code, result.output, file.read_text()) == (0, f"reformatted {file}\n", TIDY)
    assert run("fmt", file).output == ""


def test_check_and_diff_write_nothing(tmp_path: Path) -> None:
    file = tmp_path / "loose.shapes"
    file.write_text(LOOSE)
    check = run("fmt", "--check", file)
    assert (check.exit_code, check.output) == (1, f"would reformat {file}\n")
    diff = run("fmt", "--diff", file)
    assert diff.exit_code == 1
    assert diff.output.splitlines() == [
        f"--- {file}",
        f"+++ {file}",
        "@@ -1,2 +1,2 @@",
        "-dim  B   # batch",
        "-def f( x:Tensor[B,2*B] ) : ...",
        "+dim B  # batch",
        "+def f(x: Tensor[B, 2 * B]): ...",
    ]
    assert file.read_text() == LOOSE
    file.write_text(TIDY)
    assert (run("fmt", "--check", file).exit_code, run("fmt", "--diff", file).output) == (0, "")


def test_diff_shows_a_missing_newline() -> None:
    assert "\\ No newline at end of file\n" in run("fmt", "--diff", "-", text="dim B").output


def test_bom_and_crlf_are_removed(tmp_path: Path) -> None:
    file = tmp_path / "windows.shapes"
    file.write_bytes(b"\xef\xbb\xbfdim B\r\ndim D\r\n")
    assert run("fmt", "--check", file).exit_code == 1
    assert run("fmt", file).exit_code == 0
    assert file.read_bytes() == b"dim B\ndim D\n"
    file.write_bytes(b"\xef\xbb\xbfdim B\n")
    assert run("fmt", "--check", file).exit_code == 1


def test_a_file_with_errors_is_left_alone(tmp_path: Path) -> None:
    broken, loose = tmp_path / "broken.shapes", tmp_path / "loose.shapes"
    broken.write_text(BROKEN)
    loose.write_text(LOOSE)
    result = run("fmt", broken, loose)
    assert result.exit_code == 1
    assert "sizes are compared with `==`" in result.stderr
    assert (broken.read_text(), loose.read_text()) == (BROKEN, TIDY)


def test_text_with_other_errors_has_a_layout() -> None:
    assert run("fmt", "-", text="let S=T/2").output == "let S = T / 2\n"


def test_permissions_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "loose.shapes"
    file.write_text(LOOSE)
    file.chmod(0o640)
    run("fmt", file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["loose.shapes"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    (folder / "a.shapes").write_text(LOOSE)
    link = tmp_path / "link.shapes"
    link.symlink_to(folder / "a.shapes")
    assert run("fmt", link).exit_code == 0
    assert link.is_symlink()
    assert (folder / "a.shapes").read_text() == TIDY


def test_a_failed_write_leaves_the_old_text_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.shapes"
    file.write_text("old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space"):
        write_file(file, "new")
    assert (file.read_text(), os.listdir(tmp_path)) == ("old", ["a.shapes"])


def test_a_write_that_fails_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.shapes"
    file.write_text(LOOSE)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("shapedsl.cli.fmt.write_file", refuse)
    result = run("fmt", file)
    assert (result.exit_code, file.read_text()) == (2, LOOSE)
    assert "cannot write" in result.stderr


def test_the_first_file(tmp_path: Path) -> None:
    file = tmp_path / "project.shapes"
    file.write_text(FIRST)
    assert run("fmt", "--check", file).exit_code == 0
