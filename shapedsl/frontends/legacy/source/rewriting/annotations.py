"""Annotations of what is made by an edited expression: they name the class that it makes now.

Before::

    rows: Dim = Dim("rows")
    def shapes() -> dict[str, object]:
        return {"x": {0: rows}}

After::

    rows: ShapeVar = ShapeVar("rows")
    def shapes() -> ShapesSpec:
        return ShapesSpec({"x": TensorSpec([rows])})
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .draft import File

if TYPE_CHECKING:
    import libcst as cst


def annotate(file: File) -> None:
    """Edits the annotations of names that are bound to edited expressions, and of functions that return them."""
    import libcst as cst

    returned: dict[cst.FunctionDef, set[str]] = {}
    for node, kind in file.kinds.items():
        match file.scopes.parent(node):
            case cst.AnnAssign(annotation=annotation):
                file.plan.replace(annotation.annotation, file.plan.need(kind))
            case cst.Return():
                function = next((each for each in file.scopes.above(node) if isinstance(each, cst.FunctionDef)), None)
                if function is not None and function.returns is not None:
                    returned.setdefault(function, set()).add(kind)
            case _:
                pass
    for function, kinds in returned.items():
        if function.returns is not None and len(kinds) == 1 and _returns(function) == 1:
            file.plan.replace(function.returns.annotation, file.plan.need(kinds.pop()))


def _returns(function: cst.FunctionDef) -> int:
    """Returns how many return statements a function has, those of functions in it among them."""
    from libcst import matchers

    return len(matchers.findall(function.body, matchers.Return()))


__all__ = ["annotate"]
