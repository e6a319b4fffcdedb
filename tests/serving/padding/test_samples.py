"""The bucketed samples, dispatched: what is padded and cut back is what the model returns without padding."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="padding needs torch")

import shapedsl as sd
from tests.serving.padding.samples import SAMPLES, Sample, UNet

FOLDER = Path(__file__).parents[2] / "cases" / "samples"


def parts(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in parts(item)]
    return [value] if value is None or isinstance(value, torch.Tensor) else parts(list(vars(value).values()))


def dispatched(module: Any, file: str) -> tuple[Any, list[tuple[int, ...]]]:
    """Returns the module dispatched, and the shapes of the first tensor that the artifact gets."""
    shapes: list[tuple[int, ...]] = []

    def noting(graph: Any, example: Any) -> Any:
        def run(*inputs: Any) -> Any:
            shapes.extend(tuple(each.shape) for each in inputs if isinstance(each, torch.Tensor))
            return graph(*inputs)

        return run

    with warnings.catch_warnings(record=True) as told:  # their alternatives overlap, or leave sizes out
        warnings.simplefilter("always")
        run = sd.dispatch(module, f"{FOLDER}/{file}", backend=noting)
    assert not any("padding" in str(each.message) for each in told)
    return run, shapes


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES.keys())
def test_sample_is_padded_and_cut_back(sample: Sample) -> None:
    torch.manual_seed(0)
    module = sample.make().eval()
    call = sample.call()
    with torch.no_grad(), torch._dynamo.config.patch(allow_rnn=True):
        expected = module(*call)
        run, shapes = dispatched(module, sample.file)
        result = run(*call)
    assert sample.seen in shapes
    assert type(result) is type(expected)
    compared = 0
    tolerance = 5e-2 if call[0].dtype == torch.bfloat16 else 1e-5
    for whole, cut in zip(parts(expected), parts(result), strict=False):
        if cut is not None:  # else it is dropped
            torch.testing.assert_close(cut, whole, rtol=tolerance, atol=tolerance)
            compared += 1
    assert compared


def test_edges_are_repeated_up_to_a_multiple_of_8() -> None:
    torch.manual_seed(0)
    module = UNet().eval()
    x = torch.randn(2, 3, 13, 20)
    with torch.no_grad():
        padded = torch.nn.functional.pad(x, (0, 4, 0, 3), mode="replicate")
        expected = module(padded)[..., :13, :20]
        run, shapes = dispatched(module, "07_unet_div8.shapes:seg.UNet.forward")
        torch.testing.assert_close(run(x), expected)
    assert (2, 3, 16, 24) in shapes


# What arguments do not tell, since it stands in `values` or in the result alone.
SIZES = {"decode": {"VOCAB": 16}, "prefill": {"VOCAB": 16}, "bert": {"VOCAB": 16}, "bert, no types": {"VOCAB": 16}}


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_passes_the_padding_check(name: str) -> None:
    sample = SAMPLES[name]
    torch.manual_seed(0)
    # of segments no spec says that the longest is as long as a made `max_seqlen`
    made = 0 if name == "jagged" else 3
    spec, sizes = f"{FOLDER}/{sample.file}", SIZES.get(name)
    report = sd.check_padding(sample.make().eval(), spec, [(sample.call(), {})], n=made, sizes=sizes)
    assert report.unsafe == []
    assert report.passed
    assert sum(trial.count for trial in report.trials) > 0
