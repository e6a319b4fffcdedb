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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from ...diagnostics import Report, ShapeError
from ...ir import Param, ParamKind, Signature, VariableKind
from ...ir.expand import expand
from ...ir.expanded import Expanded
from ...runtime.explain import sizes_of
from ...runtime.valid import possible_values
from ...targets.gradients import ask_alike
from ...targets.inputs import elements, make
from ...targets.tensors import torch_tensors
from ..dispatch.cases import case_spec, label
from ..examples.draw import Drawn, Given, draw, equal_to_given, points_at
from ..examples.unmet import Asked

SAMPLES: Final = 8  # of each alternative
PLENTY: Final = 2**24  # elements times the largest size, that a call may have beside the first one

Call: TypeAlias = "tuple[Sequence[Any], Mapping[str, Any]]"


@dataclass(frozen=True, slots=True)
class Sample:
    """One call.

    Attributes:
        label: Of the alternative that takes it; empty where a spec has none.
        sizes: Of its variables, by name.
        arguments: By what messages call them, those that are passed by position first.
        positional: How many of them are.
    """

    label: str
    sizes: Mapping[str, int]
    arguments: Mapping[str, Any] = field(repr=False)
    positional: int


def samples(
    spec: Signature | Expanded,
    n: int = SAMPLES,
    seed: int = 0,
    *,
    like: Call | None = None,
    sizes: Mapping[str, int] | None = None,
    device: Any = None,
    remarks: list[str] | None = None,
) -> list[Sample]:
    """Returns calls that satisfy a spec, up to ``n`` of each of its alternatives.

    Args:
        spec: A signature; or one at a structure, to which all calls then belong.
        n: How many of each alternative.
        seed: Of sizes and data.
        like: A call that structure, dtypes and static parts are copied from.
        sizes: Sizes that are given, those of ``const X = _`` among them.
        device: Of the tensors, where ``like`` says none.
        remarks: Receives which alternatives have no calls, and why.

    Raises:
        ShapeError: ``missing-input``: something is static, and there is no ``like``; or it does not fit.
    """
    signature = spec.signature if isinstance(spec, Expanded) else spec
    anchors = {} if like is None else _named(signature.params, *like)
    found: list[Sample] = []
    for position in range(max(1, len(signature.alternatives))):
        own = case_spec(signature, position).signature if signature.alternatives else signature
        called = label(signature.alternatives[position], position) if signature.alternatives else ""
        report = Report()
        given = Given(sizes={} if sizes is None else sizes, like=anchors, is_tensor=torch_tensors().is_tensor)
        affordable = Affordable(anchors)
        try:
            if isinstance(spec, Expanded):
                drawn = draw_at(replace(spec, signature=own), n, seed, given=given, affordable=affordable)
            else:
                drawn = draw(own, n, seed, given=given, report=report, accept=affordable)
                _raise_missing(report, signature, position)
        except ShapeError as error:
            if error.code == "missing-input" or not signature.alternatives:
                raise
            report = Report(error.diagnostics)
            drawn = []
        if not drawn and remarks is not None:
            why = next((each.message for each in report), "it takes no sizes")
            remarks.append(f"{called or 'the spec'}: no inputs were found: {why}")
        for at, each in enumerate(drawn):
            found.append(made(called, each, seed + at, anchors, signature.params, device))
    return found


def _raise_missing(report: Report, signature: Signature, position: int) -> None:
    """Raises what is missing, and what is wrong with a spec that has one alternative at most.

    Raises:
        ShapeError: There is such.
    """
    if any(each.code == "missing-input" for each in report.errors) or (not signature.alternatives and not position):
        report.raise_errors()


def given_samples(spec: Signature | Expanded, calls: Sequence[Call]) -> list[Sample]:
    """Returns the calls that a user gives, with what messages call their arguments."""
    signature = spec.signature if isinstance(spec, Expanded) else spec
    return [given_sample(signature, *call) for call in calls]


def given_sample(
    signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], sizes: Mapping[str, int] | None = None
) -> Sample:
    """Returns a call that a user gives."""
    names = _names(signature.params, args)
    arguments = {**dict(zip(names, args, strict=True)), **kwargs}
    shown = _sizes_in(signature, args, kwargs) if sizes is None else sizes
    return Sample("", shown, arguments, len(args))


def made(
    called: str,
    drawn: Drawn,
    seed: int,
    like: Mapping[str, Any],
    params: Sequence[Param] | None,
    device: Any = None,
    given: Mapping[str, Any] | None = None,
) -> Sample:
    """Returns the call of an example that was drawn.

    Args:
        called: The label of its alternative.
        drawn: Structure and sizes.
        seed: Of the data.
        like: Parameter → a value of which static parts, dtypes, devices and whether gradients are asked for are copied.
        params: Of the spec; see `make`.
        device: Where ``like`` says none.
        given: Parameter → a value that is passed as it is.
    """
    on = None if like else device
    args, kwargs = make(drawn.expanded, drawn.sizes, seed, given=given, like=like, device=on, params=params)
    names = _names(params or drawn.expanded.signature.params, args)
    arguments = {**dict(zip(names, args, strict=True)), **kwargs}
    for name, value in arguments.items():
        if name in like:
            ask_alike(value, like[name])
    sizes = {name: size for name, size in drawn.sizes.items() if not name.startswith("?")}
    return Sample(called, sizes, arguments, len(args))


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


def _named(params: Sequence[Param], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a call's arguments by the parameters of a spec; what it does not speak of is left out."""
    found: dict[str, Any] = {}
    rest = list(args)
    known = {param.name for param in params}
    for param in params:
        match param.kind:
            case ParamKind.VAR_POSITIONAL:
                found[param.name], rest = tuple(rest), []
            case ParamKind.VAR_KEYWORD:
                found[param.name] = {name: value for name, value in kwargs.items() if name not in known}
            case ParamKind.KEYWORD_ONLY:
                if param.name in kwargs:
                    found[param.name] = kwargs[param.name]
            case _:
                if rest:
                    found[param.name] = rest.pop(0)
                elif param.name in kwargs:
                    found[param.name] = kwargs[param.name]
    return found


def _names(params: Sequence[Param], args: Sequence[Any]) -> list[str]:
    """Returns what messages call the arguments that are passed by position."""
    return list(_spelled(params, len(args)))


def _spelled(params: Sequence[Param], count: int) -> Iterator[str]:
    left = count
    for param in params:
        if not left or param.kind is ParamKind.KEYWORD_ONLY:
            continue
        if param.kind is ParamKind.VAR_POSITIONAL:
            yield from (f"{param.name}[{at}]" for at in range(left))
            left = 0
        elif param.kind is not ParamKind.VAR_KEYWORD:
            left -= 1
            yield param.name
    yield from (f"args[{count - left + at}]" for at in range(left))


def _sizes_in(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, int]:
    """Returns the sizes of a call, as far as bare dims tell them."""
    report = Report()
    arguments = _named(signature.params, args, kwargs)
    try:
        expanded = expand(signature, arguments, is_tensor=torch_tensors().is_tensor, report=report)
        found = {} if expanded is None else sizes_of(expanded, arguments)
    except (ShapeError, AttributeError, IndexError, TypeError, KeyError):  # it is no call of this spec
        return {}
    return {name: size for name, size in found.items() if not name.startswith("?")}


__all__ = ["SAMPLES", "Affordable", "Sample", "draw_at", "given_sample", "given_samples", "made", "samples"]
