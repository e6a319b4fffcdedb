"""Artifacts that cannot be compiled, exceptions of the user's own, and what stays possible after both."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd

from .counting import Counting
from .test_dispatch import counts, dispatch

CASES = """
    def f(x: Tensor[B]):
        case one: B == 1
        case large: B > 100
        otherwise
"""


class Choosy(Counting):
    """Fails for graphs without dynamic sizes, or for all."""

    def __init__(self, *, every: bool = False) -> None:
        super().__init__()
        self.every = every
        self.failures = 0

    def __call__(self, graph: torch.fx.GraphModule, example: list[Any]) -> Callable[..., Any]:
        if self.every or not any(isinstance(value, torch.SymInt) for value in example):
            self.failures += 1
            raise RuntimeError("this device has had enough")
        return super().__call__(graph, example)


def test_a_later_alternative_serves_the_sizes_of_one_that_failed() -> None:
    backend = Choosy()  # the graph of B == 1 has a number
    served = dispatch(lambda x: x * 2, CASES, backend=backend)
    one = torch.rand(1)
    with pytest.warns(sd.ShapeWarning, match="`case one` of `f` cannot be compiled") as warned:
        assert torch.equal(served(one), one * 2)
    assert len(warned) == 1
    assert "this device has had enough" in str(warned[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        for _ in range(3):
            assert torch.equal(served(one), one * 2)
        five = torch.rand(5)
        assert torch.equal(served(five), five * 2)
    assert backend.failures == 1
    assert len(backend) == 1  # `otherwise`, which assumes nothing of B == 1, serves 1 and 5
    assert counts(served)["otherwise for case one too"] == 3
    assert counts(served)["otherwise"] == 1
    rows = {row["artifact"]: row for row in served.stats()["artifacts"]}
    assert rows["case one"]["state"] == "failed"
    assert "this device has had enough" in rows["case one"]["reason"]
    assert "case one failed: " in str(served.stats())


def test_without_a_later_alternative_its_sizes_run_eagerly() -> None:
    backend = Choosy(every=True)
    ran: list[int] = []

    def double(x: torch.Tensor) -> torch.Tensor:
        if not torch.compiler.is_compiling():
            ran.append(x.shape[0])
        return x * 2

    served = dispatch(double, "def double(x: Tensor[B]):\n    otherwise", backend=backend)
    with pytest.warns(sd.ShapeWarning, match="cannot be compiled"):
        served(torch.rand(3))
    for batch in (4, 5):
        assert torch.equal(served(torch.ones(batch)), torch.full((batch,), 2.0))
    assert ran == [3, 4, 5]
    assert backend.failures == 1  # torch is not asked again


def test_where_the_later_one_cannot_do_without_the_negation_both_go_on() -> None:
    def branches(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.shape[0] == 1 else x * 3  # only the negation decides it

    backend = Choosy()
    served = dispatch(branches, "def f(x: Tensor[B]):\n    case one: B == 1\n    otherwise", backend=backend)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for batch in (1, 1, 1, 4, 5, 1):
            x = torch.rand(batch)
            assert torch.equal(served(x), branches(x))
    assert len(warned) == 2  # `one`, and `otherwise` for the sizes of `one` too
    assert len(backend) == 1
    assert counts(served)["otherwise"] == 2


def test_a_failed_artifact_poisons_no_other() -> None:
    backend = Choosy()
    served = dispatch(lambda x: x + 1, CASES, backend=backend)
    x = torch.rand(200)
    served(x)
    with pytest.warns(sd.ShapeWarning, match="case one"):
        served(torch.rand(1))
    assert torch.equal(served(x), x + 1)
    assert counts(served)["case large"] == 2


def test_the_exception_of_the_function_is_the_users_own() -> None:
    backend = Counting()

    class Mine(Exception):
        pass

    def picky(x: torch.Tensor, kind: str) -> torch.Tensor:
        if kind == "bad":
            raise Mine(f"no {kind}")
        return x * 2

    served = dispatch(picky, "def picky(x: Tensor[B], kind=_):\n    case one: B == 1\n    otherwise", backend=backend)
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(Mine, match="no bad"):
                served(torch.rand(3), "bad")
    x = torch.rand(3)
    assert torch.equal(served(x, "good"), x * 2)
    assert served.stats()["artifacts"][1]["state"] == "made"
    with pytest.raises(Mine):  # also once it is made
        served(x, "bad")
    assert torch.equal(served(x, "good"), x * 2)


def test_an_error_at_run_time_is_raised_and_keeps_the_artifact() -> None:
    backend = Counting()
    served = dispatch(
        lambda table, ids: table[ids], "def take(table: Tensor[V, D], ids: int64[N]):\n    otherwise", backend=backend
    )
    table = torch.rand(4, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(IndexError):
                served(table, torch.tensor([7]))
    assert torch.equal(served(table, torch.tensor([1, 3])), table[[1, 3]])
    assert len(backend) == 1


def test_what_was_changed_in_place_is_not_changed_twice() -> None:
    def broken(graph: torch.fx.GraphModule, example: list[Any]) -> Callable[..., Any]:
        del example

        def run(*args: Any) -> Any:
            graph.forward(*args)
            raise RuntimeError("the last step failed")

        return run

    served = dispatch(lambda x: x.add_(1), "def f(x: Tensor[B]):\n    otherwise", backend=broken)
    x = torch.zeros(3)
    with pytest.raises(RuntimeError, match="the last step failed"):
        served(x)
    assert torch.equal(x, torch.ones(3))


def test_calls_that_torch_would_compile_once_too_often_run_eagerly() -> None:
    backend = Counting()
    served = dispatch(lambda x: x * 2, "def f(x: Tensor[B, _]):\n    otherwise", backend=backend, recompile_limit=3)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for width in range(2, 8):
            x = torch.rand(3, width)
            assert torch.equal(served(x), x * 2)
    assert ["for some calls" in str(each.message) for each in warned] == [True]
    assert len(backend) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.rand(9, 2)
        assert torch.equal(served(x), x * 2)


def test_too_many_ints_run_eagerly() -> None:
    served = dispatch(lambda x, n: x + n, "def f(x: Tensor[B], n=_):\n    otherwise", backend="eager", disable=True)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for n in range(70):
            assert torch.equal(served(torch.zeros(2), n), torch.full((2,), float(n)))
    assert ["64 artifacts, one for each value of `n`" in str(each.message) for each in warned] == [True]
    assert "n: Scalar[N]" in str(warned[0].message)
    assert len(served.stats()["artifacts"]) == 64


def test_a_transform_that_torch_does_not_compile_poisons_nothing() -> None:
    backend = Counting()
    served = dispatch(lambda x: (x * x).sum(), CASES, backend=backend)
    x = torch.rand(4, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):  # before it is made, and after
            assert torch.equal(torch.func.grad(served)(x[0]), 2 * x[0])
            assert torch.allclose(torch.vmap(served)(x), (x * x).sum(1))
            assert torch.equal(served(x[0]), (x[0] * x[0]).sum())
    assert len(backend) == 1


def test_a_default_device_changes_nothing() -> None:
    backend = Counting()
    served = dispatch(lambda x: x * 2, CASES, backend=backend)
    torch.set_default_device("cpu")  # a mode of functions, for good
    try:
        served(torch.rand(3))
    finally:
        torch.set_default_device(None)
    assert len(backend) == 1


def test_a_function_that_calls_itself_is_told_of_once() -> None:
    def halve(x: torch.Tensor) -> torch.Tensor:
        return x if x.shape[0] <= 1 else served(x[: x.shape[0] // 2])

    served = dispatch(halve, "def halve(x: Tensor[B]):\n    otherwise", backend="eager")
    with pytest.warns(sd.ShapeWarning) as warned:
        assert served(torch.ones(9)).tolist() == [1.0]
    assert len(warned) == 1
    assert warned[0].filename == __file__  # the line that called, not one of ours


def test_async_functions_are_refused() -> None:
    async def later(x: torch.Tensor) -> torch.Tensor:
        return x

    with pytest.raises(TypeError, match="async"):
        dispatch(later, CASES)


def test_what_runs_eagerly_is_called_as_the_caller_called_it() -> None:
    """Decorators that add a keyword which they do not find (those of transformers do) see the call that was made."""
    seen: list[tuple[int, tuple[str, ...]]] = []

    def plain(x: torch.Tensor, scale: float = 2.0, flag: bool | None = None, *, shift: int = 0) -> torch.Tensor:
        return x * scale + shift

    @functools.wraps(plain)
    def fn(*args: Any, **kwargs: Any) -> torch.Tensor:
        seen.append((len(args), tuple(sorted(kwargs))))
        kwargs.setdefault("flag", True)
        return plain(*args, **kwargs)

    served = sd.dispatch(fn, "def plain(x: Tensor[B]):\n    case one: B == 1\n    otherwise eager", backend="eager")
    x = torch.ones(3)
    assert served(x).tolist() == [2.0, 2.0, 2.0]
    assert served(x, 3.0).tolist() == [3.0, 3.0, 3.0]
    assert served(x, shift=1).tolist() == [3.0, 3.0, 3.0]
    assert seen == [(1, ()), (1, ("scale",)), (1, ("shift",))]
