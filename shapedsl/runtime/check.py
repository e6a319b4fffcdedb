"""``spec.check``: does a call satisfy its spec? About a microsecond a tensor, and an explanation if not."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import FunctionType

from ..ir import Signature
from ..ir.expanded import Expanded
from .code import Code
from .guard import Guard
from .nearest import Seek
from .parameters import Parameter, as_method, of_python, of_spec, with_secret_defaults
from .select import Selector, Symbols
from .shown import Shown, opened, readable
from .skeleton import smallest
from .solve import Solve
from .tensors import Tensors


class _Nothing:
    """A call that satisfies its spec returns nothing."""

    def prologue(self, code: Code) -> list[str]:
        del code
        return []

    def body(self, code: Code, checked: Guard, expanded: Expanded) -> list[str]:
        del code, checked, expanded
        return ["return None"]


def checker(
    signature: Signature,
    tensors: Tensors,
    parameters: inspect.Signature | None = None,
    *,
    solve: Solve | None = None,
    seek: Seek | None = None,
    method: bool = False,
) -> FunctionType:
    """Returns ``check(*args, **kwargs)``, which takes what the callable takes.

    Args:
        signature: Resolved.
        tensors: What a tensor is.
        parameters: The callable's own; without it the parameters that the spec lists.
        solve: Computes variables that cannot be read off the dims as they are written.
        seek: Finds sizes, for what errors say of the nearest that are accepted.
        method: Whether the function is to be bound to an object, which it takes first and ignores.

    Returns:
        A plain function. It raises `ShapeError` (``shape-violation``, ``rank-mismatch``,
        ``dtype-mismatch``, ``type-mismatch``; ``not-invertible`` for any call), and Python's TypeError for a call that does not fit the
        parameters. Static parts are not looked at; nothing is compared with a size that is a tracer's symbol.
    """
    params = of_spec(signature) if parameters is None else with_secret_defaults(of_python(parameters), signature)
    made = _selector(signature, as_method(params) if method else params, tensors, solve, seek).front()
    vars(made)["_torchdynamo_inline"] = unchecked  # what dynamo traces in its place
    return made


def _selector(
    signature: Signature, params: Sequence[Parameter], tensors: Tensors, solve: Solve | None, seek: Seek | None = None
) -> Selector:
    name = signature.name.rpartition(".")[2]
    maker = _Nothing()
    return Selector(signature, params, tensors, maker, name=name, solve=solve, seek=seek, symbols=Symbols.LEFT_OUT)


def check_code(signature: Signature, tensors: Tensors, *, solve: Solve | None = None) -> list[Shown]:
    """Returns the generated check as text: one function, or the one in front and one at a structure.

    Args:
        signature: Resolved.
        tensors: What a tensor is; their names alone can be seen.
        solve: Computes variables that cannot be read off the dims as they are written.

    Raises:
        ShapeError: ``not-invertible``.
    """
    selector = _selector(signature, of_spec(signature), tensors, solve)
    front = readable(selector.front())
    values = {param.name: smallest(param.type) for param in signature.params}
    open_parts = list(opened(signature, values))
    if not open_parts:
        return [Shown((), front)]
    return [
        Shown(tuple(question for question, _ in open_parts), front),
        Shown(tuple(answer for _, answer in open_parts), readable(selector.at(values))),
    ]


def unchecked(*args: object, **kwargs: object) -> None:
    """Checks nothing: what a check is within a trace, where it would tell the tracer about sizes."""
    del args, kwargs
