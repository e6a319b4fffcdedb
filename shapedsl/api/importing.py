"""Find specs in code that is named as ``MODULE`` or ``MODULE:OBJECT``; the module is imported."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from importlib import import_module
from types import ModuleType
from typing import Any, cast

from ..diagnostics import Diagnostic, Severity, ShapeError
from ..ir import Module, Signature
from ..normalize.compare import completed
from .attaching import MISSING, find
from .callables import is_module
from .sources import as_spec, choose, spec_of
from .spec_file import SpecFile


@dataclass(frozen=True, slots=True)
class Annotated:
    """Specs from code, beside a file's.

    Attributes:
        signatures: Under the names that the file has for them.
        others: The file's, as they are to be compared: with the parameters that only the code lists.
    """

    signatures: tuple[Signature, ...]
    others: tuple[Signature, ...] = ()


def annotated(target: str, others: Sequence[Signature] | None) -> Annotated:
    """Returns the specs of ``pkg.mod`` or ``pkg.mod:Net.forward``.

    Args:
        target: What to import.
        others: A file's specs, which say what is looked for; None where there is no file.

    Raises:
        ImportError: There is no such module or object, or importing it failed.
        ShapeError: It has no spec, or its annotations are wrong, or it is not clear which spec of the file is meant.
    """
    name, colon, _ = target.partition(":")
    if not colon:
        return _of_module(_imported(name), others)
    found = object_at(target)
    if inspect.isclass(found):
        found = getattr(found, "forward", found)  # a module is called by it
    if not callable(found):
        raise ImportError(f"`{target}` is nothing that can be called")
    signature = as_spec(None, found).signature
    if others is None:
        return Annotated((signature,))
    chosen = others[0] if len(others) == 1 else choose(SpecFile(Module(tuple(others))), None, found).signature
    return Annotated((_called(signature, chosen),), (completed(chosen, signature),))


def object_at(target: str) -> Any:
    """Returns what ``pkg.mod:net.layer`` names.

    Raises:
        ImportError: There is no such module or object, or importing it failed.
    """
    name, _, path = target.partition(":")
    if name.endswith(".py") or os.sep in name:
        module = os.path.relpath(name).removesuffix(".py").replace(os.sep, ".")
        cure = f"`{module}:{path}`" if not module.startswith(".") else "its module, with its folder in PYTHONPATH"
        raise ImportError(f"`{name}` is no module: name {cure}")
    found: Any = _imported(name)
    for part in path.split("."):
        found = getattr(found, part, MISSING)
        if found is MISSING:
            raise ImportError(f"`{name}` has no `{path}`")
    return found


def callable_at(target: str) -> Any:
    """Returns what can be called of ``pkg.mod:net``; a class is made, and one that is a module put into eval mode.

    Args:
        target: ``pkg.mod:make()`` for what a function returns.

    Raises:
        ImportError: There is no such thing, or it is nothing that can be called, or it cannot be made.
    """
    if ":" not in target:
        raise ImportError(f"`{target}` names no object: write MODULE:OBJECT")
    found = object_at(target.removesuffix("()"))
    if target.endswith("()"):
        found = _call(target, found)
    elif inspect.isclass(found):
        found = _call(target, found)
        if is_module(found):
            found.eval()
    if not callable(found):
        raise ImportError(f"`{target}` is nothing that can be called")
    return found


def calls_at(target: str) -> list[tuple[Sequence[Any], Mapping[str, Any]]]:
    """Returns the calls that ``pkg.mod:calls`` holds, or returns.

    Raises:
        ImportError: There is no such thing, or it raises.
        TypeError: It holds no calls.
    """
    found = object_at(target.removesuffix("()"))
    calls: object = _call(target, found) if callable(found) else found
    held = list(cast("Iterable[object]", calls)) if isinstance(calls, Iterable) else [None]
    if not all(map(_is_call, held)):
        raise TypeError(f"`{target}` holds no calls: each is (args, kwargs)")
    return cast("list[tuple[Sequence[Any], Mapping[str, Any]]]", held)


def _is_call(value: object) -> bool:
    if not isinstance(value, (tuple, list)) or len(cast("Sequence[object]", value)) != 2:
        return False
    args, kwargs = cast("Sequence[object]", value)
    return isinstance(args, (tuple, list)) and isinstance(kwargs, Mapping)


def _call(target: str, function: Any) -> Any:
    try:
        return function()
    except Exception as error:
        raise ImportError(f"making `{target}` failed: {type(error).__name__}: {error}") from error


def _of_module(module: ModuleType, others: Sequence[Signature] | None) -> Annotated:
    """Returns the module's specs: those that the file names, then those that it does not."""
    signatures: list[Signature] = []
    completed_others: list[Signature] = []
    seen: set[int] = set()
    for other in others or ():
        found = find(module, other.name)
        if found is MISSING or not callable(found):
            completed_others.append(other)
            continue
        seen.add(id(getattr(found, "__func__", found)))
        signature = as_spec(None, found).signature
        signatures.append(_called(signature, other))
        completed_others.append(completed(other, signature))
    unnamed = [function for function in _functions(module) if id(function) not in seen]
    signatures += [found for function in unnamed if (found := _spec(function)) is not None]
    if not signatures:
        finding = f"`{module.__name__}` has no specs"
        raise ShapeError([Diagnostic("unknown-spec", Severity.ERROR, finding, helps=("annotate its functions",))])
    return Annotated(tuple(signatures), tuple(completed_others))


def _called(signature: Signature, other: Signature) -> Signature:
    return replace(signature, name=other.name, index=other.index)


def _functions(module: ModuleType) -> Iterator[Any]:
    """Yields the functions that are defined in a module, and the methods of its classes."""
    for member in list(vars(module).values()):
        if getattr(member, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(member):
            yield member
        elif inspect.isclass(member):
            yield from (each for each in vars(member).values() if inspect.isfunction(each))


def _spec(function: Any) -> Signature | None:
    """Returns the spec of a function that asks for one."""
    found = spec_of(function)
    return None if found is None else found.signature


def _imported(name: str) -> ModuleType:
    """Imports a module as ``python -m`` would: the current folder comes first."""
    folder = os.getcwd()
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    try:
        with redirect_stdout(sys.stderr):  # what a module prints is none of our output
            return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise ImportError(f"`{name}` is neither a file nor a module: there is no module `{error.name}`") from None
        raise ImportError(f"importing `{name}` failed: {error}") from error
    except (Exception, SystemExit) as error:
        raise ImportError(f"importing `{name}` failed: {type(error).__name__}: {error}") from error


__all__ = ["Annotated", "annotated", "callable_at", "calls_at", "object_at"]
