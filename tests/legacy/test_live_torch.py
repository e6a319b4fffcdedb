"""Live specs with torch's own objects: each kind of input, callable and collection; nothing is exported but once."""

from __future__ import annotations

import functools
import warnings
from collections import deque
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("torch", reason="the objects are torch's")

import torch
from torch.export import AdditionalInputs, Dim, ShapesCollection
from torch.export.dynamic_shapes import _IntWrapper
from torch.utils import _pytree as pytree

import shapedsl as sd
from shapedsl.diagnostics import ShapeError

ones = torch.ones
B, PAST = Dim("b"), Dim("past", max=512)


@dataclass
class Batch:
    """Registered by its fields."""

    left: Any
    right: Any
    extra: Any = None


class Cache:
    """Registered by keys, as the caches of transformers are."""

    def __init__(self, keys: list[Any]) -> None:
        self.keys = keys


class Plain:
    """Registered without keys."""

    def __init__(self, item: Any) -> None:
        self.item = item


pytree.register_dataclass(Batch)
pytree.register_pytree_node(
    Cache,
    lambda cache: ([cache.keys], None),
    lambda children, _: Cache(*children),
    serialized_type_name="tests.legacy.Cache",
    flatten_with_keys_fn=lambda cache: ([(pytree.MappingKey("keys"), cache.keys)], None),
)
pytree.register_pytree_node(
    Plain,
    lambda each: ([each.item], None),
    lambda children, _: Plain(*children),
    serialized_type_name="tests.legacy.Plain",
)


class One(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x


def told(shapes: Any, *args: Any, fn: Any = One, **kwargs: Any) -> tuple[str, str]:
    """Returns what becomes of a spec, in one line without what the callable is called, and its verdict."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.ShapeWarning)
        spec = sd.from_dims(shapes, args or None, kwargs or None, fn)
    text = " ".join(str(spec).split())
    return text[text.index("(") :].replace("self, ", ""), spec.verdict


@pytest.mark.parametrize(
    ("spec", "value", "text", "verdict"),
    [
        ({0: B}, ones(2, 3), "(x: Tensor[b, _]): ...", "exact"),
        ({0: B}, torch.empty(2, 3, device="meta"), "(x: Tensor[b, _]): ...", "exact"),
        ({}, ones(()), "(x: _): ...", "exact"),
        ([{0: B}, None], Batch(ones(2), ones(3)), "(x: Batch(left: Tensor[b])): ...", "exact"),
        ([None, {0: B}], Batch(left=ones(2), right=None, extra=ones(3)), "(x: Batch(extra: Tensor[b])): ...", "exact"),
        ([[{0: B, 2: PAST}]], Cache([ones(2, 3, 4)]), "(x: _): ...", "loss"),
        (None, Cache([ones(2, 3, 4)]), "(x: _): ...", "exact"),
        ([{0: B}], Plain(ones(2)), "(x: _): ...", "loss"),
        ([{0: B}, None], torch.max(ones(2, 3), 0), "(x: _): ...", "loss"),
        ([{0: B}], deque([ones(2)]), "(x: _): ...", "loss"),
        (None, object(), "(x: _): ...", "exact"),
        (Dim.DYNAMIC, 3, "(x: Scalar[x]): int x in [0, inf]", "stricter"),
        (Dim.DYNAMIC, _IntWrapper(3), "(x: Scalar[x]): int x in [0, inf]", "stricter"),
        (3, 3, "(x: Scalar[3]): ...", "choice"),
    ],
    ids=[
        "tensor",
        "meta tensor",
        "tensor without dims",
        "dataclass",
        "dataclass with a field that is None",
        "cache",
        "nothing of a cache",
        "class without keys",
        "structseq",
        "deque",
        "anything",
        "int",
        "wrapped int",
        "pinned int",
    ],
)
def test_inputs(spec: Any, value: Any, text: str, verdict: str) -> None:
    assert told({"x": spec}, value) == (text, verdict)


def test_a_cache_does_not_keep_the_other_inputs_from_being_converted() -> None:
    def run(ids: Any, mask: Any, cache: Any) -> None: ...

    shapes = {"ids": {0: B}, "mask": {0: B, 1: Dim.DYNAMIC}, "cache": [[{0: B, 2: PAST}]]}
    with pytest.warns(sd.ShapeWarning) as warned:
        spec = sd.from_dims(shapes, (ones(2, 3), ones(2, 8), Cache([ones(2, 3, 4)])), fn=run)
    assert {str(each.message).partition("]")[0] for each in warned} == {
        "warning[legacy-object-keys",
        "warning[legacy-loss",
    }
    assert str(spec) == "def run(ids: Tensor[b, _], mask: Tensor[b, mask_1], cache: _): ..."
    assert spec.verdict == "loss"


@pytest.mark.parametrize("value", [True, 2.5, "text", object()], ids=["bool", "float", "text", "unregistered"])
def test_what_is_never_dynamic_is_refused(value: object) -> None:
    """So does torch."""
    with pytest.raises(ShapeError) as error:
        told({"x": [{0: B}]}, value)
    assert error.value.code == "legacy-parameter"


def plain(x: Any, y: Any, k: int = 1) -> Any:
    return x


@pytest.mark.parametrize(
    ("fn", "shapes", "text"),
    [
        (One(), {"x": {0: B}}, "(x: Tensor[b, _]): ..."),
        (One().forward, {"x": {0: B}}, "(x: Tensor[b, _]): ..."),
        (One, ({0: B},), "(x: Tensor[b, _]): ..."),
        (torch.compile(One()), {"x": {0: B}}, "(x: Tensor[b, _]): ..."),
        (torch.compile(lambda x: x), {"x": {0: B}}, "(x: Tensor[b, _]): ..."),
        (functools.partial(plain, ones(3)), {"y": {0: B}}, "(y: Tensor[b, _], k: _ = _): ..."),
        (functools.partial(plain, y=ones(3)), {"x": {0: B}}, "(x: Tensor[b, _], *, k: _ = _): ..."),
        (torch.nn.Linear(3, 3), ({0: B},), "(input: Tensor[b, _]): ..."),
        (torch.relu, ({0: B},), "(arg0: Tensor[b, _]): ..."),
        (torch.relu, {"input": {0: B}}, "(input: Tensor[b, _]): ..."),
        (None, ({0: B},), "(arg0: Tensor[b, _]): ..."),
    ],
    ids=[
        "module",
        "method",
        "class",
        "compiled module",
        "compiled function",
        "partial",
        "keyword partial",
        "library",
        "builtin",
        "builtin by name",
        "none",
    ],
)
def test_callables(fn: Any, shapes: Any, text: str) -> None:
    assert told(shapes, ones(2, 3), fn=fn) == (text, "exact")


def test_an_exported_program_is_a_callable_too() -> None:
    program = torch.export.export(torch.nn.Linear(3, 3), (ones(2, 3),))
    assert told({"input": {0: B}}, ones(2, 3), fn=program) == ("(input: Tensor[b, _]): ...", "exact")
    with pytest.raises(TypeError, match="read by `from_exported`"):
        sd.from_dims(program)


def test_specs_of_the_new_kind_are_refused() -> None:
    from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec

    b = ShapeVar("b")
    for given in (ShapesSpec({"x": TensorSpec([b])}), {"x": {0: b}}, {"x": TensorSpec([b])}):
        with pytest.raises(TypeError, match="a ShapesSpec is read by `from_torch`"):
            sd.from_dims(given)


def test_several_dims_at_once() -> None:
    h, w = torch.export.dims("h", "w", max=64)
    assert told({"x": (h, w)}, ones(2, 3)) == ("(x: Tensor[h, w]): dim h in [0, 64] dim w in [0, 64]", "exact")


# ------------------------------------------------------------------------------------- collections


def collection(*rows: tuple[Any, Any]) -> Any:
    made: Any = ShapesCollection()  # type: ignore[no-untyped-call]
    for value, shape in rows:
        made[value] = shape
    return made


def test_a_collection_reaches_into_containers_and_objects() -> None:
    batch, count = Batch(ones(2, 2), ones(3, 3)), _IntWrapper(5)
    shapes = collection((batch.left, {0: B}), (batch.right, (B + 1, None)), (count, Dim.DYNAMIC))
    assert told(shapes, {"batch": batch, "n": [count]}) == (
        '( x: { "batch": Batch(left: Tensor[b, _], right: Tensor[b + 1, _]), "n": [Scalar[x_n_0]], }, ): '
        "int x_n_0 in [0, inf]",
        "stricter",
    )
    assert told(collection((count, Dim.DYNAMIC)), [count], fn=None) == (
        "(arg0: [Scalar[arg0_0]]): int arg0_0 in [0, inf]",
        "stricter",
    )


def test_a_collection_is_in_the_order_of_the_arguments() -> None:
    """Without a callable their names are made up, and that is no choice."""
    x, y = ones(3, 4), ones(3)
    spec = sd.from_dims(collection((x, {0: B}), (y, {0: B})), (x, y))
    assert (str(spec), spec.verdict) == ("def f(arg0: Tensor[b, _], arg1: Tensor[b]): ...", "exact")


def test_labels_that_the_example_gives_several_sizes_are_several() -> None:
    """One variable would refuse the example; labels were never compared."""

    def run(x: Any, y: Any, z: Any) -> Any:
        return x, y, z

    axes = {"x": {0: "b"}, "y": {0: "b", 1: "b_2"}, "z": {0: "s"}}
    text, verdict = told(axes, ones(4), ones(5, 6), ones(7), fn=run)
    assert (text, verdict) == ("(x: Tensor[b], y: Tensor[b_2, b_2_2], z: Tensor[s]): ...", "choice")
    assert told(axes, ones(5), ones(5, 6), ones(7), fn=run)[0] == "(x: Tensor[b], y: Tensor[b, b_2], z: Tensor[s]): ..."


def test_axes_of_numpy_are_ints() -> None:
    axis: Any = pytest.importorskip("numpy", reason="its ints are meant").int64(0)
    assert told({"x": {axis: B}}, ones(3)) == ("(x: Tensor[b]): ...", "exact")


def test_one_axis_counted_both_ways() -> None:
    """torch obeys what comes last: alike, it is one thing said twice."""
    assert told({"x": {-1: B, 1: B}}, ones(3, 4)) == ("(x: Tensor[_, b]): ...", "exact")
    with pytest.raises(ShapeError, match="obeys one of them"):
        told({"x": {-1: B, 1: Dim.DYNAMIC}}, ones(3, 4))


def test_an_empty_collection_says_nothing() -> None:
    assert told(collection(), ones(2)) == ("(x: _): ...", "exact")


def test_a_collection_of_other_tensors() -> None:
    other = ones(2)  # kept, since torch knows it by its id
    shapes = collection((other, {0: B}))
    with pytest.raises(ShapeError, match="does not fit the example") as error:
        told(shapes, ones(2))
    assert error.value.code == "legacy-parameter"
    with pytest.raises(ShapeError, match="there is no example"):
        told(shapes)
    with pytest.raises(TypeError, match="it stands for a whole spec"):
        told({"x": shapes}, ones(2))


def test_axes_in_lists_are_told_from_sizes_by_the_example() -> None:
    """Sizes that are not the example's are no spec, and axes that it lacks are no axes."""
    assert told({"x": [0, 1]}, ones(4, 3))[0].startswith("(x: Tensor[x_0, x_1]):")
    assert told({"x": [0]}, ones(4, 3))[0].startswith("(x: Tensor[x_0, _]):")
    assert told({"x": [4, 3]}, ones(4, 3)) == ("(x: Tensor[4, 3]): ...", "exact")
    assert told({"x": [5, 3]}, ones(4, 3)) == ("(x: Tensor[5, 3]): ...", "choice")
    assert told({"x": [1, 0]}, ones(1, 0))[0] == "(x: Tensor[1, 0]): ..."


def test_additional_inputs_tell_what_varies() -> None:
    more: Any = AdditionalInputs()  # type: ignore[no-untyped-call]
    more.add(({"a": 5, "t": ones(7, 4), "s": "same"},))
    assert told(more, {"a": 3, "t": ones(3, 4), "s": "same"}) == (
        '(x: {"a": Scalar[x_a], "t": Tensor[x_t_0, _], "s": _}): int x_a in [0, inf]',
        "stricter",
    )
    for other in ([1], {"a": 3, "t": ones(3, 4), "s": "other"}):
        with pytest.raises(ShapeError, match="the AdditionalInputs does not fit the example"):
            told(more, other)
