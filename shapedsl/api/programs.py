"""`from_exported`: what an exported program asks of its inputs, as a spec that can be kept in a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ..diagnostics import Report
from ..ir import COMPARISONS, Compare, Const, Predicate, Var, Variable, VariableKind
from ..targets.tensors import torch_for
from .legacy import Converted, converted

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.nn import Module as TorchModule

    from ..frontends.legacy.programs import Found
    from ..frontends.legacy.verdict import Conversion
    from ..normalize.settle import Facts, Settled
    from ..targets.exported import ProgramSize, ProgramSpec


def from_exported(
    program: ExportedProgram, fn: Callable[..., Any] | TorchModule | None = None, *, lower: Literal[0, 2] | None = None
) -> Converted:
    """Returns the spec that a program was made for, with whatever tracing added to it.

    So what ``AUTO`` found can be frozen: print the spec into a file, and export under it from then on.

    Sizes have the names of the user's ``Dim``s or variables where torch still knows them (it forgets them when a
    program is saved), else those of their places, ``x_0``. What the program asks for beyond is a range, a
    residue or an assumption. A size that the program fixes is a number.

    Args:
        program: From ``torch.export``, with named dims, hints or a ShapesSpec, loaded or just made.
        fn: The callable it was exported from. It tells parameters apart where the program does not
            (``*rest``, ``**options``), and answers ``lower``.
        lower: What becomes of a lower bound of 2 that torch only assumed while it traced: 0, which is what
            runs, or 2, which is what was traced. By default, 0 if ``fn`` can be exported under that, with the
            example that the program has, else 2; without ``fn``, 0. A model that branches on a size of 0 or 1
            (attention, normalization) cannot be exported under 0.

    Raises:
        ShapeError: No sizes satisfy what the program demands, or a parameter has a name that is none here
            (``legacy-names``).
        TypeError: ``program`` is none.
        ImportError: torch is not installed or too old.

    Example:
        >>> program = torch.export.export(Net(), (torch.randn(4, 3),), dynamic_shapes={"x": {0: torch.export.Dim.AUTO}})
        >>> print(sd.from_exported(program))
        class Net:
            def forward(self, x: Tensor[x_0, 3]):
                dim x_0 in [0, inf]
    """
    torch_for("reading a program")
    from ..targets.exported import is_program

    if not is_program(program):
        raise TypeError(f"from_exported() takes an ExportedProgram, not {type(program).__name__}")
    require_lower(lower)
    from ..frontends.legacy.programs import assemble_program
    from ..targets.exported import read_program

    report = Report()
    asked = lower is not None
    read = read_program(program, signature_of(fn))

    def made(lower: int, trial: str | None) -> Conversion:
        settled, found = settled_program(read, report, lower=lower, trial=trial, asked=asked)
        return assemble_program(
            read.name, read.receiver, settled.params, found, settled.wheres, read.losses, read.opaque, report
        )

    conversion = with_lower(made, lower, fn, program.example_inputs)
    report.raise_errors()
    return converted(conversion, report)


def require_lower(lower: int | None) -> None:
    """Raises ValueError unless ``lower`` is what `from_exported` takes."""
    if lower not in (0, 2, None):
        raise ValueError(f"lower= is 0 or 2, not {lower!r}")


def with_lower(
    made: Callable[[int, str | None], Conversion],
    lower: int | None,
    fn: Callable[..., Any] | None,
    example: tuple[Sequence[Any], Mapping[str, Any]] | None,
) -> Conversion:
    """Returns the conversion with the lower bound that is wanted; where that is open, with the one that is found.

    Args:
        made: Makes the conversion with a bound, and with why an export under 0 fails (empty: it does not).
        lower: See `from_exported`.
        fn: What is exported.
        example: Its arguments.
    """
    if lower is not None or fn is None or example is None:
        return made(lower or 0, None)
    zero = made(0, "")
    if zero == made(0, None):  # nothing was assumed
        return zero
    from .trying import failure

    why = failure(fn, *example, zero.signature)
    return zero if why is None else made(2, why)


def settled_program(
    read: ProgramSpec,
    report: Report,
    *,
    lower: int = 0,
    declared: Mapping[str, int | None] | None = None,
    trial: str | None = None,
    asked: bool = False,
) -> tuple[Settled, list[Found]]:
    """Returns what a program demands as briefly as can be, and the variables that are left.

    Args:
        read: The program.
        report: Receives ``contradiction``.
        lower: See `from_exported`.
        declared: The lower bounds that the user gave, by variable, where that is known.
        trial: Why an export under a bound of 0 fails, empty if it does not, None if nobody tried.
        asked: Whether the user said what ``lower`` is.

    Raises:
        ShapeError: ``contradiction``.
    """
    from ..frontends.legacy.programs import Found
    from ..normalize.settle import Facts, settle

    known = {size.name for size in read.sizes if size.named} | set(declared or ())
    lows = {size.name: size.low for size in read.sizes}
    lows.update((name, low) for name, low in (declared or {}).items() if name in lows and (lows[name] or 0) <= 2)
    assumed = {
        size.name
        for size in read.sizes
        if size.low == 2 and not size.low_is_run and not (size.name in known and lows[size.name])
    }
    facts = {size.name: Facts(lower if size.name in assumed else lows[size.name], size.high) for size in read.sizes}
    order = sorted(read.sizes, key=lambda size: (not size.bare, not size.named))
    variables = [Variable(size.name, size.kind) for size in order]
    settled = settle(read.params, variables, facts, read.predicates)
    if settled is None:
        report.error("contradiction", "no sizes satisfy what the program demands")
        report.raise_errors()
        raise AssertionError  # unreachable: there is an error
    found: list[Found] = []
    for size in read.sizes:
        if size.name not in settled.facts:
            continue
        said = settled.facts[size.name]
        loose = _is_loose(
            replace(size, low=2 if size.name in assumed else lows[size.name]), facts, variables, read.predicates
        )
        found.append(
            Found(
                size.name,
                size.kind,
                said.low,
                said.high,
                said.modulus,
                said.residue,
                size.places,
                assumed=2 if loose and size.name in assumed else None,
                unchecked=loose and size.name not in assumed,
                bare=size.bare,
                trial=trial,
                asked=asked,
            )
        )
    return settled, found


def _is_loose(
    size: ProgramSize, facts: Mapping[str, Facts], variables: Sequence[Variable], predicates: Sequence[Predicate]
) -> bool:
    """Returns whether the program runs sizes below the lower bound that it says."""
    from ..normalize.settle import follows

    floor = None if size.kind is VariableKind.INT else 0  # an int of a scalar may be negative, a size may not
    if size.low_is_run or size.low is None or size.low < (1 if floor == 0 else 0):
        return False
    others = {name: replace(known, low=floor) if name == size.name else known for name, known in facts.items()}
    given = [*predicates, *(each for name, known in others.items() for each in known.predicates(name))]
    return not follows(variables, given, Compare(COMPARISONS[">="], Var(size.name), Const(size.low)))


def signature_of(fn: Callable[..., Any] | TorchModule | None) -> inspect.Signature | None:
    """Returns the parameters of ``fn`` without its receiver; None where there is none, or Python does not know them."""
    if fn is None:
        return None
    forward: Any = getattr(fn, "forward", fn)
    try:
        return inspect.signature(forward)
    except (TypeError, ValueError):
        return None


__all__ = ["from_exported"]
