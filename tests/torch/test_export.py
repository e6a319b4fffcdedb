"""sd.export's engine: what torch.export gets wrong or does not take, each trap with a test."""

from __future__ import annotations

import functools
from collections import namedtuple
from typing import Any

import pytest

pytest.importorskip("torch", reason="lowering needs torch")

import torch

from shapedsl.diagnostics import ShapeError
from shapedsl.ir import AnyType, ParamKind, Static
from shapedsl.ir.expanded import Lowered
from shapedsl.targets.entry.export import export
from tests.torch.lowered_by_hand import apply, compare, fields, integer, lower, mapping, scalar, sequence, tensor, var

BOTH = pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
ones = torch.ones


def outcome(program: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the result's shape, or the name of the error."""
    try:
        return tuple(program.module()(*args, **kwargs).shape)
    except (AssertionError, RuntimeError) as error:
        return type(error).__name__


def rows(**params: Any) -> Lowered:
    """Returns the spec of ``x: Tensor[B, _]`` and more, with ``B % 2 == 0``."""
    return lower({"x": tensor("B", Static()), **params}, [var("B")], [compare(apply("%", "B", 2), "==", 0)])


@BOTH
def test_a_plain_function_is_exported(strict: bool) -> None:
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    program = export(double, (ones(4, 3),), {}, rows(), strict=strict)
    assert [outcome(program, ones(n, 3)) for n in (0, 1, 2, 6)] == [(0, 3), "RuntimeError", (2, 3), (6, 3)]


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("scale", ones(3))

    def forward(self, x: torch.Tensor) -> Any:
        return self.linear(x) * self.scale

    def encode(self, x: torch.Tensor) -> Any:
        return self.linear(x)


@BOTH
def test_a_module_keeps_its_names_hooks_and_stack(strict: bool) -> None:
    """Trap: a wrapper module prefixes every name, and runs hooks twice or not at all."""
    net = Net()
    net.register_forward_hook(lambda module, args, result: result + 1)
    program = export(net, (ones(4, 3),), {}, rows(), strict=strict)
    assert sorted(program.state_dict) == ["linear.bias", "linear.weight", "scale"]
    assert [spec.target for spec in program.graph_signature.input_specs][:3] == [
        "linear.weight",
        "linear.bias",
        "scale",
    ]
    assert torch.allclose(program.module()(ones(6, 3)), net.linear(ones(6, 3)) + 1)
    (linear,) = [node for node in program.graph.nodes if "linear" in str(node.target) and node.op == "call_function"]
    assert [path for path, _ in linear.meta["nn_module_stack"].values()] == ["", "linear"]
    assert next(iter(linear.meta["nn_module_stack"].values()))[1].endswith("test_export.Net")
    assert program.state_dict["linear.weight"] is net.linear.weight
    assert type(net) is Net


@BOTH
def test_a_forward_set_on_the_instance_is_obeyed(strict: bool) -> None:
    net = Net()
    net.forward = functools.partial(lambda self, x: self.linear(x) + 1, net)  # type: ignore[method-assign]
    program = export(net, (ones(4, 3),), {}, rows(), strict=False)
    assert torch.allclose(program.module()(ones(2, 3)), net.linear(ones(2, 3)) + 1)


def test_a_method_of_a_module_runs_no_hooks_and_keeps_names() -> None:
    net = Net()
    net.register_forward_hook(lambda module, args, result: result + 1)
    program = export(net.encode, (ones(4, 3),), {}, rows())
    assert "linear.weight" in program.state_dict
    assert torch.allclose(program.module()(ones(6, 3)), net.linear(ones(6, 3)))
    assert outcome(program, ones(5, 3)) == "RuntimeError"


@BOTH
@pytest.mark.parametrize("kind", ["partial", "callable object", "bound method", "no_grad", "builtin", "lambda"])
def test_every_kind_of_callable_obeys(kind: str, strict: bool) -> None:
    class Adder:
        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

        def method(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    @torch.no_grad()
    def decorated(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    targets: dict[str, Any] = {
        "partial": functools.partial(torch.add, other=1),
        "callable object": Adder(),
        "bound method": Adder().method,
        "no_grad": decorated,
        "builtin": torch.relu,
        "lambda": lambda x: x + 1,
    }
    program = export(targets[kind], (ones(4, 3),), {}, rows(), strict=strict)
    assert [outcome(program, ones(n, 3)) for n in (3, 6)] == ["RuntimeError", (6, 3)]


@BOTH
def test_positional_only_keyword_only_defaults_and_variadics(strict: bool) -> None:
    """Traps: strict export cannot pass positional-only parameters; a spec on an omitted default is an error."""

    def f(x: Any, y: Any = None, /, *args: Any, k: Any, flag: bool = True, **rest: Any) -> Any:
        return x.sum() + args[0].sum() * k.sum() + rest["z"].sum() + (0 if y is None else y.sum())

    lowered = lower(
        {
            "x": tensor("B"),
            "args": (sequence(tensor("B")), ParamKind.VAR_POSITIONAL),
            "k": (tensor("C"), ParamKind.KEYWORD_ONLY),
            "rest": (mapping({"z": tensor("C")}), ParamKind.VAR_KEYWORD),
        },
        [var("B"), var("C")],
    )
    program = export(f, (ones(4), ones(4), ones(4)), {"k": ones(3), "z": ones(3)}, lowered, strict=strict)
    assert outcome(program, ones(6), ones(4), ones(6), k=ones(5), z=ones(5)) == ()
    assert outcome(program, ones(6), ones(4), ones(7), k=ones(5), z=ones(5)) != ()
    assert outcome(program, ones(6), ones(4), ones(6), k=ones(5), z=ones(4)) != ()


def filled_in(function: Any) -> Any:
    """Returns ``function`` with a ``scale`` that is put among the keywords where it is not, as transformers does."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        kwargs.setdefault("scale", 3)
        return function(*args, **kwargs)

    return wrapper


@BOTH
def test_the_target_is_called_as_the_example_is(strict: bool) -> None:
    """Decorators look at how an argument comes: ``scale`` by position would be given twice."""

    @filled_in
    def f(x: torch.Tensor, y: Any = None, scale: int = 1) -> torch.Tensor:
        return x * scale if y is None else x * scale + y

    program = export(f, (ones(4, 3),), {}, rows(), strict=strict)
    assert program.module()(ones(2, 3))[0].tolist() == [3, 3, 3]
    program = export(f, (), {"x": ones(4, 3), "y": ones(3)}, rows(), strict=strict)
    assert program.module()(x=ones(2, 3), y=ones(3))[0].tolist() == [4, 4, 4]


@BOTH
def test_containers(strict: bool) -> None:
    pair = namedtuple("pair", ["a", "b"])
    torch.export.register_dataclass  # noqa: B018

    def f(d: Any, past: Any, p: Any) -> Any:
        return d["k"].sum() + past[0][1].sum() + p.a.sum() + p.b.sum()

    lowered = lower(
        {
            "d": mapping({"k": tensor("B")}),
            "past": sequence(sequence(AnyType(), tensor("B")), kind="list"),
            "p": fields(a=tensor("B"), b=AnyType()),
        },
        [var("B")],
    )

    def made(*sizes: int) -> tuple[Any, ...]:
        k, one, a = (ones(size) for size in sizes)
        return {"k": k}, [(ones(2), one)], pair(a, ones(2))

    program = export(f, made(4, 4, 4), {}, lowered, strict=strict)
    assert outcome(program, *made(7, 7, 7)) == ()
    assert all(outcome(program, *made(*bad)) != () for bad in [(7, 7, 6), (7, 6, 7), (6, 7, 7)])


@BOTH
def test_parameters_that_the_function_does_not_use_are_checked(strict: bool) -> None:
    """Trap: strict export pins an unused int to the example (``Guard failed: n == 2``)."""
    lowered = lower(
        {"x": tensor("B"), "y": tensor("C"), "n": scalar("n")},
        [var("B"), var("C"), integer("n", 0)],
        [compare("C", "<=", "B"), compare("n", "<=", "B")],
    )
    program = export(lambda x, y, n: x + 1, (ones(5), ones(4), 2), {}, lowered, strict=strict)
    assert outcome(program, ones(7), ones(3), 7) == (7,)
    assert outcome(program, ones(7), ones(8), 7) == "RuntimeError"
    assert outcome(program, ones(7), ones(3), 8) == "RuntimeError"
    assert outcome(program, ones(7), ones(3), -1) in ("RuntimeError", "AssertionError")


@BOTH
def test_one_tensor_passed_twice_is_two_inputs(strict: bool) -> None:
    """Trap: with one variable for both the program is wrong without a word (``x - y`` gave 0)."""
    same = ones(4)
    lowered = lower({"x": tensor("B"), "y": tensor("B")}, [var("B")])
    program = export(lambda x, y: x - y, (same, same), {}, lowered, strict=strict)
    assert program.module()(ones(3) * 5, ones(3)).tolist() == [4, 4, 4]


@BOTH
def test_an_attached_spec_does_not_clash_with_ours(strict: bool) -> None:
    """Trap: an attached spec and an explicit one are a ValueError."""
    from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec, dynamic_spec

    @dynamic_spec(ShapesSpec({"x": TensorSpec([ShapeVar("other"), None])}))  # type: ignore[untyped-decorator]
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    program = export(f, (ones(4, 3),), {}, rows(), strict=strict)
    assert [outcome(program, ones(n, 3)) for n in (3, 6)] == ["RuntimeError", (6, 3)]


def test_parameters_may_be_called_as_ours_are() -> None:
    def f(_s_self: Any, _s_target: Any, _target: Any) -> Any:
        return _s_self + _s_target + _target

    lowered = lower({"_s_self": tensor("B"), "_s_target": tensor("B"), "_target": tensor("B")}, [var("B")])
    program = export(f, (ones(3), ones(3), ones(3)), {}, lowered)
    assert outcome(program, ones(5), ones(5), ones(5)) == (5,)


def test_parameters_called_as_torchs_are_refused() -> None:
    """Trap: torch exports them, and the program cannot be called (``too many positional arguments``)."""
    for target in (Net.forward, lambda x, torch: x + torch):
        with pytest.raises(ShapeError) as caught:
            export(target, (ones(3, 3), ones(3, 3)), {}, rows())
        assert caught.value.code == "unsupported-by-torch"


def test_an_int_that_may_be_negative() -> None:
    """Trap: strict export forces ``0 <= n``; non-strict is right."""
    lowered = lower({"x": tensor("B"), "n": scalar("n")}, [var("B"), integer("n", -9, 9)])
    with pytest.raises(ShapeError) as caught:
        export(lambda x, n: x * n, (ones(5), 2), {}, lowered, strict=True)
    assert caught.value.code == "negative-int"
    program = export(lambda x, n: x * n, (ones(5), 2), {}, lowered)
    assert program.module()(ones(2), -4).tolist() == [-4, -4]
    assert outcome(program, ones(2), -10) in ("RuntimeError", "AssertionError")


def test_attributes_of_self_are_refused() -> None:
    lowered = lower({"self": fields(weight=tensor("B")), "x": tensor("B")}, [var("B")])
    with pytest.raises(ShapeError) as caught:
        export(Net(), (ones(4),), {}, lowered)
    assert caught.value.code == "unsupported-by-torch"


@BOTH
def test_a_branch_on_an_open_size_is_told_in_the_users_names(strict: bool) -> None:
    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if y.shape[0] * 2 > x.shape[1]:
            return x + 1
        return x - 1

    lowered = lower({"x": tensor("B", "S"), "y": tensor("N")}, [var("B"), var("S"), var("N")])
    with pytest.raises(ShapeError) as caught:
        export(f, (ones(4, 3), ones(3)), {}, lowered, strict=strict)
    (finding,) = caught.value.diagnostics
    assert finding.code == "data-dependent"
    assert finding.message == "the program asks whether `S < 2 * N`, which the spec leaves open"
    assert finding.notes[0].endswith("in f: if y.shape[0] * 2 > x.shape[1]:")
    assert set(finding.notes[1:]) == {"N is y.shape[0], 3 in the example", "S is x.shape[1], 3 in the example"}
    assert caught.value.__cause__ is not None


def test_a_branch_on_data_stays_torchs_own_error() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        if x.sum().item() > 1:
            return x + 1
        return x - 1

    with pytest.raises(Exception, match="data-dependent") as caught:
        export(f, (ones(4, 3),), {}, rows())
    assert not isinstance(caught.value, ShapeError)
