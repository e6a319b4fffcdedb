"""``sd.from_dims(…, probe=True)``: run the legacy export once, and take what it found for what its spec leaves open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..diagnostics import Report
from ..targets.tensors import torch_for
from .programs import settled_program, signature_of, with_lower

if TYPE_CHECKING:
    from ..frontends.legacy.model import LegacyDim, LegacySpec, Tree
    from ..frontends.legacy.verdict import Conversion


def probed(
    conversion: Conversion,
    legacy: LegacySpec,
    shapes: Any,
    fn: Callable[..., Any],
    example: tuple[Sequence[Any], Mapping[str, Any]],
    report: Report,
    *,
    lower: int | None = None,
) -> Conversion:
    """Returns ``conversion`` with its unnamed sizes as torch's export found them.

    Args:
        conversion: Of ``legacy``.
        legacy: The spec.
        shapes: The same as the user passed it.
        fn: What is exported.
        example: Positional and keyword arguments.
        report: Receives ``legacy-probe`` if torch refuses.
        lower: What becomes of a lower bound of 2 that torch only assumed; see `from_exported`.

    Raises:
        ShapeError: ``contradiction``: no sizes satisfy what the program demands.
        ImportError: torch is not installed or too old.
    """
    from ..frontends.legacy.probed import bare_sizes, open_sizes, settle_open
    from ..ir.walk import substitute_size

    signature = conversion.signature
    named = set(_names(legacy.tree))
    open_ = open_sizes(signature, named)
    if not open_:
        return conversion
    torch_for("a probe")
    from ..targets.exported import read_program
    from ..targets.legacy_export import legacy_export

    try:
        program = legacy_export(fn, *example, _for_torch(shapes, legacy))
    except Exception as error:  # whatever torch, or the user's code, has to say
        lines = str(error).strip().splitlines() or [type(error).__name__]
        report.error(
            "legacy-probe",
            f"the legacy export failed: {lines[0][:200]}",
            note=[line.strip()[:200] for line in lines[1:6] if line.strip()],
            help="without `probe=True` the spec is converted as it is written",
        )
        return conversion
    bare = bare_sizes(signature)
    wishes = {place: name for place, name in bare.items() if name in named}
    read = read_program(program, signature_of(fn), wishes, bare)
    lows = {name: _low(signature, name) for name in (*open_.values(), *named)}
    asked = lower is not None

    def made(lower: int, trial: str | None) -> Conversion:
        settled, found = settled_program(read, report, lower=lower, declared=lows, trial=trial, asked=asked)
        places = {place: substitute_size(size, settled.replaced) for place, size in read.places.items()}
        return settle_open(conversion, open_, places, found, settled.wheres, read.losses)

    return with_lower(made, lower, fn, example)


def _low(signature: Any, name: str) -> int:
    """Returns the lower bound that is declared of a variable."""
    from ..ir import Compare, Const, Origin, Var

    for constraint in signature.constraints:
        match constraint.predicate:
            case Compare(op=op, left=Var(name=left), right=Const(value=low)) if constraint.origin is Origin.DECLARED:
                if left == name and op.name == ">=":
                    return low
            case _:
                pass
    return 0


def _for_torch(shapes: Any, legacy: LegacySpec) -> Any:
    """Returns what torch takes: what the user passed, or, of another format, what it says."""
    from ..frontends.legacy.live import NotLegacyError, is_a, tree_of

    if is_a(shapes, "ShapesCollection") or is_a(shapes, "AdditionalInputs"):
        return shapes
    try:
        tree_of(shapes)
    except NotLegacyError:
        return None if legacy.tree is None else _tree(legacy.tree)
    return shapes


def _tree(tree: Tree) -> Any:
    from ..frontends.legacy.model import Entries, Items

    match tree:
        case Entries(items=entries):
            return {key: _tree(item) for key, item in entries}
        case Items(kind=kind, items=items):
            made = [_tree(item) for item in items]
            return made if kind == "list" else tuple(made)
        case dim:
            return _dim(dim)


def _dim(dim: LegacyDim) -> Any:
    from ..frontends.legacy.model import Derived, Hinted, Named, Pinned, Unsaid
    from ..targets.legacy_export import legacy_dim

    match dim:
        case Named(name=name, low=low, high=high):
            return legacy_dim("named", name=name, low=low, high=high)
        case Derived(root=root, factor=factor, offset=offset):
            return legacy_dim("named", name=root.name, low=root.low, high=root.high, factor=factor, offset=offset)
        case Hinted(kind=kind, low=low, high=high):
            return legacy_dim(kind.value, low=low, high=high)
        case Pinned(value=value):
            return value
        case Unsaid():
            return None


def _names(tree: Tree | None) -> list[str]:
    """Returns the names of the dims in a tree."""
    from ..frontends.legacy.model import Derived, Entries, Items, Named

    match tree:
        case Named(name=name):
            return [name]
        case Derived(root=root):
            return [root.name]
        case Entries(items=entries):
            return [name for _, item in entries for name in _names(item)]
        case Items(items=items):
            return [name for item in items for name in _names(item)]
        case _:
            return []


__all__ = ["probed"]
