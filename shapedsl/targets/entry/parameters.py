"""How a callable takes its arguments, whatever kind of callable it is."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

from ...diagnostics import Report
from ...ir import AnyType, ParamKind, Signature
from ...runtime.parameters import OMITTED, REQUIRED, Parameter, of_python, of_spec


def parameters_of(target: Callable[..., Any], signature: Signature) -> tuple[Parameter, ...]:
    """Returns the parameters of ``target``.

    A builtin has no signature, and a wrapper's ``*args, **kwargs`` says nothing: then they are those
    that the spec lists, which are passed on by position.

    Args:
        target: Any callable; of a module its ``forward`` is meant.
        signature: Its spec.

    Raises:
        ShapeError: ``unknown-parameter``: torch would ignore what is said about it. So it would of a type for
            what a partial has bound.
    """
    of_function, keywords = _partials(target)
    spoken = {param.name for param in signature.params if not isinstance(param.type, AnyType)}
    try:
        found = of_python(inspect.signature(getattr(target, "forward") if _is_module(target) else target))  # noqa: B009
    except (TypeError, ValueError):
        left = of_spec(signature)
        _report_unknown(signature, [param.name for param in left if param.name in keywords], [p.name for p in left])
        return left
    names = {param.name for param in found}
    kinds = {param.kind for param in found}
    refused = [name for name in spoken if name in keywords or (name in of_function and name not in names)]
    unknown = [param for param in signature.params if param.name not in names | of_function | {signature.receiver}]
    if unknown and kinds <= {ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD} and ParamKind.VAR_POSITIONAL in kinds:
        return of_spec(signature)
    if unknown and ParamKind.VAR_KEYWORD in kinds:
        named = [Parameter(p.name, ParamKind.KEYWORD_ONLY, OMITTED if p.default else REQUIRED) for p in unknown]
        found, unknown = (*found[:-1], *named, found[-1]), []
    _report_unknown(
        signature, [*refused, *(param.name for param in unknown)], [p.name for p in found if p.name not in keywords]
    )
    return found


def _partials(target: Any) -> tuple[set[str], set[str]]:
    """Returns the parameters of the function behind a partial, and the keywords that it has bound."""
    names: set[str] = set()
    keywords: set[str] = set()
    while isinstance(target, functools.partial):
        keywords.update(target.keywords)
        target = target.func
        try:
            names.update(inspect.signature(target).parameters)
        except (TypeError, ValueError):  # a builtin
            break
    return names, keywords


def call_signature(target: Callable[..., Any], signature: Signature) -> inspect.Signature:
    """Returns the parameters of ``target`` as Python's own signature object; see `parameters_of`.

    Raises:
        ShapeError: ``unknown-parameter``.
    """
    return inspect.Signature([_to_python(parameter) for parameter in parameters_of(target, signature)])


def _to_python(parameter: Parameter) -> inspect.Parameter:
    kind = getattr(inspect.Parameter, parameter.kind.name)
    default = inspect.Parameter.empty if parameter.default is REQUIRED else parameter.default
    return inspect.Parameter(parameter.spelled, kind, default=default)


def _is_module(target: object) -> bool:
    torch = sys.modules.get("torch")  # whoever made a module has loaded it
    return torch is not None and isinstance(target, torch.nn.Module)


def _report_unknown(signature: Signature, unknown_names: Sequence[str], names: Sequence[str]) -> None:
    report = Report()
    for param in signature.params:
        if param.name in unknown_names:
            near = get_close_matches(param.name, names, n=1)
            report.error(
                "unknown-parameter",
                f"`{signature.name}` has no parameter `{param.name}`",
                at=param.span,
                help=f"did you mean `{near[0]}`?" if near else f"its parameters are {', '.join(names) or 'none'}",
            )
    report.raise_errors()
