"""`explain_error`: what an error of torch says about sizes, in the names of the spec.

Before::

    FailOnRecompileLimitHit: Hard failure due to fullgraph=True

After::

    error[recompiled]: `f` needs a graph for each value of `x.shape[1]`, and torch keeps 8
      = help: the spec leaves `x.shape[1]` static: write a name there, or `?`
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from .. import pipeline
from ..diagnostics import ShapeError
from .sources import carried_spec, given_spec

if TYPE_CHECKING:
    from ..ir.expanded import Lowered
    from ..targets.calls import TorchCall
    from .sources import SpecLike
    from .spec import Spec


def explain_error(error: BaseException, spec: SpecLike | None = None) -> ShapeError | None:
    """Returns what ``error`` says about sizes, in the names of the spec; None if it has nothing to do with them.

    It reads what torch.compile, torch.export and make_fx raise under a spec, whether shapedsl called them or not: a
    branch on a size that the spec leaves open (``data-dependent``), guards and assertions of a program
    (``shape-violation`` where the call does not satisfy the spec, else ``extra-assumption``), recompiles that torch
    refuses (``recompiled``), graph breaks (``graph-break``) and sizes that were declared dynamic and are not
    (``merged-dims``, ``specialized-dim``). Nothing is raised: ``raise … from error`` if you like.

    Args:
        error: What was raised, with its traceback.
        spec: What torch was told; by default what the failing call of torch holds: the ShapesSpec that it was given,
            or the spec of its callable.

    Raises:
        ShapeError: ``spec`` itself is wrong.
        TypeError: ``error`` is no exception, or ``spec`` is no spec.
    """
    if not isinstance(cast("object", error), BaseException):
        raise TypeError(f"explain_error takes an exception, not {type(error).__name__}")
    if isinstance(error, ShapeError):
        return error
    if "torch" not in sys.modules:
        return None
    from ..targets.calls import call_of, lowered_of

    call = call_of(error)
    known = given_spec(spec, None if call is None else call.target) if spec is not None else _own_spec(call)
    arguments = None if known is None or call is None else _bound(known, call)
    lowered = lowered_of(error) if spec is None else None
    if lowered is None and known is not None:
        lowered = _lowered(known, arguments)
    return _explained(error, lowered, known, call, arguments)


def _explained(
    error: BaseException,
    lowered: Lowered | None,
    spec: Spec | None,
    call: TorchCall | None,
    arguments: Mapping[str, Any] | None,
) -> ShapeError | None:
    from ..targets.breaks import graph_break
    from ..targets.errors import trace_failure
    from ..targets.recompiles import recompiled
    from ..targets.violations import violation

    found = None if lowered is None else trace_failure(error, lowered, arguments, data=True)
    return (
        found
        or recompiled(error, lowered)
        or violation(error)
        or _raised_inside(error)
        or _refusal(error, lowered, spec, call)
        or graph_break(error, under_spec=lowered is not None)
    )


def _raised_inside(error: BaseException) -> ShapeError | None:
    """Returns an error of ours that torch wrapped: a check inside a program, a spec that it looked at.

    One that somebody was handling when another thing went wrong is not what went wrong.
    """
    each: BaseException | None = error
    seen: set[int] = set()  # causes may go around
    while each is not None and id(each) not in seen:
        if isinstance(each, ShapeError):
            return each
        seen.add(id(each))
        wrapped = type(each).__module__.startswith("torch.")
        each = each.__cause__ or (each.__context__ if wrapped else None)
    return None


def _refusal(
    error: BaseException, lowered: Lowered | None, spec: Spec | None, call: TorchCall | None
) -> ShapeError | None:
    """Returns what a guard or an assertion means that a call failed: against the spec, or beyond it."""
    from ..targets.refused import demanded, refused

    told = refused(error, anywhere=call is not None)
    if told is None:
        return None
    if spec is None or call is None:
        return told
    try:
        spec.check(*call.args, **call.kwargs)
    except ShapeError as violated:
        note = told.diagnostics[0].notes
        return ShapeError([replace(each, notes=(*each.notes, *note)) for each in violated.diagnostics])
    except TypeError:  # the call does not fit the spec's parameters: a module's is given the wrapped ones
        return told
    return (None if lowered is None else demanded(error, lowered)) or _beyond(told)


def _beyond(told: ShapeError) -> ShapeError:
    """Returns ``told`` of a call that satisfies its spec: then the spec promises too little."""
    help_ = "add the assumption to the spec, in its names; what torch calls `u0` is one of the call's sizes"
    return ShapeError(
        [
            replace(
                each,
                code="extra-assumption",
                message=f"{each.message}, which the spec does not promise",
                helps=(help_,),
            )
            for each in told.diagnostics
        ]
    )


def _own_spec(call: TorchCall | None) -> Spec | None:
    """Returns the spec that a call of torch was made under, if it can be read."""
    if call is None:
        return None
    try:
        if call.spec is not None:
            return given_spec(call.spec, call.target)
        return None if call.target is None else carried_spec(call.target, warn_ignored=False)
    except Exception:  # what torch was told has no words here, or the callable is of a class that answers as it likes
        return None


def _bound(spec: Spec, call: TorchCall) -> Mapping[str, Any] | None:
    try:
        return pipeline.bind_arguments(spec.signature, call.args, call.kwargs)
    except TypeError:
        return None


def _lowered(spec: Spec, arguments: Mapping[str, Any] | None) -> Lowered | None:
    try:
        return spec.lowered(arguments, allow_negative_ints=True)[0]
    except ShapeError:  # a rank or a length that only an example tells, or no lowerable form: torch's own names stay
        return None


__all__ = ["explain_error"]
