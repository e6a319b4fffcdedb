"""Which artifact serves a call, what torch is told, and what is refused before torch sees it."""

from __future__ import annotations

from collections import Counter
from textwrap import dedent
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd
from shapedsl import Tensor, shapes
from shapedsl.dims import B, S

from .counting import Counting

FIRST = """
def product(x: Tensor[B, S], w: Tensor[S, S]):
    case one: B == 1
    case three: B == 3
    case large: B > 100 hint B = 256
    otherwise hint B = 7
"""


def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x @ w


@shapes("""
    case one: B == 1
    case three: B == 3
    case large: B > 100 hint B = 256
    otherwise hint B = 7
""")
def annotated(x: Tensor[B, S], w: Tensor[S, S]) -> torch.Tensor:
    return x @ w


def dispatch(fn: Any, text: str, **options: Any) -> Any:
    return sd.dispatch(fn, dedent(text).strip(), **options)


def counts(fn: Any) -> dict[str, int]:
    """Returns the calls of each alternative."""
    found: Counter[str] = Counter()
    for row in fn.stats()["artifacts"]:
        found[row["artifact"]] += row["calls"]
    return dict(found)


@pytest.mark.parametrize(("fn", "spec"), [(product, FIRST), (annotated, None)], ids=["text", "annotations"])
def test_the_case_that_started_it_all(fn: Any, spec: str | None) -> None:
    backend = Counting()
    served = sd.dispatch(fn, spec, backend=backend)
    for batch in range(1, 301):
        x, w = torch.rand(batch, 4), torch.rand(4, 4)
        before = counts(served)
        assert torch.equal(served(x, w), x @ w)
        expected = {1: "case one", 3: "case three"}.get(batch, "case large" if batch > 100 else "otherwise")
        assert counts(served) == {**before, expected: before[expected] + 1}
    assert len(backend) == 4
    # in the graphs of `one` and `three` B is a number, which needs no hint
    batches = [[h for h in hints.values() if h is not None] for hints in backend.hints]
    assert sorted(batches) == [[], [], [7], [256]]


def test_what_no_alternative_takes_costs_torch_nothing() -> None:
    backend = Counting()
    text = """
        def product(x: Tensor[B, S], w: Tensor[S, S]):
            where S <= 64, B >= 1
            case small: B <= 8
            case wide: B in [9, 32], S % 8 == 0
        """
    with pytest.warns(sd.ShapeWarning, match="no alternative takes B = 9, S = 1"):
        served = dispatch(product, text, backend=backend)
    served(torch.rand(4, 8), torch.rand(8, 8))
    served(torch.rand(9, 8), torch.rand(8, 8))
    torch._dynamo.utils.counters.clear()
    for batch in range(33, 48):
        with pytest.raises(sd.ShapeError) as refused:
            served(torch.rand(batch, 8), torch.rand(8, 8))
        assert refused.value.code == "no-alternative"
    assert len(backend) == 2
    assert not torch._dynamo.utils.counters["frames"]
    assert served.stats()["refused"] == 15
    told = str(refused.value)
    assert "no alternative of `product` takes B = 47" in told
    assert "`B` is 47, from `x.shape[0]`" in told
    assert "`B <= 8` does not hold" in told
    assert "B = 32" in told  # the nearest size that is taken
    with pytest.raises(sd.ShapeError) as refused:
        served(torch.rand(20, 4), torch.rand(4, 4))
    assert "S = 4" in str(refused.value)


def test_where_is_checked_first() -> None:
    served = dispatch(product, FIRST.replace("case one", "where S >= 2\n    case one", 1), backend="eager")
    with pytest.raises(sd.ShapeError, match="S >= 2") as refused:
        served(torch.rand(5, 1), torch.rand(1, 1))
    assert refused.value.code == "shape-violation"


def test_first_match_wins() -> None:
    served = dispatch(
        lambda x: x + 1,
        """
        def f(x: Tensor[B]):
            case four: B == 4
            case even: B % 2 == 0
            otherwise eager
        """,
        backend="eager",
    )
    for batch in (4, 5, 6, 11, 13, 12):
        served(torch.rand(batch))
    assert counts(served) == {"case four": 1, "case even": 2, "otherwise": 3}


def test_later_alternatives_assume_that_earlier_ones_did_not_match() -> None:
    def branches(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.shape[0] == 1 else x * 3  # torch cannot decide it but for the assumption

    backend = Counting()
    served = dispatch(branches, "def f(x: Tensor[B]):\n    case B == 1\n    otherwise", backend=backend)
    for batch in (1, 2, 0, 5):
        x = torch.rand(batch)
        assert torch.equal(served(x), branches(x))
    assert len(backend) == 2


def test_a_spec_without_alternatives_has_one_artifact() -> None:
    backend = Counting()
    served = dispatch(product, "def product(x: Tensor[B, S], w: Tensor[S, S]): ...", backend=backend)
    for batch in (1, 2, 5):
        served(torch.rand(batch, 4), torch.rand(4, 4))
    assert len(backend) == 1
    assert counts(served) == {"all sizes": 3}
    assert served.explain(torch.rand(5, 4), torch.rand(4, 4)).startswith("B=5, S=4 → artifact 1\n")


def test_eager_runs_the_original() -> None:
    ran: list[tuple[int, ...]] = []

    def note(x: torch.Tensor) -> torch.Tensor:
        ran.append(tuple(x.shape))
        return x

    served = dispatch(note, "def note(x: Tensor[B]):\n    otherwise eager", backend=Counting())
    x = torch.rand(3)
    assert served(x) is x
    served(x)
    assert ran == [(3,), (3,)]


def test_structures_have_artifacts_of_their_own() -> None:
    def add(x: torch.Tensor, mask: torch.Tensor | None = None, *, more: list[torch.Tensor]) -> torch.Tensor:
        x = x if mask is None else x * mask
        return x + sum(more)

    backend = Counting()
    served = dispatch(
        add,
        """
        def add(x: Tensor[B, *rest], mask: Tensor[B, *rest] | None = _, *, more: [Tensor[B, *rest], ...]):
            case one: B == 1
            otherwise
        """,
        backend=backend,
    )
    made: set[tuple[bool, int, int, bool]] = set()
    for rank, length, masked in ((0, 1, False), (1, 1, False), (1, 2, False), (1, 2, True)):
        for batch in (1, 4, 5):
            shape = (batch, *[3] * rank)
            args = [torch.rand(shape)] + [torch.rand(shape)] * masked
            more = [torch.rand(shape) for _ in range(length)]
            assert torch.equal(served(*args, more=more), add(*args, more=more))
            made.add((batch == 1, rank, length, masked))
    assert len(backend) == len(made) == 8


def test_static_sizes_have_artifacts_of_their_own() -> None:
    backend = Counting()
    served = dispatch(
        lambda q: q.softmax(-1),
        """
        const HD = _
        def attend(q: Tensor[B, HD]):
            case one: B == 1
            otherwise
        """,
        backend=backend,
    )
    for width in (16, 32):
        for batch in (1, 2, 3):
            q = torch.rand(batch, width)
            assert torch.equal(served(q), q.softmax(-1))
    assert len(backend) == 4
    keys = [(row["artifact"], row["key"]) for row in served.stats()["artifacts"]]
    assert keys == [
        ("case one", {"HD": 16}),
        ("case one", {"HD": 32}),
        ("otherwise", {"HD": 16}),
        ("otherwise", {"HD": 32}),
    ]


def test_ints_that_no_size_stands_for_have_artifacts_of_their_own() -> None:
    backend = Counting()
    served = dispatch(
        lambda x, n, flag=False: x * n if flag else x + n,
        "def f(x: Tensor[B], n: Scalar, flag=_):\n    case one: B == 1\n    otherwise",
        backend=backend,
    )
    for n in (2, 3, 2):
        for batch in (1, 4, 5):
            x = torch.rand(batch)
            assert torch.equal(served(x, n), x + n)
    assert len(backend) == 4
    assert [row["graphs"] for row in served.stats()["artifacts"]] == [1, 1, 1, 1]
    x = torch.rand(4)
    assert torch.equal(served(x, 2, True), x * 2)  # torch's own guard tells bools apart
    assert len(backend) == 5


def test_a_declared_scalar_is_a_size() -> None:
    backend = Counting()
    served = dispatch(
        lambda x, n: x + n,
        "def f(x: Tensor[B], n: Scalar[N]):\n    int N in [0, inf]\n    case even: N % 2 == 0\n    otherwise",
        backend=backend,
    )
    for n in range(6):
        assert torch.equal(served(torch.ones(3), n), torch.ones(3) + n)
    assert len(backend) == 2


def test_members_of_a_bucket_that_pads_nothing_are_static() -> None:
    backend = Counting()
    served = dispatch(
        lambda x: x * 2, "def f(x: Tensor[B, S]):\n    bucket S in {4, 8}\n    otherwise eager", backend=backend
    )
    for batch, size in ((2, 4), (3, 8), (4, 8), (5, 5)):
        x = torch.rand(batch, size)
        assert torch.equal(served(x), x * 2)
    assert counts(served) == {"bucket S=4": 1, "bucket S=8": 2, "otherwise": 1}
    assert len(backend) == 2


def test_what_speaks_of_an_absent_size_is_left_out() -> None:
    served = dispatch(
        lambda x, mask=None: x,
        "def f(x: Tensor[B], mask: Tensor[K] | None = _):\n    case long: K > 3\n    otherwise eager",
        backend="eager",
    )
    served(torch.rand(2), torch.rand(9))
    served(torch.rand(2), torch.rand(2))
    served(torch.rand(2))  # as an assumption about K holds where no K is
    assert counts(served) == {"case long": 2, "otherwise": 1}


@pytest.mark.parametrize("strict", [False, True])
def test_alternatives_are_proved_when_they_are_loaded(strict: bool) -> None:
    text = "def f(x: Tensor[B]):\n    case small: B <= 8\n    case even: B % 2 == 0\n    case four: B == 4"
    if strict:
        with pytest.raises(sd.ShapeError) as refused:
            dispatch(lambda x: x, text, strict=True)
        codes = [each.code for each in refused.value.diagnostics]
    else:
        with pytest.warns(sd.ShapeWarning) as warned:
            dispatch(lambda x: x, text)
        codes = [str(each.message).split("[")[1].split("]")[0] for each in warned]
    assert sorted(codes) == ["case-gap", "case-overlap", "unreachable-case"]


def test_a_contradiction_is_refused_at_once() -> None:
    with pytest.raises(sd.ShapeError) as refused:
        dispatch(lambda x: x, "def f(x: Tensor[B]):\n    where B > 5, B < 3\n    case B == 1\n    otherwise")
    assert refused.value.code == "contradiction"


def test_what_torch_cannot_take_is_refused_at_once() -> None:
    with pytest.raises(sd.ShapeError) as refused:
        dispatch(lambda x, n: x + n, "def f(x: Tensor[B], n: Scalar[N]):\n    case N % 2 == 0\n    otherwise")
    assert refused.value.code == "negative-int"


@pytest.mark.parametrize("option", ["dynamic", "dynamic_shapes", "nonsense"])
def test_options_that_the_spec_decides_are_refused(option: str) -> None:
    with pytest.raises(TypeError, match=option):
        dispatch(product, FIRST, **{option: None})


def test_inside_of_another_trace_the_original_runs() -> None:
    backend, outer = Counting(), Counting()
    served = dispatch(product, FIRST, backend=backend)
    x, w = torch.rand(2, 4), torch.rand(4, 4)
    compiled = torch.compile(lambda x, w: served(x, w) + 1, backend=outer, fullgraph=True)
    assert torch.equal(compiled(x, w), x @ w + 1)

    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            return torch.add(served(x, w), 1)

    program = torch.export.export(Net(), (x, w))
    assert torch.equal(program.module()(x, w), x @ w + 1)
    assert (len(outer), len(backend)) == (1, 0)
    assert str(served.stats()).startswith("product: no calls yet\n")


def test_a_case_that_no_size_reaches_is_a_warning_with_ints_too() -> None:
    text = (
        "def f(x: Tensor[B], n: Scalar[N]):\n    int N in [-3, 3]\n    case a: B > 4\n    case b: B > 5\n    otherwise"
    )
    with pytest.warns(sd.ShapeWarning, match=r"unreachable-case.*no sizes reach case `b`"):
        served = dispatch(lambda x, n: x + n, text, backend="eager")
    assert served(torch.zeros(6), -3).tolist() == [-3.0] * 6
    assert served(torch.zeros(2), 2).tolist() == [2.0, 2.0]
    assert counts(served) == {"case a": 1, "case b": 0, "otherwise": 1}
