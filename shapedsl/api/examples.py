"""`spec.example` and `spec.examples`: inputs that satisfy a spec. Whatever is returned has passed `spec.check`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from .. import pipeline
from ..diagnostics import Report
from ..ir import Signature
from ..serving.examples import Drawn, Given, cap_of, draw, draw_by
from ..targets.inputs import MOST, elements, make, refuse
from ..targets.tensors import torch_for
from .asking import within
from .spec import Spec, is_tensor

if TYPE_CHECKING:
    import torch

Call = tuple[tuple[Any, ...], dict[str, Any]]


def example_of(
    spec: Spec,
    sizes: Mapping[str, int | Sequence[int]] | None = None,
    *,
    seed: int = 0,
    case: str | int | None = None,
    like: tuple[Sequence[Any], Mapping[str, Any]] | None = None,
    objects: Mapping[str, type] | None = None,
    device: torch.device | str | None = None,
    most: int | None = None,
    named: Mapping[str, Any] | None = None,
) -> Call:
    """Returns one example; see `Spec.example`."""
    return examples_of(
        spec, 1, seed, sizes, case=case, like=like, objects=objects, device=device, most=most, named=named
    )[0]


def examples_of(
    spec: Spec,
    n: int,
    seed: int = 0,
    sizes: Mapping[str, int | Sequence[int]] | None = None,
    *,
    case: str | int | None = None,
    like: tuple[Sequence[Any], Mapping[str, Any]] | None = None,
    objects: Mapping[str, type] | None = None,
    device: torch.device | str | None = None,
    most: int | None = None,
    named: Mapping[str, Any] | None = None,
) -> list[Call]:
    """Returns ``n`` examples; see `Spec.examples`.

    Args:
        spec: What they satisfy.
        n: How many.
        seed: Of what is random.
        sizes: Of variables.
        case: An alternative, by its name or its position.
        like: A call that structure and static parts are taken from.
        objects: Classes of objects, by the names that the spec calls them.
        device: Of the tensors.
        most: How many elements an example may have.
        named: Keywords of which the spec tells whether they are sizes or parameters.
    """
    torch_for("making examples")
    signature = at_case(spec.signature, case)
    given = given_of(signature, sizes or {}, named or {}, like)
    meta = device is not None and str(device).partition(":")[0] == "meta"
    bound = MOST if most is None else most
    drawn = drawn_of(signature, n, seed, given, None if meta else cap_of(n, bound))
    calls: list[Call] = []
    if not meta and n > 1:
        each_has = [elements(each.expanded, each.sizes, given=given.values, like=given.anchors) for each in drawn]
        total = sum(each_has[at % len(drawn)] for at in range(n))
        if total > bound:
            refuse(signature, total, bound, f"all {n} together; one has up to {max(each_has):,}")
    for at in range(n):
        each = drawn[at % len(drawn)]
        call = make(
            each.expanded,
            each.sizes,
            seed + at,
            given=given.values,
            like=given.like,
            objects=objects,
            device=device,
            most=bound,
            params=signature.params,
        )
        spec.check(*call[0], **call[1])
        calls.append(call)
    return calls


def drawn_of(signature: Signature, n: int, seed: int, given: Given, most: int | None) -> list[Drawn]:
    """Returns up to ``n`` examples without data.

    Raises:
        ShapeError: There is none.
    """
    report = Report()
    pipeline.resolve(signature, report)
    report.raise_errors()
    drawn = draw(signature, max(n, 1), seed, given=given, report=report, most=most)
    report.raise_errors()
    return drawn


def at_case(signature: Signature, case: str | int | None) -> Signature:
    """Returns the signature of one alternative, with its hints.

    Raises:
        ShapeError: ``unknown-case``, or ``undecided`` where buckets make too many choices to write out.
    """
    if case is None:
        return signature
    report = Report()
    position = case if isinstance(case, int) else pipeline.alternative_at(signature, case, report)
    report.raise_errors()
    if position is None or not 0 <= position < len(signature.alternatives):
        raise IndexError(f"`{signature.name}` has {len(signature.alternatives)} alternatives")
    taken, exact = within(signature, position)
    if not exact:
        report.error(
            "undecided",
            f"the buckets of `{signature.name}` make too many choices to tell which sizes reach this alternative",
            at=signature.alternatives[position].span,
        )
        report.raise_errors()
    hints = dict(signature.alternatives[position].hints)
    return replace(taken, variables=tuple(replace(v, hint=hints.get(v.name, v.hint)) for v in taken.variables))


def given_of(
    signature: Signature,
    sizes: Mapping[str, Any],
    named: Mapping[str, Any],
    like: tuple[Sequence[Any], Mapping[str, Any]] | None,
) -> Given:
    """Returns what the user gave, sorted by what it is.

    Raises:
        TypeError: A size is no int, or ``like`` no call.
    """
    variables = {variable.name for variable in signature.variables}
    params = {param.name for param in signature.params}
    found: dict[str, int | Sequence[int]] = {}
    values: dict[str, Any] = {}
    for name, value in {**named, **sizes}.items():
        size = _size(value)
        if name not in sizes and name in params and (size is None or name not in variables):
            values[name] = value
        elif size is None:
            raise TypeError(f"`{name}` is a size, or several in a tuple, not {type(value).__name__}")
        else:
            found[name] = size
    example: dict[str, Any] = {}
    if like is not None:
        args, kwargs = like
        example = pipeline.bind_arguments(signature, tuple(args), dict(kwargs))
    return Given(found, values, example, is_tensor, pipeline.solve)


def _size(value: Any) -> int | tuple[int, ...] | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, (tuple, list)):
        items = cast("Sequence[Any]", value)
        if all(isinstance(item, int) and not isinstance(item, bool) for item in items):
            return tuple(items)
    return None


class Drawing:
    """Examples of which every choice is made by someone else, e.g. by hypothesis."""

    def __init__(
        self,
        spec: Spec,
        sizes: Mapping[str, int | Sequence[int]] | None,
        *,
        case: str | int | None,
        like: tuple[Sequence[Any], Mapping[str, Any]] | None,
        objects: Mapping[str, type] | None,
        device: torch.device | str | None,
        most: int,
        named: Mapping[str, Any],
    ) -> None:
        """Args: as `examples_of`.

        Raises:
            ShapeError: As `examples_of`.
        """
        torch_for("making examples")
        self.spec = spec
        self.signature = at_case(spec.signature, case)
        self.given = given_of(self.signature, sizes or {}, named, like)
        self.objects = objects
        self.device = device
        self.most = most
        self.fallback = drawn_of(self.signature, 1, 0, self.given, most)[0]

    def call(self, between: Callable[[int, int], int], longest: int, seeds: int) -> Call:
        """Returns an example.

        Args:
            between: Returns a number between two, both included; lower ones mean fuller structures and smaller sizes.
            longest: Of sequences of any length, and the number of dims of variadics.
            seeds: The largest seed of the data.
        """
        drawn = draw_by(self.signature, between, self.given, longest, self.most) or self.fallback
        call = make(
            drawn.expanded,
            drawn.sizes,
            between(0, seeds),
            given=self.given.values,
            like=self.given.like,
            objects=self.objects,
            device=self.device,
            most=max(self.most, MOST),
            params=self.signature.params,
        )
        self.spec.check(*call[0], **call[1])
        return call


__all__ = ["Call", "Drawing", "at_case", "drawn_of", "example_of", "examples_of", "given_of"]
