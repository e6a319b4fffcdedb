"""`spec.example` and `spec.examples`: inputs that satisfy a spec. Whatever is returned has passed `spec.check`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from .. import pipeline
from ..diagnostics import Report
from ..ir import Signature
from ..serving.examples.draw import Drawn, Given, cap_of, draw, draw_by
from ..targets.inputs import MOST, elements, make, refuse
from ..targets.tensors import torch_for
from .asking import within
from .numbers_given import count, index, whole
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

    Raises:
        ShapeError: See `Spec.example`.
        TypeError: An argument is not of its type; ``like`` is no call of the spec.
        ValueError: ``n`` or ``most`` is negative.
        IndexError: ``case`` is a position at which there is no alternative.
    """
    torch_for("making examples")
    n, seed = count("n", n), whole("seed", seed)
    signature = at_case(spec.signature, case)
    given = given_of(signature, sizes, named or {}, like)
    require_objects(objects)
    meta = device is not None and str(device).partition(":")[0] == "meta"
    bound = MOST if most is None else count("most", most)
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
        IndexError: There is no alternative at that position.
        TypeError: ``case`` is neither a name nor a position.
    """
    if case is None:
        return signature
    report = Report()
    at = index(case)
    if at is None and not isinstance(case, str):
        raise TypeError(f"case= is a name or a position, not {case!r}")
    position = at if at is not None else pipeline.alternative_at(signature, cast("str", case), report)
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
    sizes: Mapping[str, Any] | None,
    named: Mapping[str, Any],
    like: tuple[Sequence[Any], Mapping[str, Any]] | None,
) -> Given:
    """Returns what the user gave, sorted by what it is.

    Raises:
        TypeError: A size is no int, or ``like`` no call.
    """
    sizes = {} if sizes is None else sizes
    if not isinstance(cast("object", sizes), Mapping):
        raise TypeError(f'sizes are given by name, as {{"B": 8}}, not {sizes!r}')
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
        args, kwargs = _call(like)
        example = pipeline.bind_arguments(signature, tuple(args), dict(kwargs))
    return Given(found, values, example, is_tensor, pipeline.solve)


def _size(value: Any) -> int | tuple[int, ...] | None:
    if isinstance(value, (tuple, list)):
        items = [index(item) for item in cast("Sequence[Any]", value)]
        known = tuple(item for item in items if item is not None)
        return known if len(known) == len(items) else None
    return index(value)


def _call(like: object) -> tuple[Sequence[Any], Mapping[str, Any]]:
    kind = type(like).__name__
    parts = tuple(cast("Sequence[object]", like)) if isinstance(like, (tuple, list)) else ()
    if len(parts) == 2 and isinstance(parts[0], (tuple, list)) and isinstance(parts[1], Mapping):
        return cast("tuple[Sequence[Any], Mapping[str, Any]]", parts)
    raise TypeError(f"like= is a call, (args, kwargs), not {kind}")


def require_objects(objects: object) -> None:
    """Refuses what maps no names to classes.

    Raises:
        TypeError: ``objects`` is such.
    """
    if objects is None:
        return
    if not isinstance(objects, Mapping):
        raise TypeError(f'objects= maps names to classes, as {{"Batch": Batch}}, not {objects!r}')
    for name, made in cast("Mapping[object, object]", objects).items():
        if not callable(made):
            raise TypeError(f"objects[{name!r}] is a class, not {made!r}")


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
            TypeError: As `examples_of`.
        """
        torch_for("making examples")
        self.spec = spec
        self.signature = at_case(spec.signature, case)
        self.given = given_of(self.signature, sizes, named, like)
        require_objects(objects)
        self.objects = objects
        self.device = device
        self.most = most = count("most", most)
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


__all__ = ["Call", "Drawing", "at_case", "drawn_of", "example_of", "examples_of", "given_of", "require_objects"]
