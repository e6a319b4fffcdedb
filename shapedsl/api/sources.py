"""Where specs come from: files, text, callables, JSON, torch. And which spec of a file is meant."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from .. import pipeline
from ..diagnostics import Diagnostic, Report, Severity, ShapeError, Source
from ..ir import Module, Signature
from ..ir.json import MalformedJsonError
from ..ir.json import from_json as read_json
from ..ir.write import write_signature
from .callables import carries_torch_spec, is_module, plain_function
from .library import is_known
from .spec import Spec, warn
from .spec_file import SpecFile

if TYPE_CHECKING:
    from torch.fx.experimental.dynamic_spec import ShapesSpec
    from torch.nn import Module as TorchModule

    SpecLike: TypeAlias = "Spec | SpecFile | str | os.PathLike[str] | ShapesSpec"


# Where `attach` leaves a spec on a function.
SPEC_ATTRIBUTE: Final = "__shapedsl_spec__"
_TEXT: Final = re.compile(r"\s*(def|dim|int|const|let|language|from|#)\b.|.*\n", re.DOTALL)  # how no path begins


def load(path: str | os.PathLike[str], *, consts: Mapping[str, int] | None = None) -> SpecFile:
    """Returns the specs of a ``.shapes`` file.

    Args:
        path: The file; imports are relative to it.
        consts: Overrides of ``const`` statements, ``"file.shapes:NAME"`` for an imported one.

    Raises:
        ShapeError: Everything that is wrong with the file, in one go.
    """
    if isinstance(path, str) and _TEXT.match(path) and not os.path.exists(path):
        raise _error("unreadable-file", "this is text, not the path of a file", "text is read by `loads`")
    if os.fspath(path).endswith((".py", ".pyi")):
        message = f"`{os.fspath(path)}` is Python, not the text of specs"
        raise _error("unreadable-file", message, "Python is read by `from_stub`")
    report = Report()
    source = pipeline.read_file(Path(path), report)
    report.raise_errors()
    assert source is not None
    return _file(source, report, consts, Path(path).parent)


def loads(text: str, *, name: str = "<string>", consts: Mapping[str, int] | None = None) -> SpecFile:
    """Returns the specs of ``text``; imports are relative to the current folder.

    Args:
        text: What a ``.shapes`` file would hold.
        name: What messages call it.
        consts: Overrides of ``const`` statements.

    Raises:
        ShapeError: Everything that is wrong with the text, in one go.

    Example:
        >>> spec = loads("def f(x: Tensor[B, 2*B]): where B < 32")["f"]
        >>> print(spec)
        def f(x: Tensor[B, 2 * B]):
            where B < 32
    """
    if isinstance(text, os.PathLike) or _is_path(text):
        reader = "from_stub" if os.fspath(text).endswith((".py", ".pyi")) else "load"
        raise _error("syntax-error", f"`{os.fspath(text)}` is a path, not text", f"a file is read by `{reader}`")
    return _file(Source(name, text), Report(), consts, Path())


def _is_path(text: str) -> bool:
    return text.endswith((".shapes", ".py", ".pyi")) and "\n" not in text  # of Python `load` says what reads it


def _file(source: Source, report: Report, consts: Mapping[str, int] | None, base: Path) -> SpecFile:
    module = pipeline.read(source, report, consts=consts, base=base)
    for signature in module:
        pipeline.resolve(signature, report)
    report.raise_errors()
    found = SpecFile(module, report.diagnostics)
    warn(report)
    return found


def from_json(text: str) -> Spec | SpecFile:
    """Returns what `Spec.to_json` or `SpecFile.to_json` wrote.

    Raises:
        ShapeError: ``syntax-error``: the text is not such a document.
    """
    try:
        node = read_json(text)
    except MalformedJsonError as error:
        raise ShapeError([Diagnostic("syntax-error", Severity.ERROR, f"not a spec in JSON: {error}")]) from None
    _require_writable(node)
    return Spec(node) if isinstance(node, Signature) else SpecFile(node)


def _require_writable(node: Signature | Module) -> None:
    """Refuses IR that no text means: an unknown name, a variable without a row, a reserved word.

    Parameters may have any name that Python knows, which text cannot spell; those are not compared.

    Raises:
        ShapeError: ``syntax-error``.
    """
    signatures = (node,) if isinstance(node, Signature) else node.signatures
    for signature in signatures:
        if not all(param.name.isascii() for param in signature.params):
            continue
        report = Report()
        module = pipeline.read(Source("<json>", write_signature(signature)), report)
        pipeline.resolve(signature, report)
        if report.errors or tuple(module) != (signature,):
            why = report.errors[0].message if report.errors else "its variables or constraints do not belong together"
            message = f"not a spec in JSON: no text says what `{signature.name}` says: {why}"
            raise ShapeError([Diagnostic("syntax-error", Severity.ERROR, message)])


def from_torch(spec: ShapesSpec) -> Spec:
    """Returns torch's own ``ShapesSpec`` as a spec.

    Raises:
        ShapeError: It says something this language cannot.
        TypeError: It is none.
        ImportError: torch is not installed or too old.
    """
    from ..targets.read import read
    from ..targets.tensors import torch_for

    if not isinstance(spec, Mapping) and not type(spec).__module__.startswith("torch."):
        raise TypeError(f"from_torch() takes a ShapesSpec, not {type(spec).__name__}")
    torch_for("reading a ShapesSpec")
    report = Report()
    signature = read(spec, report)
    report.raise_errors()
    assert signature is not None
    return Spec(signature, report.diagnostics)


def spec_of(target: Callable[..., Any] | TorchModule) -> Spec | None:
    """Returns the spec of a function, method, class or module: from its annotations, or what is attached.

    Warns ``spec-ignored`` where torch would not see what is attached.

    Returns:
        None if there is neither shape text nor `shapes` nor an attached spec.

    Raises:
        ShapeError: The annotations are wrong.
    """
    return carried_spec(target, warn_ignored=True)


def carried_spec(target: Callable[..., Any] | TorchModule, *, warn_ignored: bool) -> Spec | None:
    """Returns what `spec_of` does; an entry point of ours obeys the spec wherever it lies, and warns of nothing."""
    from ..frontends.annotated import read_callable
    from ..targets.ignored import warn_if_ignored
    from .overrides import overridden

    served: Any = getattr(target, "spec", None)
    if getattr(target, "dispatcher", None) is not None and isinstance(served, Spec):
        return served  # what `dispatch` was given counts, wherever it came from
    attached = getattr(plain_function(target), SPEC_ATTRIBUTE, None)
    report = Report()
    signature = read_callable(target, report)
    if isinstance(attached, Spec):
        return attached if signature is None else _unified(attached, signature, report)
    over = overridden(target, _own, report)
    if over is not None:
        signature = over.signature
    if signature is not None:
        pipeline.resolve(signature, report)
    report.raise_errors()
    if signature is None and carries_torch_spec(target):
        return from_torch(plain_function(target)._dynamic_spec)
    if warn_ignored and over is not None:
        over.tell(report)
    elif warn_ignored:
        warn_if_ignored(target, signature, report)
    warn(report)
    return None if signature is None else Spec(signature, report.diagnostics)


def _own(function: Callable[..., Any], report: Report) -> Signature | None:
    """Returns what stands on ``function`` itself, wherever it came from."""
    from ..frontends.annotated import read_callable

    attached = getattr(function, SPEC_ATTRIBUTE, None)
    signature = read_callable(function, report)
    if isinstance(attached, Spec):
        return attached.signature if signature is None else _unified(attached, signature, report).signature
    if signature is None and carries_torch_spec(function):
        return from_torch(plain_function(function)._dynamic_spec).signature
    return signature


def _unified(first: Spec, second: Signature, report: Report) -> Spec:
    """Returns what ``first`` and the callable's own annotations say together; ``first`` itself if that is all.

    Raises:
        ShapeError: ``conflicting-sources``, or what is wrong with either.
    """
    from ..frontends.merge import merge

    both = merge(first.signature, second, report)
    if both != first.signature:
        pipeline.resolve(both, report)
    report.raise_errors()
    return first if both == first.signature else Spec(both, (*first.diagnostics, *report.diagnostics))


def as_spec(spec: SpecLike | None, target: Callable[..., Any] | TorchModule | None = None) -> Spec:
    """Returns the one spec that is meant: what is given and what ``target`` carries, unified dim by dim.

    Args:
        spec: A `Spec`, a `SpecFile`, a path (``PathLike``, or a str ending in ``.shapes`` or
            ``.shapes:NAME``), text, torch's ShapesSpec, or None for ``target``'s own.
        target: Chooses among a file's specs by its name.

    Raises:
        ShapeError: ``ambiguous-spec``, ``unknown-spec``, ``conflicting-sources``, or what is wrong with the text.
        TypeError: ``spec`` is none of these.
    """
    given = None if spec is None else given_spec(spec, target)
    carried = None if target is None else carried_spec(target, warn_ignored=False)
    if given is not None:
        return given if carried is None else _unified(given, carried.signature, Report())
    if carried is None:
        from .overrides import overridden

        over = overridden(target, _own, Report())
        why = "" if over is None else f": it overrides one of `{over.owner}`, and {over.differs}"
        library = "; the library has one: `spec=sd.stub_for(…)`" if is_known(target) else ""
        raise _error(
            "unknown-spec", f"`{callable_name(target)}` has no spec{why}", f"annotate it, or pass `spec=`{library}"
        )
    return carried


def given_spec(spec: SpecLike, target: Callable[..., Any] | TorchModule | None) -> Spec:
    """Returns the spec that an argument means; what ``target`` itself carries is not looked at.

    Raises:
        ShapeError: ``ambiguous-spec``, ``unknown-spec``, or what is wrong with the text.
        TypeError: ``spec`` is none of those that `as_spec` takes.
    """
    if isinstance(spec, Spec):
        return spec
    if isinstance(spec, SpecFile):
        return choose(spec, None, target)
    if isinstance(spec, os.PathLike):
        return choose(load(spec), None, target)
    if isinstance(spec, str):
        path, separator, name = spec.rpartition(".shapes:")
        if separator and "\n" not in spec:
            return choose(load(path + ".shapes"), name, target)
        if _is_path(spec):
            return choose(load(spec), None, target)
        return choose(loads(spec), None, target)
    if type(spec).__module__.startswith("torch."):
        return from_torch(spec)
    raise TypeError(f"a spec is a Spec, a path, text or a ShapesSpec, not {type(spec).__name__}")


def as_specs(specs: Mapping[str, Spec] | SpecLike) -> Mapping[str, Spec]:
    """Returns all the specs that are meant, by name: of a file, its path or its text, or the one.

    Args:
        specs: A `SpecFile` or another mapping; a `Spec`; a path (``PathLike``, or a str ending in
            ``.shapes`` or ``.shapes:NAME``) or text.

    Raises:
        ShapeError: What is wrong with the text.
        TypeError: ``specs`` is none of these.
    """
    if isinstance(specs, os.PathLike):
        return load(specs)
    if isinstance(specs, str):
        path, separator, name = specs.rpartition(".shapes:")
        if separator and "\n" not in specs:
            specs = choose(load(path + ".shapes"), name, None)
        else:
            return load(specs) if _is_path(specs) else loads(specs)
    if isinstance(specs, Spec):
        return {specs.signature.key: specs}
    if isinstance(specs, Mapping) and all(isinstance(cast("object", spec), Spec) for spec in specs.values()):
        return specs
    raise TypeError(f"specs are a SpecFile, a Spec, a path or text, not {type(specs).__name__}")


def choose(file: SpecFile, name: str | None, target: Callable[..., Any] | TorchModule | None) -> Spec:
    """Returns the spec called ``name``, else the one ``target`` is named like, else the only one.

    Raises:
        ShapeError: ``unknown-spec`` or ``ambiguous-spec``.
    """
    listing = ", ".join(file) or "none"
    if name is not None:
        if name in file:
            return file[name]
        last = [key for key in file if key.rpartition(".")[2] == name]
        if len(last) == 1:
            return file[last[0]]
        raise _error("unknown-spec", f"there is no spec `{name}`", f"the file's specs are {listing}")
    if target is not None:
        full = callable_name(target)
        tails = [full.split(".", i)[i] for i in range(full.count(".") + 1)]
        for tail in tails:  # the longest name first
            matches = [key for key in file if key == tail or key.endswith(f".{tail}")]
            if len(matches) == 1:
                return file[matches[0]]
            if matches:
                raise _error(
                    "ambiguous-spec", f"several specs could be meant for `{full}`", f"name one of {', '.join(matches)}"
                )
    if len(file) == 1:
        return next(iter(file.values()))
    if not file:
        raise _error("unknown-spec", "the file has no specs", "write a `def`")
    if target is None:
        raise _error("ambiguous-spec", "several specs could be meant", f"name one of {listing}")
    called = callable_name(target)
    help_ = f"none is called `{called.rpartition('.')[2]}`; name one of {listing}"
    raise _error("ambiguous-spec", f"several specs could be meant for `{called}`", help_)


def callable_name(target: Any) -> str:
    """Returns the dotted name that a file would use for ``target``; a module's is its ``forward``'s."""
    while isinstance(target, partial):
        target = target.func
    if is_module(target):
        target = target.forward
    kind: Any = target if hasattr(target, "__qualname__") else cast("object", type(target))
    qualified = str(kind.__qualname__).rpartition("<locals>.")[2].replace("<lambda>", "_lambda")
    return f"{getattr(kind, '__module__', None) or ''}.{qualified}".lstrip(".")


def _error(code: str, message: str, help_: str) -> ShapeError:
    return ShapeError([Diagnostic(code, Severity.ERROR, message, helps=(help_,))])


__all__ = ["as_spec", "as_specs", "choose", "from_json", "from_torch", "given_spec", "load", "loads", "spec_of"]
