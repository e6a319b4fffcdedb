"""What programs and graphs keep of a spec; each verdict is tried by running the program on sizes that the spec forbids."""

from __future__ import annotations

import copy
import io
import itertools
import operator
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch", reason="programs are torch's")

import torch
from torch.export import Dim
from torch.fx.experimental.proxy_tensor import make_fx

import shapedsl as sd
from shapedsl.api.verifying import expand
from shapedsl.ir.walk import holds
from shapedsl.targets.enforced.inputs import Placeholder
from shapedsl.targets.enforced.stated import Stated, stated

ones = torch.ones


def spec_of(text: str) -> sd.Spec:
    """Returns the only spec of a text."""
    (spec,) = sd.loads(text).values()
    return spec


def divided(one: Any, other: Any) -> Any:
    return one / other


def verified(program: Any, text: str, **options: Any) -> sd.Verification:
    return sd.verify(program, spec_of(text), raises=False, **options)


def rows(report: sd.Verification) -> dict[str, str]:
    """Returns what became of each promise, by its text."""
    return {each.what: each.status for each in report.promises}


def witness(report: sd.Verification, what: str) -> dict[str, int]:
    (promise,) = (each for each in report.promises if each.what == what)
    return dict(promise.witness)


def runs(program: Any, *args: Any) -> bool:
    """Returns whether a program takes a call."""
    run = program.module() if hasattr(program, "module") else program
    try:
        run(*args)
    except (AssertionError, RuntimeError, ValueError, sd.ShapeError):
        return False
    return True


class Sums(torch.nn.Module):
    """Adds up what it is given: no operation relates the sizes of two inputs."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.sum() + y.sum()


class One(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def sums(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.sum() + y.sum()


EVERYTHING = """\
def sums(x: Tensor[B, 3], y: Tensor[2*B]) -> Tensor[()]:
    dim B in [2, 20] multiple of 2
    where B != 6
"""


@pytest.fixture(scope="module")
def exported() -> Any:
    return sd.export(sums, (ones(4, 3), ones(8)), spec=EVERYTHING)


@pytest.fixture(scope="module")
def loaded(exported: Any) -> Any:
    buffer = io.BytesIO()
    torch.export.save(exported, buffer)
    buffer.seek(0)
    return torch.export.load(buffer)


def without_example(program: Any) -> Any:
    """Returns a program for which torch generates no function of guards: it compares shapes at each call."""
    made = copy.copy(program)
    made._example_inputs = None
    assert not hasattr(made.module(), "_guards_fn")
    return made


# ------------------------------------------------------------------------------------- what is kept


@pytest.mark.parametrize("way", ["exported", "loaded", "decomposed", "strict", "module", "make_fx", "no example"])
def test_what_is_made_under_a_spec_keeps_it(way: str, exported: Any, loaded: Any) -> None:
    made: Callable[[], Any] = {
        "exported": lambda: exported,
        "loaded": lambda: loaded,
        "decomposed": exported.run_decompositions,
        "strict": lambda: sd.export(sums, (ones(4, 3), ones(8)), spec=EVERYTHING, strict=True),
        "module": exported.module,
        "no example": lambda: without_example(exported),
        "make_fx": lambda: sd.make_fx(sums, spec_of(EVERYTHING))(ones(4, 3), ones(8)),
    }[way]
    program = made()
    report = sd.verify(program, spec_of(EVERYTHING))
    assert rows(report) == dict.fromkeys(
        ["x.shape[1] == 3", "y.shape[0] == 2 * B", "B >= 2", "B <= 20", "B % 2 == 0", "B != 6"], "kept"
    )
    assert report.kept
    assert not report.undecided
    for rows_, columns, others in [(4, 3, 9), (4, 2, 8), (0, 3, 0), (22, 3, 44), (3, 3, 6), (6, 3, 12)]:
        assert not runs(program, ones(rows_, columns), ones(others)), (rows_, columns, others)
    assert runs(program, ones(8, 3), ones(16))


def test_a_spec_that_says_less_is_kept_where_nothing_else_is_demanded(exported: Any) -> None:
    report = verified(
        exported, "def sums(x: Tensor[B, 3], y: Tensor[2*B]): where B in {2, 4, 8, 10, 12, 14, 16, 18, 20}"
    )
    assert set(rows(report).values()) == {"kept"}


def test_an_older_spec_is_told_in_terms_of_the_new_one(exported: Any) -> None:
    newer = "def sums(x: Tensor[N, 3], y: Tensor[2*N]):\n    dim N in [4, 64]\n    where N % 4 == 0"
    report = verified(exported, newer)
    assert rows(report) == {
        "x.shape[1] == 3": "kept",
        "y.shape[0] == 2 * N": "kept",
        "N <= 64": "kept",
        "N >= 4": "lost",
        "N % 4 == 0": "lost",
        "N <= 20": "narrowed",
    }
    assert witness(report, "N >= 4") == {"N": 2}
    assert witness(report, "N <= 20") == {"N": 24}
    with pytest.raises(sd.ShapeError) as caught:
        sd.verify(exported, spec_of(newer))
    assert sorted(each.code for each in caught.value.diagnostics) == [
        "extra-assumption",
        "lost-assumption",
        "lost-assumption",
    ]


# ------------------------------------------------------------------------------------- what is lost


def test_a_graph_of_torch_checks_nothing() -> None:
    text = "def sums(x: Tensor[B, 3], y: Tensor[B]): where B <= 8"
    graph = make_fx(sums, tracing_mode="symbolic")(ones(4, 3), ones(4))
    report = verified(graph, text)
    assert rows(report) == {"x.shape[1] == 3": "lost", "y.shape[0] == B": "lost", "B <= 8": "lost"}
    assert runs(graph, ones(4, 2), ones(4))
    assert runs(graph, ones(9, 3), ones(9))
    found = witness(report, "y.shape[0] == B")
    assert found["B"] != found["y.shape[0]"]
    assert runs(graph, ones(found["B"], 3), ones(found["y.shape[0]"]))


def test_the_lower_bounds_that_torch_only_assumes() -> None:
    program = torch.export.export(One(), (ones(4),), dynamic_shapes={"x": {0: Dim("B", min=2, max=8)}})
    report = verified(program, "def f(x: Tensor[B]) -> Tensor[B]:\n    dim B in [2, 8]")
    assert rows(report) == {"B >= 2": "lost", "B <= 8": "kept"}
    assert witness(report, "B >= 2") == {"B": 0}
    assert runs(program, ones(0))
    assert not runs(program, ones(9))


def test_what_a_program_relies_on_without_checking_it() -> None:
    program = torch.export.export(One(), (ones(4),), dynamic_shapes={"x": {0: Dim("B", min=2, max=8)}})
    report = verified(program, "def f(x: Tensor[B]) -> Tensor[B]: where B <= 8")
    assert rows(report) == {"B <= 8": "kept", "B >= 2": "narrowed"}
    (found,) = (each for each in report.promises if each.status == "narrowed")
    assert found.why == "it relies on that without checking it"
    assert dict(found.witness) == {"B": 0}


def test_dims_of_other_programs_that_are_one_by_name() -> None:
    rows_ = Dim("rows", max=32)
    shapes = {"x": {0: rows_}, "y": {0: 2 * rows_}}
    program = torch.export.export(Sums(), (ones(4, 3), ones(8)), dynamic_shapes=shapes)
    report = verified(program, "def f(x: Tensor[B, 3], y: Tensor[2*B]):\n    dim B in [2, 32]")
    assert rows(report) == {
        "x.shape[1] == 3": "kept",
        "y.shape[0] == 2 * B": "kept",
        "B <= 32": "kept",
        "B >= 2": "lost",
    }
    assert not runs(program, ones(4, 3), ones(9))


def test_a_root_that_stands_nowhere_alone() -> None:
    half = Dim("half", max=8)
    program = torch.export.export(One(), (ones(4),), dynamic_shapes={"x": {0: 2 * half}})
    report = verified(program, "def f(x: Tensor[B]) -> Tensor[B]: where B % 2 == 0, B <= 16, B >= 4")
    kept = rows(report)
    for size in (3, 18):  # what is said to be kept is
        if kept["B % 2 == 0" if size == 3 else "B <= 16"] == "kept":
            assert not runs(program, ones(size))
        else:
            assert runs(program, ones(size))
    assert "narrowed" not in kept.values()


def test_what_a_later_pass_computes_in_vain_is_not_taken_for_a_check(exported: Any) -> None:
    program = exported.run_decompositions()
    for node in [each for each in program.graph.nodes if "_assert_scalar" in str(each.target)]:
        program.graph.erase_node(node)
    program.graph_module.recompile()
    report = verified(program, EVERYTHING)
    assert rows(report)["B != 6"] == "lost"
    assert runs(program, ones(6, 3), ones(12))


# --------------------------------------------------------------------------- what narrows the spec


def test_sizes_that_became_one_or_a_number_with_the_line() -> None:
    def net(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        both = x + y
        return both.sum() + (z + torch.ones(4, 1)).sum() + x.view(-1, 2).sum()

    text = "def net(x: Tensor[A], y: Tensor[B], z: Tensor[C, D]): ..."
    program = sd.export(net, (ones(6), ones(6), ones(4, 2)), spec=text, verify=False)
    report = verified(program, text)
    assert rows(report) == {"A == B": "narrowed", "C == 4": "narrowed", "B % 2 == 0": "narrowed"}
    found = {each.code: each for each in report.promises}
    merged, pinned = found["merged-dims"], found["specialized-dim"]
    assert (merged.code, merged.place) == ("merged-dims", "x.shape[0], y.shape[0]")
    assert merged.line is not None
    assert merged.line.endswith("in net: both = x + y")
    assert (pinned.code, pinned.place) == ("specialized-dim", "z.shape[0]")


def test_what_is_allowed_is_no_error() -> None:
    text = "def add(input: Tensor[A], other: Tensor[B]) -> Tensor[A]: ..."
    program = sd.export(torch.add, (ones(3), ones(3)), spec=text, verify=False)
    assert not verified(program, text).kept
    report = sd.verify(program, spec_of(text), allow="merged-dims")
    assert report.kept
    assert rows(report) == {"A == B": "narrowed"}
    assert report.diagnostics == ()
    with pytest.raises(TypeError, match="allow= takes codes among"):
        sd.verify(program, spec_of(text), allow={"lost-assumption"})


def test_a_pinned_number_that_is_another_one(exported: Any) -> None:
    report = verified(exported, "def sums(x: Tensor[B, 4], y: Tensor[2*B]): where B in {2, 4}")
    assert rows(report)["x.shape[1] == 4"] == "lost"
    assert witness(report, "x.shape[1] == 4") == {"x.shape[1]": 3}
    assert "narrowed" in {each.status for each in report.promises if each.what == "x.shape[1] == 3"}


# -------------------------------------------------------------------------------------- structures


def test_containers_scalars_static_sizes_and_defaults() -> None:
    text = """\
def f(past: [Tensor[B, HD], ...], n: Scalar[N], mask: Tensor[B] | None = _, *, more: {"k": Tensor[N]}) -> Tensor[B, HD]:
    const HD = _
    int N in [1, 9]
    where N <= B
"""

    def f(past: Any, n: int, mask: Any = None, *, more: Any) -> Any:
        del n, mask, more
        return past[0] * 2

    args, kwargs = ([ones(4, 5), ones(4, 5)], 3), {"more": {"k": ones(3)}}
    program = sd.export(f, args, kwargs, spec=text)
    report = sd.verify(program, spec_of(text))
    assert list(rows(report)) == [
        "past[1].shape[0] == B",
        'more["k"].shape[0] == N',
        "past[0].shape[1] == 5 (static)",
        "past[1].shape[1] == 5 (static)",
        "N >= 1",
        "N <= 9",
        "N <= B",
    ]
    run = program.module()
    for past, n, k in [((4, 5, 3, 5), 3, 3), ((4, 5, 4, 5), 3, 2), ((4, 6, 4, 6), 3, 3), ((2, 5, 2, 5), 3, 3)]:
        with pytest.raises((AssertionError, RuntimeError)):
            run([ones(past[:2]), ones(past[2:])], n, more={"k": ones(k)})


def test_what_the_spec_does_not_list_is_static() -> None:
    program = torch.export.export(Sums(), (ones(4, 3), ones(4)), dynamic_shapes={"x": {0: Dim.DYNAMIC}, "y": None})
    report = verified(program, "def f(x: Tensor[B, _]): where B >= 2")
    assert rows(report) == {"x.shape[1] == 3": "kept", "y.shape[0] == 4": "kept", "B >= 2": "lost"}


def test_another_structure_than_the_spec_is_told(exported: Any) -> None:
    for text, code in [
        ("def sums(x: Tensor[B], y: Tensor[2*B]): ...", "rank-mismatch"),
        ("def sums(x: Tensor[B, 3], z: Tensor[2*B]): ...", "unknown-parameter"),
        ("def sums(x: [Tensor[B, 3]], y: Tensor[2*B]): ...", "type-mismatch"),
    ]:
        with pytest.raises(sd.ShapeError) as caught:
            verified(exported, text)
        assert caught.value.code == code


def test_one_alternative(exported: Any) -> None:
    text = "def sums(x: Tensor[B, 3], y: Tensor[2*B]):\n    where B >= 2\n    case small: B == 4\n    otherwise"
    report = verified(exported, text, case="small")
    assert rows(report)["B == 4"] == "lost"
    assert rows(verified(exported, text))["B >= 2"] == "kept"
    with pytest.raises(sd.ShapeError, match="no case `large`"):
        verified(exported, text, case="large")


def test_a_graph_of_ours_knows_its_spec_and_checks_it_in_front() -> None:
    graph = sd.make_fx(sums, spec_of(EVERYTHING))(ones(4, 3), ones(8))
    for node in [each for each in graph.graph.nodes if "_assert_scalar" in str(each.target)]:
        graph.graph.erase_node(node)
    graph.recompile()
    assert sd.verify(graph).kept  # the check in front refuses
    assert not runs(graph, ones(4, 3), ones(9))


def test_conditions_that_cannot_be_read_leave_it_undecided() -> None:
    program = sd.export(One(), (ones(4),), spec="def f(x: Tensor[B]): where B >= 1")
    graph = program.graph
    (x,) = (node for node in graph.nodes if node.op == "placeholder")
    with graph.inserting_before(graph.output_node()):
        size = graph.call_function(torch.ops.aten.sym_size.int, (x, 0))
        third = graph.call_function(divided, (size, 3))
        large = graph.call_function(operator.gt, (third, 0.5))
        said = "Runtime assertion failed for expression u0/3 > 0.5 on node 'gt'"
        graph.call_function(torch.ops.aten._assert_scalar.default, (large, said))
    program.graph_module.recompile()
    assert not runs(program, ones(1))  # so that it is not lost, and nobody here can prove it
    with pytest.warns(sd.ShapeWarning, match="could not prove that the exported program keeps `B >= 2`"):
        report = sd.verify(program, spec_of("def f(x: Tensor[B]): where B >= 2"))
    assert rows(report) == {"B >= 2": "undecided"}
    assert report.undecided
    assert report.kept
    (found,) = report.promises
    assert found.why == "it also checks `u0/3 > 0.5`, which could not be read"


def test_guards_that_are_not_as_torch_makes_them_are_not_taken_for_none(exported: Any) -> None:
    module = exported.module()
    module._guards_fn.forward = lambda *_: None
    report = verified(module, EVERYTHING)
    assert rows(report)["x.shape[1] == 3"] == "undecided"
    assert rows(report)["B != 6"] == "kept"  # asserted in the graph


def test_what_is_no_artifact_is_refused() -> None:
    with pytest.raises(TypeError, match=r"verify\(\) takes"):
        sd.verify(3, spec_of(EVERYTHING))
    with pytest.raises(TypeError, match="pass the original as against="):
        sd.verify(make_fx(sums, tracing_mode="symbolic")(ones(4, 3), ones(4)), spec_of(EVERYTHING), samples=3)
    untyped = torch.fx.symbolic_trace(sums)
    with pytest.raises(sd.ShapeError, match="nothing is known of its input"):
        sd.verify(untyped, spec_of(EVERYTHING))


# --------------------------------------------------------------- said is done: a property over specs

HIGH = 5
DIMS = ["A", "B", "A", "2*A", "A + 1", "A + B", "3", "B // 2"]
WHERES = ["A <= 3", "A >= 2", "A != 3", "A % 2 == 0", "A <= B", "A == B", "2*A == B", "A + B <= 5", "A <= 1 or B >= 3"]


def drawn(rng: random.Random, ranks: list[int]) -> str:
    """Returns the text of a random spec."""
    while True:
        dims = [[rng.choice(DIMS) for _ in range(rank)] for rank in ranks]
        flat = {dim for each in dims for dim in each}
        names = {name for name in "AB" if any(name in dim for dim in flat)}
        if names <= flat and names:
            break
    wheres = [each for each in rng.sample(WHERES, 2) if {*"AB"} & {*each} <= names]
    params = ", ".join(f"{name}: Tensor[{', '.join(each)}]" for name, each in zip("xy", dims, strict=False))
    return f"def f({params}):" + (f" where {', '.join(wheres)}" if wheres else " ...")


def calls(ranks: list[int], high: int = HIGH) -> Iterator[tuple[tuple[int, ...], list[torch.Tensor]]]:
    for sizes in itertools.product(range(high + 1), repeat=sum(ranks)):
        cuts = [0, *itertools.accumulate(ranks)]
        yield sizes, [torch.zeros(sizes[start:end]) for start, end in itertools.pairwise(cuts)]


def accepted(run: Callable[..., Any], ranks: list[int], high: int = HIGH) -> set[tuple[int, ...]]:
    """Returns the sizes that a program or a check takes."""
    found: set[tuple[int, ...]] = set()
    for sizes, args in calls(ranks, high):
        try:
            run(*args)
        except (AssertionError, RuntimeError, sd.ShapeError):
            continue
        found.add(sizes)
    return found


def program_of(way: str, spec: sd.Spec, args: tuple[Any, ...], rng: random.Random) -> Any:
    class Whole(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
            return x.sum() if y is None else x.sum() + y.sum()

    if way == "graph":
        return make_fx(Whole(), tracing_mode="symbolic")(*args)
    if way == "legacy":
        dims = [Dim("p", max=rng.choice([4, 20])), Dim("q", min=3), Dim.STATIC, Dim.AUTO]
        shapes = {
            name: {axis: rng.choice(dims) for axis in range(value.dim())}
            for name, value in zip("xy", args, strict=False)
        }
        return torch.export.export(Whole(), args, dynamic_shapes=shapes)
    return sd.export(Whole(), args, spec=spec)


def told(report: sd.Verification, said: Stated) -> Iterator[tuple[str, Any, Any]]:
    found = {each.what: each for each in report.promises}
    for each in said.statements:
        yield found[each.text].status, each.predicate, found[each.text]


@pytest.mark.parametrize("seed", range(15))
def test_what_is_said_to_be_kept_is_refused_and_what_is_said_to_be_lost_runs(seed: int) -> None:
    rng = random.Random(seed)
    way = ["export", "legacy", "graph"][seed % 3]
    while True:
        ranks = rng.choice([[1], [2], [1, 1]])
        made, asked = spec_of(drawn(rng, ranks)), spec_of(drawn(rng, ranks))
        try:
            made.lowered()
            asked.lowered()
        except sd.ShapeError:  # a contradiction, or what cannot be inverted
            continue
        allowed = accepted(made.check, ranks)
        example = [args for sizes, args in calls(ranks) if sizes in allowed and min(sizes) >= 2]
        if not example:
            continue
        try:
            program = program_of(way, made, tuple(rng.choice(example)), rng)
        except (sd.ShapeError, RuntimeError):  # torch refuses the dims that were drawn
            continue
        break
    report = sd.verify(program, asked, raises=False)
    run = program if way == "graph" else program.module()
    takes = accepted(run, ranks)
    said = stated(expand(asked.signature, {n: Placeholder((0,) * rank) for n, rank in zip("xy", ranks, strict=False)}))
    places = [each.name for each in said.places]
    of_names = {name: place for place, name in said.names.items()}
    for status, predicate, promise in told(report, said):
        violating = [sizes for sizes in takes if not holds(predicate, dict(zip(places, sizes, strict=True)))]
        assert status in ("kept", "lost")
        if status == "kept":
            assert not violating, f"{promise.what} is not kept: {violating[0]}\n{made}\n{asked}\n{report}"
            continue
        shown = {of_names.get(name, name): size for name, size in promise.witness}
        near = max(shown.values(), default=0) <= 2 * HIGH + 2
        more = accepted(run, ranks, 2 * HIGH + 2) if near else set[tuple[int, ...]]()
        named = [dict(zip(places, sizes, strict=True)) for sizes in more]
        fitting = [sizes for sizes in named if shown.items() <= sizes.items()]
        assert any(not holds(predicate, sizes) for sizes in fitting) or not more, f"{promise}\n{made}\n{asked}"
    refused = accepted(asked.check, ranks) - takes
    if refused:
        assert any(each.status == "narrowed" for each in report.promises), f"{min(refused)}\n{made}\n{asked}"


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning, module="torch")
        yield


def test_a_program_for_another_dtype_is_told() -> None:
    def text(dtype: str) -> str:
        return f"def f(x: {dtype}[B]): where B <= 8"

    program = sd.export(lambda x: x * 2, (torch.ones(4),), spec=text("float32"))
    assert sd.verify(program, text("float32")).kept
    assert sd.verify(program, text("floating")).kept
    report = sd.verify(program, text("int64"), raises=False)
    assert [(each.status, each.what, each.code) for each in report.promises if each.status != "kept"] == [
        ("narrowed", "x is float32", "dtype-mismatch")
    ]
    assert not report.kept
    fast: Any = sd.compile(lambda x: x * 2, text("float32"), backend="eager")
    fast(torch.ones(4))
    assert not sd.verify(fast, text("int64"), raises=False).kept
