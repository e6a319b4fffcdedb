"""Annotations that Python keeps as strings: what their names mean, and what becomes of names nobody defines."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="arg-type,attr-defined,call-arg,empty-body,func-returns-value,misc,name-defined,no-untyped-call,operator,syntax,type-arg,unused-ignore,valid-type,return,explicit-override"

from __future__ import annotations

import typing
from typing import Any

import pytest

from shapedsl.annotations import Tensor
from shapedsl.frontends.annotated.namespace import Namespace, Unknown, of_class, of_function

Here = Tensor["global_alias"]


class Outer:
    Alias = Tensor["class_alias"]
    size = 3

    class Inner:
        def method(self) -> None: ...


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("Tensor[B, D]", "Tensor[B, D]"),
        ("Tensor['B', '2*D']", "Tensor[B, 2*D]"),
        ("Tensor[2*B + 1, (B + D) * 2, -B**2]", "Tensor[2 * B + 1, (B + D) * 2, -B**2]"),
        ("Tensor[B, ...]", "Tensor[B, ...]"),
        ("Tensor[L['2*B'], L[3], L['_', 4]]", "Tensor[2*B, 3, _, 4]"),
        ("Tensor[max(B, 3), min(B, D), cdiv(B, 8), len]", "Tensor[max(B, 3), min(B, D), cdiv(B, 8), len]"),
        ("int64[B]", "int64[B]"),
        ("  Tensor[\n  B]", "Tensor[B]"),
        ("None", "None"),
    ],
)
def test_unknown_names_are_sizes(text: str, meaning: str) -> None:
    assert repr(Namespace().evaluate(text)) == meaning


def test_unknown_names_outside_of_brackets_are_kept_as_such() -> None:
    missing = Namespace().evaluate("numpy.ndarray[B, 3]")
    assert isinstance(missing, Unknown)
    assert missing.shown == "numpy.ndarray[B, 3]"
    optional = Namespace().evaluate("Config | None")
    assert typing.get_args(optional) == (Unknown("Config"), type(None))
    assert typing.get_args(Namespace().evaluate("Optional[Config]")) == (Unknown("Config"), type(None))


def test_what_raises_is_the_annotations_own_error() -> None:
    with pytest.raises(ZeroDivisionError):
        Namespace().evaluate("Tensor[1 // 0]")
    with pytest.raises(SyntaxError):
        Namespace().evaluate("Tensor[")


def test_known_names_win_in_pythons_order() -> None:
    def outer() -> Any:
        closed = Tensor["closure"]

        def inner(x: closed) -> object:
            return closed

        return inner

    names = of_function(outer(), {})
    assert repr(names.evaluate("closed")) == "Tensor[closure]"
    assert names.evaluate("Here") is Here
    assert names.evaluate("tuple") is tuple


def test_a_cell_that_is_still_empty_is_an_unknown_name() -> None:
    def inner() -> object:
        return later

    names = of_function(inner, {})
    assert isinstance(names.evaluate("later"), Unknown)
    later = 3
    assert names["later"] is not later


def test_methods_see_their_class_after_the_globals() -> None:
    method = of_function(Outer.Inner.method, {})
    assert repr(method.evaluate("Alias")) == "Tensor[class_alias]"
    assert repr(of_class(Outer).evaluate("Alias")) == "Tensor[class_alias]"
    assert method.evaluate("Here") is Here
