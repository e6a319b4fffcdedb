"""The padding check itself: what it runs, compares, leaves behind, and says."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="padding needs torch")

import shapedsl as sd

nn = torch.nn
SPEC = """
def f(x: float32[B, S]) -> RESULT:
    where 1 <= B <= 3, 1 <= S <= 16
    bucket S in {8, 16} pad x with FILL REASON
"""


def spec(result: str = "float32[B, S]", fill: str = "0", reason: str = "as masked") -> str:
    return SPEC.replace("RESULT", result).replace("FILL", fill).replace("REASON", reason)


def check(fn: Any, text: Any, examples: Any = None, **options: Any) -> Any:
    """Returns the report of a few calls: most faults show in the first."""
    if examples is None:
        options.setdefault("n", 4)
    return sd.check_padding(fn, text, examples, **options)


def unsafe(fn: Any, text: str, **options: Any) -> Any:
    """Returns the error of a check that finds something."""
    with pytest.raises(sd.ShapeError) as caught:
        check(fn, text, **options)
    assert caught.value.code == "unsafe-padding"
    return caught.value


# ------------------------------------------------------------------------------- poison


def test_a_lucky_fill_is_found_out_by_poison() -> None:
    """A sum over slots that hold 0 is right; that something hides them is not."""

    def total(x: Any) -> Any:
        return x.sum(1)

    for reason in ("as masked", ""):
        error = unsafe(total, spec("float32[B]", reason=reason))
        assert {trial.fill for trial in error.report.unsafe} == {"x 10000"}
        assert "nothing hides them" in str(error)
        assert "as neutral" in str(error)
    assert check(total, spec("float32[B]", reason="as neutral")).passed


def test_poison_of_either_sign_is_tried() -> None:
    error = unsafe(lambda x: x.amin(1), spec("float32[B]", fill="1e3"))
    assert {trial.fill for trial in error.report.unsafe} == {"x -10000"}
    assert unsafe(lambda x: x.amax(1), spec("float32[B]", fill="-1e3")).report.unsafe[0].fill == "x 10000"


MASKED = """
def f(x: float32[B, S], MASK: DTYPE[B, S]) -> float32[B]:
    where 1 <= B <= 3, 1 <= S <= 8
    VALUES
    bucket S in {8} pad x with 0, MASK with FILL as masked
"""


def masked(name: str = "m", dtype: str = "float32", values: str = "", fill: str = "0") -> str:
    text = MASKED.replace("MASK", name).replace("DTYPE", dtype).replace("VALUES", values).replace("FILL", fill)
    return "\n".join(line for line in text.splitlines() if line.strip())


def test_what_hides_is_not_poisoned() -> None:
    def weighted(x: Any, mask: Any) -> Any:
        return (x * mask).sum(1)

    def additive(x: Any, m: Any) -> Any:
        return torch.where(m < -1e3, 0.0, x).sum(1)

    def selected(x: Any, m: Any) -> Any:
        return torch.where(m, x, 0.0).sum(1)

    def renamed(x: Any, m: Any) -> Any:
        return weighted(x, m)

    assert check(weighted, masked("mask")).passed  # by its name
    assert check(renamed, masked(values="values m in [0, 1]")).passed  # by what it holds
    assert check(additive, masked(fill="-inf")).passed  # by its fill
    assert check(selected, masked(dtype="bool", fill="false")).passed
    error = unsafe(renamed, masked())
    assert error.report.unsafe[0].fill == "x 10000, m 10000"
    assert "`values … in [0, 1]`" in str(error)


IDS = """
def f(ids: int64[B, S], keep: bool[B, S]) -> float32[B]:
    where 1 <= B <= 3, 1 <= S <= 8
    values ids in [0, 9]
    bucket S in {8} pad ids with FILL, keep with false as masked
"""


def test_ids_stay_in_range() -> None:
    table = torch.arange(10.0)
    met: set[int] = set()

    def look_up(ids: Any, keep: Any) -> Any:
        met.update(ids.flatten().tolist())
        return torch.where(keep, table[ids], 0.0).sum(1)

    assert check(look_up, IDS.replace("FILL", "0")).passed
    assert met <= set(range(10))

    def forgets(ids: Any, keep: Any) -> Any:
        return table[ids].sum(1)

    assert unsafe(forgets, IDS.replace("FILL", "0")).report.unsafe[0].fill == "ids 9"


def test_a_fill_out_of_range_that_crashes_is_a_finding() -> None:
    table = torch.arange(10.0)
    error = unsafe(lambda ids, keep: torch.where(keep, table[ids], 0.0).sum(1), IDS.replace("FILL", "77"))
    assert error.report.unsafe[0].verdict == "fails"
    assert "IndexError" in str(error)


def test_a_sentinel_is_not_poisoned() -> None:
    def loss(ids: Any, keep: Any) -> Any:
        return torch.where(ids == -100, 0.0, ids.double()).sum(1).float()

    assert check(loss, IDS.replace("FILL", "-100")).passed


def test_numbers_that_overflow_are_a_note() -> None:
    """What is hidden by a product stays hidden as long as it is finite."""

    def gated(x: Any, mask: Any) -> Any:
        return (x.exp() * mask).sum(1)

    report = check(gated, masked("mask"))
    assert report.passed
    assert any("overflow" in note for note in report.notes)


# ------------------------------------------------------------------------------- what is compared


def test_arguments_that_are_changed_are_compared() -> None:
    def shift(x: Any) -> Any:
        y = x.clone()
        x.copy_(x + x.sum(1, keepdim=True))
        return y

    error = unsafe(shift, spec(fill="1"))
    assert error.report.unsafe[0].output == "argument x"


class Counting(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))
        self.calls = 0
        self.last: Any = None

    def forward(self, x: Any) -> Any:
        self.seen += x.shape[1]
        self.calls += 1
        self.last = x.sum()
        return x


def test_buffers_are_compared_and_put_back() -> None:
    module = Counting()
    module.seen += 7
    before = dict(vars(module))
    error = unsafe(module, spec())
    assert error.report.unsafe[0].output == "buffer seen"
    assert module.seen.item() == 7
    assert module.calls == 0
    assert module.last is None
    assert vars(module).keys() == before.keys()
    assert any("attribute `last`" in note for note in error.report.notes)


def test_running_statistics_are_put_back() -> None:
    module = nn.BatchNorm1d(4).train()
    text = """
def forward(input: float32[B, 4]) -> float32[B, 4]:
    where 2 <= B <= 4
    bucket B in {4} pad input with 0
"""
    unsafe(module, text)
    assert torch.equal(module.running_mean, torch.zeros(4))
    assert torch.equal(module.running_var, torch.ones(4))
    assert module.num_batches_tracked.item() == 0


def test_random_numbers_are_put_back_and_told() -> None:
    torch.manual_seed(5)
    random.seed(5)
    expected = torch.rand(3), random.random()
    torch.manual_seed(5)
    random.seed(5)
    error = unsafe(nn.Dropout(0.5).train(), spec().replace("f(x:", "forward(input:").replace("pad x", "pad input"))
    assert "check in eval mode" in str(error)
    assert torch.equal(torch.rand(3), expected[0])
    assert random.random() == expected[1]


def test_integers_must_be_equal() -> None:
    error = unsafe(lambda x: x.new_full(x.shape[:1], x.shape[1]).long(), spec("int64[B]"), tolerance=1.0)
    assert error.report.unsafe[0].error >= 1


def test_another_shape_is_told() -> None:
    for output in (lambda x: x.shape[1], lambda x: x.shape, lambda x: str(x.shape[1]), lambda x: float(x.shape[1])):
        error = unsafe(lambda x, output=output: (x, output(x)), spec("(float32[B, S], _)"))
        assert error.report.unsafe[0].output.startswith("return[1]")
    same = lambda x: (x, (x.dtype, x.device, x.shape[0], 2**70, None, "x", 1.5))  # noqa: E731
    report = check(same, spec("(float32[B, S], _)"))
    assert report.passed
    assert report.notes == []
    error = unsafe(lambda x: (x, x.T.contiguous()), spec("(float32[B, S], Tensor)"))
    assert "has shape" in str(error)


def test_nan_that_padding_brings_is_told() -> None:
    error = unsafe(lambda x: x / x.abs().amin(1, keepdim=True) * 0, spec())
    assert "becomes NaN" in str(error)


def test_nan_that_was_there_is_no_difference() -> None:
    assert check(lambda x: torch.where(x > 0, x, torch.nan), spec()).passed


def test_outputs_in_objects_are_compared() -> None:
    class Result:
        def __init__(self, y: Any, total: Any) -> None:
            self.y, self.total = y, total

    text = spec("R(y: float32[B, S], total: float32[B])", fill="1")
    error = unsafe(lambda x: Result(x, x.sum(1)), text)
    assert error.report.unsafe[0].output == "return.total"
    assert check(lambda x: Result(x, x.sum(1)), text + "    drop return.total\n").passed


def test_what_cannot_be_compared_is_a_note() -> None:
    report = check(lambda x: (x, {1, 2}), spec("(float32[B, S], _)"))
    assert any("`return[1]` (set) is not compared" in note for note in report.notes)


# ------------------------------------------------------------------------------- what is not known


def test_functions_that_are_not_repeatable_are_not_checked() -> None:
    state = [0]

    def counting(x: Any) -> Any:
        state[0] += 1
        return x + state[0]

    report = check(counting, spec())
    assert not report.passed
    assert not report.unsafe
    assert any("other results for equal inputs" in note for note in report.notes)
    assert [bucket.variable for _, bucket, _ in report.missed] == ["S"]


def test_functions_that_raise_are_not_checked() -> None:
    def picky(x: Any) -> Any:
        raise ValueError("not today")

    report = check(picky, spec())
    assert not report.passed
    assert any("ValueError: not today" in note for note in report.notes)
    assert "not checked: `S`" in str(report)


def test_buckets_that_no_sizes_reach_are_not_checked() -> None:
    text = spec().replace("    bucket", "    case all: S >= 1\n    bucket")
    report = check(lambda x: x, text)
    assert not report.passed
    assert str(report).startswith("no padded run")


def test_sizes_of_an_earlier_case_are_left_to_it() -> None:
    """Rows of one are not padded, so that what would be wrong with them is none of its business."""

    def f(x: Any) -> Any:
        return x.sum(1) if x.shape[0] == 1 else x[:, 0]

    text = spec("float32[B]", fill="1").replace("    bucket", "    case one: B == 1\n    bucket")
    assert check(f, text).passed


# ------------------------------------------------------------------------------- inputs


def test_examples_are_checked_as_they_are() -> None:
    met: list[tuple[int, ...]] = []

    def f(x: Any) -> Any:
        met.append(tuple(x.shape))
        return x

    report = check(f, spec(reason="as neutral"), [((torch.ones(2, 5),), {}), ((), {"x": torch.ones(2, 8)})])
    assert report.passed
    assert set(met) == {(2, 5), (2, 8)}
    assert report.notes == ["1 of 2 examples are not padded"]
    made = check(lambda x: x, spec(), sd.loads(spec())["f"].examples(3))
    assert made.passed


def test_an_example_may_be_a_pattern() -> None:
    text = "def f(x: float32[B, S, _]) -> float32[B, S, _]:\n    where 1 <= B <= 3, 1 <= S <= 8\n"
    text += "    bucket S in {8} pad x with 0 as masked\n"
    with pytest.raises(sd.ShapeError, match="missing-input"):
        check(lambda x: x, text)
    report = check(lambda x: x, text, [((torch.ones(2, 5, 6),), {})], n=4)
    assert report.passed
    assert len(report.trials) > 3


def test_static_sizes_may_be_given() -> None:
    text = "const D = _\ndef f(x: float32[S, D]) -> float32[S, D]:\n    where 1 <= S <= 8\n"
    text += "    bucket S in {8} pad x with 0 as masked\n"
    assert check(lambda x: x, text, sizes={"D": 6}).passed


@pytest.mark.parametrize("examples", [[(torch.ones(2, 5),)], [torch.ones(2, 5)], [({}, ())]])
def test_examples_that_are_no_calls_are_refused(examples: Any) -> None:
    with pytest.raises(TypeError, match="args, kwargs"):
        check(lambda x: x, spec(), examples)


def test_an_example_that_does_not_fit_is_refused() -> None:
    with pytest.raises(sd.ShapeError, match="rank-mismatch"):
        check(lambda x: x, spec(), [((torch.ones(5),), {})])


def test_optional_arguments_are_there_and_not() -> None:
    met: set[bool] = set()

    def f(x: Any, mask: Any = None) -> Any:
        met.add(mask is None)
        return x if mask is None else x * mask

    text = """
def f(x: float32[B, S], mask: bool[B, S] | None = _) -> float32[B, S]:
    where 1 <= B <= 3, 1 <= S <= 8
    bucket S in {8} pad x with 0, mask with false as masked
"""
    assert check(f, text).passed
    assert met == {True, False}


def test_rounded_sizes_and_ints_are_padded() -> None:
    met: set[tuple[int, int]] = set()

    def f(x: Any, n: int) -> Any:
        met.add((x.shape[0], n))
        return x[:n] * 1.0

    text = """
def f(x: float32[S], n: Scalar[S]) -> float32[S]:
    where 1 <= S <= 64
    bucket S multiple of 8 pad x with 0 as rows_independent
"""
    assert check(f, text).passed
    assert all(size == n for size, n in met)
    assert any(size % 8 for size, _ in met)


def test_masks_that_hide_a_whole_row_are_not_made() -> None:
    """Where nothing is visible, an average of nothing is compared with an average of nothing else."""

    def average(x: Any, keep: Any) -> Any:
        lowest = torch.finfo(x.dtype).min
        return (x * torch.where(keep, 0.0, lowest).softmax(1)).sum(1)

    text = """
def f(x: float32[B, S], keep: bool[B, S]) -> float32[B]:
    where 1 <= B <= 3, 1 <= S <= 8
    bucket S in {8} pad x with 0, keep with false as masked
"""
    assert check(average, text, n=12).passed


def test_unpad_cuts_what_types_cannot() -> None:
    def f(x: Any) -> Any:
        return x, x.repeat_interleave(2, 1)

    text = spec("(float32[B, S], Tensor)")
    assert "has shape" in str(unsafe(f, text))
    cut = {"return[1]": lambda output, sizes: output[:, : 2 * sizes["S"]]}
    assert check(f, text, unpad=cut).passed


def test_methods_and_partials_are_checked() -> None:
    class Holder:
        def scaled(self, x: Any, by: float = 2.0) -> Any:
            return x * by

    assert check(Holder().scaled, spec().replace("def f", "def scaled")).passed


def test_a_table_is_shown() -> None:
    report = check(lambda x: x * 2, spec(), n=2)
    lines = str(report).splitlines()
    assert lines[0].split() == ["alternative", "padded", "fill", "runs", "error", "relative", "in", "verdict"]
    assert lines[1].split() == ["bucket", "S", "S", "as", "is", "2", "0", "0", "return", "same"]
    assert bool(report) is report.passed is True


# ------------------------------------------------------------------------------- what it is given


NORM = nn.BatchNorm1d(4).train()


def test_modules_that_a_function_reaches_are_put_back() -> None:
    hidden = Counting()
    by_global = spec("float32[B, 4]").replace("[B, S]) ->", "[B, 4]) ->").replace("1 <= S <= 16", "B >= 2")
    by_global = by_global.replace("bucket S in {8, 16}", "bucket B in {4}")
    unsafe(lambda x: NORM(x), by_global)  # noqa: PLW0108 - the global is what matters
    assert torch.equal(NORM.running_mean, torch.zeros(4))
    unsafe(lambda x: hidden(x), spec())  # noqa: PLW0108
    assert hidden.seen.item() == 0


def test_functions_may_take_derivatives() -> None:
    def slope(x: Any) -> Any:
        x = x.detach().requires_grad_()
        (found,) = torch.autograd.grad((x**3).sum(), x)
        return found

    assert check(slope, spec(reason="as rows_independent")).passed


def test_arguments_may_hold_each_other() -> None:
    class Node:
        def __init__(self) -> None:
            self.x = torch.ones(2, 5)
            self.parent = self

    text = "def f(node: Node(x: float32[B, S])) -> float32[B, S]:\n    where 1 <= B <= 3, 1 <= S <= 8\n"
    text += "    bucket S in {8} pad node.x with 0 as masked\n"
    error = unsafe(lambda node: node.parent.x * 2, text, examples=[((Node(),), {})])  # which is not padded
    assert "return-mismatch" in str(error)
    assert check(lambda node: node.x * 2, text, [((Node(),), {})]).passed


def test_what_is_dropped_may_have_a_name() -> None:
    class Both(NamedTuple):
        y: Any
        total: Any

    text = spec("(float32[B, S], float32[B])", fill="1") + "    drop return[1]\n"
    assert check(lambda x: Both(x, x.sum(1)), text).passed


def test_what_is_dispatched_is_checked_as_it_was() -> None:
    run = sd.dispatch(lambda x: x.sum(1), spec("float32[B]", reason="as neutral"), backend="eager")
    assert check(run, run.spec).passed
    assert run.stats()["calls"] == 0


@pytest.mark.parametrize("options", [{"tolerance": -1.0}, {"tolerance": float("nan")}, {"n": -1}])
def test_senseless_options_are_refused(options: Any) -> None:
    with pytest.raises(ValueError, match="="):
        check(lambda x: x, spec(), **options)


def test_outputs_that_are_no_numbers_say_nothing() -> None:
    report = check(lambda x: torch.full((x.shape[0],), torch.nan), spec("float32[B]"))
    assert not report.unsafe
    assert not report.passed
    assert "not checked: `S`: nothing could be compared" in str(report)


def test_what_is_written_to_an_argument_is_enough() -> None:
    def double(x: Any) -> None:
        x.mul_(2)

    assert check(double, spec("None")).passed
