"""What compiled functions check, rely on and return; read off what torch holds for them after a call.

Two things decide what becomes of a call that a graph was not made for. A guard of a size that the spec left to torch
(*backed*) makes torch compile another graph: nothing is refused. A guard of a size that a ShapesSpec declared
(*unbacked*) would be made again by every other graph, so that torch refuses the call; and so does an assertion.

After, for ``x + y`` under ``torch.compile(f, dynamic_shapes=…)`` of ``x: Tensor[A], y: Tensor[B]``::

    checked   y.shape[0] == x.shape[0]

and under ``torch.compile(f, dynamic=True)``, called with sizes that were equal::

    anew      y.shape[0] == x.shape[0],  x.shape[0] >= 2         # any other call makes another graph

Where shapedsl's own check stands in front, whatever the spec forbids is refused by that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...ir import COMPARISONS, OPERATORS, Apply, Compare, Const, Predicate, Size, Static, Var
from ...ir.expanded import Expanded, Leaf
from ...ir.orient import orient
from ...ir.walk import free_vars
from ...ir.write import write_predicate
from ..assertions import SYMBOL, assertion_texts
from ..lines import Lines, names_in
from ..printed import read_printed
from ..program import Demand, conjuncts, is_trivial, plain
from ..symbolic import Unreadable, read_size
from .cached import Graph
from .computed import computed_predicate
from .held import Held
from .model import Enforced
from .returned import Call, bound_by, returned
from .stated import statements


def enforced_by_compiled(held: Held, expanded: Expanded, calls: Sequence[Call] = ()) -> list[Enforced]:
    """Returns what each graph of a compiled function makes of its inputs; nothing where there is none yet.

    Args:
        held: The function.
        expanded: The spec that it is to keep, at the structure that it was compiled for.
        calls: Calls of ``held.function``. A graph is run on the first that it takes, in order to see how its result is
            nested; without one what it returns stays unknown.
    """
    graphs = [(graph, _taken(graph, held, calls)) for graph in held.graphs()]
    if held.chosen:
        graphs = [(graph, call) for graph, call in graphs if call is not None]
    found: list[Enforced] = []
    for number, (graph, call) in enumerate(graphs, 1):
        if not _is_of(graph, held, expanded):
            continue
        label = held.label
        if len(graphs) > 1:
            label = f"{label}, graph {number}".removeprefix(", ")
        found.append(_Reader(graph, held, expanded).read(label, call))
    return found


def _taken(graph: Graph, held: Held, calls: Sequence[Call]) -> Call | None:
    """Returns the first call that a graph takes, or None."""
    for call in calls:
        bound = bound_by(held.function, call)
        if bound is not None and graph.entry.guard_manager.check(bound):
            return call
    return None


def _is_of(graph: Graph, held: Held, expanded: Expanded) -> bool:
    """Returns whether a graph may be for the structure of ``expanded``: its tensors have the ranks of the spec's."""
    for leaf in expanded.leaves:
        for source in held.sources(leaf.path):
            known = graph.tensors.get(source)
            if known is not None and not leaf.scalar and len(known[1]) != len(leaf.dims):
                return False
    return True


class _Reader:
    """Reads one graph.

    Attributes:
        places: torch's text of a size → the size, over places.
        symbols: torch's name of a size → the same.
        unbacked: The places of sizes that a ShapesSpec declared.
    """

    def __init__(self, graph: Graph, held: Held, expanded: Expanded) -> None:
        self.graph = graph
        self.held = held
        self.expanded = expanded
        self.places: dict[str, Size] = {}
        self.by_source: dict[str, Leaf] = {}
        for leaf in expanded.leaves:
            for source in held.sources(leaf.path):
                self.by_source[source] = leaf
                for axis in range(len(leaf.dims)):
                    text = source if leaf.scalar else f"{source}.size()[{axis}]"
                    self.places[text] = self._shifted(leaf) if leaf.scalar else Var(leaf.place(axis))
        self.symbols: dict[str, Size] = {}
        self.unbacked: set[str] = set()
        self.sizes: dict[str, tuple[Any, ...]] = {}
        self._track()
        self.lines = Lines(graph.module.graph) if graph.module is not None else None

    def _shifted(self, leaf: Leaf) -> Size:
        """Returns what the function sees of an int: the caller may have added to it."""
        offset = self.held.offsets.get(leaf.path.root, 0) if not leaf.path.steps else 0
        return Apply(OPERATORS["+"], (Var(leaf.place(0)), Const(offset))) if offset else Var(leaf.place(0))

    def _track(self) -> None:
        """Fills ``symbols``: torch keeps for each input its source and its fake value."""
        environment = self.graph.environment
        tracked: list[tuple[str, list[Any]]] = []
        for each in getattr(environment, "tracked_fakes", None) or ():
            source: Any = each.source.name
            source = source() if callable(source) else source
            fake: Any = each.fake
            sizes = list(fake.shape) if hasattr(fake, "shape") else [fake]
            if source in self.by_source:
                tracked.append((source, sizes))
        for expressions in (_originals, _current):  # what a size was made as tells more than what it became
            for source, sizes in tracked:
                leaf = self.by_source[source]
                for axis, size in enumerate(sizes):
                    text = source if leaf.scalar else f"{source}.size()[{axis}]"
                    expression = expressions(size)
                    if expression is not None and expression.is_Symbol:
                        self.symbols.setdefault(expression.name, self.places[text])
                        if expression.name.startswith("u") and expressions is _originals:
                            self.unbacked.add(leaf.place(axis))
        self.sizes = {source: tuple(sizes) for source, sizes in tracked}

    # -------------------------------------------------------------------------------------- reading

    def read(self, label: str, call: Call | None) -> Enforced:
        unread: dict[str, None] = {}
        front = () if self.held.own is None else statements(self.held.own)
        refused: list[Demand] = []
        others: list[Demand] = []
        for demand in (*self._tensors(), *self._conditions(unread)):
            (refused if self._is_refused(demand) else others).append(demand)
        refused += self._assertions(unread)
        relied = list(self._shapes())
        statics = tuple(self._statics())
        if self.held.own is not None:  # there is an artifact for each of their values
            refused += [
                Demand("specialized-dim", Compare(COMPARISONS["=="], Var(p), Const(n)), (p,)) for p, n in statics
            ]
        if self.graph.module is None:
            unread["the assertions of a graph that its backend did not keep"] = None
        if self.graph.broken:
            unread["what comes after a graph break"] = None
        known = {each.predicate for each in others}
        result, data = returned(self.graph, self.held.function, self.symbols, self._leaf_paths(), call)
        return Enforced(
            "compiled function",
            self.expanded,
            checked=tuple(_once([*front, *refused])),
            relied=tuple(each for each in _once(relied) if each.predicate not in known),
            anew=tuple(_once(others)),
            statics=statics,
            result=result,
            data=tuple(data),
            unread=tuple(unread),
            remarks=tuple(self._remarks(others, front)),
            cures=("compile it with `sd.compile` under this spec, which is checked in front of it",),
            front=self.held.own is not None,
            label=label,
            dtypes=tuple(
                (str(self.by_source[source].path), dtype)
                for source, (dtype, _) in self.graph.tensors.items()
                if source in self.by_source
            ),
        )

    def _leaf_paths(self) -> dict[str, Leaf]:
        return {source: leaf for source, leaf in self.by_source.items() if source.startswith("L[")}

    def _remarks(self, others: Sequence[Demand], front: Sequence[Demand]) -> Iterator[str]:
        """Yields what chooses this graph, beyond what is checked in front of it."""
        checked = {each.predicate for each in front}
        texts = dict.fromkeys(
            write_predicate(each.predicate) for each in _once(others) if each.predicate not in checked
        )
        if texts:
            shown = ", ".join(f"`{text}`" for text in list(texts)[:_MOST_SHOWN])
            more = f" and {len(texts) - _MOST_SHOWN} more" if len(texts) > _MOST_SHOWN else ""
            yield f"a graph serves only calls with {shown}{more}; torch compiles another one for others"

    def _is_refused(self, demand: Demand) -> bool:
        """Returns whether torch refuses what violates a guard: each graph that it would make has it, too."""
        return all(name in self.unbacked or name in self._declared for name in free_vars(demand.predicate))

    @property
    def _declared(self) -> set[str]:
        """The places for which a ShapesSpec has a number."""
        leaves = () if self.held.declared is None else self.held.declared.leaves
        return {leaf.place(axis) for leaf in leaves for axis, dim in enumerate(leaf.dims) if isinstance(dim, Const)}

    def _tensors(self) -> Iterator[Demand]:
        """Yields the sizes that a graph was made for as numbers, where the spec does not leave them static."""
        for source, (_, sizes) in self.graph.tensors.items():
            leaf = self.by_source.get(source)
            if leaf is None or leaf.scalar:
                continue
            for axis, size in enumerate(sizes):
                if size is not None and not isinstance(leaf.dims[axis], Static) and axis < len(leaf.dims):
                    yield self._demand(Compare(COMPARISONS["=="], Var(leaf.place(axis)), Const(size)), source, axis)

    def _conditions(self, unread: dict[str, None]) -> Iterator[Demand]:
        """Yields the guards that speak of sizes."""
        for text, comment in self.graph.conditions:
            if ".stride()" in text or ".storage_offset()" in text or _OF_NO_SIZE.match(text):
                continue
            try:
                predicate = read_printed(text, self.places.get)
            except Unreadable:
                if any(place in text for place in self.places if place.endswith("]") and ".size()" in place):
                    unread[text] = None
                continue
            for part in conjuncts(predicate):
                yield self._classified(plain(part), _line_of(comment))

    def _assertions(self, unread: dict[str, None]) -> Iterator[Demand]:
        if self.graph.module is None:
            return
        for node, text in assertion_texts(self.graph.module.graph):
            try:
                predicate = computed_predicate(node, self._measure)
            except Unreadable:
                if any(name in self.symbols for name in SYMBOL.findall(text)):
                    unread[text] = None
                continue
            for part in conjuncts(predicate):
                yield self._classified(plain(part), None, set(SYMBOL.findall(text)))

    def _measure(self, node: Any, axis: int) -> Size | None:
        """Returns a size of a placeholder: of a tensor, or an int that is one."""
        value = node.meta.get("example_value")
        size = value.shape[axis] if hasattr(value, "shape") else value
        expression = _originals(size)
        if expression is None:
            return Const(int(size)) if isinstance(size, int) else None
        try:
            return read_size(expression, self.symbols.get)
        except Unreadable:
            return None

    def _shapes(self) -> Iterator[Demand]:
        """Yields what became of the sizes while torch traced: a graph is right for such alone."""
        for source, sizes in self.sizes.items():
            leaf = self.by_source[source]
            for axis, size in enumerate(sizes):
                if axis >= len(leaf.dims) or isinstance(size, int) or isinstance(leaf.dims[axis], Static):
                    continue
                number = size.node.maybe_as_int()
                place: Size = self._shifted(leaf) if leaf.scalar else Var(leaf.place(axis))
                try:
                    now = Const(number) if number is not None else read_size(size.node.expr, self.symbols.get)
                except Unreadable:
                    continue
                if now != place:
                    names = names_in(size.node._expr, size.node.expr)
                    yield self._classified(plain(orient(Compare(COMPARISONS["=="], place, now))), None, names)

    def _statics(self) -> Iterator[tuple[str, int]]:
        """Yields the values of ``const X = _``: another value has another artifact."""
        consts = {each.name for each in self.expanded.signature.variables if each.kind.name == "CONST"}
        for source, (_, sizes) in self.graph.tensors.items():
            leaf = self.by_source.get(source)
            for axis, size in enumerate(sizes):
                dim = None if leaf is None or leaf.scalar else leaf.dims[axis]
                if leaf is not None and size is not None and isinstance(dim, Var) and dim.name in consts:
                    yield leaf.place(axis), size

    # ----------------------------------------------------------------------------------------- telling

    def _demand(self, predicate: Predicate, source: str, axis: int) -> Demand:
        sizes = self.sizes.get(source, ())
        names = names_in(original) if axis < len(sizes) and (original := _originals(sizes[axis])) is not None else set()
        return self._classified(plain(predicate), None, names)

    def _classified(self, predicate: Predicate, line: str | None, names: set[str] | None = None) -> Demand:
        """Returns a demand with its code and line; the graph knows the line better than a guard."""
        if self.lines is not None:
            known = {
                name for place in free_vars(predicate) for name, size in self.symbols.items() if size == Var(place)
            }
            line = self.lines.find(names or known, predicate) or line
        match predicate:
            case Compare(op=op, left=Var(name=place), right=Const()) if op.name == "==":
                return Demand("specialized-dim", predicate, (place,), line)
            case Compare(op=op, left=Var(name=first), right=Var(name=second)) if op.name == "==":
                return Demand("merged-dims", predicate, (second, first), line)
            case _:
                return Demand("extra-assumption", predicate, (), line)


_MOST_SHOWN: Final = 4
_OF_NO_SIZE: Final = re.compile(r"(?:hasattr|len|isinstance|type|___\w+|not ___\w+|check_\w+)\(")
_COMMENT: Final = re.compile(r"^(?P<text>.*?)\s+# (?P<file>\S+):(?P<line>\d+) in (?P<function>\S+)")


def _line_of(comment: str) -> str | None:
    """Returns the line that a guard names: torch prints the end of the file's path."""
    found = _COMMENT.match(comment)
    if found is None:
        return None
    file = found["file"].rpartition("/")[2]
    return f"{file}:{found['line']}, in {found['function']}: {found['text'].strip()}"


def _originals(size: Any) -> Any:
    """Returns a size as it was made, or None for a number."""
    return None if isinstance(size, int) else getattr(getattr(size, "node", None), "_expr", None)


def _current(size: Any) -> Any:
    """Returns a size as what was learned has made it, or None for a number."""
    return None if isinstance(size, int) else getattr(getattr(size, "node", None), "expr", None)


def _once(found: Sequence[Demand]) -> list[Demand]:
    """Returns each demand that says something, once."""
    kept: dict[Predicate, Demand] = {}
    for each in found:
        if not is_trivial(each.predicate):
            kept.setdefault(each.predicate, each)
    return list(kept.values())


__all__ = ["enforced_by_compiled"]
