"""What exported programs and graphs check, rely on and return.

What is *checked* is read off what runs: the guards in front of a program, and the operations that its assertions
are computed by. What it *relies* on is read off the placeholders: a graph was made for their shapes, whether or not
anything checks that a call has them.

After, for a graph of torch's own ``make_fx(tracing_mode="symbolic")`` of ``x + y`` at two sizes that were equal::

    checked   nothing
    relied    y.shape[0] == x.shape[0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...ir import COMPARISONS, OPERATORS, Apply, Compare, Const, Predicate, Signature, Size, Static, Var
from ...ir.expanded import Expanded
from ...ir.orient import orient
from ...ir.walk import free_vars
from ..assertions import SYMBOL, assertion_texts
from ..lines import Lines, names_in, user_line
from ..printed import read_printed
from ..program import Demand, conjuncts, is_trivial, plain
from ..symbolic import Unreadable, read_size
from .computed import computed_predicate, constrained, is_size_of, leaves_of
from .granted import granted_sizes
from .guards import UNKNOWN, compared, guard_texts, guarded
from .inputs import Input, Inputs, number_of
from .model import Data, Enforced, Output
from .stated import front_of, statements

# A signature and the arguments of a call → the spec at their structure.
Expand = Callable[[Signature, Mapping[str, Any]], Expanded]


def enforced_by_program(program: Any, signature: Signature, expand: Expand) -> Enforced:
    """Returns what a program or a graph makes of its inputs.

    Args:
        program: An ExportedProgram, or a GraphModule with symbolic placeholders: ``program.module()``, or from make_fx.
        signature: The spec that it is to keep.
        expand: Gives the spec at the structure that the program was made for.

    Raises:
        ShapeError: What ``expand`` raises where the program was made for something else; ``unsupported-by-torch``:
            a graph without shapes.
    """
    kind, made = "graph", "trace it with `sd.make_fx`, whose graphs check the spec"
    if hasattr(program, "graph_module"):
        kind, program = "exported program", program.module()
        made = "export it with `sd.export`, which refuses or states what torch would drop"
    inputs = Inputs(program, signature)
    expanded = expand(signature, inputs.arguments)
    found = _Reader(program, inputs.of(expanded), expanded).read(kind)
    front = front_of(program)
    if front is None:
        cures = (made, "or refuse such calls in front of it: `spec.check(*args)`")
        return replace(found, remarks=(f"dtypes and ranks are not checked by this {kind}",), cures=cures)
    own = statements(expand(front.signature, inputs.arguments), found.statics)
    return replace(found, checked=(*found.checked, *own), front=True)


class _Reader:
    """Reads one graph.

    Attributes:
        symbols: torch's name of a size → the size it stands for, over places.
        demands: What was found, by what it says; the first to say it counts.
    """

    def __init__(self, graph: Any, inputs: list[Input], expanded: Expanded) -> None:
        self.graph = graph
        self.inputs = inputs
        self.expanded = expanded
        self.lines = Lines(graph.graph)
        self.ranges: Mapping[Any, Any] = dict(getattr(graph, "range_constraints", None) or {})
        self.symbols: dict[str, Size] = {}
        self.unread: dict[str, None] = {}
        self.granted = granted_sizes(graph.graph, "val")

    def read(self, kind: str) -> Enforced:
        relied = list(self._relied())
        checked = _once(self._checked())
        relied = _once([*relied, *self._asserted_texts()])
        result, data = self._result()
        return Enforced(
            kind,
            self.expanded,
            checked=tuple(checked),
            relied=tuple(relied),
            statics=tuple(self._statics()),
            result=result,
            data=tuple(data),
            unread=tuple(self.unread),
            dtypes=tuple(
                (str(each.path), _dtype(each.value))
                for each in self.inputs
                if each.leaf is not None and hasattr(each.value, "dtype")
            ),
        )

    # ------------------------------------------------------------------------- what it was made for

    def _relied(self) -> Iterator[Demand]:
        """Yields what the shapes of the placeholders say; fills ``symbols``."""
        slots = [(each, axis, size) for each in self.inputs for axis, size in enumerate(each.sizes())]
        for at in (0, 1):  # every symbol that stands alone before any expression of them, first as it was made
            for each, axis, size in slots:
                for expression in _expressions(size)[at : at + 1]:
                    if expression.is_Symbol:
                        self.symbols.setdefault(expression.name, Var(each.place(axis)))
        for each, axis, size in slots:
            yield from self._solved(each, axis, size)
        order = [each.place(axis) for each, axis, _ in slots]
        for each, axis, size in slots:
            place = each.place(axis)
            number = number_of(size)
            if number is not None:
                predicate: Predicate = Compare(COMPARISONS["=="], Var(place), Const(number))
                names = names_in(*_expressions(size)[:1])
                yield Demand("specialized-dim", predicate, (place,), self.lines.find(names, predicate))
                continue
            node = size.node
            for expression in (node._expr, node.expr):
                try:
                    now = read_size(expression, self.symbols.get)
                except Unreadable:
                    continue
                if now != Var(place):
                    predicate = orient(Compare(COMPARISONS["=="], Var(place), now))
                    places = tuple(sorted({place, *free_vars(now)}, key=order.index))
                    code = "merged-dims" if isinstance(now, Var) else "extra-assumption"
                    yield Demand(code, predicate, places, self.lines.find(names_in(node._expr, expression), predicate))
        yield from self._bounds()

    def _solved(self, each: Input, axis: int, size: Any) -> Iterator[Demand]:
        """Yields what it takes to say a symbol that stands nowhere alone: ``2*s0`` makes it half of an even size."""
        for expression in _expressions(size):
            names = [name for name in names_in(expression) if name not in self.symbols]
            if len(names) != 1 or len(expression.free_symbols) != 1:
                continue
            offset, rest = expression.as_coeff_Add()
            factor, symbol = rest.as_coeff_Mul()
            if not (symbol.is_Symbol and factor.is_Integer and offset.is_Integer and int(factor) > 0):
                continue
            place = each.place(axis)
            shifted = _shifted(Var(place), -int(offset))
            scale = Const(int(factor))
            self.symbols[names[0]] = shifted if int(factor) == 1 else Apply(OPERATORS["//"], (shifted, scale))
            if int(factor) > 1:
                residue = Compare(COMPARISONS["=="], Apply(OPERATORS["%"], (shifted, scale)), Const(0))
                yield Demand("extra-assumption", residue, (place,), self.lines.find(set(names), residue))

    def _bounds(self) -> Iterator[Demand]:
        for expression, bounds in self.ranges.items():
            try:
                size = read_size(expression, self.symbols.get)
            except (Unreadable, AttributeError):
                continue
            for op, bound in ((">=", bounds.lower), ("<=", bounds.upper)):
                if bound.is_Integer:  # infinity is none
                    predicate = Compare(COMPARISONS[op], size, Const(int(bound)))
                    yield Demand("extra-assumption", predicate, (), self.lines.find(names_in(expression), predicate))

    def _statics(self) -> Iterator[tuple[str, int]]:
        """Yields the sizes of what the spec leaves static, and of what it says nothing of."""
        consts = {each.name for each in self.expanded.signature.variables if each.kind.name == "CONST"}
        for each in self.inputs:
            for axis, size in enumerate(each.sizes()):
                dim = Static() if each.leaf is None else each.leaf.dims[axis]
                number = number_of(size)
                if number is not None and (isinstance(dim, Static) or (isinstance(dim, Var) and dim.name in consts)):
                    yield each.place(axis), number

    # ------------------------------------------------------------------------------ what it checks

    def _checked(self) -> Iterator[Demand]:
        texts = guard_texts(self.graph)
        if texts is not None:
            for text, predicate in guarded(texts, self.inputs):
                if predicate is None:
                    if not text.startswith("math.isnan") and self._speaks_of_sizes(text):
                        self.unread[text] = None
                else:
                    yield self._demand(predicate, set())
        elif hasattr(self.graph, "validate_inputs"):
            for predicate in compared(self.inputs, self.ranges, self.symbols.get):
                yield self._demand(predicate, set())
        for node, text in assertion_texts(self.graph.graph):
            try:
                for predicate in conjuncts(computed_predicate(node, self._measure)):
                    yield self._demand(predicate, set(SYMBOL.findall(text)))
            except Unreadable:
                if self._may_refuse(node, text):
                    self.unread[text] = None
        for _, module in self.graph.named_modules():
            if module is not self.graph and hasattr(module, "graph"):  # a branch, or the body of a loop
                self.unread.update((text, None) for _, text in assertion_texts(module.graph))
        for size, low, high in constrained(self.graph.graph, self._measure):
            if low is not None:
                yield self._demand(Compare(COMPARISONS[">="], size, Const(low)), set())
            if high is not None:
                yield self._demand(Compare(COMPARISONS["<="], size, Const(high)), set())

    def _demand(self, predicate: Predicate, names: set[str]) -> Demand:
        predicate = plain(predicate)
        match predicate:
            case Compare(op=op, left=Var(name=place), right=Const()) if op.name == "==":
                return Demand("specialized-dim", predicate, (place,), self.lines.find(names, predicate))
            case Compare(op=op, left=Var(name=first), right=Var(name=second)) if op.name == "==":
                return Demand("merged-dims", predicate, (second, first), self.lines.find(names, predicate))
            case _:
                return Demand("extra-assumption", predicate, (), self.lines.find(names, predicate))

    def _measure(self, node: Any, axis: int) -> Size | None:
        for each in self.inputs:
            if each.node is node:
                return Var(each.place(axis)) if axis < len(each.sizes()) else None
        return None

    def _speaks_of_sizes(self, text: str) -> bool:
        """Whether a guard may be about sizes at all: others are about values of constants."""
        return text == UNKNOWN or ".size()" in text or any(each.scalar and each.source in text for each in self.inputs)

    def _may_refuse(self, node: Any, text: str) -> bool:
        """Whether an assertion that cannot be read may depend on the sizes of inputs."""
        if any(name in self.symbols for name in SYMBOL.findall(text)):
            return True
        for leaf in leaves_of(node):
            value = getattr(leaf.args[0], "meta", {}).get("val") if is_size_of(leaf) else leaf.meta.get("val")
            if leaf.op == "placeholder" or (is_size_of(leaf) and getattr(leaf.args[0], "op", "") == "placeholder"):
                return True
            if any(names_in(*_expressions(size)) & self.symbols.keys() for size in _sizes(value)):
                return True
        return False

    def _asserted_texts(self) -> Iterator[Demand]:
        """Yields what assertions mean whose operations cannot be read: torch traced under it."""
        for text in self.unread:
            try:
                predicate = read_printed(text, self.symbols.get)
            except Unreadable:
                continue
            for part in conjuncts(predicate):
                yield self._demand(part, set(SYMBOL.findall(text)))

    # ------------------------------------------------------------------------------- what it returns

    def _result(self) -> tuple[object, list[Data]]:
        """Returns the tree of outputs, and the sizes in it that data decides."""
        from torch.utils import _pytree as pytree

        node = next(each for each in self.graph.graph.nodes if each.op == "output")
        info = getattr(self.graph.graph._codegen, "pytree_info", None)
        data: dict[str, Data] = {}
        if info is None or info.out_spec is None:
            return pytree.tree_map(lambda each: self._output(each, data), node.args[0]), list(data.values())
        flat = pytree.tree_leaves(node.args, is_leaf=lambda each: each is None)
        outputs = [self._output(each, data) for each in flat]
        if len(outputs) != info.out_spec.num_leaves:
            return None, list(data.values())
        try:
            return pytree.tree_unflatten(outputs, info.out_spec), list(data.values())
        except Exception:  # a class of the user's may refuse what it is made of
            return None, list(data.values())

    def _output(self, node: Any, data: dict[str, Data]) -> Output:
        if not hasattr(node, "op"):
            return Output("constant", value=node)
        value = node.meta.get("val")
        line = user_line(node.meta.get("stack_trace") or "")
        sizes = _sizes(value)
        read = tuple(self._size(size, data, node) for size in sizes)
        texts = tuple(str(size) for size in sizes)
        if hasattr(value, "shape"):
            granted = tuple(self._size(size, data, node) for size in self.granted.get(node, ()))
            return Output("tensor", read, texts, _dtype(value), line=line, granted=granted)
        if sizes:
            granted = tuple(self._size(size, data, node) for size in self.granted.get(node, ()))
            return Output("int", read, texts, line=line, granted=granted)
        if value is None or isinstance(value, (bool, float, str)):
            return Output("constant", value=value, line=line)
        return Output("other", line=line)

    def _size(self, size: Any, data: dict[str, Data], node: Any) -> Size | None:
        if isinstance(size, int):
            return Const(int(size))

        def lookup(name: str) -> Size:
            if name in self.symbols:
                return self.symbols[name]
            if name not in data:
                data[name] = self._data(name, size, node)
            return Var(name)

        try:
            return read_size(size.node.expr, lookup)
        except Unreadable:
            return None

    def _data(self, name: str, size: Any, node: Any) -> Data:
        bounds = next((found for key, found in self.ranges.items() if str(key) == name), None)
        if bounds is None:
            known: Mapping[Any, Any] = getattr(size.node.shape_env, "var_to_range", None) or {}
            bounds = next((found for key, found in known.items() if str(key) == name), None)
        low, high = (None, None) if bounds is None else (bounds.lower, bounds.upper)
        return Data(
            name,
            int(low) if low is not None and low.is_Integer else None,
            int(high) if high is not None and high.is_Integer and int(high) < 2**62 else None,
            self.lines.maker(name) or user_line(node.meta.get("stack_trace") or ""),
        )


def _once(demands: Iterable[Demand]) -> list[Demand]:
    """Returns what is not trivial, each once."""
    found: dict[Predicate, Demand] = {}
    for demand in demands:
        if not is_trivial(demand.predicate):
            found.setdefault(demand.predicate, demand)
    return list(found.values())


def _expressions(size: Any) -> list[Any]:
    """Returns the expressions of a size, as it was made and as it is now; none of a number."""
    return [size.node._expr, size.node.expr] if hasattr(size, "node") else []


def _sizes(value: Any) -> list[Any]:
    if hasattr(value, "shape"):
        return list(value.shape)
    integer = type(value).__name__ == "SymInt" or (isinstance(value, int) and not isinstance(value, bool))
    return [value] if integer else []


def _shifted(size: Size, offset: int) -> Size:
    if not offset:
        return size
    return Apply(OPERATORS["+" if offset > 0 else "-"], (size, Const(abs(offset))))


def _dtype(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.")


__all__ = ["Expand", "enforced_by_program"]
