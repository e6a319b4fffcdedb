"""``shapedsl convert``: several processes, and runs that are ended in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shapedsl.cli.converting.journal import Journal, entries, latest
from shapedsl.cli.converting.pool import outcomes, workers_for
from shapedsl.cli.converting.work import Task
from shapedsl.cli.converting.writing import unbroken
from tests.benchmarks.sources import write_tree

from .converting import NEW, OLD, convert
from .helpers import ROOT, run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tasks(*texts: str) -> list[Task]:
    for at, text in enumerate(texts):
        Path(f"{at}.py").write_text(text)
    return [Task(f"{at}.py", convert=convert) for at in range(len(texts))]


def test_the_order_is_that_of_one_process() -> None:
    slow = OLD + 'run("odd")\n' * 300
    given = tasks(*(slow if at % 7 == 0 else OLD for at in range(60)))
    alone = list(outcomes(given, 1))
    assert [outcome.name for outcome in alone] == [f"{at}.py" for at in range(60)]
    together = list(outcomes(given, 3))
    assert [(o.name, o.sites, o.change) for o in together] == [(o.name, o.sites, o.change) for o in alone]
    assert [[(d.code, str(d.span)) for d in o.diagnostics] for o in together] == [
        [(d.code, str(d.span)) for d in o.diagnostics] for o in alone
    ]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills in another way")
def test_a_file_that_kills_its_process_is_one_file() -> None:
    given = tasks(*(OLD + "# die\n" if at in (3, 4, 39) else OLD for at in range(40)))
    found = list(outcomes(given, 2))
    assert [outcome.name for outcome in found] == [task.name for task in given]
    assert [at for at, outcome in enumerate(found) if outcome.change is None] == [3, 4, 39]
    assert [(d.code, d.notes) for d in found[3].diagnostics] == [
        ("skipped-file", ("the process that read it ended with SIGKILL",))
    ]
    assert found[3].skipped


def test_workers_end_with_the_run() -> None:
    results = outcomes(tasks(*[OLD] * 40), 2)
    next(results)
    results.close()
    import multiprocessing

    assert multiprocessing.active_children() == []


def test_few_files_need_no_workers() -> None:
    assert [workers_for(n, 4) for n in (0, 1, 79, 80, 10_000)] == [1, 1, 1, 2, 4]


# ------------------------------------------------------------------------------------------ interrupted


def test_a_request_to_end_waits_for_the_file() -> None:
    seen: list[str] = []

    def work() -> None:
        with unbroken():
            signal.raise_signal(signal.SIGINT)
            seen.append("done all the same")
        seen.append("not reached")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert seen == ["done all the same"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_leaves_whole_files_and_a_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [f"{at}.py" for at in range(6)]
    for name in given:
        Path(name).write_text(OLD)
    replace = os.replace

    def interrupted(source: str, target: str) -> None:
        if str(target).endswith("2.py"):
            signal.raise_signal(signal.SIGINT)  # in the middle of writing it
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    monkeypatch.setattr("shapedsl.pipeline.convert_source", convert)
    result = run("convert", "--write", *given)
    assert result.exit_code == 130
    assert result.stderr.splitlines() == [
        "interrupted after 2 of 6 files; each file is whole",
        "shapedsl convert --undo takes back what was written",
    ]
    assert [Path(name).read_text() for name in given] == [NEW, NEW, NEW, OLD, OLD, OLD]
    assert sorted(os.listdir(".")) == [".shapedsl", *given]
    taken = run("convert", "--undo")  # which is interrupted as well, and goes on when it is asked again
    assert (taken.exit_code, taken.stdout) == (130, "")
    assert [Path(name).read_text() for name in given] == [NEW, NEW, OLD, OLD, OLD, OLD]
    monkeypatch.setattr(os, "replace", replace)
    assert run("convert", "--undo").stdout == "restored 0.py\nrestored 1.py\n"
    assert {Path(name).read_text() for name in given} == {OLD}


def test_a_run_that_is_killed_can_be_taken_back() -> None:
    """Wherever it ends: before the journal's line, within it, before the file is replaced, after."""
    for name in ("a.py", "b.py", "c.py"):
        Path(name).write_text(OLD)
    journal = Journal(Path("undo"))
    journal.note(Path("a.py"), OLD.encode(), NEW.encode())
    Path("a.py").write_text(NEW)
    journal.note(Path("b.py"), OLD.encode(), NEW.encode())  # and b.py was not written
    journal.close()
    written = latest(Path("undo"))
    assert written is not None
    whole = written.read_text()
    half = whole.splitlines()[-1][:40]
    for torn in (whole, whole + half):
        Path("a.py").write_text(NEW)
        written.write_text(torn)
        assert [entry.path.name for entry in entries(written)] == ["b.py", "a.py"]
        result = run("convert", "--undo", "--journal", "undo")
        assert (result.exit_code, result.stdout) == (0, "restored a.py\n")
        assert {path.read_text() for path in Path().glob("*.py")} == {OLD}


def test_the_last_twenty_runs_are_kept() -> None:
    for at in range(25):
        journal = Journal(Path("undo"))
        journal.note(Path(f"{at}.py"), b"", b"x")
        journal.close()
    names = sorted(path.stem for path in Path("undo").glob("*.jsonl"))
    assert names == [f"{number:06}" for number in range(6, 26)]


DRIVER = """
import sys
from shapedsl import pipeline
from shapedsl.cli import main
from tests.cli.converting import convert
import time

def slowly(source, report, **options):
    time.sleep(0.05)
    return convert(source, report, **options)

pipeline.convert_source = slowly
sys.argv = ["shapedsl", "convert", "--write", "--jobs", "1", "src"]
main()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills in another way")
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_process_that_is_ended(how: str) -> None:
    Path("src").mkdir()
    names = [f"src/{at:02}.py" for at in range(40)]
    for name in names:
        Path(name).write_text(OLD)
    running = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while running.poll() is None and Path(names[2]).read_text() == OLD:
        time.sleep(0.01)
    running.send_signal(getattr(signal, how))
    _, said = running.communicate(timeout=60)
    assert running.returncode == {"SIGINT": 130}.get(how, -getattr(signal, how)), said
    contents = [Path(name).read_text() for name in names]
    written = contents.count(NEW)
    assert 3 <= written < 40
    assert contents == [NEW] * written + [OLD] * (40 - written)
    if how != "SIGKILL":  # which nothing can prepare for
        assert sorted(os.listdir("src")) == [Path(name).name for name in names]
    assert run("convert", "--undo").exit_code == 0
    assert {Path(name).read_text() for name in names} == {OLD}


def test_journals_are_plain_json() -> None:
    journal = Journal(Path("undo"))
    journal.note(Path("src/a.py"), None, b"new")
    journal.close()
    head, entry = [json.loads(line) for line in Path("undo/000001.jsonl").read_text().splitlines()]
    assert head["version"] == 1
    assert (entry["path"], entry["before"], entry["content"]) == (os.path.join("..", "src", "a.py"), None, None)
    assert Path("undo/.gitignore").read_text() == "*\n"


def test_a_tree_of_real_files() -> None:
    """With nothing in the converter's place: the same output with any number of jobs, done once, and taken back."""
    write_tree(Path("src"), 8)
    before = {path: path.read_bytes() for path in Path("src").rglob("*.py")}
    alone = run("convert", "--jobs", "1", "src")
    assert "+++ src/package_000/module_00003.py" in alone.stdout
    assert "call sites would be converted" in alone.stderr
    together = run("convert", "--jobs", "2", "src")
    assert (together.exit_code, together.stdout, together.stderr) == (alone.exit_code, alone.stdout, alone.stderr)
    assert run("convert", "--write", "src").stdout.startswith("converted src/package_000/module_00003.py: ")
    for path in before:
        compile(path.read_bytes(), str(path), "exec")
    assert run("convert", "--write", "src").stdout == ""
    assert run("convert", "--undo").exit_code == 0
    assert {path: path.read_bytes() for path in Path("src").rglob("*.py")} == before
