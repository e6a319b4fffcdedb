"""``probe=True``: what the legacy spec leaves open is taken from one legacy export; expected texts are by hand."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="a probe runs torch's export")

import torch
from torch.export import Dim, ShapesCollection

import shapedsl as sd

AUTO: Any = Dim.AUTO
DYNAMIC: Any = Dim.DYNAMIC
ones = torch.ones


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(6, 2)

    def forward(self, x: Any, y: Any, z: Any) -> Any:
        return self.layer(x).sum() + (y + torch.ones(4, 1)).sum() + z.view(2, -1).sum() + z[5]


EXAMPLE = ones(4, 6), ones(4, 9), ones(8)


def probed(
    shapes: Any, args: tuple[Any, ...], kwargs: Any = None, fn: Callable[..., Any] | None = None, **options: Any
) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.ShapeWarning)
        return sd.from_dims(shapes, args, kwargs, Net() if fn is None else fn, probe=True, **options)


def test_auto_is_static_dynamic_or_in_a_range_and_what_was_said_stays() -> None:
    spec = probed({"x": {0: Dim("B", max=64), 1: AUTO}, "y": {0: AUTO, 1: None}, "z": {0: AUTO(max=100)}}, EXAMPLE)
    assert str(spec) == (
        "class Net:\n"
        "    def forward(self, x: Tensor[B, 6], y: Tensor[4, _], z: Tensor[z_0]):\n"
        "        dim B in [0, 64]\n"
        "        dim z_0 in [6, 100] multiple of 2"
    )
    assert spec.verdict == "exact"
    assert [note.message for note in spec.notes] == [
        "the trace found `6` at `x.shape[1]`: a static size",
        "the trace found `4` at `y.shape[0]`: a static size",
        "the trace found `z_0` at `z.shape[0]`: dynamic",
    ]


@pytest.mark.parametrize(
    ("fn", "shapes", "sizes", "said"),
    [
        (lambda x, y: x + y, ({0: Dim("B", max=9)}, {0: AUTO}), (4, 4), "x: Tensor[B], y: Tensor[B]"),
        (lambda x, y: x + y, ({0: DYNAMIC}, {0: Dim("B", max=9)}), (4, 4), "x: Tensor[B], y: Tensor[B]"),
        (lambda x, y: x + y, ({0: DYNAMIC}, {0: DYNAMIC}), (4, 4), "x: Tensor[x_0], y: Tensor[x_0]"),
        (lambda x, y: x.repeat(2) + y, ({0: AUTO}, {0: AUTO}), (4, 8), "x: Tensor[x_0], y: Tensor[2 * x_0]"),
        (lambda x, y: x[::2] + y, ({0: AUTO}, {0: AUTO}), (8, 4), "x: Tensor[x_0], y: Tensor[(x_0 + 1) // 2]"),
        (lambda x, y: x.sum() + y.sum(), ({0: AUTO}, {0: 4}), (4, 4), "x: Tensor[x_0], y: Tensor[4]"),
    ],
    ids=["a named one", "a later named one", "each other", "twice another", "half of another", "pinned"],
)
def test_auto_is_equal_to_another_size_or_computed_from_it(
    fn: Callable[..., Any], shapes: Any, sizes: tuple[int, int], said: str
) -> None:
    args = tuple(ones(size) for size in sizes)
    spec = probed(shapes, args, fn=fn)
    assert f"({said})" in str(spec)
    new = sd.export(fn, args, spec=spec)  # which compares the program with the spec
    assert isinstance(new, torch.export.ExportedProgram)


def test_an_assumed_bound_of_two_goes_unless_the_program_relies_on_it() -> None:
    def twice(x: Any) -> Any:
        return x * 2

    def alone(x: Any) -> Any:
        return x if x.shape[0] == 1 else x * 2

    free, needed = probed(({0: AUTO},), (ones(4),), fn=twice), probed(({0: AUTO},), (ones(4),), fn=alone)
    assert (free.range("x_0").lo, free.verdict) == (0, "exact")
    assert free.notes[-1].message.endswith("an export without that bound succeeds")
    assert (needed.range("x_0").lo, needed.verdict) == (2, "stricter")
    assert needed.notes[-1].message.endswith("asks whether `x_0 == 1`, which the spec leaves open")
    for lower in (0, 2):  # asked for, and so no choice, and not tried
        spec = probed(({0: AUTO},), (ones(4),), fn=alone, lower=lower)
        assert (spec.range("x_0").lo, spec.verdict) == (lower, "exact")
        assert spec.notes[-1].message.endswith(f"`lower={lower}` was asked for")


def test_a_bound_that_was_asked_for_or_is_enforced_stays() -> None:
    asked = probed(({0: AUTO(min=2, max=9)},), (ones(4),), fn=lambda x: x * 2)
    assert (asked.range("x_0").lo, asked.range("x_0").hi, asked.verdict) == (2, 9, "stricter")
    enforced = probed(({0: AUTO},), (ones(4),), fn=lambda x: x[2])
    assert (enforced.range("x_0").lo, enforced.verdict) == (3, "exact")


def test_ints_keywords_and_collections_are_probed() -> None:
    def fn(x: Any, *, k: Any, rest: Any) -> Any:
        return x.sum() * k + (rest[0] + rest[1]).sum()

    a, b = ones(5), ones(5)
    spec = probed(
        {"x": {0: AUTO}, "k": DYNAMIC, "rest": [{0: AUTO}, {0: AUTO}]}, (ones(3),), {"k": 3, "rest": [a, b]}, fn
    )
    assert "x: Tensor[x_0], *, k: Scalar[k], rest: [Tensor[rest_0_0], Tensor[rest_0_0]]" in str(spec)
    collection: Any = ShapesCollection()  # type: ignore[no-untyped-call]
    collection[a] = {0: AUTO}
    assert "def f(x: Tensor[x_0], y: _)" in str(probed(collection, (a, b), fn=lambda x, y: x.sum() + y.sum())).replace(
        "_lambda", "f"
    )


def test_negative_ints_ran() -> None:
    spec = probed(({0: AUTO}, AUTO), (ones(3), 5), fn=lambda x, n: x * n)
    assert (spec.verdict, spec.notes[-1].verdict.value, spec.notes[-1].places) == ("stricter", "stricter", ("n",))


def test_a_compiled_module_is_the_module() -> None:
    spec = probed(({0: AUTO},), (ones(3, 4),), fn=torch.compile(torch.nn.Linear(4, 5)))
    assert "input: Tensor[input_0, _]" in str(spec)


def test_where_nothing_is_open_nothing_is_run() -> None:
    def fn(x: Any) -> Any:
        raise AssertionError

    assert str(probed(({0: Dim("B")},), (ones(3),), fn=fn)) == "def fn(x: Tensor[B]): ..."


def test_an_export_that_fails_says_so() -> None:
    with pytest.raises(sd.ShapeError, match="the legacy export failed: Constraints violated") as caught:
        probed(({0: Dim("B"), 1: AUTO}, None, None), EXAMPLE, fn=lambda x, y, z: x + torch.ones(4, 6) + y[0, 0] + z[0])
    assert caught.value.code == "legacy-probe"


def test_a_probe_needs_a_callable_and_an_example() -> None:
    with pytest.raises(TypeError, match="needs fn= and the example"):
        sd.from_dims({"x": {0: AUTO}}, (ones(3),), probe=True)
    with pytest.raises(TypeError, match="needs fn= and the example"):
        sd.from_dims({"x": {0: AUTO}}, fn=Net(), probe=True)
    with pytest.raises(ValueError, match="lower= is 0 or 2, not 1"):
        sd.from_dims({"x": {0: AUTO}}, (ones(3),), fn=Net(), probe=True, lower=1)  # type: ignore[arg-type]
