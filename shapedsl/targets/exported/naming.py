"""What torch's symbols of a program are called.

The name of a ``Dim`` stays in the program until it is saved, and so do those of a ShapesSpec's variables;
our own assertions keep them even then. What has no name gets that of the first place where it stands alone:
``x_0`` for ``x.shape[0]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...ir import Attribute, Path

_RESERVED: Final = frozenset({"and", "or", "not", "in", "None", "_", "inf", "true", "false"})
_IN_ASSERTIONS: Final = re.compile(r"(?:, where | and )(?P<place>\S+) is (?P<name>[A-Za-z_]\w*)")


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


def names_of(
    program: Any, shape_env: Any, slots: Iterable[Slot], wishes: Mapping[str, str], stems: Mapping[str, str]
) -> dict[str, str]:
    """Returns what each symbol in ``slots`` is called, by torch's name.

    Args:
        program: An ExportedProgram.
        shape_env: Its ShapeEnv, or None.
        slots: In the order of the parameters.
        wishes: Names by place, which come first.
        stems: Names by place, of sizes that have none.
    """
    slots = tuple(slots)
    said = {**_in_assertions(program), **wishes}
    debug = _debug_names(shape_env)
    spec: Mapping[Any, Any] = getattr(shape_env, "_spec_symbol_to_compile_symbol", None) or {}
    candidates: dict[str, list[str]] = {}
    for slot in slots:
        if slot.symbol is not None:
            found = candidates.setdefault(slot.symbol.name, [])
            found += [said[slot.place]] if slot.place in said else []
            found += [debug[source] for source in slot.sources if source in debug]
    for name, symbol in spec.items():
        if (known := getattr(symbol, "name", "")) in candidates:
            candidates[known].append(str(name).rpartition("#")[0])
    for slot in slots:
        for symbol in _symbols(slot.expression):
            found = candidates.setdefault(symbol, [])
            if slot.symbol is None and len(_symbols(slot.expression)) == 1:
                texts = [debug[source] for source in slot.sources if source in debug]
                found += [root for text in texts for root in re.findall(r"[A-Za-z_]\w*", text)]
    for slot in slots:  # last, whatever stands alone
        if slot.symbol is not None:
            candidates[slot.symbol.name].append(stems.get(slot.place, slot.stem))
    for slot in slots:
        for symbol in _symbols(slot.expression):
            candidates[symbol].append(f"{slot.stem}_root")
    made: dict[str, str] = {}
    for symbol, found in candidates.items():
        made[symbol] = _free(next(name for name in map(_as_name, found) if name), made.values())
    return made


def named(shape_env: Any, slots: Iterable[Slot]) -> frozenset[str]:
    """Returns the symbols, by torch's name, of which the program says what the user called them."""
    debug = _debug_names(shape_env)
    return frozenset(
        symbol for slot in slots if not debug.keys().isdisjoint(slot.sources) for symbol in _symbols(slot.expression)
    )


def _debug_names(shape_env: Any) -> Mapping[str, str]:
    """Returns the texts of named dims by source: ``2*B`` of a derived one."""
    return getattr(shape_env, "source_name_to_debug_name", None) or {}


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


def _free(wish: str, taken: Iterable[str]) -> str:
    taken = set(taken)
    made, count = wish, 1
    while made in taken:
        count += 1
        made = f"{wish}_{count}"
    return made


def symbols_in(slots: Iterable[Slot]) -> Iterator[str]:
    """Yields torch's names of the symbols in ``slots``, in order, each once."""
    yield from dict.fromkeys(symbol for slot in slots for symbol in _symbols(slot.expression))
