"""Finds the files that are not Python: the grammar, the stubs, the pages of the diagnostic codes.

They lie at the root of the repository, where people look for them, and a wheel carries copies in
``shapedsl/_data``. `importlib.resources` alone cannot find them in an editable install.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent


def asset(name: str) -> Path:
    """Returns the path of a file or folder, e.g. ``grammar/shapes.lark`` or ``docs/codes``; it may not exist."""
    installed = _PACKAGE / "_data"
    return (installed if installed.is_dir() else _PACKAGE.parent) / name
