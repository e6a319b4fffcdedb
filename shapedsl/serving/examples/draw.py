"""Draw whole examples of a spec: a structure, and sizes of every variable at it. Tensors are made of them elsewhere.

Before::

    def f(x: Tensor[*batch, D], mask: bool[D] | None): where D % 8 == 0

After::

    x two-dimensional, mask there     batch = (0,), D = 0
    the same                          batch = (64,), D = 64
    mask None                         batch = (3,), D = 8
    x three-dimensional, …

The first example is the fullest structure, with hints where they fit and the smallest sizes beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random
from typing import Any, Final, TypeAlias, cast

from ...diagnostics import Report
from ...ir import COMPARISONS, Compare, Const, Signature, Size, Static, Var, VariableKind
from ...ir.expand import expand
from ...ir.expanded import Expanded, Leaf
from ...ir.walk import free_vars
from ...normalize.decide import find_sizes
from ...normalize.sampling import LARGEST, Nothing, chosen, point, points
from ...runtime.example import Choice, Known, Missing, Uniform, choices, is_hole, skeleton
from ...runtime.explain import value_at
from ...runtime.solve import Solve, solved
from ...runtime.valid import possible_values
from ...targets.inputs import elements
from .unmet import Asked, tell_missing, tell_unknown, tell_unmet, tell_unread

FEWEST_STEPS: Final = 4  # of a size without an upper end, however many dims there are
PLENTY: Final = 2**24  # elements of all corners and random examples together
LEAST_CAP: Final = 2**16
MIXTURES: Final = 3  # structures that are random in each place
MOST_ITEMS: Final = 3  # in them, of sequences and variadics

GivenSizes: TypeAlias = Mapping[str, "int | Sequence[int]"]
Accept: TypeAlias = Callable[[Expanded, Mapping[str, int]], bool]


@dataclass(frozen=True, slots=True)
class Given:
    """What the user gives.

    Attributes:
        sizes: Variable → its size; of a variadic, a size for each dim.
        values: Parameter → what is passed as it is.
        like: Parameter → an example of it: its structure and what is static in it are taken.
        is_tensor: Whether a value is a tensor.
        solve: Computes sizes that cannot be read off; without it, structures at which a check would need it are made
            like any other. (With it, those that no check can judge are left out.)
    """

    sizes: GivenSizes = field(default_factory=dict[str, "int | Sequence[int]"])
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    like: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_tensor: Callable[[object], bool] = lambda value: hasattr(value, "shape")
    solve: Solve | None = None

    @property
    def anchors(self) -> dict[str, Any]:
        """Parameter → a value whose structure is taken."""
        return {**self.like, **self.values}


@dataclass(frozen=True, slots=True)
class Drawn:
    """One example, but for its data.

    Attributes:
        expanded: At its structure.
        sizes: Of every variable.
    """

    expanded: Expanded
    sizes: Mapping[str, int]


def draw(
    signature: Signature,
    n: int = 1,
    seed: int = 0,
    *,
    given: Given | None = None,
    report: Report,
    most: int | None = None,
    accept: Accept | None = None,
) -> list[Drawn]:
    """Returns up to ``n`` different examples, the first with the sizes that hints ask for.

    Fewer only where no others are found.

    Args:
        signature: Not expanded. Of its alternatives each that asks for sizes gets an example, if ``n`` allows.
        n: How many.
        seed: Of what is random.
        given: By the user.
        report: Receives why there are none: ``contradiction``, ``shape-violation`` where what is given does not fit,
            ``missing-input``, ``undecided``; or what `expand` says of given values.
        most: How many elements an example may have, but for the first.
        accept: What else holds of an example; it is told of the first, too, whatever it says.
    """
    asked = given or Given()
    known = known_of(signature, asked, report)
    if known is None:
        return []
    found: list[list[Drawn]] = []
    unmet: tuple[Expanded, Asked, Nothing] | None = None
    options: list[Choice] = [*choices(signature)] if not asked.like else [Uniform(all_passed=False)]
    uniform = len(options)
    if n > uniform > 1:  # mixtures
        options += [_Chosen(Random(seed + at).randint, MOST_ITEMS) for at in range(MIXTURES)]
    for at, choice in enumerate(options):
        if len(found) >= n:
            break
        structure = at_choice(signature, choice, known, asked, report if not at else Report())
        if structure is None:
            if not at and report.errors:
                return []
            continue
        expanded, wanted = structure
        if not found:
            first = point(expanded.signature, fixed=wanted.pins, given=wanted.predicates)
            if isinstance(first, Nothing):
                unmet = unmet or (expanded, wanted, first)
                if not first.reason:
                    continue
        if not found:
            drawn = points_at(expanded, wanted, n, seed, most, asked, exempt=True, also=accept)
        else:  # the smallest sizes were in the first structure
            share = max(1, n // (2 * len(options)))
            drawn = points_at(expanded, wanted, share + 1, seed + at, most, asked, exempt=False, also=accept)
            drawn = drawn[1:] or drawn
        if drawn:
            found.append([Drawn(expanded, sizes) for sizes in drawn])
    if not found:
        if unmet is not None:
            tell_unmet(signature, *unmet, report, open_ended=uniform > 1)
        return []
    return list(islice(_in_turn(found), n))


def _in_turn(found: Sequence[Sequence[Drawn]]) -> Iterator[Drawn]:
    """Yields the first of all, then two of the first structure for one of each other in turn."""
    main, others = list(found[0]), [list(each) for each in found[1:]]
    while main or any(others):
        yield from main[:2]
        del main[:2]
        for each in others:
            if each:
                yield each.pop(0)
                break
        others = [*others[1:], *others[:1]]


def known_of(signature: Signature, given: Given, report: Report) -> Known | None:
    """Returns what given values and sizes say of structures; None if ``report`` says what is wrong with them."""
    if not tell_unknown(signature, given.sizes, report):
        return None
    anchors = given.anchors
    params = tuple(param for param in signature.params if param.name in anchors)
    part = replace(signature, params=params, constraints=(), alternatives=(), values=(), returns=None)
    expanded = expand(part, anchors, is_tensor=given.is_tensor, report=report)
    if expanded is None:
        return None
    ranks = {**dict(signature.ranks), **dict(expanded.ranks)}
    for name, size in given.sizes.items():
        if not isinstance(size, int) and ranks.setdefault(name, len(size)) != len(size):
            report.error(
                "rank-mismatch",
                f"`{name}` has {len(size)} sizes, but `*{name}` has {ranks[name]} dims",
                at=signature.span,
            )
            return None
    consts: dict[str, int | None] = {v.name: None for v in signature.variables if v.kind is VariableKind.CONST}
    if consts:
        read = _read(expanded, anchors)
        for name in consts:
            said = given.sizes.get(name)
            consts[name] = said if isinstance(said, int) else dict(expanded.lengths).get(name, read.get(name))
    return Known(anchors, consts, ranks)


def _read(expanded: Expanded, anchors: Mapping[str, Any]) -> Mapping[str, int]:
    """Returns the sizes that given values have, where they have them in common."""
    equations = [equation for _, equation in equal_to_given(expanded.leaves, anchors)]
    found: dict[str, int] = {}
    for equation in equations:
        match equation:
            case Compare(left=Var(name=name), right=Const(value=value)):
                found.setdefault(name, value)
            case _:
                pass
    if all(set(free_vars(equation)) <= found.keys() for equation in equations):
        return found
    solved = find_sizes(expanded.signature.variables, equations)
    return solved if isinstance(solved, Mapping) else found


def equal_to_given(leaves: Sequence[Leaf], values: Mapping[str, Any]) -> list[tuple[str, Compare]]:
    """Returns that the sizes in ``values`` are what they are, with where they are."""
    found: list[tuple[str, Compare]] = []
    for leaf in leaves:
        if leaf.path.root not in values:
            continue
        value: Any = value_at(leaf.path, values)
        actual = (value,) if leaf.scalar else tuple(value.shape)
        found += [
            (leaf.place(axis), Compare(COMPARISONS["=="], cast("Size", dim), Const(int(size))))
            for axis, (dim, size) in enumerate(zip(leaf.dims, actual, strict=True))
            if not isinstance(dim, Static)
        ]
    return found


def at_choice(
    signature: Signature, choice: Choice, known: Known, given: Given, report: Report
) -> tuple[Expanded, Asked] | None:
    """Returns ``signature`` at one structure, and what is asked of sizes there besides its constraints.

    Args:
        signature: Not expanded.
        choice: The structure.
        known: What is given, read.
        given: What is given.
        report: Receives ``missing-input``, and what `expand` says.
    """
    made = skeleton(signature, choice, known)
    if made.missing:
        tell_missing(signature, made.missing, report)
        return None
    arguments = {n: value for n, value in made.arguments.items() if n in known.values or not given.like}
    expanded = expand(
        signature, arguments, is_tensor=lambda value: is_hole(value) or given.is_tensor(value), report=report
    )
    if expanded is None or (given.solve is not None and solved(expanded, report, given.solve) is None):
        return None
    pins = {name: size for name, size in known.consts.items() if size is not None}
    bound = {variable.name for variable in expanded.signature.variables} | pins.keys()
    for name, size in given.sizes.items():
        sizes = {name: size} if isinstance(size, int) else {f"{name}[{axis}]": each for axis, each in enumerate(size)}
        if not bound.issuperset(sizes):
            if made.left_out:
                tell_missing(signature, made.left_out, report)
            else:
                tell_unread(signature, name, report)
            return None
        pins |= sizes
    unread = [name for name in _consts_of_values(signature) if known.consts.get(name, 0) is None]
    if unread:
        tell_missing(signature, [Missing(name, name, "a `const` that is `_`", True) for name in unread], report)
        return None
    values = possible_values(expanded, bound, skip=given.values)
    return expanded, Asked(pins, tuple(equal_to_given(expanded.leaves, given.values)), tuple(values))


def _consts_of_values(signature: Signature) -> list[str]:
    return [name for values in signature.values for size in (values.low, values.high) for name in free_vars(size)]


def points_at(
    expanded: Expanded,
    wanted: Asked,
    n: int,
    seed: int,
    most: int | None,
    given: Given,
    *,
    exempt: bool,
    also: Accept | None = None,
) -> list[dict[str, int]]:
    """Returns sizes at one structure; see `points`. Where ``exempt``, the first is not held to ``most`` and ``also``."""
    anchors = given.anchors
    first = exempt

    def accept(sizes: Mapping[str, int]) -> bool:
        nonlocal first
        accepted = also is None or also(expanded, sizes)
        if first:
            first = False
            return True
        if not accepted:
            return False
        return most is None or elements(expanded, sizes, given=given.values, like=anchors) <= most

    return points(
        expanded.signature,
        n,
        seed,
        fixed=wanted.pins,
        given=wanted.predicates,
        accept=accept,
        largest=_reach(expanded, most),
    )


def draw_by(
    signature: Signature, between: Callable[[int, int], int], given: Given, longest: int, most: int
) -> Drawn | None:
    """Returns an example of which ``between`` makes every choice; None where what it chose first has no sizes.

    Args:
        signature: Not expanded.
        between: Returns a number between two, both included; lower ones mean fuller structures and smaller sizes.
        given: By the user.
        longest: Of sequences of any length, and the number of dims of variadics.
        most: How many elements the example may have, where fewer are possible.
    """
    known = known_of(signature, given, Report())
    if known is None:
        return None
    choice: Choice = _Chosen(between, longest)
    structure = at_choice(signature, Uniform(all_passed=False) if given.like else choice, known, given, Report())
    if structure is None:
        return None
    expanded, wanted = structure
    sizes = chosen(
        expanded.signature,
        between,
        fixed=wanted.pins,
        given=wanted.predicates,
        accept=lambda sizes: elements(expanded, sizes, given=given.values, like=given.anchors) <= most,
        largest=_reach(expanded, most),
    )
    return None if sizes is None else Drawn(expanded, sizes)


@dataclass(slots=True)
class _Chosen:
    """A structure of which every part is chosen on its own.

    Attributes:
        between: Chooses.
        longest: How many items or dims there are at most.
        known: What was chosen.
    """

    between: Callable[[int, int], int]
    longest: int
    known: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    def passed(self, param: str) -> bool:
        """Returns whether it is passed: that is simpler."""
        return not self._choose("passed", param, 1)

    def present(self, path: str) -> bool:
        """Returns whether it is there: that is simpler."""
        return not self._choose("present", path, 1)

    def length(self, path: str) -> int:
        """Returns how often the items stand."""
        return self._count("length", path)

    def rank(self, variadic: str) -> int:
        """Returns how many dims it has."""
        return self._count("rank", variadic)

    def _count(self, what: str, where: str) -> int:
        if self.longest < 1:
            return 0
        chosen_ = self._choose(what, where, self.longest)
        return 1 - chosen_ if chosen_ < 2 else chosen_  # one is simpler than none

    def _choose(self, what: str, where: str, most: int) -> int:
        key = what, where
        if key not in self.known:
            self.known[key] = self.between(0, most)
        return self.known[key]


def _reach(expanded: Expanded, most: int | None) -> int:
    """Returns how far above its least value a size without an upper end is drawn."""
    if most is None:
        return LARGEST
    deepest = max((len(leaf.dims) for leaf in expanded.leaves if not leaf.scalar), default=1)
    return max(FEWEST_STEPS, min(LARGEST, int(float(most) ** (1 / max(1, deepest)))))


def cap_of(n: int, most: int) -> int:
    """Returns how many elements each of ``n`` examples may have, so that all of them together stay bounded."""
    return min(most, max(LEAST_CAP, PLENTY // max(1, n)))


__all__ = ["Accept", "Drawn", "Given", "at_choice", "cap_of", "draw", "draw_by", "known_of", "points_at"]
