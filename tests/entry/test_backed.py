"""``lowering="backed"``: sizes that torch may look at, and a spec that is kept all the same."""

from __future__ import annotations

import io
import warnings
from typing import Any

import pytest

pytest.importorskip("torch", reason="it compiles and exports, and torch is not installed")

import torch

import shapedsl as sd

from ..serving.counting import Counting


def accepted(program: Any, *args: Any, **kwargs: Any) -> bool:
    """Returns whether an exported program takes a call."""
    try:
        program(*args, **kwargs)
    except AssertionError as error:
        assert "Guard failed" in str(error)
        return False
    return True


# ------------------------------------------------------------------------------------------- compile


def test_one_graph_serves_all_sizes_but_0_and_1() -> None:
    backend = Counting()
    fast: Any = sd.compile(
        lambda x, y: x.sum(1) + y.sum(),
        "def f(x: Tensor[B, S], y: Tensor[2*B]): where S % 4 == 0, S >= 4",
        lowering="backed",
        backend=backend,
    )
    for batch, length in ((3, 8), (5, 4), (64, 12)):
        x, y = torch.rand(batch, length), torch.rand(2 * batch)
        torch.testing.assert_close(fast(x, y), x.sum(1) + y.sum())
        assert not {name for name in vars(x) if "dynamo" in name}
    assert len(backend) == 1
    for batch in (1, 0):  # a B of 1 makes y 2: that torch pins it then is no error
        x, y = torch.rand(batch, 4), torch.rand(2 * batch)
        torch.testing.assert_close(fast(x, y), x.sum(1) + y.sum())
        torch.testing.assert_close(fast(x.repeat(1, 2), y), 2 * x.sum(1) + y.sum())
    assert len(backend) == 3


def test_what_the_spec_forbids_is_refused_before_torch_sees_it() -> None:
    backend = Counting()
    fast: Any = sd.compile(
        lambda x, y: x.sum() + y.sum(),
        "def f(x: Tensor[B], y: Tensor[B+1]): where B == 1 or B > 4",
        lowering="backed",
        backend=backend,
    )
    fast(torch.rand(6), torch.rand(7))
    for sizes in ((6, 6), (3, 4), (0, 1)):
        with pytest.raises(sd.ShapeError, match="shape-violation"):
            fast(*map(torch.rand, sizes))
    fast(torch.rand(1), torch.rand(2))  # torch was not told of the side of the `or` that 6 is on
    assert len(backend) == 2


def test_assumptions_are_told_and_tie_sizes() -> None:
    told: list[list[str]] = []

    def backend(graph: Any, inputs: Any) -> Any:
        del inputs
        places = [node for node in graph.graph.nodes if node.op == "placeholder"]
        tensors = [node.meta["example_value"] for node in places]
        told.append([str(each.shape[0]) for each in tensors if isinstance(each, torch.Tensor)])
        return graph.forward

    fast: Any = sd.compile(
        lambda x, y, z: x.sum() + y.sum() + z.sum(),
        "def f(x: Tensor[B], y: Tensor[B], z: Tensor[min(B, 9)]): where B <= 64",
        lowering="backed",
        backend=backend,
    )
    fast(torch.rand(5), torch.rand(5), torch.rand(5))
    x, y, z = told[0]
    assert x == y  # one symbol
    assert z == f"Min(9, {x})"


def test_what_is_not_promised_is_said() -> None:
    fast: Any = sd.compile(
        lambda x, n: x * n,
        "def f(x: Tensor[B], n: Scalar[N]): where N >= 0, B == 1 or B > 4",
        lowering="backed",
        backend="eager",
    )
    assert str(fast.lowering) == "backed: nothing is compiled yet"
    fast(torch.ones(5), 2)
    assert fast.lowering.remarks == (
        "sizes 0 and 1 have graphs of their own: torch takes them for numbers",
        "a branch on a size has a graph for each side",
        "`N` is an int: its first value has a graph of its own",
        "`B >= 5 or B == 1` is checked in front of the artifact; torch is not told",
    )


def test_a_module_and_a_dispatched_function_tell_it_too() -> None:
    module: Any = sd.compile(torch.nn.ReLU(), "def forward(input: Tensor[B]): ...", lowering="backed", backend="eager")
    module(torch.ones(3))
    assert str(module.lowering).startswith("backed: 1 artifact backed\n")
    served: Any = sd.dispatch(
        lambda x: x * 2, "def f(x: Tensor[B]):\n    case B == 1\n    otherwise", lowering="backed", backend="eager"
    )
    served(torch.ones(1))
    served(torch.ones(3))
    assert str(served.lowering).startswith("backed: 2 artifacts backed\n")


def test_a_size_that_torch_pins_is_an_error() -> None:
    fast: Any = sd.compile(
        lambda x, w: x @ w, "def f(x: Tensor[B, S], w: Tensor[4, 3]): ...", lowering="backed", backend="eager"
    )
    with pytest.raises(sd.ShapeError, match="specialized-dim"):
        fast(torch.rand(2, 4), torch.rand(4, 3))


def test_another_lowering_is_refused() -> None:
    for call in (
        lambda: sd.compile(torch.relu, "def f(input: Tensor[B]): ...", lowering="dynamic"),  # type: ignore[call-overload]
        lambda: sd.export(torch.relu, (torch.ones(2),), spec="def f(input: Tensor[B]): ...", lowering="dynamic"),  # type: ignore[arg-type]
        lambda: sd.dispatch(torch.relu, "def f(input: Tensor[B]): ...", lowering="dynamic"),  # type: ignore[call-overload]
    ):
        with pytest.raises(ValueError, match="lowering= is 'unbacked', 'backed' or 'auto', not 'dynamic'"):
            call()


# -------------------------------------------------------------------------------------------- export


def everything(a: Any, several: Any, named: Any, *rest: Any, n: int = 3, **others: Any) -> torch.Tensor:
    total: torch.Tensor = a.sum() + several[0].sum() + named["k"].sum() + rest[0].sum() * n + others["q"].sum()
    return total


EVERYTHING = """
def everything(
    a: Tensor[B], several: [Tensor[2*B]], named: {"k": Tensor[C]}, *rest: [Tensor[H]], n: Scalar[N], **others: {"q": Tensor[E]}
):
    where 1 <= B <= 9, C == 1 or C > 4, N >= 0, H multiple of 3, E >= 2
"""


def call(a: int, several: int, k: int, rest: int, n: int, q: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    z = torch.ones
    return (z(a), [z(several)], {"k": z(k)}, z(rest)), {"n": n, "q": z(q)}


@pytest.mark.parametrize("strict", [False, True])
def test_a_program_takes_what_the_spec_takes(strict: bool) -> None:
    args, kwargs = call(4, 8, 5, 6, 3, 3)
    program = sd.export(everything, args, kwargs, spec=EVERYTHING, lowering="backed", strict=strict)
    saved = io.BytesIO()
    torch.export.save(program, saved)
    saved.seek(0)
    for module in (program.module(), torch.export.load(saved).module()):
        for sizes in ((4, 8, 5, 6, 3, 3), (1, 2, 1, 0, 0, 2), (9, 18, 64, 9, 7, 8)):
            args, kwargs = call(*sizes)
            assert torch.equal(module(*args, **kwargs), everything(*args, **kwargs))
        for sizes in (
            (0, 0, 5, 6, 3, 3),  # B >= 1
            (10, 20, 5, 6, 3, 3),  # B <= 9
            (4, 9, 5, 6, 3, 3),  # 2*B
            (4, 8, 3, 6, 3, 3),  # C == 1 or C > 4
            (4, 8, 5, 7, 3, 3),  # H % 3 == 0
            (4, 8, 5, 6, -1, 3),  # N >= 0
            (4, 8, 5, 6, 3, 1),  # E >= 2
        ):
            args, kwargs = call(*sizes)
            assert not accepted(module, *args, **kwargs), sizes


def test_what_the_program_relies_on_is_found_in_its_guards() -> None:
    def refused(fn: Any, text: str, *sizes: tuple[int, ...]) -> sd.ShapeError:
        with pytest.raises(sd.ShapeError) as error:
            sd.export(fn, tuple(map(torch.ones, sizes)), spec=text, lowering="backed")
        return error.value

    one = "def f(x: Tensor[B]): where B >= 1"
    found = refused(lambda x: x * 2 if x.shape[0] == 1 else x + 1, one, (4,))
    assert (found.code, found.witness) == ("extra-assumption", {"B": 1})
    found = refused(lambda x: x * 2 if x.shape[0] > 5 else x + 1, one, (4,))
    assert "`B <= 5`" in str(found)
    two = "def f(x: Tensor[A], y: Tensor[B]): where A >= 1, B >= 1"
    assert refused(lambda x, y: x + y, two, (4,), (4,)).code == "merged-dims"
    assert refused(lambda x: x.view(-1, 4), one, (8,)).code == "extra-assumption"
    assert refused(lambda x: x + torch.ones(4), one, (4,)).code == "specialized-dim"
    program = sd.export(lambda x: x.view(-1, 4), (torch.ones(8),), spec=one, lowering="backed", verify=False)
    assert not accepted(program.module(), torch.ones(6))


def test_sizes_of_0_are_compared() -> None:
    def branches(x: torch.Tensor) -> torch.Tensor:
        return x.sum() + 2 if x.shape[0] > 0 else x.sum() + 1  # torch takes this for decided, without a guard

    with pytest.raises(sd.ShapeError, match="does not do what the original does") as error:
        sd.export(branches, (torch.ones(4),), spec="def f(x: Tensor[B]): ...", lowering="backed")
    assert error.value.code == "wrong-artifact"
    assert "B = 0" in str(error.value)
    positive = "def f(x: Tensor[B]): where B >= 1"
    module: Any = sd.export(branches, (torch.ones(4),), spec=positive, lowering="backed").module()
    assert float(module(torch.ones(1))) == 3
    assert not accepted(module, torch.ones(0))
    with pytest.raises(sd.ShapeError, match="`B` may be 0, where nothing could be compared"):
        sd.export(
            lambda x: x.sum() + torch.rand(()), (torch.ones(4),), spec="def f(x: Tensor[B]): ...", lowering="backed"
        )


def test_an_example_of_size_0_or_1_pins_nothing() -> None:
    text = "def f(x: Tensor[B, S]): ..."
    for example in (torch.ones(1, 1), torch.ones(0, 3)):
        module = sd.export(lambda x: x * 2, (example,), spec=text, lowering="backed").module()
        for shape in ((0, 0), (1, 5), (5, 1), (4, 7)):
            assert torch.equal(module(torch.ones(shape)), torch.full(shape, 2.0))


def test_verify_finds_a_backed_program_to_keep_everything() -> None:
    text = "def f(x: Tensor[B], y: Tensor[2*B]) -> Tensor[2*B]: where 1 <= B <= 64, B % 4 == 0 or B == 1"
    program = sd.export(lambda x, y: x.sum() + y, (torch.ones(8), torch.ones(16)), spec=text, lowering="backed")
    report = sd.verify(program, text)
    assert report.kept
    assert not report.undecided, str(report)


def test_a_case_that_is_backed_is_exported_by_name() -> None:
    text = "def f(x: Tensor[B]):\n    case big: B >= 8 backed\n    otherwise"
    with pytest.raises(sd.ShapeError, match="runs backed"):
        sd.export(lambda x: x * 2, (torch.ones(9),), spec=text, case="big")
    module: Any = sd.export(lambda x: x * 2, (torch.ones(9),), spec=text, case="big", lowering="backed").module()
    assert accepted(module, torch.ones(8))
    assert not accepted(module, torch.ones(7))


def test_cases_are_exported_under_a_lowering() -> None:
    text = "def f(x: Tensor[B, 2]):\n    where B >= 1\n    case one: B == 1\n    otherwise"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cases = sd.export_cases(lambda x: x * 2, text, lowering="backed")
    for batch in (1, 2, 7):
        assert torch.equal(cases(torch.ones(batch, 2)), torch.full((batch, 2), 2.0))
    shapes = [str(node.meta["val"].shape[0]) for node in cases.programs["otherwise"].graph.nodes if node.name == "x"]
    assert shapes[0].startswith("s")  # an unbacked one is called u0
