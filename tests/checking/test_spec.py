"""`Spec.check` and `Spec.bind` with torch: inside of traces, with all kinds of tensors, in threads, forked and pickled."""

from __future__ import annotations

import collections
import copy
import dataclasses
import inspect
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

np = pytest.importorskip("numpy", reason="numpy is not installed")

from torch._dynamo.source import ConstantSource
from torch._dynamo.testing import CompileCounter
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

import shapedsl as sd

FILE = sd.loads("""
def project(x: float32[B, D], w: Tensor[D, D]):
    where B < 32

int n in [0, inf]
def attend(x: Tensor[*batch, 2 * D + 1], mask: Tensor[D] | None, kvs: [Tensor[N], ...] = _, *, n: Scalar[n] = _):
    where D < 32
""")
PROJECT, ATTEND = FILE["project"], FILE["attend"]


def size(spec: sd.Spec, name: str, *args: object) -> int:
    """Returns one size that `Spec.bind` finds."""
    found = spec.bind(*args)[name]
    assert not isinstance(found, tuple)
    return found


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


# calls that PROJECT takes and refuses: where nothing is checked, all of them run
CALLS = [(4, 3), (5, 3), (40, 7), (8, 9)]


def frames(fn: Callable[..., Any], calls: list[tuple[Any, ...]], **options: Any) -> int:
    """Returns how many graphs ``fn`` costs; its results are those of the same calls without torch.compile."""
    torch._dynamo.reset()
    counter = CompileCounter()
    run = torch.compile(fn, backend=counter, fullgraph=True, **options)
    for args in calls:
        assert torch.equal(run(*args), fn(*args))
    return counter.frame_count


def bound(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x * size(PROJECT, "B", x, w) + size(PROJECT, "D", x, w)


CHECK, BIND = PROJECT.check, PROJECT.bind


def kept(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The functions themselves, looked up before."""
    if torch.compiler.is_compiling():
        CHECK(x, w)
    sizes: Any = BIND(x, w)
    return x.mul(sizes["B"])


@pytest.mark.parametrize("fn", [bound, kept], ids=["bind", "kept"])
@pytest.mark.parametrize("marked", [False, True], ids=["dynamic", "marked"])
def test_a_trace_neither_breaks_nor_learns_of_sizes(fn: Callable[..., Any], marked: bool) -> None:
    calls = [(ones(b, d), ones(d, d)) for b, d in CALLS]
    if marked:
        for tensors in calls:
            for tensor in tensors:
                torch._dynamo.mark_dynamic(tensor, (0, 1))  # an error if a size is pinned or a range narrowed
        assert frames(fn, calls) == 1
    else:
        assert frames(fn, calls, dynamic=True) == 1


def test_a_check_leaves_nothing_in_the_graph() -> None:
    graphs: list[torch.fx.GraphModule] = []

    def keep(graph: torch.fx.GraphModule, example: object) -> torch.fx.GraphModule:
        graphs.append(graph)
        return graph

    def run(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        PROJECT.check(x, w)
        return x.relu()

    compiled = torch.compile(run, backend=keep, fullgraph=True, dynamic=True)
    compiled(ones(4, 3), ones(3, 3))
    compiled(ones(40, 3), ones(4, 5))  # what the spec refuses: the check is for callers outside
    (graph,) = graphs
    assert [node.target for node in graph.graph.nodes if node.op not in ("placeholder", "output")] == ["relu"]


def test_a_spec_that_nobody_used_before_the_trace() -> None:
    spec = sd.loads("def f(x: Tensor[B, 2 * B], y: Tensor[B] | None): ...")["f"]

    def run(x: torch.Tensor, y: torch.Tensor | None) -> torch.Tensor:
        spec.check(x, y)
        return x * size(spec, "B", x, y)

    torch._dynamo.reset()
    compiled = torch.compile(run, backend="eager", fullgraph=True, dynamic=True)
    assert torch.equal(compiled(ones(3, 6), None), torch.full((3, 6), 3.0))
    assert spec.bind(ones(5, 10), ones(5)) == {"B": 5}
    assert torch.equal(compiled(ones(5, 10), ones(5)), torch.full((5, 10), 5.0))


def test_open_structure_in_a_trace() -> None:
    def run(x: torch.Tensor, mask: torch.Tensor | None, kvs: list[torch.Tensor]) -> torch.Tensor:
        ATTEND.check(x, mask, kvs)
        sizes: Any = ATTEND.bind(x, mask, kvs)
        return x.mul(sizes["D"]).add(len(sizes["batch"])).add(sizes.get("N", 100))

    calls = [
        (ones(4, 5, 7), ones(3), [ones(6), ones(6)]),
        (ones(4, 6, 9), ones(4), [ones(5), ones(5)]),
        (ones(8, 7), None, []),
        (ones(9, 11), None, []),
    ]
    assert frames(run, calls, dynamic=True) == 2  # one a structure


def test_a_structure_that_the_spec_refuses_fails_in_the_trace() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        return x * size(PROJECT, "B", x, x)

    torch._dynamo.reset()
    with pytest.raises(Exception, match=r"`x` has 3 dims, expected 2"):
        torch.compile(run, backend="eager", fullgraph=True)(ones(2, 2, 2))


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
def test_an_exported_program_keeps_its_sizes_open(strict: bool) -> None:
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            PROJECT.check(x, w)
            return x @ w * size(PROJECT, "B", x, w)

    b, d = torch.export.Dim("b", max=100), torch.export.Dim("d")
    shapes = ({0: b, 1: d}, {0: d, 1: d})
    program = torch.export.export(Net(), (ones(4, 3), ones(3, 3)), dynamic_shapes=shapes, strict=strict)
    assert program.module()(ones(40, 5), ones(5, 5)).shape == (40, 5)


# fake tensors


def fake(env: ShapeEnv, *shape: int) -> tuple[FakeTensorMode, torch.Tensor]:
    """Returns a fake tensor whose sizes are symbols."""
    mode = FakeTensorMode(shape_env=env)
    context: Any = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * len(shape))
    made = mode.from_tensor(torch.ones(shape), source=ConstantSource("x"), symbolic_context=context)
    return mode, made


def test_symbols_are_not_compared() -> None:
    env = ShapeEnv()
    mode, x = fake(env, 40, 40)
    for inside in (False, True):
        with mode if inside else torch.no_grad():
            PROJECT.check(x, x)
            sizes: Any = PROJECT.bind(x, x)
            ATTEND.check(x, None)
            attend: Any = ATTEND.bind(x, None)
    assert {name: type(size) for name, size in sizes.items()} == {"B": torch.SymInt, "D": torch.SymInt}
    assert [type(size) for size in (attend["D"], *attend["batch"])] == [torch.SymInt] * 2
    assert env.guards == []


def test_unbacked_symbols_are_not_compared() -> None:
    env = ShapeEnv()
    with FakeTensorMode(shape_env=env):
        unbacked = env.create_unbacked_symint()
        x = torch.empty(unbacked, unbacked)
        before = str(env.deferred_runtime_asserts)
        PROJECT.check(x, x)
        ATTEND.check(x, None, n=unbacked)
        attend: Any = ATTEND.bind(x, None, n=unbacked)
    assert attend["n"] is unbacked
    assert env.guards == []
    assert str(env.deferred_runtime_asserts) == before


def test_what_no_symbol_decides_is_checked() -> None:
    env = ShapeEnv()
    mode, x = fake(env, 40, 40)
    with mode:
        half = x.half()
        for args, code in (
            ((half, x), "dtype-mismatch"),
            ((x, x[0]), "rank-mismatch"),
            ((x, 3), "type-mismatch"),
            ((torch.empty(40, 3), x), "shape-violation"),
            ((x, torch.empty(3, 4)), None),  # D is a symbol
        ):
            if code is None:
                PROJECT.check(*args)
                continue
            with pytest.raises(sd.ShapeError) as caught:
                PROJECT.check(*args)
            assert caught.value.code == code
        with pytest.raises(sd.ShapeError, match="nearest accepted: B = 31"):
            PROJECT.check(torch.empty(40, 3), torch.empty(3, 3))  # fake, and without symbols
    assert env.guards == []


def test_vmap_over_symbols() -> None:
    env = ShapeEnv()
    mode, x = fake(env, 40, 41)

    def one(row: torch.Tensor) -> torch.Tensor:
        ATTEND.check(row, None)
        return row + size(ATTEND, "D", row, None)

    with mode:
        before = len(env.guards)
        torch.vmap(one)(x)
        assert len(env.guards) == before


def test_traces_of_make_fx_and_fx() -> None:
    def run(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        PROJECT.check(x, w)
        ATTEND.check(x, None)
        return x.relu()

    traced = make_fx(run, tracing_mode="symbolic")(ones(40, 3), ones(4, 5))
    assert traced.shape_env is not None
    assert traced.shape_env.guards == []
    assert traced(ones(41, 9), ones(2, 1)).shape == (41, 9)
    graph = torch.fx.symbolic_trace(run).graph
    assert [node.target for node in graph.nodes if node.op not in ("placeholder", "output")] == ["relu"]
    with pytest.raises(sd.ShapeError, match="expected `D` = 3"):
        make_fx(run)(ones(40, 3), ones(4, 5))  # these sizes are numbers


def test_a_ragged_size_is_a_symbol() -> None:
    jagged = torch.nested.nested_tensor([ones(2, 8), ones(3, 8)], layout=torch.jagged)
    spec = sd.loads("def f(x: Tensor[B, S, D]): where S < 2, B < 3, D == 8")["f"]
    spec.check(jagged)
    narrower = sd.loads("def f(x: Tensor[B, S, D]): where B < 2")["f"]
    with pytest.raises(sd.ShapeError, match="expected `B < 2`"):
        narrower.check(jagged)


# tensors of all kinds


class Sub(torch.Tensor):
    pass


@pytest.mark.parametrize(
    "make",
    [
        ones,
        lambda *shape: torch.empty(shape, device="meta"),
        lambda *shape: torch.nn.Parameter(ones(*shape)),
        lambda *shape: ones(*shape).as_subclass(Sub),
        lambda *shape: ones(*shape).to_sparse(),
        lambda *shape: ones(*shape, 1)[..., 0].expand(*shape),
    ],
    ids=["plain", "meta", "parameter", "subclass", "sparse", "view"],
)
def test_kinds_of_tensors(make: Callable[..., torch.Tensor]) -> None:
    PROJECT.check(make(4, 3), make(3, 3))
    assert PROJECT.bind(make(0, 3), make(3, 3)) == {"B": 0, "D": 3}
    with pytest.raises(sd.ShapeError, match=r"`w.shape\[1\]` is 4, expected `D` = 3"):
        PROJECT.check(make(4, 3), make(3, 4))


def test_modes_and_transforms() -> None:
    w = ones(3, 3)

    def run(x: torch.Tensor) -> torch.Tensor:
        PROJECT.check(x, w)
        assert PROJECT.bind(x, w) == {"B": 4, "D": 3}
        return (x @ w).sum()

    x = ones(4, 3)
    with torch.inference_mode():
        run(ones(4, 3))
    with torch.utils.flop_counter.FlopCounterMode(display=False):
        run(x)
    torch.vmap(run)(ones(64, 4, 3))  # a batch of more than the spec takes: no dim of what it sees
    torch.vmap(torch.func.grad(run))(ones(5, 4, 3))
    torch.func.jvp(run, (x,), (x,))
    torch.func.functionalize(run)(x)
    with pytest.raises(sd.ShapeError, match="expected `B < 32`"):
        torch.vmap(lambda x: (PROJECT.check(x, w), x)[1])(ones(5, 44, 3))


@pytest.mark.parametrize(
    ("text", "args", "kwargs", "sizes"),
    [
        ("def f(x: Tensor[()], y: Tensor[B]): ...", (ones(), ones(0)), {}, {"B": 0}),
        ("def f(x: Tensor[*batch]): ...", (ones(*[1] * 40),), {}, {"batch": (1,) * 40}),
        ("def f(x: Tensor[*batch]): ...", (ones(),), {}, {"batch": ()}),
        ("def f(x: Tensor[B], *, n: Scalar[B]): ...", (ones(3),), {"n": 3}, {"B": 3}),
        ("def f(x: Tensor[B], /, y: Tensor[B] = _): ...", (ones(3),), {}, {"B": 3}),
        ("def f(*args: [Tensor[A], Tensor[B]], **kwargs: {'k': Tensor[A]}): ...", (ones(1), ones(2)), {"k": ones(1)}, {"A": 1, "B": 2}),
        ("def f(d: {'k': Tensor[B]}): ...", (collections.OrderedDict(k=ones(4), z=1),), {}, {"B": 4}),
        ("def f(d: {'k': Tensor[B] | None}): ...", (collections.defaultdict(list),), {}, {}),
        ("int n\ndef f(n: Scalar[n]): ...", (-(2**63),), {}, {"n": -(2**63)}),
    ],
)  # fmt: skip
def test_odd_calls(text: str, args: tuple[Any, ...], kwargs: dict[str, Any], sizes: dict[str, Any]) -> None:
    spec = sd.loads(text)["f"]
    spec.check(*args, **kwargs)
    assert spec.bind(*args, **kwargs) == sizes


class Pair(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


@dataclasses.dataclass
class Data:
    x: torch.Tensor
    y: torch.Tensor


def test_objects_and_namedtuples() -> None:
    by_name = sd.loads("def f(p: Pair(x: Tensor[B], y: Tensor[2 * B])): ...")["f"]
    by_place = sd.loads("def f(p: (Tensor[B], Tensor[2 * B])): ...")["f"]
    for made in (Pair(ones(3), ones(6)), Data(ones(3), ones(6))):
        assert by_name.bind(made) == {"B": 3}
    assert by_place.bind(Pair(ones(3), ones(6))) == {"B": 3}
    with pytest.raises(sd.ShapeError, match=r"`p.y.shape\[0\]` is 7, expected `2 \* B` = 6"):
        by_name.check(Data(ones(3), ones(7)))


@pytest.mark.parametrize(
    "value",
    [True, np.int64(3), np.ones(3), 3.0, "3", 2**63, torch.tensor(3), None, [3]],
    ids=["bool", "numpy", "array", "float", "str", "huge", "tensor", "None", "list"],
)
def test_a_scalar_is_a_python_int(value: object) -> None:
    spec = sd.loads("def f(n: Scalar[B], x: Tensor[B]): ...")["f"]
    for call in (spec.check, spec.bind):
        with pytest.raises(sd.ShapeError) as caught:
            call(value, ones(3))
        assert caught.value.code == "type-mismatch"


@pytest.mark.parametrize(
    "value", [np.ones((4, 3)), [[1.0]], None, 3, torch.Size([4, 3])], ids=lambda v: type(v).__name__
)
def test_a_tensor_is_a_tensor(value: object) -> None:
    for call in (PROJECT.check, PROJECT.bind):
        with pytest.raises(sd.ShapeError) as caught:
            call(value, ones(3, 3))
        assert caught.value.code == "type-mismatch"


# what `check` is


def test_it_looks_like_what_it_checks() -> None:
    assert str(inspect.signature(PROJECT.check)) == "(x, w)"
    assert PROJECT.check is PROJECT.check
    with pytest.raises(TypeError, match=r"project\(\) missing 1 required positional argument: 'w'"):
        PROJECT.check(ones(4, 3))
    with pytest.raises(TypeError, match=r"project\(\) got an unexpected keyword argument 'y'"):
        PROJECT.bind(ones(4, 3), y=1)
    assert "nearest accepted" in (inspect.getdoc(sd.Spec.check) or "")


@pytest.mark.parametrize("again", [lambda o: pickle.loads(pickle.dumps(o)), copy.deepcopy, copy.copy], ids=["pickle", "deepcopy", "copy"])  # fmt: skip
def test_copies(again: Callable[[Any], Any]) -> None:
    x, w = ones(4, 3), ones(3, 3)
    spec = again(PROJECT)
    assert spec == PROJECT
    assert spec.bind(x, w) == {"B": 4, "D": 3}
    check, bind = again(PROJECT.check), again(PROJECT.bind)
    check(x, w)
    assert bind(x, w) == {"B": 4, "D": 3}
    with pytest.raises(sd.ShapeError):
        check(x, ones(4, 4))


def test_first_calls_in_many_threads() -> None:
    spec = sd.loads("def f(x: Tensor[*batch, D], y: Tensor[D] | None): where D < 9")["f"]
    barrier = threading.Barrier(8)
    found: list[object] = [None] * 8

    def call(at: int) -> None:
        barrier.wait()
        x = ones(*[2] * (at % 4), 7)
        spec.check(x, ones(7))
        found[at] = spec.bind(x, None)

    threads = [threading.Thread(target=call, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{"D": 7, "batch": (2,) * (at % 4)} for at in range(8)]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there are no forks")
def test_a_fork_while_another_thread_makes_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = sd.loads("def f(x: Tensor[*batch]): ...")["f"]
    spec.check(ones(1))
    entered, leave = threading.Event(), threading.Event()
    function = sd.runtime.select.Selector._function  # type: ignore[attr-defined]

    def slow(self: Any, *args: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            entered.set()
            leave.wait(60)
        return function(self, *args)

    monkeypatch.setattr("shapedsl.runtime.select.Selector._function", slow)
    thread = threading.Thread(target=spec.check, args=(ones(1, 1),))
    thread.start()
    try:
        assert entered.wait(60)
        child = multiprocessing.get_context("fork").Process(target=spec.check, args=(ones(1, 1, 1),))
        child.start()
        child.join(60)
        assert child.exitcode == 0
    finally:
        leave.set()
        thread.join()
