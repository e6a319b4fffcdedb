"""Which call of torch an error came from: the callable, its arguments, and the spec that torch was given.

All of it is in the frames of the traceback, and nowhere else::

    compile_wrapper(args, kwargs)  fn, self._dynamic_shapes        torch.compile
    export(mod, args, kwargs, dynamic_shapes)                      torch.export.export
    wrapped(args)  make_fx_tracer                                  make_fx
    call_wrapped(self, args, kwargs)                               an exported program, a graph

Frames of shapedsl's own entry points hold the lowered spec itself.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

from ..diagnostics import ShapeError
from ..ir import Size, Var
from ..ir.expanded import Expanded, Lowered
from .traces import chain

if TYPE_CHECKING:
    from torch.fx.experimental.dynamic_spec import ShapesSpec


@dataclass(frozen=True, slots=True)
class TorchCall:
    """A call that failed.

    Attributes:
        target: What was compiled, exported or traced; None for a program.
        args: Positional arguments.
        kwargs: Keyword arguments.
        spec: The ShapesSpec that torch was given, if one.
    """

    target: Callable[..., Any] | None
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    spec: ShapesSpec | None = None


def call_of(error: BaseException) -> TorchCall | None:
    """Returns the outermost call of torch that ``error`` came from, or None if there was none."""
    for frame in _frames(error):
        try:
            call = _call(frame)
        except Exception:  # any object of the user's may answer as it likes
            continue
        if call is not None:
            return call
    return None


def lowered_of(error: BaseException) -> Lowered | None:
    """Returns the lowered spec of the entry point of ours that ``error`` came through, if it came through one."""
    for frame in _frames(error):
        values = frame.f_locals
        if type(found := values.get("lowered")) is Lowered:
            return found
        expanded, maker = values.get("expanded"), cast("Any", values.get("self"))
        if type(expanded) is Expanded and "statics" in values and hasattr(maker, "lower"):
            try:
                made: Lowered = maker.lower(expanded, values["statics"], True)
            except ShapeError:  # that is what was raised
                return None
            return made
    return None


def graph_symbols(error: BaseException) -> dict[str, Size]:
    """Returns where the sizes are read that torch calls ``u0`` in the graph that failed: ``x.shape[0]``.

    Only dynamo's own graphs name their inputs after the parameters (``L_x_``); those that backends make do not.
    """
    import torch

    found: dict[str, Size] = {}
    for frame in _frames(error):
        graph = cast("Any", frame.f_locals.get("self"))
        if not issubclass(type(graph), torch.fx.GraphModule):  # asks no object of the user's what it is
            continue
        for node in graph.graph.nodes:
            named = re.fullmatch(r"L_(\w+?)_", str(node.target)) if node.op == "placeholder" else None
            if named is None:
                continue
            value = node.meta.get("example_value", node.meta.get("val"))
            for axis, size in enumerate(getattr(value, "shape", ())):
                expression = getattr(getattr(size, "node", None), "expr", None)
                if expression is not None and expression.is_Symbol:
                    found.setdefault(expression.name, Var(f"{named[1]}.shape[{axis}]"))
    return found


def plain_source(text: str) -> str:
    """Returns how users write what torch calls ``L['batch']['x']``: ``batch["x"]``."""
    text = re.sub(r"\bL\['([^'\"\\]*)'\]", r"\1", text)
    return re.sub(r"\['([^'\"\\]*)'\]", r'["\1"]', text)


def _frames(error: BaseException) -> Iterator[FrameType]:
    for each in chain(error):
        for frame, _ in traceback.walk_tb(each.__traceback__):
            yield frame


def _call(frame: FrameType) -> TorchCall | None:
    values = frame.f_locals
    args, kwargs = values.get("args"), values.get("kwargs") or {}
    if not isinstance(args, tuple) or not isinstance(kwargs, dict):
        return None
    match frame.f_code.co_name:
        case "compile_wrapper" if "fn" in values:
            return TorchCall(values["fn"], args, kwargs, _spec(getattr(values.get("self"), "_dynamic_shapes", None)))
        case "export" if "mod" in values:
            return TorchCall(values["mod"], args, kwargs, _spec(values.get("dynamic_shapes")))
        case "wrapped" if "make_fx_tracer" in values:
            return TorchCall(
                values.get("f"), args, {}, _spec(getattr(values["make_fx_tracer"], "dynamic_shapes", None))
            )
        case "call_wrapped" if hasattr(values.get("self"), "graph"):
            return TorchCall(None, args, kwargs)
        case _:
            return None


def _spec(value: object) -> ShapesSpec | None:
    from torch.fx.experimental.dynamic_spec import ShapesSpec

    # what an annotated function carries only says that it is one, and its callable's own spec says more
    return cast("ShapesSpec", value) if issubclass(type(value), ShapesSpec) else None


__all__ = ["TorchCall", "call_of", "graph_symbols", "lowered_of", "plain_source"]
