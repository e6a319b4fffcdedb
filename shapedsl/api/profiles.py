"""Profiles for the command line: reading, merging, and describing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .. import pipeline
from ..diagnostics import ShapeError
from ..serving.profiles.calls import Node
from ..serving.profiles.histogram import by_size
from ..serving.profiles.profile import Profile, Structure, structure_places
from ..serving.profiles.profile_files import load_profiles, merge_profiles, parse_profiles
from ..serving.profiles.profile_json import write_profiles
from ..serving.profiles.traffic import observed_sizes
from ..serving.suggesting.suggestion_lines import number
from .sources import loads
from .suggesting import uncounted

_MOST = 4  # sizes that are listed by name


def as_text(profiles: Iterable[Profile]) -> str:
    """Returns profiles as the text of a file."""
    return write_profiles(profiles)


def describe(profile: Profile) -> list[str]:
    """Returns what a profile tells, in lines."""
    structures = len(profile.tables)
    head = f"{profile.name}: {number(profile.calls, 'call')}, {profile.distinct:,} different"
    lines = [head + (f", of {structures} structures" if structures > 1 else "")]
    if profile.joined:
        lines.append(
            f"  at most {number(profile.joined, 'call')} are counted at sizes of others: {profile.limit:,} different are kept"
        )
    missing = uncounted(profile)
    if missing:
        lines.append(f"  not counted: {missing}")
    lines += _by_variable(profile)
    ordered = sorted(profile.tables.items(), key=lambda item: -item[1].sizes.calls)
    for structure, table in ordered:
        lines += ["", f"  {number(table.sizes.calls, 'call')} of ({_written(structure)})"]
        columns: dict[tuple[int, ...], tuple[list[str], dict[int, int]]] = {}
        for index, place in enumerate(structure_places(structure)):
            column = tuple(sizes[index] for sizes in table.sizes.counts)
            columns.setdefault(column, ([], by_size(table.sizes, index)))[0].append(str(place))
        lines += _table([(_places(names), counts) for names, counts in columns.values()], "    ")
    return lines


def _by_variable(profile: Profile) -> list[str]:
    """Returns the sizes by variable, where the callable has a spec."""
    if profile.spec is None:
        return []
    try:
        signature = next(iter(loads(profile.spec).values())).signature
        traffic = observed_sizes(profile, signature, solve=pipeline.solve)
    except ShapeError as error:
        return [f"  its spec cannot be read: {error.diagnostics[0].message}"]
    rows = [(name, traffic.counts(name)) for name in traffic.variables()]
    lines = ["", "  by the sizes of its spec", *_table(rows, "    ")] if rows else []
    if traffic.refused:
        lines.append(f"    the spec refuses {number(traffic.refused, 'call')}: {traffic.reason}")
    return lines


def _table(rows: Iterable[tuple[str, Mapping[int, int]]], margin: str) -> list[str]:
    cells = [(name, *_sizes(counts)) for name, counts in rows]
    widths = [max((len(cell[column]) for cell in cells), default=0) for column in range(3)]
    return [
        f"{margin}{name:<{widths[0]}}   {span:<{widths[1]}}   {count:<{widths[2]}}   {usual}".rstrip()
        for name, span, count, usual in cells
    ]


def _sizes(counts: Mapping[int, int]) -> tuple[str, str, str]:
    """Returns the range, how many different sizes there are, and the usual ones."""
    total = sum(counts.values())
    low, high = min(counts), max(counts)
    if low == high:
        return str(low), "always", ""
    usual = sorted(((size, times) for size, times in counts.items() if times), key=lambda item: (-item[1], item[0]))[
        :_MOST
    ]
    shown = ", ".join(f"{size}: {times / total:.0%}" for size, times in usual)
    return f"{low} to {high}", number(sum(1 for times in counts.values() if times), "size"), shown


def _places(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _written(structure: Structure) -> str:
    return ", ".join(f"{name}: {_node(node)}" for name, node in structure)


def _node(node: Node) -> str:
    match node:
        case ("tensor", dtype, int(rank)):
            return f"{dtype}[{', '.join('_' * rank) or '()'}]"
        case ("int",):
            return "int"
        case ("none",):
            return "None"
        case ("static", kind):
            return str(kind)
        case ("list" | "tuple" as kind, *items):
            opening, closing = "[]" if kind == "list" else "()"
            texts = [_node(item) for item in items]
            if len(texts) > 2 and len(set(texts)) == 1:
                return f"{opening}{texts[0]}{closing} * {len(texts)}"
            return f"{opening}{', '.join(texts)}{closing}"
        case ("dict", *entries):
            return f"{{{', '.join(f'{key!r}: {_node(item)}' for key, item in entries)}}}"
        case ("object", name, *entries):
            return f"{name}({', '.join(f'{key}: {_node(item)}' for key, item in entries)})"
        case _:
            return "_"


__all__ = ["as_text", "describe", "load_profiles", "merge_profiles", "parse_profiles", "uncounted"]
