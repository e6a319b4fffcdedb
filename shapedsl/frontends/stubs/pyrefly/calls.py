"""Shape functions that types call, ``Tensor[reduce_shape(Shape, Dim, Keepdim)]``: found by name, and evaluated.

They lie in the file itself, in a module beside it or in an installed stub package, ``torch._shapes``; those of
`shape_extensions` itself are built in.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import libcst as cst

from ..shape_functions import NotEvaluated, Outcome, ShapeFunctions
from ..tree import Tree
from .names import MODULE, Names


def evaluated(function: cst.BaseExpression, args: Sequence[Any], names: Names) -> Outcome:
    """Returns what a shape function gives for arguments.

    Args:
        function: Its name, as the call writes it.
        args: What it is called with.
        names: The names around the call.
    """
    qualified = names.qualified(function)
    if qualified is None:
        if not isinstance(function, cst.Name):
            return NotEvaluated("it is no function by name")
        return _functions(names.files.own).evaluate(function.value, args)
    module, _, name = qualified.rpartition(".")
    if module == MODULE:
        return _BUILT_IN.evaluate(name, args)
    tree = names.files.tree(module)
    if tree is None:
        return NotEvaluated(f"`{module}` lies neither beside the stub nor among what is installed")
    return _functions(tree).evaluate(name, args)


@lru_cache(maxsize=16)
def _functions(tree: Tree) -> ShapeFunctions:
    return ShapeFunctions(tree.module)


_BUILT_IN = ShapeFunctions()

__all__ = ["evaluated"]
