"""Faults that torch makes without a word, planted through torch's own interfaces: each must be found, and is shown to be one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the faults are torch's")

import torch
from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec

import shapedsl as sd

ones = torch.ones
compiled_by_torch: Any = torch.compile
dynamo: Any = torch._dynamo
inductor: Any = torch._inductor


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Each test begins without graphs of others."""
    dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.ShapeWarning)
        yield


def double(x: Any) -> Any:
    return x * 2


def both(x: Any, y: Any) -> Any:
    return x * 2, y * 3


class Module(torch.nn.Module):
    """A function as a module, which is all that torch exports."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


class Pair(Module):
    def forward(self, x: Any, y: Any) -> Any:  # type: ignore[override]  # of another arity
        return self.function(x, y)


def status(report: sd.Verification, what: str) -> str:
    (found,) = {each.status for each in report.all if each.what == what}
    return found


def witness(report: sd.Verification, what: str) -> dict[str, int]:
    (promise,) = (each for each in report.promises if each.what == what and each.status != "kept")
    return dict(promise.witness)


# ------------------------------------------------------------------------------- dropped assumptions


# what torch is told of the size A, the spec that was meant, and the promise of it that is lost
DROPPED: list[tuple[str, Callable[[Any], list[Any]], str, str]] = [
    ("the second of two equalities", lambda a: [a == 6, a == 7], "A == 7", "A == 7"),
    ("the second of two bounds", lambda a: [a >= 10, a <= 5], "A >= 5, A <= 10", "A <= 10"),
    ("a size below 0", lambda a: [a < 0], "A > 0", "A > 0"),
    ("a comparison with a float", lambda a: [a > 2.5], "A >= 3", "A >= 3"),
]


@pytest.mark.parametrize(("told", "meant", "lost"), [each[1:] for each in DROPPED], ids=[each[0] for each in DROPPED])
@pytest.mark.parametrize("way", ["compile", "export"])
def test_a_dropped_assumption(told: Callable[[Any], list[Any]], meant: str, lost: str, way: str) -> None:
    variable = ShapeVar("A")
    shapes = ShapesSpec({"x": TensorSpec([variable])}, assumptions=told(variable))
    if way == "compile":
        artifact = compiled_by_torch(double, backend="eager", fullgraph=True, dynamic_shapes=shapes)
        artifact(ones(6) if lost == "A == 7" else ones(12))
        run = artifact
    else:
        artifact = torch.export.export(Module(double), (ones(12),), dynamic_shapes=shapes)
        run = artifact.module()
    report = sd.verify(artifact, f"def f(x: Tensor[A]): where {meant}", raises=False)
    assert status(report, lost) == "lost"
    assert {each.code for each in report.diagnostics} >= {"lost-assumption"}
    if lost != "A == 7":  # what the other equality leaves is refused as well
        size = witness(report, lost)["A"]
        assert run(ones(size)).shape == (size,)


def test_a_derived_size_that_is_not_checked() -> None:
    b = ShapeVar("B", max=8)
    shapes = ShapesSpec({"x": TensorSpec([b]), "y": TensorSpec([b - 10])})
    artifact = torch.export.export(Pair(both), (ones(6), ones(3)), dynamic_shapes=shapes)
    report = sd.verify(artifact, "def f(x: Tensor[B], y: Tensor[B - 10]): where B <= 18", raises=False)
    assert status(report, "y.shape[0] == B - 10") == "lost"


# ------------------------------------------------------------------------------ merged, specialized


def test_a_merged_pair_and_a_specialized_dim() -> None:
    def add(x: Any, y: Any) -> Any:
        return x + y

    def fill(x: Any) -> Any:
        return x + torch.ones(4, 1)

    a, b = ShapeVar("A"), ShapeVar("B")
    added = compiled_by_torch(
        add,
        backend="eager",
        fullgraph=True,
        dynamic_shapes=ShapesSpec({"x": TensorSpec([a]), "y": TensorSpec([b])}),
    )
    added(ones(5), ones(5))
    filled = compiled_by_torch(
        fill, backend="eager", fullgraph=True, dynamic_shapes=ShapesSpec({"x": TensorSpec([ShapeVar("C"), 3])})
    )
    filled(ones(4, 3))
    for artifact, text, what, code, line in (
        (added, "def f(x: Tensor[A], y: Tensor[B]) -> Tensor[A]: ...", "A == B", "merged-dims", "in add: return x + y"),
        (
            filled,
            "def f(x: Tensor[C, 3]) -> Tensor[C, 3]: ...",
            "C == 4",
            "specialized-dim",
            "in fill: return x + torch.ones(4, 1)",
        ),
    ):
        report = sd.verify(artifact, text, raises=False)
        (found,) = (each for each in report.promises if each.status == "narrowed")
        assert (found.what, found.code) == (what, code)
        assert found.line is not None
        assert found.line.endswith(line)
        with pytest.raises(sd.ShapeError) as error:
            sd.verify(artifact, text)
        assert error.value.code == code
        assert sd.verify(artifact, text, allow=(code,)).kept


# --------------------------------------------------------------------------------------- packages


class Convolved(torch.nn.Module):
    """What AOTInductor computes wrong on CPU, and two inputs whose sizes it does not compare."""

    def __init__(self) -> None:
        super().__init__()
        self.one = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.two = torch.nn.Conv2d(4, 2, 3, padding=1)

    def forward(self, image: Any, x: Any, y: Any) -> Any:
        return self.two(torch.relu(self.one(image))), x + y


CONVOLVED = (
    "def net(image: Tensor[B, 3, 6, 6], x: Tensor[N, 4], y: Tensor[N, 4]) -> (Tensor[B, 2, 6, 6], Tensor[N, 4]):"
    " where 1 <= B <= 8, N <= 32, N % 2 == 0"
)


def test_a_package_that_checks_no_equality_and_computes_convolutions_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AOTI_RUNTIME_CHECK_INPUTS", raising=False)
    torch.manual_seed(0)
    net = Convolved().eval()
    program = sd.export(net, (torch.randn(2, 3, 6, 6), torch.randn(6, 4), torch.randn(6, 4)), spec=CONVOLVED)
    options = {"aot_inductor.compile_wrapper_opt_level": "O0"}
    path = inductor.aoti_compile_and_package(program, package_path=str(tmp_path / "net.pt2"), inductor_configs=options)
    loaded = inductor.aoti_load_package(path)
    for package in (path, loaded):
        report = sd.verify(package, CONVOLVED, raises=False)
        found = {each.what: each.status for each in report.all}
        lost = {what for what, how in found.items() if how == "lost"}
        assert lost == {
            *(f"image.shape[{axis}] == {size}" for axis, size in ((1, 3), (2, 6), (3, 6))),
            *("x.shape[1] == 4", "y.shape[0] == N", "y.shape[1] == 4"),
        }
        assert {found[what] for what in found.keys() - lost} == {"kept"}
        assert "AOTI_RUNTIME_CHECK_INPUTS=1" in str(report.diagnostics[0].helps)
    with pytest.raises(RuntimeError, match="<= 32"):  # what is kept is refused
        loaded(torch.ones(2, 3, 6, 6), ones(34, 4), ones(34, 4))

    # what is compiled on this machine may be right: then nothing may be found
    image = torch.randn(5, 3, 6, 6)
    with torch.no_grad():
        right = torch.allclose(
            loaded(image, ones(4, 4), ones(4, 4))[0], net(image, ones(4, 4), ones(4, 4))[0], atol=1e-3
        )
    report = sd.verify(path, CONVOLVED, against=net, samples=3, raises=False)
    assert report.samples is not None
    assert bool(report.samples.wrong) != right
    assert {fault.worst.path for fault in report.samples.faults if fault.worst} <= {"return[0]"}

    monkeypatch.setenv("AOTI_RUNTIME_CHECK_INPUTS", "1")
    assert sd.verify(path, CONVOLVED).kept


# ------------------------------------------------------------------------------------- serving


def test_a_wrong_pad() -> None:
    def softened(scores: Any) -> Any:
        return torch.softmax(scores, dim=-1)

    text = (
        "def softened(scores: Tensor[B, S]) -> Tensor[B, S]:\n    where B <= 4, 1 <= S <= 8\n"
        "    bucket S in {{4, 8}} pad scores with {fill} as masked\n"
    )
    for fill, right in (("-1e9", True), ("0", False)):
        served = sd.dispatch(softened, text.format(fill=fill), backend="eager")
        served(torch.ones(2, 3))
        report = served.verify(samples=3)
        assert report.kept is right, str(report)


def test_an_artifact_of_an_older_spec(tmp_path: Path) -> None:
    old = "def double(x: Tensor[B, 4]) -> Tensor[B, 4]: where B <= 64"
    path = tmp_path / "double.artifacts"
    sd.save_artifacts(path, sd.export_cases(double, old))
    assert sd.verify(path).kept
    assert sd.verify(path, old, against=double, samples=2).kept
    with pytest.raises(sd.ShapeError) as error:
        sd.verify(path, old.replace("64", "32"))
    codes = {each.code: each for each in error.value.diagnostics}
    assert codes.keys() == {"stale-artifact", "lost-assumption"}
    assert codes["stale-artifact"].notes == ("`B <= 32` is demanded now, it was `B <= 64`",)
    report = sd.verify(path, old.replace("64", "99"), raises=False)
    assert [each.what for each in report.promises if each.status == "narrowed"] == ["B <= 64"]
    claims = sd.verify(path, old.replace("-> Tensor[B, 4]", "-> Tensor[4, B]"), raises=False)
    assert {each.status for each in claims.returns} == {"refuted"}
    assert [each.severity.value for each in claims.findings] == ["warning"]
