"""Functions of Python and of torch that are followed.

A reader looks here for whether a function is known: a row each at the end, and above it what the rows do, where that
is not `containers`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, cast

from ...model import Hint
from ..values import Callable, Collection, Constant, HintValue, Partial, Sequence, Unknown
from .containers import (
    backwards,
    chained,
    copy_of,
    deep_copy_of,
    dict_of,
    enumerated,
    from_keys,
    iterator_of,
    length,
    list_of,
    mapped,
    product_of,
    range_of,
    sorted_list,
    tuple_of,
    zipped,
)
from .dims import call_dim, call_dims, call_hint
from .heap import Scope
from .memory import ClassInfo
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


# ------------------------------------------------------------------------------------- numbers


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
    "builtins.dict": dict_of,
    "collections.OrderedDict": dict_of,
    "builtins.list": list_of,
    "builtins.tuple": tuple_of,
    "torch.Size": tuple_of,
    "builtins.zip": iterator_of(zipped),
    "itertools.chain": iterator_of(chained),
    "itertools.product": iterator_of(product_of),
    "builtins.reversed": iterator_of(backwards),
    "builtins.enumerate": enumerated,
    "builtins.range": range_of,
    "builtins.sorted": sorted_list,
    "builtins.map": mapped,
    "builtins.dict.fromkeys": from_keys,
    "copy.copy": copy_of,
    "copy.deepcopy": deep_copy_of,
    "builtins.len": length,
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
