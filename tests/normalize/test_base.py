"""Which of several derived sizes torch is told the others in terms of: the one under which they add."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .test_lower import shown


@pytest.mark.parametrize(
    ("dims", "equalities"),
    [
        ("P, P + 1", "P+1 == P + 1"),
        ("L, L - 1", "L == L-1 + 1"),
        ("L - 1, L", "L == L-1 + 1"),
        ("L, L - 1, L - 2", "L == L-2 + 2; L-1 == L-2 + 1"),
        ("L + 1, L - 1, L", "L == L-1 + 1; L+1 == L + 1"),
        ("H, H - 3, 2 * (H - 3)", "2*H-6 == 2 * H-3; H == H-3 + 3"),
        ("T, S, T - S", "T == S + T-S"),
        ("T, S, T - S, T - S + 1", "T == S + T-S; T-S+1 == T-S + 1"),
        ("L, L - 1, C, C * (L - 1)", "C*L-C == C * L-1; L == L-1 + 1"),
        # nothing to choose from
        ("L, 2 * L - 1", "2*L-1 == 2 * L - 1"),
        ("B, 8 - B", "8-B + B == 8"),
        ("A - B, A", ""),  # B stands nowhere alone: the sizes are the bases
    ],
)
def test_the_others_are_sums_of_the_base(dims: str, equalities: str) -> None:
    _, _, assumptions, _ = shown(f"def f(x: Tensor[{dims}]): ...\n")
    assert "; ".join(each for each in assumptions.split("; ") if "==" in each and "%" not in each) == equalities


def test_names_stay() -> None:
    text = "def f(x: Tensor[L], y: Tensor[L - 1], z: Tensor[L - 2]):\n    dim L hint 9\n    where L <= 20, L != 7\n"
    _, variables, assumptions, definitions = shown(text)
    assert variables == "L dim 2..20 hint 9; L-1 dim 1..19 hint 8; L-2 dim 0..18 hint 7"
    assert assumptions == "L == L-2 + 2; L-1 == L-2 + 1; L != 7"
    assert definitions == "L = L"


# ------------------------------------------------------------------------------------- by torch


@pytest.fixture
def silent() -> Iterator[None]:
    """torch logs what it fails to trace."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def compared(x: Any, y: Any, z: Any) -> Any:
    """Sizes ``L``, ``L - 1`` and ``L - 2``, and a branch on their order."""
    if y.shape[0] <= x.shape[0] and z.shape[0] < y.shape[0]:
        return x[2:] + y[1:] + z
    raise AssertionError


def shapes_spec(told: Callable[[Any, Any, Any], list[Any]]) -> Any:
    """Returns torch's spec of these sizes, with equalities as ``told`` writes them."""
    from torch.fx.experimental.dynamic_spec import ParamsSpec, ShapesSpec, ShapeVar, TensorSpec

    x, y, z = ShapeVar("x", min=4), ShapeVar("y", min=3), ShapeVar("z", min=2)
    sizes = ParamsSpec({"x": TensorSpec([x]), "y": TensorSpec([y]), "z": TensorSpec([z])})
    return ShapesSpec(sizes, assumptions=told(x, y, z))


@pytest.mark.usefixtures("silent")
def test_torch_compares_sums_of_one_base_and_nothing_else() -> None:
    torch = pytest.importorskip("torch", reason="traces")
    import shapedsl as sd

    class Compared(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any, y: Any, z: Any) -> Any:
            return compared(x, y, z)

    arguments = torch.ones(6), torch.ones(5), torch.ones(4)
    others = torch.ones(9), torch.ones(8), torch.ones(7)

    def traced(told: Callable[[Any, Any, Any], list[Any]]) -> bool:
        try:
            program = torch.export.export(Compared(), arguments, dynamic_shapes=shapes_spec(told), strict=False)
        except Exception:
            return False
        return bool(torch.equal(program.module()(*others), compared(*others)))

    assert traced(lambda x, y, z: [x == z + 2, y == z + 1])
    assert not traced(lambda x, y, z: [x == y + 1, x == z + 2])
    assert not traced(lambda x, y, z: [y == x - 1, z == x - 2])

    spec = "def f(x: Tensor[L], y: Tensor[L - 1], z: Tensor[L - 2]): where L >= 4"
    expected = compared(*others)
    assert torch.equal(sd.export(compared, arguments, spec=spec).module()(*others), expected)
    assert torch.equal(sd.make_fx(compared, spec)(*arguments)(*others), expected)
    torch._dynamo.reset()
    assert torch.equal(sd.compile(compared, spec, backend="eager")(*others), expected)


@pytest.mark.usefixtures("silent")
def test_messages_speak_of_the_variable_and_not_of_the_base() -> None:
    torch = pytest.importorskip("torch", reason="traces")
    import shapedsl as sd
    from shapedsl.diagnostics import ShapeError

    text = "def f(x: Tensor[L], y: Tensor[L - 1], z: Tensor[L - 2]): where L >= 4, L <= 20"
    with pytest.raises(ShapeError) as violated:
        sd.loads(text)["f"].check(torch.ones(6), torch.ones(5), torch.ones(3))
    assert "`z.shape[0]` is 3, expected `L - 2` = 4" in str(violated.value)
    with pytest.raises(ShapeError) as demanded:
        sd.export(
            lambda x, y, z: x[: z.shape[0]] + z + x.view(-1, 2).sum(),
            (torch.ones(6), torch.ones(5), torch.ones(4)),
            spec=text,
        )
    assert demanded.value.code == "extra-assumption"
    assert "`L % 2 == 0`" in str(demanded.value)
    with pytest.raises(ShapeError) as contradicted:
        sd.loads("def f(x: Tensor[L], y: Tensor[L - 1], z: Tensor[L - 2]): where L <= 1")["f"].to_torch()
    assert set(contradicted.value.core) == {"L <= 1", "L - 2 >= 0"}
