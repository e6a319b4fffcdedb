"""The choice is the language's: the first alternative whose predicates hold; and its artifact assumes no more than that."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

from shapedsl.ir.walk import holds
from shapedsl.serving.cases import case_spec

from .test_dispatch import dispatch

SPECS = {
    "residues": "case B % 3 == 1, S >= 2\n    case B % 3 == 1\n    case S % 2 == 0 or B == 5\n    otherwise",
    "nested": "case B == 1, S == 1\n    case B == 1\n    case B * S <= 12\n    case not (B < 4)\n    otherwise",
    "products": "where B <= S\n    case B * B == S\n    case max(B, 4) == S\n    case cdiv(S, 3) < B\n    otherwise",
    "members": "case S in {1, 4, 9}\n    bucket B in {2, 3, 8}\n    otherwise eager",
}


@pytest.mark.filterwarnings("ignore::shapedsl.ShapeWarning")  # overlaps are the point
@pytest.mark.parametrize("clauses", SPECS.values(), ids=SPECS)
def test_first_match(clauses: str) -> None:
    served = dispatch(lambda x: x, f"def f(x: Tensor[B, S]):\n    {clauses}", backend="eager")
    dispatcher: Any = served.dispatcher
    for batch, size in product(range(11), repeat=2):
        sizes = {"B": batch, "S": size}
        signature = dispatcher.signature
        if not all(holds(c.predicate, sizes) for c in signature.constraints):
            continue
        expected = next(
            at
            for at, each in enumerate(signature.alternatives)
            if all(holds(c.predicate, sizes) for c in each.constraints)
            and all(sizes[bucket.variable] in (bucket.members or ()) for bucket in each.buckets)
        )
        structure, found, values = dispatcher.asked(torch.empty(batch, size))
        assert found == sizes
        assert structure.which(values).position == expected
        accepting = [
            at
            for at in range(len(signature.alternatives))
            if all(holds(c.predicate, sizes) for c in case_spec(structure.signature, at).signature.constraints)
        ]
        assert accepting == [expected]  # what an artifact may assume holds for its sizes, and for no others
