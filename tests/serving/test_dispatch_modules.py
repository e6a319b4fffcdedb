"""Modules, methods, partials and other callables that are dispatched, and what becomes of them in copies and pickles."""

from __future__ import annotations

import copy
import functools
import pickle
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd
from shapedsl import Scalar, Tensor, shapes
from shapedsl.dims import B, D

from .counting import Counting
from .test_dispatch import counts, dispatch

SPEC = """
    def forward(x: Tensor[B, 4]):
        case one: B == 1
        otherwise
"""


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.dropout(self.linear(x))
        return found


def test_a_module_stays_a_module() -> None:
    backend = Counting()
    net = Net()
    served = dispatch(net, SPEC, backend=backend)
    assert torch.nn.Module in type(served).__mro__
    assert set(served.state_dict()) == {"_orig_mod.linear.weight", "_orig_mod.linear.bias"}
    served.eval()
    x = torch.rand(5, 4)
    assert torch.equal(served(x), net.linear(x))
    served(x[:1])
    assert counts(served) == {"case one": 1, "otherwise": 1}
    served.train()
    assert net.training
    assert (served(torch.ones(50, 4)) == 0).any()
    assert len(backend) == 3  # torch's own guard tells training from evaluation
    with torch.no_grad():
        assert not served(x).requires_grad
    served(x).sum().backward()
    assert net.linear.weight.grad is not None
    assert served.explain(x).startswith("B=5 → otherwise → artifact 2\n")
    assert served.spec.name == "forward"


def test_copies_and_pickles_serve_weights_of_their_own() -> None:
    served = dispatch(Net().eval(), SPEC, backend="eager")
    x = torch.rand(3, 4)
    before = served(x).clone()
    for other in (copy.deepcopy(served), pickle.loads(pickle.dumps(served))):
        assert torch.equal(other(x), before)
        with torch.no_grad():
            other.linear.weight.zero_()
        assert torch.equal(other(x), other.linear.bias.expand(3, 3))
        assert torch.equal(served(x), before)
        assert counts(other) == {"case one": 0, "otherwise": 2}  # statistics of its own
    assert counts(served)["otherwise"] == 3


class Scaled:
    def __init__(self, by: float) -> None:
        self.by = by

    @sd.dispatch(backend="eager")
    @shapes("case one: B == 1\notherwise")
    def times(self, x: Tensor[B, D], n: Scalar[D] = 4) -> torch.Tensor:
        """Multiplies."""
        return x * self.by * n

    def plain(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.by

    __call__ = plain


def test_a_method_is_decorated_in_its_class() -> None:
    x = torch.rand(2, 4)
    assert torch.equal(Scaled(3.0).times(x, 4), x * 3 * 4)
    assert torch.equal(Scaled(2.0).times(n=4, x=x), x * 2 * 4)
    assert torch.equal(Scaled(2.0).times(x), x * 2 * 4)
    assert (Scaled.times.__name__, Scaled.times.__doc__) == ("times", "Multiplies.")
    assert sum(row["calls"] for row in Scaled.times.stats()["artifacts"]) == 3


@pytest.mark.parametrize(
    "target",
    [
        Scaled(2.0).plain,
        Scaled(2.0),
        functools.partial(lambda factor, x: x * factor, 2.0),
        functools.partial(torch.mul, 2.0),
    ],
    ids=["method", "callable object", "partial", "partial of a builtin"],
)
def test_any_callable(target: Any) -> None:
    backend = Counting()
    name = "input" if isinstance(target, functools.partial) and target.func is torch.mul else "x"
    served = dispatch(target, f"def f({name}: Tensor[B]):\n    case one: B == 1\n    otherwise", backend=backend)
    for batch in (1, 2, 3):
        x = torch.rand(batch)
        assert torch.equal(served(x), x * 2)
    assert len(backend) == 2


def test_a_builtin() -> None:
    served = dispatch(torch.matmul, "def matmul(a: Tensor[N, K], b: Tensor[K, M]):\n    otherwise", backend="eager")
    a, b = torch.rand(2, 3), torch.rand(3, 4)
    assert torch.equal(served(a, b), a @ b)


def test_a_spec_of_attributes_of_self() -> None:
    backend = Counting()

    class Attention(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Parameter(torch.rand(16, 4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.table[: x.shape[0]]

    served = dispatch(
        Attention(),
        """
        class Attention:
            def forward(self: object(table: Tensor[L, D]), x: Tensor[T, D]):
                where T <= L
                case one: T == 1
                otherwise
        """,
        backend=backend,
    )
    served(torch.rand(3, 4))
    served(torch.rand(1, 4))
    with pytest.raises(sd.ShapeError):
        served(torch.rand(17, 4))
    assert counts(served) == {"case one": 1, "otherwise": 1}
    assert served.explain(torch.rand(2, 4)).startswith("L=16, D=4, T=2 → otherwise")


def test_keywords_defaults_and_variadics() -> None:
    def total(x: torch.Tensor, *more: torch.Tensor, scale: float = 2.0, **named: torch.Tensor) -> torch.Tensor:
        return (x + sum(more) + sum(named.values())) * scale

    served = dispatch(
        total,
        """
        def total(x: Tensor[B], *more: Tensor[B], scale=_, **named: {"y": Tensor[B]}):
            case one: B == 1
            otherwise
        """,
        backend="eager",
    )
    for batch in (1, 3):
        x, y, z = torch.rand(3, batch)
        assert torch.allclose(served(x, z, y=y), total(x, z, y=y))
        assert torch.allclose(served(y=y, x=x), total(x, y=y))
        assert torch.allclose(served(x, z, z, scale=3.0, y=y), total(x, z, z, scale=3.0, y=y))


def test_a_parameter_called_as_python_has_a_word() -> None:
    served = dispatch(
        lambda **named: named["lambda"] * 2,
        'def f(**named: {"lambda": Tensor[B]}):\n    case B == 1\n    otherwise',
        backend="eager",
    )
    x = torch.rand(3)
    assert torch.equal(served(**{"lambda": x}), x * 2)
