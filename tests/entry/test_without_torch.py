"""Where torch is not installed, what needs it says so: tried in a process that cannot import it."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys; sys.modules["torch"] = None  # cannot be imported
import shapedsl as sd
from shapedsl import Tensor, shapes
from shapedsl.dims import B

@shapes
def f(x: Tensor[B]): return x

@shapes(check=True)
def checked(x: Tensor[B]): return x

spec = sd.spec_of(f)
try:
    {call}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("call", "purpose"),
    [
        ("checked(3)", "checking calls"),
        ("spec.check(3)", "checking inputs"),
        ("spec.bind(3)", "binding inputs"),
        ("spec.to_torch()", "lowering a spec"),
        ("sd.from_torch({})", "reading a ShapesSpec"),
        ("sd.compile(f)", "compiling"),
        ("sd.export(f, (3,))", "exporting"),
        ("sd.make_fx(f)", "tracing"),
    ],
)
def test_what_needs_torch_says_so(call: str, purpose: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{call}", call)], capture_output=True, text=True, check=False
    )
    assert (done.stderr, done.stdout) == ("", f"{purpose} needs PyTorch 2.14 or newer: pip install 'shapedsl[torch]'\n")
