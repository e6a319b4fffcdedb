"""``load(path, consts={"LIMIT": 1024})``: other values for the constants of a file."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

from ...diagnostics import Report
from ...ir import VariableKind
from . import limits
from .expand import declaration_of
from .scope import ConstEntry, Entry, Scope, SizeEntry


def by_file(consts: Mapping[str, int], report: Report) -> dict[str, dict[str, int]]:
    """Returns overrides by the file they are for, ``""`` for the one that is read: ``{"a.shapes:N": 3}``.

    Args:
        consts: Whatever a caller gave.
        report: Receives ``not-constant`` for what is no int, ``input-too-large`` for one of more than 64 bits.

    Raises:
        TypeError: ``consts`` is no mapping.
    """
    if not isinstance(consts, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"consts maps names to ints; this is {type(consts).__name__}")
    found: dict[str, dict[str, int]] = {}
    for key, given in consts.items():
        shown = repr(given)[:40]
        value = _integer(given)
        if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            report.error("not-constant", f"a constant is overridden by its name, not by {repr(key)[:40]}")
        elif value is None:
            report.error("not-constant", f"`{key}` was given as {shown}", help="a constant is an int")
        elif abs(value) > limits.INTEGER:
            report.error("input-too-large", f"`{key}` was given as an int of more than 64 bits")
        else:
            file, _, name = key.rpartition(":")
            found.setdefault(file, {})[name] = value
    return found


def _integer(given: Any) -> int | None:
    """Returns an int, of whatever library, as Python's; None for what is none, truth values included."""
    if isinstance(given, bool):
        return None
    try:
        return operator.index(given)
    except TypeError:
        return None


def override(scope: Scope, consts: Mapping[str, int], others: Iterable[Scope] = ()) -> None:
    """Gives constants of ``scope`` other values; ``const … = _`` gets one.

    ``others`` are all scopes: those that imported such a constant get the new one too. What is no constant of this very scope is reported as ``unknown-name``, a value that the
    declaration excludes as ``contradiction``.
    """
    for name, value in consts.items():
        entry = scope.entries.get(name)
        if entry is None or entry.scope is not scope or not _is_constant(entry):
            _unknown(scope, name, entry)
            continue
        if isinstance(entry, SizeEntry):
            _check(entry, value)
        other = ConstEntry(entry.name, scope, None, value)
        for reached in (scope, *others):
            for alias, known in reached.entries.items():
                if known is entry:
                    reached.entries[alias] = other


def _is_constant(entry: Entry) -> bool:
    return isinstance(entry, ConstEntry) or (
        isinstance(entry, SizeEntry) and entry.statement.kind is VariableKind.CONST
    )


def _check(entry: SizeEntry, value: int) -> None:
    declared = declaration_of(entry)
    low, high = declared.low or 0, declared.high
    if value < low or (high is not None and value > high):
        entry.scope.session.report.error(
            "contradiction",
            f"`{entry.name.text}` was given as {value}",
            at=declared.range_span or entry.name.span,
            label=f"declared in [{low}, {'inf' if high is None else high}]",
        )


def _unknown(scope: Scope, name: str, entry: Entry | None) -> None:
    report = scope.session.report
    if entry is None:
        consts = [key for key, other in scope.entries.items() if other.scope is scope and _is_constant(other)]
        help_ = f"its constants are {', '.join(consts)}" if consts else "it declares no constant"
        report.error("unknown-name", f"there is no constant `{name}` to override", help=help_)
        return
    imported = _is_constant(entry)
    report.error(
        "unknown-name",
        f"`{name}` is imported" if imported else f"`{name}` is no constant",
        at=entry.name.span,
        help=f"override it as `FILE:{name}`, with that file's path from here" if imported else (),
    )


__all__ = ["by_file", "override"]
