"""Run torch's export with a legacy spec, in order to see what it finds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


def legacy_export(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], shapes: Any
) -> ExportedProgram:
    """Returns ``fn`` exported with a legacy spec, by the non-strict way.

    Args:
        fn: A module, function, method, partial or callable object.
        args: The example.
        kwargs: Its keyword arguments.
        shapes: What torch takes as ``dynamic_shapes=``.

    Raises:
        Exception: torch's own, if it refuses the spec or cannot trace ``fn`` under it.
    """
    import torch

    return torch.export.export(as_module(fn), tuple(args), dict(kwargs), dynamic_shapes=shapes, strict=False)


def as_module(fn: Callable[..., Any]) -> torch.nn.Module:
    """Returns a module whose ``forward`` has the parameters of ``fn``; a module itself."""
    import torch

    fn = getattr(fn, "_orig_mod", fn)  # what `torch.compile` made has `*args, **kwargs`, which no spec is for
    if isinstance(fn, torch.nn.Module):
        return fn

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        del self
        return fn(*args, **kwargs)

    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    parameters = [
        param.replace(kind=param.POSITIONAL_OR_KEYWORD) if param.kind is param.POSITIONAL_ONLY else param
        for param in inspect.signature(fn).parameters.values()
    ]
    if not any(param.name == "self" for param in parameters):
        receiver = receiver.replace(kind=receiver.POSITIONAL_OR_KEYWORD)
    setattr(forward, "__signature__", inspect.Signature([receiver, *parameters]))  # noqa: B010 - unknown to checkers
    name = getattr(fn, "__name__", type(fn).__name__)
    made: type[torch.nn.Module] = type(
        name if name.isidentifier() else "function", (torch.nn.Module,), {"forward": forward}
    )
    return made()


def legacy_dim(kind: str, **details: Any) -> Any:
    """Returns one of torch's legacy dims.

    Args:
        kind: ``named`` (with ``name``, ``low``, ``high``, ``factor``, ``offset``), or a hint: ``AUTO``, ``DYNAMIC``,
            ``STATIC`` (with ``low``, ``high``).
        **details: See there; a bound may be None.
    """
    from torch.export import Dim

    bounds = {key: details[at] for key, at in (("min", "low"), ("max", "high")) if details.get(at) is not None}
    if kind != "named":
        hint: Any = getattr(Dim, kind)
        return hint(**bounds) if bounds else hint
    made: Any = Dim(details["name"], **bounds)
    if details.get("factor", 1) != 1:
        made = details["factor"] * made
    return made + details["offset"] if details.get("offset") else made
