"""The ordered collector of diagnostics, and the exceptions that carry them across the API's edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypedDict

from .codes import CODES
from .diagnostic import Annotation, Diagnostic, Fix, Severity
from .silence import is_silenced
from .span import Span

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Details(TypedDict, total=False):
    """The keywords of `Report.emit`."""

    at: Span | None
    label: str
    also: Iterable[tuple[Span | None, str]]
    note: str | Iterable[str]
    help: str | Iterable[str]
    fix: Fix | None
    core: Iterable[str]
    witness: Iterable[tuple[str, int]]
    core_of: int


class Report:
    """Collects diagnostics in the order they were found. Passes add to it and never raise for bad input."""

    __slots__ = ("_diagnostics", "_seen")

    def __init__(self, diagnostics: Iterable[Diagnostic] = ()) -> None:
        self._diagnostics: list[Diagnostic] = list(diagnostics)
        self._seen = set(self._diagnostics)

    def add(self, diagnostic: Diagnostic) -> None:
        """Appends ``diagnostic``, unless it is silenced, or there already (several defs share one line)."""
        if diagnostic.code not in CODES:
            raise KeyError(diagnostic.code)
        if diagnostic not in self._seen and not is_silenced(diagnostic):
            self._seen.add(diagnostic)
            self._diagnostics.append(diagnostic)

    def error(self, code: str, message: str, **details: Unpack[Details]) -> None:
        """Adds an error; see `emit` for the keywords."""
        self.emit(Severity.ERROR, code, message, **details)

    def warning(self, code: str, message: str, **details: Unpack[Details]) -> None:
        """Adds a warning; see `emit` for the keywords."""
        self.emit(Severity.WARNING, code, message, **details)

    def emit(
        self,
        severity: Severity,
        code: str,
        message: str,
        *,
        at: Span | None = None,
        label: str = "",
        also: Iterable[tuple[Span | None, str]] = (),
        note: str | Iterable[str] = (),
        help: str | Iterable[str] = (),
        fix: Fix | None = None,
        core: Iterable[str] = (),
        witness: Iterable[tuple[str, int]] = (),
        core_of: int = 0,
    ) -> None:
        """Adds a finding.

        Args:
            severity: How bad it is.
            code: A key of `codes.CODES`.
            message: The headline.
            at: The main span; ``label`` is written under it.
            label: What the main span shows.
            also: Secondary spans with their labels; those without a span are dropped.
            note: Facts, one line each.
            help: What to do, one line each.
            fix: Edits that cure it.
            core: Constraint texts of a contradiction.
            witness: Sizes that show the fault.
            core_of: How many constraints ``core`` was chosen from.
        """
        annotations = [] if at is None else [Annotation(at, label)]
        annotations += [Annotation(span, text) for span, text in also if span is not None]
        self.add(
            Diagnostic(
                code,
                severity,
                message,
                tuple(annotations),
                (note,) if isinstance(note, str) else tuple(note),
                (help,) if isinstance(help, str) else tuple(help),
                fix,
                tuple(core),
                tuple(witness),
                core_of,
            )
        )

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings, in order."""
        return tuple(self._diagnostics)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings of severity error."""
        return tuple(d for d in self._diagnostics if d.severity is Severity.ERROR)

    def raise_errors(self) -> None:
        """Raises `ShapeError` with all findings if one of them is an error."""
        if any(d.severity is Severity.ERROR for d in self._diagnostics):
            raise ShapeError(self._diagnostics)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._diagnostics)

    def __len__(self) -> int:
        return len(self._diagnostics)


class ShapeWarning(UserWarning):
    """What `warnings.warn` gets where no report can be returned."""


class ShapeError(ValueError):
    """Raised at the API's edge: a spec is wrong, or an input does not satisfy it.

    ``str()`` is the rendered text, as ``shapedsl check`` prints it.

    Attributes:
        diagnostics: All findings, the errors among them first.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        ordered = sorted(diagnostics, key=lambda d: d.severity is not Severity.ERROR)
        super().__init__(tuple(ordered))
        self.diagnostics: tuple[Diagnostic, ...] = tuple(ordered)

    @property
    def code(self) -> str:
        """The first finding's code."""
        return self.diagnostics[0].code

    @property
    def core(self) -> list[str]:
        """The constraints at fault, as source texts; empty where there is no contradiction."""
        return list(self.diagnostics[0].core)

    @property
    def witness(self) -> dict[str, int]:
        """Sizes that show the fault."""
        return dict(self.diagnostics[0].witness)

    def __str__(self) -> str:
        from .render.full import render  # the rendering is not needed until someone looks

        return render(self.diagnostics)
