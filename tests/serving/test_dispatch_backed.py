"""``backed``: sizes that torch may look at, and what is said where it relied on one."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd

from .counting import Counting
from .test_dispatch import counts, dispatch

BACKED = """
    def f(x: Tensor[B, 4], w: Tensor[4, D]):
        where B <= 100
        otherwise backed
"""


def test_one_graph_serves_all_sizes_but_0_and_1() -> None:
    backend = Counting()
    served = dispatch(lambda x, w: torch.relu(x) @ w, BACKED, backend=backend)
    for batch in (5, 2, 100, 7):
        x, w = torch.randn(batch, 4), torch.randn(4, batch + 1)
        assert torch.equal(served(x, w), torch.relu(x) @ w)
        assert not {name for name in vars(x) if "dynamo" in name}  # no marks are left on the user's tensors
    assert len(backend) == 1
    for batch in (1, 0):  # torch makes graphs of their own for these
        x, w = torch.randn(batch, 4), torch.randn(4, 3)
        assert torch.equal(served(x, w), torch.relu(x) @ w)
    assert len(backend) == 3
    assert counts(served) == {"otherwise": 6}


def test_equal_sizes_of_the_first_call_tie_nothing() -> None:
    backend = Counting()
    served = dispatch(
        lambda x, y: x.sum() * y, "def f(x: Tensor[B], y: Tensor[D]):\n    otherwise backed", backend=backend
    )
    for sizes in ((5, 5), (5, 6), (7, 3)):
        x, y = (torch.rand(size) for size in sizes)
        assert torch.equal(served(x, y), x.sum() * y)
    assert len(backend) == 1


def test_a_size_that_torch_pins_is_a_failed_artifact() -> None:
    served = dispatch(
        lambda x, w: x @ w, "def f(x: Tensor[B, S], w: Tensor[4, 3]):\n    otherwise backed", backend=Counting()
    )
    with pytest.warns(sd.ShapeWarning, match="torch specialized a size") as warned:
        served(torch.rand(2, 4), torch.rand(4, 3))  # S is 4, and only this
    assert len(warned) == 1
    assert "`x.shape[1]` became 4" in str(warned[0].message)


def test_a_branch_on_a_size_is_guarded() -> None:
    def branches(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.shape[0] > 10 else x * 3

    backend = Counting()
    served = dispatch(branches, "def f(x: Tensor[B]):\n    otherwise backed", backend=backend)
    for batch in (5, 12, 6, 20):
        x = torch.rand(batch)
        assert torch.equal(served(x), branches(x))
    assert len(backend) == 2
    assert served.stats()["artifacts"][0]["graphs"] == 2


def test_the_users_marks_stay() -> None:
    served = dispatch(lambda x, w: x @ w, BACKED, backend="eager")
    x = torch.rand(5, 4)
    torch._dynamo.mark_dynamic(x, 0)
    served(x, torch.rand(4, 2))
    assert vars(x)["_dynamo_dynamic_indices"] == {0}
