"""The parameters of functions and of classes' ``forward``, as the file writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .....ir import AnyType, Param, ParamKind
from ..values import Signature
from .names import dotted

if TYPE_CHECKING:
    import libcst as cst

# Their attributes and methods are as usual, and none of them has a `forward` of its own.
PLAIN_BASES: Final = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module", "builtins.object", "abc.ABC"})


def signature_of(node: cst.FunctionDef | cst.Lambda, name: str, *, is_method: bool) -> Signature:
    """Returns a definition's parameters, without the receiver of a method."""
    import libcst as cst

    params: list[Param] = []

    def add(param: cst.Param, kind: ParamKind) -> None:
        params.append(Param(param.name.value, AnyType(), kind, param.default is not None))

    for param in node.params.posonly_params:
        add(param, ParamKind.POSITIONAL_ONLY)
    for param in node.params.params:
        add(param, ParamKind.POSITIONAL_OR_KEYWORD)
    if isinstance(node.params.star_arg, cst.Param):
        add(node.params.star_arg, ParamKind.VAR_POSITIONAL)
    for param in node.params.kwonly_params:
        add(param, ParamKind.KEYWORD_ONLY)
    if node.params.star_kwarg is not None:
        add(node.params.star_kwarg, ParamKind.VAR_KEYWORD)
    receiver = None
    takes_one = params and params[0].kind in (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL_OR_KEYWORD)
    if is_method and takes_one and not _is_static(node):
        receiver = params.pop(0).name
    return Signature(name, tuple(params), receiver)


def _is_static(node: cst.FunctionDef | cst.Lambda) -> bool:
    return any(dotted(each.decorator) == "staticmethod" for each in getattr(node, "decorators", ()))


__all__ = ["PLAIN_BASES", "signature_of"]
