"""Evaluates shape functions, within a budget.

A branch that the sizes do not decide is evaluated both ways; what both agree on is the result, and a dim on which
they differ is unknown. If one of them is a refusal there is no result: nothing is guessed.

A generator over the dims of a shape whose rank is not known runs over its block as a whole: the loop variable is
each of the block's positions at once, and what it selects must be the block itself::

    dsl.IntTuple((shape[i] for i in range(len(shape) - 1)))      of (B, *S, N): (B, *S)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from .answers import Refused, Stop
from .arithmetic import arithmetic
from .folds import FOLDS, LONGEST, Fold, Item, divisions, gather
from .logic import compare, negate, truth
from .sequences import cut, pick
from .syntax import (
    Assign,
    Binary,
    Call,
    Choice,
    Clause,
    Comparing,
    Display,
    Expression,
    Function,
    Generator,
    If,
    Index,
    Literal,
    Logic,
    Method,
    Name,
    Part,
    Return,
    Statement,
    Unary,
)
from .values import Block, Names, Slice, Span, SymbolicRange, Undecided, Value, join, text, weight

if TYPE_CHECKING:
    from .library import ShapeFunctions

MOST_STEPS: Final = 100_000
DEEPEST: Final = 30
TOO_MUCH: Final = f"it takes more than {MOST_STEPS:,} steps"

Scope = dict[str, Value]


class Machine:
    """Evaluates calls of one library's functions.

    Attributes:
        notes: Why sizes of the result are unknown, as far as it was found here.
        guarded: Whether it mattered that a size is no concrete int: a symbolic result then may not hold at all sizes.
    """

    def __init__(self, library: ShapeFunctions) -> None:
        self.names = Names()
        self.notes: list[str] = []
        self.guarded = False
        self._library = library
        self._steps = 0
        self._depth = 0

    def work(self, amount: int = 1) -> None:
        """Counts work.

        Raises:
            Stop: It is more than the budget.
        """
        self._steps += amount
        if self._steps > MOST_STEPS:
            raise Stop(TOO_MUCH)

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent."""
        return self._steps > MOST_STEPS

    def call(self, name: str, args: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
        """Returns what the shape function or intrinsic ``name``, a dotted path, gives for arguments.

        Raises:
            Stop: There is no result.
            Refused: The arguments are invalid.
        """
        function = self._library.function(name)
        if function is None:
            builtin = self._library.builtin(name)
            if builtin is None:
                raise Stop(
                    f"there is no shape function `{name}`" + (f": {fault}" if (fault := self._library.fault) else "")
                )
            self.work(weight(args) + weight(tuple(keywords.values())))
            try:
                return builtin(self, *args, **keywords)
            except TypeError as error:
                if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                    raise Stop(f"`{name}` does not take these arguments") from None  # the call itself failed
                raise
        if self._depth >= DEEPEST:
            raise Stop(f"its calls nest deeper than {DEEPEST}")
        self._depth += 1
        try:
            return self._run(function.body, self._bind(function, args, keywords))
        finally:
            self._depth -= 1

    def _bind(self, function: Function, args: tuple[Value, ...], keywords: Mapping[str, Value]) -> Scope:
        names = [parameter.name for parameter in function.parameters]
        if len(args) > len(names) or not keywords.keys() <= set(names[len(args) :]):
            raise Stop(f"`{function.name}` takes ({', '.join(names)})")
        scope: Scope = {**dict(zip(names, args, strict=False)), **keywords}
        for parameter in function.parameters:
            if parameter.name not in scope:
                if parameter.default is None:
                    raise Stop(f"`{function.name}` needs `{parameter.name}`")
                scope[parameter.name] = self.evaluate(parameter.default, {})
        return scope

    def _run(self, statements: tuple[Statement, ...], scope: Scope) -> Value:
        """Returns what the first ``return`` among ``statements`` returns."""
        for place, statement in enumerate(statements):
            self.work()
            match statement:
                case Return(value=value):
                    return self.evaluate(value, scope)
                case Assign(targets=targets, unpacks=unpacks, value=value):
                    self._assign(targets, unpacks, self.evaluate(value, scope), scope)
                case If():
                    return self._branch(statement, statements[place + 1 :], scope)
        raise Stop("it ends without a `return`")

    def _branch(self, node: If, behind: tuple[Statement, ...], scope: Scope) -> Value:
        decided = truth(self.evaluate(node.test, scope))
        if isinstance(decided, Undecided):
            return self._both(
                f"`if {node.text}`: {decided.reason}",
                lambda: self._run((*node.then, *behind), dict(scope)),
                lambda: self._run((*node.otherwise, *behind), dict(scope)),
            )
        return self._run((*(node.then if decided else node.otherwise), *behind), scope)

    def _both(self, why: str, first: Callable[[], Value], second: Callable[[], Value]) -> Value:
        """Returns what both ways agree on."""
        before = len(self.notes)
        try:
            left = first()
            right = second()
            result = join(left, right)
        except (Stop, Refused):
            del self.notes[before:]
            self.work()  # past the budget, that is the reason
            raise Stop(why) from None
        if result != left or result != right:
            self.notes.append(why)
        return result

    def _assign(self, targets: tuple[str, ...], unpacks: bool, value: Value, scope: Scope) -> None:
        if not unpacks:
            scope[targets[0]] = value
            return
        if not isinstance(value, tuple) or len(value) != len(targets):
            raise Stop(f"{text(value)} does not unpack into {len(targets)} names")
        if any(isinstance(item, Block) for item in value):
            raise Stop(f"how {text(value)} unpacks is not known")
        scope.update(zip(targets, value, strict=True))

    def evaluate(self, node: Expression, scope: Scope) -> Value:
        """Returns what an expression gives."""
        self.work()
        match node:
            case Literal(value=value):
                return value
            case Name(name=name):
                if name not in scope:
                    raise Stop(f"`{name}` is not defined")
                return scope[name]
            case Display(items=items):
                return self._spread(items, scope)
            case Unary(op=op, operand=operand):
                operated = self.evaluate(operand, scope)
                if op == "not":
                    return negate(truth(operated))
                return arithmetic("*", operated, -1 if op == "-" else 1)
            case Binary(op=op, left=left, right=right):
                return self._binary(op, self.evaluate(left, scope), self.evaluate(right, scope))
            case Logic(op=op, left=left, right=right):
                return self._logic(op, self.evaluate(left, scope), right, scope)
            case Comparing(first=first, links=links):
                return self._comparing(self.evaluate(first, scope), links, scope)
            case Choice(test=test, then=then, otherwise=otherwise):
                decided = truth(self.evaluate(test, scope))
                if isinstance(decided, Undecided):
                    return self._both(
                        decided.reason, lambda: self.evaluate(then, scope), lambda: self.evaluate(otherwise, scope)
                    )
                return self.evaluate(then if decided else otherwise, scope)
            case Index(value=value, index=index):
                return pick(self._weighed(value, scope), self.evaluate(index, scope))
            case Part(value=value, start=start, stop=stop, step=step):
                bounds = [None if bound is None else self.evaluate(bound, scope) for bound in (start, stop, step)]
                return cut(self._weighed(value, scope), Slice(*bounds))
            case Generator():
                return self.over(node, scope, gather)
            case Call(path=path, args=args, keywords=keywords):
                return self._call(path, args, keywords, scope)
            case Method(value=value, name=name, args=args):
                return self._method(name, self.evaluate(value, scope), self._spread(args, scope))

    def _weighed(self, node: Expression, scope: Scope) -> Value:
        """Returns a value that is looked through: that is work, by its length."""
        value = self.evaluate(node, scope)
        self.work(len(value) // 4 if isinstance(value, tuple) else 0)
        return value

    def _spread(self, items: tuple[tuple[Expression, bool], ...], scope: Scope) -> tuple[Value, ...]:
        found: list[Value] = []
        for item, starred in items:
            value = self.evaluate(item, scope)
            if not starred:
                found.append(value)
            elif isinstance(value, tuple):
                found.extend(value)
            else:
                raise Stop(f"`*` of {text(value)}")
        return self.within_length(found)

    def within_length(self, items: list[Value] | tuple[Value, ...]) -> tuple[Value, ...]:
        """Returns ``items`` as a tuple.

        Raises:
            Stop: They are too many.
        """
        if len(items) > LONGEST:
            raise Stop(f"a tuple longer than {LONGEST:,}")
        return tuple(items)

    def _binary(self, op: str, left: Value, right: Value) -> Value:
        self.work(weight(left) * weight(right) if op == "*" else weight(left) + weight(right))
        match op, left, right:
            case "+", tuple(), tuple():
                return self.within_length((*left, *right))
            case ("*", tuple(), int()) | ("*", int(), tuple()):
                items, times = (left, right) if isinstance(left, tuple) else (right, left)
                if len(items) * times > LONGEST:  # type: ignore[arg-type, operator]
                    raise Stop(f"a tuple longer than {LONGEST:,}")
                return items * times  # type: ignore[operator]
            case _:
                return arithmetic(op, left, right)

    def _logic(self, op: str, left: Value, right: Expression, scope: Scope) -> Value:
        decided = truth(left)
        if decided is (op == "or"):
            return left
        if not isinstance(decided, Undecided):
            return self.evaluate(right, scope)
        try:
            other = truth(self.evaluate(right, scope))
        except (Stop, Refused):
            self.work()
            return decided  # what is not decided may be what guards the right side
        return other if other is (op == "or") else decided

    def _comparing(self, left: Value, links: tuple[tuple[str, Expression], ...], scope: Scope) -> Value:
        undecided: Undecided | None = None
        for op, operand in links:
            right = self.evaluate(operand, scope)
            self.work(weight(left) + weight(right))
            verdict = compare(op, left, right)
            if verdict is False:
                return False
            if isinstance(verdict, Undecided):
                undecided = undecided or verdict
            left = right
        return True if undecided is None else undecided

    def _call(
        self,
        path: str,
        args: tuple[tuple[Expression, bool], ...],
        keywords: tuple[tuple[str, Expression], ...],
        scope: Scope,
    ) -> Value:
        first, _, attribute = path.partition(".")
        if first in scope:
            if not attribute or "." in attribute:
                raise Stop(f"it calls `{path}`, a value")
            return self._method(attribute, scope[first], self._spread(args, scope))
        if path in FOLDS and len(args) == 1 and isinstance(args[0][0], Generator):
            return self.over(args[0][0], scope, FOLDS[path])
        values = {name: self.evaluate(value, scope) for name, value in keywords}
        return self.call(self._library.resolve(path), self._spread(args, scope), values)

    def _method(self, name: str, value: Value, args: tuple[Value, ...]) -> Value:
        if not isinstance(value, tuple) or name not in ("count", "index") or len(args) != 1:
            raise Stop(f"it calls `.{name}` of {text(value)}")
        self.work(weight(value))
        count = 0
        for place, item in enumerate(value):
            same = compare("==", item, args[0])
            if isinstance(same, Undecided):
                raise Stop(same.reason)
            if same and name == "index":
                return place
            count += same
        if name == "index":
            raise Stop(f"{text(args[0])} is not in {text(value)}")
        return count

    def over(self, node: Generator, scope: Scope, fold: Fold) -> Value:
        """Returns what ``fold`` makes of a generator's values, however a symbolic range must be divided for it."""
        clause = node.clauses[0]
        iterable = self.evaluate(clause.iterable, scope)
        if not isinstance(iterable, SymbolicRange):
            return fold(self._items(node, 0, self.entries(iterable), scope))
        failure: Stop | None = None
        undecided: Value = None
        for entries in divisions(iterable):
            before = len(self.notes)
            try:
                result = fold(self._items(node, 0, entries, scope))
            except Stop as stop:
                self.work()
                del self.notes[before:]
                failure = failure or stop
                continue
            if not isinstance(result, Undecided):
                return result
            undecided = undecided or result
        if undecided is not None:
            return undecided
        raise failure or Stop(f"{text(iterable)} is not known")

    def _items(self, node: Generator, level: int, entries: tuple[Value, ...], scope: Scope) -> Iterator[Item]:
        clause = node.clauses[level]
        for entry in entries:
            self.work()
            inner = dict(scope)
            self._assign_entry(clause, entry, inner)
            perhaps: Undecided | None = None
            repeated = isinstance(entry, (Block, Span)) or (
                isinstance(entry, tuple) and clause.unpacks and any(isinstance(part, Block) for part in entry)
            )
            for condition in clause.conditions:
                passed = truth(self.evaluate(condition, inner))
                if passed is False:
                    break
                if isinstance(passed, Undecided):
                    perhaps = perhaps or passed
            else:
                if level + 1 == len(node.clauses):
                    yield Item(self.evaluate(node.element, inner), repeated, perhaps)
                else:
                    nested = self.entries(self.evaluate(node.clauses[level + 1].iterable, inner))
                    for item in self._items(node, level + 1, nested, inner):
                        yield Item(item.value, item.repeated or repeated, item.perhaps or perhaps)

    def _assign_entry(self, clause: Clause, entry: Value, scope: Scope) -> None:
        if clause.unpacks and isinstance(entry, tuple) and len(entry) == len(clause.targets):
            scope.update(zip(clause.targets, entry, strict=True))
        else:
            self._assign(clause.targets, clause.unpacks, entry, scope)

    def entries(self, iterable: Value) -> tuple[Value, ...]:
        """Returns what a loop runs over.

        Raises:
            Stop: It is no sequence, or not known.
        """
        if isinstance(iterable, tuple):
            return iterable
        raise Stop(f"{text(iterable)} is no sequence whose items are known")
