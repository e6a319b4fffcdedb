"""Law 5 from end to end: torch's own program accepts exactly the sizes that the spec accepts.

A spec is drawn as text: groups of dims that give their variables, most of them without a bare one; sizes
derived from these; assumptions; alternatives, one of which is lowered. Three judges then look at the same
calls, and must agree:

- the text itself: dims and predicates are evaluated by Python's own `eval`, over all small sizes;
- ``spec.check``, and ``spec.bind`` for the sizes that it found;
- the programs that torch makes: `compile` (eager backend), non-strict `export`, `make_fx`.

The function adds up the elements, so that the program demands nothing that the spec does not say.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, given, note, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="lowering needs torch")

import torch

import shapedsl as sd
from shapedsl.diagnostics import ShapeError

pytestmark = pytest.mark.filterwarnings("ignore::shapedsl.ShapeWarning")  # of hints that are moved

WAYS = ("compile", "non-strict", "make_fx")
BOX = 14  # sizes of a variable that are gone through: 0 to 13
MOST_SLOT = 4000  # elements of a tensor

Call = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Group:
    """Dims that determine their variables.

    Attributes:
        dims: Of one tensor; ``{0}``, ``{1}`` and ``{2}`` are the variables.
        variables: How many there are.
        where: What they need for it.
    """

    dims: tuple[str, ...]
    variables: int = 1
    where: tuple[str, ...] = ()


GROUPS = (
    Group(("{0}",)),
    Group(("{0}", "{1}"), 2),
    Group(("2 * {0}",)),
    Group(("3 * {0} + 1",)),
    Group(("{0} - 2",)),
    Group(("9 - {0}",)),
    Group(("2 * {0}", "3 * {0} + 1")),
    Group(("{0} // 4",), 1, ("{0} % 4 == 0",)),
    Group(("{0} // 3",), 1, ("{0} % 6 == 5",)),
    Group(("cdiv({0}, 4)",), 1, ("{0} % 4 == 0",)),
    Group(("3 * {0} // 2",)),
    Group(("{0} // 4", "{0} % 4")),
    Group(("{0} % 4",), 1, ("4 <= {0}", "{0} < 8")),
    Group(("max({0}, 4)",), 1, ("{0} >= 4",)),
    Group(("min({0}, 6)",), 1, ("{0} <= 6",)),
    Group(("max({0}, {1})", "{1}"), 2, ("{0} >= {1}",)),
    Group(("min({0}, {1}) + 1", "2 * {1}"), 2, ("{0} <= {1}",)),
    Group(("{0} * {1}", "{1}"), 2, ("{1} >= 1",)),
    Group(("{0} * {1}", "2 * {1}"), 2, ("{1} >= 1",)),
    Group(("{0} * ({1} + 2)", "{1}"), 2),
    Group(("{0} // {1}", "{1}"), 2, ("{1} >= 1", "{0} % {1} == 0")),
    Group(("4 * {0} + {1}",), 2, ("{1} < 4",)),
    Group(("6 * {0} + 4 * {1}",), 2, ("{1} < 3",)),
    Group(("16 * {0} + 4 * {1} + {2}",), 3, ("{1} < 4", "{2} < 4")),
    Group(("{2} * {0} + {1}", "{2}"), 3, ("{1} < {2}",)),
    Group(("({0} // 2) * ({1} // 3)", "{0} // 2"), 2, ("{0} % 2 == 0", "{0} >= 2", "{1} % 3 == 0")),
    Group(("{0} // 2", "cdiv({0}, 2)")),
    Group(("2 * {0} + 3 * {1}", "{0} + {1}"), 2),
    Group(("{0} + {1}", "{0} - {1}"), 2),
    Group(("{0} + {1}", "{0} - {1}", "2 * {0} + {1}"), 2),
    Group(("{0} + {1} + {2}", "{1} + {2}", "{2}"), 3),
    Group(("({0} + {1}) // 2", "{1}"), 2, ("({0} + {1}) % 2 == 0",)),
)
DERIVED = ("{a} + {b}", "2 * {a} + 1", "{a} * {b}", "max({a}, {b})", "{a} // 2", "cdiv({a}, 4)", "{a} + 3", "{a} % 4")
WHERES = (
    "{a} <= {m}",
    "{a} >= {n}",
    "{a} < {b}",
    "{a} <= {b} + {n}",
    "{a} + {b} <= {m}",
    "{a} != {n}",
    "{a} % 2 == 1",
    "{a} % 3 == {b} % 3",
    "{a} // 2 <= {b}",
    "{a} in {{1, {n}, {m}}}",
    "{a} == {n} or {b} >= 2",
    "not ({a} == {n} and {b} < 5)",
    "{a} * {b} <= {m}",
    "max({a}, {b}) >= {n}",
    "2 * {a} + 1 != 3 * {b}",
)


@dataclass(frozen=True)
class Drawn:
    """A spec as text, and what it says in Python.

    Attributes:
        text: One def ``f``.
        tensors: The dims of each parameter, as Python expressions.
        names: The variables.
        holds: The predicates that must hold, as Python expressions.
        case: The alternative that is lowered.
    """

    text: str
    tensors: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    holds: tuple[str, ...]
    case: str | None = None


@st.composite
def specs(draw: st.DrawFn) -> Drawn:
    """A spec with one to five variables."""
    groups = draw(st.lists(st.sampled_from(GROUPS), min_size=1, max_size=2))
    letters = iter("BSDHK")
    names: list[str] = []
    tensors: list[tuple[str, ...]] = []
    holds: list[str] = []
    for group in groups:
        if len(names) + group.variables > 4:
            continue
        own = [next(letters) for _ in range(group.variables)]
        names += own
        tensors.append(tuple(dim.format(*own) for dim in group.dims))
        holds += [where.format(*own) for where in group.where]

    def filled(templates: Sequence[str]) -> str:
        return draw(st.sampled_from(templates)).format(
            a=draw(st.sampled_from(names)),
            b=draw(st.sampled_from(names)),
            n=draw(st.integers(0, 5)),
            m=draw(st.integers(6, 24)),
        )

    derived = tuple(filled(DERIVED) for _ in range(draw(st.integers(0, 2))))
    if derived:
        tensors.append(derived)
    holds += [filled(WHERES) for _ in range(draw(st.integers(0, 2)))]
    lines = [f"    where {', '.join(f'({each})' for each in holds)}"] if holds else []
    case = draw(st.sampled_from((None, None, "a", "b", "otherwise")))
    if case is not None:
        first, second = filled(WHERES), filled(WHERES)
        lines += [f"    case a: {first}", f"    case b: {second}", "    otherwise"]
        earlier = {"a": [], "b": [first], "otherwise": [first, second]}[case]
        holds += [f"not ({each})" for each in earlier] + {"a": [first], "b": [second], "otherwise": []}[case]
    hint = draw(st.none() | st.integers(0, 9))
    if hint is not None:
        lines.insert(0, f"    dim {names[0]} hint {hint}")
    params = ", ".join(f"x{at}: Tensor[{', '.join(dims)}]" for at, dims in enumerate(tensors))
    text = f"def f({params}):\n" + ("\n".join(lines) or "    ...") + "\n"
    return Drawn(text, tuple(tensors), tuple(names), tuple(holds), case)


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def python(expression: str, names: Sequence[str]) -> Callable[..., Any]:
    """Returns ``expression`` as a function of the variables, in Python's own meaning."""
    function: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {expression}", {"cdiv": cdiv})
    return function


def every_call(drawn: Drawn) -> tuple[dict[Call, tuple[int, ...]], list[Call]]:
    """Returns the calls that are accepted, with the sizes that say so, and calls of sizes that are not."""
    dims = [[python(dim, drawn.names) for dim in tensor] for tensor in drawn.tensors]
    holds = [python(each, drawn.names) for each in drawn.holds]
    good: dict[Call, tuple[int, ...]] = {}
    others: dict[Call, None] = {}
    for sizes in itertools.product(range(BOX), repeat=len(drawn.names)):
        try:
            call = tuple(tuple(dim(*sizes) for dim in tensor) for tensor in dims)
            accepted = all(each(*sizes) for each in holds)
        except ZeroDivisionError:
            continue
        if any(size < 0 for tensor in call for size in tensor) or any(_elements(each) > MOST_SLOT for each in call):
            continue
        if accepted:
            good.setdefault(call, sizes)
        else:
            others[call] = None
    return good, [call for call in others if call not in good]


def _elements(shape: Sequence[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def moved(call: Call) -> Iterator[Call]:
    """Yields ``call`` with one size one up, one down, and 0."""
    for at, tensor in enumerate(call):
        for axis, size in enumerate(tensor):
            for new in {size + 1, size - 1, 0} - {size, -1}:
                yield (*call[:at], (*tensor[:axis], new, *tensor[axis + 1 :]), *call[at + 1 :])


def total(*tensors: torch.Tensor) -> torch.Tensor:
    result = torch.zeros(())
    for tensor in tensors:
        result = result + tensor.sum()
    return result


def program(way: str, drawn: Drawn, example: tuple[torch.Tensor, ...]) -> Callable[..., Any]:
    """Returns what torch makes of a function with these parameters."""
    names = ", ".join(f"x{at}" for at in range(len(drawn.tensors)))
    scope: dict[str, Any] = {"total": total}
    exec(f"def f({names}): return total({names})", scope)
    spec = sd.loads(drawn.text)["f"]
    if way == "compile":
        torch._dynamo.reset()
        compiled: Callable[..., Any] = sd.compile(scope["f"], spec, case=drawn.case, backend="eager")
        return compiled
    if way == "make_fx":
        return sd.make_fx(scope["f"], spec, case=drawn.case)(*example)
    module: Callable[..., Any] = sd.export(scope["f"], example, spec=spec, case=drawn.case).module()
    return module


def accepts(run: Callable[..., Any], arguments: tuple[torch.Tensor, ...]) -> bool:
    """Returns whether torch's program takes a call; what it returns for one must be right."""
    try:
        result = run(*arguments)
    except (ShapeError, RuntimeError, AssertionError):
        return False
    assert torch.equal(result, total(*arguments))
    return True


def checked(spec: sd.Spec, arguments: tuple[torch.Tensor, ...]) -> bool:
    try:
        spec.check(*arguments)
    except ShapeError:
        return False
    return True


def agree(drawn: Drawn, seed: int) -> bool:
    """Compares the judges on accepted calls, rejected ones, and both with a size moved; returns whether it could."""
    good, others = every_call(drawn)
    if not good:
        return False
    whole = sd.loads(drawn.text)["f"]
    spec = whole if drawn.case is None else sd.Spec(whole.selected(drawn.case)[0])
    rng = random.Random(seed)
    ordered = sorted(good)
    some = [ordered[0], ordered[-1], *rng.sample(ordered, min(4, len(ordered)))]
    calls = dict.fromkeys([*some, *rng.sample(others, min(6, len(others))), *moved(some[0]), *moved(some[-1])])
    example = tuple(torch.ones(shape) for shape in some[-1])
    programs: dict[str, Callable[..., Any]] = {}
    for way in WAYS:
        try:
            programs[way] = program(way, drawn, example)
        except ShapeError as error:
            assert error.code == "unsupported-by-torch", (way, str(error))
            return False
    holds = [python(each, drawn.names) for each in drawn.holds]
    dims = [[python(dim, drawn.names) for dim in tensor] for tensor in drawn.tensors]
    for call in calls:
        arguments = tuple(torch.ones(shape) for shape in call)
        expected = checked(spec, arguments)
        if expected:  # then Python agrees that these sizes are right
            sizes = [spec.bind(*arguments)[name] for name in drawn.names]
            assert call == tuple(tuple(dim(*sizes) for dim in tensor) for tensor in dims), (call, sizes)
            assert all(each(*sizes) for each in holds), (call, sizes)
        else:  # then no small sizes are
            assert call not in good, (call, good[call])
        for way, run in programs.items():
            assert accepts(run, arguments) is expected, (way, call, expected)
    return True


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{', '.join(group.dims)} | {', '.join(group.where)}")
def test_each_way_to_give_a_variable_is_sound(group: Group) -> None:
    names = tuple("BSD"[: group.variables])
    dims = tuple(dim.format(*names) for dim in group.dims)
    holds = (*(where.format(*names) for where in group.where), *(f"{name} != 5" for name in names))
    text = f"def f(x0: Tensor[{', '.join(dims)}]):\n    where {', '.join(holds)}\n"
    assert agree(Drawn(text, (dims,), names, holds), seed=1)


@given(specs(), st.integers(0, 1000))
@settings(
    max_examples=20,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_torch_accepts_what_the_spec_accepts(drawn: Drawn, seed: int) -> None:
    note(drawn.text)
    event("compared" if agree(drawn, seed) else "no small sizes, or refused")
