"""``mark_dynamic`` and its siblings before a compiled call → one spec, at the place where it is compiled.

A mark sits on a tensor. It is followed to the calls that take this tensor, and only if all of them are calls of one
compiled callable does that get a spec, and lose the marks.

Before::

    mark_dynamic(h, 0, max=64)          # stale
    fast = torch.compile(step)          # the site
    fast(h, t)                          # where the mark is read

After::

    LegacySpec("step", (Param("h"), Param("t")), Entries((("h", Entries(((0, Hinted(DYNAMIC, None, 64)),))),)), …)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from .....diagnostics import Report
from ...marks import Kind, Mark, Marked, dims_of
from ...model import Entries, LegacySpec
from ...notes import loss
from ...verdict import Note
from ..values import Callable, Constant, Dict, Made, Tensor, Unknown, Value
from ..values import Sequence as Items
from .apis import bind
from .example import Example, signature_of
from .hints import annotated
from .refused import Reason, RefusedError, refuse
from .to_model import to_input
from .uses import Use

if TYPE_CHECKING:
    import libcst as cst

    from ....stubs.tree import Tree as File
    from ..observe import Argument, Frame

_UNBACKED: Final = ("t", "index", "hint_override", "strict", "specialize_on", "shape_id", "min", "max")
_KINDS: Final = {
    "mark_dynamic": "dynamic",
    "maybe_mark_dynamic": "maybe",
    "mark_unbacked": "unbacked",
    "mark_static": "static",
}
_MODULES: Final = ("torch._dynamo.", "torch._dynamo.decorators.")


def mark_kind(name: str) -> str | None:
    """Returns which mark a function sets, by its qualified name; None if it sets none."""
    module, _, short = name.rpartition(".")
    return _KINDS.get(short) if f"{module}." in _MODULES else None


@dataclass(eq=False, slots=True)
class _Set:
    """A call that marked a tensor."""

    name: str
    node: cst.Call
    frame: Frame
    tensor: Value
    marks: tuple[Mark, ...] = ()
    reason: Reason | None = None
    readers: list[Made] = field(default_factory=list["Made"])  # the compiled callables that took the tensor
    others: list[str] = field(default_factory=list[str])  # what else took it

    @property
    def is_dynamic(self) -> bool:
        """Whether it says of a size that it changes."""
        return self.reason is not None or any(mark.kind != "static" for mark in self.marks)


@dataclass(eq=False, slots=True)
class _Compiled:
    """What compiles: a call, or a decorator (then ``target`` is what is below it, and ``frame`` is not known).

    ``torch._dynamo.optimize`` takes no spec: then ``is_optimize``.
    """

    node: cst.BaseExpression
    frame: Frame | None
    made: Made
    args: Sequence[Argument]
    target: Value | None = None
    is_optimize: bool = False


@dataclass(eq=False, slots=True)
class _Call:
    """A call of a compiled callable with marked tensors."""

    compiled: Made
    node: cst.Call
    frame: Frame
    example: Example
    sets: list[_Set]


class Marks:
    """The marks of a file, and the compiled calls that read them."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._sets: list[_Set] = []
        self._by_tensor: dict[int, list[_Set]] = {}
        self._compiled: dict[int, _Compiled] = {}
        self._decorated: dict[int, Made] = {}
        self._calls: list[_Call] = []

    # ------------------------------------------------------------------------------ while it runs

    def mark(self, node: cst.Call, name: str, args: Sequence[Argument], frame: Frame) -> None:
        """Takes in a call of one of the marking functions."""
        kind = cast("Kind", mark_kind(name))
        bound = bind(args, _UNBACKED if kind == "unbacked" else ("t", "index"))
        tensor = bound.values.get("t")
        if tensor is None:
            return
        made = _Set(name, node, frame, tensor)
        try:
            made.marks = tuple(self._marks(kind, node, bound.values))
        except RefusedError as error:
            made.reason = error.reason
        self._sets.append(made)
        self._by_tensor.setdefault(id(tensor), []).append(made)

    def _marks(self, kind: Kind, node: cst.Call, given: dict[str, Value]) -> Iterator[Mark]:
        span = self._file.span(node)
        special = given.get("specialize_on")
        is_special = not (special is None or (isinstance(special, Constant) and special.value is None))
        for axis in _axes(given.get("index"), node):
            if axis is None:
                tensor = given["t"]
                rank = len(tensor.sizes) if isinstance(tensor, Tensor) and tensor.sizes is not None else 0
                for each in range(rank):
                    yield Mark(kind, each, span=span)
                continue
            yield Mark(
                kind,
                axis,
                _number(given.get("min")),
                _number(given.get("max")),
                _number(given.get("hint_override")),
                _text(given.get("shape_id")),
                _text(given.get("strict")) not in (None, "False"),
                is_special,
                span,
            )

    def compiled(self, node: cst.Call, args: Sequence[Argument], frame: Frame) -> Made:
        """Returns the object that a call of ``torch.compile`` makes."""
        values: list[tuple[str | None, Value]] = []
        for name, value in bind(args, ("mod",)).values.items():
            values.insert(0 if name == "mod" else len(values), (None if name == "mod" else name, value))
        made = Made("torch.compile", values, node)
        self._compiled[id(made)] = _Compiled(node, frame, made, args)
        return made

    def applied(self, decorator: Made, target: Sequence[Argument], frame: Frame) -> Made:
        """Returns the object that ``torch.compile(fullgraph=True)`` makes when it is called with a callable."""
        known = self._compiled.get(id(decorator))
        if known is None:
            return decorator
        made = self.compiled(cast("cst.Call", decorator.node), [*target, *known.args], frame)
        self._compiled[id(made)].is_optimize = known.is_optimize
        return made

    def decorated(self, made: Callable, decorator: cst.BaseExpression, value: Value) -> None:
        """Takes in ``@torch.compile`` or ``@torch.compile(fullgraph=True)`` above a function."""
        known = self._compiled.get(id(value))
        args = known.args if known is not None else ()
        given: list[tuple[str | None, Value]] = [(None, made)]
        compiled = Made("torch.compile", given, decorator)
        self._compiled[id(compiled)] = _Compiled(decorator, None, compiled, args, made)
        self._decorated[id(made.node)] = compiled

    def decorator_of(self, callee: Callable) -> Made | None:
        """Returns what a function was compiled by that has such a decorator."""
        return self._decorated.get(id(callee.node))

    def optimized(self, node: cst.Call, frame: Frame) -> Made:
        """Returns what ``torch._dynamo.optimize("inductor")`` makes: it is called with a callable."""
        made = self.compiled(node, (), frame)
        self._compiled[id(made)].is_optimize = True
        return made

    def escaped(self, args: Sequence[Argument], what: str) -> None:
        """Says that something that obeys marks, or may, was given these."""
        for value in _leaves([each.value for each in args]):
            for each in self._by_tensor.get(id(value), ()):
                each.others.append(what)

    def called(self, compiled: Made, node: cst.Call, args: Sequence[Argument], frame: Frame) -> None:
        """Takes in a call of a compiled callable."""
        if id(compiled) not in self._compiled:
            return
        bound = bind(args, ())
        if bound.unclear is not None:
            return
        example = Example(bound.rest, bound.values, lambda each: annotated(each, frame))
        values = [*bound.rest, *bound.values.values()]
        sets = [each for value in _leaves(values) for each in self._by_tensor.get(id(value), ())]
        if not any(each.is_dynamic for each in sets):
            return
        for each in sets:
            if not any(reader.node is compiled.node for reader in each.readers):
                each.readers.append(compiled)
        self._calls.append(_Call(compiled, node, frame, example, sets))

    # ------------------------------------------------------------------------------- when it is over

    def uses(self) -> Iterator[Use]:
        """Yields a use for each compiled callable that marks reach, and one for each mark that reaches none."""
        import libcst as cst

        read = {id(each.node) for each in self._sets if each.readers}
        for each in self._sets:
            if id(each.node) not in read and each.is_dynamic:
                use = Use(each.name, each.node, each.frame)
                use.reasons.append(
                    Reason(
                        "legacy-flow",
                        "no call of a compiled callable that the file shows takes the marked tensor",
                        each.node,
                        "marks a tensor",
                        "write a spec where the callable is compiled",
                    )
                )
                yield use
        for call in self._calls:
            compiled = self._compiled[id(call.compiled)]
            node = compiled.node if isinstance(compiled.node, cst.Call) else call.node
            use = Use("torch.compile", node, compiled.frame or call.frame)
            use.decorator = None if node is compiled.node else compiled.node
            try:
                if compiled.is_optimize:
                    raise refuse(
                        "`torch._dynamo.optimize` takes no spec",
                        compiled.node,
                        label="compiled here",
                        help="use `torch.compile`",
                    )
                self._fill(use, call, compiled)
            except RefusedError as error:
                use.reasons.append(error.reason)
            if use.specs or use.reasons:
                yield use

    def _fill(self, use: Use, call: _Call, compiled: _Compiled) -> None:
        made = compiled.made
        given = bind(compiled.args, ("mod",))
        if "dynamic_shapes" in given.values:
            return  # torch ignores marks where a spec is
        target = compiled.target or given.values.get("mod")
        use.target = None if target is None else annotated(target, use.frame)
        for each in call.sets:
            self._check(each, call)
        signature = signature_of(use.target)
        if signature is None and call.example.positional:
            raise refuse(
                "the parameters of what is compiled are not known",
                made.node,
                "legacy-parameter",
                "compiled here",
                "write the spec by parameter, as `dynamic_shapes=`",
            )
        use.args = call.example.by_parameter(signature, call.node)
        marked: list[Marked] = []
        for param, value in use.args.items():
            sets = self._by_tensor.get(id(value), [])
            if sets:
                rank = len(value.sizes) if isinstance(value, Tensor) and value.sizes is not None else None
                marked.append(Marked(param, tuple(mark for each in sets for mark in each.marks), rank))
            elif any(id(leaf) in self._by_tensor for leaf in _leaves([value])):
                raise refuse(f"a marked tensor is inside of `{param}`", call.node, label="passed in a container")
        trial = Report()
        dims, notes = dims_of(marked, trial)
        if trial.errors:
            error = trial.errors[0]
            raise refuse(error.message, call.node, error.code, "passed here", "; ".join(error.helps))
        tree = Entries(tuple(dims.items()), self._file.span(call.node))
        name = signature.name if signature is not None else "f"
        use.specs.append(
            LegacySpec(
                name,
                signature.params if signature is not None else None,
                tree,
                {param: to_input(value, call.example.known) for param, value in use.args.items()},
                signature.receiver if signature is not None else None,
                (*notes, *_of_dynamic(given.values.get("dynamic"))),
                "compile",
                self._file.span(made.node),
            )
        )
        use.stale += [each.frame.statement for each in call.sets]
        if "dynamic" in given.nodes:
            use.stale.append(given.nodes["dynamic"])

    def _check(self, each: _Set, call: _Call) -> None:
        """Refuses marks that are not this call's alone, or not always."""
        if each.reason is not None:
            raise RefusedError(each.reason)
        if each.others:
            raise refuse(f"the marked tensor is passed to {each.others[0]} too", each.node, label="marks a tensor")
        if len(each.readers) > 1:
            raise refuse("the marked tensor is passed to several compiled callables", each.node, label="marks a tensor")
        if each.frame.function is not call.frame.function or each.frame.calls != call.frame.calls:
            raise refuse("the tensor is marked in another function", each.node, label="marks a tensor")
        around = {id(statement) for statement in call.frame.path}
        if any(id(statement) not in around for statement in each.frame.path[:-1] if _is_branch(statement)):
            raise refuse("the tensor is marked in some branches only", each.node, label="marks a tensor")
        if not _is_statement(each.frame.statement, each.node):
            raise refuse("the mark is part of an expression", each.node, label="marks a tensor")


def _is_branch(statement: cst.CSTNode) -> bool:
    import libcst as cst

    return isinstance(statement, (cst.If, cst.Else, cst.While, cst.Match, cst.Try, cst.TryStar))


def _is_statement(statement: cst.CSTNode, call: cst.Call) -> bool:
    """Returns whether a statement is a call, and nothing else."""
    import libcst as cst

    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        statement = statement.body[0]
    return isinstance(statement, cst.Expr) and statement.value is call


def _of_dynamic(value: Value | None) -> tuple[Note, ...]:
    match value:
        case Constant(value=True):
            return (loss("`dynamic=True` made the other sizes dynamic too; with a spec they are static"),)
        case None | Constant():
            return ()
        case _:
            return (loss("`dynamic=` does not go with a spec, and is dropped"),)


def _leaves(values: Sequence[Value]) -> Iterator[Value]:
    for value in values:
        match value:
            case Items(items=items):
                yield from _leaves(items)
            case Dict(entries=entries):
                yield from _leaves([item for _, item in entries.values()])
            case _:
                yield value


def _axes(value: Value | None, node: cst.Call) -> list[int | None]:
    match value:
        case None | Constant(value=None):
            return [None]
        case Constant(value=int(axis)):
            return [axis]
        case Items(items=items):
            return [axis for item in items for axis in _axes(item, node)]
        case _:
            raise _vague(value, "index", node)


def _number(value: Value | None) -> int | None:
    match value:
        case None | Constant(value=None):
            return None
        case Constant(value=int(number)):
            return number
        case _:
            raise _vague(value, "a bound", value.node)


def _text(value: Value | None) -> str | None:
    match value:
        case None | Constant(value=None):
            return None
        case Constant(value=constant):
            return str(constant)
        case _:
            raise _vague(value, "a keyword", value.node)


def _vague(value: Value, what: str, node: cst.CSTNode) -> RefusedError:
    reason = value.reason if isinstance(value, Unknown) else f"{what} of the mark is no constant"
    return refuse(reason, value.node or node)


__all__ = ["Marks", "mark_kind"]
