"""``shapedsl verify``: the exit code says whether artifacts keep a spec and compute what the original does."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="it exports and compiles")

from tests.cli.helpers import run

MODULE = """
import torch
from shapedsl import shapes
from torch.export import Dim, export

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4, 3))

    def forward(self, x):
        return torch.nn.functional.dropout(x @ self.weight, 0.5, self.training)

def add(x, y):
    return x + y

def scaled(x):
    return x * 2 if x.shape[0] > 10 else x * 3

def noise(x):
    return x + torch.rand(())

def static(x, n):
    return x * n

@shapes(x="B, 2", returns="B, 2")
def annotated(x):
    return x * 2

calls = [((torch.ones(5), 2), {})]

def program():
    return export(Net().eval(), (torch.ones(3, 4),), dynamic_shapes=({0: Dim("B", max=64)},))

def ends():
    raise SystemExit(0)

def fails(x):
    raise RuntimeError("no\\nweights")

numbers = [1, 2]
"""
SPEC = """
def Net.forward(x: float32[B, 4]) -> float32[B, 3]:
    where B <= 64

def add(x: float32[A], y: float32[B]) -> float32[A]: ...

def scaled(x: float32[B]) -> float32[B]:
    case small: B <= 10
    case large: B > 10 backed
    otherwise eager

def noise(x: float32[B]): ...

def static(x: float32[_], n: Scalar): ...

def unkept(x: float32[B]) -> float32[B + 1]: ...

def fails(x: float32[B]): ...
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "verified_net.py").write_text(MODULE)
    (tmp_path / "net.shapes").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("verified_net", None)


def test_what_is_kept_exits_with_0(folder: Path) -> None:
    del folder
    found = run("verify", "--backend", "eager", "--samples", "3", "verified_net:Net", "net.shapes:Net.forward")
    assert found.exit_code == 0, found.output
    assert "Net.forward: the exported program keeps all 5 promises" in found.output
    assert "  kept  return.shape[1] == 3" in found.output
    assert "the function compiled with eager keeps" in found.output
    assert "3 calls, 3 the same" in found.output


def test_what_is_narrowed_exits_with_1_unless_it_is_allowed(folder: Path) -> None:
    del folder
    command = ["verify", "--backend", "export", "--samples", "0", "verified_net:add", "net.shapes"]
    found = run(*command)
    assert found.exit_code == 1
    assert "error[merged-dims]: the program made `x.shape[0]` and `y.shape[0]` one size: `A == B`" in found.output
    assert "compiled with" not in found.output
    assert run(*command, "--allow", "merged-dims").exit_code == 0


def test_each_alternative_is_verified_and_its_own_lowering_counts(folder: Path) -> None:
    del folder
    found = run(
        "verify", "--backend", "eager", "--samples", "2", "--format", "json", "verified_net:scaled", "net.shapes"
    )
    assert found.exit_code == 0, found.output
    data = json.loads(found.stdout)
    assert data["kept"] is True
    assert data["undecided"] is False
    kinds = [each["artifact"] for each in data["artifacts"]]
    assert kinds == [
        "exported program of `case small`",
        "exported program of `case large`",
        "function compiled with eager",
    ]
    assert [each["samples"]["compared"] for each in data["artifacts"]] == [2, 2, 4]
    found = run("verify", "--backend", "export", "--case", "large", "verified_net:scaled", "net.shapes")
    assert found.exit_code == 0
    assert "kept  B >= 11" in found.output or "kept  B > 10" in found.output
    found = run("verify", "--backend", "export", "--case", "otherwise", "verified_net:scaled", "net.shapes")
    assert found.exit_code == 2


def test_another_lowering_is_said(folder: Path) -> None:
    (folder / "one.shapes").write_text("def scaled(x: float32[B]) -> float32[B]: where B <= 40\n")
    found = run("verify", "--backend", "eager", "verified_net:scaled", "one.shapes")
    assert found.exit_code == 1
    assert "error[data-dependent]" in found.output
    assert "error[failed-artifact]: `all sizes` of `scaled` cannot be compiled with eager" in found.output
    assert "--lowering" in found.output
    found = run("verify", "--backend", "eager", "--lowering", "auto", "verified_net:scaled", "one.shapes")
    assert found.exit_code == 1  # no program is for both sides; a compiled function has a graph for each
    assert "error[extra-assumption]" in found.output
    assert "failed-artifact" not in found.output
    assert "note: backed: the program asks whether `B > 10`" in found.output


def test_what_cannot_be_compared_is_undecided(folder: Path) -> None:
    del folder
    command = ["verify", "--backend", "export", "--samples", "2", "verified_net:noise", "net.shapes"]
    found = run(*command)
    assert found.exit_code == 3
    assert "the original draws random numbers" in found.output
    assert run(*command, "--strict").exit_code == 1


def test_a_wrong_claim_is_refuted(folder: Path) -> None:
    del folder
    found = run("verify", "--backend", "export", "verified_net:annotated", "net.shapes:unkept")
    assert found.exit_code in (1, 2)
    (Path.cwd() / "claim.shapes").write_text("def annotated(x: float32[B, 2]) -> float32[B + 1, 2]: ...\n")
    found = run("verify", "--backend", "export", "--samples", "0", "verified_net:annotated", "claim.shapes")
    assert found.exit_code == 1
    assert "error[return-mismatch]" in found.output
    assert run("verify", "--backend", "export", "--samples", "0", "verified_net:annotated").exit_code in (0, 2)


def test_programs_and_files(folder: Path) -> None:
    import torch

    found = run("verify", "verified_net:program()", "net.shapes:Net.forward", "--against", "verified_net:Net")
    assert found.exit_code == 0, found.output
    assert "8 calls, 8 the same" in found.output
    torch.export.save(sys.modules["verified_net"].program(), folder / "net.pt2")
    (folder / "narrow.shapes").write_text("def forward(x: float32[B, 4]) -> float32[B, 3]: where B <= 32\n")
    found = run("verify", "net.pt2", "narrow.shapes")
    assert found.exit_code == 1
    assert "error[lost-assumption]" in found.output
    assert "accepts B = 33" in found.output
    assert run("verify", "missing.pt2", "narrow.shapes").exit_code == 2


def test_static_parts_need_examples(folder: Path) -> None:
    del folder
    found = run("verify", "--backend", "export", "verified_net:static", "net.shapes")
    assert found.exit_code == 2
    assert "missing-input" in found.output
    found = run(
        "verify", "--backend", "export", "--examples", "verified_net:calls", "verified_net:static", "net.shapes"
    )
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("verified_net:add", "missing.shapes"), "missing.shapes"),
        (("verified_net:gone", "net.shapes"), "`verified_net` has no `gone`"),
        (("verified_net", "net.shapes"), "write MODULE:OBJECT"),
        (("nowhere:add", "net.shapes"), "nowhere"),
        (("verified_net:add",), "has no spec"),
        (("verified_net:calls", "net.shapes:add"), "is nothing that can be called"),
        (("--backend", "none", "verified_net:add", "net.shapes"), "torch has no backend 'none'"),
        (("--case", "gone", "verified_net:scaled", "net.shapes"), "gone"),
        (("verified_net:ends()", "net.shapes"), "ended the process"),
        (("--lowering", "dynamic", "verified_net:add", "net.shapes"), "--lowering"),
    ],
)
def test_misuse_exits_with_2(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    del folder
    found = run("verify", *arguments)
    assert found.exit_code == 2, found.output
    assert said in found.output


def test_what_cannot_be_exported_is_a_finding(folder: Path) -> None:
    result = run("verify", "--backend", "export", "verified_net:fails", "net.shapes")
    assert result.exit_code == 1, result.output
    assert "error[failed-artifact]: `all sizes` of `fails` cannot be exported" in result.stdout
    assert ", in fails: raise RuntimeError(" in result.stdout
    assert "RuntimeError: no\n" in result.stdout
    assert "fails: no promise of the exported program was decided" in result.stdout
    assert "Traceback" not in result.output


@pytest.mark.parametrize("content", [b"nothing", b"PK\x05\x06" + bytes(18)])
def test_files_that_are_no_artifacts_are_told(folder: Path, content: bytes) -> None:
    (folder / "net.pt2").write_bytes(content)
    result = run("verify", "net.pt2", "net.shapes:add")
    assert result.exit_code == 2, result.output
    assert "error[unreadable-file]: `net.pt2` is no exported program, no AOTInductor package" in result.stderr
    script = run("verify", "verified_net.py", "net.shapes:add")
    assert script.exit_code == 2
    assert "help: name an object of a module: `verified_net:NAME`" in script.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--examples", "verified_net:numbers"], "`verified_net:numbers` holds no calls: each is (args, kwargs)"),
        (["--against", "verified_net:add"], "`verified_net:annotated` is compared with itself"),
    ],
)
def test_what_would_be_ignored_or_fail_inside_is_misuse(folder: Path, options: list[str], said: str) -> None:
    result = run("verify", "--backend", "export", *options, "verified_net:annotated")
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.stderr.split())


def test_a_spec_that_nothing_satisfies_is_an_error_and_no_verdict(folder: Path) -> None:
    (folder / "wrong.shapes").write_text("def annotated(x: Tensor[B, 2]):\n    where B < 3, B > 5\n")
    result = run("verify", "--backend", "export", "verified_net:annotated", "wrong.shapes")
    assert result.exit_code == 1, result.output
    assert "error[contradiction]: no shape satisfies this spec" in result.stderr
