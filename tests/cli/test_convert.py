"""``shapedsl convert``: what is shown, written and counted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from shapedsl.cli.converting import progress

from .converting import NEW, OLD, SHAPES, WRITTEN, convert
from .helpers import process, run

ODD = 'import torch\nrun(dynamic_shapes="odd")\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shapedsl.pipeline.convert_source", convert)
    Path("src").mkdir()


def write(**texts: str) -> None:
    for name, text in texts.items():
        Path(f"src/{name}.py").write_text(text)


def texts() -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(Path("src").iterdir())}


# ---------------------------------------------------------------------------------------------- a diff


def test_a_diff_is_shown_and_nothing_is_written() -> None:
    write(a=OLD, b="x = 1\n", c=ODD)
    result = run("convert", "src")
    assert result.exit_code == 1  # what is kept is an error
    assert result.stdout.splitlines() == [
        "--- src/a.py",
        "+++ src/a.py",
        "@@ -1,2 +1,2 @@",
        " import torch",
        '-run(dynamic_shapes="old")',
        '+run(dynamic_shapes="new")',
    ]
    assert "error[legacy-flow]: it is odd\n  --> src/c.py:2:20" in result.stderr
    assert result.stderr.splitlines()[-2:] == [
        "3 files: 1 call site would be converted, 1 kept",
        "nothing is written yet: --write does it",
    ]
    assert texts() == {"a.py": OLD, "b.py": "x = 1\n", "c.py": ODD}
    assert run("convert", "--diff", "src").output == result.output
    assert not Path(".shapedsl").exists()


def test_the_diff_is_a_patch() -> None:
    write(a=OLD + "# é", b=OLD.replace("\n", "\r\n"), c="--" + OLD)
    before = {path.name: path.read_bytes().decode() for path in Path("src").iterdir()}
    result = patched(run("convert", "src").stdout_bytes.decode())
    assert result == {name: text.replace('"old"', '"new"') for name, text in before.items()}


def patched(diff: str) -> dict[str, str]:
    """Applies a diff with nothing but the definition of the format."""
    result: dict[str, str] = {}
    old: list[str] = []
    name, at = "", 0
    lines = diff.split("\n")
    while lines and lines != [""]:
        line = lines.pop(0)
        if line.startswith("--- ") and lines[0].startswith("+++ "):
            name = Path(line[4:]).name
            lines.pop(0)
            old, at = Path(line[4:]).read_bytes().decode().split("\n"), 0
            result[name] = ""
        elif line.startswith("@@ "):
            start = int(line.split()[1].split(",")[0][1:]) - 1
            assert start == at == 0  # these files have one hunk, from their first line
        elif line.startswith("\\"):
            result[name] = result[name].removesuffix("\n")
        elif line[:1] in (" ", "-"):
            assert old[at] == line[1:]
            at += 1
            if line[0] == " ":
                result[name] += line[1:] + "\n"
        else:
            assert line[0] == "+"
            result[name] += line[1:] + "\n"
    return result


def test_colors_on_request() -> None:
    write(a=OLD)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORCE_COLOR", "1")
        patch.delenv("NO_COLOR", raising=False)
        shown = run("convert", "src").stdout
    assert '\x1b[31m-run(dynamic_shapes="old")\x1b[0m' in shown
    assert '\x1b[32m+run(dynamic_shapes="new")\x1b[0m' in shown
    assert "\x1b[1m--- src/a.py\x1b[0m" in shown


def test_without_standard_output_nothing_breaks() -> None:
    from shapedsl.diagnostics.render.style import wants_color

    assert wants_color(None) is False


def test_nothing_to_do() -> None:
    write(a="import torch\n")
    result = run("convert", "src")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "1 file: no legacy specs\n")
    Path("empty").mkdir()
    assert run("convert", "empty").stderr == "0 files: no legacy specs\n"


# ------------------------------------------------------------------------------------------------ check


def test_check() -> None:
    write(a=OLD, b="x = 1\n")
    result = run("convert", "--check", "src")
    assert (result.exit_code, result.stdout) == (1, "would convert src/a.py: 1 call site\n")
    assert result.stderr == "2 files: 1 call site would be converted\n"
    assert "+++ src/a.py" in run("convert", "--check", "--diff", "src").stdout
    write(a=NEW)
    assert run("convert", "--check", "src").exit_code == 0
    write(a=ODD)
    assert run("convert", "--check", "src").exit_code == 1


# ------------------------------------------------------------------------------------- write and undo


def test_write_and_undo() -> None:
    write(a=OLD, b="x = 1\n", c=OLD + ODD)
    before = texts()
    result = run("convert", "--write", "src")
    assert result.exit_code == 1
    assert result.stdout == "converted src/a.py: 1 call site\nconverted src/c.py: 1 call site, 1 kept\n"
    assert result.stderr.splitlines()[-2:] == [
        "3 files: 2 call sites converted, 1 kept",
        "shapedsl convert --undo takes it back",
    ]
    assert texts() == {"a.py": NEW, "b.py": "x = 1\n", "c.py": NEW + ODD}
    again = run("convert", "--write", "src")
    assert again.stdout == ""
    undone = run("convert", "--undo")
    assert (undone.exit_code, undone.stdout) == (0, "restored src/a.py\nrestored src/c.py\n")
    assert undone.stderr == "2 files restored\n"
    assert texts() == before
    assert sorted(os.listdir(".shapedsl/undo")) == [".gitignore"]
    nothing = run("convert", "--undo")
    assert (nothing.exit_code, nothing.stdout) == (2, "")
    assert "nothing to undo" in nothing.stderr


def test_runs_are_taken_back_one_by_one() -> None:
    write(a=OLD)
    run("convert", "--write", "src")
    write(b=OLD)
    run("convert", "--write", "src")
    assert run("convert", "--undo").stdout == "restored src/b.py\n"
    assert run("convert", "--undo").stdout == "restored src/a.py\n"
    assert texts() == {"a.py": OLD, "b.py": OLD}


def test_undo_refuses_what_changed_since() -> None:
    write(a=OLD, b=OLD, c=OLD)
    run("convert", "--write", "src")
    Path("src/a.py").write_text(NEW + "# mine\n")
    Path("src/b.py").unlink()
    result = run("convert", "--undo")
    assert (result.exit_code, result.stdout) == (1, "restored src/c.py\n")
    assert "error[changed-since]: `src/a.py` was changed since it was converted; it is left alone" in result.stderr
    assert "error[changed-since]: `src/b.py` is gone; it is left alone" in result.stderr
    assert result.stderr.endswith("1 file restored, 2 left alone\n")
    assert texts() == {"a.py": NEW + "# mine\n", "c.py": OLD}
    write(a=NEW, b=NEW)  # now it is as it was written
    assert run("convert", "--undo").stdout == "restored src/a.py\nrestored src/b.py\n"
    assert texts() == {"a.py": OLD, "b.py": OLD, "c.py": OLD}


def test_undo_of_some_files() -> None:
    write(a=OLD, b=OLD)
    run("convert", "--write", "src")
    assert run("convert", "--undo", "src/b.py").stdout == "restored src/b.py\n"
    assert texts() == {"a.py": NEW, "b.py": OLD}
    assert run("convert", "--undo", "src").stdout == "restored src/a.py\n"


def test_undo_after_other_means() -> None:
    write(a=OLD)
    run("convert", "--write", "src")
    write(a=OLD)
    result = run("convert", "--undo")
    assert (result.exit_code, result.stderr) == (0, "0 files restored\n")


def test_a_journal_elsewhere_moves_with_its_files() -> None:
    write(a=OLD)
    assert run("convert", "--write", "--journal", "kept", "src").exit_code == 0
    assert not Path(".shapedsl").exists()
    Path("moved").mkdir()
    Path("src").rename("moved/src")
    Path("kept").rename("moved/kept")
    assert run("convert", "--undo", "--journal", "moved/kept").stdout == "restored moved/src/a.py\n"


def test_a_journal_that_cannot_be_written_keeps_files_from_being_written() -> None:
    write(a=OLD)
    Path("blocked").write_text("a file, not a folder")
    result = run("convert", "--write", "--journal", "blocked/undo", "src")
    assert (result.exit_code, result.stdout, texts()) == (2, "", {"a.py": OLD})
    assert "cannot write `src/a.py`" in result.stderr


@pytest.mark.parametrize(
    "text", ["", "[]\n", '{"version": 9}\n', "no json\n", '{"version": 1}\n{}\n', '{"version": 1}\n?\n\n']
)
def test_a_damaged_journal_is_refused(text: str) -> None:
    Path(".shapedsl/undo").mkdir(parents=True)
    Path(".shapedsl/undo/000001.jsonl").write_text(text)
    result = run("convert", "--undo")
    assert result.exit_code == 2
    assert "cannot use the journal" in result.stderr
    assert "remove it to take back the run before it" in result.stderr


def test_specs_are_extracted_and_taken_back() -> None:
    write(net=OLD)
    shown = run("convert", "--to", "shapes", "src")
    assert shown.stdout.startswith("--- /dev/null\n+++ src/net.shapes\n@@ -0,0 +1,3 @@\n+# Specs of net.py")
    result = run("convert", "--to", "shapes", "--write", "src")
    assert (result.exit_code, result.stdout) == (0, "wrote src/net.shapes: 1 call site\n")
    assert texts() == {"net.py": OLD, "net.shapes": WRITTEN.format(name="net.py")}
    assert run("convert", "--to", "shapes", "--check", "src").exit_code == 0
    undone = run("convert", "--undo")
    assert (undone.exit_code, undone.stdout, undone.stderr) == (0, "removed src/net.shapes\n", "1 file removed\n")
    assert texts() == {"net.py": OLD}


# --------------------------------------------------------------------------------------------- reports


def test_json() -> None:
    write(a=OLD + ODD, b="x = 1\n", c=OLD + "# wrong\n")
    result = run("convert", "--report", "json", "src", "nope.py")
    assert (result.exit_code, result.stderr) == (2, "")
    report = json.loads(result.stdout)
    assert report["version"] == 1
    assert report["summary"] == {
        "files": 3,
        "changed": 1,
        "converted": 1,
        "kept": 1,
        "skipped": 1,
        "verdicts": {"exact": 1},
    }
    first, third = report["files"]
    assert (first["path"], first["changed"], first["skipped"]) == ("src/a.py", True, False)
    assert first["sites"] == [
        {
            "line": 2,
            "column": 20,
            "api": "run",
            "name": "f",
            "outcome": "converted",
            "verdict": "exact",
            "summary": "exact",
            "notes": ["a | note"],
            "shapes": "def f(): ...",
        },
        {
            "line": 4,
            "column": 20,
            "api": "run",
            "name": "g",
            "outcome": "kept",
            "verdict": "",
            "summary": "",
            "notes": ["it is odd"],
            "shapes": "",
        },
    ]
    assert [d["code"] for d in first["diagnostics"]] == ["legacy-flow"]
    assert (third["path"], third["skipped"], third["diagnostics"][0]["code"]) == ("src/c.py", True, "syntax-error")
    assert [d["code"] for d in report["diagnostics"]] == ["unreadable-file"]


def test_markdown() -> None:
    write(a=OLD + ODD, c=OLD + "# wrong\n")
    result = run("convert", "--report", "md", "src")
    assert (result.exit_code, result.stderr) == (1, "")
    assert (
        result.stdout
        == """\
# Legacy specs

2 files: 1 call site would be converted, 1 kept, 1 file skipped.

| verdict | call sites |
|---|---|
| exact | 1 |

## `src/a.py`

| line | call | spec | outcome | notes |
|---|---|---|---|---|
| 2 | `run` | `f` | exact | a \\| note |
| 4 | `run` | `g` | **kept** | it is odd |

## `src/c.py`

- error `syntax-error` (line 3): this is no Python
"""
    )


def test_a_report_of_what_was_written() -> None:
    write(a=OLD)
    result = run("convert", "--write", "--report", "json", "src")
    assert json.loads(result.stdout)["summary"]["converted"] == 1
    assert texts() == {"a.py": NEW}


@pytest.mark.parametrize("format_", ["concise", "json", "github", "sarif"])
def test_formats_for_programs_say_nothing_else(format_: str) -> None:
    write(c=ODD)
    result = run("convert", "--format", format_, "src")
    assert result.exit_code == 1
    assert "legacy-flow" in result.stderr
    assert (
        "1 file: 0 call sites would be converted, 1 kept\n" not in result.stderr
    )  # the page of a code, in one line, may


# ---------------------------------------------------------------------------------------- standard input


def test_standard_input_to_standard_output() -> None:
    result = run("convert", "-", text=OLD.replace("\n", "\r\n"))
    assert (result.exit_code, result.stdout_bytes) == (0, NEW.replace("\n", "\r\n").encode())
    assert run("convert", "-", text="x = 1").stdout == "x = 1"
    assert run("convert", "--style", "shapedsl", "-", text=OLD).stdout == OLD.replace("old", "ours")
    assert run("convert", "--to", "shapes", "-", text=OLD).stdout == SHAPES.format(name="<stdin>")
    assert run("convert", "--to", "shapes", "-", text="x = 1\n").stdout == ""


def test_standard_input_as_a_diff() -> None:
    result = run("convert", "--diff", "-", text=OLD)
    assert result.stdout.splitlines()[:2] == ["--- <stdin>", "+++ <stdin>"]
    assert (run("convert", "--check", "-", text=OLD).exit_code, run("convert", "--check", "-", text=NEW).exit_code) == (
        1,
        0,
    )
    assert run("convert", "--check", "-", text=OLD).stdout == ""


def test_standard_input_that_cannot_be_converted_comes_back() -> None:
    for text, code in ((ODD, "legacy-flow"), (OLD + "# wrong\n", "syntax-error"), (OLD + "# raise\n", "skipped-file")):
        result = run("convert", "-", text=text)
        assert (result.exit_code, result.stdout) == (1, text)
        assert code in result.stderr
    assert run("convert", "-", text=b"# torch dynamic_shapes \xff").exit_code == 1


def test_a_report_of_standard_input() -> None:
    report = json.loads(run("convert", "--report", "json", "-", text=OLD).stdout)
    assert [(each["path"], len(each["sites"])) for each in report["files"]] == [("<stdin>", 1)]


# ---------------------------------------------------------------------------------------------- misuse


@pytest.mark.parametrize("filtered", [False, True])
def test_a_report_of_a_check_fails_as_the_check_does(filtered: bool) -> None:
    write(a=OLD)
    given = ("-",) if filtered else ("src",)
    result = run("convert", "--check", "--report", "json", *given, text=OLD)
    assert (result.exit_code, json.loads(result.stdout)["summary"]["changed"], texts()) == (1, 1, {"a.py": OLD})
    write(a=NEW)
    result = run("convert", "--check", "--report", "json", *given, text=NEW)
    assert (result.exit_code, json.loads(result.stdout)["summary"]["changed"]) == (0, 0)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("",),
        ("--write", "--check", "src"),
        ("--write", "-"),
        ("-", "src"),
        ("--undo", "--write"),
        ("--undo", "-"),
        ("--undo", "--jobs", "2"),
        ("--report", "md", "--diff", "src"),
        ("--report", "html", "src"),
        ("--to", "shapes", "--style", "torch", "src"),
        ("--jobs", "0", "src"),
        ("--jobs", "many", "src"),
        ("nope.py",),
        ("--write", "nope.py", "src"),
    ],
    ids=" ".join,
)
def test_misuse(arguments: tuple[str, ...]) -> None:
    result = run("convert", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")


# -------------------------------------------------------------------------------------- many, and faults


def test_one_bad_file_ends_nothing() -> None:
    write(a=OLD + "# raise\n", b=OLD + "# wrong\n", c=OLD)
    result = run("convert", "--write", "src")
    assert (result.exit_code, result.stdout) == (1, "converted src/c.py: 1 call site\n")
    assert "converting `src/a.py` failed; it is left alone" in result.stderr
    assert "RecursionError: too deep" in result.stderr
    assert "3 files: 1 call site converted, 2 files skipped" in result.stderr


def test_a_change_made_meanwhile_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a=OLD, b=OLD)

    def convert_late(*arguments: object, **options: object) -> object:
        Path("src/a.py").write_text("mine\n")  # somebody saves the file after it was read
        return convert(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("shapedsl.pipeline.convert_source", convert_late)
    result = run("convert", "--write", "--jobs", "1", "src")
    assert (result.exit_code, result.stdout) == (0, "converted src/b.py: 1 call site\n")
    assert "`src/a.py` was changed while it was converted; it is left alone" in result.stderr
    assert texts() == {"a.py": "mine\n", "b.py": NEW}


def test_read_only_files_are_left_alone() -> None:
    write(a=OLD, b=OLD)
    Path("src/a.py").chmod(0o444)
    assert "+++ src/a.py" in run("convert", "src").stdout  # it may be looked at
    result = run("convert", "--write", "src")  # also by a superuser, who could write it
    assert (result.exit_code, result.stdout) == (0, "converted src/b.py: 1 call site\n")
    assert "warning[skipped-file]: `src/a.py` is read-only; it is left alone" in result.stderr
    assert result.stderr.splitlines()[-2:] == [
        "2 files: 1 call site converted, 1 file skipped",
        "shapedsl convert --undo takes it back",
    ]
    assert texts() == {"a.py": OLD, "b.py": NEW}


def test_a_disk_that_is_full_leaves_whole_files(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a=OLD, b=OLD)
    replace = os.replace

    def refuse(source: str, target: str) -> None:
        if str(target).endswith("a.py"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    result = run("convert", "--write", "src")
    assert (result.exit_code, texts()) == (2, {"a.py": OLD, "b.py": NEW})
    assert "cannot write `src/a.py`: No space left on device" in result.stderr
    assert run("convert", "--undo").stdout == "restored src/b.py\n"


def test_a_missing_package_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a=OLD, b=OLD)

    def lacking(_source: object, report: object, **_options: object) -> object:
        from shapedsl.frontends.legacy.source.sites import FileResult

        report.error("missing-extra", "this needs libcst, which is not installed")  # type: ignore[attr-defined]
        return FileResult(None, "", ())

    monkeypatch.setattr("shapedsl.pipeline.convert_source", lacking)
    result = run("convert", "src")
    assert result.exit_code == 1
    assert result.stderr.count("libcst") == 1


def test_progress_is_drawn_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_AFTER", 0)
    monkeypatch.setattr(progress, "_EVERY", 0)
    drawn: list[str] = []

    class Terminal:
        def __init__(self, is_terminal: bool) -> None:
            self.is_terminal = is_terminal

        def isatty(self) -> bool:
            return self.is_terminal

        def write(self, text: str) -> int:
            drawn.append(text)
            return len(text)

        def flush(self) -> None:
            pass

    for terminal in (Terminal(True), Terminal(False)):
        bar = progress.Progress(2, terminal)  # type: ignore[arg-type]
        bar.step()
        bar.clear()
        bar.clear()
    assert drawn == [f"\r[{'#' * 15}{'.' * 15}] 1 of 2 files\x1b[K", "\r\x1b[K"]


def test_as_a_process() -> None:
    write(a="import torch\n")
    done = process("convert", "src", cwd=Path.cwd())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"1 file: no legacy specs\n")
