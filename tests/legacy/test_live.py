"""Reading live objects without torch: classes are known by name, so objects that look like torch's are enough."""

from __future__ import annotations

import json
import math
import pickle
import re
from collections import OrderedDict, deque, namedtuple
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

import pytest

import shapedsl as sd
from shapedsl.diagnostics import Report, ShapeError
from shapedsl.frontends.legacy.live import NotLegacyError, tree_of
from shapedsl.frontends.legacy.model import Derived, Entries, Hint, Hinted, Items, Named, Pinned, Unsaid
from shapedsl.frontends.legacy.telling import tell
from shapedsl.frontends.legacy.verdict import Note, Verdict


class Dim:
    """What torch's ``Dim`` shows of itself."""

    def __init__(self, name: str, *, min: Any = 0, max: Any = math.inf) -> None:
        self.__name__ = name
        self.min = min
        self.max = max


class _DerivedDim(Dim):
    def __init__(self, name: str, root: Dim, fn: Callable[[int], int]) -> None:
        self.__name__ = name
        self.root = root
        self.fn = fn


class _StaticDim(Dim):
    def __init__(self, value: int) -> None:
        self.value = value


class _Kind(Enum):
    AUTO = auto()
    DYNAMIC = auto()
    STATIC = auto()


class _DimHint:
    def __init__(self, kind: str, min: int | None = None, max: int | None = None) -> None:
        self.type = _Kind[kind]
        self.min = min
        self.max = max


for kind in (Dim, _DerivedDim, _StaticDim, _DimHint):
    kind.__module__ = "torch.export.dynamic_shapes"

B = Dim("b")
State = namedtuple("State", "h c")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, Unsaid()),
        (7, Pinned(7)),
        (B, Named("b")),
        (Dim("b", min=2, max=16), Named("b", 2, 16)),
        (Dim("b", min=-3), Named("b")),
        (Dim("b", max=2**63 - 2), Named("b", None, 2**63 - 2)),
        (Dim("b", max=2**63 - 1), Named("b")),
        (Dim("b", max=2**70), Named("b")),
        (_DerivedDim("2*b + 1", B, lambda x: x * 2 + 1), Derived(Named("b"), 2, 1)),
        (_DerivedDim("b - 3", Dim("b", min=3), lambda x: x - 3), Derived(Named("b", 3), 1, -3)),
        (_DerivedDim("b", B, lambda x: (x + 1) - 1), Named("b")),
        (_StaticDim(4), Pinned(4)),
        (_DimHint("AUTO"), Hinted(Hint.AUTO)),
        (_DimHint("DYNAMIC", 2, 64), Hinted(Hint.DYNAMIC, 2, 64)),
        (_DimHint("STATIC"), Hinted(Hint.STATIC)),
        ({}, Entries(())),
        ({0: B, -1: 3}, Entries(((0, Named("b")), (-1, Pinned(3))))),
        (OrderedDict(x=None), Entries((("x", Unsaid()),))),
        ([B, None], Items("list", (Named("b"), Unsaid()))),
        ((B,), Items("tuple", (Named("b"),))),
        (deque([None]), Items("list", (Unsaid(),))),
        (State({0: B}, None), Items("namedtuple", (Entries(((0, Named("b")),)), Unsaid()), ("h", "c"))),
    ],
    ids=lambda value: re.sub(
        r"<[\w.]+ object at \w+>", "Dim", str(value)
    ),  # an address would be another in each worker
)
def test_an_object_is_read(given: Any, expected: object) -> None:
    assert tree_of(given) == expected


def test_a_dim_of_older_releases_is_a_class() -> None:
    meta = type("_Dim", (type,), {"__module__": "torch.export.dynamic_shapes"})
    old = meta("b", (int,), {"min": 2, "max": 9})
    assert tree_of([old]) == Items("list", (Named("b", 2, 9),))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"x": {0: 2.5}}, "`dynamic_shapes['x'][0]` is a float: a dim is a Dim, one of its hints, an int or None"),
        ({"x": [True]}, "`dynamic_shapes['x'][0]` is a bool: a dim is a Dim, one of its hints, an int or None"),
        ({"x": {(0, 1): B}}, "`dynamic_shapes['x']` has the key `(0, 1)`: a key is text or an int"),
        ("x", "`dynamic_shapes` is a str: of texts, the JSON of a dump is read"),
        (
            [_DerivedDim("b**2", B, lambda x: x * x)],
            "`dynamic_shapes[0]` is `b**2`, and torch derives dims by `a*d + b` with a >= 1 only",
        ),
        (
            [_DerivedDim("9 - b", B, lambda x: 9 - x)],
            "`dynamic_shapes[0]` is `9 - b`, and torch derives dims by `a*d + b` with a >= 1 only",
        ),
    ],
    ids=["float", "bool", "key", "text", "square", "falling"],
)
def test_what_is_no_dim_is_refused(given: Any, message: str) -> None:
    with pytest.raises(NotLegacyError) as error:
        tree_of(given)
    assert str(error.value) == message


def test_a_spec_that_holds_itself_is_refused() -> None:
    spec: list[Any] = []
    spec.append(spec)
    with pytest.raises(NotLegacyError, match="holds itself"):
        tree_of(spec)


# ------------------------------------------------------------------------------- without an example


def lines(spec: sd.Spec) -> list[str]:
    """Returns the text of a spec, a line each."""
    return str(spec).splitlines()


def test_names_come_from_a_dict_alone() -> None:
    spec = sd.from_dims(
        {
            "x": (Dim("rows", min=1, max=64), None),
            "w": [_DerivedDim("2*rows", Dim("rows", min=1, max=64), lambda n: 2 * n)],
        }
    )
    assert lines(spec) == ["def f(x: Tensor[rows, _], w: Tensor[2 * rows]):", "    dim rows in [1, 64]"]
    assert (spec.verdict, spec.summary) == ("stricter", "exact as declared, stricter at run time")
    assert repr(spec) == "<Converted f: exact as declared, stricter at run time>"


def test_a_rank_that_nobody_knows_stays_open() -> None:
    assert lines(sd.from_dims({"x": {1: B}})) == ["def f(x: Tensor[_, b, ...]): ..."]


def test_positions_are_those_of_the_callable() -> None:
    def scale(x: object, *, by: object = None) -> None: ...

    spec = sd.from_dims(((B, None), (B,)), fn=scale)
    assert lines(spec) == ["def scale(x: Tensor[b, _], *, by: Tensor[b] = _): ..."]


def test_positions_need_a_callable() -> None:
    with pytest.raises(ShapeError) as error:
        sd.from_dims(((B,),))
    assert error.value.code == "legacy-parameter"


def test_nothing_said() -> None:
    def f(x: object) -> None: ...

    said: list[Any] = [None, {}, (), []]
    for nothing in said:
        spec = sd.from_dims(nothing, fn=f)
        assert (lines(spec), spec.verdict) == (["def f(x: _): ..."], "exact")


def test_choices_are_warned_of_and_all_notes_are_kept() -> None:
    with pytest.warns(sd.ShapeWarning, match="legacy-choice"):
        spec = sd.from_dims({"x": (_DimHint("AUTO"), Dim("b", min=1), _DimHint("STATIC", 1, 4))})
    assert spec.verdict == "choice"
    assert [diagnostic.code for diagnostic in spec.diagnostics] == ["legacy-choice", "legacy-note", "legacy-stricter"]
    assert [note.code for note in spec.notes] == [diagnostic.code for diagnostic in spec.diagnostics]


def test_a_conversion_can_be_pickled() -> None:
    spec = sd.from_dims({"x": (Dim("b", min=2),)})
    copy = pickle.loads(pickle.dumps(spec))
    assert (copy, copy.verdict, copy.notes, copy.diagnostics) == (spec, spec.verdict, spec.notes, spec.diagnostics)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"args": [1.0][0]}, "args= takes a tuple of example inputs, not float"),
        ({"kwargs": ["x"]}, "kwargs= takes a dict of example inputs, not list"),
        ({"probe": True}, "probe=True runs the legacy export"),
    ],
    ids=["args", "kwargs", "probe"],
)
def test_arguments_are_checked(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        sd.from_dims({"x": (B,)}, **arguments)


# --------------------------------------------------------------------------------- with an example


def test_the_example_tells_containers_from_axes() -> None:
    """No tensor is needed: an int is an input, too."""

    def f(x: object, pair: object, n: object) -> None: ...

    given = ([1, 2], {0: 3, "k": 4}, 5)
    with pytest.warns(sd.ShapeWarning):
        spec = sd.from_dims(([None, _DimHint("DYNAMIC", 1, 9)], {0: _DimHint("AUTO"), "k": None}, None), given, fn=f)
    assert lines(spec) == [
        'def f(x: [_, Scalar[x_1]], pair: {0: Scalar[pair_0], "k": _}, n: _):',
        "    int pair_0 in [0, inf]",
        "    int x_1 in [1, 9]",
    ]


def test_a_dict_names_the_arguments_where_there_is_no_callable() -> None:
    spec = sd.from_dims({"a": None, "b": _DimHint("DYNAMIC")}, (1,), {"b": 2})
    assert lines(spec) == ["def f(a: _, *, b: Scalar[b]):", "    int b in [0, inf]"]
    with pytest.raises(ShapeError) as error:
        sd.from_dims({"a": None}, (1, 2))
    assert error.value.code == "legacy-parameter"


def test_axes_at_the_top_beside_a_keyword() -> None:
    with pytest.raises(ShapeError) as error:
        sd.from_dims({0: B, "k": None}, (1,), {"k": 2})
    assert error.value.code in ("legacy-parameter", "legacy-top-level")


def test_arguments_have_numbers_where_nothing_names_them() -> None:
    assert lines(sd.from_dims([None, _DimHint("DYNAMIC")], (1,), {"k": 2})) == [
        "def f(arg0: _, *, k: Scalar[k]):",
        "    int k in [0, inf]",
    ]


def test_an_example_that_does_not_fit() -> None:
    def f(x: object) -> None: ...

    with pytest.raises(TypeError, match="too many positional arguments"):
        sd.from_dims({"x": None}, (1, 2), fn=f)


# ------------------------------------------------------------------------------ other tools' specs


def test_a_dump_is_read_in_the_order_of_the_call() -> None:
    """torch's own loader rejects ``"max": null``."""
    text = """{"dynamic_shapes": [["nb", 3], {"k": ["2*nb + 1"]}, null],
               "dims": {"nb": {"min": 1, "max": null, "derived": ["2*nb + 1"]}}}"""

    def f(x: object, *rest: object) -> None: ...

    for dump in (text, json.loads(text)):
        mapping = '{"k": Tensor[2 * nb + 1]}'
        assert lines(sd.from_dims(dump))[0] == f"def f(arg0: Tensor[nb, 3], arg1: {mapping}, arg2: _):"
        assert (
            lines(sd.from_dims(dump, fn=lambda x, y, z: None))[0]
            == f"def _lambda(x: Tensor[nb, 3], y: {mapping}, z: _):"
        )
        assert lines(sd.from_dims(dump, fn=f))[0] == f"def f(x: Tensor[nb, 3], *rest: [{mapping}, _]):"
    with pytest.raises(ShapeError) as error:
        sd.from_dims(text, fn=lambda x: None)
    assert error.value.code == "legacy-parameter"


class Input:
    """What ``torch_tensorrt.Input`` shows of itself."""

    def __init__(self, *shapes: tuple[int, ...], name: str = "", shared: dict[int, str] | None = None) -> None:
        self.shape = (
            dict(zip(("min_shape", "opt_shape", "max_shape"), shapes, strict=True)) if shapes[1:] else shapes[0]
        )
        self.name = name
        self.shared_dims = shared


Input.__module__ = "torch_tensorrt._Input"


def test_engine_inputs() -> None:
    q = Input((1, 8, 64), (4, 32, 64), (16, 128, 64), name="q", shared={0: "B"})
    fixed = Input((1, 64))

    def f(q: object, fixed: object) -> None: ...

    expected = [
        "def f(q: Tensor[B, q_1, 64], fixed: Tensor[1, 64]):",
        "    dim B in [1, 16] hint 4",
        "    dim q_1 in [8, 128] hint 32",
    ]
    for inputs in ([q, fixed], (q, fixed), {"fixed": fixed, "q": q}):
        assert lines(sd.from_dims(inputs, fn=f)) == expected
    assert lines(sd.from_dims(fixed)) == ["def f(arg0: Tensor[1, 64]): ..."]
    with pytest.warns(sd.ShapeWarning, match="the Inputs in a container are not read"):
        assert sd.from_dims([q, [q]], fn=f).verdict == "loss"
    assert lines(sd.from_dims([q, 3.5], fn=f))[0] == "def f(q: Tensor[B, q_1, 64], fixed: _):"
    with pytest.raises(ShapeError, match="no parameter `k`"):
        sd.from_dims({"k": fixed}, fn=f)


def test_dynamic_axes() -> None:
    axes = {"ids": {0: "batch", 1: "seq"}, "image": [2], "mask": {0: "batch"}}
    with pytest.warns(sd.ShapeWarning, match="nothing compared the sizes labeled `batch`"):
        spec = sd.from_dims(axes, input_names=["ids", "image", "mask"])
    assert lines(spec) == [
        "def f(",
        "    ids: Tensor[batch, seq, ...],",
        "    image: Tensor[_, _, image_2, ...],",
        "    mask: Tensor[batch, ...],",
        "): ...",
    ]

    def f(ids: object, mask: object) -> None: ...

    assert lines(sd.from_dims({"ids": {0: "batch"}, "out": {0: "batch"}}, fn=f)) == [
        "def f(ids: Tensor[batch, ...], mask: _): ..."
    ]
    with pytest.raises(ShapeError) as error:
        sd.from_dims({"ids": {0: "batch"}})
    assert error.value.code == "legacy-parameter"


def test_axes_of_no_input_are_a_loss() -> None:
    def f(ids: object) -> None: ...

    with pytest.warns(sd.ShapeWarning, match="pass `input_names=`"):
        assert sd.from_dims({"tokens": {0: "batch"}}, fn=f).verdict == "loss"


@pytest.mark.parametrize("axes", [({0: "b"},), {"x": 3}, {"x": {"y": "b"}}, {"x": {0: 2.5}}, None], ids=str)
def test_names_of_inputs_belong_to_dynamic_axes(axes: Any) -> None:
    with pytest.raises(ShapeError, match="`input_names=` belongs to `dynamic_axes`") as error:
        sd.from_dims(axes, input_names=["x"])
    assert error.value.code == "legacy-parameter"


def test_labels_beside_dims() -> None:
    """``torch.onnx.export`` takes texts for dims, also by position."""

    def f(ids: object, mask: object) -> None: ...

    with pytest.warns(sd.ShapeWarning, match="nothing compared"):
        spec = sd.from_dims((("batch", B), {0: "batch"}), fn=f)
    assert lines(spec) == ["def f(ids: Tensor[batch, b], mask: Tensor[batch, ...]): ..."]


# ------------------------------------------------------------------------------------------- notes


def test_a_note_is_told() -> None:
    report = Report()
    tell(
        [
            Note(Verdict.CHOICE, "legacy-choice", "nobody knows", ("x.shape[0]", "y"), "this", ("that", "more")),
            Note(Verdict.STRICTER, "legacy-stricter", "size 0 ran"),
        ],
        report,
    )
    choice, stricter = report.diagnostics
    assert (choice.severity.value, choice.notes) == (
        "warning",
        ("at `x.shape[0]`, `y`", "taken: this", "it could also be that", "it could also be more"),
    )
    assert (stricter.severity.value, stricter.notes) == ("note", ())
