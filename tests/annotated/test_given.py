"""What a user may pass where specs are asked for, and what is said of what was meant for another function."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="what is attached is attached for torch")

import shapedsl as sd

TEXT = "def f(x: Tensor[B]): ...\ndef pkg.g(y: Tensor[D]): ...\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.shapes"
    path.write_text(TEXT)
    return path


def a_text(_: Path) -> str:
    return TEXT


def a_dict(path: Path) -> dict[str, sd.Spec]:
    return dict(sd.load(path))


def one_spec(path: Path) -> sd.Spec:
    return sd.load(path)["f"]


def one_by_name(path: Path) -> str:
    return f"{path}:f"


@pytest.mark.parametrize("given", [sd.load, str, Path, a_text, a_dict])
def test_attach_takes_all_of_a_file(given: Callable[[Path], Any], path: Path) -> None:
    def f(x: Any) -> Any:
        return x

    with pytest.warns(sd.ShapeWarning, match="unknown-spec"):
        assert sd.attach(given(path), {"f": f}) == ["pkg.g"]
    assert sd.spec_of(f) == sd.loads(TEXT)["f"]


@pytest.mark.parametrize("given", [one_spec, one_by_name])
def test_attach_takes_one_spec(given: Callable[[Path], Any], path: Path) -> None:
    def f(x: Any) -> Any:
        return x

    assert sd.attach(given(path), {"f": f}) == []
    assert sd.spec_of(f) == sd.loads(TEXT)["f"]


@pytest.mark.parametrize("given", [3, None, {"f": "def f(x: Tensor[B]): ..."}])
def test_attach_names_what_it_takes(given: Any) -> None:
    with pytest.raises(TypeError, match="a SpecFile, a Spec, a path or text, not"):
        sd.attach(given, {})


@pytest.mark.parametrize("text", ["model.shapes", "sub/model.shapes", Path("model.shapes")])
def test_a_path_is_no_text(text: Any) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        sd.loads(text)
    (finding,) = caught.value.diagnostics
    assert finding.message == f"`{os.fspath(text)}` is a path, not text"
    assert finding.helps == ("a file is read by `load`",)


@pytest.mark.parametrize("text", [TEXT, "def f(x: Tensor[B]): ...", "dim B in [0, 8]", "# a file\nlanguage 1"])
def test_text_is_no_path(text: str) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        sd.load(text)
    (finding,) = caught.value.diagnostics
    assert finding.message == "this is text, not the path of a file"
    assert finding.helps == ("text is read by `loads`",)


def test_a_file_may_be_called_as_text_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("def net.shapes").write_text(TEXT)
    assert list(sd.load("def net.shapes")) == ["f", "pkg.g"]


def test_a_name_that_no_spec_has_is_told() -> None:
    def scaled(x: Any) -> Any:
        return x

    with pytest.raises(sd.ShapeError) as caught:
        sd.compile(scaled, TEXT)
    (finding,) = caught.value.diagnostics
    assert finding.code == "ambiguous-spec"
    assert finding.helps == ("none is called `scaled`; name one of f, pkg.g",)


def test_a_warning_stands_at_the_users_line() -> None:
    def f(x: Any) -> Any:
        return x

    spec = "def f(x: Tensor[B]):\n    dim Q\n"
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(2):
            sd.export(f, (torch.ones(3),), spec=spec)
    assert [(each.filename, each.category) for each in found] == [(__file__, sd.ShapeWarning)]
