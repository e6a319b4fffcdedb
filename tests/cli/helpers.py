"""Runs commands: in the process where that is enough, else as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from shapedsl.cli import group

ROOT = Path(__file__).parents[2]

FIRST = """\
# project.shapes
language 1

dim B in [0, 1024] hint 8
dim D hint 64

def project(x: Tensor[B, D], w: Tensor[D, D]) -> Tensor[B, D]:
    where B < 32
"""
BROKEN = "dim B in [0, 8]\ndef f(x: Tensor[B]):\n    where B = 3\n"


def run(*arguments: str | Path, text: str | bytes | None = None) -> Result:
    """Runs a command in this process; an exception that reaches its edge fails the test."""
    result = CliRunner().invoke(group, [str(argument) for argument in arguments], input=text, catch_exceptions=False)
    assert "Traceback" not in result.output
    return result


def process(
    *arguments: str | Path, text: bytes = b"", cwd: Path | None = None, timeout: float = 60, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Runs a command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "shapedsl", *map(str, arguments)],
        input=text,
        capture_output=True,
        cwd=cwd,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )
