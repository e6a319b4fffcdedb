"""The calls of torch that take a legacy spec: what they are called, and what each argument is for.

Signatures are those of torch 2.14, and of older releases where a keyword or a function is gone since.
"""

from __future__ import annotations

from collections.abc import Sequence as Sequence_
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ..values import Constant, Dict, Fork, Sequence, Value

if TYPE_CHECKING:
    import libcst as cst

    from ..observe import Argument


@dataclass(frozen=True, slots=True)
class Api:
    """A function that takes a spec.

    Attributes:
        params: Its positional parameters that matter, in order; the first is what is exported.
        only_shapes: Why its calls stay as they are, after its name; empty where it takes a ShapesSpec.
        help: What to do then.
        is_starred: Whether it takes the example inputs one by one, not as a tuple and a dict.
    """

    params: tuple[str, ...]
    only_shapes: str = ""
    help: str = ""
    is_starred: bool = False


_KEYWORD_ONLY: Final = Api(("mod", "args", "kwargs"))
_POSITIONAL: Final = Api(("mod", "args", "kwargs", "dynamic_shapes"))
_OLD: Final = Api(("mod", "args", "kwargs", "constraints"))
# Both raise where they are given a ShapesSpec: `draft_export` by itself, ONNX's because it always passes the flag
# that does not go with one.
_DRAFT: Final = Api(
    ("mod", "args", "kwargs"),
    "raises for a ShapesSpec (torch 2.14)",
    "use `torch.export.export`, or keep the legacy spec",
)
ONNX: Final = Api(
    ("mod", "args", "f"),
    "raises for a ShapesSpec (torch 2.14: it always sets a flag that does not go with one)",
    "export with `torch.export.export` and a ShapesSpec, and pass the program; its axes are then called as torch likes",
)

APIS: Final = {
    "torch.export.export": _KEYWORD_ONLY,
    "torch.export.export_for_training": _KEYWORD_ONLY,
    "torch.export.export_for_inference": _KEYWORD_ONLY,
    "torch.export._trace._export": _POSITIONAL,
    "torch.export._trace._export_for_training": _POSITIONAL,
    "torch.export._trace._export_to_torch_ir": _POSITIONAL,
    "torch._export.aot_compile": _KEYWORD_ONLY,
    "torch._export.export": _OLD,
    "torch._export.capture_pre_autograd_graph": _OLD,
    "torch._dynamo.export": Api(("mod",), is_starred=True),
    "torch.export.draft_export": _DRAFT,
    "torch.onnx.export": ONNX,
    "torch.onnx.utils.export": ONNX,
}
# Where else these functions can be imported from.
_ALIASES: Final = {
    "torch.export._trace.export": "torch.export.export",
    "torch.export._trace._export_for_inference": "torch.export.export_for_inference",
    "torch.export._draft_export.draft_export": "torch.export.draft_export",
    "torch._export._export": "torch.export._trace._export",
    "torch._export._export_to_torch_ir": "torch.export._trace._export_to_torch_ir",
    "torch._dynamo.eval_frame.export": "torch._dynamo.export",
    "torch.onnx.utils._export": "torch.onnx.utils.export",
}
# What the first parameter is called in other functions and releases.
_MODEL: Final = ("f", "model", "gm", "func", "fn")


def api_of(name: str) -> Api | None:
    """Returns what is known of a function, by its qualified name; None if it takes no spec."""
    return APIS.get(_ALIASES.get(name, name))


@dataclass(slots=True)
class Bound:
    """The arguments of a call, by parameter.

    Attributes:
        values: What each is.
        nodes: Where each is written; of what comes by ``**options``, that argument.
        rest: The positional ones after those.
        unclear: What is unpacked there and not known, if anything is.
    """

    values: dict[str, Value] = field(default_factory=dict[str, "Value"])
    nodes: dict[str, cst.Arg] = field(default_factory=dict[str, "cst.Arg"])
    rest: list[Value] = field(default_factory=list["Value"])
    unclear: Value | None = None

    def flag(self, name: str, *, default: bool | None) -> bool | None:
        """Returns a flag; None where it is not known."""
        value = self.values.get(name)
        if value is None:
            return default
        return bool(value.value) if isinstance(value, Constant) else None

    def put(self, name: str, value: Value, node: cst.Arg) -> None:
        """Sets an argument."""
        self.values[name] = value
        self.nodes[name] = node


def _one_of_dicts(value: Value) -> dict[object, Value] | None:
    """Returns what ``**value`` gives; None if it is no dict, and none of several.

    A key that some of several dicts lack is None in those: the functions here take None for what is not given, so that
    ``if dynamic: options["dynamic_shapes"] = {…}`` gives a spec in one of two worlds.
    """
    if isinstance(value, Dict):
        return {key: item for key, (_, item) in value.entries.items()}
    if not isinstance(value, Fork):
        return None
    options = [_one_of_dicts(each) for each in value.options]
    dicts = [each for each in options if each is not None]
    if len(dicts) < len(options):
        return None
    given: dict[object, Value] = {}
    for key in dict.fromkeys(key for each in dicts for key in each):
        items = [each.get(key, Constant(None, value.node)) for each in dicts]
        given[key] = items[0] if all(item is items[0] for item in items) else Fork(items, value.node)
    return given


def bind(args: Sequence_[Argument], params: Sequence_[str]) -> Bound:
    """Returns the arguments by parameter; positional ones after an unknown ``*args`` are in none."""
    bound = Bound()
    positional: list[tuple[Value, cst.Arg]] = []
    for arg in args:
        if arg.star == "*":
            if isinstance(arg.value, Sequence) and bound.unclear is None:
                positional += [(item, arg.node) for item in arg.value.items]
            else:
                bound.unclear = arg.value
        elif arg.star == "**":
            content = _one_of_dicts(arg.value)
            if content is not None:
                for key, item in content.items():
                    bound.put(str(key), item, arg.node)
            else:
                bound.unclear = arg.value
        elif arg.name is not None:
            bound.put(arg.name, arg.value, arg.node)
        elif bound.unclear is None:
            positional.append((arg.value, arg.node))
    for name, (value, node) in zip(params, positional, strict=False):
        bound.put(name, value, node)
    bound.rest = [value for value, _ in positional[len(params) :]]
    if "mod" in params and "mod" not in bound.values:
        for name in _MODEL:
            if name in bound.values and name not in params:
                bound.put("mod", bound.values.pop(name), bound.nodes.pop(name))
    return bound


__all__ = ["APIS", "ONNX", "Api", "Bound", "api_of", "bind"]
