"""Types and parameters."""

from __future__ import annotations

import pytest

from shapedsl.ir import ParamKind, Rest, SequenceType

from .helpers import findings, marked, one, same, written


def line(parameters: str) -> str:
    """The canonical signature line of a def with these parameters."""
    return written(f"def f({parameters}): ...").split("\n")[0]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("Tensor", "Tensor"),
        ("Tensor[()]", "Tensor[()]"),
        ("Tensor[ B,2*B, 3 ,_, ?, ?K,... , ]", "Tensor[B, 2 * B, 3, _, ?, ?K, ...]"),
        ("Tensor[*batch, B]", "Tensor[*batch, B]"),
        ("float32[B]", "float32[B]"),
        ("long[B]", "int64[B]"),
        ("half", "float16"),
        ("torch.bfloat16[B]", "bfloat16[B]"),
        ("int[B]", "int32[B]"),
        ("floating[()]", "floating[()]"),
        ("Scalar", "Scalar"),
        ("Scalar[2*n]", "Scalar[2 * n]"),
        ("Scalar[5]", "Scalar[5]"),
        ("Scalar[_]", "Scalar"),
        ("Tensor[B] | None", "Tensor[B] | None"),
        ("None | Tensor[B]", "Tensor[B] | None"),
        ("None", "None"),
        ("None | None", "None"),
        ("(Tensor[B])", "Tensor[B]"),
        ("(Tensor[B],)", "(Tensor[B],)"),
        ("()", "()"),
        ("[]", "[]"),
        ("(Tensor, Tensor,)", "(Tensor, Tensor)"),
        ("[Tensor[B]]*3", "[Tensor[B]] * 3"),
        ("(Tensor[B],) * (1 + 1)", "(Tensor[B],) * 2"),
        ("[[Tensor[B]] * 2, *_]", "[[Tensor[B]] * 2, *_]"),
        ("[*_]", "[*_]"),
        ("(*_)", "(*_)"),
        ("[Tensor[?K], ...]", "[Tensor[?K], ...]"),
        ('{"key": Tensor[B], 0: _, -1: None,}', '{"key": Tensor[B], 0: _, -1: None}'),
        ("{'a\\n\"': _}", '{"a\\n\\"": _}'),
        ("{}", "{}"),
        ("Batch(x: Tensor[B], edges: (_, _),)", "Batch(x: Tensor[B], edges: (_, _))"),
        ("a.b.Batch()", "a.b.Batch()"),
        ("object(x: Tensor)", "object(x: Tensor)"),
        ("_", "_"),
        ("[\n    Tensor[B],  # a comment\n    Tensor,\n]", "[Tensor[B], Tensor]"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert line(f"x: {text}, y: Tensor[B]") == f"def f(x: {canonical}, y: Tensor[B]): ..."


@pytest.mark.parametrize(
    "parameters",
    [
        "a: _, b: _, /, c: _, *, d: _ = _, e: _",
        "a: _, /",
        "*, a: _",
        '*args: Tensor[B], k: _ = _, **kwargs: {"k": Tensor[B]}',
        "a: _ = _, *args: [Tensor[B], _]",
        "*args: _, **kwargs: _",
    ],
)
def test_parameter_kinds_are_kept(parameters: str) -> None:
    assert line(parameters) == f"def f({parameters}): ..."


def test_untyped_parameters_and_defaults() -> None:
    assert same(
        "def f(x, y = ..., *args, k=None, **kw): ...", "def f(x: _, y: _ = _, *args: _, k: _ = _, **kw: _): ..."
    )


def test_args_are_a_sequence() -> None:
    assert same("def f(*args: Tensor[B]): ...", "def f(*args: [Tensor[B], ...]): ...")
    assert same("def f(*args: (Tensor[B], _)): ...", "def f(*args: [Tensor[B], _]): ...")
    (param,) = one("def f(*args: Tensor[B]): ...").params
    assert param.kind is ParamKind.VAR_POSITIONAL
    assert isinstance(param.type, SequenceType)
    assert param.type.rest is Rest.REPEAT


def test_keywords_are_names() -> None:
    text = "def dim(where: Tensor[case, multiple], dim: Tensor[of], let: Scalar[hint]) -> _:\n    where case < multiple"
    assert written(text + "\n") == text + "\n"


def test_parameters_and_dims_are_separate_namespaces() -> None:
    assert not findings("def f(T: Tensor[T]): ...")


def test_long_signatures_are_broken() -> None:
    text = "def f(first: Tensor[B, D], second: Tensor[B, D], third: Tensor[B, D], *, fourth: Tensor) -> _: ..."
    assert written(text) == (
        "def f(\n    first: Tensor[B, D],\n    second: Tensor[B, D],\n    third: Tensor[B, D],\n"
        "    *,\n    fourth: Tensor,\n) -> _: ...\n"
    )


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("x: Tensor[B] | float32[B]", "unsupported-union", "Tensor[B] | float32[B]"),
        ("x: floot32[B]", "unknown-dtype", "floot32"),
        ("x: Batch", "unknown-dtype", "Batch"),
        ("x: Scalar[a, b]", "type-arity", "Scalar[a, b]"),
        ("x: Scalar[?]", "type-arity", "Scalar[?]"),
        ("x: [Tensor[B]] * B", "not-constant", "B"),
        ("x: [Tensor[B]] * -1", "syntax-error", None),
        ("x: [..., Tensor]", "syntax-error", "[..., Tensor]"),
        ("x: [...]", "syntax-error", "[...]"),
        ("x: (Tensor[B]) * 3", "syntax-error", "(Tensor[B]) * 3"),
        ('x: {"a": _, "a": _}', "duplicate-name", '"a": _'),
        ("x: Batch(a: _, a: _)", "duplicate-name", "a"),
        ("x, x", "duplicate-name", "x"),
        ("**kw: Tensor[B]", "syntax-error", "Tensor[B]"),
        ("x = _, y", "syntax-error", "y"),
        ("**kw, y", "syntax-error", "kw"),
        ("*a, *b", "syntax-error", "b"),
        ("x: Tensor(B, D)", "syntax-error", None),
        ("_: Tensor", "reserved-name", "_"),
    ],
)
def test_wrong_types_and_parameters(text: str, code: str, at: str | None) -> None:
    found = marked(f"def f({text}): ...")
    assert [f[0] for f in found] == [code]
    assert at is None or found[0][1] == at


def test_an_unknown_dtype_has_a_suggestion() -> None:
    (found,) = findings("def f(x: floot32[B]): ...")
    assert found.helps == ("did you mean `float32`?",)
