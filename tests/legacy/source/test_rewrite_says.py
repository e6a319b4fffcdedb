"""What is written says what the conversion says: rewritten programs run with stand-ins for torch, which keep the specs.

This needs no torch, so that it can be asked of every program of the tests, in every branch.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import dedent
from types import FunctionType
from typing import Any
from unittest.mock import MagicMock

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.legacy.source.finding.find import find_sites
from shapedsl.frontends.legacy.source.rewriting.rewrite import rewrite
from shapedsl.frontends.legacy.source.rewriting.texts import is_static, key_of
from shapedsl.frontends.legacy.source.rewriting.variables import Table, linear, table
from shapedsl.frontends.stubs.tree import parse
from shapedsl.ir import Const, MappingType, ObjectType, ParamKind, ScalarType, SequenceType, TensorType, Type, Var
from shapedsl.ir.write_sizes import write_predicate
from tests.legacy import golden

from .rewriting import HEAD
from .test_rewrite import CASES

PROGRAMS = {
    **{title: HEAD + dedent(before) for title, (before, _) in CASES.items()},
    **{
        case.name: case.program.body
        for case in golden.cases()
        # methods are called with a stand-in for `self` here, which reaches no helper
        if "torch" in case.expected and case.title != "A helper that some callers give no spec"
    },
}


# ------------------------------------------------------------------------------------- stand-ins


@dataclass(eq=False)
class Linear:
    """``factor * variable + offset``."""

    variable: ShapeVar
    factor: int = 1
    offset: int = 0

    def __mul__(self, other: int) -> Linear:
        return Linear(self.variable, self.factor * other, self.offset * other)

    def __add__(self, other: int) -> Linear:
        return Linear(self.variable, self.factor, self.offset + other)

    def __sub__(self, other: int) -> Linear:
        return self + -other

    __rmul__ = __mul__
    __radd__ = __add__

    def __mod__(self, other: int) -> Said:
        return Said(f"{self.text()} % {other}")

    def __eq__(self, other: object) -> Any:
        return Said(f"{self.text()} == {other.text() if isinstance(other, Linear) else other}")

    __hash__ = object.__hash__

    def text(self) -> str:
        text = self.variable.name if self.factor == 1 else f"{self.factor} * {self.variable.name}"
        return text if not self.offset else f"{text} {'+' if self.offset > 0 else '-'} {abs(self.offset)}"


@dataclass(eq=False)
class Said:
    """A predicate, or a part of one."""

    text: str

    def __eq__(self, other: object) -> Any:
        return Said(f"{self.text} == {other}")

    __hash__ = object.__hash__


class ShapeVar(Linear):
    """A variable: what it is, is which object it is."""

    def __init__(
        self, name: str, *, min: int | None = None, max: int | None = None, optimization_hint: int | None = None
    ) -> None:
        super().__init__(self)
        self.name = name
        self.said = (type(self).__name__, min or None, max, optimization_hint)


class IntVar(ShapeVar):
    """A variable that may be below 0."""

    def __init__(self, name: str, *, min: int | None = None, **options: int | None) -> None:
        super().__init__(name, min=min, **options)
        self.said = ("IntVar", min, *self.said[2:])


@dataclass(eq=False)
class Spec:
    """A list, a dict or a tensor."""

    held: Any


class TensorSpec(Spec):
    """Of a tensor."""


class SeqSpec(Spec):
    """Of a list."""


class DictSpec(Spec):
    """Of a dict."""


class ObjectSpec(Spec):
    """Of an object."""


@dataclass(eq=False)
class ShapesSpec:
    """The whole."""

    params: dict[str, Any]
    assumptions: list[Said] = field(default_factory=list)


def seen(spec: ShapesSpec) -> tuple[object, ...]:
    """Returns what a spec says, comparable; variables by name, and which objects have one name."""
    objects: dict[str, list[ShapeVar]] = {}

    def plain(value: Any, key: str = "") -> Any:
        match value:
            case None | int():
                return value
            case Linear():
                known = objects.setdefault(value.variable.name, [])
                if not any(each is value.variable for each in known):
                    known.append(value.variable)
                return value.text()
            case TensorSpec(held=held):
                dims = [plain(each) for each in held]
                return None if all(each is None for each in dims) else ("tensor", *dims)
            case Spec(held=dict() as held):
                return _some(type(value).__name__, {name: plain(each) for name, each in held.items()})
            case Spec(held=held):
                return _some("SeqSpec", dict(enumerate(plain(each) for each in held)))
            case dict():
                return _some(key, {name: plain(each) for name, each in value.items()})
            case list():
                return _some(key, dict(enumerate(plain(each) for each in value)))
        raise AssertionError(f"{value!r} is no part of a spec")

    params = _some("params", {name: plain(each, name) for name, each in spec.params.items()})
    assert all(len(known) == 1 for known in objects.values()), f"one name, several objects: {objects}"
    variables = {name: known[0].said for name, known in objects.items()}
    return params, tuple(sorted(variables.items())), tuple(sorted(_either_way(each.text) for each in spec.assumptions))


def _either_way(predicate: str) -> str:
    """Returns an equality with its sides in order: Python asks the side of the subclass first, a variable here."""
    return " == ".join(sorted(predicate.split(" == ")))


def _some(kind: str, held: Mapping[Any, Any]) -> Any:
    present = {key: each for key, each in held.items() if each is not None}
    return (kind, tuple(sorted(present.items(), key=str))) if present else None


def meant(found: Table) -> tuple[object, ...]:
    """Returns the same of a converted signature."""
    params: dict[str, Any] = {}
    for param in found.params:
        key = key_of(param)
        plain = _type(param.type)
        if plain is not None and param.kind in (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD):
            plain = (key, plain[1])
        params[key] = None if is_static(param.type) else plain
    variables = {name: (each.class_name, each.low, each.high, each.hint) for name, each in found.variables.items()}
    predicates = tuple(sorted(_either_way(write_predicate(each)) for each in found.assumptions))
    return _some("params", params), tuple(sorted(variables.items())), predicates


def _type(type_: Type) -> Any:
    match type_:
        case TensorType(dims=dims) if dims is not None:
            plain = [_dim(dim) for dim in dims]
            return None if all(each is None for each in plain) else ("tensor", *plain)
        case ScalarType(size=size) if size is not None:
            return _dim(size)
        case SequenceType(items=items):
            return _some("SeqSpec", dict(enumerate(map(_type, items))))
        case MappingType(entries=entries):
            return _some("DictSpec", {key: _type(each) for key, each in entries})
        case ObjectType(fields=fields):
            return _some("ObjectSpec", {key: _type(each) for key, each in fields})
        case _:
            return None


def _dim(dim: Any) -> Any:
    match dim:
        case Const(value=value):
            return value
        case Var(name=name):
            return name
        case _:
            form = linear(dim)
            return None if form is None else Linear(ShapeVar(form[1]), form[0], form[2]).text()


# ------------------------------------------------------------------------------------------ runs


@pytest.mark.parametrize("title", PROGRAMS)
def test_what_is_written_says_what_is_meant(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = Report()
    tree = parse(Source("program.py", PROGRAMS[title]), report)
    assert tree is not None
    sites = find_sites(tree, report)
    made = rewrite(tree, sites, "torch", report)
    wanted = {
        meant(found)
        for site in sites
        if not site.only_shapes
        for conversion in site.conversions
        if (found := table(conversion.signature)) is not None
    }
    if made is None:
        assert not wanted
        return
    # A call without a spec says nothing.
    opened = {name: bounds for site in sites for name, bounds in site.open.items()}
    got = {_as_known(seen(spec), opened) for spec in run(made, monkeypatch) if spec is not None}
    if "except" in made or opened:  # what is caught does not happen here, and a flag has no bounds to be read off
        wanted &= got
    assert got == wanted


def _as_known(said: tuple[Any, ...], opened: Mapping[str, str]) -> tuple[Any, ...]:
    """Returns what a spec says without the bounds that only the program knows."""
    params, variables, predicates = said
    known: list[object] = []
    for name, (kind, low, high, hint) in variables:
        bounds = opened.get(name, "")
        known.append((name, (kind, None if "min=" in bounds else low, None if "max=" in bounds else high, hint)))
    return params, tuple(known), predicates


def run(text: str, monkeypatch: pytest.MonkeyPatch) -> list[ShapesSpec]:
    """Runs a program, and its functions with every choice of flags; returns the specs that calls were given."""
    given: list[ShapesSpec] = []

    def take(*args: Any, **options: Any) -> Any:
        for each in (*args, *options.values()):
            if isinstance(each, ShapesSpec):
                given.append(each)
            else:
                assert not _has_new(each), "what is kept was edited"
        return MagicMock() if not (args and isinstance(args[0], FunctionType)) else args[0]

    def compile_(*args: Any, **options: Any) -> Any:
        take(*args, **options)
        return args[0] if args else lambda function: function

    torch = MagicMock()
    torch.nn.Module = type(
        "Module", (), {"__getattr__": lambda self, name: MagicMock(), "__call__": lambda self, *args: MagicMock()}
    )
    torch.compile = compile_
    module = MagicMock(
        **{each.__name__: each for each in (ShapesSpec, ShapeVar, IntVar, TensorSpec, SeqSpec, DictSpec, ObjectSpec)}
    )
    torch.fx.experimental.dynamic_spec = module
    for owner in (torch.export, torch.export._trace, torch._export, torch._dynamo):
        for name in ("export", "_export", "aot_compile"):
            if owner is not torch.export or name == "export":
                setattr(owner, name, take)
    torch.export.export = take
    names = {
        "torch": torch,
        "torch.nn": torch.nn,
        "torch.export": torch.export,
        "torch.export._trace": torch.export._trace,
        "torch._export": torch._export,
        "torch._dynamo": torch._dynamo,
        "torch._dynamo.decorators": torch._dynamo.decorators,
        "torch.fx": torch.fx,
        "torch.fx.experimental": torch.fx.experimental,
        "torch.fx.experimental.dynamic_spec": module,
        "einops_like": MagicMock(),
        "ours": sys.modules.get("ours") or MagicMock(),
    }
    for name, each in names.items():
        monkeypatch.setitem(sys.modules, name, each)
    space: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, "program.py", "exec"), space)
    for function in list(_functions(space)):
        count = function.__code__.co_argcount
        for flags in itertools.product((True, False), repeat=min(count, 3)):
            function(*map(_flag, flags), *[MagicMock()] * (count - 3))
    return given


def _has_new(value: Any) -> bool:
    """Returns whether torch's new classes are in a legacy spec."""
    match value:
        case Linear() | Spec() | ShapesSpec():
            return True
        case dict():
            return any(map(_has_new, value.values()))
        case list() | tuple():
            return any(map(_has_new, value))
        case _:
            return False


def _flag(value: bool) -> MagicMock:
    """Returns something that is true or false, and anything else that a program may take it for."""
    made = MagicMock(unsafe=True)  # `self.assertEqual` is no assertion of the mock
    made.__bool__.return_value = value
    return made


def _functions(space: Mapping[str, Any]) -> Iterator[FunctionType]:
    for value in space.values():
        if isinstance(value, FunctionType):
            yield value
        elif isinstance(value, type) and value.__module__ == "program" and not issubclass(value, tuple):
            for inner in vars(value).values():
                # what a decorator wrote, `__replace__` of a dataclass say, is not the program's
                is_own = isinstance(inner, FunctionType) and inner.__code__.co_filename == "program.py"
                if is_own and inner.__name__ not in ("forward", "__init__"):
                    yield inner
