from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, overload

import torch
from typing_extensions import TypeAliasType, TypeVarTuple, Unpack

from .decorators import Where
from .surface.symbols import Predicate

# Anything may stand in the brackets; the default lets strict checkers accept them bare.
_Ts = TypeVarTuple("_Ts", default=Unpack[tuple[Any, ...]])
_Target = TypeVar("_Target", bound=Callable[..., Any])

Tensor = TypeAliasType("Tensor", torch.Tensor, type_params=(_Ts,))
Scalar = TypeAliasType("Scalar", int, type_params=(_Ts,))

class Shape:
    def __class_getitem__(cls, items: Any) -> Any: ...

def where(*predicates: str | Predicate) -> Where: ...
@overload
def shapes(target: _Target, /) -> _Target: ...
@overload
def shapes(
    text: str | None = None,
    /,
    *,
    hints: Mapping[str, int] | None = None,
    consts: Mapping[str, int | None] | None = None,
    params: Mapping[str, Any] | None = None,
    returns: Any = None,
    where: str | Predicate | Where | Iterable[str | Predicate] | None = None,
    attach: bool = True,
    check: bool = False,
    **parameters: Any,
) -> Callable[[_Target], _Target]: ...

__all__ = ["Scalar", "Shape", "Tensor", "shapes", "where"]
