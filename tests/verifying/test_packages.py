"""What packages check, read off the C++ that AOTInductor generated; `test_planted` compiles one and calls it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="packages are torch's")

import shapedsl as sd

DATA = Path(__file__).with_name("data")
VARIABLE = "AOTI_RUNTIME_CHECK_INPUTS"
RETURN = '{"s": Tensor[B, S - 1], "q": (Tensor[2 * C, 4], Tensor[2 * B, S]), "n": float32[B, S], "z": int64[Z, 2]}'
# The program was, for both: x[:, 1:] + d["p"].sum(), (y.view(-1, 4), cat([x, x])), x, nonzero(d["p"]).
SPEC = f"""\
def net(x: Tensor[B, S], y: Tensor[4 * C, 2], d: {{"p": Tensor[S, 3]}}, unused: Tensor[B, 7], k: _ = _) -> {RETURN}:
    where 1 <= B <= 32, S % 3 != 1, S >= 2, C >= 1, B < S or B >= S + 3
"""


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def package(tmp_path: Path, *sources: str, model: str = "model") -> Path:
    """Returns a file like those of torch, with the C++ and without the machine code."""
    path = tmp_path / "net.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/archive_format", "pt2")
        for at, source in enumerate(sources):
            name = model if at == 0 else f"{model}{at}"
            archive.writestr(f"net/data/aotinductor/{name}/c{at}.wrapper.so", b"")
            archive.writestr(f"net/data/aotinductor/{name}/c{at}.wrapper.cpp", (DATA / source).read_bytes())
    return path


def status(report: sd.Verification) -> dict[str, str]:
    return {each.what: each.status for each in report.all}


def test_a_package_checks_what_its_graph_asserts(tmp_path: Path) -> None:
    path = package(tmp_path, "unbacked.cpp")
    report = sd.verify(path, SPEC, raises=False)
    assert status(report) == {
        "y.shape[0] == 4 * C": "kept",
        "y.shape[1] == 2": "lost",
        'd["p"].shape[0] == S': "lost",
        'd["p"].shape[1] == 3': "lost",
        "unused.shape[0] == B": "lost",
        "unused.shape[1] == 7": "lost",
        "B >= 1": "kept",
        "B <= 32": "kept",
        "S % 3 != 1": "kept",
        "S >= 2": "kept",
        "C >= 1": "kept",
        "C >= 0": "kept",
        "B < S or B >= S + 3": "kept",
        'return["s"].shape[0] == B': "kept",
        'return["s"].shape[1] == S - 1': "kept",
        'return["q"][0].shape[0] == 2 * C': "kept",
        'return["q"][0].shape[1] == 4': "kept",
        'return["q"][1].shape[0] == 2 * B': "kept",
        'return["q"][1].shape[1] == S': "kept",
        'return["n"] is float32': "kept",
        'return["n"].shape[0] == B': "kept",
        'return["n"].shape[1] == S': "kept",
        'return["z"] is int64': "kept",
        'return["z"].shape[0] == Z': "kept",
        'return["z"].shape[1] == 2': "kept",
    }
    assert report.remarks == ("a package checks neither equal sizes nor numbers, ranks, dtypes and strides",)
    with pytest.raises(sd.ShapeError) as error:
        sd.verify(path, SPEC)
    assert error.value.code == "lost-assumption"
    assert f"or set {VARIABLE}=1 before it is called first" in error.value.diagnostics[0].helps


def test_the_variable_makes_it_check_inputs_but_for_what_it_never_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = package(tmp_path, "unbacked.cpp")
    monkeypatch.setenv(VARIABLE, "1")
    report = sd.verify(path, SPEC, raises=False)
    # the range of an unused input is checked, that it is another's size is not
    assert {what for what, found in status(report).items() if found != "kept"} == {"unused.shape[0] == B"}
    monkeypatch.setenv(VARIABLE, "0")
    assert status(sd.verify(path, SPEC, raises=False))["y.shape[1] == 2"] == "lost"


def test_a_package_of_backed_sizes_checks_nothing_and_is_for_less(tmp_path: Path) -> None:
    report = sd.verify(package(tmp_path, "backed.cpp"), SPEC, raises=False)
    found = status(report)
    assert {what for what, how in found.items() if how == "narrowed"} == {"B >= 2", "S >= 4", "C >= 2"}
    assert {found[what] for what in ("B <= 32", "S % 3 != 1", "y.shape[0] == 4 * C")} == {"lost"}
    assert {each.status for each in report.returns} == {"kept"}
    wrong = sd.verify(package(tmp_path, "backed.cpp"), SPEC.replace("[2 * C, 4]", "[C, 4]"), raises=False)
    assert [each.what for each in wrong.returns if each.status == "refuted"] == ['return["q"][0].shape[0] == C']


@pytest.mark.parametrize(
    ("sources", "spec", "message"),
    [
        ((), SPEC, "there is no C++|takes a program"),
        (("unbacked.cpp", "backed.cpp"), SPEC, "holds several models"),
        (("unbacked.cpp",), SPEC.replace("unused: Tensor[B, 7]", "unused: _"), "the spec does not say which"),
        (("unbacked.cpp",), SPEC.replace("Tensor[B, S], y", "Tensor[B, S, 2], y"), "rank|dims"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, sources: tuple[str, ...], spec: str, message: str) -> None:
    path = package(tmp_path, *sources, model="other" if len(sources) > 1 else "model")
    if not sources:
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("net/data/aotinductor/model/c.wrapper.so", b"")
    with pytest.raises(sd.ShapeError, match=message):
        sd.verify(path, spec)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file `nowhere\.pt2`"):
        sd.verify("nowhere.pt2", SPEC)
