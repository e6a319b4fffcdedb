"""What the interpreter tells of small programs; expected values are written by hand."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from shapedsl.frontends.legacy.source.interpret import Argument, Frame

from .told import PROLOGUE, Listener, listen, seen, shown


def cases(*pairs: tuple[str, str, list[str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("text", "expected"), [pair[1:] for pair in pairs], ids=[pair[0] for pair in pairs])


@cases(
    ("constants", 'see(1, "a", None, True, 2.5, ...)', ["1, 'a', None, True, 2.5, Ellipsis"]),
    ("numbers", "n = 3\nsee(n * 4 - 1, n // 2, -n, 2 ** n, n % 2, 7 / 2)", ["11, 1, -3, 8, 1, 3.5"]),
    ("no bound", "import sys, math\nsee(2**63 - 1 == sys.maxsize, math.inf, float('inf'))", ["True, inf, inf"]),
    ("limits", "see(torch.iinfo(torch.int64).max)", ["9223372036854775807"]),
    ("strings", 'k = "ab"\nsee(f"{k}_{1:02}", k + "c", "%s-%d" % (k, 2), "{}!".format(k), k.upper(), f"{{{k!r}}}")',
     ["'ab_01', 'abc', 'ab-2', 'ab!', 'AB', \"{'ab'}\""]),
    ("joined strings", 'see("_".join(["a", "b"]), "a" "b", "a,b".split(","))', ["'a_b', 'ab', ['a', 'b']"]),
    ("displays", "see({0: 1, 'x': (1, [2])}, (), [], {})", ["{0: 1, 'x': (1, [2])}, (), [], {}"]),
    ("equal keys", "see({0: 1, False: 2, 'a': 1, 'a': 2})", ["{0: 2, 'a': 2}"]),
    ("unpacking in displays", "a = {0: 1}\nb = (1, 2)\nsee({**a, 1: 2}, [*b, 3], (*b,))", ["{0: 1, 1: 2}, [1, 2, 3], (1, 2)"]),
    ("merging", "a = {0: 1}\nb = {1: 2}\nsee(a | b, dict(a, x=1), dict([(0, 1)]), {**a, **b, 0: 3})",
     ["{0: 1, 1: 2}, {0: 1, 'x': 1}, {0: 1}, {0: 3, 1: 2}"]),
    ("slices and items", "a = (1, 2, 3)\nsee(a[0], a[-1], a[1:], a[::-1], [4, 5][1], 'abc'[1])",
     ["1, 3, (2, 3), (3, 2, 1), 5, 'b'"]),
    ("repeated", "see([{0: 1}] * 2, (1,) * 3, [1] + [2], (1,) + (2,))", ["[{0: 1}, {0: 1}], (1, 1, 1), [1, 2], (1, 2)"]),
    ("comparisons", "n = 3\nsee(n > 2, 1 < n < 3, n is None, 'x' in {'x': 1}, not n)", ["True, False, False, True, False"]),
    ("conditions", "n = 3\nsee('a' if n > 2 else 'b', n and 4, None or 5, '' or 'z')", ["'a', 4, 5, 'z'"]),
    ("functions of Python", "see(len((1, 2)), max(1, 3), min([4, 2]), sum((1, 2)), abs(-1), list(range(3)), int('7'))",
     ["2, 3, 2, 3, 1, [0, 1, 2], 7"]),
    ("iterators", "see(list(zip('ab', (1, 2))), dict(enumerate('xy', 1)), sorted({'b': 1, 'a': 2}), list(reversed((1, 2))))",
     ["[('a', 1), ('b', 2)], {1: 'x', 2: 'y'}, ['a', 'b'], [2, 1]"]),
    ("fromkeys", "see(dict.fromkeys(('x', 'y'), 0))", ["{'x': 0, 'y': 0}"]),
    ("mapping", "see(list(map(lambda n: n + 1, (1, 2))), list(map(str, (1, 2))))", ["[2, 3], ['1', '2']"]),
)  # fmt: skip
def test_expressions(text: str, expected: list[str]) -> None:
    assert seen(text) == expected


@cases(
    ("a dim", 'see(Dim("b"), Dim("b", min=2), Dim("b", max=8), Dim(name="b", min=1, max=4))', ["b, b[2,None], b[None,8], b[1,4]"]),
    ("no bound", "import math\nsee(Dim('b', max=math.inf), Dim('b', max=2**63 - 1), Dim('b', max=None), Dim('b', max=float('inf')))",
     ["b, b, b, b"]),
    ("computed", "b = Dim('b')\nsee(2 * b, b * 2, b + 1, 1 + b, b - 1, 2 * b + 1, (b + 1) * 3, 2 * (2 * b - 1))",
     ["2*b+0, 2*b+0, 1*b+1, 1*b+1, 1*b-1, 2*b+1, 3*b+3, 4*b-2"]),
    ("what torch does not compute", "b = Dim('b')\nsee(1 - b, -b, b * 0, b * -1, b // 2, b + b, b * True, b + 1.0)",
     ["?, ?, ?, ?, ?, ?, ?, ?"]),
    ("dims", "h, w = dims('h', 'w', max=9)\nsee(h, w, dims('a'))", ["h[None,9], w[None,9], (a,)"]),
    ("hints", "see(Dim.AUTO, Dim.DYNAMIC(max=8), Dim.STATIC, Dim.AUTO(2, 4))", ["AUTO, DYNAMIC(None,8), STATIC, AUTO(2,4)"]),
    ("an alias of a hint", "D = Dim.DYNAMIC\nA = Dim\nsee(D, A.AUTO, A('k'))", ["DYNAMIC, AUTO, k"]),
    ("a bounded hint is no function", "see(Dim.AUTO(min=2)(max=4))", ["?"]),
    ("a name that is computed", "see([Dim(f'd{i}') for i in range(2)])", ["[d0, d1]"]),
    ("a name that is none", "see(Dim('2b'), Dim('a b'), Dim(3), Dim())", ["?, ?, ?, ?"]),
    ("what a dim says of itself", "b = Dim('b', min=3)\nsee(b.__name__, b.min)", ["'b', 3"]),
)  # fmt: skip
def test_dims(text: str, expected: list[str]) -> None:
    assert seen(text) == expected


@cases(
    ("the module", "import torch.export\nsee(torch.export.Dim('b'))", ["b"]),
    ("an alias of the module", "import torch.export as te\nsee(te.Dim('b'), te.dims('a', 'c'))", ["b, (a, c)"]),
    ("an alias of the class", "from torch.export import Dim as D\nsee(D('b'))", ["b"]),
    ("where it is defined", "from torch.export.dynamic_shapes import Dim as D, _DimHint\nsee(D('b'), _DimHint.AUTO())", ["b, AUTO"]),
    ("from torch", "from torch import export as ex\nsee(ex.Dim('b'), ex.export)", ["b, @torch.export.export"]),
    ("an attribute", "m = torch.export\nD = m.Dim\nsee(D('b'), getattr(torch, 'export'))", ["b, @torch.export"]),
    ("another library's", "from einops_like import Dim\nsee(Dim('b'))", ["einops_like.Dim(…)"]),
    ("relative", "from .mine import Dim\nsee(Dim('b'))", [".mine.Dim(…)"]),
    ("a star of torch", "from torch.export.dynamic_shapes import *\nsee(Dim('b'))", ["b"]),
    ("a star of another", "n = 1\nfrom other import *\nfrom harness import see\nsee(n, Dim, len)", ["?, ?, ?"]),
    ("bound again", "from torch.export import Dim\nDim = 3\nsee(Dim)", ["3"]),
    ("defined again", "def Dim(name):\n    return 7\nsee(Dim('b'))", ["7"]),
    ("one of two", "try:\n    from torch.export import Dim as D\nexcept ImportError:\n    D = None\nsee(D('b'))", ["b"]),
    ("either of two", "try:\n    from torch.export import Dim as D\nexcept ImportError:\n    from other import D\nsee(D('b'))",
     ["b | other.D(…)"]),
    ("for type checkers", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from other import Dim\nsee(Dim('b'))", ["b"]),
    ("assigned to a module", "torch.export.Dim = 3\nsee(torch.export.Dim)", ["?"]),
)  # fmt: skip
def test_imports(text: str, expected: list[str]) -> None:
    assert seen(text) == expected


@cases(
    ("an item", "a = {}\na['x'] = {0: 1}\na['x'][0] = 2\nsee(a)", ["{'x': {0: 2}}"]),
    ("two names of one object", "a = {}\nb = a\nb['x'] = 1\nsee(a)", ["{'x': 1}"]),
    ("an object in an object", "a = {}\nb = [a, a]\nb[0]['x'] = 1\nsee(b)", ["[{'x': 1}, {'x': 1}]"]),
    ("a copy", "import copy\na = {'x': {}}\nb = dict(a)\nc = copy.deepcopy(a)\na['y'] = 1\na['x'][0] = 2\nsee(a, b, c, a.copy())",
     ["{'x': {0: 2}, 'y': 1}, {'x': {0: 2}}, {'x': {}}, {'x': {0: 2}, 'y': 1}"]),
    ("what was told stays", "a = {}\nsee(a)\na['x'] = 1\nsee(a)", ["{}", "{'x': 1}"]),
    ("methods of dicts", "a = {'x': 1}\na.update(y=2)\na.update({'z': 3})\na.setdefault('x', 9)\na.setdefault('w', [])\nsee(a, a.get('q'), a.get('y'))",
     ["{'x': 1, 'y': 2, 'z': 3, 'w': []}, None, 2"]),
    ("taking away", "a = {'x': 1, 'y': 2}\nb = a.pop('x')\ndel a['y']\nsee(a, b, a.pop('q', 5))", ["{}, 1, 5"]),
    ("merging in place", "a = {}\nb = a\na |= {'x': 1}\nsee(b)", ["{'x': 1}"]),
    ("methods of lists", "a = [1]\na.append(2)\na.extend((3, 4))\na += [5]\na.insert(0, 0)\na.pop()\na.reverse()\nsee(a)", ["[4, 3, 2, 1, 0]"]),
    ("a tuple is another", "a = (1,)\nb = a\na += (2,)\nsee(a, b)", ["(1, 2), (1,)"]),
    ("unpacking", "a, (b, *c) = 1, (2, 3, 4)\nsee(a, b, c)", ["1, 2, [3, 4]"]),
    ("swapping", "a, b = 1, 2\na, b = b, a\nsee(a, b)", ["2, 1"]),
    ("several targets", "a = b = []\na.append(1)\nsee(b)", ["[1]"]),
    ("a walrus", "see((n := 3) + 1)\nsee(n)", ["4", "3"]),
    ("a walrus in a comprehension", "see([(n := i) for i in (1, 2)])\nsee(n)", ["[1, 2]", "2"]),
    ("deleted", "n = 1\ndel n\nsee(n)", ["?"]),
    ("annotated", "n: int = 3\nm: int\nsee(n)", ["3"]),
    ("namedtuples", "import collections\nfrom typing import NamedTuple\nS = collections.namedtuple('S', 'h c')\nclass P(NamedTuple):\n    a: int\n    b: int = 2\n"
     "s = S(1, c=2)\nsee(s, s.h, s._replace(h=5), P(1))", ["S(1, 2), 1, S(5, 2), P(1, 2)"]),
    ("a dataclass", "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    a: int\n    b: int = 2\n    c: list = field(default_factory=list)\nx = C(1)\nsee(x.a, x.b, x.c)",
     ["1, 2, ?"]),
    ("an iterator gives once", "z = zip((1,), (2,))\nsee(list(z))", ["?"]),
    ("a key that is not known", "a = {'x': {}}\na[mess()] = 1\nsee(a)", ["?"]),
    ("through what is not known", "a = {'x': {}}\nb = a[mess()]\nsee(a)\nb[0] = 1\nsee(a)", ["{'x': {}}", "{'x': ?}"]),
    ("a collection", "from torch.export import ShapesCollection\nx, y = torch.ones(2), torch.ones(3)\ns = ShapesCollection()\ns[x] = {0: 1}\ns[y] = (2,)\nsee(s)",
     ["<T[2]: {0: 1}, T[3]: (2,)>"]),
)  # fmt: skip
def test_objects(text: str, expected: list[str]) -> None:
    assert seen(text) == expected


@cases(
    ("both", "if flag():\n    n = 1\nelse:\n    n = 2\nsee(n)", ["1 | 2"]),
    ("one is not bound", "if flag():\n    n = 1\nsee(n)", ["1"]),
    ("one keeps", "n = 0\nif flag():\n    n = 1\nsee(n)", ["0 | 1"]),
    ("many", "if flag():\n    n = 1\nelif flag():\n    n = 2\nelif True:\n    n = 3\nelse:\n    n = 4\nsee(n)", ["1 | 2 | 3"]),
    ("decided", "n = 3\nif n > 2:\n    m = 1\nelse:\n    m = 2\nsee(m)", ["1"]),
    ("one leaves", "n = 0\nif flag():\n    n = 1\n    raise ValueError\nsee(n)", ["0"]),
    ("an item in one", "a = {'x': 1}\nif flag():\n    a['y'] = 2\nsee(a)", ["{'x': 1, 'y': 2} | {'x': 1}"]),
    ("an item in both", "a = {}\nif flag():\n    a['x'] = 1\nelse:\n    a['x'] = 2\nsee(a)", ["{'x': 1} | {'x': 2}"]),
    ("an expression", "see(1 if flag() else None)", ["1 | None"]),
    ("chosen by truth", "a = {0: 1} if flag() else None\nsee(a and {'x': 1})", ["?"]),
    ("numbers chosen by truth", "n = None if flag() else 3\nsee(n or 4)", ["3 | 4"]),
    ("sums of forks", "n = 1 if flag() else 2\nsee(n + 1, f'd{n}')", ["2 | 3, 'd1' | 'd2'"]),
    ("a comparison of a fork", "n = 1 if flag() else 2\nsee('small' if n < 9 else 'large')", ["'small'"]),
    ("an attribute of one of two", "m = torch.export if flag() else None\nsee(m.Dim('b'))", ["b"]),
    ("never more than is told", "n = 0\n" + "".join(f"if flag(): n = {i}\n" for i in range(1, 40)) + "see(len([n]), n is None)", ["1, ?"]),
    ("a pattern", "match mess():\n    case 1:\n        n = 1\n    case _:\n        n = 2\nsee(n)", ["1 | 2"]),
    ("captured by a pattern", "a = {'x': {}}\nmatch a:\n    case {'x': y}:\n        y[0] = 1\nsee(a)", ["?"]),
    ("an exception", "n = 1\ntry:\n    n = 2\n    mess()\n    n = 3\nexcept ValueError:\n    see(n)\nsee(n)", ["1 | 2 | 3", "1 | 2 | 3"]),
    ("an exception that leaves", "n = 1\ntry:\n    n = 2\nexcept ValueError:\n    raise\nsee(n)", ["2"]),
    ("finally", "n = 1\ntry:\n    n = 2\nfinally:\n    see(n)\nsee(n)", ["1 | 2", "2", "2"]),
    ("else", "try:\n    pass\nexcept ValueError:\n    n = 1\nelse:\n    n = 2\nsee(n)", ["1 | 2"]),
    ("with", "n = 1\nwith torch.no_grad():\n    n = 2\nsee(n)", ["2"]),
    ("with what may swallow", "n = 1\nwith mess():\n    n = 2\nsee(n)", ["1 | 2"]),
    ("what is never reached", "import sys\nsys.exit()\nsee(1)", []),
)  # fmt: skip
def test_branches(text: str, expected: list[str]) -> None:
    assert [" | ".join(sorted(each.split(" | "))) for each in seen(text)] == expected or seen(text) == expected


@cases(
    ("over a literal", "a = {}\nfor k, n in (('x', 1), ('y', 2)):\n    a[k] = {0: Dim(f'{k}_len', max=n)}\nsee(a)",
     ["{'x': {0: x_len[None,1]}, 'y': {0: y_len[None,2]}}"]),
    ("each turn is told", "for n in (1, 2):\n    see(n)\nsee(n)", ["1", "2", "2"]),
    ("over a dict", "a = {'x': {}, 'y': {}}\nfor k, v in a.items():\n    v[0] = k\nsee(a)", ["{'x': {0: 'x'}, 'y': {0: 'y'}}"]),
    ("break", "for n in (1, 2, 3):\n    if n == 2:\n        break\nelse:\n    n = 9\nsee(n)", ["2"]),
    ("a break that may be", "for n in (1, 2):\n    if flag():\n        break\nelse:\n    n = 9\nsee(n)", ["1 | 2 | 9"]),
    ("continue", "a = []\nfor n in (1, 2, 3):\n    if n == 2:\n        continue\n    a.append(n)\nsee(a)", ["[1, 3]"]),
    ("over what is not known", "n = 0\nfor x in mess():\n    see(x, n)\n    n = 1\nsee(n)", ["?, 0 | 1", "0 | 1"]),
    ("what keeps changing", "n = 0\nwhile flag():\n    n += 1\nsee(n)", ["?"]),
    ("built while looping", "a = {}\nfor k in mess():\n    a[k] = 1\nsee(a)", ["?"]),
    ("fresh in each turn", "for k in mess():\n    a = {}\n    a['x'] = 1\n    see(a)", ["{'x': 1}"]),
    ("until a break", "while True:\n    n = 1\n    if flag():\n        n = 2\n        break\nsee(n)", ["2"]),
    ("comprehensions", "see([i for i in range(3) if i != 1], {k: {0: v} for k, v in zip('ab', (1, 2))}, [x + y for x in (1, 2) for y in (10, 20)])",
     ["[0, 2], {'a': {0: 1}, 'b': {0: 2}}, [11, 21, 12, 22]"]),
    ("over what is not known, in short", "see([{0: 1} for _ in mess()], {k: 1 for k in mess()})", ["?, ?"]),
    ("names of comprehensions are their own", "i = 5\nsee([i for i in (1, 2)])\nsee(i)", ["[1, 2]", "5"]),
    ("over what it changes", "a = [1]\nfor n in a:\n    if flag():\n        a.append(2)\nsee(a)", ["?"]),
    ("over a dict that it fills", "a = {'x': 0, 'y': 0}\nfor k in a:\n    a[k] = {0: k}\nsee(a)", ["{'x': {0: 'x'}, 'y': {0: 'y'}}"]),
    ("over a view of what it changes", "a = {'x': 0, 'y': 0}\nfor k, v in a.items():\n    see(v)\n    a['y'] = 1", ["0", "?"]),
    ("a generator that changes something", "a = []\ng = (a.append(n) for n in (1, 2))\nsee(a)\nsee(list(n for n in (1, 2)))", ["?", "[1, 2]"]),
    ("code elsewhere that is mapped", "a = {}\nlist(map(mess, [a]))\nsee(a)", ["?"]),
    ("a map that is never used", "a = []\nmap(lambda n: a.append(n), (1, 2))\nsee(a)", ["?"]),
    ("very long", "n = 0\nfor i in range(100000):\n    n = i\nsee(n)", ["0 | ?"]),
)  # fmt: skip
def test_loops(text: str, expected: list[str]) -> None:
    assert seen(text) == expected


@cases(
    ("what it returns", "def f(n, m=2, *rest, k, **more):\n    return (n, m, rest, k, more)\nsee(f(1, k=3), f(1, 2, 3, k=4, z=5))",
     ["(1, 2, (), 3, {}), (1, 2, (3,), 4, {'z': 5})"]),
    ("called with stars", "def f(a, b):\n    return {a: b}\nsee(f(*(1, 2)), f(**{'a': 3, 'b': 4}))", ["{1: 2}, {3: 4}"]),
    ("several returns", "def f(n):\n    if flag():\n        return 1\n    return n\nsee(f(2))", ["1 | 2"]),
    ("a fresh object each time", "def f():\n    return {}\na, b = f(), f()\na['x'] = 1\nsee(a, b)", ["{'x': 1}, {}"]),
    ("a default is one object", "def f(a=[]):\n    a.append(1)\n    return a\nf()\nsee(f())", ["[1, 1]"]),
    ("changes its argument", "def f(a):\n    a['x'] = 1\nb = {}\nf(b)\nsee(b)", ["{'x': 1}"]),
    ("global", "n = 1\ndef f():\n    global n\n    n = 2\nf()\nsee(n)", ["2"]),
    ("nonlocal", "def f():\n    n = 1\n    def g():\n        nonlocal n\n        n = 2\n    g()\n    see(n)\n    return n\nf()", ["2", "2"]),
    ("a local of the same name", "n = 1\ndef f():\n    n = 2\nf()\nsee(n)", ["1"]),
    ("for callers elsewhere", "def f(a, n=3):\n    see(a, n)", ["?, ?"]),
    ("for callers here and elsewhere", "def f(n):\n    see(n)\nf(1)", ["1", "?"]),
    ("defined before what it uses", "def f():\n    see(n)\nn = 1\nf()\nn = 2", ["1", "2"]),
    ("given away before what it uses changes", "def f():\n    see(n)\nn = 1\nmess(f)\nn = 2\nmess()", ["1 | 2"]),
    ("a lambda", "f = lambda n: {0: n}\nsee(f(3), (lambda: 4)())", ["{0: 3}, 4"]),
    ("closures", "def make(n):\n    def f(m):\n        return n + m\n    return f\nsee(make(1)(2))", ["3"]),
    ("recursion", "def f(n):\n    return f(n - 1) if n else 0\nsee(f(3))", ["?"]),
    ("a generator", "def f():\n    yield 1\nsee(f())", ["?"]),
    ("partial", "from functools import partial\nsay = partial(see, 1)\nsay(2)", ["1, 2"]),
    ("wrong arguments", "def f(n):\n    return n\nf()\nsee(1)", []),
    ("a function changes what another sees", "a = {}\ndef f():\n    a['x'] = 1\ndef g():\n    see(a)", ["?"]),
    ("a function binds what another sees", "n = 1\ndef f():\n    global n\n    n = 2\ndef g():\n    see(n)", ["?"]),
    ("code elsewhere changes what it is given", "a = {'x': {}}\nb = a['x']\nmess(a)\nsee(a, b)", ["?, ?"]),
    ("code elsewhere keeps what it is given", "a = {}\nmess([a])\na = {}\nb = {}\nsee(a, b)", ["{}, {}"]),
    ("code elsewhere calls what it was given", "a = {}\ndef f():\n    a['x'] = 1\nmess(f)\nsee(a)", ["?"]),
    ("printing changes nothing", "a = {}\nprint(a)\nlen(a)\ntorch.relu(a)\nsee(a)", ["{}"]),
    ("decorated", "@mess\ndef f():\n    return 1\n@torch.no_grad()\ndef g():\n    return 2\nsee(f(), g())", ["?, 2"]),
    ("exec", "n = 1\nexec('n = 2')\nsee(n)", ["?"]),
)  # fmt: skip
def test_functions(text: str, expected: list[str]) -> None:
    assert seen(text) == expected


@cases(
    ("forward", "class N(torch.nn.Module):\n    def forward(self, x, *r, k=1): ...\nsee(N, N(), N().forward)",
     ["class N(x, r, k), object N(x, r, k), function N.forward(x, r, k)"]),
    ("inherited in the file", "class A(torch.nn.Module):\n    def forward(self, x): ...\nclass B(A):\n    pass\nsee(B())", ["object B(x)"]),
    ("inherited from elsewhere", "from mine import Base\nclass B(Base):\n    pass\nsee(B())", ["object B(?)"]),
    ("methods of modules", "class N(torch.nn.Module):\n    def forward(self, x): ...\nsee(N().eval(), N().to('cpu').half())", ["object N(x), object N(x)"]),
    ("attributes", "class C:\n    def __init__(self, n):\n        self.n = n\n    def twice(self):\n        return 2 * self.n\nc = C(3)\nsee(c.n, c.twice())\nc.n = 4\nsee(c.n)",
     ["3, 6", "4"]),
    ("attributes of the class", "class C:\n    n = 1\n    m = n + 1\nsee(C.n, C.m, C().n)", ["1, 2, 1"]),
    ("static and class methods", "class C:\n    @staticmethod\n    def f(n):\n        return n\n    @classmethod\n    def g(cls, n):\n        return n\nsee(C.f(1), C.g(2), C().f(3))",
     ["1, 2, 3"]),
    ("a property", "class C:\n    @property\n    def n(self):\n        return 1\nsee(C().n)", ["?"]),
    ("a method for callers elsewhere", "class C:\n    def f(self, n):\n        m = 1\n        see(n, m, self.k)", ["?, 1, ?"]),
    ("a class's names are no method's", "n = 1\nclass C:\n    n = 2\n    def f(self):\n        see(n)\nC().f()", ["1", "1"]),
    ("code elsewhere sets attributes", "class C:\n    def __init__(self):\n        self.n = 1\nc = C()\nmess(c)\nsee(c.n)", ["?"]),
    ("an object has its own items", "a = {}\nclass C:\n    def __setitem__(self, k, v):\n        a[k] = v\nC()['x'] = 1\nsee(a)", ["?"]),
)  # fmt: skip
def test_classes(text: str, expected: list[str]) -> None:
    assert seen(text) == expected


@cases(
    ("sizes", "see(torch.randn(4, 3), torch.ones((2, 5)), torch.zeros(7, dtype=torch.long), torch.empty(size=[1, 2]), torch.rand(()))",
     ["T[4, 3], T[2, 5], T[7], T[1, 2], T[]"]),
    ("part of them", "n = mess()\nsee(torch.randn(n, 3), torch.randn(n), torch.randn(*n))", ["T[_, 3], T, torch.randn(…)"]),
    ("like another", "x = torch.randn(4, 3)\nsee(torch.rand_like(x), x.cuda().half(), x.to('cpu'), x + 1, x[0], x.T, x.unsqueeze(0))",
     ["T[4, 3], T[4, 3], T[4, 3], T[4, 3], T[3], T[3, 4], T[1, 4, 3]"]),
    ("counted", "see(torch.arange(5), torch.arange(2, 8, 2), torch.linspace(0, 1, 4), torch.eye(3), torch.full((2, 2), 1.0))",
     ["T[5], T[3], T[4], T[3, 3], T[2, 2]"]),
    ("of numbers", "see(torch.tensor([1, 2]), torch.tensor(3.0), torch.tensor([[1], [2]]))", ["T[2], T[], T[2, 1]"]),
    ("random ints", "see(torch.randint(0, 9, (2, 3)), torch.randint(9, (4,)), torch.randint(0, 9, size=(5,)))", ["T[2, 3], T[4], T[5]"]),
    ("asked for its sizes", "x = torch.randn(4, 3)\na, b = x.shape\nsee(a, b, x.size(0), x.shape[-1], x.ndim, len(x))", ["4, 3, 4, 3, 2, 4"]),
    ("an alias", "r = torch.randn\nsee(r(4, 3))", ["T[4, 3]"]),
    ("reshaped", "x = torch.randn(4, 3)\nsee(x.view(12), x.reshape(2, 6), x.view(-1, 3), x.flatten())", ["T[12], T[2, 6], T[_, 3], T"]),
    ("unpacked", "x, y = torch.randn(2, 3)\nsee(x, y)", ["T[3], T[3]"]),
)  # fmt: skip
def test_tensors(text: str, expected: list[str]) -> None:
    assert seen(text) == expected


def test_one_name_is_one_object() -> None:
    (args, _), (again, _) = listen(PROLOGUE + "x = torch.ones(2)\nsee(x, x)\nsee([x])\n").heard
    assert args[0].value is args[1].value is again[0].value.items[0]  # type: ignore[union-attr]


def test_a_function_is_not_taken_for_one_that_is_gone() -> None:
    """A function that is made where one was thrown away, at the same address, has effects of its own."""

    class Collecting(Listener):
        def call(self, node: Any, callee: Any, args: list[Argument], frame: Frame) -> Any:
            if getattr(callee, "name", "") == "harness.mess":
                gc.collect()
            return super().call(node, callee, args, frame)

    text = (
        "def build(change):\n    spec = {0: 1}\n    def inner():\n        if change:\n            spec[0] = 2\n"
        "    mess(inner)\n    if change:\n        see(spec)\n"
    )
    text += "".join(f"def caller_{at}():\n    mess()\n    build({at % 5 == 4})\n" for at in range(10))
    told = [shown(args[0].value) for args, _ in listen(PROLOGUE + text, observer=Collecting()).heard]
    assert told == ["?"] * 3


def test_a_frame_tells_where_a_call_is() -> None:
    text = PROLOGUE + (
        "class C:\n    def f(self, k):\n        for _ in k:\n            see(1)\n\ndef g():\n    see(2)\n\nn = 3\ng()\n"
    )
    outer, method, inner = (
        frame for _, frame in sorted(listen(text).heard, key=lambda it: len(it[1].calls), reverse=True)
    )
    assert (outer.name, len(outer.calls), outer.in_loop) == ("g", 1, False)
    assert (method.name, method.calls, method.in_loop) == ("C.f", (), True)
    assert (inner.name, inner.calls) == ("g", ())
    assert [type(each).__name__ for each in method.path] == ["For", "Expr"]
    assert outer.lookup("n").value == 3  # type: ignore[union-attr]


def test_decorators_are_told() -> None:
    listener = listen("import torch\n@torch.compile\ndef f(): ...\n@torch.no_grad()\nclass C: ...\n")
    assert [[type(each).__name__ for each in found] for found in listener.decorators] == [["Imported"], ["Made"]]
