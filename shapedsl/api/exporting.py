"""Exporting under a lowering: unbacked, backed, or the first of the two that gives what the original gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..diagnostics import Diagnostic, Severity, ShapeError
from .lowering import COMPARED, Comparing

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from ..ir.expanded import Lowered
    from ..serving.verifying.values import Sampled
    from ..targets.entry.programs import Call


@dataclass(frozen=True, slots=True)
class Exporting:
    """One callable and its example.

    Attributes:
        target: What is exported.
        call: The example.
        lowered: The spec at its structure.
        strict: torch's own flag.
        check: Raises where a program demands what the spec does not imply.
    """

    target: Callable[..., Any]
    call: Call
    lowered: Lowered
    strict: bool
    check: Callable[[ExportedProgram], None]

    def program(self, lowering: str) -> ExportedProgram:
        """Returns the program.

        Args:
            lowering: ``unbacked``, ``backed`` or ``auto``.

        Raises:
            ShapeError: See `export`.
        """
        if lowering == "auto":
            return self._first_right()
        return self._backed() if lowering == "backed" else self._unbacked()

    def _unbacked(self) -> ExportedProgram:
        from ..targets.entry.export import export

        args, kwargs = self.call
        program = export(self.target, tuple(args), kwargs, self.lowered, strict=self.strict)
        self.check(program)
        return program

    def _backed(self) -> ExportedProgram:
        """Returns a backed program, compared with the original at sizes of 0.

        Raises:
            ShapeError: ``wrong-artifact``: it computes something else there; and see `backed_export`.
        """
        from ..targets.entry.backed_export import backed_export, zero_sizes

        program = backed_export(self.target, self.call, self.lowered, strict=self.strict)
        self.check(program)
        for name in zero_sizes(self.lowered):
            for size in (0, 1):
                found = self._compared(program, 2, {name: size})
                unknown = "" if found is None else found.skipped
                if found is not None and (found.wrong or (unknown and not _raises(found) and size == 0)):
                    raise ShapeError([self._wrong_at(name, found)])
        return program

    def _first_right(self) -> ExportedProgram:
        """Returns the unbacked program if it gives what the original gives, else the backed one.

        Raises:
            ShapeError: There is neither, with what is wrong with each.
        """
        from ..targets.entry.auto import fell_back, uncompared

        faults: list[Diagnostic] = []
        raised: Exception | None = None
        for backed in (False, True):
            kind = "backed" if backed else "unbacked"
            try:
                program = self._backed() if backed else self._unbacked()
            except ShapeError as error:
                faults += [replace(each, notes=(*each.notes, f"it was lowered {kind}")) for each in error.diagnostics]
                raised = error
                continue
            except Exception as error:  # torch's own, or the user's: the other lowering may do
                if backed:
                    raise
                faults.append(Diagnostic("unsupported-by-torch", Severity.ERROR, _headline(error)))
                continue
            found = self._compared(program, COMPARED, {})
            if found is not None and found.wrong:
                faults.append(self._wrong(kind, found))
            else:
                if backed:
                    Comparing().tell(fell_back(self._name, faults, None))
                if found is not None and found.skipped:
                    Comparing().tell(uncompared(self._name, kind, found.skipped))
                return program
        raise ShapeError(faults) from raised

    def _compared(self, program: ExportedProgram, samples: int, sizes: dict[str, int]) -> Sampled | None:
        """Returns how ``program`` compares with the original; None if no such sizes satisfy the spec."""
        from ..serving.exported.programs import positional_names
        from ..serving.verifying.sampled import sampled
        from ..targets.entry.parameters import parameters_of
        from ..targets.entry.programs import program_runner

        expanded = self.lowered.expanded
        names = positional_names(parameters_of(self.target, expanded.signature))
        run = program_runner(program, self._name, names)
        like = None if sizes else self.call
        try:
            return sampled(
                "",
                self.target,
                run,
                expanded,
                n=samples,
                like=self.call,
                sizes=sizes,
                examples=[like] if like is not None else (),
            )
        except ShapeError as error:
            if error.code == "missing-input":
                raise
            return None

    @property
    def _name(self) -> str:
        return self.lowered.expanded.signature.name

    def _wrong(self, kind: str, found: Sampled) -> Diagnostic:
        row = found.faults[0]
        message = f"`{self._name}`, exported {kind}, does not do what the original does"
        return Diagnostic("wrong-artifact", Severity.ERROR, message, notes=(f"{row.said}, at {row.at}",))

    def _wrong_at(self, name: str, found: Sampled) -> Diagnostic:
        helps = (f"add `where {name} >= 1`, and leave {name} == 0 to a `case`; or do without `backed`",)
        if found.wrong:
            return replace(self._wrong("backed", found), helps=helps)
        message = f"`{self._name}` cannot be exported backed: `{name}` may be 0, where nothing could be compared"
        notes = (found.skipped, "torch takes it for granted that a backed size is not 0")
        return Diagnostic("unsupported-by-torch", Severity.ERROR, message, notes=notes, helps=helps)


def _raises(found: Sampled) -> bool:
    """Returns whether nothing was compared because the original raises."""
    return all(row.what.startswith("the original raises") or row.what == "" for row in found.rows)


def _headline(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}"[:300] if lines else type(error).__name__


__all__ = ["Exporting"]
