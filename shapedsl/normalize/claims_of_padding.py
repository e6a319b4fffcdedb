"""What is claimed about padding: why it changes nothing, and which outputs that says nothing about.

A bucket that pads needs a reason, or a padding check that it passed. A reason claims:

- ``masked``: a mask hides the padded slots from all others;
- ``rows_independent``: no row looks at another one;
- ``causal_right``: slots look at earlier ones only, and padded ones come last;
- ``neutral``: slots that hold just this fill change no result;
- ``approximate``: results may differ, which is accepted.

``rows_independent`` and ``causal_right`` speak of slots, so they say nothing about an output that has none
of them: a cache, a last state or a sum over rows may have taken the padded slots in at an unchanged shape.

Before::

    def f(x: Tensor[B, S]) -> (Tensor[B, S], Tensor[B]):
        bucket S in {8, 16} pad x with 0                    # warning: [unchecked-padding] no reason
        bucket S in {32} pad x with 0 as causal_right       # warning: [unchecked-padding] `return[1]`
        bucket S in {64} pad x with 0 as masqued            # error: [unknown-reason] did you mean `masked`?
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

from ..diagnostics import Report
from ..ir import (
    Alternative,
    Attribute,
    Bucket,
    Item,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Path,
    Rest,
    SequenceType,
    Signature,
    Type,
)
from ..ir.walk import free_vars
from .uses import sizes_of

REASONS: Final[dict[str, str]] = {
    "masked": "a mask hides the padded slots",
    "rows_independent": "no row looks at another one",
    "causal_right": "slots look at earlier ones only",
    "neutral": "slots that hold this fill change nothing",
    "approximate": "results may differ",
}
_OF_SLOTS: Final = ("rows_independent", "causal_right")


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A bucket whose padding nothing vouches for.

    Attributes:
        position: Of its alternative.
        bucket: The bucket.
        outputs: Those that its reason says nothing about; empty where it has none.
    """

    position: int
    bucket: Bucket
    outputs: tuple[Path, ...] = ()


def check_reasons(signature: Signature, report: Report) -> None:
    """Adds ``unknown-reason`` findings."""
    for alternative in signature.alternatives:
        for bucket in alternative.buckets:
            reason = bucket.reason
            if reason is None or reason in REASONS:
                continue
            likely = get_close_matches(reason, REASONS, n=1)
            report.error(
                "unknown-reason",
                f"`{reason}` is no reason for padding",
                at=bucket.span,
                label=f"did you mean `{likely[0]}`?" if likely else f"`as {reason}`",
                help=f"the reasons are {', '.join(f'`{known}`' for known in REASONS)}",
            )


def unchecked(signature: Signature, handled: Collection[str] = ()) -> Iterator[Unchecked]:
    """Yields the buckets that need a padding check.

    Args:
        signature: Resolved.
        handled: Outputs that the caller cuts back, as ``return[1]``.
    """
    for position, alternative in enumerate(signature.alternatives):
        for bucket in alternative.buckets:
            if bucket.pads is None or bucket.reason in ("masked", "neutral", "approximate"):
                continue
            if bucket.reason not in REASONS:
                yield Unchecked(position, bucket)
                continue
            outputs = tuple(_unclaimed(signature, alternative, bucket, handled))
            if outputs:
                yield Unchecked(position, bucket, outputs)


def check_claims(
    signature: Signature,
    report: Report,
    *,
    handled: Collection[str] = (),
    checked: Collection[int] = (),
) -> None:
    """Adds ``unchecked-padding`` findings, which are warnings.

    Args:
        signature: Resolved.
        report: Receives them.
        handled: Outputs that the caller cuts back, as ``return[1]``.
        checked: Positions of the alternatives that passed a padding check.
    """
    for each in unchecked(signature, handled):
        name = each.bucket.variable
        if each.position in checked:
            continue
        if each.outputs:
            outputs = ", ".join(f"`{path}`" for path in each.outputs)
            report.warning(
                "unchecked-padding",
                f"nothing says that padding `{name}` leaves {outputs} right",
                at=each.bucket.span,
                label=f"`{each.bucket.reason}` speaks of outputs along `{name}`",
                note="a cache, a last state or a sum may take padded slots in at an unchanged shape",
                help=[
                    f"check it: `check_padding()`, or `shapedsl check-padding`; or give it up: `drop {each.outputs[0]}`"
                ],
            )
        else:
            report.warning(
                "unchecked-padding",
                f"nothing says that padding `{name}` changes no result",
                at=each.bucket.span,
                label="pads without a reason",
                help=[
                    f"say why, e.g. `as masked`; the reasons are {', '.join(f'`{known}`' for known in REASONS)}",
                    "or check it: `check_padding()`, or `shapedsl check-padding`",
                ],
            )


def given_up(signature: Signature, alternative: Alternative) -> tuple[Path, ...]:
    """Returns the outputs that are dropped, or stay padded."""
    return tuple(drop.path for drop in (*signature.drops, *alternative.drops))


def is_below(path: Path, others: Collection[Path]) -> bool:
    """Returns whether ``path`` is one of ``others``, or inside of one."""
    return any(other.root == path.root and path.steps[: len(other.steps)] == other.steps for other in others)


def _unclaimed(
    signature: Signature, alternative: Alternative, bucket: Bucket, handled: Collection[str]
) -> Iterator[Path]:
    """Yields the outputs that a reason of slots says nothing about."""
    if signature.returns is None:
        return
    names = {bucket.variable}
    if bucket.reason == "rows_independent":  # segments and what they hold are rows of one choice
        names |= {each.variable for each in alternative.buckets if each.reason == bucket.reason}
    gone = given_up(signature, alternative)
    for path, type_ in outputs_of(signature.returns):
        named = {name for size in sizes_of(type_) for name in free_vars(size)}
        if not named & names and not is_below(path, gone) and not _is_handled(path, handled):
            yield path


def _is_handled(path: Path, handled: Collection[str]) -> bool:
    return any(str(replace(path, steps=path.steps[:end])) in handled for end in range(len(path.steps) + 1))


def outputs_of(type_: Type, path: Path | None = None) -> Iterator[tuple[Path, Type]]:
    """Yields each output that is no container, with its type; what is repeated any number of times, as one."""
    path = Path("return") if path is None else path

    def inside(step: Item | Attribute) -> Path:
        return replace(path, steps=(*path.steps, step))

    match type_:
        case SequenceType(items=items, rest=Rest.NONE, times=None):
            for index, item in enumerate(items):
                yield from outputs_of(item, inside(Item(index)))
        case MappingType(entries=entries):
            for key, entry in entries:
                yield from outputs_of(entry, inside(Item(key)))
        case ObjectType(fields=fields):
            for name, field in fields:
                yield from outputs_of(field, inside(Attribute(name)))
        case OptionalType(inner=inner):
            yield from outputs_of(inner, path)
        case NoneType():
            pass
        case _:
            yield path, type_


__all__ = ["REASONS", "Unchecked", "check_claims", "check_reasons", "given_up", "is_below", "outputs_of", "unchecked"]
