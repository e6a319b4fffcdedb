"""Dispatch that compares artifacts with the function before they serve, and when it is asked."""

from __future__ import annotations

import textwrap
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd

from .counting import Counting

CASES = """
def f(x: float32[B, S]) -> float32[B]:
    dim B in [0, 64] hint 8
    dim S in [1, 32]
    case one: B == 1
    case large: B > 32
    otherwise
"""


class Wrong(Counting):
    """Adds 1 where a graph runs with one of some batch sizes."""

    def __init__(self, *batches: int) -> None:
        super().__init__()
        self.batches = batches

    def __call__(self, graph: torch.fx.GraphModule, example: list[Any]) -> Callable[..., Any]:
        plain = super().__call__(graph, example)

        def run(*args: Any) -> Any:
            off = any(isinstance(each, torch.Tensor) and each.shape[0] in self.batches for each in args)
            return tuple(each + off for each in plain(*args))

        return run


def total(x: torch.Tensor) -> torch.Tensor:
    return x.sum(1)


def state(served: Any) -> dict[str, str]:
    return {row["artifact"]: row["state"] for row in served.stats()["artifacts"]}


def test_a_wrong_artifact_never_serves_and_that_is_said_once() -> None:
    served = sd.dispatch(total, CASES, backend=Wrong(64), verify=True)
    with pytest.warns(sd.ShapeWarning, match="the artifact of `case large` of `f` computes something else") as warned:
        assert torch.equal(served(torch.ones(40, 3)), torch.full((40,), 3.0))
    assert len(warned) == 1
    # its sizes go to a later alternative, which is made again for them, and is wrong too
    with pytest.warns(sd.ShapeWarning, match="the artifact of `otherwise for case large too` of `f` computes"):
        assert torch.equal(served(torch.ones(40, 3)), torch.full((40,), 3.0))
    said = str(warned[0].message)
    assert "warning[wrong-artifact]" in said
    assert "at B = 64, S = " in said
    assert "`return` has a relative error of " in said
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (40, 64, 5, 1, 64):
            assert torch.equal(served(torch.ones(size, 2)), torch.full((size,), 2.0))
    assert state(served)["case large"] == "failed"
    assert state(served)["case one"] == state(served)["otherwise"] == "made"
    rows = {row["artifact"]: row for row in served.stats()["artifacts"]}
    assert rows["case large"]["reason"].startswith("at B = 64")
    assert rows["case large"]["error"] > 1e-4
    assert rows["otherwise"]["compared"] >= 8
    assert rows["otherwise"]["error"] == 0
    assert "error" in str(served.stats()).splitlines()[1]
    assert "failed (at B = 64" in served.explain(torch.ones(64, 3))
    assert "compared on 9 calls, largest error 0" in served.explain(torch.ones(5, 3))
    assert state(served)["otherwise for case large too"] == "failed"


def test_without_being_asked_nothing_is_compared() -> None:
    calls: list[int] = []

    def noting(x: torch.Tensor) -> torch.Tensor:
        if not torch.compiler.is_compiling():
            calls.append(x.shape[0])
        return x.sum(1)

    served = sd.dispatch(noting, CASES, backend=Wrong(40))
    assert torch.equal(served(torch.ones(40, 3)), torch.full((40,), 4.0))
    assert calls == []
    assert served.stats()["artifacts"][1]["compared"] == 0
    assert "error" not in str(served.stats()).splitlines()[1]


def test_verify_of_what_serves_gives_wrong_artifacts_up() -> None:
    served = sd.dispatch(total, CASES, backend=Wrong(64))
    x = torch.ones(64, 3)
    assert torch.equal(served(x), total(x) + 1)
    with pytest.warns(sd.ShapeWarning, match="wrong-artifact"):
        report = served.verify(samples=5)
    assert not report.kept
    found = report.samples
    assert found is not None
    assert {row.label for row in found.rows} >= {"case one", "case large", "otherwise"}
    assert {row.label for row in found.faults} == {"case large", "otherwise for case large too"}
    assert {row.sizes["B"] for row in found.faults} == {64}
    assert report.to_dict()["samples"]["passed"] is False
    assert torch.equal(served(x), total(x))
    assert state(served)["case large"] == "failed"
    again = served.verify(samples=2)  # what was given up stays in the report
    assert not again.kept


def test_what_cannot_be_compared_does_not_serve() -> None:
    def dropping(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(x).sum(1)

    served = sd.dispatch(dropping, "def f(x: float32[B, S]): ...", backend="eager", verify=2)
    with pytest.warns(sd.ShapeWarning, match="cannot be compared with the original") as warned:
        assert served(torch.ones(3, 4)).shape == (3,)
    assert "the original draws random numbers" in str(warned[0].message)
    assert state(served) == {"all sizes": "failed"}
    assert "it cannot be compared" in served.stats()["artifacts"][0]["reason"]

    def raising(x: torch.Tensor) -> torch.Tensor:
        raise ValueError(f"rank {x.dim()}")

    refused = sd.dispatch(raising, "def f(x: float32[B, S]): ...", backend="eager", verify=2)
    with pytest.raises(ValueError, match="rank 2"):
        refused(torch.ones(3, 4))
    assert state(refused) == {"all sizes": "not made"}  # that is the function's own


def test_what_torch_cannot_compile_is_told_as_ever() -> None:
    def failing(graph: torch.fx.GraphModule, example: list[Any]) -> Callable[..., Any]:
        raise RuntimeError(f"this device has had enough of {len(example)}")

    served = sd.dispatch(total, CASES, backend=failing, verify=3)
    with pytest.warns(sd.ShapeWarning, match="failed-artifact"):
        assert torch.equal(served(torch.ones(5, 3)), torch.full((5,), 3.0))
    assert "this device has had enough" in served.stats()["artifacts"][2]["reason"]


def test_a_wrong_fill_is_found_and_what_is_approximate_is_compared_padded() -> None:
    text = textwrap.dedent("""
    def f(x: float32[B, S, 2], mask: bool[B, S]) -> float32[B, 2]:
        where B >= 1, S >= 1
        bucket S in {{4, 8}} pad x with {fill}, mask with false as {reason}
        otherwise eager
    """)

    def unmasked(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return x.sum(1) + mask.sum() * 0

    x, mask = torch.ones(2, 3, 2), torch.ones(2, 3, dtype=torch.bool)
    expected = torch.full((2, 2), 3.0)
    wrong = sd.dispatch(unmasked, text.format(fill=5, reason="masked"), backend="eager", verify=4)
    with pytest.warns(sd.ShapeWarning, match="the artifact of `bucket S=4` of `f` computes something else"):
        assert torch.equal(wrong(x, mask), expected)
    right = sd.dispatch(unmasked, text.format(fill=0, reason="masked"), backend="eager", verify=4)
    assert torch.equal(right(x, mask), expected)
    assert torch.equal(right(torch.ones(1, 7, 2), torch.ones(1, 7, dtype=torch.bool)), torch.full((1, 2), 7.0))
    assert state(right)["bucket S=4"] == state(right)["bucket S=8"] == "made"
    known = sd.dispatch(unmasked, text.format(fill=5, reason="approximate"), backend="eager", verify=4)
    assert torch.equal(known(x, mask), expected + 5)  # the artifact is right, and so is what was declared of padding
    report = right.verify(samples=3)
    assert report.kept
    assert report.samples is not None
    assert {row.label for row in report.samples.rows} == {"bucket S=4", "bucket S=8"}


def test_modules_are_put_back_and_training_is_compared_with_gradients() -> None:
    norm = torch.nn.BatchNorm1d(4)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), norm)
    served = sd.dispatch(net, "def forward(input: float32[B, 3]): where B >= 2", backend="aot_eager", verify=3)
    served(torch.randn(5, 3))
    assert norm.num_batches_tracked == 1  # the call's own
    report = served.verify(samples=3, grad=True)
    assert report.kept
    assert report.samples is not None
    paths = {each.path for row in report.samples.rows for each in row.differences}
    assert {"return", "gradient of 0.weight", "gradient of 1.bias", "buffer 1.running_mean"} <= paths
    assert norm.num_batches_tracked == 1
    assert all(each.grad is None for each in net.parameters())


def test_a_graph_that_torch_makes_later_is_compared_when_it_is_made() -> None:
    backend = Wrong()
    served = sd.dispatch(total, "def f(x: Tensor[B, S]): where B >= 2, S >= 2", backend=backend, verify=3)
    x = torch.ones(4, 3)
    assert torch.equal(served(x), total(x))
    assert len(backend) == 1
    backend.batches = (4,)
    double = x.double()
    with pytest.warns(sd.ShapeWarning, match="wrong-artifact"):
        assert torch.equal(served(double), total(double))  # of another dtype: another graph
    assert state(served) == {"all sizes": "failed"}

    def writing(x: torch.Tensor) -> torch.Tensor:
        return x.add_(1).sum(1)

    backend = Wrong()
    writes = sd.dispatch(writing, "def f(x: Tensor[B, S]): where B >= 2, S >= 2", backend=backend, verify=3)
    writes(torch.ones(4, 3))
    backend.batches = (4,)
    with pytest.warns(sd.ShapeWarning, match="wrong-artifact"), pytest.raises(sd.ShapeError) as error:
        writes(torch.ones(4, 3).double())  # it ran, and what it was given is no longer what it was
    assert error.value.code == "wrong-artifact"
    assert torch.equal(writes(torch.ones(4, 3)), torch.full((4,), 6.0))


def test_static_sizes_defaults_and_structures_are_those_of_the_call() -> None:
    text = textwrap.dedent("""
    def f(x: float32[B, D], mask: bool[B] | None = _, *rest: [float32[B], ...]):
        const D = _
        where B >= 2
        otherwise
    """)

    def f(x: torch.Tensor, mask: torch.Tensor | None = None, *rest: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
        found = x.sum(1) * scale
        return sum(rest, found if mask is None else found * mask)

    served = sd.dispatch(f, text, backend="eager", verify=3)
    x, mask = torch.ones(4, 3), torch.ones(4, dtype=torch.bool)
    for args in ((x,), (torch.ones(4, 5),), (x, mask), (x, mask, torch.ones(4))):
        assert torch.equal(served(*args), f(*args))
    assert torch.equal(served(x, scale=3.0), f(x, scale=3.0))
    rows = served.stats()["artifacts"]
    assert {(row["structure"], row["key"].get("D")) for row in rows} == {(1, 3), (1, 5), (2, 3), (3, 3)}
    assert all(row["state"] == "made" and row["compared"] >= 3 for row in rows)
    report = served.verify([((x, mask), {})], samples=2)
    assert report.kept
    assert report.samples is not None
    assert len({row.label for row in report.samples.rows}) == 4  # those that no example reaches too
    with pytest.raises(sd.ShapeError) as error:
        served.verify()
    assert error.value.code == "missing-input"
    assert "verify(examples=" in str(error.value)


def test_the_receiver_is_the_one_that_was_given() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.randn(3, 5))

        def forward(self, x: torch.Tensor, *, scale: float = 1.0) -> torch.Tensor:
            return torch.mul(x @ self.w, scale)

    text = """
class Net:
    def forward(self: object(w: Tensor[D, E]), x: float32[B, D]):
        where B >= 2, D >= 1, E >= 1
"""
    net = Net()
    spec = sd.loads(text)["Net.forward"]
    served = sd.dispatch(net, spec, backend="eager", verify=3)
    x = torch.randn(4, 3)
    assert torch.equal(served(x, scale=2.0), net(x, scale=2.0))
    report = served.verify(samples=2)
    assert report.kept
    assert report.samples is not None
    assert {(row.sizes["D"], row.sizes["E"]) for row in report.samples.rows} == {(3, 5)}
    assert sd.dispatch(net, spec, backend="eager").warm().made == 1


def test_threads_that_call_a_function_that_calls_itself_end() -> None:
    def first(x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] == 1:
            return x.sum(1)
        return torch.add(x.sum(1), served(x[:1]))

    served: Any = sd.dispatch(first, CASES.replace("[0, 64]", "[1, 64]"), backend="eager", verify=2)
    results: dict[int, torch.Tensor] = {}

    def call(size: int) -> None:
        results[size] = served(torch.ones(size, 2))

    threads = [threading.Thread(target=call, args=(size,)) for size in (64, 1, 40, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert all(torch.equal(result, torch.full((size,), 2.0 + 2.0 * (size > 1))) for size, result in results.items())
    assert len(results) == 4


def test_arguments_of_the_wrong_type_are_refused_at_once() -> None:
    with pytest.raises(TypeError, match="verify= is True, False, or how many sizes"):
        sd.dispatch(total, CASES, backend="eager", verify="yes")  # type: ignore[call-overload]  # that is what is tried
    with pytest.raises(ValueError, match="samples"):
        sd.dispatch(total, CASES, backend="eager", verify=-1)
    served = sd.dispatch(total, CASES, backend="eager")
    with pytest.raises(TypeError, match="grad= is True or False"):
        served.verify(grad=1)  # type: ignore[arg-type]  # that is what is tried
    with pytest.raises(ValueError, match="tolerance= is a number, 0 or more"):
        served.verify(tolerance=-1.0)
    with pytest.raises(TypeError, match=r"is a call, \(args, kwargs\)"):
        served.verify([torch.ones(3, 2)])  # type: ignore[list-item]  # that is what is tried
