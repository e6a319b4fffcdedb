"""What `shapes` and `where` attach is found by torch.compile, torch.export and make_fx themselves."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="arg-type,attr-defined,call-arg,empty-body,func-returns-value,misc,name-defined,no-untyped-call,operator,syntax,type-arg,unused-ignore,valid-type,return,explicit-override"
# ruff: noqa: F722, SIM300, UP037

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch finds the spec here")

from torch.fx.experimental.dynamic_spec import ShapesSpec
from torch.fx.experimental.proxy_tensor import make_fx

import shapedsl as sd
from shapedsl import Tensor, shapes, where
from shapedsl.dims import B, D, N


@shapes(hints={"B": 8, "D": 64})
@where(0 <= B, B <= 1024, B < 32)
def project(x: Tensor[B, D], w: Tensor["D", "D"]) -> Tensor[B, D]:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    if guard_or_false(x.shape[0] < 32):
        return (x.unsqueeze(-1) * w).sum(-2)
    return x @ w


class Net(torch.nn.Module):
    @where(B < 32)
    def forward(self, x: Tensor[B, "2*D"]) -> Tensor[B]:
        return x.sum(-1)


def sizes(batch: int = 5, dim: int = 6) -> tuple[Any, Any]:
    return torch.randn(batch, dim), torch.randn(dim, dim)


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def test_compile_finds_it() -> None:
    frames: list[object] = []

    def backend(graph: Any, _: object) -> Any:
        frames.append(graph)
        return graph.forward

    compiled = torch.compile(project, backend=backend, fullgraph=True)
    for batch, dim in ((5, 6), (8, 3), (31, 1)):
        x, w = sizes(batch, dim)
        torch.testing.assert_close(compiled(x, w), x @ w)
    assert len(frames) == 1
    assert "matmul" not in frames[0].code  # type: ignore[attr-defined]  # the branch for B < 32 was taken


def test_export_finds_it_on_a_module() -> None:
    program = torch.export.export(Net(), (torch.randn(4, 6),), strict=False)
    (placeholder,) = [node for node in program.graph.nodes if node.op == "placeholder"]
    assert [isinstance(size, torch.SymInt) for size in placeholder.meta["val"].shape] == [True, True]
    assert program.module()(torch.randn(7, 10)).shape == (7,)
    with pytest.raises((AssertionError, RuntimeError)):
        program.module()(torch.randn(32, 10))


def test_make_fx_finds_it() -> None:
    graph = make_fx(project, tracing_mode="fake")(*sizes())
    x, w = sizes(9, 2)
    torch.testing.assert_close(graph(x, w), x @ w)


def test_it_passes_for_a_shapes_spec() -> None:
    spec: Any = vars(project)["_dynamic_spec"]
    assert isinstance(spec, ShapesSpec)
    number = re.compile(r"#\d+")  # each variable has its own
    real = sd.spec_of(project).to_torch()  # type: ignore[union-attr]
    assert number.sub("", repr(spec)) == number.sub("", repr(real))
    assert len(spec._assumptions) == len(spec.assumptions) == len(real._assumptions)
    assert spec.to_jsonable().keys() == real.to_jsonable().keys()
    again = pickle.loads(pickle.dumps(spec))
    assert again.function is project
    assert isinstance(copy.deepcopy(spec), ShapesSpec)


def test_an_unknown_rank_comes_out_of_torch_compile_itself() -> None:
    @shapes
    def anything(x: Tensor["*batch", D]) -> None: ...

    with pytest.raises(sd.ShapeError, match="unknown-rank"):
        torch.compile(anything, backend="eager")


def test_printing_never_raises() -> None:
    @shapes(x="*batch, D")
    def f(x: Any) -> Any:
        return x

    assert repr(vars(f)["_dynamic_spec"]) == "<AttachedSpec of test_printing_never_raises.<locals>.f: unknown-rank>"


def test_a_wrong_annotation_comes_out_of_torch_compile_itself() -> None:
    @shapes
    def wrong(x: Tensor["B +"]) -> None: ...

    with pytest.raises(sd.ShapeError, match="syntax-error"):
        torch.compile(wrong, backend="eager")


def test_check_raises_before_the_call() -> None:
    calls: list[int] = []

    @shapes(check=True, where="B < 4")
    def checked(x: Tensor[B]) -> Tensor[B]:
        calls.append(x.shape[0])
        return x

    checked(torch.zeros(3))
    with pytest.raises(sd.ShapeError, match="B < 4"):
        checked(torch.zeros(4))
    assert calls == [3]
    assert checked.__name__ == "checked"
    assert sd.spec_of(checked) is not None


def test_check_wraps_methods_modules_and_static_methods() -> None:
    class Holder(torch.nn.Module):
        @shapes(check=True, x="B", where="B < 4")
        def forward(self, x: Any) -> Any:
            return x + 1

        @shapes(check=True, x="B", where="B < 4")
        @staticmethod
        def static(x: Any) -> Any:
            return x + 2

        @shapes(check=True, x="B", where="B < 4")
        @classmethod
        def of_class(cls, x: Any) -> Any:
            return x + 3

    @shapes(check=True, x="B", where="B < 4")
    class Whole(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x + 1

    for call, plus in (
        (Holder(), 1),
        (Holder().static, 2),
        (Holder.static, 2),
        (Holder.of_class, 3),
        (Whole(), 1),
    ):
        assert torch.equal(call(torch.zeros(3)), torch.zeros(3) + plus)
        with pytest.raises(sd.ShapeError, match="B < 4"):
            call(torch.zeros(4))


def test_a_decorated_module_class_is_found() -> None:
    @shapes("where B < 32")
    class Whole(torch.nn.Module):
        def forward(self, x: Tensor[B]) -> Tensor[B]:
            return x + 1

    assert isinstance(Whole, type)
    spec = sd.spec_of(Whole())
    assert spec is not None
    assert str(spec.normalize()).endswith("dim B in [0, 31]")
    program = torch.export.export(Whole(), (torch.zeros(4),), strict=False)
    assert program.module()(torch.zeros(9)).shape == (9,)
    assert isinstance(copy.deepcopy(Whole()), Whole)


def test_what_a_class_shares_is_obeyed_by_torch_and_by_ours() -> None:
    @shapes("dim B in [2, 64]\nwhere B % 2 == 0", consts={"N": 4})
    class Shares(torch.nn.Module):
        def forward(self, x: Tensor[B, D]) -> Tensor[B, D]:
            return x + 1

        def encode(self, x: Tensor[B, 2 * N]) -> Tensor[B, N]:
            return x[:, ::2]

    program = torch.export.export(Shares(), (torch.zeros(4, 3),), strict=False)  # finds it by itself
    assert program.module()(torch.zeros(8, 5)).shape == (8, 5)
    with pytest.raises((AssertionError, RuntimeError)):
        program.module()(torch.zeros(7, 5))
    encode = sd.compile(Shares().encode, backend="eager")
    assert encode(torch.zeros(64, 8)).shape == (64, 4)
    for wrong in (torch.zeros(65, 8), torch.zeros(3, 8), torch.zeros(4, 6)):
        with pytest.raises(sd.ShapeError):
            encode(wrong)


def test_a_class_that_is_only_described_is_not_attached() -> None:
    @shapes("dim B in [2, 64]", attach=False)
    class Described(torch.nn.Module):
        def forward(self, x: Tensor[B]) -> Tensor[B]:
            return x + 1

    assert "_dynamic_spec" not in vars(Described.forward)
    assert sd.spec_of(Described()) == sd.loads("def forward(x: Tensor[B]) -> Tensor[B]: dim B in [2, 64]")["forward"]
    assert torch.compile(Described(), backend="eager", dynamic=True)(torch.zeros(1)).shape == (1,)


def test_attaching_loads_torch_only_when_it_is_read() -> None:
    code = (
        "import sys\nimport shapedsl as sd\nfrom shapedsl.dims import B\n"
        "@sd.shapes\n@sd.where(B < 32)\ndef f(x: sd.Tensor[B]): return x + 1\n"
        "print('torch' in sys.modules, 'lark' in sys.modules, 'sympy' in sys.modules)\n"
        "import torch\n"
        "from torch.fx.experimental.dynamic_spec import ShapesSpec\n"
        "print(isinstance(f._dynamic_spec, ShapesSpec))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False", "True"]
