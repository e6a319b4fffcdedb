"""Files and arguments from anywhere: an answer in bounded work, never a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("libcst", reason="shape functions are read with it")

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.stubs.shape_functions import (
    UNKNOWN,
    Evaluated,
    IndexTensor,
    Invalid,
    NotEvaluated,
    ShapeFunctions,
    Slice,
    load_shape_functions,
)
from shapedsl.frontends.stubs.shape_functions.einops import EINOPS
from shapedsl.frontends.stubs.shape_functions.intrinsics import INTRINSICS
from shapedsl.frontends.stubs.shape_functions.pythons import PYTHON
from shapedsl.ir import OPERATORS, Apply, Const, Ellipsis, Fresh, Static, Var, Variadic

from .language import HEAD, B, N, S, load


@pytest.mark.parametrize(
    ("source", "args", "reason"),
    [
        ("def f(n): return f(n)", [1], "its calls nest deeper than 30"),
        ("def f(n): return g(n)", [1], "there is no shape function `g`"),
        ("def f(n): return tuple(1 for i in range(10 ** 9))", [1], "it takes more than 100,000 steps"),
        ("def f(n): return tuple(1 for i in range(5000))", [1], "a tuple longer than 4,096"),
        ("def f(n): return (1,) * (10 ** 9)", [1], "a tuple longer than 4,096"),
        (
            "def f(n): return any(i < 0 for i in range(300) for j in range(1000))",
            [1],
            "it takes more than 100,000 steps",
        ),
        ("def f(n): return any(i in n for i in range(4000))", [(-7,) * 4000], "it takes more than 100,000 steps"),
        ("def f(n): return any(n.count(i) < n[0] for i in n)", [(7,) * 4000], "it takes more than 100,000 steps"),
        ("def f(n): return any(dsl.prod(n) > 1 for i in n)", [(1,) * 4000], "it takes more than 100,000 steps"),
        ("def f(n): return 2 ** 60 * 2 ** 60", [1], "a number beyond int64"),
        ("def f(n): return n ** 1000000", [7], "a power that is negative, too large or not known"),
        ("def f(n): return " + "9" * 5000, [7], "`f` cannot be interpreted: it has the expression `999"),
        (
            "def f(n): return dsl.prod(dsl.IntTuple(x + 1 for x in n))",
            [tuple(map(Var, "BCDHNQWX"))],
            "a size of more than 64 terms or factors",
        ),
        (
            "def f(n):\n" + "    n = (1 + n) // (n + 2)\n" * 30 + "    return n",
            [N],
            "a size longer than 1,000 characters",
        ),
        ("def f(n):\n    s = (n,)\n" + "    s = s + s\n" * 40 + "    return s", [N], "a tuple longer than 4,096"),
        # every `if` is undecided and goes both ways: 2 ** 40 ways in all
        (
            "def f(n):\n    k = 0\n" + "    if n == 1:\n        k = k + 1\n" * 40 + "    return k",
            [N],
            "it takes more than 100,000 steps",
        ),
        (
            "def f(n): return " + "len(" * 150 + "n" + ")" * 150,
            [N],
            "there is no shape function `f`: <shape functions>: brackets",
        ),
        ("def f(n): return __import__('os').system('x')", [1], "there is no shape function `__import__`"),
        ("def f(n): return n.__class__", [1], "`f` cannot be interpreted: it has the expression `n.__class__`"),
        ("def f(n): return (lambda: n)()", [1], "`f` cannot be interpreted: it has the call `(lambda: n)()`"),
        ("def f(n): return eval('n')", [1], "there is no shape function `eval`"),
        ("def f(n): return {n: n}", [1], "`f` cannot be interpreted: it has the expression `{n: n}`"),
        ("def f(n): return f'{n}'", [1], "`f` cannot be interpreted: it has the expression `f'{n}'`"),
        ("def f(n): return n / 2", [1], "`f` cannot be interpreted: it has the expression `n / 2`"),
        ("def f(n): return ~n", [1], "`f` cannot be interpreted: it has the expression `~n`"),
        ("def f(n): return n[1, 2]", [(1,)], "`f` cannot be interpreted: it has the expression `n[1, 2]`"),
        ("def f(n):\n    global n\n    return 1", [1], "`f` cannot be interpreted: it has the statement `global n`"),
        ("def f(n):\n    n += 1\n    return n", [1], "`f` cannot be interpreted: it has the statement `n += 1`"),
        ("def f(n):\n    for i in n: return i", [(1,)], "`f` cannot be interpreted: it has the statement `for"),
        ("def f(n):\n    import os\n    return n", [1], "`f` cannot be interpreted: it has the statement `import os`"),
        ("def f(n):\n    return", [1], "`f` cannot be interpreted: it has the statement `return`"),
        ("def f(*n): return 1", [1], "`f` cannot be interpreted: it takes `*args` or `**kwargs`, or is async"),
        ("def f(n): return g(**n)", [1], "`f` cannot be interpreted: it has the call `g(**n)`"),
    ],
)
def test_hostile_functions(source: str, args: list[Any], reason: str) -> None:
    outcome = load(source).evaluate("f", args)
    assert isinstance(outcome, NotEvaluated)
    assert outcome.reason.startswith(reason)


def test_an_unreadable_file_has_no_functions(tmp_path: Path) -> None:
    report = Report()
    functions = load_shape_functions(Source("x.pyi", "def f(:"), report)
    assert [diagnostic.code for diagnostic in report] == ["syntax-error"]
    assert functions.names == ()
    assert functions.evaluate("f", []) == NotEvaluated("there is no shape function `f`: x.pyi: this is no Python")
    assert isinstance(functions.evaluate("broadcast", [(B,), (B,)]), Evaluated)

    missing = load_shape_functions(tmp_path / "none.pyi").evaluate("f", [])
    assert isinstance(missing, NotEvaluated)
    assert "none.pyi cannot be read" in missing.reason
    (tmp_path / "latin.pyi").write_bytes(b"\xff\xfe\xff")
    assert isinstance(load_shape_functions(tmp_path / "latin.pyi").evaluate("f", []), NotEvaluated)


def test_a_file_is_read_once_while_it_stays(tmp_path: Path) -> None:
    path = tmp_path / "shapes.pyi"
    path.write_text(HEAD + "@type_shape_dsl_function\ndef f(x): return 1\n", encoding="utf-8")
    assert load_shape_functions(path) is load_shape_functions(path)


def test_nothing_of_a_file_is_executed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    functions = load_shape_functions(
        HEAD
        + f"open({str(victim)!r}, 'w')\n"
        + f"@type_shape_dsl_function\ndef f(x=open({str(victim)!r}, 'w')): return 1\n"
    )
    assert isinstance(functions.evaluate("f", []), NotEvaluated)
    assert not victim.exists()


SIZES = st.recursive(
    st.sampled_from([Const(-1), Const(0), Const(1), Const(7), Const(2**62), Var("B"), Var("N")]),
    lambda inner: st.sampled_from(list(OPERATORS.values())).flatmap(
        lambda op: st.lists(inner, min_size=op.arity or 1, max_size=op.arity or 3).map(
            lambda args: Apply(op, tuple(args))
        )
    ),
    max_leaves=4,
)
DIMS = SIZES | st.sampled_from([Variadic("S"), Variadic("R"), Static(), Ellipsis(), Fresh(), Fresh("K")])
LEAVES = st.one_of(
    st.integers(-3, 5),
    st.sampled_from([None, True, False, UNKNOWN, "mean", "(n),(n)->()", "ij->j", "a (b c) -> a b"]),
    DIMS,
    st.lists(DIMS, max_size=4).map(tuple),
    st.builds(Slice, *[st.none() | SIZES] * 3),
    st.builds(IndexTensor, st.lists(DIMS, max_size=2).map(tuple), st.booleans()),
    st.dictionaries(st.sampled_from("abc"), SIZES, max_size=2),
)
ARGUMENTS = LEAVES | st.lists(LEAVES, max_size=3).map(tuple)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted({**INTRINSICS, **EINOPS, **PYTHON})), st.lists(ARGUMENTS, max_size=4))
def test_any_arguments_give_an_answer(name: str, args: list[Any]) -> None:
    assert isinstance(ShapeFunctions().evaluate(name, args), (Evaluated, Invalid, NotEvaluated))


def test_an_absurdly_nested_size_gives_an_answer() -> None:
    size: Any = B
    for _ in range(5000):
        size = Apply(OPERATORS["-"], (Const(0), size))
    outcome = ShapeFunctions().evaluate("dsl.prod", [(size, S)])
    assert outcome == NotEvaluated("it nests too deeply")
