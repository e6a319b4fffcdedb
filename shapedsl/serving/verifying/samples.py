"""Choose the calls on which an artifact is compared with the original.

Before::

    def f(x: float32[B, S]):
        dim B in [0, 64] hint 8
        case one: B == 1
        otherwise

After, for each alternative its hint, corners, boundaries, residues and random sizes::

    case one     B = 1, S = 0       B = 1, S = 64     …
    otherwise    B = 8, S = 0       B = 0, S = 0      B = 64, S = 64     B = 2, …

Sizes are chosen as for `Spec.examples`, but for the most expensive: a corner of everything at its largest may take
longer than compiling did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ...diagnostics import Diagnostic, Report, Severity, ShapeError
from ...ir import Signature, Static, VariableKind
from ...ir.expand import expand
from ...ir.expanded import Expanded
from ...runtime.explain import sizes_of
from ...runtime.parameters import of_spec
from ...runtime.valid import possible_values
from ...targets.gradients import ask_alike
from ...targets.inputs import elements, make
from ...targets.tensors import torch_tensors
from ..dispatch.cases import case_spec, label
from ..examples.draw import Drawn, Given, draw, equal_to_given, points_at
from ..examples.unmet import Asked
from .calls import Call, Calls, Sample

SAMPLES: Final = 8  # of each alternative
PLENTY: Final = 2**23  # elements times the largest size, that a call may have beside the first one


def samples(
    spec: Signature | Expanded,
    n: int = SAMPLES,
    seed: int = 0,
    *,
    calls: Calls | None = None,
    sizes: Mapping[str, int] | None = None,
    values: Mapping[str, Any] | None = None,
    device: Any = None,
    remarks: list[str] | None = None,
) -> list[Sample]:
    """Returns calls that satisfy a spec, up to ``n`` of each of its alternatives.

    Args:
        spec: A signature; or one at a structure, to which all calls then belong.
        n: How many of each alternative.
        seed: Of sizes and data.
        calls: How the original is called, with a call that structure, dtypes and what is static are copied from.
        sizes: Sizes that are given, those of ``const X = _`` among them.
        values: Parameter → what it is in every call: the receiver, where the spec speaks of its attributes.
        device: Of the tensors, where there is no such call.
        remarks: Receives which alternatives have no calls, and why.

    Raises:
        ShapeError: ``missing-input``: something is static, and there is no call that has it; or it does not fit.
    """
    signature = signature_of(spec)
    how = calls or Calls(of_spec(signature))
    listed = {param.name for param in signature.params}
    like = {name: value for name, value in how.like.items() if name in listed}
    given = Given(dict(sizes or {}), dict(values or {}), like, torch_tensors().is_tensor)
    found: list[Sample] = []
    for position in range(max(1, len(signature.alternatives))):
        own = case_spec(signature, position).signature if signature.alternatives else signature
        called = label(signature.alternatives[position], position) if signature.alternatives else ""
        report = Report()
        affordable = Affordable(like)
        try:
            if isinstance(spec, Expanded):
                _require_statics(spec, {**like, **given.values})
                drawn = draw_at(replace(spec, signature=own), n, seed, given=given, affordable=affordable)
            else:
                drawn = draw(own, n, seed, given=given, report=report, accept=affordable)
                _raise_missing(report, signature)
        except ShapeError as error:
            if error.code == "missing-input" or not signature.alternatives:
                raise
            report, drawn = Report(error.diagnostics), []
        if not drawn and remarks is not None:
            why = next((each.message for each in report), "it takes no sizes")
            remarks.append(f"{called or 'the spec'}: no inputs were found: {why}")
        for at, each in enumerate(drawn):
            arguments = arguments_at(each, seed + at, like, device, values)
            found.append(how.sample(called, each.sizes, arguments))
    return found


def signature_of(spec: Signature | Expanded) -> Signature:
    """Returns the signature of a spec, at a structure or not."""
    return spec.signature if isinstance(spec, Expanded) else spec


def _raise_missing(report: Report, signature: Signature) -> None:
    """Raises what is missing, and what is wrong with a spec that has one alternative at most.

    Raises:
        ShapeError: There is such.
    """
    if any(each.code == "missing-input" for each in report.errors) or not signature.alternatives:
        report.raise_errors()


def _require_statics(expanded: Expanded, like: Mapping[str, Any]) -> None:
    """Refuses to draw what only a call can tell.

    Raises:
        ShapeError: ``missing-input``: a static size, and no call that has it.
    """
    for leaf in expanded.leaves:
        for axis, dim in enumerate(leaf.dims):
            if isinstance(dim, Static) and leaf.path.root not in like:
                message = f"`{leaf.place(axis)}` is static, so an example has to give it"
                helps = ("pass calls: `examples=[(args, kwargs)]`",)
                raise ShapeError([Diagnostic("missing-input", Severity.ERROR, message, helps=helps)])


def given_samples(spec: Signature | Expanded, calls: Calls, given: Sequence[Call]) -> list[Sample]:
    """Returns the calls that a user gives.

    Args:
        spec: Tells their sizes.
        calls: How the original is called.
        given: Each ``(args, kwargs)``.

    Raises:
        TypeError: One does not fit the parameters.
    """
    found: list[Sample] = []
    for call in given:
        own = calls.after(call)
        found.append(own.sample("", _sizes_in(signature_of(spec), own.like), own.like))
    return found


def arguments_at(
    drawn: Drawn,
    seed: int,
    like: Mapping[str, Any],
    device: Any = None,
    values: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Returns the arguments of an example that was drawn, by parameter.

    Args:
        drawn: Structure and sizes.
        seed: Of the data.
        like: Parameter → a value of which static parts, dtypes, devices and whether gradients are asked for are copied.
        device: Where ``like`` says none.
        values: Parameter → what is passed as it is.
    """
    signature = drawn.expanded.signature
    on = None if like else device
    args, kwargs = make(drawn.expanded, drawn.sizes, seed, given=values, like=like, device=on, params=signature.params)
    arguments = Calls(of_spec(signature)).bound(args, kwargs)
    for name, value in arguments.items():
        if name in like:
            ask_alike(value, like[name])
    return arguments


def draw_at(
    expanded: Expanded,
    n: int,
    seed: int,
    *,
    given: Given,
    affordable: Affordable | None = None,
) -> list[Drawn]:
    """Returns up to ``n`` different examples at one structure; none where it takes no sizes.

    Args:
        expanded: The structure.
        n: How many.
        seed: Of what is random.
        given: Sizes, and values by parameter.
        affordable: Refuses what takes too long.
    """
    signature = expanded.signature
    bound = {variable.name for variable in signature.variables}
    pins = {name: size for name, size in given.sizes.items() if name in bound and isinstance(size, int)}
    pins = {**dict(expanded.lengths), **pins}
    consts = {variable.name for variable in signature.variables if variable.kind is VariableKind.CONST}
    if given.like and consts - pins.keys():
        read = sizes_of(expanded, given.like)
        pins.update((name, read[name]) for name in consts - pins.keys() if name in read)
    values = possible_values(expanded, bound, skip=given.values)
    wanted = Asked(pins, tuple(equal_to_given(expanded.leaves, given.values)), tuple(values))
    drawn = points_at(expanded, wanted, n, seed, None, given, exempt=True, also=affordable)
    return [Drawn(expanded, sizes) for sizes in drawn]


class Affordable:
    """Whether sizes take no longer than they should: elements times the largest size, since attention takes squares.

    Sizes that cost up to four times as much as the first ones are fine in any case.
    """

    def __init__(self, like: Mapping[str, Any]) -> None:
        """Args:
        like: Parameter → a value that has the static sizes.
        """
        self._like = like
        self._limit: int | None = None

    def __call__(self, expanded: Expanded, sizes: Mapping[str, int]) -> bool:
        """Returns whether sizes are affordable; those that it is asked of first are."""
        largest = max((size for size in sizes.values() if size > 0), default=1)
        work = elements(expanded, sizes, like=self._like) * largest
        if self._limit is None:
            self._limit = max(PLENTY, 4 * work)
        return work <= self._limit


def _sizes_in(signature: Signature, arguments: Mapping[str, Any]) -> dict[str, int]:
    """Returns the sizes of a call, as far as they can be read."""
    known = {param.name for param in signature.params}
    listed = {name: value for name, value in arguments.items() if name in known}
    try:
        expanded = expand(signature, listed, is_tensor=torch_tensors().is_tensor, report=Report())
        return {} if expanded is None else dict(sizes_of(expanded, listed))
    except (ShapeError, AttributeError, IndexError, TypeError, KeyError):  # it is no call of this spec
        return {}


__all__ = ["SAMPLES", "Affordable", "Sample", "arguments_at", "draw_at", "given_samples", "samples", "signature_of"]
