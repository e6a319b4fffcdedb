"""Who makes artifacts: torch.compile, exported programs, packages. The choice among them is the same."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from ...ir import Mode
from ...ir.expanded import Expanded
from ...runtime.parameters import Parameter
from ...targets.enforced.held import Held
from ...targets.entry.artifacts import Compiled, compiled, planned
from ...targets.entry.compile import Passes
from ...targets.entry.lowering import BACKED, Plan
from ...targets.entry.serving import is_refusal
from .artifacts import ArtifactSpec


class Backend(Protocol):
    """Makes artifacts, and knows them."""

    def make(
        self, spec: ArtifactSpec, at: Expanded, statics: Mapping[str, int], present: Mapping[str, bool]
    ) -> Callable[..., Any]:
        """Returns what runs one artifact; it takes what the target takes, those arguments that are ``present``.

        Args:
            spec: Which artifact, and what it may assume.
            at: ``spec.signature`` at the structure of the arguments.
            statics: The value of each ``const X = _``.
            present: Parameters that map to false are not passed.

        Raises:
            Exception: It cannot be made; then the target runs eagerly.
        """
        ...

    def translate(self, run: Callable[..., Any], error: Exception) -> Exception | None:
        """Returns why ``run`` could not serve a call, in the user's terms; None: the error is the target's own."""
        ...

    def graphs(self, run: Callable[..., Any]) -> int:
        """Returns how many graphs ``run`` holds."""
        ...


class CompileBackend:
    """Compiles with torch, an entry function an artifact."""

    def __init__(
        self,
        target: Callable[..., Any],
        parameters: Sequence[Parameter],
        passes: Passes,
        options: Mapping[str, Any],
        name: str,
    ) -> None:
        self._target = target
        self._parameters = parameters
        self._lower = passes.lower
        self._options = options
        self._name = name
        self.plan = Plan.of(passes.lowering, passes.judge)
        self._made: dict[Callable[..., Any], Compiled] = {}

    def make(
        self, spec: ArtifactSpec, at: Expanded, statics: Mapping[str, int], present: Mapping[str, bool]
    ) -> Callable[..., Any]:
        """Returns the target compiled under ``spec``; see `Backend`.

        Raises:
            ShapeError: The spec cannot be lowered.
        """
        lowered = self._lower(at, statics, True)
        make = functools.partial(compiled, self._target, self._parameters, lowered, self._options)
        plan = replace(self.plan, lowering=BACKED) if spec.mode is Mode.BACKED else self.plan
        made = planned(plan, make, self._target, lowered, name=self._name, present=present)
        self._made[made.run] = made
        return made.run

    def translate(self, run: Callable[..., Any], error: Exception) -> Exception | None:
        """Returns ``error`` in terms of the spec, or as it is where torch could not compile; else None."""
        return self._made[run].translate(error) or (error if is_refusal(error) else None)

    def graphs(self, run: Callable[..., Any]) -> int:
        """Returns how many graphs torch holds for ``run``."""
        return self._made[run].graphs()

    def held(self, run: Callable[..., Any]) -> Held | None:
        """Returns the function that torch compiled for ``run``, with what reads its guards."""
        return self._made[run].held() if run in self._made else None


__all__ = ["Backend", "CompileBackend"]
