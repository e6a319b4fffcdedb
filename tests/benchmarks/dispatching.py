"""What a dispatched call costs beside its artifact: against loops over predicates, and against a hand-written chain.

The artifact is a function that returns its argument, so that only the choice is measured.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

import shapedsl as sd
from shapedsl import pipeline
from shapedsl.ir.expanded import Expanded
from shapedsl.serving.dispatch.artifacts import ArtifactSpec
from shapedsl.serving.dispatch.dispatcher import Dispatcher
from shapedsl.targets.entry.parameters import parameters_of

from .measure import Row, compare, repeat

SPEC = """
def product(x: Tensor[B, S], w: Tensor[S, D]):
    where B >= 1, S <= 4096
    case one: B == 1
    case three: B == 3
    case large: B > 100
    otherwise
"""

CALLS = 20_000

Predicate = Callable[[Mapping[str, int]], bool]


def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x @ w


def trivial(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    del w
    return x


class Trivial:
    """A backend whose artifacts return their first argument."""

    def make(
        self, spec: ArtifactSpec, at: Expanded, statics: Mapping[str, int], present: Mapping[str, bool]
    ) -> Callable[..., Any]:
        """Returns `trivial`."""
        del spec, at, statics, present
        return trivial

    def translate(self, run: Callable[..., Any], error: Exception) -> Exception | None:
        """Returns None: there is nothing to say."""
        del run, error
        return None

    def graphs(self, run: Callable[..., Any]) -> int:
        """Returns 0."""
        del run
        return 0


def dispatched() -> Callable[..., Any]:
    """Returns `product` dispatched to trivial artifacts."""
    spec = sd.loads(SPEC)["product"]
    parameters = parameters_of(product, spec.signature)
    made = Dispatcher(product, parameters, spec.signature, Trivial(), name="product", solve=pipeline.solve)
    return made.front()


def one_lambda_a_case() -> Callable[..., Any]:
    """Returns a loop over cases with one predicate each, behind checks that are written out."""
    cases: list[tuple[Callable[[Mapping[str, int]], bool], Callable[..., Any]]] = [
        (lambda sizes: sizes["B"] == 1, trivial),
        (lambda sizes: sizes["B"] == 3, trivial),
        (lambda sizes: sizes["B"] > 100, trivial),
        (lambda sizes: True, trivial),
    ]

    def call(x: torch.Tensor, w: torch.Tensor) -> Any:
        sizes = {"B": x.shape[0], "S": x.shape[1], "D": w.shape[1]}
        if w.shape[0] != sizes["S"]:
            raise ValueError("S")
        if not (sizes["B"] >= 1 and sizes["S"] <= 4096):
            raise ValueError("sizes")
        for predicate, run in cases:
            if predicate(sizes):
                return run(x, w)
        raise ValueError("no case")

    return call


def assumption_sets() -> Callable[..., Any]:
    """Returns what a user of one artifact an assumption set writes: lists of predicates, tried in order."""
    where: list[Predicate] = [lambda sizes: sizes["B"] >= 1, lambda sizes: sizes["S"] <= 4096]
    cases: list[tuple[list[Predicate], Callable[..., Any]]] = [
        ([lambda sizes: sizes["B"] == 1], trivial),
        ([lambda sizes: sizes["B"] == 3], trivial),
        ([lambda sizes: sizes["B"] > 100], trivial),
        ([], trivial),
    ]

    def call(x: torch.Tensor, w: torch.Tensor) -> Any:
        sizes = {"B": x.shape[0], "S": x.shape[1], "D": w.shape[1]}
        if w.shape[0] != sizes["S"] or not all(predicate(sizes) for predicate in where):
            raise ValueError("sizes")
        for predicates, run in cases:
            if all(predicate(sizes) for predicate in predicates):
                return run(x, w)
        raise ValueError("no case")

    return call


def chained() -> Callable[..., Any]:
    """Returns the same as an if-chain, written by hand as fast as it can be, and counting calls."""
    counts = [0, 0, 0, 0]

    def call(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        if not isinstance(x, torch.Tensor) or not isinstance(w, torch.Tensor):
            raise TypeError("tensors")
        b, s = x.shape
        t, _ = w.shape
        if t != s or b < 1 or s > 4096:
            raise ValueError("sizes")
        if b == 1:
            counts[0] += 1
            return trivial(x, w)
        if b == 3:
            counts[1] += 1
            return trivial(x, w)
        if b > 100:
            counts[2] += 1
            return trivial(x, w)
        counts[3] += 1
        return trivial(x, w)

    return call


def retraces() -> int:
    """Returns how many graphs 15 calls cost that no alternative takes."""
    graphs: list[object] = []

    def counting(graph: torch.fx.GraphModule, example: object) -> Callable[..., Any]:
        del example
        graphs.append(graph)
        return graph.forward

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gap is meant
        served = sd.dispatch(product, SPEC.replace("    otherwise\n", ""), backend=counting)
    served(torch.rand(3, 4), torch.rand(4, 4))
    before = len(graphs)
    for batch in range(10, 25):
        try:
            served(torch.rand(batch, 4), torch.rand(4, 4))
        except sd.ShapeError:
            pass
        else:
            raise AssertionError(batch)
    return len(graphs) - before


def rows() -> Iterator[Row]:
    """Yields the rows."""
    served = dispatched()
    others: list[tuple[str, Callable[..., Any], float | None]] = [
        ("a loop over lists of lambdas", assumption_sets(), 0.5),
        ("a loop over lambdas, one a case", one_lambda_a_case(), None),
        ("an if-chain by hand", chained(), 1.3),
    ]
    for what, batch in (("the first case", 1), ("the last of 4 cases", 50)):
        args = torch.rand(batch, 16), torch.rand(16, 16)
        for than, other, aim in others:
            row = compare("", _calls(served, args), than, _calls(other, args), aim=aim)
            seconds = row.seconds / CALLS
            yield Row(f"`sd.dispatch` to {what} ({1e6 * seconds:.2f} µs)", than, row.ratio, aim, seconds)
    assert retraces() == 0


def _calls(function: Callable[..., Any], args: tuple[torch.Tensor, ...]) -> Callable[[], object]:
    return repeat(lambda: function(*args), CALLS)
