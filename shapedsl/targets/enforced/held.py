"""A function that torch compiled, and what it takes to read its guards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...ir import Attribute, Path
from ...ir.expanded import Expanded
from .cached import SHARED, Graph, cached


@dataclass(frozen=True, slots=True)
class Held:
    """A function that torch compiled.

    Attributes:
        function: Whose code torch compiled.
        spelled: Of each parameter, the name of the local variable that holds it.
        positions: Of each parameter, its position, where the function takes ``*args, **kwargs`` only.
        offsets: What the caller adds to an int before the function sees it.
        own: The spec at one structure, which is checked in front of it; None if nothing is.
        declared: The spec that torch itself was given, at the structure: its numbers are refused by torch.
        label: Which artifact it is, where there are several.
        region: torch's number of what it shares graphs with.
        chosen: Whether only a graph counts that takes the call at hand: torch shares its code with other functions.
    """

    function: Any  # a FunctionType, which type checkers would bind like a method
    spelled: Mapping[str, str] = field(default_factory=dict)
    positions: Mapping[str, int] = field(default_factory=dict)
    offsets: Mapping[str, int] = field(default_factory=dict)
    own: Expanded | None = None
    declared: Expanded | None = None
    label: str = ""
    region: int = SHARED
    chosen: bool = False

    def graphs(self) -> list[Graph]:
        """Returns the graphs that torch holds for it, the oldest first."""
        return cached(self.function.__code__, self.function.__globals__, self.region)

    def sources(self, path: Path) -> list[str]:
        """Returns how torch's guards may call what is at ``path``."""
        steps = "".join(f".{s.name}" if isinstance(s, Attribute) else f"[{s.key!r}]" for s in path.steps)
        roots = [f"L[{self.spelled.get(path.root, path.root)!r}]"]
        if path.root in self.positions:
            roots += [f"L['args'][{self.positions[path.root]}]", f"L['kwargs'][{path.root!r}]"]
        return [f"{root}{steps}" for root in roots]


__all__ = ["Held"]
