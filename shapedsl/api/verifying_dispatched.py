"""``fn.verify()`` of what `sd.dispatch` returns: all artifacts against the function itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..diagnostics import Report
from ..serving.verifying.report import Verification
from .numbers_given import count, number, whole
from .padding import require_calls
from .spec import warn

if TYPE_CHECKING:
    from ..serving.dispatch.dispatcher import Dispatcher
    from ..serving.dispatch.verifying import Verify

Call = tuple[Sequence[Any], Mapping[str, Any]]


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
    found = verified_all(dispatcher, calls, how_of(samples, grad, tolerance, seed))
    report = Verification(dispatcher.name, "dispatched function", samples=found)
    if not found.wrong and found.skipped:
        undecided = Report()
        for each in report.diagnostics:
            undecided.add(each)
        warn(undecided)
    return report


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
    if tolerance is not None and not number("tolerance", tolerance) >= 0:
        raise ValueError(f"tolerance= is a number, 0 or more, not {tolerance!r}")
    return Verify(SAMPLES if samples is None else count("samples", samples), whole("seed", seed), grad, tolerance)


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


__all__ = ["before_serving", "how_of", "verify_dispatched"]
