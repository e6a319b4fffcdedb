"""``shapedsl cure``: patches, files that are changed, exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="curing traces")
pytest.importorskip("torch.fx.experimental.dynamic_spec", reason="curing needs a torch with specs")

from tests.cli.helpers import run

MODULE = """
import torch
from shapedsl import shapes

class Net(torch.nn.Module):
    def forward(self, x):
        return x.sum(1) if x.shape[1] > 1 else x[:, 0]

net = Net().eval()

def make():
    return net

def repeat(x):
    for _ in range(x.shape[0]):
        x = x + 1
    return x

@shapes(x="B, S")
def annotated(x):
    return x.sum(1) if x.shape[1] > 1 else x[:, 0]

def plain(x):
    return x

def quits(x):
    raise SystemExit(0)

calls = [((torch.ones(2, 5),), {})]
no_calls = []
"""
SPEC = """\
# the file
dim B in [1, 64] hint 4

def Net.forward(x: float32[B, S]) -> float32[B]:
    where S <= 512   # the position table

def repeat(x: float32[B, S]): ...

def plain(x: float32[B, S]): ...

def sized(x: float32[B, D]): ...

const D = _
"""
CURED = SPEC.replace(
    "    where S <= 512   # the position table\n",
    "    where S <= 512   # the position table\n    where S >= 2  # cured_net.py:7 asks whether `S > 1`\n"
    "    # S <= 1 is left out; `case S <= 1` would serve it\n",
)
ONE = ("--entry", "export")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "cured_net.py").write_text(MODULE)
    (tmp_path / "net.shapes").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    sys.modules.pop("cured_net", None)


def test_a_patch_is_printed_and_the_file_left_alone(folder: Path) -> None:
    result = run("cure", "cured_net:net", "net.shapes:Net.forward", *ONE)
    assert result.exit_code == 1
    assert "+    where S >= 2  # cured_net.py:7 asks whether `S > 1`\n" in result.stdout
    assert result.stdout.startswith("--- net.shapes\n+++ net.shapes\n")
    assert "is cured: 2 traces by export" in result.stderr
    assert (folder / "net.shapes").read_text() == SPEC


def test_a_file_is_changed_once(folder: Path) -> None:
    (folder / "net.shapes").write_bytes(b"\xef\xbb\xbf" + SPEC.encode())
    result = run("cure", "cured_net:Net", "net.shapes:Net.forward", "--write", *ONE)
    assert result.exit_code == 0
    assert "changed net.shapes" in result.output
    assert (folder / "net.shapes").read_bytes() == b"\xef\xbb\xbf" + CURED.encode()
    result = run("cure", "cured_net:make()", "net.shapes:Net.forward", "--write", *ONE)
    assert result.exit_code == 0
    assert "needs no cure" in result.output
    assert (folder / "net.shapes").read_bytes() == b"\xef\xbb\xbf" + CURED.encode()
    assert run("check", "net.shapes").output.endswith("no findings\n")


def test_a_file_that_was_changed_meanwhile_is_left_alone(folder: Path) -> None:
    changing = MODULE + '\nopen("net.shapes", "a").write("# mine\\n")\n'
    (folder / "cured_net.py").write_text(changing)
    result = run("cure", "cured_net:net", "net.shapes:Net.forward", "--write", *ONE)
    assert result.exit_code == 2
    assert "'net.shapes' was changed while it was cured; cure it again." in result.stderr
    assert (folder / "net.shapes").read_text() == SPEC + "# mine\n"


def test_a_link_stays_a_link_and_a_file_of_windows_one(folder: Path) -> None:
    (folder / "net.shapes").write_bytes(SPEC.replace("\n", "\r\n").encode())
    (folder / "link.shapes").symlink_to("net.shapes")
    result = run("cure", "cured_net:net", "link.shapes:Net.forward", "--write", *ONE)
    assert result.exit_code == 0
    assert (folder / "link.shapes").is_symlink()
    assert (folder / "net.shapes").read_bytes() == CURED.replace("\n", "\r\n").encode()


def test_cases_serve_what_is_left_out(folder: Path) -> None:
    result = run("cure", "cured_net:net", "net.shapes:Net.forward", "--cases", "--write", *ONE)
    assert result.exit_code == 0
    text = (folder / "net.shapes").read_text()
    assert (
        "    where S >= 1  # cured_net.py:7 needs it\n    case S == 1\n    otherwise:\n        where S >= 2  # cured_net.py:7"
        in text
    )
    assert run("check", "--strict", "net.shapes").exit_code == 0


def test_a_size_becomes_static_where_that_is_allowed(folder: Path) -> None:
    result = run("cure", "cured_net:repeat", "net.shapes", "--write", *ONE)
    assert result.exit_code == 1
    assert "proposed for export: the number `B` itself is needed" in result.output
    assert (folder / "net.shapes").read_text() == SPEC
    result = run("cure", "cured_net:repeat", "net.shapes", "--static", "B", "--write", *ONE)
    assert result.exit_code == 0
    changed = SPEC.replace("S]): ...\n\ndef plain", "S]):\n    const B in [1, 64] = _\n\ndef plain")
    assert (folder / "net.shapes").read_text() == changed


def test_annotations_get_a_decorator(folder: Path) -> None:
    result = run("cure", "cured_net:annotated", *ONE)
    assert result.exit_code == 1
    assert result.stdout.startswith('@where(\n    "S >= 2",  # cured_net.py:')
    assert run("cure", "cured_net:annotated", "--write").exit_code == 2


def test_the_report_is_data(folder: Path) -> None:
    result = run("cure", "cured_net:net", "net.shapes:Net.forward", "--format", "json", *ONE)
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert (data["cured"], data["written"], data["traces"]) == (True, False, {"export": 2})
    assert data["steps"][0]["added"] == ["S >= 2"]
    result = run("cure", "cured_net:plain", "net.shapes", "--format", "json", *ONE)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["patch"] == ""


def test_sizes_and_calls_are_taken(folder: Path) -> None:
    result = run("cure", "cured_net:plain", "net.shapes:sized", *ONE)
    assert result.exit_code == 2
    assert "missing-input" in result.output
    assert run("cure", "cured_net:plain", "net.shapes:sized", "--size", "D=4", *ONE).exit_code == 0
    assert run("cure", "cured_net:plain", "net.shapes:sized", "--examples", "cured_net:calls", *ONE).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["cured_net:nope", "net.shapes"], "has no `nope`"),
        (["cured_net", "net.shapes"], "names no object"),
        (["cured_net:plain"], "no spec"),
        (["cured_net:plain", "gone.shapes"], "gone.shapes"),
        (["cured_net:plain", "net.shapes:gone"], "no spec `gone`"),
        (["cured_net:plain", "net.shapes", "--static", "Q"], "no size `Q`"),
        (["cured_net:plain", "net.shapes", "--entry", "onnx"], "onnx"),
        (["cured_net:plain", "net.shapes", "--traces", "0"], "0"),
        (["cured_net:plain", "net.shapes", "--examples", "cured_net:no_calls"], "holds no calls"),
        (["cured_net:quits", "net.shapes:plain"], "ended the process"),
        (["cured_net:plain", "-", "--write"], "standard input"),
    ],
)
def test_misuse(folder: Path, arguments: list[str], told: str) -> None:
    result = run("cure", *arguments)
    assert result.exit_code == 2
    assert told in result.output


def test_a_wrong_file(folder: Path) -> None:
    (folder / "wrong.shapes").write_text("def plain(x: float32[B]): where B > 3, B < 2\n")
    result = run("cure", "cured_net:plain", "wrong.shapes")
    assert result.exit_code == 1
    assert "error[contradiction]" in result.output


def test_sizes_that_the_spec_has_not_are_told(folder: Path) -> None:
    result = run("cure", "--size", "Q=3", "cured_net:plain", "net.shapes")
    assert result.exit_code == 2, result.output
    assert "error[unknown-name]: `plain` has no size and no parameter `Q`" in result.stderr


def test_what_ends_a_trace_has_its_line(folder: Path) -> None:
    (folder / "cured_net.py").write_text(MODULE + "\ndef plain(x):\n    raise RuntimeError('no weights')\n")
    result = run("cure", "--entry", "export", "cured_net:plain", "net.shapes")
    assert result.exit_code == 1, result.output
    assert "export fails: RuntimeError: no weights (" in result.stdout
    assert "in plain: raise RuntimeError(" in result.stdout
