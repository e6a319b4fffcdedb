"""The table of ``docs/stub-library.md``: what the tests of this folder run, a row for each entry.

Every row is a claim that `harness.try_compile` and `harness.try_export` prove: the sizes run in one graph and in one
program, and what is refused is refused before torch sees it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from shapedsl.ir import Constraint, Origin, Param, Signature
from shapedsl.ir.write import write_signature
from tests.models import nn_entries, transformers_entries
from tests.models.harness import Entry, Sizes, spec_of

PAGE = Path(__file__).parents[2] / "docs/stub-library.md"
BEGIN, END = "<!-- table: python -m tests.models -->\n", "<!-- end -->\n"
ENTRIES = (*nn_entries.ENTRIES, *transformers_entries.ENTRIES)

_HEAD = (
    "| entry | inputs | assumptions | sizes run | graphs | export | refused |",
    "|---|---|---|---|---|---|---|",
)


def page() -> str:
    """Returns the page as it should be: its prose, and the table made anew."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin, f"{PAGE.name} has no place for the table"
    assert end, f"{PAGE.name} has no end of the table"
    return before + begin + "\n" + "".join(f"{line}\n" for line in lines()) + "\n" + end + after


def lines() -> Iterator[str]:
    """Yields the lines of the table."""
    yield from _HEAD
    for entry in ENTRIES:
        yield _row(entry)


def _row(entry: Entry) -> str:
    spec = spec_of(entry, entry.make())
    signature = spec.signature
    cells = (
        entry.name + (f" ({entry.note})" if entry.note else ""),
        _code(_params(signature)),
        _code(_assumptions(spec.normalize().signature)),
        _sizes(entry.good),
        "1" if entry.compiles else "none",
        "yes" if entry.exports else "no",
        _sizes(entry.bad),
    )
    return f"| {' | '.join(cells)} |"


def _params(signature: Signature) -> str:
    """Returns the parameters that the spec speaks of, without those that are static."""
    spoken = tuple(param for param in signature.params if _type(param) not in ("_", "None"))
    return ", ".join(f"{param.name}: {_type(param)}" for param in spoken)


def _type(param: Param) -> str:
    """Returns a parameter's type in one line."""
    text = " ".join(write_signature(Signature("f", (param,))).split())
    inside = text.removeprefix("def f(").rpartition("): ...")[0].strip().removesuffix(",").removesuffix(" = _")
    return inside.partition(": ")[2].replace("[ ", "[").replace(", ]", "]").replace("( ", "(").replace(", )", ")")


def _assumptions(signature: Signature) -> str:
    """Returns what is assumed of sizes, beyond that none is negative."""
    kept = [constraint for constraint in signature.constraints if constraint.origin is not Origin.DIM]
    return ", ".join(_joined(list(dict.fromkeys(map(_text, kept)))))


def _joined(texts: list[str]) -> list[str]:
    """Returns ``T == 1`` in place of ``T >= 1, T <= 1``."""
    pinned = {
        text.replace(" >= ", " == ") for text in texts if text.replace(" >= ", " <= ") in texts and " >= " in text
    }
    rest = [text for text in texts if re.sub(" [<>]= ", " == ", text) not in pinned]
    return [*sorted(pinned), *rest]


def _text(constraint: Constraint) -> str:
    """Returns a constraint as the writer writes it."""
    text = write_signature(Signature("f", (), constraints=(constraint,)))
    return " ".join(text.partition("where ")[2].split()) or constraint.text


def _sizes(sizes: tuple[Sizes, ...]) -> str:
    """Returns ``B, T = (2, 3) (1, 4)``, a group for each set of names."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for each in sizes:
        groups.setdefault(tuple(each), []).append("(" + ", ".join(map(str, each.values())) + ")")
    return "; ".join(f"{', '.join(names)} = {' '.join(values)}" for names, values in groups.items())


def _code(text: str) -> str:
    """Returns text as code in a cell of a table, in which a bar must be escaped."""
    return f"`{text}`".replace("|", r"\|") if text else ""
