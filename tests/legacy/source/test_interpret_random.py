"""No value that is told is wrong: random programs, which Python runs too."""

from __future__ import annotations

import pytest

from .running_programs import wrong


@pytest.mark.parametrize("seed", [*range(24), 3529])
def test_python_sees_nothing_else(seed: int) -> None:
    assert wrong(seed, runs=6) == ""
