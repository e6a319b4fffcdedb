"""What torch's own dumper writes is read as what was dumped."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="dumping needs torch")

import shapedsl as sd
from shapedsl.diagnostics import Report
from shapedsl.frontends.legacy.convert import convert
from shapedsl.frontends.legacy.dump import is_dump, read_dump
from shapedsl.ir import Module
from shapedsl.ir.write_defs import write_module

SERDE: Any = pytest.importorskip("torch._export.serde.dynamic_shapes", reason="dumping needs torch's dumper")
Dim: Any = torch.export.Dim


def ones(*sizes: int) -> Any:
    return torch.ones(sizes)


def _derived() -> Any:
    n = Dim("n", min=3, max=16)
    return [(n, None), {0: n + 1, 1: 2 * n}, [3 * n - 2, Dim.STATIC]]


FORMS: list[tuple[Callable[[], Any], tuple[Any, ...], str]] = [
    (
        lambda: {"x": {0: Dim("b")}, "y": None},
        (ones(4, 3), ones(2)),
        "def f(arg0: Tensor[b, 3], arg1: _): ...",
    ),
    (
        _derived,
        (ones(4, 5), ones(5, 8), ones(10, 2)),
        "def f(arg0: Tensor[n, 5], arg1: Tensor[n + 1, 2*n], arg2: Tensor[3*n - 2, _]):\n    dim n in [3, 16]",
    ),
    (
        lambda: ([{0: Dim("S", max=9)}, None], {"k": (Dim.DYNAMIC, 2)}, None),
        ([ones(4), ones(3)], {"k": ones(6, 2)}, "text"),
        'def f(arg0: [Tensor[S], _], arg1: {"k": Tensor[arg1_k_0, 2]}, arg2: _):\n    dim S in [0, 9]',
    ),
    (
        lambda: ({0: 16 * Dim("th", min=1, max=8)},),
        (ones(32, 1),),
        "def f(arg0: Tensor[16*th, 1]):\n    dim th in [1, 8]",
    ),
]


def _texts(dump: Any) -> list[Any]:
    """Returns a dump in each of the forms it is kept in."""
    as_dict = {
        "dynamic_shapes": dump.dynamic_shapes,
        "dims": {name: {"min": row.min, "max": row.max, "derived": row.derived} for name, row in dump.dims.items()},
    }
    return [dump, as_dict, json.dumps(as_dict)]


@pytest.mark.parametrize(("make", "args", "expected"), FORMS, ids=["dict", "derived", "nested", "phantom"])
def test_what_torch_dumps(make: Callable[[], Any], args: tuple[Any, ...], expected: str) -> None:
    written = SERDE._dump_dynamic_shapes(make(), args)
    for dump in _texts(written):
        report = Report()
        assert is_dump(dump)
        spec = read_dump(dump, report)
        assert spec is not None
        made = convert(spec, report)
        assert made is not None, report.errors
        assert sd.loads(write_module(Module((made.signature,))))["f"] == sd.loads(expected)["f"]


def test_torch_itself_refuses_what_it_dumps() -> None:
    """The reason for a reader of our own: if this fails, the page on dumps may say less."""
    written: Any = SERDE._dump_dynamic_shapes({"x": {0: Dim("b")}}, (ones(4, 3),), to_dict=True)
    assert written["dims"]["b"]["max"] is None
    with pytest.raises(Exception, match="`max` to an int"):
        SERDE._load_dynamic_shapes(written, from_dict=True)
