"""`sd.export_cases`: a program for each alternative and member, and what is refused instead of run."""

from __future__ import annotations

import textwrap
import warnings
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd

SPEC = """
    def f(x: Tensor[B, 4], mask: Tensor[B, 1] | None = _, k = _) -> Tensor[B, 3]:
        where B in [1, 100]
        case one: B == 1
        bucket B in {4, 8} pad x with 0, mask with 1 as rows_independent
        case big: B >= 50 backed
        otherwise eager
"""


class Net(torch.nn.Module):
    """A layer, a mask that may be absent, and a number that programs hold."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)
        self.eager = 0

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None, k: int = 2) -> torch.Tensor:
        if not torch.compiler.is_compiling():
            self.eager += 1
        y: torch.Tensor = self.layer(x) * k
        return y if mask is None else y * mask


def export(target: Any, text: str, *args: Any, **kwargs: Any) -> Any:
    return sd.export_cases(target, textwrap.dedent(text), *args, **kwargs)


def call(batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(batch)
    return torch.randn(batch, 4, generator=generator), torch.rand(batch, 1, generator=generator)


def counts(cases: Any) -> dict[str, int]:
    return {row["artifact"]: row["calls"] for row in cases.stats()["artifacts"]}


def refused(cases: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(sd.ShapeError) as error:
        cases(*args, **kwargs)
    return str(error.value)


def test_each_alternative_and_member_has_a_program() -> None:
    net = Net()
    cases = export(net, SPEC)
    assert list(cases.programs) == ["case one", "bucket B=4", "bucket B=8", "case big"]
    assert all(isinstance(each, torch.export.ExportedProgram) for each in cases.programs.values())
    assert cases.eager == ("otherwise",)
    assert cases.spec == sd.loads(textwrap.dedent(SPEC))["f"]
    rows = {row["artifact"]: row["state"] for row in cases.stats()["artifacts"]}
    assert rows == {
        "case one": "made",
        "bucket B=4": "made",
        "bucket B=8": "made",
        "case big": "made",
        "otherwise": "eager",
    }
    net.eager = 0
    for batch in (1, 3, 4, 6, 50, 100):
        x, mask = call(batch)
        torch.testing.assert_close(cases(x, mask), net.layer(x) * 2 * mask)
    assert net.eager == 0
    x, mask = call(20)
    torch.testing.assert_close(cases(x, mask=mask), net.layer(x) * 2 * mask)
    assert net.eager == 1
    assert counts(cases) == {"case one": 1, "bucket B=4": 2, "bucket B=8": 1, "case big": 2, "otherwise": 1}
    assert cases.explain(*call(6)).startswith("B=6 → bucket B → pad 6→8 (25 % waste) → artifact 3\n")
    assert "programs" not in repr(cases)
    assert "4 artifacts" in repr(cases)

    # what an exported program does not look at itself
    message = refused(cases, call(3)[0])
    assert "[no-program]" in message
    assert "what is None, lengths, or ranks" in message
    message = refused(cases, call(3)[0].double(), call(3)[1])
    assert "`x` is float64 of shape (4, 4) on cpu, and was float32 of shape (4, 4) on cpu" in message
    assert "this call has k = 3" in refused(cases, *call(3), 3)
    assert "[shape-violation]" in refused(cases, *call(101))
    assert "[shape-violation]" in refused(cases, call(4)[0], call(3)[1])


def test_the_example_decides_structure_and_static_parts() -> None:
    net = Net()
    text = "def f(x: Tensor[B, 4], mask: Tensor[B, 1] | None = _, k = _):\n    case one: B == 1\n    otherwise"
    cases = export(net, text, (call(1)[0],), {"k": 5})
    for batch in (1, 2, 7):
        torch.testing.assert_close(cases(call(batch)[0], k=5), net.layer(call(batch)[0]) * 5)
    assert "what is None" in refused(cases, *call(2), 5)
    assert "this call has k = 2" in refused(cases, call(2)[0])  # the default of the module, which no example had
    given = cases.programs["case one"].example_inputs
    assert given is not None
    assert torch.equal(given[0][0], call(1)[0])  # the example fits this case
    other = cases.programs["otherwise"].example_inputs
    assert other is not None
    assert other[0][0].shape[0] != 1


def test_static_sizes_are_those_of_the_example() -> None:
    text = "def f(x: Tensor[B, H], w: Tensor[H, _]):\n    const H = _"
    cases = export(lambda x, w: x @ w, text, (torch.ones(2, 3), torch.ones(3, 5)))
    assert cases(torch.ones(4, 3), torch.ones(3, 5)).shape == (4, 5)
    assert "this call has H = 2" in refused(cases, torch.ones(4, 2), torch.ones(2, 5))
    assert "was float32 of shape (3, 5)" in refused(cases, torch.ones(4, 3), torch.ones(3, 6))
    with pytest.raises(sd.ShapeError, match=r"args=\(") as error:
        export(lambda x, w: x @ w, text)
    assert error.value.code == "missing-input"


def test_a_shared_bucket_has_one_program() -> None:
    text = """
        def f(x: Tensor[B, 2]) -> Tensor[B, 2]:
            where B <= 8
            bucket B in {4, 8} shared pad x with 0 as rows_independent
    """
    cases = export(lambda x: x * 2, text)
    assert len(cases.programs) == 1
    for batch in (1, 4, 5):
        assert torch.equal(cases(torch.ones(batch, 2)), torch.full((batch, 2), 2.0))


def test_two_buckets_make_a_program_a_combination() -> None:
    text = """
        def f(x: Tensor[B, S]) -> Tensor[B, S]:
            where B <= 4, S <= 6
            bucket B in {2, 4} pad x with 0 as rows_independent
            bucket S in {3, 6} pad x with 0 as neutral
    """
    cases = export(lambda x: x + 1, text)
    assert sorted(cases.programs) == ["bucket B=2, S=3", "bucket B=2, S=6", "bucket B=4, S=3", "bucket B=4, S=6"]
    for shape in ((1, 1), (2, 4), (3, 3), (4, 6)):
        assert torch.equal(cases(torch.ones(*shape)), torch.full(shape, 2.0))


def test_programs_are_compared_with_the_spec() -> None:
    text = "def f(x: Tensor[A], y: Tensor[B]):\n    case one: A == 1\n    otherwise"
    with pytest.raises(sd.ShapeError) as error:
        export(lambda x, y: x + y, text)
    assert error.value.code in {"merged-dims", "data-dependent", "extra-assumption"}
    assert "was exported" in str(error.value)
    cases = export(lambda x, y: (x * 2, y * 2), text)
    assert cases(torch.ones(1), torch.ones(3))[1].shape == (3,)


def test_backed_programs_are_for_all_sizes_of_the_spec() -> None:
    cases = export(lambda x: x * 2, "def f(x: Tensor[B]):\n    where B <= 9\n    otherwise backed")
    for size in (0, 1, 2, 9):
        assert torch.equal(cases(torch.ones(size)), torch.full((size,), 2.0))
    assert "[shape-violation]" in refused(cases, torch.ones(10))
    ints = "def f(x: Tensor[B], n: Scalar[N]):\n    where N >= 0, B >= 1\n    otherwise backed"
    cases = export(lambda x, n: x * n, ints)
    assert torch.equal(cases(torch.ones(1), 0), torch.zeros(1))
    assert torch.equal(cases(torch.ones(3), 5), torch.full((3,), 5.0))


def test_a_backed_int_that_may_be_negative_is_refused() -> None:
    ints = "def f(x: Tensor[B], n: Scalar[N]):\n    where N >= -2, B >= 2\n    otherwise backed"
    with pytest.raises(sd.ShapeError, match="`N` is an int that may be negative, and cannot be exported `backed`"):
        export(lambda x, n: x * n, ints)


def test_what_is_written_to_arrives_whatever_the_layout_is() -> None:
    def fill(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x.sum(0)

    cases = export(fill, "def fill(x: Tensor[B, 3]): ...")
    turned = torch.zeros(3, 2).t()
    assert torch.equal(cases(turned), torch.full((3,), 2.0))
    assert torch.equal(turned, torch.ones(2, 3))


def test_containers_go_by_key_and_lists_may_be_tuples() -> None:
    def join(batch: dict[str, torch.Tensor], parts: list[torch.Tensor]) -> torch.Tensor:
        first, second = parts
        return batch["a"] - batch["b"] + first - second

    text = 'def join(batch: {"a": Tensor[B], "b": Tensor[B]}, parts: [Tensor[B], Tensor[B]]): ...'
    one, two = torch.ones(3), torch.full((3,), 2.0)
    cases = export(join, text, ({"a": one, "b": two}, [one, one]))
    assert torch.equal(cases({"b": two, "a": one}, (two, one)), torch.zeros(3))


def test_programs_share_the_buffers_of_the_module() -> None:
    class Count(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.get_buffer("seen").add_(1)

    module = Count()
    cases = export(module, "def f(x: Tensor[B]):\n    case one: B == 1\n    otherwise eager")
    assert module.seen == 0
    assert float(cases(torch.zeros(1))) == 1
    assert cases(torch.zeros(2)).tolist() == [2.0, 2.0]
    assert float(cases(torch.zeros(1))) == 3


def test_an_alternative_that_cannot_be_reached_is_told() -> None:
    text = "def f(x: Tensor[B]):\n    where B >= 2\n    case one: B == 1\n    otherwise"
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        cases = export(lambda x: x * 2, text)
    said = "\n".join(str(each.message) for each in found)
    assert "[unreachable-case]" in said
    assert "`case one` of `f` is not exported" in said
    assert list(cases.programs) == ["otherwise"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"args": torch.ones(3)}, r"args= takes a tuple of example inputs, not Tensor"),
        ({"kwargs": "def f(x: Tensor[B])"}, r"kwargs= takes a dict of example inputs, not str"),
        ({"verify": "merged"}, r"verify= takes a bool or codes"),
    ],
)
def test_wrong_arguments_are_told(given: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        export(lambda x: x, "def f(x: Tensor[B]): ...", **given)


def test_an_example_outside_the_spec_is_refused() -> None:
    with pytest.raises(sd.ShapeError) as error:
        export(lambda x: x, "def f(x: Tensor[B]):\n    where B < 4", (torch.ones(4),))
    assert error.value.code == "shape-violation"


def test_what_no_alternative_takes_is_refused_and_no_program_runs() -> None:
    with pytest.warns(sd.ShapeWarning, match="case-gap"):
        cases = export(lambda x: x * 2, "def f(x: Tensor[B]):\n    case even: B % 2 == 0")
    assert "[no-alternative]" in refused(cases, torch.ones(3))
    assert cases.stats()["refused"] == 1
    assert cases.explain(torch.ones(2)).splitlines()[0] == "B=2 → case even → artifact 1"
