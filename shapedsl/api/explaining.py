"""A spec, stage by stage, as text: what was read, what is known of each variable, what is assumed, the normal form.

With sizes it also says which assumptions they satisfy and which alternative would take them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..diagnostics import Span
from ..ir import (
    COMPARISONS,
    OPERATORS,
    Alternative,
    Apply,
    Bucket,
    Compare,
    Const,
    Constraint,
    Mode,
    Origin,
    Predicate,
    Signature,
    Size,
    Var,
    Variadic,
)
from ..ir.variadic import expand_alternative, expand_constraint
from ..ir.walk import free_vars, holds
from ..ir.write import write_predicate, write_signature
from .asking import reasons
from .taking import artifacts, taken

if TYPE_CHECKING:
    from ..normalize import Facts, Normal

_INDENT = "    "
_COMBINATIONS = 10_000  # of bucket members that are looked at


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is said about a spec.

    Attributes:
        text: Several paragraphs, without a newline at the end.
        accepted: Whether the sizes satisfy the spec; None if that depends on sizes that are not given.
    """

    text: str
    accepted: bool | None


def explain(signature: Signature, normal: Normal, sizes: Mapping[str, int | tuple[int, ...]]) -> Explanation:
    """Returns what ``signature`` means.

    Args:
        signature: As it was read.
        normal: Its normal form.
        sizes: Sizes by variable name, of a variadic all of them; may be empty, or leave some out.
    """
    parts = [
        _title(signature),
        _section("as read", write_signature(signature).splitlines()),
        _section("variables", _table(_variable_rows(normal.table))),
        _section("where the ranges come from", _table(_range_rows(signature, normal))),
        _section("assumptions", _table(_assumption_rows(signature))),
        _section("alternatives, tried in order", _table(_alternative_rows(signature))),
        _section("artifacts", artifacts(signature) if signature.alternatives else []),
    ]
    written = write_signature(normal.signature)
    if normal.contradictory:
        written = "none: no sizes satisfy the spec"
    elif written == write_signature(signature):
        written = "as read"
    parts.append(_section("normal form", written.splitlines()))
    accepted: bool | None = True
    if sizes:
        whole, single = _written_out(signature, sizes)
        rows, accepted = _outcome(whole, single)
        given = ", ".join(f"{name} = {size}" for name, size in sizes.items())
        lines = _table(rows)
        if accepted is not False and signature.alternatives:
            lines.append(taken(signature, single, _lengths(sizes)))
        parts.append(_section(f"with {given}", lines))
    return Explanation("\n\n".join(part for part in parts if part), accepted)


def _title(signature: Signature) -> str:
    place = _place(signature.span)
    return f"{signature.key}  ({place})" if place else signature.key


def _place(span: Span | None) -> str:
    if span is None:
        return ""
    name = span.source.name
    plain = os.path.normpath(name)  # an imported file's has the folder of the one that imports it: `sub/../a.shapes`
    if os.path.realpath(plain) == os.path.realpath(name):  # else a link leads elsewhere
        name = plain
    return f"{name}:{span.source.position(span.start)[0]}"


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([title, *(f"{_INDENT}{line}".rstrip() for line in lines)]) if lines else ""


def _table(rows: Iterator[list[str]] | list[list[str]]) -> list[str]:
    """Returns rows of cells as lines, the columns aligned; columns that are empty everywhere are left out."""
    listed = list(rows)
    if not listed:
        return []
    columns = [column for column in zip(*listed, strict=True) if any(column)]
    widths = [max(map(len, column)) for column in columns]
    lines = zip(*columns, strict=True)
    return ["   ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def _variable_rows(table: Mapping[str, Facts]) -> Iterator[list[str]]:
    for name, facts in table.items():
        low = "-inf" if facts.low is None else str(facts.low)
        high = "inf" if facts.high is None else str(facts.high)
        residue = ""
        if facts.modulus > 1:
            residue = f"multiple of {facts.modulus}" + (f" plus {facts.residue}" if facts.residue else "")
        hint = "" if facts.hint is None else f"hint {facts.hint}"
        interval = str(facts.low) if facts.low is not None and facts.low == facts.high else f"in [{low}, {high}]"
        yield [
            facts.kind.value,
            name,
            interval,
            residue,
            hint,
            f"from {facts.binding}" if facts.binding else "in no input",
        ]


def _range_rows(signature: Signature, normal: Normal) -> Iterator[list[str]]:
    """Yields each bound and residue of the table, and the constraints that it follows from, by line."""
    if normal.contradictory:
        return
    starred = {variable.name for variable in signature.variables if variable.variadic}
    for name, facts in normal.table.items():
        subject: Size = Variadic(name) if name in starred else Var(name)
        for fact in _facts(subject, facts):
            core = reasons(signature, fact)
            if core is None:
                yield [_fact_text(fact), "from several constraints together"]
            elif core:
                yield [_fact_text(fact), "; ".join(_by_line(signature, core))]


def _facts(subject: Size, facts: Facts) -> Iterator[Predicate]:
    """Yields what the table says of one variable as predicates."""
    if facts.low is not None and facts.low == facts.high:
        yield Compare(COMPARISONS["=="], subject, Const(facts.low))
        return
    if facts.low is not None:
        yield Compare(COMPARISONS[">="], subject, Const(facts.low))
    if facts.high is not None:
        yield Compare(COMPARISONS["<="], subject, Const(facts.high))
    if facts.modulus > 1:
        rest = Apply(OPERATORS["%"], (subject, Const(facts.modulus)))
        yield Compare(COMPARISONS["=="], rest, Const(facts.residue))


def _fact_text(fact: Predicate) -> str:
    return write_predicate(fact).removeprefix("*")


def _by_line(signature: Signature, core: Iterable[Constraint]) -> Iterator[str]:
    """Yields ``line 3: B <= 64, B % 8 == 0`` for each line of ``core``."""
    lines: dict[str, list[str]] = {}
    for constraint in core:
        lines.setdefault(_line(signature, constraint.span), []).append(_text(constraint))
    for line, texts in lines.items():
        yield f"{line}: {', '.join(texts)}" if line else ", ".join(texts)


def _line(signature: Signature, span: Span | None) -> str:
    """Returns where ``span`` is: its line, and the file where that is another one than the spec's."""
    if span is not None and signature.span is not None and span.source is signature.span.source:
        return f"line {span.source.position(span.start)[0]}"
    return _place(span)


def _assumption_rows(signature: Signature) -> Iterator[list[str]]:
    for constraint in signature.constraints:
        if _is_plain(constraint):
            continue
        place = _line(signature, constraint.span)
        remark = {Origin.DECLARED: "declared", Origin.DIM: "a dim is never negative", Origin.WHERE: ""}[
            constraint.origin
        ]
        yield [_text(constraint), f'"{constraint.message}"' if constraint.message else remark, place]


def _is_plain(constraint: Constraint) -> bool:
    """Whether it says ``B >= 0`` of a dim: true of every one, so not worth a line."""
    predicate = constraint.predicate
    return (
        constraint.origin is not Origin.WHERE
        and isinstance(predicate, Compare)
        and isinstance(predicate.left, (Var, Variadic))
        and predicate.op.name == ">="
        and predicate.right == Const(0)
    )


def _text(constraint: Constraint) -> str:
    return constraint.text or write_predicate(constraint.predicate)


def _alternative_rows(signature: Signature) -> Iterator[list[str]]:
    for number, alternative in enumerate(signature.alternatives, 1):
        hints = ", ".join(f"{name} = {size}" for name, size in alternative.hints)
        details = [*map(_text, alternative.constraints), *(_bucket(bucket) for bucket in alternative.buckets)]
        mode = "" if alternative.mode is Mode.COMPILED else alternative.mode.value
        yield [str(number), _name(alternative), ", ".join(details), mode, f"hint {hints}" if hints else ""]


def _name(alternative: Alternative) -> str:
    return f"{alternative.keyword} {alternative.name}" if alternative.name else alternative.keyword


def _bucket(bucket: Bucket) -> str:
    if bucket.members is None:
        plus = f" plus {bucket.residue}" if bucket.residue else ""
        return (
            f"{bucket.variable} {'' if bucket.pads is None else 'rounded up to '}a multiple of {bucket.modulus}{plus}"
        )
    return f"{bucket.variable} in {{{', '.join(map(str, bucket.members))}}}{'' if bucket.pads is None else ' padded'}"


def _written_out(signature: Signature, sizes: Mapping[str, int | tuple[int, ...]]) -> tuple[Signature, dict[str, int]]:
    """Returns the signature and the sizes with ``batch[0]``, ``batch[1]`` for a variadic of two."""
    lengths = _lengths(sizes)
    single: dict[str, int] = {}
    for name, size in sizes.items():
        if isinstance(size, tuple):
            single.update({f"{name}[{axis}]": each for axis, each in enumerate(size)})
        else:
            single[name] = size
    constraints = tuple(each for stated in signature.constraints for each in expand_constraint(stated, lengths))
    alternatives = tuple(expand_alternative(each, lengths) for each in signature.alternatives)
    return replace(signature, constraints=constraints, alternatives=alternatives), single


def _lengths(sizes: Mapping[str, int | tuple[int, ...]]) -> dict[str, int]:
    return {name: len(several) for name, several in sizes.items() if isinstance(several, tuple)}


def _outcome(signature: Signature, sizes: Mapping[str, int]) -> tuple[list[list[str]], bool | None]:
    """Returns what ``sizes`` do, and whether they are accepted; None if a size is missing to tell."""
    rows: list[list[str]] = []
    accepted: bool | None = True
    for constraint in signature.constraints:
        verdict = _verdict(constraint.predicate, sizes)
        missing = sorted({name for name in free_vars(constraint.predicate) if name not in sizes})
        if verdict is False or (verdict is None and not missing):
            accepted = False
            remark = f'"{constraint.message}"' if constraint.message else "" if verdict is False else "it has no value"
            rows.append([_text(constraint), "does not hold", remark])
        elif constraint.origin is not Origin.WHERE:
            continue  # a range that any size may still be in
        elif verdict is None:
            accepted = accepted and None
            rows.append([_text(constraint), "open", f"{', '.join(missing)} not given"])
        else:
            rows.append([_text(constraint), "holds", ""])
    told = {True: "accepted", False: "refused", None: "open"}
    rows.append([told[accepted], "", ""])
    return rows, accepted


def _verdict(predicate: Predicate, sizes: Mapping[str, int]) -> bool | None:
    """Returns whether ``predicate`` holds; None if a size is missing or it has no value."""
    try:
        return holds(predicate, sizes)
    except (KeyError, ZeroDivisionError, TypeError):
        return None
