"""What programs demand of their inputs, read back from export and make_fx."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="lowering needs torch")

import torch

from shapedsl.diagnostics import Report
from shapedsl.ir import ParamKind, Predicate, Static
from shapedsl.ir.expanded import Lowered
from shapedsl.ir.walk import holds
from shapedsl.ir.write import write_predicate
from shapedsl.targets.compare import compare as compare_program
from shapedsl.targets.entry.export import export
from shapedsl.targets.entry.make_fx import make_fx
from shapedsl.targets.program import demands, symbols_of
from tests.torch.lowered_by_hand import (
    apply,
    compare,
    integer,
    lower,
    mapping,
    scalar,
    sequence,
    tensor,
    var,
)

ones = torch.ones
WAYS = pytest.mark.parametrize("way", ["non-strict", "strict", "make_fx"])


def made(way: str, f: Callable[..., Any], args: tuple[Any, ...], lowered: Lowered, **kwargs: Any) -> Any:
    """Returns the program of ``f`` by one of three ways."""
    if way == "make_fx":
        return make_fx(f, args, kwargs, lowered)
    return export(f, args, kwargs, lowered, strict=way == "strict")


def found(program: Any, lowered: Lowered) -> set[tuple[str, str]]:
    """Returns codes and predicates, without what a size is anyway."""
    rows = {(demand.code, write_predicate(demand.predicate)) for demand in demands(program, lowered)}
    return {row for row in rows if not row[1].endswith(">= 0")}


def two(*assumptions: Any) -> Lowered:
    """Returns the spec of ``x: Tensor[A], y: Tensor[B]``."""
    return lower({"x": tensor("A"), "y": tensor("B")}, [var("A"), var("B")], assumptions)


@WAYS
def test_a_program_that_demands_nothing(way: str) -> None:
    program = made(way, lambda x, y: x.sum() + y.sum(), (ones(5), ones(4)), two())
    assert found(program, two()) == set()


@WAYS
def test_two_sizes_became_one(way: str) -> None:
    program = made(way, lambda x, y: x + y, (ones(4), ones(4)), two())
    (demand,) = [d for d in demands(program, two()) if d.code == "merged-dims"]
    assert write_predicate(demand.predicate) == "A == B"
    assert set(demand.places) == {"x.shape[0]", "y.shape[0]"}
    assert found(program, two()) == {("merged-dims", "A == B")}
    if way == "strict":
        assert demand.line is not None
        assert demand.line.endswith("program = made(way, lambda x, y: x + y, (ones(4), ones(4)), two())")


@WAYS
def test_a_size_became_a_number(way: str) -> None:
    program = made(way, lambda x, y: x + ones(4), (ones(4), ones(5)), two())
    assert ("specialized-dim", "A == 4") in found(program, two())


@WAYS
def test_views_and_indexing_add_conditions(way: str) -> None:
    def f(x: torch.Tensor, y: torch.Tensor) -> Any:
        return x.view(-1, 4), y[5], y.narrow(0, 1, 3)

    program = made(way, f, (ones(8), ones(8)), two())
    rows = {text for _, text in found(program, two())}
    assert rows == {"A % 4 == 0", "B >= 6", "B + 6 >= 1"}
    if way == "strict":
        lines = {write_predicate(d.predicate): d.line for d in demands(program, two())}
        assert str(lines["A % 4 == 0"]).endswith("return x.view(-1, 4), y[5], y.narrow(0, 1, 3)")


@WAYS
def test_a_size_became_an_expression(way: str) -> None:
    program = made(way, lambda x, y: x.view(y.shape[0], 2), (ones(8), ones(4)), two())
    assert ("extra-assumption", "A == 2 * B") in found(program, two())


@WAYS
def test_what_the_spec_states_is_a_demand_too(way: str) -> None:
    """The caller asks whether the spec implies it: this module does not judge."""
    lowered = two(compare("A", "==", "B"))
    program = made(way, lambda x, y: x + y, (ones(4), ones(4)), lowered)
    assert {code for code, _ in found(program, lowered)} == {"merged-dims"}
    lowered = two(compare("A", "==", 6))
    assert ("specialized-dim", "A == 6") in found(made(way, lambda x, y: x * 2, (ones(6), ones(4)), lowered), lowered)


@WAYS
def test_ranges_assumptions_and_derived_sizes_are_in_the_users_variables(way: str) -> None:
    lowered = lower(
        {"x": tensor("2*N"), "y": tensor("N"), "n": scalar("n")},
        [var("2*N", 0, None, meaning=apply("*", 2, "N")), var("N", 3, 99), integer("n", 0, 7)],
        [compare("2*N", "==", apply("*", 2, "N")), compare("n", "<=", "N")],
    )
    program = made(way, lambda x, y, n: x.sum() * n + y.sum(), (ones(8), ones(4), 2), lowered)
    rows = {text for _, text in found(program, lowered)}
    assert {"N >= 3", "N <= 99", "n <= 7", "n <= N"} <= rows
    assert all(" u" not in text for text in rows)
    assert set(map(str, symbols_of(program, lowered))) >= {"u0", "u1", "u2"}


@WAYS
def test_containers_and_variadics(way: str) -> None:
    def f(d: Any, p: Any, *args: Any, k: Any, **rest: Any) -> Any:
        return d["a"][0] + p[1] + args[0] + k + rest["z"]

    lowered = lower(
        {
            "d": mapping({"a": sequence(tensor("A"))}),
            "p": sequence(tensor(3), tensor("B")),
            "args": (sequence(tensor("C")), ParamKind.VAR_POSITIONAL),
            "k": (tensor("D"), ParamKind.KEYWORD_ONLY),
            "rest": (mapping({"z": tensor("E")}), ParamKind.VAR_KEYWORD),
        },
        [var(name) for name in "ABCDE"],
    )
    args = ({"a": (ones(4),)}, (ones(3), ones(4)), ones(4))
    program = made(way, f, args, lowered, z=ones(4), k=ones(4))
    merged = [d for d in demands(program, lowered) if d.code == "merged-dims"]
    assert {place for d in merged for place in d.places} == {
        'd["a"][0].shape[0]',
        "p[1].shape[0]",
        "args[0].shape[0]",
        "k.shape[0]",
        'rest["z"].shape[0]',
    }


class Add(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * 2 + y


def test_the_line_of_a_modules_forward_is_known_without_strict() -> None:
    program = export(Add(), (ones(4), ones(4)), {}, two())
    (demand,) = [d for d in demands(program, two()) if d.code == "merged-dims"]
    assert str(demand.line).endswith("in forward: return x * 2 + y")


def refute_by_search(lowered: Lowered) -> Callable[[Predicate, tuple[Predicate, ...]], dict[str, int] | None]:
    """Returns a decision procedure for sizes below 12, by trying all of them."""
    names = [variable.name for variable in lowered.expanded.signature.variables]
    stated = [constraint.predicate for constraint in lowered.expanded.signature.constraints]

    def refute(predicate: Predicate, given: tuple[Predicate, ...]) -> dict[str, int] | None:
        for sizes in itertools.product(range(12), repeat=len(names)):
            env = dict(zip(names, sizes, strict=True))
            if all(holds(each, env) for each in (*stated, *given)) and not holds(predicate, env):
                return env
        return None

    return refute


@WAYS
@pytest.mark.parametrize(
    ("assumptions", "function", "codes"),
    [
        ([], lambda x, y: x + y, ["merged-dims"]),
        ([compare("A", "==", "B")], lambda x, y: x + y, []),
        ([compare("A", "<=", "B"), compare("B", "<=", "A")], lambda x, y: x + y, []),
        ([], lambda x, y: x + ones(6), ["specialized-dim"]),
        ([compare("A", "==", 6)], lambda x, y: x + ones(6), []),
        ([], lambda x, y: x.view(-1, 4), ["extra-assumption"]),
        ([compare(apply("%", "A", 8), "==", 0)], lambda x, y: x.view(-1, 4), []),
        ([], lambda x, y: x[5] + y.narrow(0, 1, 3).sum(), ["extra-assumption", "extra-assumption"]),
        ([compare("A", ">=", 6), compare("B", ">=", 4)], lambda x, y: x[5] + y.narrow(0, 1, 3).sum(), []),
        ([], lambda x, y: x.view(y.shape[0], 2), ["extra-assumption"]),
        ([compare("A", "==", apply("*", 2, "B"))], lambda x, y: x.view(y.shape[0], 2), []),
    ],
)
def test_only_what_the_spec_does_not_imply_is_reported(
    way: str, assumptions: list[Predicate], function: Callable[..., Any], codes: list[str]
) -> None:
    lowered = two(*assumptions)
    rows, columns = (8, 4) if "view" in function.__code__.co_names else (6, 6)
    program = made(way, function, (ones(rows), ones(columns)), lowered)
    report = Report()
    compare_program(program, lowered, refute_by_search(lowered), report)
    assert [finding.code for finding in report] == codes
    allowed = Report()
    compare_program(program, lowered, refute_by_search(lowered), allowed, set(codes))
    assert len(allowed) == 0


def test_two_sizes_of_one_third_are_not_flagged() -> None:
    """``A == 2*C`` and ``B == 2*C`` imply ``A == B``, which is what the program demands."""
    lowered = lower(
        {"x": tensor("A"), "y": tensor("B"), "z": tensor("C")},
        [var("A"), var("B"), var("C")],
        [compare("A", "==", apply("*", 2, "C")), compare("B", "==", apply("*", 2, "C"))],
    )
    program = export(lambda x, y, z: x + y, (ones(4), ones(4), ones(2)), {}, lowered)
    report = Report()
    compare_program(program, lowered, refute_by_search(lowered), report)
    assert list(report) == []


def test_a_finding_says_where_and_shows_sizes() -> None:
    program = export(Add(), (ones(4), ones(4)), {}, two())
    report = Report()
    compare_program(program, two(), refute_by_search(two()), report)
    (finding,) = report
    assert finding.message == "the program made `x.shape[0]` and `y.shape[0]` one size: `A == B`"
    assert finding.witness == (("A", 0), ("B", 1))
    assert any("in forward: return x * 2 + y" in note for note in finding.notes)
    assert finding.helps[0] == "add `where A == B` to the spec, or change the program"


def test_what_cannot_be_decided_is_a_warning() -> None:
    program = export(Add(), (ones(4), ones(4)), {}, two())
    report = Report()
    compare_program(program, two(), lambda predicate, given: None if given else "too many products", report)
    assert [(finding.code, finding.severity.value) for finding in report] == [("undecided", "warning")]


def test_a_program_survives_saving(tmp_path: Any) -> None:
    program = made("non-strict", lambda x, y: (x + y, x.view(-1, 4)), (ones(4), ones(4)), two())
    torch.export.save(program, tmp_path / "f.pt2")
    loaded = torch.export.load(tmp_path / "f.pt2")
    assert "merged-dims" in {code for code, _ in found(loaded, two())}


def test_conditions_on_data_are_left_alone() -> None:
    def f(x: torch.Tensor, y: torch.Tensor) -> Any:
        n = y.sum().item()
        torch._check(n >= 3)
        return x * n

    lowered = two()
    program = export(f, (ones(4), torch.ones(4, dtype=torch.int64)), {}, lowered)
    assert found(program, lowered) == set()


def test_a_parameter_of_a_partial_spec() -> None:
    lowered = lower({"y": tensor("B", Static())}, [var("B")])
    program = export(lambda x, y: y.view(-1, 2), (ones(3), ones(4, 2)), {}, lowered)
    assert found(program, lowered) == set()
