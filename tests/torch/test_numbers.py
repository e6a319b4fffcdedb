"""Programs that need the number that a size is: told in the user's names by every entry point, and cured as told."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="tracing needs torch")

import torch

import shapedsl as sd

ones = torch.ones
ALL = ("non-strict", "strict", "compile", "make_fx")
EXACT = ("non-strict", "make_fx")  # dynamo keeps these symbolic


def made(way: str, f: Callable[..., Any], args: tuple[Any, ...], text: str) -> Any:
    """Returns what ``way`` makes of ``f``, called once with ``args``."""
    torch._dynamo.reset()
    if way == "compile":
        run = sd.compile(f, text, backend="eager")
        run(*args)
        return run
    if way == "make_fx":
        return sd.make_fx(f, text)(*args)
    return sd.export(f, args, spec=text, strict=way == "strict").module()


USES: list[tuple[str, Callable[..., Any], tuple[str, ...]]] = [
    ("int", lambda x: x * int(x.shape[0]), EXACT),
    ("float", lambda x: x * float(x.shape[0]), EXACT),
    ("sqrt", lambda x: x * math.sqrt(x.shape[0]), EXACT),
    ("range", lambda x: sum(x * i for i in range(x.shape[0])), ALL),
    ("index", lambda x: x * [1, 2, 3, 4, 5][x.shape[0]], ALL),
    ("key", lambda x: x * {4: 2, 5: 3}[x.shape[0]], ALL),
    ("repeat", lambda x: x * len([0] * x.shape[0]), ALL),
]


@pytest.mark.parametrize(
    ("f", "way"),
    [pytest.param(f, way, id=f"{name}-{way}") for name, f, ways in USES for way in ways],
)
def test_the_number_is_asked_for_by_its_name_and_a_const_is_the_cure(f: Callable[..., Any], way: str) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        made(way, f, (ones(4),), "def f(x: Tensor[B]): ...")
    (finding,) = caught.value.diagnostics
    assert finding.code == "data-dependent"
    assert finding.message == "the program needs the number `B` itself, which the spec leaves open"
    assert "B is x.shape[0], 4 in the example" in finding.notes
    assert "test_numbers.py" in finding.notes[0]
    assert "`const B = _`" in finding.helps[0]
    run = made(way, f, (ones(4),), "const B = _\ndef f(x: Tensor[B]): ...")
    assert torch.equal(run(ones(4)), f(ones(4)))


@pytest.mark.parametrize("way", ALL)
def test_of_a_scalar(way: str) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        made(
            way,
            lambda x, n: sum(x * i for i in range(n)),
            (ones(4), 3),
            "int n in [0, 9]\ndef f(x: _, n: Scalar[n]): ...",
        )
    assert caught.value.code == "data-dependent"
    assert "the number `n` itself" in str(caught.value)
    assert "n is an argument, 3 in the example" in caught.value.diagnostics[0].notes


@pytest.mark.parametrize(
    ("f", "way"),
    [
        (lambda x: x * len(str(x.shape[0])), "strict"),
        (lambda x: x * len(str(x.shape[0])), "compile"),
        (lambda x: x * len(f"{x.shape[0]:d}"), "non-strict"),
        (lambda x: x * len(f"{x.shape[0]:d}"), "make_fx"),
    ],
)
def test_a_size_that_becomes_text(f: Callable[..., Any], way: str) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        made(way, f, (ones(4),), "def f(x: Tensor[B]): ...")
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.message) == (
        "data-dependent",
        "the program makes a text of a size, which needs the number itself",
    )
    assert "test_numbers.py" in finding.notes[0]


EMPTY: dict[Any, Any] = {}


def test_another_key_that_cannot_be_hashed_is_none_of_ours() -> None:
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        made("non-strict", lambda x: x * EMPTY[[x.shape[0]]], (ones(4),), "def f(x: Tensor[B]): ...")


def test_of_an_expression_and_of_a_size_without_a_name() -> None:
    def f(x: torch.Tensor) -> Any:
        return x * int(x.shape[0] + 1)

    with pytest.raises(sd.ShapeError) as caught:
        made("non-strict", f, (ones(4),), "def f(x: Tensor[2 * B]): ...")
    assert "the program needs the number `2 * B + 1` itself" in str(caught.value)
    with pytest.raises(sd.ShapeError) as caught:
        made("non-strict", f, (ones(4),), "def f(x: Tensor[?]): ...")
    assert "write a number or `_`" in caught.value.diagnostics[0].helps[0]
    assert "const" not in str(caught.value)


@pytest.mark.parametrize("way", ALL)
def test_a_size_that_is_asked_for_its_truth(way: str) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        made(way, lambda x: x * 2 if bool(x.shape[0]) else x, (ones(4),), "def f(x: Tensor[B]): ...")
    assert "the program asks whether `B != 0`" in str(caught.value)


def test_a_number_that_comes_from_data_stays_torchs_own_error() -> None:
    with pytest.raises(Exception, match="data-dependent expression") as caught:
        made("non-strict", lambda x: x * int(x.sum().item()), (ones(4),), "def f(x: Tensor[B]): ...")
    assert not isinstance(caught.value, sd.ShapeError)


@pytest.mark.parametrize("way", ALL)
def test_a_tensor_that_is_taken_apart_by_a_size_has_no_known_number_of_parts(way: str) -> None:
    """`chunk` and `split` count their parts; what the help names is traced, and gives the same."""
    text = "def f(x: Tensor[B, D]): where B >= 2, D >= 4, D % 2 == 0"

    def chunked(x: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, -1)
        return a * b

    def cured(x: torch.Tensor) -> torch.Tensor:
        a, b = x.tensor_split(2, -1)
        return a * b

    with pytest.raises(sd.ShapeError) as caught:
        made(way, chunked, (ones(3, 8),), text)
    assert "`tensor_split(n)` gives the same" in caught.value.diagnostics[0].helps[0]
    x = torch.randn(5, 6)
    assert torch.equal(made(way, cured, (ones(3, 8),), text)(x), chunked(x))
