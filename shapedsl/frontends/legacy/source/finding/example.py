"""The example inputs of a call, by the parameters of what is exported.

Before::

    export(Net(), (x, h, c), {"gate": g}, …)    with    def forward(self, x, *state, **opts)

After::

    {"x": x, "state": (h, c), "opts": {"gate": g}}
"""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .....ir import ParamKind
from ...model import Entries, Input, MappingInput, TensorInput, Tree
from ..values import Constant, Dict, Fork, Made, Sequence, Signature, Tensor, Value
from .to_model import to_input

if TYPE_CHECKING:
    from collections.abc import Mapping

    import libcst as cst

_POSITIONAL = (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Example:
    """The inputs as a call passes them.

    Attributes:
        positional: None where they are not known.
        named: By keyword; None where they are not known.
        known: What else tells of a value that is not known: its annotation.
    """

    positional: list[Value] | None
    named: dict[str, Value] | None
    known: Function[[Value], Value]

    def by_parameter(self, signature: Signature | None, node: cst.CSTNode) -> dict[str, Value]:
        """Returns what is known of the inputs, by parameter; without a signature, those that a keyword names."""
        named = dict(self.named or {})
        if signature is None:
            return named
        found: dict[str, Value] = {}
        rest = list(self.positional or ())
        for param in signature.params:
            if param.kind in _POSITIONAL and rest:
                found[param.name] = rest.pop(0)
            elif param.kind is ParamKind.VAR_POSITIONAL and self.positional is not None:
                found[param.name] = Sequence("tuple", rest, node)
                rest = []
            elif param.kind is ParamKind.VAR_KEYWORD and self.named is not None:
                entries: dict[object, tuple[Value, Value]] = {key: (Constant(key, node), named[key]) for key in named}
                found[param.name] = Dict(entries, node)
            elif param.name in named and param.kind is not ParamKind.POSITIONAL_ONLY:
                found[param.name] = named.pop(param.name)
        return found

    def inputs(self, signature: Signature | None, tree: Tree, node: cst.CSTNode) -> Mapping[str, Input] | None:
        """Returns the inputs for a conversion; None where too little is known of them.

        Args:
            signature: Of what is exported; None where it is not known.
            tree: The spec.
            node: The call.
        """
        if signature is None:
            return self._by_keys(tree)
        is_partial = self.positional is None or self.named is None
        if is_partial and (not isinstance(tree, Entries) or not (self.positional or self.named)):
            return None
        found = {name: to_input(value, self.known) for name, value in self.by_parameter(signature, node).items()}
        for param in signature.params:
            if param.kind is ParamKind.VAR_POSITIONAL and found.get(param.name) == to_input(
                Sequence("tuple", [], node)
            ):
                del found[param.name]  # nothing was collected: torch binds no such parameter
            elif param.kind is ParamKind.VAR_KEYWORD and found.get(param.name) == MappingInput(()):
                del found[param.name]
        return found

    def _by_keys(self, tree: Tree) -> dict[str, Input] | None:
        """Returns inputs where no signature tells their names, but the keys of the spec leave no doubt."""
        found = {name: to_input(value, self.known) for name, value in (self.named or {}).items()}
        if not isinstance(tree, Entries):
            return found or None
        others = [key for key, _ in tree.items if isinstance(key, str) and key not in found]
        if self.positional is not None and len(others) == len(self.positional):
            given = [to_input(value, self.known) for value in self.positional]
            if len(given) == 1:
                found[others[0]] = given[0]
            elif all(isinstance(each, TensorInput) and each.rank is not None for each in given):
                ranks = {each.rank for each in given if isinstance(each, TensorInput)}
                if len(ranks) == 1:  # whichever is which
                    found.update(dict.fromkeys(others, TensorInput(ranks.pop())))
        return found or None


def example_of(args: Value | None, kwargs: Value | None, known: Function[[Value], Value]) -> Example:
    """Returns the example that two arguments of an export hold: a tuple, and a dict by keyword."""
    positional: list[Value] | None
    match args:
        case None | Constant(value=None):
            positional = []
        case Sequence(kind="tuple" | "list", items=items):
            positional = list(items)
        case Tensor():
            positional = [args]  # `torch.onnx.export` takes one tensor so; torch.export tells to make a tuple of it
        case _:
            positional = None
    named: dict[str, Value] | None
    match kwargs:
        case None | Constant(value=None):
            named = {}
        case Dict(entries=entries):
            named = {str(key): item for key, (_, item) in entries.items()}
        case _:
            named = None
    return Example(positional, named, known)


def signature_of(target: Value | None) -> Signature | None:
    """Returns the signature of what is exported; None where the file does not show it."""
    from ..values import Callable
    from .torch_modules import signature_in_torch

    match target:
        case Callable(kind="object", inner=Callable(kind="class", signature=None)):
            return None
        case Callable(signature=None, inner=inner) if inner is not None:
            return signature_of(inner)
        case Callable(signature=signature) if signature is not None and "<lambda>" in signature.name:
            return replace(signature, name=signature.name.replace("<lambda>", "_lambda"))
        case Callable(signature=signature):
            return signature
        case Made(name="torch.compile" | "torch.jit.script" | "torch.nn.DataParallel", args=args) if args:
            return signature_of(args[0][1])
        case Made(name=name):
            return signature_in_torch(name)
        case Fork(options=options):
            found = [signature_of(option) for option in options]
            return found[0] if found and all(each == found[0] for each in found) else None
        case _:
            return None


__all__ = ["Example", "example_of", "signature_of"]
