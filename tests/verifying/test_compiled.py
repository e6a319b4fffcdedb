"""What compiled functions keep of a spec: ours behind their check, and torch's own by the guards that torch made."""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

pytest.importorskip("torch", reason="compiled functions are torch's")

import torch
from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec

import shapedsl as sd
from shapedsl.api.verifying import expand
from shapedsl.api.verifying_artifacts import Asked, artifacts_of
from shapedsl.ir.walk import holds
from shapedsl.targets.enforced.torch_compiled import torch_compiled

ones = torch.ones
dynamo: Any = torch._dynamo
compiled_loosely: Any = torch.compile  # by torch itself, without a spec


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Each test begins without graphs of others."""
    dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.ShapeWarning)
        yield


def spec_of(text: str) -> sd.Spec:
    (spec,) = sd.loads(text).values()
    return spec


def status(report: sd.Verification) -> dict[str, str]:
    """Returns what became of each promise, by its text."""
    return {each.what: each.status for each in (*report.promises, *report.returns)}


def witness(report: sd.Verification, what: str) -> dict[str, int]:
    (promise,) = (each for each in report.promises if each.what == what)
    return dict(promise.witness)


def pair(x: Any, y: Any) -> Any:
    return x[1:] + y, x.shape[0]


PAIR = "def pair(x: Tensor[B], y: Tensor[B - 1]) -> (Tensor[B - 1], Scalar[B]): where 3 <= B <= 64"


# ------------------------------------------------------------------------------------------------ ours


def test_a_function_that_was_never_called_is_called_once() -> None:
    calls: list[int] = []

    def counted(graph: Any, inputs: Any) -> Any:
        del inputs
        calls.append(1)
        return graph.forward

    compiled = sd.compile(pair, spec_of(PAIR), backend=counted)
    report = sd.verify(compiled)
    assert calls == [1]
    assert report.kept
    assert not report.undecided
    assert status(report) == {
        "y.shape[0] == B - 1": "kept",
        "B >= 3": "kept",
        "B <= 64": "kept",
        "return[0].shape[0] == B - 1": "kept",
        "return[1] == B": "kept",
    }
    assert report.remarks == ("it had not been called: it was, once, with inputs made by the spec",)
    again = sd.verify(compiled)
    assert calls == [1]
    assert again.remarks == ()


def test_a_function_under_another_spec_accepts_or_refuses_what_that_says() -> None:
    compiled = sd.compile(pair, spec_of(PAIR), backend="eager")
    report = sd.verify(compiled, PAIR.replace("<= 64", "<= 8"), raises=False)
    assert {what for what, found in status(report).items() if found != "kept"} == {"B <= 8"}
    lost = witness(report, "B <= 8")["B"]
    assert 8 < lost <= 64
    compiled(ones(lost), ones(lost - 1))  # it is accepted

    report = sd.verify(compiled, PAIR.replace("<= 64", "<= 99"), raises=False)
    assert status(report)["B <= 64"] == "narrowed"
    wanted = witness(report, "B <= 64")["B"]
    with pytest.raises(sd.ShapeError):
        compiled(ones(wanted), ones(wanted - 1))
    with pytest.raises(sd.ShapeError) as error:
        sd.verify(compiled, PAIR.replace("<= 64", "<= 8"))
    assert error.value.code == "lost-assumption"


def test_what_the_program_demands_beyond_the_spec_narrows_it_with_the_line() -> None:
    def rows(x: Any) -> Any:
        return x.view(-1, 4)

    compiled = sd.compile(rows, spec_of("def rows(x: Tensor[B]) -> Tensor[B // 4, 4]: where B >= 4"), backend="eager")
    compiled(ones(8))
    report = sd.verify(compiled, raises=False)
    (found,) = (each for each in report.promises if each.status == "narrowed")
    assert (found.what, found.code) == ("B % 4 == 0", "extra-assumption")
    assert found.line is not None
    assert found.line.endswith("in rows: return x.view(-1, 4)")
    assert [each.status for each in report.returns] == ["kept", "kept"]
    with pytest.raises(sd.ShapeError):
        compiled(ones(found.witness[0][1]))


def test_a_wrong_claim_of_the_result_is_refuted_with_sizes() -> None:
    compiled = sd.compile(pair, spec_of(PAIR.replace("(Tensor[B - 1]", "(Tensor[B]")), backend="eager")
    report = sd.verify(compiled, raises=False)
    (wrong,) = (each for each in report.returns if each.status == "refuted")
    assert (wrong.what, wrong.code) == ("return[0].shape[0] == B", "return-mismatch")
    assert status(report)["return[1] == B"] == "kept"


def test_each_value_of_a_static_size_is_an_artifact_and_shifted_ints_are_the_users() -> None:
    def head(x: Any, n: int) -> Any:
        return x[..., : x.shape[1] // 2] * n, n

    text = "def head(x: Tensor[B, HD], n: Scalar[n]) -> (Tensor[B, HD // 2], Scalar[n]):\n    int n in [-3, 5]\n"
    spec = sd.loads(f"const HD = _\n{text}")["head"]
    compiled = sd.compile(head, spec, backend="eager")
    for size in (4, 6):
        compiled(ones(3, size), 2)
    report = sd.verify(compiled, examples=[((ones(3, 4), 2), {})], raises=False)
    assert {each.artifact for each in report.promises} == {"artifact 1", "artifact 2"}
    assert {each.status for each in report.promises} == {"kept"}
    known = [each for each in report.returns if each.artifact == "artifact 1"]
    assert {each.what: each.status for each in known} == {
        "return[0].shape[0] == B": "kept",
        "return[0].shape[1] == HD // 2": "kept",
        "return[1] == n": "kept",
    }


def test_modules_and_functions_that_torch_keeps_elsewhere() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(4)

        def forward(self, x: Any, scale: Any = None) -> Any:
            return {"y": self.norm(x), "size": x.shape[0]}

    spec = spec_of('def forward(x: Tensor[B, 4]) -> {"y": Tensor[B, 4], "size": Scalar[B]}: where B >= 2')
    net = Net()
    before = net.norm.running_mean
    assert before is not None
    kept = before.clone()
    report = sd.verify(sd.compile(net, spec, backend="eager"), raises=False)
    assert set(status(report).values()) == {"kept"}
    assert torch.equal(kept, before)  # the call that was made left no trace

    linear = compiled_loosely(torch.nn.Linear(4, 3), backend="eager", dynamic=True)
    report = sd.verify(linear, "def f(input: Tensor[B, 4]) -> Tensor[B, 3]: where B >= 2", raises=False)
    assert status(report)["return.shape[1] == 3"] == "kept"
    assert status(report)["input.shape[1] == 4"] == "lost"  # another width is compiled anew

    report = sd.verify(
        compiled_loosely(net, backend="eager", dynamic=True),
        'def f(x: Tensor[B, 4]) -> {"y": Tensor[B, 4], "size": Scalar[B]}: where B >= 2',
        raises=False,
    )
    assert status(report)['return["size"] == B'] == "kept"
    assert status(report)["B >= 2"] == "lost"


def test_artifacts_of_dispatch_are_told_apart() -> None:
    text = "def pair(x: Tensor[B], y: Tensor[B - 1]) -> (Tensor[B - 1], Scalar[B]):\n    where 3 <= B <= 64\n"
    served = sd.dispatch(pair, f"{text}    case small: B <= 4\n    otherwise\n", backend="eager")
    served(ones(3), ones(2))
    served(ones(9), ones(8))
    report = sd.verify(served)
    assert {each.artifact for each in report.all} == {"case small", "otherwise"}
    assert {each.status for each in report.all} == {"kept"}
    assert report.findings == ()
    other = sd.verify(served, f"{text.replace('64', '32')}    case small: B <= 4\n    otherwise\n", raises=False)
    assert [each.code for each in other.findings] == ["stale-artifact"]
    assert [each.what for each in other.promises if each.status == "lost"] == ["B <= 32"]


# ------------------------------------------------------------------------------------------- torch's own


def compiled_by_torch(function: Callable[..., Any], shapes: dict[str, Any], *assumptions: Any) -> Any:
    spec = ShapesSpec(shapes, assumptions=list(assumptions))
    return compiled_loosely(function, backend="eager", fullgraph=True, dynamic_shapes=spec)


def test_guards_and_assertions_of_a_function_of_torchs() -> None:
    b, c = ShapeVar("B", max=64), ShapeVar("C")
    compiled = compiled_by_torch(pair, {"x": TensorSpec([b]), "y": TensorSpec([c])}, b >= 3)
    compiled(ones(8), ones(7))
    report = sd.verify(compiled, PAIR, raises=False)
    assert set(status(report).values()) == {"kept"}

    report = sd.verify(compiled, "def pair(x: Tensor[B], y: Tensor[C]): where B <= 32, C <= 9", raises=False)
    assert status(report) == {
        "B <= 32": "lost",
        "C <= 9": "lost",
        "B >= 3": "narrowed",
        "C >= 2": "narrowed",
        "B == 1 + C": "narrowed",
    }
    lost = witness(report, "B <= 32")["B"]
    compiled(ones(lost), ones(lost - 1))
    with pytest.raises((AssertionError, RuntimeError)):
        compiled(ones(9), ones(3))


def test_torch_takes_exactly_what_is_said_to_be_checked() -> None:
    def both(x: Any, y: Any) -> Any:
        return x.view(-1, 2) * 2, x[1:] + y

    b, c = ShapeVar("B", max=6), ShapeVar("C")
    compiled = compiled_by_torch(both, {"x": TensorSpec([b]), "y": TensorSpec([c])}, b != 4)
    compiled(ones(6), ones(5))
    names = ("x.shape[0]", "y.shape[0]")
    (graph,) = torch_compiled(compiled).held[0][0].graphs()
    assert graph.module is not None
    (enforced,) = artifacts_of(compiled, Asked(spec_of("def both(x: Tensor[B], y: Tensor[C]): ..."), expand)).artifacts  # type: ignore[union-attr]  # it is one
    taken = {
        sizes
        for sizes in itertools.product(range(1, 9), range(6))
        if all(holds(each.predicate, dict(zip(names, sizes, strict=True))) for each in enforced.checked)
    }
    assert taken == {(2, 1), (6, 5)}
    for sizes in ((2, 1), (6, 5), (4, 3), (3, 2), (6, 4), (8, 7)):
        try:
            compiled(*map(ones, sizes))
        except (AssertionError, RuntimeError):
            assert sizes not in taken
        else:
            assert sizes in taken


def test_numbers_of_a_function_of_torchs_are_refused_and_static_sizes_are_not() -> None:
    b = ShapeVar("B")

    def plus(x: Any) -> Any:
        return x + 1

    compiled = compiled_by_torch(plus, {"x": TensorSpec([b, 4])})
    compiled(ones(2, 4))
    assert status(sd.verify(compiled, "def f(x: Tensor[B, 4]): ...", raises=False)) == {"x.shape[1] == 4": "kept"}
    with pytest.raises(Exception, match="4"):
        compiled(ones(2, 5))
    dynamo.reset()
    loose = compiled_loosely(plus, backend="eager")
    loose(ones(2, 4))
    assert status(sd.verify(loose, "def f(x: Tensor[2, 4]): ...", raises=False)) == {
        "x.shape[0] == 2": "lost",
        "x.shape[1] == 4": "lost",
    }
    assert loose(ones(3, 5)).shape == (3, 5)


def test_each_graph_of_a_dynamic_function_is_reported() -> None:
    def branch(x: Any) -> Any:
        return x + 1 if x.shape[0] > 100 else x[:2]

    compiled = compiled_loosely(branch, backend="eager", dynamic=True)
    spec = "def branch(x: Tensor[B]) -> Tensor[B]: where B >= 2"
    compiled(ones(101))
    report = sd.verify(compiled, spec, examples=[((ones(101),), {})], raises=False)
    assert status(report) == {"B >= 2": "lost", "B >= 101": "narrowed", "return.shape[0] == B": "kept"}
    compiled(ones(7))
    report = sd.verify(compiled, spec, examples=[((ones(7),), {})], raises=False)
    graphs = {each.artifact: each.what for each in report.promises if each.status == "narrowed"}
    assert graphs == {"graph 1": "B >= 101", "graph 2": "B <= 100"}
    assert {(each.artifact, each.status) for each in report.returns} == {
        ("graph 1", "undecided"),  # it does not take the call at hand
        ("graph 2", "refuted"),
    }
    assert any("torch compiles another one for others" in remark for remark in report.remarks)


@dataclasses.dataclass
class Bag:
    x: Any
    n: int


class Named(NamedTuple):
    p: Any
    q: Any


def test_sizes_are_found_wherever_arguments_hold_them() -> None:
    def held(x: Any, *rest: Any, d: Any, bag: Any, named: Any, **options: Any) -> Any:
        return x + rest[0], d["k"][0] + bag.x, named.p + named.q, options["z"] * 2

    compiled = compiled_loosely(held, backend="eager", dynamic=True)
    args = (ones(5), ones(5))
    kwargs = {"d": {"k": [ones(6)]}, "bag": Bag(ones(6), 3), "named": Named(ones(7), ones(7)), "z": ones(9)}
    compiled(*args, **kwargs)
    text = (
        "def held(x: Tensor[A], *rest: [Tensor[B]], d: {'k': [Tensor[C]]}, bag: Bag(x: Tensor[D]), "
        "named: Named(p: Tensor[E], q: Tensor[F]), **options: {'z': Tensor[G]}) "
        "-> (Tensor[A], Tensor[C], Tensor[E], Tensor[G]): where A >= 2, C >= 2, E >= 2, G >= 2"
    )
    report = sd.verify(compiled, text, examples=[(args, kwargs)], raises=False)
    found = {frozenset(each.what.split(" == ")) for each in report.promises if each.status == "narrowed"}
    assert found == {frozenset("AB"), frozenset("CD"), frozenset("EF")}
    assert {each.status for each in report.returns} == {"kept"}


def test_what_a_graph_break_hides_is_undecided() -> None:
    def broken(x: Any) -> Any:
        dynamo.graph_break()
        return x + 1

    compiled = compiled_loosely(broken, backend="eager", dynamic=True)
    compiled(ones(4))
    report = sd.verify(compiled, "def broken(x: Tensor[B]) -> Tensor[B]: where B <= 8", raises=False)
    assert not any(each.status == "kept" for each in report.all if each.what in ("B <= 8", "return.shape[0] == B"))


def test_what_is_no_artifact_is_refused() -> None:
    with pytest.raises(TypeError, match="verify\\(\\) takes a program, a graph, a compiled function"):
        sd.verify(pair, PAIR)
    with pytest.raises(sd.ShapeError, match="torch holds no graph"):
        sd.verify(sd.compile(pair, PAIR, disable=True))
