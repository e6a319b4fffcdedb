"""Why a use of a legacy spec is kept: raised while it is read, caught where its site is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    import libcst as cst

    from .....diagnostics import Report, Span
    from ....stubs.tree import Tree
    from ..values import Unknown

LIVE: Final = "convert the live objects with `sd.from_dims`"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a use is kept.

    Attributes:
        code: Of the diagnostic.
        text: A clause: "`b` is a parameter".
        node: What shows it.
        label: Under it.
        help: What to do.
    """

    code: str
    text: str
    node: cst.CSTNode
    label: str = "not known here"
    help: str = LIVE

    def tell(self, tree: Tree, report: Report, call: cst.CSTNode) -> None:
        """Reports it, at its node and at the use."""
        report.error(
            self.code,
            f"the spec of this call is kept: {self.text}",
            at=_with_parentheses(tree, self.node),
            label=self.label,
            also=() if call is self.node else [(tree.span(call), "kept as it is")],
            help=self.help,
        )


def _with_parentheses(tree: Tree, node: cst.CSTNode) -> Span:
    span = tree.span(node)
    for side in ("lpar", "rpar"):
        found = getattr(node, side, ())
        if isinstance(found, (list, tuple)):  # a sentinel in some nodes
            for each in cast("Sequence[cst.CSTNode]", found):
                span = span.to(tree.span(each))
    return span


class RefusedError(Exception):
    """A spec that cannot be read from source; ``reason`` says why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.text)
        self.reason = reason


def refuse(text: str, node: cst.CSTNode, code: str = "legacy-flow", label: str = "", help: str = LIVE) -> RefusedError:
    """Returns the exception for a use that is kept."""
    return RefusedError(Reason(code, text, node, label or "not known here", help))


def not_known(value: Unknown) -> RefusedError:
    """Returns the exception for a spec that needs what source does not tell."""
    if value.cure:
        return refuse(value.reason, value.node, value.code, "torch refuses this", value.cure)
    return refuse(value.reason, value.node, value.code)


__all__ = ["LIVE", "Reason", "RefusedError", "not_known", "refuse"]
