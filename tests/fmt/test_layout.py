"""The canonical layout, one rule a case. Every expected text is also checked to be its own layout."""

from __future__ import annotations

import pytest

from shapedsl.frontends.text.format import layout

# Each case: what is read, what is written. `same` cases are canonical already.
SPACING = {
    "operators": ("let S=2*B+1//n%3-x ** 2", "let S = 2 * B + 1 // n % 3 - x**2"),
    "unary minus": ("int k in [ - inf , -1 ] hint - 3", "int k in [-inf, -1] hint -3"),
    "minus behind a word": ("where  not - B < - 1,-x == 0", "where not -B < -1, -x == 0"),
    "minus behind a name": ("where at -1 < to - 1", "where at - 1 < to - 1"),
    "negative exponent": ("let S = 2**-1", "let S = 2**-1"),
    "power of a bracket": ("let S = (a+1) ** 2", "let S = (a + 1)**2"),
    "stars": (
        "def f(a,*,x:Tensor[ * b,D],* args:[T, * _],** kw:{}):...",
        "def f(a, *, x: Tensor[*b, D], *args: [T, *_], **kw: {}): ...",
    ),
    "slash": ("def f(a , / , b) : ...", "def f(a, /, b): ..."),
    "variadic": ("dim * batch in [1,8]", "dim *batch in [1, 8]"),
    "defaults": ("def f(a = _,b:T=_): ...", "def f(a=_, b: T = _): ..."),
    "default behind a bracket": ("def f(b:T[B]|None=_): ...", "def f(b: T[B] | None = _): ..."),
    "return type": ("def f()->(T[B],):...", "def f() -> (T[B],): ..."),
    "second spec": ("def a . b @ 2 (x : T) : ...", "def a.b@2(x: T): ..."),
    "fresh": ("def f(x: [( T[ ? ] , T[? K])] * n): ...", "def f(x: [(T[?], T[?K])] * n): ..."),
    "ellipsis": ("where B in {16,32,...,256}", "where B in {16, 32, ..., 256}"),
    "not in": ("where B not  in[0,8]", "where B not in [0, 8]"),
    "calls": ("let S = max ( a , cdiv( b,2 ) , prod( *b ))", "let S = max(a, cdiv(b, 2), prod(*b))"),
    "multiple": ("dim B in[0,inf]multiple of(8)plus 3 hint(8)", "dim B in [0, inf] multiple of (8) plus 3 hint (8)"),
    "keyword as a name": ("dim hint hint 8", "dim hint hint 8"),
    "bucket": (
        "bucket T in {1,2}shared left pad(ids  with-1.5,m axis 3 with[0,-1])as masked",
        "bucket T in {1, 2} shared left pad (ids with -1.5, m axis 3 with [0, -1]) as masked",
    ),
    "shared pad": ("bucket T in {1} shared pad (a with 0)", "bucket T in {1} shared pad (a with 0)"),
    "values": ("values d [ 'k' ] . x sorted from-1 to T", 'values d["k"].x sorted from -1 to T'),
    "case": ("case big :B>=1,S==2 eager hint B=1", "case big: B >= 1, S == 2 eager hint B = 1"),
    "quotes": (
        """where a "it's", b 'say "x"', c 'plain', d 'a\\'b'""",
        """where a "it's", b 'say "x"', c "plain", d 'a\\'b'""",
    ),
    "import": ("from 'a.shapes'import(B,C)", 'from "a.shapes" import (B, C)'),
    "one-tuple keeps its comma": ("type T = (A , )", "type T = (A,)"),
    "a comma that says nothing goes": ("type T = [A , ]", "type T = [A]"),
    "dict": ("type T = {'k':A,- 1:B}", 'type T = {"k": A, -1: B}'),
}


@pytest.mark.parametrize(("text", "expected"), SPACING.values(), ids=SPACING.keys())
def test_spacing(text: str, expected: str) -> None:
    assert layout(text) == expected + "\n"
    assert layout(expected) == expected + "\n"


LONG = "def f(alpha: Tensor[B, 2 * B + 1], beta: Tensor[B, D], gamma: Tensor[D]) -> Tensor[B, D]"
BROKEN = "def f(\n    alpha: Tensor[B, 2 * B + 1],\n    beta: Tensor[B, D],\n    gamma: Tensor[D],\n) -> Tensor[B, D]"

BREAKING = {
    "88 columns stay": (f"{LONG.replace('gamma', 'gamm')}: # c", f"{LONG.replace('gamma', 'gamm')}:  # c\n"),
    "89 columns break": (f"{LONG}: # c", f"{BROKEN}:  # c\n"),
    "a trailing comma keeps it broken": ("def f(\n  x: T,): ...", "def f(\n    x: T,\n): ...\n"),
    "without it the rows are joined": ("def f(\n  x: T,\n\n  y: U): ...", "def f(x: T, y: U): ...\n"),
    "a trailing comma of an inner bracket": (
        "type T = [(A, B,), C]",
        "type T = [\n    (\n        A,\n        B,\n    ),\n    C,\n]\n",
    ),
    "comments inside brackets": (
        "def f( # about\n  # first\n  x: T, # x\n  y: U # y\n  # last\n) -> T: ... # end",
        "def f(  # about\n    # first\n    x: T,  # x\n    y: U,  # y\n    # last\n) -> T: ...  # end\n",
    ),
    "a comment in the middle of an item goes to its end": (
        "let S = (a # one\n + 1)",
        "let S = (\n    a + 1  # one\n)\n",
    ),
    "an ignored line stays whole": (
        f"{LONG}:  # shapedsl: ignore[ambiguous-multiple]",
        f"{LONG}:  # shapedsl: ignore[ambiguous-multiple]\n",
    ),
    "the last bracket of a clause breaks first": (
        "bucket B in {16, 32, ..., 256} pad (ids with 0, mask with true, kvs with 0) as rows_independent",
        "bucket B in {16, 32, ..., 256} pad (\n    ids with 0,\n    mask with true,\n    kvs with 0,\n) as rows_independent\n",
    ),
    "a range takes no comma": ("dim B in [ # why\n 0, 8]", "dim B in [  # why\n    0,\n    8\n]\n"),
    "what cannot break stays": (f"where {'a_long_name + ' * 8}B < 3", f"where {'a_long_name + ' * 8}B < 3\n"),
    "predicates in brackets break before or": (
        f"where ({'x' * 30} == 1 or {'y' * 30} == 1 and {'z' * 30} == 1)",
        f"where (\n    {'x' * 30} == 1\n    or {'y' * 30} == 1 and {'z' * 30} == 1\n)\n",
    ),
    "parameters before the return type": (
        f"def f(a: A) -> ({', '.join(['Tensor[B, D, E, F]'] * 5)}): ...",
        "def f(\n    a: A,\n) -> (\n" + "    Tensor[B, D, E, F],\n" * 5 + "): ...\n",
    ),
}


@pytest.mark.parametrize(("text", "expected"), BREAKING.values(), ids=BREAKING.keys())
def test_breaking(text: str, expected: str) -> None:
    assert layout(text) == expected
    assert layout(expected) == expected


BLOCKS = {
    "indentation": (
        "class A:\n  def f():\n     where a\n  dim B\ndim C",
        "class A:\n    def f():\n        where a\n    dim B\ndim C\n",
    ),
    "blank lines": (
        "\n\ndim A\n\n\n\n\ndim B\n\ndef f():\n\n  where a\n\n\n\n  where b\n\n\n\n\n",
        "dim A\n\n\ndim B\n\ndef f():\n    where a\n\n    where b\n",
    ),
    "a comment goes with the next statement": (
        "def f():\n      # in f\n  where a\n# about g\ndef g():\n    where b\n",
        "def f():\n    # in f\n    where a\n# about g\ndef g():\n    where b\n",
    ),
    "a deeper comment stays in its block": (
        "class A:\n  def f():\n    where a\n    # in f\n   # in A\n  # in A too\n # top\ndef g(): ...\n# end",
        "class A:\n    def f():\n        where a\n        # in f\n    # in A\n    # in A too\n# top\ndef g(): ...\n# end\n",
    ),
    "a comment at the end of the last block": (
        "def f():\n  let a = 1\n  # here",
        "def f():\n    let a = 1\n    # here\n",
    ),
    "comments at the end": ("dim A# a\ndim LONG      #b", "dim A  # a\ndim LONG  # b\n"),
    "comments that shared a column share one": (
        "dim A         # a\ndim LONG      # b\nlet x = y        # c\n",
        "dim A     # a\ndim LONG  # b\nlet x = y  # c\n",
    ),
    "BOM and CRLF": ("\ufeffdim A\r\n\r\n# c\r\ndim B", "dim A\n\n# c\ndim B\n"),
    "tabs": ("def f():\n\twhere a\n        where b", "def f():\n    where a\n    where b\n"),
    "an indented ellipsis": ("def f():\n    ...  # none\ndim B", "def f(): ...  # none\ndim B\n"),
    "an indented ellipsis behind a comment": ("def f():  # a\n    ...\n", "def f():  # a\n    ...\n"),
    "an ellipsis among clauses": ("def f():\n  ...\n  where a\n", "def f():\n    ...\n    where a\n"),
    "an ellipsis under a case": ("def f():\n  case a:\n    ...\n", "def f():\n    case a:\n        ...\n"),
    "a clause behind the colon": (
        "class A:\n  def f(x: T=_): where B < 3  # c\n  dim B",
        "class A:\n    def f(x: T = _):\n        where B < 3  # c\n    dim B\n",
    ),
    "documentation over rows": (
        'def f():\n  """One.\n\n      Two # no comment.\n  """  # c\n  where a',
        'def f():\n    """One.\n\n      Two # no comment.\n  """  # c\n    where a\n',
    ),
    "empty": ("", ""),
    "only blank": ("\n  \n\t\n", ""),
    "only a comment": ("\n  # a  \n", "# a\n"),
    "comment marks": ("#!a\n#: b\n## c\n#d\n#\n", "#!a\n#: b\n## c\n# d\n#\n"),
}


@pytest.mark.parametrize(("text", "expected"), BLOCKS.values(), ids=BLOCKS.keys())
def test_blocks(text: str, expected: str) -> None:
    assert layout(text) == expected
    assert layout(expected) == expected


def test_brackets_that_do_not_pair_are_refused() -> None:
    assert layout("dim B in [0, 1") is None
    assert layout("dim B in [0, 1)") is None


def test_deep_nesting_costs_no_exponential_time() -> None:
    text = "type T = " + "[A, B, " * 60 + "C" + "]" * 60
    written = layout(text)
    assert written is not None
    assert layout(written) == written


@pytest.mark.parametrize(
    "text",
    [
        "def b(x: Tensor[batch, batch], y: Tensor[bacth]): where batch < 3  # shapedsl: ignore[similar-name]\n",
        "def b(\n    x: Tensor[batch, batch],\n    y: Tensor[bacth],  # shapedsl: ignore[similar-name]\n): ...\n",
        "def b(x: Tensor[batch, batch], y: Tensor[bacth]):  # shapedsl: ignore[similar-name]\n    where batch < 3\n",
        "def b(x: Tensor[batch, batch], y: Tensor[batch]):\n    ...  # shapedsl: ignore[similar-name]\n",
    ],
)
def test_a_comment_that_silences_stays_on_its_row(text: str) -> None:
    assert layout(text) == text
