"""jaxtyping's annotations: what they mean here, what is refused, and where messages point."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="empty-body,misc,name-defined,type-arg,unused-ignore,untyped-decorator,valid-type,attr-defined"

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional, Union, cast

import pytest

import shapedsl as sd
from shapedsl.diagnostics import Diagnostic, Severity
from shapedsl.ir import Fresh, TensorType

torch = pytest.importorskip("torch", reason="jaxtyping's annotations here are of torch's tensors")
jaxtyping = pytest.importorskip("jaxtyping", reason="its annotations are what is read")
beartype = pytest.importorskip("beartype", reason="jaxtyping's decorator takes a checker")
numpy = pytest.importorskip("numpy", reason="its arrays are no tensors")

if TYPE_CHECKING:
    from torch import Tensor
else:
    Tensor = torch.Tensor


def annotated(**annotations: Any) -> Callable[..., Any]:
    """Returns a function with these annotations; ``returns`` is the return type."""
    names = [name for name in annotations if name != "returns"]
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(f"def f({', '.join(names)}): ...", namespace)
    made: Callable[..., Any] = namespace["f"]
    made.__annotations__ = {("return" if name == "returns" else name): a for name, a in annotations.items()}
    return made


def tensor(text: str, family: Any = None) -> Any:
    """Returns ``Shaped[Tensor, text]``, or another family's annotation."""
    return (family or jaxtyping.Shaped)[torch.Tensor, text]


def spec(**annotations: Any) -> sd.Spec:
    found = sd.spec_of(annotated(**annotations))
    assert found is not None
    return found


def written(text: str) -> sd.Spec:
    return sd.loads(text)["f"]


def errors(**annotations: Any) -> list[Diagnostic]:
    with pytest.raises(sd.ShapeError) as caught:
        sd.spec_of(annotated(**annotations))
    return [d for d in caught.value.diagnostics if d.severity is Severity.ERROR]


# ------------------------------------------------------------------------------------ dims


@pytest.mark.parametrize(
    ("text", "dims"),
    [
        ("", "()"),
        ("b", "b"),
        ("b t 3", "b, t, 3"),
        ("  b   t ", "b, t"),
        ("*batch d", "*batch, d"),
        ("b ... d", "b, ..., d"),
        ("_ d", "_, d"),
        ("_any d", "_, d"),
        ("*_ d", "..., d"),
        ("_* d", "..., d"),
        ("*_lead d", "..., d"),
        ("rows=4 cols=t", "4, t"),
        ("2*b b", "2*b, b"),
        ("t+1 (t+1)//2 t", "t + 1, (t + 1) // 2, t"),
        ("min(a,b) a b", "min(a, b), a, b"),
        ("03", "3"),
    ],
)
def test_dims(text: str, dims: str) -> None:
    assert spec(x=tensor(text)) == written(f"def f(x: Tensor[{dims}]): ...")


def test_expressions_stand_in_any_order() -> None:
    """jaxtyping itself wants the name first."""
    assert spec(x=tensor("2*b b"), y=tensor("c-1"), z=tensor("c")) == written(
        "def f(x: Tensor[2*b, b], y: Tensor[c - 1], z: Tensor[c]): ..."
    )


def test_reserved_words_are_renamed_and_told() -> None:
    found = spec(w=tensor("out in"), x=tensor("in"))
    assert found == written("def f(w: Tensor[out, in_], x: Tensor[in_]): ...")
    assert [(d.code, d.severity) for d in found.diagnostics] == [("inexpressible", Severity.NOTE)] * 2


# -------------------------------------------------------------------------- containers, aliases


def test_containers() -> None:
    Float = jaxtyping.Float
    row = Float[torch.Tensor, "b d"]
    found = spec(a=Optional[row], b=list[row], c=tuple[row, row], d=Union[row, None])  # noqa: UP007, UP045
    row_ = "floating[b, d]"
    assert found == written(f"def f(a: {row_} | None, b: [{row_}, ...], c: ({row_}, {row_}), d: {row_} | None): ...")


def test_nested_aliases() -> None:
    image = jaxtyping.Float[torch.Tensor, "h w"]
    shaped = jaxtyping.Shaped[jaxtyping.Float32[torch.Tensor, "c"], "*lead"]
    found = spec(x=jaxtyping.Float[image, "b"], y=shaped, z=jaxtyping.Float[image, ""])
    assert found == written("def f(x: floating[b, h, w], y: float32[*lead, c], z: floating[h, w]): ...")


def test_array_types() -> None:
    Float = jaxtyping.Float
    found = spec(
        x=Float[Any, "b"],
        y=Float[Optional[torch.Tensor], "b"],  # noqa: UP045
        z=Float[torch.nn.Parameter, "b"],
        n=jaxtyping.Int[int, ""],
        s=Float[torch.Tensor, ""],
    )
    assert found == written("def f(x: floating[b], y: floating[b] | None, z: floating[b], n: _, s: floating[()]): ...")


def test_arrays_of_other_libraries_are_static_and_told() -> None:
    found = spec(x=tensor("b"), a=jaxtyping.Float[numpy.ndarray, "b c"])
    assert found == written("def f(x: Tensor[b], a: _): ...")
    (note,) = found.diagnostics
    assert (note.code, note.severity) == ("inexpressible", Severity.NOTE)
    assert "ndarray" in note.message


def test_a_tree_is_static_and_warned_of() -> None:
    pytest.importorskip("jax", reason="jaxtyping's trees are jax's")
    with pytest.warns(sd.ShapeWarning, match="PyTree"):
        found = spec(x=tensor("b"), tree=jaxtyping.PyTree[jaxtyping.Float[torch.Tensor, "b"]])
    assert found == written("def f(x: Tensor[b], tree: _): ...")


# ----------------------------------------------------------------------------------- dtypes


@pytest.mark.parametrize(
    ("family", "dtype", "is_exact"),
    [
        ("Float", "floating", True),
        ("Complex", "complexfloating", True),
        ("Integer", "integral", True),
        ("Num", "number", True),
        ("Shaped", "Tensor", True),
        ("Bool", "bool", True),
        ("Float32", "float32", True),
        ("BFloat16", "bfloat16", True),
        ("UInt8", "uint8", True),
        ("Int64", "int64", True),
        ("Complex64", "complex64", True),
        ("Float8e5m2", "float8_e5m2", True),
        ("Int", "integral", False),
        ("UInt", "integral", False),
        ("Inexact", "number", False),
        ("Real", "number", False),
        ("Key", "Tensor", False),
    ],
)
def test_families(family: str, dtype: str, is_exact: bool) -> None:
    found = spec(x=tensor("b", getattr(jaxtyping, family)))
    assert found == written(f"def f(x: {dtype}[b]): ...")
    assert [d.code for d in found.diagnostics] == ([] if is_exact else ["inexpressible"])


DTYPES = [
    getattr(torch, name)
    for name in ("bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64")
] + [torch.complex64, torch.complex128]


@pytest.mark.parametrize("family", ["Float", "Complex", "Integer", "Num", "Shaped", "Bool", "Float32", "UInt8"])
def test_exact_families_take_the_dtypes_that_jaxtyping_takes(family: str) -> None:
    hint = tensor("b", getattr(jaxtyping, family))
    ours = spec(x=hint)
    for dtype in DTYPES:
        value = torch.zeros(3, dtype=dtype)
        try:
            ours.check(value)
            accepted = True
        except sd.ShapeError:
            accepted = False
        assert accepted == isinstance(value, hint), dtype


@pytest.mark.parametrize("family", ["Int", "UInt", "Inexact", "Real"])
def test_wider_families_take_what_jaxtyping_takes_and_more(family: str) -> None:
    hint = tensor("b", getattr(jaxtyping, family))
    ours = spec(x=hint)
    taken = [dtype for dtype in DTYPES if isinstance(torch.zeros(3, dtype=dtype), hint)]
    assert taken
    for dtype in taken:
        ours.check(torch.zeros(3, dtype=dtype))


def test_a_family_of_ones_own() -> None:
    class Bytes(jaxtyping.AbstractDtype):
        dtypes = ("uint8", "int8")

    class Half(jaxtyping.AbstractDtype):
        dtypes = "float16"

    found = spec(x=tensor("b", Bytes), y=tensor("b", Half))
    assert found == written("def f(x: integral[b], y: float16[b]): ...")


# --------------------------------------------------------------------------------- parameters


def test_the_value_of_an_int() -> None:
    found = spec(x=tensor("b {n}"), y=tensor("{n}+1 2*{n}*b"), n=int)
    assert found == written("def f(x: Tensor[b, n], y: Tensor[n + 1, 2*n*b], n: Scalar[n]): ...")


def test_the_value_of_an_int_in_the_return_alone() -> None:
    assert spec(x=tensor("b"), n=int, returns=tensor("{n} b")) == written(
        "def f(x: Tensor[b], n: Scalar[n]) -> Tensor[n, b]: ..."
    )


def test_the_value_of_an_int_that_may_be_left_out() -> None:
    def f(x: Any, n: int = 3) -> None: ...

    f.__annotations__ = {"x": tensor("{n} b"), "n": int}
    found = sd.spec_of(f)
    assert found == written("def f(x: Tensor[n, b], n: Scalar[n] = _): ...")
    assert found is not None
    assert [(d.code, d.severity) for d in found.diagnostics] == [("inexpressible", Severity.NOTE)]
    found.check(torch.zeros(4, 2), 4)
    with pytest.raises(sd.ShapeError):
        found.check(torch.zeros(4, 2), 3)
    found.check(torch.zeros(4, 2))  # jaxtyping looks at the default, and would refuse it: what the note says


def test_a_size_and_a_parameter_of_one_name_are_told_apart() -> None:
    """In jaxtyping ``n`` is a size and ``{n}`` is the value of the parameter."""
    found = spec(x=tensor("n {n}"), n=int)
    assert found == written("def f(x: Tensor[n, n_2], n: Scalar[n_2]): ...")


def test_an_int_whose_size_is_known() -> None:
    assert spec(x=tensor("{n}"), n=sd.Scalar["2*k"], y=tensor("k")) == written(
        "def f(x: Tensor[2*k], n: Scalar[2*k], y: Tensor[k]): ..."
    )


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("b {self.width}", "only the value of an int parameter", "{self.width}"),
        ("b {n+1}", "only the value of an int parameter", "{n+1}"),
        ("b {x.shape[0]}", "only the value of an int parameter", "{x.shape[0]}"),
        ("b {m}", "there is none called `m`", "{m}"),
        ("b 2*{q}", "only the value of an int is a size", "{q}"),
        ("b {free}", "only the value of an int is a size", "{free}"),
        ("b dim_{n}", "a name cannot be made of values", "{n}"),
        ("?b", "each leaf of a PyTree", "?b"),
        ("b *", "names nothing", "*"),
    ],
)
def test_refused(text: str, message: str, at: str) -> None:
    f = annotated(x=tensor(text), q=float, n=int, free=Any)
    with pytest.raises(sd.ShapeError) as caught:
        sd.spec_of(f)
    (error,) = [d for d in caught.value.diagnostics if d.severity is Severity.ERROR]
    assert error.code == "inexpressible"
    assert message in error.message
    assert error.helps
    assert error.span is not None
    assert error.span.text == at


class Handmade:
    """What has jaxtyping's attributes: texts that jaxtyping itself refuses come from stubs."""

    def __init__(self, dim_str: str) -> None:
        self.dim_str = dim_str
        self.dtypes = None
        self.array_type = torch.Tensor


@pytest.mark.parametrize(
    "text",
    ["##b", "**b", "__b", "??b", "b#", "#", "?", "#_b", "_4", "_b+1", "*4", "*b+1", "...b", "a,b", "*a *b", "... *b"],
)
def test_texts_that_jaxtyping_refuses(text: str) -> None:
    with pytest.raises(Exception, match=r"."):
        tensor(text if text not in ("#", "?") else "_ #_")
    assert all(error.span is not None for error in errors(x=Handmade(text)))


@pytest.mark.parametrize(
    "text", ["2*", "(b", "b)", "2**b", "b/2", "é", "2*é", "f(b)", "b b'", "{", "a{b", "1e9", "9" * 50]
)
def test_no_text_is_a_traceback(text: str) -> None:
    for error in errors(x=Handmade(text), b=int):
        assert error.span is not None


def test_all_that_is_wrong_is_told_at_once() -> None:
    assert [error.span.text for error in errors(x=Handmade("?a b * {self.x}")) if error.span] == ["?a", "*", "{self.x}"]


# ------------------------------------------------------------------------------- where it is told


def located(x: jaxtyping.Float[Tensor, "b  {self.width}  c"], y: jaxtyping.Int[Tensor, "b c/2+1 ?d"]) -> None: ...  # noqa: F722


def test_messages_point_into_the_string() -> None:
    with pytest.raises(sd.ShapeError) as caught:
        sd.spec_of(located)
    spans = [d.span for d in caught.value.diagnostics if d.severity is Severity.ERROR and d.span is not None]
    assert [span.text for span in spans] == ["{self.width}", "/", "?d"]
    for span in spans:
        line, column = span.source.position(span.start)
        shown = span.source.line(line)
        assert "def located" in shown
        assert shown[column - 1 :].startswith(span.text)
        assert span.source.name == __file__


# ------------------------------------------------------------------------------------ wrappers


def test_under_jaxtyping_and_beartype() -> None:
    @jaxtyping.jaxtyped(typechecker=beartype.beartype)
    def f(x: jaxtyping.Float[Tensor, "b d"], *, w: jaxtyping.Float[Tensor, "d e"]) -> jaxtyping.Float[Tensor, "b e"]:  # noqa: F722
        return x @ w

    @sd.shapes(where="b < 32", attach=False)  # torch would not look through the wrapper
    @jaxtyping.jaxtyped(typechecker=beartype.beartype)
    def g(x: jaxtyping.Float[Tensor, "b d"]) -> jaxtyping.Float[Tensor, "b d"]:  # noqa: F722
        return x

    @jaxtyping.jaxtyped(typechecker=beartype.beartype)
    @sd.shapes(where="b < 32", attach=False)
    def h(x: jaxtyping.Float[Tensor, "b d"]) -> jaxtyping.Float[Tensor, "b d"]:  # noqa: F722
        return x

    assert sd.spec_of(f) == written("def f(x: floating[b, d], *, w: floating[d, e]) -> floating[b, e]: ...")
    for wrapped in (g, h):
        assert sd.spec_of(wrapped) == written("def f(x: floating[b, d]) -> floating[b, d]:\n    where b < 32")


def test_fields_of_a_dataclass_and_methods() -> None:
    @jaxtyping.jaxtyped(typechecker=beartype.beartype)
    @dataclasses.dataclass
    class Batch:
        x: jaxtyping.Float[torch.Tensor, "b d"]  # noqa: F722
        name: str

    class Net(torch.nn.Module):
        def forward(self, batch: Any, n: int) -> Any: ...

    Net.forward.__annotations__ = {"batch": Batch, "n": int, "return": jaxtyping.Float[torch.Tensor, "b {n}"]}
    assert sd.spec_of(Net()) == written("def f(batch: Batch(x: floating[b, d]), n: Scalar[n]) -> floating[b, n]: ...")


def test_other_sources_of_one_parameter() -> None:
    def f(x: Any, y: Any) -> None: ...

    f.__annotations__ = {"x": tensor("b _"), "y": tensor("#b")}
    found = sd.spec_of(sd.shapes(x="_, 64", y="K")(f))
    assert found == written("def f(x: Tensor[b, 64], y: Tensor[K]):\n    where K == 1 or K == b")


def test_stand_ins_hold_what_jaxtyping_holds() -> None:
    from shapedsl.frontends.dialects.stand_ins import STAND_INS

    compared = 0
    for name, stand_in in STAND_INS.items():
        theirs = None if name == "PyTree" else getattr(jaxtyping, name, None)  # its trees need jax
        if theirs is None:
            continue
        compared += 1
        wanted = theirs.dtypes if isinstance(theirs.dtypes, tuple) else None
        ours = cast("tuple[str, ...] | None", stand_in.dtypes)
        assert (ours and {*ours}) == (wanted and {*wanted} - {"bool_"}), name
    assert compared >= 30


def test_a_claim_of_one_or_another_claims_nothing() -> None:
    found = spec(x=tensor("b"), returns=tensor("#b 2"))
    returns = found.signature.returns
    assert isinstance(returns, TensorType)
    assert returns.dims is not None
    assert returns.dims[0] == Fresh()
