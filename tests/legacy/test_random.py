"""Random legacy specs: what they become admits what they declare, and both programs agree on it."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from shapedsl.diagnostics import Report
from shapedsl.frontends.legacy.convert import convert
from shapedsl.frontends.legacy.model import (
    Derived,
    Entries,
    Hint,
    Hinted,
    Items,
    LegacySpec,
    Named,
    Pinned,
    TensorInput,
    Tree,
    Unsaid,
)
from shapedsl.frontends.legacy.verdict import Verdict
from shapedsl.ir import AnyType, Const, Param, Signature, TensorType, Var
from shapedsl.ir.walk import evaluate, holds
from tests.legacy.random_specs import MOST, Random, random_specs


def modeled(value: Any) -> Tree:
    """Returns what `Random.build` wrote, as the model has it."""
    match value:
        case None:
            return Unsaid()
        case dict():
            return Entries(tuple((key, modeled(each)) for key, each in value.items()))
        case list() | tuple():
            return Items("list" if isinstance(value, list) else "tuple", tuple(map(modeled, value)))
        case int():
            return Pinned(value)
        case Named() | Derived() | Hinted():
            return value
        case _:
            raise TypeError(value)


def spec_of(spec: Random) -> LegacySpec:
    def dim(name: str, low: int, high: int | None, factor: int, offset: int) -> Tree:
        root = Named(name, low or None, high)
        return root if (factor, offset) == (1, 0) else Derived(root, factor, offset)

    params = tuple(Param(name, AnyType()) for name in "xyz"[: len(spec.tensors)])
    inputs = {name: TensorInput(len(sizes), sizes) for name, sizes in zip("xyz", spec.example, strict=False)}
    built = spec.build(dim, lambda kind, low, high: Hinted(Hint[kind], low, high))
    return LegacySpec("f", params, modeled(built), inputs)


def admits(signature: Signature, sizes: tuple[tuple[int, ...], ...]) -> bool:
    """Whether some values of the variables give these sizes and satisfy every constraint, by trying them.

    A variable that stands alone is its size; the others are tried one at a time, since each constraint and each
    dim of these specs has one variable.
    """
    dims = [
        (dim, size)
        for param, own in zip(signature.params, sizes, strict=True)
        if isinstance(param.type, TensorType) and param.type.dims is not None
        for dim, size in zip(param.type.dims, own, strict=True)
    ]
    if any(isinstance(dim, Const) and dim.value != size for dim, size in dims):
        return False

    def fits(name: str, value: int) -> bool:
        env = {name: value}
        mine = [(dim, size) for dim, size in dims if name in names_in(dim)]
        return all(evaluate(dim, env) == size for dim, size in mine) and all(  # type: ignore[arg-type]
            holds(each.predicate, env) for each in signature.constraints if name in names_in(each.predicate)
        )

    return all(any(fits(variable.name, value) for value in range(MOST)) for variable in signature.variables)


def names_in(node: Any) -> set[str]:
    """Returns the variables of a dim or a predicate."""
    if isinstance(node, Var):
        return {node.name}
    parts = getattr(node, "args", None) or [getattr(node, side, None) for side in ("left", "right")]
    return set().union(*(names_in(part) for part in parts if part is not None))


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(random_specs())
def test_what_is_declared_is_admitted(spec: Random) -> None:
    report = Report()
    conversion = convert(spec_of(spec), report)
    assert conversion is not None, report.diagnostics
    for sizes in spec.samples():
        assert admits(conversion.signature, sizes) == spec.declares(sizes), sizes
    hints = {slot.hint for slots in spec.tensors for slot in slots}
    assert (conversion.verdict is Verdict.CHOICE) == ("AUTO" in hints)


# Each example is two exports: few, and not shrunk, since the sizes are printed.
@settings(max_examples=15, derandomize=True, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
@given(random_specs(most=2, back=False).filter(lambda spec: not spec.crashes_torch))
def test_both_programs_agree(spec: Random) -> None:
    import pytest

    pytest.importorskip("torch", reason="exporting needs torch")
    import torch
    from torch.export import Dim

    from tests.legacy.agreeing import both

    def dim(name: str, low: int, high: int | None, factor: int, offset: int) -> Any:
        made = Dim(name, min=low, max=high)
        return made if (factor, offset) == (1, 0) else factor * made + offset

    def hint(kind: str, low: int | None, high: int | None) -> Any:
        made = getattr(Dim, kind)
        return made if low is None and high is None else made(min=low, max=high)

    class Model(torch.nn.Module):
        def forward(self, x: Any, y: Any = None) -> Any:
            return x.sum() if y is None else x.sum() + y.sum()

    def call(sizes: tuple[tuple[int, ...], ...]) -> Any:
        return tuple(torch.ones(own) for own in sizes), {}

    pair = both(Model(), call(spec.example), spec.build(dim, hint))
    stricter = [note for note in pair.spec.notes if note.verdict is Verdict.STRICTER]
    for sizes in spec.samples():
        who = pair.who(call(sizes))
        declared = spec.declares(sizes)
        assert (who in ("both", "new")) == declared, (sizes, who)
        assert who != "legacy" or stricter, (sizes, pair.spec.notes)
        assert who != "new" or any("as floats" in note.message for note in pair.spec.notes), sizes
