"""Diagnostics as data: what is wrong, where, and how to mend it. Nothing here prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from .span import Span


class Severity(str, Enum):
    """How bad it is. ``error`` findings make commands exit with 1, ``warning`` only under ``--strict``."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A labeled span. The first annotation of a diagnostic is its main one, drawn with ``^``."""

    span: Span
    label: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of ``span`` by ``replacement``."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that cure the finding.

    Attributes:
        description: An imperative sentence: "write `//`".
        edits: Non-overlapping.
        safe: Whether ``check --fix`` may apply it unasked: it must not change which sizes are accepted.
    """

    description: str
    edits: tuple[Edit, ...]
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    Attributes:
        code: A kebab-case name of the fault, a key of `codes.CODES`.
        severity: How bad it is.
        message: A terse headline: no period, no capital.
        annotations: Labeled spans, the main one first; empty where no source exists (run time).
        notes: Lines after ``= note:``; facts.
        helps: Lines after ``= help:``; what to do.
        fix: Edits that cure it, if a machine can.
        core: For `contradiction`: the constraints at fault, as source texts.
        core_of: How many constraints ``core`` was chosen from; 0 where that is not known.
        witness: Sizes that show the fault, by variable name.
    """

    code: str
    severity: Severity
    message: str
    annotations: tuple[Annotation, ...] = ()
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    fix: Fix | None = None
    core: tuple[str, ...] = ()
    witness: tuple[tuple[str, int], ...] = ()
    core_of: int = field(default=0, compare=False)

    @property
    def span(self) -> Span | None:
        """The main span, if there is one."""
        return self.annotations[0].span if self.annotations else None
