"""Specs from what came before them: torch's named dims, and their relatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from .. import pipeline
from ..diagnostics import Diagnostic, Report
from .spec import Spec, warn

if TYPE_CHECKING:
    from torch.nn import Module as TorchModule

    from ..frontends.legacy.verdict import Conversion, Note


class Converted(Spec):
    """A spec that was converted from a legacy one.

    Attributes:
        conversion: What became of it.
    """

    __slots__ = ("conversion",)

    def __init__(self, conversion: Conversion, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(conversion.signature, diagnostics)
        self.conversion = conversion

    @property
    def verdict(self) -> str:
        """How it relates to the legacy spec: ``exact``, ``stricter``, ``choice`` or ``loss``; the gravest note's."""
        return self.conversion.verdict.value

    @property
    def summary(self) -> str:
        """The verdict in words: ``exact as declared, stricter at run time``."""
        return self.conversion.summary

    @property
    def notes(self) -> tuple[Note, ...]:
        """What changed, and where; see `diagnostics` for the same as messages."""
        return self.conversion.notes

    def __repr__(self) -> str:
        return f"<Converted {self.name}: {self.summary}>"

    def __reduce__(self) -> tuple[type[Any], tuple[Any, ...]]:
        return Converted, (self.conversion, self.diagnostics)


def from_dims(
    dynamic_shapes: Any,
    args: tuple[Any, ...] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    fn: Callable[..., Any] | TorchModule | None = None,
    *,
    probe: bool = False,
    lower: Literal[0, 2] | None = None,
    input_names: Sequence[str] | None = None,
) -> Converted:
    """Returns what a legacy spec says, and how exactly.

    Variables have the names of the user's ``Dim``s; a dynamic size without one is called after its place,
    ``x_0``. What the legacy spec leaves open warns (``legacy-choice``), and so does what no spec can say
    (``legacy-loss``); the rest of the differences are in `Converted.notes`.

    Args:
        dynamic_shapes: What ``torch.export.export`` takes: a dict, tuple or list of ``Dim``s, hints and ints, a
            ``ShapesCollection`` or ``AdditionalInputs``; None reads the marks of ``mark_dynamic`` and its
            siblings off the example's tensors. Or the JSON of ``_dump_dynamic_shapes``, as text or loaded; ONNX's
            ``dynamic_axes``; a list or dict of ``torch_tensorrt.Input``.
        args: The example. It tells ranks, and what a dict with int keys means.
        kwargs: Its keyword arguments.
        fn: The callable. A tuple or list speaks of its parameters in their order.
        probe: Whether to run the legacy export once, and take what it found for the sizes that it was asked to
            find (``AUTO``, ``DYNAMIC``): dynamic or static, equal to another, computed from one, in a range.
            It needs ``fn`` and the example.
        lower: For a probe: what becomes of a lower bound of 2 that torch only assumed while it traced. By default,
            0 if the new export succeeds with that, else 2; see `from_exported`.
        input_names: ONNX's names of the inputs, in the order of the parameters, for ``dynamic_axes``.

    Raises:
        ShapeError: torch refuses the legacy spec too (``legacy-bounds``, ``legacy-parameter``,
            ``legacy-top-level``), or it has a name that is none here (``legacy-names``); or the probe's export
            failed (``legacy-probe``).
        TypeError: ``dynamic_shapes`` holds something else, or the example does not fit ``fn``.

    Example:
        >>> rows = torch.export.Dim("rows", min=1, max=64)
        >>> spec = sd.from_dims({"x": {0: rows}, "w": (2 * rows,)}, (torch.randn(4, 3), torch.randn(8)))
        >>> print(spec)
        def f(x: Tensor[rows, _], w: Tensor[2 * rows]):
            dim rows in [1, 64]
        >>> spec.verdict, spec.notes[-1].message
        ('stricter', 'size 0 ran although `rows` is at least 1, and is now rejected')
    """
    given = cast("object", args)
    if given is not None and not isinstance(given, (tuple, list)):
        raise TypeError(f"args= takes a tuple of example inputs, not {type(given).__name__}; write (example,)")
    named = cast("object", kwargs)
    if named is not None and not isinstance(named, Mapping):
        raise TypeError(f"kwargs= takes a dict of example inputs, not {type(named).__name__}")
    example = None if args is None and kwargs is None else (tuple(args or ()), dict(kwargs or {}))
    if probe and (fn is None or example is None):
        raise TypeError("probe=True runs the legacy export: it needs fn= and the example, args= or kwargs=")
    from .programs import require_lower

    require_lower(lower)
    report = Report()
    legacy = pipeline.read_legacy(dynamic_shapes, report, fn=fn, example=example, input_names=input_names)
    report.raise_errors()
    assert legacy is not None
    conversion = pipeline.convert_legacy(legacy, report)
    report.raise_errors()
    assert conversion is not None
    if probe and fn is not None and example is not None:
        from .probing import probed

        conversion = probed(conversion, legacy, dynamic_shapes, fn, example, report, lower=lower)
        report.raise_errors()
    return converted(conversion, report)


def converted(conversion: Conversion, report: Report) -> Converted:
    """Returns a conversion as users hold it, with what it changed as diagnostics, of which warnings are warned.

    Raises:
        ShapeError: The spec is wrong: what torch accepted is contradictory.
    """
    from ..frontends.legacy.telling import tell

    pipeline.resolve(conversion.signature, report)
    report.raise_errors()
    tell(conversion.notes, report)
    warn(report)
    return Converted(conversion, report.diagnostics)


__all__ = ["Converted", "converted", "from_dims"]
