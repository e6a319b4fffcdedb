"""A branch of the program that the spec decides and torch does not, and how sizes are said in such a message."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="lowering needs torch")

import shapedsl as sd
from shapedsl.pipeline import Reasoning

CONVOLUTION = "def forward(input: Tensor[B, 3, H, W]): where B >= 1, H >= 4, W >= 4"
ASKED = "8 * (H // 2 - 1) * (W // 2 - 1) * B"


def finding(entry: Any, code: str = "data-dependent") -> Any:
    with pytest.raises(sd.ShapeError) as caught:
        entry()
    (found,) = caught.value.diagnostics
    assert found.code == code
    return found


@pytest.mark.parametrize("entry", ["export", "make_fx", "compile"])
def test_what_the_spec_implies_is_not_called_open(entry: str) -> None:
    nn = torch.nn
    module = nn.Sequential(nn.Conv2d(3, 8, 3), nn.MaxPool2d(2), nn.BatchNorm2d(8)).eval()
    example = (torch.ones(2, 3, 8, 8),)

    def run(spec: str) -> Any:
        if entry == "export":
            return sd.export(module, example, spec=spec)
        made = sd.make_fx(module, spec) if entry == "make_fx" else sd.compile(module, spec, backend="eager")
        return made(*example)

    found = finding(lambda: run(CONVOLUTION))
    assert "the spec implies `" in found.message
    assert found.message.endswith(" != 0`, but torch does not conclude it")
    (help_,) = found.helps
    assert help_.startswith("add `where ")
    assert " == 0" not in help_
    added = help_.partition("`where ")[2].partition("`")[0]
    run(f"{CONVOLUTION}, {added}")  # the cure is one


def test_an_open_branch_is_called_open_and_said_briefly() -> None:
    def f(x: Any) -> Any:
        return x + 1 if x.shape[0] // 2 == 0 else x

    found = finding(lambda: sd.export(f, (torch.ones(8),), spec="def f(x: Tensor[2 * H]): ..."))
    assert found.message == "the program asks whether `H == 0`, which the spec leaves open"
    assert found.notes[1:] == ("x.shape[0] is 2 * H, and H 4 in the example",)
    assert found.helps == (
        "add `where H >= 1`: it excludes H == 0; a `case H == 0` would serve that",
        "or add `where H == 0`: it excludes H >= 1; a `case H >= 1` would serve that",
    )


def test_a_number_is_said_briefly() -> None:
    def f(x: Any) -> Any:
        return x + sum(range(x.shape[0] // 2))

    found = finding(lambda: sd.export(f, (torch.ones(8),), spec="def f(x: Tensor[2 * H]): ..."))
    assert found.message == "the program needs the number `H` itself, which the spec leaves open"


@pytest.mark.parametrize("entry", ["export", "compile"])
def test_a_demand_is_said_briefly(entry: str) -> None:
    def f(x: Any, y: Any) -> Any:
        return x.narrow(0, 0, (3 * x.shape[0] - x.shape[0]) // 4) + y

    spec = "def f(x: Tensor[2 * H], y: Tensor[K]): where H >= 1, K >= 1"
    if entry == "export":
        found = finding(lambda: sd.export(f, (torch.ones(8), torch.ones(4)), spec=spec), "extra-assumption")
    else:
        compiled = sd.compile(f, spec, backend="eager")
        compiled(torch.ones(8), torch.ones(4))
        found = finding(lambda: compiled(torch.ones(8), torch.ones(3)), "extra-assumption")
    assert found.helps[0].startswith(("add `where H == K`", "add `where K == H`"))


def test_answers_can_be_pickled() -> None:
    assert isinstance(pickle.loads(pickle.dumps(Reasoning())), Reasoning)
