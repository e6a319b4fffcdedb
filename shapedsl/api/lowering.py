"""How ``lowering="auto"`` compares artifacts with the original, and who is told what it chose."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ..diagnostics import Diagnostic, Report, ShapeError
from .spec import warn

if TYPE_CHECKING:
    from ..ir.expanded import Lowered
    from ..targets.entry.lowering import Judge, Verdict

LoweringName: TypeAlias = Literal["unbacked", "backed", "auto"]
COMPARED: Final = 6  # sizes that an artifact is compared on before it serves, beside those of the call


class Comparing:
    """Compares artifacts on sampled sizes; see `targets.entry.lowering.Judge`."""

    def __init__(self, samples: int = COMPARED) -> None:
        self.samples = samples

    def compare(
        self,
        target: Callable[..., Any],
        run: Callable[..., Any],
        lowered: Lowered,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Verdict:
        """Returns how ``run`` compares with ``target`` on the call itself, and on sizes that ``lowered`` allows."""
        from ..serving.verifying.sampled import headline, sampled
        from ..targets.entry.lowering import Verdict
        from ..targets.trials import Bench

        call = (args, kwargs)
        expanded = lowered.expanded
        try:
            found = sampled("", target, run, expanded, n=0, examples=[call])
            if found.rows and found.rows[0].what.startswith("the original raises"):
                return Verdict(raises=True)
            if not found.wrong and not found.skipped:
                found = found.and_(sampled("", target, run, expanded, n=self.samples, like=call))
        except ShapeError as error:  # no inputs can be made
            return Verdict(unknown=error.diagnostics[0].message)
        if found.wrong:
            row = found.faults[0]
            return Verdict(fault=f"{row.said}, at {row.at}")
        if found.skipped:  # it can still be run
            bench = Bench(target, run)
            bench.grad = bench.ambient()
            done = bench.run(lambda given: run(*given[0], **given[1]), call)
            if done.error is not None:
                return Verdict(fault=f"it raises {headline(done.error)}")
        return Verdict(unknown=found.skipped)

    def tell(self, diagnostic: Diagnostic) -> None:
        """Passes a warning on to the user."""
        warn(Report([diagnostic]))


def judge_for(lowering: str) -> Judge | None:
    """Returns who compares artifacts under ``lowering``; None where nobody has to.

    Raises:
        ValueError: There is no such lowering.
    """
    from ..targets.entry.lowering import AUTO, require_lowering

    require_lowering(lowering)
    return Comparing() if lowering == AUTO else None


__all__ = ["Comparing", "LoweringName", "judge_for"]
