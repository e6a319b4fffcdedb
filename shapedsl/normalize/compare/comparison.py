"""Compare two signatures whose parameters are paired, structure by structure.

At a structure that only one of them takes, all its calls are lost or gained. Where both take it, each
is asked for the sizes that the other accepts and it does not (`inclusion`), for dims that were any size
and are the example's now, or the other way round, and for dtypes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...diagnostics import Diagnostic, Report
from ...ir import Param, Signature
from ...ir.expand import expand
from ...ir.expanded import Expanded
from ...ir.structure import describe
from ...ir.write import write_type
from ..decide import Unknown
from .asking import Asker
from .changes import Change, Effect, Example, Spans, changed
from .dtypes import dtype_changes
from .inclusion import Answer, counterpart, unmet, write
from .places import Places, places_of, satisfiable
from .structures import OTHER, FakeTensor, Structures, is_fake_tensor

_KINDS = {"rank-mismatch": "rank", "type-mismatch": "type", "shape-violation": "length"}


@dataclass
class Comparison:
    """Two signatures with the same parameters, compared structure by structure.

    Attributes:
        changes: By what makes two of them one.
        undecided: Why it is not known whether some call is lost.
        open: Why it is not known whether some call is gained.
        old_accepts, new_accepts: Whether there are calls that it accepts, as far as could be decided.
        fullest: Both at the structure with the most places.
        any_rank: See `Structures`.
    """

    old: Signature
    new: Signature
    asker: Asker
    changes: dict[object, Change] = field(default_factory=dict[object, Change])
    undecided: dict[str, None] = field(default_factory=dict[str, None])
    open: dict[str, None] = field(default_factory=dict[str, None])
    old_accepts: bool = False
    new_accepts: bool = False
    fullest: tuple[Places, Places] | None = None
    any_rank: bool = False

    def run(self) -> None:
        """Fills the attributes."""
        structures = self._structures = Structures(self.old, self.new)
        self.any_rank = structures.any_rank
        if _same_calls(self.old, self.new):
            self._at_any(list(structures.calls()))
            return
        for arguments in structures.calls():
            self._at(arguments)
        if not structures.complete:
            for effect in (Effect.LOST, Effect.GAINED):
                self._open(effect, "there are too many combinations of lengths and None to look at all of them")
        if not (self.old_accepts and self.new_accepts):
            self._contradictory()

    def _at_any(self, calls: Sequence[Mapping[str, object]]) -> None:
        """Looks at as many structures as tell whether some call is accepted, the fullest first."""
        for arguments in reversed(calls):
            self._at(arguments)
            if self.old_accepts and self.new_accepts:
                return
        self._contradictory()

    def _contradictory(self) -> None:
        """One spec, or both, accept nothing: that is all there is to say of sizes."""
        examples = [change.example for change in self.changes.values() if change.example is not None]
        smallest = min(examples, key=lambda example: example.cost, default=None)
        self.changes.clear()
        for accepts, effect, message in (
            (self.old_accepts, Effect.GAINED, "no sizes satisfied the old version"),
            (self.new_accepts, Effect.LOST, "no sizes satisfy the new version"),
        ):
            if not accepts:
                effect = effect if self.old_accepts != self.new_accepts else Effect.NONE
                self.changes[message] = changed(
                    "contradiction", "", effect, message, spans=self._around, example=smallest
                )

    @property
    def _around(self) -> Spans:
        return self.old.span, self.new.span

    def _at(self, arguments: Mapping[str, object]) -> None:
        reports = Report(), Report()
        first = _expanded(self.old, arguments, reports[0])
        second = _expanded(self.new, arguments, reports[1])
        if first is not None and second is not None:
            self._both(places_of(first, [second]), places_of(second, [first]))
        elif first is not None:
            self._one(first, reports[1], Effect.LOST)
        elif second is not None:
            self._one(second, reports[0], Effect.GAINED)

    def _one(self, expanded: Expanded, refusals: Report, effect: Effect) -> None:
        """A structure that one spec refuses."""
        example = satisfiable(places_of(expanded, []), self.asker)
        if example is None:
            return
        self._accepts(effect)
        if isinstance(example, Unknown):
            self._open(effect, example.reason)
            return
        # without a refusal it is a default that the other lacks, which is told by itself
        for refusal in refusals.errors:
            self._refused(effect, refusal, example)

    def _refused(self, effect: Effect, refusal: Diagnostic, example: Example) -> None:
        message = _plain(refusal.message)
        name = message.split("`")[1]
        root = name.partition("[")[0].partition(".")[0]
        old, new = _param(self.old, root), _param(self.new, root)
        if effect is Effect.LOST:
            message = f"refused now: {message}"
        else:
            message = f"accepted now: {message.partition(', expected')[0]}"
        texts = write_type(old.type), write_type(new.type)
        spans = old.type.span or old.span, new.type.span or new.span
        kind = _KINDS.get(refusal.code, "type")
        self._add(
            (effect, refusal.span or name, refusal.code),  # items of one type are refused alike
            changed(kind, name, effect, message, texts=texts, spans=spans, example=example),
        )

    def _both(self, first: Places, second: Places) -> None:
        accepted = [satisfiable(each, self.asker) for each in (first, second)]
        if accepted[0] is not None:
            self._accepts(Effect.LOST)
        if accepted[1] is not None:
            self._accepts(Effect.GAINED)
        if accepted == [None, None]:
            return
        if self.fullest is None or len(first.sizes) >= len(self.fullest[0].sizes):
            self.fullest = first, second
        for effect, mine, other, example in (
            (Effect.LOST, first, second, accepted[0]),
            (Effect.GAINED, second, first, accepted[1]),
        ):
            if example is None:
                continue
            for answer in unmet(mine, other, self.asker, any_rank=self.any_rank):
                self._answer(effect, answer, mine)
            self._static(effect, mine, other, example)
        for change in dtype_changes(first.expanded.signature.params, second.expanded.signature.params):
            about = change.old_span, change.new_span  # items of one type change alike
            self._add((change.kind, change.effect, change.place if None in about else about), change)

    def _answer(self, effect: Effect, answer: Answer, mine: Places) -> None:
        question = answer.question
        if answer.example is None:
            self._open(effect, f"`{question.text}`: {answer.reason}" if question else answer.reason)
            return
        if question is None:
            what, when = ("refused", "new") if effect is Effect.LOST else ("accepted", "old")
            message = f"some sizes are {what} now: no {answer.reason} of the {when} version gives them"
            self._add(
                (effect, "sizes"), changed("dim", "", effect, message, spans=self._around, example=answer.example)
            )
            return
        span = mine.spans.get(question.place) or mine.expanded.signature.span
        instead = counterpart(mine, question)
        there = "" if instead is None else write(instead)
        span = span if instead is None else instead.span or span
        if effect is Effect.LOST:
            texts, spans = (there, question.text), (span, question.span)
            message = f"`{question.text}` is demanded now" + (f", it was `{there}`" if there else "")
        else:
            texts, spans = (question.text, there), (question.span, span)
            message = f"`{question.text}` is no longer demanded" + (f", only `{there}`" if there else "")
        self._add(
            (effect, question.kind, question.span or question.text),
            changed(question.kind, question.place, effect, message, texts=texts, spans=spans, example=answer.example),
        )

    def _static(self, effect: Effect, mine: Places, other: Places, example: Example | Unknown) -> None:
        """A dim that was any size and is the example's, or the other way round."""
        there = other.varying
        for place, varies in mine.varying.items():
            if not varies or there.get(place, place in other.numbers):
                continue
            if self.asker.is_pinned(mine.known, mine.sizes[place]):
                continue
            spans = mine.spans.get(place), other.spans.get(place)
            if effect is Effect.LOST:
                message = f"`{place}` is static now: only the example's size is accepted"
            else:
                message, spans = f"`{place}` was static: any size is accepted now", (spans[1], spans[0])
            shown = None if isinstance(example, Unknown) else example
            self._add((effect, "static", place), changed("static", place, effect, message, spans=spans, example=shown))

    def _accepts(self, effect: Effect) -> None:
        self._structures.taken(0 if effect is Effect.LOST else 1)
        if effect is Effect.LOST:
            self.old_accepts = True
        else:
            self.new_accepts = True

    def _open(self, effect: Effect, reason: str) -> None:
        (self.undecided if effect is Effect.LOST else self.open)[reason] = None

    def _add(self, key: object, change: Change) -> None:
        """Adds ``change``; of several with one key, the one with the smallest example."""
        known = self.changes.get(key)
        if known is None or (
            known.example is not None and change.example is not None and change.example.cost < known.example.cost
        ):
            self.changes[key] = change


def _same_calls(old: Signature, new: Signature) -> bool:
    """Whether two signatures state the same of the same parameters, in the same names."""
    sides = [
        (
            [(param.type, param.default) for param in side.params],
            {constraint.predicate for constraint in side.constraints},
            {(variable.name, variable.kind, variable.variadic) for variable in side.variables},
            side.ranks,
        )
        for side in (old, new)
    ]
    return sides[0] == sides[1]


def _expanded(signature: Signature, arguments: Mapping[str, object], report: Report) -> Expanded | None:
    for param in signature.params:
        if param.name not in arguments and not param.default:
            return None  # told by the parameters' defaults
    return expand(signature, arguments, is_tensor=is_fake_tensor, report=report)


def _param(signature: Signature, name: str) -> Param:
    return next(param for param in signature.params if param.name == name)


def _plain(message: str) -> str:
    """Returns a refusal without the names of the values that stand for calls."""
    for value, called in ((OTHER, "something else"), (FakeTensor(()), "a tensor")):
        message = message.replace(describe(value), called)
    return message.replace("a types.SimpleNamespace", "an object")
