"""Generate the fast check of one structure: straight-line Python that raises at the first thing wrong.

It says nothing about what is wrong: `explain` looks again, slowly, and finds the words.

Before::

    def f(x: float32[B, D], n: Scalar[2 * B]): where B < 32

After (names shortened)::

    if not isinstance(x, Tensor): raise Mismatch
    if x.dtype not in float32: raise Mismatch
    a, b = x.shape
    if type(n) is not int: raise Mismatch
    if not (n == 2 * a and a < 32): raise Mismatch
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..ir import (
    Attribute,
    Compare,
    Const,
    Constraint,
    Dim,
    Dtype,
    Item,
    MappingType,
    NoneType,
    ObjectType,
    Origin,
    ScalarType,
    SequenceType,
    TensorType,
    Type,
)
from ..ir.expanded import Expanded
from ..ir.structure import INT64_MAX, INT64_MIN
from ..ir.walk import free_vars
from .code import Code
from .plan import Bind, Combine, Define, Linear, Plan, Slot, Step, Verify, plan
from .tensors import Tensors


class Mismatch(Exception):
    """Something is wrong; `explain` finds out what."""


@dataclass
class Guard:
    """The check as text.

    Attributes:
        lines: Statements; they raise if the arguments do not fit.
        sizes: Variable → Python expression of its value, after ``lines`` ran. Lengths are among them.
    """

    lines: list[str] = field(default_factory=list[str])
    sizes: dict[str, str] = field(default_factory=dict[str, str])


def guard(expanded: Expanded, code: Code, tensors: Tensors, roots: Mapping[str, str], *, where: bool = True) -> Guard:
    """Returns the check of ``expanded``.

    Args:
        expanded: One structure.
        code: The function in which the text will stand.
        tensors: What a tensor is.
        roots: Parameter → Python expression of its value.
        where: Whether the assumptions are checked; that sizes agree and dims are not negative is in any case.
    """
    return _Writer(expanded, code, tensors, roots).write(where=where)


class _Writer:
    def __init__(self, expanded: Expanded, code: Code, tensors: Tensors, roots: Mapping[str, str]) -> None:
        self.expanded = expanded
        self.code = code
        self.tensors = tensors
        self.roots = roots
        self.guard = Guard()
        self.slots: dict[Slot, str] = {}
        self.dtypes: dict[str, str] = {}
        self.leaves = 0
        self.used: set[Slot] = set()

    def write(self, *, where: bool) -> Guard:
        expanded, sizes = self.expanded, self.guard.sizes
        steps = plan(expanded)
        for step in steps.steps:
            self.used.update(_read_by(step))
        for param in expanded.signature.params:
            self._visit(param.type, self.roots[param.name])
        sizes.update((name, str(n)) for name, n in expanded.lengths)
        tests = self._sizes(steps)
        sure = {dim for leaf in expanded.leaves if not leaf.scalar for dim in leaf.dims}
        for constraint in expanded.signature.constraints:
            if (
                (where or constraint.origin is Origin.DIM)
                and sizes.keys() >= set(free_vars(constraint.predicate))  # else it holds: see `Solution`
                and not _is_sure(constraint, sure)
            ):
                tests.append(self.code.predicate(constraint.predicate, sizes))
        if tests:
            self._require(" and ".join(tests))
        return self.guard

    def _require(self, condition: str) -> None:
        self.guard.lines.append(f"if not ({condition}): raise {self.code.use(Mismatch, 'Mismatch')}")

    def _isinstance(self, value: str, kind: object, name: str) -> None:
        self._require(f"{self.code.use(isinstance, 'isinstance')}({value}, {self.code.use(kind, name)})")

    def _part(self, value: str) -> str:
        made = self.code.local()
        self.guard.lines.append(f"{made} = {value}")
        return made

    def _visit(self, type_: Type, value: str) -> None:
        """Writes the check of one value; leaves are counted as `expand` lists them."""
        match type_:
            case TensorType():
                self._tensor(type_, value)
            case ScalarType(size=size):
                kind, int_ = self.code.use(type, "type"), self.code.use(int, "int")
                self._require(f"{kind}({value}) is {int_} and {INT64_MIN} <= {value} <= {INT64_MAX}")
                if size is not None:
                    self.slots[Slot(self.leaves, 0)] = value
                    self.leaves += 1
            case NoneType():
                self._require(f"{value} is None")
            case SequenceType(items=items):
                self._isinstance(value, (list, tuple), "sequence")
                self._require(f"{self.code.use(len, 'len')}({value}) == {len(items)}")
                for index, item in enumerate(items):
                    if _speaks(item):
                        self._visit(item, self._part(self.code.step(value, Item(index))))
            case MappingType(entries=entries):
                self._isinstance(value, Mapping, "Mapping")
                for key, entry in entries:
                    if isinstance(entry, NoneType):
                        self._require(f"{key!r} not in {value} or {value}[{key!r}] is None")
                    else:
                        self._require(f"{key!r} in {value}")
                        self._visit(entry, self._part(self.code.step(value, Item(key))))
            case ObjectType(fields=fields):
                for name, inner in fields:
                    self._visit(inner, self._part(self.code.step(value, Attribute(name))))
            case _:
                pass

    def _tensor(self, type_: TensorType, value: str) -> None:
        self._isinstance(value, self.tensors.kind, "Tensor")
        if type_.dtype is not None:
            self._dtype(type_.dtype, value)
        if type_.dims is None:
            return
        leaf, self.leaves = self.leaves, self.leaves + 1
        names: list[str] = []
        for axis in range(len(type_.dims)):
            slot = Slot(leaf, axis)
            names.append(self.code.local() if slot in self.used else "_")
            self.slots[slot] = names[-1]
        if all(name == "_" for name in names):
            self._require(f"{self.code.use(len, 'len')}({value}.shape) == {len(names)}")
        else:
            ignored = f"{self.code.prefix}_"
            targets = ", ".join(ignored if name == "_" else name for name in names)
            self.guard.lines.append(f"{targets}{',' if len(names) == 1 else ''} = {value}.shape")

    def _dtype(self, dtype: Dtype, value: str) -> None:
        found = self._part(f"{value}.dtype")
        admitted = self.tensors.dtypes.get(dtype.name, frozenset())
        self._require(f"{found} in {self.code.use(admitted, dtype.name)}")
        if dtype.variable is not None:
            first = self.dtypes.setdefault(dtype.variable, found)
            if first != found:
                self._require(f"{found} == {first}")

    def _sizes(self, steps: Plan) -> list[str]:
        """Writes what computes sizes; returns the conditions that may wait until all are known."""
        tests: list[str] = []
        sizes = self.guard.sizes
        for step in steps.steps:
            match step:
                case Bind(variable=name, slot=slot):
                    sizes[name] = self.slots[slot]
                case Verify(size=size, slot=slot):
                    tests.append(f"{self.slots[slot]} == {self.code.size(size, sizes)}")
                case Linear(variable=name, coefficient=coefficient, rest=rest, slot=slot):
                    sizes[name] = self._quotient(f"{self.slots[slot]} - {self.code.size(rest, sizes)}", coefficient)
                case Define(variable=name, size=size, slots=slots):
                    sizes[name] = self._part(self.code.size(size, {each: self.slots[slot] for each, slot in slots}))
                case Combine(variable=name, terms=terms, divisor=divisor):
                    sum_ = " + ".join(
                        f"{factor} * ({self.slots[at]} - {self.code.size(rest, sizes)})"
                        for factor, at, rest, _ in terms
                    )
                    sizes[name] = self._quotient(sum_, divisor)
        return tests

    def _quotient(self, dividend: str, divisor: int) -> str:
        """Writes an exact division; returns the local variable of its result."""
        value, remainder = self.code.local(), self.code.local()
        if divisor == 1:
            self.guard.lines.append(f"{value} = {dividend}")
        elif divisor == -1:
            self.guard.lines.append(f"{value} = -({dividend})")
        else:
            self.guard.lines.append(f"{value}, {remainder} = {self.code.use(divmod, 'divmod')}({dividend}, {divisor})")
            self._require(f"{remainder} == 0")
        return value


def _read_by(step: Step) -> Iterable[Slot]:
    """Returns the slots whose sizes ``step`` reads."""
    match step:
        case Combine(terms=terms):
            return (slot for _, slot, _, _ in terms)
        case Define(slots=slots):
            return (slot for _, slot in slots)
        case _:
            return (step.slot,)


def _speaks(type_: Type) -> bool:
    """Returns whether a check of ``type_`` can fail."""
    return isinstance(type_, (TensorType, ScalarType, SequenceType, MappingType, ObjectType, NoneType))


def _is_sure(constraint: Constraint, read: set[Dim]) -> bool:
    """Returns whether the constraint says that a dim just read off a tensor is not negative."""
    match constraint.predicate:
        case Compare(op=op, left=left, right=Const(value=0)):
            return op.name == ">=" and left in read
        case _:
            return False
