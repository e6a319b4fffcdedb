"""The dims of a legacy spec → dims of the language, and the declarations of their variables.

A legacy dim is its name: two `Dim` objects of one name are one size, and must have one range.

Before::

    {"x": {0: Dim("rows", min=1, max=64)}, "y": {0: 2 * Dim("rows", min=1, max=64)}, "z": {0: Dim.AUTO}}

After::

    dim rows in [1, 64]
    dim z_0 in [0, inf]
    x: Tensor[rows], y: Tensor[2 * rows], z: Tensor[z_0]
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...diagnostics import Report
from ...ir import OPERATORS, Apply, Const, Dim, Size, Static, Var, VariableKind
from ..assemble import Declaration
from .model import Derived, Hint, Hinted, LegacyDim, Named, Pinned, Unsaid
from .naming import Place, free, is_name
from .notes import choice, remark, stricter
from .verdict import Note


@dataclass(slots=True)
class _Use:
    """A variable, and where it stands."""

    named: Named
    bare: list[str] = field(default_factory=list[str])
    derived: list[tuple[str, Derived]] = field(default_factory=list[tuple[str, Derived]])
    is_size: bool = False


class Sizes:
    """Reads the dims of one spec; `declarations` and `notes` are asked for at the end."""

    def __init__(self, report: Report, taken: frozenset[str]) -> None:
        """Args:
        report: Receives ``legacy-bounds`` and ``legacy-names``.
        taken: The names that the spec gives, which no fresh one may be.
        """
        self._report = report
        self._taken = set(taken)
        self._uses: dict[str, _Use] = {}
        self._fresh: dict[str, Declaration] = {}
        self._notes: list[Note] = []

    # ------------------------------------------------------------------------------------- reading

    def dim(self, dim: LegacyDim, place: Place) -> Dim:
        """Returns what stands in ``Tensor[…]`` for ``dim``."""
        size = self._size(dim, place, is_size=True)
        return Static(dim.span) if size is None else size

    def scalar(self, dim: LegacyDim, place: Place) -> Size | None:
        """Returns what stands in ``Scalar[…]`` for ``dim``; None for a static int."""
        return self._size(dim, place, is_size=False)

    def _size(self, dim: LegacyDim, place: Place, *, is_size: bool) -> Size | None:
        match dim:
            case Unsaid():
                return None
            case Pinned(value=value, span=span):
                return Const(value, span)
            case Hinted():
                return self._hinted(dim, place, is_size=is_size)
            case Named(name=name, span=span):
                self._use(dim, is_size=is_size).bare.append(place.text)
                return Var(name, span)
            case Derived(root=root, factor=factor, offset=offset, span=span):
                self._use(root, is_size=is_size).derived.append((place.text, dim))
                size: Size = Var(root.name, span)
                if factor != 1:
                    size = Apply(OPERATORS["*"], (Const(factor), size), span)
                if offset:
                    op = OPERATORS["+" if offset > 0 else "-"]
                    size = Apply(op, (size, Const(abs(offset))), span)
                return size

    def _use(self, named: Named, *, is_size: bool) -> _Use:
        use = self._uses.setdefault(named.name, _Use(named))
        use.is_size = use.is_size or is_size
        first = use.named
        if _range(first) != _range(named):
            self._conflict(first, named)
        if not is_name(named.name):
            self._report.error(
                "legacy-names",
                f"`{named.name}` is no name of a variable",
                at=named.span,
                label="reserved, or not in ASCII" if named.name.isidentifier() else "not an identifier",
                help="rename the dim",
            )
        return use

    def _conflict(self, first: Named, other: Named) -> None:
        name, (low, high), (low2, high2) = first.name, _range(first), _range(other)
        tops = [top for top in (high, high2) if top is not None]
        both = _interval(max(low, low2), min(tops) if tops else None)
        self._report.error(
            "legacy-bounds",
            f"`{name}` is defined twice, with {_interval(low, high)} and {_interval(low2, high2)}",
            at=other.span,
            label=f"here in {_interval(low2, high2)}",
            also=[(first.span, f"here in {_interval(low, high)}")],
            note="dims of one name are one size, and torch.export refuses two ranges for it",
            help=[f"give both {both} to keep one size", "rename one of them if they are two sizes"],
        )

    def _hinted(self, hint: Hinted, place: Place, *, is_size: bool) -> Size | None:
        if hint.kind is Hint.STATIC:
            if hint.low is not None or hint.high is not None:
                message = "the range of a static size was checked against the example only, and is dropped"
                self._notes.append(remark(message, [place.text], span=hint.span))
            return None
        name = free(place.stem, self._taken)
        self._taken.add(name)
        kind = VariableKind.DIM if is_size else VariableKind.INT
        self._fresh[name] = Declaration(name, kind, False, hint.low or 0, hint.high, hint=hint.hint, span=hint.span)
        taken = f"a variable of its own, `{name}`"
        if hint.kind is Hint.AUTO:
            others = ["a static size", "another size of the inputs, or computed from one"]
            message = "AUTO lets the trace decide whether this size is dynamic"
            self._notes.append(choice(message, [place.text], taken, others, span=hint.span))
        else:
            message = f"a dynamic size without a name became {taken}"
            self._notes.append(remark(message, [place.text], span=hint.span))
        return Var(name, hint.span)

    # ------------------------------------------------------------------------------------ summing up

    def declarations(self) -> dict[str, Declaration]:
        """Returns the declaration of each variable met."""
        made = dict(self._fresh)
        for name, use in self._uses.items():
            low, high = _range(use.named)
            kind = VariableKind.DIM if use.is_size else VariableKind.INT
            made[name] = Declaration(name, kind, False, low, high, hint=use.named.hint, span=use.named.span)
        return made

    def notes(self) -> tuple[Note, ...]:
        """Returns what the reading changed."""
        found = list(self._notes)
        for name, use in self._uses.items():
            low = _range(use.named)[0]
            if use.bare:
                if low in (1, 2):
                    sizes = "size 0" if low == 1 else "sizes 0 and 1"
                    message = f"{sizes} ran although `{name}` is at least {low}, and {_verb(low)} now rejected"
                    found.append(stricter(message, use.bare, span=use.named.span))
            elif use.derived:
                first = use.derived[0][1]
                message = f"`{name}` is no size of an input, so any size ran for `{_spelled(first)}`, and other sizes are now rejected"
                found.append(stricter(message, [text for text, _ in use.derived], span=first.span))
        return tuple(found)


def _verb(low: int) -> str:
    return "is" if low == 1 else "are"


def _range(named: Named) -> tuple[int, int | None]:
    return named.low or 0, named.high


def _interval(low: int, high: int | None) -> str:
    return f"[{low}, {'inf' if high is None else high}]"


def _spelled(dim: Derived) -> str:
    text = dim.root.name if dim.factor == 1 else f"{dim.factor}*{dim.root.name}"
    return text if not dim.offset else f"{text} {'+' if dim.offset > 0 else '-'} {abs(dim.offset)}"


__all__ = ["Sizes"]
