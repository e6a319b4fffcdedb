"""What only a process of its own shows: broken pipes, closed streams, encodings, colors, start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import shapedsl

from .helpers import BROKEN, FIRST, ROOT, process, run


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a shell command in which ``shapedsl`` is this checkout's."""
    text = command.replace("shapedsl ", f"'{sys.executable}' -m shapedsl ")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", text],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_version_and_help() -> None:
    assert process("--version").stdout.decode() == f"shapedsl {shapedsl.__version__}\n"
    assert process("-V").returncode == process("-h").returncode == 0
    for verb in ("check", "fmt", "explain", "lower", "demo", "completion"):
        text = run(verb, "--help").output
        assert f"  shapedsl {verb} " in text or verb == "completion" or verb == "demo", text
        assert verb in run("--help").output


def test_a_wrong_verb_is_misuse() -> None:
    result = run("chek")
    assert result.exit_code == 2
    assert "did you mean 'check'?" in result.output


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    (tmp_path / "many.shapes").write_text(
        "def f(x: Tensor[B / 2]): ...\n" + "".join(f"def f{i}(x: Tensor[B / 2]): ...\n" for i in range(3000))
    )
    done = shell("shapedsl check --format concise many.shapes | head -1", tmp_path)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.mark.parametrize(
    "command", ["check a.shapes >&-", "fmt --check a.shapes >&-", "explain a.shapes >&-", "check - <&-", "fmt - <&-"]
)
def test_closed_streams(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.shapes").write_text(FIRST)
    done = shell(f"shapedsl {command}", tmp_path)
    assert done.returncode in (0, 1, 2)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is a device of Linux")
def test_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "a.shapes").write_text(FIRST)
    done = shell("shapedsl explain a.shapes > /dev/full", tmp_path)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_color_is_forced_and_refused(tmp_path: Path) -> None:
    (tmp_path / "a.shapes").write_text(BROKEN)
    plain = process("check", "a.shapes", cwd=tmp_path)
    forced = process("check", "a.shapes", cwd=tmp_path, FORCE_COLOR="1")
    refused = process("check", "a.shapes", cwd=tmp_path, FORCE_COLOR="1", NO_COLOR="1")
    assert b"\x1b[" not in plain.stdout
    assert b"\x1b[1;31merror[syntax-error]" in forced.stdout
    assert refused.stdout == plain.stdout


def test_a_terminal_without_unicode(tmp_path: Path) -> None:
    (tmp_path / "a.shapes").write_text("dim größe\n", encoding="utf-8")
    done = process("check", "a.shapes", cwd=tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 1
    assert rb"dim gr\xf6\xdfe" in done.stdout


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts(name: str) -> None:
    done = process("completion", name)
    assert done.returncode == 0
    assert b"_SHAPEDSL_COMPLETE" in done.stdout


def test_completions() -> None:
    done = process(COMP_WORDS="shapedsl che", COMP_CWORD="1", _SHAPEDSL_COMPLETE="bash_complete")
    assert done.stdout.decode().split() == ["plain,check", "plain,check-padding"]
