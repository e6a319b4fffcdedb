"""What every stage reports with: sources, spans, diagnostics. Imports nothing of the package."""

from .codes import CODES
from .diagnostic import Annotation, Diagnostic, Edit, Fix, Severity
from .report import Report, ShapeError, ShapeWarning
from .span import Source, Span

__all__ = [
    "CODES",
    "Annotation",
    "Diagnostic",
    "Edit",
    "Fix",
    "Report",
    "Severity",
    "ShapeError",
    "ShapeWarning",
    "Source",
    "Span",
]
