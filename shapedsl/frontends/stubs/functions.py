"""The functions of a stub → their signatures, in file order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from ...diagnostics import Report, Source
from ...ir import Module, ParamKind, Signature
from ...surface.facts import Facts, Predicates
from ..annotated.callables import RawCallable, RawParameter
from ..annotated.namespace import Unknown
from ..annotated.read import read_raw
from .interpret import Interpreter, UninterpretedError
from .places import StubPlaces, source_in
from .pyrefly_functions import Dialect, dialect_of
from .scope import Aliased, Binding, Defined, Imported, Scope, parameters_of
from .tree import Tree


@dataclass(slots=True)
class Found:
    """A function where it stands.

    Attributes:
        name: With the classes that it stands in.
        node: The function.
        scope: The names around its annotations.
        decorators: Those of its class.
        owner: Its class.
    """

    name: str
    node: cst.FunctionDef
    scope: Scope
    decorators: Sequence[cst.Decorator] = field(default=())
    owner: cst.ClassDef | None = None


def read_functions(tree: Tree, report: Report) -> Module:
    """Returns the specs of a stub.

    Args:
        tree: The file.
        report: Receives what is wrong with each.
    """
    scope = Scope(names_of(tree.module.body))
    dialect = dialect_of(tree, scope, report)
    signatures: list[Signature] = []
    counts: dict[str, int] = {}
    for found in _functions(tree.module.body, scope, "", ()):
        spoken = dialect if dialect is not None and dialect.mine(found) else None
        signature = _Function(tree, found, report, spoken).signature()
        if signature is not None:
            counts[found.name] = counts.get(found.name, 0) + 1
            signatures.append(replace(signature, index=counts[found.name]))
    return Module(tuple(signatures))


def _statements(body: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """Yields the statements of a block; those under ``if`` and ``try`` too."""
    for statement in body:
        match statement:
            case cst.If():
                yield from _statements(statement.body.body)
                if statement.orelse is not None:
                    orelse = statement.orelse
                    yield from _statements([orelse] if isinstance(orelse, cst.If) else orelse.body.body)
            case cst.Try():
                yield from _statements(statement.body.body)
            case cst.SimpleStatementLine():
                yield from statement.body
            case _:
                yield statement


def names_of(body: Sequence[cst.CSTNode]) -> dict[str, Binding]:
    """Returns what the statements of a block bind."""
    names: dict[str, Binding] = {}
    for statement in _statements(body):
        match statement:
            case cst.ImportFrom(module=module, names=[*aliases]):
                base = "." * len(statement.relative) + ("" if module is None else cst.Module([]).code_for_node(module))
                for alias in aliases:
                    names[_bound(alias)] = Imported(f"{base}.{alias.evaluated_name}")
            case cst.Import(names=aliases):
                for alias in aliases:
                    if alias.asname is not None:
                        names[_bound(alias)] = Imported(alias.evaluated_name)
                    else:
                        first = alias.evaluated_name.partition(".")[0]
                        names[first] = Imported(first)
            case cst.ClassDef(name=name):
                names[name.value] = Defined(statement)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                names[name] = Aliased(value)
            case cst.AnnAssign(target=cst.Name(value=name), value=value) if value is not None:
                names[name] = Aliased(value)
            case cst.TypeAlias(name=name, value=value, type_parameters=params):
                names[name.value] = Aliased(value, params)
            case _:
                pass
    return names


def _bound(alias: cst.ImportAlias) -> str:
    return alias.evaluated_alias or alias.evaluated_name


def _functions(
    body: Sequence[cst.CSTNode],
    scope: Scope,
    prefix: str,
    decorators: Sequence[cst.Decorator],
    owner: cst.ClassDef | None = None,
) -> Iterator[Found]:
    for statement in _statements(body):
        match statement:
            case cst.FunctionDef(name=name, type_parameters=params):
                yield Found(prefix + name.value, statement, scope.inside(parameters_of(params)), decorators, owner)
            case cst.ClassDef(name=name, type_parameters=params, body=block):
                inner = scope.inside({**parameters_of(params), **names_of(block.body)})
                yield from _functions(block.body, inner, f"{prefix}{name.value}.", statement.decorators, statement)
            case _:
                pass


class _Function:
    """One function being read."""

    def __init__(self, tree: Tree, found: Found, report: Report, dialect: Dialect | None) -> None:
        self._tree = tree
        self._found = found
        self._report = report
        self._dialect = dialect
        if dialect is None:
            self._interpreter = Interpreter(found.scope, self._source_of)
        else:
            self._interpreter = dialect.interpreter(found, self._source_of)

    def signature(self) -> Signature | None:
        node = self._found.node
        parameters, annotations = self._parameters()
        facts = self._facts()
        if self._dialect is not None:
            self._dialect.receiver(self._found, annotations)
            facts = self._dialect.facts(self._found, facts)
        receiver = None
        if "." in self._found.name and parameters and parameters[0].name in ("self", "cls"):
            first = parameters[0].name
            if first not in annotations:
                receiver = first
                del parameters[0]
        raw = RawCallable(self._found.name, tuple(parameters), receiver, annotations, facts)
        return read_raw(raw, self._interpreter, StubPlaces(self._tree, node, self._found.decorators), self._report)

    def _source_of(self, node: cst.CSTNode, text: str) -> Source:
        return source_in(self._tree, text, node)

    def _parameters(self) -> tuple[list[RawParameter], dict[str, object]]:
        rows = self._found.node.params
        kinds: list[tuple[cst.Param, ParamKind]] = [(p, ParamKind.POSITIONAL_ONLY) for p in rows.posonly_params]
        kinds += [(p, ParamKind.POSITIONAL_OR_KEYWORD) for p in rows.params]
        if isinstance(rows.star_arg, cst.Param):
            kinds.append((rows.star_arg, ParamKind.VAR_POSITIONAL))
        kinds += [(p, ParamKind.KEYWORD_ONLY) for p in rows.kwonly_params]
        if rows.star_kwarg is not None:
            kinds.append((rows.star_kwarg, ParamKind.VAR_KEYWORD))
        annotations = {p.name.value: self._value(p.annotation.annotation) for p, _ in kinds if p.annotation is not None}
        returns = self._found.node.returns
        if returns is not None:
            annotations["return"] = self._value(returns.annotation)
        return [RawParameter(p.name.value, kind, p.default is not None) for p, kind in kinds], annotations

    def _value(self, node: cst.BaseExpression) -> object:
        try:
            return self._interpreter.value(node)
        except UninterpretedError as error:
            self._report.warning(
                "unresolved-annotation",
                f"this annotation was not read: {error}",
                at=self._tree.span(node),
            )
            return Unknown(self._tree.code(node))

    def _facts(self) -> Facts | None:
        """Returns what ``@shapes`` and ``@where`` say; None if neither stands there."""
        facts: Facts | None = None
        for decorator in reversed(self._found.node.decorators):
            expression = decorator.decorator
            call = expression if isinstance(expression, cst.Call) else None
            name = self._interpreter.qualified(expression if call is None else call.func)
            if name in _SHAPES:
                facts = facts or Facts(None)
                self._say(facts, call)
            elif name in _WHERE and call is not None:
                facts = facts or Facts(None)
                said = self._value(call)
                if isinstance(said, Predicates):
                    facts.wheres[:0] = said.texts
        return facts

    def _say(self, facts: Facts, call: cst.Call | None) -> None:
        text: str | None = None
        said: dict[str, object] = {}
        params: dict[str, object] = {}
        for argument in () if call is None else call.args:
            value = self._value(argument.value)
            if argument.keyword is None:
                text = value if isinstance(value, str) else text
            elif argument.keyword.value in ("hints", "consts", "returns", "where", "attach"):
                said[argument.keyword.value] = value
            elif argument.keyword.value == "params" and isinstance(value, dict):
                params.update(value)
            elif argument.keyword.value != "check":
                params[argument.keyword.value] = value
        facts.say(text, params=params, **said)  # type: ignore[arg-type]


_SHAPES = {"shapedsl.shapes", "shapedsl.annotations.shapes", "shapedsl.decorators.shapes"}
_WHERE = {"shapedsl.where", "shapedsl.annotations.where", "shapedsl.decorators.where"}

__all__ = ["Found", "names_of", "read_functions"]
