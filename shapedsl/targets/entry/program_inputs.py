"""What an exported program takes, as plain data that a file can hold.

A program does not see everything that it relies on: another dtype, rank or None than it was traced with is
silently accepted, or ends in a message about trees. So what its graph says of each input is noted.

After, for ``f(x: Tensor[B, 4], mask: Tensor[B] | None, k)`` exported at ``(x, None, 2)``::

    x       float32 on cpu, shape (any, 4)
    mask    None
    k       2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from ...diagnostics import Diagnostic, Severity, ShapeError

if TYPE_CHECKING:
    from torch.export import ExportedProgram

Constant: TypeAlias = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class TensorInput:
    """A tensor that a program takes.

    Attributes:
        dtype: ``float32``.
        device: Its kind: ``cpu``, ``cuda``.
        shape: None for what is dynamic.
        written: Whether the program changes it.
    """

    dtype: str
    device: str
    shape: tuple[int | None, ...]
    written: bool = False


@dataclass(frozen=True, slots=True)
class IntInput:
    """An int that a program takes, whatever it is."""


@dataclass(frozen=True, slots=True)
class ConstantInput:
    """What is part of a program: nothing else may be passed."""

    value: Constant


Input: TypeAlias = TensorInput | IntInput | ConstantInput


def inputs_of(program: ExportedProgram) -> tuple[Input, ...]:
    """Returns what a program takes, flat, in its own order."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    written = set(program.graph_signature.user_inputs_to_mutate.values())
    return tuple(
        _input(spec.arg, nodes, written)
        for spec in program.graph_signature.input_specs
        if spec.kind.name == "USER_INPUT"
    )


def _input(arg: Any, nodes: Mapping[str, torch.fx.Node], written: set[str]) -> Input:
    if type(arg).__name__ == "ConstantArgument":
        return ConstantInput(arg.value)
    value = nodes[arg.name].meta["val"]
    if isinstance(value, torch.Tensor):
        shape = tuple(_number(size) for size in value.shape)
        return TensorInput(dtype_name(value.dtype), value.device.type, shape, arg.name in written)
    number = _number(value)
    return IntInput() if number is None else ConstantInput(number)


def _number(size: Any) -> int | None:
    """Returns a size that is a number, also one that torch keeps as a symbol; None for a dynamic one."""
    if isinstance(size, int):
        return int(size)
    known: int | None = size.node.maybe_as_int()
    return known


def dtype_name(dtype: torch.dtype) -> str:
    """Returns what users call a dtype: ``float32``."""
    return str(dtype).removeprefix("torch.")


def no_program(message: str, notes: Sequence[str] = (), helps: Sequence[str] = ()) -> ShapeError:
    """Returns the error of calls for which nothing was exported."""
    return ShapeError([Diagnostic("no-program", Severity.ERROR, message, notes=tuple(notes), helps=tuple(helps))])


__all__ = ["Constant", "ConstantInput", "Input", "IntInput", "TensorInput", "dtype_name", "inputs_of", "no_program"]
