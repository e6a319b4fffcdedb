"""What dispatch says of padding at load, and what it remembers."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="padding needs torch")

import shapedsl as sd
from tests.serving.padding import modules

SUM = """
def total(x: float32[B, S]) -> float32[B]:
    where 1 <= B <= 2, 1 <= S <= 16
    bucket S in {8, 16} pad x with FILL REASON
"""


def text(reason: str = "", fill: str = "0") -> str:
    return SUM.replace("REASON", reason).replace("FILL", fill)


def total(x: Any) -> Any:
    return x.sum(1)


@pytest.fixture
def fresh() -> Any:
    """A function of which nothing is remembered."""
    return lambda x: x.sum(1)


def test_padding_without_a_reason_warns_at_load(fresh: Any) -> None:
    with pytest.warns(sd.ShapeWarning, match="unchecked-padding"):
        run = sd.dispatch(fresh, text(), backend="eager")
    torch.testing.assert_close(run(torch.ones(2, 5)), torch.full((2,), 5.0))


def test_padding_without_a_reason_is_refused_if_strict(fresh: Any) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        sd.dispatch(fresh, text(), strict=True, backend="eager")
    assert caught.value.code == "unchecked-padding"


def test_a_reason_is_enough(fresh: Any) -> None:
    sd.dispatch(fresh, text("as neutral"), strict=True, backend="eager")


def test_a_passed_check_is_remembered(fresh: Any) -> None:
    unsafe = text(fill="1")
    with pytest.raises(sd.ShapeError, match="unsafe-padding"):
        sd.check_padding(fresh, unsafe)
    with pytest.raises(sd.ShapeError, match="unchecked-padding"):
        sd.dispatch(fresh, unsafe, strict=True, backend="eager")

    mean = text("as neutral")
    assert sd.check_padding(fresh, mean).passed
    sd.dispatch(fresh, mean, strict=True, backend="eager")


def test_a_check_of_what_is_dispatched_is_remembered() -> None:
    module = modules.Recurrent()
    spec = """
def forward(x: float32[B, S, 4]) -> (float32[B, S, 8], float32[1, B, 8]):
    where 1 <= B <= 2, 1 <= S <= 8
    bucket B in {2, 4} pad x with 0
"""
    with pytest.warns(sd.ShapeWarning, match="unchecked-padding"):
        run = sd.dispatch(module, spec, backend="eager")
    report = run.check_padding(n=4)
    assert report.passed
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sd.dispatch(module, spec, strict=True, backend="eager")
    with pytest.warns(sd.ShapeWarning, match="unchecked-padding"):  # another module, and another mode
        sd.dispatch(copy.deepcopy(module), spec, backend="eager")
    with pytest.warns(sd.ShapeWarning, match="unchecked-padding"):
        sd.dispatch(module.eval(), spec, backend="eager")


def test_a_check_of_what_is_dispatched_raises_with_the_report(fresh: Any) -> None:
    run = sd.dispatch(fresh, text("as masked", fill="2"), backend="eager")
    with pytest.raises(sd.ShapeError) as caught:
        run.check_padding()
    report: Any = caught.value.report  # type: ignore[attr-defined]
    assert not report.passed
    assert "differs" in str(report)
    assert caught.value.diagnostics[0].span.text.startswith("bucket S")  # type: ignore[union-attr]


def test_outputs_without_slots_need_a_check_or_to_be_given_up() -> None:
    spec = """
def forward(x: float32[B, S, 4]) -> (float32[B, S, 8], float32[1, B, 8]):
    where 1 <= B <= 2, 1 <= S <= 8
    case padded:
        bucket S in {8} pad x with 0 as causal_right
        LINE
"""
    plain = "\n".join(line for line in spec.splitlines() if "LINE" not in line)
    with pytest.warns(sd.ShapeWarning, match=r"leaves `return\[1\]` right"):
        sd.dispatch(modules.Recurrent(), plain, backend="eager")
    for line in ("drop return[1]", "keep return[1]"):
        sd.dispatch(modules.Recurrent(), spec.replace("LINE", line), strict=True, backend="eager")
    unpad = {"return[1]": lambda output, sizes: output}
    sd.dispatch(modules.Recurrent(), plain, unpad=unpad, strict=True, backend="eager")


def test_a_silenced_warning_is_no_error_either(fresh: Any) -> None:
    silenced = text().replace("pad x with 0 ", "pad x with 0  # shapedsl: ignore[unchecked-padding]")
    sd.dispatch(fresh, silenced, strict=True, backend="eager")


def test_attributes_of_the_receiver_are_its_own() -> None:
    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.eye(4))

        def forward(self, x: Any) -> Any:
            return x @ self.w

    spec = """
class Net:
    def forward(self: Net(w: Tensor[D, D]), x: float32[B, D]) -> float32[B, D]:
        where 1 <= B <= 8, D == 4
        bucket B in {8} pad x with 0 as rows_independent
"""
    assert sd.dispatch(Net(), spec, backend="eager").check_padding(n=3).passed
