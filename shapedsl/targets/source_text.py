"""Write a lowered signature as Python that builds its ShapesSpec with torch's own names.

It is `shapes_spec` on paper: what the two build is equal, which is a test. Neither torch nor
anything of ours is needed to write it; torch alone is needed to run it.

Before::

    x: [B, 2*B, _]       B in [0, 31] hint 8, 2*B == 2 * B

After::

    from torch.fx.experimental.dynamic_spec import ParamsSpec, ShapesSpec, ShapeVar, TensorSpec

    B = ShapeVar("B", max=31, optimization_hint=8)
    size_2_B = ShapeVar("2*B")

    project_spec = ShapesSpec(
        ParamsSpec({
            "x": TensorSpec([B, size_2_B, None]),
        }),
        assumptions=[
            size_2_B == 2 * B,
        ],
    )
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from keyword import iskeyword
from typing import Final

from ..diagnostics import Diagnostic, Severity, ShapeError
from ..ir import (
    COMPARISONS,
    And,
    Apply,
    Attribute,
    Compare,
    Const,
    Dim,
    Item,
    MappingType,
    Not,
    ObjectType,
    Or,
    ParamKind,
    Path,
    Predicate,
    ScalarType,
    SequenceType,
    Size,
    Step,
    TensorType,
    Type,
    Var,
    VariableKind,
    quote,
)
from ..ir.expanded import Leaf, Lowered, TorchVariable
from ..ir.walk import free_vars, holds
from ..ir.write import write_predicate

_CLASSES: Final = (
    "DictSpec",
    "IntVar",
    "ObjectSpec",
    "ParamsSpec",
    "SeqSpec",
    "ShapesSpec",
    "ShapeVar",
    "TensorSpec",
)
_ATOM: Final = 9  # binds tighter than any operator


def write_source(lowered: Lowered, name: str | None = None) -> str:
    """Returns a Python module that builds the ShapesSpec of ``lowered``.

    Args:
        lowered: Each dim is a variable, a constant or static.
        name: What the module calls the spec; by default after the signature, ``project_spec``.

    Raises:
        ShapeError: ``contradiction``: an assumption about constants alone is false.
    """
    (given,) = _names([lowered])
    return _module({name or given: lowered})


def write_sources(several: Sequence[Lowered]) -> str:
    """Returns one Python module that builds the ShapesSpec of each; see `write_source`.

    A spec is called after its callable alone, ``forward_spec``, unless another one is called the same:
    then ``Encoder_forward_spec`` and ``Decoder_forward_spec``.
    """
    return _module(dict(zip(_names(several), several, strict=True)))


def _module(specs: Mapping[str, Lowered]) -> str:
    """Returns the module; each spec stands below its own variables, whose names may come again later."""
    bodies = [_body(Writer(lowered, name, specs)) for name, lowered in specs.items()]
    whole = "\n".join(bodies)
    used = [each for each in _CLASSES if re.search(rf"\b{each}\(", whole)]
    head = ["import torch"] if "torch." in whole else []
    if used:
        head.append(f"from torch.fx.experimental.dynamic_spec import {', '.join(used)}")
    return "\n".join(["\n".join(head), *bodies])


def _body(writer: Writer) -> str:
    params = writer.params()
    assumptions = [text for each in writer.lowered.assumptions if (text := writer.assumption(each))]
    lines = [f"{writer.name} = ShapesSpec(", *_call("ParamsSpec", params), ")"]
    if assumptions:
        lines[-1:] = ["    assumptions=[", *(f"        {text}," for text in assumptions), "    ],", ")"]
    variables = [writer.variable(each) for each in writer.lowered.variables]
    return "\n".join(["", *variables, *([""] if variables else []), *lines, ""])


def _names(several: Sequence[Lowered]) -> list[str]:
    """Returns what the module calls each spec: as few last parts of the dotted name as tell it from the others."""
    dotted = [lowered.expanded.signature.name.split(".") for lowered in several]
    names: list[str] = []
    for lowered, parts in zip(several, dotted, strict=True):
        others = [each for each in dotted if each != parts]
        length = 1
        while length < len(parts) and any(each[-length:] == parts[-length:] for each in others):
            length += 1
        index = lowered.expanded.signature.index
        numbered = "" if index == 1 else f"_{index}"
        names.append(_distinct(_identifier(f"{'_'.join(parts[-length:])}{numbered}_spec"), names))
    return names


def _distinct(wish: str, taken: Collection[str]) -> str:
    """Returns ``wish``, with a number if it is taken."""
    made, count = wish, 1
    while made in taken:
        count += 1
        made = f"{wish}_{count}"
    return made


def _call(function: str, entries: Iterable[tuple[str, str]]) -> list[str]:
    entries = list(entries)
    if not entries:
        return [f"    {function}({{}}),"]
    return [f"    {function}({{", *(f"        {key}: {value}," for key, value in entries), "    }),"]


class Writer:
    """Names and texts of one module.

    Attributes:
        name: Of the spec.
        names: Variable → the Python name under which the module knows it.
    """

    def __init__(self, lowered: Lowered, name: str, reserved: Iterable[str] = ()) -> None:
        self.name = name
        self.lowered = lowered
        self.leaves: Mapping[Path, Leaf] = {leaf.path: leaf for leaf in lowered.leaves}
        self.names: dict[str, str] = {}
        taken = {"torch", name, *_CLASSES, *reserved}
        for variable in lowered.variables:
            made = _distinct(_identifier(variable.name), taken)
            taken.add(made)
            self.names[variable.name] = made

    def variable(self, variable: TorchVariable) -> str:
        """Returns the statement that makes one variable."""
        options = [quote(variable.name)]
        is_int = variable.kind is VariableKind.INT
        if variable.low is not None and (is_int or variable.low > 0):
            options.append(f"min={variable.low}")
        if variable.high is not None:
            options.append(f"max={variable.high}")
        if variable.hint is not None:
            options.append(f"optimization_hint={variable.hint}")
        return f"{self.names[variable.name]} = {'IntVar' if is_int else 'ShapeVar'}({', '.join(options)})"

    def params(self) -> list[tuple[str, str]]:
        """Returns the entries of the ParamsSpec, keys quoted."""
        entries: list[tuple[str, str]] = []
        for param in self.lowered.expanded.signature.params:
            match param.kind, param.type:
                case ParamKind.VAR_POSITIONAL, SequenceType(items=items):
                    if (text := self.items(items, param.name, ())) is not None:
                        entries.append(('"*args"', text))
                case ParamKind.VAR_KEYWORD, MappingType(entries=named):
                    if (text := self.named(named, param.name, ())) is not None:
                        entries.append(('"**kwargs"', text))
                case _, type_:
                    if (text := self.type(type_, param.name, ())) is not None:
                        entries.append((quote(param.name), text))
        return entries

    def type(self, type_: Type, root: str, steps: tuple[Step, ...]) -> str | None:
        """Returns the text of one value's spec, or None where all of it is static."""
        match type_:
            case TensorType() | ScalarType():
                leaf = self.leaves.get(Path(root, steps))
                if leaf is None:
                    return None
                slots = [self.slot(dim) for dim in leaf.dims]
                if leaf.scalar:
                    return None if slots == ["None"] else slots[0]
                return f"TensorSpec([{', '.join(slots)}])"
            case SequenceType(items=items):
                text = self.items(items, root, steps)
                return None if text is None else f"SeqSpec({text})"
            case MappingType(entries=entries):
                text = self.named(entries, root, steps)
                return None if text is None else f"DictSpec({text})"
            case ObjectType(fields=fields):
                members = [(name, self.type(item, root, (*steps, Attribute(name)))) for name, item in fields]
                texts = [f"{quote(name)}: {text}" for name, text in members if text is not None]
                return f"ObjectSpec({{{', '.join(texts)}}})" if texts else None
            case _:
                return None

    def items(self, items: Iterable[Type], root: str, steps: tuple[Step, ...]) -> str | None:
        """Returns the list of the items' specs, or None where all of them are static."""
        texts = [self.type(item, root, (*steps, Item(at))) for at, item in enumerate(items)]
        return None if not any(texts) else f"[{', '.join(text or 'None' for text in texts)}]"

    def named(self, entries: Iterable[tuple[str | int, Type]], root: str, steps: tuple[Step, ...]) -> str | None:
        """Returns the dict of the entries' specs, or None where all of them are static."""
        texts = [(key, self.type(item, root, (*steps, Item(key)))) for key, item in entries]
        present = [f"{quote(key)}: {text}" for key, text in texts if text is not None]
        return f"{{{', '.join(present)}}}" if present else None

    def slot(self, dim: Dim) -> str:
        """Returns what stands for one dim."""
        match dim:
            case Var(name=name):
                return self.names[name]
            case Const(value=value):
                return str(value)
            case _:
                return "None"

    def assumption(self, predicate: Predicate) -> str:
        """Returns the text, or an empty one for what is true of all sizes."""
        folded = _folded(predicate)
        if folded is False:
            text = write_predicate(predicate)
            raise ShapeError([Diagnostic("contradiction", Severity.ERROR, f"no sizes satisfy `{text}`", core=(text,))])
        return "" if folded is True else self.predicate(folded)

    def predicate(self, predicate: Predicate) -> str:
        """Returns the text of a predicate that has no part about constants alone."""
        match predicate:
            case Compare(op=op, left=left, right=right):
                return f"{self.size(left)[0]} {op.name} {self.size(right)[0]}"
            case And(args=args):
                return " & ".join(f"({self.predicate(arg)})" for arg in args)
            case Or(args=args):
                return " | ".join(f"({self.predicate(arg)})" for arg in args)
            case Not(arg=Compare(op=op) as arg):
                return self.predicate(Compare(COMPARISONS[op.negated], arg.left, arg.right))
            case Not(arg=arg):
                return f"torch.sym_not({self.predicate(arg)})"

    def size(self, size: Size) -> tuple[str, int]:
        """Returns the text of a size, and how tightly its outermost operator binds."""
        match size:
            case Const(value=value):
                return str(value), _ATOM if value >= 0 else 3
            case Var(name=name):
                return self.names[name], _ATOM
            case Apply(op=op, args=args):
                pass
            case _:
                raise TypeError(f"not expanded: {size!r}")
        count = len(args)
        match op.name:
            case "min" | "max" if count > 1:
                texts = [self.size(arg)[0] for arg in args]
                return functools.reduce(lambda left, right: f"torch.sym_{op.name}({left}, {right})", texts), _ATOM
            case "min" | "max" | "prod" if count == 1:
                return self.size(args[0])
            case "cdiv":
                return f"-(-{self.operand(args[0], 4)} // {self.operand(args[1], 3)})", 3
            case "neg":
                return f"-{self.operand(args[0], 3)}", 3
            case "**":
                return f"{self.operand(args[0], _ATOM)} ** {self.operand(args[1], 3)}", 4
            case "prod":
                return " * ".join(self.operand(arg, 3) for arg in args), 2
            case _:
                left, right = self.operand(args[0], op.precedence), self.operand(args[1], op.precedence + 1)
                return f"{left} {op.name} {right}", op.precedence

    def operand(self, size: Size, at_least: int) -> str:
        """Returns the text of a size, in parentheses unless it binds at least as tightly as ``at_least``."""
        text, binds = self.size(size)
        return text if binds >= at_least else f"({text})"


def _folded(predicate: Predicate) -> Predicate | bool:
    """Returns ``predicate`` without parts that speak of constants alone: Python would compute them to bools."""
    match predicate:
        case Compare():
            return predicate if any(True for _ in free_vars(predicate)) else holds(predicate, {})
        case Not(arg=arg):
            folded = _folded(arg)
            return (not folded) if isinstance(folded, bool) else Not(folded)
        case And(args=args) | Or(args=args):
            neutral = isinstance(predicate, And)
            kept: list[Predicate] = []
            for arg in args:
                folded = _folded(arg)
                if not isinstance(folded, bool):
                    kept.append(folded)
                elif folded is not neutral:
                    return folded
            if len(kept) < 2:
                return kept[0] if kept else neutral
            return And(tuple(kept)) if neutral else Or(tuple(kept))


def _identifier(name: str) -> str:
    made = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "size"
    if made[0].isdigit():
        made = f"size_{made}"
    return f"{made}_" if iskeyword(made) else made
