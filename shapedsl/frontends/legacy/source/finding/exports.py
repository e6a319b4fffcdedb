"""``torch.export.export`` and its kin: a call with ``dynamic_shapes=``, or with what came before it.

Before::

    export(net, (torch.randn(4, 3),), dynamic_shapes={"x": {0: b}}, prefer_deferred_runtime_asserts_over_guards=True)

After::

    Use("torch.export.export", …, specs=[LegacySpec("Net.forward", (Param("x"),), Entries(…), {"x": TensorInput(2)})],
        stale=[the flag])
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ...model import Entries, Hint, Hinted, Items, LegacySpec, ObjectInput, Tree, Unsaid
from ...notes import remark
from ..values import Callable, Collection, Constant, Dict, Fork, Made, Member, Sequence, Unknown, Value
from .additional import inferred, is_additional
from .apis import ONNX, Api, Bound, bind
from .collected import collected
from .constrained import constrained
from .dumped import dump_spec, is_load
from .example import Example, example_of, signature_of
from .forks import worlds
from .hints import annotated
from .onnx_labels import axes_spec, has_labels, labeled_tree
from .refused import RefusedError, refuse
from .to_model import is_new, to_input, to_tree
from .uses import Use

if TYPE_CHECKING:
    from collections.abc import Callable as Function
    from collections.abc import Sequence as Sequence_

    import libcst as cst

    from ....stubs.tree import Tree as File
    from ...verdict import Note
    from ..observe import Argument, Frame

# What puts a spec into a dict of arguments.
_PUT: Final = re.compile(r"""(['"])dynamic_shapes\1\s*[]:]|\b(?:dict|update|setdefault)\([^()]*\bdynamic_shapes\b""")
_FLAG: Final = "prefer_deferred_runtime_asserts_over_guards"


def export_use(file: File, node: cst.Call, name: str, api: Api, args: Sequence_[Argument], frame: Frame) -> Use | None:
    """Returns the use that a call of an exporting function is; None if it says nothing that is legacy.

    Args:
        file: Where the call stands.
        node: The call.
        name: The qualified name of what is called.
        api: What is known of it.
        args: As they are at the call.
        frame: Where it was reached.
    """
    bound = bind(args, api.params)
    keyword = next((each for each in _keywords(api) if _is_said(bound.values.get(each))), None)
    if keyword is None:
        return _unpacked_use(file, node, name, bound, args, frame)
    value = bound.values[keyword]
    if is_new(value):
        return None
    target = bound.values.get("mod")
    target = None if target is None else annotated(target, frame)
    use = Use(name, node, frame, bound.nodes[keyword], value, target, {}, only_shapes=api.only_shapes)
    use.only_help = api.help
    signature = signature_of(use.target)
    use.name = signature.name if signature is not None else name_of(use.target, node, file)
    example = _example(api, bound, lambda each: annotated(each, frame))
    use.args = example.by_parameter(signature, node)
    choices = worlds(value)
    try:
        if choices is None:
            raise refuse("too many branches lead to it", node, label="one spec for each choice of branches")
        dropped = _drop_flag(use, bound, file)
        for world in choices:
            if _is_said(world):
                spec = _read(file, use, bound, keyword, world, example)
                use.specs.append(replace(spec, notes=(*spec.notes, *dropped)))
                use.worlds.append(world)
    except RefusedError as error:
        use.reasons.append(error.reason)
    except RecursionError:  # a dict that holds itself
        use.reasons.append(refuse("it holds itself", node, label="a spec without an end").reason)
    return use if use.worlds or use.reasons else None


def _unpacked_use(
    file: File, node: cst.Call, name: str, bound: Bound, args: Sequence_[Argument], frame: Frame
) -> Use | None:
    """Returns the kept use of a call whose spec may come by ``**options``; None where the file puts none into a dict.

    Before::

        def to_program(net, x, **options):
            options["dynamic_shapes"] = {"x": {0: Dim("b")}}
            return export(net, (x,), **options)
    """
    argument = next((each for each in args if each.star == "**" and each.value is bound.unclear), None)
    if argument is None or not _PUT.search(file.source.text):
        return None
    why = argument.value.reason if isinstance(argument.value, Unknown) else "it is not known here"
    written = file.code(argument.node.value)
    target = bound.values.get("mod")
    use = Use(name, node, frame, target=target)
    use.name = name_of(target, node, file)
    use.reasons.append(refuse(f"it may come with `**{written}`: {why}", argument.node.value).reason)
    return use


def _keywords(api: Api) -> tuple[str, ...]:
    return ("dynamic_shapes", "dynamic_axes") if api is ONNX else ("dynamic_shapes", "constraints")


def _is_said(value: Value | None) -> bool:
    match value:
        case None | Constant(value=None):
            return False
        case Dict(entries=entries) if not entries:  # an empty spec says nothing, wherever it is
            return False
        case Sequence(items=items):
            return bool(items)
        case _:
            return True


def _read(file: File, use: Use, bound: Bound, keyword: str, world: Value, example: Example) -> LegacySpec:
    """Returns what one of the choices of a spec says."""
    signature = signature_of(use.target)
    if keyword == "dynamic_axes":
        name = name_of(use.target, use.call, file)
        return axes_spec(use, world, bound.values, example, signature, name, file)
    match world:
        case Made() if is_load(world):
            dump = dump_spec(world)
            tree = dump.tree if dump.tree is not None else Unsaid()
            return replace(_spec(file, use, tree, example), notes=dump.notes)
        case _ if use.api.startswith("torch.onnx.") and has_labels(world):
            tree, labels = labeled_tree(world, file)
            return replace(_spec(file, use, tree, example), notes=labels.notes(), runtime="engine")
        case _:
            return _spec(file, use, _tree(file, use, keyword, world, example), example)


def _example(api: Api, bound: Bound, known: Function[[Value], Value]) -> Example:
    if api.is_starred:
        reserved = {"mod", "dynamic_shapes", "constraints", _FLAG, "aten_graph", "pre_dispatch", "tracing_mode"}
        named = {name: value for name, value in bound.values.items() if name not in reserved}
        is_whole = bound.unclear is None and bool(bound.rest)
        return Example(bound.rest if is_whole else None, named if is_whole else None, known)
    args, kwargs = bound.values.get("args"), bound.values.get("kwargs")
    if (
        api is ONNX
        and kwargs is None
        and isinstance(args, Sequence)
        and args.items
        and isinstance(args.items[-1], Dict)
    ):
        return example_of(
            Sequence("tuple", args.items[:-1], args.node), args.items[-1], known
        )  # keyword arguments come last
    return example_of(args, kwargs, known)


def _drop_flag(use: Use, bound: Bound, file: File) -> tuple[Note, ...]:
    """Adds the flag that a ShapesSpec does not go with to what is deleted, and returns what to tell of that."""
    flag = bound.nodes.get(_FLAG)
    if flag is None:
        return ()
    if not flag.star:
        use.stale.append(flag)
        if bound.flag(_FLAG, default=None) is False:
            return ()
        message = f"`{_FLAG}` does not go with a ShapesSpec, which always has run-time asserts"
        return (remark(message, span=file.span(flag)),)
    if bound.flag(_FLAG, default=None) is not False:
        raise refuse(
            f"`{_FLAG}` comes with `{file.code(flag)}`, and does not go with a ShapesSpec",
            flag,
            label="holds the flag",
            help="drop the flag: a ShapesSpec always has run-time asserts",
        )
    return ()


def _tree(file: File, use: Use, keyword: str, world: Value, example: Example) -> Tree:
    if keyword == "constraints":
        return constrained(world, use.args)
    match world:
        case Collection():
            return collected(world, use.args, signature_of(use.target) is not None or example.positional == [], file)
        case Made() if is_additional(world):
            return inferred(world, use.target, example, use.call, file.span(world.node))
        case Dict(entries=entries) if any(_is_object(use.args.get(str(key)), example) for key in entries):
            return _without_objects(file, use, world, example)
        case _:
            return to_tree(world, file.span)


def _is_object(value: Value | None, example: Example) -> bool:
    """Returns whether an input is an object of a class whose children the file does not show."""
    given = None if value is None else to_input(value, example.known)
    return isinstance(given, ObjectInput) and not given.children


def _without_objects(file: File, use: Use, world: Dict, example: Example) -> Tree:
    """Returns a spec in which what is said of such an object need not be known: no ShapesSpec can say it."""
    items: list[tuple[str | int, Tree]] = []
    for key, (_, item) in world.entries.items():
        try:
            tree = to_tree(item, file.span)
        except RefusedError:
            if not _is_object(use.args.get(str(key)), example):
                raise
            span = file.span(item.node)
            tree = Items("list", (Hinted(Hint.DYNAMIC, span=span),), (), span)
        items.append((str(key), tree))
    return Entries(tuple(items), file.span(world.node))


def _spec(file: File, use: Use, tree: Tree, example: Example) -> LegacySpec:
    signature = signature_of(use.target)
    span = file.span(use.argument.value) if use.argument is not None else file.span(use.call)
    if signature is None:
        name = name_of(use.target, use.call, file)
        if isinstance(tree, Items) and tree.items:
            raise refuse(
                f"a {tree.kind} gives the parameters in the order of the signature of {_whose(use.target, name)}",
                use.argument.value if use.argument is not None else use.call,
                "legacy-parameter",
                "whose parameters?",
                "write a dict by parameter",
            )
        receiver = "self" if name.endswith(".forward") else None
        return LegacySpec(name, None, tree, example.inputs(None, tree, use.call), receiver, span=span)
    inputs = example.inputs(signature, tree, use.call)
    return LegacySpec(signature.name, signature.params, tree, inputs, signature.receiver, span=span)


def _whose(target: Value | None, name: str) -> str:
    if isinstance(target, Unknown):
        return f"`{name.removesuffix('.forward')}`, which is not known: {target.reason}"
    return f"`{name}`, which the file does not show"


def name_of(target: Value | None, call: cst.Call, file: File) -> str:
    """Returns what a spec is called whose callable the file does not define."""
    import libcst as cst

    match target:
        case Callable(name=name):
            return name
        case Made(name=name) if name.rpartition(".")[2][:1].isupper():
            return f"{name.rpartition('.')[2]}.forward"
        case Fork(options=options):
            names = {name_of(option, call, file) for option in options if not isinstance(option, Unknown)}
            if len(names) == 1:
                return names.pop()
        case Member() | _:
            pass
    written = call.args[0].value if call.args else None
    parts: list[str] = []
    while isinstance(written, cst.Attribute):
        parts.insert(0, written.attr.value)
        written = written.value
    if isinstance(written, cst.Name):
        parts = [part for part in (written.value, *parts) if part not in ("self", "cls")]
        if parts and parts[-1] == "forward":
            parts.pop()
        if parts:
            return f"{parts[-1]}.forward"
    return "f"


__all__ = ["export_use", "name_of"]
