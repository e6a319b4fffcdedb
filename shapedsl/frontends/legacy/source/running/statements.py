"""Statements: what each does to the state, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..values import Callable, Constant, DimValue, Fork, Imported, Sequence, Tensor, Unknown
from .attributes import imported, item_of, set_item
from .branches import run_if, run_match, run_try, run_with
from .classes import define_class, set_attribute
from .heap import UNBOUND, Box
from .library import STARS, canonical
from .loops import run_for, run_while
from .names import dotted

if TYPE_CHECKING:
    from collections.abc import Callable as Function

    import libcst as cst

    from ..values import Value
    from .machine import Machine


def execute(machine: Machine, suite: cst.CSTNode) -> None:
    """Runs a block, or a line of small statements, up to what leaves it."""
    statements: list[cst.CSTNode] = cast("Any", suite).body
    for statement in statements:
        if not machine.live:
            return
        kind = type(statement).__name__
        if kind in ("SimpleStatementLine", "SimpleStatementSuite"):
            execute(machine, statement)
            continue
        machine.steps += 1
        run = _KINDS.get(kind)
        if run is None:
            continue
        path = machine.here.path
        path.append(statement)
        try:
            run(machine, statement)
        finally:
            path.pop()


# ---------------------------------------------------------------------------------- assignments


def assign(machine: Machine, target: cst.BaseExpression, value: Value, step: cst.CSTNode) -> None:
    """Assigns a value to a target."""
    import libcst as cst

    from .expressions import evaluate, index_of

    if isinstance(target, cst.Name):
        machine.bind(target.value, value)
    elif isinstance(target, (cst.Tuple, cst.List)):
        _unpack(machine, target, value, step)
    elif isinstance(target, cst.StarredElement):
        assign(machine, target.value, value, step)
    elif isinstance(target, cst.Attribute):
        set_attribute(machine, evaluate(machine, target.value), target.attr.value, value, step)
    elif isinstance(target, cst.Subscript):
        holder = evaluate(machine, target.value)
        set_item(machine, holder, index_of(machine, target), value, step)
    else:
        machine.escape([value], step)


def _unpack(machine: Machine, target: cst.Tuple | cst.List, value: Value, step: cst.CSTNode) -> None:
    import libcst as cst

    elements = list(target.elements)
    options = value.options if isinstance(value, Fork) else [value]
    found: list[list[Value]] = []
    for option in options:
        items = machine.items(option)
        if items is None:
            if isinstance(option, Constant):  # raises
                continue
            machine.escape([option], step)
            reason = option if isinstance(option, Unknown) else Unknown("what is unpacked here is not known", step)
            assign_unknown(machine, target, reason)
            return
        at = next((i for i, each in enumerate(elements) if isinstance(each, cst.StarredElement)), None)
        if at is None:
            if len(items) == len(elements):
                found.append(items)
            continue
        after = len(elements) - at - 1
        if len(items) >= len(elements) - 1:
            middle: Value = machine.box(Sequence("list", items[at : len(items) - after], step, is_whole=False))
            found.append([*items[:at], middle, *items[len(items) - after :]])
    if not found:
        machine.live = False
        return
    for position, element in enumerate(elements):
        assign(machine, element.value, machine.joined([each[position] for each in found], step), step)


def assign_unknown(machine: Machine, target: cst.BaseExpression, value: Unknown) -> None:
    """Assigns something unknown to each part of a target."""
    import libcst as cst

    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            assign_unknown(machine, element.value, value)
    elif isinstance(target, cst.StarredElement):
        assign_unknown(machine, target.value, value)
    else:
        assign(machine, target, value, target)


def _assign(machine: Machine, node: cst.Assign) -> None:
    from .expressions import evaluate

    value = evaluate(machine, node.value)
    if len(node.targets) > 1:
        value = machine.settled(value)
    for target in node.targets:
        assign(machine, target.target, value, node)


def _annotated(machine: Machine, node: cst.AnnAssign) -> None:
    from .expressions import evaluate

    if node.value is not None:
        assign(machine, node.target, evaluate(machine, node.value), node)


def _augmented(machine: Machine, node: cst.AugAssign) -> None:
    import libcst as cst

    from .arithmetic import binary
    from .attributes import attribute_of
    from .expressions import evaluate, index_of
    from .methods import extend

    kind = type(node.operator).__name__.removesuffix("Assign")
    target = node.target
    holder = index = None
    if isinstance(target, cst.Subscript):
        holder, index = evaluate(machine, target.value), index_of(machine, target)
        before = item_of(machine, target, holder, index)
    elif isinstance(target, cst.Attribute):
        holder = evaluate(machine, target.value)
        before = attribute_of(machine, target, holder, target.attr.value)
    else:
        before = evaluate(machine, target)
    value = evaluate(machine, node.value)
    options = before.options if isinstance(before, Fork) else [before]
    if any(isinstance(each, Box) for each in options):
        # `|=` and `+=` change the object itself
        if len(options) == 1:
            extend(machine, before, kind, value, node)
        else:
            machine.escape([before, value], node, reason="it is changed where it may be one of several")
        after: Value = before
    else:
        after = binary(machine, node, kind, before, value)
        if any(not isinstance(each, (Constant, DimValue, Tensor, Sequence)) for each in options):
            machine.escape([value], node)  # `+=` and `|=` may change the object itself
            machine.unknown_store(node)
    if isinstance(target, cst.Subscript):
        assert holder is not None
        assert index is not None
        if not isinstance(after, Box):
            set_item(machine, holder, index, after, node)
    elif isinstance(target, cst.Attribute):
        assert holder is not None
        if not isinstance(after, Box):
            set_attribute(machine, holder, target.attr.value, after, node)
    else:
        assign(machine, target, after, node)


def _delete(machine: Machine, node: cst.Del) -> None:
    import libcst as cst

    from .expressions import evaluate, index_of

    targets: list[cst.BaseExpression] = [node.target]
    while targets:
        target = targets.pop(0)
        if isinstance(target, (cst.Tuple, cst.List)):
            targets.extend(element.value for element in target.elements)
        elif isinstance(target, cst.Name):
            machine.bind(target.value, UNBOUND)
        elif isinstance(target, cst.Subscript):
            set_item(machine, evaluate(machine, target.value), index_of(machine, target), None, node)
        elif isinstance(target, cst.Attribute):
            holder = evaluate(machine, target.value)
            set_attribute(machine, holder, target.attr.value, Unknown("it is deleted", node), node)


# -------------------------------------------------------------------------------------- imports


def _import(machine: Machine, node: cst.Import) -> None:
    import libcst as cst

    if isinstance(node.names, cst.ImportStar):
        return
    for alias in node.names:
        name = dotted(alias.name)
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            machine.bind(alias.asname.name.value, imported(machine, name, alias))
        else:
            head = name.partition(".")[0]
            machine.bind(head, Imported(head, alias))


def _import_from(machine: Machine, node: cst.ImportFrom) -> None:
    import libcst as cst

    module = "." * len(node.relative) + (dotted(node.module) if node.module is not None else "")
    if isinstance(node.names, cst.ImportStar):
        _import_star(machine, module, node)
        return
    for alias in node.names:
        name = f"{module}{'' if module.endswith('.') else '.'}{dotted(alias.name)}"
        taken = alias.asname.name if alias.asname is not None else alias.name
        if isinstance(taken, cst.Name):
            machine.bind(taken.value, imported(machine, name, alias))


def _import_star(machine: Machine, module: str, node: cst.ImportFrom) -> None:
    known = STARS.get(module)
    if known is not None:
        machine.scope.bound.update(known)
        for name in known:
            machine.bind(name, Imported(f"{module}.{name}", node))
        return
    reason = Unknown(f"`from {module} import *` may bind it", node)
    machine.star = reason
    for name in list(machine.module.names):
        machine.state.bind(machine.module, name, reason)


# ------------------------------------------------------------------------------------ functions


def _define(machine: Machine, node: cst.FunctionDef) -> None:
    name = node.name.value
    scope = machine.scope
    prefix = f"{scope.name}." if scope.kind == "class" else ""
    made = machine.function(node, prefix + name)
    machine.bind(name, decorated(machine, node, made))


def _define_class(machine: Machine, node: cst.ClassDef) -> None:
    made = define_class(machine, node)
    machine.bind(node.name.value, decorated(machine, node, made))


def decorated(machine: Machine, node: cst.FunctionDef | cst.ClassDef, made: Callable) -> Value:
    """Returns what a definition's name is bound to."""
    from .expressions import evaluate

    if not node.decorators:
        return made
    found = [evaluate(machine, each.decorator) for each in node.decorators]
    if not machine.muted:
        machine.observer.decorated(node, [machine.show(each) for each in found], made)
    result: Value = made
    for decorator in node.decorators:
        name = dotted(decorator.decorator)
        at = decorator.decorator
        called = getattr(at, "func", None)
        value = found[node.decorators.index(decorator)]
        name = canonical(value.name) if isinstance(value, Imported) else _called(machine, called)
        if name in ("builtins.property", "functools.cached_property"):
            result = Unknown("a property is not followed", node)
        elif name == "dataclasses.dataclass" and made in machine.classes:
            machine.classes[made].is_dataclass = True
        elif not name.startswith(_KEPT):
            if made in machine.classes:
                machine.classes[made].is_changed = True
            machine.unknown_call([made], node)
            result = Unknown(f"`{made.name}` is decorated", node)
    return result


def _called(machine: Machine, called: cst.BaseExpression | None) -> str:
    """Returns the qualified name of what a decorator calls."""
    if called is None:
        return "?"
    head = dotted(called)
    if not head:
        return "?"
    first, _, rest = head.partition(".")
    value = machine.lookup(first, called)
    if not isinstance(value, Imported):
        return "?"
    return canonical(f"{value.name}.{rest}" if rest else value.name)


# Decorators that leave a function or a class what it is to its callers.
_KEPT = (
    "builtins.staticmethod", "builtins.classmethod", "torch.no_grad", "torch.inference_mode", "torch.enable_grad",
    "torch.compile", "torch.jit.ignore", "torch.jit.export", "torch._dynamo.disable", "torch.compiler.disable",
    "torch._dynamo.config.patch", "pytest.mark.", "unittest.skip", "unittest.expectedFailure", "typing.override",
    "typing.final", "typing_extensions.override", "typing.no_type_check", "abc.abstractmethod", "functools.wraps",
    "functools.total_ordering", "torch.export.register_dataclass", "torch.fx.wrap",
)  # fmt: skip


# ---------------------------------------------------------------------------------- leaving, rest


def _expression(machine: Machine, node: cst.Expr) -> None:
    from .expressions import evaluate

    evaluate(machine, node.value)


def _return(machine: Machine, node: cst.Return) -> None:
    from .expressions import evaluate

    value: Value = Constant(None, node) if node.value is None else evaluate(machine, node.value)
    if machine.live:
        machine.leave(value)


def _raise(machine: Machine, node: cst.Raise) -> None:
    from .expressions import evaluate

    if node.exc is not None:
        evaluate(machine, node.exc)
    machine.live = False


def _break(machine: Machine, node: cst.Break) -> None:  # noqa: ARG001
    if machine.here.loops:
        loop = machine.here.loops[-1]
        loop.breaks.append(machine.state.capture(loop.level))
    machine.live = False


def _continue(machine: Machine, node: cst.Continue) -> None:  # noqa: ARG001
    if machine.here.loops:
        loop = machine.here.loops[-1]
        loop.continues.append(machine.state.capture(loop.turn))
    machine.live = False


def _type_alias(machine: Machine, node: cst.TypeAlias) -> None:
    machine.bind(node.name.value, Unknown("it is a type", node))


def _assert(machine: Machine, node: cst.Assert) -> None:
    from .arithmetic import truth
    from .expressions import evaluate

    if truth(machine, evaluate(machine, node.test)) is False and dotted(node.test) == "False":
        machine.live = False


_KINDS: dict[str, Function[..., None]] = {
    "Assign": _assign,
    "AnnAssign": _annotated,
    "AugAssign": _augmented,
    "Del": _delete,
    "Import": _import,
    "ImportFrom": _import_from,
    "FunctionDef": _define,
    "ClassDef": _define_class,
    "Expr": _expression,
    "Return": _return,
    "Raise": _raise,
    "Break": _break,
    "Continue": _continue,
    "Assert": _assert,
    "If": run_if,
    "For": run_for,
    "While": run_while,
    "Try": run_try,
    "TryStar": run_try,
    "With": run_with,
    "Match": run_match,
    "TypeAlias": _type_alias,
}

__all__ = ["assign", "assign_unknown", "decorated", "execute"]
