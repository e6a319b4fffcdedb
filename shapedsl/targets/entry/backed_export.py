"""``backed`` programs: sizes that torch may look at while it traces, ``Dim.DYNAMIC`` in place of a ShapesSpec.

Ranges are those of the dims; equal and derived sizes and assumptions are statements (`told`), which torch makes guards of.
What torch leaves out of a program's guards is put there: that a size is at least 1 or 2, and disjunctions.

Before::

    f(x: Tensor[B, 4], y: Tensor[2*B])     B in [1, 64]

After::

    torch.export.export(f, (x, y), dynamic_shapes={"x": {0: Dim.DYNAMIC(min=1, max=64)}, "y": {0: Dim.DYNAMIC(min=2)}})
    x.size()[0] <= 64, y.size()[0] == 2*x.size()[0], x.size()[0] >= 1       # the guards of the program

torch is told to take 0 and 1 for sizes like others: else programs would be for sizes of at least 2, and so would be what
is computed from them. It then takes for granted that no size is 0, without a guard; so a program that may see one has to
be compared with the original there before it is believed (`zero_sizes`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.utils import _pytree as pytree

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import And, Apply, Attribute, Compare, Const, Not, Or, Path, Predicate, Size, Var, VariableKind
from ...ir.expanded import Leaf, Lowered, TorchVariable
from ...ir.walk import free_vars
from ..errors import trace_failure
from ..flat import markers, positions
from ..named import name_assertions
from .arguments import refuse_fake, refuse_unregistered, returned_failure, unregistered_failure
from .backed import specialized
from .example import distinct
from .export import as_module
from .forward import Call as Passed
from .lowering import untold
from .parameters import call_signature
from .programs import Call
from .quiet import without_partial_graphs

if TYPE_CHECKING:
    from torch.export import ExportedProgram

LEAST_BACKED: Final = 2  # below it torch takes a size for a number, unless it is told not to


def backed_export(target: Callable[..., Any], call: Call, lowered: Lowered, *, strict: bool) -> ExportedProgram:
    """Returns ``target`` exported with sizes that torch may look at: ``Dim.DYNAMIC`` with their ranges.

    Args:
        target: A function, a module, or anything that can be called.
        call: The example.
        lowered: The spec at its structure.
        strict: torch's own flag.

    Raises:
        ShapeError: ``unsupported-by-torch``: an int that may be negative, or what cannot be exported at all;
            ``specialized-dim``: torch pins a size that the spec leaves open; ``data-dependent``.
    """
    _refuse_ints(lowered)
    refuse_fake(call, "export")
    args, kwargs = distinct((tuple(call[0]), dict(call[1])), target)
    signature = call_signature(target, lowered.expanded.signature)
    arguments = signature.bind(*args, **kwargs).arguments
    refuse_unregistered(arguments, lowered, "export")
    order = [*(name for name in arguments if name in kwargs), *(name for name in kwargs if name not in arguments)]
    kwargs = {name: kwargs[name] for name in order}  # as torch numbers inputs
    marked = markers(pytree.tree_flatten(dict(arguments))[1])
    found = positions(marked, lowered.leaves)
    dims = _Dims(lowered, found)
    shapes = {name: dims.tree(value) for name, value in marked.items()}
    module = as_module(target, lowered, Passed(len(args), kwargs, backed=True))
    try:
        with _all_sizes(), without_partial_graphs():
            program = torch.export.export(module, args, kwargs, dynamic_shapes=shapes, strict=strict)
    except Exception as error:
        translated = (
            specialized(error)
            or trace_failure(error, lowered)
            or unregistered_failure(error, arguments, "export")
            or returned_failure(error, "export")
        )
        if translated is None:
            raise
        raise translated from error
    name_assertions(program, lowered)
    _complete_guards(program, lowered, found)
    return program


def zero_sizes(lowered: Lowered) -> tuple[str, ...]:
    """Returns the variables of the signature that stand in sizes which may be 0."""
    dims = (each for each in lowered.variables if each.kind is not VariableKind.INT and not each.low)
    return tuple(dict.fromkeys(name for each in dims for name in free_vars(each.meaning)))


def _all_sizes() -> AbstractContextManager[Any]:
    """Returns a context in which torch takes 0 and 1 for sizes like others."""
    from torch.fx.experimental import _config

    config: Any = _config  # its methods are in no stub
    patched: AbstractContextManager[Any] = config.patch(backed_size_oblivious=True)
    return patched


class _Dims:
    """What torch takes as ``dynamic_shapes=``."""

    def __init__(self, lowered: Lowered, leaves: Mapping[int, Leaf]) -> None:
        self.ranges = {variable.name: variable for variable in lowered.variables}
        self.leaves = leaves

    def tree(self, marked: Any) -> Any:
        """Returns the dims of one value, of which ``marked`` has the structure."""
        position = getattr(marked, "position", None)
        if position is not None:
            leaf = self.leaves.get(position)
            return None if leaf is None else self.of(leaf)
        if isinstance(marked, dict):
            return {key: self.tree(value) for key, value in marked.items()}
        if isinstance(marked, tuple):
            items = [self.tree(each) for each in marked]
            return type(marked)(*items) if hasattr(marked, "_fields") else tuple(items)
        # a list; of a registered class torch takes the list of its parts
        parts = pytree.tree_flatten(marked, is_leaf=lambda each: each is not marked)[0]
        return [self.tree(each) for each in parts]

    def of(self, leaf: Leaf) -> Any:
        """Returns the dims of one tensor, or that of an int."""
        from torch.export import Dim

        found: dict[int, Any] = {}
        for axis, dim in enumerate(leaf.dims):
            if isinstance(dim, Var):
                variable = self.ranges[dim.name]
                found[axis] = Dim.DYNAMIC(min=variable.low or 0, max=variable.high)
        return found.get(0) if leaf.scalar else found or None


def _complete_guards(program: ExportedProgram, lowered: Lowered, leaves: Mapping[int, Leaf]) -> None:
    """Adds to the guards of ``program`` what the spec promises and torch leaves out.

    The guards are texts that torch evaluates when a program is called, and saves with it. Of fields and keywords
    it misses its own names for inputs (2.14.1), so that such a program could not be called; all are numbered here.
    """
    guards: list[str] = list(program._guards_code)
    numbered = {_source(leaf.path): f"L['flat_args'][{at}]" for at, leaf in leaves.items()}
    for source in sorted(numbered, key=len, reverse=True):
        guards = [text.replace(source, numbered[source]) for text in guards]
    places: dict[str, str] = {}
    for at, leaf in leaves.items():
        for axis, dim in enumerate(leaf.dims):
            if isinstance(dim, Var):
                whole = f"L['flat_args'][{at}]"
                places.setdefault(dim.name, whole if leaf.scalar else f"{whole}.size()[{axis}]")
    for variable in lowered.variables:
        if variable.name in places and _unguarded(variable):
            guards.append(f"{places[variable.name]} >= {variable.low or 0}")
    for predicate in untold(lowered):
        if places.keys() >= set(free_vars(predicate)):
            guards.append(_text(predicate, places))
    program._guards_code = list(dict.fromkeys(guards))


def _unguarded(variable: TorchVariable) -> bool:
    """Returns whether torch leaves the lower bound of ``variable`` out of the guards."""
    low = variable.low or 0
    return variable.kind is VariableKind.INT or 0 < low <= LEAST_BACKED


def _source(path: Path) -> str:
    """Returns what guards of non-strict export call an input."""
    steps = (f".{step.name}" if isinstance(step, Attribute) else f"[{step.key!r}]" for step in path.steps)
    return f"L[{path.root!r}]{''.join(steps)}"


def _text(predicate: Predicate, places: Mapping[str, str]) -> str:
    """Returns ``predicate`` in Python, with its own functions only."""
    match predicate:
        case Compare(op=op, left=left, right=right):
            return f"({_size(left, places)} {op.name} {_size(right, places)})"
        case And(args=args):
            return f"({' and '.join(_text(each, places) for each in args)})" if args else "True"
        case Or(args=args):
            return f"({' or '.join(_text(each, places) for each in args)})" if args else "False"
        case Not(arg=arg):
            return f"(not {_text(arg, places)})"


def _size(size: Size, places: Mapping[str, str]) -> str:
    match size:
        case Const(value=value):
            return str(value) if value >= 0 else f"({value})"
        case Var(name=name):
            return places[name]
        case Apply(op=op, args=args):
            operands = [_size(each, places) for each in args]
            if op.name in ("min", "max"):
                return f"{op.name}({', '.join(operands)})" if len(operands) > 1 else operands[0]
            return f"({' * '.join(operands)})" if op.name == "prod" else f"({op.torch.format(*operands)})"
        case _:
            raise TypeError(f"not expanded: {size!r}")


def _refuse_ints(lowered: Lowered) -> None:
    """Refuses ints that may be negative: torch takes a backed one for at least 0, and checks nothing of it.

    Raises:
        ShapeError: ``unsupported-by-torch``.
    """
    for variable in lowered.variables:
        if variable.kind is VariableKind.INT and (variable.low is None or variable.low < 0):
            message = f"`{variable.name}` is an int that may be negative, and cannot be exported `backed`"
            notes = ("torch traces a backed int as if it were at least 0, and checks nothing of it",)
            helps = (f"{variable.demand}, or do without `backed`",)
            raise ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message, notes=notes, helps=helps)])


__all__ = ["backed_export", "zero_sizes"]
