"""Observed callables: what is counted, and that nothing else about them changes."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
import threading
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd
from shapedsl.serving.profiles.profile import Profile, rows


def counted(profile: Profile) -> dict[tuple[int, ...], int]:
    """Returns the calls of a profile of one structure."""
    return {sizes: times for _, sizes, times in rows(profile)}


def test_sizes_of_calls_are_counted() -> None:
    @sd.observe
    def double(x: torch.Tensor, n: int = 2) -> torch.Tensor:
        """Doubles."""
        return x * n

    assert torch.equal(double(torch.ones(2, 3)), torch.full((2, 3), 2.0))
    double(torch.ones(2, 3))
    double(torch.ones(5, 3))
    assert counted(double.profile) == {(2, 3): 2, (5, 3): 1}
    assert double.profile.calls == 3
    assert double.__name__ == "double"
    assert double.__doc__ == "Doubles."
    assert list(inspect.signature(double).parameters) == ["x", "n"]


def test_how_arguments_are_passed_does_not_matter() -> None:
    def f(x: Any, y: Any = None, *, n: int = 1) -> None:
        del x, y, n

    seen = sd.observe(f)
    x, y = torch.ones(2), torch.ones(3, 4)
    seen(x, y, n=5)
    seen(y=y, x=x, n=5)
    seen(n=5, x=x, y=y)
    assert counted(seen.profile) == {(2, 3, 4, 5): 3}
    seen(x)
    assert len(seen.profile.tables) == 2


class Pair(NamedTuple):
    first: torch.Tensor
    second: int


@dataclass
class Batch:
    x: torch.Tensor
    names: tuple[str, ...] = ()


def test_containers_are_read_through() -> None:
    seen = sd.observe(lambda *args, **kwargs: None)
    seen(Batch(torch.ones(2)), Pair(torch.ones(3), 4), [torch.ones(5), (6, None)], d={"k": torch.ones(7), 1.5: 8})
    assert counted(seen.profile) == {(2, 3, 4, 5, 6, 7): 1}


def test_bools_floats_and_huge_ints_have_no_size() -> None:
    seen = sd.observe(lambda *args: None)
    seen(True, 1.5, 2**63, -(2**63), "text", None)
    assert counted(seen.profile) == {(-(2**63),): 1}


def test_exceptions_pass_through_and_their_calls_are_not_learned_from() -> None:
    @sd.observe
    def f(x: torch.Tensor) -> torch.Tensor:
        if len(x) > 2:
            raise ValueError("too long")
        return x

    with pytest.raises(ValueError, match="too long"):
        f(torch.ones(3))
    with pytest.raises(TypeError):
        f()
    f(torch.ones(1))
    profile = f.profile
    assert counted(profile) == {(1,): 1}
    assert profile.raised == 1
    assert profile.unread == 1


class Hostile:
    """A dataclass-like object whose attributes cannot be read."""

    __dataclass_fields__: ClassVar[dict[str, Any]] = {}

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_hostile_arguments_reach_the_callable() -> None:
    seen = sd.observe(lambda x: "done")
    assert seen(Hostile()) == "done"
    endless: list[Any] = []
    endless.append(endless)
    assert seen(endless) == "done"
    assert seen.profile.calls + seen.profile.unread == 2


def test_nested_tensors_are_told_of() -> None:
    seen = sd.observe(lambda x: x)
    seen(torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged))
    assert (seen.profile.calls, seen.profile.unread) == (0, 1)
    with pytest.raises(sd.ShapeError, match="1 call could not be read"):
        seen.suggest()


def test_containers_that_change_are_read_before_the_call() -> None:
    @sd.observe
    def take(items: list[torch.Tensor]) -> None:
        items.clear()

    take([torch.ones(2), torch.ones(3)])
    assert counted(take.profile) == {(2, 3): 1}


def test_methods_and_static_methods() -> None:
    class Net:
        @sd.observe
        def run(self, x: torch.Tensor) -> torch.Tensor:
            return x

        @staticmethod
        def _plain(x: torch.Tensor) -> torch.Tensor:
            return x

        static = staticmethod(sd.observe(_plain))

    net = Net()
    assert net.run(torch.ones(4)).shape == (4,)
    assert counted(net.run.profile) == {(4,): 1}
    assert net.static(torch.ones(5)).shape == (5,)
    assert list(inspect.signature(net.run).parameters) == ["x"]
    compiled = torch.compile(lambda x: net.run(x) + 1, fullgraph=True, backend="eager")
    assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 2.0))
    assert net.run.profile.calls == 1
    assert [name for structure in Net.run.profile.tables for name, _ in structure] == ["x"]


def test_modules() -> None:
    module = torch.nn.Linear(4, 2)
    seen: Any = sd.observe(module)
    assert isinstance(cast(object, seen), torch.nn.Module)
    assert seen(torch.ones(3, 4)).shape == (3, 2)
    assert seen.in_features == 4
    twin = copy.deepcopy(seen)
    twin(torch.ones(5, 4))
    assert counted(seen.profile) == {(3, 4): 1, (5, 4): 1}
    assert seen.profile.name == "torch.nn.modules.linear.Linear.forward"
    assert "def torch.nn.modules.linear.Linear.forward(input: Tensor[B, _]" in str(seen.suggest())


@sd.observe
def identity(x: torch.Tensor) -> torch.Tensor:
    return x


def test_copies_and_pickles_are_those_of_functions() -> None:
    assert pickle.loads(pickle.dumps(identity)) is identity
    assert copy.deepcopy(identity) is copy.copy(identity) is identity
    module = sd.observe(torch.nn.Linear(2, 2))
    module(torch.ones(1, 2))
    twin = pickle.loads(pickle.dumps(module))
    assert torch.equal(twin(torch.ones(3, 2)), module(torch.ones(3, 2)))
    assert twin.profile.calls == 1
    assert module.profile.calls == 2


def test_coroutines() -> None:
    @sd.observe
    async def f(x: torch.Tensor) -> torch.Tensor:
        await asyncio.sleep(0)
        return x

    assert asyncio.run(f(torch.ones(6))).shape == (6,)
    assert counted(f.profile) == {(6,): 1}


def test_traces_are_not_counted() -> None:
    seen = sd.observe(lambda x: x * 2)

    def caller(x: torch.Tensor) -> Any:
        return seen(x) + 1

    compiled = torch.compile(caller, fullgraph=True, backend="eager", dynamic=True)  # a graph break would raise
    assert torch.equal(compiled(torch.ones(3)), torch.full((3,), 3.0))
    assert torch.equal(compiled(torch.ones(5)), torch.full((5,), 3.0))
    graph = torch.fx.experimental.proxy_tensor.make_fx(caller, tracing_mode="symbolic")(torch.ones(4))
    assert torch.equal(graph(torch.ones(4)), torch.full((4,), 3.0))

    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return caller(x)

    torch.export.export(Net(), (torch.ones(3),))
    torch.fx.symbolic_trace(Net())
    trace: Any = torch.jit.trace
    trace(Net(), (torch.ones(7),), check_trace=False)
    assert seen.profile.calls == 0
    assert seen.profile.unread == 0
    caller(torch.ones(2))
    assert counted(seen.profile) == {(2,): 1}


def test_a_compiled_callable_is_observed_from_outside() -> None:
    def more(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    seen = sd.observe(torch.compile(more, backend="eager", dynamic=True))
    for size in (2, 3, 4):
        seen(torch.ones(size))
    assert counted(seen.profile) == {(2,): 1, (3,): 1, (4,): 1}


def test_threads_count_every_call() -> None:
    seen = sd.observe(lambda x: x)
    values = [torch.ones(size) for size in range(1, 9)]

    def work() -> None:
        for _ in range(100):
            for value in values:
                seen(value)
            seen.profile  # noqa: B018 - settles while others count

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted(seen.profile) == {(size,): 400 for size in range(1, 9)}


def test_structures_are_bounded() -> None:
    seen = sd.observe(lambda *args: None)
    for n in range(70):
        seen(*[torch.ones(1)] * n)
    assert len(seen.profile.tables) == 64
    assert seen.profile.dropped == 6
    assert "Not counted: 6 calls had structures beyond the limit." in str(seen.suggest())


def test_sizes_are_bounded() -> None:
    seen = sd.observe(lambda n: None, limit=10)
    for n in range(500):
        seen(n)
    profile = seen.profile
    assert profile.calls == 500
    assert profile.distinct <= 12
    assert "at most are counted at sizes of others" in str(seen.suggest())


def test_the_spec_of_the_callable_is_used() -> None:
    @sd.observe
    @sd.shapes(x="Batch, Len", returns="Batch, Len")
    def f(x: torch.Tensor) -> torch.Tensor:
        return x

    for length in range(1, 40):
        f(torch.ones(2, length))
    text = str(f.suggest(2))
    assert "(x: Tensor[Batch, Len]) -> Tensor[Batch, Len]:" in text
    assert "bucket Len in {" in text


def test_what_cannot_be_observed_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a callable"):
        sd.observe(3)  # type: ignore[call-overload]
    with pytest.raises(sd.ShapeError) as caught:
        sd.observe(lambda x: x).suggest()
    assert caught.value.code == "empty-profile"


def test_builtins() -> None:
    seen = sd.observe(torch.relu)
    assert seen(torch.ones(3)).shape == (3,)
    assert counted(seen.profile) == {(3,): 1}
