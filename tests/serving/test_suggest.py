"""Which cases and buckets traffic suggests, and that the numbers told are those of the traffic."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

import shapedsl as sd
from shapedsl.serving.profiles.profile import Parameter, Profile
from shapedsl.serving.profiles.profile_json import write_profiles
from tests.cli.helpers import run

from .test_optimum import chat

IDS = (("ids", ("tensor", "int64", 2)), ("mask", ("tensor", "bool", 2)))
FILE = """\
# the model
const D = 768

def net.encode(ids: int64[B, S], mask: bool[B, S]) -> Tensor[B, S, D]:  # one artifact so far
    # positions
    where S <= 4096
"""


def traffic(calls: Iterable[tuple[int, int]], name: str = "net.encode") -> Profile:
    """Returns the profile of calls of these batches and lengths."""
    made = Profile(name, (Parameter("ids"), Parameter("mask")))
    for (batch, length), times in Counter(calls).items():
        made.add(IDS, (batch, length, batch, length), times)
        made.tables[IDS].output((batch, length, batch, length), (("tensor", "float32", 3), (batch, length, 768)))
    return made


def mixed(count: int = 500) -> list[tuple[int, int]]:
    draw = random.Random(0)
    return [(draw.choice((2, 4, 8)), draw.choice((draw.randint(1, 60), draw.randint(1, 600)))) for _ in range(count)]


def test_chat_lengths_with_eight_and_with_twelve_artifacts() -> None:
    profile = traffic((1, length) for length in chat())
    eight = sd.suggest(profile, k=8)
    assert round(100 * eight.waste) == 24
    assert eight.artifacts == 8
    assert eight.coverage == 1.0
    assert "bucket S in {115, 218, 346, 518, 782, 1240, 2098, 4096} pad (" in str(eight)
    assert "hint 181  # 4 to 4096: 1,573 sizes in 20,000 calls" in str(eight)
    assert "23.9% of their elements is padding" in str(eight)
    assert round(100 * sd.suggest(profile, k=12).waste) == 16


def test_without_a_budget_artifacts_are_worth_their_compilation() -> None:
    profile = traffic((1, length) for length in chat())
    free = sd.suggest(profile)
    more = sd.suggest(profile, k=free.artifacts + 1)
    fewer = sd.suggest(profile, k=free.artifacts - 1)
    real = free.plan.members.real if free.plan.members else 0
    padded = [made.plan.members.padded if made.plan.members else 0 for made in (fewer, free, more)]
    assert padded[0] - padded[1] > 0.01 * real > padded[1] - padded[2]
    assert sd.suggest(profile, worth=0.2).artifacts < free.artifacts


def test_no_reason_is_invented() -> None:
    text = str(sd.suggest(traffic(mixed()), k=4))
    assert " as " not in text.replace("as many", "")
    assert "not checked yet" in text


def test_what_many_calls_share_is_a_case() -> None:
    decode = [(8, 1)] * 300 + [(4, 1)] * 200
    made = sd.suggest(traffic([*decode, *mixed(300)]), k=5)
    assert "case B == 8, S == 1  # 301 of 800 calls" in str(made)
    assert made.artifacts == 5
    assert made.coverage == 1.0
    made = sd.suggest(traffic([(b, 1) for b in range(2, 40)] * 3 + mixed(300)), k=5)
    assert "case S == 1  # " in str(made)


def test_few_sizes_are_met_exactly() -> None:
    made = sd.suggest(traffic([(3, n) for n in (16, 32, 48)] * 20), k=8)
    assert "bucket S in {16, 32, 48} pad" in str(made)
    assert made.waste == 0


def test_the_tail_can_be_left_to_eager() -> None:
    calls = [(2, n) for n in range(1, 100)] * 5 + [(2, 4000)]
    assert "--tail 0.01" in str(sd.suggest(traffic(calls), k=3))
    made = sd.suggest(traffic(calls), k=3, tail=0.01)
    assert made.spec.signature.alternatives[0].buckets[0].members == (33, 66, 99)
    assert "otherwise eager  # 1 of 496 calls" in str(made)
    assert made.coverage == 1 - 1 / 496


def test_two_sizes_are_chosen_together() -> None:
    made = sd.suggest(traffic(mixed()), k=6, over=["B", "S"])
    buckets = made.spec.signature.alternatives[0].buckets
    assert [bucket.variable for bucket in buckets] == ["B", "S"]
    product = 1
    for bucket in buckets:
        product *= len(bucket.members or ())
    assert product == made.artifacts <= 6
    for other in ("B", "S"):
        assert other not in str(made).partition("otherwise")[2]


def test_otherwise_can_be_one_dynamic_artifact() -> None:
    made = sd.suggest(traffic(mixed()), k=4, otherwise="dynamic")
    assert made.artifacts == 4
    assert str(made).splitlines()[-1].startswith("    otherwise  # no call so far; 4 artifacts")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"over": "X"}, "`X` cannot be padded: there is no such size"),
        ({"over": ["B", "S", "B"]}, "more than two sizes"),
    ],
    ids=["unknown", "three"],
)
def test_wrong_names_are_told(choices: dict[str, object], message: str) -> None:
    with pytest.raises(sd.ShapeError, match=message) as caught:
        sd.suggest(traffic(mixed()), **choices)  # type: ignore[arg-type]
    assert caught.value.code == "unknown-name"


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"k": 0}, ValueError, "k= is a count from 1, not 0"),
        ({"k": "3"}, TypeError, "k= is a whole number, not '3'"),
        ({"k": True}, TypeError, "k= is a whole number, not True"),
        ({"tail": 1.0}, ValueError, "tail= leaves some calls"),
        ({"tail": "x"}, TypeError, "tail= is a number, not 'x'"),
        ({"worth": -1.0}, ValueError, "worth= is a share from 0 to 1, not -1.0"),
        ({"compile_seconds": -3}, ValueError, "compile_seconds= is a time in seconds, not -3.0"),
        ({"compile_seconds": "20s"}, TypeError, "compile_seconds= is a number, not '20s'"),
        ({"otherwise": "never"}, ValueError, "otherwise= is"),
    ],
    ids=["k", "text for k", "bool for k", "tail", "text for tail", "worth", "time", "text for time", "otherwise"],
)
def test_wrong_choices_are_refused(choices: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sd.suggest(traffic(mixed()), **choices)  # type: ignore[arg-type]


def test_two_sizes_may_be_named_as_on_the_command_line() -> None:
    profile = traffic(mixed())
    assert str(sd.suggest(profile, k=4, over="B, S")) == str(sd.suggest(profile, k=4, over=("B", "S")))


def test_what_observes_gives_its_profile_and_a_list_is_refused() -> None:
    class Seen:
        profile = traffic(mixed())

    assert str(sd.suggest(Seen(), k=2)) == str(sd.suggest(Seen.profile, k=2))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="each an argument of its own, not list"):
        sd.suggest([Seen.profile], k=2)  # type: ignore[arg-type]


def test_a_given_spec_keeps_its_own_names_and_its_facts() -> None:
    spec = "def f(ids: int64[N, L], mask: bool[N, L]) -> Tensor[N, L, 768]:\n    where L <= 500\n"
    made = sd.suggest(traffic(mixed()), k=4, spec=spec)
    assert made.traffic.refused > 0
    assert f"# The spec refuses {made.traffic.refused} calls: " in str(made)
    assert "where L <= 500" in str(made)
    members = made.spec.signature.alternatives[0].buckets[0].members
    assert members is not None
    assert max(members) <= 500


def test_an_otherwise_that_nothing_reaches_is_left_out() -> None:
    spec = "def f(ids: int64[N, L], mask: bool[N, L]) -> Tensor[N, L, 768]:\n    where L in {16, 32}\n"
    made = sd.suggest(traffic([(n, m) for n in range(9) for m in (16, 32)]), spec=spec, over="L")
    assert "otherwise" not in str(made)


def test_sizes_inside_expressions_are_not_padded() -> None:
    profile = Profile("f", (Parameter("x"), Parameter("y")))
    structure = (("x", ("tensor", "float32", 1)), ("y", ("tensor", "float32", 1)))
    for n in range(1, 30):
        profile.add(structure, (n, 2 * n))
        profile.tables[structure].output((n, 2 * n), (("tensor", "float32", 1), (n,)))
    assert "bucket" not in str(sd.suggest(profile, k=4))


# ------------------------------------------------------------------------------- the command line


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "traffic.json"
    path.write_text(write_profiles([traffic(mixed())]))
    return path


def test_the_file_that_is_printed_passes_check(saved: Path, tmp_path: Path) -> None:
    printed = run("suggest", saved, "-k", "4")
    assert printed.exit_code == 0
    (tmp_path / "made.shapes").write_text(printed.output)
    assert run("fmt", "--check", tmp_path / "made.shapes").exit_code == 0
    checked = run("check", tmp_path / "made.shapes")
    assert checked.exit_code == 0


def test_a_patch_keeps_comments_and_is_stable(saved: Path, tmp_path: Path) -> None:
    spec = tmp_path / "net.shapes"
    spec.write_text(FILE)
    shown = run("suggest", saved, "-k", "3", "--spec", f"{spec}:encode")
    assert shown.exit_code == 0
    assert spec.read_text() == FILE
    removed = [row for row in shown.output.splitlines() if row.startswith("-") and not row.startswith("---")]
    added = [row[1:] for row in shown.output.splitlines() if row.startswith("+") and not row.startswith("+++")]
    assert removed == []
    assert [row.split()[0] for row in added] == ["hint", "bucket", "otherwise"]
    written = run("suggest", saved, "-k", "3", "--spec", spec, "--write")
    assert written.exit_code == 0
    text = spec.read_text()
    assert text == FILE + "\n".join(added) + "\n"
    assert sd.load(spec)["net.encode"].signature.alternatives[0].buckets[0].variable == "S"
    run("suggest", saved, "-k", "3", "--spec", spec, "--write")
    assert spec.read_text() == text
    run("suggest", saved, "-k", "5", "--spec", spec, "--write")
    again = spec.read_text()
    assert again.count("bucket") == again.count("otherwise") == again.count("hint") == 1


@pytest.mark.parametrize(
    "text",
    [
        "def encode(ids: int64[B, S], mask: bool[B, S]): ...\n",
        "def encode(ids: int64[B, S], mask: bool[B, S]): where S <= 4096  # why\ndef g(x: Tensor[B]): ...\n",
        "def encode(\n    ids: int64[B, S],  # {\n    mask: bool[B, S],\n):  # head\n    # only a comment\n    where S < 700",
        "class net:\n    dim S hint 3\n    def encode(self, ids: int64[B, S], mask: bool[B, S]):\n        ...\n\n    # behind\n\ndef g(x: Tensor[B]): ...",
        "def encode(ids: int64[B, S], mask: bool[B, S]):\n  case a:\n    where S == 2\n    # in a\n  # kept\n  bucket S in {1,\n2}\n  ...\n  bucket B in {7}\n  otherwise:\n    eager\n  where S >= 0\n",
        "def encode(ids: int64[B, S], mask: bool[B, S]) -> {\"k\": Tensor[B, S]}:\n    \"\"\"Says: def f(x):\n  ...\n    \"\"\"\n",
    ],
    ids=["dots", "one-line", "broken", "class", "alternatives", "text"],
)  # fmt: skip
def test_defs_of_any_layout_are_patched(saved: Path, tmp_path: Path, text: str) -> None:
    spec = tmp_path / "net.shapes"
    spec.write_text(text)
    before = sd.load(spec)
    done = run("suggest", saved, "-k", "6", "--spec", spec, "--write")
    assert done.exit_code == 0, done.output
    after = sd.load(spec)
    assert list(after) == list(before)
    for name, new in after.items():
        old = before[name].signature
        assert new.signature.params == old.params
        assert frozenset(new.signature.constraints) == frozenset(old.constraints)
        if name.endswith("encode"):
            stays = [a for a in old.alternatives if a.keyword != "otherwise"]  # a named case, buckets without pads
            assert list(new.signature.alternatives[: len(stays)]) == stays
            assert [a.keyword for a in new.signature.alternatives[len(stays) :]] == ["bucket", "otherwise"]
            assert new.signature.returns is not None
    for comment in ("# why", "# {", "# head", "# only a comment", "# behind", "# kept"):
        assert spec.read_text().count(comment) == text.count(comment)


KEPT = """\
const EOS = 2

def encode(ids: int64[B, S], mask: bool[B, S]) -> Tensor[B, S, 768]:
    case long: S > 500 backed  # of them there are few
    bucket S in {64, 600} left pad (ids with EOS, mask with false) as masked
    otherwise
"""


def test_what_somebody_has_thought_about_stays(saved: Path, tmp_path: Path) -> None:
    spec = tmp_path / "net.shapes"
    spec.write_text(KEPT)
    assert run("suggest", saved, "-k", "4", "--spec", spec, "--write").exit_code == 0
    case, bucket, rest = sd.load(spec)["encode"].signature.alternatives
    old = sd.loads(KEPT)["encode"].signature.alternatives
    assert case == old[0]
    assert "# of them there are few" in spec.read_text()
    assert "not checked" not in spec.read_text()
    (made,) = bucket.buckets
    assert (made.position, made.reason, made.pads) == ("left", "masked", old[1].buckets[0].pads)
    assert made.members is not None
    assert len(made.members) == 2  # of four artifacts, one is the case's, and one is what is left
    assert max(made.members) <= 500
    assert rest == old[2]
    assert "otherwise  # no call so far; 4 artifacts" in spec.read_text()


def test_line_ends_and_byte_order_marks_stay(saved: Path, tmp_path: Path) -> None:
    spec = tmp_path / "net.shapes"
    spec.write_bytes(b"\xef\xbb\xbf" + FILE.replace("\n", "\r\n").encode())
    assert run("suggest", saved, "--spec", spec, "--write").exit_code == 0
    raw = spec.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf# the model\r\n")
    assert raw.count(b"\n") == raw.count(b"\r\n") == FILE.count("\n") + 3


def test_a_spec_that_takes_no_call_is_told(saved: Path, tmp_path: Path) -> None:
    spec = tmp_path / "net.shapes"
    spec.write_text("def encode(ids: int64[B, S, 3]) -> Tensor[B]: ...\n")
    done = run("suggest", saved, "--spec", spec)
    assert done.exit_code == 1
    assert "`encode` takes none of 500 calls: `ids` has 2 dims, expected 3" in done.output


def test_budgets_in_time(saved: Path) -> None:
    assert "3 artifacts, about 60 s" in run("suggest", saved, "--budget", "1m").output
    assert "6 artifacts, about 60 s" in run("suggest", saved, "--budget", "1m", "--compile-time", "10s").output
    for wrong in (["--budget", "5s"], ["--budget", "soon"], ["--budget", "1m", "-k", "3"], ["--write"], ["--fn", "x"]):
        assert run("suggest", saved, *wrong).exit_code == 2


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    path = tmp_path / "traffic.json"
    path.write_text(write_profiles([traffic([])]))
    for verb in ("suggest", "profile"):
        done = run(verb, path)
        assert done.exit_code == 1
        assert "[empty-profile]" in done.output
    assert run("profile", tmp_path / "none.json").exit_code == 2
    path.write_text("{")
    assert run("suggest", path).exit_code == 1


def test_profiles_are_shown_and_merged(saved: Path) -> None:
    shown = run("profile", saved).output
    assert "net.encode: 500 calls, " in shown
    assert "500 calls of (ids: int64[_, _], mask: bool[_, _])" in shown
    assert "ids.shape[0], mask.shape[0]   2 to 8" in shown
    merged = run("profile", "--json", saved, "-", text=saved.read_text())
    assert merged.exit_code == 0
    again = run("profile", "-", text=merged.output)
    assert "net.encode: 1,000 calls, " in again.output


def test_where_nothing_can_be_padded_most_calls_are_not_left_to_eager() -> None:
    """`B` stands in `2 * B + 1`, so that no bucket may pad it: one dynamic artifact serves all of its sizes."""
    torch = pytest.importorskip("torch", reason="nothing can be observed without torch")

    def f(x: object, w: object) -> object:
        del w
        return x

    seen = sd.observe(f)
    for b in (1, 2, 3, 5, 8, 13, 21, 34):
        seen(torch.ones(b, 4), torch.ones(2 * b + 1, 2))
    made = seen.suggest(k=3)
    assert made.plan.rest == "dynamic"
    assert made.artifacts <= 3
    assert made.spec.signature.alternatives[-1].mode.value == "compiled"
    assert seen.suggest(k=3, otherwise="eager").plan.rest == "eager"
