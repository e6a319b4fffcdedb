"""What a run adds up to, in a line and as numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .outcome import Outcome


@dataclass(slots=True)
class Summary:
    """Counts.

    Attributes:
        files: That were looked at.
        changed: Files that are, or would be, written.
        converted, kept: Call sites.
        skipped: Files that may use legacy specs and were not looked into.
        verdicts: Converted sites by verdict.
    """

    files: int = 0
    changed: int = 0
    converted: int = 0
    kept: int = 0
    skipped: int = 0
    verdicts: Counter[str] = field(default_factory=Counter[str])

    def add(self, outcome: Outcome) -> None:
        """Counts a file."""
        self.files += 1
        self.changed += outcome.change is not None
        self.converted += outcome.converted
        self.kept += outcome.kept
        self.skipped += outcome.skipped
        self.verdicts.update(site.verdict for site in outcome.sites if site.outcome == "converted")

    def line(self, *, done: bool) -> str:
        """Returns it in words: "12 files: 9 call sites converted, 2 kept, 1 file skipped".

        Args:
            done: Whether the files were written.
        """
        if not (self.converted or self.kept or self.skipped):
            return f"{count(self.files, 'file')}: no legacy specs"
        verb = "converted" if done else "would be converted"
        parts = [f"{count(self.converted, 'call site')} {verb}"]
        if self.kept:
            parts.append(f"{self.kept} kept")
        if self.skipped:
            parts.append(f"{count(self.skipped, 'file')} skipped")
        return f"{count(self.files, 'file')}: {', '.join(parts)}"

    def as_dict(self) -> dict[str, object]:
        """Returns it as JSON values."""
        return {
            "files": self.files,
            "changed": self.changed,
            "converted": self.converted,
            "kept": self.kept,
            "skipped": self.skipped,
            "verdicts": dict(sorted(self.verdicts.items())),
        }


def count(number: int, noun: str) -> str:
    """Returns "1 file", "2,000 files"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


__all__ = ["Summary", "count"]
