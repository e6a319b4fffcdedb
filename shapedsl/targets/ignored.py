"""Find out where torch would not obey the spec that a callable carries.

torch reads ``_dynamic_spec`` off a function (of a module: off its ``forward``) and binds it to the
parameters of the frame that it compiles. Where that frame is another function's, the spec is ignored
without a word, and each new size is a new graph. ``sd.compile`` has an entry function of its own and
is not concerned.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, Final

from ..diagnostics import Report
from ..ir import MappingType, ObjectType, OptionalType, SequenceType, Signature, Type
from ..ir.paths import quote

_CURE: Final = "use `shapedsl.compile`, which calls it through a function of its own"


def warn_if_ignored(target: Callable[..., Any], signature: Signature | None, report: Report) -> None:
    """Warns ``spec-ignored`` where torch.compile would not obey the spec that ``target`` carries.

    Args:
        target: A function, method, partial, callable object or module.
        signature: Its spec; None if none was found on it.
        report: Receives the warnings.
    """
    carrier = _carrier(target)
    why: str | None = None
    if getattr(carrier, "_dynamic_spec", None) is None:
        base = _overridden(target)
        if base is not None:
            why = f"`{type(target).__name__}` overrides the `forward` that `{base}` has a spec for"
        elif signature is not None and _is_buried(target):
            hidden = "a decorator put a wrapper around it, which does not carry it"
            why = _why_ignored(target, carrier, signature) or hidden
    elif signature is not None:
        why = _why_ignored(target, carrier, signature)
    at = None if signature is None else signature.span
    if why is not None:
        report.warning("spec-ignored", f"torch.compile would ignore this spec: {why}", at=at, help=_CURE)
    elif signature is not None and getattr(carrier, "_dynamic_spec", None) is not None:
        for param in signature.params:
            optional = next(_optional(param.type, param.name), None)
            if optional is not None:
                report.warning(
                    "spec-ignored",
                    f"the attached spec describes calls that pass `{optional}`; torch ignores that it may be None",
                    at=param.span or at,
                    help=_CURE,
                )


def _optional(type_: Type, path: str) -> Iterator[str]:
    """Yields what of a parameter may be None, outermost first: ``kwargs["bias"]``."""
    match type_:
        case OptionalType():
            yield path
        case MappingType(entries=entries):
            for key, inner in entries:
                yield from _optional(inner, f"{path}[{quote(key)}]")
        case ObjectType(fields=fields):
            for name, inner in fields:
                yield from _optional(inner, f"{path}.{name}")
        case SequenceType(items=items):
            for index, inner in enumerate(items):
                yield from _optional(inner, f"{path}[{index}]")
        case _:
            pass


def is_module(target: object) -> bool:
    """Returns whether ``target`` is an ``nn.Module``; where torch is not loaded, nothing is."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(target, torch.nn.Module)


def _carrier(target: Any) -> Any:
    """Returns the object that torch looks at for ``_dynamic_spec``."""
    return target.forward if is_module(target) else target


def _is_buried(target: Any) -> bool:
    """Returns whether something that ``target`` calls carries a spec: torch does not look there."""
    for _ in range(100):  # a wrapper may wrap itself
        inner = (
            getattr(target, "func", None) or getattr(target, "__func__", None) or getattr(target, "__wrapped__", None)
        )
        if inner is None and not isinstance(target, (FunctionType, type)) and not is_module(target):
            inner = getattr(type(target), "__call__", None)  # noqa: B004  # the function itself is needed
            inner = inner if isinstance(inner, FunctionType) else None
        if inner is None:
            return False
        if getattr(inner, "_dynamic_spec", None) is not None:
            return True
        target = inner
    return False


def _why_ignored(target: Any, carrier: Any, signature: Signature) -> str | None:
    if isinstance(target, functools.partial):
        return "it is a functools.partial"
    if is_module(target) and type(target).__module__.startswith("torch."):
        return f"`{type(target).__name__}` is torch's own module, whose frames it skips"
    if is_module(target) and (target._forward_hooks or target._forward_pre_hooks):
        return "its forward hooks are compiled apart, as frames that the spec does not reach"
    function = getattr(carrier, "__func__", carrier)
    if not isinstance(function, FunctionType):
        return "it is a callable object"
    code = function.__code__
    names = code.co_varnames[
        : code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    ]
    hidden = [param.name for param in signature.params if param.name not in names]
    if hidden:
        wrapper = getattr(function, "__wrapped__", None) is not None
        what = "a decorator put a wrapper around it, whose" if wrapper else "its"
        return f"{what} parameters are {', '.join(names) or 'none'}, not {', '.join(hidden)}"
    return None


def _overridden(target: Any) -> str | None:
    """Returns the base class whose ``forward`` carries a spec that ``target``'s own hides."""
    if not is_module(target):
        return None
    for base in type(target).__mro__[1:]:
        if getattr(base.__dict__.get("forward"), "_dynamic_spec", None) is not None:
            return base.__name__
    return None
