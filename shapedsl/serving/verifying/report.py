"""The report of a verification: what became of each promise, as a table, as JSON and as diagnostics.

After (the table)::

    project: the exported program keeps 2 of 4 promises: 1 lost, 1 narrowed
      kept      x.shape[1] == 3
      lost      B <= 31                accepts B = 32
      narrowed  A == B                 the spec accepts A = 0, B = 1; net.py:12, in forward: return x + y
      kept      return.shape[0] == B
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ...diagnostics import Annotation, Diagnostic, Severity
from .promise import Promise, sizes_text

if TYPE_CHECKING:
    from .values import Sampled

WRONG: Final = ("lost", "narrowed", "refuted")  # what a promise may have come to


@dataclass(frozen=True, slots=True)
class Verification:
    """What an artifact keeps of a spec; ``str()`` of it is a table.

    Attributes:
        name: Of the spec.
        kind: Of the artifact: ``exported program``.
        promises: What spec and artifact demand of the inputs.
        returns: What the spec claims of the result.
        samples: How its values compare with the original's; None where nothing was compared.
        remarks: What is said besides.
        findings: Diagnostics that belong to no promise.
        cures: What to do about what is lost.
    """

    name: str
    kind: str
    promises: tuple[Promise, ...] = ()
    returns: tuple[Promise, ...] = ()
    samples: Sampled | None = None
    remarks: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    cures: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[Promise, ...]:
        """Promises and claims of the result."""
        return (*self.promises, *self.returns)

    @property
    def kept(self) -> bool:
        """Whether nothing is lost, narrowed, refuted or computed wrong; what could not be decided counts as kept here."""
        if any(each.severity is Severity.ERROR for each in self.findings):
            return False
        wrong = any(each.status in WRONG and not each.allowed for each in self.all)
        return not wrong and (self.samples is None or not self.samples.wrong)

    @property
    def undecided(self) -> bool:
        """Whether something could not be decided, or no values could be compared that should have been."""
        skipped = self.samples is not None and bool(self.samples.skipped)
        return skipped or any(each.status == "undecided" for each in self.all)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong or undecided, the errors first."""
        found = [*self.findings, *(each for promise in self.all for each in self._of(promise)), *self._of_samples()]
        return tuple(sorted(found, key=lambda each: each.severity is not Severity.ERROR))

    def summary(self) -> str:
        """Returns one line: how many promises are kept, and what became of the others."""
        if not self.all and self.findings:
            return f"{self.name}: no promise of the {self.kind} was decided"
        counts = {status: sum(each.status == status for each in self.all) for status in (*WRONG, "undecided")}
        others = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        kept = sum(each.status == "kept" for each in self.all)
        total = f"{kept} of {len(self.all)}" if others else f"all {len(self.all)}" if len(self.all) > 1 else str(kept)
        said = f"keeps {total} promise{'' if len(self.all) == 1 else 's'}"
        return f"{self.name}: the {self.kind} {said}{': ' if others else ''}{others}"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield self.summary()
        several = len({each.artifact for each in self.all}) > 1
        rows = [(each.status, each.what, _told(each)) for each in self.all]
        labels = [each.artifact for each in self.all]
        widths = [max((len(row[at]) for row in rows), default=0) for at in (0, 1)]
        before: str | None = None
        for label, (status, what, told) in zip(labels, rows, strict=True):
            if several and label != before:
                yield f"  {label}:"
            before = label
            yield f"  {status:<{widths[0]}}  {what:<{widths[1]}}  {told}".rstrip()
        for each in self.findings:
            yield f"  {each.code}: {each.message}"
        for remark in self.remarks:
            yield f"  note: {remark}"
        if self.samples is not None:
            yield from (f"  {line}" for line in str(self.samples).splitlines())

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as plain data; see `to_json`."""
        return {
            "name": self.name,
            "artifact": self.kind,
            "kept": self.kept,
            "undecided": self.undecided,
            "promises": [_row(each) for each in self.promises],
            "returns": [_row(each) for each in self.returns],
            "samples": None if self.samples is None else self.samples.to_dict(),
            "remarks": list(self.remarks),
            "findings": [{"code": each.code, "message": each.message} for each in self.findings],
        }

    def to_json(self) -> str:
        """Returns the report as JSON: an object with a row for each promise, its status and its sizes."""
        return json.dumps(self.to_dict(), indent=2)

    # ------------------------------------------------------------------------------------ diagnostics

    def _of(self, promise: Promise) -> Iterator[Diagnostic]:
        if promise.status == "kept" or promise.allowed:
            return
        message, notes, helps = self._said(promise)
        severity = Severity.WARNING if promise.status == "undecided" else Severity.ERROR
        spans = ((promise.span,) if promise.span is not None else ()) + promise.also
        if promise.line is not None:
            notes.insert(0, f"needed by {promise.line}" if promise.status == "narrowed" else f"made by {promise.line}")
        if promise.artifact:
            notes.append(f"in the {self.kind} of {promise.artifact}")
        yield Diagnostic(
            promise.code,
            severity,
            message,
            annotations=tuple(Annotation(span, "") for span in spans),
            notes=tuple(notes),
            helps=tuple(helps),
            witness=promise.witness,
        )

    def _said(self, promise: Promise) -> tuple[str, list[str], list[str]]:
        what, sizes = promise.what, sizes_text(promise.witness)
        match promise.status:
            case "lost":
                accepts = f"accepts {sizes}" if sizes else "accepts any sizes"
                return f"the {self.kind} {accepts}, and the spec demands `{what}`", [], list(self.cures)
            case "narrowed":
                notes = [f"the spec accepts {sizes}, the {self.kind} does not"] if sizes else []
                notes += [promise.why] if promise.why else []
                helps = [f"add `where {what}` to the spec, or change the program"]
                helps += [f'or allow it: `allow={{"{promise.code}"}}`']
                if promise.code == "dtype-mismatch":
                    helps = ["make it again with a call that the spec accepts"]
                return self._narrowed(promise), notes, helps
            case "refuted":
                at = f" at {sizes}" if sizes else ""
                helps = ["correct the return type, or the program"]
                return f"the spec claims `{what}`, but {promise.why}{at}", [], helps
            case _:
                notes = [promise.why] if promise.why else []
                notes += [f"it may accept {sizes}, which the spec forbids"] if sizes else []
                return f"could not prove that the {self.kind} keeps `{what}`", notes, []

    def _narrowed(self, promise: Promise) -> str:
        places = promise.place.split(", ") if promise.place else []
        if promise.code == "dtype-mismatch":
            return f"the {self.kind} was made for another dtype: `{promise.what}`"
        if promise.code == "merged-dims" and len(places) == 2:
            return f"the program made `{places[0]}` and `{places[1]}` one size: `{promise.what}`"
        if promise.code == "specialized-dim" and places:
            return f"the program pinned `{places[0]}`: `{promise.what}`"
        return f"the program demands `{promise.what}`, which the spec does not imply"

    def _of_samples(self) -> Iterator[Diagnostic]:
        if self.samples is None:
            return
        for row in self.samples.faults:
            notes = (f"at {row.at}", row.said)
            message = f"the {self.kind} of `{self.name}` computes something else than the original"
            yield Diagnostic("wrong-artifact", Severity.ERROR, message, notes=notes, witness=tuple(row.sizes.items()))
            return  # the worst says it; the table has them all
        if self.samples.skipped:
            message = f"the {self.kind} of `{self.name}` could not be compared with the original"
            yield Diagnostic("undecided", Severity.WARNING, message, notes=(self.samples.skipped,))


def _told(promise: Promise) -> str:
    """Returns what a row of the table says of a promise besides."""
    sizes = sizes_text(promise.witness)
    parts: list[str] = []
    if promise.status == "lost":
        parts.append(f"accepts {sizes}" if sizes else "accepts any sizes")
    elif promise.status == "narrowed":
        parts += [f"the spec accepts {sizes}"] if sizes else []
        parts += ["allowed"] if promise.allowed else []
    elif promise.status == "refuted":
        parts.append(f"{promise.why} at {sizes}" if sizes else promise.why)
    if promise.why and promise.status in ("narrowed", "undecided"):
        parts.append(promise.why)
    if promise.line is not None:
        parts.append(promise.line)
    return "; ".join(parts)


def _row(promise: Promise) -> dict[str, Any]:
    found: dict[str, Any] = {"status": promise.status, "what": promise.what}
    if promise.code and promise.status != "kept":
        found["code"] = promise.code
    if promise.witness:
        found["witness"] = dict(promise.witness)
    others = {
        "place": promise.place,
        "line": promise.line,
        "why": promise.why,
        "allowed": promise.allowed,
        "artifact": promise.artifact,
    }
    return found | {name: value for name, value in others.items() if value}


def joined(reports: Sequence[Verification]) -> Verification:
    """Returns the reports of several artifacts of one spec as one; their rows say which artifact they are of."""
    first, *others = reports
    if not others:
        return first
    return Verification(
        first.name,
        first.kind,
        tuple(row for each in reports for row in each.promises),
        tuple(row for each in reports for row in each.returns),
        next((each.samples for each in reports if each.samples is not None), None),
        tuple(dict.fromkeys(remark for each in reports for remark in each.remarks)),
        tuple(finding for each in reports for finding in each.findings),
        tuple(dict.fromkeys(cure for each in reports for cure in each.cures)),
    )


__all__ = ["Promise", "Verification", "joined"]
