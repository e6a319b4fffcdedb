"""A profile seen through a spec: how often which sizes, and how many elements a call has when some are padded.

Before::

    ids int64 (2, 40), mask bool (2, 40), 310 calls       def f(ids: int64[B, S], mask: bool[B, S])

After::

    {B: 2, S: 40}, 310 calls; padded over S: 4 * S elements

Nothing is imported for it: each call is rebuilt of shapes and bound to the spec as a real one would be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...diagnostics import Report, ShapeError
from ...ir import Apply, ParamKind, Signature, Var
from ...ir.dtypes import DTYPES
from ...ir.expand import expand
from ...ir.walk import free_vars
from ...runtime.bind import binder
from ...runtime.check import checker
from ...runtime.solve import Solve
from ...runtime.tensors import Tensors
from .calls import FakeTensor, rebuild
from .histogram import Sizes
from .profile import Profile, Structure, structure_places


@dataclass(frozen=True, slots=True)
class Call:
    """Calls of the same sizes.

    Attributes:
        sizes: By variable; elements of a variadic as ``batch[0]``.
        times: How many calls; 0 where they are counted at other sizes, so that only these sizes are known.
        shapes: The shape of each tensor that the spec speaks of.
        dims: Of each of these tensors, the variable that stands bare on each axis, or None.
        row: Its structure and its sizes as they were read.
    """

    sizes: Mapping[str, int]
    times: int
    shapes: tuple[Sizes, ...]
    dims: tuple[tuple[str | None, ...], ...]
    row: tuple[Structure, Sizes] = ((), ())


@dataclass(slots=True)
class Traffic:
    """Calls by the sizes of a spec.

    Attributes:
        signature: The spec.
        calls: Those that it takes.
        refused: How many calls it refuses.
        reason: Why the first of them is refused.
        blocked: Variables that stand inside an expression in some tensor, so that padding them moves other dims.
    """

    signature: Signature
    calls: list[Call] = field(default_factory=list[Call])
    refused: int = 0
    reason: str = ""
    blocked: set[str] = field(default_factory=set[str])

    @property
    def taken(self) -> int:
        """How many calls the spec takes."""
        return sum(call.times for call in self.calls)

    def counts(self, variable: str) -> dict[int, int]:
        """Returns how often each size of a variable was seen, ascending."""
        found: dict[int, int] = {}
        for call in self.calls:
            size = call.sizes.get(variable)
            if size is not None:
                found[size] = found.get(size, 0) + call.times
        return dict(sorted(found.items()))

    def variables(self) -> list[str]:
        """Returns the variables that calls have, in the order of the parameters."""
        return list(dict.fromkeys(name for call in self.calls for name in call.sizes))


def observed_sizes(profile: Profile, signature: Signature, *, solve: Solve | None = None) -> Traffic:
    """Returns the calls of a profile by the sizes of a spec.

    Args:
        profile: The calls.
        signature: The spec, resolved.
        solve: Computes variables that cannot be read off.

    Raises:
        ShapeError: ``not-invertible``: sizes cannot be computed, of any call.
    """
    reader = _Reader(signature, solve)
    traffic = Traffic(signature)
    for structure, table in profile.tables.items():
        for sizes in table.sizes.rows():
            reader.read(structure, sizes, table.sizes.counts.get(sizes, 0), traffic)
    return traffic


class _Reader:
    def __init__(self, signature: Signature, solve: Solve | None) -> None:
        self.signature = signature
        tensors = Tensors(FakeTensor, _dtype_table())
        self.known = {param.name for param in signature.params}
        self.check: Callable[..., None] = checker(signature, tensors, solve=solve)
        self.bind = binder(signature, tensors, solve=solve)
        self.dims: dict[Structure, list[tuple[int, tuple[str | None, ...]]]] = {}

    def read(self, structure: Structure, sizes: Sizes, times: int, traffic: Traffic) -> None:
        """Adds calls of one row."""
        values = iter(sizes)
        arguments = {name: rebuild(node, values) for name, node in structure}
        arguments = {name: value for name, value in arguments.items() if name in self.known}
        try:
            args, kwargs = self._passed(arguments)
            self.check(*args, **kwargs)
            found = self.bind(*args, **kwargs)
        except (ShapeError, TypeError) as error:
            if not traffic.refused:
                traffic.reason = error.diagnostics[0].message if isinstance(error, ShapeError) else str(error)
            traffic.refused += times
            return
        flat: dict[str, int] = {}
        for name, size in found.items():
            if isinstance(size, int):
                flat[name] = size
            else:
                flat.update({f"{name}[{axis}]": each for axis, each in enumerate(size)})
        if structure not in self.dims:
            self.dims[structure] = self._dims(structure, arguments, traffic.blocked)
        tensors = self.dims[structure]
        shapes = tuple(sizes[start : start + len(dims)] for start, dims in tensors)
        traffic.calls.append(Call(flat, times, shapes, tuple(dims for _, dims in tensors), (structure, sizes)))

    def _passed(self, arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Returns how the call is written: by position as far as that goes."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for param in self.signature.params:
            value = arguments.get(param.name, _ABSENT)
            if param.kind is ParamKind.VAR_POSITIONAL:
                args += () if value is _ABSENT else value
            elif param.kind is ParamKind.VAR_KEYWORD:
                kwargs.update({} if value is _ABSENT else value)
            elif value is _ABSENT:
                continue
            elif param.kind is ParamKind.KEYWORD_ONLY or len(args) < self._position(param.name):
                kwargs[param.name] = value
            else:
                args.append(value)
        return args, kwargs

    def _position(self, name: str) -> int:
        return next(index for index, param in enumerate(self.signature.params) if param.name == name)

    def _dims(
        self, structure: Structure, arguments: Mapping[str, object], blocked: set[str]
    ) -> list[tuple[int, tuple[str | None, ...]]]:
        """Returns where the shape of each tensor begins in a row, and which variables stand on its axes."""
        expanded = expand(self.signature, arguments, is_tensor=_is_fake, report=Report())
        assert expanded is not None  # the call was bound
        starts: dict[str, int] = {}
        for index, place in enumerate(structure_places(structure)):
            starts.setdefault(str(place.path), index)
        found: list[tuple[int, tuple[str | None, ...]]] = []
        for leaf in expanded.leaves:
            for dim in leaf.dims:
                if isinstance(dim, Apply):
                    blocked.update(free_vars(dim))
            if not leaf.scalar and leaf.dims:
                dims = tuple(dim.name if isinstance(dim, Var) else None for dim in leaf.dims)
                found.append((starts[str(leaf.path)], dims))
        return found


_ABSENT: Final = object()


def _is_fake(value: object) -> bool:
    return isinstance(value, FakeTensor)


def polynomials(calls: Sequence[Call], variable: str) -> dict[int, tuple[int, ...]]:
    """Returns, by size of ``variable``, how many elements its calls have once they are padded to ``v``, in powers of ``v``.

    Tensors in which the variable does not stand are not counted.
    """
    found: dict[int, list[int]] = {}
    for call in calls:
        size = call.sizes[variable]
        own = found.setdefault(size, [])
        for shape, dims in zip(call.shapes, call.dims, strict=True):
            power = dims.count(variable)
            if not power:
                continue
            rest = call.times
            for length, name in zip(shape, dims, strict=True):
                rest *= 1 if name == variable else length
            own.extend([0] * (power + 1 - len(own)))
            own[power] += rest
    return {size: tuple(own) for size, own in found.items()}


def elements(call: Call, padded: Mapping[str, int]) -> int:
    """Returns how many elements the tensors of one call have in which a padded variable stands, with these sizes."""
    total = 0
    for shape, dims in zip(call.shapes, call.dims, strict=True):
        if any(name in padded for name in dims):
            product = 1
            for length, name in zip(shape, dims, strict=True):
                product *= length if name is None else padded.get(name, length)
            total += product
    return total


def _dtype_table() -> dict[str, frozenset[object]]:
    """Returns the dtypes that each name and family admits, by name."""
    named: dict[str, frozenset[object]] = {name: frozenset((name,)) for name in DTYPES}
    floating = frozenset(name for name in DTYPES if name.startswith(("float", "bfloat")))
    integral = frozenset(name for name in DTYPES if name.startswith(("int", "uint")))
    complexes = frozenset(name for name in DTYPES if name.startswith(("complex", "bcomplex")))
    named.update(
        floating=floating, integral=integral, complexfloating=complexes, number=floating | integral | complexes
    )
    return named


__all__ = ["Call", "Traffic", "elements", "observed_sizes", "polynomials"]
