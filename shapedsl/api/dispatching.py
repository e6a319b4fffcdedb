"""``sd.dispatch``: one callable, served by an artifact for each alternative of its spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

from .. import pipeline
from ..diagnostics import Report, Severity, ShapeError
from ..targets.tensors import torch_for
from .entries import lower_expanded
from .lowering import judge_for
from .padding import check_dispatched, claimed, require_unpad
from .sources import as_spec
from .spec import Spec, warn
from .verifying_dispatched import before_serving, verify_dispatched

if TYPE_CHECKING:
    from torch.nn import Module as TorchModule

    from .dispatched import Dispatched, DispatchedModule
    from .lowering import LoweringName
    from .sources import SpecLike

P = ParamSpec("P")
R = TypeVar("R")


class Decorator(Protocol):
    """Dispatches what it is given."""

    @overload
    def __call__(self, fn: TorchModule, /) -> DispatchedModule: ...  # type: ignore[overload-overlap]  # a module is callable
    @overload
    def __call__(self, fn: Callable[P, R], /) -> Dispatched[P, R]: ...


@overload
def dispatch(
    fn: TorchModule,
    spec: SpecLike | None = None,
    *,
    strict: bool = False,
    unpad: Mapping[str, Callable[..., Any]] | None = None,
    verify: bool | int = False,
    lowering: LoweringName = "unbacked",
    **torch_compile_kwargs: Any,
) -> DispatchedModule: ...
@overload
def dispatch(
    fn: Callable[P, R],
    spec: SpecLike | None = None,
    *,
    strict: bool = False,
    unpad: Mapping[str, Callable[..., Any]] | None = None,
    verify: bool | int = False,
    lowering: LoweringName = "unbacked",
    **torch_compile_kwargs: Any,
) -> Dispatched[P, R]: ...
@overload
def dispatch(
    fn: None = None,
    spec: SpecLike | None = None,
    *,
    strict: bool = False,
    unpad: Mapping[str, Callable[..., Any]] | None = None,
    verify: bool | int = False,
    lowering: LoweringName = "unbacked",
    **torch_compile_kwargs: Any,
) -> Decorator: ...
def dispatch(
    fn: Callable[..., Any] | TorchModule | None = None,
    spec: SpecLike | None = None,
    *,
    strict: bool = False,
    unpad: Mapping[str, Callable[..., Any]] | None = None,
    verify: bool | int = False,
    lowering: LoweringName = "unbacked",
    **torch_compile_kwargs: Any,
) -> Any:
    """Returns ``fn`` served by an artifact for each alternative of its spec; a module gives a module.

    A call is checked, and runs the artifact of the first alternative that asks for its sizes; each is compiled when
    it is first needed, or ahead by ``.warm()``. What no alternative takes is refused before torch sees it.
    ``.stats()`` tells which artifacts ran, ``.explain(*args)`` which one a call takes and why. Also a decorator.

    Args:
        fn: A function, method, builtin, partial, callable object or module.
        spec: A `Spec`, a path, text or a ShapesSpec; by default the annotations of ``fn``.
        strict: Whether sizes that no alternative takes, alternatives that overlap, ones that are never reached, and
            padding without a reason or a check that it passed (see `check_padding`) are errors, instead of warnings.
        unpad: What crops an output that a bucket padded, by its path: ``{"return[1]": crop}``.
        verify: Whether each artifact is compared with ``fn`` before it serves, on the call that needs it and on sizes
            that are drawn from its own: True, or how many. One that computes something else, or of which nothing can be
            known, never serves: that is said once (``wrong-artifact``), and a later artifact or ``fn`` does. So ``fn``
            runs more often than it is called.
        lowering: Of alternatives that do not say ``backed``: ``unbacked``, ``backed``, or ``auto``, where the first
            call of each artifact decides; see `compile`. What was chosen is the ``lowering`` of what is returned.
        **torch_compile_kwargs: Passed to ``torch.compile``. ``fullgraph`` is always on, and artifacts never serve each
            other's calls.

    Raises:
        ShapeError: The spec is wrong, or under ``strict`` its alternatives are; at a call: the inputs do not satisfy
            it, or no alternative takes their sizes (``no-alternative``).
        TypeError: ``fn`` cannot be called; ``unpad`` maps no paths to functions; or an option that the spec decides.
        RuntimeError: torch has no such backend, mode or option.
        ValueError: A key of ``unpad`` is no path into a result; or there is no such ``lowering``.
    """
    if fn is None:

        def decorate(target: Callable[..., Any] | TorchModule) -> Any:
            again: dict[str, Any] = {"unpad": unpad, "verify": verify, "lowering": lowering, **torch_compile_kwargs}
            return dispatch(target, spec, strict=strict, **again)

        return decorate
    torch_for("dispatching")
    from ..serving.dispatch.front import Recipe, dispatch_callable
    from ..targets.entry.compile import Passes, require_options
    from ..targets.padding import parse_path

    require_options(torch_compile_kwargs, "dispatch()")
    require_unpad(unpad)
    comparing = before_serving(verify)
    for path in unpad or {}:
        parse_path(path)
    found = as_spec(spec, fn)
    covered(found, strict=strict)
    claimed(fn, found, strict=strict, unpad=unpad)
    passes = Passes(lower_expanded, pipeline.solve, lowering, judge_for(lowering))
    offered: dict[str, Callable[..., Any]] = {"check_padding": check_dispatched, "verify": verify_dispatched}
    recipe = Recipe(found.signature, passes, torch_compile_kwargs, unpad or {}, found, offered, comparing)
    return dispatch_callable(fn, recipe)


def covered(spec: Spec, *, strict: bool) -> None:
    """Says what the alternatives of ``spec`` leave out, take twice, or never get.

    Raises:
        ShapeError: The spec is contradictory, or a bucket cannot pad; or, if ``strict``, there is something to say.
    """
    spec.normal()
    report = Report()
    pipeline.check_buckets(spec.signature, report)
    pipeline.raise_if_wrong(report)
    pipeline.cover(spec.signature, report)
    found = [each for each in report if each.severity is Severity.WARNING]
    if strict and found:
        raise ShapeError(found)
    warn(report)


__all__ = ["covered", "dispatch"]
