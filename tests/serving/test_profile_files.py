"""Profile files: nobody's calls are lost, whoever saves, and however a process ends."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")


import shapedsl as sd
from shapedsl.diagnostics import Report
from shapedsl.serving.profiles.profile import Parameter, Profile
from shapedsl.serving.profiles.profile_files import load_profiles, merge_profiles, save_profile
from shapedsl.serving.profiles.profile_json import MalformedProfileError, read_profiles, write_profiles

ROOT = Path(__file__).parents[2]


def some(calls: int = 3, name: str = "f") -> Profile:
    made = Profile(name, (Parameter("x"),), spec="def f(x: Tensor[N]): ...")
    for size in range(calls):
        made.add((("x", ("tensor", "float32", 1)),), (size,), 2)
        made.add((("x", ("list", ("int",), ("dict", ("k", ("none",)), (0, ("static", "str"))))),), (-size,))
    table = made.tables[("x", ("tensor", "float32", 1)),]
    table.output((0,), (("object", "Out", ("y", ("tensor", "bool", 1))), (5,)))
    table.output((1,), None)
    table.sizes.note([(1_000,)])
    made.raised, made.unread, made.dropped = 1, 2, 3
    return made


def loaded(path: Path) -> list[Profile]:
    report = Report()
    found = load_profiles(path, report)
    report.raise_errors()
    return found


def test_what_is_written_is_read_back() -> None:
    text = write_profiles([some(), some(2, "g")])
    again = read_profiles(text)
    assert write_profiles(again) == text
    assert json.loads(text)["shapedsl profile"] == 1
    assert (again[0].raised, again[0].unread, again[0].dropped, again[0].calls) == (1, 2, 3, 9)


GOOD = write_profiles([some()])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is no JSON from line 1, column 1 on"),
        ("[]", 'it has no "shapedsl profile"'),
        (GOOD[: len(GOOD) // 2], "it is no JSON"),
        (GOOD.replace('"shapedsl profile": 1', '"shapedsl profile": 2'), "it is of version 2; this reader knows 1"),
        (GOOD.replace("[[2], 2]", "[[2, 2], 2]"), "a row has not 1 sizes"),
        (GOOD.replace("[[2], 2]", "[[2.5], 2]"), "a row has not 1 sizes"),
        (GOOD.replace("[[2], 2]", "[[2], 0]"), "a number is 0"),
        (GOOD.replace("[[2], 2]", "[[2], true]"), "a number is True"),
        (GOOD.replace('"float32", 1', '"float32", -1'), "no structure is written"),
        (GOOD.replace("POSITIONAL_OR_KEYWORD", "SOMETIMES"), "it lacks 'SOMETIMES'"),
        (GOOD.replace('"limit": 4096, ', ""), "it lacks 'limit'"),
        (GOOD.replace('"name": "f"', '"name": 3'), "a name is a text"),
        ('{"shapedsl profile": 1, "profiles": ' + "[" * 100_000, "it is nested too deeply"),
        ('{"shapedsl profile": 1, "profiles": [{"limit": ' + "9" * 5_000 + "}]}", "a number has too many digits"),
        ('{"shapedsl profile": 1, "profiles": 7}', ""),
    ],
    ids=[
        "empty", "list", "cut", "version", "wide-row", "float", "no-calls", "bool", "rank", "kind", "missing", "name",
        "deep", "digits", "no-list",
    ],
)  # fmt: skip
def test_damage_is_told(text: str, why: str) -> None:
    with pytest.raises(MalformedProfileError) as caught:
        read_profiles(text)
    assert why in str(caught.value)


def test_any_damage_is_told() -> None:
    """Whatever single character is lost or changed, the file is read or refused; nothing else happens."""
    for at in range(0, len(GOOD), 3):
        for text in (GOOD[:at] + GOOD[at + 1 :], GOOD[:at] + "]" + GOOD[at + 1 :], GOOD[:at] + '9"' + GOOD[at:]):
            with contextlib.suppress(MalformedProfileError):
                read_profiles(text)


def test_saving_adds_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "traffic.json"
    seen = sd.observe(lambda x: x)
    for size in (1, 2, 2):
        seen(torch.ones(size))
    seen.save(path)
    seen.save(path)
    assert loaded(path)[0].calls == 3
    seen(torch.ones(9))
    seen.save(path)
    seen.save(tmp_path / "other.json")
    assert loaded(path)[0].calls == 4
    assert loaded(tmp_path / "other.json")[0].calls == 4
    assert seen.profile.calls == 4
    assert sorted(each.name for each in path.parent.iterdir()) == ["traffic.json", "traffic.json.lock"]


def test_several_callables_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "traffic.json"
    for name in ("f", "g", "f"):
        save_profile(path, some(1, name), Report())
    found = loaded(path)
    assert [(each.name, each.calls) for each in found] == [("f", 6), ("g", 3)]


def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "traffic.json"
    seen = sd.observe(lambda x: x)
    for number in (1, 2):
        path.write_text("what a year has left")
        seen(torch.ones(3))
        with pytest.warns(sd.ShapeWarning, match="damaged-profile"):
            seen.save(path)
        assert (tmp_path / f"traffic.json.damaged-{number}").read_text() == "what a year has left"
        assert loaded(path)[0].calls == 1


def test_ranks_have_files_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    seen = sd.observe(lambda x: x)
    seen(torch.ones(3))
    seen.save(tmp_path / "traffic-{rank}.json")
    assert loaded(tmp_path / "traffic-3.json")[0].calls == 1


def test_a_file_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    seen = sd.observe(lambda x: x)
    seen(torch.ones(3))
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
        seen.save(tmp_path / "file" / "traffic.json")
    with pytest.raises(OSError):  # noqa: PT011
        seen.save(tmp_path)
    seen(torch.ones(4))
    path = tmp_path / "traffic.json"
    seen.save(path)
    assert loaded(path)[0].calls == 2
    with pytest.raises(TypeError, match="needs a path"):
        seen.save()


def test_threads_save_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "traffic.json"
    seen = sd.observe(lambda x: x)

    def work() -> None:
        for size in range(10):
            seen(torch.ones(size))
            seen.save(path)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded(path)[0].calls == 40


SAVER = """
import sys
from pathlib import Path
from shapedsl.diagnostics import Report
from shapedsl.serving.profiles.profile import Parameter, Profile
from shapedsl.serving.profiles.profile_files import save_profile
for n in range(int(sys.argv[2])):
    made = Profile("f", (Parameter("n"),))
    for size in range(200):
        made.add((("n", ("int",)),), (size,))
    save_profile(Path(sys.argv[1]), made, Report())
    print(n, flush=True)
"""


def saver(path: Path, times: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    arguments = [sys.executable, "-c", SAVER, str(path), str(times)]
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True)


def test_processes_save_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "traffic.json"
    running = [saver(path, 20) for _ in range(2)]
    for process in running:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert loaded(path)[0].calls == 2 * 20 * 200


def test_a_killed_process_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "traffic.json"
    process = saver(path, 100_000)
    assert process.stdout is not None
    for _ in range(5):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    process.stdout.close()
    calls = loaded(path)[0].calls
    assert calls >= 5 * 200
    assert calls % 200 == 0
    save_profile(path, some(1), Report())  # its lock is gone with it
    assert loaded(path)[0].calls == calls + 3


FORKED = """
import os, sys
from pathlib import Path
from shapedsl.diagnostics import Report
from shapedsl.serving.profiles.profile import Profile
from shapedsl.serving.profiles.recorder import Recorder
recorder = Recorder(Profile("f"), None, lambda value: False)
def call(n):
    recorder.returned(recorder.read((n,), {}), None)
call(2)
pid = os.fork()
if pid == 0:
    call(3)
recorder.save(Path(sys.argv[1]), Report())
if pid:
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forks_count_their_own(tmp_path: Path) -> None:
    path = tmp_path / "traffic.json"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", FORKED, str(path)], env=environment, timeout=60, check=True)
    counts = {sizes: times for table in loaded(path)[0].tables.values() for sizes, times in table.sizes.counts.items()}
    assert counts == {(2,): 1, (3,): 1}


def test_profiles_are_saved_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "traffic.json"
    last: list[Callable[[], None]] = []
    monkeypatch.setattr(atexit, "register", last.append)
    seen = sd.observe(lambda x: x, path=path)
    seen(torch.ones(2))
    assert not path.exists()
    last[0]()
    assert loaded(path)[0].calls == 1


def test_profiles_of_several_callables_are_not_mixed() -> None:
    with pytest.raises(ValueError, match="does not belong to f"):
        some().merge(some(1, "g"))
    assert [each.name for each in merge_profiles([some(), some(1, "g"), some()])] == ["f", "g"]


def test_two_versions_of_a_spec_are_none() -> None:
    first, second = some(), some()
    second.spec = "def f(x: Tensor[M]): ..."
    first.merge(second)
    assert first.spec is None
