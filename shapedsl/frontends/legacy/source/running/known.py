"""Functions of Python and of torch that are followed.

A long list, in one place because a reader looks here for whether a function is known: a row each at the end, and above
it what the rows do, each on its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, cast

from ...model import Hint
from ..values import Callable, Collection, Constant, Dict, DimValue, HintValue, Partial, Sequence, Tensor, Unknown
from .dims import call_dim, call_dims, call_hint
from .heap import Box, Scope, copied
from .tensors import make_tensor

if TYPE_CHECKING:
    from collections.abc import Callable as Function

    import libcst as cst

    from ..observe import Argument
    from ..values import Value
    from .machine import Machine

_ENDS: Final = frozenset(
    ["sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit", "pytest.skip", "pytest.fail", "pytest.exit"]
)
_ITERATOR: Final = "iterator"
_LONGEST: Final = 4_096


# What may give this module by its own name.
_MODULES: Final = ("sys.modules.get", "importlib.import_module", "importlib.reload", "builtins.__import__")


def known_call(machine: Machine, node: cst.Call, callee: Value, name: str, args: list[Argument]) -> Value | None:
    """Returns what a known function returns; None for another.

    Args:
        machine: The machine.
        node: The call.
        callee: What is called: an imported name or a hint.
        name: Its usual qualified name.
        args: What it is given.
    """
    from .calls import spread_args

    if name in _ENDS:
        machine.live = False
        return Unknown("this does not return", node)
    if name in ("builtins.exec", "builtins.globals") or (
        name in ("builtins.locals", "builtins.vars", "builtins.eval") and (name.endswith("eval") or not args)
    ):
        machine.unknown_call([each.value for each in args], node)
        machine.forget_all(Unknown(f"`{name.partition('.')[2]}` may change it", node))
        return Unknown("its result is not known", node)
    if name in _MODULES and not (args and isinstance(args[0].value, Constant)):
        machine.forget_all(Unknown(f"`{name.removeprefix('builtins.')}` may change it", node))
    if name == "functools.partial":
        if args and args[0].name is None and not args[0].star:
            return Partial(args[0].value, args[1:], node)
        return Unknown("what this binds is not known", node)
    known = name in _FUNCTIONS or isinstance(callee, HintValue) or name in _DIMS or name.startswith("torch.")
    if not known:
        return None
    spread = spread_args(machine, args)
    if spread is None:
        return Unknown("the arguments of this call are not known", node) if name in _DIMS else None
    given, named = spread
    if isinstance(callee, HintValue):
        return call_hint(node, callee, given, named)
    if name == "torch.export.Dim":
        return call_dim(node, given, named)
    if name == "torch.export.dims":
        return call_dims(node, given, named)
    if name == "torch.export.ShapesCollection":
        return None if given or named else machine.box(Collection([], node))
    head, _, last = name.rpartition(".")
    if head == "torch.export._DimHint" and last in Hint.__members__ and not args:
        return HintValue(Hint[last], node)
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](machine, node, given, named)
    return make_tensor(machine, node, name, given, named)


_DIMS: Final = ("torch.export.Dim", "torch.export.dims", "torch.export.ShapesCollection")


# --------------------------------------------------------------------------------- containers


def _dict(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    from .methods import LostError, merge

    made = Dict({}, node, is_whole=False)
    if len(given) > 1:
        return None
    for value in given:
        try:
            merge(machine, made, value)
        except LostError as error:
            machine.escape([*given, *named.values()], node)
            return Unknown(str(error), node)
    for key, value in named.items():
        made.entries[key] = (
            made.entries[key][0] if key in made.entries else Constant(key, node),
            machine.settled(value),
        )
    made.is_whole = not given
    return machine.box(made)


def _list(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    items = _items(machine, given, named)
    if items is None:
        machine.escape(given, node)
        return None
    return machine.box(Sequence("list", items, node, is_whole=False))


def _tuple(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    items = _items(machine, given, named)
    if items is None:
        machine.escape(given, node)
        return None
    return Sequence("tuple", items, node, is_whole=False)


def _items(machine: Machine, given: list[Value], named: dict[str, Value]) -> list[Value] | None:
    if named or len(given) > 1:
        return None
    found = machine.items(given[0]) if given else []
    return None if found is None else [machine.settled(each) for each in found]


def _iterator(
    make: Function[[list[list[Value]], cst.Call], list[Value] | None],
) -> Function[[Machine, cst.Call, list[Value], dict[str, Value]], Value | None]:
    def run(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
        def again() -> list[Value] | None:
            found = [machine.items_now(each) for each in given]
            every = [each for each in found if each is not None]
            return make(every, node) if len(every) == len(found) else None

        items = None if named else again()
        if items is None:
            machine.escape(given, node)
            return None
        return Sequence("tuple", items, node, class_name=_ITERATOR, again=again)

    return run


def _zip(lists: list[list[Value]], node: cst.Call) -> list[Value] | None:
    return [Sequence("tuple", list(each), node) for each in zip(*lists, strict=False)]


def _chain(lists: list[list[Value]], node: cst.Call) -> list[Value] | None:  # noqa: ARG001
    return [each for items in lists for each in items]


def _reversed(lists: list[list[Value]], node: cst.Call) -> list[Value] | None:  # noqa: ARG001
    return lists[0][::-1] if len(lists) == 1 else None


def _product(lists: list[list[Value]], node: cst.Call) -> list[Value] | None:
    import itertools

    if math.prod(len(each) for each in lists) > _LONGEST:
        return None
    return [Sequence("tuple", list(each), node) for each in itertools.product(*lists)]


def _enumerate(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    start = named.get("start", given[1] if len(given) > 1 else Constant(0, node))
    first = start.value if isinstance(start, Constant) and isinstance(start.value, int) else None

    def again() -> list[Value] | None:
        items = machine.items_now(given[0]) if given and first is not None else None
        if items is None or first is None:
            return None
        return [Sequence("tuple", [Constant(first + at, node), each], node) for at, each in enumerate(items)]

    pairs = again()
    if pairs is None:
        machine.escape(given, node)
        return None
    return Sequence("tuple", pairs, node, class_name=_ITERATOR, again=again)


def _range(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:  # noqa: ARG001
    numbers = [each.value for each in given if isinstance(each, Constant) and isinstance(each.value, int)]
    if named or len(numbers) != len(given) or not numbers or len(numbers) > 3:
        return None
    try:
        found = range(*numbers)
        if len(found) > _LONGEST:
            return None
    except (ValueError, OverflowError):
        return None
    return Sequence("tuple", [Constant(each, node) for each in found], node, is_whole=False, class_name="range")


def _value_of(constant: Constant) -> Any:
    """Returns what a constant is; whether it can be compared, comparing says."""
    return constant.value


def _sorted(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    items = machine.items(given[0]) if len(given) == 1 and not named else None
    if items is None or not all(isinstance(each, Constant) for each in items):
        machine.escape(given, node)
        return None
    try:
        order = sorted((each for each in items if isinstance(each, Constant)), key=_value_of)
    except TypeError:
        return None
    return machine.box(Sequence("list", list(order), node, is_whole=False))


def _fromkeys(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    from .expressions import key_of

    items = machine.items(given[0]) if given and not named else None
    if items is None or len(given) > 2:
        machine.escape(given, node)
        return None
    made = Dict({}, node, is_whole=False)
    for item in items:
        key = key_of(item)
        if key is None:
            machine.escape(given, node)
            return None
        made.entries[key[0]] = (item, given[1] if len(given) > 1 else Constant(None, node))
    return machine.box(made)


def _map(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    from ..observe import Argument
    from .calls import call_function, known_or_none

    if len(given) != 2 or named:
        return None
    items = machine.items(given[1])
    if items is None:
        return None
    results: list[Value] = []
    for item in items:
        args = [Argument(None, "", item, node.args[1])]
        if isinstance(given[0], Callable) and given[0].kind == "function" and given[0].around is not None:
            if machine.effects(given[0]):
                return None  # it is run when the iterator is used, if ever
            results.append(machine.settled(call_function(machine, node, given[0], args)))
        else:
            found = known_or_none(machine, node, given[0], args)
            if found is None:
                return None
            results.append(machine.settled(found))
        if not machine.live:
            return Unknown("this raises", node)
    return Sequence("tuple", results, node, class_name=_ITERATOR)


def _copy(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:  # noqa: ARG001
    if len(given) != 1 or named or not isinstance(given[0], Box):
        return given[0] if len(given) == 1 and isinstance(given[0], (Constant, Sequence, DimValue, HintValue)) else None
    return _copied(machine, given[0], {}, deep=False)


def _deepcopy(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    if not given or named:
        return None
    if isinstance(given[0], (Box, Sequence, Constant, DimValue, HintValue)):
        try:
            return _copied(machine, given[0], {}, deep=True)
        except RecursionError:
            return None
    return Tensor(given[0].sizes, node) if isinstance(given[0], Tensor) else None


def _copied(machine: Machine, value: Any, memo: dict[int, Value], *, deep: bool) -> Value:
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, Box):
        made = Box([copied(content) for content in value.contents], value.node, value.lost)
        memo[id(value)] = made  # type: ignore[assignment]
        for content in made.contents if deep else ():
            if isinstance(content, Dict):
                content.entries = {
                    key: (name, _copied(machine, each, memo, deep=True))
                    for key, (name, each) in content.entries.items()
                }
            elif isinstance(content, Sequence):
                content.items = [_copied(machine, each, memo, deep=True) for each in content.items]
        for content in made.contents:
            if isinstance(content, (Dict, Sequence)):
                content.is_whole = False
        return made  # type: ignore[return-value]
    if isinstance(value, Sequence) and deep:
        items = [_copied(machine, each, memo, deep=True) for each in value.items]
        return Sequence(
            value.kind, items, value.node, is_whole=value.is_whole, fields=value.fields, class_name=value.class_name
        )
    if isinstance(value, (Callable, Unknown, Collection)) and deep:
        return Unknown("a copy of this is not followed", value.node)
    return value  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------- numbers


def _len(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:  # noqa: ARG001
    if len(given) != 1:
        return None
    value = given[0]
    if isinstance(value, Box) and value.lost is None and len(value.contents) > 1:
        return None
    if isinstance(value, Constant) and isinstance(value.value, (str, bytes)):
        return Constant(len(value.value), node)
    if isinstance(value, Tensor) and value.sizes and value.sizes[0] is not None:
        return Constant(value.sizes[0], node)
    items = machine.items(value)
    return None if items is None else Constant(len(items), node)


def _of_constants(
    work: Function[..., object],
) -> Function[[Machine, cst.Call, list[Value], dict[str, Value]], Value | None]:
    def run(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
        plain: list[object] = []
        for each in given:
            if isinstance(each, Constant):
                plain.append(each.value)
                continue
            items = machine.items(each)
            if items is None or not all(isinstance(item, Constant) for item in items):
                return None
            plain.append([item.value for item in items if isinstance(item, Constant)])
        if named:
            return None
        try:
            result = work(*plain)
        except Exception:  # what the program raises here
            return Unknown("this raises", node)
        if isinstance(result, tuple):
            several = cast("tuple[object, ...]", result)
            return Sequence("tuple", [Constant(each, node) for each in several], node, is_whole=False)
        return Constant(result, node) if isinstance(result, (int, str, float, bool)) else None

    return run


def _str(value: object = "") -> object:
    return str(value) if isinstance(value, (int, str, float, type(None))) else None


def _pow(one: Any, two: Any) -> object:
    return one**two if abs(one) <= 1_000_000 and abs(two) <= 12 else None


def _cast(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:  # noqa: ARG001
    return given[1] if len(given) == 2 and not named else None


def _setattr(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:  # noqa: ARG001
    from .classes import set_attribute

    if len(given) == 3 and isinstance(given[1], Constant) and isinstance(given[1].value, str):
        set_attribute(machine, given[0], given[1].value, given[2], node)
        return Constant(None, node)
    machine.unknown_call(given, node)
    return None


def _getattr(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:  # noqa: ARG001
    from .attributes import attribute_of

    if len(given) == 2 and isinstance(given[1], Constant) and isinstance(given[1].value, str):
        return attribute_of(machine, node, given[0], given[1].value)
    return None


def _namedtuple(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    from .machine import ClassInfo

    if len(given) != 2 or not isinstance(given[0], Constant) or named.keys() - {"defaults"}:
        return None
    names: list[object]
    if isinstance(given[1], Constant) and isinstance(given[1].value, str):
        names = list(given[1].value.replace(",", " ").split())
    else:
        items = machine.items(given[1]) or []
        names = [each.value for each in items if isinstance(each, Constant)]
        if len(names) != len(items) or not items:
            return None
    fields: dict[str, Value | None] = {str(each): None for each in names}
    if "defaults" in named:
        defaults = machine.items(named["defaults"])
        if defaults is None:
            return None
        fields.update(zip(list(fields)[len(fields) - len(defaults) :], defaults, strict=False))
    title = str(given[0].value)
    made = Callable("class", None, title, node, around=machine.scope)
    machine.classes[made] = ClassInfo(Scope("class", title, node, machine.scope), [], fields, is_tuple=True)
    return made


_FUNCTIONS: Final[dict[str, Function[[Machine, cst.Call, list[Value], dict[str, Value]], Value | None]]] = {
    "builtins.dict": _dict,
    "collections.OrderedDict": _dict,
    "builtins.list": _list,
    "builtins.tuple": _tuple,
    "torch.Size": _tuple,
    "builtins.zip": _iterator(_zip),
    "itertools.chain": _iterator(_chain),
    "itertools.product": _iterator(_product),
    "builtins.reversed": _iterator(_reversed),
    "builtins.enumerate": _enumerate,
    "builtins.range": _range,
    "builtins.sorted": _sorted,
    "builtins.map": _map,
    "builtins.dict.fromkeys": _fromkeys,
    "copy.copy": _copy,
    "copy.deepcopy": _deepcopy,
    "builtins.len": _len,
    "builtins.int": _of_constants(int),
    "builtins.float": _of_constants(float),
    "builtins.bool": _of_constants(bool),
    "builtins.str": _of_constants(_str),
    "builtins.abs": _of_constants(abs),
    "builtins.min": _of_constants(min),
    "builtins.max": _of_constants(max),
    "builtins.sum": _of_constants(sum),
    "builtins.round": _of_constants(round),
    "builtins.divmod": _of_constants(divmod),
    "builtins.pow": _of_constants(_pow),
    "builtins.chr": _of_constants(chr),
    "builtins.ord": _of_constants(ord),
    "math.prod": _of_constants(math.prod),
    "math.ceil": _of_constants(math.ceil),
    "math.floor": _of_constants(math.floor),
    "math.sqrt": _of_constants(math.sqrt),
    "math.gcd": _of_constants(math.gcd),
    "typing.cast": _cast,
    "builtins.setattr": _setattr,
    "builtins.getattr": _getattr,
    "collections.namedtuple": _namedtuple,
}

__all__ = ["known_call"]
