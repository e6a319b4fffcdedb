"""The kinds of questions that real models ask, each in a few lines, and torch's own layers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

pytest.importorskip("torch", reason="curing traces")
pytest.importorskip("torch.fx.experimental.dynamic_spec", reason="curing needs a torch with specs")

import torch

import shapedsl as sd


def sdpa(x: Any) -> Any:  # as transformers asks before it calls a kernel
    return x.sum(1) if x.shape[1] > 1 else x[:, 0]


def single_token(x: Any) -> Any:
    return x[:, 0] if x.shape[1] == 1 else x.mean(1)


def no_mask(x: Any) -> Any:  # packed sequences are looked for in one row only
    if x.shape[0] != 1:
        x = x * 2
    if x.shape[1] + min(1, x.shape[1]) < 1:
        return x
    return x[:, 0] if x.shape[1] == 1 else x.mean(1)


def cache(x: Any, past: Any) -> Any:
    if past.numel() == 0:
        return x
    return torch.cat([past, x], 1)


TABLE = torch.arange(77.0 * 4).reshape(77, 4)


def refuses_long(x: Any) -> Any:
    if x.shape[1] > 77:
        raise ValueError("too long")
    return x + TABLE[: x.shape[1]]


def looks_up(x: Any) -> Any:  # nobody asks: the program needs it
    return x + TABLE[: x.shape[1]]


def interpolates(x: Any) -> Any:
    if (x.shape[2] // 14) * (x.shape[3] // 14) == 16:
        return x
    return x * 2


KINDS: dict[Callable[..., Any], tuple[str, set[str], set[str]]] = {
    sdpa: ("def f(x: float32[B, S, 4]): ...\n", {"S >= 2"}, {"S <= 1"}),
    single_token: (
        "def f(x: float32[B, S, 4]):\n    where S >= 1\n",
        {"S >= 2"},
        {"S == 1"},
    ),
    no_mask: ("def f(x: float32[B, S, 4]): ...\n", {"B != 1", "S >= 2"}, {"B == 1", "S <= 1"}),
    cache: ("def f(x: float32[B, 1, 8], past: float32[B, P, 8]): ...\n", {"B >= 1", "P >= 1"}, {"B == 0", "P == 0"}),
    refuses_long: ("def f(x: float32[B, S, 4]): ...\n", {"S <= 77"}, {"S >= 78"}),
    looks_up: ("def f(x: float32[B, S, 4]): ...\n", {"S <= 77"}, {"S >= 78"}),
    interpolates: (
        "def f(x: float32[B, 3, H, W]): ...\n",
        {"H // 14 * (W // 14) != 16"},
        {"H // 14 * (W // 14) == 16"},
    ),
}


@pytest.mark.parametrize("function", KINDS, ids=lambda each: each.__name__)
def test_the_least_that_decides_a_question_is_assumed(function: Callable[..., Any]) -> None:
    head, added, excluded = KINDS[function]
    found = sd.cure(function, head)
    assert found.cured
    assert found.error is None
    assert not found.proposals
    stated = {constraint.text for constraint in sd.loads(head)["f"].signature.constraints}
    assert {constraint.text for constraint in found.spec.signature.constraints} - stated == added
    assert all(f"where {text}  # " in found.patch for text in added)
    assert {part for step in found.steps for part in (step.excludes or "").split(" or ")} >= excluded
    assert max(found.traces.values()) <= 4


def test_torchs_own_layers_are_cured() -> None:
    layers = torch.nn
    conv = layers.Sequential(layers.Conv2d(3, 4, 3, padding=1), layers.BatchNorm2d(4), layers.ReLU()).eval()
    before = conv.state_dict()["1.num_batches_tracked"].clone()
    found = sd.cure(conv, "def forward(input: float32[B, 3, H, W]): ...\n", entries=("export",))
    assert found.cured
    assert {added for step in found.steps for added in step.added} <= {"B >= 1", "H >= 1", "W >= 1"}
    assert torch.equal(conv.state_dict()["1.num_batches_tracked"], before)

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
            self.layers = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

        def forward(self, x: Any, mask: Any) -> Any:
            return self.layers(x, src_key_padding_mask=mask)

    with torch.no_grad():
        found = sd.cure(
            Encoder().eval(), "def forward(x: float32[B, S, 8], mask: bool[B, S]): ...\n", entries=("export",)
        )
    assert found.cured
    assert found.traces["export"] <= 4
    assert {constraint.text for constraint in found.spec.signature.constraints} >= {"S >= 2"}


def test_the_length_of_a_recurrent_net_is_proposed_to_be_static() -> None:
    class Tagger(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = torch.nn.LSTM(4, 8, batch_first=True)

        def forward(self, x: Any) -> Any:
            return self.lstm(x)[0]

    spec = "dim S in [1, 64] hint 5\n\ndef forward(x: float32[B, S, 4]): ...\n"
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that an LSTM writes its list of weights
        found = sd.cure(Tagger(), spec, entries=("export",))
        allowed = sd.cure(Tagger(), spec, entries=("export",), static={"S"})
    assert not found.cured
    assert not found.patch
    assert found.spec == sd.loads(spec)["forward"]
    (proposal,) = found.proposals
    assert "`S`" in proposal.message
    assert any("const S = _" in option for option in proposal.options)
    assert allowed.cured
    assert allowed.text is not None
    assert "    const S in [1, 64] = _\n" in allowed.text
    assert allowed.spec == sd.loads(allowed.text)["forward"]


def test_what_is_left_out_and_what_is_kept_are_all_sizes_of_the_spec() -> None:
    spec = sd.loads("def no_mask(x: float32[B, S, 4]): where B >= 1\n")["no_mask"]
    found = sd.cure(no_mask, spec, entries=("export",))
    for batch, length in product(range(1, 5), range(5)):
        kept = batch >= 2 and length >= 2
        x = torch.ones(batch, length, 4)
        if kept:
            found.spec.check(x)
        else:
            with pytest.raises(sd.ShapeError):
                found.spec.check(x)


def test_with_cases_dispatch_serves_all_that_it_served_before() -> None:
    text = "def no_mask(x: float32[B, S, 4]): ...\n"
    found = sd.cure(no_mask, text, cases=True)
    assert found.cured
    assert found.text is not None
    served = sd.dispatch(no_mask, found.text, backend="eager")
    for batch, length in product(range(3), range(4)):
        x = torch.rand(batch, length, 4)
        assert torch.equal(served(x), no_mask(x)) or length == 0  # the mean of nothing is NaN
