"""Structure: ranks, lengths, None-ness, omitted defaults."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import pytest

from shapedsl.diagnostics import Report
from shapedsl.ir.expand import expand
from shapedsl.ir.expanded import Expanded
from shapedsl.ir.write import write_dim, write_predicate
from tests.runtime.fakes import TENSORS, FakeTensor, signature


def expanded(text: str, arguments: Mapping[str, object] | None) -> Expanded:
    report = Report()
    found = expand(signature(text), arguments, is_tensor=TENSORS.is_tensor, report=report)
    report.raise_errors()
    assert found is not None
    return found


def errors(text: str, arguments: Mapping[str, object] | None) -> list[tuple[str, str]]:
    report = Report()
    assert expand(signature(text), arguments, is_tensor=TENSORS.is_tensor, report=report) is None
    return [(found.code, found.message) for found in report]


def leaves(found: Expanded) -> dict[str, list[str]]:
    return {str(leaf.path): [write_dim(dim) for dim in leaf.dims] for leaf in found.leaves}


def constraints(found: Expanded) -> set[str]:
    return {write_predicate(constraint.predicate) for constraint in found.signature.constraints}


def test_a_closed_signature_needs_no_example() -> None:
    found = expanded("def f(x: Tensor[B, 2 * B, 3, _], n: Scalar[N]): ...", None)
    assert leaves(found) == {"x": ["B", "2 * B", "3", "_"], "n": ["N"]}
    assert found.present == ("x", "n")


def test_variadic_takes_its_rank_from_the_first_tensor() -> None:
    text = "dim *batch in [1, 8]\ndef f(x: Tensor[*batch, D], y: Tensor[*batch]):\n    where prod(*batch) <= 6"
    found = expanded(text, {"x": FakeTensor(2, 3, 4), "y": FakeTensor(2, 3)})
    assert leaves(found) == {"x": ["batch[0]", "batch[1]", "D"], "y": ["batch[0]", "batch[1]"]}
    assert {"batch[0] >= 1", "batch[1] >= 1", "batch[1] <= 8", "prod(batch[0], batch[1]) <= 6"} <= constraints(found)
    assert [variable.name for variable in found.signature.variables] == ["D", "batch[0]", "batch[1]"]
    assert not any(variable.variadic for variable in found.signature.variables)


def test_a_variadic_of_no_dims_has_the_empty_product() -> None:
    found = expanded("def f(x: Tensor[*batch, D]):\n    where prod(*batch) <= D", {"x": FakeTensor(4)})
    assert "1 <= D" in constraints(found) or "D >= 1" in constraints(found)


def test_rank_clause_replaces_the_example() -> None:
    found = expanded("def f(x: Tensor[*batch, D]) -> Tensor[*batch]:\n    rank batch = 2", None)
    assert leaves(found) == {"x": ["batch[0]", "batch[1]", "D"]}
    assert found.ranks == (("batch", 2),)


def test_prod_of_a_variadic_whose_rank_a_later_parameter_tells() -> None:
    found = expanded(
        "def f(flat: Tensor[prod(*b)], x: Tensor[*b]): ...", {"flat": FakeTensor(6), "x": FakeTensor(2, 3)}
    )
    assert leaves(found)["flat"] == ["prod(b[0], b[1])"]


def test_ellipsis_becomes_static_dims() -> None:
    found = expanded("def f(x: Tensor[B, ..., D]): ...", {"x": FakeTensor(1, 2, 3, 4)})
    assert leaves(found) == {"x": ["B", "_", "_", "D"]}


def test_anonymous_dims_are_fresh_in_each_place() -> None:
    found = expanded("def f(x: Tensor[?, ?], y: Tensor[?]): ...", None)
    assert leaves(found) == {"x": ["?0", "?1"], "y": ["?2"]}
    assert {"?0 >= 0", "?1 >= 0", "?2 >= 0"} <= constraints(found)


def test_a_named_anonymous_dim_is_one_size_in_an_element() -> None:
    found = expanded(
        "def f(kvs: [(Tensor[?K], Tensor[?K]), ...]): ...",
        {"kvs": [(FakeTensor(1), FakeTensor(1)), (FakeTensor(2), FakeTensor(2))]},
    )
    assert leaves(found) == {
        "kvs[0][0]": ["?K@kvs[0]"],
        "kvs[0][1]": ["?K@kvs[0]"],
        "kvs[1][0]": ["?K@kvs[1]"],
        "kvs[1][1]": ["?K@kvs[1]"],
    }


def test_none_and_omitted_defaults_have_no_leaf_and_drop_what_only_they_bind() -> None:
    text = "def f(x: Tensor[B], mask: Tensor[B, M] | None, bias: Tensor[K] = _):\n    where M < 9, K < B"
    found = expanded(text, {"x": FakeTensor(1), "mask": None})
    assert leaves(found) == {"x": ["B"]}
    assert found.present == ("x", "mask")
    assert constraints(found) == {"B >= 0"}
    whole = expanded(text, None)
    assert list(leaves(whole)) == ["x", "mask", "bias"]
    assert {"M < 9", "K < B"} <= constraints(whole)


def test_a_const_names_a_length() -> None:
    text = "const NL = _\ndef f(kvs: [Tensor[P]] * NL, x: Tensor[NL, P]): ..."
    found = expanded(text, {"kvs": [FakeTensor(5)] * 3, "x": FakeTensor(3, 5)})
    assert found.lengths == (("NL", 3),)
    assert leaves(found)["kvs[2]"] == ["P"]


def test_lengths() -> None:
    assert len(expanded("def f(k: [Tensor[P]] * 3): ...", None).leaves) == 3
    assert len(expanded("def f(k: [Tensor[P], *_]): ...", {"k": [FakeTensor(1), "anything", 3]}).leaves) == 1
    assert len(expanded("def f(*args: [Tensor[P], Scalar[n]]): ...", {"args": (FakeTensor(1), 2)}).leaves) == 2
    assert len(expanded("def f(k: [Tensor[P], ...]): ...", {"k": []}).leaves) == 0


class Pair(NamedTuple):
    x: FakeTensor
    y: FakeTensor


def test_containers_of_every_kind() -> None:
    text = 'def f(d: {"k": Tensor[A], 0: Tensor[B]}, p: Pair(x: Tensor[C]), t: (Tensor[D], Tensor[E])): ...'
    pair = Pair(FakeTensor(3), FakeTensor(4))
    found = expanded(text, {"d": OrderedDict({"k": FakeTensor(1), 0: FakeTensor(2)}), "p": pair, "t": pair})
    assert leaves(found) == {'d["k"]': ["A"], "d[0]": ["B"], "p.x": ["C"], "t[0]": ["D"], "t[1]": ["E"]}


def test_a_missing_key_is_not_made_in_a_defaultdict() -> None:
    values: defaultdict[str, FakeTensor] = defaultdict(lambda: FakeTensor(1))
    assert errors('def f(d: {"k": Tensor[A]}): ...', {"d": values}) == [("type-mismatch", '`d` has no key `"k"`')]
    assert not values
    assert expanded('def f(d: {"k": Tensor[A] | None}): ...', {"d": values}).leaves == ()


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("def f(x: Tensor[*b]): ...", None, ("unknown-rank", "the number of dims in `*b` must be known here")),
        ("def f(x: Tensor[B, ...]): ...", None, ("unknown-rank", "the rank of `x` must be known here")),
        ("def f(x: [Tensor[B], ...]): ...", None, ("unknown-length", "the length of `x` must be known here")),
        (
            "const N = _\ndef f(x: [Tensor[B]] * N): ...",
            None,
            ("unknown-length", "the length of `x` must be known here"),
        ),
        (
            "def f(x: Tensor[B, D]): ...",
            {"x": FakeTensor(1, 2, 3)},
            ("rank-mismatch", "`x` has 3 dims, expected 2"),
        ),
        (
            "def f(x: Tensor[B, C, ...]): ...",
            {"x": FakeTensor(1)},
            ("rank-mismatch", "`x` has 1 dim, expected at least 2 dims"),
        ),
        (
            "def f(x: Tensor[*b], y: Tensor[*b, D]): ...",
            {"x": FakeTensor(1, 2), "y": FakeTensor(1, 2)},
            ("rank-mismatch", "`y` has 2 dims, expected 3"),
        ),
        ("def f(x: Tensor[B]): ...", {"x": None}, ("type-mismatch", "`x` is None, expected a tensor")),
        ("def f(n: Scalar[N]): ...", {"n": True}, ("type-mismatch", "`n` is True, expected a Python int")),
        ("def f(n: Scalar[N]): ...", {"n": 1.5}, ("type-mismatch", "`n` is a float, expected a Python int")),
        (
            "def f(n: Scalar): ...",
            {"n": 2**63},
            ("type-mismatch", "`n` is an int, expected an int that fits in 64 bits"),
        ),
        ("def f(x: [Tensor[B]]): ...", {"x": "abc"}, ("type-mismatch", "`x` is a str, expected a list")),
        ("def f(x: [Tensor[B]]): ...", {"x": []}, ("shape-violation", "`x` has length 0, expected 1")),
        (
            "def f(x: [Tensor[B], Tensor[B], ...]): ...",
            {"x": [FakeTensor(1)] * 3},
            ("shape-violation", "`x` has length 3, expected 4"),
        ),
        (
            "const N = _\ndef f(x: [Tensor[B]] * N, y: [Tensor[B]] * N): ...",
            {"x": [FakeTensor(1)] * 3, "y": [FakeTensor(1)]},
            ("shape-violation", "`y` has length 1, expected 3"),
        ),
        (
            "def f(g: Graph(x: Tensor[B])): ...",
            {"g": object()},
            ("type-mismatch", "`g` is an object, which has no attribute `x`"),
        ),
    ],
)
def test_what_does_not_fit_is_said(
    text: str, arguments: Mapping[str, object] | None, expected: tuple[str, str]
) -> None:
    assert errors(text, arguments) == [expected]


def test_structure_is_equal_for_equal_structure_only() -> None:
    text = "def f(x: Tensor[*b], m: Tensor[K] | None, k: [Tensor[P], ...]): ..."

    def key(rank: int, mask: bool, length: int) -> object:
        arguments = {"x": FakeTensor(*range(rank)), "m": FakeTensor(1) if mask else None, "k": [FakeTensor(7)] * length}
        return expanded(text, arguments).structure

    keys = [key(rank, mask, length) for rank in (1, 2) for mask in (False, True) for length in (1, 2)]
    assert len(set(keys)) == 8
    assert key(2, True, 1) == key(2, True, 1)
