"""Read what an exported program asks of its inputs' sizes, in order to write it down as a spec.

torch keeps it in four places: the shapes of placeholders, the ranges of its symbols, the guards that tracing
made (texts over sources), and assertions in the graph. ``program.module()`` enforces all of them except the lower
bounds of 0 to 2 of its own (backed) symbols: a program runs sizes 0 and 1 whatever its ranges say.

Before::

    x: f32[s77, 3]   y: f32[2*s77]      s77 in [0, 64]      guard  L['x'].size()[0] % 4 == 0

After::

    x: Tensor[B, 3], y: Tensor[2 * B]   B in [0, 64]        B % 4 == 0
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...ir import (
    COMPARISONS,
    OPERATORS,
    AnyType,
    Apply,
    Compare,
    Const,
    Dim,
    Param,
    Path,
    Predicate,
    ScalarType,
    Size,
    Static,
    TensorType,
    Type,
    Var,
    VariableKind,
)
from ...ir.walk import nodes
from ..assertions import assertions
from ..printed import read_printed
from ..program import conjuncts, is_trivial, plain
from ..symbolic import Unreadable, read_size
from .layout import Layout, arguments
from .naming import Slot, linear, meanings_of, named, symbols_in


@dataclass(frozen=True, slots=True)
class ProgramSize:
    """A variable of a program.

    Attributes:
        name: As the spec will have it.
        kind: ``dim``, or ``int`` for one that only stands for scalars.
        low, high: Its range, inclusive; None for no bound.
        low_is_run: Whether ``low`` is enforced.
        named: Whether the user gave it a name, so that its range is declared.
        places: Where it stands alone; else, where it stands.
        bare: Whether it stands alone anywhere.
    """

    name: str
    kind: VariableKind
    low: int | None
    high: int | None
    low_is_run: bool
    named: bool
    places: tuple[str, ...]
    bare: bool


@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """What a program asks of its inputs.

    Attributes:
        name: Of the callable it was exported from, dotted.
        receiver: ``self`` for a module's ``forward``.
        params: With types over the variables.
        sizes: The variables.
        predicates: What it demands beside their ranges, each once.
        places: The size at each place, by its name.
        losses: What has no words in the language, as torch writes it.
        opaque: Objects whose children no spec can address, by path: the class.
    """

    name: str
    receiver: str | None
    params: tuple[Param, ...]
    sizes: tuple[ProgramSize, ...]
    predicates: tuple[Predicate, ...]
    places: Mapping[str, Size]
    losses: tuple[str, ...]
    opaque: Mapping[str, str]


def is_program(value: object) -> bool:
    """Returns whether ``value`` is an ExportedProgram."""
    from torch.export import ExportedProgram

    return isinstance(value, ExportedProgram)


def read_program(
    program: Any,
    signature: inspect.Signature | None = None,
    wishes: Mapping[str, str] | None = None,
    stems: Mapping[str, str] | None = None,
) -> ProgramSpec:
    """Returns what ``program`` asks of its inputs.

    Args:
        program: An ExportedProgram.
        signature: Of the callable it was exported from, without the receiver, if it is known.
        wishes: Names of sizes, by place.
        stems: What to call sizes without a name, by place; by default it is made from the place.
    """
    return _Reader(program, signature, wishes or {}, stems or {}).read()


class _Reader:
    def __init__(
        self,
        program: Any,
        signature: inspect.Signature | None,
        wishes: Mapping[str, str],
        stems: Mapping[str, str],
    ) -> None:
        self.program = program
        self.guards: list[str] = list(getattr(program, "_guards_code", None) or ())
        self.shape_env = _shape_env(program)
        sources = [source.name for known in _sources(self.shape_env).values() for source in known]
        self.values = _values(program)
        self.layout = Layout(arguments(program, (*self.guards, *sources), signature), self.values)
        self.slots: list[Slot] = []
        for _ in self.layout.params(self._collect):
            pass
        self.meanings = meanings_of(program, self.shape_env, self.slots, wishes, stems)
        self.named = named(self.shape_env, self.slots)
        self.ranges = {str(key): _bounds(value) for key, value in program.range_constraints.items()}
        self.losses: list[str] = []
        self.sizes: dict[tuple[int, int | None], Size] = {}
        for slot in self.slots:
            try:
                self.sizes[slot.position, slot.axis] = self._size(slot.expression)
            except Unreadable:
                self.losses.append(f"{slot.place} == {slot.expression}")

    def _collect(self, path: Path, at: int) -> Type:
        value = self.values[at]
        if hasattr(value, "shape"):
            self.slots += [Slot(path, axis, at, *_expressions(size)) for axis, size in enumerate(value.shape)]
        elif _is_int(value):
            self.slots.append(Slot(path, None, at, *_expressions(value)))
        return AnyType()

    def read(self) -> ProgramSpec:
        sizes = self.sizes

        def typed(_path: Path, at: int) -> Type:
            value = self.values[at]
            if hasattr(value, "shape"):
                return TensorType(tuple(sizes.get((at, axis), Static()) for axis in range(len(value.shape))))
            return ScalarType(sizes.get((at, None))) if _is_int(value) else AnyType()

        params = tuple(self.layout.params(typed))
        predicates = dict.fromkeys(self._predicates())
        name, receiver = _callable(self.program)
        dynamic = {
            path: kind
            for path, (kind, inside) in self.layout.opaque.items()
            if any(_is_symbolic(self.values[at]) for at in inside)
        }
        return ProgramSpec(
            name,
            receiver,
            params,
            tuple(self._variables()),
            tuple(predicates),
            {slot.place: size for slot in self.slots if (size := self._at(slot)) is not None},
            tuple(dict.fromkeys(self.losses)),
            dynamic,
        )

    # -------------------------------------------------------------------------------- variables

    def _lookup(self, symbol: str) -> Size | None:
        meaning = self.meanings.get(symbol)
        return None if meaning is None else _linear_size(meaning.name, 1, -meaning.shift)

    def _size(self, expression: Any) -> Size:
        if isinstance(expression, int):
            return Const(expression)
        known = linear(expression)
        if known is None or known.symbol not in self.meanings:
            return read_size(expression, self._lookup)
        meaning = self.meanings[known.symbol]
        return _linear_size(meaning.name, known.factor, known.offset - known.factor * meaning.shift)

    def _at(self, slot: Slot) -> Size | None:
        return self.sizes.get((slot.position, slot.axis))

    def _variables(self) -> Iterator[ProgramSize]:
        for symbol in symbols_in(self.slots):
            name = self.meanings[symbol].name
            alone = [slot for slot in self.slots if self._at(slot) == Var(name)]
            there = [slot for slot in self.slots if symbol in _names(slot.expression)]
            low, high = self._range(symbol, alone, there)
            kind = VariableKind.INT if all(slot.axis is None for slot in there) else VariableKind.DIM
            yield ProgramSize(
                name,
                kind,
                low,
                high,
                low is None or low > 2 or symbol.startswith("u"),
                symbol in self.named,
                tuple(slot.place for slot in alone or there),
                bool(alone) or all((known := linear(slot.expression)) and known.factor == 1 for slot in there),
            )

    def _range(self, symbol: str, alone: list[Slot], there: list[Slot]) -> tuple[int | None, int | None]:
        """Returns the range of a variable; of one that never stands alone, what the ranges of its multiples say."""
        for slot in alone:
            if str(slot.expression) in self.ranges:
                return self.ranges[str(slot.expression)]
        shift = self.meanings[symbol].shift
        low, high = None, None
        for slot in there:
            given, known = self.ranges.get(str(slot.expression)), linear(slot.expression)
            if given is None or known is None:
                continue
            if given[0] is not None:
                low = max(low or 0, -((known.offset - given[0]) // known.factor) + shift)
            if given[1] is not None:
                bound = (given[1] - known.offset) // known.factor + shift
                high = bound if high is None else min(high, bound)
        if low is None and high is None:
            low, high = self.ranges.get(symbol, (None, None))
        return low, high

    # ------------------------------------------------------------------------------- predicates

    def _predicates(self) -> Iterator[Predicate]:
        for predicate in self._demanded():
            for part in conjuncts(predicate):
                if not is_trivial(said := plain(part)):
                    yield from (Compare(COMPARISONS[">="], divisor, Const(1)) for divisor in _divisors(said))
                    yield said

    def _demanded(self) -> Iterator[Predicate]:
        for slot in self.slots:
            size = self._at(slot)
            if not isinstance(size, Apply):
                continue
            low, high = self.ranges.get(str(slot.expression), (None, None))
            if low is not None and low > 2:
                yield Compare(COMPARISONS[">="], size, Const(low))
            if high is not None:
                yield Compare(COMPARISONS["<="], size, Const(high))
        guarded = {source: size for slot in self.slots if (size := self._at(slot)) for source in slot.sources}
        for guard in self.guards:
            try:
                yield read_printed(guard, guarded.get)
            except Unreadable:
                self.losses.append(guard)
        originals = {slot.original.name: slot for slot in self.slots if getattr(slot.original, "is_Symbol", False)}
        replaced = {name: size for name, slot in originals.items() if (size := self._at(slot)) is not None}
        positions = {name: at for at, name in enumerate(_placeholders(self.program))}

        def measure(node: Any, axis: int) -> Size | None:
            at = positions.get(getattr(node, "name", ""))
            return None if at is None else self.sizes.get((at, axis), self.sizes.get((at, None)))

        for assertion in assertions(self.program.graph, lambda name: self._lookup(name) or replaced.get(name), measure):
            if assertion.predicate is not None:
                yield assertion.predicate


def _divisors(node: Predicate | Dim) -> Iterator[Size]:
    """Yields what ``node`` divides by: a guard that divides by 0 raises, and so it rejects the call."""
    for each in nodes(node):
        match each:
            case Apply(op=op, args=(_, divisor)) if op.name in ("//", "%") and not isinstance(divisor, Const):
                yield divisor
            case _:
                pass


def _linear_size(name: str, factor: int, offset: int) -> Size:
    """Returns ``factor * name + offset`` as it is written."""
    size: Size = Var(name)
    if factor != 1:
        size = Apply(OPERATORS["*"], (Const(factor), size))
    if offset:
        size = Apply(OPERATORS["+" if offset > 0 else "-"], (size, Const(abs(offset))))
    return size


# ---------------------------------------------------------------------------------------- torch


def _values(program: Any) -> list[Any]:
    """Returns the flat inputs: fake tensors, SymInts, and constants."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    values: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind.name == "USER_INPUT":
            constant = type(spec.arg).__name__ == "ConstantArgument"
            values.append(spec.arg.value if constant else nodes[spec.arg.name].meta.get("val"))
    return values


def _placeholders(program: Any) -> list[str]:
    """Returns the names of the nodes that the flat inputs are."""
    return [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]


def _shape_env(program: Any) -> Any:
    """Returns the ShapeEnv of a program, if it has one."""
    for node in program.graph.nodes:
        value: Any = node.meta.get("val") if node.op == "placeholder" else None
        mode = getattr(value, "fake_mode", None)
        if mode is not None:
            return mode.shape_env
        if hasattr(value, "node"):
            return getattr(value.node, "shape_env", None)
    return None


def _sources(shape_env: Any) -> Mapping[Any, Any]:
    return getattr(shape_env, "var_to_sources", None) or {}


def _expressions(size: Any) -> tuple[Any, Any]:
    """Returns the expression of a size now and as it was made; a number, pinned or not, is an int."""
    if isinstance(size, int):
        return int(size), int(size)
    known = size.node.maybe_as_int()
    return (size.node.expr if known is None else known), size.node._expr


def _is_int(value: Any) -> bool:
    """Returns whether an input is an int, symbolic or not."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or type(value).__name__ == "SymInt"


def _is_symbolic(value: Any) -> bool:
    sizes = list(value.shape) if hasattr(value, "shape") else [value]
    return any(_is_int(size) and not isinstance(_expressions(size)[0], int) for size in sizes)


def _names(expression: Any) -> set[str]:
    return {symbol.name for symbol in getattr(expression, "free_symbols", ())}


def _bounds(bounds: Any) -> tuple[int | None, int | None]:
    low, high = (int(bound) if bound.is_Integer else None for bound in (bounds.lower, bounds.upper))
    return low, None if high is not None and high >= 2**63 - 1 else high


def _callable(program: Any) -> tuple[str, str | None]:
    """Returns the dotted name of what was exported, and its receiver."""
    for node in program.graph.nodes:
        for path, kind in (node.meta.get("nn_module_stack") or {}).values():
            if path == "":
                text = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
                name = text.rpartition("<locals>.")[2]
                own = text.startswith(f"{__name__.partition('.')[0]}.targets.")  # a function that we exported
                short = name.rpartition(".")[2]
                if not short.isidentifier() or not short.isascii():
                    continue
                return (short, None) if own else (f"{short}.forward", "self")
    return "forward", None


__all__ = ["ProgramSize", "ProgramSpec", "is_program", "read_program"]
