"""From a file to shape functions: the syntax tree is translated, nothing is imported or executed.

A function is translated when it is first called. What shape functions have no use for (loops, classes, lambdas)
is refused by name, so that a file from elsewhere gives reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from .answers import Stop
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
    Parameter,
    Part,
    Return,
    Statement,
    Unary,
)

DECORATOR: Final = "type_shape_dsl_function"

_BINARY: Final[dict[type[cst.BaseBinaryOp], str]] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
}
_UNARY: Final[dict[type[cst.BaseUnaryOp], str]] = {cst.Minus: "-", cst.Plus: "+", cst.Not: "not"}
_COMPARISONS: Final[dict[type[cst.BaseCompOp], str]] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}
_CONSTANTS: Final[dict[str, bool | None]] = {"True": True, "False": False, "None": None}


class Reader:
    """Translates the functions of one file."""

    def __init__(self, module: cst.Module) -> None:
        self._module = module

    def functions(self) -> Iterator[tuple[str, cst.FunctionDef]]:
        """Yields (name, definition) of each function that is declared a shape function."""
        for statement in self._module.body:
            if isinstance(statement, cst.FunctionDef) and any(
                path(line.decorator).split(".")[-1] == DECORATOR for line in statement.decorators
            ):
                yield statement.name.value, statement

    def imports(self) -> dict[str, str]:
        """Returns what each imported name stands for, as a dotted path."""
        names: dict[str, str] = {}
        for line in self._module.body:
            for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                stem = ""
                if isinstance(statement, cst.ImportFrom) and statement.module is not None:
                    stem = path(statement.module) + "."
                if not isinstance(statement, (cst.Import, cst.ImportFrom)) or isinstance(
                    statement.names, cst.ImportStar
                ):
                    continue
                for alias in statement.names:
                    full = path(alias.name)
                    # `import a.b` binds `a`, whatever else it names
                    bound = full if stem or alias.asname is not None else full.partition(".")[0]
                    names[bound if alias.asname is None else path(alias.asname.name)] = stem + bound
        return names

    def function(self, node: cst.FunctionDef) -> Function:
        """Returns one function.

        Raises:
            Stop: It uses what shape functions have no use for.
        """
        params = node.params
        if params.star_kwarg is not None or isinstance(params.star_arg, cst.Param) or node.asynchronous is not None:
            raise Stop("it takes `*args` or `**kwargs`, or is async")
        parameters = [
            Parameter(param.name.value, None if param.default is None else self.expression(param.default))
            for param in (*params.posonly_params, *params.params, *params.kwonly_params)
        ]
        return Function(node.name.value, tuple(parameters), self._block(node.body.body))

    def _block(self, statements: Sequence[cst.CSTNode]) -> tuple[Statement, ...]:
        return tuple(found for statement in statements for found in self._statement(statement))

    def _statement(self, node: cst.CSTNode) -> tuple[Statement, ...]:
        match node:
            case cst.If(test=test, body=body, orelse=orelse):
                then = self._block(body.body)
                if isinstance(orelse, cst.If):
                    otherwise = self._statement(orelse)
                else:
                    otherwise = () if orelse is None else self._block(orelse.body.body)
                return (If(self.expression(test), self._code(test), then, otherwise),)
            case cst.SimpleStatementLine(body=body):
                return self._block(body)
            case cst.Return(value=cst.BaseExpression() as value):
                return (Return(self.expression(value)),)
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                return (Assign(*self._targets(target), self.expression(value)),)
            case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
                return (Assign(*self._targets(target), self.expression(value)),)
            case cst.Pass() | cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString() | cst.Ellipsis()):
                return ()
            case _:
                raise Stop(f"it has the statement `{self._code(node)}`")

    def _targets(self, node: cst.CSTNode) -> tuple[tuple[str, ...], bool]:
        """Returns the names that are assigned to, and whether a value is unpacked into them."""
        match node:
            case cst.Name(value=name):
                return (name,), False
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                names = [
                    element.value.value
                    for element in elements
                    if isinstance(element, cst.Element) and isinstance(element.value, cst.Name)
                ]
                if len(names) == len(elements):
                    return tuple(names), True
            case _:
                pass
        raise Stop(f"it assigns to `{self._code(node)}`")

    def expression(self, node: cst.CSTNode) -> Expression:
        """Returns an expression.

        Raises:
            Stop: It uses what shape functions have no use for.
        """
        match node:
            case cst.Name(value=name):
                return Literal(_CONSTANTS[name]) if name in _CONSTANTS else Name(name)
            case cst.Integer(value=digits) if len(digits) <= 32:
                return Literal(int(digits, 0))
            case cst.SimpleString() | cst.ConcatenatedString() if isinstance(node.evaluated_value, str):
                return Literal(node.evaluated_value)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                return Display(
                    tuple((self.expression(item.value), isinstance(item, cst.StarredElement)) for item in elements)
                )
            case cst.UnaryOperation(operator=operator, expression=operand) if type(operator) in _UNARY:
                return Unary(_UNARY[type(operator)], self.expression(operand))
            case cst.BinaryOperation(left=left, operator=operator, right=right) if type(operator) in _BINARY:
                return Binary(_BINARY[type(operator)], self.expression(left), self.expression(right))
            case cst.BooleanOperation(left=left, operator=operator, right=right):
                op = "and" if isinstance(operator, cst.And) else "or"
                return Logic(op, self.expression(left), self.expression(right))
            case cst.Comparison(left=left, comparisons=comparisons):
                links = [(_COMPARISONS[type(link.operator)], self.expression(link.comparator)) for link in comparisons]
                return Comparing(self.expression(left), tuple(links))
            case cst.IfExp(test=test, body=then, orelse=otherwise):
                return Choice(self.expression(test), self.expression(then), self.expression(otherwise))
            case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
                return Index(self.expression(value), self.expression(index))
            case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Slice() as part)]):
                return Part(self.expression(value), *map(self._bound, (part.lower, part.upper, part.step)))
            case cst.GeneratorExp(elt=element, for_in=clause) | cst.ListComp(elt=element, for_in=clause):
                return Generator(self.expression(element), tuple(self._clauses(clause)))
            case cst.Call():
                return self._call(node)
            case _:
                raise Stop(f"it has the expression `{self._code(node)}`")

    def _bound(self, node: cst.BaseExpression | None) -> Expression | None:
        return None if node is None else self.expression(node)

    def _clauses(self, clause: cst.CompFor | None) -> Iterator[Clause]:
        while clause is not None:
            targets, unpacks = self._targets(clause.target)
            conditions = tuple(self.expression(condition.test) for condition in clause.ifs)
            yield Clause(targets, unpacks, self.expression(clause.iter), conditions)
            clause = clause.inner_for_in

    def _call(self, node: cst.Call) -> Expression:
        if any(arg.star == "**" for arg in node.args):
            raise Stop(f"it has the call `{self._code(node)}`")
        args = tuple((self.expression(arg.value), arg.star == "*") for arg in node.args if arg.keyword is None)
        keywords = tuple(
            (arg.keyword.value, self.expression(arg.value)) for arg in node.args if arg.keyword is not None
        )
        name = path(node.func)
        if name:
            return Call(name, args, keywords)
        match node.func:
            case cst.Attribute(value=value, attr=cst.Name(value=method)) if not keywords:
                return Method(self.expression(value), method, args)
            case _:
                raise Stop(f"it has the call `{self._code(node)}`")

    def _code(self, node: cst.CSTNode) -> str:
        text = " ".join(self._module.code_for_node(node).split())
        return text if len(text) <= 80 else text[:77] + "..."


def path(node: cst.CSTNode) -> str:
    """Returns the dotted name that an expression is, else the empty string."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    return ".".join([node.value, *reversed(parts)]) if isinstance(node, cst.Name) else ""
