"""How a callable takes its arguments, and whether a spec fits it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from .. import pipeline
from ..diagnostics import Report
from ..ir import Signature


def python_signature(target: Callable[..., Any], signature: Signature) -> inspect.Signature:
    """Returns the parameters of ``target``, a module's being its ``forward``'s; of a builtin without, the spec's."""
    if hasattr(target, "forward") and hasattr(target, "named_parameters"):
        target = target.forward
    try:
        return inspect.signature(target)
    except (TypeError, ValueError):
        return pipeline.python_signature(signature)


def plain_function(target: Any) -> Any:
    """Returns the function that carries attributes for ``target``: a method's, a module's ``forward``; else ``target``."""
    if hasattr(target, "forward") and (isinstance(target, type) or hasattr(target, "named_parameters")):
        target = target.forward
    return getattr(target, "__func__", target)


def arguments_of(
    target: Callable[..., Any], signature: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns ``{parameter: value}`` of a call of ``target``; omitted defaults are left out.

    Raises:
        TypeError: The call does not fit.
    """
    return dict(python_signature(target, signature).bind(*args, **kwargs).arguments)


def require_parameters(target: Callable[..., Any], signature: Signature) -> None:
    """Refuses a spec that speaks of a parameter which ``target`` lacks: torch.compile would ignore it.

    Raises:
        ShapeError: ``unknown-parameter``.
    """
    parameters = python_signature(target, signature).parameters
    report = Report()
    for param in signature.params:
        if param.name not in parameters and param.name != signature.receiver:
            near = get_close_matches(param.name, parameters, n=1)
            report.error(
                "unknown-parameter",
                f"`{signature.name}` has no parameter `{param.name}`",
                at=param.span,
                help=f"did you mean `{near[0]}`?" if near else f"its parameters are {', '.join(parameters) or 'none'}",
            )
    report.raise_errors()
