"""Whole inputs: structure, dtypes, data, and what is given. Expected values are written by hand."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import types
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd
from shapedsl import Spec


def spec_of(text: str) -> Spec:
    return next(iter(sd.loads(text).values()))


def shapes(call: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
    """Returns a call with each tensor's shape in its place."""
    return _shapes(call[0]), _shapes(call[1])


def _shapes(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.Size(value.shape)
    if isinstance(value, dict):
        return {key: _shapes(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_shapes(part) for part in value)
    return value


SIZE = torch.Size


# ---------------------------------------------------------------------------------------- sizes


def test_the_first_file() -> None:
    first = spec_of(
        "dim B in [0, 1024] hint 8\ndim D hint 64\n"
        "def project(x: Tensor[B, D], w: Tensor[D, D]) -> Tensor[B, D]:\n    where B < 32\n"
    )
    assert shapes(first.example()) == ((SIZE([8, 64]), SIZE([64, 64])), {})
    assert shapes(first.example(B=3)) == ((SIZE([3, 64]), SIZE([64, 64])), {})
    assert shapes(first.example({"B": 3}, D=2)) == ((SIZE([3, 2]), SIZE([2, 2])), {})
    with pytest.raises(sd.ShapeError) as caught:
        first.example(B=40)
    assert caught.value.code == "shape-violation"
    assert caught.value.core == ["B < 32"]
    assert caught.value.witness == {"B": 40}
    assert caught.value.diagnostics[0].helps == ("the nearest sizes that fit: B = 31",)


def test_annotations_give_examples_too() -> None:
    from shapedsl import Tensor
    from shapedsl import shapes as annotate
    from shapedsl.dims import B, D

    @annotate(hints={"B": 8, "D": 64}, where="B < 32")
    def project(x: Tensor[B, D], w: Tensor[D, D]) -> Tensor[B, D]:
        return x @ w

    spec = sd.spec_of(project)
    assert spec is not None
    args, kwargs = spec.example(D=16)
    assert project(*args, **kwargs).shape == (8, 16)


def test_sizes_named_like_arguments_go_in_front() -> None:
    spec = spec_of("def f(x: Tensor[seed, most]): ...")
    assert shapes(spec.example({"seed": 3, "most": 4})) == ((SIZE([3, 4]),), {})
    assert shapes(spec.examples(1, {"seed": 3, "most": 4})[0]) == ((SIZE([3, 4]),), {})


def test_a_parameter_may_have_the_name_of_a_size() -> None:
    spec = spec_of("def f(T: Tensor[T], n: Scalar[2 * N], x: Tensor[N]): ...")
    assert shapes(spec.example(T=3, n=8)) == ((SIZE([3]), 8, SIZE([4])), {})
    given = torch.ones(5)
    assert spec.example(T=given, N=2)[0][0] is given


@pytest.mark.parametrize("wrong", [2.0, True, "3", None, (2, 3.0)], ids=str)
def test_a_size_is_an_int(wrong: object) -> None:
    with pytest.raises(TypeError, match="`B` is a size"):
        spec_of("def f(x: Tensor[B]): ...").example(B=wrong)


def test_names_that_are_none_are_refused() -> None:
    spec = spec_of("def f(x: Tensor[batch], y: Tensor[*lead]) -> Tensor[R]: ...")
    for sizes, code in (
        ({"bath": 3}, "unknown-name"),
        ({"batch": (3, 4)}, "type-mismatch"),
        ({"lead": 3}, "type-mismatch"),
        ({"R": 3}, "unknown-name"),
    ):
        with pytest.raises(sd.ShapeError) as caught:
            spec.example(sizes)
        assert caught.value.code == code
    with pytest.raises(sd.ShapeError, match="did you mean `batch`"):
        spec.example(bath=3)


# ------------------------------------------------------------------------------------ structure


def test_variadics() -> None:
    spec = spec_of("def f(x: Tensor[*batch, D], y: Tensor[D, *batch]): where D == 2")
    assert shapes(spec.example(batch=(3, 4))) == ((SIZE([3, 4, 2]), SIZE([2, 3, 4])), {})
    assert shapes(spec.example(batch=())) == ((SIZE([2]), SIZE([2])), {})
    assert shapes(spec.example(x=torch.ones(5, 6, 2))) == ((SIZE([5, 6, 2]), SIZE([2, 5, 6])), {})
    assert shapes(spec.example()) == ((SIZE([0, 2]), SIZE([2, 0])), {})
    fixed = spec_of("def f(x: Tensor[*batch]):\n    rank batch = 2\n    where prod(*batch) == 1\n")
    assert shapes(fixed.example()) == ((SIZE([1, 1]),), {})
    with pytest.raises(sd.ShapeError, match="3 sizes"):
        fixed.example(batch=(1, 1, 1))


def test_a_number_of_dims_that_fits_is_found() -> None:
    spec = spec_of("def f(x: Tensor[*batch]): where prod(*batch) == 12")
    assert spec.example()[0][0].numel() == 12
    two = spec_of("def f(x: Tensor[*batch], y: Tensor[B, C]):\n    where prod(*batch) == 1, B == 0, C == 3\n")
    assert shapes(two.example()) == ((SIZE([1]), SIZE([0, 3])), {})


def test_optionals_and_defaults() -> None:
    spec = spec_of("def f(x: Tensor[B], mask: bool[B] | None, /, w: Tensor[B] = _, *, s: Scalar[n] = _): where B == 2")
    full, dropped = spec.example(), spec.examples(8)
    assert shapes(full) == ((SIZE([2]), SIZE([2]), SIZE([2])), {"s": 0})
    assert {args[1] is None for args, _ in dropped} == {True, False}
    assert {len(args) for args, _ in dropped} == {2, 3}
    assert {tuple(kwargs) for _, kwargs in dropped} == {(), ("s",)}


def test_what_cannot_be_made_is_left_out_where_that_is_allowed() -> None:
    spec = spec_of("def f(x: Tensor[B], config: _ = _, w: Tensor[B, _] | None = _, y: Tensor[B] = _): where B == 2")
    assert shapes(spec.example()) == ((SIZE([2]),), {"w": None, "y": SIZE([2])})


def test_structures_that_no_check_can_judge_are_left_out() -> None:
    spec = spec_of("def f(x: Tensor[n % 4, B], y: Tensor[n] = _): where B == 2")
    assert all(len(args) == 2 for args, _ in spec.examples(8))  # without y there is no n
    with pytest.raises(sd.ShapeError) as caught:
        spec_of("def f(x: Tensor[n % 4]): ...").example()
    assert caught.value.code == "not-invertible"


def test_an_omitted_default_moves_the_next_into_keywords() -> None:
    spec = spec_of("def f(x: Tensor[B], config: _ = _, y: Tensor[B] = _): where B == 2")
    args, kwargs = spec.example()
    assert (len(args), list(kwargs)) == (1, ["y"])


def test_containers() -> None:
    spec = spec_of(
        'def f(a: (Tensor[B], [Tensor[B, 1]]), b: {"k": Scalar[n], 0: Tensor[()]}, c: Box(x: Tensor[B], y: (Tensor[B],))): '
        "where B == 3, n == 7"
    )
    (a, b, c), kwargs = spec.example()
    assert _shapes(a) == (SIZE([3]), [SIZE([3, 1])])
    assert _shapes(b) == {"k": 7, 0: SIZE([])}
    assert isinstance(c, types.SimpleNamespace)
    assert _shapes(vars(c)) == {"x": SIZE([3]), "y": (SIZE([3]),)}
    assert kwargs == {}


@dataclasses.dataclass(frozen=True)
class Box:
    x: torch.Tensor
    scale: float = 1.0


Pair = collections.namedtuple("Pair", "x")


def test_objects_of_known_classes() -> None:
    spec = spec_of("def f(a: Box(x: Tensor[B]), b: pkg.mod.Pair(x: Tensor[B])): where B == 2")
    (a, b), _ = spec.example(objects={"Box": Box, "Pair": Pair})
    assert isinstance(a, Box)
    assert isinstance(b, Pair)
    assert (a.x.shape, b.x.shape) == ((2,), (2,))


def test_a_class_that_needs_more_says_so() -> None:
    class Needy:
        def __init__(self, x: torch.Tensor, weight: torch.Tensor) -> None: ...

    with pytest.raises(sd.ShapeError, match="weight") as caught:
        spec_of("def f(a: Needy(x: Tensor[B])): ...").example(objects={"Needy": Needy})
    assert caught.value.code == "missing-input"


def test_sequences_of_any_length() -> None:
    spec = spec_of(
        'def f(kvs: [(Tensor[B, ?K], Tensor[?K]), ...], *args: Tensor[B], **kwargs: {"p": Tensor[B]}): where B == 2'
    )
    calls = spec.examples(16)
    assert {len(args[0]) for args, _ in calls} == {0, 1, 2, 3}
    assert {len(args) - 1 for args, _ in calls} == {0, 1, 2, 3}
    assert all(list(kwargs) == ["p"] for _, kwargs in calls)
    assert all(k.shape[1] == v.shape[0] for args, _ in calls for k, v in args[0])
    several = [[k.shape[1] for k, _ in args[0]] for args, _ in calls if len(args[0]) > 1]
    assert any(len(set(sizes)) > 1 for sizes in several)  # `?K` is fresh in each element


def test_a_rank_may_be_fixed_of_what_an_empty_list_would_hold() -> None:
    spec = spec_of("def f(x: [Tensor[*lead, B], ...]):\n    rank lead = 1\n    where prod(*lead) <= 8\n")
    assert {0, 1, 2} <= {len(args[0]) for args, _ in spec.examples(8)}
    assert spec.bind([]) == {}


def test_pairs_repeat_together() -> None:
    calls = spec_of("def f(*args: [Tensor[A], Scalar[B], ...]): where A == 1, B == 2").examples(8)
    assert {len(args) for args, _ in calls} == {0, 2, 4, 6}


def test_fixed_repetitions() -> None:
    spec = spec_of("const NL = _\ndef f(kvs: [Tensor[B]] * NL, pair: (Tensor[B],) * 2): where B == 1")
    assert shapes(spec.example(NL=3)) == (([SIZE([1])] * 3, (SIZE([1]),) * 2), {})
    with pytest.raises(sd.ShapeError, match="NL") as caught:
        spec.example()
    assert caught.value.code == "missing-input"


# ----------------------------------------------------------------------------------------- data


@pytest.mark.filterwarnings("ignore:ComplexHalf:UserWarning")  # torch's own
@pytest.mark.parametrize(
    ("declared", "made"),
    [
        ("Tensor", "float32"),
        ("floating", "float32"),
        ("integral", "int64"),
        ("number", "float32"),
        ("complexfloating", "complex64"),
        *((name, name) for name in ("bool", "uint8", "int8", "uint32", "float16", "bfloat16", "float64")),
        *((name, name) for name in ("complex32", "complex128", "float8_e4m3fn", "uint64", "int16")),
    ],
)
def test_dtypes(declared: str, made: str) -> None:
    (x,), _ = spec_of(f"def f(x: {declared}[3, 4]): ...").example()
    assert x.dtype == getattr(torch, made)
    assert x.shape == (3, 4)


def test_a_dtype_that_torch_cannot_fill_is_refused() -> None:
    with pytest.raises(sd.ShapeError) as caught:
        spec_of("def f(x: bits8[3]): ...").example()
    assert caught.value.code == "unsupported-by-torch"
    assert spec_of("def f(x: bits8[3]): ...").example(device="meta")[0][0].dtype == torch.bits8


def test_one_dtype_for_one_name() -> None:
    spec = spec_of("type F = floating\ndef f(x: F[B], w: F[B], y: floating[B]): where B == 2")
    assert [t.dtype for t in spec.example()[0]] == [torch.float32] * 3
    given = torch.ones(2, dtype=torch.float16)
    assert [t.dtype for t in spec.example(w=given)[0]] == [torch.float16, torch.float16, torch.float32]


def test_values_within_bounds() -> None:
    spec = spec_of(
        "def f(ids: int32[64], w: Tensor[V, 2], p: floating[64]):\n    values ids in [0, V - 1]\n    values p in [2, 3]\n"
    )
    for (ids, w, p), _ in spec.examples(6):
        assert w.shape[0] >= 1  # there is no id without a row
        assert ids.dtype == torch.int32
        assert ids.min() >= 0
        assert ids.max() < w.shape[0]
        assert 2 <= p.min() <= p.max() <= 3
        assert p.frac().any()


def test_values_of_untyped_tensors_are_ids() -> None:
    (ids, _), _ = spec_of("def f(ids: Tensor[B], w: Tensor[V]): values ids in [0, V - 1]").example(B=4, V=3)
    assert ids.dtype == torch.int64


def test_both_ends_of_values_occur() -> None:
    (ids,), _ = spec_of("def f(ids: int64[200]): values ids in [-1, 1]").example()
    assert set(ids.tolist()) == {-1, 0, 1}


def test_sorted_values_begin_and_end_as_said() -> None:
    spec = spec_of("def f(offsets: int64[B + 1], x: Tensor[T, 4]): values offsets sorted from 0 to T")
    for (offsets, x), _ in spec.examples(20):
        assert offsets[0] == 0
        assert offsets[-1] == x.shape[0]  # so no segments, no rows
        assert (offsets.diff() >= 0).all()
    assert spec.example(B=0)[0][1].shape[0] == 0
    with pytest.raises(sd.ShapeError, match="begins at 0 and ends at T"):
        spec.example(B=0, T=3)


def test_values_of_several_paths_and_of_containers() -> None:
    spec = spec_of('def f(a: int64[20], b: {"k": [int64[20], int64[20]]}): values a, b in [5, 6]')
    (a, b), _ = spec.example()
    assert all(set(ids.tolist()) == {5, 6} for ids in (a, *b["k"]))


def test_values_of_a_scalar_bound_its_size() -> None:
    spec = spec_of("def f(n: Scalar[n], x: Tensor[T]):\n    int n in [-9, 9]\n    values n in [2, T - 1]\n")
    assert all(2 <= n < x.shape[0] for (n, x), _ in spec.examples(10))


def test_values_nobody_can_have_are_a_contradiction() -> None:
    spec = spec_of("def f(ids: int64[B], w: Tensor[V]):\n    where V == 0, B >= 1\n    values ids in [0, V - 1]\n")
    with pytest.raises(sd.ShapeError) as caught:
        spec.example()
    assert caught.value.code == "contradiction"
    assert "needs 0 <= V - 1" in str(caught.value)


def test_values_that_overflow_stay_within_the_dtype() -> None:
    (x,), _ = spec_of("def f(x: uint8[500]): values x in [-5, 1000]").example()
    assert set(x.tolist()) <= set(range(256))


def test_integers_are_zero_or_one_and_masks_hide_no_row() -> None:
    spec = spec_of("def f(ids: int64[40], mask: bool[30, 8]): ...")
    (ids, mask), _ = spec.example()
    assert set(ids.tolist()) == {0, 1}
    assert mask.any(dim=-1).all()
    assert not mask.all()


def test_a_seed_gives_the_same_data_and_others_differ() -> None:
    spec = spec_of("def f(x: Tensor[B, S], ids: int64[S]): where B >= 1, S >= 1")
    first, again, other = spec.examples(5, seed=3), spec.examples(5, seed=3), spec.examples(5, seed=4)
    assert all(
        torch.equal(a, b)
        for (one, _), (two, _) in zip(first, again, strict=True)
        for a, b in zip(one, two, strict=True)
    )
    assert not torch.equal(first[0][0][0], other[0][0][0])
    assert torch.equal(spec.example(seed=3)[0][0], first[0][0][0])


def test_drawing_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    spec_of("def f(x: Tensor[4]): ...").examples(3)
    assert torch.equal(torch.get_rng_state(), before)


# ------------------------------------------------------------------------------ what is given


def test_given_values_are_passed_as_they_are() -> None:
    spec = spec_of("def f(x: Tensor[B, D], w: Tensor[D, _], config: _): ...")
    w = torch.ones(6, 2)
    (x, passed, config), _ = spec.example(B=2, w=w, config="any")
    assert passed is w
    assert config == "any"
    assert x.shape == (2, 6)
    assert all(args[1] is w and args[0].shape[1] == 6 for args, _ in spec.examples(5, w=w, config=0))


def test_given_values_that_do_not_fit_are_explained() -> None:
    spec = spec_of("def f(x: Tensor[B], w: Tensor[2 * B], v: Tensor[B]): where B >= 2")
    with pytest.raises(sd.ShapeError, match=r"`w.shape\[0\]` = 7") as caught:
        spec.example(w=torch.ones(7))
    assert caught.value.code == "shape-violation"
    with pytest.raises(sd.ShapeError, match=r"`w.shape\[0\]` = 6 and `v.shape\[0\]` = 2"):
        spec.example(w=torch.ones(6), v=torch.ones(2))
    with pytest.raises(sd.ShapeError, match=r"B = 3 and|and B = 3"):
        spec.example(w=torch.ones(8), B=3)
    with pytest.raises(sd.ShapeError) as caught:
        spec.example(w=torch.ones(8, 2))
    assert caught.value.code == "rank-mismatch"
    with pytest.raises(sd.ShapeError) as caught:
        spec_of("def f(x: float32[B]): ...").example(x=torch.ones(2, dtype=torch.int64))
    assert caught.value.code == "dtype-mismatch"


def test_what_is_missing_is_named() -> None:
    spec = spec_of("const HD = _\ndef f(x: Tensor[B, HD], w: Tensor[HD, _], y: Tensor, n: Scalar, z: _): ...")
    with pytest.raises(sd.ShapeError) as caught:
        spec.example(B=2)
    assert caught.value.code == "missing-input"
    assert (
        caught.value.diagnostics[0].message == "`HD`, `w`, `y`, `n` and `z` are static, so an example has to give them"
    )
    assert "`HD=64` and `w=…` and `y=…` and `n=…` and `z=…`" in caught.value.diagnostics[0].helps[0]
    args, _ = spec.example(HD=4, w=torch.ones(4, 9), y=torch.ones(2, 2), n=7, z=None)
    assert _shapes(args) == (SIZE([0, 4]), SIZE([4, 9]), SIZE([2, 2]), 7, None)


def test_like_gives_what_is_static() -> None:
    spec = spec_of(
        'const HD = _\ndef f(x: Tensor[B, HD], w: Tensor[2 * HD, _, B], d: {"k": Tensor[B]}, y: Tensor, *, c: _ = _): ...'
    )
    y = torch.ones(2, 2)
    call: tuple[Any, ...] = (torch.ones(2, 8), torch.ones(16, 5, 2), {"k": torch.ones(2), "other": "kept"}, y)
    args, kwargs = spec.example(B=3, like=(call, {"c": 1}))
    assert _shapes(args) == (SIZE([3, 8]), SIZE([16, 5, 3]), {"k": SIZE([3]), "other": "kept"}, SIZE([2, 2]))
    assert args[3] is y
    assert kwargs == {"c": 1}
    assert call[2]["k"].shape == (2,)  # the example itself is left alone
    sizes = {args[0].shape[0] for args, _ in spec.examples(8, like=(call, {}))}
    assert len(sizes) >= 4
    assert all("c" not in kwargs for _, kwargs in spec.examples(8, like=(call, {})))


def test_like_gives_structure_and_dtypes() -> None:
    spec = spec_of(
        "def f(kvs: [Tensor[B, ?K], ...], m: Tensor[B] | None, b: Box(x: Tensor[B]), p: Pair(x: Tensor[B])): ..."
    )
    half = torch.ones(2, 3, dtype=torch.float16)
    call = ([half, half, half], None, Box(torch.ones(2), scale=0.5), Pair(torch.ones(2)))
    for (kvs, m, b, p), _ in spec.examples(5, like=(call, {})):
        assert len(kvs) == 3
        assert {kv.dtype for kv in kvs} == {torch.float16}
        assert m is None
        assert isinstance(b, Box)
        assert b.scale == 0.5
        assert isinstance(p, Pair)


def test_like_that_is_no_call_of_the_spec() -> None:
    spec = spec_of("def f(x: Tensor[B]): ...")
    with pytest.raises(TypeError):
        spec.example(like=((torch.ones(2), 3), {}))
    with pytest.raises(sd.ShapeError) as caught:
        spec.example(like=((torch.ones(2, 3),), {}))
    assert caught.value.code == "rank-mismatch"


# ---------------------------------------------------------------------------------------- cases


def test_a_case_gives_inputs_that_it_takes() -> None:
    spec = spec_of(
        "dim B hint 5\ndef f(x: Tensor[B]):\n    case B == 1\n    case big: B > 100 hint B = 256\n    otherwise hint B = 7\n"
    )
    assert shapes(spec.example()) == ((SIZE([5]),), {})
    assert shapes(spec.example(case="big")) == ((SIZE([256]),), {})
    assert shapes(spec.example(case=0)) == ((SIZE([1]),), {})
    assert shapes(spec.example(case="otherwise")) == ((SIZE([7]),), {})
    sizes = {args[0].shape[0] for args, _ in spec.examples(12, case="otherwise")}
    assert 1 not in sizes
    assert max(sizes) == 100
    with pytest.raises(sd.ShapeError) as caught:
        spec.example(case="huge")
    assert caught.value.code == "unknown-case"
    with pytest.raises(IndexError):
        spec.example(case=3)
    with pytest.raises(sd.ShapeError) as caught:
        spec.example(case="big", B=50)
    assert caught.value.code == "shape-violation"


def test_examples_meet_each_alternative() -> None:
    spec = spec_of(
        "def f(x: Tensor[B]):\n    case B == 1\n    case B == 3\n    case B > 100 hint B = 256\n    otherwise hint B = 7\n"
    )
    assert {1, 3, 256, 7} <= {args[0].shape[0] for args, _ in spec.examples(12)}


# --------------------------------------------------------------------------------------- bounds


def test_large_hints_allocate_nothing() -> None:
    spec = spec_of("dim B, D hint 1000000\ndef f(x: Tensor[B, D]): ...")
    with pytest.raises(sd.ShapeError) as caught:
        spec.example()
    assert caught.value.code == "too-many-elements"
    assert spec.example(device="meta")[0][0].shape == (10**6, 10**6)
    assert spec.example(B=2, D=3, most=6)[0][0].shape == (2, 3)
    with pytest.raises(sd.ShapeError):
        spec.example(B=2, D=3, most=5)


def test_shapes_that_torch_cannot_say() -> None:
    spec = spec_of("def f(x: Tensor[B**4, B**4, 0], y: Tensor[B]): ...")
    with pytest.raises(sd.ShapeError) as caught:
        spec.example(B=2**16)
    assert caught.value.code == "too-many-elements"
    with pytest.raises(sd.ShapeError) as caught:
        spec_of("def f(x: Tensor[B**4, B**4], y: Tensor[B]): ...").example(B=2**15, device="meta")
    assert caught.value.code == "unsupported-by-torch"
    assert len(spec.examples(6)) == 6


def test_values_without_end_stay_finite() -> None:
    spec = spec_of("def f(x: Tensor[9], y: float64[9], n: Scalar[n]): values x, y in [0, n**60 * 2**60]")
    (x, y, _), _ = spec.example(n=2)
    assert x.dtype == torch.int64
    assert y.isfinite().all()


def test_all_examples_together_are_bounded() -> None:
    spec = spec_of("dim B in [0, 1000000000]\ndef f(x: float64[B, B, 4], y: Tensor[B]): where B >= 3")
    calls = spec.examples(20)
    assert sum(tensor.numel() for args, _ in calls for tensor in args) <= 2**24
    with pytest.raises(sd.ShapeError, match="all 50 together"):
        spec_of("def f(x: Tensor[3000, 3000]): ...").examples(50)


def test_more_than_there_are_come_again_with_other_data() -> None:
    calls = spec_of("def f(x: Tensor[4]): ...").examples(3)
    assert [args[0].shape for args, _ in calls] == [(4,)] * 3
    assert not torch.equal(calls[0][0][0], calls[1][0][0])
    assert spec_of("def f(x: Tensor[4]): ...").examples(0) == []


def test_a_contradictory_spec_has_none() -> None:
    with pytest.raises(sd.ShapeError) as caught:
        spec_of("def f(x: Tensor[B]): where B < 3, B > 3").example()
    assert caught.value.code == "contradiction"
    assert caught.value.core == ["B < 3", "B > 3"]
    with pytest.raises(sd.ShapeError) as caught:
        spec_of("def f(a: Scalar[a], b: Scalar[b], c: Scalar[c]): where a**3 + b**3 + c**3 == 114").example()
    assert caught.value.code == "undecided"


def test_examples_run_through_the_callable() -> None:
    model = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    spec = spec_of("def forward(src: Tensor[B, S, 8], src_key_padding_mask: bool[B, S] = _): where S >= 1, B >= 1")
    for args, kwargs in spec.examples(6):
        kwargs = {**kwargs, **({"src_key_padding_mask": ~args[1]} if len(args) > 1 else {})}
        assert model(args[0], **kwargs).isfinite().all()


def test_defaults_of_torch_do_not_matter() -> None:
    spec = spec_of("def f(x: Tensor[4], m: bool[4], i: int64[4], s: int64[4]): values s sorted from 0 to 9")
    expected = spec.example(seed=1)[0]
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            made = spec.example(seed=1)[0]
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(torch.equal(a, b) and a.dtype == b.dtype for a, b in zip(made, expected, strict=True))


def test_sorted_values_fit_their_dtype() -> None:
    spec = spec_of("def f(offsets: int8[B], x: Tensor[T]): values offsets sorted from 0 to T")
    assert all(x.shape[0] <= 127 for (offsets, x), _ in spec.examples(10) if len(offsets))
    with pytest.raises(sd.ShapeError, match="T = 300"):
        spec.example(B=4, T=300)


def test_an_object_that_cannot_be_copied_says_what_to_pass() -> None:
    spec = spec_of("def f(self: object(weight: Tensor[D]), x: Tensor[D]): ...")
    layer = torch.nn.LayerNorm(3)
    with pytest.raises(sd.ShapeError, match="pass `self=`") as caught:
        spec.example(D=5, like=((layer, torch.ones(3)), {}))
    assert caught.value.code == "missing-input"
    (own, x), _ = spec.example(self=layer)
    assert own is layer
    assert x.shape == (3,)


def test_mixtures_of_what_is_left_out_occur() -> None:
    spec = spec_of("def f(a: Tensor[B] | None, b: Tensor[B] | None, c: Tensor[B] | None): where B == 1")
    patterns = {tuple(part is None for part in args) for args, _ in spec.examples(30)}
    assert {(False, False, False), (True, True, True)} < patterns


def test_many_sizes_take_no_time_to_speak_of() -> None:
    names = [f"n{at}" for at in range(40)]
    chain = ", ".join(f"{a} <= {b}" for a, b in itertools.pairwise(names))
    spec = spec_of(f"def f({', '.join(f'x{n}: Tensor[{n}, {n} + 1]' for n in names)}): where {chain}, n0 >= 2")
    calls = spec.examples(12)
    assert len({tuple(x.shape for x in args) for args, _ in calls}) == 12
