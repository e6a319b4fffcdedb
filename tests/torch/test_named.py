"""An exported program's own refusals carry the user's names, wherever it is run; torch's text stays readable."""

from __future__ import annotations

import io
from typing import Any

import pytest

pytest.importorskip("torch", reason="exporting needs torch")

import torch

import shapedsl as sd
from shapedsl.ir import Var
from shapedsl.targets.errors import run_failure

ones = torch.ones
TEXT = """
def f(x: Tensor[B, S], d: {"k": Tensor[2 * B]}, n: Scalar[n]):
    dim B in [0, 10]
    int n in [0, 50]
    where S % 4 == 0, n <= S, S != 8
"""
GOOD = (ones(3, 4), {"k": ones(6)}, 2)
BAD = [
    ((ones(3, 5), {"k": ones(6)}, 2), "Eq(Mod(u1, 2), 0)", "`S % 2 == 0` is needed, where x.shape[1] is S"),
    ((ones(3, 6), {"k": ones(6)}, 2), "Eq(Mod(u1, 4), 0)", "`S % 4 == 0` is needed, where x.shape[1] is S"),
    ((ones(3, 4), {"k": ones(6)}, 5), "u3 <= u1", "`n <= S` is needed, where x.shape[1] is S"),
    ((ones(3, 8), {"k": ones(6)}, 2), "Ne(u1, 8)", "`S != 8` is needed, where x.shape[1] is S"),
    ((ones(3, 4), {"k": ones(8)}, 2), "Eq(u2, 2*u0)", "`d['k'].shape[0] == 2 * B` is needed, where x.shape[0] is B"),
]
BOTH = pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])


def exported(strict: bool) -> Any:
    return sd.export(lambda x, d, n: x.sum() + d["k"].sum() * n, GOOD, spec=TEXT, strict=strict)


def saved(program: Any) -> Any:
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file)


def refusal(program: Any, args: tuple[Any, ...]) -> Exception:
    with pytest.raises(RuntimeError) as caught:
        program(*args)
    return caught.value


@BOTH
@pytest.mark.parametrize("saving", [False, True], ids=["made", "loaded"])
def test_in_the_users_names(strict: bool, saving: bool) -> None:
    program = exported(strict)
    module = (saved(program) if saving else program).module(check_guards=False)
    for args, torchs, said in BAD[:4]:
        text = str(refusal(module, args))
        assert text.startswith(f"Runtime assertion failed for expression {torchs} on node '")
        assert text.endswith(f"': {said}")
    assert float(module(*GOOD)) == 12 + 6 * 2


@BOTH
def test_a_guard_has_the_parameters_name_already(strict: bool) -> None:
    module = exported(strict).module()
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[0\] <= 10"):
        module(ones(12, 4), {"k": ones(24)}, 0)
    for args, _, said in BAD:
        assert str(refusal(module, args)).partition("': ")[2] == said


@BOTH
def test_decomposing_writes_the_assertions_anew(strict: bool) -> None:
    module = exported(strict).run_decompositions().module()
    assert str(refusal(module, BAD[0][0])).startswith("Runtime assertion failed for expression Eq(Mod(u1, 2), 0)")


@BOTH
def test_inlined_into_a_compiled_function(strict: bool) -> None:
    torch._dynamo.reset()
    module = exported(strict).module()
    run = torch.compile(module, backend="eager", fullgraph=True, dynamic=True)
    assert float(run(*GOOD)) == 24.0  # type: ignore[no-untyped-call]


def test_what_was_added_is_no_part_of_the_condition() -> None:
    error = refusal(exported(False).module(), BAD[0][0])
    translated = run_failure(error, {"u1": Var("S")})
    assert translated is not None
    assert translated.diagnostics[0].message == "this program needs `S % 2 == 0`"


def test_conditions_on_data_keep_torchs_text() -> None:
    def pick(x: torch.Tensor, at: torch.Tensor) -> Any:
        n = at.item()
        torch._check(n >= 2)
        return x * n

    program = sd.export(pick, (ones(3), torch.tensor(2)), spec="def pick(x: Tensor[B], at: Tensor[()]): ...")
    assert (
        str(refusal(program.module(), (ones(3), torch.tensor(1))))
        == "Runtime assertion failed for expression u1 >= 2 on node 'ge_2'"
    )


def test_nothing_that_breaks_a_string_of_another_language() -> None:
    texts = [str(node.args[1]) for node in exported(False).graph.nodes if "_assert_scalar" in str(node.target)]
    assert len(texts) > 5
    assert all(" is needed" in text for text in texts)
    assert not [text for text in texts if '"' in text or "\\" in text or "\n" in text]
