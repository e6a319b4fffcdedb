"""From any callable to its plain function, its parameters, and what decorators said of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from shapedsl.annotations import shapes, where
from shapedsl.frontends.annotated.callables import RawCallable, unwrap
from shapedsl.ir import ParamKind


def passing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@shapes(x="B")
def function(x: object, /, y: object = 3, *args: object, z: object, w: object = None, **kwargs: object) -> None: ...


class Net:
    def forward(self, x: object) -> None: ...

    def typed(self: Net, x: object) -> None: ...

    @classmethod
    def cls_method(cls, x: object) -> None: ...

    def __call__(self, x: object, y: object) -> None: ...

    def named_parameters(self) -> None:
        """What tells a module from other objects."""


def known(target: object) -> RawCallable:
    found = unwrap(target)
    assert found is not None
    return found[0]


def test_kinds_and_defaults_are_pythons() -> None:
    raw = known(function)
    assert [(p.name, p.kind, p.default) for p in raw.parameters] == [
        ("x", ParamKind.POSITIONAL_ONLY, False),
        ("y", ParamKind.POSITIONAL_OR_KEYWORD, True),
        ("args", ParamKind.VAR_POSITIONAL, False),
        ("z", ParamKind.KEYWORD_ONLY, False),
        ("w", ParamKind.KEYWORD_ONLY, True),
        ("kwargs", ParamKind.VAR_KEYWORD, False),
    ]


class Bound:
    @shapes("dim B in [1, 64]", where="B < 32")
    def forward(self, x: object) -> None: ...

    @shapes("dim B in [1, 64]", where="B < 32")
    def __call__(self, x: object) -> None: ...

    @classmethod
    @shapes("dim B in [1, 64]", where="B < 32")
    def make(cls, x: object) -> None: ...

    def named_parameters(self) -> None:
        """What tells a module from other objects."""


@pytest.mark.parametrize(
    "target",
    [
        Bound,
        Bound.forward,
        Bound(),
        Bound().forward,
        Bound().__call__,
        Bound.make,
        Bound().make,
        vars(Bound)["make"],
        functools.partial(Bound().forward),
        passing(Bound().forward),
    ],
)
def test_facts_of_a_bound_method_count_once(target: object) -> None:
    facts = known(target).facts
    assert facts is not None
    assert (facts.clauses, facts.wheres) == (["dim B in [1, 64]"], ["B < 32"])


class _Callable:
    def __call__(self, x: object) -> None: ...


@pytest.mark.parametrize(
    ("target", "name", "parameters", "receiver"),
    [
        (Net.forward, "Net.forward", ["x"], "self"),
        (Net().forward, "Net.forward", ["x"], "self"),
        (Net(), "Net.forward", ["x"], "self"),
        (Net, "Net.forward", ["x"], "self"),
        (Net.cls_method, "Net.cls_method", ["x"], "cls"),
        (vars(Net)["cls_method"], "Net.cls_method", ["x"], "cls"),
        (passing(Net.forward), "Net.forward", ["x"], "self"),
        (functools.partial(function, 1), "function", ["y", "args", "z", "w", "kwargs"], None),
        (_Callable(), "_Callable.__call__", ["x"], "self"),
        (lambda x, y: (x, y), "_lambda", ["x", "y"], None),
        (passing(passing(function)), "function", ["x", "y", "args", "z", "w", "kwargs"], None),
    ],
)
def test_the_plain_function_is_found(target: object, name: str, parameters: list[str], receiver: str | None) -> None:
    raw = known(target)
    assert (raw.name, [p.name for p in raw.parameters], raw.receiver) == (name, parameters, receiver)


def test_a_typed_receiver_is_a_parameter() -> None:
    assert [p.name for p in known(Net.typed).parameters] == ["self", "x"]


def test_builtins_have_nothing_to_read() -> None:
    assert unwrap(len) is None
    assert unwrap(functools.partial(len)) is None
    assert unwrap(3) is None


def test_names_forget_the_functions_they_were_made_in() -> None:
    class Local:
        def method(self) -> None: ...

    assert known(Local.method).name == "Local.method"


def test_facts_of_wrappers_and_of_what_they_wrap_add_up() -> None:
    wrapped = shapes(hints={"B": 8})(passing(where("B < 32")(function)))
    facts = known(wrapped).facts
    assert facts is not None
    assert (facts.hints, facts.wheres, facts.params) == ({"B": 8}, ["B < 32"], {"x": "B"})
