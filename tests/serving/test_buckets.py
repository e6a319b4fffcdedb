"""Buckets behind `sd.dispatch`: which artifact runs, with what, and what comes back."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch
from click.testing import CliRunner

import shapedsl as sd
from shapedsl.cli import group


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.ShapeWarning)  # gaps are what these specs are about
        yield


class Served:
    """A function behind `sd.dispatch`, and the shapes of its arguments in each run of it."""

    def __init__(self, text: str, function: Callable[..., Any], **options: Any) -> None:
        self.shapes: list[tuple[int, ...]] = []
        self.made = sd.dispatch(function, text, backend=self._backend, **options)

    def _backend(self, graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            tensors = [each for each in args if isinstance(each, torch.Tensor)]
            self.shapes.append(tuple(tensors[0].shape))
            return graph(*args)

        return run

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.made(*args, **kwargs)

    def graphs(self) -> dict[str, int]:
        """Returns how many graphs torch made of each artifact."""
        return {row["artifact"]: row["graphs"] for row in self.made.stats()["artifacts"]}


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


def test_alternatives_in_written_order() -> None:
    text = """
def f(x: Tensor[B, S]) -> Tensor[B, S]:
    case one: B == 1
    bucket S in {4, 8} pad x with 0 as rows_independent
    bucket S in {16} pad x with 0 as rows_independent
    otherwise eager
"""
    served = Served(text, lambda x: x + 1)
    for shape in ((1, 3), (2, 3), (2, 4), (3, 5), (3, 9), (3, 17)):
        assert torch.equal(served(torch.zeros(shape)), ones(*shape))
    assert served.shapes == [(1, 3), (2, 4), (2, 4), (3, 8), (3, 16)]  # the last one ran eagerly


def test_adjacent_buckets_are_one_choice_and_each_combination_an_artifact() -> None:
    text = """
def f(x: Tensor[B, S]) -> Tensor[B, S]:
    bucket B in {2, 4} pad x with 0 as rows_independent
    bucket S in {4, 8} pad x with 0 as rows_independent
"""
    served = Served(text, lambda x: x + x.shape[0] * x.shape[1])
    for shape, of in (((1, 3), 8), ((2, 4), 8), ((2, 5), 16), ((3, 4), 16), ((4, 8), 32)):
        assert torch.equal(served(torch.zeros(shape)), torch.full(shape, float(of)))
    assert served.shapes == [(2, 4), (2, 4), (2, 8), (4, 4), (4, 8)]
    with pytest.raises(sd.ShapeError) as caught:
        served(ones(5, 1))
    assert caught.value.code == "no-alternative"
    assert set(served.graphs()) == {"bucket B=2, S=4", "bucket B=2, S=8", "bucket B=4, S=4", "bucket B=4, S=8"}


def test_where_speaks_of_the_callers_sizes() -> None:
    text = """
def f(x: Tensor[S], y: Tensor[N]) -> Tensor[S]:
    where S <= 6, N == 2 * S
    case padded:
        where S != 3
        bucket S in {8} pad x with 0 as neutral
    otherwise eager
"""
    served = Served(text.replace(", N == 2 * S", ""), lambda x, y: x * 2)
    assert torch.equal(served(ones(5), ones(1)), torch.full((5,), 2.0))  # though 8 > 6
    assert served(ones(3), ones(1)).shape == (3,)
    assert served.shapes == [(8,)]
    with pytest.raises(sd.ShapeError, match="shape-violation"):
        served(ones(7), ones(1))


def test_a_predicate_of_padded_sizes() -> None:
    text = """
def f(x: Tensor[N], b: int64[N], g: Tensor[G]) -> Tensor[G]:
    case padded:
        where G_pad > G
        bucket N in {4, 8} pad x with 5, b with G as masked
        bucket G in {2, 4} pad g with 0 as rows_independent
"""

    def pool(x: torch.Tensor, b: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        return g.index_add(0, b, x)

    served = Served(text, pool)
    x, b = torch.tensor([1.0, 2, 3]), torch.tensor([0, 1, 1])
    assert served(x, b, torch.zeros(2)).tolist() == [1, 5]  # the new node belongs to a graph that is cut off
    assert served(x, torch.zeros(3, dtype=torch.int64), torch.zeros(1)).tolist() == [6]


def test_one_dynamic_artifact_for_all_members() -> None:
    text = """
def f(x: Tensor[B, S]) -> Tensor[B, S]:
    bucket S in {4, 8, 16} shared pad x with 0 as neutral
"""
    served = Served(text, lambda x: x + 1)
    for shape in ((2, 3), (2, 5), (3, 11), (5, 16)):
        assert served(ones(*shape)).shape == shape
    assert served.shapes == [(2, 4), (2, 8), (3, 16), (5, 16)]
    assert list(served.graphs().values()) == [1]


def test_rounding_up_is_one_dynamic_artifact() -> None:
    text = """
def f(x: Tensor[H, W]) -> Tensor[H, W]:
    bucket H multiple of 4 plus 1 pad x with edge as approximate
    bucket W multiple of 4 pad x with edge as approximate
"""
    served = Served(text, lambda x: x + 1)
    for shape in ((3, 3), (5, 8), (6, 9)):
        assert served(ones(*shape)).shape == shape
    assert served.shapes == [(5, 4), (5, 8), (9, 12)]
    assert list(served.graphs().values()) == [1]


def test_without_pads_exactly_the_members() -> None:
    text = """
def f(x: Tensor[B, S]):
    bucket B in {1, 2}
    bucket S multiple of 4
    otherwise eager
"""
    served = Served(text, lambda x: x + 1)
    for shape in ((1, 4), (2, 4), (2, 8), (2, 5), (3, 4)):
        assert served(ones(*shape)).shape == shape
    assert served.shapes == [(1, 4), (2, 4), (2, 8)]


def test_arguments_of_every_kind() -> None:
    text = """
def f(x: Tensor[S], /, *args: [Tensor[S], ...], n: Scalar[S], m: Tensor[S] | None = _, **kwargs: {"k": Tensor[S]}) -> Tensor[S]:
    bucket S in {4} pad (x with 0, args with 1, m with 2, kwargs with 3) as neutral
"""
    seen: list[Any] = []

    def f(x: Any, /, *args: Any, n: int, m: Any = None, **kwargs: Any) -> Any:
        seen.append(n)
        return x + args[0] + args[1] + n + kwargs["k"] + (0 if m is None else m)

    served = Served(text, f)
    a, b = ones(3), torch.arange(3.0)
    expected = a + b + a + 4 + a  # n is rounded up
    assert torch.equal(served(a, b, a, n=3, k=a), expected)
    assert torch.equal(served(a, b, a, n=3, m=a, k=a), expected + 1)
    assert served.shapes == [(4,), (4,)]


def test_a_module_a_method_and_an_object() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 3)

        def forward(self, batch: Any) -> Any:
            return {"logits": self.layer(batch["x"])}

    net = Net()
    text = 'def forward(batch: {"x": float32[B, 2]}) -> {"logits": float32[B, 3]}:\n    bucket B in {4} pad batch["x"] with 0 as rows_independent'
    made = sd.dispatch(net, text, backend="eager")
    x = torch.randn(3, 2)
    assert isinstance(made, torch.nn.Module)
    torch.testing.assert_close(made({"x": x})["logits"], net.layer(x))


def test_gradients_through_a_padded_artifact() -> None:
    layer = torch.nn.Linear(2, 1, bias=False)
    made = sd.dispatch(
        layer,
        "def forward(input: float32[B, 2]) -> float32[B, 1]:\n    bucket B in {4} pad input with 7 as rows_independent",
        backend="aot_eager",
    )
    x = torch.ones(3, 2, requires_grad=True)
    first, second = made(x), made(torch.full((2, 2), 5.0))
    (first.sum() + second.sum()).backward()
    assert layer.weight.grad is not None
    assert layer.weight.grad.tolist() == [[13, 13]]  # 3 rows of 1, 2 rows of 5, none of 7
    assert x.grad is not None
    torch.testing.assert_close(x.grad, layer.weight.detach().expand(3, 2))


def test_changes_of_arguments_reach_the_caller() -> None:
    text = "def f(cache: Tensor[P], x: Tensor[2]) -> Tensor[2]:\n    bucket P in {4} pad cache with 0 as masked"

    def f(cache: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        cache[:2] = x
        return x + 1

    cache = torch.zeros(3)
    made = sd.dispatch(f, text, backend="aot_eager")
    for turn in range(1, 4):
        made(cache, torch.full((2,), float(turn)))
        assert cache.tolist() == [turn, turn, 0]


def test_unpad_comes_from_python() -> None:
    text = "def f(x: Tensor[S]) -> (Tensor[S], Tensor[()]):\n    bucket S in {4} pad x with 1 as neutral"
    unpad = {"return[1]": lambda total, sizes: total - (sizes["S_pad"] - sizes["S"])}
    made = sd.dispatch(lambda x: (x, x.sum()), text, backend="eager", unpad=unpad)
    assert made(torch.tensor([5.0, 6, 7]))[1].item() == 18
    with pytest.raises(ValueError, match="no path into a result: 'x'"):
        sd.dispatch(lambda x: x, text, unpad={"x": lambda x, sizes: x})


def test_unpad_that_raises_says_so_in_each_call() -> None:
    text = "def f(x: Tensor[S]) -> (Tensor[S], Tensor[()]):\n    bucket S in {4} pad x with 1 as neutral"

    def wrong(total: torch.Tensor, sizes: Any) -> Any:
        return total - sizes["T"]

    made = sd.dispatch(lambda x: (x, x.sum()), text, backend="eager", unpad={"return[1]": wrong})
    for _ in range(2):
        with pytest.raises(sd.ShapeError, match=r"`unpad` of `return\[1\]` raised KeyError: 'T'") as caught:
            made(torch.ones(3))
        assert "its sizes were S=3, S_pad=4" in str(caught.value)
        assert isinstance(caught.value.__cause__, KeyError)


def test_inductor_runs_a_padded_artifact() -> None:
    text = (
        "def f(x: float32[B, S], m: bool[S]) -> float32[B]:\n    bucket S in {8} pad x with 9, m with false as masked"
    )
    made = sd.dispatch(lambda x, m: (x * m).sum(1), text)
    x = torch.randn(2, 5)
    torch.testing.assert_close(made(x, torch.ones(5, dtype=torch.bool)), x.sum(1))


WRONG = [
    ("def f(x: Tensor[S]):\n    bucket S in {4} pad x with 0", "bucket-without-return"),
    ("def f(x: Tensor[S], y: [Tensor[S], ...]) -> Tensor[S]:\n    bucket S in {4} pad x with 0", "unpadded-argument"),
    ("def f(x: Tensor[B, S], y: Tensor[B]) -> Tensor[S]:\n    bucket S in {4} pad x with 0, y with 0", "wrong-pad"),
    ("def f(x: Tensor[B, S]) -> Tensor[S]:\n    bucket S in {4} pad x axis 0 with 0", "wrong-pad"),
    ("def f(x: Tensor[B, S]) -> Tensor[S]:\n    bucket S in {4} pad x with 0, return with 0", "wrong-pad"),
    (
        "def f(x: Tensor[S]) -> (Tensor[S], Tensor[S]):\n    bucket S in {4} pad x with 0\n    drop return[2]",
        "wrong-pad",
    ),
    ("def f(x: Tensor[S]) -> Tensor[S]:\n    bucket S in {4} pad x with 0\n    keep x", "wrong-pad"),
]


@pytest.mark.parametrize(("text", "code"), WRONG)
def test_what_cannot_pad_is_an_error_at_load_and_in_check(text: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        sd.dispatch(lambda x, y=None: x, text, backend="eager")
    assert code in {each.code for each in caught.value.diagnostics}
    file = tmp_path / "a.shapes"
    file.write_text(text)
    result = CliRunner().invoke(group, ["check", "--format", "concise", str(file)])
    assert result.exit_code == 1
    assert f"[{code}]" in result.output


def test_explain_says_what_is_padded() -> None:
    text = "def f(x: Tensor[B, S]) -> Tensor[B, S]:\n    bucket S in {64} pad x with 0 as neutral"
    made = sd.dispatch(lambda x: x, text, backend="eager")
    assert "pad 40→64 (37 % waste)" in made.explain(ones(5, 40))
    assert "no padding" in made.explain(ones(5, 64))


@pytest.mark.parametrize("text", [
    "def f(x: Tensor[S]) -> Tensor[S]:\n    bucket S in {4} pad x with edge as neutral",
    "def f(x: bool[S]) -> Tensor[S]:\n    bucket S in {4} pad x with 3 as neutral",
])  # fmt: skip
def test_a_call_that_cannot_be_padded_fails_by_itself(text: str) -> None:
    made = sd.dispatch(lambda x: x, text, backend="eager")
    empty = torch.zeros(0, dtype=torch.bool if "bool" in text else torch.float32)
    for _ in range(2):
        with pytest.raises(sd.ShapeError) as caught:
            made(empty)
        assert caught.value.code == "wrong-pad"
    assert made(torch.ones(4, dtype=empty.dtype)).shape == (4,)
