"""Hypothesis strategies of inputs that satisfy a spec: ``sd.strategies.inputs(spec)``. Needs the extra ``strategies``.

Sizes are drawn one after the other, each within what the spec leaves of it, so that nothing is drawn in vain; failing
examples shrink toward the smallest sizes and the fullest structure.

Example:
    >>> @given(sd.strategies.inputs(spec))
    ... def test_shapes(call):
    ...     args, kwargs = call
    ...     assert model(*args, **kwargs).shape == args[0].shape
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ImportError("shapedsl.strategies needs hypothesis: pip install 'shapedsl[strategies]'") from None

from .api import as_spec
from .api.examples import Call, Drawing
from .api.numbers_given import count

LARGEST_SEED = 2**16


def inputs(
    spec: Any,
    sizes: Mapping[str, int | Sequence[int]] | None = None,
    /,
    *,
    case: str | int | None = None,
    like: tuple[Sequence[Any], Mapping[str, Any]] | None = None,
    objects: Mapping[str, type] | None = None,
    device: Any = None,
    most: int = 2**20,
    longest: int = 3,
    **given: Any,
) -> st.SearchStrategy[Call]:
    """Returns a strategy of ``(args, kwargs)`` that satisfy a spec.

    Args:
        spec: A `Spec`, or what is taken for one: text, a path; or a callable or module that has one.
        sizes: Sizes by name, where one has the name of another argument.
        case: Only what this alternative takes.
        like: A call that structure and static parts are taken from.
        objects: Classes of objects, by the names that the spec has for them.
        device: Of the tensors.
        most: How many elements the tensors may have together; larger sizes are not drawn.
        longest: How many items ``[T, ...]`` has at most, and how many dims ``*batch``.
        **given: Sizes by name, and values of parameters, which are passed as they are.

    Raises:
        ShapeError: As `Spec.example`: no input satisfies the spec, or something static is missing.
        TypeError: As `Spec.example`.
        ValueError: ``longest`` or ``most`` is negative.
    """
    longest = count("longest", longest)
    drawing = Drawing(
        as_spec(None, spec) if callable(spec) else as_spec(spec),
        sizes,
        case=case,
        like=like,
        objects=objects,
        device=device,
        most=most,
        named=given,
    )

    @st.composite
    def calls(draw: st.DrawFn) -> Call:
        def between(low: int, high: int) -> int:
            return draw(st.integers(low, high))

        return drawing.call(between, longest, LARGEST_SEED)

    return calls()


__all__ = ["inputs"]
