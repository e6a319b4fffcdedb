"""``auto``: an artifact that is compiled unbacked, compared with the original, and compiled backed if that fails.

The first call decides: it is the example that structure, dtypes and static parts of the compared calls are copied from.

Before::

    conv                       torch.compile, unbacked: a stride assertion fails

After::

    1st call                   unbacked fails; backed agrees at B = 3, 1, 64, …: taken, and said once
    calls after it             go to the backed artifact
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir.expanded import Lowered
from .lowering import BACKED, UNBACKED, Choice, Judge, Lowering, Verdict, remarks_of
from .serving import is_transformed

if TYPE_CHECKING:
    from ..enforced.held import Held
    from .artifacts import Compiled

# Compiles backed, if its argument is true.
Make: TypeAlias = "Callable[[bool], Compiled]"


class Auto:
    """One artifact, of which the first call decides how it is lowered.

    Attributes:
        chosen: What serves calls; None before the first.
    """

    def __init__(
        self, target: Callable[..., Any], name: str, lowered: Lowered, make: Make, judge: Judge, lowering: Lowering
    ) -> None:
        """Args:
        target: The original.
        name: What messages call it.
        lowered: The spec at one structure.
        make: Compiles.
        judge: Compares and tells.
        lowering: Receives what is chosen.
        """
        self.target = target
        self.name = name
        self.lowered = lowered
        self.make = make
        self.judge = judge
        self.lowering = lowering
        self.chosen: Compiled | None = None
        self._failed: ShapeError | None = None
        self._lock = threading.RLock()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the result of a call.

        Raises:
            ShapeError: Neither lowering serves it, with what is wrong with each.
        """
        chosen = self.chosen
        if chosen is None:
            if is_transformed():  # nothing can be compared there, which says nothing of other calls
                return self.target(*args, **kwargs)
            with self._lock:
                chosen = self.chosen or self._choose(args, kwargs)
            if chosen is None:
                return self.target(*args, **kwargs)  # it raises what is the user's own
        return chosen.run(*args, **kwargs)

    def translate(self, error: Exception) -> Exception | None:
        """Returns what to raise for an error of `run`."""
        return None if self.chosen is None else self.chosen.translate(error)

    def graphs(self) -> int:
        """Returns how many graphs torch holds."""
        return 0 if self.chosen is None else self.chosen.graphs()

    def held(self) -> Held | None:
        """Returns the function that torch compiled, once it is chosen."""
        return None if self.chosen is None else self.chosen.held()

    def _choose(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Compiled | None:
        """Returns what serves calls from now on; None if the original raises at this one.

        Raises:
            ShapeError: Neither lowering does.
        """
        if self._failed is not None:
            raise ShapeError(self._failed.diagnostics)
        faults: list[Diagnostic] = []
        for kind in (UNBACKED, BACKED):
            made, verdict, said = self._try(kind, args, kwargs)
            if verdict.raises:
                return None
            if made is not None:
                if verdict.unknown:
                    self.judge.tell(uncompared(self.name, kind, verdict.unknown))
                return self._take(made, kind, faults)
            faults += said
        self._failed = ShapeError(faults)
        raise self._failed

    def _take(self, made: Compiled, kind: str, faults: list[Diagnostic]) -> Compiled:
        why = ""
        if kind == BACKED:
            why = _why(faults[0])
            self.judge.tell(fell_back(self.name, faults, self.lowered))
        remarks = tuple(remarks_of(self.lowered)) if kind == BACKED else ()
        self.lowering.choices.append(Choice(kind, why, remarks))
        self.chosen = made
        return made

    def _try(
        self, kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Compiled | None, Verdict, list[Diagnostic]]:
        """Returns an artifact, how it compares, and what is wrong with it."""
        note = f"it was lowered {kind}"
        try:
            made = self.make(kind == BACKED)
        except ShapeError as error:
            return None, Verdict(), [_noted(each, note) for each in error.diagnostics]
        raised: list[Exception] = []

        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                return made.run(*args, **kwargs)
            except Exception as error:
                raised.append(error)
                raise

        verdict = self.judge.compare(self.target, run, self.lowered, args, kwargs)
        if not verdict.fault:
            return made, verdict, []
        translated = made.translate(raised[0]) if raised else None
        if isinstance(translated, ShapeError):
            return None, verdict, [_noted(each, note) for each in translated.diagnostics]
        message = f"`{self.name}`, lowered {kind}, does not do what the original does"
        return None, verdict, [Diagnostic("wrong-artifact", Severity.ERROR, message, notes=(verdict.fault,))]


def fell_back(name: str, faults: list[Diagnostic], lowered: Lowered | None) -> Diagnostic:
    """Returns that sizes are lowered backed, why, and what that does not promise.

    Args:
        name: Of the callable.
        faults: Of the unbacked artifact.
        lowered: The spec, where the artifact is a compiled function.
    """
    notes: list[str] = []
    for fault in faults[:2]:
        notes.append(f"unbacked: {_why(fault)}")
        notes += fault.notes[:1] if fault.code != "wrong-artifact" else ()
    notes += remarks_of(lowered) if lowered is not None else ()
    helps = ['write `lowering="backed"` to compile only this one, and to leave this warning out']
    helps += [each for fault in faults[:1] for each in fault.helps[:1] if fault.code == "data-dependent"]
    return Diagnostic(
        "backed-lowering",
        Severity.WARNING,
        f"`{name}` is lowered backed",
        notes=tuple(dict.fromkeys(notes)),
        helps=tuple(helps),
    )


def _why(fault: Diagnostic) -> str:
    """Returns what is wrong with the unbacked artifact: of one that was compared, the call that showed it."""
    return fault.notes[0] if fault.code == "wrong-artifact" and fault.notes else fault.message


def _noted(diagnostic: Diagnostic, note: str) -> Diagnostic:
    return replace(diagnostic, notes=(*diagnostic.notes, note))


def uncompared(name: str, kind: str, why: str) -> Diagnostic:
    """Returns that nobody knows whether an artifact computes what the original does."""
    message = f"`{name}`, lowered {kind}, could not be compared with the original"
    helps = ("compare it where it can be: a module in eval mode; or choose the lowering yourself",)
    return Diagnostic("undecided", Severity.WARNING, message, notes=(why,), helps=helps)


__all__ = ["Auto", "fell_back", "uncompared"]
