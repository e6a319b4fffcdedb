"""Law 2: normalize is idempotent and sound, and the normal form is a spec that can be written and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from hypothesis import HealthCheck, Phase, given, settings

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.text import read
from shapedsl.ir import Apply, Const, Predicate, Signature, Size, Variadic
from shapedsl.ir.walk import holds, map_sizes
from shapedsl.ir.write import write_signature
from shapedsl.normalize import Facts, normalize
from tests import strategies
from tests.golden.sampling import Sizes, samples

many = settings(
    max_examples=60,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking a signature takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def accepted(signature: Signature, sizes: Sizes) -> bool | None:
    """Returns whether every constraint holds; None where one of them is not defined."""
    try:
        each = [holds_for_each(constraint.predicate, sizes) for constraint in signature.constraints]
    except ZeroDivisionError:
        return None
    return all(each)


def holds_for_each(predicate: Predicate, sizes: Sizes) -> bool:
    """Like `walk.holds`; a variadic outside of `prod` stands for each of its sizes."""
    single = {name: value for name, value in sizes.items() if isinstance(value, int)}
    many = {name: value if isinstance(value, tuple) else (value,) for name, value in sizes.items()}
    spread: set[str] = set()

    def known(size: Size, at: int) -> Size:
        match size:
            case Variadic(name=name):
                spread.add(name)
                return Const(many[name][at]) if at < len(many[name]) else size
            case Apply(op=op, args=(Variadic(name=name),)) if op.name == "prod":
                return Const(op.python(*many[name]))
            case Apply(args=args):
                return replace(size, args=tuple(known(arg, at) for arg in args))
            case _:
                return size

    first = map_sizes(predicate, partial(known, at=0))
    count = max((len(many[name]) for name in spread), default=-1)
    if count == -1:
        return holds(first, single)
    each = [holds(map_sizes(predicate, partial(known, at=at)), single) for at in range(count)]
    return all(each)


def in_table(table: Mapping[str, Facts], sizes: Sizes) -> bool:
    for name, facts in table.items():
        found = sizes[name]
        for value in found if isinstance(found, tuple) else (found,):
            low = facts.low is None or facts.low <= value
            high = facts.high is None or value <= facts.high
            if not (low and high and value % facts.modulus == facts.residue):
                return False
    return True


def check(signature: Signature) -> None:
    normal = normalize(signature, Report())
    seen = 0
    for sizes in samples(signature, count=150):
        wanted = accepted(signature, sizes)
        if wanted is None:
            continue
        seen += wanted
        if normal.contradictory:
            assert not wanted, sizes
            continue
        assert accepted(normal.signature, sizes) == wanted, sizes
        assert not wanted or in_table(normal.table, sizes), (sizes, normal.table)
    again = normalize(normal.signature, Report())
    assert again.signature == normal.signature
    assert again.table == normal.table


@given(strategies.signatures(safe=True))
@many
def test_a_normal_form_accepts_what_its_source_accepts(signature: Signature) -> None:
    check(signature)


@given(strategies.signatures())
@many
def test_also_with_large_numbers_and_divisors_that_may_be_zero(signature: Signature) -> None:
    check(signature)


@given(strategies.signatures())
@many
def test_a_normal_form_is_read_back_as_itself(signature: Signature) -> None:
    report = Report()
    normal = normalize(signature, report)
    if normal.contradictory or any(error.code == "unbound-name" for error in report.errors):
        return
    report = Report()
    written = write_signature(normal.signature)
    (again,) = read(Source("<normal>", written), report).signatures
    assert not report.errors, f"{report.errors[0].message}\n{written}"
    assert again.variables == normal.signature.variables, written
    assert set(again.constraints) == set(normal.signature.constraints), written
