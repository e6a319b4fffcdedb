"""One text, run by Python and read as a stub: the same specs."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="name-defined,misc,untyped-decorator"

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

import shapedsl as sd

pytest.importorskip("torch", reason="jaxtyping's annotations here are of torch's tensors")
pytest.importorskip("jaxtyping", reason="its annotations are what is read")
pytest.importorskip("libcst", reason="stubs are read with it")

TEXT = """
from typing import Annotated, Any, Optional

import jaxtyping
import jaxtyping as jt
import torch
from jaxtyping import BFloat16, Bool, Float, Int, Int64, Num, Shaped
from torch import Tensor

import shapedsl as sd
from shapedsl import shapes, where

Image = Float[Tensor, "h w"]


def dims(x: Float[Tensor, "*batch t 2*d"], y: Int[Tensor, "... _ _q rows=4"], z: Bool[Tensor, "*_z (t+1)//2 d"]) -> Float[Tensor, "*batch d"]: ...
def sizes(x: Float[Tensor, "b {n}"], y: Float[Tensor, "#b {n}+1"], n: int, w: Num[Tensor, "out in"]) -> Float[Tensor, "#b"]: ...
def pairs(x: jt.Float[Tensor, "#a #b"], y: jaxtyping.Float[torch.Tensor, "#a #b"]) -> Float[Tensor, "a b"]: ...
def nested(x: Float[Image, "b"], y: Shaped[Image, ""], z: list[Image], w: tuple[Image, Image]): ...
def optional(x: Optional[Image], y: Float[Tensor, "b"] | None, z: Float[Optional[Tensor], "b"], a: Float[Any, "b"]): ...
def scalars(s: Float[Tensor, ""], k: Int[int, ""], x: BFloat16[Tensor, "b"]): ...

@shapes("dim b in [1, 64] hint 8", x="_, 64")
@where("b % 8 == 0")
def decorated(x: Float[Tensor, "b _"], ids: Int64[Tensor, "#b t"]): ...

class Net:
    @shapes(where="t < 9")
    def forward(self, x: Float[Tensor, "b t {n}"], n: int) -> Float[Tensor, "b n"]: ...
"""

NAMES = ("dims", "sizes", "pairs", "nested", "optional", "scalars", "decorated", "Net.forward")


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("both") / "both_ways.py"
    path.write_text(TEXT, encoding="utf-8")
    made = ModuleType("both_ways")
    made.__file__ = str(path)
    sys.modules["both_ways"] = made
    exec(compile(TEXT, str(path), "exec"), made.__dict__)
    return made


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::shapedsl.diagnostics.ShapeWarning")
def test_run_and_read(module: Any, name: str) -> None:
    target = module
    for part in name.split("."):
        target = getattr(target, part)
    run = sd.spec_of(target)
    read = sd.from_stub(module.__file__)[name]
    assert run is not None
    assert run == read, f"{run}\n\n{read}"


def test_all_of_them_are_read(module: Any) -> None:
    assert set(sd.from_stub(module.__file__)) == set(NAMES)
