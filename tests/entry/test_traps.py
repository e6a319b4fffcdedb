"""What torch does by itself with a ShapesSpec, beside what compile makes of it. Each test shows both."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="compiling needs torch")

from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec

from shapedsl.diagnostics import ShapeError
from tests.entry.compiling import Graphs, compiled

ones = torch.ones


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


def f(x: Any) -> Any:
    return x + 1


def batch_spec(**bounds: int) -> ShapesSpec:
    return ShapesSpec({"x": TensorSpec([ShapeVar("B", **bounds), None])})


def test_each_bad_call_is_a_recompilation() -> None:
    own = Graphs()
    plain = torch.compile(f, backend=own, fullgraph=True, dynamic_shapes=batch_spec(max=8))
    plain(ones(8, 2))
    for bad in range(3):
        with pytest.raises(AssertionError, match="This is a bug"):
            plain(ones(9 + bad, 2))
    assert own.count == 4

    run, graphs = compiled(f, "dim B in [0, 8]\ndef f(x: Tensor[B, _]): ...")
    run(ones(8, 2))
    for bad in range(3):
        with pytest.raises(ShapeError):
            run(ones(9 + bad, 2))
    assert graphs.count == 1


def test_artifacts_serve_each_others_calls_unless_isolated() -> None:
    shared = Graphs()
    torch.compile(f, backend=shared, dynamic_shapes=batch_spec())(ones(3, 2))
    torch.compile(f, backend=shared, dynamic_shapes=batch_spec(min=2))(ones(4, 2))
    assert shared.count == 1  # the special one never came to be

    torch._dynamo.reset()
    shared = Graphs()
    compiled(f, "def f(x: Tensor[B, _]): ...", backend=shared)[0](ones(3, 2))
    compiled(f, "dim B in [2, inf]\ndef f(x: Tensor[B, _]): ...", backend=shared)[0](ones(4, 2))
    assert shared.count == 2


def test_nine_values_of_a_static_dim_exceed_torchs_limit() -> None:
    plain = torch.compile(f, backend="eager", fullgraph=True, dynamic_shapes=batch_spec())
    with pytest.raises(Exception, match="Hard failure due to fullgraph=True"):  # noqa: PT012 - one of the calls
        for width in range(2, 14):
            plain(ones(3, width))
    run, graphs = compiled(f, "def f(x: Tensor[B, _]): ...")
    for width in range(2, 14):
        run(ones(3, width))
    assert graphs.count == 12


def test_a_misspelled_parameter_is_silently_static() -> None:
    own = Graphs()
    spec = ShapesSpec({"xx": TensorSpec([ShapeVar("B"), None])})
    plain = torch.compile(f, backend=own, fullgraph=True, dynamic_shapes=spec)
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
        for size in (3, 4, 5):
            plain(ones(size, 2))
    assert own.count == 3
    with pytest.raises(ShapeError) as caught:
        compiled(f, "def f(xx: Tensor[B, _]): ...")
    assert caught.value.code == "unknown-parameter"
    assert caught.value.diagnostics[0].helps == ("did you mean `x`?",)


def test_a_rank_that_changes_is_an_internal_error() -> None:
    plain = torch.compile(f, backend="eager", fullgraph=True, dynamic_shapes=batch_spec())
    plain(ones(3, 2))
    with pytest.raises(Exception, match=r"(?i)rank|dims|length|TensorSpec") as theirs:
        plain(ones(3, 2, 1))
    assert not isinstance(theirs.value, ShapeError)
    run, _ = compiled(f, "def f(x: Tensor[B, _]): ...")
    run(ones(3, 2))
    with pytest.raises(ShapeError, match="`x` has 3 dims, expected 2"):
        run(ones(3, 2, 1))


def test_a_plain_dict_is_no_dict_spec() -> None:
    def g(d: Any) -> Any:
        return d["k"] + 1

    with pytest.raises(Exception, match=r"(?i)dict|spec"):
        torch.compile(g, backend="eager", dynamic_shapes=ShapesSpec({"d": {"k": TensorSpec([ShapeVar("B")])}}))(
            {"k": ones(3)}
        )
    run, graphs = compiled(g, 'def g(d: {"k": Tensor[B]}): ...')
    for size in (2, 3):
        run({"k": ones(size)})
    assert graphs.count == 1
