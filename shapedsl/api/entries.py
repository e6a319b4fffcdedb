"""torch's entry points with a spec: `compile`, `export`, `make_fx`, and what an annotated function carries for torch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from .. import pipeline
from ..diagnostics import Diagnostic, Report, Severity, ShapeError
from ..targets.tensors import torch_for
from .callables import refuse_receiver
from .exporting import Exporting
from .lowering import judge_for
from .sources import as_spec, carried_spec
from .spec import Spec, warn

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import GraphModule
    from torch.fx.experimental.dynamic_spec import ShapesSpec
    from torch.nn import Module as TorchModule

    from ..ir import Signature
    from ..ir.expanded import Expanded, Lowered
    from .lowering import LoweringName
    from .sources import SpecLike

# A module is callable; stubs of torch that make it generic keep that from type checkers.
Target = TypeVar("Target", bound="Callable[..., Any] | TorchModule")


@overload
def compile(
    fn: Target,
    spec: SpecLike | None = None,
    *,
    case: str | None = None,
    lowering: LoweringName = "unbacked",
    **torch_compile_kwargs: Any,
) -> Target: ...
@overload
def compile(
    fn: None = None,
    spec: SpecLike | None = None,
    *,
    case: str | None = None,
    lowering: LoweringName = "unbacked",
    **torch_compile_kwargs: Any,
) -> Callable[[Target], Target]: ...
def compile(
    fn: Callable[..., Any] | TorchModule | None = None,
    spec: SpecLike | None = None,
    *,
    case: str | None = None,
    lowering: LoweringName = "unbacked",
    **torch_compile_kwargs: Any,
) -> Any:
    """Returns ``fn`` compiled under its spec; a module gives a module.

    Sizes are checked before torch is asked, so that a call outside the spec raises at once and costs
    no compilation. One graph serves all sizes of one structure (ranks, lengths, None-ness, values of
    ``const _`` sizes); torch makes more for what the spec leaves static, dtypes, strides, and a size of 0
    behind the first dim. Also a decorator: ``@compile`` or ``@compile(spec=..., backend=...)``.

    Args:
        fn: A function, method, builtin, partial, callable object or module.
        spec: A `Spec`, a path, text or a ShapesSpec; by default the annotations of ``fn``.
        case: Lowers one alternative instead of the ``where`` part.
        lowering: ``unbacked``: torch is given a ShapesSpec. ``backed``: sizes are marked instead, for networks that
            torch computes wrongly without looking at sizes (convolutions under inductor on CPU); some have graphs of
            their own. ``auto``: unbacked, if the first call finds that it computes what ``fn`` does on sampled
            sizes; else backed, which is told once. What was chosen, and what it does not promise, is the ``lowering``
            of what is returned.
        **torch_compile_kwargs: Passed to ``torch.compile``. ``fullgraph`` and ``isolate_recompiles`` are always on.

    Raises:
        ShapeError: The spec is wrong; at a call: the inputs do not satisfy it, torch cannot compile
            the function under it (``data-dependent``), or under ``auto`` neither lowering serves.
        TypeError: An option that the spec decides: ``dynamic=``, ``dynamic_shapes=``, ``fullgraph=False``,
            ``isolate_recompiles=False``.
        ValueError: There is no such ``lowering``.
        RuntimeError: torch has no such backend, mode or option.
    """
    if fn is None:

        def decorate(target: Target) -> Target:
            return compile(target, spec, case=case, lowering=lowering, **torch_compile_kwargs)

        return decorate
    torch_for("compiling")
    from ..targets.entry.compile import compile_callable, require_options

    require_options(torch_compile_kwargs)
    judge = judge_for(lowering)
    found = _selected(as_spec(spec, fn), case, lowering)
    return compile_callable(
        fn,
        found.signature,
        lower_expanded,
        solve=pipeline.solve,
        lowering=lowering,
        judge=judge,
        **torch_compile_kwargs,
    )


def export(
    fn: Callable[..., Any] | TorchModule,
    args: tuple[Any, ...] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    spec: SpecLike | None = None,
    *,
    case: str | None = None,
    strict: bool = False,
    verify: bool | Collection[str] = True,
    lowering: LoweringName = "unbacked",
) -> ExportedProgram:
    """Returns ``fn`` exported under its spec, and compares the program with the spec.

    Args:
        fn: A module, function, method, partial or callable object.
        args: The example; it must satisfy the spec.
        kwargs: Its keyword arguments.
        spec: A `Spec`, a path, text or a ShapesSpec; by default the annotations of ``fn``.
        case: Lowers one alternative instead of the ``where`` part.
        strict: torch's own flag.
        verify: Whether the program may not promise less than the spec; a collection of codes
            (``merged-dims``, ``specialized-dim``, ``extra-assumption``) allows just these.
        lowering: ``unbacked``: torch is given a ShapesSpec. ``backed``: dims with ranges, and assumptions as guards of
            the program, for what AOTInductor computes wrongly without looking at sizes; where a size may be 0, the
            program is run and compared there. ``auto``: unbacked, if that can be traced and computes what ``fn`` does
            on sampled sizes; else backed, which is told.

    Raises:
        ShapeError: The spec is wrong, the example does not satisfy it, torch cannot trace under it
            (``data-dependent``), or the program does not keep it: ``merged-dims`` (two sizes became
            one), ``specialized-dim`` (a size became a number), ``extra-assumption`` (it demands what
            the spec does not imply). ``wrong-artifact``: a backed one does not do what ``fn`` does.
        ValueError: There is no such ``lowering``.
    """
    torch_for("exporting")
    judge_for(lowering)
    given = cast("object", args)
    if given is not None and not isinstance(given, (tuple, list)):
        raise TypeError(f"args= takes a tuple of example inputs, not {type(given).__name__}; write (example,)")
    named = cast("object", kwargs)
    if named is not None and not isinstance(named, Mapping):
        raise TypeError(f"kwargs= takes a dict of example inputs, not {type(named).__name__}; pass a spec as spec=")
    allowed = allowed_codes(verify)
    found = _selected(as_spec(spec, fn), case, lowering)
    refuse_receiver(found.signature)
    args, kwargs = tuple(args or ()), dict(kwargs or {})
    lowered = _lower_example(found, fn, _checker(found, fn), args, kwargs)

    def compare(program: ExportedProgram) -> None:
        if verify is not False:
            report = Report()
            pipeline.compare_program(program, lowered, report, allowed)
            report.raise_errors()
            warn(report)

    return Exporting(fn, (args, kwargs), lowered, strict, compare).program(lowering)


def make_fx(
    fn: Callable[..., Any] | TorchModule, spec: SpecLike | None = None, *, case: str | None = None, **options: Any
) -> Callable[..., GraphModule]:
    """Returns a function that traces ``fn`` at example inputs into a graph which obeys the spec.

    Args:
        fn: A function, module, method, partial or callable object.
        spec: A `Spec`, a path, text or a ShapesSpec; by default the annotations of ``fn``.
        case: Lowers one alternative instead of the ``where`` part.
        **options: torch's own, except ``tracing_mode`` and ``dynamic_shapes``.

    Raises:
        ShapeError: The spec is wrong; when called: the example does not satisfy it, or torch cannot trace under it.
    """
    torch_for("tracing")
    from ..targets.entry.make_fx import make_fx as trace_lowered

    found = _selected(as_spec(spec, fn), case)
    refuse_receiver(found.signature)
    check = _checker(found, fn)

    def trace(*args: Any, **kwargs: Any) -> GraphModule:
        lowered = _lower_example(found, fn, check, args, kwargs)
        return trace_lowered(fn, args, kwargs, lowered, check=check, **options)

    return trace


def allowed_codes(verify: bool | Collection[str]) -> frozenset[str]:
    """Returns the codes that a program check lets pass.

    Raises:
        TypeError: ``verify`` is neither a bool nor a collection of such codes.
    """
    if isinstance(verify, bool):
        return frozenset()
    codes = frozenset((verify,) if isinstance(verify, str) else verify)
    known = {"merged-dims", "specialized-dim", "extra-assumption"}
    if not codes <= known:
        wrong = ", ".join(sorted(map(str, codes - known)))
        raise TypeError(f"verify= takes a bool or codes among {', '.join(sorted(known))}, not {wrong}")
    return codes


def lower_attached(function: Callable[..., Any]) -> ShapesSpec:
    """Returns the ShapesSpec that torch reads off an annotated function; called on torch's first look.

    Raises:
        ShapeError: The annotations are wrong; ``unknown-rank``: torch cannot wait for the example.
    """
    return as_spec(None, function).to_torch()


def _selected(spec: Spec, case: str | None, lowering: str = "unbacked") -> Spec:
    """Returns the spec to lower, found satisfiable."""
    chosen = spec
    if case is not None:
        signature, mode = spec.selected(case)
        if mode != "compiled" and not (mode == "backed" and lowering != "unbacked"):
            message = f"`{case}` of `{spec.name}` runs {mode}: there is nothing to lower"
            raise ShapeError([Diagnostic("cases-not-lowered", Severity.ERROR, message, helps=("name another case",))])
        chosen = Spec(signature, spec.diagnostics)
    elif spec.signature.alternatives:
        spec.warn_cases()
    chosen.normal()
    return chosen


class Check:
    """The check of a call of a callable, which may take more than the spec lists. Picklable if the defaults are."""

    def __init__(self, signature: Signature, parameters: inspect.Signature) -> None:
        from ..runtime.check import checker

        self._made = signature, parameters
        self._check = checker(signature, torch_for("checking inputs"), parameters, solve=pipeline.solve)

    def __call__(self, /, *args: Any, **kwargs: Any) -> None:
        """Raises `ShapeError` where the arguments do not satisfy the spec."""
        self._check(*args, **kwargs)

    def __reduce__(self) -> tuple[type[Check], tuple[Signature, inspect.Signature]]:
        return Check, self._made


def _checker(spec: Spec, fn: Callable[..., Any]) -> Callable[..., None]:
    """Returns the check of a call of ``fn``."""
    from ..targets.entry.parameters import call_signature

    return Check(spec.signature, call_signature(fn, spec.signature))


def _lower_example(
    spec: Spec, fn: Callable[..., Any], check: Callable[..., None], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Lowered:
    """Checks the example (torch would not), and lowers the spec at its structure."""
    from ..targets.entry.parameters import call_signature

    check(*args, **kwargs)
    arguments = dict(call_signature(fn, spec.signature).bind(*args, **kwargs).arguments)
    return spec.lowered(arguments, allow_negative_ints=True)[0]


def checker_of(fn: Callable[..., Any]) -> Callable[..., None]:
    """Returns the check of a call of ``fn`` by its own spec; nothing is checked inside a trace, or where there is no spec.

    Raises:
        ShapeError: The spec of ``fn`` is wrong.
        ImportError: torch is not installed or too old.
    """
    spec = carried_spec(fn, warn_ignored=False)
    if spec is None:
        return _unchecked
    torch_for("checking calls")
    from ..targets.tracing import is_symbolically_traced, outside_traces

    check = outside_traces(_checker(spec, fn))
    note = f"in a call of `{getattr(fn, '__module__', None) or ''}.{spec.name}`".replace("`.", "`")

    def named(*args: Any, **kwargs: Any) -> None:
        try:
            check(*args, **kwargs)
        except ShapeError as error:
            if is_symbolically_traced():  # the arguments are no tensors
                return
            __tracebackhide__ = True  # pytest shows the call instead
            raise ShapeError([replace(each, notes=(*each.notes, note)) for each in error.diagnostics]) from None

    return named


def _unchecked(*args: object, **kwargs: object) -> None:
    del args, kwargs


def lower_expanded(expanded: Expanded, statics: Mapping[str, int], allow_negative_ints: bool) -> Lowered:
    """Returns the lowerable form; picklable, since a compiled module keeps it.

    Raises:
        ShapeError: There is none.
    """
    report = Report()
    lowered = pipeline.lower(expanded, report, statics=statics, allow_negative_ints=allow_negative_ints)
    report.raise_errors()
    assert lowered is not None  # no errors, so there is one
    return lowered
