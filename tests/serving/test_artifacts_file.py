"""`sd.save_artifacts` and `sd.load_artifacts`: what a file holds, and that no damaged one is loaded."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import random
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd
from shapedsl.serving.exported.bundle_files import Bundle

ROOT = Path(__file__).parents[2]
ONE = torch.ones(1)
SPEC = """\
def f(x: Tensor[B, 4], scale = _) -> Tensor[B, 3]:
    where B in [1, 8]
    case one: B == 1
    bucket B in {4, 8} pad x with 0 as rows_independent
"""


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor, scale: float = 0.5) -> torch.Tensor:
        result: torch.Tensor = self.layer(x) * scale
        return result


@pytest.fixture(scope="module")
def net() -> Net:
    torch.manual_seed(0)
    return Net()


@pytest.fixture(scope="module")
def whole(net: Net, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file as it was saved."""
    path = tmp_path_factory.mktemp("artifacts") / "net.artifacts"
    sd.save_artifacts(path, sd.export_cases(net, SPEC))
    return path.read_bytes()


@pytest.fixture
def saved(whole: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "net.artifacts"
    path.write_bytes(whole)
    return path


def damage(data: bytes) -> str:
    """Returns what is said of a file, before torch sees any of it."""
    with pytest.raises(sd.ShapeError) as error:
        Bundle(Path("net.artifacts"), io.BytesIO(data))
    assert error.value.code == "damaged-artifacts"
    return str(error.value.diagnostics[0].message)


def rewritten(data: bytes, change: Callable[[dict[str, bytes]], object], *, method: int = zipfile.ZIP_STORED) -> bytes:
    """Returns a file whose digest is right again after ``change``: damage that someone made on purpose."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
        archive.comment = b"shapedsl-artifacts sha256:" + b"0" * 64
    return sealed(made.getvalue())


def sealed(data: bytes) -> bytes:
    return data[:-64] + hashlib.sha256(data[:-64]).hexdigest().encode()


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, bytes]], None]:
    """Returns an edit of the manifest."""

    def edit(entries: dict[str, bytes]) -> None:
        manifest = json.loads(entries["manifest.json"])
        change(manifest)
        entries["manifest.json"] = json.dumps(manifest).encode()

    return edit


# ----------------------------------------------------------------------------------------- serving


def test_a_loaded_file_serves_as_the_cases_did(net: Net, saved: Path) -> None:
    loaded = sd.load_artifacts(saved)
    assert list(loaded.programs) == ["case one", "bucket B=4", "bucket B=8"]
    assert loaded.spec == sd.loads(SPEC)["f"]
    assert [row["state"] for row in loaded.stats()["artifacts"]] == ["made"] * 3
    for batch in (1, 2, 4, 7, 8):
        x = torch.randn(batch, 4)
        torch.testing.assert_close(loaded(x), net(x))
        torch.testing.assert_close(loaded(x=x, scale=0.5), net(x))
    assert {row["artifact"]: row["calls"] for row in loaded.stats()["artifacts"]} == {
        "case one": 2,
        "bucket B=4": 4,
        "bucket B=8": 4,
    }
    assert loaded.explain(torch.ones(3, 4)).startswith("B=3 → bucket B → pad 3→4 (25 % waste) → artifact 2\n")
    with pytest.raises(sd.ShapeError, match="expected `B <= 8`"):
        loaded(torch.ones(9, 4))
    with pytest.raises(sd.ShapeError, match=r"`scale` is 0.25, and was 0.5"):
        loaded(torch.ones(1, 4), 0.25)
    with pytest.raises(sd.ShapeError, match="`x` is float16"):
        loaded(torch.ones(1, 4, dtype=torch.float16))


def test_a_fresh_process_needs_no_class_and_runs_nothing_else(saved: Path) -> None:
    script = f"""
import sys, torch
import shapedsl as sd
loaded = sd.load_artifacts({str(saved)!r})
print(tuple(loaded(torch.ones(3, 4)).shape), tuple(loaded(torch.ones(1, 4)).shape))
print(sorted(name for name in sys.modules if name.startswith("tests")))
try:
    loaded(torch.ones(3, 5))
except sd.ShapeError as error:
    print(error.code)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=saved.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["(3, 3) (1, 3)", "[]", "shape-violation"]


def test_equal_cases_give_equal_files_in_form(whole: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        names = archive.namelist()
        manifest = json.loads(archive.read("manifest.json"))
        assert archive.read("spec.shapes").decode() == str(sd.loads(SPEC)["f"]) + "\n"
        assert archive.testzip() is None
    assert names == ["manifest.json", "spec.shapes", "programs/0.pt2", "programs/1.pt2", "programs/2.pt2"]
    assert manifest["shapedsl artifacts"] == 1
    assert manifest["torch"] == torch.__version__.partition("+")[0]
    assert sorted(manifest["files"]) == sorted(names[1:])
    assert manifest["artifacts"][1]["inputs"][0] == {"dtype": "float32", "device": "cpu", "shape": [4, 4]}
    assert manifest["parameters"][1] == {
        "name": "scale",
        "kind": "POSITIONAL_OR_KEYWORD",
        "default": {"float": (0.5).hex()},
    }


def test_eager_alternatives_take_the_module(tmp_path: Path) -> None:
    net, path = Net(), tmp_path / "net.artifacts"
    cases = sd.export_cases(net, "def f(x: Tensor[B, 4]):\n    case one: B == 1\n    otherwise eager")
    with pytest.warns(sd.ShapeWarning, match="`otherwise` of `f` runs the module itself, which is not in"):
        sd.save_artifacts(path, cases)
    loaded = sd.load_artifacts(path)
    assert loaded.module is None
    assert loaded(torch.ones(1, 4)).shape == (1, 3)
    with pytest.raises(sd.ShapeError, match=r"load_artifacts\(path, module=...\)") as error:
        loaded(torch.ones(2, 4))
    assert error.value.code == "no-program"

    other = Net()
    with pytest.raises(sd.ShapeError, match=r"`layer\.(weight|bias)` of the module is not what it is in"):
        sd.load_artifacts(path, other)
    other.load_state_dict(net.state_dict())
    loaded = sd.load_artifacts(path, other)
    torch.testing.assert_close(loaded(torch.ones(2, 4)), net(torch.ones(2, 4)))
    with torch.no_grad():
        other.layer.bias.add_(1)  # the programs share the weights
    torch.testing.assert_close(loaded(torch.ones(1, 4)), net(torch.ones(1, 4)) + 0.5)
    with pytest.raises(TypeError, match=r"module= takes \(x\), and the artifacts \(x, scale\)"):
        sd.load_artifacts(path, lambda x: x)


def test_programs_share_buffers_again(tmp_path: Path) -> None:
    class Count(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(()))
            self.register_buffer("passing", torch.zeros(()), persistent=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen, passing = self.get_buffer("seen").add_(1), self.get_buffer("passing").add_(10)
            return x + seen + passing

    path = tmp_path / "count.artifacts"
    sd.save_artifacts(path, sd.export_cases(Count(), "def f(x: Tensor[B]):\n    case one: B == 1\n    otherwise"))
    loaded = sd.load_artifacts(path)
    assert loaded(torch.zeros(1)).tolist() == [11.0]
    assert loaded(torch.zeros(2)).tolist() == [22.0, 22.0]
    assert loaded(torch.zeros(1)).tolist() == [33.0]


def test_what_crops_outputs_is_asked_for_again(tmp_path: Path) -> None:
    text = "def f(x: Tensor[B]) -> Tensor[B]:\n    where B <= 4\n    bucket B in {4} pad x with 0 as neutral"

    def crop(result: torch.Tensor, sizes: Any) -> torch.Tensor:
        return result[: sizes["B"]]

    path = tmp_path / "f.artifacts"
    cases = sd.export_cases(lambda x: x * 2, text, unpad={"return": crop})
    with pytest.warns(sd.ShapeWarning, match="what crops `return` of `f` is Python code"):
        sd.save_artifacts(path, cases)
    with pytest.raises(TypeError, match="unpad= has to give what crops 'return', not nothing"):
        sd.load_artifacts(path)
    loaded = sd.load_artifacts(path, unpad={"return": crop})
    assert torch.equal(loaded(torch.ones(3)), cases(torch.ones(3)))


def test_what_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    def f(x: torch.Tensor, w: torch.Tensor = ONE, axes: tuple[int, ...] = (0,)) -> torch.Tensor:
        return (x * w).sum(axes)

    text = "def f(x: Tensor[B]): ..."
    path = tmp_path / "f.artifacts"
    path.write_bytes(b"before")
    with pytest.raises(sd.ShapeError, match="the default of `w` is a Tensor, which a file cannot hold"):
        sd.save_artifacts(path, sd.export_cases(f, text))
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["f.artifacts"]

    def bound(x: torch.Tensor, axes: tuple[int, ...] = (0,)) -> torch.Tensor:
        return f(x, torch.full((1,), 2.0), axes)

    sd.save_artifacts(path, sd.export_cases(bound, text))
    assert sd.load_artifacts(path)(torch.ones(3)) == 6
    with pytest.raises(TypeError, match=r"save_artifacts\(\) takes what export_cases\(\) returns, not function"):
        sd.save_artifacts(path, f)  # type: ignore[arg-type]  # that is the test
    with pytest.raises(OSError, match="nowhere"):
        sd.save_artifacts(tmp_path / "nowhere" / "f", sd.export_cases(lambda x: x + 1, text))


def test_a_file_is_replaced_at_once(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()
    saved.chmod(0o640)
    loaded = sd.load_artifacts(saved)

    def fail(*args: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="the disk is full"):
            sd.save_artifacts(saved, loaded)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]
    sd.save_artifacts(saved, loaded)  # what was loaded can be saved
    assert saved.stat().st_mode & 0o777 == 0o640
    assert sd.load_artifacts(saved)(torch.ones(3, 4)).shape == (3, 3)


def test_threads_may_save_and_load_at_once(saved: Path) -> None:
    loaded = sd.load_artifacts(saved)

    def save() -> None:
        sd.save_artifacts(saved, loaded)

    def load() -> None:
        assert sd.load_artifacts(saved)(torch.ones(3, 4)).shape == (3, 3)

    with ThreadPoolExecutor(4) as pool:
        for each in [pool.submit(work) for work in (save, load, save, load, load)]:
            each.result()
    assert os.listdir(saved.parent) == [saved.name]


def test_keywords_come_in_any_order(tmp_path: Path) -> None:
    def f(x: torch.Tensor, *args: torch.Tensor, y: torch.Tensor, **kw: torch.Tensor) -> torch.Tensor:
        return x + args[0] * y + kw["z"] - 2 * kw["w"]

    text = 'def f(x: Tensor[B], *args: Tensor[B], y: Tensor[B], **kw: {"z": Tensor[B], "w": Tensor[B]}): ...'
    x, a, y, z, w = torch.arange(10.0).view(5, 2)
    sd.save_artifacts(tmp_path / "f", sd.export_cases(f, text, (x, a), {"y": y, "z": z, "w": w}))
    loaded = sd.load_artifacts(tmp_path / "f")
    assert torch.equal(loaded(x, a, y=y, z=z, w=w), f(x, a, y=y, z=z, w=w))
    assert torch.equal(loaded(x, a, w=w, z=z, y=y), f(x, a, y=y, z=z, w=w))
    with pytest.raises(sd.ShapeError, match="what is None, lengths, or ranks"):
        loaded(x, a, a, y=y, z=z, w=w)


def test_what_is_loaded_is_neither_pickled_nor_traced(saved: Path) -> None:
    loaded = sd.load_artifacts(saved)
    with pytest.raises(TypeError, match="use `save_artifacts` and `load_artifacts`"):
        pickle.dumps(loaded)
    around = torch.compile(lambda x: loaded(x + 1) * 2, backend="eager")
    torch.testing.assert_close(around(torch.ones(1, 4)), loaded(torch.ones(1, 4) + 1) * 2)
    with pytest.raises(Exception, match="artifacts of `f` are compiled already"):
        torch.compile(loaded, backend="eager", fullgraph=True)(torch.ones(1, 4))


# ------------------------------------------------------------------------------------------ damage


def test_every_byte_counts(whole: bytes) -> None:
    data = bytearray(whole)
    said: set[str] = set()
    for at in range(len(data)):
        data[at] ^= 1 << at % 8
        said.add(damage(bytes(data)).partition("damaged in ")[2])
        data[at] ^= 1 << at % 8
    named = {each.partition(":")[0] for each in said}
    assert {"`manifest.json`", "`spec.shapes`", "`programs/0.pt2`", "`programs/2.pt2`"} <= named
    assert bytes(data) == whole
    Bundle(Path("whole"), io.BytesIO(whole))


@pytest.mark.parametrize("name", ["manifest.json", "spec.shapes", "programs/1.pt2"])
def test_the_damaged_entry_is_named(whole: bytes, name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        entry = archive.getinfo(name)
    at = entry.header_offset + 30 + len(name) + entry.file_size // 2
    changed = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
    assert damage(changed) == f"`net.artifacts` is damaged in `{name}`: its content changed"
    assert damage(whole[:at]) == f"`net.artifacts` is damaged in `{name}`: the file is cut off"


def test_no_part_of_a_file_is_a_file(whole: bytes) -> None:
    drawn = random.Random(0).sample(range(len(whole)), 200)
    for size in (0, 1, 63, 64, 100, len(whole) - 1, *drawn):
        damage(whole[:size])
    for more in (b"\0", b"\n", whole, whole[-90:]):
        assert "bytes are missing, or were added" in damage(whole + more) or more in (whole, whole[-90:])
        damage(more + whole)
    assert "it is no bundle of artifacts" in damage(b"not a zip at all" * 100)


def test_entries_are_what_the_manifest_lists(whole: bytes) -> None:
    def missing(entries: dict[str, bytes]) -> None:
        del entries["programs/1.pt2"]

    def unlisted(entries: dict[str, bytes]) -> None:
        entries["programs/9.pt2"] = b"what is this"

    def exchanged(entries: dict[str, bytes]) -> None:
        entries["programs/1.pt2"], entries["programs/2.pt2"] = entries["programs/2.pt2"], entries["programs/1.pt2"]

    assert damage(rewritten(whole, missing)).endswith("`programs/1.pt2`: it is missing")
    assert damage(rewritten(whole, unlisted)).endswith("`programs/9.pt2`: the manifest does not list it")
    with Bundle(Path("net.artifacts"), io.BytesIO(rewritten(whole, exchanged))) as bundle:
        with pytest.raises(sd.ShapeError, match=r"`programs/1.pt2`: its content is not what the manifest says"):
            bundle.read("programs/1.pt2")
        assert bundle.read("programs/0.pt2")


def test_two_entries_of_one_name_are_refused(whole: bytes) -> None:
    made = io.BytesIO(whole)
    with zipfile.ZipFile(made, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr(zipfile.ZipInfo("programs/0.pt2"), b"another")
    assert "`programs/0.pt2`: there are two entries of this name" in damage(sealed(made.getvalue()))


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "programs/../../evil.pt2", "C:\\evil", "a\nb", "programs/"])
def test_names_that_lead_elsewhere_are_refused(whole: bytes, name: str) -> None:
    def evil(entries: dict[str, bytes]) -> None:
        entries[name] = b"evil"
        edited(lambda m: m["files"].update({name: {"size": 4, "sha256": hashlib.sha256(b"evil").hexdigest()}}))(entries)

    damage(rewritten(whole, evil))
    assert not (Path.cwd().parent / "evil").exists()


def test_nothing_is_unpacked_that_grows(whole: bytes) -> None:
    def bomb(entries: dict[str, bytes]) -> None:
        entries["programs/0.pt2"] = b"\0" * 10_000_000

    packed = rewritten(whole, bomb, method=zipfile.ZIP_DEFLATED)
    assert len(packed) < 100_000
    assert "it is compressed or encrypted, which no entry is" in damage(packed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update({"shapedsl artifacts": 2}), "it is of version 2; this reader knows version 1"),
        (lambda m: m.update({"shapedsl artifacts": "1"}), "it is of version '1'"),
        (lambda m: m.pop("shapedsl artifacts"), "it has no 'shapedsl artifacts'"),
        (lambda m: m.pop("spec"), "`spec`"),
        (lambda m: m["spec"].update(ir={"node": "Evil"}), "`spec`"),
        (lambda m: m["parameters"][0].update(name="x, y=print(1)"), "`parameters[0]` is no parameter"),
        (lambda m: m["parameters"][0].update(kind="__class__"), "`parameters[0]` is no parameter"),
        (lambda m: m["parameters"][1].update(name="x"), "duplicate parameter name"),
        (lambda m: m["parameters"][0].update(default=1) or m["parameters"][1].pop("default"), "non-default"),
        (lambda m: m["parameters"][0].update(name="renamed"), "other parameters"),
        (lambda m: m["artifacts"][0].update(position=7), "alternative 7, which the spec lacks"),
        (lambda m: m["artifacts"][0].update(key=["1"]), "`artifacts[0].key[0]` is no int"),
        (lambda m: m["artifacts"].append(m["artifacts"][0]), "two artifacts are for the same"),
        (lambda m: m["artifacts"][0].pop("program"), "neither a program nor a package"),
        (lambda m: m["artifacts"][0].update(program="../../etc/passwd"), "does not list it"),
        (lambda m: m["structures"][0].update(x={"evil": 1}), "structure"),
        (lambda m: m["structures"][0].update(nobody=3), "other parameters"),
        (lambda m: m.update(structures="x"), "`structures` is no list"),
        (lambda m: m.update(files=[]), "it lists no files"),
        (lambda m: m["files"].update({"spec.shapes": {}}), "does not say what `spec.shapes` is"),
        (lambda m: m.update(torch=2), "`torch` is no text"),
    ],
    ids=lambda each: each[:24] if isinstance(each, str) else "",
)
def test_a_manifest_is_read_field_by_field(
    whole: bytes, tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    path = tmp_path / "net.artifacts"
    path.write_bytes(rewritten(whole, edited(change)))
    with pytest.raises(sd.ShapeError) as error:
        sd.load_artifacts(path)
    assert error.value.code == "damaged-artifacts"
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "[" * 5000, '{"a": NaN}', "\x00", '{"files": {'])
def test_a_manifest_that_is_no_json_is_refused(whole: bytes, text: str) -> None:
    assert "manifest.json" in damage(rewritten(whole, lambda entries: entries.update({"manifest.json": text.encode()})))


def test_a_program_that_torch_cannot_load_is_told(whole: bytes, tmp_path: Path) -> None:
    def other(entries: dict[str, bytes]) -> None:
        entries["programs/1.pt2"] = b"no program"
        listed = {"size": 10, "sha256": hashlib.sha256(b"no program").hexdigest()}
        edited(lambda m: m["files"].update({"programs/1.pt2": listed}))(entries)

    path = tmp_path / "net.artifacts"
    path.write_bytes(rewritten(whole, other))
    with pytest.raises(sd.ShapeError, match=r"torch .* cannot load `programs/1.pt2` of") as error:
        sd.load_artifacts(path)
    assert error.value.code == "unsupported-by-torch"


def test_another_torch_is_told(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "net.artifacts"
    path.write_bytes(rewritten(whole, edited(lambda m: m.update(torch="2.99.0"))))
    with pytest.warns(sd.ShapeWarning, match=r"was saved by torch 2\.99\.0, and this is"):
        assert sd.load_artifacts(path)(torch.ones(1, 4)).shape == (1, 3)


def test_no_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sd.load_artifacts(tmp_path / "nothing")
