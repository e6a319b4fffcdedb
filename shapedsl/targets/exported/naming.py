"""What torch's symbols of a program are called.

The name of a ``Dim`` stays in the program until it is saved, and so do those of a ShapesSpec's variables;
our own assertions keep them even then. What has no name gets that of the first place where it stands alone:
``x_0`` for ``x.shape[0]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ...ir import Attribute, Path
from ..naming import distinct

_RESERVED: Final = frozenset({"and", "or", "not", "in", "None", "_", "inf", "true", "false"})
_IN_ASSERTIONS: Final = re.compile(r"(?:, where | and )(?P<place>\S+) is (?P<name>[A-Za-z_]\w*)")

_NAMED: Final = re.compile(r"(?:(?P<factor>\d+)\*)?(?P<name>[^\W\d]\w*)(?: (?P<sign>[+-]) (?P<offset>\d+))?")


@dataclass(frozen=True, slots=True)
class Slot:
    """A size of an input.

    Attributes:
        path: The input's.
        axis: None for a scalar.
        position: The number of the flat input.
        expression: torch's, over its symbols; an int for a constant.
        original: The same before anything was learned of it.
    """

    path: Path
    axis: int | None
    position: int
    expression: Any
    original: Any

    @property
    def place(self) -> str:
        """As messages name it: ``x.shape[0]``."""
        return str(self.path) if self.axis is None else f"{self.path}.shape[{self.axis}]"

    @property
    def stem(self) -> str:
        """As a variable is called after it: ``past_0_k_2``."""
        words = [step.name if isinstance(step, Attribute) else str(step.key) for step in self.path.steps]
        words += [] if self.axis is None else [str(self.axis)]
        return "_".join((self.path.root, *(re.sub(r"\W+", "_", word, flags=re.ASCII).strip("_") for word in words)))

    @property
    def sources(self) -> tuple[str, str]:
        """As torch's guards name it: by its parameter, or in strict mode by its number."""
        steps = "".join(f".{s.name}" if isinstance(s, Attribute) else f"[{s.key!r}]" for s in self.path.steps)
        size = "" if self.axis is None else f".size()[{self.axis}]"
        return f"L[{self.path.root!r}]{steps}{size}", f"L['flat_args'][{self.position}]{size}"

    @property
    def symbol(self) -> Any | None:
        """The symbol that it is, if it is one."""
        return self.expression if getattr(self.expression, "is_Symbol", False) else None


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one of torch's symbols is: ``name - shift``.

    torch may take ``Dim("u") - 10`` for its symbol, so that ``u`` itself is ``s0 + 10``.
    """

    name: str
    shift: int = 0


def meanings_of(
    program: Any, shape_env: Any, slots: Iterable[Slot], wishes: Mapping[str, str], stems: Mapping[str, str]
) -> dict[str, Meaning]:
    """Returns what each symbol in ``slots`` is, by torch's name.

    Args:
        program: An ExportedProgram.
        shape_env: Its ShapeEnv, or None.
        slots: In the order of the parameters.
        wishes: Names by place, which come first.
        stems: Names by place, of sizes that have none.
    """
    slots = tuple(slots)
    said = {**_in_assertions(program), **wishes}
    spec: Mapping[Any, Any] = getattr(shape_env, "_spec_symbol_to_compile_symbol", None) or {}
    found: dict[str, list[Meaning]] = {symbol: [] for symbol in symbols_in(slots)}
    for slot in slots:
        if (known := linear(slot.expression)) is not None and slot.place in said and known.factor == 1:
            found[known.symbol].append(Meaning(said[slot.place], known.offset))
    for slot, text in _texts(shape_env, slots):
        here, there = linear(slot.expression), _NAMED.fullmatch(text)
        if here is None or there is None or here.factor != int(there["factor"] or 1):
            continue
        shift, rest = divmod(here.offset - int(f"{there['sign'] or ''}{there['offset'] or 0}"), here.factor)
        if not rest:
            found[here.symbol].append(Meaning(there["name"], shift))
    for name, symbol in spec.items():
        if (own := getattr(symbol, "name", "")) in found:
            found[own].append(Meaning(str(name).rpartition("#")[0]))
    for slot in slots:  # last, whatever stands alone
        if slot.symbol is not None:
            found[slot.symbol.name].append(Meaning(stems.get(slot.place, slot.stem)))
    for slot in slots:
        for symbol in _symbols(slot.expression):
            found[symbol].append(Meaning(f"{slot.stem}_root"))
    made: dict[str, Meaning] = {}
    for symbol, wished in found.items():
        first = next(replace(each, name=name) for each in wished if (name := _as_name(each.name)))
        made[symbol] = replace(first, name=distinct(first.name, {each.name for each in made.values()}))
    return made


@dataclass(frozen=True, slots=True)
class Linear:
    """``factor * symbol + offset``; ``factor`` >= 1."""

    factor: int
    symbol: str
    offset: int


def linear(expression: Any) -> Linear | None:
    """Returns ``2*s0 + 1`` taken apart; None for what is not of this form."""
    if not hasattr(expression, "as_coeff_Add"):
        return None
    offset, rest = expression.as_coeff_Add()
    factor, symbol = rest.as_coeff_Mul()
    if not (symbol.is_Symbol and factor.is_Integer and offset.is_Integer and int(factor) > 0):
        return None
    return Linear(int(factor), symbol.name, int(offset))


def named(shape_env: Any, slots: Iterable[Slot]) -> frozenset[str]:
    """Returns the symbols, by torch's name, of which the program says what the user called them."""
    return frozenset(symbol for slot, _ in _texts(shape_env, slots) for symbol in _symbols(slot.expression))


def _texts(shape_env: Any, slots: Iterable[Slot]) -> Iterator[tuple[Slot, str]]:
    """Yields the slots of named dims, each with what torch calls it: ``2*B`` for a derived one."""
    debug: Mapping[str, str] = getattr(shape_env, "source_name_to_debug_name", None) or {}
    for slot in slots:
        yield from ((slot, debug[source]) for source in slot.sources if source in debug)


def _in_assertions(program: Any) -> dict[str, str]:
    """Returns the names that our assertions give to places."""
    found: dict[str, str] = {}
    for node in program.graph.nodes:
        if "_assert_scalar" in str(node.target) and len(node.args) > 1:
            _, needed, where = str(node.args[1]).partition(" is needed, where ")
            if needed:
                found.update((m["place"], m["name"]) for m in _IN_ASSERTIONS.finditer(f", where {where}"))
    return found


def _symbols(expression: Any) -> list[str]:
    return sorted(symbol.name for symbol in getattr(expression, "free_symbols", ()))


def _as_name(text: str) -> str:
    """Returns a name of the language that reads like ``text``, or nothing for an expression."""
    if not text.isidentifier():
        return ""
    made = text if text.isascii() else re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
    made = f"size_{made}" if made[:1].isdigit() else made or "size"
    return f"{made}_" if made in _RESERVED else made


def symbols_in(slots: Iterable[Slot]) -> Iterator[str]:
    """Yields torch's names of the symbols in ``slots``, in order, each once."""
    yield from dict.fromkeys(symbol for slot in slots for symbol in _symbols(slot.expression))
