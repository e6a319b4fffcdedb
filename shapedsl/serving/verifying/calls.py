"""How the original is called: arguments by parameter, and back.

Before, of ``f(x, flag, *rest, scale=1)`` whose spec speaks of ``x`` and ``rest``, called ``f(x, True, y, scale=2)``::

    {"x": x, "flag": True, "rest": (y,), "scale": 2}

After, for another ``x`` and another ``rest``: what the spec does not speak of is as it was::

    f(x', True, y', scale=2)        messages call its arguments x, flag, rest[0], scale
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...ir import ParamKind
from ...runtime.parameters import Parameter, python_signature

Call: TypeAlias = "tuple[Sequence[Any], Mapping[str, Any]]"


@dataclass(frozen=True, slots=True)
class Sample:
    """One call.

    Attributes:
        label: Of the alternative that takes it; empty where a spec has none.
        sizes: Of its variables, by name.
        arguments: By what messages call them, those that are passed by position first.
        positional: How many of them are.
    """

    label: str
    sizes: Mapping[str, int]
    arguments: Mapping[str, Any] = field(repr=False)
    positional: int


@dataclass(frozen=True, slots=True)
class Calls:
    """What a callable takes.

    Attributes:
        parameters: Its own, in order.
        like: Arguments of a call by parameter, for what is not said otherwise.
        keywords: The parameters that this call passes by keyword.
    """

    parameters: tuple[Parameter, ...]
    like: Mapping[str, Any] = field(default_factory=dict[str, Any])
    keywords: frozenset[str] = frozenset()

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments of a call by parameter; omitted defaults are left out.

        Raises:
            TypeError: The call does not fit the parameters.
        """
        names = {param.spelled: param.name for param in self.parameters}
        spelled = {param.name: param.spelled for param in self.parameters}
        keywords = {spelled.get(name, name): value for name, value in kwargs.items()}
        found = python_signature(self.parameters).bind(*args, **keywords).arguments
        return {names[name]: value for name, value in found.items()}

    def after(self, call: Call | None) -> Calls:
        """Returns this with the arguments of another call."""
        if call is None:
            return self
        args, kwargs = call
        return Calls(self.parameters, self.bound(args, kwargs), frozenset(kwargs))

    def sample(self, label: str, sizes: Mapping[str, int], arguments: Mapping[str, Any]) -> Sample:
        """Returns a call.

        Args:
            label: Of the alternative.
            sizes: Of its variables.
            arguments: By parameter; others are those of ``like``.
        """
        given = {**self.like, **arguments}
        positional: dict[str, Any] = {}
        keywords: dict[str, Any] = {}
        gap = False
        for param in self.parameters:
            if param.name not in given:
                gap = gap or param.kind in (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL_OR_KEYWORD)
                continue
            value = given[param.name]
            match param.kind:
                case ParamKind.VAR_POSITIONAL:
                    positional.update((f"{param.name}[{at}]", each) for at, each in enumerate(value))
                case ParamKind.VAR_KEYWORD:
                    keywords.update(value)
                case ParamKind.POSITIONAL_ONLY:
                    positional[param.name] = value
                case ParamKind.POSITIONAL_OR_KEYWORD if not gap and param.name not in self.keywords:
                    positional[param.name] = value
                case _:
                    keywords[param.name] = value
        shown = {name: size for name, size in sizes.items() if not name.startswith("?")}
        return Sample(label, shown, {**positional, **keywords}, len(positional))


__all__ = ["Call", "Calls", "Sample"]
