"""Pads, runs and crops one alternative without a dispatcher."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import shapedsl as sd
from shapedsl.diagnostics import Report
from shapedsl.ir import Alternative
from shapedsl.ir.expanded import Expanded
from shapedsl.runtime.parameters import of_python
from shapedsl.runtime.solve import at_structure
from shapedsl.serving.buckets.joint import Joint, chooser
from shapedsl.targets.padding import Padder
from shapedsl.targets.tensors import torch_tensors


@dataclass
class Padded:
    """A function behind the first alternative with buckets of a spec.

    Attributes:
        seen: The arguments of the last run, unless it is to `forget` them.
    """

    function: Callable[..., Any]
    expanded: Expanded
    joint: Joint
    padder: Padder
    seen: tuple[Any, ...] = ()
    forget: bool = False  # what is kept alive is not used again

    def __call__(self, *values: Any) -> Any:
        sizes = self.sizes(values)
        chosen = self.choose(sizes)
        assert chosen is not None, "the alternative does not match"
        return self.padder.call(self._run, sizes, chosen, values)

    def sizes(self, values: tuple[Any, ...]) -> dict[str, int]:
        found: dict[str, int] = {}
        for leaf in self.expanded.leaves:
            value: Any = values[list(inspect.signature(self.function).parameters).index(leaf.path.root)]
            for step in leaf.path.steps:
                value = getattr(value, step.name) if hasattr(step, "name") else value[step.key]
            dim: Any
            for dim, size in zip(leaf.dims, [value] if leaf.scalar else value.shape, strict=True):
                if hasattr(dim, "name"):
                    found.setdefault(dim.name, size)
        return found

    def choose(self, sizes: Mapping[str, int]) -> tuple[int, ...] | None:
        assert not self.joint.places
        return self.joint.choose(*(sizes[name] for name in self.joint.needs))

    def _run(self, *values: Any) -> Any:
        if not self.forget:
            self.seen = values
        return self.function(*values)


def at(text: str, names: Sequence[str], values: Sequence[Any]) -> tuple[Expanded, Alternative]:
    """Returns the spec ``text`` at the structure of arguments, and its first alternative with buckets."""
    (spec,) = sd.loads(text).values()
    report = Report()
    arguments = dict(zip(names, values, strict=False))
    expanded = at_structure(spec.signature, arguments, torch_tensors(), report, None)
    report.raise_errors()
    assert expanded is not None
    return expanded, next(each for each in expanded.signature.alternatives if each.buckets)


def padded(
    text: str, function: Callable[..., Any], *values: Any, unpad: Mapping[str, Callable[..., Any]] | None = None
) -> Padded:
    """Returns ``function`` behind the first alternative with buckets of ``text``, at the structure of ``values``."""
    expanded, alternative = at(text, list(inspect.signature(function).parameters), values)
    parameters = of_python(inspect.signature(function))
    padder = Padder(alternative, expanded, parameters, expanded.signature.returns, unpad)
    return Padded(function, expanded, chooser(alternative, expanded), padder)


def call(text: str, function: Callable[..., Any], *values: Any, **options: Any) -> tuple[Any, tuple[Any, ...]]:
    """Returns the result of one call, and what the function was called with."""
    made = padded(text, function, *values, **options)
    result = made(*values)
    return result, made.seen
