"""What is claimed of a library entry, and how it is tried: compiled, exported, run at several shapes, rejected at others.

An `Entry` is a tiny random module, inputs for given sizes, sizes that its spec accepts, and sizes that it rejects. Both
test files and the table in ``docs/stub-library.md`` are made from these, so the table says what the tests prove.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pytest

import shapedsl as sd

torch = pytest.importorskip("torch", reason="models run through torch")

Sizes: TypeAlias = "Mapping[str, int]"
Call: TypeAlias = "tuple[tuple[Any, ...], dict[str, Any]]"


@dataclass(frozen=True)
class Entry:
    """A claim about one spec of one module.

    Attributes:
        name: The row's name, unique: the class, and what is special, e.g. ``LSTM, bidirectional``.
        make: Returns the module, tiny and random, ready to run (``eval()`` where that is meant).
        inputs: Sizes → ``(args, kwargs)`` of a call.
        good: Sizes that run in one graph; at least four. The first is export's example.
        bad: Sizes that the spec rejects before torch sees them.
        spec: Which spec of the class, where not the first that applies: ``forward@2``.
        compiles: Whether ``sd.compile`` takes it; else ``note`` says why not.
        exports: Whether ``sd.export`` takes it, likewise.
        note: What a reader of the table should know.
        dynamo: Options of ``torch._dynamo.config`` that torch needs in order to compile it at all.
    """

    name: str
    make: Callable[[], Any]
    inputs: Callable[..., Call]
    good: tuple[Sizes, ...]
    bad: tuple[Sizes, ...]
    spec: str | None = None
    compiles: bool = True
    exports: bool = True
    note: str = ""
    dynamo: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class Graphs:
    """A backend that runs graphs eagerly and counts them."""

    count: int = field(default=0)

    def __call__(self, graph: Any, examples: object) -> Callable[..., Any]:
        self.count += 1
        forward: Callable[..., Any] = graph.forward
        return forward


def spec_of(entry: Entry, module: Any) -> sd.Spec:
    """Returns the library's spec of ``module``."""
    spec = sd.stub_for(module) if entry.spec is None else sd.stub_for(module, entry.spec)
    assert spec is not None, f"the library has no entry for {type(module).__qualname__}"
    return spec


def try_compile(entry: Entry, spec: sd.Spec | None = None) -> None:
    """Asserts that one graph serves all good sizes as eager mode does, and that bad ones are refused without a trace."""
    module = entry.make()
    spec = spec_of(entry, module) if spec is None else spec
    graphs = Graphs()
    torch.compiler.reset()
    with torch._dynamo.config.patch(dict(entry.dynamo)):
        fast = sd.compile(module, spec, backend=graphs)
        for sizes in entry.good:
            args, kwargs = entry.inputs(**sizes)
            again, named = copy.deepcopy((args, kwargs))  # a cache grows by the call
            expected = copy.deepcopy(module)(*again, **named)  # training changes statistics
            same(fast(*args, **kwargs), expected, sizes)
            assert graphs.count == 1, f"graph number {graphs.count} at {sizes}"
        for sizes in entry.bad:
            args, kwargs = entry.inputs(**sizes)
            with pytest.raises(sd.ShapeError):
                fast(*args, **kwargs)
    assert graphs.count == 1


def try_export(entry: Entry, spec: sd.Spec | None = None) -> None:
    """Asserts that the exported program runs at all good sizes as eager mode does, and that no bad example is taken."""
    module = entry.make()
    spec = spec_of(entry, module) if spec is None else spec
    args, kwargs = entry.inputs(**entry.good[0])
    program = sd.export(module, args, kwargs, spec=spec, strict=False).module()
    for sizes in entry.good:
        args, kwargs = entry.inputs(**sizes)
        same(program(*args, **kwargs), copy.deepcopy(module)(*args, **kwargs), sizes)
    for sizes in entry.bad:
        args, kwargs = entry.inputs(**sizes)
        with pytest.raises(sd.ShapeError):
            sd.export(module, args, kwargs, spec=spec, strict=False)


def same(got: Any, expected: Any, sizes: Sizes) -> None:
    """Asserts that two results, tensors or nests of them, are equal up to rounding."""
    leaves, tree = torch.utils._pytree.tree_flatten(expected)
    found, found_tree = torch.utils._pytree.tree_flatten(got)
    assert tree == found_tree, f"at {sizes}"
    for one, other in zip(found, leaves, strict=True):
        if isinstance(other, torch.Tensor):
            torch.testing.assert_close(one, other, msg=lambda text: f"at {sizes}: {text}")
        else:
            assert one == other, f"at {sizes}"


def fresh(module: Any) -> Callable[[], Any]:
    """Returns a maker of copies of ``module``, for one that is slow to build."""
    return lambda: copy.deepcopy(module)
