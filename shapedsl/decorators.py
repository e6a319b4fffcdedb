"""``@shapes`` and ``where``: they write down what was said, and return the very function they got.

Nothing is read here. What was said lies on the function as ``__shapedsl__``, a `shapedsl.surface.facts.Facts`; what torch
looks for lies there as ``_dynamic_spec``, a `shapedsl.attached.AttachedSpec`. What was said of a class lies on the class,
and each of its methods has it as ``__shapedsl_class__``: a method read alone knows what it shares.
"""

from __future__ import annotations

import sys

from .attached import AttachedSpec
from .surface.facts import Facts, Predicates, facts_of, predicate_text

_OPTIMIZED = 0x1  # inspect.CO_OPTIMIZED: a function's code, no module's or class's

TYPE_CHECKING = False  # typing's flag, without importing typing
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType
    from typing import Any, TypeVar

    Target = TypeVar("Target")


def _plain_function(target: Any) -> Any:
    """Returns the function that facts of ``target`` lie on.

    Raises:
        TypeError: There is none.
    """
    function = target
    if isinstance(function, type):  # a module: its forward
        function = function.__dict__.get("forward")
    function = getattr(function, "__func__", function)  # of a staticmethod or classmethod
    if not hasattr(function, "__code__"):
        kind = f"the class {target.__name__}, which defines no forward" if isinstance(target, type) else repr(target)
        raise TypeError(f"shapes and where decorate functions, not {kind}; pass spec= to sd.compile instead")
    return function


def _record(target: Any) -> Facts:
    """Returns the facts of ``target``, new ones if need be."""
    if isinstance(target, type):
        return _record_class(target)
    function = _plain_function(target)
    facts = facts_of(function)
    if facts is None:
        facts = function.__shapedsl__ = Facts(function.__code__)
        facts.locals = _locals([function])
        function._dynamic_spec = AttachedSpec(function)
    return facts


def _record_class(cls: Any) -> Facts:
    """Returns the facts of a class, which its methods share; ``forward`` has facts of its own too, and is attached."""
    facts = cls.__dict__.get("__shapedsl__")
    if not isinstance(facts, Facts):
        methods = _methods(cls)
        if not methods or "forward" in cls.__dict__:
            _record(_plain_function(cls))
        facts = cls.__shapedsl__ = Facts(None, cls)
        facts.locals = _locals(methods)
        for method in methods:
            method.__shapedsl_class__ = facts
    return facts


def _methods(cls: Any) -> list[Any]:
    """Returns the functions that were written in the body of ``cls``, and its forward, wherever that was."""
    found: list[Any] = []
    for name, value in cls.__dict__.items():
        function = getattr(value, "__func__", value)
        if hasattr(function, "__code__"):
            here = (cls.__module__, f"{cls.__qualname__}.{function.__name__}")
            if name == "forward" or (function.__module__, function.__qualname__) == here:
                found.append(function)
    return found


def _locals(functions: list[Any]) -> dict[str, object]:
    """Returns the locals around functions being decorated that their string annotations may name.

    Python keeps neither: ``T`` in ``x: "T"`` is no closure. Only what a text mentions is held on to.
    """
    texts = [
        text
        for function in functions
        # 3.14 closes over what annotations name, and would evaluate them here
        if getattr(function, "__annotate__", None) is None
        for text in getattr(function, "__annotations__", {}).values()
        if isinstance(text, str)
    ]
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # inspect is heavy
    found: dict[str, object] = {}
    while texts and frame is not None and frame.f_code.co_name != "<module>":
        if frame.f_globals is not globals():
            for name, value in frame.f_locals.items():
                if name not in found and any(name in text for text in texts):
                    found[name] = value
            if frame.f_code.co_flags & _OPTIMIZED:  # a function; around a class body there is more
                break
        frame = frame.f_back
    return found


class Where(Predicates):
    """Predicates that are a decorator too."""

    __slots__ = ()

    def __call__(self, target: Target) -> Target:
        """Returns ``target`` itself, with these predicates noted before those that are there already.

        Raises:
            TypeError: ``target`` is no function or method, nor a class that defines some.
        """
        facts = _record(target)
        facts.wheres[:0] = self.texts  # decorators apply from the bottom up
        return target


def where(*predicates: object) -> Where:
    """Returns a decorator (and ``Annotated`` metadata) that states what holds of the sizes.

    The decorator returns the function it got and attaches the spec, as `shapes` does; the two work in either order.

    Args:
        predicates: Text, ``"0 <= B <= 1024"``, with a message if wanted: ``'B < 32 "small batches"'``;
            or objects of `shapedsl.dims`: ``B < 32``, ``(B < 32) | (D % 8 == 0)``.

    Raises:
        TypeError: One is no predicate. A chain, ``and`` or ``min`` of objects raises by itself.

    Example:
        >>> from shapedsl.dims import B
        >>> where(0 <= B, "B < 32")
        where('B >= 0', 'B < 32')
    """
    if not predicates:
        raise TypeError("where() states nothing: write @where(B < 32), or leave it out")
    return Where(tuple([predicate_text(predicate) for predicate in predicates]))


def shapes(
    target: Any = None,
    /,
    *,
    hints: Mapping[str, int] | None = None,
    consts: Mapping[str, int | None] | None = None,
    params: Mapping[str, object] | None = None,
    returns: object = None,
    where: Any = None,
    attach: bool = True,
    check: bool = False,
    **parameters: object,
) -> Any:
    """Returns the same function, known to have shapes: ``@shapes``, ``@shapes(hints=…)``, ``@shapes('''case B == 1''')``.

    It attaches a spec that ``torch.compile``, ``torch.export.export`` and ``make_fx`` find by
    themselves. Nothing is read before someone asks; a wrong spec raises then.

    Args:
        target: The function, method or class (bare ``@shapes``); or clauses as they stand in the
            body of a ``def`` of a ``.shapes`` file. A class shares declarations, predicates, constants and
            hints with its methods; what else is said of it is said of its ``forward``.
        hints: Sizes to optimize for, by name.
        consts: Names that are constants: ``{"HD": 128}``; None for a static size, taken from the example.
        params: Types by parameter name, where a name clashes with one of these arguments.
        returns: The return type, as a parameter's.
        where: A predicate or a sequence of them, as `where` takes them.
        attach: False only describes: torch does not see the spec.
        check: Wrap the function: each call is checked first and raises ``ShapeError``.
        parameters: Types by parameter name: a string is what stands inside ``Tensor[…]``; else an annotation.

    Raises:
        TypeError: ``target`` is no function, or ``where`` holds no predicate.

    Example:
        >>> @shapes(x="B, D", w="D, D", returns="B, D", where="B < 32")
        ... def project(x, w):
        ...     return x @ w
    """
    text = target if isinstance(target, str) else None

    def decorate(function: Any) -> Any:
        facts = _record(function)
        types: dict[str, Any] = {"params": {**parameters, **(params or {})}, "returns": returns}
        if facts.owner is None:
            facts.say(text, hints=hints, consts=consts, where=where, attach=attach, **types)
        else:
            facts.say(text, hints=hints, consts=consts, where=where)
            if "forward" in facts.owner.__dict__ or types["params"] or returns is not None:
                _record(_plain_function(function)).say(attach=attach, **types)
        if not attach and (facts.owner is None or "forward" in facts.owner.__dict__):
            _plain_function(function).__dict__.pop("_dynamic_spec", None)
        if not check:
            return function
        from .checked import checked

        return checked(function)

    return decorate if target is None or text is not None else decorate(target)


__all__ = ["Where", "shapes", "where"]
