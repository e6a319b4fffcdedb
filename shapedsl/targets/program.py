"""Read back what a program demands of its inputs, in the variables of the spec it was made with.

torch makes sizes equal, pins them or adds conditions while it traces, without a word: ``x + y`` adds
``A == B``, ``x + ones(4)`` makes ``A`` 4, ``x.view(-1, 4)`` needs ``A % 4 == 0``, ``x[5]`` needs
``A >= 6``. All of it can be found in the program: in the shapes of its placeholders, in the ranges of
its symbols and in the assertions of its graph. The assertions are read from their texts, because
their expressions have been simplified by what was learned: ``Eq(u0, u1)`` has become ``True``.

Before (an exported program)::

    x: FakeTensor(u1,)  y: FakeTensor(u1,)        # declared Tensor[A], Tensor[B]
    _assert_scalar(eq, "Runtime assertion failed for expression Eq(u0, u1) on node 'eq'")

After::

    Demand("merged-dims", A == B, "x.shape[0]")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..ir import COMPARISONS, OPERATORS, And, Apply, Compare, Const, Predicate, Size, Var
from ..ir.expanded import Leaf, Lowered
from ..ir.orient import orient
from .assertions import assertions
from .flat import by_parameter, markers, positions
from .lines import Lines, names_in
from .printed import read_printed
from .symbolic import Unreadable, read_size

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import GraphModule


@dataclass(frozen=True, slots=True)
class Demand:
    """Something that a program needs of its inputs.

    Attributes:
        code: ``merged-dims``, ``specialized-dim`` or ``extra-assumption``.
        predicate: Over the variables of the expanded signature.
        places: The sizes it was found at, as messages name them; empty for an assertion.
        line: The line of the user's code that needs it, where it can be told.
    """

    code: str
    predicate: Predicate
    places: tuple[str, ...] = ()
    line: str | None = None


def demands(program: ExportedProgram | GraphModule, lowered: Lowered) -> tuple[Demand, ...]:
    """Returns what ``program`` needs of its inputs, whether or not the spec says so; each thing once.

    Args:
        program: From export, or a graph from our make_fx.
        lowered: The spec that it was made with.
    """
    reader = _Reader(program, lowered)
    found: dict[Predicate, Demand] = {}
    for demand in reader.read():
        for predicate in conjuncts(demand.predicate):
            said = plain(predicate)
            if not is_trivial(said):
                found.setdefault(said, replace(demand, predicate=said))
    return tuple(found.values())


def symbols_of(program: ExportedProgram | GraphModule, lowered: Lowered) -> dict[str, Size]:
    """Returns what torch's names of sizes (``u0``) stand for in ``program``; see `errors.run_failure`."""
    return names_of(program, lowered)[0]


def names_of(program: ExportedProgram | GraphModule, lowered: Lowered) -> tuple[dict[str, Size], dict[str, str]]:
    """Returns for torch's names of sizes (``u0``) in ``program`` what they stand for, and where the user sees that."""
    reader = _Reader(program, lowered)
    for _ in reader.placeholders():
        pass
    return reader.symbols, reader.homes


class _Reader:
    """Reads one program.

    Attributes:
        graph: Its graph.
        lines: Of the user's code, where they are known.
        symbols: torch's name → the size it stands for.
        homes: torch's name → where the user can see that size.
    """

    def __init__(self, program: Any, lowered: Lowered) -> None:
        from torch.export import ExportedProgram

        self.graph: Any = program.graph
        self.lines = Lines(program.graph)
        self.meanings = {variable.name: variable.meaning for variable in lowered.variables}
        self.symbols: dict[str, Size] = {}
        self.homes: dict[str, str] = {}
        if isinstance(program, ExportedProgram):
            self.ranges: Mapping[Any, Any] = program.range_constraints
            found = _program_inputs(program, lowered)
            self.inputs = [(leaf, value) for _, leaf, value in found]
            self.sources = [(f"L['flat_args'][{at}]", leaf) for at, leaf, _ in found]
            self.guards: Sequence[str] = program._guards_code
        else:
            self.ranges = {}
            self.inputs = _graph_inputs(program)
            self.sources = []
            self.guards = ()

    def read(self) -> Iterator[Demand]:
        yield from self.placeholders()
        yield from self._ranges()
        yield from self._guards()
        yield from self._assertions()

    def placeholders(self) -> Iterator[Demand]:
        """Yields what the shapes of the placeholders say; fills ``symbols``."""
        sizes = [
            (leaf, axis, self.meanings[dim.name], size)
            for leaf, value in self.inputs
            for axis, (dim, size) in enumerate(zip(leaf.dims, (value,) if leaf.scalar else value.shape, strict=True))
            if isinstance(dim, Var)
        ]
        for leaf, axis, meaning, size in sizes:  # every symbol before any expression of them
            if (name := _symbol(size)) is not None:
                self.symbols.setdefault(name, meaning)
                self.homes.setdefault(name, leaf.place(axis))
        order = [leaf.place(axis) for leaf, axis, _, _ in sizes]
        for leaf, axis, meaning, size in sizes:
            place = leaf.place(axis)
            symbolic: Any = size
            # a pinned size is an int, or a SymInt of a number
            known = size if isinstance(size, int) else symbolic.node.maybe_as_int()
            if known is not None:
                predicate = _equal(meaning, Const(known))
                names = set() if isinstance(size, int) else names_in(symbolic.node._expr)
                yield Demand("specialized-dim", predicate, (place,), self.lines.find(names, predicate))
                continue
            node = symbolic.node
            for expression in (node._expr, node.expr):
                try:
                    now = read_size(expression, self.symbols.get)
                except Unreadable:  # made of data: not the spec's business
                    continue
                if now != meaning:
                    code = "merged-dims" if expression.is_Symbol else "extra-assumption"
                    home = self.homes.get(expression.name) if expression.is_Symbol else None
                    places = (place,) if home is None else tuple(sorted((home, place), key=order.index))
                    predicate = _equal(now, meaning)
                    line = self.lines.find(names_in(node._expr, expression), predicate)
                    yield Demand(code, predicate, places, line)

    def _ranges(self) -> Iterator[Demand]:
        for symbol, bounds in self.ranges.items():
            try:
                size = read_size(symbol, self.symbols.get)  # of backed sizes also what is made of them: 2*s0
            except Unreadable:
                continue
            for op, bound in ((">=", bounds.lower), ("<=", bounds.upper)):
                if bound.is_Integer:  # infinity is none
                    predicate = Compare(COMPARISONS[op], size, Const(int(bound)))
                    yield Demand("extra-assumption", predicate, (), self.lines.find(names_in(symbol), predicate))

    def _guards(self) -> Iterator[Demand]:
        """Yields what a backed program checks first: what torch relied on for the example is in no other place."""
        if not any(name.startswith("s") for name in self.symbols):
            return
        places = {
            f"{source}.size()[{axis}]" if not leaf.scalar else source: self.meanings[dim.name]
            for source, leaf in self.sources
            for axis, dim in enumerate(leaf.dims)
            if isinstance(dim, Var)
        }
        symbols = {size: name for name, size in self.symbols.items()}
        for text in self.guards:
            names: set[str] = set()

            def lookup(place: str, names: set[str] = names) -> Size | None:
                size = places.get(place)
                if size is not None and size in symbols:
                    names.add(symbols[size])
                return size

            try:
                predicate = read_printed(text, lookup)
            except Unreadable:  # of what the spec leaves static
                continue
            yield Demand("extra-assumption", predicate, (), self.lines.find(names, plain(predicate)))

    def _assertions(self) -> Iterator[Demand]:
        for assertion in assertions(self.graph, self.symbols.get):
            if assertion.predicate is not None:
                line = self.lines.find(set(assertion.names), plain(assertion.predicate))
                yield Demand("extra-assumption", assertion.predicate, (), line)


def _program_inputs(program: ExportedProgram, lowered: Lowered) -> list[tuple[int, Leaf, Any]]:
    """Returns the leaves of the spec with their numbers among all inputs, and the fake values of their placeholders."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    values: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind.name == "USER_INPUT":
            argument: Any = spec.arg
            constant = type(argument).__name__ == "ConstantArgument"
            values.append(argument.value if constant else nodes[argument.name].meta["val"])
    args, kwargs = markers(program.call_spec.in_spec)
    call: Any = program.module_call_graph[0].signature
    names: list[str] = list(call.forward_arg_names or ()) if call is not None else []
    marked = by_parameter(args, kwargs, names, lowered.expanded.signature)
    return [(at, leaf, values[at]) for at, leaf in positions(marked, lowered.leaves).items()]


def _graph_inputs(graph: Any) -> list[tuple[Leaf, Any]]:
    entrance = graph.graph._codegen.check
    values = [node.meta.get("val") for node in graph.graph.nodes if node.op == "placeholder"]
    return [(leaf, values[at]) for at, leaf in entrance.leaves.items() if values[at] is not None]


def _symbol(size: Any) -> str | None:
    expression = getattr(getattr(size, "node", None), "_expr", None)
    return expression.name if expression is not None and expression.is_Symbol else None


def _equal(left: Size, right: Size) -> Predicate:
    return orient(Compare(COMPARISONS["=="], left, right))


def conjuncts(predicate: Predicate) -> Iterator[Predicate]:
    """Yields the parts of ``predicate`` that all hold."""
    if isinstance(predicate, And):
        for arg in predicate.args:
            yield from conjuncts(arg)
    else:
        yield predicate


def plain(predicate: Predicate) -> Predicate:
    """Returns ``predicate`` in the form that says the same things once: ``N >= 6`` for ``N > 5``."""
    match predicate:
        case Compare(op=op, left=left, right=Const(value=value)) if op.name in ("<", ">"):
            shifted = Const(value - 1) if op.name == "<" else Const(value + 1)
            return Compare(COMPARISONS[f"{op.name}="], left, shifted)
        case Compare(
            op=op, left=left, right=Apply(args=(Const() as factor, Apply(args=(base, divisor)) as inner)) as right
        ):
            if op.name == "==" and (right.op.name, inner.op.name, base, divisor) == ("*", "//", left, factor):
                return Compare(op, Apply(OPERATORS["%"], (left, factor)), Const(0))
            return orient(predicate)
        case Compare():
            return orient(predicate)
        case _:
            return predicate


def is_trivial(predicate: Predicate) -> bool:
    """Whether ``predicate`` holds for all sizes, at a glance."""
    match predicate:
        case Compare(op=op, left=Const(value=left), right=Const(value=right)):
            return op.python(left, right)
        case Compare(op=op, left=left, right=right):
            return op.name in ("==", "<=", ">=") and left == right
        case _:
            return False
