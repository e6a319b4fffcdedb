"""A `ShapesCollection` → the tree that it stands for: tensors are found in the inputs by what they are, not by name.

Before::

    sc[x] = (n, 3)
    sc[y] = {0: n + 1}
    export(M(), (x, [y, z]), dynamic_shapes=sc)       # def forward(self, a, rest)

After::

    {"a": (n, 3), "rest": [{0: n + 1}, None]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model import Entries, Items, Tree, Unsaid
from ..values import Collection, Dict, Sequence, Value
from .refused import RefusedError, refuse
from .to_model import to_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    import libcst as cst

    from ....stubs.tree import Tree as File


def collected(value: Collection, args: Mapping[str, Value], is_whole: bool, file: File) -> Tree:
    """Returns what a collection says of inputs, by parameter.

    Args:
        value: The collection, as it is at the call.
        args: The inputs, by parameter.
        is_whole: Whether these are all inputs.
        file: Where it stands.

    Raises:
        RefusedError: A key is no plain name, or no input; or the parameters are not known.
    """
    said: list[tuple[Value, Tree, cst.CSTNode]] = []
    for key, spec, statement in value.entries:
        _plain(statement)
        said.append((key, to_tree(spec, file.span), statement))
    if not is_whole:
        raise refuse(
            "the inputs that a ShapesCollection speaks of are in the order of a signature that the file does not show",
            value.node,
            "legacy-parameter",
            "speaks of tensors",
            "write a dict by parameter, or convert the live objects with `sd.from_dims`",
        )
    found: set[int] = set()
    tree = Entries(
        tuple([(name, _within(item, said, found)) for name, item in args.items()]),
        file.span(value.node),
    )
    for key, _, statement in said:
        if id(key) not in found:
            raise refuse(
                "a tensor that the ShapesCollection speaks of is not among the inputs",
                statement,
                label="not passed to the call",
                help="pass the same object, or drop the line",
            )
    return tree


def _plain(statement: cst.CSTNode) -> None:
    """Refuses a key that is an expression: whether it gives the object that is passed, only a run tells."""
    written = _subscript(statement)
    if written is not None and not _is_name(written):
        raise _expression(written)


def _is_name(node: cst.CSTNode) -> bool:
    import libcst as cst

    return isinstance(node, cst.Name)


def _expression(node: cst.CSTNode) -> RefusedError:
    return refuse("a key of the ShapesCollection is an expression, not a name", node, label="which tensor is this?")


def _subscript(statement: cst.CSTNode) -> cst.CSTNode | None:
    """Returns what ``sc[…] = …`` is subscripted with."""
    import libcst as cst

    if isinstance(statement, cst.SimpleStatementLine) and statement.body:
        statement = statement.body[0]
    if isinstance(statement, cst.Assign):
        for target in statement.targets:
            if isinstance(target.target, cst.Subscript):
                return _index(target.target)
    if isinstance(statement, (cst.AnnAssign, cst.AugAssign)) and isinstance(statement.target, cst.Subscript):
        return _index(statement.target)
    return None


def _index(node: cst.Subscript) -> cst.CSTNode | None:
    import libcst as cst

    element = node.slice[0].slice if len(node.slice) == 1 else None
    return element.value if isinstance(element, cst.Index) else node


def _within(value: Value, said: list[tuple[Value, Tree, cst.CSTNode]], found: set[int]) -> Tree:
    for key, tree, _ in said:
        if key is value:
            found.add(id(key))
            return tree
    match value:
        case Sequence(kind=kind, items=items, fields=fields):
            return Items(kind, tuple([_within(item, said, found) for item in items]), fields)
        case Dict(entries=entries):
            return Entries(
                tuple(
                    [
                        (key, _within(item, said, found))
                        for key, (_, item) in entries.items()
                        if isinstance(key, (str, int))
                    ]
                )
            )
        case _:
            return Unsaid()


__all__ = ["collected"]
