"""Formats that need no torch: dumps, ``dynamic_axes``, TensorRT's inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest

import shapedsl as sd
from shapedsl.diagnostics import Report
from shapedsl.frontends.legacy.convert import convert
from shapedsl.frontends.legacy.dump import is_dump, read_dump
from shapedsl.frontends.legacy.model import (
    Input,
    LegacySpec,
    MappingInput,
    ObjectInput,
    SequenceInput,
    TensorInput,
    UnknownInput,
)
from shapedsl.frontends.legacy.onnx import read_dynamic_axes
from shapedsl.frontends.legacy.tensorrt import EngineInput, engine_input, is_engine_input, read_engine_inputs
from shapedsl.frontends.legacy.verdict import Conversion, Verdict
from shapedsl.ir import AnyType, Module, Param
from shapedsl.ir.write_defs import write_module


def params(names: str) -> tuple[Param, ...]:
    return tuple(Param(name, AnyType()) for name in names.split())


def converted(spec: LegacySpec | None, report: Report) -> Conversion:
    assert report.errors == ()
    assert spec is not None
    made = convert(spec, report)
    assert report.errors == ()
    assert made is not None
    return made


def same(made: Conversion, expected: str) -> None:
    text = write_module(Module((made.signature,)))
    assert sd.loads(text)["f"] == sd.loads(expected)["f"], text


def messages(made: Conversion, code: str) -> list[str]:
    return [note.message for note in made.notes if note.code == code]


# ----------------------------------------------------------------------------------------- dumps

DUMP: dict[str, Any] = {
    "dynamic_shapes": [["nb", 3], ["2*nb + 1", "_DimHint.STATIC"], ["_DimHint.AUTO", 4], None],
    "dims": {"nb": {"min": 1, "max": None, "derived": ["2*nb + 1"]}},
}


@dataclass
class RootDim:
    """Torch's class of this name."""

    min: int
    max: int | None
    derived: list[str] = field(default_factory=list[str])


@dataclass
class DynamicShapesSpec:
    """Torch's class of this name."""

    dynamic_shapes: Any
    dims: dict[str, RootDim]


def dumped(dump: object, **more: Any) -> Conversion:
    assert is_dump(dump)
    report = Report()
    return converted(read_dump(dump, report, **more), report)


def refused(dump: object) -> str:
    report = Report()
    assert read_dump(dump, report) is None
    return report.errors[0].code


AS_OBJECT = DynamicShapesSpec(
    (["nb", 3], ["2*nb + 1", "_DimHint.STATIC"], ["_DimHint.AUTO", 4], None), {"nb": RootDim(1, None)}
)


@pytest.mark.parametrize("dump", [DUMP, json.dumps(DUMP), AS_OBJECT], ids=["dict", "text", "object"])
def test_a_dump(dump: object) -> None:
    made = dumped(dump)
    same(
        made,
        "def f(arg0: Tensor[nb, 3], arg1: Tensor[2*nb + 1, _], arg2: Tensor[arg2_0, 4], arg3: _):\n"
        "    dim nb in [1, inf]",
    )
    assert made.verdict is Verdict.CHOICE
    remarks = [note for note in made.notes if note.code == "legacy-note"]
    assert [note.places for note in remarks] == [
        ("arg0", "arg1", "arg2", "arg3"),  # no names
        ("arg0.shape[1]", "arg2.shape[1]"),  # numbers that may have been None
    ]
    (unbounded,) = [note for note in made.notes if note.message.startswith("a dump does not hold the bounds")]
    assert (unbounded.verdict, unbounded.places, unbounded.taken) == (Verdict.CHOICE, ("arg2.shape[0]",), "no bounds")


def test_a_dump_takes_the_names_of_a_signature() -> None:
    same(
        dumped(DUMP, params=params("x y z w")),
        "def f(x: Tensor[nb, 3], y: Tensor[2*nb + 1, _], z: Tensor[z_0, 4], w: _):\n    dim nb in [1, inf]",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*n", "2*n"),
        ("n + 1", "n + 1"),
        ("n - 1", "n - 1"),
        ("2*n + 1", "2*n + 1"),
        ("1 + n", "n + 1"),
        ("-2 + 3*n", "3*n - 2"),
        ("2*(n + 1)", "2*n + 2"),
        ("n*2 - 1", "2*n - 1"),
        ("(n)", "n"),
    ],
)
def test_derived_sizes_are_parsed(text: str, expected: str) -> None:
    dump: dict[str, Any] = {"dynamic_shapes": [["n"], [text]], "dims": {"n": {"min": 3, "max": 8, "derived": [text]}}}
    same(dumped(dump), f"def f(arg0: Tensor[n], arg1: Tensor[{expected}]):\n    dim n in [3, 8]")


@pytest.mark.parametrize("text", ["n**2", "n*n", "n + m", "m", "n//2", "-n", "f(n)", "n +", "", "__import__('os')"])
def test_what_is_no_size(text: str) -> None:
    dump: dict[str, Any] = {"dynamic_shapes": [[text]], "dims": {"n": {"min": 0, "max": None, "derived": []}}}
    assert refused(dump) == "legacy-names"


def test_containers_in_a_dump() -> None:
    dump: dict[str, Any] = {
        "dynamic_shapes": [[["n", 2], None, []], {"a": ["n"], "b": [["n"], [["n"]]]}],
        "dims": {"n": {"min": 0, "max": None, "derived": []}},
    }
    same(
        dumped(dump),
        'def f(arg0: [Tensor[n, 2], _, _], arg1: {"a": Tensor[n], "b": [Tensor[n], [Tensor[n]]]}): ...',
    )


def test_names_that_sympy_takes_for_constants() -> None:
    dump: dict[str, Any] = {
        "dynamic_shapes": [["S", "N"], ["2*S"]],
        "dims": {k: {"min": 0, "max": 9, "derived": []} for k in "SN"},
    }
    same(dumped(dump), "def f(arg0: Tensor[S, N], arg1: Tensor[2*S]):\n    dim S, N in [0, 9]")


def test_a_dump_of_nothing() -> None:
    made = dumped({"dynamic_shapes": None, "dims": {}}, params=params("x"))
    same(made, "def f(x): ...")
    assert made.verdict is Verdict.EXACT


@pytest.mark.parametrize(
    "dump",
    [
        "{",
        "[]",
        '{"dims": {}}',
        {"dynamic_shapes": 3, "dims": {}},
        {"dynamic_shapes": [], "dims": []},
        {"dynamic_shapes": [], "dims": {"n": {"min": "0", "max": None}}},
        {"dynamic_shapes": [], "dims": {"n": None, "m": {"min": 1.5}}},
        {"dynamic_shapes": [], "dims": {"n": {"min": 1, "max": 8.0}}},
        {"dynamic_shapes": [], "dims": {"n": {"min": 1, "max": "8"}}},
        {"dynamic_shapes": [], "dims": {"n": {"min": 1, "max": True}}},
        "[" * 100_000,
    ],
)
def test_what_is_no_dump(dump: object) -> None:
    assert refused(dump) == "legacy-parameter"


def test_a_dump_that_is_nested_too_deeply() -> None:
    inside: list[Any] = ["n"]
    for _ in range(5000):
        inside = [inside]
    assert refused({"dynamic_shapes": inside, "dims": {}}) == "input-too-large"


def test_endless_bounds_in_a_dump() -> None:
    text = '{"dynamic_shapes": [["n"]], "dims": {"n": {"min": 3, "max": Infinity, "derived": []}}}'
    same(dumped(text), "def f(arg0: Tensor[n]):\n    dim n in [3, inf]")
    most: dict[str, Any] = {"dynamic_shapes": [["n"]], "dims": {"n": {"min": 3, "max": 2**63 - 1, "derived": []}}}
    same(dumped(most), "def f(arg0: Tensor[n]):\n    dim n in [3, inf]")


def test_what_is_static_in_a_dict_of_a_dump_is_there_all_the_same() -> None:
    dump: dict[str, Any] = {
        "dynamic_shapes": [{"ids": ["n"], "scale": None, "more": {"mask": ["n"], "flag": None}}],
        "dims": {"n": {"min": 0, "max": 8, "derived": []}},
    }
    same(
        dumped(dump),
        'def f(arg0: {"ids": Tensor[n], "scale": _, "more": {"mask": Tensor[n], "flag": _}}):\n    dim n in [0, 8]',
    )


def test_what_is_a_dump() -> None:
    assert not any(map(is_dump, [{"x": {0: None}}, {}, (), None, "net.shapes", 3]))


# ---------------------------------------------------------------------------------- dynamic_axes


def read_axes(axes: Any, **more: Any) -> Conversion:
    report = Report()
    return converted(read_dynamic_axes(axes, report, **more), report)


def test_labels_are_variables() -> None:
    made = read_axes(
        {"ids": {0: "batch", 1: "seq len"}, "mask": {0: "batch"}, "logits": {0: "batch"}},
        input_names=["ids", "mask"],
        output_names=["logits"],
    )
    same(made, "def f(ids: Tensor[batch, seq_len, ...], mask: Tensor[batch, ...]): ...")
    assert made.verdict is Verdict.CHOICE
    (shared,) = [note for note in made.notes if note.code == "legacy-choice"]
    assert shared.places == ("ids.shape[0]", "mask.shape[0]")
    assert shared.taken == "one size, `batch`"
    assert messages(made, "legacy-note") == ["the label `seq len` became the variable `seq_len`"]


def test_a_label_that_stands_once_is_exact() -> None:
    made = read_axes({"x": {0: "n"}}, params=params("x"), inputs={"x": TensorInput(2)})
    same(made, "def f(x: Tensor[n, _]): ...")
    assert made.verdict is Verdict.EXACT
    assert made.notes == ()


def test_axes_without_labels() -> None:
    made = read_axes({"x": [0, 2], "y": []}, params=params("x y"), inputs={"x": TensorInput(3), "y": TensorInput(1)})
    same(made, "def f(x: Tensor[x_0, _, x_2], y: _): ...")


def test_labels_that_are_respelled_alike_stay_apart() -> None:
    made = read_axes({"x": {0: "a b", 1: "a-b", 2: 3, 3: "inf"}}, params=params("x"), inputs={"x": TensorInput(4)})
    same(made, "def f(x: Tensor[a_b, a_b_2, size_3, inf_]): ...")


NESTED: Mapping[str, Input] = {
    "x": TensorInput(1),
    "past": SequenceInput("list", (TensorInput(2), MappingInput((("k", TensorInput(1)),)))),
    "st": ObjectInput("State", (("h", TensorInput(1)), ("c", TensorInput(1))), is_namedtuple=True),
}


def test_names_of_the_graph_are_those_of_the_flattened_inputs() -> None:
    made = read_axes(
        {"b": {0: "n"}, "c": {0: "m"}, "e": {0: "k"}},
        input_names=["a", "b", "c", "d", "e"],
        params=params("x past st"),
        inputs=NESTED,
    )
    same(made, 'def f(x, past: [Tensor[n, _], {"k": Tensor[m]}], st: State(c: Tensor[k])): ...')
    assert '`b` is `past[0]`, `c` is `past[1]["k"]`, `e` is `st.c`' in messages(made, "legacy-note")[0]


def test_inputs_that_nobody_knows_are_tensors() -> None:
    made = read_axes(
        {"a": [0], "b": {-1: "m"}},
        input_names=["a", "b"],
        params=params("x y"),
        inputs={"x": UnknownInput(), "y": UnknownInput()},
    )
    same(made, "def f(x: Tensor[x_0, ...], y: Tensor[..., m]): ...")
    assert not any("described alike" in note.message for note in made.notes)


def test_names_beyond_those_given_are_the_parameters() -> None:
    made = read_axes({"a": {0: "n"}, "y": {0: "m"}}, input_names=["a"], params=params("x y"))
    same(made, "def f(x: Tensor[n, ...], y: Tensor[m, ...]): ...")


def test_names_of_outputs_and_of_nothing() -> None:
    made = read_axes({"x": {0: "n"}, "out": {0: "n"}}, params=params("x"))
    assert made.verdict is Verdict.EXACT  # an output, as far as one can tell
    assert "`out` in `dynamic_axes` names no input" in messages(made, "legacy-note")[0]
    made = read_axes({"ids": {0: "n"}, "maks": {0: "n"}}, input_names=["ids", "mask"], output_names=["out"])
    assert made.verdict is Verdict.LOSS
    assert messages(made, "legacy-loss")[0].endswith("did you mean `mask`?")


def test_a_name_much_like_an_inputs_is_a_choice() -> None:
    made = read_axes({"ids": {0: "n"}, "maks": {0: "n"}}, input_names=["ids", "mask"])
    assert made.verdict is Verdict.CHOICE
    (note,) = [note for note in made.notes if note.message.startswith("`maks`")]
    assert (note.taken, note.others) == ("dropped, as torch does", ("meant for `mask`",))


def test_labels_that_outputs_alone_have_are_a_loss() -> None:
    names: dict[str, Any] = {"input_names": ["x"], "output_names": ["y", "z"]}
    made = read_axes({"x": {0: "n"}, "y": {0: "n", 1: "m"}, "z": {0: "m", 1: "k"}}, **names)
    assert made.verdict is Verdict.LOSS
    assert messages(made, "legacy-loss") == [
        "the output `y` has labels that no input has, which have no counterpart: `m`",
        "the output `z` has labels that no input has, which have no counterpart: `m`, `k`",
    ]
    for said in ({0: "n"}, [0, 1], {}):
        assert read_axes({"x": {0: "n"}, "y": said}, **names).verdict is Verdict.EXACT


def test_names_that_nothing_explains() -> None:
    report = Report()
    assert read_dynamic_axes({"x": {0: "n"}}, report) is None
    assert report.errors[0].code == "legacy-parameter"


# -------------------------------------------------------------------------------------- TensorRT


@dataclass
class Input_:  # noqa: N801  # named as the class whose objects it stands for
    """What ``torch_tensorrt.Input`` holds."""

    shape: Any
    name: str = ""
    shared_dims: dict[int, str] | None = None
    dtype: Any = None
    format: Any = None
    tensor_domain: tuple[float, float] = (0.0, 2.0)
    is_shape_tensor: bool = False


Input_.__name__, Input_.__module__ = "Input", "torch_tensorrt._Input"


def profile(least: Any, best: Any, most: Any, name: str = "", shared: dict[int, str] | None = None) -> Input_:
    return Input_({"min_shape": least, "opt_shape": best, "max_shape": most}, name, shared)


def engine(*inputs: Any, **more: Any) -> Conversion:
    report = Report()
    given = [None if each is None else engine_input(each) for each in inputs]
    return converted(read_engine_inputs(given, report, **more), report)


Q = profile((1, 8, 64), [4, 32, 64], (16, 128, 64), "q", {0: "B"})
K = profile((1, 8, 64), [4, 32, 64], (16, 128, 64), "k", {0: "B"})


def test_profiles_are_ranges_with_hints() -> None:
    made = engine(Q, K, Input_((1, 64)))
    same(
        made,
        "def f(arg0: Tensor[B, q_1, 64], arg1: Tensor[B, k_1, 64], arg2: Tensor[1, 64]):\n"
        "    dim B in [1, 16] hint 4\n    dim q_1, k_1 in [8, 128] hint 32",
    )
    assert made.verdict is Verdict.CHOICE
    (alike,) = [note for note in made.notes if note.code == "legacy-choice"]
    assert alike.places == ("arg0.shape[1]", "arg1.shape[1]")
    assert "stricter" not in {note.verdict.value for note in made.notes}  # engines check their profiles


def test_inputs_without_names_are_named_by_the_parameters() -> None:
    made = engine(profile((1, 2), (2, 2), (4, 2)), None, params=params("x y"))
    same(made, "def f(x: Tensor[x_0, 2], y: _):\n    dim x_0 in [1, 4] hint 2")
    assert made.verdict is Verdict.EXACT


def test_a_name_that_is_shared_is_not_given_again() -> None:
    made = engine(profile((1, 1), (2, 2), (4, 5), "x", {-1: "x_0"}))
    same(made, "def f(arg0: Tensor[x_0_2, x_0]):\n    dim x_0_2 in [1, 4] hint 2\n    dim x_0 in [1, 5] hint 2")


@pytest.mark.parametrize(
    "given",
    [
        EngineInput((1, 2), (2,), (4, 2)),
        EngineInput((3,), (2,), (4,)),
        EngineInput((1,), (5,), (4,)),
    ],
)
def test_profiles_that_are_none(given: EngineInput) -> None:
    report = Report()
    assert read_engine_inputs([given], report) is None
    assert report.errors[0].code == "legacy-bounds"


def test_one_shared_name_with_two_ranges() -> None:
    report = Report()
    given = [EngineInput((1,), (2,), (top,), shared={0: "B"}) for top in (4, 5)]
    spec = read_engine_inputs(given, report)
    assert spec is not None
    assert convert(spec, report) is None
    assert report.errors[0].code == "legacy-bounds"


class EngineDtype(Enum):
    """What ``torch_tensorrt.dtype`` is."""

    unknown = 0
    f16 = 1
    half = f16
    i32 = 2
    f8 = 3
    f4 = 4


class Layout(Enum):
    linear = 0
    hwc = 1


class numpy_int64:  # noqa: N801  # named as the class that it stands for
    pass


numpy_int64.__name__ = "int64"


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (EngineDtype.f16, "float16"),
        (EngineDtype.half, "float16"),
        (EngineDtype.i32, "int32"),
        (EngineDtype.f8, "float8_e4m3fn"),
        ("torch.bfloat16", "bfloat16"),
        ("torch.long", "int64"),
        ("DataType.HALF", "float16"),
        (numpy_int64, "int64"),
    ],
)
def test_dtypes_of_inputs_are_kept(given: Any, dtype: str) -> None:
    made = engine(Input_((1, 64), dtype=given), params=params("x"))
    same(made, f"def f(x: {dtype}[1, 64]): ...")
    assert (made.verdict, made.notes) == (Verdict.EXACT, ())
    same(engine(Input_((), dtype=given), params=params("x")), f"def f(x: {dtype}[()]): ...")


@pytest.mark.parametrize("given", [None, EngineDtype.unknown])
def test_an_input_without_a_dtype_takes_any(given: Any) -> None:
    made = engine(Input_((1, 64), dtype=given), params=params("x"))
    same(made, "def f(x: Tensor[1, 64]): ...")
    assert [(note.verdict, note.message, note.places) for note in made.notes] == [
        (Verdict.EXACT, "no dtype is stated: TensorRT takes float32 for it, the spec any", ("x",))
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Input_((4,), dtype=EngineDtype.f4), "`f4` is no dtype that a spec can say"),
        (Input_((4,), format=Layout.hwc), "the memory format `hwc` has no counterpart"),
        (Input_((4,), format="torch.channels_last"), "the memory format `channels_last` has no counterpart"),
        (Input_((4,), tensor_domain=(-1, 0.5)), "the domain of its values, [-1, 0.5), has no counterpart"),
    ],
)
def test_what_an_input_says_beside_its_sizes_is_a_loss(given: Input_, message: str) -> None:
    made = engine(given, params=params("x"))
    same(made, "def f(x: Tensor[4]): ...")
    assert [note.message for note in made.notes if note.verdict is Verdict.LOSS] == [message]
    assert engine(Input_((4,), format=Layout.linear), params=params("x")).verdict is Verdict.EXACT
    assert engine(Input_((4,), format="torch.contiguous_format"), params=params("x")).verdict is Verdict.EXACT


def test_the_ranges_of_a_shape_tensor_are_of_its_values() -> None:
    given = profile((1, 8), (2, 8), (4, 64))
    given.is_shape_tensor, given.dtype = True, EngineDtype.i32
    made = engine(given, params=params("x"))
    same(made, "def f(x: int32[2]): ...")
    assert made.verdict is Verdict.LOSS


def test_what_is_an_input_of_an_engine() -> None:
    assert is_engine_input(Q)
    assert not is_engine_input(EngineInput((), (), ()))
