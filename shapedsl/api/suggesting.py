"""From a profile to a spec's text: inferred, or with cases and buckets for a spec that is there already."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, cast

from .. import pipeline
from ..diagnostics import Report, Source
from ..ir import Path as ArgumentPath
from ..ir import Signature, Var
from ..ir.write import write_signature
from ..ir.write_clauses import write_alternatives
from ..ir.write_types import write_params, write_type
from ..serving.profiles.calls import tensors
from ..serving.profiles.profile import Profile
from ..serving.profiles.profile_files import load_profiles
from ..serving.profiles.traffic import Traffic, observed_sizes
from ..serving.suggesting.inference.infer import Inferred, infer
from ..serving.suggesting.inference.naming import is_sayable
from ..serving.suggesting.inference.returns import return_type
from ..serving.suggesting.keeping import Kept, split
from ..serving.suggesting.suggest import COMPILE_SECONDS, WORTH, Options, Plan, paddable, plan
from ..serving.suggesting.suggestion_lines import Line, alternatives, comments, declaration, hints, indented, number
from .numbers_given import count
from .numbers_given import number as number_given
from .sources import given_spec, loads
from .spec import Spec

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .sources import SpecLike

_MARGIN = "    "


class Choices(TypedDict, total=False):
    """The keywords of `suggest`, `seen.suggest` and `suggest_profile`.

    Attributes:
        spec: The spec whose alternatives are chosen; by default the one that the callable had, else it is inferred.
        over: The size to pad, or two of them, as ``"B, S"`` or in a list; by default the one with most different sizes.
        worth: Without ``k``: what one more artifact must save, as a share of the elements that calls have.
        tail: The share of calls, the largest ones, that may be left to ``otherwise``.
        otherwise: What becomes of all other sizes: ``"eager"`` or ``"dynamic"``; by default dynamic where nothing can be padded, else eager.
        compile_seconds: What one artifact takes to compile.
    """

    spec: SpecLike | None
    over: str | Sequence[str] | None
    worth: float
    tail: float
    otherwise: Literal["eager", "dynamic"]
    compile_seconds: float


@dataclass(frozen=True)
class Suggestion:
    """What calls suggest. ``str()`` is the text of a ``.shapes`` file.

    Attributes:
        text: A def with what was seen in comments; it passes ``shapedsl check``.
        spec: The same, read.
        plan: The cases and buckets, and what they cost: ``.waste``, ``.coverage``, ``.artifacts``.
        traffic: The calls by the sizes of the spec.
        lines: The clauses that are new in it, for `patching`.
        kept: Which alternatives of a given spec stayed.
        returns: The return type in text, where the spec had none and outputs tell it.
    """

    text: str
    spec: Spec
    plan: Plan
    traffic: Traffic
    lines: tuple[Line, ...] = ()
    kept: Kept = field(default_factory=Kept)
    returns: str | None = None

    @property
    def waste(self) -> float:
        """The share of padding in what the buckets compute, from 0 to 1."""
        return self.plan.waste

    @property
    def coverage(self) -> float:
        """The share of calls that a case or a bucket takes, from 0 to 1."""
        return self.plan.coverage

    @property
    def artifacts(self) -> int:
        """How many artifacts are compiled."""
        return self.plan.artifacts

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Suggestion for {self.spec.name}: {number(self.artifacts, 'artifact')}, {self.waste:.1%} padding>"


def suggest_profile(profile: Profile, k: int | None = None, **choices: Unpack[Choices]) -> Suggestion:
    """Returns the spec that the calls of a profile suggest, with cases and buckets for a budget of artifacts.

    Args:
        profile: The calls.
        k: At most so many artifacts; by default one more as long as it saves a hundredth of the elements.
        **choices: See `Choices`.

    Raises:
        ShapeError: ``empty-profile``; ``unknown-name``: no size that could be padded has the name in ``over``; or what
            is wrong with ``spec``.
        TypeError: There is no such choice, or it is not of its type.
        ValueError: ``k`` is not positive, or a share is none.
    """
    options = _options(k, choices)
    if not profile.calls:
        report = Report()
        report.error(
            "empty-profile", f"the profile of `{profile.name}` has no calls", help=uncounted(profile) or _CALL_IT
        )
        report.raise_errors()
    given = _given(profile, choices.get("spec"))
    if given is None:
        inferred = infer(profile)
        base = _inferred_text(inferred)
        return _finished(profile, _read(base), base, [], options, inferred.notes, Kept())
    report = Report()
    pipeline.normal_form(given, report)
    report.raise_errors()
    kept = split(given.alternatives)
    if "otherwise" not in choices and kept.rest is not None:
        options = replace(options, rest=kept.rest)
    traffic = observed_sizes(profile, given, solve=pipeline.solve)
    if not traffic.taken:
        message = f"`{given.name}` takes none of {number(profile.calls, 'call')}: {traffic.reason}"
        report.error("empty-profile", message, help="the calls are those of another function, or the spec is wrong")
        report.raise_errors()
    returns = None
    if given.returns is None:
        names = [name for name in traffic.variables() if "[" not in name]
        returns = _returns(profile, traffic, names)
    clean = replace(given, alternatives=kept.before)
    base = write_signature(clean) + "\n"
    if returns is not None:
        base = write_signature(replace(clean, returns=_read(f"def f() -> {returns}: ...\n").returns)) + "\n"
    new = hints(given, traffic)
    return _finished(profile, _read(base), base, new, options, _told(traffic), kept, returns)


def _options(k: int | None, choices: Choices) -> Options:
    """Returns the choices, checked.

    Raises:
        TypeError: There is no such choice, or it is not of its type.
        ValueError: One is out of its range.
    """
    unknown = choices.keys() - Choices.__annotations__.keys()
    if unknown:
        raise TypeError(
            f"there is no choice {', '.join(sorted(unknown))}; there are {', '.join(Choices.__annotations__)}"
        )
    over = choices.get("over")
    rest = choices.get("otherwise")
    if isinstance(over, str):
        over = [name.strip() for name in over.split(",")]
    made = Options(
        k=None if k is None else count("k", k, 1),
        over=tuple(over or ()),
        worth=_share("worth", choices.get("worth", WORTH)),
        tail=_share("tail", choices.get("tail", 0.0)),
        rest=rest,
        compile_seconds=number_given("compile_seconds", choices.get("compile_seconds", COMPILE_SECONDS)),
    )
    if made.tail == 1:
        raise ValueError("tail= leaves some calls: it is less than 1")
    if not 0 <= made.compile_seconds < math.inf:
        raise ValueError(f"compile_seconds= is a time in seconds, not {made.compile_seconds!r}")
    if rest not in (None, "eager", "dynamic"):
        raise ValueError(f'otherwise= is "eager" or "dynamic", not {rest!r}')
    return made


def _share(name: str, value: float) -> float:
    if not 0 <= number_given(name, value) <= 1:
        raise ValueError(f"{name}= is a share from 0 to 1, not {value!r}")
    return value


_CALL_IT = "call what `observe` returned, then save"


def uncounted(profile: Profile) -> str:
    """Returns what a profile did not count, as a sentence; empty if it counted everything."""
    parts = [
        f"{number(count, 'call')} {why}"
        for count, why in (
            (profile.raised, "raised an exception"),
            (profile.unread, "could not be read"),
            (profile.dropped, "had structures beyond the limit"),
        )
        if count
    ]
    return ", ".join(parts)


def _given(profile: Profile, spec: SpecLike | None) -> Signature | None:
    if spec is not None:
        return given_spec(spec, None).signature
    if profile.spec is None:
        return None
    return next(iter(loads(profile.spec).values())).signature


def _returns(profile: Profile, traffic: Traffic, names: Sequence[str]) -> str | None:
    known = {call.row: call.sizes for call in traffic.calls}
    made = return_type(profile, {name: Var(name) for name in names}, lambda s, row: known.get((s, row)), [])
    return None if made is None else write_type(made)


def _told(traffic: Traffic) -> list[str]:
    if not traffic.refused:
        return []
    return [f"the spec refuses {number(traffic.refused, 'call')}: {traffic.reason}"]


def _inferred_text(inferred: Inferred) -> str:
    """Returns a def without alternatives, what was seen in comments."""
    returns = "" if inferred.returns is None else f" -> {write_type(inferred.returns)}"
    head = f"def {spec_name(inferred.name)}({', '.join(write_params(inferred.params))}){returns}:"
    lines = [declaration(size) for size in inferred.declared]
    return f"{head}\n{indented(lines, _MARGIN)}" if lines else f"{head} ...\n"


def spec_name(name: str) -> str:
    """Returns a callable's name as a ``.shapes`` file can say it."""
    return ".".join(filter(is_sayable, name.split("."))) or "f"


def _read(text: str) -> Signature:
    """Returns the one signature of a text.

    Raises:
        ShapeError: What is wrong with it.
    """
    report = Report()
    module = pipeline.read(Source("<suggestion>", text), report)
    report.raise_errors()
    return next(iter(module))


def _finished(
    profile: Profile,
    signature: Signature,
    base: str,
    new: list[Line],
    options: Options,
    notes: Sequence[str],
    kept: Kept,
    returns: str | None = None,
) -> Suggestion:
    """Returns the suggestion: ``base`` with hints, alternatives and the remarks above it."""
    traffic = observed_sizes(profile, signature, solve=pipeline.solve)
    _require_paddable(signature, traffic, options)
    if signature.returns is None:
        chosen = Plan([], None, traffic.taken, 0, options.rest or "eager", options.compile_seconds)
        said = [*notes, "no cases and buckets: padding needs a return type to crop by"] if paddable(traffic) else notes
    else:
        chosen = plan(traffic, options, kept)
        said = [*notes, *chosen.notes]
    suggested = alternatives(signature, chosen, _dtypes(profile), kept)
    if not suggested and kept.replaced:  # nothing better is known
        suggested = [Line(row) for row in write_alternatives(kept.replaced)]
    if suggested and kept.before and kept.before[-1].keyword == "bucket" and suggested[0].text.startswith("bucket"):
        suggested.insert(0, Line("..."))  # keeps two joint choices apart
    if suggested and kept.after and kept.after[0].keyword == "bucket" and suggested[-1].text.startswith("bucket"):
        suggested.append(Line("..."))
    lines = [*new, *suggested]
    after = [Line(row) for row in write_alternatives(kept.after)]
    text, lines = _accepted(base, lines, after, _head(profile, said))
    return Suggestion(text, Spec(_read(text)), chosen, traffic, tuple(lines), kept, returns)


def _require_paddable(signature: Signature, traffic: Traffic, options: Options) -> None:
    found = paddable(traffic)
    report = Report()
    for name in options.over:
        if name not in found:
            known = signature.variable(name) is not None
            why = "it does not vary, or it stands in an expression" if known else "there is no such size"
            report.error(
                "unknown-name",
                f"`{name}` cannot be padded: {why}",
                help=f"these can be: {', '.join(found) or 'none'}",
            )
    if len(options.over) > 2:
        report.error("unknown-name", "more than two sizes cannot be chosen together", help="name one or two")
    report.raise_errors()


def _dtypes(profile: Profile) -> dict[str, str]:
    """Returns the dtype of each tensor by its path, as calls had it."""
    found: dict[str, str] = {}
    for structure in profile.tables:
        for name, node in structure:
            for path, dtype in tensors(node, ArgumentPath(name)):
                found.setdefault(str(path), dtype)
    return found


def _head(profile: Profile, notes: Sequence[str]) -> list[str]:
    about = f"Suggested by {number(profile.calls, 'call')} of {profile.name}, {profile.distinct:,} different."
    lines = [about]
    if profile.joined:
        lines.append(f"Of these, {number(profile.joined, 'call')} at most are counted at sizes of others.")
    if missing := uncounted(profile):
        lines.append(f"Not counted: {missing}.")
    if spec_name(profile.name) != profile.name:
        lines.append(f"No .shapes file can say its name, so the spec is called {spec_name(profile.name)}.")
    lines += [f"{note[:1].upper()}{note[1:]}." if note.split()[0].isalpha() else f"{note}." for note in notes]
    return comments(lines)


def _accepted(base: str, lines: list[Line], after: list[Line], head: Sequence[str]) -> tuple[str, list[Line]]:
    """Returns the text in layout, and the lines that stayed: an ``otherwise`` that nothing reaches is left out."""
    text = _composed(base, [*lines, *after], head)
    report = Report()
    pipeline.check(Source("<suggestion>", text), report)
    if any(d.code == "unreachable-case" for d in report) and lines and lines[-1].text.startswith("otherwise"):
        shorter = [*lines[:-1]]
        if shorter:
            cost = lines[-1].comment.partition("; ")[2]
            shorter[-1] = Line(shorter[-1].text, "; ".join(filter(None, (shorter[-1].comment, cost))))
        lines = shorter
        text = _composed(base, [*lines, *after], head)
        report = Report()
        pipeline.check(Source("<suggestion>", text), report)
    if report.errors and any(line.text.startswith(("bucket", "case")) for line in lines):
        why = report.errors[0].message
        shorter = [line for line in lines if line.text.startswith("hint")]
        return _accepted(base, shorter, after, [*head, *comments([f"No cases and buckets: {why}."])])
    report.raise_errors()
    formatted = pipeline.format_text(Source("<suggestion>", text), Report())
    return formatted or text, lines


def _composed(base: str, lines: Sequence[Line], head: Sequence[str]) -> str:
    above = "".join(f"{line}\n" for line in head)
    if not lines:
        return above + base
    body = base.rstrip("\n")
    if body.endswith(": ..."):
        body = body.removesuffix(" ...")
    first = next(row for row in base.splitlines() if row.lstrip().startswith("def "))
    margin = " " * (len(first) - len(first.lstrip()) + len(_MARGIN))
    return f"{above}{body}\n{indented(lines, margin)}"


def suggest(
    *profiles: str | os.PathLike[str] | Profile, k: int | None = None, **choices: Unpack[Choices]
) -> Suggestion:
    """Returns what profiles of one callable suggest together; see `suggest_profile`.

    Args:
        *profiles: Files that `observe` saved, profiles, or what `observe` returned.
        k: At most so many artifacts; by default one more as long as it saves a hundredth of the elements.
        **choices: ``spec=``, ``over=``, ``worth=``, ``tail=``, ``otherwise=``, ``compile_seconds=``; see `Choices`.

    Raises:
        ShapeError: ``damaged-profile``, ``unreadable-file``, ``empty-profile``, or as `suggest_profile`.
        TypeError: One is no file and no profile; or as `suggest_profile`.
        ValueError: They are of several callables; or as `suggest_profile`.
    """
    report = Report()
    found: list[Profile] = []
    for each in profiles:
        seen: object = getattr(each, "profile", each)
        if isinstance(seen, Profile):
            found.append(seen)
        elif isinstance(seen, (str, os.PathLike)):
            found += load_profiles(Path(cast("str", seen)), report)
        else:
            raise TypeError(
                f"suggest() takes profiles, and files of them, each an argument of its own, not {type(each).__name__}"
            )
    report.raise_errors()
    if not found:
        report.error("empty-profile", "there is no profile", help=_CALL_IT)
        report.raise_errors()
    merged = found[0].copy()
    for each in found[1:]:
        merged.merge(each)
    return suggest_profile(merged, k, **choices)


__all__ = ["Choices", "Profile", "Suggestion", "spec_name", "suggest", "suggest_profile", "uncounted"]
