"""AOTInductor packages behind the check: compiled once here, and what is refused before anything is compiled."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd
from shapedsl.ir import ParamKind
from shapedsl.runtime.parameters import Parameter
from shapedsl.serving.exported.verifying import compared_package, wrong_package
from shapedsl.targets.entry import packages
from shapedsl.targets.entry.programs import Call

SPEC = """\
def f(input: Tensor[B, 4]) -> Tensor[B, 3]:
    where B <= 8
    bucket B in {8} pad input with 0 as rows_independent
"""


def test_a_package_serves_behind_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    module, path = torch.nn.Linear(4, 3), tmp_path / "linear.artifacts"
    cases = sd.export_cases(module, SPEC)
    sd.save_artifacts(path, cases, aot=True, inductor_configs={"aot_inductor.compile_wrapper_opt_level": "O0"})
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["manifest.json", "spec.shapes", "packages/0.pt2"]
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["machine"] == list(packages.machine())

    loaded = sd.load_artifacts(path)
    assert loaded.programs == {}
    assert loaded.labels == ("bucket B=8",)
    with torch.no_grad():
        for batch in (0, 1, 5, 8):
            x = torch.randn(batch, 4)
            torch.testing.assert_close(loaded(x), module(x))
        turned = torch.randn(4, 8).t()  # of other strides than the example
        torch.testing.assert_close(loaded(turned), module(turned))
    assert loaded.stats()["artifacts"][0]["calls"] == 5
    report = sd.verify(path)  # the check in front keeps what the package does not
    assert {each.what: each.status for each in report.all} == {
        "input.shape[1] == 4": "kept",
        "the bucket of B": "kept",
        "B <= 8": "kept",
        "return.shape[0] == B": "kept",
        "return.shape[1] == 3": "kept",
    }
    with pytest.raises(sd.ShapeError) as stale:
        sd.verify(path, SPEC.replace("B <= 8", "B <= 7"))
    assert {each.code for each in stale.value.diagnostics} == {"stale-artifact", "lost-assumption"}
    for wrong, message in (
        (torch.ones(9, 4), "expected `B <= 8`"),
        (torch.ones(8, 5), "is 5, expected 4"),
        (torch.ones(8, 4, dtype=torch.float64), "`input` is float64"),
        (torch.ones(8, 4, dtype=torch.int32), "`input` is int32"),
        (torch.ones(8, 4, requires_grad=True), "requires gradients, which a package does not compute"),
    ):
        with pytest.raises(sd.ShapeError) as error:
            loaded(wrong)
        assert message in str(error.value)
    with pytest.raises(sd.ShapeError, match="it was loaded from a file that holds packages only"):
        sd.save_artifacts(tmp_path / "again", loaded)
    with pytest.raises(sd.ShapeError, match="it was loaded from a file that holds packages only"):
        sd.save_artifacts(tmp_path / "again", loaded, aot=True)

    monkeypatch.setattr("shapedsl.serving.exported.bundles.machine", lambda: (manifest["machine"][0], "none"))
    with pytest.warns(sd.ShapeWarning, match="instructions, and this processor has none"):
        sd.load_artifacts(path)
    monkeypatch.setattr("shapedsl.serving.exported.bundles.machine", lambda: ("plan9 alpha", "none"))
    with pytest.raises(sd.ShapeError, match=r"are for .*, and this is plan9 alpha") as refused:
        sd.load_artifacts(path)
    assert refused.value.code == "other-platform"


def compile_nothing(*args: Any, **kwargs: Any) -> None:
    raise AssertionError(args, kwargs)


def test_a_dynamic_int_is_refused_by_the_name_of_its_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch._inductor, "aoti_compile_and_package", compile_nothing)
    text = "def f(x: Tensor[B], n: Scalar[N]):\n    where N >= 0\n    case one: N == 1\n    otherwise"
    cases = sd.export_cases(lambda x, n: x * n, text)
    with pytest.raises(sd.ShapeError, match="`otherwise` takes an int that is dynamic, which AOTInductor cannot"):
        sd.save_artifacts(tmp_path / "f", cases, aot=True, verify=False)
    assert list(tmp_path.iterdir()) == []
    assert cases(torch.ones(2), 3).tolist() == [3.0, 3.0]


def test_a_buffer_that_changes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Count(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.get_buffer("seen").add_(1)

    monkeypatch.setattr(torch._inductor, "aoti_compile_and_package", compile_nothing)
    cases = sd.export_cases(Count(), "def f(x: Tensor[B]): ...")
    with pytest.raises(sd.ShapeError, match="changes the buffer `seen`, and a package has one of its own"):
        sd.save_artifacts(tmp_path / "f", cases, aot=True)


def test_what_torch_cannot_compile_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("no compiler\nand more")

    monkeypatch.setattr(torch._inductor, "aoti_compile_and_package", fail)
    cases = sd.export_cases(torch.nn.Linear(4, 2), "def f(input: Tensor[B, 4]): ...")
    with pytest.raises(sd.ShapeError, match="AOTInductor cannot compile `all sizes`") as error:
        sd.save_artifacts(tmp_path / "f", cases, aot=True)
    assert error.value.code == "failed-artifact"
    assert "RuntimeError: no compiler" in str(error.value)


def test_a_wrong_package_is_refused_with_its_largest_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*args: Any) -> Any:
        del args
        return lambda x: torch.nn.functional.linear(x, weight) * (1 + (x.shape[0] > 3))

    weight = torch.ones(2, 4)
    monkeypatch.setattr(packages, "compile_package", lambda *_: b"")
    monkeypatch.setattr(packages, "load_package", wrong)
    cases = sd.export_cases(lambda x: x @ weight.t(), "def f(x: Tensor[B, 4]): ...")
    path = tmp_path / "f"
    with pytest.raises(sd.ShapeError, match="the package of `all sizes` of `f` computes something else") as error:
        sd.save_artifacts(path, cases, aot=True)
    assert error.value.code == "wrong-artifact"
    assert "`return` has a relative error of 1, where rounding explains 1e-04" in str(error.value)
    assert error.value.witness["B"] > 3
    assert not path.exists()
    sd.save_artifacts(path, cases, aot=True, verify=False)  # who asks for it gets it
    assert path.exists()


def test_comparisons_say_what_differs() -> None:
    calls: list[Call] = [((torch.ones(2),), {}), ((torch.full((3,), 2.0),), {})]
    signature = sd.loads("def f(x: Tensor[B]): ...")["f"].signature
    parameters = [Parameter("x", ParamKind.POSITIONAL_OR_KEYWORD)]

    def told(target: Any, run: Any) -> str:
        found = compared_package("case one", target, run, signature, parameters, calls)
        wrong = wrong_package(found, "f")
        return "" if wrong is None else str(wrong.notes)

    assert told(lambda x: x * 2, lambda x: x + x) == ""
    assert "at B = 3: `return` has a relative error of 0.5" in told(
        lambda x: x * 2, lambda x: x * (2 if x.shape[0] == 2 else 1)
    )
    assert "in the artifact (1,)" in told(lambda x: x, lambda x: x[:1])
    assert "becomes NaN" in told(lambda x: x, lambda x: x * math.nan)
    assert "it raises ValueError: oh" in told(lambda x: x, raising)
    assert "the original raises ValueError: oh" in told(raising, lambda x: x)
    assert "None" in told(lambda x: (x, None), lambda x: (x, x))


def raising(x: torch.Tensor) -> torch.Tensor:
    del x
    raise ValueError("oh")
