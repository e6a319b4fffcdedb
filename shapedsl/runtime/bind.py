"""``spec.bind``: the sizes of a call by name, e.g. ``{"B": 8, "batch": (2, 3)}``.

Sizes must agree with each other (one ``B``, ``2 * B`` even); assumptions are not looked at, so that
one can ask for the sizes of a call that a spec excludes.
"""

from __future__ import annotations

import inspect
from types import FunctionType

from ..ir import Signature
from ..ir.expanded import Expanded
from .code import Code
from .guard import Guard
from .nearest import Seek
from .parameters import as_method, of_python, of_spec, with_secret_defaults
from .select import Selector, Symbols
from .solve import Solve
from .tensors import Tensors

Sizes = dict[str, "int | tuple[int, ...]"]


class _Sizes:
    """Returns the sizes: variadics as tuples, anonymous dims left out, sorted by name."""

    def prologue(self, code: Code) -> list[str]:
        del code
        return []

    def body(self, code: Code, checked: Guard, expanded: Expanded) -> list[str]:
        del code
        entries: dict[str, str] = {}
        elements: set[str] = set()
        for name, rank in expanded.ranks:
            axes = [f"{name}[{axis}]" for axis in range(rank)]
            # the rank of a variadic may be fixed although no tensor of it was passed
            if all(axis in checked.sizes for axis in axes):
                entries[name] = "(" + "".join(f"{checked.sizes[axis]}, " for axis in axes) + ")"
            elements.update(axes)
        named = {name: value for name, value in checked.sizes.items() if name not in elements and name[0] != "?"}
        entries.update(named)
        return ["return {" + ", ".join(f"{name!r}: {entries[name]}" for name in sorted(entries)) + "}"]


def binder(
    signature: Signature,
    tensors: Tensors,
    parameters: inspect.Signature | None = None,
    *,
    solve: Solve | None = None,
    seek: Seek | None = None,
    method: bool = False,
) -> FunctionType:
    """Returns ``bind(*args, **kwargs)``, which takes what the callable takes.

    Args:
        signature: Resolved.
        tensors: What a tensor is.
        parameters: The callable's own; without it the parameters that the spec lists.
        solve: Computes variables that cannot be read off the dims as they are written.
        seek: Finds sizes, for what errors say of the nearest that are accepted.
        method: Whether the function is to be bound to an object, which it takes first and ignores.

    Returns:
        A plain function. It raises `ShapeError` where sizes contradict each other, or ranks, dtypes or
        kinds of values are wrong (for any call ``not-invertible``, where a size cannot be computed); and Python's TypeError for a call that does not fit the parameters.
        Where a size is a tracer's symbol, so are those returned, and nothing is compared.
    """
    params = of_spec(signature) if parameters is None else with_secret_defaults(of_python(parameters), signature)
    if method:
        params = as_method(params)
    name = signature.name.rpartition(".")[2]
    selector = Selector(
        signature,
        params,
        tensors,
        _Sizes(),
        name=name,
        where=False,
        solve=solve,
        seek=seek,
        symbols=Symbols.UNCHECKED,
    )
    made = selector.front()
    vars(made)["_torchdynamo_inline"] = selector.traced()  # what dynamo traces in its place
    return made
