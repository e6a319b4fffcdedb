"""What a padding check found, as a table and as diagnostics.

After (an example of ``str``)::

    alternative  padded  fill   runs  error    relative  in         verdict
    bucket S, B  S       as is  4     3.6e-07  1.2e-06   return[0]  same
    bucket S, B  S       1e4    4     3.6e-07  1.2e-06   return[0]  same
    bucket S, B  B       as is  3     0.27     0.51      return[1]  differs
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ....diagnostics import Report
from ....ir import Bucket

DECLARED: Final = "as is"

SAME, ACCEPTED, DIFFERS, FAILS = "same", "accepted", "differs", "fails"


@dataclass(frozen=True, slots=True)
class Trial:
    """One padded run against the plain one.

    Attributes:
        position: Of the alternative.
        alternative: What it is called.
        padded: The sizes that grew: variable → (size, padded size).
        sizes: Of the call.
        fill: What the padded slots held: `DECLARED`, or a poison, with the arguments that held it.
        output: Where the error is largest.
        error: Absolute; ``inf`` where outputs are not comparable.
        relative: Relative to what is compared.
        tolerance: What was allowed, relative.
        verdict: ``same``, ``accepted`` (``as approximate``), ``differs``, ``fails``.
        what: In words, where it is no number.
        count: How many numbers were compared.
        notes: Remarks on this run.
    """

    position: int
    alternative: str
    padded: Mapping[str, tuple[int, int]]
    sizes: Mapping[str, int]
    fill: str
    output: str
    error: float
    relative: float
    tolerance: float
    verdict: str
    what: str = ""
    count: int = 0
    notes: tuple[str, ...] = ()

    @property
    def unsafe(self) -> bool:
        """Whether the valid region is not what it is without padding."""
        return self.verdict in (DIFFERS, FAILS)


@dataclass
class PaddingReport:
    """What `check_padding` found. ``str()`` is a table.

    Attributes:
        name: Of the callable.
        trials: Every padded run.
        missed: Buckets of which no call was compared, with the reason: they stay unchecked.
        notes: Remarks.
    """

    name: str
    trials: list[Trial] = field(default_factory=list[Trial])
    missed: list[tuple[int, Bucket, str]] = field(default_factory=list["tuple[int, Bucket, str]"])
    notes: list[str] = field(default_factory=list[str])

    @property
    def unsafe(self) -> list[Trial]:
        """The runs in which padding changed the valid region."""
        return [trial for trial in self.trials if trial.unsafe]

    @property
    def passed(self) -> bool:
        """Whether every bucket was checked, and none is unsafe."""
        return not self.unsafe and not self.missed

    @property
    def checked(self) -> frozenset[int]:
        """Positions of the alternatives that passed: all of their buckets were checked."""
        wrong = {trial.position for trial in self.unsafe} | {position for position, _, _ in self.missed}
        return frozenset(trial.position for trial in self.trials) - wrong

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        lines = _table(list(self._rows())) if self.trials else ["no padded run"]
        lines += [f"not checked: `{bucket.variable}`: {reason}" for _, bucket, reason in self.missed]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _rows(self) -> Iterator[tuple[str, ...]]:
        yield "alternative", "padded", "fill", "runs", "error", "relative", "in", "verdict"
        groups: dict[tuple[str, str, str], list[Trial]] = {}
        for trial in self.trials:
            groups.setdefault((trial.alternative, ", ".join(trial.padded), trial.fill), []).append(trial)
        for (alternative, padded, fill), trials in groups.items():
            worst = max(trials, key=lambda trial: (trial.unsafe, trial.relative))
            error = "" if math.isinf(worst.error) else _number(worst.error)
            relative = "" if math.isinf(worst.relative) else _number(worst.relative)
            yield alternative, padded, fill, str(len(trials)), error, relative, worst.output, worst.verdict

    def tell(self, buckets: Mapping[int, tuple[Bucket, ...]], report: Report) -> None:
        """Reports ``unsafe-padding``: the worst run of each set of buckets.

        Args:
            buckets: Of each alternative.
            report: Receives it.
        """
        worst: dict[tuple[int, tuple[str, ...]], Trial] = {}
        for trial in self.unsafe:
            key = trial.position, tuple(trial.padded)
            if key not in worst or _rank(trial) > _rank(worst[key]):
                worst[key] = trial
        alone = {(position, names[0]) for position, names in worst if len(names) == 1}
        for (position, names), trial in worst.items():
            if len(names) > 1 and any((position, name) in alone for name in names):
                continue  # one of them was caught by itself
            spans = {bucket.variable: bucket for bucket in buckets[position]}
            _tell(trial, [spans[name] for name in names], report)


def _rank(trial: Trial) -> tuple[bool, float, float]:
    """Sorts runs: those with the declared fill first, since nothing can be said against them."""
    return trial.fill == DECLARED, trial.relative, trial.error


def _tell(trial: Trial, buckets: list[Bucket], report: Report) -> None:
    names = " and ".join(f"`{name}`" for name in trial.padded)
    grown = ", ".join(f"{name} {before} → {after}" for name, (before, after) in trial.padded.items())
    sizes = ", ".join(f"{name} = {size}" for name, size in sorted(trial.sizes.items()) if name[0] != "?")
    if trial.verdict == FAILS:
        message = f"padding {names} fails: {trial.what}"
    elif math.isinf(trial.error):
        message = f"padding {names} changes `{trial.output}`: it {trial.what}"
    else:
        message = f"padding {names} changes `{trial.output}` by {_number(trial.error)}"
    allowed = f", relative {_number(trial.relative)}, allowed {_number(trial.tolerance)}"
    where = "" if math.isinf(trial.relative) else allowed
    if trial.fill == DECLARED:
        held = "padded slots hold what the spec says"
    else:
        held = f"padded slots hold {trial.fill} in place of what the spec says: nothing hides them"
    first = buckets[0]
    report.error(
        "unsafe-padding",
        message,
        at=first.span,
        label=f"pads {grown}",
        also=[(bucket.span, "together with this") for bucket in buckets[1:]],
        note=[f"at {sizes}{where}", held, *trial.notes],
        help=_cures(trial, first),
        witness=tuple((name, size) for name, size in sorted(trial.sizes.items()) if name[0] != "?"),
    )


def _cures(trial: Trial, bucket: Bucket) -> list[str]:
    """Returns what to do about it."""
    if trial.verdict == FAILS:
        return ["choose a fill that the function takes, or delete the bucket"]
    if trial.fill != DECLARED:
        return [
            "hide the padded slots by a mask, or say `as neutral` if slots that hold just this fill change nothing",
            "an argument that does the hiding is known by its dtype bool, by `mask` in its name, or by `values … in [0, 1]`",
        ]
    cures: list[str] = []
    if trial.output.startswith("return"):
        cures.append(f"give up this output: `drop {trial.output}`, or `keep` it padded")
    cures.append("pad with what a mask hides, or elsewhere (`left`, `at P`); or delete the bucket")
    if bucket.reason != "neutral" and not math.isinf(trial.error):
        cures.append("say `as approximate` if that much is fine")
    return cures


def _number(value: float) -> str:
    return "0" if not value else f"{value:.2g}"


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


__all__ = ["ACCEPTED", "DECLARED", "DIFFERS", "FAILS", "SAME", "PaddingReport", "Trial"]
