"""`Spec`: what users hold. It is immutable; what it computes is kept.

Longer than other modules since one class is in one place, and most of it says what its methods do.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from .. import pipeline
from ..diagnostics import Diagnostic, Report, Severity, ShapeError, ShapeWarning
from ..ir import Signature
from ..ir.json import to_json
from ..ir.write import write_signature
from ..targets.tensors import torch_for
from .generated import bound_in_trace, code_text, generated, traced_as, unchecked_in_trace

if TYPE_CHECKING:
    import torch
    from torch.fx.experimental.dynamic_spec import ShapesSpec

    from ..ir.expanded import Expanded, Lowered
    from ..normalize import Normal
    from ..runtime.bind import Sizes
    from ..surface.symbols import Predicate, Symbol
    from .answers import Answer, SizeRange

_PACKAGE: Final = __name__.partition(".")[0]


class Spec:
    """The spec of one callable.

    Attributes:
        diagnostics: Warnings found while it was read. (Errors raise.)

    Two specs are equal if their resolved signatures are: constraints as a set, variable names, kinds,
    hints, messages, defaults, cases and returns; not names of specs, nor layout. Equal up to algebra is
    ``a.normalize() == b.normalize()``.
    """

    __slots__ = ("__weakref__", "_bind", "_check", "_lowered", "_normal", "_signature", "diagnostics", "traced")

    def __init__(self, signature: Signature, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        self._signature = signature
        self.diagnostics = diagnostics
        self._normal: Normal | None = None
        self._lowered: dict[object, tuple[Lowered, ShapesSpec]] = {}
        self._check: Callable[..., None] | None = None
        self._bind: Callable[..., Sizes] | None = None
        self.traced: Callable[..., Sizes]  # made when dynamo first meets `bind`

    @property
    def name(self) -> str:
        """The dotted name of the callable, e.g. ``net.Net.forward``."""
        return self._signature.name

    @property
    def signature(self) -> Signature:
        """The resolved intermediate representation."""
        return self._signature

    def normal(self) -> Normal:
        """Returns the normal form with its table of variables.

        Raises:
            ShapeError: ``contradiction``: no shape satisfies the spec; or a name, hint or divisor is wrong.
        """
        if self._normal is None:
            report = Report()
            normal = pipeline.normal_form(self._signature, report)
            report.raise_errors()
            self._normal = normal
        return self._normal

    def normalize(self) -> Spec:
        """Returns the canonical spec: it accepts the same sizes, and equal meaning gives an equal spec.

        Raises:
            ShapeError: No shape satisfies the spec.
        """
        return Spec(self.normal().signature, self.diagnostics)

    def ask(self, question: str | Predicate, *, case: str | None = None) -> Answer:
        """Returns whether every shape that the spec accepts satisfies ``question``.

        Args:
            question: Text such as ``"B % 8 == 0, B <= S"``, or a predicate object such as ``B < 32``. It
                may use the lets and consts of the spec's file.
            case: Ask within this alternative: its assumptions hold as well, and no earlier one's.

        Raises:
            ShapeError: The question has a name that the spec lacks, or a divisor that can be 0, or is none.

        Example:
            >>> spec = sd.loads("def f(x: Tensor[B, 2 * B]): where B <= 64")["f"]
            >>> print(spec.ask("B <= 100"))
            proved: B <= 64
            >>> print(spec.ask("B <= 60"))
            refuted: B = 61
        """
        from .asking import ask

        return ask(self._signature, question, case=case)

    def range(self, size: str | Symbol | type, *, case: str | None = None) -> SizeRange:
        """Returns the tightest range and residue of a size that is proved.

        Args:
            size: An expression such as ``"2*B + 1"``, or an object such as ``2 * B + 1`` (type checkers see a class).
            case: Ask within this alternative.

        Raises:
            ShapeError: ``contradiction``: no shape satisfies the spec; or as `ask`.

        Example:
            >>> spec = sd.loads("def f(x: Tensor[B]): where 1 <= B <= 64")["f"]
            >>> print(spec.range("2*B + 1"))
            [3, 129], 1 modulo 2
        """
        from .asking import range_of

        return range_of(self._signature, size, case=case)

    def core(self) -> list[str]:
        """Returns a minimal set of constraints that exclude each other, as source texts; [] if some shape satisfies all.

        Raises:
            ShapeError: ``undecided``: neither was found.
        """
        from .asking import core

        return core(self._signature)

    @property
    @traced_as(unchecked_in_trace)
    def check(self) -> Callable[..., None]:
        """The check of a call: ``spec.check(x, w)`` returns nothing if the inputs satisfy the spec.

        It takes what the callable takes, and costs about as much as asserts written by hand. Static parts (``_``,
        unlisted parameters) are not looked at. In a function that ``torch.compile`` traces nothing is checked, and
        nothing is compared with a symbolic size, since that would tell the tracer about it.

        Raises:
            ShapeError: ``shape-violation``, ``rank-mismatch``, ``dtype-mismatch`` or ``type-mismatch``:
                which parameter, which axis, which assumption, all sizes, and the nearest accepted ones.
            TypeError: The call does not fit the parameters.
        """
        if self._check is None:
            self._check = MethodType(generated(self._signature, "check"), self)
        return self._check

    @property
    @traced_as(bound_in_trace)
    def bind(self) -> Callable[..., Sizes]:
        """The binder of a call: ``spec.bind(x, w)`` returns its sizes, e.g. ``{"B": 8, "batch": (2, 3)}``.

        Assumptions are not looked at. Within a trace sizes are symbols, and nothing is compared.

        Raises:
            ShapeError: Sizes contradict each other, or a rank, dtype or kind is wrong.
            TypeError: The call does not fit the parameters.
        """
        if self._bind is None:
            self._bind = MethodType(generated(self._signature, "bind"), self)
        return self._bind

    def code(self) -> str:
        """Returns the generated check as text, as ``shapedsl explain --code`` shows it: to be read, not to be run.

        Raises:
            ShapeError: ``not-invertible``: a variable cannot be computed from the inputs.

        Example:
            >>> print(sd.loads("def f(x: Tensor[B]): where B < 32")["f"].code())
            def f(x):
                try:
                    if type(x) is not Tensor: no_plain_tensor(x)
                    B, = x.shape
                    if modes() and are_symbolic(B): raise Symbolic
                    if not (B < 32): raise Mismatch
                except Symbolic: return check_known(x)
                except Exception:
                    explain(x)
                    raise
                return None
        """
        return code_text(self._signature)

    def example(
        self,
        sizes: Mapping[str, int | Sequence[int]] | None = None,
        /,
        *,
        seed: int = 0,
        case: str | int | None = None,
        like: tuple[Sequence[Any], Mapping[str, Any]] | None = None,
        objects: Mapping[str, type] | None = None,
        device: torch.device | str | None = None,
        most: int | None = None,
        **given: Any,
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns ``(args, kwargs)`` that satisfy the spec: hints where they fit, else the smallest sizes.

        What is static (``_``, ``const X = _``, bare ``Tensor``) has to be given.

        Args:
            sizes: Sizes by name, where one has the name of another argument of this method.
            seed: Of the data; the same seed gives the same data.
            case: Of this alternative, by name or position: inputs that it takes, with its hints.
            like: A call. Its structure is taken, and what is static in it.
            objects: The class of an object, by the name that the spec has for it; else a ``SimpleNamespace`` is made.
            device: Of the tensors; ``"meta"`` for tensors without data.
            most: How many elements the tensors may have together; by default 2**27.
            **given: A size (``B=8``; of a variadic ``batch=(2, 3)``), or the value of a parameter (``w=tensor``),
                which is passed as it is.

        Raises:
            ShapeError: ``contradiction``: there are none. ``shape-violation``: none has the given sizes; what they
                violate, and the nearest that fit. ``missing-input``: what is static was not given.
                ``too-many-elements``, ``undecided``, or the spec is wrong.
            TypeError: A size is no int, ``like`` no call, or another argument not of its type.
            IndexError: ``case`` is a position at which there is no alternative.

        Example:
            >>> spec = sd.loads("def f(x: Tensor[B, D], ids: int64[B]): values ids in [0, D - 1]")["f"]
            >>> (x, ids), kwargs = spec.example(B=2, D=10)
            >>> x.shape, ids.dtype, kwargs
            (torch.Size([2, 10]), torch.int64, {})
        """
        from .examples import example_of

        return example_of(
            self, sizes, seed=seed, case=case, like=like, objects=objects, device=device, most=most, named=given
        )

    def examples(
        self,
        n: int,
        sizes: Mapping[str, int | Sequence[int]] | None = None,
        /,
        *,
        seed: int = 0,
        case: str | int | None = None,
        like: tuple[Sequence[Any], Mapping[str, Any]] | None = None,
        objects: Mapping[str, type] | None = None,
        device: torch.device | str | None = None,
        most: int | None = None,
        **given: Any,
    ) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Returns ``n`` inputs that satisfy the spec, all as different as can be; the first is `example`'s.

        Then come the smallest and the largest sizes, each alternative, boundaries of assumptions, residues of what is
        divided, and random ones; optionals are there and absent, defaults passed and omitted, sequences short and long. Where
        there are fewer different sizes, they come again with other data.

        Args:
            n: How many.
            sizes: As in `example`, as are the others.
            seed: Of sizes and data.
            case: As in `example`.
            like: As in `example`.
            objects: As in `example`.
            device: As in `example`.
            most: How many elements all of them may have together; corners and random sizes stay far below.
            **given: As in `example`.

        Raises:
            ShapeError: As `example`.
            TypeError: As `example`.
            ValueError: ``n`` is negative.
        """
        from .examples import examples_of

        return examples_of(
            self, n, seed, sizes, case=case, like=like, objects=objects, device=device, most=most, named=given
        )

    def to_torch(
        self, args: tuple[Any, ...] | None = None, kwargs: Mapping[str, Any] | None = None, case: str | None = None
    ) -> ShapesSpec:
        """Returns torch's ShapesSpec, for ``torch.compile``, ``torch.export.export`` or ``make_fx``.

        A spec with cases lowers its ``where`` part and warns ``cases-not-lowered``, unless ``case`` names one.

        Args:
            args: Example inputs; needed only where a rank or a length is not written.
            kwargs: Example keyword inputs.
            case: The name of a case, or ``otherwise``.

        Raises:
            ShapeError: The spec is contradictory, a rank is unknown, the example does not fit, or torch
                cannot express it.
        """
        example = None if args is None and kwargs is None else (tuple(args or ()), dict(kwargs or {}))
        signature = self.selected(case)[0]
        if case is None and signature.alternatives:
            self.warn_cases()
        arguments = None if example is None else bind(signature, *example)
        return self.lowered(arguments, case)[1]

    def lowered(
        self, arguments: Mapping[str, Any] | None = None, case: str | None = None, *, allow_negative_ints: bool = False
    ) -> tuple[Lowered, ShapesSpec]:
        """Returns the lowerable form and the ShapesSpec at the structure of ``arguments``; the same objects each time.

        Args:
            arguments: The example, by parameter; None where no rank or length is needed.
            case: One alternative instead of the ``where`` part.
            allow_negative_ints: Whether the entry point can take an int that may be negative.

        Raises:
            ShapeError: As `to_torch`.
        """
        if arguments is None and (known := self._lowered.get((case, allow_negative_ints))) is not None:
            return known
        torch_for("lowering a spec")
        from ..targets.shapes_spec import write

        signature = self.selected(case)[0]
        report = Report()
        expanded = pipeline.at_structure(signature, arguments, is_tensor, report)
        report.raise_errors()
        assert expanded is not None  # no errors, so there is one
        statics = {} if arguments is None else pipeline.static_sizes(expanded, arguments)
        key = (case, allow_negative_ints, expanded.structure, tuple(sorted(statics.items())))
        if key not in self._lowered:
            if self._normal is None:
                self._require_sound(expanded)
            lowered = pipeline.lower(expanded, report, statics=statics, allow_negative_ints=allow_negative_ints)
            report.raise_errors()
            assert lowered is not None
            self._lowered[key] = lowered, write(lowered)
        if arguments is None:
            self._lowered[case, allow_negative_ints] = self._lowered[key]  # without an example there is one structure
        return self._lowered[key]

    def _require_sound(self, expanded: Expanded) -> None:
        """Raises what `normal` would raise and lowering would not."""
        stated = self._signature.constraints
        if expanded.signature.constraints[: len(stated)] != stated:
            self.normal()  # what is left out at this structure may be contradictory
            return
        report = Report()
        pipeline.resolve(self._signature, report)
        report.raise_errors()

    def selected(self, case: str | None) -> tuple[Signature, str]:
        """Returns the signature to lower and how it runs (``compiled``, ``eager`` or ``backed``).

        Raises:
            ShapeError: ``unknown-case``.
        """
        if case is None:
            return self._signature, "compiled"
        report = Report()
        selected = pipeline.select(self._signature, case, report)
        report.raise_errors()
        assert selected is not None
        return selected.signature, selected.mode.value

    def warn_cases(self) -> None:
        """Warns ``cases-not-lowered``."""
        report = Report()
        report.warning(
            "cases-not-lowered",
            f"only the `where` part of `{self.name}` was lowered",
            at=self._signature.alternatives[0].span,
            help="name one alternative with `case=`",
        )
        warn(report)

    def to_json(self) -> str:
        """Returns the spec as JSON; `from_json` reads it back."""
        return to_json(self._signature)

    def __str__(self) -> str:
        return write_signature(self._signature)

    def __repr__(self) -> str:
        return f"<Spec {self.name}>"

    def __eq__(self, other: object) -> bool:
        return self._signature == other._signature if isinstance(other, Spec) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._signature)

    def __reduce__(self) -> tuple[type[Spec], tuple[Signature, tuple[Diagnostic, ...]]]:
        return Spec, (self._signature, self.diagnostics)


def stack_level() -> int:
    """Returns the ``stacklevel`` of the innermost caller that is none of ours: each of its lines is warned once."""
    frame = inspect.currentframe()
    level = 0
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
        frame = frame.f_back
        level += 1
    return level


def warn(report: Report) -> None:
    """Passes each warning of ``report`` to `warnings.warn` as a `ShapeWarning`."""
    for diagnostic in report:
        if diagnostic.severity is Severity.WARNING:
            warnings.warn(str(ShapeError([diagnostic])), ShapeWarning, stacklevel=stack_level())


def is_tensor(value: object) -> bool:
    """Whether ``value`` is a tensor; asked without importing torch, since a tensor's owner has."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def bind(signature: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns ``{parameter: value}`` of a call."""
    return pipeline.bind_arguments(signature, args, kwargs)
