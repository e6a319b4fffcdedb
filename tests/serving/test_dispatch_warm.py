"""What is made ahead of calls, and what statistics and explanations say."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd

from .counting import Counting
from .test_dispatch import FIRST, counts, dispatch, product


def test_warm_makes_every_artifact_and_counts_no_call() -> None:
    backend = Counting()
    served = dispatch(product, FIRST, backend=backend)
    told: list[tuple[int, int, str]] = []
    done = served.warm(progress=lambda *each: told.append(each))
    assert told == [(1, 4, "case one"), (2, 4, "case three"), (3, 4, "case large"), (4, 4, "otherwise")]
    assert (done.made, done.failed, done.skipped, done.total, done.done) == (4, 0, (), 4, True)
    assert str(done) == "4 of 4 artifacts made"
    assert len(backend) == 4
    assert served.stats()["calls"] == 0
    for batch in (1, 2, 3, 200):
        served(torch.rand(batch, 4), torch.rand(4, 4))
    assert len(backend) == 4


def test_warm_in_the_background() -> None:
    backend = Counting()
    served = dispatch(product, FIRST, backend=backend)
    warming = served.warm(background=True)
    assert torch.equal(served(torch.ones(3, 4), torch.ones(4, 4)), torch.full((3, 4), 4.0))  # and meanwhile a call
    assert warming.wait(120)
    assert warming.made == 4
    assert len(backend) == 4


def test_warm_makes_every_member_of_buckets() -> None:
    backend = Counting()
    served = dispatch(
        lambda x: x * 2,
        """
        def f(x: Tensor[B, S]) -> Tensor[B, S]:
            case one: B == 1
            bucket B in {2, 8} pad x with 0 as rows_independent
            bucket S in {16, 32} pad x with 0 as rows_independent
            otherwise eager
        """,
        backend=backend,
    )
    assert str(served.warm()) == "5 of 5 artifacts made"
    assert len(backend) == 5
    x = torch.rand(5, 20)
    assert torch.equal(served(x), x * 2)
    assert served.explain(x) == (
        "B=5, S=20 → bucket B, S → pad B 5→8, S 20→32 (60 % waste) → artifact 5\n"
        "artifact 5 of 5, bucket B=8, S=32: 1 call, 1 graph"
    )
    row = next(row for row in served.stats()["artifacts"] if row["calls"])
    assert row["artifact"] == "bucket B=8, S=32"
    assert row["last"] == {"B": 5, "S": 20}
    assert row["padded"] == pytest.approx(1 - 100 / 256)


def test_what_is_static_needs_an_example() -> None:
    backend = Counting()
    served = dispatch(
        lambda q, scale: q * scale,
        """
        const HD = _
        def attend(q: Tensor[B, HD], scale=_):
            case one: B == 1
            otherwise
        """,
        backend=backend,
    )
    with pytest.raises(sd.ShapeError) as refused:
        served.warm()
    assert refused.value.code == "missing-input"
    assert "`warm(examples=[(args, kwargs)])`" in str(refused.value)
    assert len(backend) == 0
    done = served.warm(examples=[((torch.rand(5, 16), 2), {}), (torch.rand(5, 32, dtype=torch.float64), 2)])
    assert (done.made, len(backend)) == (4, 4)
    served(torch.rand(3, 16), 2)
    served(torch.rand(1, 32, dtype=torch.float64), 2)
    assert len(backend) == 4


def test_warm_tells_of_artifacts_that_fail() -> None:
    def broken(graph: object, example: object) -> Any:
        raise RuntimeError("no")

    served = dispatch(
        lambda x: x * 2, "def f(x: Tensor[B]):\n    case one: B == 1\n    otherwise eager", backend=broken
    )
    with pytest.warns(sd.ShapeWarning, match="`case one` of `f` cannot be compiled"):
        done = served.warm()
    assert str(done) == "0 of 1 artifacts made, 1 failed"


def test_warm_keeps_statistics_of_a_module() -> None:
    net = torch.nn.BatchNorm1d(4)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    served = sd.dispatch(net, "def forward(input: Tensor[B, 4]):\n    where B >= 2\n    otherwise", backend="eager")
    served.warm()
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    served(torch.rand(5, 4))
    assert net.num_batches_tracked == 1


def test_statistics_say_when_nothing_ran() -> None:
    served = dispatch(product, FIRST, backend="eager")
    assert str(served.stats()).splitlines()[0] == "product: no calls yet"
    assert counts(served) == {"case one": 0, "case three": 0, "case large": 0, "otherwise": 0}


def test_statistics_are_a_table_and_a_dict() -> None:
    served = dispatch(product, FIRST + "    ", backend="eager")
    for batch in (1, 5, 5, 6):
        served(torch.rand(batch, 4), torch.rand(4, 4))
    stats = served.stats()
    assert (stats["function"], stats["calls"], stats["refused"]) == ("product", 4, 0)
    one, three, _, otherwise = stats["artifacts"]
    assert (one["calls"], one["share"], one["state"], one["graphs"]) == (1, 0.25, "made", 1)
    assert (three["state"], three["graphs"], three["last"]) == ("not made", 0, {})
    assert otherwise["last"] == {"B": 6, "S": 4}
    assert otherwise["compile_seconds"] > 0
    assert otherwise["mean_seconds"] is not None  # the second call was timed
    assert one["mean_seconds"] is None
    lines = str(stats).splitlines()
    assert lines[0] == "product: 4 calls"
    assert " ".join(lines[1].split()) == "artifact calls % padded % mean µs graphs compile s last sizes"
    assert lines[3].split() == ["case", "three", "0", "0.0", "-", "-", "not", "made", "-", "-"]


def test_explanations_of_calls() -> None:
    served = dispatch(product, FIRST.replace("otherwise hint B = 7", "otherwise eager"), backend="eager")
    assert served.explain(torch.rand(3, 4), torch.rand(4, 4)) == (
        "B=3, S=4 → case three → artifact 2\nartifact 2 of 3, case three: not made yet"
    )
    assert served.explain(w=torch.rand(4, 4), x=torch.rand(7, 4)) == "B=7, S=4 → otherwise → runs eagerly"
    assert served.explain(torch.rand(3, 4), torch.rand(5, 5)).startswith("error[shape-violation]")
    with pytest.raises(TypeError):
        served.explain(torch.rand(3, 4))
    assert served.stats()["calls"] == 0
