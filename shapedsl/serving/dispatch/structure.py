"""What is served at one structure: the lines that choose, and the artifacts that they run.

After, for two cases (names shortened)::

    if B == 1:
        n = cell[0] = cell[0] + 1; cell[1] = B, S
        if run is None: return start((x, w))
        try:
            if n & 31: return run(x, w)
            return timed(x, w)
        except Exception as error: return failed(error, (x, w))
    if B > 100:
        …
    refuse((B, S))

Where static sizes or host ints tell artifacts apart, ``cell`` and what to run come from a table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ...ir import Alternative, AnyType, Mode, ParamKind, ScalarType, Signature
from ...ir.expanded import Expanded
from ...ir.taking import pads
from ...runtime.choose import chain
from ...runtime.code import Code
from ...runtime.guard import Guard, guard
from ...runtime.parameters import OMITTED, REQUIRED, Parameter, passed
from ...targets.entry.artifacts import presence
from ..buckets.joint import Joint, chooser, pins
from ..buckets.padded_calls import PaddedCalls
from .cases import statics_of
from .running import CALLS, LAST, RUN, SAMPLED, Artifact, State, new_cell

if TYPE_CHECKING:
    from .dispatcher import Dispatcher

MOST_INTS: Final = 64  # artifacts of one alternative that host ints tell apart

_POSITIONAL = (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL_OR_KEYWORD)

# Static sizes, host ints and members by position in `Structure.keys`; of an alternative that pads, its choice too.
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """Which alternative takes the sizes of a call.

    Attributes:
        position: Of the alternative.
        chosen: The padded sizes of its buckets, if it pads.
        key: What tells its artifacts apart, without the members of buckets that pad.
        sizes: By `Structure.names`.
    """

    position: int
    chosen: tuple[int, ...] | None
    key: Key
    sizes: tuple[int, ...]


class Structure:
    """One structure of the arguments.

    Attributes:
        dispatcher: Whose.
        expanded: The signature at it, with alternatives.
        alternatives: Those of the signature; a spec without has one that takes everything.
        names: The variables whose sizes are read, in the order in which they are noted.
        present: Parameters that map to false are not passed.
        artifacts: Those that were met.
        number: Counted from 1, as structures are met.
        eager_cells: Of alternatives that run eagerly, what counts their calls.
    """

    def __init__(self, dispatcher: Dispatcher, expanded: Expanded, number: int) -> None:
        self.dispatcher = dispatcher
        self.expanded = expanded
        self.number = number
        self.signature: Signature = expanded.signature
        self.alternatives = self.signature.alternatives or (Alternative("all sizes"),)
        self.parameters = dispatcher.parameters
        self.spelled = {param.name: param.spelled for param in self.parameters}
        self.present = presence(expanded, self.parameters)
        self.statics = statics_of(self.signature)
        self.ints = tuple(self._ints())
        self.names: tuple[str, ...] = ()
        self.artifacts: dict[tuple[int, frozenset[int], Key], Artifact] = {}
        self.eager_cells: dict[int, list[Any]] = {}
        self.values = f"({''.join(f'{name}, ' for name in self.spelled.values())})"
        self._joints: dict[int, Joint] = {}
        self._padded: dict[tuple[int, frozenset[int]], PaddedCalls] = {}
        self._which: Callable[..., tuple[Any, ...] | None] | None = None
        self.eager = self._eagerly(dispatcher.target)
        self.passes_all = all(p.kind in _POSITIONAL and self.present.get(p.name, True) for p in self.parameters)

    def _ints(self) -> Iterator[str]:
        """Yields the parameters that may hold an int which no variable stands for: torch makes a graph for each."""
        types = {param.name: param.type for param in self.signature.params}
        for param in self.parameters:
            type_ = types.get(param.name, AnyType())
            plain = isinstance(type_, AnyType) or (isinstance(type_, ScalarType) and type_.size is None)
            variadic = param.kind in (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD)
            if plain and not variadic and param.name not in ("self", "cls", self.signature.receiver):
                yield param.name

    def _passing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns ``function`` for all arguments, one a parameter: it is called as this structure passes them."""
        code = Code(self.spelled.values())
        line = f"return {code.use(function, 'function')}({passed(self.parameters, self.present)})"
        return code.function(f"{code.prefix}f({', '.join(self.spelled.values())})", [line], "passing")

    def _eagerly(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns what `_passing` does, but what was left out stays so, and what has a default goes by keyword.

        Decorators look at how a function is called: those of transformers add a keyword that they do not find.
        """
        rest = [param for param in self.parameters if self._may_be_left_out(param)]
        if not rest or any(param.kind is ParamKind.VAR_POSITIONAL for param in self.parameters):
            return self._passing(function)
        code = Code(self.spelled.values())
        kwargs = code.local()
        lines = [f"{kwargs} = {{}}"]
        for param in rest:
            default = code.use(param.default, f"default_of_{param.spelled}")
            lines.append(f"if {param.spelled} is not {default}: {kwargs}[{param.name!r}] = {param.spelled}")
        given = passed(self.parameters, {**self.present, **{param.name: False for param in rest}})
        lines.append(f"return {code.use(function, 'function')}({given}{', ' if given else ''}**{kwargs})")
        return code.function(f"{code.prefix}f({', '.join(self.spelled.values())})", lines, "passing")

    def _may_be_left_out(self, param: Parameter) -> bool:
        """Returns whether it can be left out of a call by keyword, and may have been."""
        by_keyword = param.kind in (ParamKind.POSITIONAL_OR_KEYWORD, ParamKind.KEYWORD_ONLY)
        known = param.default is not REQUIRED and param.default is not OMITTED
        return by_keyword and known and self.present.get(param.name, True)

    # ------------------------------------------------------------------------------- the choice

    def lines(
        self, code: Code, checked: Guard, first: int = 0, excluded: frozenset[int] = frozenset(), *, last: bool = False
    ) -> list[str]:
        """Returns the lines that choose an alternative and run it.

        Args:
            code: The function in which they will stand.
            checked: Where the sizes are.
            first: The first alternative that is tried.
            excluded: Those that failed for these sizes.
            last: Whether the target takes what no alternative takes; else that is refused.
        """
        self.names = tuple(name for name in checked.sizes if not name.startswith("?"))
        writer = _Writer(self, code, checked, excluded)
        lines = list(chain(self.alternatives, checked.sizes, self.spelled, code, writer.body, self.joint, first=first))
        if last:
            return [*lines, f"return {code.use(self.eager, 'eager')}{self.values}"]
        return [*lines, f"return {code.use(self._refuse, 'refuse')}({writer.last})"]

    def joint(self, position: int) -> Joint:
        """Returns what chooses members for an alternative that pads."""
        if position not in self._joints:
            self._joints[position] = chooser(self.alternatives[position], self.expanded)
        return self._joints[position]

    def padded(self, position: int, excluded: frozenset[int]) -> PaddedCalls:
        """Returns what runs the artifacts of an alternative that pads."""
        at = position, excluded
        if at not in self._padded:
            self._padded[at] = PaddedCalls(self, position, excluded, self.dispatcher.unpad)
        return self._padded[at]

    def free_buffers(self) -> int:
        """Frees the memory that padding keeps for later calls; returns how many bytes that was."""
        return sum(padded.free_buffers() for padded in list(self._padded.values()))

    def _refuse(self, last: tuple[int, ...]) -> NoReturn:
        self.dispatcher.refused += 1
        self.dispatcher.refuse(self, dict(zip(self.names, last, strict=True)))

    def after(self, failed: Artifact) -> Callable[..., Any]:
        """Returns what runs the sizes of an artifact that failed; it takes all arguments, one a parameter."""
        code = Code([*self.spelled.values(), self.dispatcher.name])
        checked = guard(self.expanded, code, self.dispatcher.tensors, self.spelled, where=False)
        position = failed.spec.position
        lines = [*checked.lines, *self.lines(code, checked, position + 1, failed.excluded | {position}, last=True)]
        function = f"{code.prefix}f({', '.join(self.spelled.values())})"
        return code.function(function, lines, self.dispatcher.name)

    def which(self, values: tuple[Any, ...]) -> Taken | None:
        """Returns which alternative takes the sizes of a call that satisfies ``where``; None: none does."""
        if self._which is None:
            self._which = self._asking()
        found = self._which(*values)
        return None if found is None else Taken(*found)

    def _asking(self) -> Callable[..., tuple[Any, ...] | None]:
        code = Code([*self.spelled.values(), self.dispatcher.name])
        checked = guard(self.expanded, code, self.dispatcher.tensors, self.spelled, where=False)
        self.names = tuple(name for name in checked.sizes if not name.startswith("?"))
        writer = _Writer(self, code, checked, frozenset())

        def body(position: int, chosen: str | None) -> list[str]:
            pinned = [] if chosen else self.pinned_names(position, checked.sizes)
            return [f"return {position}, {chosen}, {writer.key(pinned)}, {writer.last}"]

        lines = [
            *checked.lines,
            *chain(self.alternatives, checked.sizes, self.spelled, code, body, self.joint),
            "return None",
        ]
        return code.function(f"{code.prefix}f({', '.join(self.spelled.values())})", lines, "which")

    def pinned_names(self, position: int, bound: Collection[str]) -> list[str]:
        """Returns the sizes that tell artifacts of an alternative apart, because its buckets pad nothing."""
        return [b.variable for b in self.alternatives[position].buckets if pins(b) and b.variable in bound]

    # ------------------------------------------------------------------------------- artifacts

    def artifact(self, position: int, excluded: frozenset[int], key: Key) -> Artifact | None:
        """Returns the artifact of an alternative for ``key``, new or not; None where there are too many."""
        at = position, excluded, key
        found = self.artifacts.get(at)
        if found is not None:
            return found
        with self.dispatcher.lock:
            if at not in self.artifacts:
                if self.ints and any(key[len(self.statics) :][: len(self.ints)]):
                    met = {k for p, e, k in self.artifacts if (p, e) == (position, excluded)}
                    if len(met) >= MOST_INTS:
                        self.dispatcher.tell_many(self, position)
                        return None
                self.artifacts[at] = self._new(position, excluded, key)
            return self.artifacts[at]

    def _new(self, position: int, excluded: frozenset[int], key: Key) -> Artifact:
        named = tuple(zip((*self.statics, *self.ints), key, strict=False))
        spec = self.dispatcher.spec_of(self, position, key[len(named) :], excluded)
        return Artifact(self, spec, tuple((name, value) for name, value in named if value is not None), excluded)

    def pinned(self, position: int, members: Key) -> tuple[tuple[str, int], ...]:
        """Returns the members that tell an artifact from others of its alternative, by variable."""
        buckets = [bucket for bucket in self.alternatives[position].buckets if pins(bucket)]
        bound = [
            bucket.variable for bucket in buckets if pads(self.alternatives[position]) or bucket.variable in self.names
        ]
        return tuple(zip(bound, members, strict=True))

    def given(self, artifact: Artifact) -> tuple[Expanded, Mapping[str, int], Mapping[str, bool]]:
        """Returns what a backend takes besides the spec of an artifact."""
        at = replace(self.expanded, signature=artifact.spec.signature)
        values = dict(artifact.key)
        return at, {name: values[name] for name in self.statics}, self.present

    def same(self, artifact: Artifact) -> Callable[..., Any] | None:
        """Returns what runs an artifact that was made and assumes less than ``artifact``."""
        for other in list(self.artifacts.values()):
            if (
                other.state is State.MADE
                and other.spec == artifact.spec
                and other.key == artifact.key
                and other.excluded > artifact.excluded
            ):
                run: Callable[..., Any] | None = other.cell[RUN]
                return run
        return None

    def by_position(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Returns ``run`` for all arguments by position, one a parameter."""
        return run if self.passes_all else self._passing(run)

    def call(self, run: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        """Returns the result of ``run`` for all arguments."""
        return self.by_position(run)(*values)


class _Writer:
    """Writes what happens with the sizes of an alternative, in one function."""

    def __init__(self, structure: Structure, code: Code, checked: Guard, excluded: frozenset[int]) -> None:
        self.structure = structure
        self.code = code
        self.sizes = checked.sizes
        self.excluded = excluded
        self.last = f"({''.join(f'{checked.sizes[name]}, ' for name in structure.names)})"
        self.arguments = passed(structure.parameters, structure.present)
        self.error = code.use(Exception, "Exception")
        self.watches = structure.dispatcher.verify is not None

    def body(self, position: int, chosen: str | None) -> list[str]:
        """Returns the lines of one alternative."""
        structure, code = self.structure, self.code
        alternative = structure.alternatives[position]
        values = structure.values
        if alternative.mode is Mode.EAGER:
            cell = structure.eager_cells.setdefault(position, new_cell(structure.dispatcher.target))
            return [
                *self._count(code.use(cell, f"cell_{position}")),
                f"return {code.use(structure.eager, 'eager')}{values}",
            ]
        if chosen is not None:
            padded = structure.padded(position, self.excluded).run
            named = "{" + ", ".join(f"{name!r}: {self.sizes[name]}" for name in structure.names) + "}"
            key = self.key(())
            return [f"return {code.use(padded, f'padded_{position}')}({chosen}, {named}, {self.last}, {key}, {values})"]
        pinned = structure.pinned_names(position, self.sizes)
        if structure.statics or structure.ints or pinned:
            return self._from_table(position, pinned, values)
        artifact = structure.artifact(position, self.excluded, ())
        assert artifact is not None  # nothing tells several apart
        run = f"{code.prefix}run_{position}"
        artifact.hook(partial(code.scope.__setitem__, run))
        number = code.local()
        watched = code.use(artifact.watched, f"watched_{position}") + values if self.watches else None
        return [
            *self._count(code.use(artifact.cell, f"cell_{position}"), number),
            f"if {run} is None: return {code.use(artifact.start, f'start_{position}')}({values})",
            *self._run(run, number, code.use(artifact.timed, f"timed_{position}"), watched),
            f"except {self.error} as {code.prefix}error:",
            f"    return {code.use(artifact.failed, f'failed_{position}')}({code.prefix}error, {values})",
        ]

    def _from_table(self, position: int, pinned: list[str], values: str) -> list[str]:
        structure, code = self.structure, self.code
        table: dict[Key, tuple[list[Any], Artifact]] = {}

        def find(key: Key) -> tuple[list[Any], Artifact] | tuple[None, None]:
            artifact = structure.artifact(position, self.excluded, key)
            if artifact is None:
                return None, None
            table[key] = artifact.cell, artifact
            return table[key]

        key, found, number, run = code.local(), code.local(), code.local(), code.local()
        cell, artifact = code.local(), code.local()
        return [
            f"{key} = {self.key(pinned)}",
            f"{found} = {code.use(table.get, f'get_{position}')}({key})",
            f"if {found} is None: {found} = {code.use(find, f'find_{position}')}({key})",
            f"{cell}, {artifact} = {found}",
            f"if {cell} is None: return {code.use(structure.eager, 'eager')}{values}",
            *self._count(cell, number),
            f"{run} = {cell}[{RUN}]",
            f"if {run} is None: return {artifact}.start({values})",
            *self._run(run, number, f"{artifact}.timed", f"{artifact}.watched{values}" if self.watches else None),
            f"except {self.error} as {code.prefix}error:",
            f"    return {artifact}.failed({code.prefix}error, {values})",
        ]

    def key(self, pinned: list[str] | tuple[str, ...]) -> str:
        """Returns the text of what tells artifacts of one alternative apart."""
        structure, code = self.structure, self.code
        parts = [self.sizes[name] for name in structure.statics]
        for name in structure.ints:
            spelled = structure.spelled[name]
            kind, int_ = code.use(type, "type"), code.use(int, "int")
            parts.append(f"{spelled} if {kind}({spelled}) is {int_} else None")
        parts += [self.sizes[name] for name in pinned]
        return f"({''.join(f'{part}, ' for part in parts)})"

    def _count(self, cell: str, number: str | None = None) -> list[str]:
        counted = f"{cell}[{CALLS}] = {cell}[{CALLS}] + 1"
        return [f"{number} = {counted}" if number else counted, f"{cell}[{LAST}] = {self.last}"]

    def _run(self, run: str, number: str, timed: str, watched: str | None) -> list[str]:
        if watched is not None:
            return ["try:", f"    return {watched}"]
        return [
            "try:",
            f"    if {number} & {SAMPLED}: return {run}({self.arguments})",
            f"    return {timed}({self.arguments})",
        ]


__all__ = ["MOST_INTS", "Key", "Structure", "Taken"]
