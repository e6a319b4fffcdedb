"""``fn.verify()`` of what `sd.dispatch` returns: all artifacts against the function itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ..diagnostics import ShapeError
from ..serving.verifying.report import Verification
from .numbers_given import count, number, whole
from .padding import require_calls
from .spec import Spec

if TYPE_CHECKING:
    from ..serving.dispatch.dispatcher import Dispatcher
    from ..serving.dispatch.verifying import Verify
    from ..serving.verifying.values import Sampled
    from .verifying import Compared

Call = tuple[Sequence[Any], Mapping[str, Any]]
_KIND: Final = "dispatched function"


def verify_dispatched(
    dispatcher: Dispatcher,
    examples: Iterable[Call] | None = None,
    *,
    samples: int | None = None,
    grad: bool = False,
    tolerance: float | None = None,
    seed: int = 0,
) -> Verification:
    """Returns how the artifacts of a dispatched callable compare with the function itself.

    Artifacts that are not there are made. One that computes something else, that raises, or of which nothing can be
    known is given up with a warning, and the function itself or a later artifact serves its sizes from then on.

    Args:
        dispatcher: Whose.
        examples: Calls, each ``(args, kwargs)``: structures, static sizes and dtypes to compare. By default those that
            the spec describes, and those of the artifacts that are there.
        samples: How many sizes are drawn for each artifact, beside those of a call.
        grad: Whether gradients are compared, too.
        tolerance: Allowed relative error; by default what rounding does in each dtype.
        seed: Of sizes and data.

    Raises:
        ShapeError: ``missing-input``: something is static, and there are no ``examples``.
        TypeError: ``examples`` holds no calls, or something else is not of its type.
        ValueError: ``samples`` or ``tolerance`` is negative.
    """
    from ..serving.dispatch.verified import verified_all

    calls = None if examples is None else [(tuple(args), dict(kwargs)) for args, kwargs in require_calls(examples)]
    how = how_of(samples, grad, tolerance, seed)
    spec = Spec(dispatcher.signature)
    found = verified_all(dispatcher, calls, how)
    return replace(_promised(dispatcher, spec, calls or (), seed), samples=found)


def _promised(dispatcher: Dispatcher, spec: Spec, calls: Sequence[Call], seed: int) -> Verification:
    """Returns what the artifacts keep of the spec, as far as that can be told without running them."""
    from ..serving.verifying.verified import verified
    from .verifying import expand
    from .verifying_artifacts import Asked, artifacts_of

    front = _Front(dispatcher, spec)
    if not dispatcher.serves():
        return Verification(dispatcher.name, _KIND, remarks=("no artifact serves: all calls run without one",))
    try:
        made = artifacts_of(front, Asked(spec, expand, tuple(calls), seed))
    except ShapeError as error:  # none could be made
        return Verification(dispatcher.name, _KIND, remarks=(error.diagnostics[0].message,))
    assert made is not None  # it has a dispatcher
    report = verified(dispatcher.name, made.artifacts)
    remarks = tuple(dict.fromkeys((*made.remarks, *report.remarks)))
    return replace(report, kind=_KIND, remarks=remarks, findings=(*report.findings, *made.findings))


def compared_served(program: Any, dispatcher: Dispatcher, label: str, how: Compared) -> Sampled:
    """Returns how what is served compares with an original, on sizes of every alternative of the structures it has met.

    Args:
        program: Is called.
        dispatcher: Behind it.
        label: What messages call it.
        how: The original, and how closely.
    """
    from ..serving.verifying.structures import Made, sampled_each

    made: list[Made] = []
    for at, structure in enumerate(list(dispatcher.structures.values()), 1):
        keys = [dict(artifact.key) for artifact in structure.artifacts.values()] or [{}]
        for key in keys:
            sizes = {name: key[name] for name in structure.statics if name in key}
            shown = ", ".join([f"structure {at}", *(f"{name} = {size}" for name, size in sizes.items())])
            made.append(Made(structure.expanded, sizes, shown))
    return sampled_each(
        label,
        how.target,
        program,
        made,
        n=how.samples,
        seed=how.seed,
        grad=how.grad,
        tolerance=how.tolerance,
        examples=how.examples,
    )


@dataclass(frozen=True, slots=True)
class _Front:
    """What a dispatched callable is known by."""

    dispatcher: Dispatcher
    spec: Spec

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the callable does."""
        return self.dispatcher.front()(*self.dispatcher.bound, *args, **kwargs)


def how_of(samples: int | None, grad: object, tolerance: float | None, seed: int) -> Verify:
    """Returns how artifacts are compared.

    Raises:
        TypeError: Something is not of its type.
        ValueError: ``samples`` or ``tolerance`` is negative.
    """
    from ..serving.dispatch.verifying import Verify
    from ..serving.verifying.samples import SAMPLES

    if not isinstance(grad, bool):
        raise TypeError(f"grad= is True or False, not {grad!r}")
    drawn = SAMPLES if samples is None else count("samples", samples)
    return Verify(drawn, whole("seed", seed), grad, tolerance_of(tolerance))


def tolerance_of(tolerance: float | None) -> float | None:
    """Returns an allowed relative error.

    Raises:
        TypeError: It is no number.
        ValueError: It is negative, infinite or NaN.
    """
    if tolerance is not None and not 0 <= number("tolerance", tolerance) < math.inf:
        raise ValueError(f"tolerance= is a number, 0 or more, not {tolerance!r}")
    return tolerance


def before_serving(verify: object) -> Verify | None:
    """Returns how artifacts are compared before they serve; None: they are not.

    Raises:
        TypeError: ``verify`` is neither a bool nor a number.
        ValueError: It is negative.
    """
    if verify is None or verify is False:
        return None
    if verify is True:
        return how_of(None, False, None, 0)
    if not isinstance(verify, int):
        raise TypeError(f"verify= is True, False, or how many sizes are compared, not {verify!r}")
    return how_of(verify, False, None, 0) if verify else None


__all__ = ["before_serving", "compared_served", "how_of", "verify_dispatched"]
