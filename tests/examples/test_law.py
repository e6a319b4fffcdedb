"""The law of examples, on random specs: whatever is made passes the check, and what is refused is told why."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch
from hypothesis import HealthCheck, assume, given, settings

import shapedsl as sd
from shapedsl.api.spec import Spec
from shapedsl.ir import ParamKind, Signature, VariableKind
from tests.golden.sampling import accepts
from tests.strategies import signatures

# what a random spec may be wrong about, what must be given, and what no inputs satisfy
FAULTS = {
    "contradiction",
    "hint-out-of-range",
    "maybe-zero-divisor",
    "missing-input",
    "negative-dim",
    "not-invertible",
    "shape-violation",  # the const below
    "too-many-elements",
    "unbound-name",
    "undecided",
    "unknown-reason",
}
few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def examples(spec: Spec, signature: Signature) -> list[tuple[tuple[object, ...], dict[str, object]]]:
    assume(sum(param.kind is ParamKind.VAR_POSITIONAL for param in signature.params) < 2)  # no Python signature
    consts = {variable.name: 4 for variable in signature.variables if variable.kind is VariableKind.CONST}
    try:
        return spec.examples(5, consts, most=2**18)
    except sd.ShapeError as error:
        assert error.code in FAULTS, str(error)
        return []


@few
@given(signatures(cases=True))
def test_every_example_of_any_spec_passes_the_check(signature: Signature) -> None:
    spec = Spec(signature)
    for args, kwargs in examples(spec, signature):
        spec.check(*args, **kwargs)


@few
@given(signatures(safe=True))
def test_sizes_of_examples_satisfy_the_spec_by_another_evaluator(signature: Signature) -> None:
    spec = Spec(signature)
    for args, kwargs in examples(spec, signature):
        sizes: Mapping[str, int | tuple[int, ...]] = spec.bind(*args, **kwargs)
        with contextlib.suppress(KeyError):  # a size of an omitted parameter
            assert accepts(signature, sizes)
        assert all(t.numel() <= 2**18 for t in args if isinstance(t, torch.Tensor))


@settings(few, max_examples=20)
@given(signatures(safe=True))
def test_every_example_may_stand_for_what_is_static(signature: Signature) -> None:
    spec = Spec(signature)
    for args, kwargs in examples(spec, signature)[:2]:
        for again in spec.examples(2, like=(args, kwargs), most=2**20):
            spec.check(*again[0], **again[1])


@settings(few, max_examples=20)
@given(signatures(safe=True, cases=True))
def test_every_alternative_gives_examples_or_says_why_not(signature: Signature) -> None:
    spec = Spec(signature)
    for position in range(len(signature.alternatives)):
        try:
            calls = spec.examples(2, case=position, most=2**18)
        except sd.ShapeError as error:
            assert error.code in FAULTS, str(error)
        else:
            assert len(calls) == 2
