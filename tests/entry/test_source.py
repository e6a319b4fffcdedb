"""The text of entry functions: what torch sees."""

from __future__ import annotations

import inspect
import traceback
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="entry functions touch tensors")

from shapedsl.diagnostics import Report
from shapedsl.ir.expand import expand
from shapedsl.ir.expanded import Lowered
from shapedsl.runtime.code import source_of
from shapedsl.targets.entry.parameters import parameters_of
from shapedsl.targets.entry.source import entry_function
from tests.entry.compiling import lower
from tests.runtime.fakes import signature


def lowered(text: str) -> Lowered:
    report = Report()
    expanded = expand(signature(text), None, is_tensor=lambda value: isinstance(value, torch.Tensor), report=report)
    report.raise_errors()
    assert expanded is not None
    return lower(expanded, {}, True)


def entry(target: Any, text: str, **options: Any) -> Any:
    return entry_function(target, parameters_of(target, signature(text)), lowered(text), name="named", **options)


class Unreadable:
    """A default whose repr is no Python."""

    def __repr__(self) -> str:
        return "<not code>"


DEFAULT = Unreadable()


def test_every_leaf_is_touched_and_the_signature_is_the_targets() -> None:
    def target(x: Any, /, d: Any, *rest: Any, n: Any, default: Any = DEFAULT, **others: Any) -> Any: ...

    text = 'def target(x: Tensor[B], d: {"k": Tensor[_, B], "s": Tensor[_]}, n: Scalar[n]):\n    int n in [0, inf]'
    made = entry(target, text)
    assert source_of(made) == (
        "def _s_f(x, /, d, *rest, n, default=_s_default_4, **others):\n"
        "    x.size(0)\n"
        "    d['k'].size(0)\n"
        "    n >= 0\n"
        "    return _s_target(x, d, *rest, n=n, default=default, **others)\n"
    )
    assert made.__name__ == made.__code__.co_name == "named"
    assert str(inspect.signature(made)) == "(x, /, d, *rest, n, default=<not code>, **others)"
    assert inspect.signature(made).parameters["default"].default is DEFAULT


def test_attributes_and_elements_are_reached_as_python_reaches_them() -> None:
    def target(g: Any, kvs: Any) -> Any: ...

    made = entry(target, "def target(g: Graph(x: Tensor[N], class: Tensor[N]), kvs: [(Tensor[P], Tensor[P])]): ...")
    assert source_of(made).splitlines()[1:-1] == [
        "    g.x.size(0)",
        "    _s_getattr(g, 'class').size(0)",
        "    kvs[0][0].size(0)",
        "    kvs[0][1].size(0)",
    ]


def test_our_names_avoid_the_users() -> None:
    scope: dict[str, Any] = {}
    exec("def f(_s_target, __s_n, x): return _s_target, __s_n, x", scope)
    made = entry(scope["f"], "def f(x: Tensor[B]): ...")
    assert made(1, 2, torch.ones(1))[:2] == (1, 2)
    assert "return __s_target(" not in source_of(made)


def test_tracebacks_show_the_generated_line() -> None:
    def target(x: Any) -> Any:
        raise RuntimeError("from the target")

    made = entry(target, "def target(x: Tensor[B]): ...")
    try:
        made(torch.ones(1))
    except RuntimeError as error:
        lines = [frame.line for frame in traceback.extract_tb(error.__traceback__)]
        assert "return _s_target(x)" in lines
    else:
        pytest.fail("the target raises")
