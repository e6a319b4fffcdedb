"""Which parameter each input of a program belongs to.

A program has flat inputs, the tree that they were flattened from, and a name for each argument. torch
spreads ``*rest`` over ``rest_0, rest_1`` and ``**options`` over their keys. The parameters that they came
from show in the names of sources, of which guards are made (``L['rest'][0].size()[1]``), or in the callable
itself; else they stay what torch made of them.

Before::

    names    x, rest_0, rest_1, gate       in_spec  ((*, *, *), {"gate": *})
    guards   L['rest'][0].size()[0] == L['x'].size()[0]

After::

    x: #0    *rest: [#1, #2]    gate: #3 (by keyword)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from ...ir import AnyType, Attribute, Item, MappingType, ObjectType, Param, ParamKind, Path, SequenceType, Type

_SEQUENCES: Final = frozenset({"Size", "immutable_list"})


@dataclass(frozen=True, slots=True)
class Tree:
    """What was passed as one argument: torch's TreeSpec, and the number of its first flat input."""

    spec: Any
    start: int


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter and what was passed for it.

    Attributes:
        name: The parameter's.
        kind: How it is passed.
        trees: By what each is found under: of ``*rest`` its number, of ``**options`` its key, else None.
        default: Whether it may be left out.
    """

    name: str
    kind: ParamKind
    trees: tuple[tuple[str | int | None, Tree], ...]
    default: bool = False


def arguments(program: Any, sources: Iterable[str], signature: inspect.Signature | None) -> list[Argument]:
    """Returns the parameters of what ``program`` was exported from.

    Args:
        program: An ExportedProgram.
        sources: Whatever names inputs as Python would: ``L['rest'][0].size()[1]``.
        signature: Of the callable, without its receiver, if it is known.
    """
    positional, keyword = _trees(program)
    if signature is not None:
        return list(_by_signature(signature, positional, keyword))
    names = _names(program, len(positional))
    seen = set(re.findall(r"L\['(\w+)'\]\['?(\w+)'?\]", " ".join(sources)))
    variadic = {f"{base}_{key}": base for base, key in seen if key.isdigit() and base not in names}
    collected = {key: base for base, key in seen if key in keyword and base not in names and base not in keyword}
    rest = next((at for at, name in enumerate(names) if name in variadic), len(names))
    found = [
        Argument(name, ParamKind.POSITIONAL_OR_KEYWORD, ((None, tree),))
        for name, tree in zip(names[:rest], positional, strict=False)
    ]
    if rest < len(names):
        found.append(Argument(variadic[names[rest]], ParamKind.VAR_POSITIONAL, tuple(enumerate(positional[rest:]))))
    found += [
        Argument(name, ParamKind.KEYWORD_ONLY, ((None, tree),))
        for name, tree in keyword.items()
        if name not in collected
    ]
    options = tuple((key, tree) for key, tree in keyword.items() if key in collected)
    if options:
        found.append(Argument(collected[options[0][0]], ParamKind.VAR_KEYWORD, options))
    return found


def _trees(program: Any) -> tuple[list[Tree], dict[str, Tree]]:
    """Returns what was passed by position and by keyword."""
    positional, keyword = program.call_spec.in_spec.children()
    trees: list[Tree] = []
    at = 0
    for spec in (*positional.children(), *keyword.children()):
        trees.append(Tree(spec, at))
        at += spec.num_leaves
    count = positional.num_children
    return trees[:count], dict(zip(_keys(keyword), trees[count:], strict=True))


def _names(program: Any, count: int) -> list[str]:
    """Returns what the arguments that were passed by position are called."""
    call = program.module_call_graph[0].signature if program.module_call_graph else None
    names = list((call.forward_arg_names if call is not None else None) or ())[:count]
    return [*names, *(f"arg{at}" for at in range(len(names), count))]


def _by_signature(signature: inspect.Signature, positional: list[Tree], keyword: dict[str, Tree]) -> Iterator[Argument]:
    """Yields the parameters of a callable for which something was passed."""
    waiting, named = list(positional), dict(keyword)
    for param in signature.parameters.values():
        kind, default = ParamKind[param.kind.name], param.default is not param.empty
        if kind is ParamKind.VAR_POSITIONAL:
            if waiting:
                yield Argument(param.name, kind, tuple(enumerate(waiting)))
                waiting = []
        elif kind is ParamKind.VAR_KEYWORD:
            if named:
                yield Argument(param.name, kind, tuple(named.items()))
                named = {}
        elif waiting and kind is not ParamKind.KEYWORD_ONLY:
            yield Argument(param.name, kind, ((None, waiting.pop(0)),), default)
        elif param.name in named:
            yield Argument(param.name, kind, ((None, named.pop(param.name)),), default)


class Layout:
    """The inputs of one program, as parameters with types.

    Attributes:
        opaque: Objects whose registration names no attributes, by path: the name of the class, and the numbers of
            the flat inputs in it.
    """

    def __init__(self, arguments: Iterable[Argument], values: Sequence[Any]) -> None:
        """Args:
        arguments: From `arguments`.
        values: The flat inputs; objects are made of them, in order to see their attributes.
        """
        self._arguments = tuple(arguments)
        self._values = values
        self.opaque: dict[str, tuple[str, range]] = {}

    def params(self, leaf: Callable[[Path, int], Type]) -> Iterator[Param]:
        """Yields the parameters.

        Args:
            leaf: A path and the number of a flat input → its type.
        """
        for argument in self._arguments:
            types: list[tuple[Any, Type]] = []
            for key, tree in argument.trees:
                path = Path(argument.name) if key is None else Path(argument.name, (Item(key),))
                types.append((key, self._type(tree.spec, path, tree.start, leaf)))
            if argument.kind is ParamKind.VAR_POSITIONAL:
                whole: Type = SequenceType("list", tuple(type_ for _, type_ in types))
            elif argument.kind is ParamKind.VAR_KEYWORD:
                whole = MappingType(tuple(types))
            else:
                whole = types[0][1]
            yield Param(argument.name, whole, argument.kind, argument.default)

    def _type(self, spec: Any, path: Path, at: int, leaf: Callable[[Path, int], Type]) -> Type:
        if spec.is_leaf():
            return leaf(path, at)
        kind = spec.type if isinstance(spec.type, type) else object  # of a namedtuple it is a function
        steps: list[Item | Attribute] | None
        if issubclass(kind, dict):
            keys = _keys(spec)
            steps = [Item(key) for key in keys] if all(type(key) in (str, int) for key in keys) else None
        elif kind in (list, tuple) or kind.__name__ in _SEQUENCES:
            steps = [Item(index) for index in range(spec.num_children)]
        else:
            steps = _attributes(spec, self._values[at : at + spec.num_leaves])
        if steps is None:
            self.opaque[str(path)] = (_class_name(spec), range(at, at + spec.num_leaves))
            return AnyType()
        types: list[Type] = []
        for step, child in zip(steps, spec.children(), strict=True):
            types.append(self._type(child, Path(path.root, (*path.steps, step)), at, leaf))
            at += child.num_leaves
        if issubclass(kind, dict):
            return MappingType(
                tuple((step.key, type_) for step, type_ in zip(steps, types, strict=True) if isinstance(step, Item))
            )
        if kind in (list, tuple) or kind.__name__ in _SEQUENCES:
            return SequenceType("list" if issubclass(kind, list) else "tuple", tuple(types))
        fields = tuple(
            (step.name, type_) for step, type_ in zip(steps, types, strict=True) if isinstance(step, Attribute)
        )
        return ObjectType(fields, _class_name(spec))


def _keys(spec: Any) -> list[Any]:
    """Returns the keys of a dict; of a defaultdict they stand behind its factory."""
    return list(spec.context[1] if spec.type.__name__ == "defaultdict" else spec.context)


def _class_name(spec: Any) -> str:
    kind: type = spec.type if isinstance(spec.type, type) else spec.context
    return kind.__name__


def _attributes(spec: Any, values: Sequence[Any]) -> list[Item | Attribute] | None:
    """Returns the attributes that hold the children of an object, or None where its registration does not say."""
    from torch.utils import _pytree as pytree

    if isinstance(spec.context, type) and hasattr(spec.context, "_fields"):  # a namedtuple
        return [Attribute(name) for name in spec.context._fields]
    try:
        whole = pytree.tree_unflatten(list(values), spec)
        keyed, _ = cast("Any", pytree.SUPPORTED_NODES[spec.type]).flatten_with_keys_fn(whole)
    except Exception:  # a class may refuse what it is made of, and a registration may have no keys
        return None
    names = [Attribute(key.name) for key, _ in keyed if isinstance(key, pytree.GetAttrKey)]
    return [*names] if len(names) == spec.num_children else None
