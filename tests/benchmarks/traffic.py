"""A thousand requests of long-tailed lengths through a small transformer: each way of compiling it, in a process of its own.

``python -m tests.benchmarks.traffic [--svg FILE]`` prints the second table of docs/performance.md, and draws it.
The requests are the same for all: lengths of a lognormal distribution with a fixed seed. Compilers' caches are off.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

import shapedsl as sd
from shapedsl.serving.suggesting.optimum import choices

REQUESTS = 1000
LONGEST = 1024
WIDTH, HEADS, LAYERS, WORDS = 128, 4, 2, 512

SPEC = f"""
dim S in [1, {LONGEST}] hint 128

def forward(ids: int64[1, S]) -> float32[1, S, {WORDS}]:
    values ids in [0, {WORDS - 1}]
"""
CASES = (
    f"{SPEC}    case short: S <= 64 hint S = 32\n    case middle: S <= 256 hint S = 160\n    otherwise hint S = 512\n"
)


class Layer(nn.Module):
    """Causal attention and a feed-forward block."""

    def __init__(self) -> None:
        super().__init__()
        self.before = nn.LayerNorm(WIDTH)
        self.between = nn.LayerNorm(WIDTH)
        self.mixed = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.wide = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Takes and returns (batch, length, width)."""
        batch, length, _ = x.shape
        mixed = self.mixed(self.before(x)).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(mixed[0], mixed[1], mixed[2], is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, WIDTH))
        more: torch.Tensor = self.narrow(functional.gelu(self.wide(self.between(x))))
        return x + more


class Net(nn.Module):
    """A language model: (1, S) ids → (1, S, words)."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(LONGEST, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Takes ids of (1, S)."""
        x = self.words(ids) + self.places.weight[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        logits: torch.Tensor = self.head(x)
        return logits


@dataclass(frozen=True)
class Outcome:
    """What one way of running the requests took.

    Attributes:
        mode: Its name.
        seconds: All requests, compilation included.
        compilations: Graphs that torch compiled.
        middle, p99: Milliseconds of a request.
        settled: Seconds of the second half of the requests: what it takes when all is warm.
    """

    mode: str
    seconds: float
    compilations: int
    middle: float
    p99: float
    settled: float


def lengths() -> list[int]:
    """Returns the lengths of the requests."""
    chance = random.Random(2)
    return [max(1, min(LONGEST, int(chance.lognormvariate(4.6, 0.9)))) for _ in range(REQUESTS)]


def bucketed() -> str:
    """Returns the spec with the buckets that `suggest` chooses for these lengths."""
    line = {length: (0, calls) for length, calls in Counter(lengths()).items()}
    chosen = ", ".join(map(str, choices(line, 6)[-1].members))
    return f"{SPEC}    bucket S in {{{chosen}}} pad ids with 0 as causal_right\n    otherwise eager\n"


def modes() -> dict[str, Callable[[nn.Module], Callable[[torch.Tensor], torch.Tensor]]]:
    """Returns the ways of compiling a module."""
    return {
        "eager": lambda net: net,
        "`torch.compile(dynamic=False)`": lambda net: torch.compile(net, dynamic=False),
        "`torch.compile(dynamic=True)`": lambda net: torch.compile(net, dynamic=True),
        "a plain spec": lambda net: sd.compile(net, sd.loads(SPEC)["forward"]),
        "three cases": lambda net: sd.dispatch(net, sd.loads(CASES)["forward"]),
        "six buckets, by `suggest`": lambda net: sd.dispatch(net, sd.loads(bucketed())["forward"]),
    }


def run(mode: str) -> Outcome:
    """Sends the requests through one way of running them."""
    from torch._dynamo.utils import counters

    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Net().eval()
    reference = Net().eval()
    reference.load_state_dict(net.state_dict())
    times: list[float] = []
    with torch.inference_mode():
        call = modes()[mode](net)
        for at, length in enumerate(lengths()):
            ids = torch.randint(0, WORDS, (1, length), generator=torch.Generator().manual_seed(at))
            start = time.perf_counter()
            found = call(ids)
            times.append(time.perf_counter() - start)
            if at % 100 == 0:
                torch.testing.assert_close(found, reference(ids), rtol=1e-3, atol=1e-3)
    ordered = sorted(times)
    return Outcome(
        mode,
        sum(times),
        counters["stats"]["unique_graphs"],
        1000 * statistics.median(times),
        1000 * ordered[int(0.99 * len(ordered))],
        sum(times[len(times) // 2 :]),
    )


def outcomes(names: Sequence[str]) -> list[Outcome]:
    """Runs each in a fresh process, one after the other."""
    found: list[Outcome] = []
    for name in names:
        environment = {**os.environ, "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
        command = [sys.executable, "-m", "tests.benchmarks.traffic", "--one", name]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=1200)
        if done.returncode:
            raise SystemExit(f"{name}:\n{done.stderr[-3000:]}")
        found.append(Outcome(**json.loads(done.stdout.splitlines()[-1])))
    return found


def table(found: Sequence[Outcome]) -> str:
    """Returns the table of docs/performance.md; times as parts of eager's."""
    base = found[0]
    lines = [
        "| | compilations | all requests | second half | median | p99 |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {each.mode} | {each.compilations} | {each.seconds:.1f} s ({each.seconds / base.seconds:.2f}) "
        f"| {each.settled:.1f} s ({each.settled / base.settled:.2f}) "
        f"| {each.middle:.1f} ms ({each.middle / base.middle:.2f}) | {each.p99:.1f} ms ({each.p99 / base.p99:.2f}) |"
        for each in found
    ]
    return "\n".join(lines)


def draw(found: Sequence[Outcome]) -> str:
    """Returns the table as an SVG document."""
    from shapedsl.serving.pictures.svg import bars_svg

    return bars_svg(
        [each.mode.replace("`", "") for each in found],
        {
            "all requests, with compiling (s)": [each.seconds for each in found],
            "their second half (s)": [each.settled for each in found],
            "99th percentile (ms)": [each.p99 for each in found],
        },
    )


def main() -> None:
    """Runs what the command line asks for."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        print(json.dumps(asdict(run(arguments[1]))))
        return
    found = outcomes(list(modes()))
    print(table(found))
    if arguments[:1] == ["--svg"]:
        Path(arguments[1]).write_text(draw(found), encoding="utf-8")


if __name__ == "__main__":
    main()
