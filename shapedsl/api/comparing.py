"""``compare``: what a new version of a spec does to the callers of the old one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

from .. import pipeline
from ..diagnostics import Report
from ..ir import Signature
from ..normalize.compare import Change, Compared, Example, completed
from ..normalize.compare.files import FilesCompared
from ..normalize.compare.tell import tell, tell_undecided
from .sources import as_spec, given_spec
from .spec import Spec
from .spec_file import SpecFile

if TYPE_CHECKING:
    from .sources import SpecLike

    Comparable: TypeAlias = "SpecLike | Callable[..., Any]"


class Comparison:
    """How a new version of a spec relates to the old one.

    Attributes:
        relation: What the new one accepts, relative to the old one: ``equal``, ``narrower`` (callers lose
            some calls), ``wider`` (they gain some), ``incomparable`` (both), or ``unknown``.
        changes: Every difference, those that break callers first. A change has ``kind``, ``place``, ``old``
            and ``new`` (texts), ``breaking`` and ``message``.
        reasons: Why what is not known is not known.
    """

    __slots__ = ("_compared", "changes", "reasons", "relation")

    def __init__(self, compared: Compared) -> None:
        self._compared = compared
        self.relation: str = compared.relation.value
        self.changes: tuple[Change, ...] = compared.changes
        self.reasons: tuple[str, ...] = (*compared.undecided, *compared.open)

    @property
    def breaking(self) -> bool:
        """Whether some change breaks callers; False also where that is not known (``relation`` says so)."""
        return self._compared.breaking

    @property
    def witness(self) -> dict[str, int]:
        """The smallest sizes that callers lose, by the old spec's variables; else those that they gain, by the new one's.

        Where no variable has a name, by place, as `places`. Empty where no sizes are lost or gained.
        """
        example = self._compared.example
        return {} if example is None else dict(example.witness)

    @property
    def places(self) -> dict[str, int]:
        """The same by what the sizes are read from: ``{"x.shape[0]": 513}``, in the new spec's parameter names."""
        example = self._compared.example
        return {} if example is None else dict(example.places)

    def __str__(self) -> str:
        return "\n".join(_lines(self.relation, self.changes, self.reasons, self._compared.example))

    def __repr__(self) -> str:
        return f"<Comparison {self.relation}>"


class FileComparison(Mapping[str, Comparison]):
    """How the specs of a new file relate to those of an old one: a mapping from names, in the new file's order.

    Attributes:
        relation: As that of a `Comparison`, over all specs.
        added, removed: Names of specs that only one file has. A removed one breaks callers.
        changes: Of all specs; ``spec`` of a change is the name.
    """

    __slots__ = ("_specs", "added", "changes", "relation", "removed")

    def __init__(self, compared: FilesCompared) -> None:
        self._specs = {name: Comparison(each) for name, each in compared.specs}
        self.relation: str = compared.relation.value
        self.added = tuple(change.new for change in compared.changes if not change.old)
        self.removed = tuple(change.old for change in compared.changes if not change.new)
        every = [*compared.changes, *(change for each in self._specs.values() for change in each.changes)]
        self.changes: tuple[Change, ...] = tuple(sorted(every, key=lambda change: not change.breaking))

    @property
    def breaking(self) -> bool:
        """Whether some change breaks callers."""
        return any(change.breaking for change in self.changes)

    @property
    def witness(self) -> dict[str, int]:
        """The sizes of the first spec that has some."""
        shown = [each.witness for each in self._specs.values() if each.breaking == self.breaking and each.witness]
        return shown[0] if shown else {}

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why what is not known is not known."""
        return tuple(f"{name}: {reason}" for name, each in self._specs.items() for reason in each.reasons)

    def __getitem__(self, name: str) -> Comparison:
        return self._specs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)

    def __str__(self) -> str:
        return "\n".join(_lines(self.relation, self.changes, self.reasons, None))

    def __repr__(self) -> str:
        return f"<FileComparison {self.relation}>"


def _lines(
    relation: str, changes: tuple[Change, ...], reasons: tuple[str, ...], example: Example | None
) -> Iterator[str]:
    yield relation + (f": {_written(example)}" if example is not None and example.witness else "")
    for change in changes:
        name = f"{change.spec}: " if change.spec and change.kind != "spec" else ""
        sizes = f" ({_written(change.example)})" if change.example is not None and change.example.witness else ""
        yield f"  {'breaking' if change.breaking else 'listed'}: {name}{change.message}{sizes}"
    for reason in reasons:
        yield f"  unknown: {reason}"


def _written(example: Example) -> str:
    return ", ".join(f"{name} = {size}" for name, size in example.witness)


@overload
def compare(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload] - a file is a spec beside a callable
    old: SpecFile, new: SpecFile
) -> FileComparison: ...
@overload
def compare(old: Comparable, new: Comparable) -> Comparison: ...
def compare(old: Comparable, new: Comparable) -> Comparison | FileComparison:
    """Returns what a new version of a spec does to the callers of the old one.

    Variables are matched by what they bind (the parameter and the axis), not by name.

    Args:
        old: A spec, the path or the text of one, torch's ShapesSpec, or a callable that carries one.
            A `SpecFile`, if ``new`` is one too; beside a callable, its spec of that name is meant.
        new: The same.

    Raises:
        ShapeError: ``ambiguous-spec``, ``unknown-spec``, or what is wrong with one of the specs.
        TypeError: One is nothing that can be a spec.

    Example:
        >>> import shapedsl as sd
        >>> found = sd.compare("def f(x: Tensor[B, B]): ...", "def f(x: Tensor[N, D]): ...")
        >>> found.relation, found.witness, found.breaking
        ('wider', {'D': 1, 'N': 0}, False)
    """
    if isinstance(old, SpecFile) and isinstance(new, SpecFile):
        return FileComparison(pipeline.compare_files(old.module, new.module))
    sides = [_side(old, new), _side(new, old)]
    for at, (mine, theirs) in enumerate(((old, new), (new, old))):
        if _is_callable(theirs) and not _is_callable(mine):
            sides[at] = completed(sides[at], sides[1 - at])
    return Comparison(pipeline.compare(*sides))


def tell_files(old: Iterable[Signature], new: Iterable[Signature], report: Report) -> str:
    """Adds to ``report`` what a new version does to callers, and returns the relation.

    Args:
        old: The specs of the old version.
        new: Those of the new one.
        report: Receives ``breaking-change``, ``compatible-change`` and ``undecided``.
    """
    new = tuple(new)
    compared = pipeline.compare_files(old, new)
    spans = {signature.key: signature.span for signature in new}
    tell(compared.changes, report)
    for name, each in compared.specs:
        tell(each.changes, report)
        tell_undecided(each, spans[name], name, report)
    return compared.relation.value


def _side(given: Comparable, other: Comparable) -> Signature:
    """Returns the signature that one argument means."""
    if _is_callable(given):
        return as_spec(None, cast("Callable[..., Any]", given)).signature
    target = cast("Callable[..., Any]", other) if _is_callable(other) else None
    return given_spec(cast("SpecLike", given), target).signature


def _is_callable(given: object) -> bool:
    """Whether it is something that carries a spec, not a spec; torch's own specs can be called too."""
    if isinstance(given, (Spec, SpecFile, str, os.PathLike)):
        return False
    return callable(given) and not type(given).__name__.endswith("Spec")


__all__ = ["Change", "Comparison", "FileComparison", "compare", "tell_files"]
