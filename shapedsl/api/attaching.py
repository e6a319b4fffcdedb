"""Put specs from a file on the callables they name, so that torch finds them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, cast

from ..attached import AttachedSpec
from ..diagnostics import Diagnostic, Report, Severity, ShapeError, ShapeWarning
from ..targets.entry.parameters import call_signature
from .callables import plain_function
from .sources import SPEC_ATTRIBUTE, as_specs
from .spec import Spec, stack_level

if TYPE_CHECKING:
    from .sources import SpecLike

MISSING = object()


def attach(specs: Mapping[str, Spec] | SpecLike, namespace: Any) -> list[str]:
    """Puts every spec on the callable it names, as ``@shapes`` would; ``name@2`` specs are left out.

    Args:
        specs: A `SpecFile`, a `Spec`, a path (``PathLike``, or a str ending in ``.shapes``), or text.
        namespace: A package or module, whose submodules are imported as names ask for them; or a
            class, a mapping, or any object with the callables as attributes. ``pkg.mod.fn`` is looked
            up as it is, or below ``namespace`` where that is called ``pkg`` or ``pkg.mod``.

    Returns:
        The names that were not found, each also told as a ``ShapeWarning`` with code ``unknown-spec``.

    Raises:
        ShapeError: ``unknown-parameter``: a callable lacks what its spec speaks of. The others are attached.
            Or the file cannot be read, or its text is wrong.
        TypeError: ``specs`` is none of these.
    """
    missing: list[str] = []
    report = Report()
    for key, spec in as_specs(specs).items():
        if spec.signature.index != 1:
            continue
        function = _function(find(namespace, key))
        if function is None:
            missing.append(key)
            near = get_close_matches(key.rpartition(".")[2], _names(namespace), n=1)
            finding = Diagnostic(
                "unknown-spec",
                Severity.WARNING,
                f"`{key}` names no Python function in {_title(namespace)}",
                helps=(f"did you mean `{near[0]}`?",) if near else (),
            )
            warnings.warn(str(ShapeError([finding])), ShapeWarning, stacklevel=stack_level())
            continue
        try:
            call_signature(function, spec.signature)
        except ShapeError as error:
            for diagnostic in error.diagnostics:
                report.add(diagnostic)
            continue
        setattr(function, SPEC_ATTRIBUTE, spec)
        function._dynamic_spec = AttachedSpec(function)  # type: ignore[attr-defined]
    report.raise_errors()
    return missing


def find(namespace: Any, key: str) -> Any:
    """Returns what ``key`` names, or `MISSING`."""
    for path in _paths(namespace, key):
        found = namespace
        for name in path:
            found = _member(found, name)
            if found is MISSING:
                break
        else:
            return found
    return MISSING


def _paths(namespace: Any, key: str) -> Iterator[list[str]]:
    """Yields the ways to read ``key`` below ``namespace``: whole, then without the namespace's own name."""
    parts = key.split(".")
    yield parts
    own = getattr(namespace, "__name__", "")
    own_parts = own.split(".") if isinstance(own, str) else []
    for length in range(len(own_parts), 0, -1):
        if parts[:length] == own_parts[-length:]:
            yield parts[length:]


def _member(owner: Any, name: str) -> Any:
    if isinstance(owner, Mapping):
        return cast("Mapping[str, Any]", owner).get(name, MISSING)
    found = getattr(owner, name, MISSING)
    if found is MISSING and isinstance(owner, ModuleType) and hasattr(owner, "__path__"):
        qualified = f"{owner.__name__}.{name}"
        try:
            return import_module(qualified)
        except ModuleNotFoundError as error:
            if error.name != qualified:  # the submodule is there, and lacks something else
                raise
    return found


def _function(found: Any) -> FunctionType | None:
    """Returns the function whose attributes torch reads, if ``found`` has one."""
    function = plain_function(found)
    return function if isinstance(function, FunctionType) else None


def _names(namespace: Any) -> list[str]:
    return [*map(str, cast("Mapping[str, Any]", namespace))] if isinstance(namespace, Mapping) else dir(namespace)


def _title(namespace: Any) -> str:
    name = getattr(namespace, "__name__", None)
    return f"`{name}`" if isinstance(name, str) else f"this {type(namespace).__name__}"
