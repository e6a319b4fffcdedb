"""Calls: what is called, with what, and what comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..observe import Argument
from ..values import Callable, Constant, Dict, Fork, HintValue, Imported, Made, Member, Partial, Sequence, Unknown
from .classes import forget_call, make_object
from .heap import UNBOUND, because
from .known import known_call
from .library import canonical, is_harmless
from .memory import identity
from .methods import call_method

if TYPE_CHECKING:
    import libcst as cst

    from ..values import Value
    from .heap import Delta
    from .machine import Machine


def call(machine: Machine, node: cst.Call) -> Value:
    """Returns what a call returns, after telling the observer."""
    from .expressions import evaluate

    callee = evaluate(machine, node.func)
    args: list[Argument] = []
    for arg in node.args:
        star = arg.star if arg.star in ("*", "**") else ""
        name = arg.keyword.value if arg.keyword is not None else None
        args.append(Argument(name, star, evaluate(machine, arg.value), arg))
    return apply(machine, node, callee, args)


def apply(machine: Machine, node: cst.Call, callee: Value, args: list[Argument]) -> Value:
    """Returns what a value returns when it is called."""
    while isinstance(callee, Partial):
        args = [*callee.args, *(each for each in args)]
        callee = callee.inner
    if isinstance(callee, Fork):
        callee = _callable_options(machine, callee, node)
    told: Value | None = None
    _patch(machine, node, args)
    if not machine.muted:
        shown = [replace(each, value=machine.show(each.value)) for each in args]
        told = machine.observer.call(node, machine.show(callee), shown, machine.frame(node))
    if told is not None:
        machine.tell_callables(args, node)
        return machine.taken(told)
    if isinstance(callee, Fork):
        return _fork(machine, node, callee, args)
    return _one(machine, node, callee, args)


def _callable_options(machine: Machine, callee: Fork, node: cst.Call) -> Value:
    """Returns what one of several values is where it is called: what cannot be called raises, so it is none of them.

    Before, where a release without it is expected::

        try:
            from torch.export import export
        except ImportError:
            export = None

    After a call of ``export`` it was torch's.
    """
    options = [each for each in callee.options if not isinstance(each, (Constant, Sequence)) and each is not UNBOUND]
    return machine.joined(options, node) if options else Fork([], callee.node)


def _patch(machine: Machine, node: cst.Call, args: list[Argument]) -> None:
    """Notes what ``mock.patch("torch.export.Dim")`` and ``monkeypatch.setattr(torch.export, "Dim", …)`` replace."""
    import libcst as cst

    func = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    if not isinstance(func, cst.Name) or func.value not in _PATCHES:
        return
    first, second = ([each.value for each in args] + [None, None])[:2]
    if isinstance(first, Constant) and isinstance(first.value, str):
        machine.patched.add(canonical(first.value))
    elif isinstance(second, Constant) and isinstance(second.value, str):
        if isinstance(first, Imported):
            machine.patched.add(canonical(f"{first.name}.{second.value}"))
        elif first is not None:
            forget_call(machine, first, second.value)


_PATCHES: Final = frozenset(("patch", "object", "setattr"))


def _fork(machine: Machine, node: cst.Call, callee: Fork, args: list[Argument]) -> Value:
    """Calls each of several, in a branch of its own."""
    results: list[Value] = []
    deltas: list[Delta] = []
    for option in callee.options:
        machine.state.push()
        live = machine.live
        result = _one(machine, node, option, args)
        delta = machine.state.pop()
        if machine.live:
            results.append(result)
            deltas.append(delta)
        machine.live = live
    if not results:
        machine.live = False
        return Unknown("this call does not return", node)
    machine.state.join(deltas, node)
    return machine.joined(results, node)


def _one(machine: Machine, node: cst.Call, callee: Value, args: list[Argument]) -> Value:
    if isinstance(callee, Callable):
        if callee.kind == "class":
            return make_object(machine, node, callee, args)
        if callee.kind == "function" and callee.around is None:
            return call_method(machine, node, callee, args)
        function = callee if callee.kind == "function" else machine.method_of(callee)
        if function is not None:
            return call_function(machine, node, function, args)
    elif isinstance(callee, HintValue):
        result = known_call(machine, node, callee, "", args)
        return result or Unknown("the arguments of this call are not known", node)
    elif isinstance(callee, Imported):
        name = canonical(callee.name)
        result = known_call(machine, node, callee, name, args)
        if result is not None:
            return result
        if is_harmless(name):
            if name.startswith("torch"):
                machine.tell_callables(args, node)
            elif not name.startswith(_DEAF):
                machine.state.blur([each.value for each in args])
            if name.startswith("torch"):
                pass
            elif any(
                isinstance(each.value, (Callable, Fork, Imported, Made, Member, Partial, Unknown)) for each in args
            ) and _calls_back(name):
                machine.unknown_call([each.value for each in args], node)
            if name.startswith("builtins."):
                first = next((each.value for each in args if isinstance(each.value, Unknown)), None)
                return because(first, node, f"the result of `{name.partition('.')[2]}` is not known")
            return _made(machine, node, callee.name, args)
        made = _made(machine, node, callee.name, args)
        machine.unknown_call([each.value for each in args], node)
        return made
    elif isinstance(callee, (Made, Member)):
        return _call_made(machine, node, callee, args)
    machine.unknown_call([callee, *(each.value for each in args)], node)
    if isinstance(callee, Unknown):
        return callee
    return Unknown("the result of this call is not known", node)


def _made(machine: Machine, node: cst.Call, name: str, args: list[Argument]) -> Value:
    """Returns what a call of another module's function makes: all that is known is what it was given."""
    given: list[tuple[str | None, Value]] = []
    for each in args:
        if not each.star:
            given.append((each.name, machine.show(each.value)))
            continue
        spread = spread_args(machine, [each])
        if spread is None:
            return Made(name, None, node)
        given.extend((None, machine.show(value)) for value in spread[0])
        given.extend((key, machine.show(value)) for key, value in spread[1].items())
    return Made(name, given, node)


def _call_made(machine: Machine, node: cst.Call, callee: Made | Member, args: list[Argument]) -> Value:
    """Calls an object of another module, or a method of one."""
    name = ""
    root: Value = callee
    while isinstance(root, Member):
        name = f"{'' if root.name == '[]' else '.'}{root.name}{name}"
        root = root.owner
    if not isinstance(root, Made):  # a `ShapesCollection`
        machine.unknown_call([root, *(each.value for each in args)], node)
        return Unknown("the result of this call is not known", node)
    if isinstance(callee, Member) and isinstance(callee.owner, Made):
        is_model = root.name.rpartition(".")[2][:1].isupper() or root.name.endswith(".from_pretrained")
        if callee.name in _THEMSELVES or (callee.name in _MOVES and is_model):
            return callee.owner
    made = _made(machine, node, f"{root.name}(){name}", args)
    if is_harmless(canonical(root.name)):
        machine.tell_callables(args, node)
    else:
        machine.unknown_call([each.value for each in args], node)
    return made


# Methods of modules that return the module: those that tensors do not have, and those that they have.
_THEMSELVES: Final = frozenset(("eval", "train", "requires_grad_"))
_MOVES: Final = frozenset(["cuda", "cpu", "to", "half", "float", "double", "bfloat16", "to_empty", "apply"])


def known_or_none(machine: Machine, node: cst.Call, callee: Value, args: list[Argument]) -> Value | None:
    """Returns what a known function returns; None for another."""
    if isinstance(callee, Imported):
        return known_call(machine, node, callee, canonical(callee.name), args)
    return None


# Harmless functions whose results hold nothing that they were given.
_DEAF: Final = (
    "builtins.print", "builtins.len", "builtins.isinstance", "builtins.repr", "builtins.str", "builtins.type",
    "builtins.id", "builtins.hasattr", "builtins.callable", "builtins.format", "logging.", "json.", "warnings.",
    "pprint.", "math.", "unittest.", "pytest.", "torch.export.",
)  # fmt: skip


def _calls_back(name: str) -> bool:
    return name in (
        "builtins.map", "builtins.filter", "builtins.sorted", "builtins.min", "builtins.max", "builtins.iter",
        "functools.reduce", "functools.wraps",
    ) or name.startswith(("itertools.", "unittest.", "torchvision.", "transformers."))  # fmt: skip


def call_function(machine: Machine, node: cst.Call, function: Callable, args: list[Argument]) -> Value:
    """Returns what a function of the file returns."""
    import libcst as cst

    definition = function.node
    names = machine.index.scopes.get(definition)
    lazy = names is not None and names.is_generator
    lazy = lazy or (isinstance(definition, cst.FunctionDef) and definition.asynchronous is not None)
    if lazy or not machine.can_enter(function):
        machine.refused.setdefault(identity(function), node)
        values = [function, *(each.value for each in args)]
        machine.unknown_call(values, node)
        machine.forget(machine.effects(function), f"`{function.name}` may change it", node)
        what = "is a generator" if lazy else "calls itself, or calls go too deep"
        if machine.is_tired and not lazy:
            what = "is not followed: the file takes too many steps"
        return Unknown(f"`{function.name}` {what}", node)
    bound = bind_params(machine, function, args, node)
    if bound is None:  # a TypeError
        machine.live = False
        return Unknown(f"`{function.name}` does not take these arguments", node)
    return machine.enter(function, bound, node)


def bind_params(
    machine: Machine, function: Callable, args: list[Argument], node: cst.CSTNode
) -> dict[str, Value] | None:
    """Returns the parameters of a call by name; None if the call does not fit them."""
    import libcst as cst

    definition = function.node
    if not isinstance(definition, (cst.FunctionDef, cst.Lambda)):
        return None
    spread = spread_args(machine, args)
    if spread is None:
        machine.unknown_call([each.value for each in args], node)
        return unknown_params(function)
    given, named = spread
    if function.inner is not None:
        given = [function.inner, *given]
    params = definition.params
    positional = [each.name.value for each in (*params.posonly_params, *params.params)]
    only = {each.name.value for each in params.posonly_params}
    bound: dict[str, Value] = dict(zip(positional, given, strict=False))
    if isinstance(params.star_arg, cst.Param):
        bound[params.star_arg.name.value] = Sequence("tuple", given[len(positional) :], node, is_whole=False)
    elif len(given) > len(positional):
        return None
    rest: dict[object, tuple[Value, Value]] = {}
    by_name = {*positional, *(each.name.value for each in params.kwonly_params)} - only
    for name, value in named.items():
        if name in by_name:
            if name in bound:
                return None
            bound[name] = value
        elif params.star_kwarg is not None:
            rest[name] = (Constant(name, node), value)
        else:
            return None
    if params.star_kwarg is not None:
        bound[params.star_kwarg.name.value] = machine.box(Dict(rest, node, is_whole=False))
    defaults = machine.defaults_of(function)
    for name in (*positional, *(each.name.value for each in params.kwonly_params)):
        if name not in bound:
            if name not in defaults:
                return None
            bound[name] = defaults[name]
    return bound


def spread_args(machine: Machine, args: list[Argument]) -> tuple[list[Value], dict[str, Value]] | None:
    """Returns positional and named arguments, with ``*`` and ``**`` unpacked; None where those are not known."""
    given: list[Value] = []
    named: dict[str, Value] = {}
    for each in args:
        if each.star == "*":
            items = machine.items(each.value)
            if items is None:
                return None
            given.extend(items)
        elif each.star == "**":
            content = machine.content(each.value)
            if not isinstance(content, Dict) or not all(isinstance(key, str) for key in content.entries):
                return None
            named.update({str(key): value for key, (_, value) in content.entries.items()})
        elif each.name is None:
            given.append(each.value)
        else:
            named[each.name] = each.value
    return given, named


def unknown_params(function: Callable) -> dict[str, Value]:
    """Returns the parameters of a function for callers that the file does not show."""
    import libcst as cst

    definition = function.node
    if not isinstance(definition, (cst.FunctionDef, cst.Lambda)):
        return {}
    params = definition.params
    every = [*params.posonly_params, *params.params, *params.kwonly_params]
    every.extend(each for each in (params.star_arg, params.star_kwarg) if isinstance(each, cst.Param))
    bound: dict[str, Value] = {each.name.value: Unknown(f"`{each.name.value}` is a parameter", each) for each in every}
    positional = [*params.posonly_params, *params.params]
    if function.inner is not None and positional:
        bound[positional[0].name.value] = function.inner
    return bound


__all__ = ["apply", "bind_params", "call", "call_function", "known_or_none", "spread_args", "unknown_params"]
