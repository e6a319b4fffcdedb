"""Compare two specs of one callable: which calls does the new one lose, and which does it gain?

A call is accepted if its structure is (parameters, ranks, lengths, None), then its dtypes, then its
sizes. The parameters are paired as callers name them (`calls`); at each structure that matters
(`structures`) both signatures are expanded, and each is asked whether it accepts what the other does
(`places`). What no call depends on, hints say, is listed too (`remarks`).

Before::

    def f(x: Tensor[B, D]) -> Tensor[B]: where B <= 1024
    def f(x: Tensor[N, 64]) -> Tensor[N]: where N <= 512

After: narrower; ``N <= 512`` is demanded now (B = 513, D = 64), and ``x.shape[1] == 64`` (B = 0, D = 0).

A static dim accepts one size, which the example tells: less than a dynamic one, more than a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...diagnostics import Diagnostic, Report
from ...ir import Param, Signature, Static
from ...ir.expand import expand
from ...ir.expanded import Expanded
from ...ir.structure import describe
from ...ir.walk import free_vars
from ...ir.write import write_type
from ..decide import WORK, Unknown, range_of
from .calls import completed, pair
from .changes import Change, Compared, Effect, Example, Relation, relation_of
from .dtypes import dtypes_of, members, written
from .places import Answer, Places, places_of, satisfiable, unmet
from .remarks import remarks
from .structures import OTHER, FakeTensor, Structures, is_fake_tensor, parts_of_a_question

_KINDS = {"rank-mismatch": "rank", "type-mismatch": "type", "shape-violation": "length"}


def compare(old: Signature, new: Signature, *, work: int = WORK) -> Compared:
    """Returns what callers of ``old`` lose and gain with ``new``.

    Args:
        old: Resolved.
        new: Resolved.
        work: How hard to try, for each question.
    """
    if old == new and (old.doc, old.span) == (new.doc, new.span):
        return Compared(Relation.EQUAL)
    pairing = pair(old, new)
    first = replace(old, params=tuple(replace(old_param, name=now.name) for old_param, now in pairing.pairs))
    second = replace(new, params=tuple(now for _, now in pairing.pairs))
    found = _Comparison(first, second, work)
    found.run()
    changes = (*pairing.changes, *found.changes.values())
    changes = tuple(_kept(changes, found))
    relation = relation_of(changes, maybe_lost=found.maybe_lost, maybe_gained=found.maybe_gained)
    if found.fullest is not None:
        changes = (*changes, *remarks(old, new, *found.fullest, work=work, reasons=found.reasons))
    ordered = sorted(changes, key=lambda change: not change.breaking)
    return Compared(relation, tuple(ordered), tuple(found.reasons))


def _kept(changes: tuple[Change, ...], found: _Comparison) -> list[Change]:
    """What a spec that accepts nothing loses is nothing."""
    if found.old_accepts and found.new_accepts:
        return list(changes)
    lost = Effect.LOST if found.old_accepts else Effect.NONE
    gained = Effect.GAINED if found.new_accepts else Effect.NONE
    effects = {Effect.LOST: lost, Effect.GAINED: gained, Effect.EXCHANGED: lost if found.old_accepts else gained}
    return [replace(change, effect=effects.get(change.effect, change.effect)) for change in changes]


@dataclass
class _Comparison:
    """Two signatures with the same parameters, compared structure by structure.

    Attributes:
        changes: By what makes two of them one.
        reasons: What could not be decided.
        old_accepts, new_accepts: Whether there are calls that it accepts, as far as could be decided.
        fullest: Both at the structure with the most places.
    """

    old: Signature
    new: Signature
    work: int
    changes: dict[object, Change] = field(default_factory=dict[object, Change])
    reasons: dict[str, None] = field(default_factory=dict[str, None])
    maybe_lost: bool = False
    maybe_gained: bool = False
    old_accepts: bool = False
    new_accepts: bool = False
    fullest: tuple[Places, Places] | None = None

    def run(self) -> None:
        """Fills the attributes."""
        structures = Structures(self.old, self.new)
        for arguments in structures.calls(parts_of_a_question((self.old, self.new))):
            self._at(arguments)
        if not structures.complete:
            self.reasons["there are too many structures to look at all of them"] = None
            self.maybe_lost = self.maybe_gained = True
        if not (self.old_accepts and self.new_accepts):
            self._contradictory()

    def _contradictory(self) -> None:
        """One spec, or both, accept nothing: that is all there is to say of sizes."""
        changes = [change for change in self.changes.values() if change.example is not None]
        smallest = min(changes, key=lambda change: change.example.cost if change.example else (0, ()), default=None)
        self.changes.clear()
        for accepts, effect, message in (
            (self.old_accepts, Effect.GAINED, "no sizes satisfied the old version"),
            (self.new_accepts, Effect.LOST, "no sizes satisfy the new version"),
        ):
            if not accepts:
                self.changes[message] = Change(
                    "contradiction", "", "", "", effect if self.old_accepts != self.new_accepts else Effect.NONE,
                    message, smallest and smallest.example, self.old.span, self.new.span,
                )  # fmt: skip

    def _at(self, arguments: Mapping[str, object]) -> None:
        reports = Report(), Report()
        first = _expanded(self.old, arguments, reports[0])
        second = _expanded(self.new, arguments, reports[1])
        if first is not None and second is not None:
            self._both(places_of(first, [second]), places_of(second, [first]))
        elif first is not None:
            self._one(first, reports[1].errors[0], Effect.LOST)
        elif second is not None:
            self._one(second, reports[0].errors[0], Effect.GAINED)

    def _one(self, expanded: Expanded, refusal: Diagnostic, effect: Effect) -> None:
        """A structure that one spec refuses."""
        example = satisfiable(places_of(expanded, []), self.work)
        if example is None:
            return
        self._accepts(effect)
        if isinstance(example, Unknown):
            self._open(effect, example.reason)
            return
        message = _plain(refusal.message)
        name = message.split("`")[1]
        root = name.partition("[")[0].partition(".")[0]
        old, new = _param(self.old, root), _param(self.new, root)
        if effect is Effect.LOST:
            message = f"refused now: {message}"
        else:
            message = f"accepted now: {message.partition(', expected')[0]}"
        self._add(
            (effect, name, refusal.code),
            Change(
                _KINDS.get(refusal.code, "type"), name, write_type(old.type), write_type(new.type), effect, message,
                example, old.type.span or old.span, new.type.span or new.span,
            ),
        )  # fmt: skip

    def _both(self, first: Places, second: Places) -> None:
        accepted = [satisfiable(each, self.work) for each in (first, second)]
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
            if accepted[int(effect is Effect.LOST)] is None:
                self._nothing(effect, example)
                continue
            for answer in unmet(mine, other, self.work):
                self._answer(effect, answer, mine, other)
            self._static(effect, mine, other, example)
        self._dtypes(first, second)

    def _nothing(self, effect: Effect, example: Example | Unknown) -> None:
        """At this structure the other spec accepts no sizes."""
        if isinstance(example, Unknown):
            self._open(effect, example.reason)
            return
        which = "satisfy the new" if effect is Effect.LOST else "satisfied the old"
        self._add(
            (effect, "nothing"),
            Change(
                "contradiction", "", "", "", effect, f"no sizes {which} version where the others are not passed", example,
                self.old.span, self.new.span,
            ),
        )  # fmt: skip

    def _answer(self, effect: Effect, answer: Answer, mine: Places, other: Places) -> None:
        question = answer.question
        if answer.example is None or question is None:
            self._open(effect, f"`{question.text}`: {answer.reason}" if question else answer.reason)
            return
        if effect is Effect.LOST:
            texts, verb = ("", question.text), "is demanded now"
        else:
            texts, verb = (question.text, ""), "is no longer demanded"
        mine_span = mine.spans.get(question.place) or mine.expanded.signature.span
        spans = (mine_span, question.span) if effect is Effect.LOST else (question.span, mine_span)
        self._add(
            (effect, question.kind, question.span or question.text),
            Change(question.kind, question.place, *texts, effect, f"`{question.text}` {verb}", answer.example, *spans),
        )

    def _static(self, effect: Effect, mine: Places, other: Places, example: Example | Unknown) -> None:
        """A dim that was any size and is the example's, or the other way round."""
        varying, there, numbers = mine.varying, other.varying, _numbers(other)
        for place, varies in varying.items():
            if not varies or there.get(place, place in numbers):
                continue
            told = range_of(mine.variables, mine.given, mine.sizes[place], work=self.work)
            if told is not None and told.low is not None and told.low == told.high:
                continue
            tense = (
                "is static now: only the example's size is" if effect is Effect.LOST else "was static: any size is now"
            )
            self._add(
                (effect, "static", place),
                Change(
                    "static", place, "", "", effect, f"`{place}` {tense} accepted",
                    None if isinstance(example, Unknown) else example,
                    (mine if effect is Effect.LOST else other).spans.get(place),
                    (other if effect is Effect.LOST else mine).spans.get(place),
                ),
            )  # fmt: skip

    def _dtypes(self, first: Places, second: Places) -> None:
        old, new = (dict(dtypes_of(each.expanded.signature.params)) for each in (first, second))
        linked: dict[tuple[str, str], str] = {}
        for path in old.keys() & new.keys():
            before, after = old[path].dtype, new[path].dtype
            was, now = (members(None if each is None else each.name) for each in (before, after))
            spans = old[path].span, new[path].span
            if was != now:
                effect = Effect.GAINED if was < now else Effect.LOST if now < was else Effect.EXCHANGED
                message = f"`{path}` takes {written(after)}, it took {written(before)}"
                self._add(
                    ("dtype", path),
                    Change("dtype", path, written(before), written(after), effect, message, None, *spans),
                )
            for side, dtype in (("old", before), ("new", after)):
                if dtype is not None and dtype.variable is not None:
                    linked.setdefault((side, dtype.variable), path)
        for path in old.keys() & new.keys():
            for side, mine, other, effect in (
                ("old", old, new, Effect.GAINED),
                ("new", new, old, Effect.LOST),
            ):
                dtype = mine[path].dtype
                anchor = path if dtype is None else linked.get((side, dtype.variable or ""), path)
                if anchor == path or dtype is None:
                    continue
                theirs = other[path].dtype, other[anchor].dtype
                one = [len(members(None if each is None else each.name)) == 1 for each in theirs]
                same = theirs[0] is not None and theirs[0] == theirs[1] and (theirs[0].variable or all(one))
                if not same:
                    verb = "must have the dtype of" if effect is Effect.LOST else "need no longer have the dtype of"
                    self._add(
                        ("dtype", effect, path),
                        Change(
                            "dtype", path, written(old[path].dtype), written(new[path].dtype), effect,
                            f"`{path}` {verb} `{anchor}`", None, old[path].span, new[path].span,
                        ),
                    )  # fmt: skip

    def _accepts(self, effect: Effect) -> None:
        if effect is Effect.LOST:
            self.old_accepts = True
        else:
            self.new_accepts = True

    def _open(self, effect: Effect, reason: str) -> None:
        self.reasons[reason] = None
        if effect is Effect.LOST:
            self.maybe_lost = True
        else:
            self.maybe_gained = True

    def _add(self, key: object, change: Change) -> None:
        """Adds ``change``; of several with one key, the one with the smallest example."""
        known = self.changes.get(key)
        if known is None or (
            known.example is not None and change.example is not None and change.example.cost < known.example.cost
        ):
            self.changes[key] = change


def _numbers(places: Places) -> set[str]:
    return {
        leaf.place(axis)
        for leaf in places.expanded.leaves
        for axis, dim in enumerate(leaf.dims)
        if not isinstance(dim, Static) and not set(free_vars(dim))
    }


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


__all__ = ["Change", "Compared", "Effect", "Example", "Relation", "compare", "completed"]
