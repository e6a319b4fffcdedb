"""``shapedsl plot``, on calls that are counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from shapedsl.cli import group

torch = pytest.importorskip("torch", reason="torch is not installed: nothing can be observed")

SPEC = """
def enc(ids: int64[B, T]) -> Tensor[B, T]:
    where 1 <= B <= 4, T <= 300
    case single: B == 1
    case padded:
        bucket T in {64, 128} pad ids with 0 as masked
    otherwise eager
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six calls: two of the case, three that are padded, one that is not."""
    import shapedsl as sd

    def enc(ids: object) -> object:
        return ids

    seen = sd.observe(enc)
    for b, t in ((1, 7), (1, 7), (2, 32), (2, 64), (4, 96), (2, 200)):
        seen(torch.zeros(b, t, dtype=torch.int64))
    seen.save(tmp_path / "traffic.json")
    (tmp_path / "net.shapes").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(group, ["plot", *arguments])
    return done.exit_code, done.output


def test_traffic_against_buckets(files: Path) -> None:
    code, text = run("traffic.json", "net.shapes")
    assert code == 0
    histogram, coverage = text.split("\n\n")
    # 32 and 64 of 2 * 64, 96 of 128; in all 192 of 256
    assert histogram.splitlines() == [
        "T, 3 calls",
        "  32  1   33 %  → 64  │████████████████████████████████████████",
        "  64  1   33 %  → 64  │████████████████████████████████████████",
        "  96  1   33 %  → 128 │████████████████████████████████████████",
        "padded to 64: 2 calls, 25 % waste",
        "padded to 128: 1 call, 25 % waste",
        "in all: 25 % waste",
    ]
    assert coverage.splitlines()[0] == "T"
    assert coverage.splitlines()[-4:] == [
        "1  case single  33 % of the calls",
        "2  case padded  50 % of the calls",
        "3  otherwise eager  17 % of the calls",
        "·  not accepted",
    ]


def test_a_spec_alone_is_a_map_over_the_sizes_asked_for(files: Path) -> None:
    code, text = run("net.shapes", "--of", "B", "--at", "T=100")
    assert code == 0
    assert text.splitlines() == [
        "│1222·",
        "└───── B",
        " ╵ ╵ ╵",
        " 1 3 5",
        "1  case single",
        "2  case padded",
        "3  otherwise eager  (nowhere on this map)",
        "·  not accepted",
        "at T = 100",
    ]


def test_calls_without_a_spec(files: Path) -> None:
    code, text = run("traffic.json")
    assert code == 0
    assert text.splitlines()[:4] == [
        "B, 6 calls",
        "  1  2   33 % │" + "█" * 26 + "▋",
        "  2  3   50 % │" + "█" * 40,
        "  4  1   17 % │" + "█" * 13 + "▍",
    ]


def test_svg_is_written_whole(files: Path) -> None:
    pytest.importorskip("matplotlib", reason="SVG pictures are drawn by matplotlib, which is not installed")
    assert run("traffic.json", "net.shapes", "-o", "out.svg") == (0, "wrote out.svg\n")
    text = (files / "out.svg").read_text()
    assert text.startswith("<?xml")
    assert text.rstrip().endswith("</svg>")
    assert sorted(path.name for path in files.iterdir() if "out" in path.name) == ["out.svg"]


def test_what_cannot_be_drawn(files: Path) -> None:
    code, text = run("net.shapes", "--of", "Q")
    assert (code, text.splitlines()[0]) == (
        1,
        "error[unknown-name]: `enc` cannot be drawn over `Q`, which is no size of it",
    )
    (files / "plain.shapes").write_text("def f(x: Tensor[B]): ...\n")
    code, text = run("plain.shapes")
    assert (code, text) == (
        1,
        "nothing to draw: the spec has no alternatives, and there are no calls; give a profile too\n",
    )
    assert run("net.shapes", "plain.shapes")[0] == 2
    assert run("net.shapes", "--of", "B,T,B")[0] == 2
    assert run("missing.json")[0] == 2
