"""``mark_dynamic`` and its siblings: read off tensors, in torch's order of precedence, with what is lost."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import pytest

import shapedsl as sd
from shapedsl.diagnostics import Report
from shapedsl.frontends.legacy.marks import Mark, Marked, dims_of, marks_of
from shapedsl.frontends.legacy.model import Entries, Hint, Hinted, Named
from shapedsl.frontends.legacy.verdict import Note

DYNAMIC, AUTO, STATIC = Hinted(Hint.DYNAMIC), Hinted(Hint.AUTO), Hinted(Hint.STATIC)


def read(*marks: Mark, rank: int | None = 2) -> tuple[dict[int, Any], list[str]]:
    """Returns the dims of one tensor by axis, and the codes of what is said beside the general loss."""
    report = Report()
    dims, notes = dims_of([Marked("x", marks, rank)], report)
    assert not report.errors
    loses = any(mark.kind != "static" for mark in marks)  # a static size is compiled anew under a spec too
    assert [note.code for note in notes][-1:] == ["legacy-loss"] * loses
    entries = dims["x"].items if marks else ()
    return {key: tree for key, tree in entries if isinstance(key, int)}, [note.code for note in notes][:-1]


@pytest.mark.parametrize(
    ("marks", "expected", "codes"),
    [
        ((), {}, []),
        ((Mark("dynamic", 0, 2, 64, hint=8),), {0: Hinted(Hint.DYNAMIC, 2, 64, 8)}, []),
        ((Mark("unbacked", 1, 1),), {1: Hinted(Hint.DYNAMIC, 1)}, []),
        ((Mark("maybe", 0),), {0: AUTO}, []),
        ((Mark("static", None),), {0: STATIC, 1: STATIC}, []),
        ((Mark("dynamic", -1),), {1: DYNAMIC}, ["legacy-choice"]),
        ((Mark("static", -1),), {1: STATIC}, []),
        ((Mark("static", 0), Mark("dynamic", 0)), {0: DYNAMIC}, ["legacy-note"]),
        ((Mark("static", 0), Mark("maybe", 0)), {0: AUTO}, ["legacy-note"]),
        ((Mark("maybe", 0), Mark("unbacked", 0), Mark("dynamic", 0)), {0: DYNAMIC}, ["legacy-note"] * 2),
        ((Mark("unbacked", 0, shape_id="tok", hint=16),), {0: Named("tok", hint=16)}, []),
        ((Mark("dynamic", 0, 2), Mark("dynamic", 0, 3, 9)), {0: Hinted(Hint.DYNAMIC, 3, 9)}, ["legacy-choice"]),
        ((Mark("dynamic", 0, 2), Mark("dynamic", 0)), {0: Hinted(Hint.DYNAMIC, 2)}, ["legacy-choice"]),
        ((Mark("dynamic", 0, 2), Mark("dynamic", 0, 2, hint=8)), {0: Hinted(Hint.DYNAMIC, 2, None, 8)}, []),
        ((Mark("dynamic", 0), Mark("dynamic", 0, specialized=True)), {0: DYNAMIC}, ["legacy-loss"]),
        ((Mark("unbacked", 0, strict=True),), {0: DYNAMIC}, ["legacy-loss"]),
        ((Mark("dynamic", 0, specialized=True),), {0: DYNAMIC}, ["legacy-loss"]),
    ],
    ids=str,
)
def test_marks_of_one_tensor(marks: tuple[Mark, ...], expected: dict[int, Any], codes: list[str]) -> None:
    assert read(*marks) == (expected, codes)


def test_a_negative_axis_of_an_unknown_rank_stays_one() -> None:
    assert read(Mark("dynamic", -1), rank=None) == ({-1: DYNAMIC}, ["legacy-choice"])


def shared(first: Mark, second: Mark) -> tuple[Report, dict[str, Entries], tuple[Note, ...]]:
    report = Report()
    dims, notes = dims_of([Marked("h", (first,), 1), Marked("t", (second,), 1)], report)
    return report, dims, notes


def test_one_shape_id_is_one_size() -> None:
    first = Mark("unbacked", 0, 1, None, 16, "tok")
    _, dims, notes = shared(first, Mark("unbacked", 0, None, 64, None, "tok"))
    assert dims == {name: Entries(((0, Named("tok", 1, 64, 16)),)) for name in ("h", "t")}
    assert [note.places for note in notes] == [("h.shape[0]", "t.shape[0]")]


def test_hints_of_one_shape_id_that_differ() -> None:
    _, dims, notes = shared(Mark("unbacked", 0, hint=16, shape_id="tok"), Mark("unbacked", 0, hint=8, shape_id="tok"))
    assert dims["t"] == Entries(((0, Named("tok", hint=16)),))
    assert [(note.code, note.taken, note.others) for note in notes[:-1]] == [
        ("legacy-choice", "the hint 16", ("the hint 8",))
    ]


def test_marks_of_one_dim_that_differ_say_what_was_taken() -> None:
    _, notes = dims_of([Marked("x", (Mark("dynamic", 1, 2, 64), Mark("dynamic", 1, 4)), 2)], Report())
    assert (notes[0].message, notes[0].taken, notes[0].places) == (
        "several marks of one dim, with [2, 64] and [4, inf]: torch obeys any one of them",
        "what all of them allow, [4, 64]",
        ("x.shape[1]",),
    )


def test_bounds_that_exclude_each_other() -> None:
    report, _, _ = shared(Mark("unbacked", 0, 8, None, shape_id="tok"), Mark("unbacked", 0, None, 4, shape_id="tok"))
    assert [(error.code, error.message) for error in report.errors] == [
        ("legacy-bounds", "the marks of `tok` exclude each other: [8, inf] and [0, 4]")
    ]


def test_state_is_read_off_a_tensor() -> None:
    """Duck-typed: what torch keeps on a tensor."""
    tensor = SimpleNamespace(
        _dynamo_unbacked_indices={0},
        _dynamo_unbacked_bounds={0: (1, None)},
        _dynamo_shape_ids={0: "tok"},
        _dynamo_hint_overrides={0: 16, 1: 4},
        _dynamo_dynamic_indices={1},
        _dynamo_dynamic_range=[
            SimpleNamespace(dim=1, min=2, max=64),
            SimpleNamespace(dim=1, min=None, max=32),
        ],
        _dynamo_weak_dynamic_indices={2},
        _dynamo_static_indices={0},
        _specialize_on={1: [len]},
    )
    assert marks_of(tensor) == (
        Mark("unbacked", 0, 1, None, 16, "tok"),
        Mark("dynamic", 1, 2, 32, 4, specialized=True),
        Mark("maybe", 2),
        Mark("static", 0),
    )
    assert marks_of(SimpleNamespace()) == ()


# --------------------------------------------------------------------------------- with torch's own


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="marks sit on tensors")


def converted(args: tuple[Any, ...], fn: Any, shapes: Any = None) -> sd.Converted:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.ShapeWarning)
        return sd.from_dims(shapes, args, fn=fn)


def test_marks_then_a_compile(torch: Any) -> None:
    from torch._dynamo.decorators import mark_unbacked

    h, t = torch.ones(16, 4), torch.ones(16)

    def step(h: Any, t: Any) -> Any:
        return (h * 2).sum() + t.sum()

    torch._dynamo.mark_dynamic(h, -1, min=2, max=64)
    mark_unbacked(h, 0, shape_id="tok", hint_override=16, min=1)
    mark_unbacked(t, 0, shape_id="tok")
    torch._dynamo.mark_static(t)
    spec = converted((h, t), step)
    assert str(spec).splitlines() == [
        "def step(h: Tensor[tok, h_1], t: Tensor[tok]):",
        "    dim h_1 in [2, 64]",
        "    dim tok in [1, inf] hint 16",
    ]
    assert spec.verdict == "loss"

    frames = 0

    def counted(graph: Any, inputs: Any) -> Any:
        nonlocal frames
        frames += 1
        return graph.forward

    fast = sd.compile(step, spec, backend=counted)
    for rows, columns in ((16, 4), (3, 2), (1, 64)):
        assert fast(torch.ones(rows, columns), torch.ones(rows)).item() == 2 * rows * columns + rows
    assert frames == 1
    for wrong in (torch.ones(0, 4), torch.ones(16, 65), torch.ones(16, 1)):
        with pytest.raises(sd.ShapeError):
            fast(wrong, torch.ones(16))


def test_static_marks_alone_reject_nothing(torch: Any) -> None:
    from torch._dynamo import mark_static

    x = torch.ones(3, 4)
    mark_static(x, 0)
    spec = converted((x,), lambda x: x)
    assert (str(spec), spec.verdict, spec.notes) == ("def _lambda(x: _): ...", "exact", ())


def test_marks_deep_in_the_arguments(torch: Any) -> None:
    x, y = torch.ones(3, 4), torch.ones(5)
    torch._dynamo.mark_dynamic(x, 0)
    torch._dynamo.maybe_mark_dynamic(y, 0)

    def f(feed: Any, *rest: Any) -> None: ...

    spec = converted(({"x": [x, None]}, 2, (y,)), f)
    assert str(spec) == 'def f(feed: {"x": [Tensor[feed_x_0_0, _], _]}, *rest: [_, (Tensor[rest_1_0_0],)]): ...'


def test_a_spec_hides_marks_and_an_empty_one_does_not(torch: Any) -> None:
    """So does torch.export, which wipes the marks first, unless the spec is empty."""
    x = torch.ones(3, 4)

    class Net(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x.sum()

    for shapes, dynamic in ((None, True), ({}, True), ((), True), ({"x": {}}, False), ({"x": None}, False)):
        torch._dynamo.mark_dynamic(x, 0)
        spec = converted((x,), Net(), shapes)
        assert ("x_0" in str(spec)) == dynamic
        program = torch.export.export(Net(), (x,), dynamic_shapes=shapes)
        size = next(node.meta["val"].shape[0] for node in program.graph.nodes if node.op == "placeholder")
        assert isinstance(size, int) != dynamic
