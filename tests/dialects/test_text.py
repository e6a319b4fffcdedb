"""Other tools' notations as text, and their names where nothing of theirs is installed: neither torch nor jaxtyping."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import shapedsl as sd
from shapedsl.diagnostics import Report, Severity, Source
from shapedsl.frontends.annotated import read_callable
from shapedsl.frontends.dialects.families import dtype_of
from shapedsl.frontends.dialects.jaxtyping import read_dims
from shapedsl.frontends.dialects.shaped import read_shaped
from shapedsl.frontends.dialects.stand_ins import STAND_INS
from shapedsl.frontends.dialects.uses import Uses
from shapedsl.ir import Dtype, TensorType
from shapedsl.ir.write import write_type


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("b t", "Tensor[b, t]"),
        (" *batch  _any rows=4 ", "Tensor[*batch, _, 4]"),
        ("*_ (t+1)//2 t-1", "Tensor[..., (t + 1) // 2, t - 1]"),
        ("in lambda", "Tensor[in_, lambda]"),
        ("", "Tensor[()]"),
    ],
)
def test_jaxtyping(text: str, type_: str) -> None:
    report = Report()
    assert write_type(TensorType(read_dims(Source("net.py", text), report, Uses()))) == type_
    assert report.errors == ()


def test_places_are_those_of_the_original() -> None:
    """An expression is parsed alone, in place; what it says of places holds for the whole text."""
    source = Source("net.py", "b  rows=4  2*t+1 #2*c")
    dims = read_dims(source, Report(), Uses())
    assert dims is not None
    spans = [dim.span for dim in dims if dim.span is not None]
    assert [source.text[span.start : span.end] for span in spans] == ["b", "4", "2*t+1", "#2*c"]


@pytest.mark.parametrize(
    ("text", "at"), [("b {self.x}", "{self.x}"), ("b 2*t/3", "/"), ("é b", "é"), ("b ?c d", "?c"), ("a b*(c", "")]
)
def test_errors_have_places(text: str, at: str) -> None:
    report = Report()
    assert read_dims(Source("net.py", text), report, Uses()) is None
    (error,) = report.errors
    assert error.span is not None
    line, column = error.span.source.position(error.span.start)
    assert error.span.source.line(line) == text
    assert text[column - 1 :].startswith(at)


def test_pyrefly() -> None:
    report = Report()
    assert read_shaped(int, Source("net.py", "N + 1"), (), report) is not None
    shape = read_shaped(Any, Source("net.py", "[B, *Elements[rest], 2*B]"), ("rest",), report)
    assert shape is not None
    assert write_type(shape) == "Tensor[B, *rest, 2 * B]"
    assert report.diagnostics == ()


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("Float", "floating"), ("Int", "integral"), ("Num", "number"), ("Bool", "bool"), ("Int8", "int8"), ("Key", None)],
)
def test_families(name: str, dtype: str | None) -> None:
    found = dtype_of(STAND_INS[name].dtypes, Report(), None)
    assert found == (None if dtype is None else Dtype(dtype))


def test_stand_ins_are_subscripted_as_jaxtypings_are() -> None:
    Float, Shaped = STAND_INS["Float"], STAND_INS["Shaped"]
    image = Float[Any, " h w "]
    nested = Shaped[image, "b"]
    assert (image.dim_str, nested.dim_str, nested.array_type) == ("h w", "b h w", Any)
    assert nested.dtypes == Float.dtypes
    assert STAND_INS["Int"][int, ""] is int
    for wrong in ("b", (Any,), (Any, 3), (Any, "b", "c")):
        with pytest.raises(TypeError):
            Float[wrong]


def test_arrays_of_other_libraries_are_static() -> None:
    def f(x: Any, y: Any) -> None: ...

    foreign = type("ndarray", (), {"__module__": "numpy"})
    f.__annotations__ = {"x": STAND_INS["Float"][Any, "b"], "y": STAND_INS["Float"][foreign, "b"]}
    report = Report()
    signature = read_callable(f, report)
    assert signature is not None
    assert [write_type(param.type) for param in signature.params] == ["floating[b]", "_"]
    assert [d.code for d in report] == ["inexpressible"]


LATE = """
from __future__ import annotations
import sys
from typing import TYPE_CHECKING, Optional
if TYPE_CHECKING:
    from jaxtyping import Float, Float8e5m2, Int, PyTree, Shaped
    from torch import Tensor
import shapedsl as sd

def f(
    x: Float[Tensor, "*batch t {n}"],
    y: Optional[Int[Tensor, "#t"]],
    z: Float[Float8e5m2[Tensor, "d"], "b"] | None,
    n: int,
    w: Float[Tensor | None, "t"],
    k: Int[int, ""],
    p: Shaped[Tensor, "[b, d]"],
) -> Float[Tensor, "*batch t"]: ...

spec = sd.spec_of(f)
assert "jaxtyping" not in sys.modules and "torch" not in sys.modules
print(spec)
"""


def test_names_for_type_checkers_alone(tmp_path: Path) -> None:
    """Neither jaxtyping nor torch is imported: their names stand for what they would be."""
    path = tmp_path / "late.py"
    path.write_text(LATE, encoding="utf-8")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (
        sd.loads(done.stdout)["f"]
        == sd.loads(
            "def f(x: floating[*batch, t, n], y: integral[t_or_1] | None, z: float8_e5m2[b, d] | None, n: Scalar[n],\n"
            "      w: floating[t] | None, k: _, p: Tensor) -> floating[*batch, t]:\n"
            "    where t_or_1 == 1 or t_or_1 == t"
        )["f"]
    )


@pytest.mark.parametrize(
    ("text", "type_", "at"),
    [
        ("b {self.x}", "Tensor[b, _]", "{self.x}"),
        ("b {n}d t", "Tensor[b, _, t]", "{n}d"),
        ("b 2*t/3", "Tensor[b, _]", "/"),
        ("2**b 2**3", "Tensor[_, 8]", "2**b"),
        ("é b", "Tensor[_, b]", "é"),
        ("*é b", "Tensor[..., b]", "é"),
        ("b ?c d", "Tensor[b, _, d]", "?c"),
        ("?*c d", "Tensor[..., d]", "?*c"),
        ("abs(b) b", "Tensor[_, b]", "abs"),
    ],
)
def test_other_peoples_text(text: str, type_: str, at: str) -> None:
    """Read from source, a size that the language has no words for is told, and the others are read."""
    report = Report()
    dims = read_dims(Source("net.py", text), report, Uses(lenient=True))
    assert write_type(TensorType(dims)) == type_
    (told,) = report
    assert (told.code, told.severity) == ("inexpressible", Severity.WARNING)
    assert told.span is not None
    assert text[told.span.source.position(told.span.start)[1] - 1 :].startswith(at)


@pytest.mark.parametrize("text", ["a *", "#_", "a,b", "*a *b", "a...", "##a"])
def test_what_nobody_can_mean_is_an_error_there_too(text: str) -> None:
    report = Report()
    assert read_dims(Source("net.py", text), report, Uses(lenient=True)) is None
    assert report.errors
