"""IR → a stub in the annotations' spellings, which type checkers accept and `frontends.stubs` reads back.

Before::

    def project(x: Tensor[B, 2 * D], state: {"h": Tensor[B]}, n: Scalar[n] = _) -> Tensor[B, D]:
        dim B in [1, 64] hint 8
        where n < 4

After::

    @shapes(
        \"\"\"
        dim B in [1, 64] hint 8
        where n < 4
        \"\"\",
        params={"state": '{"h": Tensor[B]}'},
    )
    def project(x: Tensor[Literal["B, 2 * D"]], state: Any, n: Scalar[Literal["n"]] = ...) -> Tensor[B, D]: ...

A type that Python has no spelling for is a keyword's string. What a def does not say of its return value
is `Incomplete`, which a type checker takes for anything and the reader for nothing. Functions of a dotted
name stand in classes of that name; what all names begin with is told once, at the top.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ..diagnostics import Report, Severity
from ..layout import WIDTH, fit
from .dims import Const
from .specs import Module, Param, ParamKind, Signature
from .types import (
    AnyType,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Rest,
    ScalarType,
    SequenceType,
    TensorType,
    Type,
)
from .write_clauses import MARGIN
from .write_defs import write_body
from .write_sizes import write_dim
from .write_types import write_type

# Overloads that differ in shapes only are one and the same to a type checker; and the reader is not to make cases of them.
_OVERLOADS = """\
# shapedsl: overloads apart
# mypy: disable-error-code="overload-cannot-match,overload-overlap"
# pyright: reportOverlappingOverload=false, reportInconsistentOverload=false
"""
_LETTER = re.compile(r"[A-Z]\Z")  # a name that `shapedsl.dims` declares for strict checkers too
_STANDARD = ("builtins", "typing")
_STARS = {ParamKind.VAR_POSITIONAL: "*", ParamKind.VAR_KEYWORD: "**"}


def write_pyi(module: Module, report: Report) -> str:
    """Returns the text of a stub; the reader of stubs gives equal IR.

    Args:
        module: Its signatures; those of one name become overloads.
        report: Receives ``inexpressible`` for a name that Python cannot spell; that signature is left out. And for a
            number that overloads do not have.
    """
    signatures = [signature for signature in module if _is_python(signature, report)]
    prefix = _shared_prefix(signatures)
    root = _Class()
    for signature in signatures:
        *owners, name = signature.name.split(".")[len(prefix) :]
        root.inside(owners).add(name, signature)
    root.order(report)
    writer = _Writer({part for signature in signatures for part in signature.name.split(".")[len(prefix) :]})
    body = list(writer.members(root, ""))
    head = [f"# shapedsl: module {'.'.join(prefix)}"] if prefix else []
    head += [_OVERLOADS.rstrip()] if writer.overloads else []
    blocks = ["\n".join(head), "\n".join(writer.imports()), "\n".join(body)]
    return "\n\n".join(block for block in blocks if block) + "\n" if body else ""


def _is_python(signature: Signature, report: Report) -> bool:
    """Whether Python can spell the names; reports if not."""
    names = [*signature.name.split("."), *(param.name for param in signature.params)]
    wrong = [name for name in names if keyword.iskeyword(name) or not name.isidentifier()]
    for name in dict.fromkeys(wrong):
        report.error(
            "inexpressible",
            f"`{name}` is no name in Python: `{signature.key}` is left out of the stub",
            at=signature.span,
            help="rename it",
        )
    return not wrong


def _shared_prefix(signatures: Iterable[Signature]) -> list[str]:
    """Returns what the names of all modules begin with; a method's class stays."""
    shared: list[str] | None = None
    for signature in signatures:
        owners = signature.name.split(".")[: -1 if signature.receiver is None else -2]
        if shared is None:
            shared = owners
        shared = [ours for ours, theirs in zip(shared, owners, strict=False) if ours == theirs][
            : _equal(shared, owners)
        ]
    return shared or []


def _equal(first: list[str], second: list[str]) -> int:
    """Returns how many leading items are equal."""
    for i, (ours, theirs) in enumerate(zip(first, second, strict=False)):
        if ours != theirs:
            return i
    return min(len(first), len(second))


@dataclass(slots=True)
class _Class:
    """A class or the file: by name, its classes and functions, in the order of their first mention."""

    members: dict[str, _Class | list[Signature]] = field(default_factory=dict[str, "_Class | list[Signature]"])

    def inside(self, names: Iterable[str]) -> _Class:
        """Returns the class that ``names`` lead to, made if need be."""
        found = self
        for name in names:
            inner = found.members.setdefault(f"class {name}", _Class())
            assert isinstance(inner, _Class)
            found = inner
        return found

    def add(self, name: str, signature: Signature) -> None:
        """Adds a function, or another signature of one."""
        several = self.members.setdefault(name, [])
        assert isinstance(several, list)
        several.append(signature)

    def order(self, report: Report) -> None:
        """Puts the signatures of each name in the order of their numbers, which is all that a stub tells of these."""
        for member in self.members.values():
            if isinstance(member, _Class):
                member.order(report)
                continue
            member.sort(key=lambda signature: signature.index)
            for place, signature in enumerate(member, 1):
                if signature.index != place:
                    again = replace(signature, index=place)
                    message = f"`{signature.key}` is `{again.key}` in the stub: overloads are counted from 1"
                    report.emit(Severity.NOTE, "inexpressible", message, at=signature.span)


class _Writer:
    """Writes functions and collects what they import.

    Attributes:
        overloads: Whether a function has several signatures.
    """

    def __init__(self, defined: set[str]) -> None:
        """Args:
        defined: The names that the stub defines; what is imported is called otherwise.
        """
        self._defined = defined
        self._imported: dict[str, set[str]] = {}
        self._spoken = False
        self.overloads = False

    def imports(self) -> list[str]:
        """Returns the import statements, sorted as linters want them."""
        lines: list[str] = []
        for module in sorted(self._imported, key=lambda module: (module not in _STANDARD, module)):
            names = sorted(self._imported[module], key=lambda name: (name[:1].islower(), name))
            plain = [name for name in names if self._local(name) == name]
            lines += [f"from {module} import {', '.join(plain)}"] if plain else []
            lines += [f"from {module} import {name} as {self._local(name)}" for name in names if name not in plain]
        standard = [line for line in lines if line.split()[1] in _STANDARD]
        others = lines[len(standard) :]
        return [*standard, *([""] if standard and others else []), *others]

    def _local(self, name: str) -> str:
        local = f"_{name}" if name in self._defined else name
        while local in self._defined:  # no second one before it, which Python would mangle in classes
            local += "_"
        return local

    def _builtin(self, name: str) -> str:
        """Returns one of Python's own names, imported if the stub has another thing of that name."""
        return self._use("builtins", name) if name in self._defined else name

    def _use(self, module: str, name: str) -> str:
        self._imported.setdefault(module, set()).add(name)
        return self._local(name)

    # --------------------------------------------------------------------------- functions

    def members(self, owner: _Class, margin: str) -> Iterator[str]:
        """Yields the lines of a class's body, or of the file's."""
        before: object = None
        for name, member in owner.members.items():
            if before is not None and (isinstance(before, _Class) or isinstance(member, _Class)):
                yield ""
            before = member
            if isinstance(member, _Class):
                yield f"{margin}{name}:"
                yield from self.members(member, margin + MARGIN)
                continue
            self.overloads = self.overloads or len(member) > 1
            for signature in member:
                if len(member) > 1:
                    yield f"{margin}@{self._use('typing', 'overload')}"
                yield from (margin + line if line else "" for line in self._function(name, signature, margin))

    def _function(self, name: str, signature: Signature, margin: str) -> Iterator[str]:
        """Yields the lines of one function, its decorators first."""
        self._spoken = False
        strings: dict[str, str] = {}
        params = self._params(signature, strings, in_class=bool(margin))
        returns, said = "", None
        if signature.returns is None:
            returns = self._use("_typeshed", "Incomplete")
        else:
            spelled = self._type(signature.returns)
            returns = spelled or self._use("typing", "Any")
            said = write_type(signature.returns) if spelled is None else None
        if margin and signature.receiver is None:
            yield f"@{self._builtin('staticmethod')}"
        elif margin and signature.receiver == "cls":
            yield f"@{self._builtin('classmethod')}"
        clauses = write_body(signature, len(margin) + 8)
        if clauses or strings or said is not None or not self._spoken:
            yield from self._decorator(clauses, strings, said, len(margin))
        line = f"def {name}({', '.join(params)}) -> {returns}: ..."
        if len(margin) + len(line) <= WIDTH:
            yield line
            return
        yield f"def {name}("
        yield from (f"{MARGIN}{param}," for param in params)
        yield f") -> {returns}: ..."

    def _decorator(
        self, clauses: list[str], strings: dict[str, str], returns: str | None, column: int
    ) -> Iterator[str]:
        """Yields ``@shapes(…)`` with the body of a def and the types that no annotation spells."""
        shapes = self._use("shapedsl", "shapes")
        entries = [f"{_text(name)}: {_text(type_)}" for name, type_ in strings.items()]
        params = f"params={{{', '.join(entries)}}}"
        said = [] if returns is None else [f"returns={_text(returns)}"]
        short = f"@{shapes}({', '.join([params, *said] if strings else said)})"
        if not clauses and column + len(short) <= WIDTH:
            yield short if strings or said else f"@{shapes}"
            return
        yield f"@{shapes}("
        yield from self._literal(clauses, column + 4)
        if strings and column + 4 + len(params) + 1 > WIDTH:
            yield f"{MARGIN}params={{"
            yield from (f"{MARGIN}{MARGIN}{entry}," for entry in entries)
            yield f"{MARGIN}}},"
        elif strings:
            yield f"{MARGIN}{params},"
        yield from (f"{MARGIN}{each}," for each in said)
        yield ")"

    def _literal(self, clauses: list[str], column: int) -> Iterator[str]:
        """Yields the body of a def as a string of several lines; nothing for an empty one."""
        if not clauses:
            return
        rows = [row for clause in clauses for row in _rows(clause, column)]
        text = "\n".join(rows)
        raw = "\\" in text and '"""' not in text
        if not raw:
            rows = [row.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') for row in rows]
        yield f'{MARGIN}{"r" if raw else ""}"""'
        yield from (MARGIN + row for row in rows)
        yield f'{MARGIN}""",'

    def _params(self, signature: Signature, strings: dict[str, str], *, in_class: bool) -> list[str]:
        """Returns what stands between the parentheses; ``strings`` receives the types of keywords."""
        params = signature.params
        written: list[str] = []
        if in_class and signature.receiver is not None and not (params and params[0].name == signature.receiver):
            written.append(signature.receiver)
        open_slash = starred = False
        for param in params:
            if open_slash and param.kind is not ParamKind.POSITIONAL_ONLY:
                written.append("/")
            open_slash = param.kind is ParamKind.POSITIONAL_ONLY
            if param.kind is ParamKind.KEYWORD_ONLY and not starred:
                written.append("*")
            starred = starred or param.kind in (ParamKind.KEYWORD_ONLY, ParamKind.VAR_POSITIONAL)
            annotation = self._annotation(param)
            if annotation is None:
                strings[param.name] = write_type(param.type)
                annotation = self._use("typing", "Any")
            default = " = ..." if param.default else ""
            written.append(f"{_STARS.get(param.kind, '')}{param.name}: {annotation}{default}")
        return [*written, "/"] if open_slash else written

    def _annotation(self, param: Param) -> str | None:
        """Returns the annotation of a parameter; None if only a keyword's string says it."""
        if param.kind is ParamKind.VAR_KEYWORD:
            return self._type(param.type) if isinstance(param.type, AnyType) else None
        if param.kind is not ParamKind.VAR_POSITIONAL or isinstance(param.type, AnyType):
            return self._type(param.type)
        match param.type:
            case SequenceType(items=(item,), rest=Rest.REPEAT, times=None) if not isinstance(
                item, (SequenceType, AnyType)
            ):
                return self._type(item)
            case _:
                return None

    # ------------------------------------------------------------------------------- types

    def _type(self, type_: Type) -> str | None:
        """Returns ``type_`` as an annotation; None if Python has no spelling for it, and nothing is imported then."""
        before = {module: set(names) for module, names in self._imported.items()}, self._spoken
        spelled = self._spelled(type_)
        if spelled is None:
            self._imported, self._spoken = before
        return spelled

    def _spelled(self, type_: Type) -> str | None:
        match type_:
            case AnyType():
                return self._use("typing", "Any")
            case NoneType():
                return "None"
            case TensorType():
                return self._tensor(type_)
            case ScalarType(size=size):
                self._spoken = True
                name = self._use("shapedsl", "Scalar")
                return name if size is None else f"{name}[{self._dims((write_dim(size),))}]"
            case OptionalType(inner=TensorType() | ScalarType() | SequenceType() as inner):
                spelled = self._type(inner)
                return None if spelled is None else f"{spelled} | None"
            case SequenceType():
                return self._sequence(type_)
            case OptionalType() | MappingType() | ObjectType():
                return None

    def _tensor(self, type_: TensorType) -> str | None:
        if type_.dtype is not None and type_.dtype.variable is not None:
            return None
        self._spoken = True
        if type_.dtype is None:
            name = self._use("shapedsl", "Tensor")
        else:
            name = f"{self._use('shapedsl', 'dtypes')}.{type_.dtype.name}"
        if type_.dims is None:
            return name
        return f"{name}[{self._dims(tuple(map(write_dim, type_.dims))) if type_.dims else '()'}]"

    def _dims(self, texts: tuple[str, ...]) -> str:
        """Returns dims as type arguments: classes of `shapedsl.dims` where they are such names, else one literal."""
        if all(_LETTER.match(text) and text not in self._defined for text in texts):
            return ", ".join(self._use("shapedsl.dims", text) for text in texts)
        return f'{self._use("typing", "Literal")}["{", ".join(texts)}"]'

    def _sequence(self, type_: SequenceType) -> str | None:
        items = [self._type(item) for item in type_.items]
        spelled = [item for item in items if item is not None]
        if len(spelled) < len(items):
            return None
        one = len(spelled) == 1 and not isinstance(type_.items[0], AnyType)
        match type_:
            case SequenceType(kind="tuple", rest=Rest.NONE, times=None):
                return f"{self._builtin('tuple')}[{', '.join(spelled) or '()'}]"
            case SequenceType(kind="tuple", rest=Rest.REPEAT, times=None) if one:
                return f"{self._builtin('tuple')}[{spelled[0]}, ...]"
            case SequenceType(kind="list", rest=Rest.REPEAT, times=None) if one:
                return f"{self._builtin('list')}[{spelled[0]}]"
            case SequenceType(kind="list", rest=Rest.NONE, times=Const(value=times)) if one:
                return f"{self._use('typing', 'Annotated')}[{self._builtin('list')}[{spelled[0]}], {times}]"
            case _:
                return None


def _rows(clause: str, column: int) -> list[str]:
    """Returns a clause as rows that fit; a block's lines are indented already."""
    text = clause.lstrip(" ")
    indent = clause[: len(clause) - len(text)]
    return [indent + row for row in fit(text, column + len(indent))]


def _text(text: str) -> str:
    """Returns a Python string, in double quotes where it holds none."""
    return repr(text) if '"' in text or "\\" in text or not text.isprintable() else f'"{text}"'


__all__ = ["write_pyi"]
