"""One use of a legacy spec, each time it is reached; and one site of all the times that one call was.

A function is run for each call of it that the file shows, and once for callers that it does not show. So one call may
be reached several times, with one spec or with several: all of them become its site's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

from .....diagnostics import Report, Severity
from ...convert import convert
from ...model import Derived, Entries, Hinted, Items, LegacySpec, Named, Tree
from ...verdict import Conversion
from ..sites import Site
from ..values import Constant, Dict, Fork, Sequence, Value
from .refused import Reason

if TYPE_CHECKING:
    import libcst as cst

    from ....stubs.tree import Tree as File
    from ..observe import Frame


@dataclass(eq=False, slots=True)
class Use:
    """A call as it was reached once; attributes as `Site` has them.

    Attributes:
        specs: One for each world.
        reasons: Why it is kept.
        frame: Where it was reached.
        only_help, only_code: What to do where ``only_shapes`` is said, and the code of that remark.
    """

    api: str
    call: cst.Call
    frame: Frame
    argument: cst.Arg | None = None
    value: Value | None = None
    target: Value | None = None
    args: dict[str, Value] = field(default_factory=dict[str, "Value"])
    worlds: list[Value] = field(default_factory=list["Value"])
    specs: list[LegacySpec] = field(default_factory=list["LegacySpec"])
    stale: list[cst.CSTNode] = field(default_factory=list["cst.CSTNode"])
    reasons: list[Reason] = field(default_factory=list["Reason"])
    only_shapes: str = ""
    only_help: str = ""
    only_code: str = "legacy-note"
    name: str = ""
    decorator: cst.BaseExpression | None = None


def site_of(uses: list[Use], tree: File, report: Report, *, is_rewritten: bool = True, is_bare: bool = False) -> Site:
    """Returns the site of a call that was reached ``uses`` times, converted or kept.

    Args:
        uses: At least one, in the order they were reached.
        tree: The file.
        report: Receives why it is kept, and what its conversion reports.
        is_rewritten: Whether it is told of a call that stays as it is.
        is_bare: Whether the call is also reached without a spec.
    """
    # What the file shows of a function's callers tells more of its parameters than their absence does.
    shown = [use for use in uses if use.frame.calls or use.frame.function is None]
    is_callers = bool(shown) and any(_is_callers(use) for use in uses if use not in shown)
    uses = shown or uses
    first = uses[0]
    site = Site(
        first.api, first.call, first.argument, first.value, first.target, first.args, only_shapes=first.only_shapes
    )
    site.decorator = first.decorator
    site.is_callers = is_callers
    site.name = first.specs[0].name if first.specs else first.name
    site.stale = list(dict.fromkeys(node for use in uses for node in use.stale))
    reasons = list(dict.fromkeys(reason for use in uses for reason in use.reasons))
    if reasons:
        for reason in reasons:
            reason.tell(tree, report, first.call)
        site.kept = [reason.text for reason in reasons]
        site.spec = next((spec for use in uses for spec in use.specs), None)
        return site
    _convert(site, uses, tree, report)
    if site.kept:
        return site
    if site.open and (site.only_shapes or not is_rewritten):
        _keep_open(site, tree, report)
        return site
    if len(site.worlds) > 1 and len(uses) > 1:
        site.value = Fork([use.value for use in uses if use.value is not None], first.call)
    if is_bare and site.value is not None:  # `def save(net, sizes=None)`, and a caller that leaves it out
        site.value = Fork([site.value, Constant(None, first.call)], first.call)
    if site.only_shapes and is_rewritten:
        message = f"`{site.api}` {site.only_shapes}: the call stays as it is"
        report.emit(Severity.NOTE, first.only_code, message, at=tree.span(first.call.func), help=first.only_help or ())
    return site


def _is_callers(use: Use) -> bool:
    """Returns whether a spec, or a bound in it, was not known."""
    return any(reason.code == "legacy-flow" for reason in use.reasons) or any(_is_open(spec.tree) for spec in use.specs)


def _keep_open(site: Site, tree: File, report: Report) -> None:
    """Keeps a site of which no `.shapes` file can say the bounds."""
    bounds = " and ".join(f"`{bound}`" for bound in site.open.values())
    reason = Reason("legacy-flow", f"{bounds} is no number that reading tells", site.call, "kept as it is")
    reason.tell(tree, report, site.call)
    site.kept.append(reason.text)
    site.conversions = []


def _is_open(tree: Tree | None) -> bool:
    """Returns whether a bound in a spec is not known."""
    match tree:
        case Named(open=open_) | Hinted(open=open_) | Derived(root=Named(open=open_)):
            return bool(open_)
        case Entries(items=entries):
            return any(_is_open(item) for _, item in entries)
        case Items(items=items):
            return any(map(_is_open, items))
        case _:
            return False


def _convert(site: Site, uses: list[Use], tree: File, report: Report) -> None:
    """Converts what each use says; the site is kept if one cannot be, or if two ask for different texts."""
    seen: list[tuple[Value | None, LegacySpec, Conversion]] = []
    for use in uses:
        for world, spec in zip_longest(use.worlds, use.specs):  # marks have no world
            known = next((entry for entry in seen if entry[1] == spec), None)
            if known is not None:  # another display may say the same, and is to be rewritten too
                if world is not None and all(_nodes(world) != _nodes(each) for each, _, _ in seen):
                    seen.append((world, spec, known[2]))
                continue
            trial = Report()
            conversion = convert(spec, trial)
            for diagnostic in trial:
                report.add(diagnostic)
            if conversion is None:
                site.kept += [found.message for found in trial.errors]
                site.spec = site.spec or spec
                continue
            if any(found.code == "legacy-object-keys" for found in trial):
                site.only_shapes = site.only_shapes or "is given an object that no ShapesSpec can address"
            seen.append((world, spec, conversion))
    if site.kept or not seen:
        return
    for _, spec, conversion in seen:
        other = next((made for _, known, made in seen if known.tree == spec.tree and known is not spec), None)
        if other is not None and other.signature != conversion.signature:
            reason = Reason(
                "legacy-flow",
                "one spec is used for inputs of different kinds",
                site.call,
                "reached several times",
                "write one call for each",
            )
            reason.tell(tree, report, site.call)
            site.kept.append(reason.text)
            return
    if uses[0].argument is None:  # marks, which are not behind flags: one spec for all calls
        if any(made.signature != seen[0][2].signature for _, _, made in seen):
            reason = Reason("legacy-flow", "its calls take tensors with different marks", site.call, "compiled once")
            reason.tell(tree, report, site.call)
            site.kept.append(reason.text)
            return
        del seen[1:]
    site.worlds = [world for world, _, _ in seen if world is not None]
    site.conversions = [conversion for _, _, conversion in seen]
    site.spec = seen[0][1]
    site.open = {name: bounds for conversion in site.conversions for name, bounds in conversion.open.items()}


def _nodes(value: Value | None) -> list[int]:
    """Returns the nodes that a world was made by, in its order."""
    match value:
        case None:
            return []
        case Dict(entries=entries):
            inner = [each for pair in entries.values() for each in pair]
        case Sequence(items=items):
            inner = items
        case _:
            inner = []
    return [id(value.node), *(node for each in inner for node in _nodes(each))]


def grouped(uses: Iterable[Use]) -> list[list[Use]]:
    """Returns the uses of each call, in the order that calls were first reached."""
    found: dict[int, list[Use]] = {}
    for use in uses:
        found.setdefault(id(use.decorator or use.call), []).append(use)
    return list(found.values())


__all__ = ["Use", "grouped", "site_of"]
