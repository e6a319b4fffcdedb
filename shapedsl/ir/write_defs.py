"""Signatures and modules → canonical text: everything a def needs is declared inside it.

What an empty body would give anyway is not written: that a tensor dim is never negative, that an
undeclared name in a dim is a size. A declaration is written where there is something to say, or
where the kind would be another::

    def f(x: Tensor[B, 2 * D], n: Scalar[n]) -> Tensor[B]:
        dim B in [1, 8] hint 4
        int n in [0, inf]
        where B <= D "one row each"
"""

from __future__ import annotations

from collections.abc import Iterable

from ..layout import WIDTH, fit
from .constraints import Constraint, Origin
from .dims import Apply, Compare, Const, Predicate, Size, Var, Variadic
from .operators import COMPARISONS, MOD
from .paths import quote
from .specs import Module, Signature, Variable, VariableKind
from .walk import free_vars, nodes, tensor_dims
from .write_clauses import MARGIN, write_alternatives, write_drops, write_values
from .write_sizes import write_predicate
from .write_types import dtypes, write_params, write_type


def write_module(module: Module) -> str:
    """Returns a file's text; methods of one class that follow each other share a ``class`` statement."""
    blocks: list[str] = []
    open_class = ""
    for signature in module:
        owner = _class_of(signature)
        lines = _def(signature, MARGIN if owner else "")
        if not owner:
            blocks.append("\n".join(lines))
        elif owner == open_class:
            blocks[-1] += "\n\n" + "\n".join(lines)
        else:
            blocks.append("\n".join([f"class {owner}:", *lines]))
        open_class = owner
    return "\n\n".join(blocks) + "\n" if blocks else ""


def write_signature(signature: Signature) -> str:
    """Returns one def, without a newline at its end; a method stands in its ``class``."""
    owner = _class_of(signature)
    lines = [f"class {owner}:", *_def(signature, MARGIN)] if owner else _def(signature, "")
    return "\n".join(lines)


def _class_of(signature: Signature) -> str:
    """Returns the class to write a method in; empty for a function."""
    return signature.name.rpartition(".")[0] if signature.receiver is not None else ""


def _def(signature: Signature, margin: str) -> list[str]:
    """Returns the lines of a def."""
    owner = _class_of(signature)
    name = signature.name.rpartition(".")[2] if owner else signature.name
    index = "" if signature.index == 1 else f"@{signature.index}"
    params = write_params(signature.params, signature.receiver if owner else None)
    returns = "" if signature.returns is None else f" -> {write_type(signature.returns)}"
    body = write_body(signature, len(margin + MARGIN))
    tail = f"{returns}:" if body else f"{returns}: ..."
    head = f"def {name}{index}({', '.join(params)}){tail}"
    return _fitted([head, *(MARGIN + line for line in body)], margin)


def _fitted(lines: Iterable[str], margin: str) -> list[str]:
    """Returns ``lines``, each indented by ``margin`` and broken as `fmt` does if it is too long."""
    rows: list[str] = []
    for line in lines:
        text = line.lstrip(" ")
        indent = margin + line[: len(line) - len(text)]
        rows += [indent + row for row in fit(text, len(indent))]
    return rows


def write_body(signature: Signature, column: int) -> list[str]:
    """Returns the lines of a def's body, which is indented by ``column``; none if it says nothing."""
    lines: list[str] = [] if signature.doc is None else [quote(signature.doc)]
    types = [*(param.type for param in signature.params), *([signature.returns] if signature.returns else ())]
    families = {dtype.variable: dtype.name for dtype in dtypes(types) if dtype.variable is not None}
    lines += [f"type {variable} = {name}" for variable, name in sorted(families.items())]
    declared, wheres, hints = _declarations(signature)
    lines += declared
    lines += _wheres(wheres, WIDTH - column)
    if hints:
        lines.append("hint " + ", ".join(f"{name} = {value}" for name, value in hints))
    lines += [f"rank {name} = {rank}" for name, rank in signature.ranks]
    lines += write_values(signature.values)
    lines += write_alternatives(signature.alternatives)
    lines += write_drops(signature.drops)
    return lines


def _wheres(constraints: Iterable[Constraint], width: int) -> list[str]:
    """Returns ``where`` lines, as many predicates on each as fit; one with a message has its own."""
    lines: list[str] = []
    is_open = False
    for constraint in constraints:
        text = write_predicate(constraint.predicate)
        if constraint.message is not None:
            lines.append(f"where {text} {quote(constraint.message)}")
            is_open = False
        elif is_open and len(lines[-1]) + 2 + len(text) <= width:
            lines[-1] += f", {text}"
        else:
            lines.append(f"where {text}")
            is_open = True
    return lines


# ----------------------------------------------------------------------------- declarations


def _declarations(signature: Signature) -> tuple[list[str], list[Constraint], list[tuple[str, int]]]:
    """Returns declaration lines, the constraints they do not give, and the hints they do not give."""
    dims = [dim for param in signature.params for dim in tensor_dims(param.type)]
    sizes = {name for dim in dims for name in free_vars(dim)}
    given = {_at_least(dim, 0) for dim in dims if isinstance(dim, (Var, Apply, Variadic))}
    present = {constraint.predicate for constraint in signature.constraints if constraint.message is None}
    rest = [c for c in signature.constraints if c.message is not None or c.predicate not in given]
    lines: list[str] = []
    hints: list[tuple[str, int]] = []
    for variable in signature.variables:
        subject: Size = Variadic(variable.name) if variable.variadic else Var(variable.name)
        usual = VariableKind.DIM if variable.name in sizes else VariableKind.INT
        facts = _Facts(subject, variable, rest)
        # `dim` and `const` say >= 0 where they say no more: is that true here?
        implicit = variable.kind is VariableKind.INT or facts.low is not None or _at_least(subject, 0) in present
        starred = variable.variadic and Variadic(variable.name) not in {node for dim in dims for node in nodes(dim)}
        must = variable.kind is not usual or starred
        if must or (implicit and (facts.found or (variable.hint is not None))):
            lines.append(facts.line())
            rest = [c for c in rest if c.message is not None or c.predicate not in facts.given()]
            if variable.kind is VariableKind.CONST and variable.hint is not None:
                hints.append((variable.name, variable.hint))
        elif variable.hint is not None:
            hints.append((variable.name, variable.hint))
    return lines, rest, hints


def _at_least(size: Size, bound: int) -> Predicate:
    return Compare(COMPARISONS[">="], size, Const(bound))


class _Facts:
    """What one declaration line can say of a variable: the declared constraints that fit it."""

    def __init__(self, subject: Size, variable: Variable, constraints: Iterable[Constraint]) -> None:
        self.subject = subject
        self.variable = variable
        self.low: int | None = None
        self.high: int | None = None
        self.multiple: tuple[int, int] | None = None
        for constraint in constraints:
            if constraint.origin is Origin.DECLARED and constraint.message is None:
                self._take(constraint.predicate)

    def _take(self, predicate: Predicate) -> None:
        is_size = self.variable.kind is not VariableKind.INT
        match predicate:
            case Compare(op=op, left=left, right=Const(value=value)) if left == self.subject:
                if op.name == ">=" and self.low is None and not (is_size and value < 0):
                    self.low = value
                elif op.name == "<=" and self.high is None:
                    self.high = value
            case Compare(
                op=op, left=Apply(op=inner, args=(left, Const(value=modulus))), right=Const(value=residue)
            ) if left == self.subject and op.name == "==" and inner.name == "%" and 0 <= residue < modulus:
                if modulus > 1 and self.multiple is None and self.variable.kind is not VariableKind.CONST:
                    self.multiple = modulus, residue
            case _:
                pass

    @property
    def found(self) -> bool:
        return self.low is not None or self.high is not None or self.multiple is not None

    def given(self) -> set[Predicate]:
        """Returns the constraints that the line gives."""
        low = self.low
        if low is None and self.variable.kind is not VariableKind.INT:
            low = 0
        found = set[Predicate]() if low is None else {_at_least(self.subject, low)}
        if self.high is not None:
            found.add(Compare(COMPARISONS["<="], self.subject, Const(self.high)))
        if self.multiple is not None:
            found.add(_remainder(self.subject, *self.multiple))
        return found

    def line(self) -> str:
        """Returns the declaration."""
        variable = self.variable
        is_int = variable.kind is VariableKind.INT
        text = f"{variable.kind.value} {'*' if variable.variadic else ''}{variable.name}"
        if self.low not in (None, None if is_int else 0) or self.high is not None:
            low = ("-inf" if is_int else "0") if self.low is None else str(self.low)
            text += f" in [{low}, {'inf' if self.high is None else self.high}]"
        if variable.kind is VariableKind.CONST:
            return f"{text} = _"
        if self.multiple is not None:
            modulus, residue = self.multiple
            text += f" multiple of {modulus}" + (f" plus {residue}" if residue else "")
        return text if variable.hint is None else f"{text} hint {variable.hint}"


def _remainder(subject: Size, modulus: int, residue: int) -> Predicate:
    return Compare(COMPARISONS["=="], Apply(MOD, (subject, Const(modulus))), Const(residue))


__all__ = ["WIDTH", "write_module", "write_signature"]
