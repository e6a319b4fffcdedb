"""Lowering against building the same ShapesSpec by hand, and calls of a compiled function."""

from __future__ import annotations

import itertools
import statistics
import timeit
from collections.abc import Callable, Iterator
from typing import Any

import shapedsl as sd

from .corpus import FIRST_FILE
from .measure import Row, compare


def _names() -> Iterator[str]:
    """Yields names that torch has not seen: it caches expressions by name, which would flatter either side."""
    return (f"B{i}" for i in itertools.count())


def rows() -> Iterator[Row]:
    """Yields the rows."""
    from torch.fx.experimental.dynamic_spec import ParamsSpec, ShapesSpec, ShapeVar, TensorSpec

    TEMPLATE = "def f(x: Tensor[{b}, {d}], y: Tensor[{b}, 2 * {d}]):\n    where {b} % 8 == 0, {b} <= {d}\n"

    # everything up to the ShapesSpec is done beforehand, as it is for a spec that was loaded and checked
    fresh = [sd.loads(TEMPLATE.format(b=f"ours{i}", d=f"oursd{i}"))["f"] for i in range(60)]
    for spec in fresh:
        spec.normalize()
    ours = iter(fresh)
    counter = itertools.count()

    def lower() -> object:
        return next(ours).to_torch()

    def by_hand() -> object:
        # what lowering emits for it, see `shapedsl lower`
        i = next(counter)
        b, d, dd = ShapeVar(f"hand{i}"), ShapeVar(f"handd{i}"), ShapeVar(f"2*handd{i}")
        assumptions = [dd == 2 * d, dd % 2 == 0, b % 8 == 0, b % 4 == 0, b % 2 == 0, b <= d]
        params = ParamsSpec({"x": TensorSpec([b, d]), "y": TensorSpec([b, dd])})
        return ShapesSpec(params, assumptions=assumptions)

    yield compare("lowering a spec", lower, "building its ShapesSpec by hand", by_hand, aim=1.3, rounds=25)

    again = sd.loads(TEMPLATE.format(b="again", d="againd"))["f"]
    again.to_torch()
    yield compare(
        "lowering it again", again.to_torch, "building its ShapesSpec by hand", by_hand, aim=1 / 50, rounds=25
    )

    yield from _growth()
    yield from _calls()


def _growth() -> Iterator[Row]:
    """Yields the time a spec takes among ``n`` to be lowered, against one of ten."""
    from .measure import timed

    template = "def f(x: Tensor[{b}, {d}], y: Tensor[{b}, 2 * {d}]):\n    where {b} <= {d}\n"
    seen = itertools.count()

    def lower(count: int) -> float:
        specs = []
        for _ in range(count):
            i = next(seen)
            specs.append(sd.loads(template.format(b=f"g{i}", d=f"gd{i}"))["f"])
        for spec in specs:
            spec.normalize()
        return timed(lambda: [spec.to_torch() for spec in specs]) / count

    lower(10)
    for count in (100, 1000):
        few, many = [], []
        for _ in range(3):
            few.append(lower(10))
            many.append(lower(count))
        ours, theirs = statistics.median(many), statistics.median(few)
        yield Row(f"IR → ShapesSpec: one of {count:,} specs", "one of 10", ours / theirs, 2.0, ours)


def _fastest(first: Callable[[], object], second: Callable[[], object], number: int) -> tuple[float, float]:
    """Returns the seconds of one call of each, timed in turns; the fastest round, since calls are short."""
    rounds = [[timeit.timeit(call, number=number) / number for call in (first, second)] for _ in range(25)]
    return min(ours for ours, _ in rounds), min(theirs for _, theirs in rounds)


def _calls() -> Iterator[Row]:
    """Yields what a call costs: annotated, and compiled with a check in front."""
    import torch as t

    def plain(x: t.Tensor, w: t.Tensor) -> t.Tensor:
        return x

    annotated = sd.shapes(x="B, D", w="D, D")(plain)
    t.set_num_threads(1)  # else what other processes do shows in every call
    x, w = t.randn(8, 64), t.randn(64, 64)

    def copy(x: t.Tensor, w: t.Tensor) -> t.Tensor:
        return x

    ours, theirs = _fastest(lambda: annotated(x, w), lambda: copy(x, w), 20_000)
    yield Row("calling an annotated function", "calling it without", ours / theirs, 1.05, ours)

    def work(x: t.Tensor, w: t.Tensor) -> t.Tensor:
        return x @ w

    def work_too(x: t.Tensor, w: t.Tensor) -> t.Tensor:
        return x @ w

    spec = sd.loads(FIRST_FILE)["project"]
    checked = sd.compile(work, spec)
    options: dict[str, Any] = {"isolate_recompiles": True}  # torch's overloads do not know it
    bare = t.compile(work_too, dynamic_shapes=spec.to_torch(), fullgraph=True, **options)
    checked(x, w), bare(x, w)
    ours, theirs = _fastest(lambda: checked(x, w), lambda: bare(x, w), 1000)
    yield Row(
        f"calling a compiled, checked function (+{(ours - theirs) * 1e6:.2f} µs)",
        "torch's own compiled call",
        ours / theirs,
        None,
        ours,
    )
