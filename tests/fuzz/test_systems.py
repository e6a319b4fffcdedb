"""A few hundred random systems, and the generator and the oracles themselves. More: ``python -m tests.fuzz``."""

from __future__ import annotations

import contextlib

import pytest

from shapedsl.ir import Variable, VariableKind
from shapedsl.normalize.decide import Proved, Range, Refuted

from ..normalize.decide import oracles
from ..normalize.texts import predicate, size
from .judge import judge
from .systems import System, random_system
from .tally import Tally, run

SEED = 2026
COUNT = 320
PARTS = 4  # so that several processes share it

needs_oracles = pytest.mark.usefixtures("oracles_installed")


@pytest.fixture
def oracles_installed() -> None:
    pytest.importorskip("islpy", reason="islpy has no wheel for this Python")
    pytest.importorskip("z3", reason="z3 has no wheel for this Python")


@needs_oracles
@pytest.mark.parametrize("part", range(PARTS))
def test_no_answer_is_wrong(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAPEDSL_SMT", "0")
    tally = Tally()
    list(run(SEED, range(part, COUNT, PARTS), tally))
    print(f"seed {SEED}\n{tally}")
    assert not tally.wrong, "\n".join(tally.wrong)
    for kind in ("linear bounded", "linear unbounded"):
        assert tally.unknown[kind] <= 0.01 * tally.asked[kind], tally


def test_a_seed_draws_the_same_systems() -> None:
    assert [str(random_system(3, number)) for number in range(40)] == [str(random_system(3, n)) for n in range(40)]
    assert str(random_system(3, 0)) != str(random_system(4, 0))


def test_systems_are_of_every_class() -> None:
    systems = [random_system(SEED, number) for number in range(COUNT)]
    kinds = {system.kind for system in systems}
    assert kinds == {f"{one} {two}" for one in ("linear", "nonlinear") for two in ("bounded", "unbounded")}


# A judge that never objects proves nothing: here the procedure lies.

LIES: dict[str, list[object]] = {
    "find_sizes": [{"A": 7, "B": 0}, {"A": -1, "B": 0}, {"A": 3}, None],
    "decide": [Proved(), Proved((0, 1)), Refuted((("A", 3), ("B", 4))), Refuted((("A", 3), ("B", 0)))],
    "range_of": [
        Range(7, None, 1, 0),
        Range(4, 20, 1, 0),
        Range(4, None, 2, 0),
        Range(4, None, 0, 4),
        Range(3, None, 1, 0, exact=True),
        None,
    ],
}


@needs_oracles
@pytest.mark.parametrize(("name", "lie"), [(name, lie) for name, lies in LIES.items() for lie in lies])
def test_a_wrong_answer_is_noticed(name: str, lie: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"tests.fuzz.judge.{name}", lambda *args, **options: lie)
    dims = tuple(Variable(each, VariableKind.DIM) for each in "AB")
    given = (predicate("A <= 6"), predicate("B % A == 2"), predicate("B >= 3"))
    assert judge(System(dims, given, size("B + 1"), None, False)).wrong


@needs_oracles
def test_a_crash_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.judge.decide", lambda *args, **options: 1 // 0)
    assert judge(random_system(SEED, 0)).wrong


@needs_oracles
def test_oracles_agree() -> None:
    """Brute force, islpy and z3 answer the bounded systems alike."""
    compared = 0
    for number in range(120):
        system = random_system(SEED + 1, number)
        if system.box is None:
            continue
        exists = next(oracles.points(system.box, system.predicates), None) is not None
        with contextlib.suppress(oracles.NotLinear, oracles.GaveUp):
            assert oracles.isl_empty(system.variables, system.predicates) is not exists, system
            compared += 1
        with contextlib.suppress(oracles.GaveUp):
            sizes = oracles.z3_sizes(system.variables, system.predicates, effort=200_000)
            assert (sizes is not None) is exists, system
            compared += 1
    assert compared > 50
