"""Where a file uses a legacy spec: what was found, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..model import LegacySpec
from ..verdict import Conversion

if TYPE_CHECKING:
    import libcst as cst

    from .values import Value


@dataclass(eq=False, slots=True)
class Site:
    """One use.

    Attributes:
        api: The qualified name of what is called: ``torch.export.export``, ``torch.onnx.export``, ``torch.compile``…
        call: The call. Under a decorator without arguments, a call of what it decorates.
        name: What its spec is called, or would be, kept or not.
        decorator: That decorator (``torch.compile``), which the spec belongs to; None for anything else.
        argument: What holds the spec in it (``dynamic_shapes=…``); None for marks.
        value: That argument's value where the call is reached; None for marks.
        target: What is exported or compiled; None where source does not tell.
        args: The example inputs as they were written, by parameter where that is known.
        spec: The spec as one model; None where it could not be read, and then ``report`` says why. Of several
            (behind flags), the first.
        worlds: The argument's value as it was when the call was reached, one for each choice of branches, and none
            for a choice that gives no spec (None); without a `Fork` in it. Nodes are those of ``value``.
        conversions: What became of it, one for each world. Empty where it is kept.
        keyword: What the argument is called after the conversion, where that changes (``constraints=``,
            ``dynamic_axes=``) or it is added (marks).
        stale: Nodes that lose their meaning with the conversion and are deleted: mark calls, removed keywords.
        kept: Why the site is kept as it is; empty if it is not. Each is also a diagnostic.
        is_callers: Whether the spec is what callers of its function give, which the file need not show: it is edited
            where they build it, and not written anew in the function.
        open: Its dims with bounds that are stated and not known: name → these, as they are written. Its conversions
            lack them, and only Python text that stays can have them.
        only_shapes: Why its Python text stays although the spec is converted (what is called takes no ShapesSpec);
            empty where it can be rewritten.
    """

    api: str
    call: cst.Call
    argument: cst.Arg | None
    value: Value | None
    target: Value | None
    args: dict[str, Value] = field(default_factory=dict[str, "Value"])
    spec: LegacySpec | None = None
    worlds: list[Value] = field(default_factory=list["Value"])
    conversions: list[Conversion] = field(default_factory=list["Conversion"])
    open: dict[str, str] = field(default_factory=dict[str, str])
    keyword: str = "dynamic_shapes"
    stale: list[cst.CSTNode] = field(default_factory=list["cst.CSTNode"])
    kept: list[str] = field(default_factory=list[str])
    only_shapes: str = ""
    name: str = ""
    decorator: cst.BaseExpression | None = None
    is_callers: bool = False


@dataclass(frozen=True, slots=True)
class SiteResult:
    """What a report says of one use; plain data, which travels between processes.

    Attributes:
        line, column: Of the call, 1-based.
        api: As `Site.api`.
        name: Of the spec: ``Net.forward``.
        outcome: ``converted`` or ``kept``.
        verdict: One of `Verdict`'s values, or empty for what is kept.
        summary: The verdict in words.
        notes: One line each; for what is kept, why.
        shapes: The spec as ``.shapes`` text; empty for what is kept, and where a bound is not known.
    """

    line: int
    column: int
    api: str
    name: str
    outcome: Literal["converted", "kept"]
    verdict: str
    summary: str
    notes: tuple[str, ...]
    shapes: str


@dataclass(frozen=True, slots=True)
class FileResult:
    """A file, converted; plain data.

    Attributes:
        text: What it becomes; None if nothing changes.
        shapes: The ``.shapes`` file of its specs; empty if there are none.
        sites: In the order of the file.
    """

    text: str | None
    shapes: str
    sites: tuple[SiteResult, ...]


__all__ = ["FileResult", "Site", "SiteResult"]
