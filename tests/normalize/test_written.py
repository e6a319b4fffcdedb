"""`lower` tells a division as it was written, too, and accepts what it accepted."""

from __future__ import annotations

from itertools import product

import pytest

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source
from shapedsl.ir.expand import expand
from shapedsl.ir.expanded import Lowered
from shapedsl.ir.walk import holds
from shapedsl.ir.write import write_predicate


def lowered(dims: str, where: str) -> Lowered:
    text = f"int n in [-9, 9]\ndef f(x: Tensor[{dims}], n: Scalar[n]): where {where}\n"
    report = Report()
    (signature,) = pipeline.read(Source("<string>", text), report)
    expanded = expand(signature, None, is_tensor=lambda _: False, report=report)
    assert expanded is not None
    found = pipeline.lower(expanded, report, statics={}, allow_negative_ints=True)
    assert found is not None, report.errors
    return found


CASES: dict[str, tuple[str, str, list[str]]] = {
    "a residue": ("A, B", "(A + 3) % 4 == 3", ["(A + 3) % 4 == 3"]),
    "a floor": ("A, B", "A >= 1, B // 5 < A", ["B // 5 < A"]),
    "parts of an and": ("A, B", "B // 5 >= A and (A + 3) % 4 != 3", ["A <= B // 5", "(A + 3) % 4 != 3"]),
    "what is canonical": ("A, B", "A % 4 == 0, A // 14 * (B // 14) != 16", []),
    "the range of one size": ("A, B", "A // 2 <= 38, A // 3 == 2", []),
    "equal sizes are one": ("A, B", "A == B, (B + 3) % 4 == 3", ["(A + 3) % 4 == 3"]),
    "a size that is a number": ("A, B", "B == 3, (A + B) % 4 == 3", ["(A + 3) % 4 == 3"]),
    "a remainder of what may be negative": ("A, B", "(n - 1) % 4 == 3", []),
    "a divisor that is a size": ("A, B", "B >= 1, (A + B) % B == 0", []),
    "a part of an or": ("A, B", "A == 0 or B // 5 < A", []),
    "a size that is derived": ("2 * A, B", "(A + 3) % 4 == 3", []),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_told_as_it_was_written(name: str) -> None:
    dims, where, told = CASES[name]
    found = lowered(dims, where)
    texts = [write_predicate(each) for each in found.assumptions]
    assert texts[len(texts) - len(told) :] == told
    assert len(texts) == len(set(texts))
    if dims != "A, B":
        return
    names = [variable.name for variable in found.variables]
    for a, b, n in product(range(14), range(14), (-9, -4, 0, 4, 9)):
        sizes = {"A": a, "B": b, "n": n}
        if not accepted(found, sizes):
            continue
        for predicate in found.assumptions:  # none refuses what the spec accepts
            assert holds(predicate, {each: sizes[each] for each in names})


def accepted(found: Lowered, sizes: dict[str, int]) -> bool:
    try:
        return all(holds(each.predicate, sizes) for each in found.expanded.signature.constraints)
    except ZeroDivisionError:
        return False
