"""A legacy program and the new one take the same calls, and differ exactly where the verdict says.

Each row is a module, a legacy spec and calls of which the first is the example; who takes each of them was written
by hand: ``both``, ``neither``, or ``legacy`` alone. Both programs are made by torch and run.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("torch", reason="exporting needs torch")

import torch
from torch.export import AdditionalInputs, Dim, ShapesCollection

import shapedsl as sd
from tests.legacy.agreeing import Both, Call, both, converted, run

ones = torch.ones
State = namedtuple("State", "h c")


@dataclass
class Pair:
    """A dataclass that is registered."""

    left: torch.Tensor
    right: torch.Tensor


torch.export.register_dataclass(Pair, serialized_type_name="tests.legacy.test_agreement.Pair")


def total(*tensors: Any) -> Any:
    """Returns the sum of all elements, which demands nothing of the sizes."""
    return sum((tensor.sum() for tensor in tensors), start=ones(()))


class One(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return total(x)


class Two(torch.nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        return total(x, y)


class Three(torch.nn.Module):
    def forward(self, x: Any, y: Any, z: Any) -> Any:
        return total(x, y, z)


class Nested(torch.nn.Module):
    def forward(self, feed: Any, state: Any) -> Any:
        return total(feed["x"]["raw"], feed["y"][1], state.h, state.c)


class Registered(torch.nn.Module):
    def forward(self, pair: Any) -> Any:
        return total(pair.left, pair.right)


class Variadic(torch.nn.Module):
    def forward(self, x: Any, *extra: Any, **options: Any) -> Any:
        return total(x, *extra, options["gate"], options["bias"])


class Optional(torch.nn.Module):
    def forward(self, x: Any, scale: float = 2.0, mask: Any = None, *, last: Any) -> Any:
        return total(x, last) * scale if mask is None else total(x, mask, last)


class Positional(torch.nn.Module):
    def forward(self, x: Any, /, options: Any) -> Any:
        return total(x, options["a"]["b"])


class Counted(torch.nn.Module):
    def forward(self, x: Any, n: int) -> Any:
        return total(x) * n


@dataclass
class Row:
    """One legacy spec.

    Attributes:
        module: What is exported.
        spec: Makes the legacy spec.
        calls: What to call and who takes it, the example first.
        verdict: Of the conversion.
        places: Where the notes about stricter sizes say that it is stricter.
        strict: torch's flag.
        guards: Whether the legacy program checks by guards: where there is a ``*args``, their code is broken.
    """

    module: type[torch.nn.Module]
    spec: Callable[[], Any]
    calls: list[tuple[tuple[Any, ...] | Call, str]]
    verdict: str = "exact"
    places: set[str] = field(default_factory=set)
    strict: bool = False
    guards: bool = True


def b_to_8() -> Any:
    """Returns a dim of its own; its name makes it the same as the others."""
    return Dim("b", max=8)


def _sizes(*sizes: int, verdict: str = "both") -> list[tuple[tuple[Any, ...], str]]:
    return [((ones(size, 3),), verdict) for size in sizes]


ROWS: dict[str, Row] = {
    "a bare dim": Row(One, lambda: {"x": {0: Dim("b")}}, _sizes(4, 0, 1, 2, 9)),
    "an upper bound": Row(
        One, lambda: {"x": {0: Dim("b", max=8)}}, [*_sizes(4, 0, 1, 8), *_sizes(9, verdict="neither")]
    ),
    "a lower bound of 1": Row(
        One,
        lambda: {"x": {0: Dim("b", min=1)}},
        [*_sizes(4, 1), *_sizes(0, verdict="legacy")],
        "stricter",
        {"x.shape[0]"},
    ),
    "a lower bound of 2": Row(
        One,
        lambda: ({0: Dim("b", min=2, max=6)},),
        [*_sizes(4, 2, 6), *_sizes(0, 1, verdict="legacy"), *_sizes(7, verdict="neither")],
        "stricter",
        {"x.shape[0]"},
    ),
    "a lower bound of 3": Row(
        One, lambda: {"x": (Dim("b", min=3), None)}, [*_sizes(4, 3, 9), *_sizes(0, 2, verdict="neither")]
    ),
    "one name, two objects": Row(
        Two,
        lambda: {"x": {0: Dim("k", max=8)}, "y": {0: Dim("k", max=8)}},
        [((ones(4), ones(4)), "both"), ((ones(0), ones(0)), "both"), ((ones(4), ones(5)), "neither")],
    ),
    "derived, root below it": Row(
        Two,
        lambda: (lambda n: {"x": {0: 2 * n + 1}, "y": {0: n}})(Dim("n", min=3, max=9)),
        [
            ((ones(9), ones(4)), "both"),
            ((ones(7), ones(3)), "both"),
            ((ones(8), ones(4)), "neither"),
            ((ones(5), ones(2)), "neither"),
            ((ones(21), ones(10)), "neither"),
        ],
    ),
    "derived by less": Row(
        Two,
        lambda: (lambda n: ((n,), (n - 1,)))(Dim("n", min=4, max=9)),
        [((ones(5), ones(4)), "both"), ((ones(4), ones(3)), "both"), ((ones(5), ones(5)), "neither")],
    ),
    "a phantom root": Row(
        One,
        lambda: ({0: 16 * Dim("t", min=1, max=16)},),
        [
            ((ones(64),), "both"),
            ((ones(16),), "both"),
            ((ones(256),), "both"),
            ((ones(17),), "legacy"),
            ((ones(272),), "neither"),
            ((ones(0),), "neither"),
        ],
        "stricter",
        {"x.shape[0]"},
    ),
    "a phantom root of two slots": Row(
        Two,
        lambda: (lambda u: [(2 * u,), (3 * u,)])(Dim("u", min=1, max=16)),
        [
            ((ones(8), ones(12)), "both"),
            ((ones(2), ones(3)), "both"),
            ((ones(8), ones(15)), "neither"),
            ((ones(7), ones(12)), "neither"),
            ((ones(0), ones(0)), "neither"),
        ],
    ),
    "a phantom root with an offset": Row(
        One,
        lambda: {"x": (Dim("r", min=2) * 4 + 3,)},
        [((ones(15),), "both"), ((ones(11),), "both"), ((ones(12),), "legacy"), ((ones(10),), "neither")],
        "stricter",
        {"x.shape[0]"},
    ),
    "pinned, static and None": Row(
        One,
        lambda: {"x": (Dim("b", min=3, max=16), 3, None, Dim.STATIC)},
        [
            ((ones(4, 3, 2, 2),), "both"),
            ((ones(9, 3, 2, 2),), "both"),
            ((ones(4, 4, 2, 2),), "neither"),
        ],
    ),
    "DYNAMIC": Row(One, lambda: {"x": {0: Dim.DYNAMIC}}, _sizes(4, 0, 1, 9)),
    "DYNAMIC with bounds": Row(
        One,
        lambda: {"x": {0: Dim.DYNAMIC(min=3, max=8)}},
        [*_sizes(4, 3, 8), *_sizes(2, 9, verdict="neither")],
    ),
    "AUTO": Row(One, lambda: {"x": {0: Dim.AUTO, 1: Dim.STATIC}}, _sizes(4, 0, 9), "choice"),
    "AUTO with bounds": Row(
        One, lambda: {"x": [Dim.AUTO(min=3, max=8), None]}, [*_sizes(4, 3), *_sizes(2, 9, verdict="neither")], "choice"
    ),
    "a negative axis": Row(
        One,
        lambda: {"x": {-1: Dim("b", max=8)}},
        [((ones(3, 4),), "both"), ((ones(3, 0),), "both"), ((ones(3, 9),), "neither")],
    ),
    "nothing of an input": Row(
        Three,
        lambda: {"x": {0: b_to_8()}, "y": None, "z": {}},
        [((ones(4), ones(2), ones(3)), "both"), ((ones(9), ones(2), ones(3)), "neither")],
    ),
    "nested containers": Row(
        Nested,
        lambda: (
            {"x": {"raw": {0: b_to_8()}}, "y": [None, (b_to_8() + 1,)]},
            State({0: b_to_8()}, (None, 2)),
        ),
        [
            (({"x": {"raw": ones(4, 7)}, "y": [ones(1), ones(5)]}, State(ones(4, 2), ones(3, 2))), "both"),
            (({"x": {"raw": ones(0, 7)}, "y": [ones(1), ones(1)]}, State(ones(0, 2), ones(3, 2))), "both"),
            (({"x": {"raw": ones(4, 7)}, "y": [ones(1), ones(4)]}, State(ones(4, 2), ones(3, 2))), "neither"),
            (({"x": {"raw": ones(4, 7)}, "y": [ones(1), ones(5)]}, State(ones(5, 2), ones(3, 2))), "neither"),
            (({"x": {"raw": ones(9, 7)}, "y": [ones(1), ones(10)]}, State(ones(9, 2), ones(3, 2))), "neither"),
        ],
    ),
    "a registered dataclass": Row(
        Registered,
        lambda: {"pair": [{0: b_to_8()}, (b_to_8(), None)]},
        [
            ((Pair(ones(4), ones(4, 2)),), "both"),
            ((Pair(ones(8), ones(8, 2)),), "both"),
            ((Pair(ones(4), ones(5, 2)),), "neither"),
        ],
    ),
    "arguments and keywords by name": Row(
        Variadic,
        lambda: {"x": {0: b_to_8()}, "extra": ({0: b_to_8()}, None), "options": {"gate": {0: b_to_8()}, "bias": None}},
        [
            (((ones(4, 3), ones(4), ones(6)), {"gate": ones(4), "bias": ones(1)}), "both"),
            (((ones(0, 3), ones(0), ones(6)), {"gate": ones(0), "bias": ones(1)}), "both"),
            (((ones(9, 3), ones(9), ones(6)), {"gate": ones(9), "bias": ones(1)}), "neither"),
            (((ones(4, 3), ones(5), ones(6)), {"gate": ones(4), "bias": ones(1)}), "neither"),
            (((ones(4, 3), ones(4), ones(6)), {"gate": ones(5), "bias": ones(1)}), "neither"),
        ],
        guards=False,
    ),
    "keywords beside the parameters": Row(
        Variadic,
        lambda: {"x": {0: b_to_8()}, "extra": (None,), "gate": {0: b_to_8()}, "bias": {}},
        [
            (((ones(4, 3), ones(6)), {"gate": ones(4), "bias": ones(1)}), "both"),
            (((ones(4, 3), ones(6)), {"gate": ones(3), "bias": ones(1)}), "neither"),
        ],
        guards=False,
    ),
    "in the order of the signature": Row(
        Optional,
        lambda: ({0: b_to_8()}, None, {0: b_to_8() + 1}, None),
        [
            (((ones(4),), {"last": ones(1), "mask": ones(5), "scale": 1.0}), "both"),
            (((ones(4),), {"last": ones(1), "mask": ones(4), "scale": 1.0}), "neither"),
        ],
    ),
    "a default that is left out": Row(
        Optional,
        lambda: ({0: b_to_8()}, {0: b_to_8()}),
        [
            (((ones(4),), {"last": ones(4)}), "both"),
            (((ones(4),), {"last": ones(5)}), "neither"),
        ],
    ),
    "positional only, and dicts by key": Row(
        Positional,
        lambda: ({0: b_to_8()}, OrderedDict(a={"b": {0: b_to_8()}, 3: None})),
        [
            ((ones(4), OrderedDict(a={"b": ones(4), 3: ones(1)})), "both"),
            ((ones(0), OrderedDict(a={"b": ones(0), 3: ones(1)})), "both"),
            ((ones(4), OrderedDict(a={"b": ones(3), 3: ones(1)})), "neither"),
            ((ones(9), OrderedDict(a={"b": ones(9), 3: ones(1)})), "neither"),
        ],
    ),
    "an int": Row(
        Counted,
        lambda: {"x": {0: b_to_8()}, "n": Dim.DYNAMIC},
        [((ones(4), 7), "both"), ((ones(4), 2), "both"), ((ones(9), 7), "neither")],
        "stricter",
        {"n"},
    ),
    "strict": Row(
        Two,
        lambda: (lambda n: {"x": {0: n}, "y": {0: 2 * n}})(Dim("n", min=1, max=9)),
        [
            ((ones(4), ones(8)), "both"),
            ((ones(1), ones(2)), "both"),
            ((ones(0), ones(0)), "legacy"),
            ((ones(4), ones(7)), "neither"),
        ],
        "stricter",
        {"x.shape[0]", "y.shape[0]"},
        strict=True,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_programs_agree(name: str) -> None:
    row = ROWS[name]
    calls: list[tuple[Call, str]] = [
        (call if len(call) == 2 and type(call[1]) is dict else (call, {}), who) for call, who in row.calls
    ]
    pair = both(row.module(), calls[0][0], row.spec(), strict=row.strict, guards=row.guards)
    assert [pair.who(call) for call, _ in calls] == [who for _, who in calls]
    assert pair.spec.verdict == row.verdict
    _require_places(pair, row.places)


def _require_places(pair: Both, places: set[str]) -> None:
    assert {place for note in pair.spec.notes if note.verdict.value == "stricter" for place in note.places} == places


class Rest(torch.nn.Module):
    def forward(self, a: Any, rest: Any) -> Any:
        return total(a, *rest)


def test_a_collection() -> None:
    """It speaks of tensors, so both exports get the very ones."""
    x, y, z = ones(4, 3), ones(5, 3), ones(2)
    shapes: Any = ShapesCollection()  # type: ignore[no-untyped-call]
    n = Dim("n", max=30)
    shapes[x] = (n, 3)
    shapes[y] = {0: n + 1}
    spec = sd.from_dims(shapes, (x, [y, z]), fn=Rest())
    assert str(spec).splitlines() == [
        "class Rest:",
        "    def forward(self, a: Tensor[n, 3], rest: [Tensor[n + 1, _], _]):",
        "        dim n in [0, 30]",
    ]
    assert spec.verdict == "exact"
    old = torch.export.export(Rest(), (x, [y, z]), dynamic_shapes=shapes).module()
    new = sd.export(Rest(), (x, [y, z]), spec=spec).module()
    pair = Both(spec, old, new)
    calls = [(ones(rows, 3), [ones(more, 3), ones(2)]) for rows, more in ((4, 5), (30, 31), (0, 1), (4, 6), (31, 32))]
    assert [pair.who((call, {})) for call in calls] == ["both", "both", "both", "neither", "neither"]


def test_additional_inputs() -> None:
    more: Any = AdditionalInputs()  # type: ignore[no-untyped-call]
    for rows in (5, 7):
        more.add((ones(rows, 3), ones(2)))
    pair = both(Two(), ((ones(4, 3), ones(2)), {}), more)
    assert str(pair.spec).splitlines()[1:] == ["    def forward(self, x: Tensor[x_0, _], y: _): ..."]
    assert [pair.who(((ones(rows, 3), ones(2)), {})) for rows in (4, 5, 0, 100)] == ["both"] * 4


class Added(torch.nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        return (x + y).sum()


@pytest.mark.parametrize(
    ("hint", "other", "code", "verdict"),
    [
        (Dim.AUTO, None, "specialized-dim", "choice"),
        (Dim.AUTO, Dim.AUTO, "merged-dims", "choice"),
        (Dim.DYNAMIC, Dim.DYNAMIC, "merged-dims", "exact"),
    ],
    ids=["static", "equal", "dynamic"],
)
def test_what_the_trace_decided_is_told_by_the_export(hint: Any, other: Any, code: str, verdict: str) -> None:
    """A hint lets the trace decide, and a spec does not: nothing is decided without a word."""
    shapes = {"x": {0: hint}, "y": {0: other}}
    call: Call = ((ones(4), ones(4)), {})
    old = torch.export.export(Added(), call[0], dynamic_shapes=shapes).module()
    assert run(old, ((ones(5), ones(4)), {})) is None
    spec = converted(shapes, *call, Added())
    with pytest.raises(sd.ShapeError) as error:
        sd.export(Added(), *call, spec=spec)
    assert (error.value.code, spec.verdict) == (code, verdict)
    assert any("the trace" in note.message for note in spec.notes)


@pytest.mark.parametrize("size", [0, 1])
def test_an_example_of_a_size_that_torch_took_for_a_constant(size: int) -> None:
    """torch's legacy export refuses such an example; the new one needs no luck with it."""
    shapes = {"x": {0: Dim("b", max=8)}}
    call: Call = ((ones(size, 3),), {})
    with pytest.raises(torch._dynamo.exc.UserError):
        torch.export.export(One(), call[0], dynamic_shapes=shapes)
    spec = converted(shapes, *call, One())
    new = sd.export(One(), *call, spec=spec).module()
    assert (spec.verdict, [run(new, ((ones(n, 3),), {})) is not None for n in (0, 1, 8, 9)]) == (
        "exact",
        [True, True, True, False],
    )
