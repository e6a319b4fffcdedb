"""The functions of a stub → their signatures, in file order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

import libcst as cst

from ...diagnostics import Diagnostic, Report, Severity
from ...ir import Module, ParamKind, Signature
from ...surface.facts import Facts
from ...surface.forms import Form
from ...surface.symbols import Symbol
from ..annotated.callables import RawCallable, RawParameter
from ..annotated.fields import FieldClass
from ..annotated.read import read_raw, sizes_of
from ..annotated.shared import Shared
from .bindings import names_of, statements
from .classes import of_definition
from .decorations import Decorations
from .files import File
from .finding import Found, functions_of, is_property
from .interpret import Interpreter, TooMuchError, UninterpretedError
from .overloads import Overload, joined
from .places import DecoratedClass, StubPlaces
from .pyrefly import Dialect, dialect_of
from .tree import Tree

# Says of a stub that each of its overloads is a spec of its own.
_APART = re.compile(r"^# shapedsl: overloads apart\s*$", re.MULTILINE)


def read_functions(tree: Tree, report: Report) -> Module:
    """Returns the specs of a stub.

    Args:
        tree: The file.
        report: Receives what is wrong with each.
    """
    file = File(tree)
    reader = _Reader(file, dialect_of(tree, file.scope, report), report)
    read: list[Overload] = []
    for found in functions_of(tree.module.body, file.scope):
        signature = reader.signature(found)
        if signature is not None:
            read.append(Overload(signature, found.overloaded, found.nested))
    return Module(tuple(_numbered(read if _APART.search(tree.source.text) else joined(read))))


def _numbered(read: list[Overload]) -> Iterator[Signature]:
    """Yields signatures with the number that tells those of one name apart.

    The first is the one that Python finds by that name: an implementation before its overloads, if it says something,
    and what stands within functions last.
    """
    counts: dict[str, int] = {}
    numbers: dict[int, int] = {}
    for place in sorted(range(len(read)), key=lambda place: (read[place].nested, read[place].overloaded)):
        name = read[place].signature.name
        numbers[place] = counts[name] = counts.get(name, 0) + 1
    for place, overload in enumerate(read):
        yield replace(overload.signature, index=numbers[place])


class _Reader:
    """Reads the functions of one file."""

    def __init__(self, file: File, dialect: Dialect | None, report: Report) -> None:
        self._file = file
        self._dialect = dialect
        self._report = report
        self._classes: dict[cst.ClassDef, tuple[Facts, Facts] | None] = {}
        self._class_places: dict[cst.ClassDef, DecoratedClass] = {}
        self._forwards: dict[cst.ClassDef, bool] = {}

    def signature(self, found: Found) -> Signature | None:
        """Returns what a function says of shapes; None if nothing, or if it is none that can be called by its name."""
        try:
            signature = self._read(found)
        except RecursionError:
            at = self._file.tree.source.span(0, 0)
            self._report.error("input-too-large", f"`{found.name}` nests too deep to be read", at=at)
            return None
        if signature is None:
            return None
        if is_property(found):
            self._skip(found, f"`{found.name}` is a property, which is never called: what it says is no spec")
            return None
        if found.shadowed is not None:
            self._skip(found, f"`{found.name}` is defined again below, and that is the one that counts")
            return None
        return signature

    def _skip(self, found: Found, message: str) -> None:
        self._report.emit(Severity.NOTE, "inexpressible", message, at=self._file.tree.span(found.node.name))

    def _read(self, found: Found) -> Signature | None:
        if self._dialect is not None and self._dialect.skips(found):
            return None
        function = self._function(found, self._report)
        raw = function.raw(self._shared(found))
        told = Report()
        signature = read_raw(raw, function.interpreter, function.places, told)
        for diagnostic in told:
            if (
                diagnostic.code == "unsupported-union"
            ):  # no fault of the stub: what it says has no words in the language
                diagnostic = replace(diagnostic, severity=Severity.WARNING)
            if diagnostic.code != "unused-declaration" or not function.declares(diagnostic):
                self._report.add(diagnostic)
        return signature

    def _function(self, found: Found, report: Report) -> _Function:
        spoken = self._dialect is not None and self._dialect.mine(found)
        return _Function(self._file, found, report, self._dialect if spoken else None, self._said_of(found))

    # ----------------------------------------------------------------------------- classes

    def _said_of(self, found: Found) -> Facts | None:
        """Returns what the decorators of a class say of the function: of its ``forward``."""
        said = self._class(found.owner)
        return said[1] if said is not None and found.node.name.value == "forward" else None

    def _class(self, owner: cst.ClassDef | None) -> tuple[Facts, Facts] | None:
        if owner is None or not owner.decorators:
            return None
        if owner not in self._classes:
            interpreter = Interpreter(self._file.scope, self._file.source_of, self._file)
            decorations = Decorations(owner.decorators, interpreter, self._file.tree, self._report)
            self._classes[owner] = decorations.of_class()
        return self._classes[owner]

    def _shared(self, found: Found) -> Shared | None:
        """Returns what the class of a function shares with it."""
        owner, said = found.owner, self._class(found.owner)
        if owner is None or said is None:
            return None
        places = self._class_places.setdefault(owner, DecoratedClass(self._file.tree, owner))
        prefix = found.name.rpartition(".")[0]

        def others() -> Iterator[Collection[str]]:
            around = found.scope.outer or found.scope
            for each in functions_of([owner], around.outer or around):
                if each.owner is owner and each.node is not found.node:
                    function = self._function(replace(each, name=f"{prefix}.{each.node.name.value}"), Report())
                    alone = function.raw(Shared(said[0], places))
                    yield sizes_of(alone, function.interpreter, function.places)

        return Shared(said[0], places, self._has_forward(owner), others)

    def _has_forward(self, owner: cst.ClassDef) -> bool:
        if owner not in self._forwards:
            methods = [each for each in statements(owner.body.body) if isinstance(each, cst.FunctionDef)]
            self._forwards[owner] = any(each.name.value == "forward" for each in methods)
        return self._forwards[owner]


class _Function:
    """One function being read.

    Attributes:
        interpreter: Interprets its annotations.
        places: Where its parts stand.
    """

    def __init__(
        self, file: File, found: Found, report: Report, dialect: Dialect | None, said_of_class: Facts | None
    ) -> None:
        self._file = file
        self._tree = file.tree
        self._found = found
        self._report = report
        self._dialect = dialect
        self._said_of_class = said_of_class
        self._declared: Collection[str] = ()
        self.interpreter = (
            Interpreter(found.scope, file.source_of, file)
            if dialect is None
            else dialect.interpreter(found, file.source_of, file)
        )
        self.places = StubPlaces(file.tree, found.node, found.decorators)

    def raw(self, shared: Shared | None) -> RawCallable:
        """Returns what is known of the function, as Python would know it."""
        found = self._found
        parameters, annotations = self._parameters()
        facts = Decorations(found.node.decorators, self.interpreter, self._tree, self._report).of_function(
            self._said_of_class
        )
        if self._dialect is not None:
            self._dialect.receiver(found, annotations)
            before = frozenset[str]() if facts is None else frozenset(facts.consts)
            facts = self._dialect.facts(found, facts)
            self._declared = facts.consts.keys() - before
        receiver = None
        first = parameters[0] if parameters else None
        if (
            first is not None
            and "." in found.name
            and first.name in ("self", "cls")
            and first.kind in (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL_OR_KEYWORD)
        ):
            receiver = first.name
            del parameters[0]
            if receiver in annotations or (facts is not None and receiver in facts.params):
                parameters.insert(0, RawParameter(receiver, ParamKind.POSITIONAL_OR_KEYWORD, False))
        return RawCallable(
            found.name,
            tuple(parameters),
            receiver,
            annotations,
            facts,
            shared=shared,
            owner=self._owner(),
            lenient=True,
        )

    def declares(self, diagnostic: Diagnostic) -> bool:
        """Whether a finding is about a size that nobody declared but the dialect, for the class has it."""
        return diagnostic.span is not None and diagnostic.span.text in self._declared

    def _owner(self) -> FieldClass | None:
        """Returns the class that ``Self`` means, if it has fields."""
        owner = self._found.owner
        if owner is None:
            return None
        body = self._found.scope.outer or self._found.scope
        found = of_definition(owner, Interpreter(body.outer or body, self._file.source_of, self._file))
        return found if isinstance(found, FieldClass) else None

    def _parameters(self) -> tuple[list[RawParameter], dict[str, object]]:
        rows = self._found.node.params
        kinds: list[tuple[cst.Param, ParamKind]] = [(p, ParamKind.POSITIONAL_ONLY) for p in rows.posonly_params]
        kinds += [(p, ParamKind.POSITIONAL_OR_KEYWORD) for p in rows.params]
        if isinstance(rows.star_arg, cst.Param):
            kinds.append((rows.star_arg, ParamKind.VAR_POSITIONAL))
        kinds += [(p, ParamKind.KEYWORD_ONLY) for p in rows.kwonly_params]
        if rows.star_kwarg is not None:
            kinds.append((rows.star_kwarg, ParamKind.VAR_KEYWORD))
        annotations: dict[str, object] = {}
        for row, _ in kinds:
            if row.annotation is not None:
                self._annotate(annotations, row.name.value, f"parameter `{row.name.value}`", row.annotation.annotation)
        returns = self._found.node.returns
        if returns is not None:
            self._annotate(annotations, "return", "the return value", returns.annotation)
        return [RawParameter(p.name.value, kind, p.default is not None) for p, kind in kinds], annotations

    def _annotate(self, annotations: dict[str, object], name: str, what: str, node: cst.BaseExpression) -> None:
        """Adds what an annotation means; one that cannot be read and speaks of shapes is reported, and says nothing."""
        try:
            annotations[name] = self.interpreter.value(node)
        except UninterpretedError as error:
            if isinstance(error, TooMuchError) or self._speaks(node):
                self._report.warning(
                    "unresolved-annotation",
                    f"`{self._found.name}`: the annotation of {what} was not read; it is taken as static",
                    at=self._tree.span(node),
                    label=str(error).partition("\n")[0],
                )

    def _speaks(self, node: cst.CSTNode) -> bool:
        """Whether something of shapes stands in an expression."""
        if isinstance(node, (cst.Name, cst.Attribute)):
            try:
                value = self.interpreter.value(node)
            except UninterpretedError:
                value = None
            if isinstance(value, Form) or (isinstance(value, Symbol) and type(value) is Symbol):
                return True
            if hasattr(value, "dtypes") or isinstance(value, FieldClass):  # one of jaxtyping's
                return True
            if getattr(value, "__module__", "") == "torch" and getattr(value, "__name__", "") == "Tensor":
                return True
        return any(map(self._speaks, node.children))


__all__ = ["Found", "names_of", "read_functions"]
