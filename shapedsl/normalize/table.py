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
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf

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
from .domains import Domain, Domains


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


def build_table(signature: Signature, domains: Domains) -> dict[str, Facts]:
    """Returns the facts of each variable, by name, sorted.

    Args:
        signature: In normal form.
        domains: Propagated.
    """
    bindings = _bindings(signature)
    return {
        variable.name: _facts(
            variable.kind, domains.of.get(variable.name, Domain()), variable.hint, bindings.get(variable.name)
        )
        for variable in signature.variables
    }


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


__all__ = ["Facts", "build_table"]
