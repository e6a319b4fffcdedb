"""Pyrefly's ``Shaped[Tensor, "[B, D]"]`` → types. At run time ``Shaped`` is `typing.Annotated`.

=========================================  ===========================
``Shaped[Tensor, "[B, 2*D]"]``             ``Tensor[B, 2 * D]``
``Shaped[Tensor, "[B, *Elements[rest]]"]`` ``Tensor[B, *rest]``
``Shaped[Tensor, "rest"]``                 ``Tensor[*rest]``
``Shaped[int, "N"]``                       ``Scalar[N]``
``Shaped[tuple[int, int], "[M, N]"]``      ``(Scalar[M], Scalar[N])``
=========================================  ===========================

The names are declared by ``@shape_vars("B, D, N, *rest")``, which leaves no trace on a function. So such a string
counts where the decorator's text stands over the function or its class, found in the source; or under ``@shapes``.
Elsewhere a string in brackets is somebody else's metadata.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, get_args, get_origin

from ...diagnostics import Report, Source
from ...ir import Apply, Const, Dim, ScalarType, SequenceType, TensorType, Type, Var, Variadic
from ..text.fragments import parse_dims
from .jaxtyping import is_foreign
from .masked import Masked

_ELEMENTS = re.compile(r"\*\s*(?:[A-Za-z_]\w*\.)*Elements\s*\[\s*([A-Za-z_]\w*)\s*\]")


def is_bracketed(text: str) -> bool:
    """Whether ``text`` is dims in brackets."""
    bare = text.strip()
    return bare.startswith("[") and bare.endswith("]")


def declared_runs(declaration: str) -> frozenset[str]:
    """Returns the names that ``shape_vars("B, *rest")`` declares for any number of dims: ``rest``."""
    names = [name.strip() for name in declaration.split(",")]
    return frozenset(name[1:].strip() for name in names if name.startswith("*"))


def read_shaped(base: Any, source: Source, runs: Collection[str], report: Report) -> Type | None:
    """Returns the type of ``Shaped[base, text]``; None if the string says nothing that a spec holds.

    Args:
        base: The first argument.
        source: The text.
        runs: The names that stand for any number of dims.
        report: Receives ``inexpressible``: such a shape is left open, a tensor's as ``Tensor``.
    """
    whole = source.span(0, len(source.text))
    if not is_other(base):
        return TensorType(_dims(source, runs, report), None, whole)
    count = 1 if base is int else _ints(base)
    if count is None:
        shown = getattr(base, "__name__", None) or repr(base)
        report.warning("inexpressible", f"the sizes of a `{shown}` are not read", at=whole)
        return None
    dims = _dims(source, runs, report)
    if dims is None:
        return None
    sizes = [dim for dim in dims if isinstance(dim, (Const, Var, Apply))]
    if len(sizes) < len(dims) or len(sizes) != count:
        report.warning("inexpressible", "this is not one size for each int: the value is taken as static", at=whole)
        return None
    scalars = tuple(ScalarType(size, size.span) for size in sizes)
    return scalars[0] if base is int else SequenceType("tuple", scalars, span=whole)


def is_other(base: Any) -> bool:
    """Whether ``base`` is no tensor: an ``int``, a tuple of them, any other class."""
    return is_foreign(get_origin(base) or base)


def _ints(base: Any) -> int | None:
    """Returns how many ints the tuple ``base`` holds; None if it is no tuple of so many ints."""
    members = get_args(base)
    return len(members) if get_origin(base) is tuple and members and all(each is int for each in members) else None


def _dims(source: Source, runs: Collection[str], report: Report) -> tuple[Dim, ...] | None:
    text = source.text
    if text.strip() in runs:
        start = len(text) - len(text.lstrip())
        return (Variadic(text.strip(), source.span(start, start + len(text.strip()))),)
    if is_bracketed(text):
        at, end = text.index("["), text.rindex("]")
        text = f"{text[:at]} {text[at + 1 : end]} {text[end + 1 :]}"
    masked = _ELEMENTS.sub(_spliced, text)
    trial = Report()
    dims = parse_dims(Masked(source, masked), trial)
    if dims is not None and not trial.errors:
        return dims
    wrong = trial.errors[0]
    report.warning(
        "inexpressible",
        f"this shape is left open: {wrong.message}",
        at=wrong.annotations[0].span if wrong.annotations else source.span(0, len(source.text)),
        help=wrong.helps,
    )
    return None


def _spliced(match: re.Match[str]) -> str:
    """Returns ``*Elements[rest]`` as ``*rest``, where it stands: the offset of the name stays."""
    at = match.start(1) - match.start()
    return f"*{' ' * (at - 1)}{match.group(1)}".ljust(len(match.group()))


__all__ = ["declared_runs", "is_bracketed", "is_other", "read_shaped"]
