"""Delete what only built specs that are written elsewhere now: definitions, steps, loops of steps.

Before::

    batch = ShapeVar("batch", max=4)
    spec = {}
    for name, cap in (("text", 77), ("audio", 1500)):
        spec[name] = {0: batch, 1: Dim(f"{name}_len", max=cap)}
    spec["audio"][0] = 2
    export(net, args, dynamic_shapes=ShapesSpec({"text": …}))      # was: dynamic_shapes=spec

After::

    batch = ShapeVar("batch", max=4)
    export(net, args, dynamic_shapes=ShapesSpec({"text": …}))      # was: dynamic_shapes=spec

A statement goes if it has no other effect than on names, and each use of these names was edited away or goes with it:
the largest set for which that holds. So what was unused before stays, and so does what anything else still reads.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from .scopes import Scopes, scopes_of
from .steps import Key, Steps, is_whole

if TYPE_CHECKING:
    import libcst as cst

    from .plan import Plan

_NAME: Final = re.compile(r"(?<![\w.])[^\W\d]\w*\b(?!\s*=(?!=))")  # that is read: no `name=`
# A string that holds no code: one without an `f`.
_STRING: Final = re.compile(
    r"""(?<!\w)[rRbBuU]{0,2}(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""",
    re.DOTALL,
)


class Stretches:
    """Stretches of a text: whether a place lies in one of them, found by bisection."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def holds(self, span: tuple[int, int]) -> bool:
        """Returns whether a stretch of text lies in one of them as a whole."""
        at = bisect_right(self._starts, span[0]) - 1
        return at >= 0 and span[1] <= self._ends[at]


def gone_spans(plan: Plan) -> list[tuple[int, int]]:
    """Returns what of the original text is replaced or deleted so far."""
    return [*plan.spans(), *(plan.tree.extent(node) for node in plan.deleted)]


def kept_words(plan: Plan, scopes: Scopes) -> frozenset[str]:
    """Returns names that are used beyond what the file reads: in what is added, ``__all__``, and ``nonlocal``."""
    added = {word for text in plan.written() for word in _NAME.findall(_STRING.sub("", text))}
    return frozenset(added | scopes.exported | scopes.nonlocals)


def sweep(plan: Plan) -> None:
    """Deletes from ``plan`` what it leaves without a use."""
    import libcst as cst

    scopes = scopes_of(plan.tree)
    if scopes.is_reflective:
        return
    steps = Steps(plan.tree, scopes)
    words = kept_words(plan, scopes)
    going = _candidates(plan, scopes, steps)
    while going:
        gone = Stretches([*gone_spans(plan), *map(plan.tree.extent, going)])
        staying = [
            node
            for node in going
            if not is_whole(node, scopes, going, plan.deleted)
            or (isinstance(node, cst.Del) and not all(_is_unbound(scopes, key, going) for key in steps.names[node]))
            or any(key[1] in words or not all(map(gone.holds, steps.uses(key))) for key in steps.names[node])
        ]
        if not staying:
            break
        for node in staying:
            del going[node]
    for node in going:
        if not any(outer in going for outer in scopes.above(node)):
            plan.delete(node)


def _is_unbound(scopes: Scopes, key: Key, going: Container[cst.CSTNode]) -> bool:
    """Returns whether all that binds a name goes."""
    return all(
        binding.node in going or any(outer in going for outer in scopes.above(binding.node))
        for binding in scopes.bindings.get(key, ())
    )


def _candidates(plan: Plan, scopes: Scopes, steps: Steps) -> dict[cst.CSTNode, None]:
    """Returns what may go: what binds or changes a name that is read where text is gone, or in a candidate."""
    going: dict[cst.CSTNode, None] = {}
    seen: set[Key] = set()
    spans = gone_spans(plan)
    while spans:
        fresh: list[cst.CSTNode] = []
        for span in spans:
            for key in _read_in(steps, span):
                if key not in seen:
                    seen.add(key)
                    fresh += [node for node in steps.touching.get(key, ()) if node not in going]
        going.update(dict.fromkeys(fresh))
        fresh += _blocks(fresh, plan, scopes, steps, going)
        spans = [plan.tree.extent(node) for node in fresh]
    return going


def _read_in(steps: Steps, span: tuple[int, int]) -> Iterator[Key]:
    """Yields the names that are read in a stretch of text."""
    start, end = span
    reads = steps.reads
    at = bisect_left(reads, start, key=lambda read: read.start)
    while at < len(reads) and reads[at].start < end:
        if reads[at].end <= end:
            yield reads[at].key
        at += 1


def _blocks(
    inner: Iterable[cst.CSTNode], plan: Plan, scopes: Scopes, steps: Steps, going: dict[cst.CSTNode, None]
) -> list[cst.CSTNode]:
    """Returns the loops and conditionals around candidates that hold nothing but candidates, now candidates too."""
    import libcst as cst

    found: list[cst.CSTNode] = []
    for node in inner:
        for outer in scopes.above(node):
            is_branch = isinstance(outer, cst.If) and isinstance(scopes.parent(outer), cst.If)
            if outer in steps.blocks and outer not in going and not is_branch:
                if not is_whole(outer, scopes, going, plan.deleted):
                    break
                going[outer] = None
                found.append(outer)
    return found


__all__ = ["Stretches", "gone_spans", "kept_words", "sweep"]
