"""Generate the fast check of one structure: straight-line Python that raises at the first thing wrong.

It says nothing about what is wrong: `explain` looks again, slowly, and finds the words.

Before::

    def f(x: float32[B, D], n: Scalar[2 * B]): where B < 32

After (names shortened)::

    if type(x) is not Tensor: other(x)       # raises, unless `x` is of a subclass
    x_dtype = x.dtype
    if x_dtype is not float32 and x_dtype != float32: raise Mismatch
    B, _ = x.shape
    if type(n) is not int: no_int(n)
    if not (n == 2 * B and B < 32): raise Mismatch
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    Predicate,
    ScalarType,
    SequenceType,
    TensorType,
    Type,
    Var,
)
from ..ir.expanded import Expanded
from ..ir.structure import INT64_MAX, INT64_MIN
from ..ir.walk import free_vars
from .code import LOCAL, Code
from .plan import Bind, Combine, Define, Linear, Plan, Slot, Step, Verify, plan
from .tensors import Tensors


class Mismatch(Exception):
    """Something is wrong; `explain` finds out what."""


class Symbolic(Exception):
    """A size is a tracer's symbol, so nothing can be checked without telling the tracer."""


@dataclass
class Guard:
    """The check as text.

    Attributes:
        lines: Statements; they raise if the arguments do not fit.
        sizes: Variable → Python expression of its value, after ``lines`` ran. Lengths are among them.
    """

    lines: list[str] = field(default_factory=list[str])
    sizes: dict[str, str] = field(default_factory=dict[str, str])


def guard(
    expanded: Expanded,
    code: Code,
    tensors: Tensors,
    roots: Mapping[str, str],
    *,
    where: bool = True,
    symbols: bool = False,
    checked: bool = True,
) -> Guard:
    """Returns the check of ``expanded``.

    Args:
        expanded: One structure.
        code: The function in which the text will stand.
        tensors: What a tensor is.
        roots: Parameter → Python expression of its value.
        where: Whether the assumptions are checked; that sizes agree and dims are not negative is in any case.
        symbols: Whether the lines raise `Symbolic` where a size is a symbol; else it is compared like any other.
        checked: Whether anything is; else sizes are read and computed, and nothing is compared.
    """
    return _Writer(expanded, code, tensors, roots, symbols=symbols, checked=checked).write(where=where)


class _Writer:
    def __init__(
        self,
        expanded: Expanded,
        code: Code,
        tensors: Tensors,
        roots: Mapping[str, str],
        *,
        symbols: bool,
        checked: bool,
    ) -> None:
        self.symbols = symbols
        self.checked = checked
        self.expanded = expanded
        self.code = code
        self.tensors = tensors
        self.roots = roots
        self.guard = Guard()
        self.slots: dict[Slot, str] = {}
        self.dtypes: dict[str, str] = {}
        self.leaves = 0
        self.used: set[Slot] = set()
        self.names: dict[Slot, str] = {}
        self._others: dict[type, Callable[[object], None]] = {}

    def write(self, *, where: bool) -> Guard:
        expanded, sizes = self.expanded, self.guard.sizes
        steps = plan(expanded)
        for step in steps.steps:
            self.used.update(_read_by(step))
            if isinstance(step, Bind):
                self.names[step.slot] = step.variable
        for param in expanded.signature.params:
            self._visit(param.type, self.roots[param.name])
        sizes.update((name, str(n)) for name, n in expanded.lengths)
        if self.symbols and self.tensors.modes is not None and self.slots:
            modes, found = self.code.use(self.tensors.modes, "modes"), self.code.use(_are_symbolic, "are_symbolic")
            read = ", ".join(name for name in self.slots.values() if name != "_")
            self.guard.lines.append(f"if {modes}() and {found}({read}): raise {self.code.use(Symbolic, 'Symbolic')}")
        tests = self._sizes(steps)
        if not self.checked:
            return self.guard
        sure = {dim for leaf in expanded.leaves if not leaf.scalar for dim in leaf.dims}
        predicates = [
            constraint.predicate
            for constraint in expanded.signature.constraints
            if (where or constraint.origin is Origin.DIM)
            and sizes.keys() >= set(free_vars(constraint.predicate))  # else it holds: see `Solution`
            and not _is_sure(constraint, sure)
        ]
        tests += [self.code.predicate(predicate, sizes) for predicate in _tightest(predicates)]
        if tests:
            self._require(" and ".join(tests))
        return self.guard

    def _require(self, condition: str) -> None:
        if self.checked:
            self.guard.lines.append(f"if not ({condition}): raise {self.code.use(Mismatch, 'Mismatch')}")

    def _isinstance(self, value: str, kind: object, name: str) -> None:
        self._require(f"{self.code.use(isinstance, 'isinstance')}({value}, {self.code.use(kind, name)})")

    def _part(self, value: str, meaning: str = "") -> str:
        made = self.code.local(meaning)
        self.guard.lines.append(f"{made} = {value}")
        return made

    def _plain(self, value: str, kind: type, name: str, otherwise: str) -> None:
        """Writes that ``value`` is of ``kind`` itself, or passes what `_other` makes."""
        if self.checked:
            test = f"{self.code.use(type, 'type')}({value}) is not {self.code.use(kind, name)}"
            self.guard.lines.append(f"if {test}: {self.code.use(self._other(kind), otherwise)}({value})")

    def _visit(self, type_: Type, value: str) -> None:
        """Writes the check of one value; leaves are counted as `expand` lists them."""
        match type_:
            case TensorType():
                self._tensor(type_, value)
            case ScalarType(size=size):
                if self.symbols:
                    self._plain(value, int, "int", "no_int")
                    self._require(f"{INT64_MIN} <= {value} <= {INT64_MAX}")
                else:
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
                        self._inside(item, value, Item(index))
            case MappingType(entries=entries):
                self._isinstance(value, Mapping, "Mapping")
                for key, entry in entries:
                    if isinstance(entry, NoneType):
                        self._require(f"{key!r} not in {value} or {value}[{key!r}] is None")
                    else:
                        self._require(f"{key!r} in {value}")
                        self._inside(entry, value, Item(key))
            case ObjectType(fields=fields):
                for name, inner in fields:
                    self._inside(inner, value, Attribute(name))
            case _:
                pass

    def _inside(self, type_: Type, value: str, at: Item | Attribute) -> None:
        meaning = f"{self._word(value)}_{at.name if isinstance(at, Attribute) else at.key}"
        self._visit(type_, self._part(self.code.step(value, at), meaning))

    def _word(self, value: str) -> str:
        """Returns what the local variable ``value`` is called after."""
        return value.removeprefix(self.code.prefix).removeprefix(LOCAL)

    def _other(self, kind: type) -> Callable[[object], None]:
        """Returns what looks at a value that is not plainly of ``kind``; the same function each time."""
        if kind not in self._others:
            plain, symbolic, opaque = self.tensors.plain, self.tensors.symbolic, self.tensors.opaque

            def other(value: object) -> None:
                if kind is not int and type(value) in plain:
                    return
                if symbolic(value) or opaque(value):
                    raise Symbolic
                if kind is int or not isinstance(value, kind):  # a bool is no int here
                    raise Mismatch

            self._others[kind] = other
        return self._others[kind]

    def _tensor(self, type_: TensorType, value: str) -> None:
        if self.symbols:
            self._plain(value, self.tensors.kind, "Tensor", "no_plain_tensor")
        else:
            self._isinstance(value, self.tensors.kind, "Tensor")
        if type_.dtype is not None and self.checked:
            self._dtype(type_.dtype, value)
        if type_.dims is None:
            return
        leaf, self.leaves = self.leaves, self.leaves + 1
        names: list[str] = []
        for axis in range(len(type_.dims)):
            slot = Slot(leaf, axis)
            names.append(
                self.code.local(self.names.get(slot, f"{self._word(value)}_{axis}")) if slot in self.used else "_"
            )
            self.slots[slot] = names[-1]
        if all(name == "_" for name in names):
            self._require(f"{self.code.use(len, 'len')}({value}.shape) == {len(names)}")
        else:
            ignored = f"{self.code.prefix}_"
            targets = ", ".join(ignored if name == "_" else name for name in names)
            self.guard.lines.append(f"{targets}{',' if len(names) == 1 else ''} = {value}.shape")

    def _dtype(self, dtype: Dtype, value: str) -> None:
        found = self._part(f"{value}.dtype", f"{self._word(value)}_dtype")
        admitted = self.tensors.dtypes.get(dtype.name, frozenset())
        if len(admitted) == 1:
            self._same(found, self.code.use(next(iter(admitted)), dtype.name))
        else:
            self._require(f"{found} in {self.code.use(admitted, dtype.name)}")
        if dtype.variable is not None:
            first = self.dtypes.setdefault(dtype.variable, found)
            if first != found:
                self._same(found, first)

    def _same(self, found: str, expected: str) -> None:
        """Writes that two dtypes are equal, which they are where they are one object: that costs nothing to see."""
        mismatch = self.code.use(Mismatch, "Mismatch")
        self.guard.lines.append(f"if {found} is not {expected} and {found} != {expected}: raise {mismatch}")

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
                    dividend = f"{self.slots[slot]} - {self.code.size(rest, sizes)}"
                    sizes[name] = self._quotient(dividend, coefficient, name)
                case Define(variable=name, size=size, slots=slots):
                    read = {each: self.slots[slot] for each, slot in slots}
                    sizes[name] = self._part(self.code.size(size, read), name)
                case Combine(variable=name, terms=terms, divisor=divisor):
                    sum_ = " + ".join(
                        f"{factor} * ({self.slots[at]} - {self.code.size(rest, sizes)})"
                        for factor, at, rest, _ in terms
                    )
                    sizes[name] = self._quotient(sum_, divisor, name)
        return tests

    def _quotient(self, dividend: str, divisor: int, name: str) -> str:
        """Writes an exact division; returns the local variable of its result, which is the variable ``name``."""
        value, remainder = self.code.local(name), self.code.local("remainder")
        if divisor == 1:
            self.guard.lines.append(f"{value} = {dividend}")
        elif divisor == -1:
            self.guard.lines.append(f"{value} = -({dividend})")
        elif not self.checked:
            self.guard.lines.append(f"{value} = ({dividend}) // {divisor}")
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


def _are_symbolic(*sizes: object) -> bool:
    return any(type(size) is not int for size in sizes)


def _tightest(predicates: Sequence[Predicate]) -> Iterator[Predicate]:
    """Yields ``predicates`` without a bound of one variable that another one of them implies; each is told anyway.

    ``B <= 1024, B < 32`` is ``B < 32``.
    """
    best: dict[tuple[str, str], int] = {}
    for predicate in predicates:
        if (bound := _bound(predicate)) is not None:
            *which, end = bound
            side = which[0], which[1]
            best[side] = end if side not in best else (min if side[1] == "<" else max)(best[side], end)
    for predicate in predicates:
        bound = _bound(predicate)
        if bound is None:
            yield predicate
        elif best.get(bound[:2]) == bound[2]:
            del best[bound[:2]]
            yield predicate


def _bound(predicate: Predicate) -> tuple[str, str, int] | None:
    """Returns ``("B", "<", 31)`` of ``B < 32``: a variable, a side, and the last number on it."""
    match predicate:
        case Compare(op=op, left=Var(name=name), right=Const(value=value)):
            match op.name:
                case "<" | "<=":
                    return name, "<", value - (op.name == "<")
                case ">" | ">=":
                    return name, ">", value + (op.name == ">")
                case _:
                    return None
        case _:
            return None


def _is_sure(constraint: Constraint, read: set[Dim]) -> bool:
    """Returns whether the constraint says that a dim just read off a tensor is not negative."""
    match constraint.predicate:
        case Compare(op=op, left=left, right=Const(value=0)):
            return op.name == ">=" and left in read
        case _:
            return False
