"""Specs that callables carry: where torch would not see one, and how a file's specs get onto them.

torch reads ``_dynamic_spec`` off a function (of a module: off its ``forward``) and binds it to the
parameters of the frame that it compiles. Where that frame is another function's, the spec is ignored
without a word, and each new size is a new graph. ``sd.compile`` has an entry function of its own and
is not concerned.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, ModuleType
from typing import Any, Final, cast

from ..diagnostics import Report
from ..ir import OptionalType, Signature, Type
from ..ir.walk import subtypes

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
    elif signature is not None:
        why = _why_ignored(target, carrier, signature)
    at = None if signature is None else signature.span
    if why is not None:
        report.warning("spec-ignored", f"torch.compile would ignore this spec: {why}", at=at, help=_CURE)
    elif signature is not None and getattr(carrier, "_dynamic_spec", None) is not None:
        for param in signature.params:
            if _may_be_none(param.type):
                report.warning(
                    "spec-ignored",
                    f"the attached spec describes calls that pass `{param.name}`; torch ignores that it may be None",
                    at=param.span or at,
                    help=_CURE,
                )


def _may_be_none(type_: Type) -> bool:
    return isinstance(type_, OptionalType) or any(_may_be_none(inner) for inner in subtypes(type_))


def is_module(target: object) -> bool:
    """Returns whether ``target`` is an ``nn.Module``; where torch is not loaded, nothing is."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(target, torch.nn.Module)


def _carrier(target: Any) -> Any:
    """Returns the object that torch looks at for ``_dynamic_spec``."""
    return target.forward if is_module(target) else target


def _why_ignored(target: Any, carrier: Any, signature: Signature) -> str | None:
    if isinstance(target, functools.partial):
        return "it is a functools.partial"
    if is_module(target) and type(target).__module__.startswith("torch."):
        return f"`{type(target).__name__}` is torch's own module, whose frames it skips"
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


def attach_all(
    signatures: Iterable[Signature],
    namespace: object,
    put: Callable[[FunctionType, Signature], None],
    report: Report,
) -> None:
    """Puts each signature on the callable it names.

    Args:
        signatures: Of one file.
        namespace: A package, module, class or mapping of names, in which the dotted names are looked up.
        put: Puts one on a function.
        report: Receives ``unknown-name`` for a callable that was not found, and ``spec-ignored`` for one
            that cannot carry a spec.
    """
    for signature in signatures:
        owner, found = locate(signature.name, namespace)
        function = _function_in(owner, found, signature.name.rpartition(".")[2])
        if found is None:
            report.warning(
                "unknown-name", f"`{signature.name}` was not found in `{_name(namespace)}`", at=signature.span
            )
        elif function is None:
            report.warning(
                "spec-ignored",
                f"`{signature.name}` cannot carry a spec: it is {_kind(owner, found)}",
                at=signature.span,
                help="pass `spec=` to `shapedsl.compile`",
            )
        else:
            put(function, signature)


def locate(name: str, namespace: object) -> tuple[object, object]:
    """Returns the owner of the thing called ``name``, and the thing; None where there is none.

    The name may begin with the namespace's own, in full (``pkg.net.Net.forward`` in ``pkg.net``) or in
    part (``net.Net.forward``). Submodules of a package are imported if need be.
    """
    parts = name.split(".")
    own = _name(namespace).split(".")
    shared = range(1, min(len(own), len(parts) - 1) + 1)
    attempts = [parts, *(parts[length:] for length in shared if own[-length:] == parts[:length])]
    for attempt in attempts:
        owner: object = None
        found: object = namespace
        for part in attempt:
            owner, found = found, _member(found, part)
            if found is None:
                break
        else:
            return owner, found
    return None, None


def _member(owner: object, name: str) -> object:
    if isinstance(owner, Mapping):
        return cast("Mapping[str, object]", owner).get(name)
    found = getattr(owner, name, None)
    if found is None and isinstance(owner, ModuleType) and hasattr(owner, "__path__"):
        full = f"{owner.__name__}.{name}"
        if importlib.util.find_spec(full) is not None:
            return importlib.import_module(full)
    return found


def _function_in(owner: object, found: object, name: str) -> FunctionType | None:
    """Returns the function that may carry the spec, or None if it is another's or no function."""
    if isinstance(found, type):
        owner, found, name = found, getattr(found, "forward", None), "forward"
    if isinstance(owner, type):
        found = owner.__dict__.get(name)  # an inherited function is the base class's
    if isinstance(found, (staticmethod, classmethod)):
        found = cast("staticmethod[..., object]", found).__func__
    found = getattr(found, "__func__", found)
    return found if isinstance(found, FunctionType) else None


def _kind(owner: object, found: object) -> str:
    if isinstance(owner, type) and isinstance(found, FunctionType):
        return f"`{found.__qualname__}`, which `{owner.__name__}` inherits"
    return f"a {type(found).__name__}"


def _name(namespace: object) -> str:
    return str(getattr(namespace, "__name__", None) or type(namespace).__name__)
