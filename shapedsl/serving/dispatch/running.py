"""One artifact while it serves: made at its first call, counted, and given up if it cannot run.

What a call costs here is one addition and one tuple; every 32nd call is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from ...runtime.locks import Lock
from ...runtime.slots import PaddingError
from ...targets.entry.serving import is_transformed
from ..buckets.joint import MOST_REMEMBERED, Joint
from ..verifying.values import Sampled
from .artifacts import ArtifactSpec
from .cases import label
from .verifying import Verify, WrongArtifact, refusal_of, verified

if TYPE_CHECKING:
    from .structure import Structure

MOST_TOLD: Final = 16  # reasons for which calls of an artifact ran without it
MOST_SAID: Final = 300  # letters of a reason
SAMPLED: Final = 31  # a call is timed if no bit of its number is among these
FIRST: Final = 30  # where counting begins, so that the second call is timed, and then every 32nd

# What a generated function counts in: calls, from `FIRST` on; sizes of the last one, seconds and number of timed calls, what to run.
CALLS, LAST, SECONDS, TIMED, RUN = range(5)


class State(str, Enum):
    """What became of an artifact."""

    NEW = "not made"
    MADE = "made"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class _Failure:
    """A call that could not make its artifact.

    Attributes:
        error: Why.
        made: What raised it; None where nothing was made.
        versions: Of what it was given, before.
        start: When it began.
    """

    error: Exception
    made: Callable[..., Any] | None
    versions: tuple[int, ...]
    start: float


class Artifact:
    """One artifact at one structure, and one tuple of static sizes and host ints.

    Attributes:
        spec: What it may assume.
        key: What tells it from others of its alternative: values by name.
        excluded: Earlier alternatives that failed; it serves their sizes.
        cell: See `CALLS`.
        state: What became of it.
        seconds: How long it took to make it and to run it for the first time.
        reason: Why it failed.
        positional: What to run, with all arguments by position.
        pads: Whether it was run with padded arguments.
        shared: Whether another artifact, which assumes less, runs in its place.
        waste: Of all calls together, which part of padded tensors was slots.
        verified: How it compared with the target, when it last was.
    """

    def __init__(
        self, structure: Structure, spec: ArtifactSpec, key: tuple[tuple[str, int], ...], excluded: frozenset[int]
    ) -> None:
        self.structure = structure
        self.spec = spec
        self.key = key
        self.excluded = excluded
        self.cell = new_cell()
        self.state = State.NEW
        self.seconds = 0.0
        self.reason: str | None = None
        self.positional: Callable[..., Any] = _not_made
        self.waste = 0.0
        self.pads = False
        self.shared = False
        self.verified: Sampled | None = None
        self._graphs = 0  # that were compared
        self._wastes: dict[tuple[object, object], float] = {}
        self._hooks: list[Callable[[Callable[..., Any] | None], None]] = []
        self._lock = Lock()
        self._reroute: Callable[..., Any] | None = None
        self._told: set[str] = set()

    # ------------------------------------------------------------------------------- running

    def hook(self, install: Callable[[Callable[..., Any] | None], None]) -> None:
        """Lets ``install`` know what to run, now and whenever that changes; None: call `start`."""
        self._hooks.append(install)
        install(self.cell[RUN])

    def start(self, values: tuple[Any, ...], call: Call | None = None) -> Any:
        """Returns the result of a call of an artifact that is not made, or failed.

        Others that come meanwhile wait for the first one: torch would compile once in each thread.

        Args:
            values: All arguments, one a parameter.
            call: How to run; by default with ``values`` as they are.
        """
        run = call or self.structure.call
        if self.state is State.NEW and is_transformed():
            return self.structure.eager(*values)
        if self.state is State.NEW:
            with self.structure.dispatcher.comparing_or_not(), self._lock:
                result = self._first(run, values) if self.state is State.NEW else None
            if isinstance(result, _Failure):
                return self._without(result, values)
            if result is not None:
                return result[0]
        if self.state is State.FAILED:
            return self._instead()(*values)
        return run(self.cell[RUN], values)

    def _first(self, call: Call, values: tuple[Any, ...]) -> tuple[Any] | _Failure:
        """Returns the result of the call that makes it, in a tuple; or why there is none."""
        dispatcher = self.structure.dispatcher
        start = perf_counter()
        made: Callable[..., Any] | None = self.structure.same(self)
        self.shared = made is not None
        versions = dispatcher.versions(values)
        try:
            if made is None:
                made = dispatcher.backend.make(self.spec, *self.structure.given(self))
            if dispatcher.verify is not None and not self.shared:
                self._compare(made, values, replace(dispatcher.verify, first=True))
            result = call(made, values)
        except PaddingError:  # of this call
            raise
        except Exception as error:
            return _Failure(error, made, versions, start)
        self.seconds = 0.0 if self.shared else perf_counter() - start
        self._install(made)
        self._graphs = self.graphs()
        return (result,)

    def _compare(self, made: Callable[..., Any], values: tuple[Any, ...], how: Verify) -> None:
        """Compares it with the target.

        Raises:
            WrongArtifact: It computes something else, or nobody knows.
            Exception: It cannot be made.
        """
        self.verified = verified(self, made, values, how)
        refusal = refusal_of(self, self.verified)
        if refusal is not None:
            raise refusal

    def verify(self, values: tuple[Any, ...], how: Verify) -> Sampled:
        """Returns how it compares with the target; it is given up if it may not serve.

        Args:
            values: All arguments of a call that it takes, one a parameter.
            how: How many sizes, and how closely.
        """
        run = self.cell[RUN]
        if run is None:
            return Sampled(self.spec.label, remarks=(f"it is {self.state.value}",))
        with self.structure.dispatcher.comparing:
            try:
                self._compare(run, values, how)
            except WrongArtifact as error:
                if self.structure.dispatcher.verify is None:  # what serves its sizes now has to show that it is right
                    self.structure.dispatcher.verify = how
                self.fail(error)
                return error.found
            except Exception as error:  # torch cannot make it anew
                self.fail(error)
                return Sampled(self.spec.label, remarks=(headline(error),))
        assert self.verified is not None  # it was just compared
        return self.verified

    def watched(self, *values: Any) -> Any:
        """Returns the result of a call, where artifacts are compared.

        Args:
            *values: All arguments, one a parameter.
        """
        start = perf_counter()
        result = self.positional(*values)
        seconds = perf_counter() - start
        if self.graphs() != self._graphs:
            return self.settled(values, result)
        self.cell[SECONDS] += seconds
        self.cell[TIMED] += 1
        return result

    def settled(self, values: tuple[Any, ...], result: Any) -> Any:
        """Returns what a call gives for which torch may have made another graph: ``result``, if that graph is right.

        Args:
            values: All arguments, one a parameter.
            result: Of the artifact.

        Raises:
            WrongArtifact: It is not, and the call changed what it was given.
        """
        dispatcher = self.structure.dispatcher
        run, how = self.cell[RUN], dispatcher.verify
        if run is None or how is None or self.graphs() == self._graphs:
            return result
        with dispatcher.comparing:
            if self.graphs() == self._graphs:  # another thread was faster
                return result
            try:
                self._compare(run, values, replace(how, first=True))
            except WrongArtifact as error:
                self.fail(error)
                if error.found.changes:
                    raise error.after_a_call() from None
                return self.structure.eager(*values)
            self._graphs = self.graphs()
        return result

    def _without(self, failure: _Failure, values: tuple[Any, ...]) -> Any:
        """Returns the result of a call that could not make it.

        Not under the lock: where the target calls itself it needs other artifacts, whose threads may wait for this one.

        Raises:
            Exception: What the target raises.
        """
        dispatcher = self.structure.dispatcher
        made = failure.made
        try:
            reason = failure.error
            if made is not None and not isinstance(reason, WrongArtifact):
                reason = dispatcher.backend.translate(made, reason) or reason
            if dispatcher.versions(values) != failure.versions:
                raise reason  # it ran, and changed what it was given: it cannot run again
            result = self.structure.eager(*values)  # raises what is the user's own
        except Exception:
            with self._lock:
                wrong = isinstance(failure.error, WrongArtifact)
                if made is not None and not wrong and self.state is State.NEW and dispatcher.backend.graphs(made):
                    self._install(made)  # nothing is wrong with it
            raise
        finally:
            self.seconds = perf_counter() - failure.start
        self.fail(reason)
        return result

    def _install(self, run: Callable[..., Any]) -> None:
        self.cell[RUN] = run
        self.positional = self.structure.by_position(run)
        self.state = State.MADE
        for hook in self._hooks:
            hook(run)

    def fail(self, error: Exception) -> None:
        """Gives the artifact up, and says so once."""
        with self._lock:
            if self.state is State.FAILED:  # another thread told, or the function called itself, and that call did
                return
            wrong = isinstance(error, WrongArtifact)
            made = self.state is State.MADE and not wrong  # by a call that came meanwhile
            if not made:
                self.state = State.FAILED
                self.reason = error.reason if isinstance(error, WrongArtifact) else headline(error)
                self.cell[RUN] = None
                for hook in self._hooks:
                    hook(None)
        if isinstance(error, WrongArtifact):
            self.structure.dispatcher.tell_wrong(error)
        elif made:
            self._tell(error)
        else:
            self.structure.dispatcher.tell_failed(self, error)

    def failed(self, error: Exception, values: tuple[Any, ...]) -> Any:
        """Returns the result of a call for which an artifact that was made raised ``error``.

        Raises:
            Exception: ``error``, where it is the target's own.
        """
        dispatcher = self.structure.dispatcher
        run = self.cell[RUN]
        reason = None if run is None else dispatcher.backend.translate(run, error)
        if reason is None:
            raise error
        result = self.structure.eager(*values)
        if is_transformed():
            return result
        self._tell(reason)
        return result

    def _tell(self, reason: Exception) -> None:
        """Tells once why calls run without it."""
        if headline(reason) not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(headline(reason))
            self.structure.dispatcher.tell_refused(self, reason)

    def timed(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the result of a call, and counts how long it took."""
        run, graphs = self.cell[RUN], self.graphs()
        start = perf_counter()
        result = run(*args, **kwargs)
        seconds = perf_counter() - start
        if self.graphs() == graphs:  # else most of the time was torch compiling for another dtype or stride
            self.cell[SECONDS] += seconds
            self.cell[TIMED] += 1
        return result

    def note_waste(self, joint: Joint, sizes: Mapping[str, int], chosen: tuple[int, ...]) -> None:
        """Counts what a call pads."""
        self.pads = True
        key = self.cell[LAST], chosen
        waste = self._wastes.get(key)
        if waste is None:
            if len(self._wastes) >= MOST_REMEMBERED:
                self._wastes.clear()
            waste = self._wastes[key] = joint.waste(sizes, chosen)
        self.waste += waste

    def _instead(self) -> Callable[..., Any]:
        """Returns what serves the sizes of an artifact that failed: a later alternative, or the target."""
        if self._reroute is None:
            with self._lock:
                if self._reroute is None:
                    self._reroute = self.structure.after(self)
        return self._reroute

    # ------------------------------------------------------------------------------- telling

    @property
    def called(self) -> str:
        """What messages call it: its alternative, and whose sizes it serves too."""
        others = (label(self.structure.alternatives[each], each) for each in sorted(self.excluded))
        return f"{self.spec.label} for {', '.join(others)} too" if self.excluded else self.spec.label

    @property
    def calls(self) -> int:
        """How many calls it served."""
        return calls_of(self.cell)

    def graphs(self) -> int:
        """Returns how many graphs it holds."""
        run = self.cell[RUN]
        return 0 if run is None else self.structure.dispatcher.backend.graphs(run)


def new_cell(run: Callable[..., Any] | None = None) -> list[Any]:
    """Returns a cell without calls; see `CALLS`."""
    return [FIRST, None, 0.0, 0, run]


def calls_of(cell: Sequence[Any]) -> int:
    """Returns how many calls a cell counted."""
    calls: int = cell[CALLS] - FIRST
    return calls


def _not_made(*values: Any) -> Any:
    raise AssertionError(f"an artifact that is not made was run with {len(values)} arguments")


# Runs an artifact with all arguments.
Call = Callable[[Callable[..., Any], tuple[Any, ...]], Any]


def headline(error: Exception) -> str:
    """Returns the first line of what an error says, without the marks of a diagnostic."""
    diagnostics: Any = getattr(error, "diagnostics", None)
    if diagnostics:
        return str(diagnostics[0].message)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = " ".join(lines[:2]) if lines and lines[0].endswith(":") else "".join(lines[:1])
    return f"{type(error).__name__}: {said}"[:MOST_SAID] if said else type(error).__name__


__all__ = ["Artifact", "State", "calls_of", "headline", "new_cell"]
