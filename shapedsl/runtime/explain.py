"""Say why a call does not satisfy its spec. Slow and thorough; it runs after a fast check failed.

It reports everything that is wrong at the first level at which something is: structure (ranks,
lengths, kinds of values), then dtypes, then sizes that disagree, then assumptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, cast

from ..diagnostics import Report, Span
from ..ir import (
    Attribute,
    Compare,
    Const,
    Constraint,
    Dtype,
    Item,
    MappingType,
    ObjectType,
    Origin,
    Path,
    SequenceType,
    Signature,
    Size,
    TensorType,
    Type,
    Var,
)
from ..ir.expanded import Expanded, Leaf
from ..ir.walk import evaluate, free_vars, holds
from ..ir.write import write_dim
from .nearest import Seek, nearest
from .plan import Bind, Combine, Define, Linear, Slot, Verify, plan
from .solve import Solve, at_structure
from .tensors import Tensors

Reading: TypeAlias = "Bind | Linear | Combine | Verify"  # a step that reads one size first


def explain(
    signature: Signature,
    arguments: Mapping[str, object],
    tensors: Tensors,
    report: Report,
    *,
    where: bool = True,
    solve: Solve | None = None,
    seek: Seek | None = None,
) -> None:
    """Reports why ``arguments`` do not satisfy ``signature``.

    Args:
        signature: Not expanded.
        arguments: Parameter → value; without omitted defaults.
        tensors: What a tensor is.
        report: Receives ``type-mismatch``, ``rank-mismatch``, ``dtype-mismatch``, ``shape-violation``.
        where: Whether the assumptions are looked at; that dims are not negative is in any case.
        solve: Computes variables that cannot be read off.
        seek: Finds accepted sizes where looking around does not.
    """
    plain = {name: without_symbols(value, tensors) for name, value in arguments.items()}
    expanded = at_structure(signature, plain, tensors, report, solve)
    if expanded is None:
        return
    _dtypes(expanded, arguments, tensors, report)
    if report.errors:
        return
    own = Report()
    helps: tuple[str, ...] = ()
    found = _Sizes(expanded, arguments, own)
    found.find()
    tested = [each for each in expanded.signature.constraints if where or each.origin is Origin.DIM]
    if not own.errors:
        for constraint in tested:
            found.test(constraint)
    if not own.errors:
        found.tell_undefined()
    if own.errors and found.is_known():
        near = nearest(expanded, found.shapes, [each.predicate for each in tested], found.sizes, seek)
        helps = () if near is None else (near.text,)
    for at, diagnostic in enumerate(own):
        report.add(diagnostic if at else replace(diagnostic, helps=(*diagnostic.helps, *helps)))


def without_symbols(value: object, tensors: Tensors) -> object:
    """Returns ``value`` with 0 for each size of a tracer's that it is, or has as an item."""
    if type(value) in (list, tuple):
        items = [without_symbols(item, tensors) for item in cast("list[object]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    if type(value) is dict:
        return {key: without_symbols(item, tensors) for key, item in cast("dict[object, object]", value).items()}
    return 0 if not tensors.is_tensor(value) and tensors.symbolic(value) else value


def sizes_of(expanded: Expanded, arguments: Mapping[str, object]) -> dict[str, int]:
    """Returns the sizes of a call by variable, as far as ``arguments`` agree with ``expanded`` about them."""
    found = _Sizes(expanded, arguments, Report())
    found.find()
    return found.sizes


def value_at(path: Path, arguments: Mapping[str, object]) -> object:
    """Returns the part of an argument at ``path``."""
    value: Any = arguments[path.root]
    for step in path.steps:
        value = getattr(value, step.name) if isinstance(step, Attribute) else value[step.key]
    return cast("object", value)


class _Sizes:
    """The sizes of one call, and how messages speak of them."""

    def __init__(self, expanded: Expanded, arguments: Mapping[str, object], report: Report) -> None:
        self.expanded = expanded
        self.report = report
        self.plan = plan(expanded)
        self.sizes: dict[str, int] = dict(expanded.lengths)
        self.undefined_definitions: list[Define] = []
        self.shapes: list[tuple[int, ...]] = []
        for leaf in expanded.leaves:
            value: Any = value_at(leaf.path, arguments)
            self.shapes.append((value,) if leaf.scalar else tuple(value.shape))

    def is_known(self) -> bool:
        """Returns whether every size is an int, and none a tracer's symbol."""
        return all(type(size) is int for shape in self.shapes for size in shape)

    def is_symbol(self, slot: Slot) -> bool:
        """Returns whether the size at ``slot`` is a tracer's: nothing is compared with it."""
        return type(self.shapes[slot.leaf][slot.axis]) is not int

    def actual(self, step: Reading) -> int:
        return self.shapes[step.slot.leaf][step.slot.axis]

    def leaf(self, step: Reading) -> Leaf:
        return self.expanded.leaves[step.slot.leaf]

    def find(self) -> None:
        """Follows the plan; reports sizes that do not fit."""
        for step in self.plan.steps:
            if isinstance(step, Define):
                self.define(step)
                continue
            actual = self.actual(step)
            if type(actual) is not int and not isinstance(step, Combine):
                continue
            match step:
                case Bind(variable=name):
                    self.sizes[name] = actual
                case Linear(rest=rest) if not self.sizes.keys() >= set(free_vars(rest)):
                    continue  # as below
                case Linear(variable=name, coefficient=coefficient, rest=rest, size=size):
                    known = self.value(rest)
                    if known is None:
                        self.undefined(step, size)
                        continue
                    value, remainder = divmod(actual - known, coefficient)
                    if remainder:
                        self.mismatch(step, size, f"`{write_dim(size)}` for some `{name}`", skip=name)
                    else:
                        self.sizes[name] = value
                case Combine():
                    self.combine(step)
                case Verify(size=size):
                    if not self.sizes.keys() >= set(free_vars(size)):
                        continue  # an earlier step failed, and was reported
                    expected = self.value(size)
                    if expected is None:
                        self.undefined(step, size)
                    elif expected != actual:
                        text = write_dim(size)
                        computed = next((name for name in free_vars(size) if name in self.computed_from(step)), None)
                        if computed is not None:
                            self.mismatch(step, size, f"`{text}` for some `{computed}`", skip=computed)
                        else:
                            self.mismatch(step, size, text if text == str(expected) else f"`{text}` = {expected}")

    def define(self, step: Define) -> None:
        if any(self.is_symbol(slot) for _, slot in step.slots):
            return
        read = {name: self.shapes[slot.leaf][slot.axis] for name, slot in step.slots}
        try:
            self.sizes[step.variable] = evaluate(step.size, read)
        except ZeroDivisionError:
            self.undefined_definitions.append(step)

    def computed_from(self, step: Verify) -> set[str]:
        """Returns the variables that were computed from the very size that ``step`` looks at."""
        defined = (other for other in self.plan.steps if isinstance(other, Define))
        return {define.variable for define in defined if any(slot == step.slot for _, slot in define.slots)}

    def tell_undefined(self) -> None:
        """Reports what could not be computed; called where nothing else is wrong that would say why."""
        for step in self.undefined_definitions:
            places = dict.fromkeys(self.expanded.leaves[slot.leaf].place(slot.axis) for _, slot in step.slots)
            self.report.error(
                "shape-violation",
                f"`{step.variable}` cannot be computed from {' and '.join(f'`{place}`' for place in places)}: that divides by 0",
                at=self.read_at(step.variable) or self.expanded.signature.span,
                note=self.notes(iter(self.sizes)),
                witness=self.witness(),
            )

    def combine(self, step: Combine) -> None:
        total = 0
        for factor, slot, rest, size in step.terms:
            if self.is_symbol(slot) or not self.sizes.keys() >= set(free_vars(rest)):
                return None
            known = self.value(rest)
            if known is None:
                return self.undefined(step, size)
            total += factor * (self.shapes[slot.leaf][slot.axis] - known)
        value, remainder = divmod(total, step.divisor)
        if not remainder:
            self.sizes[step.variable] = value
            return None
        places = [(self.expanded.leaves[slot.leaf], slot, size) for _, slot, _, size in step.terms]
        self.report.error(
            "shape-violation",
            " and ".join(
                f"`{leaf.place(slot.axis)}` is {self.shapes[slot.leaf][slot.axis]}" for leaf, slot, _ in places
            )
            + f", expected {' and '.join(f'`{write_dim(size)}`' for _, _, size in places)} for some `{step.variable}`",
            at=places[0][2].span or places[0][0].span,
            also=[(size.span, "") for _, _, size in places[1:]],
            witness=self.witness(),
        )
        return None

    def value(self, size: Size) -> int | None:
        """Returns the value of ``size``, or None where a divisor is 0 or a variable is not known."""
        try:
            return evaluate(size, self.sizes)
        except (ZeroDivisionError, KeyError):
            return None

    def place(self, name: str) -> str:
        """Returns where ``name`` was read, e.g. ```x.shape[0]`, which is `2 * B```."""
        slot = self.plan.places.get(name)
        if slot is None:
            return "the assumptions" if name not in dict(self.expanded.lengths) else "the length of a sequence"
        leaf = self.expanded.leaves[slot.leaf]
        dim = leaf.dims[slot.axis]
        return f"`{leaf.place(slot.axis)}`" + ("" if isinstance(dim, Var) else f", which is `{write_dim(dim)}`")

    def read_at(self, name: str) -> Span | None:
        """Returns the span of the dim that ``name`` was read off."""
        slot = self.plan.places.get(name)
        return None if slot is None else self.expanded.leaves[slot.leaf].dims[slot.axis].span

    def notes(self, names: Iterator[str], skip: str = "") -> tuple[str, ...]:
        return tuple(
            f"`{name}` is {self.sizes[name]}, from {self.place(name)}"
            for name in dict.fromkeys(names)
            if name in self.sizes and name != skip and not name.startswith("?")
        )

    def witness(self) -> tuple[tuple[str, int], ...]:
        return tuple(sorted((name, n) for name, n in self.sizes.items() if not name.startswith("?")))

    def mismatch(self, step: Reading, size: Size, expected: str, skip: str = "") -> None:
        leaf = self.leaf(step)
        self.report.error(
            "shape-violation",
            f"`{leaf.place(step.slot.axis)}` is {self.actual(step)}, expected {expected}",
            at=size.span or leaf.span,
            label=f"{self.actual(step)} here",
            also=[(self.read_at(name), f"{name} = {self.sizes[name]}") for name in free_vars(size) if name != skip],
            note=self.notes(free_vars(size), skip),
            witness=self.witness(),
        )

    def undefined(self, step: Reading, size: Size) -> None:
        leaf = self.leaf(step)
        self.report.error(
            "shape-violation",
            f"`{leaf.place(step.slot.axis)}` is {self.actual(step)}, but `{write_dim(size)}` divides by 0",
            at=size.span or leaf.span,
            note=self.notes(free_vars(size)),
            witness=self.witness(),
        )

    def test(self, constraint: Constraint) -> None:
        """Reports ``constraint`` if it does not hold."""
        names = list(dict.fromkeys(free_vars(constraint.predicate)))
        if not self.sizes.keys() >= set(names):
            return
        try:
            if holds(constraint.predicate, self.sizes):
                return
            got = self.got(constraint, names)
            headline = f"{got}, expected `{constraint.text}`"
        except ZeroDivisionError:
            headline = f"`{constraint.text}` divides by 0"
        if constraint.message:
            headline += f": {constraint.message}"
        self.report.error(
            "shape-violation",
            headline,
            at=constraint.span,
            label=constraint.message or ", ".join(f"{name} = {self.sizes[name]}" for name in names),
            also=constraint.notes,
            note=self.notes(iter(names)),
            witness=self.witness(),
        )

    def got(self, constraint: Constraint, names: list[str]) -> str:
        """Returns the subject of a headline: the place for a plain bound, else the names' values."""
        match constraint.predicate:
            case Compare(left=Var(name=name), right=Const()) if name in self.plan.places:
                slot = self.plan.places[name]
                leaf = self.expanded.leaves[slot.leaf]
                if isinstance(leaf.dims[slot.axis], Var):
                    return f"`{leaf.place(slot.axis)}` is {self.sizes[name]}"
            case _:
                pass
        return " and ".join(f"`{name}` is {self.sizes[name]}" for name in names)


def _dtypes(expanded: Expanded, arguments: Mapping[str, object], tensors: Tensors, report: Report) -> None:
    """Reports tensors of another dtype, and two dtypes under one name."""
    first: dict[str, tuple[object, Path]] = {}
    for param in expanded.signature.params:
        for path, type_, dtype in _declared(param.type, Path(param.name)):
            tensor: Any = value_at(path, arguments)
            actual: object = tensor.dtype
            if actual not in tensors.dtypes.get(dtype.name, frozenset()):
                report.error(
                    "dtype-mismatch",
                    f"`{path}` is {_name(actual)}, expected {dtype.name}",
                    at=type_.span,
                    label=f"expects {dtype.name}",
                )
            elif dtype.variable is not None:
                other, place = first.setdefault(dtype.variable, (actual, path))
                if other != actual:
                    report.error(
                        "dtype-mismatch",
                        f"`{path}` is {_name(actual)}, expected `{dtype.variable}` = {_name(other)}",
                        at=type_.span,
                        label=f"expects {_name(other)}",
                        note=f"`{dtype.variable}` is {_name(other)}, from `{place}`",
                    )


def _name(dtype: object) -> str:
    return str(dtype).removeprefix("torch.")


def _declared(type_: Type, path: Path) -> Iterator[tuple[Path, TensorType, Dtype]]:
    """Yields the tensors of ``type_`` that declare a dtype."""
    match type_:
        case TensorType(dtype=dtype) if dtype is not None:
            yield path, type_, dtype
        case SequenceType(items=items):
            for index, item in enumerate(items):
                yield from _declared(item, Path(path.root, (*path.steps, Item(index))))
        case MappingType(entries=entries):
            for key, entry in entries:
                yield from _declared(entry, Path(path.root, (*path.steps, Item(key))))
        case ObjectType(fields=fields):
            for name, inner in fields:
                yield from _declared(inner, Path(path.root, (*path.steps, Attribute(name))))
        case _:
            pass
