"""Comparing specs: relations and witnesses by hand, and agreement with brute force on small sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import shapedsl as sd
from shapedsl.diagnostics import ShapeError
from shapedsl.ir import ScalarType, Signature, TensorType
from shapedsl.ir.walk import evaluate, holds
from shapedsl.normalize.compare import Compared, compare

OPPOSITE = {"equal": "equal", "narrower": "wider", "wider": "narrower", "incomparable": "incomparable"}


def signature(text: str) -> Signature:
    (spec,) = sd.loads(text).values()
    return spec.signature


def compared(old: str, new: str) -> Compared:
    return compare(signature(old), signature(new))


# old, new, relation, the witness; the sizes of a narrower spec's witness are by the old names
RELATIONS: list[tuple[str, str, str, dict[str, int]]] = [
    # variables are what they bind
    ("def f(x: Tensor[B, D]): ...", "def f(x: Tensor[N, D]): ...", "equal", {}),
    ("def f(x: Tensor[B, D]): ...", "def f(x: Tensor[D, B]): ...", "equal", {}),
    (
        "def f(x: Tensor[B, D], w: Tensor[D, D]): where B < D",
        "def f(x: Tensor[D, B], w: Tensor[B, B]): where D < B",
        "equal",
        {},
    ),
    ("def f(x: Tensor[B, B]): ...", "def f(x: Tensor[B, D]): ...", "wider", {"B": 0, "D": 1}),
    ("def f(x: Tensor[B, D]): ...", "def f(x: Tensor[B, B]): ...", "narrower", {"B": 0, "D": 1}),
    ("def f(x: Tensor[B, D]): ...", "def f(x: Tensor[B, 64]): ...", "narrower", {"B": 0, "D": 0}),
    # constraints
    ("def f(x: Tensor[B]): where B <= 1024", "def f(x: Tensor[N]): where N <= 512", "narrower", {"B": 513}),
    ("def f(x: Tensor[B]): where B <= 512", "def f(x: Tensor[N]): where N <= 1024", "wider", {"N": 513}),
    ("def f(x: Tensor[B]): where B >= 1, B <= 4", "def f(x: Tensor[B]): where B in {1, 2, 3, 4}", "equal", {}),
    ("def f(x: Tensor[B]): where B < 4", "def f(x: Tensor[B]): where B > 2, B < 9", "incomparable", {"B": 0}),
    ("def f(x: Tensor[B]): where B % 6 == 0", "def f(x: Tensor[B]): where B % 2 == 0, B % 3 == 0", "equal", {}),
    ("def f(x: Tensor[B]): where B % 4 == 0", "def f(x: Tensor[B]): where B % 8 == 0", "narrower", {"B": 4}),
    ("def f(x: Tensor[B, D]): where B + D < 20", "def f(x: Tensor[B, D]): where B < 20, D < 20 - B", "equal", {}),
    # derived dims
    ("def f(x: Tensor[2*B]): ...", "def f(x: Tensor[N]): where N % 2 == 0", "equal", {}),
    ("def f(x: Tensor[2*B]): ...", "def f(x: Tensor[N]): ...", "wider", {"N": 1}),
    ("def f(x: Tensor[2*B], y: Tensor[3*B]): ...", "def f(x: Tensor[N], y: Tensor[M]): where 3*N == 2*M", "equal", {}),
    ("def f(x: Tensor[B + 2]): ...", "def f(x: Tensor[N]): where N >= 2", "equal", {}),
    ("def f(x: Tensor[B - 2]): ...", "def f(x: Tensor[N]): ...", "equal", {}),
    ("def f(x: Tensor[N, 2*N]): where N < 10", "def f(x: Tensor[B, S]): where B + S < 20", "incomparable", {"N": 7}),
    # what cannot be solved for
    (
        "def f(x: Tensor[A, 2*B + 1]): ...",
        "def f(x: Tensor[C, A + B]): where B >= 2",
        "incomparable",
        {"A": 0, "B": 0},
    ),
    ("def f(x: Tensor[prod(*s)]): ...", "def f(x: Tensor[prod(*s)], k = _): ...", "wider", {}),
    ("def f(x: Tensor[A * B]): ...", "def f(x: Tensor[C * D]): ...", "equal", {}),
    ("def f(x: Tensor[A * B]): where A > 2", "def f(x: Tensor[C * D]): where C > 1", "wider", {"C": 2, "D": 1}),
    # static, pinned and dynamic
    ("def f(x: Tensor[B]): ...", "def f(x: Tensor[_]): ...", "narrower", {"B": 0}),
    ("def f(x: Tensor[_]): ...", "def f(x: Tensor[B]): ...", "wider", {"B": 0}),
    ("def f(x: Tensor[?]): ...", "def f(x: Tensor[B]): ...", "equal", {}),
    ("def f(x: Tensor[B]): where B == 3", "def f(x: Tensor[3]): ...", "equal", {}),
    ("def f(x: Tensor[3]): ...", "def f(x: Tensor[_]): ...", "wider", {"x.shape[0]": 0}),
    ("def f(x: Tensor[_]): ...", "def f(x: Tensor[3]): ...", "narrower", {"x.shape[0]": 0}),
    ("const K = _\ndef f(x: Tensor[K, K]): ...", "def f(x: Tensor[_, _]): ...", "wider", {"x.shape[0]": 0, "x.shape[1]": 1}),
    ("const K = _\ndef f(x: Tensor[K]): ...", "def f(x: Tensor[K]): ...", "wider", {"K": 0}),
    # ranks
    ("def f(x: Tensor[*batch, D]): ...", "def f(x: Tensor[*rest, E]): ...", "equal", {}),
    ("def f(x: Tensor[*batch, D]): ...", "def f(x: Tensor[B, D]): ...", "narrower", {"D": 0}),
    ("def f(x: Tensor[B, *rest]): ...", "def f(x: Tensor[*rest, B]): ...", "equal", {}),
    ("def f(x: Tensor[*a], y: Tensor[*a]): ...", "def f(x: Tensor[*a], y: Tensor[*b]): ...", "wider", {"a[0]": 0}),
    ("def f(x: Tensor[B, D]): ...", "def f(x: Tensor[B]): ...", "incomparable", {"B": 0, "D": 0}),
    ("def f(x: Tensor[...]): ...", "def f(x: Tensor): ...", "equal", {}),
    (
        "dim *batch in [2, 3]\ndef f(x: Tensor[*batch]): where prod(*batch) <= 64",
        "dim *batch in [2, 3]\ndef f(x: Tensor[*batch]): where prod(*batch) <= 9",
        "narrower",
        {"batch[0]": 2, "batch[1]": 2, "batch[2]": 3},
    ),
    (
        "def f(x: Tensor[*s]): where prod(*s) <= 64",
        "def f(x: Tensor[*t]): where prod(*t) <= 65, prod(*t) < 65",
        "equal",
        {},
    ),
    # None, containers, scalars
    ("def f(x: Tensor[B] | None): ...", "def f(x: Tensor[B]): ...", "narrower", {}),
    ("def f(x: Tensor[B]): ...", "def f(x: Tensor[B] | None): ...", "wider", {}),
    ("def f(x: (Tensor[B], Tensor[B])): ...", "def f(x: (Tensor[B], Tensor[D])): ...", "wider", {"B": 0, "D": 1}),
    ("def f(x: (Tensor[B], Tensor[B])): ...", "def f(x: (Tensor[B],)): ...", "incomparable", {"B": 0}),
    ("def f(x: [Tensor[B], ...]): ...", "def f(x: [Tensor[?], ...]): ...", "wider", {"x[0].shape[0]": 0, "x[1].shape[0]": 1}),
    ("def f(x: [Tensor[B], ...]): ...", "def f(x: [Tensor[B]] * 2): ...", "narrower", {}),
    ('def f(x: {"k": Tensor[B]}): ...', 'def f(x: {"k": Tensor[B], "m": Tensor[B]}): ...', "incomparable", {"B": 0}),
    ("def f(n: Scalar[N]): ...", "def f(n: Scalar[N]): where N >= 0", "narrower", {"N": -1}),
    ("def f(n: Scalar[N], x: Tensor[N]): ...", "def f(n: Scalar[M], x: Tensor[M]): where M >= 0", "equal", {}),
    ("def f(x: Tensor[B]): ...", "def f(x: Scalar[B]): ...", "incomparable", {"B": 0}),
    # several structures change at once: what one spec takes is looked at as a whole
    ("def f(x: Tensor[*s], y: Tensor[*s, D]): ...", "def f(x: Tensor[A], y: Tensor[A, D]): ...", "narrower", {"D": 0}),
    (
        "def f(x: Tensor[*s], y: Tensor[B] | None): where prod(*s) >= 2",
        "def f(x: Tensor[*s], y: Tensor[B]): where prod(*s) >= 2",
        "narrower",
        {"s[0]": 2},
    ),
    (
        "def f(x: (Tensor[3], Tensor[A])): ...",
        "def f(x: (Tensor[()], Tensor[A, B])): ...",
        "incomparable",
        {"A": 0},
    ),
    ("def f(x: [[Tensor[()], ...], ...]): ...", "def f(x: [[Tensor[B], ...], ...]): ...", "incomparable", {}),
    ("def f(x: Scalar[A], y: Tensor[A]): ...", "def f(x: Tensor[A], y: Scalar[A]): ...", "incomparable", {"A": 0}),
    (
        "const N = _\ndef f(x: [Tensor[B]] * N, y: [Tensor[B]] * N): ...",
        "def f(x: [Tensor[B]], y: [Tensor[B]]): ...",
        "narrower",
        {"N": 0},
    ),
    # dtypes
    ("def f(x: float32[B]): ...", "def f(x: floating[B]): ...", "wider", {}),
    ("def f(x: Tensor[B]): ...", "def f(x: int64[B]): ...", "narrower", {}),
    ("def f(x: float32[B]): ...", "def f(x: float16[B]): ...", "incomparable", {}),
    ("type F = floating\ndef f(x: F[B], y: F[B]): ...", "def f(x: floating[B], y: floating[B]): ...", "wider", {}),
    ("type F = floating\ndef f(x: F[B], y: F[B]): ...", "type G = floating\ndef f(x: G[B], y: G[B]): ...", "equal", {}),
    # parameters
    ("def f(x: Tensor[B]): ...", "def f(x: Tensor[B], k = _): ...", "wider", {}),
    ("def f(x: Tensor[B]): ...", "def f(x: Tensor[B], k): ...", "incomparable", {}),
    ("def f(x: Tensor[B], k = _): ...", "def f(x: Tensor[B]): ...", "narrower", {}),
    ("def f(x: Tensor[B], k = _): ...", "def f(x: Tensor[B], k): ...", "narrower", {}),
    ("def f(x: Tensor[B], k): ...", "def f(x: Tensor[B], k = _): ...", "wider", {}),
    ("def f(x: Tensor[B]): ...", "def f(y: Tensor[B]): ...", "incomparable", {}),
    ("def f(x: Tensor[B], /): ...", "def f(y: Tensor[B], /): ...", "equal", {}),
    ("def f(x: Tensor[B], /): ...", "def f(x: Tensor[B]): ...", "wider", {}),
    ("def f(x: Tensor[B]): ...", "def f(*, x: Tensor[B]): ...", "narrower", {}),
    ("def f(x: Tensor[B], y: Tensor[B]): ...", "def f(y: Tensor[B], x: Tensor[B]): ...", "incomparable", {}),
    ("def f(*, x: Tensor[B], y: Tensor[B]): ...", "def f(*, y: Tensor[B], x: Tensor[B]): ...", "equal", {}),
    ("def f(x: Tensor[B], y = _): ...", "def f(x: Tensor[B], z = _, y = _): ...", "incomparable", {}),
    ("def f(*args: [Tensor[B]]): ...", "def f(*rest: [Tensor[B]]): ...", "equal", {}),
    ("def f(*, k, **kw: {}): ...", "def f(**kw: {}): ...", "wider", {}),
    # contradictions
    ("def f(x: Tensor[B]): where B < 3, B > 5", "def f(x: Tensor[B]): ...", "wider", {"B": 0}),
    ("def f(x: Tensor[B]): ...", "def f(x: Tensor[B]): where B < 3, B > 5", "narrower", {"B": 0}),
    ("def f(x: Tensor[B]): where B < 3, B > 5", "def f(x: Tensor[B]): where B < 2, B > 7", "equal", {}),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "relation", "witness"), RELATIONS)
def test_relation(old: str, new: str, relation: str, witness: dict[str, int]) -> None:
    found = sd.compare(old, new)
    assert (found.relation, found.witness) == (relation, witness), str(found)
    assert found.breaking is (relation in ("narrower", "incomparable"))


@pytest.mark.parametrize(
    ("old", "new", "breaking"),
    [("N", "K", False), ("[Tensor[B]] * N:", "[Tensor[B]] * M:", True), ("[Tensor[B]] * N:", "[Tensor[B]] * 3:", True)],
)
def test_lengths_of_what_is_claimed(old: str, new: str, breaking: bool) -> None:
    text = "const N, M = _\ndef f(x: [Tensor[B]] * N, y: [Tensor[B]] * M) -> [Tensor[B]] * N: ..."
    found = sd.compare(text, text.replace(old, new))
    assert (found.relation, found.breaking, bool(found.changes)) == ("equal", breaking, breaking)


@pytest.mark.parametrize(("old", "new", "relation"), [row[:3] for row in RELATIONS])
def test_the_other_way_round(old: str, new: str, relation: str) -> None:
    assert sd.compare(new, old).relation == OPPOSITE[relation]


@pytest.mark.parametrize("text", [row[0] for row in RELATIONS])
def test_a_spec_is_equal_to_itself(text: str) -> None:
    again = text.replace("f(", "g(")  # not the same lines
    found = sd.compare(text, again)
    assert (found.relation, found.changes) == ("equal", ()) or "B > 5" in text


# ------------------------------------------------------------------------------------ brute force

DIMS = ["A", "B", "C", "0", "2", "3", "_", "2*A", "A + 1", "A + B", "A - B", "2*B + 1", "A // 2", "max(A, 2)", "A * B"]
ATOMS = [
    "A <= 3", "B >= 2", "A == 2", "B != 1", "A % 2 == 0", "B % 3 == 1", "A <= B", "A < B + C", "A + B <= 5",
    "A == B", "2*A >= B", "A * B <= 6", "min(A, B) >= 1", "A == 1 or B == 2", "not (A == 2 and B == 2)", "C <= A // 2",
]  # fmt: skip
LARGEST = 5  # of a place
INSIDE = range(-1, 2 * LARGEST + 4)  # what a variable has to be for such places, where it matters


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A spec of one to three places, over three variables."""
    dims = draw(st.lists(st.sampled_from(DIMS), min_size=2, max_size=3))
    wheres = draw(st.lists(st.sampled_from(ATOMS), max_size=3))
    text = f"def f(x: Tensor[{', '.join(dims)}])"
    return f"{text}: where {', '.join(wheres)}" if wheres else f"{text}: ..."


def readable(text: str) -> Signature:
    try:
        return signature(text)
    except ShapeError:
        assume(False)
        raise


def accepts(spec: Signature, places: tuple[int, ...]) -> bool:
    """By trying every value of every variable."""
    dims = dims_of(spec)
    names = [variable.name for variable in spec.variables]
    bare = {
        dim.name: n for dim, n in zip(dims, places, strict=True) if hasattr(dim, "name")
    }  # the only value that can fit
    ranges = [(bare[name],) if name in bare else INSIDE for name in names]
    return any(_fits(spec, places, dict(zip(names, sizes, strict=True))) for sizes in product(*ranges))


def dims_of(spec: Signature) -> tuple[object, ...]:
    (param,) = spec.params
    if isinstance(param.type, ScalarType):
        return (param.type.size,)
    assert isinstance(param.type, TensorType)
    assert param.type.dims is not None
    return param.type.dims


def _fits(spec: Signature, places: tuple[int, ...], sizes: Mapping[str, int]) -> bool:
    if any(size < 0 for size in sizes.values()):
        return False
    for dim, place in zip(dims_of(spec), places, strict=True):
        if type(dim).__name__ != "Static" and evaluate(dim, sizes) != place:  # type: ignore[arg-type]
            return False
    return all(holds(constraint.predicate, sizes) for constraint in spec.constraints)


def static(spec: Signature) -> list[bool]:
    return [type(dim).__name__ == "Static" for dim in dims_of(spec)]


def calls(rank: int) -> Iterator[tuple[int, ...]]:
    return product(range(LARGEST), repeat=rank)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(texts(), texts())
def test_agrees_with_brute_force(first: str, second: str) -> None:
    old, new = readable(first), readable(second)
    assume(len(dims_of(old)) == len(dims_of(new)))
    assume(static(old) == static(new))  # a static dim is no matter of sizes
    found = compare(old, new)
    taken = [(accepts(old, call), accepts(new, call)) for call in calls(len(dims_of(old)))]
    lost, gained = any(o and not n for o, n in taken), any(n and not o for o, n in taken)
    relation = found.relation.value
    if lost:
        assert relation in ("narrower", "incomparable", "unknown"), found
    if gained:
        assert relation in ("wider", "incomparable", "unknown"), found
    for change in found.changes:
        if change.example is not None and max(n for _, n in change.example.places) <= LARGEST:
            places = tuple(n for _, n in change.example.places)
            assert accepts(old, places) is change.breaking, change
            assert accepts(new, places) is not change.breaking, change


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(texts(), texts())
def test_laws(first: str, second: str) -> None:
    old, new = readable(first), readable(second)
    forth, back = compare(old, new), compare(new, old)
    if "unknown" not in (forth.relation.value, back.relation.value):
        assert back.relation.value == OPPOSITE[forth.relation.value]
    renamed = first
    for name, other in (("A", "Q1"), ("B", "A"), ("C", "B"), ("Q1", "C")):
        renamed = renamed.replace(name, other)
    assert compare(old, signature(renamed)).relation.value == "equal"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(texts(), st.sampled_from(ATOMS))
def test_one_more_constraint_is_never_wider(text: str, more: str) -> None:
    old = readable(text)
    new = readable(text.replace(": ...", ": where B >= 0") + f", {more}")
    assert compare(old, new).relation.value in ("equal", "narrower", "unknown")
