"""``sd.check_padding``: does padding change what a callable returns? And what `dispatch` says of padding at load."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MethodType
from typing import TYPE_CHECKING, Any, cast

from .. import pipeline
from ..diagnostics import Diagnostic, Report, Severity, ShapeError
from ..ir import Signature
from ..targets.tensors import torch_for
from .callables import is_module
from .examples import drawn_of, given_of
from .numbers_given import count, number
from .sources import as_spec
from .spec import Spec, warn

if TYPE_CHECKING:
    from torch.nn import Module as TorchModule

    from ..serving.buckets.check_padding import PaddingReport
    from ..serving.dispatch.dispatcher import Dispatcher
    from .sources import SpecLike

Call = tuple[Sequence[Any], Mapping[str, Any]]
_Unpad = Mapping[str, Callable[..., Any]]

# A callable -> what was checked of it: its spec and what cuts its outputs, with the alternatives that passed.
_PASSED: weakref.WeakKeyDictionary[Any, dict[object, frozenset[int]]] = weakref.WeakKeyDictionary()


class PaddingError(ShapeError):
    """Padding changes results.

    Attributes:
        report: What was found; ``str()`` of it is a table.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], report: PaddingReport) -> None:
        super().__init__(diagnostics)
        self.report = report


def check_padding(
    fn: Callable[..., Any] | TorchModule,
    spec: SpecLike | None = None,
    examples: Iterable[Call] | None = None,
    *,
    n: int | None = None,
    tolerance: float | None = None,
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
    unpad: _Unpad | None = None,
) -> PaddingReport:
    """Returns what padding does to the results of ``fn``, where that is nothing.

    The original function runs on valid inputs: plain, padded as the spec says, and padded with other contents where the
    reason says that padded slots are not looked at. Results are cut back and compared, and so are what it leaves in its
    arguments, and a module's buffers. A module is put back as it was. `dispatch` remembers what passed.

    Args:
        fn: A function, method, partial, callable object or module.
        spec: A `Spec`, a path or text; by default the annotations of ``fn``.
        examples: Calls to check, each ``(args, kwargs)``; by default they are made. Those that no bucket pads say
            nothing.
        n: How many calls are made for each alternative that pads; by default 10, and none if there are ``examples``.
            With ``examples``, what is static is copied from the first of them.
        tolerance: Relative error that is allowed; by default what rounding does: 1e-4 in float32, 1e-2 in float16,
            5e-2 in bfloat16. Integers must be equal. Given, it holds for ``as approximate`` too.
        seed: Of sizes and data.
        sizes: Sizes that are given, those of ``const X = _`` among them.
        unpad: As `dispatch` takes it.

    Raises:
        ShapeError: ``unsafe-padding``: results differ, with the report as ``.report``; ``missing-input``: the spec has
            static parts, so it needs an example.
        TypeError: ``examples`` holds no calls, or something else is not of its type.
        ValueError: ``n`` or ``tolerance`` is negative.
    """
    found = as_spec(spec, fn)
    report = examined(fn, found.signature, examples, n=n, tolerance=tolerance, seed=seed, sizes=sizes, unpad=unpad)
    raise_unsafe(report, found.signature)
    return report


def check_dispatched(
    dispatcher: Dispatcher,
    examples: Iterable[Call] | None = None,
    *,
    n: int | None = None,
    tolerance: float | None = None,
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
) -> PaddingReport:
    """Returns what padding does to the results of a dispatched callable, where that is nothing; see `check_padding`.

    Raises:
        ShapeError: ``unsafe-padding``, with the report as ``.report``; ``missing-input``.
        TypeError: ``examples`` holds no calls, or something else is not of its type.
        ValueError: ``n`` or ``tolerance`` is negative.
    """
    signature = dispatcher.signature
    report = examined(
        _behind(dispatcher),
        signature,
        examples,
        n=n,
        tolerance=tolerance,
        seed=seed,
        sizes=sizes,
        unpad=dispatcher.unpad,
    )
    raise_unsafe(report, signature)
    return report


def examined(
    fn: Any,
    signature: Signature,
    examples: Iterable[Call] | None = None,
    *,
    n: int | None = None,
    tolerance: float | None = None,
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
    unpad: _Unpad | None = None,
) -> PaddingReport:
    """Returns what padding does, be it wrong; see `check_padding`. What passed is remembered."""
    tensors = torch_for("a padding check")
    Spec(signature).normal()  # of a contradictory spec there is no call, which is no verdict
    from ..serving.buckets.check_padding import EXAMPLES, PaddingCheck, Target
    from ..targets.entry.parameters import parameters_of
    from ..targets.trials import Bench

    if tolerance is not None and not number("tolerance", tolerance) >= 0:
        raise ValueError(f"tolerance= is a number, 0 or more, not {tolerance!r}")
    n = None if n is None else count("n", n)
    require_unpad(unpad)
    dispatched = getattr(fn, "dispatcher", None)
    if dispatched is not None:  # what is behind it is checked
        fn, unpad = _behind(dispatched), unpad or dispatched.unpad
    calls = require_calls(examples)
    parameters = parameters_of(fn, signature)
    target = Target(fn, signature, parameters, Bench(fn), signature.name, unpad or {})
    if sizes is not None:
        given_of(signature, sizes, {}, None)  # raises what is no size
    check = PaddingCheck(target, tensors, pipeline.solve, tolerance, sizes)
    padded = 0
    for args, kwargs in calls:
        padded += check.given(target.arguments(args, kwargs))
    if padded < len(calls):
        check.remarks.note(f"{len(calls) - padded} of {len(calls)} examples are not padded")
    made = n if n is not None else EXAMPLES if examples is None else 0
    if made:
        given = given_of(signature, sizes, {}, calls[0] if calls else None)
        check.sample(made, seed, given)
        if sizes and not check.report.trials:
            drawn_of(signature, 1, seed, given, None)  # raises what the sizes violate
    report = check.finish()
    _remember(fn, signature, unpad, report.checked)
    return report


def _behind(dispatcher: Dispatcher) -> Any:
    """Returns what is dispatched; of a spec that speaks of its receiver, with the receiver."""
    if not dispatcher.bound:
        return dispatcher.target
    receiver: Any = dispatcher.bound[0]
    return receiver if is_module(receiver) else MethodType(dispatcher.target, receiver)


def raise_unsafe(found: PaddingReport, signature: Signature) -> None:
    """Raises what was found, if padding changes results.

    Raises:
        PaddingError: ``unsafe-padding``.
    """
    report = Report()
    found.tell({at: each.buckets for at, each in enumerate(signature.alternatives)}, report)
    if report.errors:
        raise PaddingError(report, found)


def require_calls(examples: Iterable[Call] | None) -> list[Call]:
    """Returns the calls of ``examples=``.

    Raises:
        TypeError: One is none.
    """
    calls: list[Call] = []
    for each in () if examples is None else examples:
        whole = cast("object", each)
        if not (isinstance(whole, tuple) and len(each) == 2 and isinstance(each[0], (tuple, list))) or not isinstance(
            cast("object", each[1]), Mapping
        ):
            raise TypeError("each of examples= is a call, (args, kwargs), as `spec.examples(n)` gives them")
        calls.append(each)
    return calls


def require_unpad(unpad: object) -> None:
    """Refuses what maps no paths to functions.

    Raises:
        TypeError: ``unpad`` is such.
    """
    if unpad is None:
        return
    if not isinstance(unpad, Mapping):
        raise TypeError(f'unpad= maps paths to functions, as {{"return[1]": crop}}, not {type(unpad).__name__}')
    for path, crop in cast("Mapping[object, object]", unpad).items():
        if not isinstance(path, str):
            raise TypeError(f'a key of unpad= is a path such as "return[1]", not {path!r}')
        if not callable(crop):
            raise TypeError(f"unpad[{path!r}] is a function of an output and sizes, not {crop!r}")


# ------------------------------------------------------------------------------------- at load


def claimed(fn: Any, spec: Spec, *, strict: bool, unpad: _Unpad | None = None) -> None:
    """Says which buckets have neither a reason nor a padding check that they passed.

    Args:
        fn: What is dispatched.
        spec: Its spec.
        strict: Whether that is an error.
        unpad: As `dispatch` takes it.

    Raises:
        ShapeError: ``unchecked-padding``, if ``strict``.
    """
    report = Report()
    passed = _recalled(fn).get(_key(fn, spec.signature, unpad), frozenset())
    pipeline.claims(spec.signature, report, handled=tuple(unpad or ()), checked=passed)
    if strict and len(report):
        raise ShapeError([replace(each, severity=Severity.ERROR) for each in report])
    warn(report)


def _key(fn: Any, signature: Signature, unpad: _Unpad | None) -> object:
    """Returns what a check is about: a spec, what cuts outputs, and whether a module is in training."""
    owner = getattr(fn, "__self__", fn)
    called = getattr(getattr(fn, "__func__", None), "__qualname__", "")
    return called, signature, tuple(sorted(unpad or ())), getattr(owner, "training", None)


def _recalled(fn: Any) -> dict[object, frozenset[int]]:
    try:
        return _PASSED.setdefault(getattr(fn, "__self__", fn), {})
    except TypeError:  # no weak reference to it, or it is not hashable
        return {}


def _remember(fn: Any, signature: Signature, unpad: _Unpad | None, passed: frozenset[int]) -> None:
    """Keeps which alternatives passed; one that is unsafe now is no longer among them."""
    _recalled(fn)[_key(fn, signature, unpad)] = passed


__all__ = [
    "PaddingError",
    "check_dispatched",
    "check_padding",
    "claimed",
    "examined",
    "raise_unsafe",
    "require_calls",
    "require_unpad",
]
