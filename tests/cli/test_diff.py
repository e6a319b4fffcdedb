"""``shapedsl diff``: files, git, code; findings, formats and exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .helpers import process, run

OLD = """\
dim B in [0, 1024] hint 8
def f(x: Tensor[B, D]) -> Tensor[B]:
    where D % 8 == 0
def g(x: Tensor[B]): ...
"""
NARROWER = OLD.replace("1024", "512").replace("B", "N")
WIDER = OLD.replace("1024", "2048").replace("hint 8", "hint 16")

CODE = """\
import shapedsl as sd
from shapedsl.dims import B, D

@sd.shapes
def f(x: sd.Tensor[B, D], scale=1) -> sd.Tensor[B]: ...

class Net:
    @sd.shapes
    def forward(self, x: sd.Tensor[B, B]): ...
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("old", OLD), ("narrower", NARROWER), ("wider", WIDER)):
        (tmp_path / f"{name}.shapes").write_text(text)
    return tmp_path


@pytest.mark.usefixtures("folder")
class TestFiles:
    def test_equal_up_to_names(self) -> None:
        Path("renamed.shapes").write_text(OLD.replace("B", "batch"))
        result = run("diff", "old.shapes", "renamed.shapes")
        assert (result.exit_code, result.output) == (0, "equal\n")

    def test_breaking(self) -> None:
        result = run("diff", "old.shapes", "narrower.shapes")
        assert result.exit_code == 1
        assert result.output.startswith(
            """\
error[breaking-change]: `f`: `N <= 512` is demanded now, it was `B <= 1024`
  --> narrower.shapes:1:10
 1 | dim N in [0, 512] hint 8
   |          ^^^^^^^^ now
  ::: old.shapes:1:10
 1 | dim B in [0, 1024] hint 8
   |          --------- in the old version
   = witness: B = 513, D = 0
   = note: the old version accepts x of shape (513, 0)
"""
        )
        assert result.output.endswith("\nnarrower: 2 breaking\n")

    def test_not_breaking(self) -> None:
        result = run("diff", "--format", "concise", "old.shapes", "wider.shapes")
        assert (result.exit_code, result.output) == (
            0,
            """\
wider.shapes:1:10: note[compatible-change] `f`: `B <= 1024` is no longer demanded, only `B <= 2048`
wider.shapes:1:5: note[compatible-change] `f`: the hint of `B` is 16, it was 8
wider.shapes:1:10: note[compatible-change] `g`: `B <= 1024` is no longer demanded, only `B <= 2048`
wider.shapes:1:5: note[compatible-change] `g`: the hint of `B` is 16, it was 8
""",
        )

    def test_added_and_removed_specs(self) -> None:
        Path("new.shapes").write_text(OLD.replace("def g", "def h"))
        result = run("diff", "--format", "concise", "old.shapes", "new.shapes")
        assert (result.exit_code, result.output) == (
            1,
            "old.shapes:4:5: error[breaking-change] the spec `g` is gone\n"
            "new.shapes:4:5: note[compatible-change] the spec `h` is new\n",
        )

    def test_one_spec_of_each(self) -> None:
        assert run("diff", "old.shapes:g", "old.shapes:g").output == "equal\n"
        result = run("diff", "--format", "concise", "old.shapes:f", "old.shapes:g")
        assert result.exit_code == 1
        assert "`x` has 2 dims, expected 1" in result.output

    def test_numbered_specs_are_told_apart(self) -> None:
        Path("two.shapes").write_text("def f(x: Tensor[B]): ...\ndef f@2(x: Tensor[B, D]): ...\n")
        Path("new.shapes").write_text("def f(x: Tensor[B]): ...\ndef f@2(x: Tensor[B, B]): ...\n")
        result = run("diff", "--format", "concise", "two.shapes", "new.shapes")
        assert "`f@2`: `x.shape[1] == B` is demanded now" in result.output

    def test_standard_input(self) -> None:
        assert run("diff", "-", "old.shapes", text=OLD).exit_code == 0
        assert run("diff", "-", "old.shapes", text=WIDER).exit_code == 1

    def test_consts_hold_for_both(self) -> None:
        Path("a.shapes").write_text("const LIMIT = 8\ndef f(x: Tensor[B]): where B <= LIMIT\n")
        Path("b.shapes").write_text("const LIMIT = 4\ndef f(x: Tensor[B]): where B <= LIMIT\n")
        assert run("diff", "a.shapes", "b.shapes").exit_code == 1
        assert run("diff", "--const", "LIMIT=6", "a.shapes", "b.shapes").exit_code == 0

    def test_json(self) -> None:
        result = run("diff", "--format", "json", "old.shapes:g", "narrower.shapes:g")
        (finding,) = json.loads(result.output)["diagnostics"]
        assert (finding["code"], finding["severity"]) == ("breaking-change", "error")
        assert finding["witness"] == {"B": 513}

    @pytest.mark.parametrize("format_", ["github", "sarif"])
    def test_other_formats(self, format_: str) -> None:
        result = run("diff", "--format", format_, "old.shapes", "narrower.shapes")
        assert result.exit_code == 1
        assert "breaking-change" in result.output

    def test_undecided(self) -> None:
        """It is true that nothing breaks, but hard to know: Fermat's last theorem for cubes."""
        Path("a.shapes").write_text("def f(x: Tensor[A, B, C]): where A*A*A + B*B*B == C*C*C\n")
        Path("b.shapes").write_text("def f(x: Tensor[A, B, C]): where A*A*A + B*B*B == C*C*C, A*B == 0\n")
        result = run("diff", "a.shapes", "b.shapes")
        assert result.exit_code == 3
        assert (
            "warning[undecided]: `f`: it could not be decided whether the new version breaks callers" in result.output
        )
        assert "`A*B == 0`" in result.output
        assert result.output.endswith("\nunknown\n")
        assert run("diff", "b.shapes", "a.shapes").exit_code == 0  # nothing breaks; only what is gained is not known


@pytest.mark.usefixtures("folder")
class TestMisuse:
    def test_numbers_of_versions(self) -> None:
        assert run("diff", "old.shapes").exit_code == 2
        assert run("diff", "old.shapes", "old.shapes", "old.shapes").exit_code == 2
        assert run("diff", "-", "-", text=OLD).exit_code == 2

    def test_no_such_file(self) -> None:
        result = run("diff", "old.shapes", "nowhere.shapes")
        assert result.exit_code == 2
        assert "cannot read `nowhere.shapes`" in result.output

    def test_a_version_that_cannot_be_read(self) -> None:
        Path("broken.shapes").write_text("def f(x: Tensor[B):\n")
        result = run("diff", "old.shapes", "broken.shapes")
        assert result.exit_code == 2
        assert "breaking-change" not in result.output

    def test_no_such_spec(self) -> None:
        result = run("diff", "old.shapes:h", "wider.shapes")
        assert result.exit_code == 2
        assert "there is no spec `h`" in result.output

    def test_neither_file_nor_module(self) -> None:
        result = run("diff", "old.shapes", "no_such_module")
        assert result.exit_code == 2
        assert "neither a file nor a module" in result.output


class TestCode:
    def test_a_function(self, folder: Path) -> None:
        (folder / "code.py").write_text(CODE)
        done = process("diff", "--format", "concise", "old.shapes", "code:f", cwd=folder)
        lines = done.stdout.decode().splitlines()
        assert done.returncode == 0, done
        assert [line.partition("] ")[2] for line in lines] == [
            "`f`: `B <= 1024` is no longer demanded",
            "`f`: `D % 8 == 0` is no longer demanded",
            "`f`: `B` has no hint any more, it was 8",
        ]

    def test_a_module(self, folder: Path) -> None:
        (folder / "code.py").write_text(CODE)
        (folder / "both.shapes").write_text(
            "def f(x: Tensor[B, D]) -> Tensor[B]: ...\ndef Net.forward(x: Tensor[B, D]): ...\n"
        )
        done = process("diff", "--format", "concise", "both.shapes", "code", cwd=folder)
        assert done.returncode == 1, done
        assert b"`Net.forward`: `x.shape[1] == B` is demanded now" in done.stdout
        assert b"`f`" not in done.stdout

    def test_code_against_a_file(self, folder: Path) -> None:
        (folder / "code.py").write_text(CODE)
        done = process("diff", "--format", "concise", "code:f", "old.shapes:f", cwd=folder)
        assert done.returncode == 1
        assert b"`B <= 1024` is demanded now" in done.stdout

    def test_a_class_is_called_by_forward(self, folder: Path) -> None:
        (folder / "code.py").write_text(CODE)
        (folder / "two.shapes").write_text(OLD + "def Net.forward(x: Tensor[B, B]): ...\n")
        done = process("diff", "two.shapes", "code:Net", cwd=folder)
        assert done.stdout.endswith(b"\nwider: 2 compatible\n"), done

    @pytest.mark.parametrize("format_", ["concise", "full", "json", "github", "sarif"])
    def test_places_in_code_are_named_from_the_current_folder(self, folder: Path, format_: str) -> None:
        (folder / "loud.py").write_text("print('loud')\n" + CODE.replace("Tensor[B, D]", "Tensor[D]"))
        done = process("diff", "--format", format_, "old.shapes:f", "loud:f", cwd=folder)
        assert done.returncode == 1
        assert b"loud.py" in done.stdout
        assert str(folder).encode() not in done.stdout
        assert b"loud\n" not in done.stdout  # what a module prints

    @pytest.mark.parametrize(
        ("target", "said"),
        [
            ("code.py:f", "`code.py` is Python, which is named as a module: `code` or `code:FUNCTION`"),
            ("code:D", "is nothing that can be called"),
        ],
    )
    def test_code_that_is_named_wrong(self, folder: Path, target: str, said: str) -> None:
        (folder / "code.py").write_text("D = 3\n")
        done = process("diff", "old.shapes", target, cwd=folder)
        assert done.returncode == 2
        assert said in done.stderr.decode()

    def test_code_that_fails(self, folder: Path) -> None:
        (folder / "bad.py").write_text("1 / 0\n")
        done = process("diff", "old.shapes", "bad:f", cwd=folder)
        assert done.returncode == 2
        assert b"importing `bad` failed: ZeroDivisionError" in done.stderr

    def test_code_without_a_spec(self, folder: Path) -> None:
        (folder / "plain.py").write_text("def f(x): ...\n")
        done = process("diff", "old.shapes", "plain:f", cwd=folder)
        assert done.returncode == 2
        assert b"unknown-spec" in done.stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
class TestGit:
    @pytest.fixture(autouse=True)
    def repository(self, folder: Path) -> Path:
        (folder / "sub").mkdir()
        (folder / "sub" / "common.shapes").write_text("dim B in [0, 64]\n")
        (folder / "sub" / "net.shapes").write_text('from "common.shapes" import B\ndef f(x: Tensor[B]): ...\n')
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "first")
        return folder

    def git(self, *arguments: str) -> None:
        identity = {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(["git", *arguments], check=True, capture_output=True, env={**os.environ, **identity})

    def test_unchanged(self) -> None:
        assert run("diff", "--git", "HEAD", "old.shapes", "sub/net.shapes").output == "equal\n"

    def test_changed(self) -> None:
        Path("old.shapes").write_text(NARROWER)
        result = run("diff", "--git", "HEAD", "old.shapes")
        assert result.exit_code == 1
        assert "  ::: HEAD:old.shapes:1:10\n" in result.output

    def test_imports_are_those_of_the_revision(self) -> None:
        Path("sub/common.shapes").write_text("dim B in [0, 32]\n")
        result = run("diff", "--git", "HEAD", "--format", "concise", "sub/net.shapes")
        assert (result.exit_code, result.output) == (
            1,
            "sub/common.shapes:1:10: error[breaking-change] `f`: `B <= 32` is demanded now, it was `B <= 64`\n",
        )

    def test_from_a_folder_below(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir("sub")
        Path("common.shapes").write_text("dim B in [0, 128]\n")
        assert run("diff", "--git", "HEAD", "net.shapes:f").exit_code == 0

    def test_an_older_revision(self) -> None:
        Path("old.shapes").write_text(WIDER)
        self.git("commit", "--all", "--quiet", "--message", "second")
        assert run("diff", "--git", "HEAD", "old.shapes").output == "equal\n"
        assert run("diff", "--git", "HEAD~1", "old.shapes").output.endswith("\nwider: 4 compatible\n")

    @pytest.mark.parametrize("name", ["nowhere", "--output=x", "", "HEAD:old.shapes", "^HEAD", "HEAD..HEAD"])
    def test_no_such_revision(self, name: str) -> None:
        result = run("diff", f"--git={name}", "old.shapes")
        assert result.exit_code == 2
        assert f"has no revision `{name}`" in result.output
        assert not Path("x").exists()

    def test_an_imported_file_is_called_as_it_would_be_opened(self) -> None:
        Path("sub/net.shapes").write_text('from "../old.shapes" import B\ndef f(x: Tensor[B]): ...\n')
        self.git("commit", "--all", "--quiet", "--message", "second")
        Path("old.shapes").write_text(NARROWER.replace("N", "B"))
        result = run("diff", "--git", "HEAD", "--format", "github", "sub/net.shapes")
        assert "file=old.shapes,line=1," in result.output

    def test_a_new_file(self) -> None:
        Path("new.shapes").write_text(OLD)
        result = run("diff", "--git", "HEAD", "--format", "concise", "new.shapes")
        assert (result.exit_code, result.output) == (
            0,
            "new.shapes:2:5: note[compatible-change] the spec `f` is new\n"
            "new.shapes:4:5: note[compatible-change] the spec `g` is new\n",
        )

    def test_a_renamed_file(self) -> None:
        self.git("mv", "sub/net.shapes", "sub/nét é.shapes")
        renamed = Path("sub/nét é.shapes")
        renamed.write_text(renamed.read_text().replace("Tensor[B]", "Tensor[B, B]"))
        result = run("diff", "--git", "HEAD", renamed)
        assert result.exit_code == 1
        assert "  ::: HEAD:sub/net.shapes:2:" in result.output

    def test_no_such_file(self) -> None:
        result = run("diff", "--git", "HEAD", "missing.shapes")
        assert result.exit_code == 2
        assert "cannot read `missing.shapes` at `HEAD`: `HEAD` has no such file" in result.output

    def test_an_import_that_the_revision_lacks(self) -> None:
        Path("sub/common.shapes").unlink()
        self.git("rm", "--quiet", "sub/common.shapes")
        self.git("commit", "--quiet", "--message", "second")
        Path("sub/common.shapes").write_text("dim B in [0, 64]\n")
        result = run("diff", "--git", "HEAD", "sub/net.shapes")
        assert result.exit_code == 2
        assert "`HEAD` has no such file" in result.output

    def test_no_repository(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        other = tmp_path_factory.mktemp("none") / "f.shapes"
        other.write_text(OLD)
        result = run("diff", "--git", "HEAD", other)
        assert result.exit_code == 2
        assert "is not in the working tree of a git repository" in result.output

    def test_no_git(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "")
        result = run("diff", "--git", "HEAD", "old.shapes")
        assert result.exit_code == 2
        assert "--git needs git" in result.output

    def test_standard_input_has_no_history(self) -> None:
        assert run("diff", "--git", "HEAD", "-", text=OLD).exit_code == 2
