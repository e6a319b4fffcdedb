"""The part of Python that shape functions are written in, on files of their own."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("libcst", reason="shape functions are read with it")

from shapedsl.frontends.stubs.shape_functions import UNKNOWN, Evaluated, Invalid, NotEvaluated, load_shape_functions
from shapedsl.ir import OPERATORS, Apply, Const, Ellipsis, Fresh, Static, Var

from .language import HEAD, B, D, H, M, N, R, S, load, result, written


@pytest.mark.parametrize(
    ("body", "args", "expected"),
    [
        # ints compute as in Python
        ("a + b * 2 - 1", (3, 4), "10"),
        ("a // b", (-7, 2), "-4"),
        ("a % b", (-7, 2), "1"),
        ("-a", (3,), "-3"),
        ("a ** 3", (2,), "8"),
        # sizes are polynomials
        ("a + a", (B,), "2 * B"),
        ("a + 1 - 1", (B,), "B"),
        ("a - a", (B,), "0"),
        ("(a + 1) * (a - 1)", (B,), "B * B - 1"),
        ("(a + 2 * 1 - 1 * (3 - 1) - 1) // 2 + 1", (H,), "(H + 1) // 2"),
        ("a * 4 // 2", (B,), "2 * B"),
        ("(a * 4 + 3) % 2", (B,), "1"),
        ("a * b // b", (B, D), "B * D // D"),
        ("1 - a", (B,), "1 - B"),
        ("-a", (B,), "-B"),
        ("a ** 2", (B,), "B * B"),
        ("a // b", (B, D), "B // D"),
        ("a % b", (B, 8), "B % 8"),
        ("min(a, a + 1)", (B,), "B"),
        ("max(a, b, 1)", (B, D), "max(max(B, D), 1)"),
        ("abs(a)", (-3,), "3"),
        ("sum((a, b, 2))", (B, D), "B + D + 2"),
        ("a + 1", (Apply(OPERATORS["cdiv"], (B, Const(2))),), "1 - -B // 2"),
        ("a + 1", (Apply(OPERATORS["prod"], (S,)),), "prod(*S) + 1"),
        # what is not known stays so
        ("a + 1", (Static(),), "_"),
        ("a", (Fresh("K"),), "?K"),
        ("(a, a)", (Fresh(),), "(?, ?)"),
        # shapes
        ("a", ((B, 3),), "(B, 3)"),
        ("a[0]", ((B, 3),), "B"),
        ("a[-1]", ((B, 3),), "3"),
        ("a[1:]", ((B, 3, D),), "(3, D)"),
        ("a[::2]", ((B, 3, D),), "(B, D)"),
        ("a[:-1] + (1,)", ((B, 3, D),), "(B, 3, 1)"),
        ("(1,) * 3", (), "(1, 1, 1)"),
        ("(*a, 1, *a)", ((B, 3),), "(B, 3, 1, B, 3)"),
        ("[a, 1]", (B,), "(B, 1)"),
        ("len(a)", ((B, 3),), "2"),
        ("(a, a[:1])", ((B, 3),), "((B, 3), (B))"),
        # generators
        ("tuple(x + 1 for x in a)", ((B, 3),), "(B + 1, 4)"),
        ("tuple((x for x in a if x != 3))", ((1, 3),), "(1)"),
        ("tuple(x for x in range(6) if x > 1 if x % 2 == 0)", (), "(2, 4)"),
        ("tuple(x * y for x in a for y in b)", ((2, B), (1, 3)), "(2, 6, B, 3 * B)"),
        ("tuple(x * y for x, y in zip(a, b))", ((2, B), (D, 3)), "(2 * D, 3 * B)"),
        ("tuple(i * x for i, x in enumerate(a))", ((2, B),), "(0, B)"),
        ("tuple(range(5, 0, -2))", (), "(5, 3, 1)"),
        ("tuple(reversed(a))", ((2, B),), "(B, 2)"),
        ("[x for x in a]", ((2, B),), "(2, B)"),
        ("sum(tuple(1 for x in a if x == 3))", ((2, 3, 3),), "2"),
        ("min((x for x in a))", ((4, 3),), "3"),
        # conditions
        ("1 if a == 3 else 2", (3,), "1"),
        ("1 if 0 <= a < 3 else 2", (3,), "2"),
        ("1 if a is None else 2", (None,), "1"),
        ("1 if a is not None and a > 1 else 2", (None,), "2"),
        ("1 if not b or a == 7 else 2", (3, True), "2"),
        ("1 if b in ('mean', 'sum') else 2", (0, "sum"), "1"),
        ("1 if a not in (1, 2) else 2", (3,), "1"),
        ("1 if any(x == 2 for x in a) else 2", ((B, 2),), "1"),
        ("1 if all(x == 2 for x in a) else 2", ((B, 3),), "2"),
        ("1 if any(a) else 2", ((False, True),), "1"),
        ("1 if a else 2", ((),), "2"),
        ("a.count(2)", ((2, 1, 2),), "2"),
        ("a.index(2)", ((1, 2),), "1"),
        # conditions on sizes that hold, or fail, whatever the sizes are
        ("1 if a + 1 > a else 2", (B,), "1"),
        ("1 if a == b else 2", (B, B), "1"),
        ("1 if a * 2 != a + a else 2", (B,), "2"),
        ("1 if a[0] == 2 and b else 2", ((3,), UNKNOWN), "2"),
        ("1 if a == a[:2] else 2", ((B, D),), "1"),
        ("1 if dsl.is_concrete_int(a) else 2", (Static(),), "2"),
        ("a if dsl.is_concrete_int(a) else a", (B,), "B"),
        ("1 if dsl.is_int_value(a) else 2", (B,), "1"),
        ("1 if dsl.is_int_value(a) else 2", ((1,),), "2"),
        # both ways agree
        ("a if a == b else a", (B, D), "B"),
        ("(a, b) if a == b else (a, a)", (B, D), "(B, _)"),
    ],
)
def test_expressions(body: str, args: tuple[Any, ...], expected: str) -> None:
    assert written(result(body, *args)) == expected


@pytest.mark.parametrize(
    ("body", "args", "reason"),
    [
        ("1 if a == b else 2", (B, D), None),  # an unknown size, which the next test says more of
        ("1 if a == 1 else (1,)", (B,), "the sizes do not decide `B == 1`"),
        ("(1,) if a < 1 else ()", (Static(),), "the sizes do not decide `_ < 1`"),
        ("dsl.Invalid('no') if a == 1 else a", (B,), "the sizes do not decide `B == 1`"),
        ("tuple(x for x in a if x != 1)", ((B,),), "the sizes do not decide `B == 1`"),
        ("a.index(b)", ((B,), 1), "the sizes do not decide `B == 1`"),
        ("a.index(b)", ((2,), 1), "1 is not in (2,)"),
        ("a[3]", ((B,),), "(B,) has no item 3"),
        ("a[b]", ((B,), UNKNOWN), "which dim of (B,) has the index _ is not known"),
        ("a // 0", (B,), "a division by zero"),
        ("a + 1", ((B,),), "`(B,) + 1`"),
        ("a", (True,), "the result is True, no size and no shape"),
        ("a", ("x",), "the result is 'x', no size and no shape"),
        ("(a, None)", (B,), "the result has a dim that is None"),
        ("d", (), "`d` is not defined"),
        ("len", (), "`len` is not defined"),
        ("open('x')", (), "there is no shape function `open`"),
        ("dsl.secret(a)", (B,), "there is no shape function `dsl.secret`"),
        ("len()", (), "`len` does not take these arguments"),
        ("dsl.concat(a, b, other=a)", ((), ()), "`dsl.concat` does not take these arguments"),
        ("a(1)", (B,), "it calls `a`, a value"),
        ("a.bit_length()", (B,), "it calls `.bit_length` of B"),
        ("tuple(a)", (UNKNOWN,), "_ is no sequence whose items are known"),
        ("range(a)[0]", (B,), "an item of range(0, B)"),
        ("tuple(range(a))", (B,), "range(0, B) is no sequence whose items are known"),
        ("tuple(1 for x in range(a))", (B,), "range(0, B) is not known"),
        ("tuple(range(1, 2, 0))", (), "`range` from 1 to 2 by 0"),
        ("1 if a < b else 2", ("x", 1), "`'x' < 1`"),
        ("dsl.IntTuples.gradual()", (), "the function leaves open how many shapes there are"),
        ("dsl.IntTuple((a,))", (None,), "None is no size"),
        ("a", (object(),), "a object is no argument of shape functions"),
    ],
)
def test_expressions_without_a_result(body: str, args: tuple[Any, ...], reason: str | None) -> None:
    outcome = result(body, *args)
    assert outcome == (
        Evaluated(Static(), ("the sizes do not decide `B == D`",)) if reason is None else NotEvaluated(reason)
    )


FILE = load(
    '''
def checked(shape: IntTuple, axis: int = 0, *, keep: bool = False) -> IntTuple:
    """Docstrings are no statements."""
    first, *_ = 1, 2
    return shape
''',
    """
def sized(shape: IntTuple, axis: int = 0, *, keep: bool = False) -> IntTuple:
    '''Docstrings are no statements.'''
    rank: int = len(shape)
    if rank == 0:
        pass
    elif axis < 0 - rank or axis >= rank:
        return dsl.Invalid("axis out of range")
    else:
        if axis < 0:
            place = axis + rank
        else:
            place = axis
        low, high = place, place + 1
        middle = dsl.IntTuple((1,)) if keep else dsl.IntTuple(())
        return joined(shape[:low], joined(middle, shape[high:]))
    return dsl.IntTuple.gradual()
""",
    "def joined(left, right): return dsl.concat(left, right)",
    "def open_size(shape): return dsl.concat(shape, dsl.IntTuple((dsl.Int.gradual(),)))",
    "def endless(n): return endless(n + 1)",
    "def nothing(n):\n    if n == 1:\n        return n",
    "def broken(n):\n    while True:\n        n = n + 1",
    "def square(shape):\n    if shape[0] == shape[1]:\n        return shape[:1]\n    return (dsl.Int.gradual(),)",
)


@pytest.mark.parametrize(
    ("name", "args", "keywords", "expected"),
    [
        ("sized", [(B, 3, D), 1], {}, "(B, D)"),
        ("sized", [(B, 3, D)], {}, "(3, D)"),
        ("sized", [(B, 3, D), -1], {"keep": True}, "(B, 3, 1)"),
        ("sized", [(B, 3, D)], {"axis": 2}, "(B, 3)"),
        ("sized", [(), 1], {}, "(...)"),
        ("sized", [(B,), 1], {}, "Invalid: axis out of range"),
        ("sized", [(S, B, D), -1, True], {}, "(*S, B, 1)"),
        ("open_size", [(B,)], {}, "(B, _)"),
        ("square", [(B, B)], {}, "(B)"),
        ("square", [(B, D)], {}, "(_)"),
        ("nothing", [1], {}, "1"),
        ("nothing", [2], {}, "not evaluated: it ends without a `return`"),
        ("endless", [1], {}, "not evaluated: its calls nest deeper than 30"),
        ("sized", [], {}, "not evaluated: `sized` needs `shape`"),
        ("sized", [(B,), 1, True, 2], {}, "not evaluated: `sized` takes (shape, axis, keep)"),
        ("sized", [(B,)], {"shape": (B,)}, "not evaluated: `sized` takes (shape, axis, keep)"),
        ("absent", [], {}, "not evaluated: there is no shape function `absent`"),
        (
            "broken",
            [1],
            {},
            "not evaluated: `broken` cannot be interpreted: it has the statement `while True: n = n + 1`",
        ),
        ("checked", [(B,)], {}, "not evaluated: `checked` cannot be interpreted: it assigns to `first, *_`"),
        ("broadcast", [(B, 1), (N,)], {}, "(B, N)"),
    ],
)
def test_functions(name: str, args: list[Any], keywords: dict[str, Any], expected: str) -> None:
    assert written(FILE.evaluate(name, args, keywords)) == expected


def test_what_cannot_be_interpreted_is_told() -> None:
    assert FILE.unreadable() == {
        "broken": "`broken` cannot be interpreted: it has the statement `while True: n = n + 1`",
        "checked": "`checked` cannot be interpreted: it assigns to `first, *_`",
    }


@pytest.mark.parametrize(
    ("body", "args", "expected"),
    [
        # what is known of a shape with a variadic is known from either end
        ("a[0]", ((B, S, N),), "B"),
        ("a[-1]", ((B, S, N),), "N"),
        ("a[:1]", ((B, S, N),), "(B)"),
        ("a[:-1]", ((B, S, N),), "(B, *S)"),
        ("a[1:-1]", ((B, S, N),), "(*S)"),
        ("a[len(a) - 2:]", ((S, M, N),), "(M, N)"),
        ("a[:5][:1]", ((B, M),), "(B)"),
        ("(1 if len(a) >= 2 else 0)", ((B, S, N),), "1"),
        ("(1 if len(a) == 0 else 0)", ((S, N),), "0"),
        ("(1 if -1 < 0 - len(a) else 0)", ((S, N),), "0"),
        ("(1 if len(a) == len(b) else 0)", ((S, N), (M, S)), "1"),
        ("len(a) - len(b)", ((S, N, M), (S,)), "2"),
        ("(len(a),)", ((S, N),), "(_)"),
        ("dsl.prod(a)", ((B, S),), "B * prod(*S)"),
        ("dsl.prod(a)", ((Ellipsis(), 0),), "0"),
        ("dsl.prod(a)", ((Ellipsis(), 2),), "_"),
        # a loop over all dims takes a variadic as a whole
        ("tuple(a[i] for i in range(len(a)))", ((B, S, N),), "(B, *S, N)"),
        ("tuple(a[i] for i in range(len(a) - 1))", ((B, S, N),), "(B, *S)"),
        ("tuple(1 if i == len(a) - 1 else a[i] for i in range(len(a)))", ((S, N),), "(*S, 1)"),
        ("tuple(1 if i == 0 else a[i - 1] for i in range(len(a) + 1))", ((S, N),), "(1, *S, N)"),
        ("tuple(a[i] for i in range(len(a)) if i != 0)", ((B, S, N),), "(*S, N)"),
        ("tuple(x for x in a)", ((B, S),), "(B, *S)"),
        ("tuple(x for x in a)", ((B, Ellipsis()),), "(B, ...)"),
        ("tuple(x for x, y in zip(a, b))", ((B, S), (N, S)), "(B, *S)"),
        ("1 if any(x == 2 for x in a) else 0", ((S, 2),), "1"),
        ("1 if any(i > len(a) for i in range(len(a))) else 0", ((S, 2),), "0"),
        ("1 if any(dsl.is_concrete_int(x) and x < 0 for x in a) else 0", ((S, 2),), "0"),
        ("1 if a == b else 0", ((S, N), (S, N)), "1"),
        # and what is not, is not
        ("a[1]", ((S, N, M),), "not evaluated: which dim of (*S, N, M) has the index 1 is not known"),
        ("a[:2]", ((S, N, M),), "not evaluated: where 2 stands in (*S, N, M) is not known"),
        ("a[:-2]", ((S, N),), "not evaluated: where len(*S) + -1 stands in (*S, N) is not known"),
        ("a[::-1]", ((S, N),), "not evaluated: steps of -1 through (*S, N)"),
        ("tuple(reversed(a))", ((S, N),), "not evaluated: `reversed` of (*S, N)"),
        ("tuple(1 for x in a)", ((S, N),), "not evaluated: 1 would be repeated, and how often is not known"),
        ("tuple(x + 1 for x in a)", ((S, N),), "not evaluated: `*S + 1`"),
        (
            "tuple(x for x, y in zip(a, b))",
            ((B, S), (N, M)),
            "not evaluated: which dims of (B, *S) and (N, M) belong together is not known",
        ),
        ("(1,) if len(a) == 2 else ()", ((S, N),), "not evaluated: the sizes do not decide `len(*S) + 1 == 2`"),
        ("(1,) if any(len(a) > 0 for i in range(len(a))) else ()", ((S, N),), "(1)"),
        (
            "(1,) if any(True for x in a) else ()",
            ((S,),),
            "not evaluated: whether there are any such dims is not known",
        ),
        ("(1,) if all(x == 1 for x in a) else ()", ((S,),), "not evaluated: the sizes do not decide `*S == 1`"),
        ("(1,) if a == b else ()", ((S, N), (R, N)), "not evaluated: the sizes do not decide `(*S, N) == (*R, N)`"),
        ("(1,) if a == a else ()", ((Ellipsis(),),), "(1)"),
        (
            "(1,) if a == b else ()",
            ((Ellipsis(),), (Ellipsis(),)),
            "not evaluated: the sizes do not decide `(...,) == (...,)`",
        ),
    ],
)
def test_shapes_of_unknown_rank(body: str, args: tuple[Any, ...], expected: str) -> None:
    assert written(result(body, *args)) == expected


def test_a_size_that_no_int_confirms_is_refused() -> None:
    """Asked for a symbolic size, the function gives a formula that its own answers to ints contradict."""
    functions = load(
        "def steps(n, step):\n    if dsl.is_concrete_int(n):\n        return (n + step - 1) // step\n    return n // step"
    )
    assert functions.evaluate("steps", [7, 2]) == Evaluated(Const(4))
    assert functions.evaluate("steps", [N, 1]) == Evaluated(N)
    outcome = functions.evaluate("steps", [N, 2])
    assert outcome == NotEvaluated("for all sizes it gives N // 2, but at N = 1 it gives 1")


def test_a_refusal_that_no_int_confirms_is_none() -> None:
    functions = load(
        "def f(n):\n    if dsl.is_concrete_int(n) and n == 0:\n        return n\n    return dsl.Invalid('not empty')"
    )
    assert functions.evaluate("f", [3]) == Invalid("not empty")
    assert isinstance(functions.evaluate("f", [N]), NotEvaluated)


def test_names_of_the_file_come_first() -> None:
    functions = load_shape_functions(
        HEAD
        + "import shape_extensions\nfrom shape_extensions import broadcast as spread\n"
        + "@type_shape_dsl_function\ndef len(x): return 7\n"
        + "@type_shape_dsl_function\ndef f(x): return (len(x), *spread(x, x), *shape_extensions.dsl.concat(x, x))\n"
        + "def helper(x): return 1\n"
    )
    assert functions.names == ("len", "f")
    assert written(functions.evaluate("f", [(B,)])) == "(7, B, B, B)"
    assert isinstance(functions.evaluate("helper", [1]), NotEvaluated)


def test_results_are_arguments() -> None:
    functions = load("def twice(s): return s + s", "def pair(s): return dsl.IntTuples((s, twice(s)))")
    first = functions.evaluate("twice", [(B, 2, Static())])
    assert isinstance(first, Evaluated)
    assert (
        written(functions.evaluate("pair", [first.value]))
        == "((B, 2, _, B, 2, _), (B, 2, _, B, 2, _, B, 2, _, B, 2, _))"
    )
    assert first.dims == (B, Const(2), Static()) * 2
    with pytest.raises(TypeError, match="no shape"):
        _ = Evaluated(Var("B")).dims
