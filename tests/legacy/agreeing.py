"""Runs a legacy spec and what became of it through torch, and tells which calls each program takes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

import shapedsl as sd
from shapedsl.diagnostics import ShapeError

Call = tuple[tuple[Any, ...], Mapping[str, Any]]


@dataclass(frozen=True)
class Both:
    """The two programs of one legacy spec, and the spec that the second was made with."""

    spec: sd.Converted
    old: Any
    new: Any

    def who(self, call: Call) -> str:
        """Returns who takes ``call``: ``both``, ``legacy``, ``new`` or ``neither``; the spec's check says what ``new`` does.

        Raises:
            AssertionError: The programs compute different things, or the new one does not do what its spec says.
        """
        old, new = run(self.old, call), run(self.new, call)
        assert (new is not None) == admitted(self.spec, call), f"the program and the check differ at {shapes(call)}"
        if old is not None and new is not None:
            assert torch.equal(old, new), f"the programs differ at {shapes(call)}"
            return "both"
        return "legacy" if old is not None else "new" if new is not None else "neither"


def both(
    module: torch.nn.Module,
    call: Call,
    dynamic_shapes: Any,
    *,
    strict: bool = False,
    guards: bool = True,
    verify: bool | str = True,
) -> Both:
    """Returns the legacy program of ``module`` and the new one, exported with the same example."""
    args, kwargs = copied(call)
    program = torch.export.export(module, args, dict(kwargs), dynamic_shapes=dynamic_shapes, strict=strict)
    old = program.module(check_guards=guards)
    args, kwargs = copied(call)
    spec = converted(dynamic_shapes, args, kwargs, module)
    new = sd.export(module, args, kwargs, spec=spec, strict=strict, verify=verify).module()
    return Both(spec, old, new)


def converted(dynamic_shapes: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], fn: Any) -> sd.Converted:
    """Returns the new spec; what it warns of is in its diagnostics."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.ShapeWarning)
        return sd.from_dims(dynamic_shapes, args, kwargs, fn)


def run(program: Any, call: Call) -> torch.Tensor | None:
    """Returns what ``program`` makes of ``call``; None where it refuses it."""
    args, kwargs = copied(call)
    try:
        result: torch.Tensor = program(*args, **kwargs)
    except (AssertionError, RuntimeError, ValueError, TypeError) as error:
        assert "uard failed" in str(error) or "Runtime assertion failed" in str(error) or "xpected" in str(error), error
        return None
    return result


def admitted(spec: sd.Spec, call: Call) -> bool:
    """Whether the sizes of ``call`` satisfy ``spec``."""
    try:
        spec.check(*call[0], **call[1])
    except ShapeError:
        return False
    return True


def copied(call: Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns ``call`` with tensors of its own: torch leaves marks on those that it exports."""
    made: tuple[tuple[Any, ...], dict[str, Any]] = pytree.tree_map(
        lambda value: value.clone() if isinstance(value, torch.Tensor) else value, call
    )
    return made


def shapes(call: Call) -> Sequence[Any]:
    """Returns the sizes of ``call``, for messages."""
    return [tuple(leaf.shape) if isinstance(leaf, torch.Tensor) else leaf for leaf in pytree.tree_leaves(call)]
