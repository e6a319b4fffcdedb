"""How what an entry claims is tried: its file, its programs, its compiled artifacts, and the calls that are refused.

Each function asserts, and returns what the table shows. Comparing is against the model itself in eager mode, at every
size that the entry names.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import shapedsl as sd
from tests.models.real.entry import Entry, Sizes

torch = pytest.importorskip("torch", reason="models run through torch")


class Graphs:
    """A backend that counts graphs, and hands them to another one."""

    def __init__(self, backend: str = "eager") -> None:
        self.count = 0
        self._compile: Callable[..., Any] = torch._dynamo.lookup_backend(backend)

    def __call__(self, graph: Any, examples: Any, **options: Any) -> Any:
        self.count += 1
        return self._compile(graph, examples, **options)


def exported(entry: Entry, model: Any, case: str | None) -> Any:
    """Returns the program of one alternative, made at the first of its sizes."""
    args, kwargs = entry.inputs(**entry.programs[case][0])
    return sd.export(model, args, kwargs, spec=entry.lowered(case), case=case, **_lowering(entry))


def try_program(entry: Entry, model: Any, case: str | None, program: Any) -> float:
    """Asserts that ``program`` computes what the model does at all sizes of its alternative; returns the largest error."""
    run = program.module()
    return max(_compared(entry, model, run, sizes) for sizes in entry.programs[case])


def compiled(entry: Entry, model: Any, backend: Any) -> Any:
    """Returns the model served by its artifacts: compiled, or dispatched where the spec has alternatives."""
    spec = entry.written()
    make: Any = sd.dispatch if spec.signature.alternatives else sd.compile
    return make(model, spec, backend=backend, **_lowering(entry))


def try_compiled(
    entry: Entry, model: Any, backend: str = "eager", also: Callable[[Any], float] | None = None
) -> tuple[int, float]:
    """Asserts that one graph an alternative serves all its sizes, and that none is made for a call that is refused.

    Args:
        entry: The entry.
        model: Its model.
        backend: What compiles.
        also: Asserts something else of what was compiled, and returns an error.

    Returns:
        How many graphs there are, and the largest error.
    """
    graphs = Graphs(backend)
    torch.compiler.reset()
    worst = 0.0
    with torch._dynamo.config.patch(dict(entry.dynamo)), warnings.catch_warnings():
        warnings.simplefilter("error", sd.ShapeWarning)  # an artifact that fails is served by the model itself
        fast = compiled(entry, model, graphs)
        before = 0
        for case, several in entry.sizes.items():
            most = before + entry.members.get(case, 1)
            for sizes in several:
                worst = max(worst, _compared(entry, model, fast, sizes))
                assert before < graphs.count <= most, f"{case or 'the spec'} has another graph at {sizes}"
            assert graphs.count == most, f"{case} is padded to fewer members"
            before = most
        for sizes in entry.bad:
            args, kwargs = entry.inputs(**sizes)
            with pytest.raises(sd.ShapeError):
                fast(*args, **kwargs)
        assert graphs.count == entry.graphs, "a call that is refused was traced"
        return entry.graphs, worst if also is None else max(worst, also(fast))


def _lowering(entry: Entry) -> dict[str, Any]:
    """Returns the argument that chooses how sizes are lowered, where it is not the usual one."""
    return {} if entry.lowering == "unbacked" else {"lowering": entry.lowering}


def _compared(entry: Entry, model: Any, run: Callable[..., Any], sizes: Sizes) -> float:
    """Asserts that ``run`` computes what the model does; returns the largest error. A cache grows by a call."""
    args, kwargs = entry.inputs(**sizes)
    again, named = entry.inputs(**sizes)
    with torch.no_grad():
        got, expected = run(*args, **kwargs), model(*again, **named)
    if entry.drops:
        leaves = torch.utils._pytree.tree_leaves(got)
        got, expected = leaves, torch.utils._pytree.tree_leaves(expected)
        assert [number for number, leaf in enumerate(leaves) if leaf is None] == [*entry.drops]
        expected = [None if number in entry.drops else leaf for number, leaf in enumerate(expected)]
    return largest_error(got, expected, entry.tolerance, f"{entry.name} at {sizes}")


def largest_error(got: Any, expected: Any, tolerance: float, where: str) -> float:
    """Asserts that two results, tensors or nests of them, are equal up to rounding; returns the largest error.

    It is relative to the number itself, or to the usual one of its tensor where it is smaller than that.
    """
    leaves, tree = torch.utils._pytree.tree_flatten(expected)
    found, found_tree = torch.utils._pytree.tree_flatten(got)
    assert tree == found_tree, where
    worst = 0.0
    for one, other in zip(found, leaves, strict=True):
        if not isinstance(other, torch.Tensor):
            assert one == other, where
            continue
        assert one.shape == other.shape, f"{where}: {tuple(one.shape)}, not {tuple(other.shape)}"
        assert one.dtype == other.dtype, f"{where}: {one.dtype}, not {other.dtype}"
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance, msg=functools.partial(_told, where))
        if other.numel() and other.dtype.is_floating_point:
            size = other.abs().nan_to_num()
            gaps = (one - other).abs().nan_to_num() / torch.maximum(size, size.mean()).clamp(min=1e-9)
            worst = max(worst, float(gaps.max()))
    return worst


def _told(where: str, text: str) -> str:
    return f"{where}: {text}"


__all__ = ["Graphs", "compiled", "exported", "largest_error", "try_compiled", "try_program"]
