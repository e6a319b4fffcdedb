"""Which calls are part of a trace: those of this thread alone. torch's own flag is the whole process's."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="compiling needs torch")

from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.flop_counter import FlopCounterMode

import shapedsl as sd
from tests.entry.compiling import compiled

ones = torch.ones
SMALL = "def f(x: Tensor[B]): where B <= 4"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


@contextlib.contextmanager
def compiling_elsewhere() -> Iterator[Callable[..., Any]]:
    """Another thread is inside a backend; gives the function that it is compiling."""
    entered, leave = threading.Event(), threading.Event()

    def backend(graph: Any, examples: object) -> Callable[..., Any]:
        entered.set()
        assert leave.wait(60)
        forward: Callable[..., Any] = graph.forward
        return forward

    run, _ = compiled(lambda x: x * 2, SMALL, backend=backend)
    thread = threading.Thread(target=run, args=(ones(3),))
    thread.start()
    assert entered.wait(60)
    assert torch.compiler.is_compiling()  # the trap: here, in the thread that compiles nothing
    try:
        yield run
    finally:
        leave.set()
        thread.join()


def test_calls_are_checked_while_another_thread_compiles() -> None:
    run, graphs = compiled(lambda x: x + 1, SMALL)
    run(ones(2))
    with compiling_elsewhere() as other:
        for each in (run, other):
            with pytest.raises(sd.ShapeError, match=r"`x\.shape\[0\]` is 9, expected `B <= 4`"):
                each(ones(9))
        assert run(ones(3)).shape == (3,)
    assert graphs.count == 1


def test_a_graphs_static_parts_are_checked_while_another_thread_compiles() -> None:
    graph = sd.make_fx(lambda x, n: x * n, "def f(x: Tensor[B], n: _): where B <= 4")(ones(2), 3)
    with compiling_elsewhere():
        with pytest.raises(sd.ShapeError, match="`n` is 5, but the graph was made for 3"):
            graph(ones(2), 5)
        with pytest.raises(sd.ShapeError, match="B <= 4"):
            graph(ones(9), 3)


def test_a_checked_function_is_checked_while_another_thread_compiles() -> None:
    @sd.shapes(check=True, attach=False, x="B", where="B <= 4")
    def f(x: Any) -> Any:
        return x + 1

    with compiling_elsewhere(), pytest.raises(sd.ShapeError, match="B <= 4"):
        f(ones(9))
    assert torch.compile(f, backend="eager", fullgraph=True)(ones(9)).shape == (9,)
    assert make_fx(f)(ones(9))(ones(9)).shape == (9,)


def test_twelve_threads_that_call_first_are_all_checked_and_share_an_artifact_a_structure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Artifacts are counted, not graphs: torch's guards are not thread-safe, and may fail for a call beside another."""
    made: list[Any] = []
    compile_ = torch.compile

    def counted(*args: Any, **kwargs: Any) -> Any:
        if args[0].__name__ == "f":  # it is also asked whether it knows the options
            made.append(args)
        return compile_(*args, **kwargs)

    monkeypatch.setattr(torch, "compile", counted)

    def f(x: Any, y: Any = None) -> Any:
        return x + 1 if y is None else x + y

    run, _ = compiled(f, "def f(x: Tensor[B], y: Tensor[B] | None = _): where B <= 4")
    barrier = threading.Barrier(12)
    outcomes: list[tuple[int, int, bool]] = []

    def work(number: int) -> None:
        barrier.wait()
        for size in (2, 3, 4, 9):
            arguments = (ones(size),) if number % 2 else (ones(size), ones(size))
            try:
                accepted = run(*arguments).tolist() == [2.0] * size
            except sd.ShapeError:
                accepted = False
            outcomes.append((number, size, accepted))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [(number, size, size <= 4) for number in range(12) for size in (2, 3, 4, 9)]
    assert len(made) == 2


@pytest.mark.parametrize(
    "options", [{}, {"tracing_mode": "fake"}, {"tracing_mode": "symbolic"}, {"pre_dispatch": True}]
)
def test_inside_make_fx_the_original_is_traced(options: dict[str, Any]) -> None:
    run, graphs = compiled(lambda x: x * 2, SMALL)
    graph = make_fx(lambda x: run(x) + 1, **options)(ones(9))
    assert graph(ones(9)).tolist() == [3.0] * 9
    assert graphs.count == 0


@pytest.mark.parametrize("strict", [False, True])
def test_inside_export_the_original_is_traced(strict: bool) -> None:
    run, graphs = compiled(lambda x: x * 2, SMALL)

    class Module(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return run(x) + 1

    assert torch.export.export(Module(), (ones(9),), strict=strict).module()(ones(9)).tolist() == [3.0] * 9
    assert graphs.count == 0


def test_modes_that_trace_nothing_leave_the_check_on() -> None:
    run, _ = compiled(lambda x: x * 2, SMALL)
    for mode in (FlopCounterMode(display=False), torch.device("cpu"), FakeTensorMode()):
        with mode, pytest.raises(sd.ShapeError, match="B <= 4"):
            run(ones(9))
