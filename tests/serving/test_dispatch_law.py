"""The choice is the language's: the first alternative whose predicates hold; and its artifact assumes no more than that."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any, NamedTuple

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd
from shapedsl.api.entries import lower_expanded
from shapedsl.ir import Const, Var
from shapedsl.ir.expanded import Expanded, Lowered
from shapedsl.ir.walk import evaluate, holds
from shapedsl.serving.dispatch.artifacts import ArtifactSpec
from shapedsl.serving.dispatch.cases import case_spec

from .test_dispatch import dispatch

SPECS = {
    "residues": "case B % 3 == 1, S >= 2\n    case B % 3 == 1\n    case S % 2 == 0 or B == 5\n    otherwise",
    "nested": "case B == 1, S == 1\n    case B == 1\n    case B * S <= 12\n    case not (B < 4)\n    otherwise",
    "products": "where B <= S\n    case B * B == S\n    case max(B, 4) == S\n    case cdiv(S, 3) < B\n    otherwise",
    "members": "case S in {1, 4, 9}\n    bucket B in {2, 3, 8}\n    otherwise eager",
}


@pytest.mark.filterwarnings("ignore::shapedsl.ShapeWarning")  # overlaps are the point
@pytest.mark.parametrize("clauses", SPECS.values(), ids=SPECS)
def test_first_match(clauses: str) -> None:
    served = dispatch(lambda x: x, f"def f(x: Tensor[B, S]):\n    {clauses}", backend="eager")
    dispatcher: Any = served.dispatcher
    for batch, size in product(range(11), repeat=2):
        sizes = {"B": batch, "S": size}
        signature = dispatcher.signature
        if not all(holds(c.predicate, sizes) for c in signature.constraints):
            continue
        expected = next(
            at
            for at, each in enumerate(signature.alternatives)
            if all(holds(c.predicate, sizes) for c in each.constraints)
            and all(sizes[bucket.variable] in (bucket.members or ()) for bucket in each.buckets)
        )
        structure, found, values = dispatcher.asked(torch.empty(batch, size))
        assert found == sizes
        assert structure.which(values).position == expected
        accepting = [
            at
            for at in range(len(signature.alternatives))
            if all(holds(c.predicate, sizes) for c in case_spec(structure.signature, at).signature.constraints)
        ]
        assert accepting == [expected]  # what an artifact may assume holds for its sizes, and for no others


# ----------------------------------------------------------------------------- random specs, judged by Python's own eval

PREDICATES = (  # with what Python says of them
    ("B == 1", "B == 1"),
    ("S % 3 == 1", "S % 3 == 1"),
    ("B * S <= 12", "B * S <= 12"),
    ("not (B < 4)", "not (B < 4)"),
    ("B in [2, 5] or S == 3", "2 <= B <= 5 or S == 3"),
    ("S in {2, 3, 8}", "S in {2, 3, 8}"),
    ("N < 0", "N < 0"),
    ("B + N >= 3", "B + N >= 3"),
    ("M >= 2", "M >= 2"),  # of an argument that may be absent: then nothing is asked
    ("M != S", "M != S"),
    ("max(B, S) - S < 2", "max(B, S) - S < 2"),
)
TIES = (
    ("B_pad * S_pad <= 24", "B_pad * S_pad <= 24"),
    ("S_pad > S", "S_pad > S"),
    ("B_pad != 4 or N > 0", "B_pad != 4 or N > 0"),
)
SIZED = {"B": "x with 0, m with 1", "S": "x with 0"}
MEMBERS = {"B": ((4,), (2, 4, 9), (3, 8)), "S": ((6,), (1, 5, 8))}


class Choice(NamedTuple):
    """An alternative as a person reads it."""

    text: str
    predicates: tuple[str, ...] = ()
    buckets: tuple[tuple[str, tuple[int, ...], bool], ...] = ()  # variable, members, whether it pads


def draw_choice(random: Random, at: int) -> Choice:
    texts, predicates = zip(*random.sample(PREDICATES, random.randint(1, 2)), strict=True)
    if random.random() < 0.5:
        return Choice(f"    case {', '.join(texts)}\n", predicates)
    lines, buckets = "", []
    for variable in random.sample("BS", random.randint(1, 2)):
        members, padding = random.choice(MEMBERS[variable]), random.random() < 0.7
        tail = " shared" * (random.random() < 0.3) + f" pad ({SIZED[variable]}) as neutral" * padding
        lines += f"        bucket {variable} in {{{', '.join(map(str, members))}}}{tail}\n"
        buckets.append((variable, members, padding))
    known = {f"{variable}_pad" for variable, _, _ in buckets}
    tied = [tie for tie in TIES if {name for name in ("B_pad", "S_pad") if name in tie[0]} <= known]
    wheres = [*zip(texts[:1], predicates[:1], strict=True), *random.sample(tied, min(1, len(tied)))]
    where = "".join(f"        where {text}\n" for text, _ in wheres)
    return Choice(f"    case block{at}:\n{where}{lines}", tuple(predicate for _, predicate in wheres), tuple(buckets))


def true(predicate: str, sizes: dict[str, int]) -> bool:
    """Returns whether ``predicate`` holds; what speaks of a size that is not there does."""
    return ("M" in predicate and "M" not in sizes) or bool(eval(predicate, {}, dict(sizes)))


def reaching(choice: Choice, sizes: dict[str, int]) -> list[dict[str, int]]:
    """Returns what sizes an artifact of ``choice`` may be given for those of a call."""
    options = [
        [member for member in members if member >= sizes[name]] if padding else [sizes[name]] * (sizes[name] in members)
        for name, members, padding in choice.buckets
    ]
    found = []
    for combination in product(*options):
        padded = {name: size for (name, _, _), size in zip(choice.buckets, combination, strict=True)}
        known = {**sizes, **{f"{name}_pad": size for name, size in padded.items()}}
        if all(true(predicate, known) for predicate in choice.predicates):
            found.append({**sizes, **padded})
    return found


class Noting:
    """A backend that compiles nothing: it notes what each artifact may assume, what torch would be told, and what comes."""

    def __init__(self) -> None:
        self.calls: list[tuple[ArtifactSpec, Lowered, tuple[Any, ...]]] = []

    def make(self, spec: ArtifactSpec, at: Expanded, statics: Any, present: Any) -> Callable[..., torch.Tensor]:
        lowered = lower_expanded(at, statics, True)

        def run(*values: Any) -> torch.Tensor:
            self.calls.append((spec, lowered, values))
            return values[0] + values[1]  # type: ignore[no-any-return]  # a tensor and an int

        return run

    def translate(self, run: object, error: Exception) -> None:
        del run, error

    def graphs(self, run: object) -> int:
        del run
        return 1


@pytest.mark.filterwarnings("ignore::shapedsl.ShapeWarning")  # gaps and overlaps are the point
@pytest.mark.parametrize("seed", range(16))
def test_random_alternatives(seed: int) -> None:
    random = Random(seed)
    choices = [draw_choice(random, at) for at in range(random.randint(2, 4))]
    header = "def f(x: Tensor[B, S], n: Scalar[N], m: Tensor[B, M] | None = _) -> Tensor[B, S]:\n    int N in [-3, 3]\n"
    text = header + "".join(choice.text for choice in choices)
    served: Any = sd.dispatch(lambda x, n, m=None: x + n, text, backend="eager")
    served.dispatcher.backend = noting = Noting()
    for batch, size, n in product((0, 1, 2, 3, 4, 5, 9), (1, 2, 3, 4, 6, 8, 10), (-3, 2)):
        inner = random.choice((None, 0, 2, 3))
        sizes = {"B": batch, "S": size, "N": n} | ({} if inner is None else {"M": inner})
        x, m = torch.full((batch, size), 5.0), None if inner is None else torch.zeros(batch, inner)
        expected = next(((at, found) for at, each in enumerate(choices) if (found := reaching(each, sizes))), None)
        noting.calls.clear()
        if expected is None:
            with pytest.raises(sd.ShapeError, match="no alternative"):
                served(x, n, m)
            assert not noting.calls
            continue
        assert torch.equal(served(x, n, m), torch.full((batch, size), 5.0 + n))
        ((spec, lowered, values),) = noting.calls
        seen = sizes | {"B": values[0].shape[0], "S": values[0].shape[1]}
        assert (spec.position, seen in expected[1]) == (expected[0], True)
        assert all(holds(c.predicate, seen) for c in spec.signature.constraints)
        told = {v.name: evaluate(v.meaning, seen) for v in lowered.variables}
        assert all(holds(predicate, told) for predicate in lowered.assumptions)
        for variable in lowered.variables:
            assert variable.low is None or variable.low <= told[variable.name], variable
            assert variable.high is None or told[variable.name] <= variable.high, variable
        for leaf in lowered.leaves:
            shape = [n] if leaf.scalar else values["xnm".index(leaf.path.root)].shape
            assert [evaluate(dim, told) for dim in leaf.dims if isinstance(dim, (Const, Var))] == list(shape)
