"""The parameters of generated functions: Python's own signature text, defaults by reference."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from typing import Final

from ..ir import AnyType, ParamKind, Signature
from .code import Code

_KINDS: Final = {
    inspect.Parameter.POSITIONAL_ONLY: ParamKind.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ParamKind.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL: ParamKind.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY: ParamKind.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD: ParamKind.VAR_KEYWORD,
}
_STARS: Final = {ParamKind.VAR_POSITIONAL: "*", ParamKind.VAR_KEYWORD: "**"}


class _Marker:
    """Equal to nothing else, pickled or not."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name.lower()}>"

    def __reduce__(self) -> str:
        return self.name


REQUIRED: Final = _Marker("REQUIRED")
OMITTED: Final = _Marker("OMITTED")  # the default of a parameter whose real default is not known


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a generated function.

    Attributes:
        name: As Python knows it.
        kind: Python's.
        default: The default itself, `REQUIRED`, or `OMITTED` where the real one is the target's secret.
    """

    name: str
    kind: ParamKind
    default: object = REQUIRED

    @property
    def spelled(self) -> str:
        """The name as Python can spell it: a spec may call a parameter ``lambda``."""
        return f"{self.name}_" if iskeyword(self.name) else self.name


def of_python(signature: inspect.Signature) -> tuple[Parameter, ...]:
    """Returns the parameters of a callable."""
    return tuple(
        Parameter(each.name, _KINDS[each.kind], REQUIRED if each.default is each.empty else each.default)
        for each in signature.parameters.values()
    )


def python_signature(parameters: Sequence[Parameter]) -> inspect.Signature:
    """Returns ``parameters`` as Python's own signature object."""
    empty = inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(
                param.spelled,
                getattr(inspect.Parameter, param.kind.name),  # the kinds are named as Python names them
                default=empty if param.default is REQUIRED else param.default,
            )
            for param in parameters
        ]
    )


def of_spec(signature: Signature) -> tuple[Parameter, ...]:
    """Returns the parameters that a spec lists, in an order that Python accepts."""
    params = [Parameter(p.name, p.kind, OMITTED if p.default else REQUIRED) for p in signature.params]
    order = list(ParamKind)
    params.sort(key=lambda p: order.index(p.kind))
    made: list[Parameter] = []
    optional = False
    for param in params:
        if param.kind in (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL_OR_KEYWORD):
            optional = optional or param.default is not REQUIRED
            # Python has no required parameter behind an optional one
            param = Parameter(param.name, param.kind, OMITTED if optional else REQUIRED)
        made.append(param)
    return tuple(made)


def as_method(parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Returns ``parameters`` behind one for the object that a method is bound to."""
    taken = {param.spelled for param in parameters}
    name = "spec"
    while name in taken:
        name = "_" + name
    return (Parameter(name, ParamKind.POSITIONAL_ONLY), *parameters)


def with_secret_defaults(parameters: Iterable[Parameter], signature: Signature) -> tuple[Parameter, ...]:
    """Returns ``parameters`` with `OMITTED` for the default of each that ``signature`` types, unless that is None.

    An argument that equals the default was passed and is checked; an omitted one is not. (None is what an
    omitted ``T | None`` is, and one artifact serves both.)
    """
    typed = {param.name for param in signature.params if not isinstance(param.type, AnyType)}
    return tuple(
        replace(param, default=OMITTED)
        if param.name in typed and param.default is not REQUIRED and param.default is not None
        else param
        for param in parameters
    )


def header(parameters: Iterable[Parameter], code: Code) -> str:
    """Returns what stands between the parentheses of ``def f(…)``."""
    parts: list[str] = []
    parameters = list(parameters)
    for at, param in enumerate(parameters):
        before = parameters[at - 1].kind if at else None
        if before is ParamKind.POSITIONAL_ONLY and param.kind is not ParamKind.POSITIONAL_ONLY:
            parts.append("/")
        if param.kind is ParamKind.KEYWORD_ONLY and before not in (ParamKind.KEYWORD_ONLY, ParamKind.VAR_POSITIONAL):
            parts.append("*")
        text = _STARS.get(param.kind, "") + param.spelled
        if param.default is not REQUIRED:
            text += f"={code.use(param.default, f'default_{at}')}"
        parts.append(text)
    if parameters and parameters[-1].kind is ParamKind.POSITIONAL_ONLY:
        parts.append("/")
    return ", ".join(parts)


def passed(parameters: Iterable[Parameter], present: Mapping[str, bool] | None = None) -> str:
    """Returns the text that passes every parameter on, as a caller would write it.

    Args:
        parameters: Whose values stand in local variables of their names.
        present: Those that map to false are not passed; what follows goes by keyword.
    """
    parts: list[str] = []
    by_keyword = False
    for param in parameters:
        if present is not None and not present.get(param.name, True):
            by_keyword = True
        elif param.kind in _STARS:
            parts.append(_STARS[param.kind] + param.spelled)
        elif param.kind is ParamKind.KEYWORD_ONLY or (by_keyword and param.kind is not ParamKind.POSITIONAL_ONLY):
            plain = param.name == param.spelled
            parts.append(f"{param.name}={param.spelled}" if plain else f"**{{{param.name!r}: {param.spelled}}}")
        else:
            parts.append(param.spelled)
    return ", ".join(parts)
