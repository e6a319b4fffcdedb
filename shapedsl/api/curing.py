"""``sd.cure``: the assumptions under which a callable can be exported and compiled, found by tracing it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from .. import pipeline
from ..diagnostics import Report, ShapeError
from ..ir import AnyType, Signature, Var, VariableKind
from ..normalize.decide import range_of
from ..serving.examples.unmet import tell_unknown
from ..targets.tensors import torch_for
from .cured import Cured, cured_of
from .entries import Check, lower_expanded
from .examples import examples_of
from .numbers_given import count
from .sources import as_spec
from .spec import Spec

if TYPE_CHECKING:
    from torch.nn import Module as TorchModule

    from ..normalize.decide import Range
    from ..serving.curing.model import Entry
    from ..serving.curing.traces import Call
    from .sources import SpecLike

TRACES: Final = 8
# Of sizes without a hint: neither 0 nor 1, and no two alike, so that nothing is true by chance.
_TYPICAL: Final = (3, 10, 14, 6, 18, 7, 22, 5, 26, 9)


def cure(
    fn: Callable[..., Any] | TorchModule,
    spec: SpecLike | None = None,
    args: tuple[Any, ...] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    case: str | None = None,
    entries: Collection[str] = ("export", "compile"),
    traces: int = TRACES,
    static: Collection[str] = (),
    cases: bool = False,
    consts: Mapping[str, int] | None = None,
) -> Cured:
    """Returns ``spec`` with the assumptions under which ``fn`` can be traced, and a patch that adds them.

    It is traced, a question that the spec leaves open is read, the least that decides it is assumed, and it is traced
    again. What the program demands beside, such as the end of a position table, is assumed too. Nothing is weakened, no
    size becomes static unless ``static`` allows it, and no file is changed. A module is put back as it was.

    Args:
        fn: A function, method, module, partial or callable object.
        spec: A `Spec`, a path, text or a ShapesSpec; by default the annotations of ``fn``. Of a spec with
            alternatives each that is compiled is cured, and what it needs goes to its own block.
        args: An example; by default one is made, with the spec's hints.
        kwargs: Its keyword arguments.
        case: The one alternative that is meant.
        entries: ``"export"``, ``"compile"`` or both: they may need different assumptions.
        traces: How often each of them may trace, for each part of the spec.
        static: Sizes that may become static where the program needs the number itself.
        cases: Whether the sizes that assumptions leave out get cases in front, so that `dispatch` serves all that it
            served before.
        consts: Sizes that are given, those of ``const X = _`` among them, for an example that is made.

    Raises:
        ShapeError: The spec is wrong, the example does not satisfy it, or none can be made (``missing-input``);
            ``unknown-name``: ``consts`` has a size that the spec has not.
        TypeError: An argument is not of its type.
        ValueError: ``entries`` names no entry point, or ``traces`` is less than 1.

    Example:
        >>> def double(x):
        ...     return x * 2 if x.shape[0] > 1 else x
        >>> print(sd.cure(double, "def double(x: float32[B]): where B >= 1", entries=("export",)).spec)
        def double(x: float32[B]):
            where B >= 2
    """
    call = _call(args, kwargs)
    return cure_spec(
        fn,
        as_spec(spec, fn),
        call,
        case=case,
        entries=entries,
        traces=traces,
        static=static,
        cases=cases,
        consts=consts,
    )


def cure_spec(
    fn: Callable[..., Any],
    spec: Spec,
    call: Call | None,
    *,
    case: str | None = None,
    entries: Collection[str] = ("export", "compile"),
    traces: int = TRACES,
    static: Collection[str] = (),
    cases: bool = False,
    consts: Mapping[str, int] | None = None,
    overrides: Mapping[str, int] | None = None,
) -> Cured:
    """Returns what `cure` returns, of a spec that is known.

    Args:
        fn: As `cure` takes it.
        spec: Its spec.
        call: An example.
        case, entries, traces, static, cases, consts: As `cure` takes them.
        overrides: Of ``const`` statements, with which the spec was read.

    Raises:
        ShapeError: As `cure`.
        TypeError: As `cure`.
        ValueError: As `cure`.
    """
    torch_for("curing a spec")
    from ..serving.curing.plan import Curing
    from ..serving.curing.traces import Passes
    from ..targets.entry.parameters import call_signature
    from ..targets.tracing import records_gradients

    signature = spec.signature
    chosen = _entries(entries)
    most = count("traces", traces, 1)
    allowed = _static(static, signature)
    spec.normal()
    _refuse_attributes(signature)
    only = _position(signature, case)
    report = Report()
    tell_unknown(signature, consts or {}, report)
    report.raise_errors()
    if call is not None:
        Check(signature, call_signature(fn, signature))(*call[0], **call[1])

    def draw(wanted: Signature, like: Call | None, n: int) -> Sequence[Call]:
        try:
            return _examples(wanted, like, n, consts)
        except ShapeError as error:
            if like is None and error.code in ("missing-input", "shape-violation", "too-many-elements"):
                raise  # only the user can help
            return ()

    curing = Curing(
        fn,
        signature,
        Passes(lower_expanded, pipeline.solve, pipeline.static_sizes),
        draw,
        call,
        chosen,
        most,
        allowed,
        cases,
        records_gradients(),
    )
    return cured_of(curing.whole(only), spec, overrides)


def _refuse_attributes(signature: Signature) -> None:
    """Refuses a spec of the attributes of ``self``, of which export takes none.

    Raises:
        ShapeError: ``unsupported-by-torch``.
    """
    report = Report()
    for param in signature.params:
        if param.name == signature.receiver and not isinstance(param.type, AnyType):
            report.error(
                "unsupported-by-torch",
                f"a spec of attributes of `{param.name}` cannot be cured",
                at=param.span,
                help=f"pass what `{signature.name}` reads of `{param.name}` as arguments, or write the assumptions by hand",
            )
    report.raise_errors()


def _examples(signature: Signature, like: Call | None, n: int, consts: Mapping[str, int] | None) -> Sequence[Call]:
    """Returns examples, the first at sizes of which little is special."""
    spares = iter(_TYPICAL * (1 + len(signature.variables) // len(_TYPICAL)))
    stated = [constraint.predicate for constraint in signature.constraints]
    variables = tuple(
        replace(v, hint=_near(next(spares), range_of(signature.variables, stated, Var(v.name))))
        if v.hint is None and v.kind is VariableKind.DIM and not v.variadic
        else v
        for v in signature.variables
    )
    known = {name: size for name, size in (consts or {}).items() if signature.variable(name) is not None}
    return examples_of(Spec(replace(signature, variables=variables, alternatives=())), n, 0, known, like=like)


def _near(size: int, domain: Range | None) -> int | None:
    """Returns a size near to ``size`` that a variable can have, and none of its ends where there is another."""
    if domain is None or domain.low is None:
        return None
    step = domain.modulus or 1
    least = domain.low + (step if domain.high is None or domain.low + 2 * step <= domain.high else 0)
    most = domain.high
    found = max(size, least)
    found += (domain.residue - found) % step if domain.modulus else 0
    while most is not None and found > most and found - step >= domain.low:
        found -= step * max(1, (found - most) // step)
    return found


def _call(args: object, kwargs: object) -> Call | None:
    if args is None and kwargs is None:
        return None
    if args is not None and not isinstance(args, (tuple, list)):
        raise TypeError(f"args= takes a tuple of example inputs, not {type(args).__name__}; write (example,)")
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise TypeError(f"kwargs= takes a dict of example inputs, not {type(kwargs).__name__}; pass a spec as spec=")
    return tuple(cast("Sequence[Any]", args or ())), dict(cast("Mapping[str, Any]", kwargs or {}))


def _entries(entries: object) -> tuple[Entry, ...]:
    from ..serving.curing.model import ENTRIES

    named = (entries,) if isinstance(entries, str) else entries
    if not isinstance(named, Iterable):
        raise TypeError(f'entries= holds "export", "compile" or both, not {entries!r}')
    found = set(cast("Iterable[object]", named))
    if not found or not found <= set(ENTRIES):
        raise ValueError(f'entries= holds "export", "compile" or both, not {entries!r}')
    return tuple(entry for entry in ENTRIES if entry in found)


def _static(static: object, signature: Signature) -> frozenset[str]:
    names = (static,) if isinstance(static, str) else static
    if not isinstance(names, Iterable):
        raise TypeError(f'static= holds names of sizes, as {{"S"}}, not {static!r}')
    found = frozenset(cast("Iterable[str]", names))
    known = [v.name for v in signature.variables if not v.variadic]
    for name in sorted(map(str, found)):
        if name not in known:
            raise ValueError(f"`{signature.name}` has no size `{name}`: it has {', '.join(known) or 'none'}")
    return found


def _position(signature: Signature, case: str | None) -> int | None:
    if case is None:
        return None
    report = Report()
    position = pipeline.alternative_at(signature, case, report)
    report.raise_errors()
    return position


__all__ = ["Cured", "cure", "cure_spec"]
