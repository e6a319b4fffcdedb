"""What `sd.export_cases` returns, and `sd.load_artifacts`: called like the module, with a program for each case."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ...ir import Mode
from ..dispatch.cases import label
from ..dispatch.explained import explain_call
from ..dispatch.stats import Stats, stats_of
from .programs import Entry, ExportedDispatcher
from .saved_structures import structure_from_json

if TYPE_CHECKING:
    from ...runtime.parameters import Parameter
    from ..buckets.padded_calls import Unpad


class ExportedCases:
    """A module as exported programs, one for each alternative of its spec, and for each choice of bucket members.

    A call is checked, and runs the program of the first alternative that takes its sizes. It is called like the
    module that was exported.
    """

    def __init__(
        self,
        dispatcher: ExportedDispatcher,
        entries: Sequence[Entry],
        spec: Any,
        structures: Sequence[Mapping[str, Any]],
    ) -> None:
        """Args:
        dispatcher: Chooses.
        entries: What it chooses among.
        spec: As users hold it.
        structures: For which there are entries; see `saved_structures`.

        Raises:
            ValueError: A structure is none of the spec.
        """
        for each in structures:
            dispatcher.meet(structure_from_json(dispatcher, each))
        self.structures = tuple(structures)
        self._dispatcher = dispatcher
        self._entries = tuple(entries)
        self._spec = spec
        self._front = dispatcher.front()
        functools.update_wrapper(self, self._front, assigned=("__doc__", "__name__"), updated=())

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Returns what the program of these sizes returns.

        Raises:
            ShapeError: The call does not satisfy the spec; ``no-alternative`` takes it; or ``no-program`` was
                exported for arguments like these.
        """
        return self._front(*args, **kwargs)

    @property
    def dispatcher(self) -> ExportedDispatcher:
        """What chooses among the artifacts."""
        return self._dispatcher

    @property
    def spec(self) -> Any:
        """The spec."""
        return self._spec

    @property
    def programs(self) -> Mapping[str, Any]:
        """The exported programs, by what `stats` calls them. Packages that were loaded have none."""
        return {each.label: each.program for each in self._entries if each.program is not None}

    @property
    def labels(self) -> tuple[str, ...]:
        """What there is an artifact for."""
        return tuple(each.label for each in self._entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The artifacts."""
        return self._entries

    @property
    def eager(self) -> tuple[str, ...]:
        """The alternatives that run the module itself."""
        alternatives = enumerate(self._dispatcher.signature.alternatives)
        return tuple(label(each, at) for at, each in alternatives if each.mode is Mode.EAGER)

    @property
    def module(self) -> Any:
        """The module behind; None where it was loaded without."""
        return self._dispatcher.target if self._dispatcher.has_target else None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """How it is called."""
        return self._dispatcher.parameters

    @property
    def unpad(self) -> Unpad:
        """What crops outputs, by path."""
        return self._dispatcher.unpad

    def stats(self) -> Stats:
        """Returns which artifacts ran, as data and, printed, as a table."""
        return stats_of(self._dispatcher)

    def explain(self, /, *args: Any, **kwargs: Any) -> str:
        """Returns which alternative takes a call, what is padded, and which artifact runs; or why it is refused."""
        return explain_call(self._dispatcher, args, kwargs)

    def __reduce__(self) -> NoReturn:
        """Refuses to be pickled or copied.

        Raises:
            TypeError: Always.
        """
        raise TypeError("exported cases are not pickled; use `save_artifacts` and `load_artifacts`")

    def __repr__(self) -> str:
        count = len(self._entries)
        return f"<ExportedCases {self._dispatcher.name}: {count} artifact{'' if count == 1 else 's'}>"


__all__ = ["ExportedCases"]
