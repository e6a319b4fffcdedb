"""What names mean in Pyrefly's dialect: its markers, its kinds of type parameters, its tensors.

Before: ``N: IntVar``, ``Shape: _Shape`` with ``type _Shape = IntTuple``, ``D = IntVar("D")``. After: `Parameter` rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Final, TypeAlias

import libcst as cst

from ..bindings import names_of
from ..scope import Aliased, Binding, Defined, Imported, Scope, TypeParam, parameters_of
from ..tree import Tree
from .files import Files

MODULE: Final = "shape_extensions"
# What `shape_extensions` 1.4 has for annotations; another name of it belongs to another version.
MARKERS: Final = frozenset(
    {
        "CaptureNamedInts",
        "Elements",
        "Flag",
        "Index",
        "Int",
        "IntListLiteral",
        "IntTuple",
        "IntTupleOrList",
        "IntTuples",
        "IntVar",
        "MapIntTuples",
        "NamedInts",
        "ProxyMethod",
        "RegularNestedList",
        "Shaped",
    }
)
FUNCTIONS: Final = frozenset(
    {
        "SymbolicArithExpr",
        "assert_raises",
        "assert_shape",
        "broadcast",
        "defines_assert_shape",
        "dsl",
        "gufunc_broadcast",
        "index_shape",
        "shape_vars",
        "static_jaxtyping",
        "torchscript",
        "type_shape_dsl_function",
    }
)
TENSORS: Final = frozenset(
    {
        "torch.Tensor",
        "torch._tensor.Tensor",
        "torch.nn.Parameter",
        "torch.nn.parameter.Parameter",
        "torch.nn.Buffer",
        "torch.nn.parameter.Buffer",
    }
)
_VARIABLES: Final = frozenset({f"{MODULE}.IntVar", "typing.TypeVar", "typing_extensions.TypeVar"})
_ITSELF: Final = f"{MODULE}.Itself"  # what an alias stands for within itself: nothing that is known
_DEEPEST: Final = 40  # aliases of aliases, bases of bases


class Kind(Enum):
    """What a type parameter stands for."""

    SIZE = "a size"  # IntVar
    INT = "an int"  # Int
    MAYBE_INT = "an int or None"  # Int | None
    SHAPE = "a shape"  # IntTuple
    SHAPES = "several shapes"  # IntTuples
    INDEX = "an index"
    FLAG = "a flag"  # a value that the shape depends on
    FOREIGN = "a name that the language cannot write, for it is not all ASCII"
    OTHER = "a type"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A type parameter.

    Attributes:
        name: Its name.
        kind: What it stands for.
        bound: What stands behind its colon.
    """

    name: str
    kind: Kind
    bound: cst.BaseExpression | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What a type parameter of an alias or a class stands for where that is used."""

    node: cst.BaseExpression
    names: Names


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for an expression: ``type _TensorLike[Shape: IntTuple] = Tensor[Shape] | _Scalar``."""

    name: str
    value: cst.BaseExpression
    params: cst.TypeParameters | None
    names: Names


@dataclass(frozen=True, slots=True)
class Class:
    """A class of this file, or of one beside it."""

    node: cst.ClassDef
    names: Names


Meaning: TypeAlias = "Parameter | Given | Alias | Class | str | None"


@dataclass(frozen=True, slots=True)
class Names:
    """The names that stand around an annotation.

    Attributes:
        scope: Those of the file, the class and the function.
        files: The files around it.
        given: What type parameters stand for that are given already.
        depth: How many names were looked through.
        opened: The aliases and classes among these, by their nodes.
    """

    scope: Scope
    files: Files
    given: Mapping[str, Given] = field(default_factory=dict[str, Given])
    depth: int = 0
    opened: frozenset[int] = frozenset()
    _known: dict[str, Meaning] = field(default_factory=dict[str, "Meaning"], compare=False, repr=False)

    def within(self, scope: Scope, given: Mapping[str, Given], opened: cst.CSTNode | None = None) -> Names:
        """Returns the names that stand around an alias or a class that one of these stands for."""
        seen = self.opened if opened is None else self.opened | {id(opened)}
        return Names(scope, self.files, given, self.depth + 1, seen)

    def meaning(self, node: cst.BaseExpression) -> Meaning:
        """Returns what a name or an attribute stands for; a str is a dotted name of another module."""
        if self.depth > _DEEPEST:
            return None
        match node:
            case cst.Name(value=name):
                if name not in self._known:
                    given = self.given.get(name)
                    self._known[name] = self._bound(name, self.scope.find(name)) if given is None else given
                return self._known[name]
            case cst.Attribute(value=base, attr=cst.Name(value=name)):
                owner = self.meaning(base)
                return self._qualified(f"{owner}.{name}") if isinstance(owner, str) else None
            case _:
                return None

    def qualified(self, node: cst.BaseExpression) -> str | None:
        """Returns the dotted name that a name or an attribute stands for; None if it is none of another module."""
        match node:
            case cst.Name(value=name):
                binding = self.scope.find(name)
                return self.files.absolute(binding.qualified) if isinstance(binding, Imported) else None
            case cst.Attribute(value=base, attr=cst.Name(value=name)):
                owner = self.qualified(base)
                return None if owner is None else f"{owner}.{name}"
            case _:
                return None

    def marker(self, node: cst.BaseExpression) -> str | None:
        """Returns which of `shape_extensions`' names an expression stands for: ``Int`` for ``_Int``."""
        meaning = self.meaning(node)
        for _ in range(_DEEPEST):  # `type _Shape = IntTuple`
            if not isinstance(meaning, Alias) or meaning.params is not None:
                break
            meaning = meaning.names.meaning(meaning.value)
        if isinstance(meaning, str):
            module, _, name = meaning.rpartition(".")
            if module in (MODULE, f"{MODULE}.dsl") and name in MARKERS:
                return name
        return None

    def is_tensor(self, node: cst.BaseExpression) -> bool:
        """Whether an expression stands for torch's tensor class, or one that derives from it."""
        meaning = self.meaning(node)
        for _ in range(_DEEPEST):
            if not isinstance(meaning, Alias) or meaning.params is not None:
                break
            meaning = meaning.names.meaning(meaning.value)
        if isinstance(meaning, Class):
            return meaning.names.is_tensor_class(meaning.node)
        return isinstance(meaning, str) and meaning in TENSORS

    def is_tensor_class(self, node: cst.ClassDef) -> bool:
        """Whether a class is a tensor: it is called so and has a shape for its parameter, or derives from one."""
        if node.name.value == "Tensor" and any(row.kind is Kind.SHAPE for row in self.parameters(node)):
            return True
        if self.depth > _DEEPEST or id(node) in self.opened:
            return False
        inner = self.within(self.scope, self.given, node)
        return any(inner.is_tensor(_head(base.value)) for base in node.bases)

    def parameters(self, node: cst.ClassDef | cst.FunctionDef) -> list[Parameter]:
        """Returns the type parameters that a class or a function declares; a class's ``Generic[N]`` counts too."""
        found: list[Parameter] = []
        for name, binding in parameters_of(node.type_parameters).items():
            row = self._bound(name, binding)
            if isinstance(row, Parameter):
                found.append(row)
        for base in node.bases if isinstance(node, cst.ClassDef) else ():
            match base.value:
                case cst.Subscript(value=head, slice=items) if _last(self.qualified(head)) == "Generic":
                    for item in items:
                        row = self.meaning(item.slice.value) if isinstance(item.slice, cst.Index) else None
                        if isinstance(row, Parameter):
                            found.append(row)
                case _:
                    pass
        return found

    # ------------------------------------------------------------------------------- steps

    def _bound(self, name: str, binding: Binding | None) -> Meaning:
        match binding:
            case TypeParam(kind="TypeVar", bound=bound):
                return Parameter(name, _written(name, self._kind(bound)), bound)
            case TypeParam():
                return None
            case Aliased(value=cst.Call(func=func, args=args)) if self.qualified(func) in _VARIABLES:
                bounds = [arg.value for arg in args if arg.keyword is not None and arg.keyword.value == "bound"]
                if (self.qualified(func) or "").startswith(MODULE):
                    return Parameter(name, _written(name, Kind.SIZE))
                return Parameter(name, _written(name, self._kind(bounds[0])), bounds[0]) if bounds else None
            case Aliased(value=value) if id(value) in self.opened:
                return _ITSELF
            case Aliased(value=value, params=params):
                return Alias(name, value, params, self.within(self.scope, self.given, value))
            case Defined(node=node):
                return Class(node, self)
            case Imported(qualified=qualified):
                return self._qualified(self.files.absolute(qualified))
            case None:
                return self._starred(name)
            case _:
                return None

    def _starred(self, name: str) -> Meaning:
        """Returns what a name stands for that only ``from torch import *`` can bind."""
        scope: Scope | None = self.scope
        while scope is not None:
            for key, binding in scope.names.items():
                if key.startswith("*") and isinstance(binding, Imported):
                    qualified = f"{self.files.absolute(binding.qualified)}.{name}"
                    found = self._qualified(qualified)
                    if (
                        found != qualified
                        or qualified in TENSORS
                        or (name in MARKERS and qualified == f"{MODULE}.{name}")
                    ):
                        return found
            scope = scope.outer
        return None

    def _qualified(self, qualified: str) -> Meaning:
        """Returns what a name of another module stands for: what the stub beside this one says, else the name."""
        module, _, name = qualified.rpartition(".")
        if qualified in TENSORS or not module or module == MODULE or module.startswith((".", "typing")):
            return qualified
        if self.depth > _DEEPEST:
            return qualified
        tree = self.files.tree(module)
        binding = None if tree is None else _top(tree).names.get(name)
        if tree is None or binding is None:
            return qualified
        if isinstance(binding, Imported) and binding.qualified == qualified:
            return qualified
        return Names(_top(tree), self.files.around(tree), {}, self.depth + 1, self.opened)._bound(name, binding)

    def _kind(self, bound: cst.BaseExpression | None) -> Kind:
        match bound:
            case None:
                return Kind.OTHER
            case cst.BinaryOperation(operator=cst.BitOr()):
                kinds = [self._kind(member) for member in members(bound) if not _is_none(member)]
                return Kind.MAYBE_INT if kinds == [Kind.INT] else Kind.OTHER
            case cst.Subscript(value=head):
                return Kind.FLAG if self.marker(head) == "Flag" else Kind.OTHER
            case _:
                return _KINDS.get(self.marker(bound) or "", Kind.OTHER)


_KINDS: Final = {
    "IntVar": Kind.SIZE,
    "Int": Kind.INT,
    "IntTuple": Kind.SHAPE,
    "IntTuples": Kind.SHAPES,
    "Index": Kind.INDEX,
    "NamedInts": Kind.FLAG,
    "Flag": Kind.FLAG,
}


def members(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yields the members of ``A | B | None``, in order."""
    pending = [node]
    while pending:
        match pending.pop():
            case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
                pending += [right, left]
            case member:
                yield member


def _written(name: str, kind: Kind) -> Kind:
    """Returns the kind of a type parameter: one with a name that no spec can have is known to be there, and no more."""
    return kind if name.isascii() or kind in (Kind.FLAG, Kind.OTHER) else Kind.FOREIGN


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _head(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.value if isinstance(node, cst.Subscript) else node


def _last(qualified: str | None) -> str:
    return (qualified or "").rpartition(".")[2]


@lru_cache(maxsize=64)
def _top(tree: Tree) -> Scope:
    """Returns the names of a whole file."""
    return Scope(names_of(tree.module.body))


__all__ = [
    "FUNCTIONS",
    "MARKERS",
    "MODULE",
    "Alias",
    "Class",
    "Given",
    "Kind",
    "Meaning",
    "Names",
    "Parameter",
    "members",
]
