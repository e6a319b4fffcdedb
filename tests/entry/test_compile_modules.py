"""`compile` of modules: a module comes out, and everything one does with modules still works."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="compiling needs torch")

from shapedsl.diagnostics import ShapeError
from tests.entry.compiling import Graphs, compiled, lower

nn = torch.nn
ones = torch.ones
TEXT = "def forward(x: Tensor[B, 4]):\n    where B < 32"


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    torch._dynamo.reset()
    with torch.no_grad():
        yield


class Net(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.5)
        self.register_buffer("scale", ones(4))

    def forward(self, x: Any) -> Any:
        return self.drop(self.lin(x)) * self.scale


class NoGrad(Net):
    @torch.no_grad()  # type: ignore[untyped-decorator]
    def forward(self, x: Any) -> Any:
        return self.lin(x)


def graphs_of_plain_torch(module: Any) -> int:
    """Returns how many graphs torch makes for three sizes of a spec that it ignores."""
    from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec

    graphs = Graphs()
    spec = ShapesSpec({"x": TensorSpec([ShapeVar("B"), None]), "input": TensorSpec([ShapeVar("B"), None])})
    run = torch.compile(module, backend=graphs, dynamic_shapes=spec)
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
        for size in (2, 3, 4):
            run(ones(size, 4))
    torch._dynamo.reset()
    return graphs.count


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (NoGrad(), "x"),
        (nn.Linear(4, 4), "input"),
        (nn.Sequential(nn.Linear(4, 4), nn.ReLU()), "input"),
        (nn.LayerNorm(4), "input"),
    ],
)
def test_modules_whose_specs_torch_ignores_obey_them(module: Any, name: str) -> None:
    assert graphs_of_plain_torch(module) == 3
    run, graphs = compiled(module, f"def forward({name}: Tensor[B, 4]): ...")
    for size in (2, 3, 4, 0, 1):
        assert torch.equal(run(ones(size, 4)), module(ones(size, 4)))
    assert graphs.count == 1
    with pytest.raises(ShapeError):
        run(ones(2, 5))


def test_state_is_shared_and_named_as_torch_names_it() -> None:
    module = Net()
    run, _ = compiled(module, TEXT)
    plain = torch.compile(module)
    assert isinstance(run, nn.Module)
    assert isinstance(run, type(plain))
    assert list(run.state_dict()) == list(plain.state_dict())
    assert [name for name, _ in run.named_parameters()] == [name for name, _ in plain.named_parameters()]
    assert run.lin is module.lin
    run.lin.weight.zero_()
    run.lin.bias.fill_(3.0)
    run.eval()
    assert not module.training
    assert torch.equal(run(ones(2, 4)), torch.full((2, 4), 3.0))
    run.scale = ones(4) * 2
    assert torch.equal(run(ones(2, 4)), torch.full((2, 4), 6.0))
    run.to(torch.float64)
    assert module.lin.weight.dtype == torch.float64
    assert run(ones(2, 4, dtype=torch.float64)).dtype == torch.float64


def test_train_and_eval_are_graphs_of_their_own() -> None:
    run, graphs = compiled(Net(), TEXT)
    run.eval()
    assert torch.equal(run(ones(2, 4)), run(ones(2, 4)))
    run.train()
    torch.manual_seed(0)
    assert (run(ones(20, 4)) == 0).any()
    assert graphs.count == 2


def test_a_deep_copy_runs_its_own_weights() -> None:
    run, _ = compiled(Net().eval(), TEXT)
    before = run(ones(2, 4))
    other = copy.deepcopy(run)
    other.lin.weight.zero_()
    other.lin.bias.zero_()
    assert torch.equal(other(ones(2, 4)), torch.zeros(2, 4))
    assert torch.equal(run(ones(2, 4)), before)
    with pytest.raises(ShapeError):
        other(ones(40, 4))


def test_pickle() -> None:
    from shapedsl.targets.entry.compile import compile_callable
    from tests.runtime.fakes import signature

    run = compile_callable(Net().eval(), signature(TEXT), lower, backend="eager")
    other = pickle.loads(pickle.dumps(run))
    assert torch.equal(run(ones(3, 4)), other(ones(3, 4)))
    with pytest.raises(ShapeError):
        other(ones(40, 4))


def test_gradients() -> None:
    module = Net().eval()
    run, _ = compiled(module, "def forward(x: Tensor[B, 4]):\n    where B >= 1", backend="aot_eager")
    with torch.enable_grad():
        for size in (1, 5):
            module.zero_grad()
            run(ones(size, 4)).sum().backward()
            assert torch.equal(module.lin.bias.grad, torch.full((4,), float(size)))


def test_hooks_of_the_module_and_of_the_compiled_one_run_once() -> None:
    module = Net().eval()
    calls: list[str] = []
    module.register_forward_hook(lambda *_: calls.append("inner"))
    run, _ = compiled(module, TEXT)
    run.register_forward_pre_hook(lambda *_: calls.append("outer"))
    run(ones(2, 4))
    calls.clear()
    run(ones(3, 4))
    assert calls.count("outer") == 1


def test_hooks_that_compute_are_in_the_one_graph() -> None:
    module = Net().eval()
    module.register_forward_hook(lambda _module, _inputs, output: output * 2)
    module.register_forward_pre_hook(lambda _module, inputs: (inputs[0] + 1,))
    run, graphs = compiled(module, TEXT)
    for size in (2, 3, 4):
        assert torch.equal(run(ones(size, 4)), module(ones(size, 4)))
    assert graphs.count == 1


def test_it_is_traceable_in_anothers_compile_and_export() -> None:
    run, graphs = compiled(Net().eval(), TEXT)

    class Outer(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner = run

        def forward(self, x: Any) -> Any:
            return self.inner(x) + 1

    outer = Outer()
    assert torch.compile(outer, backend="eager", fullgraph=True)(ones(2, 4)).shape == (2, 4)
    assert torch.export.export(outer, (ones(2, 4),)).module()(ones(2, 4)).shape == (2, 4)
    assert graphs.count == 0


def test_a_lazy_module_makes_its_parameters_first() -> None:
    run, _ = compiled(nn.LazyLinear(3), "def forward(input: Tensor[B, 4]): ...")
    assert run(ones(2, 4)).shape == (2, 3)
    assert run(ones(5, 4)).shape == (5, 3)


def test_sizes_of_the_modules_own_attributes() -> None:
    class Table(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, rows: int) -> None:
            super().__init__()
            self.rows = ones(rows, 4)

        def forward(self, x: Any) -> Any:
            return x @ self.rows.t()

    text = "class Table:\n    def forward(self: object(rows: Tensor[R, 4]), x: Tensor[B, 4]):\n        where B <= R"
    module = Table(5)
    run, graphs = compiled(module, text)
    for size in (2, 3, 5):
        assert run(ones(size, 4)).shape == (size, 5)
    module.rows = ones(7, 4)
    assert run(ones(6, 4)).shape == (6, 7)
    assert graphs.count == 1
    with pytest.raises(ShapeError):
        run(ones(8, 4))
    method, _ = compiled(module.forward, text)
    assert method(ones(6, 4)).shape == (6, 7)


def test_two_modules_of_one_class_do_not_share_weights() -> None:
    first, second = Net().eval(), Net().eval()
    one, _ = compiled(first, TEXT)
    two, _ = compiled(second, TEXT)
    for size in (2, 3):
        assert torch.equal(one(ones(size, 4)), first(ones(size, 4)))
        assert torch.equal(two(ones(size, 4)), second(ones(size, 4)))


def test_len_is_the_modules() -> None:
    run, _ = compiled(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), "def forward(input: Tensor[B, 4]): ...")
    assert len(run) == 2


def test_a_container_is_indexed_and_iterated_where_torchs_wrapper_has_only_a_length() -> None:
    layers = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    with pytest.raises(TypeError):
        torch.compile(layers)[0]
    run, _ = compiled(layers, "def forward(input: Tensor[B, 3]): ...")
    assert run[0] is layers[0]
    assert list(run) == list(layers)
    assert layers[1] in run
    linear, _ = compiled(torch.nn.Linear(3, 3), "def forward(input: Tensor[B, 3]): ...")
    for access in (lambda: linear[0], lambda: iter(linear), lambda: 0 in linear):
        with pytest.raises(TypeError, match="Linear"):
            access()
