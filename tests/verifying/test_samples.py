"""Values of artifacts, compared with those of the original on sampled sizes."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd
from shapedsl.ir import Signature
from shapedsl.serving.verifying.sampled import Sampled, sampled


def spec(text: str) -> Signature:
    return next(iter(sd.loads(text).values())).signature


ROWS = spec("def f(x: float32[B, S]):\n    dim B in [0, 40] multiple of 8 hint 16\n    where S >= B\n")


def total(x: torch.Tensor) -> torch.Tensor:
    return x.sum(1)


def run(target: Callable[..., Any], artifact: Callable[..., Any], signature: Signature = ROWS, **more: Any) -> Sampled:
    return sampled("f", target, artifact, signature, **more)


def test_sizes_are_those_of_the_spec_hint_corners_and_residues_among_them() -> None:
    met: list[tuple[int, ...]] = []

    def noting(x: torch.Tensor) -> torch.Tensor:
        met.append(tuple(x.shape))
        return total(x)

    found = run(total, noting, n=12)
    sizes = [(row.sizes["B"], row.sizes["S"]) for row in found.rows]
    assert met == sizes
    assert len(set(sizes)) == 12
    assert all(b % 8 == 0 and 0 <= b <= 40 and s >= b for b, s in sizes)
    assert sizes[0][0] == 16  # the hint
    assert {0, 40} <= {b for b, _ in sizes}  # the ends
    assert found.passed
    assert not found.wrong
    assert found.error == 0
    assert run(total, noting, n=12).rows == found.rows  # the same seed
    assert run(total, noting, n=12, seed=3).rows != found.rows


def test_a_wrong_artifact_is_told_with_its_largest_error_and_its_sizes() -> None:
    def wrong(x: torch.Tensor) -> torch.Tensor:
        return total(x) + (0.5 if x.shape[0] == 40 else 0.0)

    found = run(lambda x: torch.ones(x.shape[0]), lambda x: torch.ones(x.shape[0]) + (x.shape[0] == 40) * 0.5)
    assert found.wrong
    assert not found.passed
    assert {row.sizes["B"] for row in found.faults} == {40}
    worst = found.worst
    assert worst is not None
    assert worst.verdict == "wrong"
    assert worst.worst is not None
    assert worst.worst.absolute == 0.5
    assert worst.worst.path == "return"
    assert found.error == 0.5
    assert "largest error 0.5 of `return` at B = 40" in found.summary()
    row = next(each for each in found.to_dict()["rows"] if each["sizes"]["B"] == 40)
    assert (row["verdict"], row["error"], row["output"]) == ("wrong", 0.5, "return")
    assert json.loads(found.to_json())["passed"] is False
    assert run(total, wrong, n=12, first=True).rows[-1].verdict == "wrong"  # the first fault ends it


def test_rounding_is_allowed_and_how_much_can_be_said() -> None:
    def off(by: float) -> Callable[[torch.Tensor], torch.Tensor]:
        return lambda x: torch.ones(x.shape[0]) * (1 + by)

    ones = off(0.0)
    assert run(ones, off(1e-5)).passed  # float32: 1e-4
    assert run(ones, off(1e-3)).wrong
    assert run(ones, off(1e-3), tolerance=1e-2).passed
    assert run(ones, off(1e-5), tolerance=1e-7).wrong
    count = spec("def f(x: Tensor[B]) -> _: where B >= 1")
    assert run(lambda x: x.shape[0], lambda x: x.shape[0] + 1, count, tolerance=10.0).wrong  # numbers that count things


def test_whatever_differs_is_told_in_words() -> None:
    def told(target: Callable[..., Any], artifact: Callable[..., Any]) -> str:
        found = run(target, artifact, spec("def f(x: float32[B]): where B >= 2"), n=3)
        assert found.wrong
        assert found.error == math.inf
        return found.faults[0].said

    def raising(x: torch.Tensor) -> torch.Tensor:
        raise ValueError(f"oh {x.dim()}")

    def refusing(x: torch.Tensor) -> torch.Tensor:
        raise AssertionError(f"Guard failed: x.size()[0] == {x.dim()}")

    assert told(lambda x: x, lambda x: x[:1]) == "`return` has shape (2,), and in the artifact (1,)"
    assert told(lambda x: x, lambda x: x * math.nan) == "`return` becomes NaN"
    assert told(lambda x: x, lambda x: x.double()) == "`return` is torch.float32, and in the artifact torch.float64"
    assert told(lambda x: (x, None), lambda x: (x, x)) == "`return[1]` is None, and in the artifact a Tensor"
    assert told(lambda x: x, raising) == "it raises ValueError: oh 1"
    assert told(lambda x: x, refusing).startswith("it refuses sizes that the spec allows: AssertionError: Guard failed")


def test_what_the_original_raises_is_no_fault_and_no_proof() -> None:
    def picky(x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] == 16:
            raise ValueError("not 16")
        return total(x)

    some = run(picky, total)
    assert some.passed
    assert [row.verdict for row in some.rows if row.sizes["B"] == 16] == ["skipped"] * sum(
        row.sizes["B"] == 16 for row in some.rows
    )

    def never(x: torch.Tensor) -> torch.Tensor:
        raise ValueError(f"not {x.dim()}")

    none = run(never, total)
    assert not none.passed
    assert not none.wrong
    assert none.skipped == "the original raises ValueError: not 2"


def test_random_numbers_and_other_results_for_equal_inputs_are_not_compared() -> None:
    drawn = run(torch.nn.functional.dropout, lambda x: x, spec("def dropout(input: float32[B]): ..."))
    assert not drawn.wrong
    assert not drawn.passed  # of an empty tensor no numbers are drawn: that shows nothing
    assert drawn.skipped == "the original draws random numbers"
    calls: list[int] = []

    def counting(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return x * len(calls)

    unsteady = run(counting, lambda x: x, spec("def f(x: float32[B]): where B >= 2"))
    assert not unsteady.passed
    assert unsteady.skipped == "the original gives other results for equal inputs"


def test_gradients_of_inputs_and_parameters_are_compared_on_request() -> None:
    net = torch.nn.Linear(3, 2)
    forward = spec("def forward(input: float32[B, 3]): where B >= 1")

    def detached(input: torch.Tensor) -> torch.Tensor:
        return net.bias + input @ net.weight.detach().T

    def reversed_(input: torch.Tensor) -> torch.Tensor:
        """The same numbers, and the gradient of the first row for the last one."""
        plain: torch.Tensor = net(input)
        return plain.detach() + plain.flip(0) - plain.flip(0).detach()

    assert run(net, detached, forward).passed
    found = run(net, detached, forward, grad=True)
    assert found.wrong
    worst = found.faults[0].worst
    assert worst is not None
    assert worst.path == "gradient of weight"
    shifted = run(net, reversed_, forward, grad=True).faults[0].worst
    assert shifted is not None
    assert shifted.path.startswith("gradient of ")
    assert "it raises RuntimeError: its results have no gradients" in {
        row.said for row in run(net, lambda x: net(x).detach(), forward, grad=True).faults
    }
    program = sd.export(net, (torch.ones(2, 3),), spec="def forward(input: float32[B, 3]): where B >= 1")
    exported = run(net, program.module(), forward, grad=True)  # it holds parameters of its own
    assert exported.passed
    assert {each.path for each in exported.rows[0].differences} == {
        "return",
        "gradient of input",
        "gradient of weight",
        "gradient of bias",
    }
    assert net.weight.grad is None  # nothing is left behind


def test_what_is_changed_is_compared_and_put_back() -> None:
    class Net(torch.nn.Module):
        seen: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.seen += 1
            return x.add_(1)

    net, other = Net(), Net()
    forward = spec("def forward(x: float32[B]): where B >= 2")
    found = run(net, other, forward)
    assert found.passed
    assert found.changes
    assert float(net.seen) == float(other.seen) == 0
    assert {each.path for each in found.rows[0].differences} == {"return", "argument x", "buffer seen"}
    assert run(net, lambda x: x + 1, forward).faults[0].worst is not None  # it leaves its argument alone
    assert "argument x" in run(net, lambda x: x + 1, forward).faults[0].said


def test_each_alternative_has_sizes_of_its_own_and_examples_are_compared_too() -> None:
    cases = spec(
        "def f(x: float32[B, S]):\n    dim B in [1, 64]\n    case one: B == 1\n    case many: B % 8 == 0\n    otherwise\n"
    )
    found = run(total, total, cases, n=3, examples=[((torch.ones(3, 2),), {})])
    assert [row.label for row in found.rows] == ["", *["case one"] * 3, *["case many"] * 3, *["otherwise"] * 3]
    assert found.rows[0].sizes == {"B": 3, "S": 2}
    assert {row.sizes["B"] for row in found.rows if row.label == "case one"} == {1}
    assert all(row.sizes["B"] % 8 == 0 for row in found.rows if row.label == "case many")
    assert all(row.sizes["B"] % 8 and row.sizes["B"] != 1 for row in found.rows if row.label == "otherwise")
    closed = spec("def f(x: float32[B]):\n    where B >= 2\n    case never: B == 1\n    otherwise\n")
    remarks = run(lambda x: x, lambda x: x, closed, n=2).remarks
    assert any(each.startswith("case never: no inputs were found") for each in remarks)


def test_what_the_spec_does_not_say_is_as_in_an_example() -> None:
    def scaled(x: torch.Tensor, flag: bool, *rest: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        assert flag
        return sum(rest, x.sum(1)) * scale

    partial = spec("def scaled(x: float32[B, _], *rest: [float32[B], ...]): where B >= 2")
    x, y = torch.ones(4, 3, requires_grad=True), torch.ones(4)
    seen: set[tuple[int, float, bool]] = set()

    def artifact(*args: Any, **kwargs: Any) -> torch.Tensor:
        seen.add((args[0].shape[1], kwargs["scale"], args[0].requires_grad))
        return scaled(*args, **kwargs)

    found = run(scaled, artifact, partial, like=((x, True, y, y), {"scale": 2.0}), n=4)
    assert found.passed
    assert len(found.rows) == 4
    assert seen == {(3, 2.0, True)}
    with pytest.raises(sd.ShapeError) as error:
        run(scaled, artifact, partial)
    assert error.value.code == "missing-input"


def test_calls_that_would_take_longer_than_compiling_are_left_out() -> None:
    wide = spec("def f(ids: int64[B, S]):\n    dim B in [1, 4096] hint 2\n    dim S in [1, 32768] hint 16\n")
    sizes = [row.sizes for row in run(lambda ids: ids, lambda ids: ids, wide, n=10).rows]
    assert len(sizes) == 10
    assert all(each["B"] * each["S"] * max(each.values()) <= 2**23 for each in sizes)
    assert max(each["S"] for each in sizes) >= 1024


@dataclasses.dataclass
class Pair:
    """A result that torch does not take apart."""

    first: Any
    second: Any


ONE = spec("def f(x: float32[B, 3]): where 1 <= B <= 4")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda y: [y, y], "is a tuple, and in the artifact a list"),
        (lambda y: (y, y.to("meta")), "is on cpu, and in the artifact on meta"),
        (lambda y: (y, y.to_sparse()), "is torch.strided, and in the artifact torch.sparse_coo"),
        (lambda y: (y, y.double()), "is torch.float32, and in the artifact torch.float64"),
        (lambda y: (y, None), "in the artifact None"),
        (lambda y: (y, y.expand(1, *y.shape)), "has shape"),
    ],
)
def test_what_a_result_is_made_of_is_compared(wrong: Callable[[torch.Tensor], Any], said: str) -> None:
    found = run(lambda x: (x * 2, x * 2), lambda x: wrong(x * 2), ONE, n=2)
    assert {row.verdict for row in found.rows} == {"wrong"}
    assert said in found.faults[0].said


def test_kinds_of_numbers_without_arithmetic_are_compared() -> None:
    def eight(x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.float8_e4m3fn)

    assert run(eight, eight, ONE, n=2).passed
    assert run(eight, lambda x: eight(x * 2), ONE, n=2).wrong
    assert run(lambda x: x.to_sparse(), lambda x: (x * 2).to_sparse(), ONE, n=2).wrong


def test_an_artifact_that_writes_past_torch_is_wrong() -> None:
    def writes(x: torch.Tensor) -> torch.Tensor:
        result = x * 2
        x.data.zero_()  # no version counter is moved by it
        return result

    found = run(lambda x: x * 2, writes, ONE, n=2)
    assert {row.verdict for row in found.rows} == {"wrong"}
    assert "`argument x`" in found.faults[0].said
    assert all(each.path == "return" for row in run(total, total, ONE, n=2).rows for each in row.differences)


def test_gradients_of_objects_are_compared() -> None:
    def scaled(pair: Pair) -> Pair:
        return Pair(pair.first * 2, pair.second * 3)

    class Off(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 3

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return grad * 4

    def off(pair: Pair) -> Pair:
        return Pair(pair.first * 2, Off.apply(pair.second))

    objects = spec("def f(pair: Pair(first: float32[B], second: float32[B])): where 1 <= B <= 4")
    examples: list[Any] = [((Pair(torch.ones(3), torch.ones(3)),), {})]
    assert run(scaled, scaled, objects, n=0, examples=examples, grad=True).passed
    assert run(scaled, off, objects, n=0, examples=examples).passed
    found = run(scaled, off, objects, n=0, examples=examples, grad=True)
    assert "`gradient of pair.second`" in found.faults[0].said


def test_what_tells_nothing_is_not_taken_for_agreement() -> None:
    tiny = run(lambda x: x * 1e-9, lambda x: x * 0, ONE, n=3)
    assert not tiny.wrong  # rounding may do that to sums that cancel
    assert not tiny.passed
    assert "almost zero" in tiny.skipped
    assert run(lambda x: x * 1e-9, lambda x: x * 1e-9 + 0, ONE, n=3).passed
    assert not run(lambda x: x * math.nan, lambda x: x * math.nan, ONE, n=3).passed


def test_each_alternative_has_to_be_compared() -> None:
    cases = spec("def f(x: float32[B]):\n    dim B in [0, 9]\n    case few: B <= 3\n    otherwise\n")

    def raising(x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] <= 3:
            raise ValueError("too few")
        return x * 2

    found = run(raising, lambda x: x * 2, cases, n=3)
    assert not found.wrong
    assert not found.passed
    assert "few: the original raises ValueError: too few" in found.skipped
