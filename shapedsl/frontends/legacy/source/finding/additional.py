"""`AdditionalInputs` whose sizes the file shows → the tree that torch makes of them.

Before::

    more = AdditionalInputs()
    more.add((torch.ones(5, 3),))
    export(net, (torch.ones(4, 3),), dynamic_shapes=more)      # def forward(self, x)

After::

    {"x": (DYNAMIC, None)}

Source: ``torch/export/dynamic_shapes.py``, ``AdditionalInputs.dynamic_shapes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...model import Entries, Hint, Hinted, Items, Tree, Unsaid
from ..values import Constant, Dict, Made, Sequence, Tensor, Unknown, Value
from .example import Example, example_of, signature_of
from .refused import LIVE, not_known, refuse

if TYPE_CHECKING:
    import libcst as cst

    from .....diagnostics import Span
    from ..observe import Frame
    from .apis import Bound

ADDITIONAL: Final = frozenset(("torch.export.AdditionalInputs", "torch.export.dynamic_shapes.AdditionalInputs"))
_ADDED: Final = "add"  # what its `Made` calls the arguments of each call of `add`


def is_additional(value: object) -> bool:
    """Returns whether a value is an `AdditionalInputs`."""
    return isinstance(value, Made) and value.name in ADDITIONAL


def added(owner: Made, node: cst.Call, bound: Bound, frame: Frame) -> None:
    """Takes in a call of ``add``."""
    import libcst as cst

    if owner.args is None:
        return
    given: list[Value] = [bound.values[name] for name in ("args", "kwargs") if name in bound.values]
    branches = (cst.If, cst.Else, cst.While, cst.Match, cst.Try, cst.TryStar)
    value: Value = Sequence("tuple", given, node)
    if frame.in_loop or any(isinstance(statement, branches) for statement in frame.path[:-1]):
        value = Unknown("it depends on a run which inputs are added", node)
    owner.args.append((_ADDED, value))


def inferred(made: Made, target: Value | None, example: Example, node: cst.Call, span: Span) -> Tree:
    """Returns what an `AdditionalInputs` says of inputs, by parameter.

    Args:
        made: With what was added.
        target: What is exported.
        example: The inputs of the export.
        node: The export.
        span: Of the spec.

    Raises:
        RefusedError: A size, or the signature, is not known.
    """
    signature = signature_of(target)
    if signature is None or example.positional is None or example.named is None:
        raise _unclear(made.node, "the inputs and the signature are not known")
    first = example.by_parameter(signature, node)
    others: list[dict[str, Value]] = []
    for name, value in made.args or ():
        if name != _ADDED:
            continue
        if isinstance(value, Unknown):
            raise not_known(value)
        given = value.items if isinstance(value, Sequence) else []
        more = example_of(given[0] if given else None, given[1] if len(given) > 1 else None, example.known)
        if more.positional is None or more.named is None:
            raise _unclear(value.node, "the added inputs are not known")
        others.append(more.by_parameter(signature, node))
    if any(each.keys() != first.keys() for each in others):
        raise _unclear(made.node, "the added inputs are for other parameters")
    entries = [(name, _marked(value, [each[name] for each in others])) for name, value in first.items()]
    return Entries(tuple(entries), span)


def _marked(value: Value, others: list[Value]) -> Tree:
    match value:
        case Tensor(sizes=sizes):
            known = [each.sizes for each in others if isinstance(each, Tensor)]
            if (
                sizes is None
                or len(known) < len(others)
                or any(each is None or len(each) != len(sizes) for each in known)
            ):
                raise _unclear(value.node, "the rank of an input is not known, or differs")
            columns = list(zip(sizes, *[each for each in known if each is not None], strict=True))
            if any(None in column for column in columns):
                raise _unclear(value.node, "a size of an input is not known")
            return Items(
                "tuple", tuple([Unsaid() if len(set(each)) == 1 else Hinted(Hint.DYNAMIC) for each in columns])
            )
        case Sequence(kind=kind, items=items, fields=fields):
            alike = [each.items for each in others if isinstance(each, Sequence) and len(each.items) == len(items)]
            if len(alike) < len(others):
                raise _unclear(value.node, "the structure of the inputs differs")
            inside = [_marked(item, [each[at] for each in alike]) for at, item in enumerate(items)]
            return Items(kind, tuple(inside), fields)
        case Dict(entries=entries):
            same = [each.entries for each in others if isinstance(each, Dict) and each.entries.keys() == entries.keys()]
            if len(same) < len(others):
                raise _unclear(value.node, "the structure of the inputs differs")
            return Entries(
                tuple(
                    [
                        (key, _marked(item, [each[key][1] for each in same]))
                        for key, (_, item) in entries.items()
                        if isinstance(key, (str, int))
                    ]
                )
            )
        case Constant(value=constant):
            said = [each.value for each in others if isinstance(each, Constant)]
            if len(said) < len(others):
                raise _unclear(value.node, "an input is not known")
            is_int = isinstance(constant, int) and not isinstance(constant, bool)
            return Hinted(Hint.DYNAMIC) if is_int and any(each != constant for each in said) else Unsaid()
        case _:
            raise _unclear(value.node, "an input is not known")


def _unclear(node: cst.CSTNode, why: str) -> Exception:
    cure = f"{LIVE}, or write `dynamic_shapes=` by parameter"
    return refuse(f"an AdditionalInputs says what its inputs tell, and {why}", node, help=cure)


__all__ = ["ADDITIONAL", "added", "inferred", "is_additional"]
