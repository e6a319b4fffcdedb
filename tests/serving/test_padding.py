"""Padding, running and cropping: what the callee gets, and what the caller gets back."""

from __future__ import annotations

import threading
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd
from tests.serving.padding_by_hand import call, padded

NAN = float("nan")


def rows(tensor: torch.Tensor) -> list[Any]:
    found: list[Any] = tensor.tolist()
    return found


def same(x: torch.Tensor) -> torch.Tensor:
    return x + 0


def test_slots_are_added_at_the_end_and_taken_out_again() -> None:
    text = "def f(x: Tensor[B, S]) -> Tensor[B, S]:\n    bucket S in {4} pad x with -1"
    result, (x,) = call(text, lambda x: x * 10, torch.tensor([[1, 2, 3], [4, 5, 6]]))
    assert rows(x) == [[1, 2, 3, -1], [4, 5, 6, -1]]
    assert rows(result) == [[10, 20, 30], [40, 50, 60]]


def test_left() -> None:
    text = "def f(x: Tensor[S]) -> Tensor[S]:\n    bucket S in {4} left pad x with 0"
    result, (x,) = call(text, lambda x: x * 10, torch.tensor([1, 2, 3]))
    assert rows(x) == [0, 1, 2, 3]
    assert rows(result) == [10, 20, 30]


def test_a_hole_at_an_index() -> None:
    text = """
def f(mask: Tensor[P + 1], past: Tensor[P, 2]) -> Tensor[P + 1]:
    bucket P in {4} at P pad mask with 9, past with 0
"""
    past = torch.tensor([[1, 2], [3, 4]])
    result, (mask, cache) = call(text, lambda mask, past: mask + 0, torch.tensor([1, 2, 3]), past)
    assert rows(mask) == [1, 2, 9, 9, 3]
    assert rows(cache) == [[1, 2], [3, 4], [0, 0], [0, 0]]
    assert rows(result) == [1, 2, 3]


def test_a_dim_grows_by_its_own_difference() -> None:
    text = """
def f(x: Tensor[2 * S], y: Tensor[(S + 1) // 2], z: Tensor[S]) -> (Tensor[S + 1], Tensor[2 * S]):
    bucket S in {5} pad x with 7, y with 8, z with 9
"""
    result, seen = call(
        text,
        lambda x, y, z: (torch.cat([z, z[:1]]), x + 0),
        torch.tensor([1, 2, 3, 4, 5, 6]),
        torch.tensor([1, 2]),
        torch.tensor([1, 2, 3]),
    )
    assert [rows(each) for each in seen] == [[1, 2, 3, 4, 5, 6, 7, 7, 7, 7], [1, 2, 8], [1, 2, 3, 9, 9]]
    assert [rows(each) for each in result] == [[1, 2, 3, 9], [1, 2, 3, 4, 5, 6]]


def test_two_buckets_on_one_axis() -> None:
    text = """
def f(m: Tensor[P + C], p: Tensor[P], c: Tensor[C]) -> Tensor[P + C]:
    bucket P in {3} at P pad m with 8, p with 0
    bucket C in {4} pad m with 9, c with 0
"""
    result, (m, _, _) = call(
        text, lambda m, p, c: m * 10, torch.tensor([1, 2, 5, 6, 7]), torch.tensor([1, 2]), torch.tensor([1, 2, 3])
    )
    assert rows(m) == [1, 2, 8, 5, 6, 7, 9]
    assert rows(result) == [10, 20, 50, 60, 70]


def test_a_hole_that_a_later_bucket_parts() -> None:
    text = """
def f(m: Tensor[P + C], p: Tensor[P], c: Tensor[C]) -> Tensor[P + C]:
    bucket P in {5} left pad m with 8, p with 0
    bucket C in {4} at 2 pad m with 9, c with 0
"""
    result, (m, _, c) = call(
        text, lambda m, p, c: m * 10, torch.tensor([1, 2, 5, 6, 7]), torch.tensor([1, 2]), torch.tensor([1, 2, 3])
    )
    assert rows(m) == [8, 8, 9, 8, 1, 2, 5, 6, 7]
    assert rows(c) == [1, 2, 0, 3]
    assert rows(result) == [10, 20, 50, 60, 70]


def test_corners_belong_to_the_later_bucket_and_the_later_pad() -> None:
    text = """
def f(x: Tensor[B, S]) -> Tensor[B, S]:
    bucket B in {3} pad x with 7
    bucket S in {3} pad x with 9
"""
    _, (x,) = call(text, same, torch.tensor([[1, 2], [3, 4]]))
    assert rows(x) == [[1, 2, 9], [3, 4, 9], [7, 7, 9]]


def test_one_symbol_on_two_axes() -> None:
    text = """
def f(mask: bool[C, P + C], c: Tensor[C], p: Tensor[P]) -> Tensor[C]:
    bucket C in {3} pad mask axis 1 with false, mask axis 0 with edge, c with 0
"""
    mask = torch.tensor([[True, True, False], [True, True, True]])
    _, (got, _, _) = call(text, lambda mask, c, p: c + 0, mask, torch.zeros(2), torch.zeros(1))
    assert rows(got) == [[True, True, False, False], [True, True, True, False], [True, True, True, False]]


@pytest.mark.parametrize(
    ("place", "expected"),
    [("", [1, 2, 3, 3, 3]), ("left", [1, 1, 1, 2, 3]), ("at 1", [1, 1, 1, 2, 3]), ("at 2", [1, 2, 2, 2, 3])],
)
def test_edge_repeats_what_stands_before_the_slots(place: str, expected: list[int]) -> None:
    text = f"def f(x: Tensor[S]) -> Tensor[S]:\n    bucket S in {{5}} {place} pad x with edge"
    result, (x,) = call(text, same, torch.tensor([1, 2, 3]))
    assert rows(x) == expected
    assert rows(result) == [1, 2, 3]


def test_edge_sees_what_earlier_pads_filled() -> None:
    text = """
def f(x: Tensor[P + C], p: Tensor[P], c: Tensor[C]) -> Tensor[C]:
    bucket P in {3} pad x with 8, p with 0
    bucket C in {4} pad x with edge, c with 0
"""
    _, (x, _, _) = call(text, lambda x, p, c: c + 0, torch.tensor([1, 2, 5]), torch.tensor([1, 2]), torch.tensor([5]))
    assert rows(x) == [1, 2, 5, 8, 8, 8, 8]


def test_rows() -> None:
    text = "def f(boxes: float32[K, 4], t: Tensor[2, K]) -> Tensor[K, 4]:\n    bucket K in {3} pad boxes with [0, 0, 1, 1.5], t with [5, 6]"
    result, (boxes, t) = call(text, lambda boxes, t: boxes + 0, torch.ones(1, 4), torch.zeros(2, 1))
    assert rows(boxes) == [[1, 1, 1, 1], [0, 0, 1, 1.5], [0, 0, 1, 1.5]]
    assert rows(t) == [[0, 5, 5], [0, 6, 6]]
    assert rows(result) == [[1, 1, 1, 1]]


def test_expressions_of_real_and_padded_sizes() -> None:
    text = """
def f(x: Tensor[N], e: int64[2, E], b: int64[N], g: Tensor[G]) -> Tensor[G]:
    bucket N in {4} pad x with 0.5, b with G
    bucket E in {3} pad e with N_pad - 1
    bucket G in {2} pad g with -inf
"""
    _, (x, e, b, g) = call(
        text,
        lambda x, e, b, g: g + 0,
        torch.zeros(2),
        torch.zeros(2, 1, dtype=torch.int64),
        torch.zeros(2, dtype=torch.int64),
        torch.zeros(1),
    )
    assert rows(x) == [0, 0, 0.5, 0.5]
    assert rows(e) == [[0, 3, 3], [0, 3, 3]]
    assert rows(b) == [0, 0, 1, 1]
    assert rows(g) == [0, -float("inf")]


def test_scalars_are_rounded_up() -> None:
    text = """
def f(x: Tensor[M], n: Scalar[M], twice: Scalar[2 * M]) -> (Tensor[M], Scalar[M]):
    bucket M in {8} pad x with 0
"""
    result, (_, n, twice) = call(text, lambda x, n, twice: (x + 0, n), torch.zeros(5), 5, 10)
    assert (n, twice) == (8, 16)
    assert result[0].shape == (5,)
    assert result[1] == 5


def test_a_path_names_a_tensor_or_a_container() -> None:
    text = """
def f(kvs: [(Tensor[P], Tensor[P])] * 2, d: {"k": Tensor[P], "n": _}, past: [Tensor[P], Tensor[P]]) -> Tensor[P]:
    bucket P in {3} pad (kvs with 1, d["k"] with 2, past[0] with 3, past with 4)
"""
    kvs = [(torch.zeros(2), torch.zeros(2)) for _ in range(2)]
    other = object()
    d: dict[str, Any] = {"k": torch.zeros(2), "n": other}
    past = [torch.zeros(2), torch.zeros(2)]
    _, (got, got_d, got_past) = call(text, lambda kvs, d, past: d["k"] + 0, kvs, d, past)
    assert [[rows(each) for each in pair] for pair in got] == [[[0, 0, 1], [0, 0, 1]]] * 2
    assert rows(got_d["k"]) == [0, 0, 2]
    assert got_d["n"] is other
    assert [rows(each) for each in got_past] == [[0, 0, 3], [0, 0, 4]]
    assert [len(each) for pair in kvs for each in pair] == [2] * 4  # the caller's are as they were
    assert len(d["k"]) == len(past[0]) == 2
    assert isinstance(got[0], tuple)


@dataclass(frozen=True)
class Graph:
    x: torch.Tensor
    e: torch.Tensor
    name: str


def test_a_path_into_an_object() -> None:
    text = "def f(g: Graph(x: Tensor[N], e: Tensor[2])) -> Graph(x: Tensor[N], e: Tensor[2]):\n    bucket N in {4} pad g.x with 0"
    graph = Graph(torch.ones(2), torch.ones(2), "g")
    result, (seen,) = call(text, lambda g: Graph(g.x * 2, g.e, "out"), graph)
    assert rows(seen.x) == [1, 1, 0, 0]
    assert type(seen) is Graph
    assert seen.name == "g"
    assert seen.e is graph.e
    assert type(result) is Graph
    assert rows(result.x) == [2, 2]
    assert result.name == "out"


def test_an_absent_optional_is_skipped() -> None:
    text = "def f(x: Tensor[S], m: Tensor[S] | None) -> Tensor[S]:\n    bucket S in {4} pad x with 0, m with 1"
    result, (_, m) = call(text, lambda x, m: x + 1, torch.zeros(2), None)
    assert m is None
    assert rows(result) == [1, 1]


Pair = namedtuple("Pair", ["h", "n"])


def test_results_keep_their_classes() -> None:
    text = """
def f(x: Tensor[S]) -> ({"h": Tensor[S], "all": [Tensor[S], ...]}, Pair(h: Tensor[S], n: Tensor[2]), (Tensor[S] | None, Tensor[S])):
    bucket S in {4} pad x with 0
"""
    two = torch.zeros(2)
    result, _ = call(
        text,
        lambda x: ({"h": x + 1, "all": [x + 2, x + 3], "more": 5}, Pair(x + 4, two), [None, x + 5]),
        torch.zeros(3),
    )
    first, second, third = result
    assert rows(first["h"]) == [1, 1, 1]
    assert [rows(each) for each in first["all"]] == [[2, 2, 2], [3, 3, 3]]
    assert first["more"] == 5
    assert isinstance(second, Pair)
    assert rows(second.h) == [4, 4, 4]
    assert second.n is two
    assert third[0] is None
    assert rows(third[1]) == [5, 5, 5]


def test_a_model_output_is_cropped_and_loses_what_is_dropped() -> None:
    from transformers.modeling_outputs import BaseModelOutputWithPooling

    text = """
def f(x: Tensor[S, 2]) -> Out(last_hidden_state: Tensor[S, 2], pooler_output: Tensor[2]):
    bucket S in {4} pad x with 0
    drop return.pooler_output
"""
    made = lambda x: BaseModelOutputWithPooling(last_hidden_state=x + 1, pooler_output=x[0])  # noqa: E731
    result, _ = call(text, made, torch.zeros(3, 2))
    assert type(result) is BaseModelOutputWithPooling
    assert result.last_hidden_state is not None
    assert rows(result.last_hidden_state) == [[1, 1]] * 3
    assert rows(result["last_hidden_state"]) == [[1, 1]] * 3
    assert rows(result[0]) == [[1, 1]] * 3
    assert result.pooler_output is None
    assert list(result.keys()) == ["last_hidden_state"]


def test_drop_keep_and_unpad() -> None:
    text = """
def f(x: Tensor[S]) -> (Tensor[S], Tensor[S], Tensor[S], [Tensor[S], ...]):
    bucket S in {4} pad x with 0
    drop return[1], return[3][-1]
    keep return[2]
"""
    calls: list[tuple[torch.Tensor, dict[str, int]]] = []

    def unpad(output: torch.Tensor, sizes: dict[str, int]) -> torch.Tensor:
        calls.append((output, dict(sizes)))
        return output[: sizes["S"]] * 100

    result, _ = call(text, lambda x: (x + 1, x, x + 2, [x + 3, x]), torch.zeros(3), unpad={"return[0]": unpad})
    assert rows(result[0]) == [100, 100, 100]
    assert calls[0][1] == {"S": 3, "S_pad": 4}
    assert result[1] is None
    assert rows(result[2]) == [2, 2, 2, 2]
    assert rows(result[3][0]) == [3, 3, 3]
    assert result[3][1] is None


def test_indices_from_both_ends_name_one_output() -> None:
    text = """
def f(x: Tensor[S]) -> (Tensor[S], (Tensor[S], Tensor[S])):
    bucket S in {4} pad x with 0
    drop return[1][-1]
    keep return[-1][0]
"""
    result, _ = call(text, lambda x: (x + 1, (x + 2, x + 3)), torch.zeros(3))
    assert rows(result[0]) == [1, 1, 1]
    assert rows(result[1][0]) == [2, 2, 2, 2]
    assert result[1][1] is None


def test_without_a_type_only_drop_and_keep_speak() -> None:
    text = "def f(x: Tensor[S]):\n    bucket S in {4} pad x with 0\n    keep return[0]\n    drop return[1]"
    result, _ = call(text, lambda x: (x + 1, x), torch.zeros(3))
    assert rows(result[0]) == [1, 1, 1, 1]
    assert result[1] is None


@pytest.mark.parametrize(
    ("returns", "result", "message"),
    [
        ("Tensor[S]", lambda x: x.sum(), "`return` has 0 dims, and not 1"),
        ("Tensor[S]", lambda x: x[:3], "axis 0 of `return` has 3, and not 4: `S` of the padded sizes"),
        ("Tensor[S]", lambda x: (x,), "`return` is a tuple, and not a tensor"),
        ("(Tensor[S], Tensor[S])", lambda x: (x,), "`return` has 1 items, and not 2"),
        ("{'k': Tensor[S]}", lambda x: {"l": x}, 'there is no `return["k"]`'),
        ("Out(h: Tensor[S])", lambda x: x, "there is no `return.h`"),
    ],
)
def test_a_result_that_is_not_what_the_type_claims(returns: str, result: Any, message: str) -> None:
    text = f"def f(x: Tensor[S]) -> {returns}:\n    bucket S in {{4}} pad x with 0"
    with pytest.raises(sd.ShapeError) as caught:
        call(text, result, torch.zeros(2))
    assert caught.value.code == "return-mismatch"
    assert message in str(caught.value)


# ------------------------------------------------------------------------------- nothing to pad


def test_a_member_passes_the_tensor_itself() -> None:
    text = "def f(x: Tensor[S], n: Scalar[S]) -> Tensor[S]:\n    bucket S in {4} pad x with 0"
    x = torch.arange(4)
    result, seen = call(text, lambda x, n: x, x, 4)
    assert seen[0] is x
    assert result is x


def test_only_what_grows_is_copied() -> None:
    text = "def f(x: Tensor[B, S], y: Tensor[B]) -> Tensor[B, S]:\n    bucket B in {4} pad x with 0, y with 0\n    bucket S in {4} pad x with 0"
    y = torch.zeros(4)
    _, seen = call(text, lambda x, y: x + 0, torch.zeros(4, 2), y)
    assert seen[1] is y


def test_size_zero() -> None:
    text = "def f(x: Tensor[S, 2]) -> Tensor[S, 2]:\n    bucket S in {3} pad x with 5"
    result, (x,) = call(text, same, torch.zeros(0, 2))
    assert rows(x) == [[5, 5]] * 3
    assert result.shape == (0, 2)
    with pytest.raises(sd.ShapeError, match="has no slot on axis 0 that `edge` could repeat") as caught:
        call(text.replace("with 5", "with edge"), same, torch.zeros(0, 2))
    assert "ask for `S >= 1`" in str(caught.value)


# ------------------------------------------------------------------------------- fills that do not fit


@pytest.mark.parametrize(
    ("fill", "dtype", "message"),
    [
        ("-1.5", torch.int64, "cannot be filled with -1.5"),
        ("300", torch.int8, "it holds -128 to 127"),
        ("-1", torch.uint8, "it holds 0 to 255"),
        ("7", torch.bool, "write `true` or `false`"),
        ("70000", torch.float16, "it holds numbers up to 65504"),
        ("[1, 2]", torch.float32, "a row of 2 does not fill `x`"),
        ("inf", torch.int32, "cannot be filled with inf"),
    ],
)
def test_a_fill_that_the_dtype_does_not_hold(fill: str, dtype: torch.dtype, message: str) -> None:
    text = f"def f(x: Tensor[S, 3]) -> Tensor[S, 3]:\n    bucket S in {{3}} pad x with {fill}"
    with pytest.raises(sd.ShapeError) as caught:
        call(text, same, torch.zeros(1, 3, dtype=dtype))
    assert caught.value.code == "wrong-pad"
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("fill", "dtype", "expected"),
    [
        ("true", torch.bool, True),
        ("1", torch.bool, True),
        ("false", torch.int64, 0),
        ("true", torch.float32, 1.0),
        ("2.0", torch.int64, 2),
        ("-1.5", torch.float16, -1.5),
        ("3", torch.bfloat16, 3.0),
        ("2", torch.complex64, 2 + 0j),
    ],
)
def test_fills_by_dtype(fill: str, dtype: torch.dtype, expected: object) -> None:
    text = f"def f(x: Tensor[S]) -> Tensor[S]:\n    bucket S in {{2}} pad x with {fill}"
    _, (x,) = call(text, same, torch.zeros(1, dtype=dtype))
    assert x.dtype is dtype
    assert rows(x)[1] == expected


def test_a_position_off_the_axis_and_a_size_that_shrinks() -> None:
    text = "def f(x: Tensor[S], y: Tensor[N]) -> Tensor[S]:\n    bucket S in {8} at N pad x with 0"
    with pytest.raises(sd.ShapeError, match="puts slots at index 5 of axis 0 of `x`, which has 3"):
        call(text, lambda x, y: x, torch.zeros(3), torch.zeros(5))
    text = "def f(x: Tensor[S], y: Tensor[20 - S]) -> Tensor[S]:\n    bucket S in {8} pad x with 0, y with 0"
    with pytest.raises(sd.ShapeError, match="`20 - S`, shrinks from 17 to 12 where `S` is padded from 3 to 8"):
        call(text, lambda x, y: x, torch.zeros(3), torch.zeros(17))


# ------------------------------------------------------------------------------- memory

BUFFERS = (
    "def f(x: Tensor[B, S]) -> Tensor[B, S]:\n    bucket B in {4} pad x with 0\n    bucket S in {8, 16} pad x with -1"
)


def test_buffers_are_used_again() -> None:
    found: list[int] = []

    def double(x: torch.Tensor) -> torch.Tensor:
        found.append(x.data_ptr())
        return x * 2

    made = padded(BUFFERS, double, torch.zeros(2, 3))
    made.forget = True
    made(torch.zeros(2, 12))
    for shape in ((2, 3), (4, 16), (3, 5), (2, 12), (1, 8)):
        x = torch.randn(shape)
        assert torch.equal(made(x), x * 2)
    assert len(set(found)) == 2  # one buffer, and the call that needed none


def test_stale_slots_are_filled_again() -> None:
    seen: list[list[Any]] = []

    def run(x: torch.Tensor) -> torch.Tensor:
        seen.append(rows(x))
        x[:] = 99
        return torch.zeros(4, 4)

    text = "def f(x: Tensor[B, S]) -> _:\n    bucket B in {4} pad x with 0\n    bucket S in {4} pad x with -1"
    made = padded(text, run, torch.zeros(2, 3))
    made.forget = True
    first, second = torch.ones(3, 3), torch.ones(2, 2)
    made(first)
    made(second)
    assert seen == [
        [[1, 1, 1, -1]] * 3 + [[0, 0, 0, -1]],
        [[1, 1, -1, -1]] * 2 + [[0, 0, -1, -1]] * 2,
    ]
    assert rows(first) == [[99] * 3] * 3  # and what the callee wrote to real data is the caller's
    assert rows(second) == [[99] * 2] * 2


def test_results_that_lie_in_a_buffer_are_the_callers_own() -> None:
    made = padded(BUFFERS, lambda x: x.view(4, -1), torch.zeros(2, 3))
    made.forget = True
    first = made(torch.ones(2, 3))
    made(torch.full((2, 3), 5.0))
    assert rows(first) == [[1, 1, 1]] * 2


def test_a_result_that_is_an_argument_is_the_callers_tensor() -> None:
    x = torch.ones(2, 3)
    result, _ = call(BUFFERS, lambda x: x.mul_(2), x)
    assert result is x
    assert rows(x) == [[2, 2, 2]] * 2


def test_what_the_callee_keeps_stays_as_it_is() -> None:
    kept: list[torch.Tensor] = []

    def keep(x: torch.Tensor) -> torch.Tensor:
        kept.append(x[:1])
        return x + 0

    made = padded(BUFFERS, keep, torch.zeros(2, 3))
    made.forget = True
    made(torch.ones(2, 3))
    made(torch.full((2, 3), 5.0))
    assert [each[0, 0].item() for each in kept] == [1, 5]


@pytest.mark.parametrize("inference", [False, True])
def test_changes_come_back_through_a_hole(inference: bool) -> None:
    text = "def f(x: Tensor[P + 1], p: Tensor[P]) -> Tensor[P]:\n    bucket P in {4} at P pad x with 0, p with 0"
    x, p = torch.tensor([1.0, 2, 3]), torch.tensor([1.0, 2])
    with torch.inference_mode(inference):
        call(text, lambda x, p: x.add_(10)[:4], x, p)
    assert rows(x) == [11, 12, 13]
    assert rows(p) == [1, 2]


def test_strides_are_kept_in_order() -> None:
    text = "def f(x: Tensor[B, C, H, W]) -> Tensor[B, C, H, W]:\n    bucket B in {4} pad x with 0"
    x = torch.randn(3, 2, 5, 5).to(memory_format=torch.channels_last)
    result, (got,) = call(text, same, x)
    assert got.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(result, x)
    _, (got,) = call(text, same, torch.randn(3, 2, 5, 10)[..., ::2])
    assert got.is_contiguous()
    wide = torch.randn(3, 2, 1, 1).expand(3, 2, 5, 5)
    result, (got,) = call(text, same, wide)
    assert torch.equal(result, wide)


def test_an_exception_leaves_nothing_behind() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        if x[0, 0] == 7:
            x.fill_(3)
            raise RuntimeError("mine")
        return x + 0

    made = padded(BUFFERS, run, torch.zeros(2, 3))
    with pytest.raises(RuntimeError, match="mine"):
        made(torch.full((2, 3), 7.0))
    assert rows(made(torch.ones(2, 3))) == [[1, 1, 1]] * 2


# ------------------------------------------------------------------------------- autograd, subclasses, threads


def test_gradients_flow_through_padding() -> None:
    text = "def f(x: Tensor[S, 2], w: Tensor[2]) -> Tensor[S]:\n    bucket S in {4} at 1 pad x with edge"
    x = torch.tensor([[1.0, 2], [3, 4]], requires_grad=True)
    w = torch.tensor([1.0, 10], requires_grad=True)
    result, (got, _) = call(text, lambda x, w: x @ w, x, w)
    assert rows(got) == [[1, 2], [1, 2], [1, 2], [3, 4]]
    assert rows(result) == [21, 43]
    result.sum().backward()
    assert x.grad is not None
    assert rows(x.grad) == [[1, 10], [1, 10]]
    assert w.grad is not None
    assert rows(w.grad) == [4, 6]


def test_what_autograd_saved_is_not_overwritten() -> None:
    layer = torch.nn.Linear(16, 1, bias=False)
    made = padded(
        "def f(input: Tensor[B, 16]) -> Tensor[B, 1]:\n    bucket B in {4} pad input with 0",
        layer.forward,
        torch.zeros(2, 16),
    )
    first, second = torch.ones(2, 16), torch.full((3, 16), 5.0)
    one, two = made(first), made(second)
    made.seen = ()
    (one.sum() + two.sum()).backward()
    assert layer.weight.grad is not None
    assert rows(layer.weight.grad) == [[2 + 15] * 16]


def test_transforms_see_through_padding() -> None:
    text = "def f(x: Tensor[S]) -> Tensor[S]:\n    bucket S in {4} pad x with 3"
    made = padded(text, lambda x: x * x, torch.zeros(2))
    gradient = torch.func.grad(lambda x: made(x).sum())(torch.tensor([1.0, 2.0]))
    assert rows(gradient) == [2, 4]


class Own(torch.Tensor):
    pass


def test_subclasses_stay_what_they_are() -> None:
    _, (got,) = call(BUFFERS, same, torch.ones(2, 3).as_subclass(Own))
    assert type(got) is Own
    assert got.shape == (4, 8)


def test_fake_and_meta_tensors() -> None:
    from torch._subclasses import FakeTensorMode

    assert call(BUFFERS, same, torch.ones(2, 3, device="meta"))[0].shape == (2, 3)
    with FakeTensorMode():
        assert call(BUFFERS, same, torch.ones(2, 3))[0].shape == (2, 3)


def test_a_sparse_tensor_is_refused() -> None:
    with pytest.raises(sd.ShapeError, match="`x` is not a dense tensor"):
        call(BUFFERS, lambda x: x, torch.eye(3).to_sparse())


def test_threads_have_buffers_of_their_own() -> None:
    barrier = threading.Barrier(4)

    def run(x: torch.Tensor) -> torch.Tensor:
        barrier.wait(10)
        return x * 2

    made = padded(BUFFERS, run, torch.zeros(2, 3))
    made.forget = True
    wrong: list[int] = []

    def work(number: int) -> None:
        for turn in range(25):
            x = torch.full((2, 3 + number), float(10 * turn + number))
            if not torch.equal(made(x), x * 2):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert wrong == []


def test_a_container_that_the_callee_changes() -> None:
    text = 'def f(d: {"k": Tensor[P], "n": _}) -> Tensor[P]:\n    bucket P in {3} pad d with 0'

    def count(d: dict[str, Any]) -> Any:
        d["n"] += 1
        d["new"] = 7
        return d["k"] + 0

    d: dict[str, Any] = {"k": torch.zeros(2), "n": 1}
    call(text, count, d)
    assert (d["n"], d["new"], len(d["k"])) == (2, 7, 2)

    def replace(d: dict[str, Any]) -> Any:
        d["k"] = d["k"] + 1
        return d["k"] + 0

    with pytest.raises(sd.ShapeError, match="replaces or removes what `d` holds"):
        call(text, replace, {"k": torch.zeros(2), "n": 1})


# ------------------------------------------------------------------------------- what cannot be padded


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("def f(x: Tensor[S], y: Tensor[S]) -> Tensor[S]:\n    bucket S in {4} pad x with 0", "unpadded-argument", "`y`"),
        ("def f(x: Tensor[S], y: Tensor[B]) -> Tensor[S]:\n    bucket S in {4} pad x with 0, y with 0", "wrong-pad", "`y` does not hold `S`"),
        ("def f(x: Tensor[S, B], y: Tensor[B]) -> Tensor[S]:\n    bucket S in {4} pad x axis 0 with 0, x axis 1 with 0", "wrong-pad", "axis 1 of `x`"),
        ("def f(x: Tensor[S], y: Tensor[B]) -> Tensor[S]:\n    bucket S in {4} pad x with 0, x with 1", "wrong-pad", "pads `x` twice"),
        ("def f(x: Tensor[S, S], y: Tensor[B]) -> Tensor[S]:\n    bucket S in {4} pad x axis 0 with 0", "unpadded-argument", "`x`"),
    ],
)  # fmt: skip
def test_pads_that_do_not_fit(text: str, code: str, message: str) -> None:
    x = torch.zeros(2, 2) if "x: Tensor[S, " in text else torch.zeros(2)
    with pytest.raises(sd.ShapeError) as caught:
        call(text, lambda x, y: x, x, torch.zeros(2))
    assert caught.value.code == code
    assert message in str(caught.value)


def test_variadics_in_dims_fills_and_positions() -> None:
    text = """
def f(x: Tensor[*b, S], y: Tensor[prod(*b), S]) -> Tensor[*b, S]:
    bucket S in {4} at prod(*b) pad x with prod(*b), y with 0
"""
    result, (x, y) = call(text, lambda x, y: x + 0, torch.arange(6.0).reshape(2, 1, 3), torch.ones(2, 3))
    assert rows(x) == [[[0, 1, 2, 2]], [[3, 4, 2, 5]]]
    assert rows(y) == [[1, 1, 0, 1]] * 2
    assert rows(result) == [[[0, 1, 2]], [[3, 4, 5]]]


def test_any_number_of_static_dims() -> None:
    text = "def f(x: Tensor[S, ..., 2]) -> Tensor[..., S]:\n    bucket S in {4} pad x with 0"
    result, _ = call(text, lambda x: x.permute(1, 2, 0), torch.ones(3, 1, 2))
    assert result.shape == (1, 2, 3)


def test_a_bucket_of_a_size_that_this_call_does_not_have() -> None:
    text = """
def f(x: Tensor[B], past: Tensor[P] | None) -> Tensor[B]:
    bucket B in {4} pad x with 5
    bucket P in {8, 16} pad past with 0
"""
    result, (x, _) = call(text, lambda x, past: x * 2, torch.ones(3), None)
    assert rows(x) == [1, 1, 1, 5]
    assert rows(result) == [2, 2, 2]
    with pytest.raises(sd.ShapeError, match="names `P`, a size that these arguments do not have"):
        call(text.replace("with 5", "with P"), lambda x, past: x, torch.ones(3), None)
    with pytest.raises(sd.ShapeError, match="the return type names `Q`, a size that these arguments do not have"):
        call(text.replace("-> Tensor[B]", "-> Tensor[B + Q]"), lambda x, past: x, torch.ones(3), None)


def test_one_tensor_passed_twice() -> None:
    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * y

    text = "def f(x: Tensor[S], y: Tensor[S]) -> Tensor[S]:\n    bucket S in {4} pad x with 0, y with 0"
    x = torch.ones(3)
    result, _ = call(text, f, x, x)
    assert rows(result) == [4, 4, 4]
    assert rows(x) == [2, 2, 2]
    # filled differently, the two cannot be one tensor
    with pytest.raises(sd.ShapeError, match="the callee writes to `x`, which shares its memory with `y`"):
        call(text.replace("y with 0", "y with 1"), f, x, x)


def test_history_of_autograd_stays_out_of_buffers() -> None:
    weight = torch.nn.Parameter(torch.full((4,), 3.0))

    def f(x: torch.Tensor) -> torch.Tensor:
        x.mul_(weight)
        return x * 1

    made = padded("def f(x: Tensor[S]) -> Tensor[S]:\n    bucket S in {4} pad x with 0", f, torch.ones(3))
    made.forget = True
    x = torch.ones(3)
    made(x).sum().backward()
    assert rows(x.detach()) == [3, 3, 3]
    assert weight.grad is not None
    assert rows(weight.grad) == [1, 1, 1, 0]
    made.function = lambda x: x * 2
    assert not made(torch.ones(3)).requires_grad


def test_results_of_other_kinds() -> None:
    from types import MappingProxyType

    text = 'def f(x: Tensor[S, 2]) -> ((Tensor[S], int64[S]), {"k": Tensor[S]}, (Tensor[S], *_)):\n    bucket S in {4} pad x with 0'
    result, _ = call(text, lambda x: (x.max(1), MappingProxyType({"k": x.sum(1)}), (x.sum(1), 5, x)), torch.ones(3, 2))
    assert type(result[0]) is torch.return_types.max
    assert result[0].values.shape == (3,)
    assert type(result[1]) is MappingProxyType
    assert result[1]["k"].shape == (3,)
    assert [result[2][0].shape, result[2][1], result[2][2].shape] == [(3,), 5, (4, 2)]
