"""What `cure` returns: the spec with its new assumptions, the patch that adds them, and the story of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..diagnostics import ShapeError, Source
from ..serving.curing.lines import python_where
from ..serving.curing.model import Proposal, Step, Unfinished
from .curing_text import diff, patched, text_of
from .spec import Spec

if TYPE_CHECKING:
    from ..serving.curing.planned import Plan


@dataclass(frozen=True, slots=True)
class Cured:
    """What curing a callable under a spec gave.

    Attributes:
        name: Of the spec.
        spec: The spec with what was added; the same where nothing was.
        patch: What adds it: a unified diff of the text that the spec was read from; of annotations a decorator, or
            the canonical text of the whole spec. Empty where nothing was added.
        text: The whole new text, where ``patch`` is a diff; else None.
        source: The text that the spec was read from, where ``patch`` is a diff; else None.
        steps: Each question of a trace and each demand of a program, with what was assumed.
        proposals: What only the user can decide.
        traces: How often each entry point traced, of all parts of the spec.
        errors: What still ends a trace: of which case (None for the ``where`` part), by which entry point.
        remarks: What was not traced, and what could not be said.
        apply: How the patch is applied, as a sentence; empty where there is none.
    """

    name: str
    spec: Spec
    patch: str
    text: str | None
    source: Source | None
    steps: tuple[Step, ...]
    proposals: tuple[Proposal, ...]
    traces: Mapping[str, int]
    errors: tuple[tuple[str | None, str, BaseException], ...]
    remarks: tuple[str, ...] = ()
    apply: str = ""

    @property
    def cured(self) -> bool:
        """Whether all that was traced comes to its end under ``spec``."""
        return not self.errors

    @property
    def error(self) -> BaseException | None:
        """What ended a trace, and still does; None if nothing."""
        return self.errors[0][2] if self.errors else None

    def to_dict(self) -> dict[str, Any]:
        """Returns it as data for JSON."""
        return {
            "name": self.name,
            "cured": self.cured,
            "traces": dict(self.traces),
            "steps": [step.to_dict() for step in self.steps],
            "proposals": [proposal.to_dict() for proposal in self.proposals],
            "errors": [
                {"case": case, "entry": entry, "error": _said(error), "line": _line(error), "helps": _helps(error)}
                for case, entry, error in self.errors
            ],
            "remarks": list(self.remarks),
            "patch": self.patch,
            "spec": str(self.spec),
        }

    def to_json(self) -> str:
        """Returns it as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def __str__(self) -> str:
        return "\n".join(story(self))


def story(cured: Cured) -> list[str]:
    """Returns what happened, a line each; the patch is not among them."""
    counted = ", ".join(
        f"{count} {'trace' if count == 1 else 'traces'} by {entry}" for entry, count in cured.traces.items()
    )
    if not cured.cured:
        headline = f"`{cured.name}` is not cured"
    elif cured.patch:
        headline = f"`{cured.name}` is cured"
    else:
        headline = f"`{cured.name}` needs no cure"
    rows = [f"{headline}: {counted}" if counted else headline]
    for step in cured.steps:
        case = f" of {step.case}" if step.case is not None else ""
        took = f", which excludes {step.excludes}" if step.excludes else ", which excludes no size"
        took = "" if step.kind == "static" else took
        flag = "; an upper bound" if step.kind == "upper-bound" else ""
        rows.append(f"  {step.entry}{case}: {step.reason}: {', '.join(step.added)}{took}{flag}")
    for proposal, entries in _merged(cured.proposals):
        case = f" of {proposal.case}" if proposal.case is not None else ""
        where = f" ({proposal.line})" if proposal.line is not None else ""
        rows.append(f"proposed for {' and '.join(entries)}{case}: {proposal.message}{where}")
        rows += [f"  - {option}" for option in proposal.options]
    said: dict[tuple[str | None, str, str | None], tuple[list[str], list[str]]] = {}
    proposed = {(proposal.case, proposal.entry) for proposal in cured.proposals}  # they have the line, and what helps
    for failed, entry, error in cured.errors:
        told = (failed, entry) in proposed
        line, helps = (None, []) if told else (_line(error), _helps(error))
        said.setdefault((failed, _said(error), line), ([], helps))[0].append(entry)
    for (failed, reason, line), (entries, helps) in said.items():
        of = f" of {failed}" if failed is not None else ""
        where = f" ({line})" if line is not None else ""
        rows.append(f"{' and '.join(entries)}{of} {'fails' if len(entries) == 1 else 'fail'}: {reason}{where}")
        rows += [f"  - {each}" for each in helps]
    failed_by = {entry for _, entry, _ in cured.errors}
    if failed_by and (others := [entry for entry in cured.traces if entry not in failed_by]):
        rows.append(f"{' and '.join(others)} alone is cured by `entries=` or `--entry {others[0]}`")
    rows += cured.remarks
    return rows


def _merged(proposals: Sequence[Proposal]) -> list[tuple[Proposal, list[str]]]:
    """Returns proposals with the entry points that need them."""
    found: dict[tuple[object, ...], tuple[Proposal, list[str]]] = {}
    for each in proposals:
        entries = found.setdefault((each.case, each.message, each.options), (each, []))[1]
        if each.entry not in entries:
            entries.append(each.entry)
    return list(found.values())


def _said(error: BaseException) -> str:
    """Returns the first line of an error."""
    if isinstance(error, ShapeError):
        return error.diagnostics[0].message
    text = next((row for row in str(error).splitlines() if row.strip()), "")
    return text if isinstance(error, Unfinished) else f"{type(error).__name__}: {text}"[:300]


def _line(error: BaseException) -> str | None:
    """Returns the line of the user's code at which a trace ended."""
    from ..targets.traces import user_line

    return None if isinstance(error, Unfinished) else user_line(error)


def _helps(error: BaseException) -> list[str]:
    return list(error.diagnostics[0].helps) if isinstance(error, ShapeError) else []


def cured_of(plan: Plan, spec: Spec, overrides: Mapping[str, int] | None = None) -> Cured:
    """Returns what a plan comes to.

    Args:
        plan: What is to be added.
        spec: The spec as it was.
        overrides: Of ``const`` statements, with which it was read.
    """
    signature = plan.cured()
    remarks = [f"not traced: {each}" for each in plan.skipped]
    patch, text, source, apply = "", None, None, ""
    if plan.changes:
        source = text_of(spec.signature, overrides)
        edited = None if source is None else patched(source, plan, overrides)
        if source is not None and edited is not None:
            text, signature = edited
            patch, apply = diff(source, text), "apply it with --write, or with `patch`"
        elif source is not None:
            source = None
            remarks.append("the text stands in a way that cannot be edited, so this is the whole spec")
            patch, apply = f"{Spec(signature)}\n", "put it in place of the def"
        elif (decorator := python_where(plan)) is not None:
            patch, apply = f"{decorator}\n", "put it above the function, beside @shapes"
        else:
            patch, apply = f"{Spec(signature)}\n", "pass it as `spec=`, or as a file"
    return Cured(
        spec.name,
        Spec(signature, spec.diagnostics) if plan.changes else spec,
        patch,
        text,
        source,
        tuple(plan.steps),
        tuple(plan.proposals),
        dict(plan.traces),
        tuple(plan.errors),
        tuple(remarks),
        apply,
    )


__all__ = ["Cured", "Proposal", "Step", "cured_of", "story"]
