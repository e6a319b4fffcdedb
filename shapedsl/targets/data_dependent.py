"""The diagnostic ``data-dependent``: what a trace asked, in the user's names, and the smallest assumptions that answer it.

Before::

    GuardOnDataDependentSymNode: Could not guard on data-dependent expression u1 > 1

After::

    error[data-dependent]: the program asks whether `S > 1`, which the spec leaves open
      = note: bert.py:61, in forward: is_causal = query.shape[2] > 1
      = note: S is x.shape[1], 8 in the example
      = help: add `where S >= 2`: it excludes S == 1; a `case S == 1` would serve that
      = help: or add `where S == 1`: it excludes S >= 2; a `case S >= 2` would serve that
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..diagnostics import Diagnostic, Severity, ShapeError
from ..ir import Apply, Predicate, Size, Var
from ..ir.cure import Cure
from ..ir.expanded import Lowered
from ..ir.walk import free_vars, negated, substitute
from ..ir.write import write_dim, write_predicate
from .asked import Asked
from .printed import read_printed
from .symbolic import Unreadable

_PARTS = (
    "`chunk(n)` and `split(size)` count their parts: of a size that is a multiple of n, `tensor_split(n)` gives the same "
    "ones; `split([…])` takes the size of each"
)


def data_dependent(asked: Asked, lowered: Lowered, sizes: Mapping[str, int]) -> ShapeError | None:
    """Returns what to raise of what a trace asked, or None if it comes from data: the spec has no say then.

    Args:
        asked: See there.
        lowered: The spec that was traced with.
        sizes: Of the example, as far as they are known.
    """
    if asked.text:
        message = "the program makes a text of a size, which needs the number itself"
        helps = ("write a number in the spec, or declare the size as `const … = _`", "or make no text of it")
        return _finding(asked, message, (), helps)
    if asked.predicate is not None:
        message = _asks(asked.predicate, lowered)
        return _finding(asked, message, _bindings(asked.predicate, lowered, sizes), _answers(asked, lowered, sizes))
    if asked.size is not None:
        message = f"the program needs the number `{write_dim(asked.size)}` itself, which the spec leaves open"
        return _finding(asked, message, _bindings(asked.size, lowered, sizes), tuple(_numbers(asked.size, asked.line)))
    return None


def from_data(asked: Asked) -> ShapeError:
    """Returns what to raise of a question about a number that comes from the data of a tensor."""
    named = " and ".join(asked.symbols) or "a part of it"
    try:
        text = f"asks whether `{write_predicate(read_printed(asked.printed, Var))}`"
    except Unreadable:  # a number, or what the language has no words for
        text = f"needs to know `{asked.printed}`"
    message = f"the program {text}, where {named} comes from data: no size of the spec decides it"
    helps = (
        "say what is known in the program: `torch._check(n >= 1)` where n is that number",
        "or ask so that both answers are served: `torch.fx.experimental.symbolic_shapes.guard_or_false`, `torch.where`",
    )
    return _finding(asked, message, (), helps)


def _finding(asked: Asked, message: str, bindings: Sequence[str], helps: tuple[str, ...]) -> ShapeError:
    notes = (*(() if asked.line is None else (asked.line,)), *bindings)
    return ShapeError([Diagnostic("data-dependent", Severity.ERROR, message, notes=notes, helps=helps)])


def _asks(predicate: Predicate, lowered: Lowered) -> str:
    asks = f"the program asks whether `{write_predicate(predicate)}`"
    decided = None if lowered.reasoner is None else lowered.reasoner.decide(lowered, predicate)
    if isinstance(decided, bool):
        implied = write_predicate(predicate if decided else negated(predicate))
        return f"{asks}; the spec implies `{implied}`, but torch does not conclude it"
    return f"{asks}, which {'the spec leaves open' if decided is None else 'torch cannot conclude from the spec'}"


def _answers(asked: Asked, lowered: Lowered, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Returns the smallest assumptions that answer the question, one for each answer; the example's first."""
    assert asked.predicate is not None
    said = asked.predicate if asked.written is None else asked.written
    found = () if lowered.reasoner is None else lowered.reasoner.cures(lowered, said, sizes)
    chosen = list({cure.holds: cure for cure in reversed(found)}.values())
    chosen.sort(key=found.index)
    if not chosen:
        text, opposite = write_predicate(asked.predicate), write_predicate(negated(asked.predicate))
        return (
            f"add `where {opposite}` or `where {text}`, if that is all the program is for",
            "two cases of the spec, one for each, give two programs",
        )
    named = _nameable(asked.predicate, lowered)
    return tuple(("or " if at else "") + told(cure, named) for at, cure in enumerate(chosen))


def told(cure: Cure, named: Mapping[str, str] | None = None) -> str:
    """Returns a cure in one line: what to add, what that excludes, and which case would serve it.

    Args:
        cure: The assumptions.
        named: The place of each variable that no predicate can name, as ``?0``.
    """
    places = {name: Var(place) for name, place in (named or {}).items()}

    def written(predicate: Predicate) -> str:
        return write_predicate(substitute(predicate, places))

    text = f"add `where {', '.join(map(written, cure.add))}`"
    used = [place for name, place in (named or {}).items() if any(name in free_vars(part) for part in cure.add)]
    if used:
        text = f"give {' and '.join(f'`{place}`' for place in used)} a name, and {text}"
    if cure.excludes is None:
        return f"{text}, which excludes no size"
    cases = " and ".join(f"a `case {', '.join(map(written, case))}`" for case in cure.cases)
    return f"{text}: it excludes {written(cure.excludes)}; {cases} would serve {'these' if cure.cases[1:] else 'that'}"


def _nameable(predicate: Predicate, lowered: Lowered) -> dict[str, str]:
    """Returns where the variables stand that a spec does not name: ``?0``, ``batch[0]``."""
    return {
        name: place
        for name in free_vars(predicate)
        if not name.isidentifier() and (place := _place(name, lowered)) is not None
    }


def _numbers(size: Size, line: str | None) -> Iterator[str]:
    """Yields what helps where only a number can serve."""
    if _counts_parts(size, line or ""):
        yield _PARTS
    named = [name for name in dict.fromkeys(free_vars(size)) if name.isidentifier()]  # others cannot be declared
    static = "make it static: write a number" if named else "make it static: write a number or `_`"
    if named:
        static += f", or declare `const {', '.join(named)} = _`: each value is then a program of its own"
    yield static
    if len(named) == 1 and isinstance(size, Var):
        yield f"or let a few sizes serve all: `bucket {named[0]} in {{…}}` pads to the next of them, each a program of its own"
    yield (
        "or let the program use the size as it is: `int()`, `range()`, `math.sqrt()`, keys and indices of lists need a number"
    )


def _counts_parts(size: Size, line: str) -> bool:
    """Returns whether ``size`` is the number of parts of a tensor that ``line`` takes apart by another size."""
    match size:
        case Apply(op=op, args=(_, divisor)) if op.name == "//" and free_vars(divisor):
            return "chunk(" in line or "split(" in line
        case _:
            return False


def _bindings(node: Predicate | Size, lowered: Lowered, sizes: Mapping[str, int]) -> list[str]:
    """Returns where each variable of ``node`` is read: ``S is x.shape[1], 8 in the example``."""
    found: list[str] = []
    for name in dict.fromkeys(free_vars(node)):
        place = _place(name, lowered)
        value = f", {sizes[name]} in the example" if name in sizes else ""
        if place is not None:
            found.append(f"{name} is {'an argument' if place == name else place}{value}")
            continue
        leaves = ((leaf.place(axis), dim) for leaf in lowered.expanded.leaves for axis, dim in enumerate(leaf.dims))
        derived = next(((at, dim) for at, dim in leaves if name in free_vars(dim)), None)
        if derived is not None:
            value = f", and {name} {sizes[name]} in the example" if name in sizes else ""
            found.append(f"{derived[0]} is {write_dim(derived[1])}{value}")
    return found


def _place(name: str, lowered: Lowered) -> str | None:
    """Returns the place at which ``name`` stands alone."""
    for leaf in lowered.expanded.leaves:
        for axis, dim in enumerate(leaf.dims):
            if getattr(dim, "name", None) == name:
                return leaf.place(axis)
    return None


__all__ = ["data_dependent", "from_data", "told"]
