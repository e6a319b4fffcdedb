"""``load(path, consts={"LIMIT": 1024})``: other values for the constants of a file."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir import VariableKind
from .expand import declaration_of
from .scope import ConstEntry, Entry, Scope, SizeEntry


def override(scope: Scope, consts: Mapping[str, int]) -> None:
    """Gives constants of ``scope`` other values; ``const … = _`` gets one.

    What is no constant of this very scope is reported as ``unknown-name``, a value that the
    declaration excludes as ``contradiction``.
    """
    for name, value in consts.items():
        entry = scope.entries.get(name)
        if entry is None or entry.scope is not scope or not _is_constant(entry):
            _unknown(scope, name, entry)
            continue
        if isinstance(entry, SizeEntry):
            _check(entry, value)
        scope.entries[name] = ConstEntry(entry.name, scope, None, int(value))


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
        help=f"override it as `FILE:{name}`, with the path as the import writes it" if imported else (),
    )


__all__ = ["override"]
