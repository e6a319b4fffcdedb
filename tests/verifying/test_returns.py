"""What a spec claims of the result, decided on programs; every verdict on sizes is tried by running the program."""

from __future__ import annotations

import collections
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("torch", reason="programs are torch's")

import torch
from torch.nn.functional import conv1d, pad

import shapedsl as sd

ones = torch.ones
Pair = collections.namedtuple("Pair", "first second")


@dataclass(frozen=True)
class Claim:
    """A function with its spec, and what becomes of each claim of the result."""

    fn: Callable[..., Any]
    text: str
    args: tuple[Any, ...]
    expected: dict[str, str]


def kept(*claims: str) -> dict[str, str]:
    return dict.fromkeys(claims, "kept")


def twice(x: Any) -> Any:
    found = x.nonzero()
    return found, found.repeat(2, 1)


CLAIMS = {
    "all dims": Claim(
        lambda x: (x @ x.T, x.sum(1)),
        "def f(x: Tensor[B, D]) -> (Tensor[B, B], Tensor[B]): ...",
        (ones(4, 3),),
        kept("return[0].shape[0] == B", "return[0].shape[1] == B", "return[1].shape[0] == B"),
    ),
    "another dim": Claim(
        lambda x: x.sum(1),
        "def f(x: Tensor[B, D]) -> Tensor[D]: ...",
        (ones(4, 3),),
        {"return.shape[0] == D": "refuted"},
    ),
    "a size that is right for most": Claim(
        lambda x: conv1d(x, ones(3, 3, 3), padding=1, stride=2),
        "def f(x: Tensor[3, T]) -> Tensor[3, T // 2]: where T >= 1",
        (ones(3, 8),),
        {"return.shape[0] == 3": "kept", "return.shape[1] == T // 2": "refuted"},
    ),
    "the same size, said otherwise": Claim(
        lambda x: conv1d(x, ones(3, 3, 3), padding=1, stride=2),
        "def f(x: Tensor[3, T]) -> Tensor[3, cdiv(T, 2)]: where T >= 1",
        (ones(3, 8),),
        kept("return.shape[0] == 3", "return.shape[1] == cdiv(T, 2)"),
    ),
    "what follows from an assumption": Claim(
        lambda x: x.view(-1, 8),
        "def f(x: Tensor[B]) -> Tensor[B // 8, 8]: where B % 8 == 0, B > 0",
        (ones(16),),
        kept("return.shape[0] == B // 8", "return.shape[1] == 8"),
    ),
    "a slice by an int": Claim(
        lambda x, n: x[:n],
        "def f(x: Tensor[B], n: Scalar[N]) -> Tensor[min(N, B)]: int N in [0, inf]",
        (ones(5), 3),
        kept("return.shape[0] == min(N, B)"),
    ),
    "a product of dims": Claim(
        lambda x: x.flatten(),
        "def f(x: Tensor[*batch, D]) -> Tensor[prod(*batch) * D]: ...",
        (ones(2, 2, 3),),
        kept("return.shape[0] == prod(batch[0], batch[1]) * D"),
    ),
    "variadics and ellipses": Claim(
        lambda x: (x.sum(-1), x, x[None]),
        "def f(x: Tensor[*batch, D]) -> (Tensor[*batch], Tensor[..., D], Tensor[1, ...]): ...",
        (ones(2, 2, 3),),
        kept(
            "return[0].shape[0] == batch[0]",
            "return[0].shape[1] == batch[1]",
            "return[1].shape[2] == D",
            "return[2].shape[0] == 1",
        ),
    ),
    "what data decides, as one size": Claim(
        twice,
        "def f(x: float32[B, D]) -> (int64[N, 2], Tensor[2 * N, 2]): ...",
        (ones(4, 3),),
        kept(
            "return[0] is int64",
            "return[0].shape[0] == N",
            "return[0].shape[1] == 2",
            "return[1].shape[0] == 2 * N",
            "return[1].shape[1] == 2",
        ),
    ),
    "what data decides, as a size of inputs": Claim(
        lambda x: x.nonzero(),
        "def f(x: Tensor[B, D]) -> Tensor[B, 2]: ...",
        (ones(4, 3),),
        {"return.shape[0] == B": "undecided", "return.shape[1] == 2": "kept"},
    ),
    "two sizes that data decides": Claim(
        lambda x: (x.nonzero(), x[x > 0]),
        "def f(x: Tensor[B, D]) -> (Tensor[N, 2], Tensor[N]): ...",
        (ones(4, 3),),
        {"return[0].shape[0] == N": "kept", "return[0].shape[1] == 2": "kept", "return[1].shape[0] == N": "undecided"},
    ),
    "a name that only the result has": Claim(
        lambda x: (torch.cat([x, x]), x),
        "def f(x: Tensor[B]) -> (Tensor[2 * M], Tensor[N]): ...",
        (ones(4),),
        kept("return[0].shape[0] == 2 * M", "return[1].shape[0] == N"),
    ),
    "a multiple that it is not": Claim(
        lambda x: pad(torch.cat([x, x]), (0, 1)),
        "def f(x: Tensor[B]) -> Tensor[2 * M]: ...",
        (ones(4),),
        {"return.shape[0] == 2 * M": "refuted"},
    ),
    "containers": Claim(
        lambda x: {"a": x, "b": [x.t(), None]},
        'def f(x: Tensor[B, D]) -> {"a": Tensor[B, D], "b": [Tensor[D, B], Tensor[B] | None]}: ...',
        (ones(4, 3),),
        kept(
            'return["a"].shape[0] == B',
            'return["a"].shape[1] == D',
            'return["b"][0].shape[0] == D',
            'return["b"][0].shape[1] == B',
            'return["b"][1] may be None',
        ),
    ),
    "objects, ints and None": Claim(
        lambda x: Pair(x, (x.shape[0] * 2, 7, None)),
        "def f(x: Tensor[B]) -> Pair(first: Tensor[B], second: (Scalar[2 * B], Scalar, None)): ...",
        (ones(4),),
        kept(
            "return.first.shape[0] == B",
            "return.second[0] == 2 * B",
            "return.second[1] is an int",
            "return.second[2] is None",
        ),
    ),
    "another int": Claim(
        lambda x: x.shape[0] * 2,
        "def f(x: Tensor[B]) -> Scalar[B]: ...",
        (ones(4),),
        {"return == B": "refuted"},
    ),
    "a list of any length": Claim(
        lambda xs: [x * 2 for x in xs],
        "type F = floating\ndef f(xs: [F[B, D], ...]) -> [F[B, D], ...]: ...",
        ([ones(4, 3), ones(4, 3)],),
        kept(
            "return[0] is F (a floating)",
            "return[0].shape[0] == B",
            "return[0].shape[1] == D",
            "return[1] is F (a floating)",
            "return[1].shape[0] == B",
            "return[1].shape[1] == D",
        ),
    ),
    "dtypes": Claim(
        lambda x: (x.half(), x > 0),
        "type F = floating\ndef f(x: F[B]) -> (F[B], integral[B]): ...",
        (ones(4),),
        {
            "return[0] is F (a floating)": "refuted",
            "return[0].shape[0] == B": "kept",
            "return[1] is integral": "refuted",
            "return[1].shape[0] == B": "kept",
        },
    ),
    "too few": Claim(
        lambda x: (x,),
        "def f(x: Tensor[B]) -> (Tensor[B], Tensor[B]): ...",
        (ones(4),),
        {"return is a tuple of 2": "refuted"},
    ),
    "a tensor for a tuple": Claim(
        lambda x: x, "def f(x: Tensor[B]) -> (Tensor[B],): ...", (ones(4),), {"return is a tuple of 1": "refuted"}
    ),
    "a tuple for a tensor": Claim(
        lambda x: (x,), "def f(x: Tensor[B]) -> Tensor[B]: ...", (ones(4),), {"return is a tensor": "refuted"}
    ),
    "another rank": Claim(
        lambda x: x[None], "def f(x: Tensor[B]) -> Tensor[B]: ...", (ones(4),), {"return has 1 dim": "refuted"}
    ),
    "a missing key": Claim(
        lambda x: {"a": x},
        'def f(x: Tensor[B]) -> {"b": Tensor[B]}: ...',
        (ones(4),),
        {'return["b"] is there': "refuted"},
    ),
    "a missing attribute": Claim(
        lambda x: Pair(x, x),
        "def f(x: Tensor[B]) -> object(third: Tensor[B]): ...",
        (ones(4),),
        {"return.third is there": "refuted"},
    ),
    "None for a tensor": Claim(
        lambda x: (x, None),
        "def f(x: Tensor[B]) -> (Tensor[B], Tensor[B]): ...",
        (ones(4),),
        {"return[0].shape[0] == B": "kept", "return[1] is a tensor": "refuted"},
    ),
    "nothing is claimed": Claim(lambda x: x, "def f(x: Tensor[B]) -> _: ...", (ones(4),), {}),
    "no more than a rank": Claim(
        lambda x: x, "def f(x: Tensor[B, D]) -> Tensor[?, _]: ...", (ones(4, 3),), kept("return has 2 dims")
    ),
}


def spec_of(text: str) -> sd.Spec:
    (spec,) = sd.loads(text).values()
    return spec


@pytest.mark.parametrize("name", CLAIMS)
def test_what_is_claimed_of_the_result(name: str) -> None:
    claim = CLAIMS[name]
    spec = spec_of(claim.text)
    program = sd.export(claim.fn, claim.args, spec=spec, verify=False)
    report = sd.verify(program, spec, raises=False)
    assert {each.what: each.status for each in report.returns} == claim.expected
    run = program.module()
    for args, kwargs in spec.examples(3, like=(claim.args, {})):
        result, sizes = run(*args, **kwargs), spec.bind(*args, **kwargs)
        for each in report.returns:
            if each.status == "kept" and (found := _compared(each.what, result, sizes)) is not None:
                assert found[0] == found[1], (each.what, sizes)
    for each in report.returns:
        if each.status == "refuted" and each.witness:
            names = dict(each.witness)
            args, kwargs = spec.example(names, like=(claim.args, {}))
            found = _compared(each.what, run(*args, **kwargs), spec.bind(*args, **kwargs))
            assert found is None or found[0] != found[1], each
            assert each.code == "return-mismatch"


def _compared(what: str, result: Any, sizes: Any) -> tuple[object, object] | None:
    """Returns a size of the result and what is claimed of it; None where only the result tells what its names are."""
    place, _, claimed = what.partition(" == ")
    names = {**sizes, "prod": lambda *each: math.prod(each), "cdiv": lambda a, b: -(-a // b), "min": min}
    if not claimed or not set(re.findall(r"[A-Za-z]\w*", claimed)) <= names.keys():
        return None
    return _size(place, result), eval(claimed, names)


def _size(place: str, result: Any) -> object:
    for key, index, name in re.findall(r'\["(\w+)"\]|\[(\d+)\]|\.(\w+)', place):
        result = getattr(result, name) if name else result[key or int(index)]
    return result


def test_what_torch_takes_for_granted_is_not_taken_for_proved() -> None:
    claimed = sd.loads("def f(x: float32[B, 2]) -> float32[B, 2]: ...")["f"]
    program = sd.export(lambda x: x.squeeze(0) * 2, (ones(4, 2),), spec=claimed)
    assert program.module()(ones(1, 2)).shape == (2,)  # squeezed, where torch's symbols say (B, 2)
    report = sd.verify(program, claimed, raises=False)
    dtype, *sizes = report.returns
    assert dtype.status == "kept"
    assert {each.status for each in sizes} == {"undecided"}
    assert "torch took `B != 1` for granted" in sizes[0].why
    graph: Any = sd.compile(lambda x: x.squeeze(0) * 2, claimed, backend="eager")
    assert graph(ones(1, 2)).shape == (2,)
    assert sd.verify(graph, raises=False).undecided
    for more in ("where B >= 2", "where B % 2 == 0"):  # what is known to be no 1
        known = sd.loads(f"def f(x: float32[B, 2]) -> float32[B, 2]: {more}")["f"]
        assert not sd.verify(sd.export(lambda x: x.squeeze(0) * 2, (ones(4, 2),), spec=known), known).undecided

    data = sd.loads("def f(x: float32[B]) -> int64[N]: ...")["f"]
    program = sd.export(lambda x: x.nonzero().squeeze(), (ones(4),), spec=data)
    assert program.module()(ones(1)).shape == ()  # one that is not zero has no axis
    found = sd.verify(program, data, raises=False).returns
    assert [each.status for each in found if each.what.startswith("return.shape")] == ["undecided"]


def test_a_size_that_torch_makes_negative_is_not_proved() -> None:
    claimed = sd.loads("def f(x: float32[B]) -> float32[B - 1]: where B <= 9")["f"]
    program = sd.export(lambda x: x.diff(), (ones(4),), spec=claimed, lowering="backed", verify=False)
    assert program.module()(ones(0)).shape == (0,)
    (dtype, size) = sd.verify(program, claimed, raises=False).returns
    assert (dtype.status, size.status) == ("kept", "undecided")
    assert size.why == "torch says it is `B - 1`, which is negative at B = 0"
