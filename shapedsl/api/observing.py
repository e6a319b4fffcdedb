"""``sd.observe``: what sizes a callable is called with; ``suggest``: the spec, the cases and the buckets that follow."""

from __future__ import annotations

import atexit
import functools
import inspect
import os
import re
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, cast, overload

from ..diagnostics import Report
from ..ir.write import write_signature
from ..serving.profiles.histogram import LIMIT
from ..serving.profiles.profile import Profile
from ..serving.profiles.recorder import Recorder, parameters_of
from ..targets.tensors import torch_for
from .callables import is_module
from .numbers_given import count
from .sources import callable_name, carried_spec
from .spec import warn
from .suggesting import Choices, Suggestion, spec_name, suggest_profile

if TYPE_CHECKING:
    from torch.nn import Module as TorchModule
    from typing_extensions import Unpack


class Observer:
    """Reads calls, and keeps what an observed callable offers besides its call."""

    def __init__(self, recorder: Recorder, path: str | os.PathLike[str] | None) -> None:
        self._recorder = recorder
        self._path = path
        self.read, self.returned, self.raised = recorder.read, recorder.returned, recorder.raised

    def __reduce__(self) -> tuple[type[Observer], tuple[Any, ...]]:
        return Observer, (self._recorder, self._path)

    @property
    def profile(self) -> Profile:
        """A copy of what this process has seen so far."""
        return self._recorder.profile

    def save(self, path: str | os.PathLike[str] | None = None) -> None:
        """Adds the calls since the last save to a file.

        Any number of threads, processes and ranks may save to one file: what it holds already is kept, and the file is
        replaced at once, under a lock (``FILE.lock``). ``{rank}`` and ``{pid}`` in ``path`` stand for this process's.
        A file that is no whole profile is put aside, and the warning ``damaged-profile`` says where.

        Args:
            path: The file; by default the one that `observe` was told.

        Raises:
            OSError: It cannot be written. Nothing is lost: the next save has the calls.
            TypeError: There is no path.
            ValueError: Something else than ``rank`` or ``pid`` is in braces.
        """
        where = self._path if path is None else path
        if where is None:
            raise TypeError("save() needs a path, or observe(path=...)")
        _require_path(where)
        report = Report()
        self._recorder.save(Path(_filled(os.fspath(where))), report)
        warn(report)

    def suggest(self, k: int | None = None, **choices: Unpack[Choices]) -> Suggestion:
        """Returns what the calls so far suggest; the arguments are those of `shapedsl.suggest`.

        Raises:
            ShapeError: ``empty-profile``: there are none; or as `suggest_profile`.
        """
        return suggest_profile(self.profile, k, **choices)


class Observed:
    """A function whose calls are counted. It is called, bound as a method, and looked at as the function itself."""

    def __init__(self, call: Callable[..., Any], observer: Observer) -> None:
        functools.update_wrapper(self, call)
        self._call = call
        self._observer = observer
        self.save, self.suggest = observer.save, observer.suggest

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Calls the function, and counts the call."""
        return self._call(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Returns itself bound to ``instance``, as a function in a class does."""
        return self if instance is None else BoundObserved(self, instance)

    @property
    def profile(self) -> Profile:
        """A copy of what this process has seen so far."""
        return self._observer.profile

    def __reduce__(self) -> str:
        """Copied and pickled as functions are: by name."""
        return str(getattr(self._call, "__qualname__", ""))

    def __repr__(self) -> str:
        return f"<observed {getattr(self._call, '__qualname__', self._call)}>"


class BoundObserved:
    """An observed method of an instance. Dynamo follows it where it would not follow a `MethodType` of an object."""

    def __init__(self, observed_: Observed, instance: object) -> None:
        self.__func__ = observed_
        self.__self__ = instance

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Calls the method, and counts the call."""
        return self.__func__(self.__self__, *args, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        """The parameters without the receiver."""
        return inspect.signature(MethodType(self.__func__, self.__self__))

    def __getattr__(self, name: str) -> Any:
        """Returns what the method has."""
        if name in ("__func__", "__self__"):
            raise AttributeError(name)
        return getattr(self.__func__, name)


def _require_path(path: object) -> None:
    """Refuses what is no path, and what would make all ranks save to one file by a slip.

    Raises:
        TypeError: ``path`` is none.
        ValueError: Something else than ``rank`` or ``pid`` is in braces.
    """
    if path is None:
        return
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a profile is saved to a path, not to {path!r}")
    for name in re.findall(r"\{(\w*)\}", os.fspath(cast("str", path))):
        if name not in ("rank", "pid"):
            raise ValueError(f"{{{name}}} is nothing that a path can have: there are {{rank}} and {{pid}}")


def _filled(path: str) -> str:
    rank = os.environ.get("RANK") or os.environ.get("SLURM_PROCID") or "0"
    return path.replace("{rank}", rank).replace("{pid}", str(os.getpid()))


@overload
def observe(
    fn: Callable[..., Any],
    *,
    path: str | os.PathLike[str] | None = None,
    limit: int = LIMIT,
    outputs: bool = True,
) -> Any: ...
@overload
def observe(
    fn: None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    limit: int = LIMIT,
    outputs: bool = True,
) -> Callable[[Callable[..., Any]], Any]: ...
def observe(
    fn: Callable[..., Any] | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    limit: int = LIMIT,
    outputs: bool = True,
) -> Any:
    """Returns ``fn``, which counts the sizes of its calls; a module gives a module. Also a decorator.

    Memory is bounded: of one structure (ranks, dtypes, lengths, None-ness), ``limit`` different rows of sizes are kept.
    Calls inside a trace are not counted, nor are calls that raise. A call costs a few microseconds more.

    Args:
        fn: A function, method, partial, callable object or module.
        path: Saves there when the interpreter ends, and is where ``save()`` saves.
        limit: How many different calls are kept of one structure.
        outputs: Whether what the first calls return is remembered too, for the return type.

    Returns:
        A callable with ``.profile``, ``.save(path)`` and ``.suggest(k)``.

    Raises:
        TypeError: ``fn`` cannot be called, or ``path`` or ``limit`` is not of its type.
        ValueError: ``limit`` is less than 1, or something else than ``rank`` or ``pid`` is in braces in ``path``.
        ImportError: torch is not installed or too old.

    Example:
        >>> import torch, shapedsl as sd
        >>> @sd.observe
        ... def double(x):
        ...     return x + x
        >>> double(torch.zeros(3, 4)).shape
        torch.Size([3, 4])
        >>> double.profile.calls
        1
    """
    limit = count("limit", limit, 1)
    _require_path(path)
    if fn is None:

        def decorate(target: Callable[..., Any]) -> Any:
            return observe(target, path=path, limit=limit, outputs=outputs)

        return decorate
    given: Any = fn
    if type(given) in (staticmethod, classmethod):
        return type(given)(observe(given.__func__, path=path, limit=limit, outputs=outputs))
    if not callable(fn):
        raise TypeError(f"observe() takes a callable, not {fn!r}")
    torch_for("observing calls")
    from ..targets.observed import ObservedModule, Recipe, is_tensor, observed

    parameters = _parameters(fn)
    receiver = next(iter(parameters.parameters), None) if parameters is not None else None
    recorder = Recorder(
        Profile(_name(fn), parameters_of(parameters), limit, spec=_spec_text(fn)),
        parameters,
        is_tensor,
        outputs=outputs,
        receiver=receiver if receiver in ("self", "cls") else None,
    )
    observer = Observer(recorder, path)
    if path is not None:
        _save_at_exit(observer)
    if is_module(fn):
        return ObservedModule(cast("TorchModule", fn), Recipe(observer))
    return Observed(observed(fn, observer), observer)


def _name(fn: Callable[..., Any]) -> str:
    return spec_name(callable_name(fn).removeprefix("__main__."))


def _parameters(fn: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(fn.forward if is_module(fn) else fn)  # type: ignore[attr-defined]  # a module has it
    except (TypeError, ValueError):  # a builtin
        return None


def _spec_text(fn: Callable[..., Any]) -> str | None:
    spec = carried_spec(fn, warn_ignored=False)
    return None if spec is None else write_signature(spec.signature)


def _save_at_exit(observer: Observer) -> None:
    """Saves when the interpreter ends, if the callable is still there; a forked child saves its own calls."""
    alive = weakref.ref(observer)
    pid = os.getpid()

    def save() -> None:
        found = alive()
        if found is None:
            return
        if os.getpid() != pid and not found.profile.calls:
            return
        try:
            found.save()
        except OSError as error:
            sys.stderr.write(f"shapedsl: a profile could not be saved: {error}\n")

    atexit.register(save)


__all__ = ["Observed", "observe"]
