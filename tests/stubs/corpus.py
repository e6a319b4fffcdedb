"""Finds Pyrefly's stubs of torch, the largest body of shape-annotated stubs there is; installs them aside if need be.

They must not lie beside torch in the environment that mypy and pyright check with: their `torch-stubs`
package takes the place of torch's own types there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

PACKAGES = ("pyrefly-torch-stubs>=1.4,<1.5", "pyrefly-shape-extensions>=1.4,<1.5")


@cache
def folder() -> Path | None:
    """Returns the folder that holds ``torch-stubs`` and ``shape_extensions``; None if there is no way to it."""
    for entry in sys.path:
        if (Path(entry or ".") / "torch-stubs" / "_shapes.pyi").is_file():
            return Path(entry or ".")
    aside = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shapedsl-tests" / "pyrefly-1.4"
    if not (aside / "torch-stubs" / "_shapes.pyi").is_file():
        aside.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix="pyrefly-", dir=aside.parent))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(fresh), *PACKAGES]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None
        try:
            fresh.rename(aside)
        except OSError:  # another process was faster
            return aside if aside.is_dir() else fresh
    return aside


def require() -> Path:
    """Returns `folder`; skips the test where there is none."""
    found = folder()
    if found is None:
        pytest.skip("pyrefly-torch-stubs 1.4 is neither installed nor to be had from pip")
    return found


def torch_stubs() -> Path:
    """Returns the folder ``torch-stubs``; skips the test where there is none."""
    return require() / "torch-stubs"
