"""What torch refuses at a call that satisfies its spec comes as an error that names the argument."""

from __future__ import annotations

import collections
import types
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="compiling needs torch")

from torch._dynamo.exc import FailOnRecompileLimitHit, InternalTorchDynamoError

import shapedsl as sd
from shapedsl.diagnostics import ShapeError
from tests.entry.compiling import compiled

ones = torch.ones


class Pair(NamedTuple):
    a: Any
    b: Any


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


@pytest.mark.parametrize(
    ("text", "calls", "named"),
    [
        ("def f(x: Tensor[B], n: _): ...", [(ones(2), 1), (ones(2), 2), (ones(2), 3)], "`n`"),
        ("def f(x: Tensor[B]): ...", [(ones(2), 1), (ones(2), 2), (ones(2), 3)], "`n`"),
        ("def f(x: Tensor[B, _]): ...", [(ones(2, size), 1) for size in (2, 3, 4)], r"`n`, `x\.shape\[1\]`"),
        ("def f(x: Tensor[B], n: (_, _)): ...", [(ones(2), (1, size)) for size in (1, 2, 3)], "`n`"),
    ],
)
def test_the_recompile_limit_is_told_with_what_is_static(text: str, calls: list[tuple[Any, ...]], named: str) -> None:
    run, _ = compiled(lambda x, n: x * (n[1] if isinstance(n, tuple) else n), text, recompile_limit=2)
    run(*calls[0])
    run(*calls[1])
    with pytest.raises(ShapeError, match=f"more than 2 graphs, torch's limit: each value of {named} costs") as caught:
        run(*calls[2])
    assert isinstance(caught.value.__cause__, FailOnRecompileLimitHit)


def test_the_recompile_limit_is_told_where_nothing_is_static() -> None:
    run, _ = compiled(lambda x: x + 1, "def f(x: Tensor[B]): ...", recompile_limit=1)
    run(ones(2))
    with pytest.raises(ShapeError, match="more than 1 graphs, torch's limit: a dtype, a stride or a flag"):
        run(ones(2, dtype=torch.int64))


def test_a_namedtuple_is_no_tuple_to_torch() -> None:
    run, _ = compiled(lambda p: p[0] + p[1], "def f(p: (Tensor[B], Tensor[B])): ...")
    assert run((ones(2), ones(2))).tolist() == [2, 2]
    with pytest.raises(ShapeError, match="torch obeys the spec of `p` only for a plain tuple or list") as caught:
        run(Pair(ones(2), ones(2)))
    assert isinstance(caught.value.__cause__, InternalTorchDynamoError)
    run, _ = compiled(lambda p: p[0] + p[1], "def f(p: object(a: Tensor[B], b: Tensor[B])): ...")  # the cure
    assert run(Pair(ones(3), ones(3))).tolist() == [2, 2, 2]


@pytest.mark.parametrize("kind", [collections.UserDict, collections.ChainMap])
def test_a_mapping_that_is_no_dict_is_none_to_torch(kind: Any) -> None:
    run, _ = compiled(lambda d: d["q"]["k"] + 1, 'def f(d: {"q": {"k": Tensor[B]}}): ...')
    with pytest.raises(ShapeError, match=r'torch obeys the spec of `d\["q"\]` only for a dict'):
        run({"q": kind({"k": ones(2)})})
    for dict_like in (dict, collections.OrderedDict, types.MappingProxyType):
        assert run({"q": dict_like({"k": ones(2)})}).tolist() == [2, 2]


# what inductor says of a convolution with unbacked sizes, in torch 2.14.1
LAYOUT = """expected size 4==4, stride 1==272 at dim=1; expected size 16==16, stride 68==17 at dim=2
Error in op: torch.ops.{op}.default
This error most often comes from a incorrect fake (aka meta) kernel for a custom op."""


def _saying(op: str) -> Any:
    def run(*_: Any) -> Any:
        raise AssertionError(LAYOUT.format(op=op))

    return lambda graph, inputs: run


def test_a_layout_that_inductor_did_not_plan_is_told_with_the_lowering_that_cures_it() -> None:
    run: Any = sd.compile(lambda x: x + 1, "def f(x: Tensor[B]): ...", backend=_saying("aten.convolution"))
    with pytest.raises(ShapeError, match=r"another layout than `aten\.convolution` returns") as caught:
        run(ones(3))
    assert caught.value.code == "unsupported-by-torch"
    assert 'lowering="backed"' in str(caught.value)


def test_a_layout_that_a_users_own_op_got_wrong_stays_the_users() -> None:
    run: Any = sd.compile(lambda x: x + 1, "def f(x: Tensor[B]): ...", backend=_saying("mine.op"))
    with pytest.raises(AssertionError, match="incorrect fake"):
        run(ones(3))
