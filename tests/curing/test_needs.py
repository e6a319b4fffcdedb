"""`cure` of programs that demand, refuse or need more words than the spec has: it says all that a trace needs, and no more."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="curing traces")
pytest.importorskip("torch.fx.experimental.dynamic_spec", reason="curing needs a torch with specs")

import shapedsl as sd

ENTRIES = [("export",), ("compile",), ("export", "compile")]


def texts(found: sd.Cured) -> list[str]:
    """Returns the new text, without the reasons."""
    assert found.text is not None
    rows = [row for row in found.text.splitlines() if not row.lstrip().startswith("#")]
    return [re.sub(r"  # (?!shapedsl).*?(?=  # shapedsl|$)", "", row) for row in rows]


def add(x: Any, y: Any) -> Any:
    return x + y


@pytest.mark.parametrize("entries", ENTRIES)
def test_sizes_that_a_program_makes_one_are_said_to_be(entries: tuple[str, ...]) -> None:
    # the example has A != B at first, which a compiled program refuses
    found = sd.cure(add, "def add(x: float32[A], y: float32[B]): ...\n", entries=entries)
    assert found.cured, found
    assert texts(found) == ["def add(x: float32[A], y: float32[B]):", "    where A == B"]
    assert [step.excludes for step in found.steps] == ["A != B"]


@pytest.mark.parametrize("entries", ENTRIES)
def test_an_example_beyond_what_a_program_takes_is_replaced(entries: tuple[str, ...]) -> None:
    def table(x: Any) -> Any:
        return x + torch.ones(7)[: x.shape[1]]

    found = sd.cure(table, "def table(x: float32[A, B]): ...\n", (torch.ones(2, 9),), entries=entries)
    assert found.cured, found
    assert texts(found) == ["def table(x: float32[A, B]):", "    where B <= 7"]


def test_a_new_example_is_none_of_zeros() -> None:
    def view(x: Any) -> Any:
        return x.view(-1, 8) + 1

    found = sd.cure(view, "def view(x: float32[A, B]): ...\n", (torch.ones(2, 4),))
    assert [step.added for step in found.steps] == [("A * B % 8 == 0",)]
    found = sd.cure(view, "def view(x: float32[A, B]): ...\n")  # with an example of 3 and 10
    assert [step.added for step in found.steps] == [("A * B % 8 == 0",)]
    assert found.cured


def branches(x: Any, y: Any) -> Any:
    if x.shape[0] > y.shape[1]:
        return x
    return x + 1 if x.shape[0] * 2 > y.shape[1] else x


@pytest.mark.parametrize(
    ("clauses", "said"),
    [
        ("...", ["    where A <= B  # shapedsl: ignore[redundant]", "    where 2 * A <= B"]),
        ("where A <= B", ["    where A <= B  # shapedsl: ignore[redundant]", "    where 2 * A <= B"]),
        ("where 2*A <= B", ["    where 2*A <= B", "    where A <= B  # shapedsl: ignore[redundant]"]),
    ],
)
def test_what_torch_does_not_conclude_from_another_assumption_stays(clauses: str, said: list[str]) -> None:
    found = sd.cure(branches, f"def branches(x: float32[A], y: float32[A, B]): {clauses}\n", entries=("compile",))
    assert found.cured
    assert texts(found)[1:] == said
    run = sd.compile(branches, found.spec, backend="eager")
    assert run(torch.ones(2), torch.ones(2, 5)).tolist() == [1, 1]


def test_a_program_that_asserts_is_assumed_to_be_right() -> None:
    def windows(x: Any) -> Any:
        assert x.shape[0] % 4 == 0, "four at once"
        return x.reshape(x.shape[0] // 4, 4)

    found = sd.cure(windows, "def windows(x: float32[A]): ...\n", cases=True)
    assert found.cured
    assert texts(found) == ["def windows(x: float32[A]):", "    where A % 4 == 0"]
    assert found.text is not None
    assert "# A % 4 != 0 is left out: there the program raises by itself" in found.text


def test_a_program_that_raises_on_both_sides_stays_on_the_side_of_the_example() -> None:
    def raises(x: Any) -> Any:
        raise ValueError("large" if x.shape[0] > 3 else "small")

    found = sd.cure(raises, "def raises(x: float32[A]): ...\n", (torch.ones(9),), entries=("export",))
    assert not found.cured
    assert [step.added for step in found.steps] == [("A >= 4",)]
    assert str(found.error) == "large"


def test_sizes_are_not_said_to_be_refused_for_what_the_program_needs_anyway() -> None:
    def rows(x: Any, y: Any) -> Any:
        return x + y if x.shape[0] > 2 else x

    found = sd.cure(rows, "def rows(x: float32[A], y: float32[B]): ...\n", (torch.ones(2), torch.ones(5)), cases=True)
    assert found.cured
    assert texts(found)[1:] == [
        "    case:",
        "        where A >= 3",
        "        where A == B",
        "    otherwise:",
        "        where A <= 2",
    ]


def test_traces_that_run_out_are_told_as_such() -> None:
    def many(x: Any) -> Any:
        for size in (3, 5, 7, 9):
            x = x + 1 if x.shape[0] != size else x
        return x

    found = sd.cure(many, "def many(x: float32[A]): ...\n", entries=("export",), traces=2)
    assert not found.cured
    assert str(found.error) == "export was traced 2 times and is not done"


DIVISIONS: list[tuple[Callable[[Any, Any], Any], list[str]]] = [
    (lambda a, b: (a + 3) % 4 == 3, ["where (A + 3) % 4 != 3"]),
    (lambda a, b: b // 5 < a, ["where B // 5 < A"]),
    (lambda a, b: -(-a // 4) == 2, ["where -(-A // 4) != 2"]),
    (lambda a, b: a // 2 > 38, ["where A <= 77"]),  # the range of one size is enough
]


@pytest.mark.parametrize(("branch", "said"), DIVISIONS)
def test_a_division_is_said_in_the_words_of_the_program(branch: Any, said: list[str]) -> None:
    def divides(x: Any, y: Any) -> Any:
        return x * 2 if branch(x.shape[0], y.shape[0]) else x

    found = sd.cure(divides, "def divides(x: float32[A], y: float32[B]):\n    where A >= 1, B >= 1\n")
    assert found.cured, found
    assert found.traces == {"export": 2, "compile": 1}
    assert [f"where {', '.join(step.added)}" for step in found.steps] == said
    assert "where A >= 1, B >= 1" in (found.text or "") or said == ["where A <= 77"]
