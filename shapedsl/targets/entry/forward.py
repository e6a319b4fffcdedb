"""Generate the function that export and make_fx see in place of the target.

torch reads parameter names, touches and calls from one plain Python function, whatever the target
is: a partial, a builtin, a bound method, a decorated ``forward``. A *touch* makes torch look at a
parameter that the target does not use, so that what the spec says of it is checked.

Before::

    def scale(x, n=2, /, *, y): ...          # y: Tensor[C] is unused

After (for export)::

    def forward(_s_self, x, n=_s_default_1, *, y):
        x.size(0)
        y.size(0)
        return _s_target(x, y=y)             # as the example was passed: without n, and y by keyword

Positional-only markers are dropped, since strict export cannot pass them. The target is called as
the caller did, since decorators look at how: those of transformers put a default into ``kwargs``
where they find none there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import Const, ParamKind, Static, Var
from ...ir.expanded import Leaf, Lowered
from ...runtime.code import Code
from ...runtime.parameters import Parameter, header, passed
from .told import told

# what the functions that torch generates for programs and graphs refer to
_TAKEN: Final = frozenset({"self", "torch", "pytree", "fx_pytree"})


def refuse_names(parameters: Iterable[Parameter]) -> None:
    """Raises `ShapeError` (``unsupported-by-torch``) for a parameter whose name torch's generated code needs.

    Export and make_fx succeed with one, and what they return cannot be called.
    """
    for parameter in parameters:
        if parameter.name in _TAKEN:
            message = f"torch cannot call a program with a parameter called `{parameter.name}`"
            helps = ("rename the parameter",)
            if parameter.name == "self":
                helps = ("pass the module or a bound method, or rename the parameter",)
            raise ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message, helps=helps)])


@dataclass(frozen=True)
class Call:
    """How arguments are passed.

    Attributes:
        positional: How many of them by position.
        keywords: The names of the others.
        backed: Whether torch is told by statements what is promised of sizes, since it gets no ShapesSpec.
    """

    positional: int
    keywords: Collection[str]
    backed: bool = False

    def written(self, parameters: Iterable[Parameter]) -> str:
        """Returns the text that passes ``parameters`` on in the same way; those that are not passed are left out."""
        handed: list[Parameter] = []
        for at, parameter in enumerate(parameters):
            stars = parameter.kind in (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD)
            if stars or (parameter.kind is not ParamKind.KEYWORD_ONLY and at < self.positional):
                handed.append(parameter)
            elif parameter.name in self.keywords:
                handed.append(replace(parameter, kind=ParamKind.KEYWORD_ONLY))
        return passed(handed)


def forward(
    target: Callable[..., Any], parameters: Sequence[Parameter], lowered: Lowered, call: Call, *, takes_self: bool
) -> Callable[..., Any]:
    """Returns a method that touches what ``lowered`` speaks of and then calls ``target``.

    Args:
        target: Called as ``target(self, …)`` or ``target(…)``.
        parameters: Without ``self``.
        lowered: What is traced.
        call: How the example is passed.
        takes_self: Whether ``target`` is an unbound method.
    """
    code = Code(parameter.name for parameter in parameters)
    plain = [
        replace(parameter, kind=ParamKind.POSITIONAL_OR_KEYWORD)
        if parameter.kind is ParamKind.POSITIONAL_ONLY
        else parameter
        for parameter in parameters
    ]
    receiver = f"{code.prefix}self"
    declared = ", ".join(filter(None, (receiver, header(plain, code))))
    arguments = ", ".join(filter(None, (receiver if takes_self else "", call.written(parameters))))
    stated = told(lowered, code, {each.name: each.spelled for each in plain}) if call.backed else ()
    body = [*_touches(lowered, plain, code), *stated, f"return {code.use(target, 'target')}({arguments})"]
    return code.function(f"forward({declared})", body, "forward")


def positional(
    target: Callable[..., Any], parameters: Sequence[Parameter], lowered: Lowered, call: Call, present: Iterable[str]
) -> Callable[..., Any]:
    """Returns a function of one positional parameter for each passed argument, and a last one that is ignored.

    make_fx has no keywords, and takes exactly ``(tuple, dict)`` for ``(args, kwargs)``: the last
    parameter, to which ``()`` is passed, keeps it from that.

    Args:
        target: What is called.
        parameters: Its parameters.
        lowered: What is traced.
        call: How the example is passed.
        present: The names of the passed arguments; ``*args`` is one, a tuple, and ``**kwargs`` one, a dict.
    """
    code = Code(parameter.name for parameter in parameters)
    names = set(present)
    flat = [parameter for parameter in parameters if parameter.name in names]
    declared = ", ".join([*(parameter.spelled for parameter in flat), f"{code.prefix}nothing"])
    arguments = call.written(flat)
    body = [*_touches(lowered, flat, code), f"return {code.use(target, 'target')}({arguments})"]
    name = getattr(target, "__name__", type(target).__name__)
    return code.function(f"entry({declared})", body, name if name.isidentifier() else "entry")


def _touches(lowered: Lowered, parameters: Iterable[Parameter], code: Code) -> list[str]:
    """Returns a statement for each leaf whose sizes the spec speaks of.

    Reading one size makes torch bind all of a tensor's. A scalar must reach the graph, else strict
    export pins it to the example: a comparison alone does not do it (2.14.1), ``torch._check`` does.
    """
    import torch

    roots = {parameter.name: parameter.spelled for parameter in parameters}
    lows = {variable.name: variable.low for variable in lowered.variables}
    found: list[str] = []
    for leaf in lowered.leaves:
        if leaf.path.root not in roots:
            continue
        if not leaf.scalar:
            if any(not isinstance(dim, (Static, Const)) for dim in leaf.dims):
                found.append(f"{_place(leaf, roots, code)}.size(0)")
        elif isinstance(leaf.dims[0], Var):
            low = lows.get(leaf.dims[0].name)
            if low is not None and low >= 0:  # of another one torch would learn that it is not negative
                found.append(f"{code.use(torch, 'torch')}._check({_place(leaf, roots, code)} >= 0)")
    return found


def _place(leaf: Leaf, roots: dict[str, str], code: Code) -> str:
    text = roots[leaf.path.root]
    for step in leaf.path.steps:
        text = code.step(text, step)
    return text
