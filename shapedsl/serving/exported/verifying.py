"""Compare an artifact with the module that it was made of, on arguments as it is called with.

After::

    case large     8 calls, largest error 3e-7 of return (10,240 numbers)
    bucket S=64    8 calls, return[1]: error 0.27: refused
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...diagnostics import Diagnostic, Severity
from ...targets.differences import Difference, differences
from ...targets.entry.programs import Call
from ...targets.trials import Bench


@dataclass(frozen=True, slots=True)
class Verified:
    """What a comparison found.

    Attributes:
        label: Of the artifact.
        calls: How many were compared.
        worst: The largest difference; None if nothing was compared.
        failed: What the artifact raised, where the module did not.
        skipped: What the module itself raised.
    """

    label: str
    calls: int
    worst: Difference | None
    failed: Exception | None = None
    skipped: Exception | None = None

    @property
    def wrong(self) -> bool:
        """Whether it computes something else."""
        return self.failed is not None or (self.worst is not None and not self.worst.error <= self.worst.tolerance)


def verified(label: str, target: Callable[..., Any], run: Callable[..., Any], calls: Sequence[Call]) -> Verified:
    """Returns how ``run`` differs from ``target``.

    Args:
        label: What messages call it.
        target: Is right.
        run: The artifact.
        calls: Both are run with.
    """
    bench = Bench(target)
    compared = 0
    worst: Difference | None = None
    skipped: Exception | None = None
    for args, kwargs in calls:
        given = {"args": args, "kwargs": kwargs}
        reference = bench.run(lambda found: target(*found["args"], **found["kwargs"]), given)
        if reference.error is not None:
            skipped = reference.error
            continue
        other = bench.run(lambda found: run(*found["args"], **found["kwargs"]), given)
        if other.error is not None:
            return Verified(label, compared, worst, other.error, skipped)
        compared += 1
        for each in differences(reference, other, ()):
            if not each.path.startswith("buffer ") and (worst is None or _badness(each) > _badness(worst)):
                worst = each
    return Verified(label, compared, worst, None, skipped)


def _badness(difference: Difference) -> float:
    """Returns how many times what rounding may do; exact kinds allow nothing."""
    error = difference.error
    return error / difference.tolerance if difference.tolerance else error * 1e30


def wrong_artifact(found: Verified, name: str, what: str) -> Diagnostic:
    """Returns that an artifact computes something else, or that nobody knows.

    Args:
        found: What was compared.
        name: Of the callable.
        what: The artifact's kind: ``"the package"``.
    """
    notes: list[str] = []
    if not found.calls and found.failed is None:
        raised = found.skipped
        said = "no inputs were found" if raised is None else f"the module raises {type(raised).__name__}: {raised}"
        return Diagnostic(
            "wrong-artifact",
            Severity.ERROR,
            f"{what} of `{found.label}` of `{name}` cannot be compared with the module",
            notes=(said[:300],),
            helps=("export with an example that the module takes; or do without, `verify=False`",),
        )
    if found.failed is not None:
        said = (str(found.failed).strip() or "?").splitlines()[0]
        notes.append(f"it raises {type(found.failed).__name__}: {said}"[:300])
    elif found.worst is not None:
        worst = found.worst
        how = worst.what.replace("padded", "in the artifact")
        text = f"`{worst.path}` {how}" if how else f"`{worst.path}` has a largest error of {worst.error:.2g}"
        notes.append(f"{text}; rounding explains {worst.tolerance:.0e}" if not how else text)
    return Diagnostic(
        "wrong-artifact",
        Severity.ERROR,
        f"{what} of `{found.label}` of `{name}` computes something else than the module",
        notes=tuple(notes),
        helps=("save the program instead, `aot=False`; or make its sizes `backed`, or let cases pin them",),
    )


__all__ = ["Verified", "verified", "wrong_artifact"]
