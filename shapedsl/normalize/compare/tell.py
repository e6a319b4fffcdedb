"""Tell what a comparison found, as diagnostics.

A change that breaks callers is the error ``breaking-change``, any other the note ``compatible-change``;
what could not be decided is the warning ``undecided``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ...diagnostics import Report, Severity, Span
from .changes import Change, Compared, Example

_MOST: Final = 4  # arguments of an example that are shown


def tell(changes: Iterable[Change], report: Report) -> None:
    """Adds a finding for each change.

    Args:
        changes: Of one comparison or several.
        report: Receives ``breaking-change`` and ``compatible-change``.
    """
    for change in changes:
        in_spec = f"`{change.spec}`: " if change.spec and change.kind != "spec" else ""
        report.emit(
            Severity.ERROR if change.breaking else Severity.NOTE,
            "breaking-change" if change.breaking else "compatible-change",
            in_spec + change.message,
            at=change.new_span or change.old_span,
            label=_label(change.new) if change.new_span else "in the old version",
            also=[(change.old_span, "in the old version")] if change.new_span else [],
            note=list(_notes(change)),
            witness=change.example.witness if change.example else (),
        )


def tell_undecided(compared: Compared, at: Span | None, spec: str, report: Report) -> None:
    """Adds ``undecided`` where it is not known whether callers lose something.

    Args:
        compared: Of one spec.
        at: The new version.
        spec: Its name.
        report: Receives the finding; a ``compatible-change`` where it is only not known what they gain.
    """
    if compared.undecided:
        report.warning(
            "undecided",
            f"`{spec}`: it could not be decided whether the new version breaks callers",
            at=at,
            note=compared.undecided,
            help="write the changed lines in a simpler form, or test the sizes that callers use",
        )
    if compared.open:
        message = f"`{spec}`: it could not be decided whether the new version accepts more"
        report.emit(Severity.NOTE, "compatible-change", message, at=at, note=compared.open)


def _label(text: str) -> str:
    return "now" if text else ""


def _notes(change: Change) -> Iterator[str]:
    told = f"`{change.old}`" in change.message and f"`{change.new}`" in change.message
    if change.kind == "dtype" or (change.old and change.new and not told):
        yield f"`{change.old}` became `{change.new}`"
    if change.example is not None and change.breaking:
        shapes = shapes_of(change.example, change.place)
        if shapes:
            yield f"the old version accepts {shapes}"


def shapes_of(example: Example, place: str = "") -> str:
    """Returns the sizes of an example by argument: ``x of shape (513, 0), n = 3``; a few of them.

    Args:
        example: Sizes.
        place: What comes first.
    """
    shapes: dict[str, list[int]] = {}
    scalars: list[str] = []
    for at, size in example.places:
        path, found, _ = at.rpartition(".shape[")
        if found:
            shapes.setdefault(path, []).append(size)
        else:
            scalars.append(f"{at} = {size}")
    first = sorted(shapes.items(), key=lambda item: not (item[0] == place or place.startswith(f"{item[0]}.shape[")))
    parts = [f"{path} of shape ({', '.join(map(str, s))}{',' if len(s) == 1 else ''})" for path, s in first] + scalars
    more = f" and {len(parts) - _MOST} more" if len(parts) > _MOST + 1 else ""
    return ", ".join(parts[:_MOST] if more else parts) + more
