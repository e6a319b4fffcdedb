"""The variable table: for each variable its kind, range, residue, hint, and where it is read.

Before::

    def f(x: Tensor[2 * B, D]):
        dim B in [2, 64] multiple of 8 hint 8
        where D == 2 * B + 1

After::

    B    dim in [8, 64], multiple of 8, hint 8      x.shape[0] = 2 * B
    D    dim in [17, 129], multiple of 16 plus 1    x.shape[1]

The table is tighter than what was said: it also holds what follows for one variable from the others.
The normal form holds only what was said.

It is made when someone looks at it. What propagation finds is exact for a variable of which only facts
are known; where it stands in other constraints as well, the decision procedure is asked for the ends that
are attained, with little work for each: the ends of propagation stand where that does not suffice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final, cast

from ..ir import (
    Apply,
    Attribute,
    Dim,
    Ellipsis,
    Item,
    MappingType,
    ObjectType,
    OptionalType,
    Path,
    Rest,
    ScalarType,
    SequenceType,
    Signature,
    Step,
    TensorType,
    Type,
    Var,
    VariableKind,
    Variadic,
)
from ..ir.walk import free_vars
from ..ir.write import write_dim
from .components import components
from .decide import Range, range_of
from .domains import Domain, Domains
from .facts import fact_of
from .posing import pose

WORK: Final = 4_000  # for each question about a variable
_FEWEST = 3  # values that have a residue in common, else it is an accident: 77 and 512 are 77 modulo 435


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one variable.

    Attributes:
        kind: What it stands for.
        low, high: Inclusive; None for no bound.
        modulus, residue: ``v % modulus == residue``; 1 and 0 where nothing is known.
        hint: The size to optimize for, as it was written.
        binding: Where it is read: ``x.shape[0]``, or ``x.shape[1] = 2 * B``; None if no parameter holds it.
    """

    kind: VariableKind
    low: int | None = None
    high: int | None = None
    modulus: int = 1
    residue: int = 0
    hint: int | None = None
    binding: str | None = None


class Table(Mapping[str, Facts]):
    """The facts of each variable of a signature, by name, sorted; worked out when first looked at."""

    __slots__ = ("_domains", "_facts", "_signature")

    def __init__(self, signature: Signature, domains: Domains, *, tight: bool = True) -> None:
        """Args:
        signature: In normal form.
        domains: Propagated.
        tight: Whether to look for more than ``domains`` say.
        """
        self._signature = signature
        self._domains = domains
        self._facts: dict[str, Facts] | None = None if tight else _propagated(signature, domains)

    def _all(self) -> dict[str, Facts]:
        if self._facts is None:
            self._facts = _tightened(self._signature, _propagated(self._signature, self._domains))
        return self._facts

    def __getitem__(self, name: str) -> Facts:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return dict(self) == dict(cast("Mapping[str, Facts]", other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Table({self._all()!r})"


def _propagated(signature: Signature, domains: Domains) -> dict[str, Facts]:
    bindings = _bindings(signature)
    return {
        variable.name: _facts(
            variable.kind, domains.of.get(variable.name, Domain()), variable.hint, bindings.get(variable.name)
        )
        for variable in signature.variables
    }


def _tightened(signature: Signature, table: dict[str, Facts]) -> dict[str, Facts]:
    """Returns ``table`` with the ends and residues that are attained."""
    posed = pose(signature, dict(signature.ranks))
    entangled = {name for predicate in posed.given if fact_of(predicate) is None for name in free_vars(predicate)}
    open_ = {v.name for v in signature.variables if v.variadic and v.name not in posed.lengths} | posed.unknowns.keys()
    for group in components(posed.given):
        names = {name for at in group for name in free_vars(posed.given[at])}
        if not names.isdisjoint(open_):  # what holds for some number of dims need not hold for none
            entangled -= names
    for name, known in table.items():
        own = [Var(f"{name}[{axis}]") for axis in range(posed.lengths[name])] if name in posed.lengths else [Var(name)]
        if entangled.isdisjoint(var.name for var in own) or (known.low is not None and known.low == known.high):
            continue
        found = [range_of(posed.variables, posed.given, var, work=WORK) for var in own]
        ranges = [each for each in found if each is not None]
        if len(ranges) == len(own):  # else propagation did not see it; whoever asks for a contradiction is told
            table[name] = _met(known, ranges)
    return table


def _met(known: Facts, ranges: Sequence[Range]) -> Facts:
    """Returns what is known of a variable, or of each dim of a variadic, and lies in one of ``ranges``."""
    lows, highs = [each.low for each in ranges], [each.high for each in ranges]
    low = known.low if None in lows else min(low for low in lows if low is not None)
    high = known.high if None in highs else max(high for high in highs if high is not None)
    modulus, residue = known.modulus, known.residue
    if len(ranges) == 1 and (low is None or high is None or ranges[0].modulus):
        wide = low is None or high is None or high - low >= (_FEWEST - 1) * ranges[0].modulus
        modulus, residue = (ranges[0].modulus, ranges[0].residue) if wide else (modulus, residue)
    return replace(known, low=low, high=high, modulus=modulus, residue=residue)


def _facts(kind: VariableKind, domain: Domain, hint: int | None, binding: str | None) -> Facts:
    low = None if domain.low == -inf else int(domain.low)
    high = None if domain.high == inf else int(domain.high)
    return Facts(kind, low, high, domain.modulus, domain.residue, hint, binding)


def _bindings(signature: Signature) -> Mapping[str, str]:
    """Returns where each variable is read: bare if it is bare anywhere, else its first use."""
    bare: dict[str, str] = {}
    derived: dict[str, str] = {}
    for param in signature.params:
        for place, dim in _places(param.type, param.name, ()):
            match dim:
                case Var(name=name) | Variadic(name=name):
                    bare.setdefault(name, place)
                case Apply():
                    for name in free_vars(dim):
                        derived.setdefault(name, f"{place} = {write_dim(dim)}")
                case _:
                    pass
    return {**derived, **bare}


def _places(type_: Type, root: str, steps: tuple[Step, ...]) -> Iterator[tuple[str, Dim]]:
    """Yields each size of ``type_`` with how messages name it; behind a ``...`` axes count from the end."""
    match type_:
        case TensorType(dims=dims) if dims is not None:
            open_at = next((at for at, dim in enumerate(dims) if isinstance(dim, (Ellipsis, Variadic))), len(dims))
            for at, dim in enumerate(dims):
                axis = str(at if at <= open_at else at - len(dims))
                yield f"{Path(root, steps)}.shape[{axis + ':' if isinstance(dim, Variadic) else axis}]", dim
        case ScalarType(size=size) if size is not None:
            yield str(Path(root, steps)), size
        case SequenceType(items=items, rest=rest):
            for at, item in enumerate(items):
                index = "i" if rest is Rest.REPEAT and len(items) == 1 else at
                if index == "i":
                    for place, dim in _places(item, f"{Path(root, steps)}[i]", ()):
                        yield place, dim
                else:
                    yield from _places(item, root, (*steps, Item(at)))
        case MappingType(entries=entries):
            for key, entry in entries:
                yield from _places(entry, root, (*steps, Item(key)))
        case ObjectType(fields=fields):
            for name, field in fields:
                yield from _places(field, root, (*steps, Attribute(name)))
        case OptionalType(inner=inner):
            yield from _places(inner, root, steps)
        case _:
            pass


__all__ = ["Facts", "Table"]
