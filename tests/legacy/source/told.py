"""What the interpreter tells of a program, as text: each call of ``see`` in the order it is reached."""

from __future__ import annotations

from typing import Any

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.legacy.source.interpret import Argument, Frame, interpret
from shapedsl.frontends.legacy.source.values import (
    Callable,
    Collection,
    Constant,
    Dict,
    DimValue,
    Fork,
    HintValue,
    Imported,
    Made,
    Sequence,
    Tensor,
    Unknown,
)
from shapedsl.frontends.stubs.tree import parse

PROLOGUE = "from harness import see, mess, flag\nfrom torch.export import Dim, dims, export\nimport torch\n"


class Listener:
    """Keeps the arguments of each call of one function."""

    def __init__(self, name: str = "harness.see") -> None:
        self.name = name
        self.heard: list[tuple[list[Argument], Frame]] = []
        self.decorators: list[list[Any]] = []

    def call(self, node: Any, callee: Any, args: list[Argument], frame: Frame) -> Any:
        if isinstance(callee, Imported) and callee.name == self.name:
            self.heard.append((args, frame))
            return Constant(None, node)
        return None

    def decorated(self, node: Any, decorators: list[Any], made: Any) -> None:
        self.decorators.append(decorators)


def listen(text: str, name: str = "harness.see", observer: Listener | None = None) -> Listener:
    """Runs a program."""
    report = Report()
    tree = parse(Source("program.py", text), report)
    assert tree is not None, list(report)
    listener = observer or Listener(name)
    interpret(tree, listener)
    return listener


def seen(text: str) -> list[str]:
    """Returns the arguments of each call of ``see``."""
    return [", ".join(shown(arg.value) for arg in args) for args, _ in listen(PROLOGUE + text).heard]


def shown(value: Any) -> str:
    """Returns a value as text; ``?`` for what is not known, ``|`` between what it may be."""
    if isinstance(value, Constant):
        return repr(value.value)
    if isinstance(value, DimValue):
        name = value.name if (value.low, value.high) == (None, None) else f"{value.name}[{value.low},{value.high}]"
        return name if (value.factor, value.offset) == (1, 0) else f"{value.factor}*{name}{value.offset:+}"
    if isinstance(value, HintValue):
        return value.kind.name if value.is_factory else f"{value.kind.name}({value.low},{value.high})"
    if isinstance(value, Dict):
        return "{" + ", ".join(f"{shown(key)}: {shown(each)}" for key, each in value.entries.values()) + "}"
    if isinstance(value, Sequence):
        left, right = "[]" if value.kind == "list" else "()"
        name = value.class_name if value.kind == "namedtuple" else ""
        comma = "," if value.kind == "tuple" and len(value.items) == 1 else ""
        return f"{name}{left}{', '.join(map(shown, value.items))}{comma}{right}"
    if isinstance(value, Collection):
        return "<" + ", ".join(f"{shown(key)}: {shown(each)}" for key, each, _ in value.entries) + ">"
    if isinstance(value, Tensor):
        return "T" if value.sizes is None else f"T{list(value.sizes)}".replace("None", "_")
    if isinstance(value, Callable):
        params = "?" if value.signature is None else ", ".join(param.name for param in value.signature.params)
        return f"{value.kind} {value.name}({params})"
    if isinstance(value, Imported):
        return f"@{value.name}"
    if isinstance(value, Made):
        return f"{value.name}(…)"
    if isinstance(value, Fork):
        return " | ".join(sorted(map(shown, value.options)))
    assert isinstance(value, Unknown), value
    return "?"
