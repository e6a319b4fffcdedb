"""Sizes, and conditions on them, that torch's functions take as plain numbers only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="lowering needs torch")

import torch

import shapedsl as sd
from shapedsl.targets.size_arguments import size_argument

SPEC = "def attend(x: Tensor[B, 2, T, 4]): where T >= 2"
example = torch.ones(3, 2, 5, 4)
MESSAGE = "`is_causal` of `scaled_dot_product_attention` is a condition on sizes, and torch takes a plain bool only"
HELP = "write `True if … else False` there: a condition that the spec decides is then decided while tracing"


def attend(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=x.shape[2] > 1)


def chosen(x: torch.Tensor) -> torch.Tensor:  # as the help says
    causal = True if x.shape[2] > 1 else False  # noqa: SIM210 - `bool(…)` is none that torch.compile can trace
    return torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=causal)


ENTRIES: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "compile": lambda fn: sd.compile(fn, SPEC, backend="eager"),
    "export": lambda fn: sd.export(fn, (example,), spec=SPEC).module(),
    "make_fx": lambda fn: sd.make_fx(fn, SPEC)(example),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_conditions_are_told_with_the_line_and_what_helps(entry: str) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        ENTRIES[entry](attend)(example)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, found.helps) == ("data-dependent", MESSAGE, (HELP,))
    assert "in attend: return torch.nn.functional.scaled_dot_product_attention(" in found.notes[0]
    assert torch.equal(ENTRIES[entry](chosen)(example), attend(example))


def test_sizes_need_to_be_static() -> None:
    error = size_argument(TypeError("dropout(): argument 'p' (position 2) must be float, not SymInt"))
    assert error is not None
    assert error.diagnostics[0].message == "`p` of `dropout` is a size, and torch takes a plain float only"
    assert "`const … = _`" in error.diagnostics[0].helps[0]


def test_other_types_are_none_of_ours() -> None:
    assert size_argument(TypeError("dropout(): argument 'p' (position 2) must be float, not str")) is None


def test_cures_tell_it_too() -> None:
    told = str(sd.cure(attend, SPEC))
    assert f"export and compile fail: {MESSAGE} (" in told
    assert f"  - {HELP}" in told
