"""sd.make_fx's engine: the traps of make_fx, each with a test."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
from typing import Any

import pytest

pytest.importorskip("torch", reason="lowering needs torch")

import torch

import shapedsl as sd
from shapedsl.diagnostics import ShapeError
from shapedsl.ir import ParamKind, Static
from shapedsl.ir.expanded import Lowered
from shapedsl.targets.entry.make_fx import make_fx
from tests.torch.lowered_by_hand import apply, compare, integer, lower, mapping, scalar, sequence, tensor, var

ones = torch.ones


def outcome(graph: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the result's shape, or the name of the error."""
    try:
        return tuple(graph(*args, **kwargs).shape)
    except (AssertionError, RuntimeError, ShapeError) as error:
        return type(error).__name__


def rows(**params: Any) -> Lowered:
    """Returns the spec of ``x: Tensor[B, _]`` and more, with ``B % 2 == 0``."""
    return lower({"x": tensor("B", Static()), **params}, [var("B")], [compare(apply("%", "B", 2), "==", 0)])


def test_sizes_and_assumptions_are_asserted_by_the_graph_itself() -> None:
    graph = make_fx(lambda x: x * 2, (ones(4, 3),), {}, rows())
    assert [outcome(graph, ones(n, 3)) for n in (0, 1, 2, 6)] == [(0, 3), "RuntimeError", (2, 3), (6, 3)]
    assert isinstance(graph, torch.fx.GraphModule)
    assert sum("_assert_scalar" in str(node.target) for node in graph.graph.nodes) >= 1


def test_what_the_graph_bakes_in_is_checked_before_it_runs() -> None:
    """Trap: the graph takes another static dim, rank, int or flag and computes with the example's."""

    def f(x: Any, n: int = 2, flag: bool = True) -> Any:
        return x[:, : x.shape[1]] * n if flag else x

    graph = make_fx(f, (ones(4, 3), 5), {}, rows(n=scalar(5)))
    assert outcome(graph, ones(6, 3), 5) == (6, 3)
    assert outcome(graph, ones(6, 4), 5) == "ShapeError"  # `_` was 3
    assert outcome(graph, ones(6, 3, 1), 5) == "ShapeError"  # rank
    assert outcome(graph, ones(6, 3), 6) == "ShapeError"  # Scalar[5]
    with pytest.raises(ShapeError) as caught:
        graph(ones(6, 4), 5)
    assert caught.value.diagnostics[0].message == "`x.shape[1]` is 4, but the graph was made for 3"
    flagged = make_fx(f, (ones(4, 3), 5, True), {}, rows(n=scalar(5)))
    assert outcome(flagged, ones(6, 3), 5, False) == "ShapeError"
    assert outcome(flagged, ones(6, 3), 5, 1) == "ShapeError"


def test_exactly_a_tuple_and_a_dict() -> None:
    """Trap: make_fx takes them for ``(args, kwargs)`` and returns a graph that cannot run."""
    lowered = lower({"a": sequence(tensor("B")), "b": mapping({"k": tensor("B")})}, [var("B")])
    graph = make_fx(lambda a, b: a[0] + b["k"], ((ones(3),), {"k": ones(3)}), {}, lowered)
    assert outcome(graph, (ones(5),), {"k": ones(5)}) == (5,)
    assert outcome(graph, (ones(5),), {"k": ones(4)}) == "RuntimeError"


def test_keywords_omitted_defaults_and_variadics() -> None:
    """Trap: make_fx has no keywords (``expected 2 arguments but got 1``)."""

    def f(x: Any, y: Any = None, *args: Any, k: Any, **rest: Any) -> Any:
        return x + args[0] + k + rest["z"]

    lowered = lower(
        {
            "x": tensor("B"),
            "y": tensor("B"),
            "args": (sequence(tensor("B")), ParamKind.VAR_POSITIONAL),
            "k": (tensor("B"), ParamKind.KEYWORD_ONLY),
            "rest": (mapping({"z": tensor("B")}), ParamKind.VAR_KEYWORD),
        },
        [var("B")],
    )
    graph = make_fx(f, (ones(4), ones(4), ones(4)), {"k": ones(4), "z": ones(4)}, lowered)
    assert outcome(graph, ones(6), ones(6), ones(6), k=ones(6), z=ones(6)) == (6,)
    assert outcome(graph, ones(6), ones(6), ones(6), z=ones(6), k=ones(5)) == "RuntimeError"

    def g(x: Any, y: Any = None, *, k: Any) -> Any:
        return x + k

    omitted = lower({"x": tensor("B"), "k": (tensor("B"), ParamKind.KEYWORD_ONLY)}, [var("B")])
    graph = make_fx(g, (ones(4),), {"k": ones(4)}, omitted)
    assert outcome(graph, ones(6), k=ones(6)) == (6,)
    assert outcome(graph, ones(6), k=ones(5)) == "RuntimeError"


def test_the_target_is_called_as_the_example_is() -> None:
    seen: list[tuple[int, list[str]]] = []

    def f(*args: Any, **kwargs: Any) -> Any:
        seen.append((len(args), list(kwargs)))
        return args[0] * 2

    f.__signature__ = inspect.signature(lambda x, y=None, z=None: None)  # type: ignore[attr-defined]
    spec = "def f(x: Tensor[B], y: Tensor[B] | None = _, z: Tensor[B] | None = _): ..."
    sd.make_fx(f, spec)(ones(4), y=ones(4))
    sd.make_fx(f, spec)(ones(4), ones(4), z=ones(4))
    assert seen == [(1, ["y"]), (2, ["z"])]


def test_none_that_was_not_traced_is_told() -> None:
    graph = make_fx(lambda x, y: x if y is None else x + y, (ones(4, 3), None), {}, rows())
    assert outcome(graph, ones(6, 3), None) == (6, 3)
    with pytest.raises(ShapeError, match=r"`y` is a torch\.Tensor, but the graph was made for None"):
        graph(ones(6, 3), ones(6, 3))


def test_what_was_traced_and_is_left_out_is_told() -> None:
    def add(x: Any, b: Any = None) -> Any:
        return x if b is None else x + b

    graph = sd.make_fx(add, "def add(x: Tensor[B], b: Tensor[B] | None = _): ...")(ones(4), ones(4))
    assert graph(ones(3), ones(3)).tolist() == [2, 2, 2]
    for call in (lambda: graph(ones(3)), lambda: graph(ones(3), None)):
        with pytest.raises(ShapeError, match="`b` is None, but the graph was made for a tensor"):
            call()  # type: ignore[no-untyped-call]
    text = "def linear(input: Tensor[B, I], weight: Tensor[O, I], bias: Tensor[O] | None = _): ..."
    graph = sd.make_fx(torch.nn.functional.linear, text)(ones(2, 3), ones(4, 3), ones(4))
    assert graph(ones(5, 2), ones(1, 2), ones(1)).tolist() == [[3]] * 5
    with pytest.raises(ShapeError, match="`bias` is omitted, but the graph was made for a tensor"):
        graph(ones(5, 2), ones(1, 2))


def test_another_structure_is_told_by_parameter() -> None:
    graph = sd.make_fx(lambda x, d: x + d["a"], 'def f(x: Tensor[B], d: {"a": Tensor[B]}): ...')(
        ones(2), {"a": ones(2)}
    )
    with pytest.raises(ShapeError, match="`d` is not structured as it was when the graph was made"):
        graph(ones(2), {"a": ones(2), "b": ones(2)})


def test_a_pickled_graph_is_checked_and_called_as_before() -> None:
    def pair(x: Any, d: Any, *, k: int = 2) -> Any:
        return x * k + d["a"]

    graph = sd.make_fx(pair, 'def pair(x: Tensor[B], d: {"a": Tensor[B]}, *, k: _): where B <= 4')(
        ones(2), {"a": ones(2)}, k=3
    )
    for copied in (pickle.loads(pickle.dumps(graph)), pickle.loads(pickle.dumps(copy.deepcopy(graph)))):
        assert copied(ones(3), {"a": ones(3)}, k=3).tolist() == [4, 4, 4]
        with pytest.raises(ShapeError, match="B <= 4"):
            copied(ones(5), {"a": ones(5)}, k=3)
        with pytest.raises(ShapeError, match="`k` is 2, but the graph was made for 3"):
            copied(ones(3), {"a": ones(3)})
    linear = torch.nn.Linear(3, 5)
    graph = sd.make_fx(linear, "def f(input: Tensor[B, 3]): where B <= 4")(ones(2, 3))
    loaded = pickle.loads(pickle.dumps(graph))
    assert torch.equal(loaded(ones(4, 3)), linear(ones(4, 3)))
    assert outcome(loaded, ones(5, 3)) == "ShapeError"


def test_fx_traces_the_graph() -> None:
    graph = sd.make_fx(lambda x: x + 1, "def f(x: Tensor[B]): where B <= 4")(ones(2))
    traced = torch.fx.symbolic_trace(graph)
    assert traced(ones(3)).tolist() == [2, 2, 2]
    assert outcome(traced, ones(5)) == "RuntimeError"  # what the graph itself asserts is left


def test_modules_partials_and_builtins() -> None:
    """Trap: module parameters need ``_allow_non_fake_inputs``."""
    linear = torch.nn.Linear(3, 5)
    lowered = lower({"input": tensor("B", 3)}, [var("B")], [compare("B", ">=", 2)])
    graph = make_fx(linear, (ones(4, 3),), {}, lowered)
    assert [outcome(graph, ones(n, 3)) for n in (1, 7)] == ["RuntimeError", (7, 5)]
    assert torch.allclose(graph(ones(7, 3)), linear(ones(7, 3)))
    assert (
        outcome(make_fx(functools.partial(torch.add, other=1), (ones(4, 3),), {}, rows()), ones(1, 3)) == "RuntimeError"
    )
    assert outcome(make_fx(torch.relu, (ones(4, 3),), {}, rows()), ones(1, 3)) == "RuntimeError"


def test_ints_may_be_negative() -> None:
    lowered = lower({"x": tensor("B"), "n": scalar("n")}, [var("B"), integer("n", -9, 9)], [compare("n", "<=", "B")])
    graph = make_fx(lambda x, n: x * n, (ones(5), 2), {}, lowered)
    assert graph(ones(2), -4).tolist() == [-4, -4]
    assert [outcome(graph, ones(2), n) for n in (-10, 3, 2)] == ["RuntimeError", "RuntimeError", (2,)]


def test_the_check_is_called_first_and_survives_a_copy() -> None:
    seen: list[Any] = []

    def check(*args: Any, **kwargs: Any) -> None:
        seen.append((len(args), sorted(kwargs)))

    graph = make_fx(lambda x, y: x + y, (ones(4, 3),), {"y": ones(4, 3)}, rows(y=tensor("B", 3)), check=check)
    copy.deepcopy(graph)(ones(6, 3), y=ones(6, 3))
    assert seen == [(2, [])]  # passed on by position, as Python would


def test_the_graph_can_be_compiled() -> None:
    graph = make_fx(lambda x: x * 2, (ones(4, 3),), {}, rows())
    compiled = torch.compile(graph, backend="eager", fullgraph=True)
    assert tuple(compiled(ones(6, 3)).shape) == (6, 3)


def test_a_branch_on_an_open_size_is_told_in_the_users_names() -> None:
    with pytest.raises(ShapeError) as caught:
        make_fx(lambda x: x + 1 if x.shape[0] == 4 else x, (ones(4, 3),), {}, rows())
    assert caught.value.diagnostics[0].message == "the program asks whether `B == 4`, which the spec leaves open"


def test_options_that_the_spec_decides_are_refused() -> None:
    with pytest.raises(TypeError, match="tracing_mode"):
        make_fx(torch.relu, (ones(4, 3),), {}, rows(), tracing_mode="real")


def test_operators_whose_kernels_want_numbers_are_traced_as_export_traces_them() -> None:
    """A relative-position bias is shifted by padding, whose kernel in C++ cannot read a size of the spec."""

    def shifted(q: Any, rel: Any) -> Any:
        B, H, T, _ = q.shape
        scores = torch.nn.functional.pad(torch.einsum("bhtd,ld->bhtl", q, rel), (0, 1))
        flat = torch.nn.functional.pad(scores.reshape(B, H, 2 * T * T), (0, T - 1))
        return flat.view(B, H, T + 1, 2 * T - 1)[:, :, :T, T - 1 :]

    spec = sd.loads(
        "def f(q: Tensor[B, H, T, D], rel: Tensor[2 * T - 1, D]):\n    where B >= 1, H >= 1, T >= 2, D >= 1\n"
    )
    graph = sd.make_fx(shifted, spec["f"])(torch.randn(2, 3, 4, 5), torch.randn(7, 5))
    other = torch.randn(3, 2, 6, 4), torch.randn(11, 4)
    assert torch.allclose(graph(*other), shifted(*other))
    with pytest.raises(ShapeError):
        graph(torch.randn(3, 2, 6, 4), torch.randn(12, 4))
