"""Trace, read what was asked, assume the least that decides it, and trace again.

Before::

    def net.encode(ids: int64[B, S]): ...

After three traces by export, and one by compile::

    B >= 1          net.py:12 asks whether `16 * B * S == 0`
    S >= 2          net.py:20 asks whether `S > 1`; it replaced S >= 1

An assumption that did not help is taken back before the next one is tried, and one that a stronger one makes
superfluous is replaced. Where something was assumed after an entry point had come to its end, that one traces again, so
that what is said to trace did.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ...ir import And, Compare, Const, Predicate, Signature, Size, Var, VariableKind
from ...ir.cure import Cure
from ...ir.orient import orient
from ...ir.walk import free_vars
from ...ir.write import write_dim, write_predicate
from ...normalize.cures import cures
from ...normalize.decide import Proved, implied_by, range_of
from ...targets.asked import Asked
from ...targets.program import Demand
from .leaving_out import in_brief, left_out
from .model import Added, Entry, Found, Proposal, Step, Unfinished, is_bound
from .planned import with_statics
from .traces import Traces

MOST_CANDIDATES = 5
_OTHER_WAYS = (
    "two cases of the spec, one for each answer, give two programs",
    '`lowering="backed"`, or `backed` in a case, has torch answer it by the example',
)


# Positional and keyword arguments of the signature with the assumptions.
Redraw: TypeAlias = "Callable[[Signature, Sequence[Predicate]], tuple[tuple[Any, ...], Mapping[str, Any]] | None]"


@dataclass(slots=True)
class _Question:
    """A condition that was asked, and the cures of it that are left to try."""

    step: Step
    left: list[Cure]
    all: Sequence[Cure]
    added: tuple[Predicate, ...] = ()
    turned: bool = False


@dataclass(slots=True)
class Loop:
    """Cures one signature.

    Attributes:
        traces: What traces it.
        entries: By what.
        most: How often each may trace.
        static: Sizes that may become static.
        case: What statistics call the alternative; None for the ``where`` part.
        redraw: Returns an example of a signature and what is assumed besides, or None.
        pins: Whether an assumption may leave a size one value: in a case that is made for few sizes it may.
    """

    traces: Traces
    entries: Sequence[Entry]
    most: int
    static: Collection[str] = ()
    case: str | None = None
    redraw: Redraw | None = None
    pins: bool = False
    added: list[Added] = field(default_factory=list[Added])
    statics: list[str] = field(default_factory=list[str])
    steps: list[Step] = field(default_factory=list[Step])
    proposals: list[Proposal] = field(default_factory=list[Proposal])
    counts: dict[Entry, int] = field(default_factory=dict[Entry, int])
    errors: dict[Entry, BaseException] = field(default_factory=dict[Entry, BaseException])
    _tried: list[Step] = field(default_factory=list[Step])
    _asked: dict[Predicate, _Question] = field(default_factory=dict[Predicate, _Question])

    def run(self) -> Found:
        """Returns what was found."""
        seen: dict[Entry, tuple[object, ...]] = {}
        self.counts = dict.fromkeys(self.entries, 0)
        while True:
            pending = [
                entry for entry in self.entries if entry not in self.errors and seen.get(entry) != self._assumed()
            ]
            if not pending:
                break
            entry = pending[0]
            if self._cure(entry):
                seen[entry] = self._assumed()
        return Found(
            tuple(self.added),
            tuple(self.statics),
            tuple(self.steps),
            tuple(self.proposals),
            dict(self.counts),
            dict(self.errors),
        )

    def _assumed(self) -> tuple[object, ...]:
        return (*(each.predicate for each in self.added), *self.statics)

    def _cure(self, entry: Entry) -> bool:
        """Traces by ``entry`` until it comes to its end; returns whether it did."""
        while True:
            if self.counts[entry] >= self.most:
                self.errors[entry] = Unfinished(f"{entry} was traced {self.most} times and is not done")
                return False
            self.counts[entry] += 1
            traced = self.traces.trace(entry, [each.predicate for each in self.added])
            if traced.error is None:
                before = list(self.added)
                if not self._demanded(entry, traced.demands):
                    return False
                if any(_kind(each.predicate) == "equality" for each in self.added if each not in before):
                    continue  # what was two sizes is one now: it may ask other things
                return True
            if traced.asked is None:
                if self._turned(entry):
                    continue
            elif self._answer(entry, traced.asked):
                continue
            self.errors[entry] = traced.error
            return False

    # ------------------------------------------------------------------------------------ questions

    def _answer(self, entry: Entry, asked: Asked) -> bool:
        """Assumes what decides ``asked``; returns whether there is such a thing."""
        if asked.predicate is not None:
            return self._decide(entry, asked.predicate, asked.line, asked.written)
        if asked.size is not None:
            return self._number(entry, asked.size, asked.line)
        if asked.text:
            message = "a text is made of a size, which needs the number itself"
            self._propose(entry, message, asked.line, ("declare the size as `const … = _`", "make no text of it"))
        else:
            message = f"`{asked.printed}` depends on data: no assumption on sizes decides it"
            self._propose(entry, message, asked.line, ("`torch._check` in the program says what data is like",))
        return False

    def _decide(self, entry: Entry, predicate: Predicate, line: str | None, written: Predicate | None) -> bool:
        known = self._asked.get(predicate)
        if known is None:
            given = [each.predicate for each in self.added]
            asked = predicate if written is None else written
            found = cures(self.traces.lowered, asked, given=given, hints=self.traces.sizes, most=MOST_CANDIDATES)
            step = Step(entry, self.case, write_predicate(predicate), line, ())
            known = self._asked[predicate] = _Question(step, self._sorted(found), found)
        else:
            self._take_back(known)
        if self._next(known):
            return True
        text = write_predicate(predicate)
        tried = [step.added for step in self._tried if step.condition == text]
        message = f"nothing was found that decides `{text}`"
        if tried:
            said = ", ".join(f"`{', '.join(added)}`" for added in tried)
            message = f"torch does not conclude `{text}`, or its opposite, from {said}"
        options = [
            f"add `where {_text(each)}`, which makes a size static" for each in known.all if self._pins_one(each)
        ]
        self._propose(entry, message, line, (*options, *_OTHER_WAYS))
        return False

    def _next(self, known: _Question) -> bool:
        """Assumes the next cure that is left to try; returns whether there is one."""
        while known.left:
            cure = known.left.pop(0)
            new = tuple(each for each in cure.add if each not in [one.predicate for one in self.added])
            if not new:
                continue  # it is assumed, and does not help
            if not self._moved(new):
                continue
            known.added = new
            self._add(new, replace(known.step, holds=cure.holds, kind=cure.kind))
            return True
        return False

    def _turned(self, entry: Entry) -> bool:
        """Assumes the opposite of what was assumed last, where the program raises there by itself, as an ``assert`` does.

        Returns:
            Whether there is another trace to be made.
        """
        known = next((each for each in reversed(self._asked.values()) if each.added and each.step.entry == entry), None)
        if known is None or known.turned or not self.traces.raises():
            return False
        now = next(step.holds for step in reversed(self.steps) if step.condition == known.step.condition)
        known.turned = True
        known.left = [cure for cure in known.all if cure.holds != now and not self._pins_one(cure)]
        before = self.traces, list(self.added), list(self.steps), list(self._tried), known.added
        self._take_back(known)
        if self._next(known) and not self.traces.raises():
            return True
        self.traces, self.added, self.steps, self._tried, known.added = before
        return False

    def _sorted(self, found: Sequence[Cure]) -> list[Cure]:
        """Returns the cures that may be tried: none leaves a size one value. An equality leaves little, so it comes last.

        In a case that is made for few sizes it is the other way around: a number decides most.
        """
        if self.pins:
            return sorted(found, key=lambda each: (not self._keeps(each), each.kind != "equality"))
        usable = [each for each in found if not self._pins_one(each) and (each.kind != "equality" or self._keeps(each))]
        return sorted(usable, key=lambda each: (each.kind == "equality", not self._keeps(each)))  # stable

    def _keeps(self, cure: Cure) -> bool:
        """Returns whether the example satisfies a cure."""
        return all(self.traces.satisfies(each) for each in cure.add)

    def _moved(self, new: Sequence[Predicate]) -> bool:
        """Returns whether the example satisfies ``new``, after another one was drawn where that is needed."""
        if all(self.traces.satisfies(each) for each in new):
            return True
        if self.redraw is None:
            return False
        signature = self.traces.signature
        call = self.redraw(signature, [*(each.predicate for each in self.added), *new])
        if call is None:
            return False
        self._trace_at(signature, *call)
        return all(self.traces.satisfies(each) for each in new)

    def _trace_at(self, signature: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        old = self.traces
        self.traces = Traces(old.target, signature, args, kwargs, old.passes, grad=old.bench.grad)

    def _pins_one(self, cure: Cure) -> bool:
        return any(self._pins(each) for each in cure.add)

    def _pins(self, predicate: Predicate) -> bool:
        """Returns whether ``predicate`` leaves a size one value: then it is static in all but name."""
        if self.pins:
            return False
        signature = self.traces.lowered.expanded.signature
        given = [*(c.predicate for c in signature.constraints), *(each.predicate for each in self.added)]
        for name in dict.fromkeys(free_vars(predicate)):
            variable = signature.variable(name)
            if variable is None or variable.kind is VariableKind.CONST:
                continue
            now = range_of(signature.variables, [*given, predicate], Var(name))
            if now is not None and now.low is not None and now.low == now.high:
                before = range_of(signature.variables, given, Var(name))
                if before is None or before.low != before.high:
                    return True
        return False

    def _take_back(self, question: _Question) -> None:
        """Forgets what was assumed for ``question``: it was asked again."""
        gone = set(question.added)
        kept: list[Added] = []
        for each in self.added:
            kept += each.replaced if each.predicate in gone else (each,)
        self.added = kept
        own = question.step
        self._tried += [step for step in self.steps if (step.entry, step.condition) == (own.entry, own.condition)]
        self.steps = [step for step in self.steps if (step.entry, step.condition) != (own.entry, own.condition)]

    def _add(self, predicates: Sequence[Predicate], step: Step) -> None:
        signature = self.traces.lowered.expanded.signature
        stated = [constraint.predicate for constraint in signature.constraints]
        predicates = [orient(each) if isinstance(each, Compare) else each for each in predicates]
        took = [left_out(self.traces.lowered, each) for each in predicates]
        texts = [", ".join(map(write_predicate, each)) for each in took if each]
        whole = replace(
            step,
            added=tuple(map(write_predicate, predicates)),
            excludes=" or ".join(texts) if texts else None,
        )
        self.steps.append(whole)
        for predicate, taken in zip(predicates, took, strict=True):
            weaker = [
                each
                for each in self.added
                if set(free_vars(each.predicate)) == set(free_vars(predicate))
                and is_bound(each.predicate)  # of others torch does not conclude one from the other
                and isinstance(implied_by(signature.variables, [*stated, predicate], each.predicate), Proved)
            ]
            self.added = [each for each in self.added if each not in weaker]
            steps = tuple(step for each in weaker for step in each.steps)
            self.added.append(Added(predicate, (*steps, whole), taken, tuple(weaker)))

    # --------------------------------------------------------------------------------- static sizes

    def _number(self, entry: Entry, size: Size, line: str | None) -> bool:
        """Makes the variables of ``size`` static, if that is allowed; else proposes it."""
        names = list(dict.fromkeys(free_vars(size)))
        text = write_dim(size)
        if names and set(names) <= set(self.static) and not set(names) <= set(self.statics):
            self._make_static(names)
            added = tuple(f"const {name} = _" for name in names)
            self.steps.append(Step(entry, self.case, text, line, added, kind="static"))
            return True
        self._propose(entry, f"the number `{text}` itself is needed", line, static_options(names, self.traces.sizes))
        return False

    def _make_static(self, names: Sequence[str]) -> None:
        self.statics += names
        self._trace_at(with_statics(self.traces.signature, names), self.traces.args, self.traces.kwargs)

    def _propose(self, entry: Entry, message: str, line: str | None, options: Sequence[str]) -> None:
        self.proposals.append(Proposal(entry, self.case, message, line, tuple(options)))

    # -------------------------------------------------------------------------------------- demands

    def _demanded(self, entry: Entry, demands: Sequence[Demand]) -> bool:
        """Assumes what a program demands; proposes what would leave a size one value. Returns whether it is done."""
        done = True
        for demand in demands:
            parts = in_brief(self.traces.lowered, [each.predicate for each in self.added], demand.predicate)
            text = ", ".join(map(write_predicate, parts))
            predicate = parts[0] if len(parts) == 1 else And(parts)
            if self._pins(predicate):
                names = list(dict.fromkeys(free_vars(predicate)))
                if set(names) <= set(self.static):
                    self._make_static(names)
                    added = tuple(f"const {name} = _" for name in names)
                    self.steps.append(Step(entry, self.case, text, demand.line, added, kind="static", demanded=True))
                    return False
                options = (f"add `where {text}`, if that is all the program is for", *static_options(names, {}))
                self._propose(entry, f"the program works for `{text}` only", demand.line, options)
                self.errors[entry] = Unfinished(f"the program needs `{text}`, which would make a size static")
                return False
            step = Step(entry, self.case, text, demand.line, (), kind=_kind(parts[0]), demanded=True)
            self._moved(parts)  # an example that the program refuses can be traced, but not called
            self._add(parts, step)
        return done


def static_options(names: Sequence[str], sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Returns what can be done where the number is needed that some size is."""
    sayable = [name for name in names if name.isidentifier()]
    if not sayable:
        return ("write a number or `_` in its place",)
    listed = ", ".join(sayable)
    pinned = ", ".join(f"{name} == {sizes[name]}" for name in sayable if name in sizes)
    return (
        f"declare `const {listed} = _`, as `static=` and `--static` allow: each value is then a program of its own",
        *((f"add `where {pinned}`, if one value is enough",) if pinned else ()),
        f"`bucket {sayable[0]} in {{…}}` pads to a few values, and makes a program for each",
    )


def _text(cure: Cure) -> str:
    return ", ".join(map(write_predicate, cure.add))


def _kind(predicate: Predicate) -> str:
    match predicate:
        case Compare(op=op, right=Const()) if op.name in ("<", "<="):
            return "upper-bound"
        case Compare(op=op, right=Const()) if op.name in (">", ">="):
            return "bound"
        case Compare(op=op, left=left) if op.name == "==":
            return "residue" if getattr(getattr(left, "op", None), "name", "") == "%" else "equality"
        case Compare(op=op) if op.name == "!=":
            return "disequality"
        case _:
            return "bound"


__all__ = ["Loop", "Redraw", "static_options"]
