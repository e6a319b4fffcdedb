"""Labels of axes, which another format gives and nothing enforces → named dims.

ONNX prints a label as the name of a dim and never compares two. So one label at several axes is a choice: one size, as
it reads, or several, where the example has several. Labels are free text, a variable's name is not.

Before::

    {0: "batch size"} of x, {0: "batch size", 1: "seq"} of y

After::

    batch_size at x.shape[0] and y.shape[0] (a choice), seq at y.shape[1]
"""

from __future__ import annotations

from collections.abc import Collection

from ...diagnostics import Span
from .model import Named
from .naming import as_name, free
from .notes import choice, remark
from .verdict import Note


class Labels:
    """The labels of one spec.

    Args:
        apart: Those that the example gives several sizes: one variable would refuse it, so each place has its own.
    """

    def __init__(self, apart: Collection[str] = ()) -> None:
        self._apart: dict[str, list[str]] = {text: [] for text in apart}
        self._names: dict[str, str] = {}
        self._places: dict[str, list[str]] = {}
        self._spans: dict[str, Span | None] = {}

    def dim(self, label: str | int, place: str, span: Span | None = None) -> Named:
        """Returns the dim that ``label`` names at ``place``."""
        text = str(label)
        if text not in self._names:
            taken = {*self._names.values(), *(name for names in self._apart.values() for name in names)}
            self._names[text] = free(as_name(text), taken)
            self._spans[text] = span
        self._places.setdefault(text, []).append(place)
        if text in self._apart:
            own = self._apart[text]
            taken = {*self._names.values(), *(name for names in self._apart.values() for name in names)}
            own.append(free(as_name(text), taken) if own else self._names[text])
            return Named(own[-1], span=span)
        return Named(self._names[text], span=span)

    @property
    def any(self) -> bool:
        """Whether there is a label at all."""
        return bool(self._names)

    def notes(self) -> tuple[Note, ...]:
        """Returns which labels were taken for one size, and which were respelled."""
        made: list[Note] = []
        for text, name in self._names.items():
            places, span = self._places[text], self._spans[text]
            if name != text:
                made.append(remark(f"the label `{text}` became the variable `{name}`", places, span=span))
            if text in self._apart:
                message = f"nothing compared the sizes labeled `{text}`, and the example has several"
                names = ", ".join(f"`{own}`" for own in self._apart[text])
                others = [f"one size, `{name}`, which the example contradicts"]
                made.append(choice(message, places, f"a variable for each of them: {names}", others, span=span))
            elif len(places) > 1:
                message = f"nothing compared the sizes labeled `{text}`"
                others = ["a variable for each of them"]
                made.append(choice(message, places, f"one size, `{name}`", others, span=span))
        return tuple(made)


__all__ = ["Labels"]
