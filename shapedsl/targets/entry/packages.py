"""AOTInductor packages of exported programs: machine code, which no compiler and no module is needed to run.

A package checks neither equalities nor static sizes, dtypes or strides: two tensors of 5 and 3 rows are read out of
bounds. So each call goes through `Runner`, behind the check of the spec.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from ...diagnostics import Diagnostic, Severity, ShapeError
from .program_inputs import Input, IntInput, inputs_of
from .programs import buffers_written
from .runner import Runner

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def packaged_inputs(program: ExportedProgram, label: str) -> tuple[Input, ...]:
    """Returns what a package of a program will take.

    Args:
        program: From `torch.export`.
        label: What messages call it.

    Raises:
        ShapeError: ``unsupported-by-torch``: it takes an int that is dynamic, or changes a buffer.
    """
    if any(isinstance(each, IntInput) for each in inputs_of(program)):
        message = f"`{label}` takes an int that is dynamic, which AOTInductor cannot"
        helps = ("save the program instead, `aot=False`; or let a `case` give the int one value",)
        raise ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message, helps=helps)])
    # what is compiled has no operators that change their arguments; only now it says what is written to
    functional = program.run_decompositions({})
    if written := buffers_written(functional):
        message = f"`{label}` changes the buffer `{written[0]}`, and a package has one of its own"
        notes = ("other artifacts, and the module, would not see the change",)
        helps = ("save the program instead, `aot=False`; or pass the buffer as an argument, and return it",)
        raise ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message, notes=notes, helps=helps)])
    return inputs_of(functional)


def compile_package(program: ExportedProgram, label: str, configs: Mapping[str, Any] | None = None) -> bytes:
    """Returns a program as a package.

    Args:
        program: From `torch.export`.
        label: What messages call it.
        configs: Inductor's.

    Raises:
        ShapeError: ``failed-artifact``: torch cannot compile it.
    """
    with TemporaryDirectory(prefix="shapedsl-") as folder:
        path = Path(folder) / "package.pt2"
        try:
            torch._inductor.aoti_compile_and_package(
                program, package_path=str(path), inductor_configs=dict(configs or {})
            )
        except Exception as error:
            message = f"AOTInductor cannot compile `{label}`"
            said = (str(error).strip() or "?").splitlines()[0]
            note = f"{type(error).__name__}: {said}"[:300]
            helps = ("save the program instead, `aot=False`; or make its sizes `backed`, or let cases pin them",)
            diagnostic = Diagnostic("failed-artifact", Severity.ERROR, message, notes=(note,), helps=helps)
            raise ShapeError([diagnostic]) from error
        return path.read_bytes()


def load_package(data: bytes, inputs: Sequence[Input], label: str, names: Sequence[str]) -> Runner:
    """Returns what calls a package. Its machine code is loaded into the process.

    Args:
        data: From `compile_package`.
        inputs: What it takes.
        label: What messages call it.
        names: Of the parameters that may be passed by position.
    """
    with TemporaryDirectory(prefix="shapedsl-") as folder:
        path = Path(folder) / "package.pt2"
        path.write_bytes(data)
        loaded = torch._inductor.aoti_load_package(str(path))  # unpacks it into a folder of its own
    loader: Any = loaded.loader
    in_spec, out_spec = (pytree.treespec_loads(text) for text in loader.get_call_spec())

    def run(flat: list[Any]) -> Any:
        outputs = loader.boxed_run([value for value in flat if isinstance(value, torch.Tensor)])
        return pytree.tree_unflatten(outputs, out_spec)

    return Runner(run, in_spec, inputs, label, names, trains=False)


def package_runner(package: Any) -> Callable[..., Any]:
    """Returns what calls a package like the original: arguments go in by position or keyword as it was compiled.

    Nothing is checked in front of it: whoever calls it knows that the arguments are right.

    Args:
        package: What torch loaded, or a path, which is loaded at the first call.
    """
    loaded: list[Any] = [] if isinstance(package, (str, os.PathLike)) else [package]

    def run(*args: Any, **kwargs: Any) -> Any:
        if not loaded:
            loaded.append(torch._inductor.aoti_load_package(os.fspath(package)))
        positional, keyword = pytree.treespec_loads(loaded[0].loader.get_call_spec()[0]).children()
        count, names = positional.num_children, list(keyword.context)
        given, named = list(args), dict(kwargs)
        while len(given) > count and len(given) - count <= len(names):
            named.setdefault(names[len(given) - 1 - count], given.pop())
        others = [name for name in named if name not in names]
        while len(given) < count and others:
            given.append(named.pop(others.pop(0)))
        return loaded[0](*given, **{name: named[name] for name in names if name in named})

    return run


def machine() -> tuple[str, str]:
    """Returns for what packages are compiled here: system and processor, and the instructions that it has."""
    return f"{platform.system()} {platform.machine()}".lower(), torch.backends.cpu.get_cpu_capability()


__all__ = ["compile_package", "load_package", "machine", "package_runner", "packaged_inputs"]
