"""Where torch ignores an attached spec, we say so; where it does not, we are silent. Both are shown through torch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="asks torch what it ignores")

from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec

from shapedsl.diagnostics import Report
from shapedsl.targets.ignored import warn_if_ignored
from tests.entry.compiling import Graphs
from tests.runtime.fakes import signature

nn = torch.nn
SIGNATURE = signature("def forward(x: Tensor[B, _]): ...")


def carries(function: Any) -> Any:
    """Puts torch's own spec on a function, as a decorator does."""
    function._dynamic_spec = ShapesSpec({"x": TensorSpec([ShapeVar("B"), None])})
    return function


class Plain(nn.Module):  # type: ignore[misc, name-defined]
    @carries
    def forward(self, x: Any) -> Any:
        return x + 1


class NoGrad(nn.Module):  # type: ignore[misc, name-defined]
    @torch.no_grad()  # type: ignore[untyped-decorator]
    @carries
    def forward(self, x: Any) -> Any:
        return x + 1


class Overrides(Plain):
    def forward(self, x: Any) -> Any:
        return super().forward(x) * 2


class Inherits(Plain):
    pass


class OfLinear(nn.Linear):  # type: ignore[misc, name-defined]
    @carries
    def forward(self, x: Any) -> Any:
        return super().forward(x)


class Callee:
    @carries
    def __call__(self, x: Any) -> Any:
        return x + 1


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def rewrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        return function(x)

    return wrapper


def hooked(module: Any) -> Any:
    module.register_forward_hook(lambda _module, _inputs, output: output * 2)
    return module


@carries
def plain(x: Any) -> Any:
    return x + 1


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def graphs_for_three_sizes(target: Any) -> int:
    graphs = Graphs()
    run = torch.compile(target, backend=graphs)
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
        for size in (3, 4, 5):
            run(torch.ones(size, 4))
    return graphs.count


def warnings(target: Any) -> list[str]:
    report = Report()
    warn_if_ignored(target, SIGNATURE, report)
    assert all(found.code == "spec-ignored" for found in report)
    return [found.message.removeprefix("torch.compile would ignore this spec: ") for found in report]


@pytest.mark.parametrize(
    "target",
    [plain, Plain(), Inherits(), Plain().forward, OfLinear(4, 4), rewrapped(plain)],
    ids=["function", "module", "inherited", "method", "subclass of Linear", "wrapper of the same parameters"],
)
def test_where_torch_obeys_there_is_no_warning(target: Any) -> None:
    assert graphs_for_three_sizes(target) == 1
    assert warnings(target) == []


@pytest.mark.parametrize(
    ("target", "why"),
    [
        (NoGrad(), "a decorator put a wrapper around it, whose parameters are args, kwargs, not x"),
        (wrapped(plain), "a decorator put a wrapper around it, whose parameters are args, kwargs, not x"),
        (Overrides(), "`Overrides` overrides the `forward` that `Plain` has a spec for"),
    ],
    ids=["no_grad", "wrapper", "override"],
)
def test_where_torch_ignores_it_we_say_why(target: Any, why: str) -> None:
    assert graphs_for_three_sizes(target) == 3
    assert warnings(target) == [why]


def test_objects_that_torch_does_not_look_into() -> None:
    # torch reads no attribute of these, so it finds a spec only where someone set one
    partial: Any = carries(functools.partial(lambda x: x + 1))
    callee: Any = carries(Callee())
    for target, why in ((partial, "it is a functools.partial"), (callee, "it is a callable object")):
        assert graphs_for_three_sizes(target) == 3
        assert warnings(target) == [why]


def hides(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps without what `functools.wraps` copies of attributes."""

    @functools.wraps(function, updated=())
    def wrapper(x: Any) -> Any:
        return function(x)

    return wrapper


class Partial(Plain):
    bound = functools.partialmethod(Plain.forward)


@pytest.mark.parametrize(
    ("target", "why"),
    [
        (functools.partial(plain), "it is a functools.partial"),
        (functools.partial(functools.partial(Plain().forward)), "it is a functools.partial"),
        (Partial().bound, "it is a functools.partial"),
        (Callee(), "it is a callable object"),
        (hides(plain), "a decorator put a wrapper around it, which does not carry it"),
    ],
    ids=["partial", "partial of partial", "partialmethod", "callable object", "wrapper"],
)
def test_where_torch_does_not_find_it_we_say_so(target: Any, why: str) -> None:
    assert graphs_for_three_sizes(target) == 3
    assert warnings(target) == [why]


def test_hooks_are_frames_of_their_own() -> None:
    assert graphs_for_three_sizes(hooked(Plain())) == 1 + 3  # one forward, and the hook at each size
    assert warnings(hooked(Plain())) == ["its forward hooks are compiled apart, as frames that the spec does not reach"]


def test_torchs_own_modules() -> None:
    forward = nn.Linear.forward
    carries(forward)
    try:
        forward._dynamic_spec = ShapesSpec({"input": TensorSpec([ShapeVar("B"), None])})
        linear = nn.Linear(4, 4)
        assert graphs_for_three_sizes(linear) == 3
        assert warnings(linear) == ["`Linear` is torch's own module, whose frames it skips"]
    finally:
        del forward._dynamic_spec


def test_an_optional_parameter_is_told() -> None:
    @carries
    def f(x: Any, mask: Any = None) -> Any:
        return x

    report = Report()
    warn_if_ignored(f, signature("def f(x: Tensor[B, _], mask: Tensor[B] | None = _): ..."), report)
    (found,) = report
    assert (found.code, found.span.text if found.span else "") == ("spec-ignored", "mask")


@pytest.mark.parametrize(
    ("parameter", "path"),
    [
        ("mask: Tensor[B] | None", "mask"),
        ('**more: {"a": Tensor[B], "b": Tensor[B] | None}', 'more["b"]'),
        ("state: Cache(k: Tensor[B], v: [Tensor[B], (Tensor[B] | None)])", "state.v[1]"),
    ],
)
def test_what_may_be_none_is_named_by_its_path(parameter: str, path: str) -> None:
    name = parameter.partition(":")[0]
    scope: dict[str, Any] = {}
    exec(f"def f(x, {name}): ...", scope)
    report = Report()
    warn_if_ignored(carries(scope["f"]), signature(f"def f(x: Tensor[B, _], {parameter}): ..."), report)
    told = f"the attached spec describes calls that pass `{path}`; torch ignores that it may be None"
    assert [found.message for found in report] == [told]


def test_nothing_is_said_where_no_spec_is_attached() -> None:
    assert warnings(lambda x: x) == []
    assert warnings(nn.Linear(2, 2)) == []
