"""The stub library: which entry describes a live object, with the object's own sizes in it.

An entry is a class in a ``.pyi`` file under ``stubs/``, at the path of the module that it describes::

    # stubs/torch/nn/modules/linear.pyi
    @shapes("const in_features, out_features = _")
    class Linear:
        def forward(self, input: Tensor[L["*batch, in_features"]]) -> Tensor[L["*batch, out_features"]]: ...

`stub_for` finds it by the object's class, gives each const the value of the object's attribute, and leaves out the
overloads that are not about such an object::

    >>> print(sd.stub_for(torch.nn.Linear(6, 5)))
    class torch.nn.modules.linear.Linear:
        def forward(self, input: Tensor[*batch, 6]) -> Tensor[*batch, 5]: ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any, Final

from .. import pipeline
from ..assets import asset
from ..diagnostics import Diagnostic, Report, Severity, ShapeError
from ..ir import AnyType, OptionalType, Param, Signature, Type, VariableKind
from ..ir.write import write_signature
from .objects import attribute, inside, misfit
from .spec import Spec, is_tensor, warn

_FOLDER: Final = "stubs"
_SPACED: Final = re.compile(r"([(\[{]) |,? ([)\]}])")  # what breaking a long line put into its brackets


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of the library.

    Attributes:
        name: The dotted name of the class or function, ``torch.nn.modules.linear.Linear``.
        specs: Its specs, with sizes that come from attributes by name.
    """

    name: str
    specs: tuple[Signature, ...]


@dataclass(frozen=True, slots=True)
class _Stub:
    """A file of the library.

    Attributes:
        signatures: Of its functions and methods, by name within the module, in file order.
        literals: The values of attributes that its classes are about.
    """

    signatures: Mapping[str, tuple[Signature, ...]]
    literals: Mapping[str, Mapping[str, tuple[Any, ...]]]


def stub_for(
    target: Any,
    name: str | None = None,
    *,
    args: tuple[Any, ...] | None = None,
    kwargs: Mapping[str, Any] | None = None,
) -> Spec | None:
    """Returns the library's spec of an object, its class or a function; None if the library has none.

    Sizes that come from the object, such as ``in_features``, are numbers in the spec. Of several specs of one method,
    those for other kinds of objects (``batch_first=False``) are left out, and the first of the rest is taken.

    Args:
        target: A module, as a rule; a class leaves its sizes open.
        name: The method, ``"forward"`` unless it is named; ``"forward@2"`` is the second of its specs in the stub.
        args: An example call: the first spec that describes it is taken.
        kwargs: Its keyword arguments.

    Raises:
        ShapeError: ``unknown-spec``: the object or its entry has nothing called ``name``; or the example fits none of its specs.
        TypeError: ``name`` is no str, ``args`` no tuple; or the example call lacks a parameter or has one too many.

    Warns:
        ShapeWarning: ``unknown-spec``: there is an entry, but it does not describe this object, and why.

    Example:
        >>> spec = sd.stub_for(torch.nn.Conv1d(4, 6, kernel_size=3))
        >>> print(spec)
        class torch.nn.modules.conv.Conv1d:
            def forward(self, input: Tensor[B, 4, T]) -> Tensor[B, 6, T - 2]:
                where T >= 3
    """
    _check_arguments(name, args)
    method, _, index = (name or "forward").partition("@")
    found = _specs(target, method)
    if found is None:
        if is_known(target) and not any(method in vars(base) for base in _class(target).__mro__):
            raise _unknown(f"`{_class(target).__qualname__}` has no method `{method}`")
        return None
    full, specs = found
    if index:
        specs = [spec for spec in specs if str(spec.signature.index) == index]
    if not specs:
        raise _unknown(f"the library's entry for `{full}` has no `{name}` that describes this object")
    if args is None and kwargs is None:
        return specs[0]
    return _fitting(specs, tuple(args or ()), dict(kwargs or {}))


def _check_arguments(name: object, args: object) -> None:
    """Raises TypeError for slips: a tensor in the place of a tuple would be taken apart."""
    if not isinstance(name, (str, type(None))):
        raise TypeError(f"name is a str such as 'forward@2', not {type(name).__qualname__}")
    if not isinstance(args, (tuple, list, type(None))):
        raise TypeError(f"args is a tuple of a call's arguments, not {type(args).__qualname__}: write `args=(x,)`")


def _unknown(message: str) -> ShapeError:
    return ShapeError([Diagnostic("unknown-spec", Severity.ERROR, message)])


def is_known(target: Any) -> bool:
    """Returns whether the library has an entry for ``target``, whatever it says of it."""
    try:
        stubs = ((each, _stub(each.__module__)) for each in _class(target).__mro__)
        return any(stub is not None and f"{each.__qualname__}.forward" in stub.signatures for each, stub in stubs)
    except ShapeError:  # what reads stubs is not installed
        return False


def _specs(target: Any, method: str) -> tuple[str, list[Spec]] | None:
    """Returns the name of the entry of ``target``, and its specs that are about such an object."""
    if type(target) is MethodType:
        return _specs(target.__self__, target.__name__)
    if type(target) is FunctionType:
        stub, full = _stub(str(target.__module__)), f"{target.__module__}.{target.__qualname__}"
        signatures = () if stub is None else stub.signatures.get(target.__qualname__, ())
        return (full, [_spec(each, full) for each in signatures]) if signatures else None
    cls = _class(target)
    for base in cls.__mro__:
        stub = _stub(base.__module__)
        signatures = () if stub is None else stub.signatures.get(f"{base.__qualname__}.{method}", ())
        if stub is None or not signatures:
            continue
        full = f"{base.__module__}.{base.__qualname__}"
        reason = misfit(target, base, method, signatures, stub.literals.get(base.__qualname__, {}))
        values = {} if cls is target else dict(_values(target, signatures))
        about = [] if reason is not None else list(_about(signatures, values))
        if about:
            return full, [_spec(each, f"{full}.{method}") for each in about]
        report = Report()
        reason = reason or f"none of its {len(signatures)} specs is about one with such attributes"
        report.warning("unknown-spec", f"the library's entry for `{full}` does not describe this object: {reason}")
        warn(report)
        return None
    return None


def _class(target: Any) -> type[Any]:
    """Returns a class itself, or the class of an object, which is not asked: it may raise."""
    return target if issubclass(type(target), type) else type(target)  # pyright: ignore[reportUnknownVariableType]


def _about(signatures: Sequence[Signature], values: Mapping[str, int]) -> Iterator[Signature]:
    """Yields the signatures that are about an object with these values, with the values in them."""
    for signature in signatures:
        instance = pipeline.instantiate(signature, values) if values else signature
        if instance is not None:
            yield instance


def _spec(signature: Signature, name: str) -> Spec:
    """Returns a spec under its full name, resolved.

    Raises:
        ShapeError: The stub is wrong.
    """
    renamed = replace(signature, name=name)
    report = Report()
    pipeline.resolve_open(renamed, report)
    report.raise_errors()
    return Spec(renamed, report.diagnostics)


# ------------------------------------------------------------------------------------ values


def _values(target: Any, signatures: Sequence[Signature]) -> Iterator[tuple[str, int]]:
    """Yields each const of ``signatures`` that ``target`` has a value for."""
    consts = {v.name for each in signatures for v in each.variables if v.kind is VariableKind.CONST}
    for name in sorted(consts):
        value = attribute(target, name)
        if value is None:
            value = attribute(inside(target, "config"), name)
        if value is not None:
            yield name, value


# ------------------------------------------------------------------------------ which overload


def _fitting(specs: Sequence[Spec], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Spec:
    """Returns the first spec that describes all of a call; else the first that accepts it.

    Raises:
        ShapeError: None accepts it; it says why the first does not.
    """
    accepting: list[Spec] = []
    refusal: ShapeError | TypeError | None = None
    for spec in specs:
        try:
            spec.check(*args, **kwargs)
        except (ShapeError, TypeError) as error:
            refusal = refusal or error
            continue
        accepting.append(spec)
        if _describes(spec, args, kwargs):
            return spec
    if accepting:
        return accepting[0]
    assert refusal is not None
    raise refusal


def _describes(spec: Spec, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Returns whether no tensor is passed where the spec says nothing, nor one tensor where it has two types."""
    arguments = pipeline.bind_arguments(spec.signature, args, kwargs)
    types = {param.name: _inner(param) for param in spec.signature.params}
    seen: dict[int, Type] = {}
    for name, value in arguments.items():
        if is_tensor(value):
            type_ = types[name]
            if isinstance(type_, AnyType) or seen.setdefault(id(value), type_) != type_:
                return False
    return True


def _inner(param: Param) -> Type:
    return param.type.inner if isinstance(param.type, OptionalType) else param.type


# ------------------------------------------------------------------------------------ files


def _stub(module: str) -> _Stub | None:
    """Returns the library's file for a module."""
    base = asset(_FOLDER).joinpath(*module.split("."))
    for path in (base.with_name(f"{base.name}.pyi"), base / "__init__.pyi"):
        if path.is_file():
            return _read(path)
    return None


@cache
def _read(path: Path) -> _Stub:
    """Returns a file of the library.

    Raises:
        ShapeError: It is wrong.
    """
    report = Report()
    source = pipeline.read_file(path, report)
    report.raise_errors()
    assert source is not None
    module = pipeline.read_stub(source, report)
    report.raise_errors()
    signatures: dict[str, tuple[Signature, ...]] = {}
    for signature in module:
        signatures[signature.name] = (*signatures.get(signature.name, ()), signature)
    return _Stub(signatures, pipeline.literal_attributes(source))


def listing() -> list[Listed]:
    """Returns the entries of the library, by name."""
    folder = asset(_FOLDER)
    found: dict[str, list[Signature]] = {}
    for path in sorted(folder.rglob("*.pyi")):
        parts = path.relative_to(folder).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for name, signatures in _read(path).signatures.items():
            owner = name.rpartition(".")[0] or name
            renamed = [replace(each, name=f"{module}.{name}") for each in signatures]
            found.setdefault(f"{module}.{owner}", []).extend(renamed)
    return [Listed(name, tuple(found[name])) for name in sorted(found)]


def listed_text(name: str | None = None) -> str:
    """Returns the entries, a line for each spec; or the specs of those called ``name``.

    Args:
        name: A dotted name or the end of one, ``Linear`` or ``nn.modules.linear.Linear``.

    Raises:
        ShapeError: ``unknown-spec``: there is none.
    """
    entries = listing()
    if name is None:
        return "\n".join(line for entry in entries for line in (entry.name, *map(_line, entry.specs)))
    chosen = [entry for entry in entries if entry.name == name or entry.name.endswith(f".{name}")]
    if not chosen:
        message, known = f"the library has no entry `{name}`", {entry.name.rpartition(".")[2] for entry in entries}
        alike = get_close_matches(name.rpartition(".")[2].lower(), {each.lower() for each in known})
        near = sorted(each for each in known if each.lower() in alike)
        help_ = (
            f"did you mean {' or '.join(f'`{each}`' for each in near)}?" if near else "`--list` alone shows them all"
        )
        raise ShapeError([Diagnostic("unknown-spec", Severity.ERROR, message, helps=(help_,))])
    return "\n\n".join(write_signature(each) for entry in chosen for each in entry.specs)


def _line(signature: Signature) -> str:
    """Returns a spec's key, what it is for, and its tensors, in one line."""
    key = signature.key.rpartition(".")[2]
    bare = replace(signature, name=key, constraints=(), variables=(), values=(), doc=None, index=1, receiver=None)
    text = " ".join(write_signature(bare).split()).removeprefix("def ").removesuffix(": ...")
    text = _SPACED.sub(lambda found: found[1] or found[2], text)
    return f"    {text}" + (f"  # {signature.doc}" if signature.doc else "")


__all__ = ["Listed", "is_known", "listed_text", "listing", "stub_for"]
