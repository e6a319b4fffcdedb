"""A program's demands, read and settled → a signature, with what it leaves open.

A program runs sizes 0 and 1 whatever its ranges say, and any size where ``16*th`` was promised: torch
never checks either. A bound that the user declared stays, and is enforced from now on; one that torch
assumed (a lower bound of 2, at a size without a name) is dropped, unless it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...diagnostics import Report
from ...ir import Param, Predicate, VariableKind
from ..assemble import Declaration, assemble, constraints_of
from .naming import is_name
from .notes import choice, loss, remark, stricter
from .verdict import Conversion, Note


@dataclass(frozen=True, slots=True)
class Found:
    """A variable of a program.

    Attributes:
        name: Its name.
        kind: What it stands for.
        low, high, modulus, residue: What is declared of it.
        places: Where it stands.
        assumed: A lower bound that torch assumed, and no run is held to.
        unchecked: Whether ``low`` is declared, and no run of the program is held to it.
        bare: Whether it stands alone anywhere.
        trial: Why an export without the assumed bound failed; empty if it did not, None if nobody tried.
        asked: Whether the user said what becomes of the bound.
    """

    name: str
    kind: VariableKind
    low: int | None
    high: int | None
    modulus: int
    residue: int
    places: tuple[str, ...]
    assumed: int | None
    unchecked: bool
    bare: bool
    trial: str | None = None
    asked: bool = False


def assemble_program(
    name: str,
    receiver: str | None,
    params: Iterable[Param],
    sizes: Iterable[Found],
    wheres: Iterable[Predicate],
    losses: Iterable[str],
    opaque: Mapping[str, str],
    report: Report,
) -> Conversion:
    """Returns the spec of a program.

    Args:
        name: Of the callable it was exported from.
        receiver: ``self`` for a method.
        params: Over the variables.
        sizes: The variables.
        wheres: What is to be assumed of them.
        losses: What torch demands and the language has no words for, as torch writes it.
        opaque: Objects with sizes in them that no spec can address, by path: their class.
        report: Receives warnings ``legacy-object-keys``, and ``legacy-names``.
    """
    params, sizes = tuple(params), tuple(sizes)
    for param in params:
        if not is_name(param.name):
            message = f"the parameter `{param.name}` of `{name}` has a name that a spec cannot say"
            report.error("legacy-names", message, help="rename the parameter")
    signature = assemble(
        name=name,
        params=params,
        declarations={
            size.name: Declaration(
                size.name, size.kind, low=size.low, high=size.high, modulus=size.modulus, residue=size.residue
            )
            for size in sizes
        },
        wheres=[constraint for where in wheres for constraint in constraints_of(where)],
        receiver=receiver,
    )
    notes = [note for size in sizes for note in notes_of(size)]
    notes += [loss(f"the program also demands `{text}`, which the language has no words for") for text in losses]
    for path, kind in opaque.items():
        report.warning(
            "legacy-object-keys",
            f"`{path}` is a {kind}, whose registration names no attributes",
            help=[
                "register the class with a `flatten_with_keys_fn` whose keys are `GetAttrKey`",
                "wrap the model so that it takes the tensors as a list",
            ],
        )
        notes.append(loss(f"the sizes in a {kind} cannot be addressed, and are static", [path]))
    return Conversion(signature, tuple(notes))


def notes_of(size: Found) -> Iterator[Note]:
    """Yields what a variable's bounds change."""
    low = size.low or 0
    if size.assumed is not None:
        yield _assumed(size, low)
    elif size.unchecked:
        if size.kind is VariableKind.INT:
            ran = f"values below {low}"
        else:
            ran = "size 0" if low == 1 else "sizes 0 and 1"
        rejected = "is now rejected" if ran == "size 0" else "are now rejected"
        yield stricter(f"{ran} ran although `{size.name}` is at least {low}, and {rejected}", size.places)
    if not size.bare:
        yield stricter(
            f"any size ran where a size computed from `{size.name}` was promised; others are now rejected", size.places
        )


def _assumed(size: Found, low: int) -> Note:
    """Returns what became of a bound that torch assumed."""
    said = f"torch assumed that `{size.name}` is at least {size.assumed}"
    if size.asked:
        return remark(f"{said}, and runs smaller sizes all the same; `lower={low}` was asked for", size.places)
    if size.trial == "":
        return remark(
            f"{said}, and the program does not rely on it: an export without that bound succeeds", size.places
        )
    if size.trial is not None and low:
        return stricter(f"{said}, and runs smaller sizes, which are now rejected: {size.trial}", size.places)
    other = 2 if low < 2 else 0
    taken, others = f"a lower bound of {low}", [f"{other}, by `lower={other}`"]
    return choice(f"{said}, and runs smaller sizes all the same", size.places, taken, others)


__all__ = ["Found", "assemble_program", "notes_of"]
