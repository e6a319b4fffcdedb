"""Check that every path starts at a parameter or at `return`, and that every fixed rank is a variadic's.

Before::

    def f(ids: int64[B]) -> (Tensor[B], Tensor[B]):
        values idx in [0, 9]       # error: [unknown-parameter] did you mean `ids`?
        drop retrun[1]             # error: [unknown-parameter] did you mean `return`?
        rank batch = 2             # error: [unbound-name]
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ..diagnostics import Edit, Fix, Report, Span
from ..ir import Path, Signature, Variadic
from .uses import alike, sizes_of


def check_paths(signature: Signature, report: Report) -> None:
    """Adds ``unknown-parameter`` findings, and ``unbound-name`` for ranks."""
    names = [param.name for param in signature.params]
    roots = {*names, "return", *([signature.receiver] if signature.receiver else [])}
    told: set[tuple[str, Span | None]] = set()
    for path, around in _paths(signature):
        span = path.span or around
        if path.root in roots or (path.root, span) in told:
            continue
        told.add((path.root, span))
        likely = get_close_matches(path.root, [*names, "return"], n=1)
        report.error(
            "unknown-parameter",
            f"`{signature.name}` has no parameter `{path.root}`",
            at=span or signature.span,
            label=f"did you mean `{likely[0]}`?" if likely else "no parameter, and not `return`",
            help=f"its parameters are {', '.join(f'`{name}`' for name in names)}" if names else "it has no parameters",
            fix=_rename(path, likely[0]) if likely and alike(path.root, likely[0]) else None,
        )
    variadics = {size.name for param in signature.params for size in sizes_of(param.type) if isinstance(size, Variadic)}
    for name, _ in signature.ranks:
        if name not in variadics:
            report.error(
                "unbound-name",
                f"no parameter holds `*{name}`, so it has no rank",
                at=signature.span,
                help=f"delete `rank {name}`, or write `*{name}` in a tensor of a parameter",
            )


def _paths(signature: Signature) -> Iterator[tuple[Path, Span | None]]:
    """Yields each path with the span around it."""
    for value in signature.values:
        yield value.path, value.span
    for drop in signature.drops:
        yield drop.path, drop.span
    for alternative in signature.alternatives:
        for drop in alternative.drops:
            yield drop.path, drop.span
        for bucket in alternative.buckets:
            for pad in bucket.pads or ():
                yield pad.path, pad.span


def _rename(path: Path, name: str) -> Fix | None:
    if path.span is None or not path.span.text.startswith(path.root):
        return None
    root = Span(path.span.source, path.span.start, path.span.start + len(path.root))
    return Fix(f"write `{name}`", (Edit(root, name),))
