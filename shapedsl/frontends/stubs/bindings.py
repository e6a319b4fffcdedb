"""What the statements of a block bind, without running them: imports, classes, aliases, functions.

Of conditional statements the branch that type checkers take counts: ``if TYPE_CHECKING:``, and tests of
``sys.version_info`` and ``sys.platform`` as this Python would decide them. Where nobody can tell, all branches
count, and for a name that several bind, the first one's meaning: ``try: from a import B`` before its ``except``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst

from .known import star
from .scope import Aliased, Binding, Defined, Imported, Opaque

Body = Sequence[cst.CSTNode]


def placed(body: Body) -> Iterator[tuple[cst.CSTNode, Body]]:
    """Yields the statements of a block that may run, each with its own block, those of compound ones included."""
    for statement in body:
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                yield small, body
        elif isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            yield statement, body
        else:
            for branch in _branches(statement):
                yield from placed(branch)


def statements(body: Body) -> Iterator[cst.CSTNode]:
    """Yields the statements of a block that may run, in file order."""
    for statement, _ in placed(body):
        yield statement


def names_of(body: Body) -> dict[str, Binding]:
    """Returns what the statements of a block bind, by name."""
    names: dict[str, Binding] = {}
    for statement in body:
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                names.update(_bound(small))
        elif isinstance(statement, cst.ClassDef):
            names[statement.name.value] = Defined(statement)
        elif isinstance(statement, cst.FunctionDef):
            names[statement.name.value] = Opaque(statement.name.value)
        else:
            for branch in reversed(_branches(statement)):
                names.update(names_of(branch))
    return names


def _branches(statement: cst.CSTNode) -> list[Body]:
    """Returns the blocks of a compound statement that may run, the likeliest first."""
    match statement:
        case cst.If(test=test, body=block, orelse=orelse):
            otherwise: list[Body] = []
            if isinstance(orelse, cst.If):
                otherwise = [[orelse]]
            elif orelse is not None:
                otherwise = [orelse.body.body]
            holds = truth(test)
            return [*([] if holds is False else [block.body]), *([] if holds is True else otherwise)]
        case cst.Try() | cst.TryStar():
            blocks: list[Body] = [statement.body.body]
            blocks += [each.body.body for each in (statement.orelse, *statement.handlers) if each is not None]
            return blocks if statement.finalbody is None else [*blocks, statement.finalbody.body.body]
        case cst.For() | cst.While():
            return [statement.body.body, *([] if statement.orelse is None else [statement.orelse.body.body])]
        case cst.With():
            return [statement.body.body]
        case cst.Match():
            return [case.body.body for case in statement.cases]
        case _:
            return []


def _bound(statement: cst.CSTNode) -> dict[str, Binding]:
    """Returns what a statement of one line binds."""
    match statement:
        case cst.ImportFrom(names=aliases):
            module = "." * len(statement.relative) + dotted(statement.module)
            if isinstance(aliases, cst.ImportStar):
                found: dict[str, Binding] = {name: Imported(f"{module}.{name}") for name in star(module)}
                return {**found, f"*{module}": Imported(module)}
            separator = "" if module.endswith(".") else "."
            return {_called(alias): Imported(f"{module}{separator}{alias.evaluated_name}") for alias in aliases}
        case cst.Import(names=aliases):
            return dict(_module(alias) for alias in aliases)
        case cst.Assign(targets=targets, value=value):
            return {name: meaning for each in targets for name, meaning in _assigned(each.target, value)}
        case cst.AnnAssign(target=target, value=value) if value is not None:
            return dict(_assigned(target, value))
        case cst.TypeAlias(name=name, value=value, type_parameters=params):
            return {name.value: Aliased(value, params)}
        case _:
            return {}


def _assigned(target: cst.CSTNode, value: cst.BaseExpression) -> Iterator[tuple[str, Binding]]:
    match target, value:
        case cst.Name(value=name), cst.Call(func=func, args=[cst.Arg(value=cst.SimpleString() as module), *_]) if (
            dotted(func).rpartition(".")[2] in ("import_module", "importorskip")
        ):
            yield name, Imported(str(module.evaluated_value))
        case cst.Name(value=name), _:
            yield name, Aliased(value)
        case ((cst.Tuple() | cst.List()), (cst.Tuple() | cst.List())) if len(target.elements) == len(value.elements):
            for one, other in zip(target.elements, value.elements, strict=True):
                yield from _assigned(one.value, other.value)
        case _:
            pass


def _module(alias: cst.ImportAlias) -> tuple[str, Binding]:
    if alias.asname is not None:
        return _called(alias), Imported(alias.evaluated_name)
    top = alias.evaluated_name.partition(".")[0]
    return top, Imported(top)


def _called(alias: cst.ImportAlias) -> str:
    return alias.evaluated_alias or alias.evaluated_name


def dotted(node: cst.CSTNode | None) -> str:
    """Returns a dotted name as text; an empty one for anything else."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=value, attr=cst.Name(value=name)):
            base = dotted(value)
            return f"{base}.{name}" if base else ""
        case _:
            return ""


# ------------------------------------------------------------------------------ conditions


def truth(test: cst.BaseExpression) -> bool | None:
    """Returns whether a condition holds for type checkers under this Python; None if it depends on something else."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            holds = truth(inner)
            return None if holds is None else not holds
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            decisive = isinstance(operator, cst.Or)
            sides = truth(left), truth(right)
            return decisive if decisive in sides else None if None in sides else not decisive
        case cst.Comparison(left=left, comparisons=[only]):
            return _compared(left, only)
        case cst.Integer():
            return test.evaluated_value != 0
        case cst.Call(func=func, args=[cst.Arg(value=cst.SimpleString() as prefix)]):
            matched = dotted(func).endswith("platform.startswith") and isinstance(prefix.evaluated_value, str)
            return sys.platform.startswith(str(prefix.evaluated_value)) if matched else None
        case _:
            name = dotted(test).rpartition(".")[2]
            return {"TYPE_CHECKING": True, "True": True, "False": False}.get(name)


def _compared(left: cst.BaseExpression, right: cst.ComparisonTarget) -> bool | None:
    ours: Any = _environment(left)
    theirs: Any = _literal(right.comparator)
    if ours is None or theirs is None or type(ours) is not type(theirs):
        return None
    match right.operator:
        case cst.GreaterThanEqual():
            return bool(ours >= theirs)
        case cst.GreaterThan():
            return bool(ours > theirs)
        case cst.LessThan():
            return bool(ours < theirs)
        case cst.LessThanEqual():
            return bool(ours <= theirs)
        case cst.Equal():
            return bool(ours == theirs)
        case cst.NotEqual():
            return bool(ours != theirs)
        case _:
            return None


def _environment(node: cst.BaseExpression) -> Any:
    """Returns what ``sys.version_info``, a part of it, or ``sys.platform`` is here."""
    match node:
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=part)]) if _is_version(value):
            match part:
                case cst.Index(value=cst.Integer() as number) if number.evaluated_value < 3:
                    return sys.version_info[number.evaluated_value]
                case cst.Slice(lower=None, upper=cst.Integer() as number, step=None):
                    return tuple(sys.version_info[: number.evaluated_value])
                case _:
                    return None
        case _:
            if _is_version(node):
                return tuple(sys.version_info[:3])
            return sys.platform if dotted(node) in ("sys.platform", "platform") else None


def _is_version(node: cst.BaseExpression) -> bool:
    return dotted(node) in ("sys.version_info", "version_info")


def _literal(node: cst.BaseExpression) -> Any:
    match node:
        case cst.Integer():
            return node.evaluated_value
        case cst.SimpleString():
            return node.evaluated_value
        case cst.Tuple(elements=elements):
            items = [_literal(each.value) for each in elements]
            return None if None in items else tuple(items)
        case _:
            return None


__all__ = ["Body", "dotted", "names_of", "placed", "statements", "truth"]
