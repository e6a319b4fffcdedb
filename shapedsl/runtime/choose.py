"""Generate the choice of an alternative: plain comparisons of sizes that the check has read.

Before::

    case one: B == 1
    bucket S in {64, 128} pad x with 0
    otherwise eager

After (names shortened; ``…`` is what the caller of `chain` writes)::

    if B == 1:
        …
    if S <= 128:
        chosen = choose(S)               # of `serving.buckets.joint`; None: no members fit
        if chosen is not None:
            …
    …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from ..ir import Alternative, Path
from ..ir.taking import asked_by, padded_name, pads
from ..ir.walk import free_vars
from .code import Code


class Chooser(Protocol):
    """Chooses padded sizes."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The variables whose sizes it takes."""
        ...

    @property
    def places(self) -> tuple[tuple[Path, int], ...]:
        """Static sizes that it takes behind them: where they stand, and on which axis."""
        ...

    @property
    def choose(self) -> Callable[..., tuple[int, ...] | None]:
        """Takes sizes and returns padded ones of the buckets in written order; None if there are none."""
        ...


# Writes what happens with the sizes that an alternative takes; the text names the chosen members, if it pads.
Body = Callable[[int, "str | None"], Iterable[str]]


def chain(
    alternatives: Sequence[Alternative],
    sizes: Mapping[str, str],
    roots: Mapping[str, str],
    code: Code,
    body: Body,
    chooser: Callable[[int], Chooser],
    *,
    first: int = 0,
) -> Iterator[str]:
    """Yields the lines that try alternatives in order; behind them is what no alternative takes.

    Args:
        alternatives: At one structure.
        sizes: Variable → Python expression.
        roots: Parameter → Python expression of its value.
        code: The function in which they will stand.
        body: Of an alternative, by position; its lines return.
        chooser: Of an alternative that pads, by position.
        first: The first alternative that is tried.
    """
    for position, alternative in enumerate(alternatives[first:], first):
        condition = asked(alternative, sizes, code)
        lines = [f"if {condition}:"] if condition else []
        indent = "    " if condition else ""
        if pads(alternative):
            joint, chosen = chooser(position), code.local()
            choose = code.use(joint.choose, f"choose_{position}")
            given = [*(sizes[name] for name in joint.needs), *(_place(*place, roots, code) for place in joint.places)]
            lines.append(f"{indent}{chosen} = {choose}({', '.join(given)})")
            lines.append(f"{indent}if {chosen} is not None:")
            lines += [f"{indent}    {line}" for line in body(position, chosen)]
        else:
            lines += [f"{indent}{line}" for line in body(position, None)]
            if not condition:
                yield from lines
                return
        yield from lines


def asked(alternative: Alternative, sizes: Mapping[str, str], code: Code) -> str:
    """Returns the Python expression of what an alternative asks for; empty where it takes everything.

    What speaks of a size that this structure does not have is left out, as in ``where``; and where the alternative
    pads, what its chooser looks at: which members there are.
    """
    if pads(alternative):
        padded = {padded_name(bucket) for bucket in alternative.buckets}
        conditions = [c for c in alternative.constraints if padded.isdisjoint(free_vars(c.predicate))]
    else:
        conditions = list(asked_by(alternative).conditions)
    predicates = [c.predicate for c in conditions if sizes.keys() >= set(free_vars(c.predicate))]
    return " and ".join(code.predicate(predicate, sizes) for predicate in predicates)


def _place(path: Path, axis: int, roots: Mapping[str, str], code: Code) -> str:
    value = roots[path.root]
    for step in path.steps:
        value = code.step(value, step)
    return f"{value}.shape[{axis}]"


__all__ = ["Chooser", "asked", "chain"]
