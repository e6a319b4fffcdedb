"""Pyrefly's native dialect, construct by construct: what a small stub says, as the spec says it, and what it cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("libcst", reason="stubs are read with libcst")

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Severity, Source
from shapedsl.ir import Module

HEAD = """\
from typing import Any, Callable, Generic, Literal, Self, TypeVar, overload
import shape_extensions
from shape_extensions import (
    broadcast, Elements, Flag, gufunc_broadcast, Index, Int, IntListLiteral, IntTuple, IntTupleOrList, IntTuples, IntVar,
    MapIntTuples, ProxyMethod, RegularNestedList, type_shape_dsl_function,
)
import torch
from torch import Tensor
from torch import nn
"""


def read(text: str, name: str = "stub.pyi", head: str = HEAD) -> tuple[Module, Report]:
    report = Report()
    module = pipeline.read_stub(Source(name, head + text), report)
    for signature in module:
        pipeline.resolve(signature, report)
    return module, report


def shapes(text: str) -> Module:
    report = Report()
    module = pipeline.read(Source("expected.shapes", text), report)
    assert not report.errors, report.errors
    return module


def messages(report: Report) -> list[str]:
    return [diagnostic.message for diagnostic in report]


# What a stub says, and the same in the language: nothing is missing, so nothing is told.
EXACT = {
    "sizes": (
        "def mm[N: IntVar, K: IntVar, M: IntVar](input: Tensor[[N, K]], other: Tensor[[K, M]]) -> Tensor[[N, M]]: ...",
        "def mm(input: Tensor[N, K], other: Tensor[K, M]) -> Tensor[N, M]: ...",
    ),
    "a dotted tensor": (
        "def f[N: IntVar](x: torch.Tensor[[N]]) -> torch.Tensor[[N, 1]]: ...",
        "def f(x: Tensor[N]) -> Tensor[N, 1]: ...",
    ),
    "a shape": (
        "def f[Shape: IntTuple](x: Tensor[Shape]) -> Tensor[Shape]: ...",
        "def f(x: Tensor[*Shape]) -> Tensor[*Shape]: ...",
    ),
    "a shape among sizes": (
        "def f[S: IntTuple, K: IntVar](x: Tensor[[*S, K]], y: Tensor[[*S, 2]]) -> Tensor[[K, *S]]: ...",
        "def f(x: Tensor[*S, K], y: Tensor[*S, 2]) -> Tensor[K, *S]: ...",
    ),
    "elements": (
        "def f[S: IntTuple, K: IntVar](x: Tensor[[*Elements[S], K]]) -> Tensor[[*Elements[S]]]: ...",
        "def f(x: Tensor[*S, K]) -> Tensor[*S]: ...",
    ),
    "a shape as a tuple": (
        "def f[N: IntVar](x: Tensor[IntTuple[N, 3]], y: Tensor[[*IntTuple[2, N]]]) -> None: ...",
        "def f(x: Tensor[N, 3], y: Tensor[2, N]) -> None: ...",
    ),
    "arithmetic": (
        "def f[N: IntVar, K: IntVar](x: Tensor[[N, K]])"
        " -> Tensor[[N + 1, 2 * K, N * (K - 1), -(-N // 2), N**2, (N + K) % 8]]: ...",
        "def f(x: Tensor[N, K]) -> Tensor[N + 1, 2 * K, N * (K - 1), -(-N // 2), N**2, (N + K) % 8]: ...",
    ),
    "arithmetic of wrapped names": (
        "def f[N: IntVar](x: Tensor[[N]]) -> Tensor[[IntVar[N] + 1, Int[N] * 2]]: ...",
        "def f(x: Tensor[N]) -> Tensor[N + 1, N * 2]: ...",
    ),
    "sizes that are not said": (
        "def f[B: IntVar](x: Tensor[[B, int, Any, Int]], y: Tensor[[B, int + 1]]) -> Tensor[[B, int]]: ...",
        "def f(x: Tensor[B, _, _, _], y: Tensor[B, _]) -> Tensor[B, _]: ...",
    ),
    "shapes that are not said": (
        "def f[B: IntVar](x: Tensor[[B]], y: Tensor, z: Tensor[IntTuple], w: Tensor[Any]) -> Tensor[IntTuple]: ...",
        "def f(x: Tensor[B], y: Tensor, z: Tensor, w: Tensor) -> Tensor: ...",
    ),
    "some dims that are not said": (
        "def f[B: IntVar](x: Tensor[[B, *IntTuple]]) -> Tensor[[B]]: ...",
        "def f(x: Tensor[B, ...]) -> Tensor[B]: ...",
    ),
    "dims as Python's tuples": (
        "def f[B: IntVar](x: Tensor[[B, *tuple[int, ...]]], y: Tensor[tuple[int, int]], z: Tensor[tuple[int, ...]])"
        " -> Tensor[[*tuple[B, int]]]: ...",
        "def f(x: Tensor[B, ...], y: Tensor[_, _], z: Tensor) -> Tensor[B, _]: ...",
    ),
    "sizes in quotes": (
        "def f[N: IntVar](x: Tensor[['N', 2]], n: Int['N + 1']) -> Tensor[['2 * N']]: ...",
        "def f(x: Tensor[N, 2], n: Scalar[N + 1]) -> Tensor[2 * N]: ...",
    ),
    "a scalar tensor": (
        "def f[S: IntTuple](x: Tensor[S]) -> Tensor[[]]: ...",
        "def f(x: Tensor[*S]) -> Tensor[()]: ...",
    ),
    "an int": (
        "def f[N: IntVar](n: Int[N], m: Int[2 * N], k: Int) -> Tensor[[N]]: ...",
        "def f(n: Scalar[N], m: Scalar[2 * N], k: Scalar) -> Tensor[N]: ...",
    ),
    "an int by its type": (
        "def f[N: Int, M: Int | None, S: IntTuple](x: Tensor[S], n: N, m: M = None) -> Tensor[[*S, N]]: ...",
        "def f(x: Tensor[*S], n: Scalar[N], m: Scalar[M] | None = _) -> Tensor[*S, N]: ...",
    ),
    "ints": (
        "def f[H: IntVar, W: IntVar](s: tuple[Int[H], Int[W]], t: IntTuple[H, 2], u: IntTupleOrList[IntTuple[W]])"
        " -> Tensor[[H, W]]: ...",
        "def f(s: (Scalar[H], Scalar[W]), t: (Scalar[H], Scalar[2]), u: (Scalar[W],)) -> Tensor[H, W]: ...",
    ),
    "a flag": (
        "def f[S: IntTuple, Dim: Flag[int]](x: Tensor[S], dim: Dim = 0, *, keep: bool = True) -> Tensor[S]: ...",
        "def f(x: Tensor[*S], dim: _ = _, *, keep: _ = _) -> Tensor[*S]: ...",
    ),
    "optional and several": (
        "def f[N: IntVar](x: Tensor[[N]] | None, y: list[Tensor[[N]]], *args: Tensor[[N]], **kw: Any)"
        " -> tuple[Tensor[[N]], Tensor[[N]] | None]: ...",
        "def f(x: Tensor[N] | None, y: [Tensor[N], ...], *args: Tensor[N], **kw: _) -> (Tensor[N], Tensor[N] | None): ...",
    ),
    "known shapes mapped": (
        "def f[N: IntVar](x: MapIntTuples[lambda S: Tensor[S], tuple[IntTuple[N], IntTuple[3, N]]]) -> Tensor[[N]]: ...",
        "def f(x: (Tensor[N], Tensor[3, N])) -> Tensor[N]: ...",
    ),
    "old-style parameters": (
        "N = IntVar('N')\nS = TypeVar('S', bound=IntTuple)\ndef f(x: Tensor[[*S, N]]) -> Tensor[S]: ...",
        "def f(x: Tensor[*S, N]) -> Tensor[*S]: ...",
    ),
    "an alias": (
        "type Pair[A: IntVar] = tuple[Tensor[[A]], Tensor[[A, 2]]]\ntype Sizes = IntTuple\n"
        "def f[A: IntVar, S: Sizes](x: Pair[A], y: Tensor[S]) -> Pair[A + 1]: ...",
        "def f(x: (Tensor[A], Tensor[A, 2]), y: Tensor[*S]) -> (Tensor[A + 1], Tensor[A + 1, 2]): ...",
    ),
    "an alias whose parameter is called as another name": (
        "type Swapped[A: IntVar, B: IntVar] = Tensor[[B, A]]\n"
        "def f[A: IntVar, B: IntVar](x: Swapped[B, A], y: Swapped[A, B]) -> None: ...",
        "def f(x: Tensor[A, B], y: Tensor[B, A]) -> None: ...",
    ),
    "a broadcast of known shapes": (
        "def f[N: IntVar, M: IntVar](x: Tensor[[N, 1]], y: Tensor[[M]]) -> Tensor[broadcast([N, 1], [M])]: ...",
        "def f(x: Tensor[N, 1], y: Tensor[M]) -> Tensor[N, M]: ...",
    ),
    "calls in calls": (
        "def f[N: IntVar](x: Tensor[[N, 1]])"
        " -> Tensor[shape_extensions.broadcast(broadcast([N, 1], IntTuple[4]), [5, N, 4])]: ...",
        "def f(x: Tensor[N, 1]) -> Tensor[5, N, 4]: ...",
    ),
    "a generalized ufunc": (
        "def f[N: IntVar, K: IntVar, M: IntVar](x: Tensor[[N, K]], y: Tensor[[K, M]])"
        " -> Tensor[gufunc_broadcast('(n,k),(k,m)->(n,m)', tuple[IntTuple[N, K], IntTuple[K, M]])]: ...",
        "def f(x: Tensor[N, K], y: Tensor[K, M]) -> Tensor[N, M]: ...",
    ),
    "a function of the file": (
        "@type_shape_dsl_function\ndef doubled(n: Int) -> Int:\n    return 2 * n\n"
        "def f[N: IntVar, S: IntTuple](x: Tensor[[*S, N]]) -> Tensor[[*S, doubled(N)]]: ...",
        "def f(x: Tensor[*S, N]) -> Tensor[*S, 2 * N]: ...",
    ),
    "the one value of a flag": (
        "@type_shape_dsl_function\ndef kept(s: IntTuple, keep: bool) -> IntTuple:\n    return s if keep else s[:-1]\n"
        "def f[N: IntVar, Keep: Flag[Literal[False]]](x: Tensor[[N, 2]], keep: Keep) -> Tensor[kept([N, 2], Keep)]: ...\n"
        "def g[N: IntVar](x: Tensor[[N, 2]]) -> Tensor[kept([N, 2], True)]: ...",
        "def f(x: Tensor[N, 2], keep: _) -> Tensor[N]: ...\ndef g(x: Tensor[N, 2]) -> Tensor[N, 2]: ...",
    ),
    "a class": (
        "class Linear[In: IntVar, Out: IntVar](nn.Module):\n"
        "    weight: Tensor[[Out, In]]\n"
        "    __call__: ProxyMethod['forward']\n"
        "    def __init__(self, in_features: Int[In], out_features: Int[Out]) -> None: ...\n"
        "    def forward[S: IntTuple](self, input: Tensor[[*S, In]]) -> Tensor[[*S, Out]]: ...",
        "class Linear:\n"
        "    def __init__(self, in_features: Scalar[In], out_features: Scalar[Out]) -> None: ...\n"
        "    def forward(self, input: Tensor[*S, In]) -> Tensor[*S, Out]:\n        const In = _",
    ),
    "a class of old": (
        "N = IntVar('N')\nB = IntVar('B')\n"
        "class Net(nn.Module, Generic[N]):\n    def forward(self, x: Tensor[[B, N]]) -> Tensor[[N]]: ...",
        "class Net:\n    def forward(self, x: Tensor[B, N]) -> Tensor[N]:\n        const N = _",
    ),
    "a tensor class": (
        "class Mine[Shape: IntTuple](Tensor[Shape]):\n"
        "    def neg(self) -> Self: ...\n"
        "    def item(self: Tensor[[]]) -> float: ...\n"
        "    def mm[N: IntVar, K: IntVar](self: Tensor[[N, K]], other: Mine[[K]]) -> Mine[[N]]: ...\n"
        "    @staticmethod\n    def made[N: IntVar](n: Int[N]) -> Mine[[N]]: ...\n"
        "    @classmethod\n    def like(cls, other: Tensor[Shape]) -> Self: ...",
        "def Mine.neg(self: Tensor[*Shape]) -> Tensor[*Shape]: ...\n"
        "def Mine.item(self: Tensor[()]): ...\n"
        "def Mine.mm(self: Tensor[N, K], other: Tensor[K]) -> Tensor[N]: ...\n"
        "def Mine.made(n: Scalar[N]) -> Tensor[N]: ...\n"
        "class Mine:\n    def like(cls, other: Tensor[*Shape]) -> Tensor[*Shape]: ...",
    ),
    "fields": (
        "from dataclasses import dataclass\n@dataclass\nclass Pair:\n    x: Tensor[[N, 2]]\n    y: Tensor[[N]] | None\n"
        "N = IntVar('N')\ndef f(p: Pair, z: Tensor[[N]]) -> Pair: ...\ndef g(p: list[Pair]) -> None: ...",
        "def f(p: Pair(x: Tensor[N, 2], y: Tensor[N] | None), z: Tensor[N]) -> Pair(x: Tensor[N, 2], y: Tensor[N] | None): ...\n"
        "def g(p: [Pair(x: Tensor[N, 2], y: Tensor[N] | None), ...]) -> None: ...",
    ),
    "overloads": (
        "@overload\ndef f[T: IntVar](x: Tensor[[T]]) -> Tensor[[T, 4]]: ...\n"
        "@overload\ndef f[B: IntVar, T: IntVar](x: Tensor[[B, T]]) -> Tensor[[B, T, 4]]: ...",
        "def f(x: Tensor[T]) -> Tensor[T, 4]: ...\ndef f@2(x: Tensor[B, T]) -> Tensor[B, T, 4]: ...",
    ),
    "fields of a class with sizes": (
        "from typing import NamedTuple, NotRequired, TypedDict\n"
        "class State[B: IntVar, S: IntTuple](NamedTuple):\n    h: Tensor[[B, 2 * B]]\n    c: Tensor[[3, *S]]\n"
        "class Keys[B: IntVar](TypedDict):\n    k: Tensor[[B]]\n    v: NotRequired[State[B + 1, [B]]]\n"
        "def f[N: IntVar, B: IntVar](x: Tensor[[N]], s: State[N, []], t: Keys[B]) -> State[2, IntTuple]: ...",
        "def f(x: Tensor[N], s: State(h: Tensor[N, 2 * N], c: Tensor[3]),"
        " t: {'k': Tensor[B], 'v': State(h: Tensor[B + 1, 2 * (B + 1)], c: Tensor[3, B]) | None})"
        " -> State(h: Tensor[2, 4], c: Tensor[3, ...]): ...",
    ),
    "a class with sizes that are not given": (
        "from dataclasses import dataclass\n"
        "@dataclass\nclass State[B: IntVar, S: IntTuple]:\n    h: Tensor[[B, 2 * B, 3]]\n    c: Tensor[S]\n"
        "def f[B: IntVar, S: IntTuple](x: Tensor[[B]], y: Tensor[S], s: State, t: State[int], u: list[State]) -> None: ...",
        "def f(x: Tensor[B], y: Tensor[*S], s: State(h: Tensor[_, _, 3], c: Tensor[...]),"
        " t: State(h: Tensor[_, _, 3], c: Tensor[...]), u: [State(h: Tensor[_, _, 3], c: Tensor[...]), ...]) -> None: ...",
    ),
    "a class with sizes that are given to its base": (
        "from dataclasses import dataclass\nN = IntVar('N')\nM = IntVar('M')\n"
        "@dataclass\nclass Two(Generic[N, M]):\n    a: Tensor[[N, M]]\n"
        "@dataclass\nclass One[K: IntVar](Two[K, 4]):\n    b: Tensor[[K]]\n"
        "@dataclass\nclass None_(Two[3, 4]): ...\n"
        "def f(x: Tensor[[N]], y: One[N + 1], z: None_) -> Tensor[[M]]: ...",
        "def f(x: Tensor[N], y: One(a: Tensor[N + 1, 4], b: Tensor[N + 1]), z: None_(a: Tensor[3, 4])) -> Tensor[M]: ...",
    ),
    "a class with types and sizes": (
        "from dataclasses import dataclass\n"
        "@dataclass\nclass Box[T, N: IntVar]:\n    a: T\n    b: list[T]\n    c: Tensor[[N]]\n"
        "@dataclass\nclass Sub[M: IntVar](Box[Tensor[[M, 2]], M + 1]): ...\n"
        "def f[N: IntVar](x: Tensor[[N]], y: Box[Tensor[[N]], 2 * N], z: Sub[N], w: Box) -> None: ...",
        "def f(x: Tensor[N], y: Box(a: Tensor[N], b: [Tensor[N], ...], c: Tensor[2 * N]),"
        " z: Sub(a: Tensor[N, 2], b: [Tensor[N, 2], ...], c: Tensor[N + 1]), w: Box(a: _, c: Tensor[_])) -> None: ...",
    ),
    "an alias that holds all there is": (
        "type Row[K: IntVar] = Tensor[[K, 3]]\ntype Fixed = Tensor[[3, 4]]\n"
        "def f(x: Row[2]) -> None: ...\ndef g(x: list[Fixed]) -> None: ...",
        "def f(x: Tensor[2, 3]) -> None: ...\ndef g(x: [Tensor[3, 4], ...]) -> None: ...",
    ),
    "what belongs to no object": (
        "class Net[D: IntVar](nn.Module):\n"
        "    @staticmethod\n    def s(x: Tensor[[D]]) -> Tensor[[D]]: ...\n"
        "    @classmethod\n    def c(cls, x: Tensor[[D]]) -> Tensor[[D, 2]]: ...\n"
        "    def m(self, x: 'Tensor[[D]]') -> 'Tensor[[D, 3]]': ...",
        "def Net.s(x: Tensor[D]) -> Tensor[D]: ...\n"
        "class Net:\n    def c(cls, x: Tensor[D]) -> Tensor[D, 2]: ...\n"
        "    def m(self, x: Tensor[D]) -> Tensor[D, 3]:\n        const D = _",
    ),
    "all in quotes": (
        "def f[N: IntVar](x: 'Tensor[[N, 2]]', n: 'Int[N]', s: 'list[Tensor[[N]]]') -> 'Tensor[[N]] | None': ...",
        "def f(x: Tensor[N, 2], n: Scalar[N], s: [Tensor[N], ...]) -> Tensor[N] | None: ...",
    ),
    "an assertion in a body": (
        "def f[N: IntVar](x: Tensor[[N]]) -> Tensor[[N]]:\n"
        "    shape_extensions.assert_shape(x.shape, (3,))\n    return x",
        "def f(x: Tensor[N]) -> Tensor[N]: ...",
    ),
}


@pytest.mark.parametrize("key", EXACT)
def test_what_is_said(key: str) -> None:
    stub, text = EXACT[key]
    module, report = read(stub)
    told = [each for each in messages(report) if "is a shape function" not in each]
    assert told == []
    expected = shapes(text)
    assert [(each.name, each.index) for each in module] == [(each.name, each.index) for each in expected]
    assert module == expected, pipeline.write_text(module)


# What a stub says, what the spec says of it, and what is told of the rest.
PARTIAL = {
    "a broadcast of any shapes": (
        "def f[A: IntTuple, B: IntTuple](a: Tensor[A], b: Tensor[B]) -> Tensor[broadcast(A, B)]: ...",
        "def f(a: Tensor[*A], b: Tensor[*B]) -> Tensor: ...",
        "`broadcast` is not evaluated",
    ),
    "a flag with a default": (
        "@type_shape_dsl_function\ndef kept(s: IntTuple, keep: bool) -> IntTuple:\n    return s if keep else s[:-1]\n"
        "def f[N: IntVar, Keep: Flag[bool] = False](x: Tensor[[N, 2]], keep: Keep = False)"
        " -> Tensor[kept([N, 2], Keep)]: ...",
        "def f(x: Tensor[N, 2], keep: _ = _) -> Tensor: ...",
        "`kept` is not evaluated",
    ),
    "a function that refuses": (
        "def f[N: IntVar](x: Tensor[[2]], y: Tensor[[3]]) -> Tensor[broadcast([2], [3])]: ...",
        "def f(x: Tensor[2], y: Tensor[3]) -> Tensor: ...",
        "`broadcast` refuses what it is called with",
    ),
    "a function that nobody has": (
        "from nowhere._shapes import lost\ndef f[S: IntTuple](x: Tensor[S]) -> Tensor[lost(S)]: ...",
        "def f(x: Tensor[*S]) -> Tensor: ...",
        "`nowhere._shapes` lies neither beside the stub nor among what is installed",
    ),
    "a divisor that may be 0": (
        "def f[N: IntVar, S: IntVar](x: Tensor[[N]], s: Int[S]) -> Tensor[[N // S + 1, N]]: ...",
        "def f(x: Tensor[N], s: Scalar[S]) -> Tensor[_, N]: ...",
        "the divisor may be 0",
    ),
    "a union": (
        "def f[S: IntTuple](x: Tensor[S], y: Tensor[S] | float) -> Tensor[S]: ...",
        "def f(x: Tensor[*S], y: _) -> Tensor[*S]: ...",
        "`Tensor[S] | float` is one of several types",
    ),
    "a union by an alias": (
        "type Like[S: IntTuple] = Tensor[S] | bool | float\n"
        "def f[S: IntTuple](x: Tensor[S], y: Like[S]) -> Tensor[S]: ...",
        "def f(x: Tensor[*S], y: _) -> Tensor[*S]: ...",
        "is one of several types",
    ),
    "a union that is returned": (
        "def f[S: IntTuple](x: Tensor[S]) -> Tensor[S] | tuple[Tensor[S], Tensor[S]]: ...",
        "def f(x: Tensor[*S]): ...",
        "is one of several types",
    ),
    "a shape as a value": (
        "def f[S: IntTuple](size: S, x: Tensor[S]) -> Tensor[S]: ...",
        "def f(size: _, x: Tensor[*S]) -> Tensor[*S]: ...",
        "`S` is a shape as a value",
    ),
    "a shape as arguments": (
        "def f[S: IntTuple](*size: *S) -> Tensor[S]: ...",
        "def f(*size: _) -> Tensor[*S]: ...",
        "`S` is a shape as a value",
    ),
    "a shape as a list": (
        "def f[S: IntTuple, T: IntTuple](x: Tensor[T], size: IntTupleOrList[S], n: IntListLiteral[S]) -> Tensor[T]: ...",
        "def f(x: Tensor[*T], size: _, n: _) -> Tensor[*T]: ...",
        "`IntTupleOrList[S]` is ints, and nothing tells how many",
    ),
    "nested lists": (
        "def f[S: IntTuple](data: RegularNestedList[S, float]) -> Tensor[S]: ...",
        "def f(data: _) -> Tensor[*S]: ...",
        "`RegularNestedList[S, float]` is nested lists",
    ),
    "an index": (
        "def f[S: IntTuple, I: Index](x: Tensor[S], i: I) -> Tensor[shape_extensions.index_shape(S, I)]: ...",
        "def f(x: Tensor[*S], i: _) -> Tensor: ...",
        "`I` is an index",
    ),
    "any number of shapes": (
        "def f[Shapes: IntTuples, N: IntVar](x: Tensor[[N]], *xs: MapIntTuples[lambda S: Tensor[S], Shapes],"
        " ys: MapIntTuples[lambda S: Tensor[S], Shapes]) -> Tensor[[N]]: ...",
        "def f(x: Tensor[N], *xs: [[Tensor, ...], ...], ys: [Tensor, ...]) -> Tensor[N]: ...",
        "`Shapes` is any number of shapes",
    ),
    "another class": (
        "class Dist[S: IntTuple]: ...\ndef f[S: IntTuple](d: Dist[S], x: Tensor[S]) -> Tensor[S]: ...",
        "def f(d: _, x: Tensor[*S]) -> Tensor[*S]: ...",
        "`Dist[S]` is no tensor",
    ),
    "a receiver that is no tensor": (
        "class Up[A: IntVar](nn.Module):\n    def forward[N: IntVar](self: Up[N], x: Tensor[[N]]) -> Tensor[[N]]: ...",
        "class Up:\n    def forward(self, x: Tensor[N]) -> Tensor[N]: ...",
        "`Up[N]` is no tensor; what it says of `self` is not read",
    ),
    "an overload for one value": (
        "@overload\ndef f[N: IntVar](x: Tensor[[N]], mode: Literal['full']) -> Tensor[[N]]: ...\n"
        "@overload\ndef f[N: IntVar](x: Tensor[[N]], mode: str) -> Tensor: ...",
        "def f(x: Tensor[N], mode: _) -> Tensor[N]: ...\ndef f@2(x: Tensor[N], mode: _) -> Tensor: ...",
        "the spec holds where `mode` is `'full'`, which the language cannot say",
    ),
    "what is written before 1.4": (
        "def f[N: IntVar, K: IntVar](x: Tensor[N, K], y: Tensor[N], z: Tensor[[K]]) -> Tensor[[K]]: ...",
        "def f(x: Tensor, y: Tensor, z: Tensor[K]) -> Tensor[K]: ...",
        "`Tensor[N, K]` is not how Pyrefly 1.4 writes a shape, `Tensor[[…]]`",
    ),
    "a receiver with sizes": (
        "class Up[A: IntVar](nn.Module):\n    def f(self: 'Up[3]', x: Tensor[[2]]) -> Tensor[[4]]: ...",
        "class Up:\n    def f(self, x: Tensor[2]) -> Tensor[4]: ...",
        "`'Up[3]'` is no tensor; what it says of `self` is not read",
    ),
    "an object with sizes": (
        "class Up[A: IntVar](nn.Module):\n    def f[N: IntVar](self, x: Tensor[[N]], other: Up[A]) -> Up[A]: ...",
        "class Up:\n    def f(self, x: Tensor[N], other: _): ...",
        "`Up[A]` is no tensor",
    ),
    "a union by its name": (
        "import typing\nfrom typing import Optional, Union\n"
        "def f[N: IntVar](x: Union[Tensor[[N]], float], y: typing.Optional[Tensor[[N]] | float], z: Optional[Tensor[[N]]],"
        " w: Union[None, Tensor[[N]]]) -> Union[Tensor[[N]], None, float]: ...",
        "def f(x: _, y: _, z: Tensor[N] | None, w: Tensor[N] | None): ...",
        "is one of several types, of which the language has only `T | None`",
    ),
    "an exponent": (
        "def f[N: IntVar](x: Tensor[[N]]) -> Tensor[[2**N, N**-1, N**2, N]]: ...",
        "def f(x: Tensor[N]) -> Tensor[_, _, N**2, N]: ...",
        "the exponent is no constant >= 0",
    ),
    "a name that is not ASCII": (
        "β = IntVar('β')\ndef f[ñ: IntVar, Σ: IntTuple, N: IntVar](x: Tensor[[ñ, N, β]], y: Tensor[Σ], n: Int[ñ])"
        " -> Tensor[[N, ñ + 1]]: ...",
        "def f(x: Tensor[_, N, _], y: Tensor, n: _) -> Tensor[N, _]: ...",
        "is a name that the language cannot write, for it is not all ASCII",
    ),
    "what is no shape": (
        "def f[N: IntVar, F: Flag[bool]](x: Tensor[[N]]) -> Tensor[[N] if F else [N, N]]: ...",
        "def f(x: Tensor[N]) -> Tensor: ...",
        "`[N] if F else [N, N]` is no shape",
    ),
    "two runs of dims": (
        "def f[A: IntTuple, B: IntTuple](x: Tensor[A], y: Tensor[B]) -> Tensor[[*A, *B]]: ...",
        "def f(x: Tensor[*A], y: Tensor[*B]) -> Tensor: ...",
        "`*A, *B` has two runs of dims, of which a tensor can have one",
    ),
}


@pytest.mark.parametrize("key", PARTIAL)
def test_what_cannot_be_said(key: str) -> None:
    stub, text, told = PARTIAL[key]
    module, report = read(stub)
    assert not report.errors
    found = [diagnostic for diagnostic in report if told in diagnostic.message]
    assert found, messages(report)
    assert all(diagnostic.code == "inexpressible" for diagnostic in found)
    assert all(diagnostic.span is not None for diagnostic in found)
    expected = shapes(text)
    assert module == expected, pipeline.write_text(module)


def test_a_note_stands_where_it_is_said() -> None:
    _, report = read("def f[A: IntTuple, B: IntTuple](a: Tensor[A], b: Tensor[B]) -> Tensor[broadcast(A, B)]: ...")
    (only,) = report
    assert only.severity is Severity.NOTE
    assert only.span is not None
    assert only.span.text == "broadcast(A, B)"


def test_a_shape_function_is_no_spec() -> None:
    module, report = read("@type_shape_dsl_function\ndef same(s: IntTuple) -> IntTuple:\n    return s")
    assert list(module) == []
    assert messages(report) == [
        "`same` is a shape function: it is evaluated where types call it, and is no spec itself"
    ]


def test_what_says_nothing_of_shapes_gives_nothing() -> None:
    module, report = read(
        "class Net[N: IntVar](nn.Module):\n    def name(self) -> str: ...\n    def grow(self, other: Net) -> Any: ...\n"
        "def f(x: Tensor, y: int | float | Tensor, z: Callable[[Tensor], Tensor] | None) -> Tensor: ...\n"
        "def g[F: Flag[int]](x: F) -> F: ..."
    )
    assert list(module) == []
    assert list(report) == []


def test_names_of_a_star() -> None:
    module, report = read(
        "from shape_extensions import *\nfrom torch import *\ndef f[N: IntVar](x: Tensor[[N]]) -> Tensor[[N]]: ...",
        head="",
    )
    assert list(report) == []
    assert module == shapes("def f(x: Tensor[N]) -> Tensor[N]: ...")


HOSTILE = {
    "an alias of itself": "type A = A | None\ndef f[N: IntVar](x: A, y: Tensor[[N]]) -> A: ...",
    "an alias of itself, twice": "type A = tuple[A, A]\ndef f[N: IntVar](x: A, y: Tensor[[N]]) -> A: ...",
    "a shape of itself": "type S = [*S, *S]\ndef f[N: IntVar](x: Tensor[S], y: Tensor[[N]]) -> Tensor[[*S]]: ...",
    "a size of itself": "type S = S + S\ndef f[N: IntVar](x: Tensor[[S]], y: Tensor[[N]]) -> Int[S]: ...",
    "an alias with itself for a parameter": (
        "type A[S: IntTuple] = A[A[S]]\ndef f[N: IntVar](x: A[[N]], y: Tensor[[N]]) -> A[A[[N]]]: ..."
    ),
    "a kind of itself": "type K = K\ndef f[N: K, M: IntVar](x: Tensor[[N]], y: Tensor[[M]]) -> None: ...",
    "a class of itself": "class T(T, T, T): ...\ndef f[N: IntVar](x: T[[N]], y: Tensor[[N]]) -> None: ...",
    "a class with fields of itself": (
        "from dataclasses import dataclass\n@dataclass\nclass T(T, T, T):\n    n: Tensor[[2]]\n"
        "def f[N: IntVar](x: T, y: Tensor[[N]]) -> None: ..."
    ),
    "a field of itself": (
        "from dataclasses import dataclass\n@dataclass\nclass T:\n    a: T\n    b: list[T]\n    n: Tensor[[2]]\n"
        "def f(x: T) -> T: ..."
    ),
    "aliases that double": "type A0[N: IntVar] = Tensor[[N]]\n"
    + "".join(f"type A{i + 1}[N: IntVar] = tuple[A{i}[N], A{i}[N]]\n" for i in range(30))
    + "def f[N: IntVar](x: A30[N]) -> Tensor[[N]]: ...",
    "a long union": "def f[N: IntVar](x: " + " | ".join(["Tensor[[N]]"] * 900) + ") -> None: ...",
    "a long shape": "def f[N: IntVar](x: Tensor[[" + "N, " * 900 + "]]) -> None: ...",
    "a long sum": "def f[N: IntVar](x: Tensor[[" + "N + " * 300 + "N]]) -> None: ...",
    "a huge power": "def f[N: IntVar](x: Tensor[[N]]) -> Tensor[[9**9**9**9, N]]: ...",
    "odd pieces": (
        "def f[N: IntVar](a: Tensor[N:2], b: Tensor[[]][[]], c: Int[N, N], d: Int[[]], e: MapIntTuples[N],"
        " g: MapIntTuples[lambda: 1, N], h: Tensor[[*N]], i: Tensor[[N if N else 1]], j: IntTuple[*N], k: Tensor[[-(N)]],"
        " l: Tensor[[N[0]]], m: Tensor[{}], n: Tensor[[1.5]], o: Flag, p: Elements[N], q: Tensor[[broadcast()]],"
        " r: Tensor[broadcast(x=1)], s: Tensor[broadcast(*N)], t: Tensor[(lambda: N)()]) -> Tensor[...]: ..."
    ),
}


def test_more_than_is_read_is_told() -> None:
    _, report = read(HOSTILE["aliases that double"])
    assert [message for message in messages(report) if "more than 20000 types" in message]


@pytest.mark.parametrize("key", HOSTILE)
def test_what_nobody_should_write(key: str) -> None:
    module, report = read(HOSTILE[key])
    again = Report()
    pipeline.read(Source("again.shapes", pipeline.write_text(module)), again)
    assert not again.errors
    assert len(list(module)) + len(list(report)) > 0


# ---------------------------------------------------------------------- files around one


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "pkg-stubs"
    (folder / "nn").mkdir(parents=True)
    (folder / "__init__.pyi").write_text("from torch import Tensor as Tensor\n")
    (folder / "_shapes.pyi").write_text(
        "import shape_extensions.dsl as dsl\nfrom shape_extensions import IntTuple, type_shape_dsl_function\n"
        "@type_shape_dsl_function\ndef turned(s: IntTuple) -> IntTuple:\n"
        "    if len(s) != 2:\n        return dsl.Invalid('only of two dims')\n    return dsl.IntTuple((s[1], s[0]))\n"
    )
    (folder / "results.pyi").write_text(
        "from shape_extensions import IntTuple\nfrom torch import Tensor\n"
        "class pair[A: IntTuple, B: IntTuple](tuple[Tensor[A], Tensor[B]]): ...\n"
        "type Maybe[A: IntTuple] = Tensor[A] | None\n"
    )
    (folder / "nn" / "__init__.pyi").write_text("")
    return folder


def around(package: Path, text: str) -> tuple[Module, Report]:
    path = package / "nn" / "functional.pyi"
    head = "from shape_extensions import IntTuple, IntVar\n"
    path.write_text(head + text)
    return read(text, str(path), head)


def test_functions_and_types_of_other_files(package: Path) -> None:
    module, report = around(
        package,
        "from .. import Tensor, results\nfrom .._shapes import turned\nfrom ..results import Maybe\n"
        "def f[N: IntVar, M: IntVar](x: Tensor[[N, M]], y: Maybe[[N]]) -> results.pair[turned([N, M]), [M]]: ...",
    )
    assert list(report) == []
    assert module == shapes("def f(x: Tensor[N, M], y: Tensor[N] | None) -> (Tensor[M, N], Tensor[M]): ...")


def test_sizes_of_other_modules(tmp_path: Path) -> None:
    """Of the package's own code, which may be annotated itself; a stub comes before the code beside it."""
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "sizes.py").write_text("from shape_extensions import IntVar\nN = IntVar('N')\nHEADS = 8\n")
    (folder / "other.py").write_text("WIDTH = 3\n")
    (folder / "other.pyi").write_text("WIDTH = 4\n")
    head = "from torch import Tensor\nfrom . import sizes\nfrom .other import WIDTH\nfrom .sizes import HEADS, N\n"
    text = "def f(x: Tensor[[N, HEADS]], y: Tensor[[sizes.N, WIDTH]]) -> Tensor[[2 * HEADS]]: ..."
    module, report = read(text, str(folder / "net.py"), head)
    assert list(report) == []
    assert module == shapes("def f(x: Tensor[N, 8], y: Tensor[N, 4]) -> Tensor[2 * 8]: ...")


def test_functions_of_an_installed_package(package: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(package.parent), *sys.path])
    other = tmp_path / "project" / "net.pyi"
    other.parent.mkdir()
    module, report = read(
        "from torch import Tensor\nfrom pkg._shapes import turned\n"
        "def f[N: IntVar](x: Tensor[[N, 2]]) -> Tensor[turned([N, 2])]: ...",
        str(other),
        "from shape_extensions import IntVar\n",
    )
    assert list(report) == []
    assert module == shapes("def f(x: Tensor[N, 2]) -> Tensor[2, N]: ...")


# ------------------------------------------------------------------------------- versions


STUB = "from shape_extensions import IntVar\nfrom torch import Tensor\ndef f[N: IntVar](x: Tensor[[N]]) -> Tensor[[N]]: ...\n"


def at_version(folder: Path, version: str, text: str = STUB) -> tuple[Module, Report]:
    (folder / f"pyrefly_shape_extensions-{version}.dist-info").mkdir(parents=True)
    (folder / "project").mkdir()
    return read(text, str(folder / "project" / "net.pyi"), "")


@pytest.mark.parametrize("version", ["1.4.0", "1.4", "1.4.7"])
def test_a_stub_of_the_version_that_is_read(tmp_path: Path, version: str) -> None:
    module, report = at_version(tmp_path, version)
    assert list(report) == []
    assert module == shapes("def f(x: Tensor[N]) -> Tensor[N]: ...")


@pytest.mark.parametrize("version", ["1.5.0", "1.40.0", "0.52.1", "2.4"])
def test_a_stub_of_another_version_is_not_misread(tmp_path: Path, version: str) -> None:
    module, report = at_version(tmp_path, version)
    assert list(module) == []
    (only,) = report
    assert (only.code, only.severity) == ("unknown-dialect", Severity.WARNING)
    assert f"Pyrefly {version}" in only.message


def test_a_comment_tells_the_version(tmp_path: Path) -> None:
    module, report = at_version(tmp_path, "1.5.0", "# shapedsl: pyrefly 1.4\n" + STUB)
    assert list(report) == []
    assert len(list(module)) == 1


def test_a_comment_may_tell_of_another_version() -> None:
    module, report = read("# shapedsl: pyrefly 1.6\n" + STUB, head="")
    assert list(module) == []
    assert [diagnostic.code for diagnostic in report] == ["unknown-dialect"]


def test_a_name_of_another_version_is_told() -> None:
    module, report = read(
        "from shape_extensions import Dim, IntVar\nfrom torch import Tensor\n"
        "def f[N: IntVar](n: Dim[N], x: Tensor[[N]]) -> Tensor[[N]]: ...",
        head="",
    )
    assert [(diagnostic.code, diagnostic.span and diagnostic.span.text) for diagnostic in report] == [
        ("unknown-dialect", "Dim")
    ]
    assert module == shapes("def f(n: _, x: Tensor[N]) -> Tensor[N]: ...")


def test_other_files_are_none_of_its_business() -> None:
    module, report = read(
        "from shapedsl import Tensor\nfrom shapedsl.dims import B\ndef f(x: Tensor[B]) -> Tensor[B]: ...", head=""
    )
    assert list(report) == []
    assert module == shapes("def f(x: Tensor[B]) -> Tensor[B]: ...")
