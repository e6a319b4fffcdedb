"""Threads that meet a case together, and processes that are forked while one is compiled."""

from __future__ import annotations

import multiprocessing
import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

from .counting import Counting
from .test_dispatch import counts, dispatch

CASES = """
    def f(x: Tensor[B]):
        case one: B == 1
        otherwise
"""


class Slow(Counting):
    """Waits in the middle of a compilation until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.started, self.go = threading.Event(), threading.Event()

    def __call__(self, graph: torch.fx.GraphModule, example: list[Any]) -> Callable[..., Any]:
        self.started.set()
        assert self.go.wait(60)
        return super().__call__(graph, example)


def test_threads_that_meet_a_case_together_compile_it_once() -> None:
    backend = Counting()
    served = dispatch(lambda x: x * 2, CASES, backend=backend)
    ready = threading.Barrier(8)
    wrong: list[object] = []

    def call(batch: int) -> None:
        ready.wait()
        for _ in range(20):
            x = torch.rand(batch)
            if not torch.equal(served(x), x * 2):
                wrong.append(x)

    threads = [threading.Thread(target=call, args=(1 + at % 2 * 4,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    assert len(backend) == 2
    assert counts(served) == {"case one": 80, "otherwise": 80}


def test_a_case_that_is_made_runs_while_another_is_compiled() -> None:
    backend = Slow()
    served = dispatch(lambda x: x * 2, CASES, backend=backend)
    backend.go.set()
    one, five = torch.rand(1), torch.rand(5)
    served(one)
    backend.go.clear()
    backend.started.clear()
    found: list[torch.Tensor] = []
    thread = threading.Thread(target=lambda: found.append(served(five)))
    thread.start()
    assert backend.started.wait(60)
    assert torch.equal(served(one), one * 2)
    assert not found
    backend.go.set()
    thread.join(60)
    assert torch.equal(found[0], five * 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked on this system")
def test_a_fork_goes_on_while_another_thread_compiles_in_the_parent() -> None:
    backend = Slow()
    served = dispatch(lambda x: x * 2, CASES, backend=backend)
    backend.go.set()
    served(torch.rand(1))
    backend.go.clear()
    backend.started.clear()
    thread = threading.Thread(target=served, args=(torch.rand(5),))
    thread.start()
    assert backend.started.wait(60)  # the parent's thread holds our lock and torch's

    def child(results: Any) -> None:
        backend.go.set()
        one, five = torch.ones(1), torch.ones(5)
        results.put((served(one).tolist(), served(five).tolist()))

    context = multiprocessing.get_context("fork")
    results = context.Queue()
    process = context.Process(target=child, args=(results,))
    process.start()
    try:
        assert results.get(timeout=60) == ([2.0], [2.0] * 5)
    finally:
        process.join(10)
        process.kill()
        backend.go.set()
        thread.join(60)
    assert counts(served) == {"case one": 1, "otherwise": 1}


def test_functions_that_torch_cannot_compile_and_that_call_themselves_do_not_wait_for_each_other() -> None:
    met = threading.Barrier(2)

    def count(
        x: torch.Tensor, outermost: bool = False
    ) -> torch.Tensor:  # an even size needs the artifact of odd ones, and the other way around
        torch._dynamo.graph_break()
        if x.shape[0] < 2:
            return x
        if outermost:
            met.wait(60)
        below: torch.Tensor = served(x[1:])
        return below + 1

    served = dispatch(
        count, "def f(x: Tensor[B], outermost=_):\n    case even: B % 2 == 0\n    otherwise", backend="eager"
    )
    found: dict[int, list[float]] = {}

    def call(size: int) -> None:
        found[size] = served(torch.zeros(size), outermost=True).tolist()

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        threads = [threading.Thread(target=call, args=(size,), daemon=True) for size in (4, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert found == {4: [3.0], 5: [4.0]}
    assert sorted(str(each.message).splitlines()[0] for each in told) == [
        "warning[failed-artifact]: `case even` of `f` cannot be compiled",
        "warning[failed-artifact]: `otherwise` of `f` cannot be compiled",
    ]
