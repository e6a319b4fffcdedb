"""What is dispatched carries its spec: whoever is given it alone knows what it accepts."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd

SPEC = """
def f(x: float32[B, 4]) -> float32[B, 4]:
    where 1 <= B <= 32
    bucket B in {8, 32} pad x with 0 as rows_independent
"""


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def test_the_spec_of_a_function_and_of_a_module() -> None:
    spec = sd.loads(SPEC)["f"]
    assert sd.spec_of(sd.dispatch(double, spec, backend="eager")) == spec
    net = sd.loads(SPEC.replace("f(x", "f(input").replace("pad x", "pad input"))["f"]
    assert sd.spec_of(sd.dispatch(torch.nn.Linear(4, 4), net, backend="eager")) == net


def test_a_padding_check_needs_no_spec() -> None:
    report = sd.check_padding(sd.dispatch(double, SPEC, backend="eager"))
    assert report.passed
    assert report.trials


def test_a_profile_of_it_has_the_sizes_of_its_spec() -> None:
    seen = sd.observe(sd.dispatch(double, SPEC, backend="eager"))
    seen(torch.ones(3, 4))
    assert seen.profile.spec == str(sd.loads(SPEC)["f"])
    assert seen.suggest(1).spec.name == "f"
