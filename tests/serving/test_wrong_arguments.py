"""Arguments of the wrong type, name or range are refused where they are given, by their names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd
from tests.cli.helpers import run

SPEC = """
def f(x: float32[B, 4]) -> float32[B, 4]:
    where 1 <= B <= 32
    bucket B in {8, 32} pad x with 0 as rows_independent
"""


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@pytest.mark.parametrize("entry", [sd.compile, sd.dispatch], ids=["compile", "dispatch"])
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"backend": "egaer"}, RuntimeError, "egaer"),
        ({"backend": 3}, TypeError, "backend= is a name or a callable, not 3"),
        ({"mode": "reduce-overheads"}, RuntimeError, "reduce-overheads"),
        ({"options": {"max_autotunes": True}}, RuntimeError, "max_autotunes"),
    ],
    ids=["name of a backend", "no backend", "mode", "options"],
)
def test_what_torch_does_not_know_is_no_artifact_that_fails(
    entry: Callable[..., Any], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        entry(double, SPEC, **options)


def test_an_unknown_option_is_told_by_the_name_of_what_was_called() -> None:
    with pytest.raises(TypeError, match=r"^dispatch\(\) got an unexpected keyword argument 'bakend'$"):
        sd.dispatch(double, SPEC, bakend="eager")
    with pytest.raises(TypeError, match=r"^dispatch\(\) takes no dynamic="):
        sd.dispatch(double, SPEC, dynamic=True)


@pytest.mark.parametrize("call", [sd.dispatch, sd.check_padding], ids=["dispatch", "check_padding"])
@pytest.mark.parametrize(
    ("unpad", "message"),
    [
        (double, "unpad= maps paths to functions"),
        ({"return": 3}, r"unpad\['return'\] is a function of an output and sizes, not 3"),
        ({1: double}, "a key of unpad= is a path"),
    ],
    ids=["function", "no function", "no path"],
)
def test_unpad_maps_paths_to_functions(call: Callable[..., Any], unpad: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(double, SPEC, unpad=unpad)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": -1}, ValueError, "n= is a count, not -1"),
        ({"n": "3"}, TypeError, "n= is a whole number, not '3'"),
        ({"tolerance": "1e-3"}, TypeError, "tolerance= is a number, not '1e-3'"),
        ({"tolerance": float("nan")}, ValueError, "tolerance= is a number, 0 or more, not nan"),
        ({"sizes": [("B", 3)]}, TypeError, "sizes are given by name"),
        ({"sizes": {"B": "3"}}, TypeError, "`B` is a size"),
        ({"examples": [torch.ones(3, 4)]}, TypeError, "each of examples= is a call"),
    ],
    ids=["n", "text for n", "text for tolerance", "nan", "list of sizes", "text for a size", "no call"],
)
def test_a_padding_check_tells_what_is_wrong(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sd.check_padding(double, SPEC, **options)


def test_a_padding_check_of_no_calls_checks_nothing() -> None:
    report = sd.check_padding(double, SPEC, examples=[])
    assert not report.passed
    assert not report.trials


def test_a_padding_check_tells_why_sizes_that_are_given_make_no_call() -> None:
    with pytest.raises(sd.ShapeError) as refused:
        sd.check_padding(double, SPEC, sizes={"B": 300})
    assert refused.value.code == "shape-violation"
    assert refused.value.diagnostics[0].helps == ("the nearest sizes that fit: B = 32",)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"limit": 0}, ValueError, "limit= is a count from 1, not 0"),
        ({"limit": "x"}, TypeError, "limit= is a whole number, not 'x'"),
        ({"path": 3}, TypeError, "a profile is saved to a path, not to 3"),
        ({"path": "calls-{ranks}.json"}, ValueError, r"\{ranks\} is nothing that a path can have"),
    ],
    ids=["limit", "text for limit", "no path", "braces"],
)
def test_observe_refuses_before_there_are_calls(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sd.observe(**options)


def test_a_profile_and_what_warms_show_themselves_without_their_parts() -> None:
    seen = sd.observe(double)
    for rows in (1, 2, 2):
        seen(torch.ones(rows, 4))
    assert repr(seen.profile) == f"<Profile of {seen.profile.name}: 3 calls, 2 different>"
    warming = sd.dispatch(double, SPEC, backend="eager").warm(background=True)
    assert warming.wait()
    assert repr(warming) == "Warming(total=2, made=2, failed=0, skipped=(), error=None)"


def test_a_picture_is_svg_and_a_fixed_size_needs_a_map(tmp_path: Path) -> None:
    seen = sd.observe(double)
    seen(torch.ones(2, 4))
    seen.save(tmp_path / "calls.json")
    (tmp_path / "f.shapes").write_text(SPEC)
    result = run("plot", tmp_path / "calls.json", tmp_path / "f.shapes", "-o", tmp_path / "f.png")
    assert result.exit_code == 2
    assert "does not end with .svg" in result.stderr
    assert not (tmp_path / "f.png").exists()
    result = run("plot", tmp_path / "calls.json", "--at", "B=3")
    assert result.exit_code == 2
    assert "--at is for a map" in result.stderr


@pytest.fixture
def leaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of a function that ends the process."""
    (tmp_path / "leaving_module.py").write_text("import sys\n\n\ndef f(x):\n    sys.exit(0)\n")
    (tmp_path / "f.shapes").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "leaving_module", raising=False)
    return "leaving_module"


def test_a_callable_that_ends_the_process_gives_no_verdict(leaving: str) -> None:
    result = run("check-padding", f"{leaving}:f", "f.shapes")
    assert result.exit_code == 2
    assert "ended the process, with 0" in result.stderr


def test_without_a_file_a_callable_needs_annotations(leaving: str) -> None:
    result = run("check-padding", f"{leaving}:f")
    assert result.exit_code == 2
    assert "has no spec: annotate it, or name a FILE[:SPEC]" in result.stderr


def test_a_file_in_place_of_a_module_is_told(leaving: str) -> None:
    result = run("check-padding", f"{leaving}.py:f", "f.shapes")
    assert result.exit_code == 2
    assert "`leaving_module.py` is no module: name `leaving_module:f`" in result.stderr
