"""`explain_error`: what torch's own errors say about sizes, whoever called it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch", reason="lowering needs torch")

import torch

import shapedsl as sd
from shapedsl.diagnostics import Diagnostic
from shapedsl.targets.recompiles import recompiled
from shapedsl.targets.violations import violation

ones = torch.ones


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction] - pytest calls it
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def raised(call: Callable[[], object]) -> BaseException:
    try:
        call()
    except Exception as error:  # whatever torch raises is what is explained
        return error
    raise AssertionError("nothing was raised")


def explained(call: Callable[[], object], spec: Any = None) -> Diagnostic:
    """Returns the one finding that the error of ``call`` is explained by."""
    found = sd.explain_error(raised(call), spec)
    assert found is not None
    (finding,) = found.diagnostics
    return finding


def torch_spec(text: str) -> Any:
    (spec,) = sd.loads(text).values()
    return spec.to_torch()


def compiled(f: Callable[..., Any], text: str | None = None, backend: str = "eager", **options: Any) -> Any:
    """Returns ``f`` compiled by torch itself."""
    shapes = None if text is None else torch_spec(text)
    return torch.compile(f, dynamic_shapes=shapes, backend=backend, fullgraph=True, **options)


class Module(torch.nn.Module):
    def __init__(self, f: Callable[..., Any]) -> None:
        super().__init__()
        self.f = f

    def forward(self, x: Any) -> Any:
        return self.f(x)


class Sum(torch.nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        return x + y


def branch(x: Any) -> Any:
    return x + 1 if x.shape[0] > 1 else x


def viewed(x: Any) -> Any:
    return x.view(-1, 4)


def broken(x: Any) -> Any:
    torch._dynamo.graph_break()
    return x + 1


X = "def f(x: Tensor[B]): ..."
XY = "def f(x: Tensor[B], y: Tensor[S]): ..."


# --------------------------------------------------------------------------------------- while tracing


@sd.shapes(x="B")
def annotated(x: Any) -> Any:
    return branch(x)


BRANCHES: dict[str, Callable[[], object]] = {
    "compile": lambda: compiled(branch, X)(ones(8)),
    "compile a module": lambda: compiled(Module(branch), X)(ones(8)),
    "export": lambda: torch.export.export(Module(branch), (ones(8),), dynamic_shapes=torch_spec(X)),
    "strict export": lambda: torch.export.export(Module(branch), (ones(8),), dynamic_shapes=torch_spec(X), strict=True),
    "attached": lambda: torch.compile(annotated, backend="eager", fullgraph=True)(ones(8)),
    "ours": lambda: sd.compile(branch, X, backend="eager")(ones(8)),
}


@pytest.mark.parametrize("call", BRANCHES.values(), ids=BRANCHES)
def test_a_branch_on_an_open_size(call: Callable[[], object]) -> None:
    finding = explained(call)
    assert finding.code == "data-dependent"
    assert finding.message == "the program asks whether `B > 1`, which the spec leaves open"
    assert finding.notes[0].endswith("in branch: return x + 1 if x.shape[0] > 1 else x")
    assert finding.notes[1] == "B is x.shape[0], 8 in the example"
    assert finding.helps[0] == "add `where B >= 2`: it excludes B <= 1; a `case B <= 1` would serve that"


def test_a_spec_that_is_given_has_its_own_names() -> None:
    error = raised(lambda: torch.export.export(Module(branch), (ones(8),), dynamic_shapes=torch_spec(X)))
    found = sd.explain_error(error, "def f(x: Tensor[B]): where B >= 1")
    assert found is not None
    assert "it excludes B == 1" in str(found)


def test_a_number_that_comes_from_data() -> None:
    finding = explained(lambda: compiled(lambda x: x + 1 if x.nonzero().shape[0] > 3 else x, X)(ones(8)))
    assert finding.code == "data-dependent"
    assert finding.message.endswith("> 3`, where u1 comes from data: no size of the spec decides it")
    assert "torch._check" in finding.helps[0]


# ------------------------------------------------------------------------------------------- calls


def test_a_call_outside_the_spec_is_told_as_the_check_tells_it() -> None:
    def call() -> None:
        run = compiled(lambda x: x + 1, "def f(x: Tensor[B]): where B >= 2, B <= 6")
        run(ones(4))
        run(ones(9))

    finding = explained(call)
    assert finding.code == "shape-violation"
    assert "`x.shape[0]` is 9, expected `B <= 6`" in finding.message
    assert finding.notes[-1].startswith("torch: Guard failed on the same frame")
    assert "#" not in finding.notes[-1]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_program_that_demands_more_than_its_spec(backend: str) -> None:
    def call() -> None:
        run = compiled(viewed, X, backend)
        run(ones(8))
        run(ones(7))

    finding = explained(call)
    assert finding.code == "extra-assumption"
    assert finding.message.endswith("% 4 == 0`, which the spec does not promise")
    if backend == "eager":  # dynamo's own graph names its inputs
        assert finding.helps[0].startswith("add `where B % 4 == 0`")
    else:
        assert "`u0` is one of the call's sizes" in finding.helps[0]


def test_sizes_that_became_one_or_a_number() -> None:
    def two() -> None:
        run = compiled(lambda x, y: x + y, XY)
        run(ones(4), ones(4))
        run(ones(4), ones(3))

    assert explained(two).message == "the program needs `B == S`, which the spec does not promise"
    pinned = explained(lambda: compiled(lambda x: x @ ones(5), X)(ones(4)))
    assert pinned.message == "the program needs `B == 5`, which the spec does not promise"


def test_an_exported_program_with_and_without_a_spec() -> None:
    program = torch.export.export(Sum(), (ones(8), ones(8)), dynamic_shapes=torch_spec(XY)).module()
    error = raised(lambda: program(ones(3), ones(4)))
    for spec, code, said in [
        (None, "shape-violation", "this program needs `x.shape[0] == y.shape[0]`"),
        ("def f(x: Tensor[M], y: Tensor[N]): ...", "extra-assumption", "the program needs `M == N`"),
        ("def f(x: Tensor[M], y: Tensor[M]): ...", "shape-violation", "`y.shape[0]` is 4, expected `M` = 3"),
    ]:
        found = sd.explain_error(error, spec)
        assert found is not None
        assert found.code == code
        assert said in found.diagnostics[0].message


# --------------------------------------------------------------------------------------- recompiles


@sd.shapes(x="B, _")
def half(x: Any) -> Any:
    return x + 1


def test_what_a_spec_leaves_static_and_what_no_spec_declares() -> None:
    def over(f: Callable[..., Any]) -> None:
        for length in range(2, 12):
            f(ones(3, length))

    attached = explained(lambda: over(torch.compile(half, backend="eager", fullgraph=True)))
    assert attached.code == "recompiled"
    assert attached.message == "`half` needs a graph for each value of `x.shape[1]`, and torch keeps 8"
    assert attached.helps == ("the spec leaves `x.shape[1]` static: write a name there, or `?`",)
    bare = explained(lambda: over(compiled(lambda x: x + 2, dynamic=False)))
    assert bare.helps == ("declare `x.shape[1]` dynamic: a name in `x: Tensor[…]` of the spec",)


def test_an_int_that_torch_takes_for_constant() -> None:
    def call() -> None:
        with torch._dynamo.config.patch(error_on_recompile=True):
            run = compiled(lambda x, n: x + n, dynamic=False)
            run(ones(3), 1)
            run(ones(3), 2)

    finding = explained(call)
    assert finding.message.endswith("needs a graph for each value of `n`, and recompiling is an error here")
    assert finding.helps == ("declare `n: Scalar[n]`: then one graph serves all its values",)


RecompileError = type("RecompileError", (RuntimeError,), {})


@pytest.mark.parametrize(
    ("reason", "what"),
    [
        ("tensor 'x' size mismatch at index 1. expected 2, actual 3", "value of `x.shape[1]`"),
        ("tensor 'd['a']' size mismatch at index 0. expected 2, actual 3", 'value of `d["a"].shape[0]`'),
        ("tensor 'x' rank mismatch. expected 2, actual 3", "rank of `x`"),
        ("len(xs) == 2  # for x in xs:  # net.py:3 in f", "length of `xs`"),
        ("2 <= x.size()[0] <= 5  # if x.shape[0] > 5:  # net.py:3 in f", "side of `2 <= x.shape[0] <= 5`"),
        ("L['n'] == 1", "value of `n`"),
    ],
)
def test_reasons_of_recompiles(reason: str, what: str) -> None:
    error = RecompileError(f"Recompiling function f in net.py:1\n    triggered by …:\n    - 0/0: {reason}")
    found = recompiled(error, None)
    assert found is not None
    assert found.diagnostics[0].message == f"`f` needs a graph for each {what}, and recompiling is an error here"


@pytest.mark.parametrize("reason", ["dtype mismatch. expected Float, actual Double", "stride mismatch at index 0. …"])
def test_dtypes_and_strides_are_not_about_shapes(reason: str) -> None:
    assert (
        recompiled(RecompileError(f"Recompiling function f in net.py:1\n    - 0/0: tensor 'x' {reason}"), None) is None
    )


# ------------------------------------------------------------------------------ graph breaks, legacy dims


def test_graph_breaks_under_a_spec() -> None:
    finding = explained(lambda: compiled(broken, X)(ones(3)))
    assert finding.code == "graph-break"
    assert finding.message.startswith("torch cannot trace this in one graph: ")
    assert "in broken: torch._dynamo.graph_break()" in finding.notes[0]
    assert "behind a graph break no spec holds" in finding.notes[-1]
    assert explained(lambda: sd.compile(broken, X, backend="eager")(ones(3))).code == "graph-break"
    lstm = Module(torch.nn.LSTM(4, 4))
    recurrent = explained(lambda: compiled(lstm, "def forward(x: Tensor[L, B, 4]): ...")(ones(3, 2, 4)))
    assert recurrent.helps[0].startswith("make the length static: `const L = _`")


def test_dims_that_were_declared_dynamic_and_are_not() -> None:
    from torch.export import Dim

    shapes = {"x": {0: Dim("a")}, "y": {0: Dim("b")}}
    merged = explained(lambda: torch.export.export(Sum(), (ones(8), ones(8)), dynamic_shapes=shapes))
    assert (merged.code, merged.message) == (
        "merged-dims",
        "the program made two sizes one: `y.shape[0] == x.shape[0]`",
    )

    def marked() -> None:
        x = ones(8)
        torch._dynamo.mark_dynamic(x, 0)
        compiled(lambda x: x + ones(8))(x)

    pinned = explained(marked)
    assert (pinned.code, pinned.message) == ("specialized-dim", "the program pinned `x.shape[0]`: it is 8")


def test_a_guard_beyond_a_declared_range() -> None:
    text = (
        "Constraints violated (a)! For more information, run with …\n"
        "  - Not all values of a = L['x'].size()[0] in the specified range a <= 100 satisfy the generated guard "
        "(L['x'].size()[0] % 4) == 0.\n"
    )
    found = violation(type("ConstraintViolationError", (RuntimeError,), {})(text))
    assert found is not None
    assert found.code == "extra-assumption"
    assert "needs `x.shape[0] % 4 == 0`" in found.diagnostics[0].message


# ------------------------------------------------------------------------------------ none of ours


def test_what_has_nothing_to_do_with_shapes() -> None:
    assert sd.explain_error(ValueError("no")) is None
    assert sd.explain_error(AssertionError("Guard failed: nobody is at the gate")) is None
    assert sd.explain_error(raised(lambda: int("a"))) is None
    assert sd.explain_error(raised(lambda: compiled(broken)(ones(3)))) is None
    assert sd.explain_error(raised(lambda: ones(3) @ ones(4))) is None


def test_our_own_errors_stay_what_they_are() -> None:
    error = raised(lambda: sd.loads(X)["f"].check(ones(2, 2)))
    assert sd.explain_error(error) is error
    try:
        raise RuntimeError("around") from error
    except RuntimeError as around:
        assert sd.explain_error(around) is error
    try:
        try:
            raise error
        except sd.ShapeError:
            int("a")
    except ValueError as other:
        assert sd.explain_error(other) is None


def test_objects_that_answer_as_they_like() -> None:
    class Hostile:
        @property  # type: ignore[misc]  # objects may lie about their class
        def __class__(self) -> Any:
            raise RuntimeError("no")

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("no")

    def call_wrapped(self: Any, args: Any, kwargs: Any) -> None:
        raise ValueError((self, args, kwargs))

    def export(mod: Any, args: Any, kwargs: Any, dynamic_shapes: Any) -> None:
        raise AssertionError("Guard failed: x.size()[0] == 2")

    assert sd.explain_error(raised(lambda: call_wrapped(Hostile(), (Hostile(),), {}))) is None
    found = sd.explain_error(raised(lambda: export(Hostile(), (Hostile(),), {}, Hostile())))
    assert found is not None
    assert found.diagnostics[0].message == "this program needs `x.shape[0] == 2`"


def test_causes_that_go_around_groups_and_errors_without_a_text() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert sd.explain_error(first) is None
    assert sd.explain_error(Mute()) is None
    mute = Mute()
    mute.__cause__ = sd.ShapeError([])
    assert sd.explain_error(mute) is mute.__cause__
    guard = AssertionError("Guard failed: y.size()[0] == x.size()[0]")
    group = getattr(builtins, "ExceptionGroup", None)
    if group is not None:  # Python 3.10 has none
        told = sd.explain_error(group("several", [ValueError("first"), guard]))
        assert told is not None
        assert "`x.shape[0] == y.shape[0]`" in str(told) or "`y.shape[0] == x.shape[0]`" in str(told)


def test_misuse() -> None:
    with pytest.raises(TypeError, match="takes an exception, not str"):
        sd.explain_error("no")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a spec is a Spec"):
        sd.explain_error(ValueError("no"), 3)  # type: ignore[arg-type]
