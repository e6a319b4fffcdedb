"""The dims of a legacy spec → dims of the language, and the declarations of their variables.

Before::

    {"x": {0: Dim("rows", min=1, max=64)}, "y": {0: 2 * Dim("rows", min=1, max=64)}, "z": {0: Dim.AUTO}}

After::

    dim rows in [1, 64]
    dim z_0 in [0, inf]
    x: Tensor[rows], y: Tensor[2 * rows], z: Tensor[z_0]
"""

from __future__ import annotations

from ...diagnostics import Report
from ...ir import OPERATORS, Apply, Const, Dim, Size, Static, Var, VariableKind
from ..assemble import Declaration
from .model import Derived, Hint, Hinted, LegacyDim, Named, Pinned, Unsaid
from .naming import Place, as_name, free, is_name
from .notes import choice, remark, stricter
from .roots import Root, Slot, bounds, interval, slot, unknown
from .verdict import Note

_OTHERS = ("a static size", "the size of another dim, or one computed from it")


class Sizes:
    """Reads the dims of one spec; what they come to is asked for at the end."""

    def __init__(self, report: Report, taken: frozenset[str], *, checked: bool = False) -> None:
        """Args:
        report: Receives ``legacy-bounds`` and ``legacy-names``.
        taken: The names that the spec gives, which no fresh one may be.
        checked: Whether the legacy program checked every bound, so that nothing becomes stricter.
        """
        self._checked = checked
        self._report = report
        self._taken = set(taken)
        self._slots: dict[str, list[Slot]] = {}
        self._fresh: dict[str, Declaration] = {}
        self._notes: list[Note] = []
        self._open: dict[str, str] = {}

    # ------------------------------------------------------------------------------------- reading

    def dim(self, dim: LegacyDim, place: Place, *, given: int | None = None, counted_back: bool = False) -> Dim:
        """Returns what stands in ``Tensor[…]`` for ``dim``.

        Args:
            dim: What the legacy spec says.
            place: Where the size is.
            given: The example's size, where it is known.
            counted_back: Whether the spec gives the axis as a negative number.
        """
        size = self._size(dim, place, is_size=True, given=given)
        if size is None:
            return Static(dim.span)
        if counted_back:
            self._counted_back(dim, place)
        return size

    def scalar(self, dim: LegacyDim, place: Place, given: int | None = None) -> Size | None:
        """Returns what stands in ``Scalar[…]`` for ``dim``; None for a static int."""
        return self._size(dim, place, is_size=False, given=given)

    def _size(self, dim: LegacyDim, place: Place, *, is_size: bool, given: int | None) -> Size | None:
        match dim:
            case Unsaid():
                return None
            case Pinned(value=value, span=span):
                if given is not None and given != value:
                    message = f"torch.export refuses this spec: the example's size {given} is not {value}"
                    others = [f"{given}, as in the example"]
                    self._notes.append(choice(message, [place.text], f"the size {value}", others, span=span))
                return Const(value, span)
            case Hinted():
                return self._hinted(dim, place, is_size=is_size)
            case Named() | Derived():
                return self._named(dim, place, is_size=is_size, given=given)

    def _named(self, dim: Named | Derived, place: Place, *, is_size: bool, given: int | None) -> Size:
        each = slot(dim, place.text, is_size=is_size, given=given)
        name = each.root.name
        self._slots.setdefault(name, []).append(each)
        if not is_name(name):
            self._report.error(
                "legacy-names",
                f"`{name}` is no name of a variable",
                at=each.root.span,
                label="not in ASCII" if not name.isascii() else "reserved" if name.isidentifier() else "not a name",
                help=f"rename the dim: `{as_name(name)}`",
            )
        size: Size = Var(name, dim.span)
        if each.factor != 1:
            size = Apply(OPERATORS["*"], (Const(each.factor), size), dim.span)
        if each.offset:
            size = Apply(OPERATORS["+" if each.offset > 0 else "-"], (size, Const(abs(each.offset))), dim.span)
        return size

    def _hinted(self, hint: Hinted, place: Place, *, is_size: bool) -> Size | None:
        low, high = bounds(hint.low, hint.high)
        if hint.kind is Hint.STATIC:
            if hint.low is not None or hint.high is not None:
                message = f"the range {interval(low, high)} of a static size was checked on the example only: dropped"
                self._notes.append(remark(message, [place.text], span=hint.span))
            return None
        if high is not None and high < low:
            self._report.error(
                "legacy-bounds",
                f"no size is in {interval(low, high)}",
                at=hint.span,
                note="torch refuses this range",
                help="give a `max=` that is at least the `min=`",
            )
        name = free(as_name(place.stem), self._taken)
        self._taken.add(name)
        kind = VariableKind.DIM if is_size else VariableKind.INT
        self._fresh[name] = Declaration(name, kind, False, low, high, hint=hint.hint, span=hint.span)
        within = f"in {interval(low, high)}"
        if hint.open:
            self._open[name] = ", ".join(hint.open)
            self._notes += unknown(hint.open, name, (place.text,), hint.span, checked=self._checked)
            within = f"with {self._open[name]}"
        taken = f"the variable `{name}` {within}"
        if hint.kind is Hint.AUTO:
            message = "AUTO leaves it to the trace whether this size is dynamic"
            self._notes.append(choice(message, [place.text], taken, _OTHERS, span=hint.span))
        else:
            message = f"a dynamic size without a name became {taken}; the trace may have tied it to another size"
            self._notes.append(remark(message, [place.text], span=hint.span))
        if not self._checked and (hint.low is not None or hint.high is not None or hint.open):
            message = "the trace may have narrowed the bounds of a hint; a variable's hold as they are written"
            self._notes.append(remark(message, [place.text], span=hint.span))
        if not self._checked and (low in (1, 2) or not is_size):
            ran = f"values below {low}" if not is_size else "size 0" if low == 1 else "sizes 0 and 1"
            if is_size or low <= 2:
                message = f"{ran} ran, and {'is' if is_size and low == 1 else 'are'} now rejected"
                self._notes.append(stricter(message, [place.text], span=hint.span))
        return Var(name, hint.span)

    def _counted_back(self, dim: LegacyDim, place: Place) -> None:
        match dim:
            case Hinted():
                message = "torch.export ignores a hint at a negative axis without a word"
                taken, others = "dynamic, as the spec says", ["static, as the legacy program is"]
                self._notes.append(choice(message, [place.text], taken, others, span=dim.span))
            case _:
                message = "strict export ignores a negative axis without a word, non-strict export obeys it"
                self._notes.append(remark(message, [place.text], span=dim.span))

    # ------------------------------------------------------------------------------------ summing up

    def check(self) -> None:
        """Reports what is wrong with the named dims as a whole."""
        for root in self._roots():
            root.check(self._report)

    def declarations(self) -> dict[str, Declaration]:
        """Returns the declaration of each variable met."""
        made = dict(self._fresh)
        for root in self._roots():
            low, high = root.range
            kind = VariableKind.DIM if root.is_size else VariableKind.INT
            hint = next((each.root.hint for each in root.slots if each.root.hint is not None), None)
            made[root.name] = Declaration(root.name, kind, False, low, high, hint=hint, span=root.slots[0].root.span)
        return made

    def open(self) -> dict[str, str]:
        """Returns the variables with bounds that are not known, and these as they are written."""
        return {**self._open, **{root.name: ", ".join(root.open) for root in self._roots() if root.open}}

    def notes(self) -> tuple[Note, ...]:
        """Returns what the reading changed."""
        return (*self._notes, *(note for root in self._roots() for note in root.notes(checked=self._checked)))

    def _roots(self) -> list[Root]:
        return [Root(name, tuple(slots)) for name, slots in self._slots.items()]


__all__ = ["Sizes"]
