"""Read ``mark_dynamic`` and its siblings: state on tensors → dims of a legacy spec.

A mark sits on one tensor object and holds for whatever it is passed to; a spec sits on the callable. What
torch does with sizes outside a mark is to recompile, and no spec does that: so marks are never converted
without a loss, which is told once.

Before::

    mark_unbacked(h, 0, shape_id="tok", hint_override=16, min=1)
    mark_unbacked(t, 0, shape_id="tok")
    mark_dynamic(h, -1, min=2, max=64)

After::

    {"h": {0: Named("tok", 1, None, hint=16), 1: Hinted(DYNAMIC, 2, 64)}, "t": {0: Named("tok", 1, None, hint=16)}}

Where several marks meet at one axis, torch obeys the first of unbacked, dynamic, maybe, static; one at a
negative axis it never looks at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from ...diagnostics import Report, Span
from .model import Entries, Hint, Hinted, LegacyDim, Named
from .verdict import Note, Verdict

Kind: TypeAlias = Literal["unbacked", "dynamic", "maybe", "static"]

_FUNCTIONS: Final[Mapping[Kind, str]] = {  # in the order of precedence
    "unbacked": "mark_unbacked",
    "dynamic": "mark_dynamic",
    "maybe": "maybe_mark_dynamic",
    "static": "mark_static",
}
_HINTS: Final[Mapping[Kind, Hint]] = {
    "unbacked": Hint.DYNAMIC,
    "dynamic": Hint.DYNAMIC,
    "maybe": Hint.AUTO,
    "static": Hint.STATIC,
}


@dataclass(frozen=True, slots=True)
class Mark:
    """What one call of ``mark_*`` says about one axis.

    Attributes:
        kind: Which function was called.
        axis: As it was passed; it may be negative. None for all of them.
        low, high: Inclusive; None where not stated.
        hint: ``hint_override``.
        shape_id: Axes with one id are one size.
        strict, specialized: Whether ``strict=True`` or ``specialize_on`` was passed, which no spec can say.
        span: Of the call, in source.
    """

    kind: Kind
    axis: int | None
    low: int | None = None
    high: int | None = None
    hint: int | None = None
    shape_id: str | None = None
    strict: bool = False
    specialized: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Marked:
    """A tensor and its marks.

    Attributes:
        place: As messages name it: ``h``, ``past[0]``.
        marks: In any order.
        rank: None where it is not known; then a negative axis stays one.
    """

    place: str
    marks: tuple[Mark, ...]
    rank: int | None = None


def marks_of(tensor: Any) -> tuple[Mark, ...]:
    """Returns the marks that ``tensor`` carries; duck-typed, torch is not needed."""
    hints: Mapping[int, int] = _state(tensor, "_dynamo_hint_overrides", {})
    special: Mapping[int, object] = _state(tensor, "_specialize_on", {})
    bounds: Mapping[int, tuple[int | None, int | None]] = _state(tensor, "_dynamo_unbacked_bounds", {})
    ids: Mapping[int, object] = _state(tensor, "_dynamo_shape_ids", {})
    unbacked: Iterable[int] = _state(tensor, "_dynamo_unbacked_indices", ())
    strict: Iterable[int] = _state(tensor, "_dynamo_strict_unbacked_indices", ())
    ranges: Iterable[Any] = _state(tensor, "_dynamo_dynamic_range", ())
    found: list[Mark] = []
    for axis in sorted({*unbacked, *strict}):
        low, high = bounds.get(axis, (None, None))
        shape_id = None if ids.get(axis) is None else str(ids[axis])
        found.append(
            Mark("unbacked", axis, low, high, hints.get(axis), shape_id, axis in strict, bool(special.get(axis)))
        )
    for axis in sorted(_state(tensor, "_dynamo_dynamic_indices", ())):
        own = [each for each in ranges if each.dim == axis]  # one for each call
        low = max((each.min for each in own if each.min is not None), default=None)
        high = min((each.max for each in own if each.max is not None), default=None)
        found.append(Mark("dynamic", axis, low, high, hints.get(axis), specialized=bool(special.get(axis))))
    found += [Mark("maybe", axis) for axis in sorted(_state(tensor, "_dynamo_weak_dynamic_indices", ()))]
    found += [Mark("static", axis) for axis in sorted(_state(tensor, "_dynamo_static_indices", ()))]
    return tuple(found)


def _state(tensor: Any, name: str, default: Any) -> Any:
    found = getattr(tensor, name, None)
    return found or default


def dims_of(tensors: Iterable[Marked], report: Report) -> tuple[dict[str, Entries], tuple[Note, ...]]:
    """Returns the dims of each marked tensor by its place, and what a spec cannot say of them.

    Args:
        tensors: Those of one call; the marks of one ``shape_id`` are met.
        report: Receives ``legacy-bounds`` where those exclude each other.
    """
    reader = _Reader(report)
    given = [each for each in tensors if each.marks]
    for each in given:
        reader.meet(each)
    dims = {each.place: Entries(tuple(reader.axes(each))) for each in given}
    places = tuple(
        f"{each.place}.shape[{axis}]"
        for each in given
        for axis, dim in dims[each.place].items
        if not (isinstance(dim, Hinted) and dim.kind is Hint.STATIC)  # compiled anew as before
    )
    if places:
        reader.notes.append(
            Note(
                Verdict.LOSS,
                "legacy-loss",
                "marks sit on tensors and a spec on the callable: sizes outside of it were compiled anew, "
                "and are now rejected",
                places,
            )
        )
    return dims, tuple(reader.notes)


class _Reader:
    def __init__(self, report: Report) -> None:
        self.report = report
        self.named: dict[str, Named] = {}
        self.notes: list[Note] = []

    def meet(self, tensor: Marked) -> None:
        """Takes in what the marks of ``tensor`` say of each ``shape_id``."""
        for mark in tensor.marks:
            if mark.shape_id is None:
                continue
            known = self.named.get(mark.shape_id)
            if known is None:
                known = Named(mark.shape_id, mark.low, mark.high, mark.hint, mark.span)
            else:
                self._hints_differ(known, mark)
                lows = [bound for bound in (known.low, mark.low) if bound is not None]
                highs = [bound for bound in (known.high, mark.high) if bound is not None]
                met = replace(
                    known,
                    low=max(lows, default=None),
                    high=min(highs, default=None),
                    hint=mark.hint if known.hint is None else known.hint,
                )
                if met.low is not None and met.high is not None and met.low > met.high:
                    self.report.error(
                        "legacy-bounds",
                        f"the marks of `{mark.shape_id}` exclude each other: {_range(known)} and {_range(mark)}",
                        at=mark.span,
                        also=[(known.span, "the other")],
                        help="pass the same bounds to both",
                    )
                known = met
            self.named[mark.shape_id] = known

    def _hints_differ(self, known: Named, mark: Mark) -> None:
        if mark.hint is None or known.hint in (None, mark.hint):
            return
        message = f"the marks of `{known.name}` have the hints {known.hint} and {mark.hint}"
        taken, others = f"the hint {known.hint}", (f"the hint {mark.hint}",)
        self.notes.append(Note(Verdict.CHOICE, "legacy-choice", message, (), taken, others, mark.span))

    def axes(self, tensor: Marked) -> Iterator[tuple[int, LegacyDim]]:
        """Yields each axis that is marked, with what holds there."""
        by_axis: dict[int, list[Mark]] = {}
        for mark in tensor.marks:
            for axis in range(tensor.rank or 0) if mark.axis is None else (mark.axis,):
                known = tensor.rank is not None and -tensor.rank <= axis < 0
                by_axis.setdefault(axis + (tensor.rank or 0) if known else axis, []).append(mark)
        order = list(_FUNCTIONS)
        for axis, marks in sorted(by_axis.items()):
            first, *others = sorted(marks, key=lambda mark: order.index(mark.kind))
            first = self._ranged(f"{tensor.place}.shape[{axis}]", first, others)
            self._tell(f"{tensor.place}.shape[{axis}]", first, others)
            if first.shape_id is not None:
                yield axis, self.named[first.shape_id]
            else:
                yield axis, Hinted(_HINTS[first.kind], first.low, first.high, first.hint, first.span)

    def _ranged(self, place: str, first: Mark, others: Iterable[Mark]) -> Mark:
        """Returns a mark with what its siblings say too: torch obeys the range of any one of them."""
        alike = [first, *(other for other in others if other.kind == first.kind)]
        ranges = list(dict.fromkeys(_range(mark) for mark in alike))
        if first.shape_id is not None or len(alike) == 1:
            return first
        met = replace(
            first,
            low=max((mark.low for mark in alike if mark.low is not None), default=None),
            high=min((mark.high for mark in alike if mark.high is not None), default=None),
            hint=next((mark.hint for mark in alike if mark.hint is not None), None),
            strict=any(mark.strict for mark in alike),
            specialized=any(mark.specialized for mark in alike),
        )
        if len(ranges) > 1:
            message = f"several marks of one dim, with {' and '.join(ranges)}: torch obeys any one of them"
            taken = f"what all of them allow, {_range(met)}"
            note = Note(Verdict.CHOICE, "legacy-choice", message, (place,), taken, tuple(ranges), first.span)
            self.notes.append(note)
        return met

    def _tell(self, place: str, first: Mark, others: Iterable[Mark]) -> None:
        called = _FUNCTIONS[first.kind]
        for other in others:
            if other.kind != first.kind:
                message = f"`{_FUNCTIONS[other.kind]}` says nothing where `{called}` speaks of the same dim"
                self.notes.append(Note(Verdict.EXACT, "legacy-note", message, (place,), span=other.span))
        if first.kind != "static" and first.axis is not None and first.axis < 0:
            self.notes.append(
                Note(
                    Verdict.CHOICE,
                    "legacy-choice",
                    f"torch ignores `{called}` at a negative axis: the dim was static",
                    (place,),
                    "dynamic, as it was meant",
                    ("`_`, as it ran",),
                    first.span,
                )
            )
        for said, keyword in ((first.strict, "strict=True"), (first.specialized, "specialize_on=")):
            if said:
                message = f"`{keyword}` of `{called}` has no counterpart"
                self.notes.append(Note(Verdict.LOSS, "legacy-loss", message, (place,), span=first.span))


def _range(mark: Mark | Named) -> str:
    return f"[{mark.low or 0}, {'inf' if mark.high is None else mark.high}]"


__all__ = ["Kind", "Mark", "Marked", "dims_of", "marks_of"]
