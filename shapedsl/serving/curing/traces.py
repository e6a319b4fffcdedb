"""One trace of a callable by export or by compile, under its spec and what is assumed besides: what it asked, or demands.

Nothing of it stays: arguments are cloned, a module's buffers are put back, and what was compiled is thrown away.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from ...diagnostics import Report, ShapeError
from ...ir import COMPARISONS, Apply, Compare, Const, Constraint, Predicate, Signature, Var
from ...ir.expand import expand
from ...ir.expanded import Expanded, Lowered
from ...ir.walk import free_vars, holds, substitute
from ...ir.write import write_predicate
from ...normalize.decide import Proved, implied_by
from ...runtime.explain import sizes_of
from ...runtime.solve import Solve
from ...targets.asked import Asked, asked_of
from ...targets.enforced.compiled import enforced_by_compiled
from ...targets.entry.artifacts import Lower
from ...targets.entry.compile import compile_callable
from ...targets.entry.export import export
from ...targets.entry.parameters import call_signature
from ...targets.entry.shift import shift
from ...targets.program import Demand, demands
from ...targets.refused import demand_of
from ...targets.tensors import torch_tensors
from ...targets.traces import user_line
from ...targets.trials import Bench
from .model import Entry

Call: TypeAlias = "tuple[tuple[Any, ...], Mapping[str, Any]]"
Statics: TypeAlias = Callable[[Expanded, Mapping[str, Any]], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Passes:
    """What is done to specs above this layer.

    Attributes:
        lower: An expanded signature and its static sizes → what torch is told.
        solve: Computes variables that cannot be read off.
        statics: The value that each ``const X = _`` has in arguments.
    """

    lower: Lower
    solve: Solve
    statics: Statics


@dataclass(frozen=True, slots=True)
class Traced:
    """How a trace ended.

    Attributes:
        error: What ended it; None if it came to its end.
        asked: The question that did, where it is one.
        demands: What the program needs and the spec does not imply.
    """

    error: Exception | None = None
    asked: Asked | None = None
    demands: tuple[Demand, ...] = ()


class Traces:
    """Traces one callable at one example of one signature.

    Attributes:
        lowered: What torch is told of the signature alone, as export is told.
        sizes: Of the example, by variable of the expanded signature.
    """

    def __init__(
        self,
        target: Callable[..., Any],
        signature: Signature,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        passes: Passes,
        *,
        grad: bool,
    ) -> None:
        """Args:
        target: What is traced.
        signature: Its spec, without alternatives.
        args: An example.
        kwargs: Its keyword arguments.
        passes: See `Passes`.
        grad: Whether autograd is on.

        Raises:
            ShapeError: The spec cannot be lowered at this example.
        """
        self.target = target
        self.signature = signature
        self.args = args
        self.kwargs = dict(kwargs)
        self.passes = passes
        self.bench = Bench(target)
        self.bench.grad = grad
        arguments = dict(call_signature(target, signature).bind(*args, **kwargs).arguments)
        report = Report()
        expanded = expand(signature, arguments, is_tensor=torch_tensors().is_tensor, report=report)
        report.raise_errors()
        assert expanded is not None  # no error was reported
        self.expanded = expanded
        self.statics = dict(passes.statics(expanded, arguments))
        self.lowered = self.lower(())
        self.sizes = {**sizes_of(expanded, arguments), **self.statics}

    def lower(self, added: Sequence[Predicate]) -> Lowered:
        """Returns what torch is told under the signature and ``added``.

        Raises:
            ShapeError: No size satisfies them, or they cannot be lowered.
        """
        return self.passes.lower(assuming(self.expanded, added), self.statics, True)

    def trace(self, entry: Entry, added: Sequence[Predicate]) -> Traced:
        """Returns how a trace under the signature and ``added`` ends."""
        made: list[Traced] = []

        def call(arguments: Any) -> None:
            args, kwargs = arguments
            made.append((self._export if entry == "export" else self._compile)(args, kwargs, added))

        with warnings.catch_warnings():  # of a trace that is thrown away
            warnings.simplefilter("ignore")
            done = self.bench.run(call, (self.args, self.kwargs))
        return made[0] if made else Traced(done.error)

    def satisfies(self, predicate: Predicate) -> bool:
        """Returns whether the example satisfies ``predicate``; not where that cannot be told."""
        try:
            return holds(predicate, self.sizes)
        except (KeyError, ZeroDivisionError, TypeError):
            return False

    def raises(self, call: Call | None = None) -> bool:
        """Returns whether the original raises at a call; by default at the example."""
        done = self.bench.run(lambda given: self.target(*given[0], **given[1]), call or (self.args, self.kwargs))
        return done.error is not None

    def _export(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], added: Sequence[Predicate]) -> Traced:
        lowered = self.lower(added)
        try:
            program = export(self.target, args, kwargs, lowered)
        except Exception as error:  # the user's code may raise anything
            return Traced(error, asked_of(error, lowered))
        return Traced(demands=unimplied(demands(program, lowered), lowered))

    def _compile(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], added: Sequence[Predicate]) -> Traced:
        told: list[Lowered] = []

        def lower(expanded: Expanded, statics: Mapping[str, int], allow_negative_ints: bool) -> Lowered:
            told.append(self.passes.lower(assuming(expanded, added), statics, allow_negative_ints))
            return told[-1]

        made: Any = None
        try:
            made = compile_callable(self.target, self.signature, lower, solve=self.passes.solve, backend=_never_run)
            made(*args, **kwargs)
        except _Compiled:
            return Traced(demands=unimplied(_demands_of(made, told[-1].expanded), told[-1]))
        except Exception as error:  # as above
            if not told:
                return Traced(error)
            asked = asked_of(error, shift(told[-1])[0])
            if asked is None and made is not None and isinstance(error, ShapeError):  # a guard refused the example
                demanded = unimplied(_demands_of(made, told[-1].expanded), told[-1])
                if not demanded and (needed := demand_of(error, told[-1])) is not None:
                    demanded = unimplied([Demand("extra-assumption", needed, line=user_line(error))], told[-1])
                if demanded:
                    return Traced(demands=demanded)
            return Traced(error, asked)
        return Traced()


class _Compiled(Exception):
    """Raised in place of running what was compiled: the data of an example may be none that the original takes."""


def _never_run(graph: Any, inputs: Any) -> Callable[..., Any]:
    """A backend of torch.compile; what it makes holds the graph, whose assertions are read."""
    del inputs

    def run(*args: Any) -> Any:
        raise _Compiled(graph, args)

    return run


def assuming(expanded: Expanded, added: Sequence[Predicate]) -> Expanded:
    """Returns ``expanded`` with more assumptions."""
    if not added:
        return expanded
    signature = expanded.signature
    more = [Constraint(each, text=write_predicate(each)) for each in added]
    return replace(expanded, signature=replace(signature, constraints=(*signature.constraints, *more)))


def _demands_of(made: Any, expanded: Expanded) -> Iterator[Demand]:
    """Yields what a compiled callable refuses, in the variables of its spec."""
    own = cast("dict[str, Any]", getattr(made, "__dict__", {}))
    front = own.get("_forward", own.get("forward", made))  # of a module, what it calls
    artifacts = getattr(front, "artifacts", None)
    places = {
        leaf.place(axis): dim
        for leaf in expanded.leaves
        for axis, dim in enumerate(leaf.dims)
        if isinstance(dim, (Const, Var, Apply))
    }
    for compiled in () if artifacts is None else artifacts.made:
        held = compiled.held()
        for enforced in () if held is None else enforced_by_compiled(held, expanded):
            for demand in enforced.checked:
                if places.keys() >= set(free_vars(demand.predicate)):
                    yield replace(demand, predicate=substitute(demand.predicate, places))


def unimplied(demanded: Iterable[Demand], lowered: Lowered) -> tuple[Demand, ...]:
    """Returns what is demanded and the spec does not imply; what follows from one of these is none of its own."""
    signature = lowered.expanded.signature
    meanings = {variable.name: variable.meaning for variable in lowered.variables}
    given: list[Predicate] = [constraint.predicate for constraint in signature.constraints]
    given += [
        Compare(COMPARISONS["=="], Var(name), size) for name, size in lowered.definitions if isinstance(size, Const)
    ]
    given += [substitute(each, meanings) for each in lowered.assumptions]
    found: list[Demand] = []
    for demand in demanded:
        if demand.predicate in given:
            continue
        if isinstance(implied_by(signature.variables, given, demand.predicate), Proved):
            continue
        given.append(demand.predicate)
        found.append(demand)
    return tuple(found)


__all__ = ["Call", "Passes", "Traced", "Traces", "assuming", "unimplied"]
