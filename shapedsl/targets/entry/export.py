"""Export a function or a module with a lowered spec.

torch.export takes modules only, names parameters by the module's attributes, and runs its hooks. So
a module is exported as itself with another *class*: a subclass that shares its state and has the
generated ``forward``. A wrapper module around it would prefix each parameter's name (strict export
would name one ``G[...]['_target'].weight``) and run the hooks twice. A function becomes the
``forward`` of a module without state.
"""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import VariableKind
from ...ir.expanded import Lowered
from ..errors import trace_failure
from ..named import name_assertions
from ..shapes_spec import write
from .arguments import refuse_fake, refuse_unregistered, returned_failure, unregistered_failure
from .example import distinct
from .forward import Call, forward, refuse_names
from .parameters import call_signature, parameters_of
from .quiet import without_partial_graphs

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


def export(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    lowered: Lowered,
    *,
    strict: bool = False,
) -> ExportedProgram:
    """Returns ``target`` as an exported program.

    Args:
        target: A function, a module, a method, or anything that can be called.
        args: The example, which satisfies the spec: torch does not look, and would return a program
            that rejects it.
        kwargs: Its keyword arguments.
        lowered: The spec at the example's structure.
        strict: torch's own flag.

    Raises:
        ShapeError: ``negative-int``: an int that may be negative, in strict mode.
            ``unsupported-by-torch``: attributes of ``self`` in the spec, a parameter whose name torch's
            generated code needs, an object that is no pytree, taken or returned, or fake tensors.
            ``data-dependent``: the program branches on a size that the spec leaves open.
    """
    import torch

    _require_exportable(lowered, strict)
    refuse_fake((args, kwargs), "export")
    arguments = call_signature(target, lowered.expanded.signature).bind(*args, **kwargs).arguments
    refuse_unregistered(arguments, lowered, "export")
    module = as_module(target, lowered, Call(len(args), kwargs))
    args, kwargs = distinct((tuple(args), dict(kwargs)), target)
    try:
        with _lines_kept(target), without_partial_graphs():
            program = torch.export.export(module, args, kwargs, dynamic_shapes=write(lowered), strict=strict)
    except Exception as error:
        translated = (
            trace_failure(error, lowered, arguments)
            or unregistered_failure(error, arguments, "export")
            or returned_failure(error, "export")
        )
        if translated is None:
            raise
        raise translated from error
    name_assertions(program, lowered)
    return program


@contextmanager
def _lines_kept(target: Callable[..., Any]) -> Generator[None, None, None]:
    """Makes torch keep the lines of ``target`` in the graph, for messages.

    Non-strict export keeps those of functions called ``forward`` only, and of registered ones.
    """
    from torch.fx import proxy

    while isinstance(target, functools.partial):
        target = target.func
    function: Any = inspect.unwrap(getattr(target, "__func__", target))
    if not hasattr(function, "__code__") and not hasattr(function, "forward"):
        function = type(function).__call__  # of an object; a module has its `forward`
    code = getattr(function, "__code__", None)
    anchors: set[tuple[str, str]] | None = getattr(proxy, "_STACK_TRACE_ANCHORS", None)
    if code is None or anchors is None or (anchor := (code.co_filename, code.co_name)) in anchors:
        yield
        return
    anchors.add(anchor)
    try:
        yield
    finally:
        anchors.discard(anchor)


def _require_exportable(lowered: Lowered, strict: bool) -> None:
    for leaf in lowered.leaves:
        if leaf.path.root in ("self", "cls") and leaf.path.steps:
            message = f"attributes of `{leaf.path.root}` are taken by torch.compile only, not by export"
            raise ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message)])
    for variable in lowered.variables:
        if strict and variable.kind is VariableKind.INT and (variable.low is None or variable.low < 0):
            message = f"`{variable.name}` may be negative, and strict export assumes that no int is"
            helps = (f"export with strict=False, or {variable.demand}",)
            raise ShapeError([Diagnostic("negative-int", Severity.ERROR, message, helps=helps)])


def as_module(target: Callable[..., Any], lowered: Lowered, call: Call) -> torch.nn.Module:
    """Returns a module whose ``forward`` is generated: touches, then ``target``."""
    import torch

    parameters = parameters_of(target, lowered.expanded.signature)
    refuse_names(parameters)
    if isinstance(target, torch.nn.Module):
        if "forward" in target.__dict__:  # set on the instance, as accelerate does: it is bound already
            made = forward(target.__dict__["forward"], parameters, lowered, call, takes_self=False)
        else:
            made = forward(type(target).forward, parameters, lowered, call, takes_self=True)
        return _with_forward(target, made)
    if inspect.ismethod(target) and isinstance(target.__self__, torch.nn.Module):
        made = forward(target.__func__, parameters, lowered, call, takes_self=True)
        return _without_hooks(_with_forward(target.__self__, made))
    made = forward(target, parameters, lowered, call, takes_self=False)
    stateless: type[torch.nn.Module] = type(_class_name(target), (torch.nn.Module,), {"forward": made})
    return stateless()


def _with_forward(module: torch.nn.Module, made: Callable[..., Any]) -> torch.nn.Module:
    """Returns a module with the state of ``module``, and of a subclass of its class with ``made`` as ``forward``."""
    original = type(module)
    names = {"forward": made, "__module__": original.__module__, "__qualname__": original.__qualname__}
    copy: torch.nn.Module = object.__new__(type(original.__name__, (original,), names))
    copy.__dict__.update(module.__dict__)
    copy.__dict__.pop("forward", None)
    return copy


def _without_hooks(module: torch.nn.Module) -> torch.nn.Module:
    """Returns ``module`` (a copy) without hooks: a call of another method than ``forward`` runs none."""
    for name, value in module.__dict__.items():
        if name.endswith("_hooks") or "_hooks_" in name:
            module.__dict__[name] = OrderedDict() if isinstance(value, OrderedDict) else type(value)()
    return module


def _class_name(target: Callable[..., Any]) -> str:
    while isinstance(target, functools.partial):
        target = target.func
    name = getattr(target, "__name__", type(target).__name__)
    return name if name.isidentifier() else "function"
