"""Exported programs: see what an artifact is called with, run one, write and read it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from types import FunctionType
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias

import torch
from torch.utils import _pytree as pytree

from ...runtime.locks import Lock
from .program_inputs import inputs_of
from .runner import Runner

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_SERIALIZER: Final = Lock()  # torch's refuses to work for two threads at once

# The arguments of a call: by position, and by keyword.
Call: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]


def program_runner(program: ExportedProgram, label: str, names: Sequence[str]) -> Runner:
    """Returns what calls an exported program.

    Args:
        program: From `torch.export`.
        label: What messages call it.
        names: Of the parameters that may be passed by position.
    """
    module = program.module()
    in_spec = program.call_spec.in_spec
    if in_spec is None:
        raise ValueError("the program does not say how its arguments are nested")

    def run(flat: list[Any]) -> Any:
        args, kwargs = in_spec.unflatten(flat)
        return module(*args, **kwargs)

    return Runner(run, in_spec, inputs_of(program), label, names)


def tie(programs: Iterable[ExportedProgram], module: object = None) -> str | None:
    """Makes programs of one module share its parameters and buffers, as they did before they were saved.

    A buffer that one of them changes is changed for all. Call it before `program_runner`.

    Args:
        programs: Of one module.
        module: If it is a module, its tensors are shared too.

    Returns:
        The first of its tensors whose numbers are not those of the programs, which are left alone then.
    """
    held: dict[str, torch.Tensor] = {}
    if isinstance(module, torch.nn.Module):
        held = {
            **dict(module.named_parameters(remove_duplicate=False)),
            **dict(module.named_buffers(remove_duplicate=False)),
        }
    places = [(program, name, where) for program in programs for name, where in _state(program)]
    for _, name, where in places:
        if name in held and not _same(held[name], where[name]):
            return name
    for _, name, where in places:
        first = held.setdefault(name, where[name])
        if first is not where[name] and _same(first, where[name]):
            where[name] = first
    return None


def _state(program: ExportedProgram) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields parameters and buffers, and where they are held."""
    for spec in program.graph_signature.input_specs:
        if spec.kind.name in ("PARAMETER", "BUFFER") and spec.target is not None:
            for where in (program.state_dict, program.constants):
                if spec.target in where:
                    yield spec.target, where


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    alike = one.shape == other.shape and one.dtype == other.dtype and one.device == other.device
    if not alike or one.layout is not torch.strided:
        return False
    one, other = one.detach(), other.detach()
    return bool(((one == other) | ((one != one) & (other != other))).all())  # NaN is NaN


def buffers_written(program: ExportedProgram) -> tuple[str, ...]:
    """Returns the buffers that a program changes; one whose operators return all that they change."""
    return tuple(dict.fromkeys(program.graph_signature.buffers_to_mutate.values()))


def outside_graphs(function: FunctionType, why: str) -> FunctionType:
    """Returns ``function`` as one that dynamo calls between its graphs, and does not look into.

    Args:
        function: Any.
        why: What torch says where it must not break its graph.
    """
    disable: Any = torch.compiler.disable
    made: FunctionType = disable(function, reason=why)
    return made


# ------------------------------------------------------------------------------------------ making


class Captured(Exception):
    """Carries the arguments with which an artifact would have been called."""

    def __init__(self, call: Call) -> None:
        super().__init__("the arguments of an artifact")
        self.call = call


def capture(*args: Any, **kwargs: Any) -> Any:
    """Stands in for an artifact, to see what it is called with.

    Raises:
        Captured: Always. Tensors are copies, and contiguous: programs are made for such.
    """
    raise Captured(pytree.tree_map(_copied, (args, dict(kwargs))))


def _copied(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return value
    copy = value.detach().clone(memory_format=torch.contiguous_format)
    return copy.requires_grad_(value.requires_grad)


# ------------------------------------------------------------------------------------------ files


def program_bytes(program: ExportedProgram) -> bytes:
    """Returns a program as `torch.export.save` writes it."""
    buffer = io.BytesIO()
    with _SERIALIZER:
        torch.export.save(program, buffer)
    return buffer.getvalue()


def read_program(file: IO[bytes]) -> ExportedProgram:
    """Returns a program that `torch.export.save` wrote. What torch's loader unpickles, it unpickles here too."""
    with _SERIALIZER:
        return torch.export.load(file)


def torch_version() -> str:
    """Returns the version of torch, without what it was built for."""
    return str(torch.__version__).partition("+")[0]


__all__ = [
    "Call",
    "Captured",
    "buffers_written",
    "capture",
    "outside_graphs",
    "program_bytes",
    "program_runner",
    "read_program",
    "tie",
    "torch_version",
]
