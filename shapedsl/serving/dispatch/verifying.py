"""Compare an artifact with the original, before it serves or when somebody asks.

Before, for an artifact that is new::

    case large     made, runs the call that needed it

After::

    case large     made, compared on 8 sizes of its own, runs the call; or is given up, and the original runs

The call that needs it is compared first, with clones of its arguments; the sizes of the others are drawn from what
the artifact may be called with, and what the spec does not speak of is as in that call. An artifact that pads is
compared unpadded, since padding may be what is wrong, but for what is declared ``as approximate``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...diagnostics import Annotation, Diagnostic, Severity, ShapeError
from ...ir import Constraint, Mode, Signature
from ...ir.expanded import Expanded
from ...ir.taking import pads
from ...normalize.claims_of_padding import given_up
from ...runtime.explain import sizes_of
from ...runtime.parameters import OMITTED
from ...runtime.slots import PaddingError
from ..buckets.check_padding import reveal_masks
from ..buckets.check_padding.sizes import Chooser
from ..examples.draw import Given
from ..verifying.calls import Sample
from ..verifying.sampled import Sampled, compared
from ..verifying.samples import SAMPLES, Affordable, arguments_at, draw_at
from ..verifying.wrong import wrong_artifact
from .cases import case_spec, members_of

if TYPE_CHECKING:
    from .running import Artifact


@dataclass(frozen=True, slots=True)
class Verify:
    """How artifacts are compared.

    Attributes:
        samples: How many sizes are drawn for each.
        seed: Of sizes and data.
        grad: Whether gradients are compared.
        tolerance: Allowed relative error; None for what rounding does in each dtype.
        first: Whether the first fault ends it.
    """

    samples: int = SAMPLES
    seed: int = 0
    grad: bool = False
    tolerance: float | None = None
    first: bool = False


class WrongArtifact(ShapeError):
    """An artifact computes something else than the original, or nobody knows.

    Attributes:
        found: What was compared.
    """

    def __init__(self, diagnostic: Diagnostic, found: Sampled) -> None:
        super().__init__([diagnostic])
        self.found = found

    @property
    def reason(self) -> str:
        """What is wrong, in one line."""
        notes = self.diagnostics[0].notes
        return notes[0] if self.found.wrong else f"it cannot be compared: {notes[0]}"

    def after_a_call(self) -> WrongArtifact:
        """Returns what to raise where it ran, and the original cannot run in its place."""
        note = "this call changed what it was given, so the original cannot run in its place"
        told = self.diagnostics[0]
        return WrongArtifact(replace(told, severity=Severity.ERROR, notes=(*told.notes, note)), self.found)


def verified(artifact: Artifact, run: Callable[..., Any], values: tuple[Any, ...], how: Verify) -> Sampled:
    """Returns how an artifact compares with the original.

    Args:
        artifact: Which.
        run: It.
        values: All arguments of a call that it takes, one a parameter.
        how: How many sizes, and how closely.

    Raises:
        Exception: torch could not make it: what the first call raised, in the user's terms.
    """
    return _Comparison(artifact, run, values, how).found()


class _Comparison:
    def __init__(self, artifact: Artifact, run: Callable[..., Any], values: tuple[Any, ...], how: Verify) -> None:
        self.artifact = artifact
        self.structure = artifact.structure
        self.dispatcher = artifact.structure.dispatcher
        self.position = artifact.spec.position
        self.alternative = self.structure.alternatives[self.position]
        self.made = run
        self.plain = self.structure.by_position(run)
        self.values = values
        self.how = how
        self.listed = self.dispatcher.listed(values)
        self.pads = pads(self.alternative)
        self.chooser = Chooser(self.structure.expanded, self.listed)
        self.errors: list[Exception] = []

    def found(self) -> Sampled:
        """Returns what was compared; see `verified`."""
        approximate = any(bucket.reason == "approximate" for bucket in self.alternative.buckets)
        found = compared(
            self.artifact.called,
            self._approximately if approximate and self.how.tolerance is None else self._original,
            self._run,
            self._samples(),
            grad=self.how.grad,
            tolerance=self.how.tolerance,
            ignored={"": given_up(self.structure.signature, self.alternative)} if self.pads else None,
            holders=(*self.dispatcher.bound, self.dispatcher.target),
            shared=True,
            first=self.how.first,
        )
        if self.errors and found.faults and not found.compared:
            reason = self.dispatcher.backend.translate(self.made, self.errors[0])
            if reason is not None:
                raise reason
        return replace(found, rows=tuple(replace(row, label=found.label) for row in found.rows))

    # ------------------------------------------------------------------------------- who runs

    def _original(self, /, **given: Any) -> Any:
        return self.structure.eager(*self._all(given))

    def _approximately(self, /, **given: Any) -> Any:
        """Returns what the original makes of padded arguments, where padding is known to change results."""
        return self._padded(self.dispatcher.target, given)

    def _run(self, /, **given: Any) -> Any:
        try:
            return self._padded(self.made, given) if self.pads else self.plain(*self._all(given))
        except PaddingError:
            raise
        except Exception as error:
            self.errors.append(error)
            raise

    def _padded(self, run: Callable[..., Any], given: Mapping[str, Any]) -> Any:
        values = self._all(given)
        sizes = self._sizes(values)
        chosen = self._chosen(sizes)
        assert chosen is not None  # no other sizes are drawn
        return self.structure.padded(self.position, self.artifact.excluded).call(chosen, sizes)(run, values)

    def _all(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(given.get(param.name, OMITTED) for param in self.structure.parameters)

    def _sizes(self, values: tuple[Any, ...]) -> dict[str, int]:
        return {**dict(self.artifact.key), **sizes_of(self.structure.expanded, self.dispatcher.listed(values))}

    def _chosen(self, sizes: Mapping[str, int]) -> tuple[int, ...] | None:
        """Returns what the buckets choose for sizes, if this artifact then serves them."""
        chosen = self.chooser.chosen(self.position, sizes)
        if chosen is None or self.structure.joint(self.position).combination(chosen) != self.artifact.spec.pinned:
            return None
        return chosen

    # ------------------------------------------------------------------------------- samples

    def _samples(self) -> list[Sample]:
        own = self._sample(self.listed, self._sizes(self.values))
        return [own, *self._drawn()]

    def _drawn(self) -> list[Sample]:
        at = replace(self.structure.expanded, signature=signature_of(self.artifact))
        held = self.dispatcher.receivers()
        like = {name: value for name, value in self.listed.items() if name not in held}
        given = Given(dict(self.artifact.key), held, like, self.dispatcher.tensors.is_tensor)
        own = self._sizes(self.values)
        accept = _Reaching(self.listed, own, self._chosen if self.pads else None)
        found: list[Sample] = []
        for number, each in enumerate(draw_at(at, self.how.samples, self.how.seed, given=given, affordable=accept)):
            if not accept(at, each.sizes) or own.items() <= each.sizes.items():
                continue  # the first is not held to it; or they are the call's own
            arguments = arguments_at(each, self.how.seed + number, like, None, held)
            point = self.chooser.point(self.position, each.sizes) if self.pads else None
            if point is not None:
                reveal_masks(self.chooser, self.position, point, arguments)
            found.append(self._sample(arguments, each.sizes))
        return found

    def _sample(self, arguments: Mapping[str, Any], sizes: Mapping[str, int]) -> Sample:
        """Returns a call: what the spec does not speak of is as in the call that needs the artifact."""
        pairs = zip(self.structure.parameters, self.values, strict=True)
        rest = {param.name: value for param, value in pairs if value is not OMITTED}
        shown = {name: size for name, size in sizes.items() if not name.startswith("?")}
        return Sample("", shown, {**rest, **arguments}, 0)


def signature_of(artifact: Artifact) -> Signature:
    """Returns the spec of the sizes that an artifact is called with, unpadded."""
    structure, position = artifact.structure, artifact.spec.position
    if not structure.signature.alternatives:
        return artifact.spec.signature
    narrowed = case_spec(structure.signature, position, artifact.excluded).signature
    own: tuple[Constraint, ...] = tuple(members_of(structure.alternatives[position], artifact.spec.pinned))
    return replace(narrowed, constraints=(*narrowed.constraints, *own))


class _Reaching(Affordable):
    """Sizes that are padded to what an artifact is for, affordable, and not empty where the call is not.

    Of an empty tensor torch may make a graph of its own, which is compared when there is a call for it.
    """

    def __init__(
        self,
        like: Mapping[str, Any],
        sizes: Mapping[str, int],
        chosen: Callable[[Mapping[str, int]], object] | None,
    ) -> None:
        super().__init__(like)
        self._sizes = sizes
        self._chosen = chosen

    def __call__(self, expanded: Expanded, sizes: Mapping[str, int]) -> bool:
        affordable = super().__call__(expanded, sizes)
        filled = all(size or not self._sizes.get(name, 1) for name, size in sizes.items())
        return affordable and filled and (self._chosen is None or self._chosen(sizes) is not None)


def refusal_of(artifact: Artifact, found: Sampled) -> WrongArtifact | None:
    """Returns why an artifact may not serve; None if it may.

    Args:
        artifact: Which.
        found: What was compared.
    """
    if found.passed:
        return None
    name = artifact.structure.dispatcher.name
    span = artifact.structure.alternatives[artifact.spec.position].span or artifact.structure.signature.span
    helps = _helps(artifact, found)
    told = wrong_artifact(found, name, "the artifact", helps=helps, severity=Severity.WARNING)
    if span is not None:
        told = replace(told, annotations=(Annotation(span, "its sizes run without it"),))
    return WrongArtifact(told, found)


def _helps(artifact: Artifact, found: Sampled) -> tuple[str, ...]:
    if not found.wrong:
        return ("pass an example to `.verify(examples=…)` that can be compared; or do without, `verify=False`",)
    if any(bucket.pads is not None for bucket in artifact.structure.alternatives[artifact.spec.position].buckets):
        return ("`.check_padding()` tells whether padding is what is wrong, and of which argument",)
    if artifact.spec.mode is Mode.BACKED:
        return ("let `case`s pin its sizes, or run it `eager`",)
    return ("make its sizes `backed`, let `case`s pin them, or run it `eager`",)


__all__ = ["Verify", "WrongArtifact", "refusal_of", "signature_of", "verified"]
