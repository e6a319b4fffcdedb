"""What `cure` returns: patches of files, of annotations, blocks of alternatives, cases; and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="curing traces")
pytest.importorskip("torch.fx.experimental.dynamic_spec", reason="curing needs a torch with specs")

import torch

import shapedsl as sd
from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source


def pick(x: Any) -> Any:
    return x * 2 if x.shape[1] > 1 else x


def cured(text: str, function: Any = pick, **options: Any) -> sd.Cured:
    return sd.cure(function, text, entries=("export",), **options)


def new_text(text: str, **options: Any) -> str:
    """Returns the patched text, found to be what the spec says, without a finding that the old one had not."""
    found = cured(text, **options)
    assert found.cured
    assert found.text is not None
    assert found.spec == sd.loads(found.text)[found.name]
    before, after = Report(), Report()
    pipeline.check(Source("<string>", text), before)
    pipeline.check(Source("<string>", found.text), after)
    assert {d.code for d in after} <= {d.code for d in before}
    return found.text


def test_an_assumption_replaces_what_it_implies_and_tells_what_it_leaves_out() -> None:
    text = "def pick(x: float32[B, S]):\n    # first\n    where S >= 1, B < 9  # there is one\n"
    line = pick.__code__.co_firstlineno + 1
    assert new_text(text) == (
        "def pick(x: float32[B, S]):\n    # first\n    where B < 9  # there is one\n"
        f"    where S >= 2  # test_patches.py:{line} asks whether `S > 1`\n"
        "    # S == 1 is left out; `case S == 1` would serve it\n"
    )


def test_a_range_that_the_def_declares_becomes_narrower() -> None:
    text = "dim B in [1, 8]\n\ndef pick(x: float32[B, S]):\n    dim S in [1, 64] hint 8  # tokens\n"
    line = pick.__code__.co_firstlineno + 1
    assert new_text(text) == (
        "dim B in [1, 8]\n\ndef pick(x: float32[B, S]):\n"
        f"    # S >= 2: test_patches.py:{line} asks whether `S > 1`\n"
        "    # S == 1 is left out; `case S == 1` would serve it\n"
        "    dim S in [2, 64] hint 8  # tokens\n"
    )


def test_what_a_file_declares_stays_for_other_specs() -> None:
    text = "dim S in [1, 64] hint 8\n\ndef pick(x: float32[B, S]): ...\n\ndef other(x: float32[S]): ...\n"
    made = new_text(text)
    assert made.startswith("dim S in [1, 64] hint 8\n")
    assert made.endswith("def other(x: float32[S]): ...\n")
    assert "    where S >= 2  # " in made


def test_each_alternative_gets_what_it_needs() -> None:
    text = "def pick(x: float32[B, S]):\n    case short: S <= 64\n    case S >= 100 eager\n    otherwise\n"
    found = cured(text)
    short, eager, rest = found.spec.signature.alternatives
    assert [each.text for each in short.constraints] == ["S <= 64", "S >= 2"]
    assert [each.text for each in eager.constraints] == ["S >= 100"]
    # sizes that `short` has left would reach it, so it needs something, and keeps all that it had
    assert [found.spec.ask("S <= 1", case="otherwise").verdict, len(rest.constraints)] == ["refuted", 1]
    sd.export(pick, (torch.ones(2, 70),), spec=found.spec, case="otherwise")
    assert {step.case for step in found.steps} == {"case short", "otherwise"}
    assert "not traced: case S >= 100: it runs eager" in found.remarks
    alone = cured(text, case="short")
    assert [len(each.constraints) for each in alone.spec.signature.alternatives] == [2, 1, 0]


def test_cases_stand_in_front_of_what_left_their_sizes_out() -> None:
    text = "def pick(x: float32[B, S]):\n    where S >= 1\n    # most\n    case short: S <= 64\n    otherwise\n"
    made = new_text(text, cases=True)
    assert "    where S >= 1\n    case S == 1\n    # most\n    case short:\n        where S <= 64\n" in made
    plain = new_text("def pick(x: float32[B, S]): ...\n", cases=True)
    assert plain.startswith("def pick(x: float32[B, S]):\n    case S <= 1\n    otherwise:\n        where S >= 2  # ")


def test_what_the_original_refuses_gets_no_case() -> None:
    def short(x: Any) -> Any:
        if x.shape[0] > 8:
            raise ValueError("too many")
        return x

    found = cured("def short(x: float32[B]): ...\n", short, cases=True)
    assert found.spec.signature.alternatives == ()
    assert "where B <= 8  # " in found.patch
    assert "# B >= 9 is left out: there the program raises by itself" in found.patch
    assert "; an upper bound" in str(found)


def test_what_cannot_be_traced_becomes_a_case_that_runs_eagerly() -> None:
    def loops(x: Any) -> Any:
        if x.shape[0] > 2:
            return x
        for _ in range(x.shape[0]):
            x = x + 1
        return x

    found = cured("def loops(x: float32[B]): ...\n", loops, cases=True)
    assert found.cured
    assert found.text is not None
    assert "    case B <= 2 eager  # it cannot be traced\n    otherwise:\n        where B >= 3  # " in found.text


def test_the_example_decides_on_which_side_the_spec_stays() -> None:
    text = "def pick(x: float32[B, S]): where S <= 4\n"
    assert "S >= 2" in str(cured(text).spec)
    assert "S <= 1" in str(sd.cure(pick, text, (torch.ones(2, 1),), entries=("export",)).spec)
    hinted = "def pick(x: float32[B, S]):\n    dim S in [0, 4] hint 1\n"
    assert "dim S in [0, 1]" in str(cured(hinted).text)


def test_no_size_gets_one_value_unasked() -> None:
    text = "def pick(x: float32[B, S]):\n    dim S in [1, 4] hint 1\n"
    found = cured(text)
    assert found.cured
    assert [step.added for step in found.steps] == [("S >= 2",)]  # not S == 1, whatever the hint is

    def pinned(x: Any) -> Any:
        return x + torch.ones(4, 1)

    found = cured("def pinned(x: float32[B, S]): ...\n", pinned, args=(torch.ones(4, 3),))
    assert not found.cured
    assert found.patch == ""
    (proposal,) = found.proposals
    assert proposal.message == "the program works for `B == 4` only"
    allowed = cured("def pinned(x: float32[B, S]): ...\n", pinned, args=(torch.ones(4, 3),), static="B")
    assert allowed.cured
    assert allowed.text == "def pinned(x: float32[B, S]):\n    const B = _\n"


def test_what_annotations_need_is_a_decorator() -> None:
    @sd.shapes(x="B, S")
    def annotated(x: Any) -> Any:
        return x * 2 if x.shape[1] > 1 else x

    found = sd.cure(annotated, entries=("export",))
    assert found.text is None
    assert found.patch.startswith('@where(\n    "S >= 2",  # test_patches.py:')
    assert "above the function" in found.apply
    assert found.spec == sd.cure(annotated, found.spec, entries=("export",)).spec


def test_a_size_without_a_name_is_told() -> None:
    found = cured("def pick(x: float32[B, ?]): ...\n")
    assert not found.cured
    assert found.patch == ""
    assert "the spec has no name for that size" in str(found)


def test_the_report_is_data_too(tmp_path: Path) -> None:
    path = tmp_path / "net.shapes"
    path.write_text("const N = 4\n\ndef pick(x: float32[N, S]): ...\n")
    found = sd.cure(pick, path, entries=("export",))
    data = json.loads(found.to_json())
    assert data["cured"] is True
    assert data["traces"] == {"export": 2}
    (step,) = data["steps"]
    assert (step["added"], step["excludes"], step["kind"]) == (["S >= 2"], "S <= 1", "bound")
    assert data["patch"].startswith(f"--- {path}\n+++ {path}\n")
    assert path.read_text() == "const N = 4\n\ndef pick(x: float32[N, S]): ...\n"


def test_nothing_is_added_where_nothing_is_asked() -> None:
    found = sd.cure(lambda x: x + 1, "def f(x: float32[B, S]): ...\n")
    assert (found.cured, found.patch, found.steps) == (True, "", ())
    assert found.traces == {"export": 1, "compile": 1}
    assert "needs no cure" in str(found)


def test_what_fails_for_another_reason_is_the_error() -> None:
    def broken(x: Any) -> Any:
        raise RuntimeError("not today")

    found = cured("def f(x: float32[B]): ...\n", broken)
    assert not found.cured
    assert isinstance(found.error, RuntimeError)
    assert "export fails: RuntimeError: not today" in str(found)


def test_the_number_of_traces_is_bounded() -> None:
    found = cured("def pick(x: float32[B, S]): ...\n", traces=1)
    assert not found.cured
    assert found.traces == {"export": 1}


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"entries": "onnx"}, ValueError, "entries="),
        ({"traces": 0}, ValueError, "traces="),
        ({"traces": "two"}, TypeError, "traces="),
        ({"static": {"Q"}}, ValueError, "no size `Q`"),
        ({"args": torch.ones(2)}, TypeError, "args="),
        ({"kwargs": "x"}, TypeError, "kwargs="),
        ({"case": "none"}, sd.ShapeError, "has no case"),
        ({"args": (torch.ones(2),)}, sd.ShapeError, "rank"),
    ],
)
def test_wrong_arguments_are_refused_by_name(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        sd.cure(pick, "def pick(x: float32[B, S]): ...\n", **options)


def test_what_depends_on_data_is_proposed_to_be_told() -> None:
    def count(x: Any) -> Any:
        found = x.nonzero()
        return found if found.shape[0] > 3 else found * 2

    found = cured("def count(x: float32[B]): ...\n", count)
    assert not found.cured
    (proposal,) = found.proposals
    assert "depends on data" in proposal.message
    assert "torch._check" in proposal.options[0]


def test_a_spec_of_which_nothing_is_traced_is_not_called_cured() -> None:
    text = "def pick(x: float32[B, S]) -> float32[B, S]:\n    bucket S in {8} pad x with 0 as neutral\n    otherwise eager\n"
    found = cured(text)
    assert not found.cured
    assert found.traces == {"export": 0}
    assert "there is nothing to trace" in str(found)
    assert "not traced: bucket S: it has buckets" in found.remarks


def test_attributes_of_self_are_refused() -> None:
    class Net(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    spec = "class Net:\n    def forward(self: object(w: Tensor[K]), x: float32[B, K]): ...\n"
    with pytest.raises(sd.ShapeError) as caught:
        sd.cure(Net(), spec, (torch.ones(2, 3),))
    assert caught.value.code == "unsupported-by-torch"


def test_an_assumption_that_did_not_help_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    from shapedsl.serving.curing import traces

    traced = traces.Traces.trace
    # a torch that concludes nothing: whatever is assumed, it asks again
    monkeypatch.setattr(traces.Traces, "trace", lambda self, entry, added: traced(self, entry, ()))
    found = cured("def pick(x: float32[B, S]):\n    where S >= 1\n")
    assert not found.cured
    assert (found.patch, found.steps, found.traces) == ("", (), {"export": 2})
    (proposal,) = found.proposals
    assert proposal.message == "torch does not conclude `S > 1`, or its opposite, from `S >= 2`"
    assert "add `where S == 1`, which makes a size static" in proposal.options
    assert any("backed" in option for option in proposal.options)


def test_an_example_is_made_within_ranges_and_residues() -> None:
    text = "def pick(x: float32[B, S]):\n    dim B in [5, 5]\n    dim S in [0, 64] multiple of 16\n"
    found = cured(text)
    assert found.cured
    assert [step.added for step in found.steps] == [("S >= 16",)]
