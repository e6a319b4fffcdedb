"""Profiles as JSON text of version 1.

    {"shapedsl profile": 1, "profiles": [{"name": "net.encode", "parameters": [["ids", "POSITIONAL_OR_KEYWORD", false]],
      "limit": 4096, "spec": null, "dropped": 0, "raised": 0, "unread": 0,
      "structures": [{"arguments": [["ids", ["tensor", "int64", 2]]], "calls": [[[1, 17], 310]],
                      "noted": [], "joined": 0, "outputs": [[[1, 17], ["tensor", "float32", 2], [1, 64]]]}]}]}

A file may hold profiles of several callables.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, cast

from ...ir import ParamKind
from .calls import count, from_json, to_json
from .histogram import Sizes
from .profile import Parameter, Profile, Structure, Table, width

VERSION: Final = 1
_MARK: Final = "shapedsl profile"
_MOST_DIGITS: Final = 4000


class MalformedProfileError(ValueError):
    """A text is no profile; the message says why."""


def write_profiles(profiles: Iterable[Profile]) -> str:
    """Returns profiles as JSON, a call a line."""
    written = ",\n".join(_profile(profile) for profile in profiles)
    return f'{{"{_MARK}": {VERSION}, "profiles": [\n{written}\n]}}\n'


def _profile(profile: Profile) -> str:
    head = {
        "name": profile.name,
        "parameters": [[p.name, p.kind, p.default] for p in profile.parameters],
        "limit": profile.limit,
        "spec": profile.spec,
        "dropped": profile.dropped,
        "raised": profile.raised,
        "unread": profile.unread,
    }
    tables = ",\n".join(_table(structure, table) for structure, table in profile.tables.items())
    return json.dumps(head)[:-1] + f', "structures": [\n{tables}\n]}}'


def _table(structure: Structure, table: Table) -> str:
    calls = ",\n".join(json.dumps([list(sizes), times]) for sizes, times in table.sizes.counts.items())
    rest = {
        "arguments": [[name, to_json(node)] for name, node in structure],
        "noted": [list(sizes) for sizes in table.sizes.noted],
        "joined": table.sizes.moved,
        "outputs": [
            [list(sizes), None, []] if output is None else [list(sizes), to_json(output[0]), list(output[1])]
            for sizes, output in table.outputs.items()
        ],
    }
    return json.dumps(rest)[:-1] + f', "calls": [\n{calls}\n]}}'


def read_profiles(text: str) -> list[Profile]:
    """Returns the profiles of a file.

    Raises:
        MalformedProfileError: The text is none of ours, of another version, or damaged.
    """
    try:
        document = json.loads(text, parse_int=_int)
    except RecursionError:
        raise MalformedProfileError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise MalformedProfileError(f"it is no JSON from line {error.lineno}, column {error.colno} on") from None
    except ValueError as error:
        raise MalformedProfileError(str(error)) from None
    if not isinstance(document, dict) or _MARK not in document:
        raise MalformedProfileError(f'it has no "{_MARK}"')
    found = cast("dict[str, Any]", document)
    if found[_MARK] != VERSION:
        raise MalformedProfileError(f"it is of version {str(found[_MARK])[:20]}; this reader knows {VERSION}")
    try:
        profiles = [_read_profile(each) for each in found["profiles"]]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise MalformedProfileError(why) from None
    if len({profile.name for profile in profiles}) != len(profiles):
        raise MalformedProfileError("a callable has two profiles")
    return profiles


def _int(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)


def _read_profile(document: dict[str, Any]) -> Profile:
    parameters = tuple(
        Parameter(_text(name), ParamKind[kind].name, bool(default)) for name, kind, default in document["parameters"]
    )
    spec = document["spec"]
    profile = Profile(
        _text(document["name"]),
        parameters,
        _number(document["limit"], 1),
        spec=None if spec is None else _text(spec),
        dropped=_number(document["dropped"]),
        raised=_number(document["raised"]),
        unread=_number(document["unread"]),
    )
    for each in document["structures"]:
        structure = tuple((_text(name), from_json(node)) for name, node in each["arguments"])
        table = profile.table(structure)
        if table is None:
            raise ValueError("it has too many structures")
        if table.sizes.counts:
            raise ValueError("a structure stands twice")
        length = width(structure)
        for sizes, times in each["calls"]:
            row = _sizes(sizes, length)
            table.sizes.counts[row] = table.sizes.counts.get(row, 0) + _number(times, 1)
        if len(table.sizes.counts) > profile.limit * 2:
            raise ValueError("it has more sizes than its limit")
        table.sizes.note(_sizes(sizes, length) for sizes in each["noted"])
        table.sizes.moved = _number(each["joined"])
        for sizes, node, returned in each["outputs"]:
            output = None if node is None else from_json(node)
            row = _sizes(sizes, length)
            table.outputs[row] = None if output is None else (output, _sizes(returned, count(output)))
    return profile


def _sizes(values: list[Any], length: int) -> Sizes:
    row = tuple(values)
    if len(row) != length or not all(type(each) is int for each in row):
        raise ValueError(f"a row has not {length} sizes: {str(values)[:60]}")
    return row


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a name is a text, not {str(value)[:60]}")
    return value


def _number(value: object, least: int = 0) -> int:
    if type(value) is not int or value < least:
        raise ValueError(f"a number is {str(value)[:60]}")
    return value


__all__ = ["VERSION", "MalformedProfileError", "read_profiles", "write_profiles"]
