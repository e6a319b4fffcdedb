"""A key that may be missing: check, bind, lowering and torch itself agree on calls with it and without."""
# mypy: disable-error-code="valid-type,misc,no-untyped-call,type-arg"

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from typing_extensions import NotRequired, TypedDict, Unpack

torch = pytest.importorskip("torch", reason="torch has the last word on what a missing key means")

import shapedsl as sd
from shapedsl import Tensor, shapes
from shapedsl.dims import B, D


class Batch(TypedDict):
    x: Tensor[B, D]
    bias: NotRequired[Tensor[D]]


@shapes(attach=False)
def of_dict(batch: Batch) -> Any:
    return batch["x"] * 2 + batch["bias"] if batch.get("bias") is not None else batch["x"] * 2


@shapes(attach=False)
def of_keywords(**batch: Unpack[Batch]) -> Any:
    return batch["x"] * 2 + batch["bias"] if batch.get("bias") is not None else batch["x"] * 2


def as_argument(**entries: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (entries,), {}


def as_keywords(**entries: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (), entries


WAYS = pytest.mark.parametrize(("function", "call"), [(of_dict, as_argument), (of_keywords, as_keywords)])


def given(rows: int, columns: int) -> Iterator[dict[str, Any]]:
    x = torch.randn(rows, columns)
    yield {"x": x}
    yield {"x": x, "bias": torch.randn(columns)}
    yield {"x": x, "bias": None}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@WAYS
def test_check_and_bind(function: Callable[..., Any], call: Callable[..., Any]) -> None:
    spec = sd.spec_of(function)
    assert spec is not None
    for entries in given(4, 3):
        args, kwargs = call(**entries)
        spec.check(*args, **kwargs)
        assert spec.bind(*args, **kwargs) == {"B": 4, "D": 3}
    for entries, code in (
        ({"x": torch.ones(4, 3), "bias": torch.ones(4)}, "shape-violation"),
        ({"bias": torch.ones(3)}, "type-mismatch"),
    ):
        args, kwargs = call(**entries)
        for refuse in (spec.check, spec.bind):
            with pytest.raises(sd.ShapeError) as caught:
                refuse(*args, **kwargs)
            assert caught.value.code == code


@WAYS
def test_what_is_lowered_lists_the_keys_of_the_example(function: Callable[..., Any], call: Callable[..., Any]) -> None:
    spec = sd.spec_of(function)
    assert spec is not None
    lists = ["bias" in repr(spec.to_torch(*call(**entries))) for entries in given(4, 3)]
    assert lists == [False, True, False]


@WAYS
def test_compile_serves_both_from_one_graph_each(function: Callable[..., Any], call: Callable[..., Any]) -> None:
    graphs: list[Any] = []

    def backend(graph: Any, _: object) -> Any:
        graphs.append(graph)
        return graph.forward

    compiled = sd.compile(function, backend=backend)
    for rows, columns in ((4, 3), (5, 7), (9, 2)):
        for entries in list(given(rows, columns))[:2]:
            args, kwargs = call(**entries)
            torch.testing.assert_close(compiled(*args, **kwargs), function(*args, **kwargs))
    assert len(graphs) == 2
    args, kwargs = call(x=torch.ones(4, 3), bias=torch.ones(4))
    with pytest.raises(sd.ShapeError):
        compiled(*args, **kwargs)


@WAYS
def test_export_and_make_fx(function: Callable[..., Any], call: Callable[..., Any]) -> None:
    for entries, others in list(zip(given(4, 3), given(6, 5), strict=True))[:2]:
        args, kwargs = call(**entries)
        program, graph = sd.export(function, args, kwargs).module(), sd.make_fx(function)(*args, **kwargs)
        more, named = call(**others)
        torch.testing.assert_close(program(*more, **named), function(*more, **named))
        torch.testing.assert_close(graph(*more, **named), function(*more, **named))


def test_what_is_attached_serves_calls_without_the_key_too() -> None:
    @shapes
    def attached(batch: Batch) -> Any:
        return batch["x"] * 2 + batch["bias"] if "bias" in batch else batch["x"] * 2

    with pytest.warns(sd.ShapeWarning, match="spec-ignored"):
        sd.spec_of(attached)
    compiled = torch.compile(attached, backend="eager", fullgraph=True)
    for rows, columns in ((4, 3), (5, 7)):
        for entries in list(given(rows, columns))[:2]:
            torch.testing.assert_close(compiled(entries), attached(entries))  # type: ignore[arg-type]
