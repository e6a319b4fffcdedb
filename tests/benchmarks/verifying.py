"""What comparing an artifact with the original costs, against the compilation that it follows.

Each round compiles anew, without caches, and then compares on the default number of sizes; in turns for all of them, so
that what else the machine does hits all. What counts is processor time, that of compilers in processes of their own too.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import torch

import shapedsl as sd

from .measure import Row

ROUNDS = 2

MLP = """
def forward(input: float32[B, 64]) -> float32[B, 16]:
    dim B in [1, 512] hint 32
"""

TRANSFORMER = """
def forward(src: float32[B, S, 32]) -> float32[B, S, 32]:
    dim B in [2, 64] hint 8
    dim S in [2, 128] hint 24
"""


def mlp() -> torch.nn.Module:
    """Returns a net of three layers."""
    net = torch.nn
    return net.Sequential(net.Linear(64, 128), net.GELU(), net.Linear(128, 64), net.ReLU(), net.Linear(64, 16)).eval()


class Transformer(torch.nn.Module):
    """A transformer of two layers."""

    def __init__(self) -> None:
        super().__init__()
        layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, src: torch.Tensor) -> torch.Tensor:
        """Returns what the layers make of it."""
        encoded: torch.Tensor = self.layers(src)
        return encoded


NETS: dict[str, tuple[Callable[[], torch.nn.Module], str, tuple[int, ...]]] = {
    "an MLP": (mlp, MLP, (32, 64)),
    "a small transformer": (lambda: Transformer().eval(), TRANSFORMER, (8, 24, 32)),
}


def spent() -> float:
    """Returns the seconds that this process and those that it started have computed."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measured(make: Callable[[], torch.nn.Module], spec: str, shape: tuple[int, ...], how: str) -> tuple[float, float]:
    """Returns the seconds of compiling, and of comparing after it.

    Args:
        make: Makes the net.
        spec: Its spec.
        shape: Of the call that compiles it.
        how: ``"values"``, ``"gradients"``.
    """
    torch._dynamo.reset()
    net, inputs = make(), torch.randn(*shape)
    grad = how == "gradients"
    with torch.set_grad_enabled(grad):
        served: Any = sd.dispatch(net, sd.loads(spec)["forward"])
        start = spent()
        result = served(inputs.requires_grad_(grad))
        if grad:  # the backward graph is compiled when it is needed
            result.sum().backward()
        compiled = spent() - start
        start = spent()
        report = served.verify(examples=[((inputs,), {})], grad=grad)
        compared = spent() - start
    assert report.samples is not None
    assert report.samples.passed, str(report)
    return compiled, compared


def rows() -> Iterator[Row]:
    """Yields the table's rows."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # threads that wait for each other compute, too
    torch.backends.mha.set_fastpath_enabled(False)  # else the layers are one operator, and nothing is compiled
    with torch._inductor.config.patch(force_disable_caches=True, compile_threads=1):
        for _ in range(ROUNDS + 1):
            for name, (make, spec, shape) in NETS.items():
                for how in ("values", "gradients"):
                    found.setdefault((name, how), []).append(measured(make, spec, shape, how))
    torch.backends.mha.set_fastpath_enabled(True)
    torch.set_num_threads(threads)
    for (name, how), pairs in found.items():
        pairs = pairs[1:]  # the first round loads the compiler
        ratio = statistics.median(compared / compiled for compiled, compared in pairs)
        what = f"comparing {name} with its original, {how}"
        yield Row(what, "compiling it", ratio, 0.25, statistics.median(compared for _, compared in pairs))
