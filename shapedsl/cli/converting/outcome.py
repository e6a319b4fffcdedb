"""What became of one file: plain data, made by a process and told by another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...diagnostics import Diagnostic

if TYPE_CHECKING:
    from ...pipeline import SiteResult


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is to hold something else.

    Attributes:
        name: Its path.
        before: What it holds; None where it is not there.
        after: What it is to hold.
        diff: The difference, line by line as a unified diff has it.
    """

    name: str
    before: bytes | None
    after: bytes
    diff: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A file.

    Attributes:
        name: Its path.
        sites: The call sites that were found, in the order of the file.
        change: What is to be written; None where nothing is.
        diagnostics: What was found.
        skipped: Whether the file was not looked into, although it may use legacy specs; a diagnostic says why.
    """

    name: str
    sites: tuple[SiteResult, ...] = ()
    change: Change | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: bool = False

    @property
    def converted(self) -> int:
        """How many sites are converted."""
        return sum(site.outcome == "converted" for site in self.sites)

    @property
    def kept(self) -> int:
        """How many sites are kept."""
        return len(self.sites) - self.converted


__all__ = ["Change", "Outcome"]
