"""Classes of the file: their bodies, what calling them makes, and what their objects' attributes are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..values import Callable, Constant, Dict, Fork, Imported, Made, Sequence, Unknown
from .heap import UNBOUND, Box, Scope
from .library import canonical
from .memory import ClassInfo
from .names import dotted
from .signatures import PLAIN_BASES, signature_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import libcst as cst

    from ..observe import Argument
    from ..values import Signature, Value
    from .machine import Machine


def define_class(machine: Machine, node: cst.ClassDef) -> Callable:
    """Runs a class's body, and returns the class."""
    from .expressions import evaluate
    from .statements import execute

    bases = [evaluate(machine, base.value) for base in node.bases]
    for keyword in node.keywords:
        evaluate(machine, keyword.value)
    outer = machine.scope
    name = f"{outer.name}.{node.name.value}" if outer.kind == "class" else node.name.value
    scope = machine.open("class", name, node, outer)
    made = Callable("class", None, name, node, around=outer)
    info = machine.classes[made] = ClassInfo(scope, bases)
    machine.owners[scope] = made
    with machine.inside(scope):
        execute(machine, node.body)
    info.is_changed = bool(node.keywords)
    if any(
        isinstance(base, Imported) and base.name in ("typing.NamedTuple", "collections.NamedTuple") for base in bases
    ):
        info.is_tuple = True
        info.fields = _fields(node, scope)
    made.signature = forward_of(machine, made)
    return made


def _fields(node: cst.ClassDef, scope: Scope) -> dict[str, Value | None]:
    import libcst as cst

    fields: dict[str, Value | None] = {}
    for line in node.body.body:
        for part in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(part, cst.AnnAssign) and isinstance(part.target, cst.Name):
                fields[part.target.value] = scope.names.get(part.target.value) if part.value is not None else None
    return fields


def lineage(machine: Machine, made: Callable) -> Iterator[tuple[Callable | None, ClassInfo | None]]:
    """Yields a class and the classes it inherits from, as they are searched; None for one that is not in the file."""
    seen: set[Callable] = set()
    todo: list[Value] = [made]
    while todo:
        at = todo.pop(0)
        if isinstance(at, Callable) and at in machine.classes:
            if at not in seen:
                seen.add(at)
                info = machine.classes[at]
                yield at, info
                todo[:0] = info.bases
        elif not (isinstance(at, Imported) and canonical(at.name) in PLAIN_BASES):
            yield None, None


def member(machine: Machine, made: Callable, name: str) -> tuple[Value | None, Callable | None]:
    """Returns what a class or a base has by a name, and which; None if none has; `Unknown` if that is not told."""
    for at, info in lineage(machine, made):
        if info is None:
            return Unknown(f"`{made.name}.{name}` may be inherited", made.node), None
        value = info.scope.names.get(name)
        if value is not None and value is not UNBOUND:
            return value, at
        if info.is_changed:
            return Unknown(f"`{made.name}.{name}` may be made elsewhere", made.node), None
    return None, None


def forward_of(machine: Machine, made: Callable) -> Signature | None:
    """Returns the parameters of ``forward``, or of ``__call__``, of a class's objects."""
    import libcst as cst

    if isinstance(member(machine, made, "__new__")[0], Callable):
        return None  # its objects may be others'
    for name in ("forward", "__call__"):
        value, at = member(machine, made, name)
        if isinstance(value, Callable) and at is not None and isinstance(value.node, (cst.FunctionDef, cst.Lambda)):
            return signature_of(value.node, f"{made.name}.{name}", is_method=True)
        if value is not None:
            return None
    return None


def make_object(machine: Machine, node: cst.Call, made: Callable, args: list[Argument]) -> Value:
    """Returns what calling a class makes."""
    from .calls import call_function, spread_args

    info = machine.classes.get(made)
    if info is None:
        machine.unknown_call([each.value for each in args], node)
        return Unknown(f"`{made.name}` is not known", node)
    if info.is_tuple and info.fields is not None:
        spread = spread_args(machine, args)
        if spread is None:
            return Unknown(f"the arguments of `{made.name}` are not known", node)
        values: dict[str, Value | None] = {
            **info.fields,
            **dict(zip(info.fields, spread[0], strict=False)),
            **spread[1],
        }
        items = [value for value in values.values() if value is not None]
        if len(items) != len(info.fields):
            return Unknown(f"`{made.name}` does not take these arguments", node)
        items = [machine.settled(item) for item in items]
        return Sequence("namedtuple", items, node, fields=tuple(info.fields), class_name=made.name)
    attributes = Box([Dict({}, node)], node, is_object=True, born=machine.born)
    fields = dataclass_fields(machine, made)
    result = Callable("object", made.signature, made.name, made.node, inner=made, attributes=attributes)  # type: ignore[arg-type]
    if fields is not None and member(machine, made, "__init__")[0] is None:
        _fill(machine, node, attributes, fields, args)
        return result
    for name in ("__new__", "__init__"):
        value, at = member(machine, made, name)
        if isinstance(value, Callable) and at is not None and name == "__init__":
            call_function(machine, node, replace(value, inner=result), args)
        elif value is not None:
            machine.unknown_call([each.value for each in args], node)
            machine.state.lose(attributes, Unknown(f"`{made.name}` is made elsewhere", node))
            return result
    return result


def dataclass_fields(machine: Machine, made: Callable) -> dict[str, Value | None] | None:
    """Returns the fields of a dataclass, inherited ones first, with their defaults; None for another class."""
    import libcst as cst

    found: dict[str, Value | None] = {}
    is_one = False
    for _, info in reversed(list(lineage(machine, made))):
        if info is None:
            return None
        node = info.scope.node
        if info.is_dataclass and isinstance(node, cst.ClassDef):
            is_one = True
            found.update(_fields(node, info.scope))
    return found if is_one else None


def _fill(
    machine: Machine, node: cst.Call, attributes: Box, fields: dict[str, Value | None], args: list[Argument]
) -> None:
    """Sets the attributes of a dataclass's new object."""
    from .calls import spread_args

    spread = spread_args(machine, args)
    if spread is None:
        machine.escape([each.value for each in args], node)
        machine.state.lose(attributes, Unknown("the arguments of this call are not known", node))
        return
    values: dict[str, Value | None] = {**fields, **dict(zip(fields, spread[0], strict=False)), **spread[1]}
    if len(spread[0]) > len(fields) or values.keys() != fields.keys() or None in values.values():
        machine.live = False  # a TypeError
        return
    for name, value in values.items():
        if value is not None:
            is_made = isinstance(value, Made) and value.name == "dataclasses.field"
            put(machine, attributes, name, _default(value) if is_made else value, node, weak=False)


def _default(field: Value) -> Value:
    """Returns what ``field(default=…)`` gives."""
    assert isinstance(field, Made)
    given = [value for name, value in field.args or [] if name == "default"]
    return given[0] if given else Unknown("this default is made for each object", field.node)


def attribute(machine: Machine, value: Callable, name: str, node: cst.CSTNode) -> Value:
    """Returns an attribute of a class or an object of the file."""
    if value.kind == "function":
        return Unknown(f"the attribute `{name}` of a function is not followed", node)
    made = value if value.kind == "class" else value.inner
    if not isinstance(made, Callable):
        return Unknown(f"the attribute `{name}` is not known", node)
    held, _ = member(machine, made, name)
    box = value.attributes
    if held is None or (isinstance(held, Unknown) and not _is_property(held)):
        is_set = (
            isinstance(box, Box)
            and box.lost is None
            and any(isinstance(content, Dict) and name in content.entries for content in box.contents)
        )
        inherited = _inherited(machine, value, made, name, node) if value.kind == "object" and not is_set else None
        if inherited is not None and name not in machine.index.stored:
            return inherited
    if value.kind == "object" and isinstance(box, Box) and not _is_property(held):
        if box.lost is not None:
            if not isinstance(held, Callable) or name in machine.index.stored:
                machine.state.blur([value])
                return Unknown(f"`{name}` is an attribute that may be set elsewhere", node)
        else:
            found = [content.entries.get(name) for content in box.contents if isinstance(content, Dict)]
            options = [entry[1] for entry in found if entry is not None]
            if len(options) == len(found):
                return machine.joined(options, node)
            if options:
                rest = _bound(machine, held, value, made, name, node)
                return machine.joined([*options, *([] if isinstance(rest, Unknown) and held is None else [rest])], node)
    return _bound(machine, held, value, made, name, node)


def _inherited(machine: Machine, value: Callable, made: Callable, name: str, node: cst.CSTNode) -> Value | None:
    """Returns what an object has from a class that is not in the file, where that is known; else None."""
    for base in (base for _, info in lineage(machine, made) if info is not None for base in info.bases):
        if not isinstance(base, Imported):
            continue
        usual = canonical(base.name)
        if name in MODULE_METHODS and usual.startswith(_MODULES):
            return Callable("function", None, f"Module.{name}", node, inner=value)
        if name.startswith(("assert", "fail", "skip", "subTest")) and usual.endswith("TestCase"):
            return Imported(f"unittest.TestCase.{name}", node)
        if usual in PLAIN_BASES and usual.startswith("torch"):
            return Imported(f"torch.nn.Module.{name}", node)
    return None


_MODULES: Final = ("torch.", "pytorch_lightning.", "lightning.", "transformers.")
MODULE_METHODS: Final = frozenset(
    [
        "eval",
        "train",
        "cuda",
        "cpu",
        "to",
        "half",
        "float",
        "double",
        "bfloat16",
        "requires_grad_",
        "apply",
        "share_memory",
        "xpu",
        "to_empty",
        "type",
    ]
)


def _is_property(held: Value | None) -> bool:
    return isinstance(held, Unknown) and held.reason.startswith("a property")


def _bound(
    machine: Machine, held: Value | None, value: Callable, made: Callable, name: str, node: cst.CSTNode
) -> Value:
    """Returns what a class has by a name, as its object or the class itself shows it."""
    import libcst as cst

    if held is None:
        machine.state.blur([value])
        return Unknown(f"`{made.name}` has no `{name}` here", node)
    options = held.options if isinstance(held, Fork) else [held]
    shown: list[Value] = []
    for option in options:
        if (
            isinstance(option, Callable)
            and option.kind == "function"
            and option.around is not None
            and option.inner is None
        ):
            kinds = {dotted(each.decorator) for each in getattr(option.node, "decorators", ())}
            if "staticmethod" in kinds or isinstance(option.node, cst.Lambda):
                takes = isinstance(option.node, cst.Lambda) and value.kind == "object"
                shown.append(replace(option, inner=value) if takes else option)
            elif "classmethod" in kinds:
                shown.append(replace(option, inner=made))
            else:
                shown.append(replace(option, inner=value) if value.kind == "object" else option)
        else:
            shown.append(option)
    return machine.joined(shown, node)


def set_attribute(machine: Machine, target: Value, name: str, value: Value, node: cst.CSTNode) -> None:
    """Assigns to an attribute."""
    forget_call(machine, target, name)
    for each in target.options if isinstance(target, Fork) else [target]:
        if isinstance(each, Callable) and isinstance(each.attributes, Box):
            put(machine, each.attributes, name, value, node, weak=isinstance(target, Fork))
            if each.attributes.lost is not None:
                machine.escape([value], node)
        elif isinstance(each, Callable) and each in machine.classes:
            machine.state.bind(machine.classes[each].scope, name, value)
        elif isinstance(each, Imported):
            machine.patched.add(canonical(f"{each.name}.{name}"))
            machine.escape([value], node)
        else:
            machine.escape([value], node)
            if not isinstance(each, Constant):
                machine.unknown_store(node, of_object=True)


def forget_call(machine: Machine, target: Value, name: str) -> None:
    """Forgets the signature of what is called in another way from now on: ``net.forward = …``."""
    if name not in ("forward", "__call__"):
        return
    machine.state.time += 1
    for each in target.options if isinstance(target, Fork) else [target]:
        found = each.inner if isinstance(each, Callable) and each.kind == "object" else each
        for made in machine.classes:
            if any(at is found for at, _ in lineage(machine, made)):
                made.signature = None


def put(machine: Machine, box: Box, name: str, value: Value, node: cst.CSTNode, *, weak: bool) -> None:
    """Sets an attribute in a box of attributes."""
    from .heap import copied

    if box.lost is not None:
        return
    machine.state.touch(box)
    weak = weak or box.is_many
    before = [copied(content) for content in box.contents] if weak else []
    for content in box.contents:
        if isinstance(content, Dict):
            content.entries[name] = (Constant(name, node), machine.settled(value))
    box.contents.extend(before)


__all__ = [
    "MODULE_METHODS",
    "attribute",
    "define_class",
    "forget_call",
    "forward_of",
    "make_object",
    "member",
    "put",
    "set_attribute",
]
