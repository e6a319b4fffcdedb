"""Make artifacts ahead of calls: inputs of each alternative are drawn, and run once.

After::

    fn.warm()                                       # all of them, with inputs of the spec's own making
    fn.warm(examples=[((ids, mask), {})])           # structures, static sizes and dtypes as in these calls
    fn.warm(background=True).wait()                 # in a thread; calls that need one meanwhile wait for that one

The function runs for each artifact, so what it does beside returning happens; buffers of a module are put back.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ...diagnostics import Report, ShapeError
from ...ir import Constraint, Mode, Signature
from ...targets.entry.serving import as_now, kept
from ...targets.inputs import make
from ..examples.draw import Given, draw
from .cases import case_spec, combinations, label, members_of
from .running import Artifact, State

if TYPE_CHECKING:
    from .dispatcher import Dispatcher

USUAL = 8  # what sizes are, where no hint says otherwise and it fits
MOST_TRIED = 8  # inputs that are drawn for an artifact, until one reaches it
_HELP = "or warm with calls: `warm(examples=[(args, kwargs)])`"

Call: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]

# Is told how many artifacts are done, how many there are, and what the last one is called.
Progress: TypeAlias = Callable[[int, int, str], object]


@dataclass(frozen=True, slots=True)
class Wanted:
    """An artifact that is to be made.

    Attributes:
        position: Of its alternative.
        combination: The members that it is for.
        label: What it is called.
    """

    position: int
    combination: tuple[tuple[str, int], ...]
    label: str


@dataclass
class Warming:
    """What `warm` did, or is doing.

    Attributes:
        made: Artifacts that were made, or were there.
        failed: Artifacts that failed; a warning told why.
        skipped: Artifacts for which no inputs were found, with the reason.
        total: How many there are.
        error: What ended it early.
        thread: The one that it runs in, if that is another.
    """

    total: int = 0
    made: int = 0
    failed: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    error: BaseException | None = None
    thread: threading.Thread | None = field(default=None, repr=False)

    @property
    def done(self) -> bool:
        """Whether it ended."""
        return self.thread is None or not self.thread.is_alive()

    def wait(self, timeout: float | None = None) -> bool:
        """Returns whether it ended within ``timeout`` seconds.

        Raises:
            Exception: What ended it early.
        """
        if self.thread is not None:
            self.thread.join(timeout)
        if self.done and self.error is not None:
            raise self.error
        return self.done

    def __str__(self) -> str:
        parts = [f"{self.made} of {self.total} artifacts made"]
        parts += [f"{self.failed} failed"] * bool(self.failed)
        parts += [f"{name} skipped: {reason}" for name, reason in self.skipped]
        return ", ".join(parts) + ("" if self.done else ", running")


def warm(
    dispatcher: Dispatcher,
    examples: Sequence[Any] | None = None,
    *,
    background: bool = False,
    progress: Progress | bool | None = None,
    seed: int = 0,
) -> Warming:
    """Makes every artifact that inputs can be drawn for, and returns what was done.

    Args:
        dispatcher: Whose.
        examples: Calls, each a tuple of arguments or ``(args, kwargs)``: structures, static sizes and dtypes to warm.
        background: Whether to return at once, and go on in a thread.
        progress: Is called as ``progress(done, total, label)``; True prints.
        seed: Of the inputs.

    Raises:
        ShapeError: ``missing-input``: something is static, and no example is given.
    """
    calls = [_call(example) for example in examples] if examples is not None else [None]
    told = _print if progress is True else progress or _silent
    targets = [(call, wanted) for call in calls for wanted in wanted_by(dispatcher.signature)]
    drawn = [
        (each, *inputs_for(dispatcher, each, call, seed)) for call, each in targets
    ]  # what is missing is said at once
    warming = Warming(len(drawn))
    run = as_now(lambda: _run(dispatcher, warming, drawn, told))
    if not background:
        run()
        return warming
    warming.thread = threading.Thread(target=_caught(run, warming), name=f"warm {dispatcher.name}", daemon=True)
    warming.thread.start()
    return warming


def _caught(run: Callable[[], None], warming: Warming) -> Callable[[], None]:
    def quiet() -> None:
        try:
            run()
        except BaseException as error:
            warming.error = error

    return quiet


def _run(
    dispatcher: Dispatcher,
    warming: Warming,
    drawn: Sequence[tuple[Wanted, Sequence[Call], str]],
    told: Progress,
) -> None:
    for at, (wanted, calls, reason) in enumerate(drawn, 1):
        with kept(dispatcher.target, dispatcher.bound):
            found = reached(dispatcher, wanted, calls)
        if found is None:
            warming.skipped += ((wanted.label, reason or "no inputs were found that reach it"),)
        elif found[0].state is State.MADE:
            warming.made += 1
        else:
            warming.failed += 1
        told(at, warming.total, wanted.label)


def reached(dispatcher: Dispatcher, wanted: Wanted, calls: Sequence[Call]) -> tuple[Artifact, tuple[Any, ...]] | None:
    """Returns the artifact, made unless it failed, and the arguments of a call for it; None where no call reaches it.

    Args:
        dispatcher: Whose.
        wanted: Which.
        calls: That may reach it.
    """
    for args, kwargs in calls:
        structure, sizes, values = dispatcher.asked(*args, **kwargs)
        taken = structure.which(values)
        if taken is None or taken.position != wanted.position:
            continue
        if taken.chosen is not None:
            members = structure.joint(taken.position).combination(taken.chosen)
            if members != wanted.combination:
                continue
        artifact = dispatcher.found(structure, taken, make=True)
        if artifact is None:
            continue
        run = None
        if taken.chosen is not None:
            run = structure.padded(taken.position, frozenset()).call(taken.chosen, sizes)
        if artifact.state is State.NEW:
            artifact.start(values, run)
        if artifact.state is State.FAILED:
            artifact.start(values, run)  # makes what serves its sizes instead
        return artifact, values
    return None


def wanted_by(signature: Signature) -> Iterator[Wanted]:
    """Yields every artifact of a spec."""
    if not signature.alternatives:
        yield Wanted(0, (), "all sizes")
    for position, alternative in enumerate(signature.alternatives):
        if alternative.mode is not Mode.EAGER:
            for combination in combinations(alternative):
                yield Wanted(position, combination, label(alternative, position, combination))


def inputs_for(
    dispatcher: Dispatcher, wanted: Wanted, call: Call | None, seed: int, help_: str = _HELP
) -> tuple[list[Call], str]:
    """Returns inputs that should reach an artifact, and if there are none, why.

    Raises:
        ShapeError: ``missing-input``.
    """
    signature = _narrowed(dispatcher.signature, wanted)
    tensors = dispatcher.tensors
    held = dispatcher.receivers()
    named = {} if call is None else dispatcher.named(*call)
    like = {name: value for name, value in named.items() if name not in held}
    given = Given(values=held, like=like, is_tensor=tensors.is_tensor)
    report = Report()
    drawn = draw(signature, MOST_TRIED, seed, given=given, report=report)
    missing = [each for each in report.errors if each.code == "missing-input"]
    if missing:
        raise ShapeError([replace(each, helps=(*each.helps, help_)) for each in missing])
    if not drawn:
        return [], next((each.message for each in report), "it takes no sizes")
    made: list[Call] = []
    for each in drawn:
        try:
            device = None if given.like else dispatcher.device()
            args, kwargs = make(
                each.expanded, each.sizes, seed, given=held, like=like, device=device, params=signature.params
            )
        except ShapeError as error:
            if error.code == "missing-input":
                raise ShapeError([replace(d, helps=(*d.helps, help_)) for d in error.diagnostics]) from None
            return made, str(error.diagnostics[0].message)
        made.append((args[len(held) :], kwargs))
    return made, ""


def _narrowed(signature: Signature, wanted: Wanted) -> Signature:
    """Returns the spec of the sizes that reach an artifact, as far as that can be said."""
    narrowed = case_spec(signature, wanted.position).signature
    # of a size of 0 or 1 torch makes other graphs than of all others
    variables = tuple(v if v.hint is not None else replace(v, hint=USUAL) for v in narrowed.variables)
    own: tuple[Constraint, ...] = ()
    if signature.alternatives:
        own = tuple(members_of(signature.alternatives[wanted.position], wanted.combination))
    return replace(narrowed, variables=variables, constraints=(*narrowed.constraints, *own))


def _call(example: Any) -> Call:
    """Returns one example as a call.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(example, (tuple, list)):
        raise TypeError(f"an example is a tuple of arguments, or (args, kwargs), not {type(example).__name__}")
    parts = tuple(cast("Sequence[Any]", example))
    if len(parts) == 2 and isinstance(parts[0], (tuple, list)) and isinstance(parts[1], dict):
        keywords = cast("Mapping[object, Any]", parts[1])
        if all(isinstance(key, str) for key in keywords):
            return tuple(cast("Sequence[Any]", parts[0])), {str(key): value for key, value in keywords.items()}
    return parts, {}


def _print(done: int, total: int, what: str) -> None:
    sys.stderr.write(f"warmed {done} of {total}: {what}\n")


def _silent(done: int, total: int, what: str) -> None:
    del done, total, what


__all__ = ["Call", "Progress", "Wanted", "Warming", "inputs_for", "reached", "wanted_by", "warm"]
