"""``sd.compile``: one plain generated function that checks, finds the artifact, and calls it.

torch finds out that a call is outside its spec by compiling again, at every such call, and then
reports a bug of its own; so sizes are checked first. What a graph depends on beyond declared sizes
(None-ness, lengths, ranks, values of ``const X = _``) selects an artifact, made when first needed.

After, for two tensors (names shortened)::

    def project(x, w):
        if …: return target(x, w)                    # inside someone else's graph
        try: ...                                     # the check of `runtime.guard`
        except Exception: explain(x, w); raise
        try: return run(x, w)                        # torch's compiled function
        except Exception as error: translate(error); raise
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, TypeAlias

import torch

from ...diagnostics import Report
from ...ir import ParamKind, Signature, VariableKind
from ...ir.expand import expand
from ...runtime.parameters import Parameter, with_secret_defaults
from ...runtime.select import Selector
from ...runtime.solve import Solve
from ..tensors import torch_tensors
from .artifacts import Artifacts, Lower
from .lowering import UNBACKED, Judge, Plan
from .parameters import parameters_of
from .shift import shift


def require_options(options: Mapping[str, Any], caller: str = "compile()") -> None:
    """Refuses options of torch.compile that the spec decides, and those that torch does not know.

    Args:
        options: What the user passed on.
        caller: What the user called.

    Raises:
        TypeError: One is no option, or the spec decides it.
        RuntimeError: torch has no such backend, mode or option.
    """
    for name in ("dynamic", "dynamic_shapes"):
        if name in options:
            raise TypeError(f"{caller} takes no {name}=: the spec says what is dynamic")
    if not options.get("fullgraph", True):
        raise TypeError(f"{caller} takes no fullgraph=False: a spec does not reach beyond a graph break")
    if not options.get("isolate_recompiles", True):
        raise TypeError(f"{caller} takes no isolate_recompiles=False: artifacts would serve each other's calls")
    known = {"fullgraph", "isolate_recompiles", "backend", "mode", "options", "name", "disable", "recompile_limit"}
    for name in options:
        if name not in known:
            raise TypeError(f"{caller} got an unexpected keyword argument {name!r}")
    backend = options.get("backend", "inductor")
    if not isinstance(backend, str) and not callable(backend):
        raise TypeError(f"backend= is a name or a callable, not {backend!r}")
    # torch looks at these at once, and a slip must not pass for an artifact that cannot be compiled
    chosen = {name: options[name] for name in ("backend", "mode", "options") if options.get(name) is not None}
    if chosen:
        torch.compile(_nothing, **chosen)


def _nothing() -> None:
    """What is never compiled."""


def compile_callable(
    target: Callable[..., Any],
    signature: Signature,
    lower: Lower,
    *,
    solve: Solve | None = None,
    lowering: str = UNBACKED,
    judge: Judge | None = None,
    **options: Any,
) -> Any:
    """Returns ``target`` compiled under its spec: a module for a module, else a plain function.

    Args:
        target: A function, method, builtin, partial, callable object, module, staticmethod or classmethod.
        signature: Its spec, found satisfiable.
        lower: Makes the lowerable form; raises ShapeError where there is none.
        solve: Computes variables that the check cannot read off; without it their specs are refused.
        lowering: ``unbacked``, ``backed`` or ``auto``.
        judge: Compares artifacts with ``target``, for ``auto``.
        **options: torch.compile's.

    Raises:
        ShapeError: ``unknown-parameter``; or the spec cannot be lowered, as far as that shows without a call.
        TypeError: ``target`` cannot be called; or see `require_options`.
    """
    require_options(options)
    if isinstance(target, (staticmethod, classmethod)):  # as a decorator in a class body finds them
        wrapped = compile_callable(
            target.__func__, signature, lower, solve=solve, lowering=lowering, judge=judge, **options
        )
        return type(target)(wrapped)
    if not callable(target):
        raise TypeError(f"compile() takes a callable, not {target!r}")
    passes = Passes(lower, solve, lowering, judge)
    if isinstance(target, torch.nn.Module):
        from .module import SpecModule

        return SpecModule(target, Recipe(signature, passes, options))
    return checked_function(target, signature, passes, options)


@dataclass(frozen=True)
class Passes:
    """What `normalize` does for a compiled callable, and how its sizes are lowered; see `compile_callable`."""

    lower: Lower
    solve: Solve | None
    lowering: str = UNBACKED
    judge: Judge | None = None


class Recipe:
    """How a module is compiled: what `SpecModule` keeps in place of torch's context. Picklable if the passes are."""

    def __init__(self, signature: Signature, passes: Passes, options: Mapping[str, Any]) -> None:
        self.signature = signature
        self.passes = passes
        self.options = dict(options)

    def __call__(self, target: Callable[..., Any]) -> Callable[..., Any]:
        """Returns ``target`` checked and compiled."""
        return checked_function(target, self.signature, self.passes, self.options)


def checked_function(
    target: Callable[..., Any], signature: Signature, passes: Passes, options: Mapping[str, Any]
) -> Callable[..., Any]:
    """Returns the function that checks a call and runs its artifact.

    Its ``lowering`` tells what was chosen, its ``artifacts`` hold what was made, and its ``signature`` is the spec.
    """
    plan = Plan.of(passes.lowering, passes.judge)
    makers: list[Artifacts] = []

    def make(function: Callable[..., Any], parameters: Sequence[Parameter]) -> FunctionType:
        maker = Artifacts(function, parameters, passes.lower, options, name_of(function), plan)
        makers.append(maker)
        selector = Selector(signature, parameters, torch_tensors(), maker, name=maker.name, solve=passes.solve)
        refuse_early(replace(signature, params=tuple(selector.listed)), passes.lower)
        return selector.front()

    front = fronted(target, signature, make)
    # no function has these
    for name, value in (("lowering", plan.record), ("artifacts", makers[0]), ("signature", signature)):
        setattr(front, name, value)
    return front


# A function with the parameters of the first argument, which are the second.
Make: TypeAlias = Callable[[Callable[..., Any], Sequence[Parameter]], FunctionType]


def fronted(target: Callable[..., Any], signature: Signature, make: Make) -> Callable[..., Any]:
    """Returns the function that ``make`` puts in front of ``target``.

    Of a spec that speaks of ``self``'s attributes torch must see a parameter ``self``; then it is a partial.

    Raises:
        ShapeError: ``unknown-parameter``.
    """
    if any(param.name == signature.receiver for param in signature.params):
        owner: object
        function: Callable[..., Any]
        if isinstance(target, torch.nn.Module):
            owner, function = target, torch.nn.Module.__call__
        elif inspect.ismethod(target):
            owner, function = target.__self__, target.__func__
        else:  # the plain function of a class has the receiver among its parameters
            return _front(target, parameters_of(target, signature), signature, make)
        receiver = Parameter(signature.receiver or "self", ParamKind.POSITIONAL_ONLY)
        parameters = (receiver, *parameters_of(target, signature))
        return functools.partial(_front(function, parameters, signature, make), owner)
    return _front(target, parameters_of(target, signature), signature, make)


def _front(
    target: Callable[..., Any], parameters: Sequence[Parameter], signature: Signature, make: Make
) -> FunctionType:
    front = make(target, with_secret_defaults(parameters, signature))
    if isinstance(target, FunctionType):
        # not `updated`: an attached spec must stay behind
        functools.update_wrapper(front, target, updated=())
    elif doc := getattr(target, "__doc__", None):
        front.__doc__ = doc
    return front


def refuse_early(signature: Signature, lower: Lower) -> None:
    """Raises what any call would raise, where that can be known without one.

    Raises:
        ShapeError: ``negative-int``, ``not-invertible``, …: the spec cannot be lowered.
    """
    if any(variable.kind is VariableKind.CONST for variable in signature.variables):
        return  # only an example has the values
    report = Report()
    whole = expand(signature, None, is_tensor=torch_tensors().is_tensor, report=report)
    if whole is not None:  # else a rank or a length is open, which an example will tell
        shift(lower(whole, {}, True))


def name_of(target: Callable[..., Any]) -> str:
    """Returns what messages and torch's logs call ``target``."""
    while isinstance(target, functools.partial):
        target = target.func
    return getattr(target, "__name__", None) or type(target).__name__
