"""Run an exported program as the callable it was made of, and refuse what it was not made for.

A program does not see everything that it relies on: another dtype, rank or None than it was traced with is
silently accepted, or ends in a message about trees. So what its graph says of each input is noted, as plain data
that a file can hold, and looked at before each call.

After, for ``f(x: Tensor[B, 4], mask: Tensor[B] | None, k)`` exported at ``(x, None, 2)``::

    x       float32 on cpu, shape (any, 4)
    mask    None
    k       2
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import torch
from torch.utils import _pytree as pytree

from ...diagnostics import Diagnostic, Severity, ShapeError

if TYPE_CHECKING:
    from torch.export import ExportedProgram

Constant: TypeAlias = bool | int | float | str | None

# The arguments of a call: by position, and by keyword.
Call: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]


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


# ------------------------------------------------------------------------------------------ reading


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
        return TensorInput(_name_of(value.dtype), value.device.type, shape, arg.name in written)
    number = _number(value)
    return IntInput() if number is None else ConstantInput(number)


def _number(size: Any) -> int | None:
    """Returns a size that is a number, also one that torch keeps as a symbol; None for a dynamic one."""
    if isinstance(size, int):
        return int(size)
    known: int | None = size.node.maybe_as_int()
    return known


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


# ------------------------------------------------------------------------------------------ running


class Runner:
    """Calls what was made of a program, with the arguments it was made for."""

    def __init__(
        self,
        run: Callable[[list[Any]], Any],
        in_spec: pytree.TreeSpec,
        inputs: Sequence[Input],
        label: str,
        *,
        trains: bool = True,
    ) -> None:
        """Args:
        run: Takes the flat arguments.
        in_spec: How they are nested.
        inputs: What each of them is.
        label: What messages call the program.
        trains: Whether gradients flow through it.
        """
        self._run = run
        self._in_spec = in_spec
        self._inputs = tuple(inputs)
        self._label = label
        self._trains = trains
        self._dtypes = {
            each.dtype: getattr(torch, each.dtype) for each in self._inputs if isinstance(each, TensorInput)
        }

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Returns what the program returns.

        Raises:
            ShapeError: ``no-program``: it was not made for such arguments.
        """
        try:
            # by key, also where a dict has another order
            flat: list[Any] = self._in_spec.flatten_up_to((args, kwargs))
        except ValueError:
            flat = []
        if len(flat) != len(self._inputs):
            raise self._refused(["the arguments are nested in another way, or some are None"])
        copies: list[tuple[torch.Tensor, torch.Tensor, int]] = []
        for at, (value, wanted) in enumerate(zip(flat, self._inputs, strict=True)):
            if not self._fits(value, wanted):
                raise self._refused(list(self._differences(flat)))
            if isinstance(wanted, TensorInput):
                if not self._trains and value.requires_grad and torch.is_grad_enabled():
                    raise self._refused([f"{self._place(at)} requires gradients, which it does not compute"])
                if not value.is_contiguous():  # as in the example
                    copy = flat[at] = value.contiguous()
                    copies.append((value, copy, copy._version))
        result = self._run(flat)
        for original, copy, version in copies:
            if copy._version != version or self._is_written(flat, copy):
                with torch.no_grad():
                    original.copy_(copy)
        return result

    def _is_written(self, flat: Sequence[Any], copy: torch.Tensor) -> bool:
        return any(
            value is copy and isinstance(wanted, TensorInput) and wanted.written
            for value, wanted in zip(flat, self._inputs, strict=True)
        )

    def _fits(self, value: Any, wanted: Input) -> bool:
        match wanted:
            case TensorInput(shape=shape):
                return (
                    isinstance(value, torch.Tensor)
                    and value.dtype is self._dtypes[wanted.dtype]
                    and value.device.type == wanted.device
                    and value.layout is torch.strided
                    and len(shape) == value.dim()
                    and all(want is None or want == size for want, size in zip(shape, value.shape, strict=True))
                )
            case IntInput():
                return type(value) is int
            case ConstantInput(value=constant):
                return type(value) is type(constant) and bool(value == constant or value != value)

    def _differences(self, flat: Sequence[Any]) -> Iterator[str]:
        for at, (value, wanted) in enumerate(zip(flat, self._inputs, strict=True)):
            if not self._fits(value, wanted):
                yield f"{self._place(at)} is {_described(value)}, and was {_meant(wanted)}"

    def _place(self, at: int) -> str:
        filled = pytree.tree_unflatten(range(len(self._inputs)), self._in_spec)
        keys, _ = pytree.tree_flatten_with_path(filled)[0][at]
        first, *rest = keys
        positional = getattr(first, "idx", 1) == 0
        if positional and rest:
            return f"argument {getattr(rest[0], 'idx', 0) + 1}{pytree.keystr(tuple(rest[1:]))}"
        name = getattr(rest[0], "key", "?") if rest else "?"
        return f"`{name}{pytree.keystr(tuple(rest[1:]))}`"

    def _refused(self, differences: Sequence[str]) -> ShapeError:
        return no_program(
            f"the program of `{self._label}` was exported for other arguments",
            differences[:4],
            ("export with an example like this call",),
        )


def no_program(message: str, notes: Sequence[str] = (), helps: Sequence[str] = ()) -> ShapeError:
    """Returns the error of calls for which nothing was exported."""
    return ShapeError([Diagnostic("no-program", Severity.ERROR, message, notes=tuple(notes), helps=tuple(helps))])


def _described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        layout = "" if value.layout is torch.strided else f" {str(value.layout).removeprefix('torch.')}"
        return f"{_name_of(value.dtype)}{layout} of shape {tuple(value.shape)} on {value.device.type}"
    return f"{value!r:.40}" if isinstance(value, (bool, int, float, str)) or value is None else type(value).__name__


def _meant(wanted: Input) -> str:
    match wanted:
        case TensorInput():
            shape = ", ".join("any" if size is None else str(size) for size in wanted.shape)
            return f"{wanted.dtype} of shape ({shape}{',' if len(wanted.shape) == 1 else ''}) on {wanted.device}"
        case IntInput():
            return "an int"
        case ConstantInput(value=value):
            return f"{value!r:.40}"


def program_runner(program: ExportedProgram, label: str) -> Runner:
    """Returns what calls an exported program.

    Args:
        program: From `torch.export`.
        label: What messages call it.
    """
    module = program.module()
    in_spec = program.call_spec.in_spec

    def run(flat: list[Any]) -> Any:
        args, kwargs = pytree.tree_unflatten(flat, in_spec)
        return module(*args, **kwargs)

    return Runner(run, in_spec, inputs_of(program), label)


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
    torch.export.save(program, buffer)
    return buffer.getvalue()


def read_program(file: IO[bytes]) -> ExportedProgram:
    """Returns a program that `torch.export.save` wrote. What torch's loader unpickles, it unpickles here too."""
    return torch.export.load(file)


def torch_version() -> str:
    """Returns the version of torch, without what it was built for."""
    return str(torch.__version__).partition("+")[0]


__all__ = [
    "Call",
    "Captured",
    "Constant",
    "ConstantInput",
    "Input",
    "IntInput",
    "Runner",
    "TensorInput",
    "capture",
    "inputs_of",
    "no_program",
    "program_bytes",
    "program_runner",
    "read_program",
    "torch_version",
]
