"""`sd.strategies.inputs`: every draw satisfies its spec, nothing is rejected, and failures shrink."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch
from hypothesis import HealthCheck, find, given, settings

import shapedsl as sd

quiet = settings(max_examples=25, deadline=None, database=None)
narrow = sd.loads(
    "def f(x: Tensor[B, S], y: Tensor[B + S]):\n"
    "    dim B in [2, 640] multiple of 8\n    where S < B, S % 5 == 2, S != 12, S > 3\n"
)["f"]
wide = sd.loads(
    "def f(x: Tensor[*batch, D], mask: bool[D] | None, *args: int64[D], k: Scalar[k] = _):\n"
    "    where D % 4 == 1, prod(*batch) <= 50\n    int k in [-3, 9]\n    values args in [0, 3]\n"
)["f"]


@quiet
@given(sd.strategies.inputs(narrow))
def test_narrow_sizes_are_drawn_without_rejection(call: tuple[tuple[torch.Tensor, ...], dict[str, object]]) -> None:
    (x, y), kwargs = call
    b, s = x.shape
    assert b % 8 == 0
    assert 2 <= b <= 640
    assert s < b
    assert s % 5 == 2
    assert s not in (2, 12)
    assert y.shape == (b + s,)
    assert kwargs == {}


# with any rejection at all this health check would speak up: most draws of these sizes would fail
@settings(quiet, suppress_health_check=[])
@given(sd.strategies.inputs(wide))
def test_structures_are_drawn(call: tuple[tuple[object, ...], dict[str, object]]) -> None:
    args, kwargs = call
    wide.check(*args, **kwargs)


WANTED: dict[str, Callable[[tuple[Any, ...], dict[str, Any]], bool]] = {
    "absent": lambda args, _: args[1] is None,
    "two more": lambda args, _: len(args) == 4,
    "two lead": lambda args, _: args[0].dim() == 3,
    "omitted": lambda _, kwargs: not kwargs,
    "negative": lambda _, kwargs: kwargs.get("k") == -3,
}


@pytest.mark.parametrize("wanted", WANTED)
def test_each_structure_occurs(wanted: str) -> None:
    def is_it(call: tuple[tuple[Any, ...], dict[str, Any]]) -> bool:
        return WANTED[wanted](*call)

    find(sd.strategies.inputs(wide, longest=2), is_it, settings=settings(max_examples=400, database=None))


def test_failures_shrink_toward_the_smallest() -> None:
    simple = settings(max_examples=400, database=None, suppress_health_check=list(HealthCheck))
    (x, _), _ = find(sd.strategies.inputs(narrow), lambda call: True, settings=simple)
    assert x.shape == (8, 7)
    (x, _), _ = find(sd.strategies.inputs(narrow), lambda call: call[0][0].shape[1] >= 20, settings=simple)
    assert x.shape == (24, 22)


def test_sizes_and_values_may_be_given() -> None:
    w = torch.ones(3, 5)
    strategy = sd.strategies.inputs("def f(x: Tensor[B, D], w: Tensor[D, _]): where B < 8", w=w, B=4)
    (x, passed), _ = find(strategy, lambda call: True, settings=settings(database=None))
    assert x.shape == (4, 3)
    assert passed is w


def test_a_callable_stands_for_its_spec() -> None:
    @sd.shapes(x="B, D", where="B == 2, D == 3")
    def f(x: torch.Tensor) -> torch.Tensor:
        return x

    (x,), _ = find(sd.strategies.inputs(f), lambda call: True, settings=settings(database=None))
    assert f(x).shape == (2, 3)


def test_what_has_no_inputs_is_told_when_the_strategy_is_made() -> None:
    with pytest.raises(sd.ShapeError) as caught:
        sd.strategies.inputs("def f(x: Tensor[B]): where B < 3, B > 3")
    assert caught.value.code == "contradiction"
    with pytest.raises(sd.ShapeError) as caught:
        sd.strategies.inputs("def f(x: Tensor[B, _]): ...")
    assert caught.value.code == "missing-input"


def test_tensors_stay_small() -> None:
    spec = sd.loads("def f(x: Tensor[A, B, C, D, E]): where A >= 1")["f"]

    @quiet
    @given(sd.strategies.inputs(spec, most=1000))
    def bounded(call: tuple[tuple[torch.Tensor, ...], dict[str, object]]) -> None:
        assert call[0][0].numel() <= 1000

    bounded()


def test_without_hypothesis_the_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "hypothesis.py").write_text("raise ModuleNotFoundError('no', name='hypothesis')\n", encoding="utf-8")
    root = Path(sd.__file__).parents[1]
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(root)!r}]\n"
        "import shapedsl as sd\n"
        "try: sd.strategies\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "shapedsl.strategies needs hypothesis: pip install 'shapedsl[strategies]'\n"
