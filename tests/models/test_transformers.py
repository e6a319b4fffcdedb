"""The library's entries for transformers do what the table says: one graph, one program, bad sizes refused.

So is what the table does not say: each assumption is needed, and what the specs claim of results is so.
"""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="models run through torch")
pytest.importorskip("transformers", reason="the entries describe transformers' models")

import shapedsl as sd
from shapedsl.ir.write_types import write_type
from tests.models.harness import Entry, spec_of, try_compile, try_export
from tests.models.transformers_entries import _WORDS, ENTRIES

ALL = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
NAMED = {entry.name: entry for entry in ENTRIES}


@ALL
def test_one_graph_serves_all_sizes(entry: Entry) -> None:
    try_compile(entry)


@ALL
def test_one_program_serves_all_sizes(entry: Entry) -> None:
    try_export(entry)


@ALL
def test_an_example_finds_the_spec(entry: Entry) -> None:
    module = entry.make()
    args, kwargs = entry.inputs(**entry.good[0])
    found = sd.stub_for(module, args=args, kwargs=kwargs)
    assert found is not None
    assert found.signature.key == spec_of(entry, module).signature.key


@ALL
def test_results_are_as_claimed(entry: Entry) -> None:
    """The claim becomes the type of a parameter, and the sizes of the call become arguments."""
    module = entry.make()
    spec = spec_of(entry, module)
    assert spec.signature.returns is not None
    for sizes in entry.good:
        args, kwargs = entry.inputs(**sizes)
        bound: dict[str, Any] = spec.bind(*args, **kwargs)
        given = "".join(f", size_{name}: Scalar[{name}]" for name in bound)
        claim = sd.loads(f"def claim(result: {write_type(spec.signature.returns)}{given}): ...")["claim"]
        claim.check(module(*args, **kwargs), *bound.values())


@pytest.mark.parametrize(
    ("name", "assumed", "weaker"),
    [
        ("BertModel, ids only", "S >= 2", "S >= 1"),
        ("LlamaForCausalLM, prefill without a mask", "B >= 2", "B >= 1"),
        ("LlamaForCausalLM, decode a chunk", "P >= 1", "P >= 0"),
        ("WhisperModel", "D >= 2", "D >= 1"),
        ("T5Model", "S >= 2", "S >= 1"),
        ("ViTModel, other image sizes", "H // 8 * (W // 8) != 16", "H >= 8"),
        ("CLIPTextModel", "S <= 20", "S <= 21"),
        ("CLIPVisionModel", "B >= 1", "B >= 0"),
    ],
)
def test_no_assumption_is_idle(name: str, assumed: str, weaker: str) -> None:
    """Without it, torch stops at a question about a size, or makes a program of fewer sizes than the spec has."""
    entry = NAMED[name]
    module = entry.make()
    text = str(spec_of(entry, module))
    assert assumed in text
    args, kwargs = entry.inputs(**entry.good[0])
    with pytest.raises(sd.ShapeError) as caught:
        sd.export(module, args, kwargs, spec=text.replace(assumed, weaker))
    assert caught.value.code in ("data-dependent", "extra-assumption")


def test_a_cache_that_no_program_can_return_is_told() -> None:
    entry = NAMED["WhisperModel"]
    module = entry.make()
    args, kwargs = entry.inputs(**entry.good[0])
    with pytest.raises(sd.ShapeError, match="cannot return an object of class EncoderDecoderCache"):
        sd.export(module, args, {**kwargs, "use_cache": True}, spec=spec_of(entry, module))


def test_a_decoder_is_not_described_as_an_encoder() -> None:
    module = NAMED["BertModel"].make()
    module.config.is_decoder = True
    with pytest.warns(sd.ShapeWarning, match="does not describe this object"):
        assert sd.stub_for(module) is None


@pytest.mark.parametrize("name", ["BertModel", "LlamaForCausalLM, prefill", "T5Model", "ViTModel", "CLIPModel"])
def test_a_model_that_returns_tuples_is_not_described(name: str) -> None:
    module = NAMED[name].make()
    module.config.return_dict = False
    with pytest.warns(sd.ShapeWarning, match="its `return_dict` is False, not True"):
        assert sd.stub_for(module) is None


def test_all_logits_are_claimed_only_where_all_are_kept() -> None:
    entry = NAMED["LlamaForCausalLM, prefill"]
    module = entry.make()
    args, kwargs = entry.inputs(B=2, T=8)
    spec = spec_of(entry, module)
    spec.check(*args, **kwargs, logits_to_keep=0)
    assert module(*args, **kwargs, logits_to_keep=3).logits.shape == (2, 3, _WORDS)
    with pytest.raises(sd.ShapeError, match="`logits_to_keep` is 3, expected 0"):
        spec.check(*args, **kwargs, logits_to_keep=3)
    last = sd.stub_for(module, args=args, kwargs={**kwargs, "logits_to_keep": 3})
    assert last is not None
    assert last.bind(*args, **kwargs, logits_to_keep=3) == {"B": 2, "T": 8, "kept": 3}
