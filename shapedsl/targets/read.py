"""torch's ShapesSpec → a signature of the language.

torch's variables are objects and may share a name; ours are told apart by name. Its expressions are
sympy's, and so is the only trace of a variable that stands in expressions alone.

Before::

    B = ShapeVar("B", max=31, optimization_hint=8)
    ShapesSpec({"x": TensorSpec([B, None]), "past": SeqSpec([TensorSpec([2 * B])])}, assumptions=[B % 2 == 0])

After::

    def f(x: Tensor[B, _], past: [Tensor[2 * B], *_]):
        dim B in [0, 31] hint 8
        where B % 2 == 0

A SeqSpec may be shorter than the sequence, hence ``*_``. Nothing is dropped: what has no counterpart
is an error, and an assumption that torch would forget because it is false, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..diagnostics import Report
from ..ir import (
    COMPARISONS,
    And,
    AnyType,
    Apply,
    Compare,
    Const,
    Constraint,
    MappingType,
    ObjectType,
    Or,
    Origin,
    Param,
    ParamKind,
    Predicate,
    Rest,
    ScalarType,
    SequenceType,
    Signature,
    Size,
    Static,
    TensorType,
    Type,
    Var,
    Variable,
    VariableKind,
)
from ..ir.orient import orient
from ..ir.walk import tensor_dims
from ..ir.write import write_predicate
from .naming import distinct
from .symbolic import Unreadable, read_predicate, read_size

if TYPE_CHECKING:
    from torch.fx.experimental.dynamic_spec import ParamsSpec, ShapesSpec

    Specs: TypeAlias = ShapesSpec | ParamsSpec | Mapping[str, Any]

_FALSE: Final = Or(())
_RESERVED: Final = frozenset({"and", "or", "not", "in", "None", "_", "inf", "true", "false"})


def read(spec: Specs, report: Report, *, name: str = "f") -> Signature | None:
    """Returns the signature that says what ``spec`` says.

    Args:
        spec: A ShapesSpec, or what ``torch.compile`` takes for one.
        report: Receives ``unsupported-by-torch`` for what only torch can say, and ``contradiction``.
        name: Of the signature: torch's specs have none.

    Returns:
        None if an error was reported.
    """
    errors = len(report.errors)
    reader = _Reader(report)
    params = tuple(reader.params(spec))
    wheres = list(reader.wheres(getattr(spec, "assumptions", ())))
    if len(report.errors) > errors:
        return None
    constraints = [*reader.ranges(), *_dims(params), *wheres]
    variables = tuple(sorted(reader.variables.values(), key=lambda variable: variable.name))
    return Signature(name, params, variables=variables, constraints=tuple(dict.fromkeys(constraints)))


class _Reader:
    """Reads one spec.

    Attributes:
        variables: By the name of torch's symbol, which is unique: ``B#7``.
        bounds: The declared range of each variable, by its name here.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.variables: dict[str, Variable] = {}
        self.bounds: dict[str, tuple[int | None, int | None]] = {}
        self._taken: set[str] = set()

    # ------------------------------------------------------------------------------- parameters

    def params(self, spec: Any) -> Iterator[Param]:
        from torch.fx.experimental.dynamic_spec import ParamsSpec

        found: Any = getattr(spec, "_params", spec)
        if found is None:
            return
        if isinstance(found, Mapping):
            found = ParamsSpec(dict(found))
        names: list[str] = list(found._named_args)
        for name, value in found._named_args.items():
            if not _is_name(name):
                self._refuse(f"`{name}` is no name of a parameter")
                continue
            yield Param(name, self._type(value, name))
        if found._varargs is not None:
            variadic = distinct("args", names)
            items = tuple(self._type(item, f"{variadic}[{at}]") for at, item in enumerate(found._varargs))
            yield Param(variadic, SequenceType("list", items, Rest.STATIC), ParamKind.VAR_POSITIONAL)
            names.append(variadic)
        if found._varkw is not None:
            keywords = distinct("kwargs", names)
            entries = tuple((key, self._type(item, f'{keywords}["{key}"]')) for key, item in found._varkw.items())
            yield Param(keywords, MappingType(entries), ParamKind.VAR_KEYWORD)

    def _type(self, spec: Any, place: str) -> Type:
        import torch
        from torch.fx.experimental.dynamic_spec import DictSpec, ObjectSpec, SeqSpec, TensorSpec

        if spec is None:
            return AnyType()
        if isinstance(spec, TensorSpec):
            return TensorType(tuple(self._dim(dim, f"{place}.shape[{axis}]") for axis, dim in enumerate(spec)))
        if isinstance(spec, SeqSpec):
            entries: Any = spec._entries
            items = tuple(self._type(item, f"{place}[{at}]") for at, item in enumerate(entries))
            return SequenceType("list", items, Rest.STATIC)
        if isinstance(spec, DictSpec):
            return MappingType(tuple((key, self._type(item, f"{place}[{key!r}]")) for key, item in spec.items()))
        if isinstance(spec, ObjectSpec):
            return ObjectType(tuple((name, self._type(item, f"{place}.{name}")) for name, item in spec.items()))
        if isinstance(spec, (int, torch.SymInt)) and not isinstance(spec, bool):
            size = self._dim(spec, place)
            return AnyType() if isinstance(size, Static) else ScalarType(size)
        self._refuse(f"the spec of `{place}` is a {type(spec).__name__}")
        return AnyType()

    def _dim(self, dim: Any, place: str) -> Static | Size:
        from torch.fx.experimental.dynamic_spec import IntVar

        if dim is None:
            return Static()
        if isinstance(dim, int):
            return Const(dim)
        if isinstance(dim, IntVar):
            return self._variable(dim)
        try:
            return read_size(dim.node.expr, self._lookup(dim.node))
        except Unreadable as error:
            self._refuse(f"`{place}` is `{_bare(error.args[0])}`, which the language has no words for")
            return Static()

    # ------------------------------------------------------------------------------ assumptions

    def wheres(self, assumptions: Iterable[Any]) -> Iterator[Constraint]:
        for assumption in assumptions:
            expression = assumption.node.expr
            try:
                predicate = read_predicate(expression, self._lookup(assumption.node))
            except Unreadable as error:
                self._refuse(f"the assumption `{_bare(str(expression))}` has `{_bare(error.args[0])}` in it")
                continue
            for part in _conjuncts(predicate):
                if part == _FALSE:
                    self.report.error("contradiction", "an assumption of the spec is false for all sizes")
                else:
                    yield Constraint(orient(part), None, Origin.WHERE, write_predicate(orient(part)))

    def ranges(self) -> Iterator[Constraint]:
        """Yields the declared range of each variable."""
        for variable in sorted(self.variables.values(), key=lambda variable: variable.name):
            for op, bound in zip((">=", "<="), self.bounds[variable.name], strict=True):
                if bound is not None:
                    predicate = Compare(COMPARISONS[op], Var(variable.name), Const(bound))
                    yield Constraint(predicate, None, Origin.DECLARED, write_predicate(predicate))

    # -------------------------------------------------------------------------------- variables

    def _variable(self, variable: Any) -> Var:
        from torch.fx.experimental.dynamic_spec import ShapeVar

        kind = VariableKind.DIM if isinstance(variable, ShapeVar) else VariableKind.INT
        symbol = variable.sympy_sym.name
        known = self.variables.get(symbol)
        if known is None:
            known = self._declare(symbol, kind, variable.min, variable.max, variable.optimization_hint)
        elif known.hint is None and variable.optimization_hint is not None:  # first seen in an expression
            known = Variable(known.name, kind, hint=variable.optimization_hint, declared=True)
        self.variables[symbol] = known
        return Var(known.name)

    def _lookup(self, node: Any) -> Any:
        """Returns what finds a symbol of ``node``; one that was not met bare is declared by its range alone."""
        ranges = {symbol.name: bounds for symbol, bounds in node.shape_env.var_to_range.items()}

        def lookup(symbol: str) -> Size | None:
            if symbol not in self.variables:
                bounds = ranges.get(symbol)
                if bounds is None:
                    return None
                low, high = (int(bound) if bound.is_Integer else None for bound in (bounds.lower, bounds.upper))
                kind = VariableKind.DIM if low is not None and low >= 0 else VariableKind.INT
                self.variables[symbol] = self._declare(symbol, kind, low, high, None)
            return Var(self.variables[symbol].name)

        return lookup

    def _declare(
        self, symbol: str, kind: VariableKind, low: int | None, high: int | None, hint: int | None
    ) -> Variable:
        name = distinct(_as_name(symbol.rpartition("#")[0]), self._taken)
        self._taken.add(name)
        self.bounds[name] = (low, high)
        return Variable(name, kind, hint=hint, declared=True)

    def _refuse(self, message: str) -> None:
        self.report.error("unsupported-by-torch", message)


def _conjuncts(predicate: Predicate) -> Iterator[Predicate]:
    if isinstance(predicate, And):
        for arg in predicate.args:
            yield from _conjuncts(arg)
    else:
        yield predicate


def _dims(params: Iterable[Param]) -> Iterator[Constraint]:
    """Yields ``e >= 0`` for each tensor dim, as every frontend does."""
    for param in params:
        for dim in tensor_dims(param.type):
            if isinstance(dim, (Var, Apply)):
                predicate = Compare(COMPARISONS[">="], dim, Const(0))
                yield Constraint(predicate, None, Origin.DIM, write_predicate(predicate))


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier() and text not in _RESERVED


def _as_name(text: str) -> str:
    """Returns a name of the language that reads like ``text``: torch allows any text, ``2*B+1`` too."""
    if _is_name(text):
        return text
    made = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "size"
    made = f"size_{made}" if made[0].isdigit() else made
    return made if _is_name(made) else f"{made}_"


def _bare(text: str) -> str:
    """Returns a printed expression without torch's counters: ``B#7 > 5/2`` is ``B > 5/2``."""
    return re.sub(r"#\d+", "", text)
