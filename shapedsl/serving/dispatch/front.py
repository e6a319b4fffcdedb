"""The function, or module, that users call in place of theirs, and what it offers beside being called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any, cast

from ...diagnostics import ShapeError
from ...ir import Mode, Signature, VariableKind
from ...runtime.parameters import Parameter
from ...targets.entry.compile import Passes, fronted, refuse_early
from ...targets.entry.lowering import Lowering
from ...targets.entry.module import is_module, served_module
from ..buckets.padded_calls import Unpad
from .backend import CompileBackend
from .cases import case_spec
from .dispatcher import Dispatcher
from .explained import explain_call
from .stats import stats_of
from .verifying import Verify
from .warming import warm


class Recipe:
    """How a callable is dispatched. Picklable if the passes and options are, so that a module can keep it."""

    def __init__(
        self,
        signature: Signature,
        passes: Passes,
        options: Mapping[str, Any],
        unpad: Unpad,
        spec: object,
        offered: Mapping[str, Callable[..., Any]] | None = None,
        verify: Verify | None = None,
    ) -> None:
        self.spec = spec
        self.offered = dict(offered or {})  # what else the function offers: each takes the dispatcher first
        self.signature = signature
        self.passes = passes
        self.options = dict(options)
        self.unpad = dict(unpad)
        self.verify = verify

    def __call__(self, target: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function in front of ``target``, with what it offers as attributes."""
        made: list[Dispatcher] = []
        lowering: list[Lowering] = []

        def make(function: Callable[..., Any], parameters: Sequence[Parameter]) -> FunctionType:
            name = self.signature.name
            backend = CompileBackend(function, parameters, self.passes, self.options, name)
            dispatcher = Dispatcher(
                function,
                parameters,
                self.signature,
                backend,
                name=name,
                solve=self.passes.solve,
                unpad=self.unpad,
                verify=self.verify,
            )
            made.append(dispatcher)
            lowering.append(backend.plan.record)
            front = dispatcher.front()
            for each in lowered_early(replace(self.signature, params=tuple(dispatcher.selector.listed))):
                try:
                    refuse_early(each, self.passes.lower)
                except ShapeError as error:
                    if (
                        error.code != "contradiction"
                    ):  # no sizes reach it, which is said where alternatives are compared
                        raise
            return front

        front = fronted(target, self.signature, make)
        dispatcher = made[0]
        dispatcher.bound = getattr(front, "args", ())  # of a partial: the object whose attributes the spec names
        for name, offered in offers(dispatcher, self.spec).items():
            setattr(front, name, offered)
        for name, function in self.offered.items():
            setattr(front, name, functools.partial(function, dispatcher))
        setattr(front, "lowering", lowering[0])  # noqa: B010 - no function has it
        return front


def lowered_early(signature: Signature) -> Iterator[Signature]:
    """Yields what torch can be asked for without a call: what it cannot take at all is refused then.

    Only ints are such; to lower every alternative would take long, and what else is wrong is told when one is made.
    """
    if any(variable.kind is VariableKind.INT for variable in signature.variables):
        for position in range(max(1, len(signature.alternatives))):
            spec = case_spec(signature, position)
            if spec.mode is Mode.COMPILED:
                yield spec.signature


def offers(dispatcher: Dispatcher, spec: object) -> dict[str, Any]:
    """Returns what a dispatched callable offers beside being called, by name."""

    def explain(*args: Any, **kwargs: Any) -> str:
        """Returns which alternative takes a call, what is padded, and which artifact runs; or why it is refused."""
        return explain_call(dispatcher, args, kwargs)

    return {
        "free_buffers": dispatcher.free_buffers,
        "warm": functools.partial(warm, dispatcher),
        "stats": functools.partial(stats_of, dispatcher),
        "explain": explain,
        "spec": spec,
        "dispatcher": dispatcher,
    }


def dispatch_callable(target: Any, recipe: Recipe) -> Any:
    """Returns ``target`` behind what ``recipe`` makes: a module for a module, else a function.

    Args:
        target: A function, method, builtin, partial, callable object, module, staticmethod or classmethod.
        recipe: How.

    Raises:
        TypeError: ``target`` cannot be called.
    """
    if isinstance(target, (staticmethod, classmethod)):  # as a decorator in a class body finds them
        wrapper: Any = cast("Any", target)
        return type(wrapper)(dispatch_callable(wrapper.__func__, recipe))
    if not callable(target):
        raise TypeError(f"dispatch() takes a callable, not {target!r}")
    if inspect.iscoroutinefunction(target) or inspect.isasyncgenfunction(target):
        raise TypeError(f"dispatch() takes no async function: torch would return what {target!r} is awaited for")
    return served_module(target, recipe) if is_module(target) else recipe(target)


__all__ = ["Recipe", "dispatch_callable"]
