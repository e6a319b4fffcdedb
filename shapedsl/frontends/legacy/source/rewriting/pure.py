"""Whether evaluating an expression does nothing but give a value: only then can it be left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import libcst as cst

    from .scopes import Scopes


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BUILTINS: Final = _words(
    "dict list tuple set frozenset range zip enumerate reversed sorted str int float bool len min max sum abs any all"
    " isinstance divmod pow round slice"
)
_MODULES: Final = ("torch.export", "torch.fx.experimental.dynamic_spec", "collections", "itertools")
_MAKERS: Final = _words(
    "Dim _Dim dims ShapesCollection AdditionalInputs ShapeVar IntVar TensorSpec ShapesSpec ParamsSpec DictSpec SeqSpec"
    " ObjectSpec AUTO DYNAMIC STATIC OrderedDict defaultdict chain product repeat islice"
)
# What makes example inputs. A number that is drawn is missed by whoever seeded the generator, and by nobody else.
_INPUTS: Final = _words("zeros ones empty full arange eye linspace tensor as_tensor zeros_like ones_like Size")
_DRAWN: Final = _words("rand randn randint randperm rand_like randn_like randint_like")
# Methods of plain values that change nothing, and those that change only what they are called on.
READING: Final = _words("items keys values get copy format join upper lower strip replace split count index")
CHANGING: Final = _words("update setdefault append extend insert add")
_ATOMS: Final = _words("Dim _Dim dims ShapeVar IntVar AUTO DYNAMIC STATIC int str float bool len min max sum abs range")
_PLAIN: Final = _words(
    "Name Integer Float Imaginary SimpleString ConcatenatedString FormattedString FormattedStringText"
    " FormattedStringExpression Ellipsis Tuple List Set Dict Element StarredElement DictElement StarredDictElement"
    " Comparison ComparisonTarget BinaryOperation BooleanOperation UnaryOperation IfExp Subscript SubscriptElement"
    " Index Slice Attribute ListComp SetComp DictComp GeneratorExp CompFor CompIf Arg"
)


def is_pure(node: cst.CSTNode, scopes: Scopes) -> bool:
    """Returns whether an expression of the kinds that build specs has no effect.

    Arithmetic, lookups and loops over plain values count as pure, a call only of what is known: a loop or a
    lookup that would raise is lost with it.
    """
    import libcst as cst

    if isinstance(node, cst.Lambda):
        return all(parameter.default is None for parameter in node.params.params)
    if isinstance(node, cst.Call):
        if not _is_known(node, scopes):
            return False
    elif type(node).__name__ not in _PLAIN:
        return not isinstance(node, (cst.BaseExpression, cst.BaseStatement, cst.BaseSmallStatement))
    return all(is_pure(child, scopes) for child in node.children)


def _is_known(call: cst.Call, scopes: Scopes) -> bool:
    import libcst as cst

    callee = call.func
    if isinstance(callee, cst.Attribute) and callee.attr.value in READING | CHANGING:
        return True  # of a value that the other parts have shown to be plain
    scope = scopes.scope(call)
    names = () if scope is None else scope.get_qualified_names_for(callee)
    for found in names:
        module, _, name = found.name.rpartition(".")
        known = _BUILTINS if module == "builtins" else _MAKERS if module.startswith(_MODULES) else ()
        if module == "torch":
            known = _INPUTS if scopes.is_seeded else _INPUTS | _DRAWN
        if name not in known:
            return False
    return bool(names)


def is_atom(node: cst.CSTNode | None) -> bool:
    """Returns whether an expression gives a value that holds no other: a number, a string, a Dim."""
    import libcst as cst

    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString, cst.FormattedString, cst.Attribute, cst.Comparison)):
        return True
    if isinstance(node, cst.Call):
        name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        return isinstance(name, cst.Name) and name.value in _ATOMS
    if isinstance(node, cst.BinaryOperation):
        return is_atom(node.left) and (is_atom(node.right) or isinstance(node.right, cst.Name))
    return isinstance(node, cst.UnaryOperation)


def held_names(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yields the names whose values an expression may give, or hold."""
    import libcst as cst

    if isinstance(node, cst.Name):
        yield node
    elif not is_atom(node):
        for child in node.children:
            yield from held_names(child)


__all__ = ["CHANGING", "READING", "held_names", "is_atom", "is_pure"]
