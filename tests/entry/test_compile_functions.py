"""`compile` of everything callable but modules, through real torch."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="compiling needs torch")

from shapedsl.diagnostics import ShapeError
from tests.entry.compiling import Graphs, compiled

functional = torch.nn.functional
ones = torch.ones
PROJECT = "dim B in [0, 1024]\ndef project(x: Tensor[B, D], w: Tensor[D, D]):\n    where B < 32"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


def project(x: Any, w: Any) -> Any:
    """Multiplies."""
    return x @ w


def test_one_graph_serves_all_sizes() -> None:
    run, graphs = compiled(project, PROJECT)
    for size in (8, 0, 1, 2, 31):
        assert torch.equal(run(ones(size, 4), ones(4, 4)), torch.full((size, 4), 4.0))
        assert run(x=ones(size, 4), w=ones(4, 4)).shape == (size, 4)
    assert graphs.count == 1
    assert (run.__name__, run.__doc__, run.__module__) == ("project", "Multiplies.", __name__)


def test_a_bad_call_costs_no_graph_where_torch_makes_one_each_time() -> None:
    run, graphs = compiled(project, PROJECT)
    run(ones(8, 4), ones(4, 4))
    for _ in range(3):
        with pytest.raises(ShapeError, match=r"`x.shape\[0\]` is 32, expected `B < 32`"):
            run(ones(32, 4), ones(4, 4))
    assert graphs.count == 1
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'w'"):
        run(ones(8, 4))

    # the trap: torch's own call traces again and then reports a bug of its own
    from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec

    own = Graphs()
    spec = ShapesSpec({"x": TensorSpec([ShapeVar("B", max=31), None])})
    plain = torch.compile(project, backend=own, fullgraph=True, dynamic_shapes=spec)
    plain(ones(8, 4), ones(4, 4))
    with pytest.raises(Exception, match=r"bug|Guard failed"):
        plain(ones(32, 4), ones(4, 4))
    assert own.count >= 1


def test_sizes_of_an_unused_parameter_are_bound_and_checked() -> None:
    def f(x: Any, y: Any) -> Any:
        return x + 1

    text = "def f(x: Tensor[A], y: Tensor[B]):\n    where A <= B"
    run, graphs = compiled(f, text)
    assert run(ones(5), ones(7)).shape == (5,)
    assert run(ones(3), ones(3)).shape == (3,)
    with pytest.raises(ShapeError):
        run(ones(5), ones(4))
    assert graphs.count == 1

    # the trap: without a touch torch never binds B
    from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec

    a, b = ShapeVar("A"), ShapeVar("B")
    spec = ShapesSpec({"x": TensorSpec([a]), "y": TensorSpec([b])}, assumptions=[a <= b])
    with pytest.raises(Exception, match=r"unbound|not bound|KeyError|u\d"):
        torch.compile(f, backend="eager", fullgraph=True, dynamic_shapes=spec)(ones(5), ones(7))


def test_options_that_the_spec_decides_are_refused() -> None:
    for options in (
        {"dynamic": True},
        {"dynamic_shapes": None},
        {"fullgraph": False},
        {"isolate_recompiles": False},
        {"recompile": 3},
    ):
        with pytest.raises(TypeError):
            compiled(project, PROJECT, **options)
    with pytest.raises(TypeError, match="takes a callable, not 3"):
        compiled(3, PROJECT)
    run, _ = compiled(project, PROJECT, fullgraph=True, isolate_recompiles=True, recompile_limit=2)
    assert run(ones(2, 2), ones(2, 2)).shape == (2, 2)


def test_two_specs_of_one_function_do_not_share_graphs() -> None:
    narrow, narrow_graphs = compiled(project, "def project(x: Tensor[B, 4], w: Tensor[4, 4]):\n    where B >= 2")
    wide, wide_graphs = compiled(project, PROJECT)
    wide(ones(1, 4), ones(4, 4))
    narrow(ones(2, 4), ones(4, 4))
    assert (narrow_graphs.count, wide_graphs.count) == (1, 1)


def test_a_builtin_has_the_specs_parameters() -> None:
    text = "def linear(x: Tensor[B, I], w: Tensor[O, I], b: Tensor[O] | None = _): ..."
    run, graphs = compiled(functional.linear, text)
    for size in (0, 1, 5):
        x, w, b = ones(size, 4), ones(2, 4), ones(2)
        assert torch.equal(run(x, w), functional.linear(x, w))
        assert torch.equal(run(x, w, b), functional.linear(x, w, b))
        assert torch.equal(run(x, w, None), functional.linear(x, w))
    assert graphs.count <= 3
    with pytest.raises(ShapeError):
        run(ones(2, 4), ones(2, 5))
    matmul, graphs = compiled(torch.matmul, "def matmul(a: Tensor[*batch, M, K], b: Tensor[*batch, K, N]): ...")
    for size in (0, 1, 5):
        assert matmul(ones(size, 2, 3), ones(size, 3, 4)).shape == (size, 2, 4)
        assert matmul(ones(size, 3), ones(3, 4)).shape == (size, 4)
    assert graphs.count == 2


def test_partials() -> None:
    def scaled(scale: float, x: Any, w: Any, *, bias: float = 0.0) -> Any:
        return scale * (x @ w) + bias

    partial = functools.partial(scaled, 2.0, bias=1.0)
    run, graphs = compiled(partial, "def scaled(x: Tensor[B, D], w: Tensor[D, D]): ...")
    for size in (2, 3, 4):
        assert run(ones(size, 2), ones(2, 2))[0, 0] == 5.0
        assert run(ones(size, 2), w=ones(2, 2))[0, 0] == 5.0
    assert graphs.count == 1
    text = "def linear(x: Tensor[B, 4]): ..."
    run, graphs = compiled(functools.partial(functional.linear, weight=ones(3, 4)), text)
    assert [run(ones(size, 4)).shape[0] for size in (2, 3, 4)] == [2, 3, 4]
    assert graphs.count == 1


def test_a_partial_takes_the_whole_functions_spec_where_that_says_nothing_of_what_it_has_bound() -> None:
    def scaled(x: Any, w: Any, scale: float = 1.0) -> Any:
        return x @ w * scale

    w = ones(2, 2)
    run, graphs = compiled(
        functools.partial(scaled, scale=2.0), "def scaled(x: Tensor[B, D], w: Tensor[D, D], scale = _): ..."
    )
    assert [run(ones(size, 2), w)[0, 0].item() for size in (2, 3, 4)] == [4.0, 4.0, 4.0]
    assert graphs.count == 1
    assert run(ones(2, 2), w, scale=3.0)[0, 0] == 6.0  # a bound keyword may be overridden
    nested = functools.partial(functools.partial(scaled, w=w), scale=2.0)
    run, graphs = compiled(nested, "def scaled(x: Tensor[B, 2], w, scale): ...")
    assert [run(ones(size, 2))[0, 0].item() for size in (2, 3, 4)] == [4.0, 4.0, 4.0]
    for text in (
        "def scaled(xx: Tensor[B, D], w): ...",
        "def scaled(x: Tensor[B, D], w: Tensor[D, D]): ...",
    ):
        with pytest.raises(ShapeError) as caught:
            compiled(nested, text)
        assert caught.value.code == "unknown-parameter"


class Scaler:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, x: Any) -> Any:
        return x * self.scale

    def method(self, x: Any, y: Any = None) -> Any:
        return x * self.scale if y is None else x + y

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x + 1

    @staticmethod
    def static(x: Any) -> Any:
        return x + 2


@pytest.mark.parametrize("target", [Scaler(3.0), Scaler(3.0).method, Scaler.of_class, Scaler.static])
def test_callable_objects_and_methods(target: Callable[..., Any]) -> None:
    run, graphs = compiled(target, "def f(x: Tensor[B]): ...")
    for size in (0, 2, 5):
        assert torch.equal(run(ones(size)), target(ones(size)))
    assert graphs.count == 1


def test_a_compiled_function_in_a_class_body_is_a_method() -> None:
    def scaled(self: Any, x: Any) -> Any:
        return x * self.scale

    run, graphs = compiled(scaled, "def scaled(x: Tensor[B]): ...")

    class Holder:
        scale = 2.0
        method = run

    assert [Holder().method(ones(size)).sum().item() for size in (2, 3)] == [4.0, 6.0]
    assert graphs.count == 1


def test_static_and_class_methods_in_a_class_body() -> None:
    def add(x: Any) -> Any:
        return x + 1

    def name(cls: Any, x: Any) -> Any:
        return x + len(cls.__name__)

    text = "def f(x: Tensor[B]): ..."

    static, bound = compiled(staticmethod(add), text)[0], compiled(classmethod(name), text)[0]

    class Holder:
        add = static
        name = bound

    assert [Holder.add(ones(size)).sum().item() for size in (2, 3)] == [4.0, 6.0]
    assert [Holder().add(ones(size)).sum().item() for size in (2, 3)] == [4.0, 6.0]
    assert [Holder().name(ones(size)).sum().item() for size in (2, 3)] == [14.0, 21.0]


def test_decorated_functions() -> None:
    @torch.no_grad()  # type: ignore[untyped-decorator]
    def f(x: Any) -> Any:
        return x * 2

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    for target in (f, wrapper):
        torch._dynamo.reset()
        run, graphs = compiled(target, "def f(x: Tensor[B]): ...")
        assert [run(ones(size, requires_grad=True)).requires_grad for size in (2, 3, 4)] == [False] * 3
        assert graphs.count == 1


def test_the_real_signature_is_kept() -> None:
    default = ones(2)

    def f(a: Any, /, b: Any, *rest: Any, c: Any = default, d: Any = 1.5, **others: Any) -> Any:
        return a + b + sum(rest) + c.sum() * d + sum(others.values())

    text = 'def f(a: Tensor[B], /, b: Tensor[B], *rest: Tensor[B], c: Tensor[C] = _, **others: {"e": Tensor[B] | None}): ...'
    run, _ = compiled(f, text)
    for size in (2, 3, 4):
        x = ones(size)
        assert torch.equal(run(x, x), f(x, x))
        assert torch.equal(run(x, b=x, d=2.0), f(x, b=x, d=2.0))
        assert torch.equal(run(x, x, x, x, c=ones(3), e=x), f(x, x, x, x, c=ones(3), e=x))
    with pytest.raises(TypeError):
        run(a=ones(2), b=ones(2))
    with pytest.raises(ShapeError):
        run(ones(2), ones(2), ones(3))
    with pytest.raises(ShapeError):
        run(ones(2), ones(2), e=ones(3))


def test_an_unknown_parameter_is_an_error_where_torch_ignores_it() -> None:
    with pytest.raises(ShapeError, match="has no parameter `wieght`") as caught:
        compiled(project, "def project(x: Tensor[B, D], wieght: Tensor[D, D]): ...")
    assert caught.value.code == "unknown-parameter"

    def with_kwargs(x: Any, **kwargs: Any) -> Any:
        return x + kwargs["y"]

    run, graphs = compiled(with_kwargs, "def f(x: Tensor[B], y: Tensor[B]): ...")
    assert [run(ones(size), y=ones(size)).shape[0] for size in (2, 3)] == [2, 3]
    assert graphs.count == 1


def test_a_keyword_of_kwargs_may_be_left_out() -> None:
    def scaled(x: Any, **kwargs: Any) -> Any:
        return x * 2 if kwargs.get("y") is None else x + kwargs["y"] + len(kwargs)

    run, _ = compiled(scaled, "def f(x: Tensor[B], *, y: Tensor[B] | None = _): ...")
    for size in (2, 5):
        assert torch.equal(run(ones(size)), torch.full((size,), 2.0))
        assert torch.equal(run(ones(size), y=ones(size)), torch.full((size,), 3.0))
        assert torch.equal(run(ones(size), y=None), torch.full((size,), 2.0))
    with pytest.raises(ShapeError, match=r"`y.shape\[0\]` is 3"):
        run(ones(2), y=ones(3))


def test_none_lengths_and_ranks_select_artifacts() -> None:
    def f(x: Any, mask: Any = None, caches: Any = ()) -> Any:
        out = x.sum() if mask is None else (x * mask).sum()
        return out + sum(cache.sum() for cache in caches)

    run, graphs = compiled(f, "def f(x: Tensor[*b], mask: Tensor[*b] | None = _, caches: [Tensor[?K], ...] = _): ...")
    for size in (2, 3, 4):
        assert run(ones(size)) == size
        assert run(ones(size, 2)) == 2 * size
        assert run(ones(size), ones(size)) == size
        assert run(ones(size), None, [ones(size), ones(7)]) == 2 * size + 7
    assert graphs.count == 4


def test_named_static_sizes_select_artifacts() -> None:
    text = "const HD = _\ndef f(x: Tensor[B, HD], w: Tensor[HD, HD]): ..."
    run, graphs = compiled(project, text.replace("f(", "project("))
    for heads in (2, 3, 4, 2):
        for size in (2, 3, 4):
            assert run(ones(size, heads), ones(heads, heads)).shape == (size, heads)
    assert graphs.count == 3
    with pytest.raises(ShapeError):
        run(ones(2, 3), ones(4, 4))


def test_more_static_sizes_than_torchs_recompile_limit() -> None:
    def f(x: Any) -> Any:
        return x + 1

    text = "def f(x: Tensor[B, _]): ..."
    run, graphs = compiled(f, text)
    for width in range(2, 14):
        run(ones(3, width))
    assert graphs.count == 12


def test_scalars_of_the_wrong_kind_cost_no_graph() -> None:
    def f(x: Any, n: Any) -> Any:
        return x * n

    run, graphs = compiled(f, "int n in [0, inf]\ndef f(x: Tensor[B], n: Scalar[n]): ...")
    assert [run(ones(2), n)[0].item() for n in (0, 1, 5)] == [0, 1, 5]
    for wrong in (True, 2.0, 2**63, None):
        with pytest.raises(ShapeError):
            run(ones(2), wrong)
    assert graphs.count == 1


def test_an_unused_scalar_is_touched() -> None:
    def f(x: Any, n: Any) -> Any:
        return x + 1

    run, graphs = compiled(f, "int n in [0, inf]\ndef f(x: Tensor[B], n: Scalar[n]):\n    where n <= B")
    for n in (0, 1, 2):
        run(ones(5), n)
    assert graphs.count == 1
    with pytest.raises(ShapeError):
        run(ones(5), 6)


def test_negative_ints_are_shifted_where_torch_forces_them_up() -> None:
    def f(x: Any, n: Any) -> Any:
        return x * n

    text = "int n in [-5, 10]\ndef f(x: Tensor[B], n: Scalar[n]):\n    where n <= B, n % 2 == 1"
    run, graphs = compiled(f, text)
    assert [run(ones(9), n)[0].item() for n in (-5, -1, 1, 9)] == [-5, -1, 1, 9]
    assert graphs.count == 1
    for n in (-7, -2, 11):
        with pytest.raises(ShapeError):
            run(ones(9), n)

    # the trap: torch's own IntVar takes no negative int
    from torch.fx.experimental.dynamic_spec import IntVar, ShapesSpec

    plain = torch.compile(
        f, backend="eager", fullgraph=True, dynamic_shapes=ShapesSpec({"n": IntVar("n", min=-5, max=10)})
    )
    assert plain(ones(9), 3)[0] == 3
    with pytest.raises(Exception, match=r"Guard failed|0 <= "):
        plain(ones(9), -1)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("int n\ndef f(x: Tensor[B], n: Scalar[n]): ...", "negative-int"),
        ("def f(x: Tensor[B], n: Scalar[n] = _): ...", "negative-int"),
        ("def f(x: Tensor[B // 8], n): ...", "not-invertible"),
    ],
)
def test_what_cannot_be_lowered_is_refused_before_any_call(text: str, code: str) -> None:
    with pytest.raises(ShapeError) as caught:
        compiled(lambda x, n: x * n, text)
    assert caught.value.code == code


def test_what_cannot_be_lowered_at_some_rank_is_refused_at_the_call() -> None:
    run, _ = compiled(lambda x, n: x * n, "int n\ndef f(x: Tensor[*b], n: Scalar[n]): ...")
    with pytest.raises(ShapeError) as caught:
        run(ones(2), 3)
    assert caught.value.code == "negative-int"


class Pair(NamedTuple):
    x: Any
    y: Any


def test_containers() -> None:
    def f(d: Any, p: Any, kvs: Any) -> Any:
        return d["k"].sum() + p.x.sum() + sum(k.sum() + v.sum() for k, v in kvs)

    text = 'def f(d: {"k": Tensor[B]}, p: Pair(x: Tensor[B]), kvs: [(Tensor[P], Tensor[P])] * 2): ...'
    run, graphs = compiled(f, text)
    for size in (2, 3, 4):
        kvs = [(ones(size), ones(size)), (ones(size), ones(size))]
        assert run({"k": ones(size)}, Pair(ones(size), 1), kvs) == 6 * size
    assert graphs.count == 1
    with pytest.raises(ShapeError, match=r"`p.x.shape\[0\]` is 3, expected `B` = 2"):
        run({"k": ones(2)}, Pair(ones(3), 1), [(ones(2), ones(2))] * 2)


def test_derived_dims() -> None:
    def f(x: Any, y: Any) -> Any:
        return x.view(2, -1).sum(0) + y[:-1]

    run, graphs = compiled(f, "def f(x: Tensor[2 * B], y: Tensor[B + 1]): ...")
    for size in (2, 3, 4):
        assert run(ones(2 * size), ones(size + 1)).shape == (size,)
    assert graphs.count == 1
    with pytest.raises(ShapeError):
        run(ones(5), ones(3))


@pytest.mark.parametrize("name", ["_target", "_s_target", "torch", "run"])
def test_parameters_may_have_any_name(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def f({name}, _s_run): return {name} + _s_run", scope)
    run, graphs = compiled(scope["f"], f"def f({name}: Tensor[lambda], _s_run: Tensor[lambda]): ...")
    assert [run(ones(size), ones(size)).shape[0] for size in (2, 3)] == [2, 3]
    assert graphs.count == 1


def test_it_stays_traceable_in_anothers_compile_and_export() -> None:
    run, graphs = compiled(project, PROJECT)
    outer = torch.compile(lambda x, w: run(x, w) + 1, backend="eager", fullgraph=True)
    assert outer(ones(2, 3), ones(3, 3))[0, 0] == 4
    linear, _ = compiled(
        functional.linear, "def linear(x: Tensor[B, I], w: Tensor[O, I], b: Tensor[O] | None = _): ..."
    )
    outer = torch.compile(lambda x, w: linear(x, w) + linear(x, w, ones(2)), backend="eager", fullgraph=True)
    assert outer(ones(2, 3), ones(2, 3))[0, 0] == 7

    class Module(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any, w: Any) -> Any:
            return run(x, w)

    program = torch.export.export(Module(), (ones(2, 3), ones(3, 3)))
    assert torch.equal(program.module()(ones(2, 3), ones(3, 3)), ones(2, 3) @ ones(3, 3))
    assert graphs.count == 0


def test_threads_make_one_artifact() -> None:
    run, graphs = compiled(project, PROJECT)
    results: list[Any] = []
    barrier = threading.Barrier(4)

    def work(size: int) -> None:
        barrier.wait()
        results.append(run(ones(size, 2), ones(2, 2)).shape)

    threads = [threading.Thread(target=work, args=(size,)) for size in (2, 3, 4, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(shape[0] for shape in results) == [2, 3, 4, 5]
    assert graphs.count == 1


def test_gradients_and_aot_eager() -> None:
    text = "dim D in [2, inf]\ndef f(x: Tensor[B, D], w: Tensor[D, D]): ..."
    run, _ = compiled(lambda x, w: (x @ w).relu().sum(), text, backend="aot_eager")
    for size in (0, 1, 5):
        x = ones(size, 3, requires_grad=True)
        run(x, ones(3, 3)).backward()
        assert torch.equal(x.grad, torch.full((size, 3), 3.0))


def test_torchs_logs_print_the_targets_name() -> None:
    run, _ = compiled(project, PROJECT)
    names: list[str] = []

    def backend(graph: Any, examples: object) -> Any:
        names.append(torch._guards.TracingContext.get().traced_code[0].co_name)
        return graph.forward

    run, _ = compiled(project, PROJECT, backend=backend)
    run(ones(2, 2), ones(2, 2))
    assert names == ["project"]


def test_a_data_dependent_branch_is_told_in_the_specs_names() -> None:
    def f(x: Any) -> Any:
        return x + 1 if x.shape[0] == 1 else x - 1

    run, _ = compiled(f, "def f(x: Tensor[B]): ...")
    with pytest.raises(ShapeError) as caught:
        run(ones(3))
    assert caught.value.code == "data-dependent"
    assert "B" in caught.value.diagnostics[0].message


def test_errors_of_the_target_come_through() -> None:
    def f(x: Any) -> Any:
        return x.no_such_method()

    run, _ = compiled(f, "def f(x: Tensor[B]): ...")
    with pytest.raises(Exception, match="no_such_method"):
        run(ones(3))


def test_tensor_subclasses_meta_and_fake_tensors_are_tensors() -> None:
    run, _ = compiled(project, PROJECT)
    parameter = torch.nn.Parameter(ones(3, 3))
    assert run(ones(2, 3), parameter).shape == (2, 3)
    assert run(ones(2, 3, device="meta"), ones(3, 3, device="meta")).shape == (2, 3)
    with pytest.raises(ShapeError):
        run(ones(2, 3, device="meta"), ones(4, 3, device="meta"))


@pytest.mark.parametrize(
    ("where", "good", "bad"),
    [
        ("a: Tensor[A], x: Tensor[A * B]): where B == 3", (2, 6), (2, 7)),
        ("a: Tensor[A], x: Tensor[A * B]): where B >= 3, B <= 3", (0, 0), (0, 3)),
        ("a: Tensor[A], x: Tensor[A * B]): where B == A", (3, 9), (3, 6)),
        ("a: Tensor[min(A, A)], x: Tensor[max(A, 0)]): where A <= 3", (3, 3), (4, 4)),
    ],
)
def test_sizes_that_only_assumptions_give_are_checked_before_torch_is_asked(
    where: str, good: tuple[int, int], bad: tuple[int, int]
) -> None:
    run, graphs = compiled(lambda a, x: (a * 2, x * 2), f"def f({where}")
    assert [each.shape[0] for each in run(*map(ones, good))] == list(good)
    with pytest.raises(ShapeError, match="shape-violation"):
        run(*map(ones, bad))
    assert graphs.count == 1


@pytest.mark.parametrize("default", [40, 300])  # CPython keeps one object for 40
def test_an_argument_that_is_the_default_is_checked_and_an_omitted_one_is_not(default: int) -> None:
    def scale(x: Any, n: Any = default) -> Any:
        return x * n

    run, _ = compiled(scale, "def scale(x: Tensor[B], n: Scalar[n] = _): where n >= 1, n <= 9")
    assert run(ones(2)).tolist() == [default] * 2
    assert run(ones(2), 3).tolist() == [3, 3]
    with pytest.raises(ShapeError, match="n <= 9"):
        run(ones(2), default)
    assert torch.compile(lambda x: run(x) + 0, backend="eager", fullgraph=True)(ones(1)).tolist() == [default]
