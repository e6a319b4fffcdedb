"""A callable → its plain function and its parameters, with nothing of its annotations evaluated."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...ir import ParamKind
from ...surface.facts import Facts, facts_of, shared_facts_of
from .fields import FieldClass, annotations_of
from .namespace import enclosing_class
from .shared import Shared

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: ParamKind.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ParamKind.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL: ParamKind.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY: ParamKind.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD: ParamKind.VAR_KEYWORD,
}


@dataclass(frozen=True, slots=True)
class RawParameter:
    """A parameter as Python knows it."""

    name: str
    kind: ParamKind
    default: bool


@dataclass(frozen=True, slots=True)
class RawCallable:
    """A callable, unread.

    Attributes:
        name: ``__qualname__`` after the last ``<locals>.``; ``_lambda`` for a lambda.
        parameters: Those a caller passes, nothing that a partial has bound; the receiver only if it has a type.
        receiver: ``self`` or ``cls``, if there is one.
        annotations: Unevaluated where Python kept them so.
        facts: What decorators said.
        shared: What was said of the class that it stands in.
        owner: The class that ``Self`` means, or its fields; None if there is none.
        lenient: Whether annotations that the language has no words for are no errors: read from source, they may be
            of people who know nothing of it.
    """

    name: str
    parameters: tuple[RawParameter, ...]
    receiver: str | None
    annotations: Mapping[str, object]
    facts: Facts | None
    shared: Shared | None = None
    owner: type | FieldClass | None = None
    lenient: bool = False


def shared_by(target: Any) -> Facts | None:
    """Returns what was said of the class that ``target`` was written in, wrapped or not."""
    found = (shared_facts_of(link) for link in _chain(_callable(target)))
    return next((facts for facts in found if facts is not None), None)


def unwrap(target: Any) -> tuple[RawCallable, types.FunctionType] | None:
    """Returns what is known of ``target``, and the plain function that its annotations stand on; None if there is none.

    Args:
        target: A function, a method, a module or its class (then ``forward`` is meant), a partial, a
            callable object, or a wrapper that names what it wraps.
    """
    given, target = target, _callable(target)
    try:
        signature = _signature(target)
    except (TypeError, ValueError):  # builtins
        return None
    chain = list(_chain(target))
    function = chain[-1] if chain else None
    if not isinstance(function, types.FunctionType):
        return None
    facts: Facts | None = None
    for link in reversed(chain):
        # a bound method shows its function's attributes as its own: they were said once
        said = None if isinstance(link, types.MethodType) else facts_of(link)
        facts = (said or facts) if said is None or facts is None else said.over(facts)
    bound = {name for link in chain for name in getattr(link, "keywords", None) or ()}  # by partials
    parameters = [
        RawParameter(p.name, _KINDS[p.kind], p.default is not inspect.Parameter.empty)
        for p in signature.parameters.values()
        if p.name not in bound
    ]
    annotations = annotations_of(function)
    name = _name(function)
    receiver = _receiver(function, name)
    if receiver is not None:  # a bound method has it no more; what is said of its attributes holds all the same
        if parameters and parameters[0].name == receiver:
            del parameters[0]
        if receiver in annotations or (facts is not None and receiver in facts.params):
            parameters.insert(0, RawParameter(receiver, ParamKind.POSITIONAL_OR_KEYWORD, False))
    return RawCallable(name, tuple(parameters), receiver, annotations, facts, owner=_owner(given, function)), function


def _owner(target: Any, function: types.FunctionType) -> type | None:
    """Returns the class that ``target`` was taken from, else the one that ``function`` was written in."""
    bound: object = target if hasattr(target, "named_parameters") else getattr(target, "__self__", None)
    if isinstance(target, type):
        return target
    if bound is not None:
        return bound if isinstance(bound, type) else bound.__class__
    shared = shared_facts_of(function)
    return enclosing_class(function) if shared is None else shared.owner


def _callable(target: Any) -> Any:
    """Returns the callable that is meant: a module's forward, an object's ``__call__``."""
    if type(target) in (staticmethod, classmethod):
        target = target.__func__
    if isinstance(target, type):
        return getattr(target, "forward", target)
    if hasattr(target, "forward") and hasattr(target, "named_parameters"):  # a torch.nn.Module
        return target.forward
    if not hasattr(target, "__code__") and not hasattr(target, "__func__") and not hasattr(target, "func"):
        called: Any = getattr(target.__class__, "__call__", None)  # noqa: B004  # the function itself is needed
        if isinstance(called, types.FunctionType) and not hasattr(target, "__wrapped__"):
            return types.MethodType(called, target)
    return target


def _chain(target: Any) -> Iterator[Any]:
    """Yields ``target`` and what it wraps: wrappers, methods and partials, down to the plain function."""
    for _ in range(100):  # a wrapper may wrap itself
        yield target
        for link in ("__func__", "__wrapped__", "func"):
            if hasattr(target, link):
                target = getattr(target, link)
                break
        else:
            return


def _signature(target: Any) -> inspect.Signature:
    if sys.version_info >= (3, 14):
        import annotationlib

        return inspect.signature(target, annotation_format=annotationlib.Format.STRING)
    return inspect.signature(target)


def _name(function: types.FunctionType) -> str:
    return function.__qualname__.rpartition("<locals>.")[2].replace("<lambda>", "_lambda")


def _receiver(function: types.FunctionType, name: str) -> str | None:
    """Returns ``self`` or ``cls`` for a function that stands in a class."""
    first = function.__code__.co_varnames[: function.__code__.co_argcount][:1]
    return first[0] if "." in name and first in (("self",), ("cls",)) else None


__all__ = ["RawCallable", "RawParameter", "unwrap"]
