"""Random systems over a variadic: what is refuted has no sizes for any number of dims."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from random import Random

import pytest

from shapedsl.ir import Apply, Const, Not, Predicate, Size, Var, Variable, VariableKind, Variadic
from shapedsl.ir.walk import holds, map_sizes, substitute
from shapedsl.ir.write import write_predicate
from shapedsl.normalize.decide import Proved, Unknown, decide, find_sizes

from .systems import apply, compare

VARIABLES = (
    Variable("A", VariableKind.DIM),
    Variable("B", VariableKind.DIM),
    Variable("b", VariableKind.DIM, variadic=True),
)
MOST = 4  # of any size
SYSTEMS = 150


def system(random: Random) -> list[Predicate]:
    """Returns ranges of every variable, and some comparisons of what all dims of ``*b`` make together."""
    given = [
        part
        for subject in (Var("A"), Var("B"), Variadic("b"))
        for part in (
            compare(subject, ">=", Const(random.randint(0, 2))),
            compare(subject, "<=", Const(random.randint(2, MOST))),
        )
    ]
    return given + [
        compare(whole(random), random.choice(("==", "!=", "<=", ">=", "<", ">")), other(random))
        for _ in range(random.randint(1, 3))
    ]


def whole(random: Random) -> Size:
    size = apply(random.choice(("prod", "min", "max")), Variadic("b"))
    match random.randrange(4):
        case 0:
            return apply("+", size, Var("A"))
        case 1:
            return apply("%", size, Const(random.randint(2, 4)))
        case _:
            return size


def other(random: Random) -> Size:
    return random.choice(
        (whole(random), Var("A"), Var("B"), apply("*", Var("A"), Var("B")), Const(random.randint(0, 9)))
    )


def points(predicates: Sequence[Predicate]) -> Iterator[dict[str, int]]:
    """Yields the solutions with one, two and three dims."""
    for rank in (1, 2, 3):
        names = [f"b{axis}" for axis in range(rank)]
        flat = [part for each in predicates for part in written_out(each, names)]
        for values in itertools.product(range(MOST + 1), repeat=rank + 2):
            sizes = dict(zip(["A", "B", *names], values, strict=True))
            if all(holds(part, sizes) for part in flat):
                yield sizes


def written_out(node: Predicate, names: Sequence[str]) -> list[Predicate]:
    """Returns ``node`` for each dim, where one stands bare, and with all of them where they are arguments."""

    def spliced(size: Size) -> Size:
        if isinstance(size, Apply):
            args: list[Size] = []
            for arg in size.args:
                args += [Var(name) for name in names] if isinstance(arg, Variadic) else [spliced(arg)]
            return Apply(size.op, tuple(args))
        return Var("*") if isinstance(size, Variadic) else size

    whole_node = map_sizes(node, spliced)
    return list(dict.fromkeys(substitute(whole_node, {"*": Var(name)}) for name in names))


@pytest.mark.parametrize("seed", range(2))
def test_no_refutation_is_wrong(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAPEDSL_SMT", "0")
    random = Random(seed)
    refuted = 0
    for number in range(SYSTEMS):
        predicates = system(random)
        text = f"seed {seed}, system {number}: {', '.join(map(write_predicate, predicates))}"
        found = find_sizes(VARIABLES, predicates)
        if found is None:
            refuted += 1
            assert next(points(predicates), None) is None, text
        elif not isinstance(found, Unknown):
            one = [part for each in predicates for part in written_out(each, ["b"])]
            assert all(holds(part, found) for part in one), text
        *given, question = predicates
        if isinstance(decide(VARIABLES, given, question), Proved):
            refuted += 1
            assert next(points([*given, Not(question)]), None) is None, text
    assert refuted > SYSTEMS // 10
