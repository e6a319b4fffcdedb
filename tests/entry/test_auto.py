"""``lowering="auto"``: unbacked where that computes what the original does, else backed, else the error of each."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="it compiles, and torch is not installed")

import torch

import shapedsl as sd

from ..serving.counting import Counting


class Wrong(Counting):
    """Runs graphs that are unbacked, or all of them, and adds something to their results."""

    def __init__(self, every: bool = False) -> None:
        super().__init__()
        self.every = every

    def __call__(self, graph: torch.fx.GraphModule, example: list[Any]) -> Callable[..., Any]:
        run = super().__call__(graph, example)
        sizes = [
            str(size) for value in example for size in (value.shape if isinstance(value, torch.Tensor) else [value])
        ]
        if not self.every and not any(size.startswith("u") for size in sizes):
            return run
        return lambda *args: tuple(each + 1 if each.numel() > 8 else each for each in run(*args))  # at large sizes only


def told(call: Callable[[], Any]) -> list[str]:
    """Returns our warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in caught if issubclass(each.category, sd.ShapeWarning)]


def test_unbacked_is_kept_where_it_is_right() -> None:
    backend = Counting()
    fast: Any = sd.compile(lambda x: x * 2, "def f(x: Tensor[B]): ...", lowering="auto", backend=backend)
    assert not told(lambda: fast(torch.ones(3)))
    for size in (0, 1, 9):
        assert torch.equal(fast(torch.ones(size)), torch.full((size,), 2.0))
    assert len(backend) == 1
    assert str(fast.lowering) == "auto: 1 artifact unbacked"


def test_wrong_values_at_other_sizes_than_the_call_are_found() -> None:
    fast: Any = sd.compile(lambda x: x * 2, "def f(x: Tensor[B]): ...", lowering="auto", backend=Wrong())
    (said,) = told(lambda: fast(torch.ones(3)))
    assert said.startswith("warning[backed-lowering]: `<lambda>` is lowered backed")
    assert "unbacked: `return` has a relative error of" in said
    assert "sizes 0 and 1 have graphs of their own" in said
    assert not told(lambda: fast(torch.ones(4)))  # once
    assert torch.equal(fast(torch.ones(64)), torch.full((64,), 2.0))
    assert "auto: 1 artifact backed" in str(fast.lowering)


def test_what_cannot_be_traced_unbacked_is_backed() -> None:
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.shape[0] > 10 else x * 3

    fast: Any = sd.compile(scaled, "def scaled(x: Tensor[B]): ...", lowering="auto", backend="eager")
    (said,) = told(lambda: fast(torch.ones(3)))
    assert "unbacked: the program asks whether `B > 10`" in said
    for size in (0, 1, 10, 11):
        assert torch.equal(fast(torch.ones(size)), scaled(torch.ones(size)))


def test_where_neither_serves_the_error_has_both() -> None:
    def pinned(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x @ w * (2 if x.shape[0] > 10 else 3)

    fast: Any = sd.compile(
        pinned, "def pinned(x: Tensor[B, S], w: Tensor[4, 3]): ...", lowering="auto", backend="eager"
    )
    for _ in range(2):  # and again, without compiling
        with pytest.raises(sd.ShapeError) as error:
            fast(torch.rand(2, 4), torch.rand(4, 3))
        codes = [each.code for each in error.value.diagnostics]
        assert codes[0] in ("data-dependent", "specialized-dim", "extra-assumption")
        assert codes[-1] == "specialized-dim"
        assert "it was lowered unbacked" in str(error.value)
        assert "it was lowered backed" in str(error.value)
    always: Any = sd.compile(lambda x: x * 2, "def f(x: Tensor[B]): ...", lowering="auto", backend=Wrong(every=True))
    with pytest.raises(sd.ShapeError, match="lowered backed, does not do what the original does") as error:
        always(torch.ones(3))
    assert [each.code for each in error.value.diagnostics] == ["wrong-artifact", "wrong-artifact"]


def test_the_users_own_errors_choose_nothing() -> None:
    def picky(x: torch.Tensor) -> torch.Tensor:
        if x.shape[1] == 3:
            raise KeyError("three")
        return x * 2

    fast: Any = sd.compile(picky, "def picky(x: Tensor[B, _]): ...", lowering="auto", backend="eager")
    with pytest.raises(KeyError, match="three"):
        fast(torch.ones(2, 3))
    assert torch.equal(fast(torch.ones(2, 4)), torch.full((2, 4), 2.0))
    assert str(fast.lowering) == "auto: 1 artifact unbacked"


def test_a_call_is_made_once_by_what_serves_it() -> None:
    def fill(x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        seen += 1
        return x * seen

    fast: Any = sd.compile(fill, "def fill(x: Tensor[B], seen: Tensor[()]): ...", lowering="auto", backend="eager")
    seen = torch.zeros(())
    assert torch.equal(fast(torch.ones(3), seen), torch.ones(3))  # what was compared ran on clones
    assert float(seen) == 1


def test_what_draws_random_numbers_is_run_and_not_compared() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout(0.5))
    fast: Any = sd.compile(net, "def forward(input: Tensor[B, 4]): ...", lowering="auto", backend="eager")
    (said,) = told(lambda: fast(torch.ones(5, 4)))
    assert said.startswith("warning[undecided]")
    assert "could not be compared with the original" in said
    assert "draws random numbers" in said
    assert str(fast.lowering) == "auto: 1 artifact unbacked"


def test_a_module_is_compared_with_its_hooks_and_can_be_copied() -> None:
    net = torch.nn.BatchNorm1d(4)
    before = copy.deepcopy(net.state_dict())
    fast: Any = sd.compile(net, "def forward(input: Tensor[B, 4]): where B >= 2", lowering="auto", backend="eager")
    x = torch.rand(5, 4)
    other = copy.deepcopy(fast)
    result = fast(x)
    plain = torch.nn.BatchNorm1d(4)
    plain.load_state_dict(before)
    torch.testing.assert_close(result, plain(x))
    for name, value in plain.state_dict().items():  # running means were updated by one call
        torch.testing.assert_close(net.state_dict()[name], value)
    torch.testing.assert_close(other(x), plain.train()(x))


def test_each_alternative_of_a_dispatched_function_is_chosen_for_itself() -> None:
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.shape[0] > 10 else x * 3

    text = "def scaled(x: Tensor[B]):\n    case small: B <= 10\n    otherwise"
    served: Any = sd.dispatch(scaled, text, lowering="auto", backend="eager")
    assert not told(lambda: (served(torch.ones(3)), served(torch.ones(30))))
    assert str(served.lowering) == "auto: 2 artifacts unbacked"
    whole: Any = sd.dispatch(scaled, "def scaled(x: Tensor[B]): ...", lowering="auto", backend="eager")
    assert [said.partition(":")[0] for said in told(lambda: whole(torch.ones(3)))] == ["warning[backed-lowering]"]
    assert torch.equal(whole(torch.ones(30)), torch.full((30,), 2.0))


def test_export_falls_back_and_says_so() -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.shape[0] > 0 else x.clone()

    programs: list[Any] = []

    def exported(text: str) -> None:
        programs.append(sd.export(doubled, (torch.ones(4),), spec=text, lowering="auto"))

    (said,) = told(lambda: exported("def doubled(x: Tensor[B]): ..."))
    assert said.startswith("warning[backed-lowering]: `doubled` is lowered backed")
    assert "`B > 0`" in said
    for size in (0, 1, 9):
        assert torch.equal(programs[0].module()(torch.ones(size)), torch.full((size,), 2.0))
    assert not told(lambda: exported("def doubled(x: Tensor[B]): where B >= 1"))
    assert str(next(iter(programs[1].range_constraints))).startswith("u")


def test_an_export_that_no_lowering_serves_has_the_error_of_each() -> None:
    def seven(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.shape[0] != 7 else x

    with pytest.raises(sd.ShapeError) as error:
        sd.export(seven, (torch.ones(4),), spec="def seven(x: Tensor[B]): where B >= 1", lowering="auto")
    assert [each.code for each in error.value.diagnostics] == ["data-dependent", "extra-assumption"]


def test_a_convolution_under_inductor() -> None:
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(2, 2, 1)).eval()
    served: Any = sd.dispatch(net, "def forward(input: Tensor[B, 1, 8, W]): where 2 <= B <= 9, W >= 3", lowering="auto")
    with torch.no_grad():
        (said,) = told(lambda: served(torch.rand(3, 1, 8, 8)))
        assert said.startswith("warning[backed-lowering]")
        for batch, width in ((5, 9), (2, 3), (9, 16)):
            x = torch.rand(batch, 1, 8, width)
            torch.testing.assert_close(served(x), net(x))
    assert str(served.lowering).startswith("auto: 1 artifact backed")
    assert [row["graphs"] for row in served.stats()["artifacts"]] == [1]
