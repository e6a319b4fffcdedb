"""Serve one callable by several artifacts: a `Maker` of the function in front, and what is kept behind it.

After (the function that is called; names shortened)::

    def f(x, w):
        if …: return target(x, w)            # inside someone else's graph
        try: ...                             # the check of `runtime.guard`
        except Exception: explain(x, w); raise
        if B == 1: …                         # the choice of `runtime.choose`, with bodies by `structure`
        if B > 100: …
        refuse((B, S))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import FunctionType
from typing import Any, Final, NoReturn

from ...diagnostics import ShapeError
from ...ir import Signature
from ...ir.expanded import Expanded
from ...runtime.code import Code
from ...runtime.guard import Guard
from ...runtime.locks import Lock
from ...runtime.parameters import Parameter
from ...runtime.select import Selector
from ...runtime.solve import Solve
from ...targets.entry.artifacts import traced_call
from ...targets.entry.serving import device_of, versions_of
from ...targets.tensors import torch_tensors
from ..buckets.padded import padded_spec
from ..buckets.padded_calls import Unpad
from . import told
from .artifacts import ArtifactSpec
from .backend import Backend
from .cases import case_spec, label
from .running import Artifact, State
from .structure import MOST_INTS, Key, Structure, Taken
from .verifying import Verify, WrongArtifact


class Dispatcher:
    """Chooses and runs the artifacts of one callable."""

    def __init__(
        self,
        target: Callable[..., Any],
        parameters: Sequence[Parameter],
        signature: Signature,
        backend: Backend,
        *,
        name: str,
        solve: Solve | None = None,
        unpad: Unpad | None = None,
        verify: Verify | None = None,
    ) -> None:
        """Args:
        target: The original.
        parameters: Its own, secrets of defaults kept.
        signature: Its spec, with alternatives or without.
        backend: Makes artifacts.
        name: What messages call it.
        solve: Computes variables that cannot be read off.
        unpad: What crops an output, by its path.
        verify: How artifacts are compared with ``target`` before they serve; None: they are not.
        """
        self.target = target
        self.parameters = tuple(parameters)
        self.signature = signature
        self.backend = backend
        self.name = name
        self.tensors = torch_tensors()
        self.unpad: Final = dict(unpad or {})
        self.verify = verify
        self.lock = Lock()
        self.comparing = Lock()  # taken before that of an artifact: the target may call itself
        self.structures: dict[object, Structure] = {}
        self.refused = 0  # calls that no alternative took
        self.versions = partial(versions_of, target)
        self._told: set[object] = set()
        self.selector = Selector(signature, self.parameters, self.tensors, self, name=name, solve=solve)
        self.bound: tuple[Any, ...] = ()  # what the function in front is given first
        self._ask: Callable[..., Any] | None = None
        self._asking = Selector(signature, self.parameters, self.tensors, _Asking(self), name=name, solve=solve)

    def front(self) -> FunctionType:
        """Returns the function to call."""
        return self.selector.front()

    # ------------------------------------------------------------------------------- a `Maker`

    def prologue(self, code: Code) -> list[str]:
        """Returns the lines that leave a call to whoever is compiling around it."""
        return traced_call(self.target, self.parameters, code)

    def body(self, code: Code, checked: Guard, expanded: Expanded) -> list[str]:
        """Returns the lines that choose an artifact and run it."""
        return self.structure(expanded).lines(code, checked)

    def structure(self, expanded: Expanded) -> Structure:
        """Returns what is served at one structure."""
        key = expanded.present, expanded.structure
        with self.lock:
            if key not in self.structures:
                self.structures[key] = Structure(self, expanded, len(self.structures) + 1)
            return self.structures[key]

    # ------------------------------------------------------------------------------- artifacts

    def spec_of(self, structure: Structure, position: int, members: Key, excluded: frozenset[int]) -> ArtifactSpec:
        """Returns what an artifact may assume; ``members`` are the sizes that its buckets pin."""
        signature = structure.signature
        alternative = structure.alternatives[position]
        if not alternative.buckets:
            return case_spec(signature, position, excluded)
        return padded_spec(signature, position, structure.pinned(position, members), excluded)

    # ------------------------------------------------------------------------------- asking

    def asked(self, *args: Any, **kwargs: Any) -> tuple[Structure, dict[str, int], tuple[Any, ...]]:
        """Returns the structure, the sizes and all arguments of a call; nothing is run.

        Raises:
            ShapeError: It does not satisfy ``where``.
            TypeError: It does not fit the parameters.
        """
        if self._ask is None:
            self._ask = self._asking.front()
        found: tuple[Structure, dict[str, int], tuple[Any, ...]] = self._ask(*self.bound, *args, **kwargs)
        return found

    def named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments of a call by parameter, without omitted defaults and without what no spec speaks of.

        Raises:
            ShapeError: It does not satisfy ``where``.
            TypeError: It does not fit the parameters.
        """
        _, _, values = self.asked(*args, **kwargs)
        return self._asking.arguments(values)

    def listed(self, values: tuple[Any, ...]) -> dict[str, Any]:
        """Returns arguments, one a parameter, by the name of each, without omitted ones and what no spec speaks of."""
        listed = {param.name for param in self.selector.listed}
        found = self._asking.arguments(values)
        return {name: value for name, value in found.items() if name in listed}

    def receivers(self) -> dict[str, Any]:
        """Returns what every call is given first, by parameter: the object whose attributes the spec names."""
        return dict(zip((param.name for param in self.parameters), self.bound, strict=False))

    def device(self) -> Any:
        """Returns where tensors have to be; None for anywhere."""
        return device_of(self.target, self.bound)

    def found(self, structure: Structure, taken: Taken, *, make: bool = False) -> Artifact | None:
        """Returns the artifact of a call, if there is one.

        Args:
            structure: Of the call.
            taken: What takes it: an alternative that does not run eagerly.
            make: Whether it may be a new one, which is not compiled yet.
        """
        key = taken.key
        if taken.chosen is not None:
            key = (*key, *(size for _, size in structure.joint(taken.position).combination(taken.chosen)))
        if make:
            return structure.artifact(taken.position, frozenset(), key)
        return structure.artifacts.get((taken.position, frozenset(), key))

    def comparing_or_not(self) -> AbstractContextManager[Any]:
        """Returns the lock to take while an artifact is made: one, where artifacts are compared."""
        return nullcontext() if self.verify is None else self.comparing

    def serves(self) -> bool:
        """Returns whether any artifact runs."""
        structures = list(self.structures.values())
        return any(each.state is State.MADE for structure in structures for each in list(structure.artifacts.values()))

    def free_buffers(self) -> int:
        """Frees the memory that padding keeps for later calls; returns how many bytes that was."""
        return sum(structure.free_buffers() for structure in list(self.structures.values()))

    # ------------------------------------------------------------------------------- telling

    def refuse(self, structure: Structure, sizes: Mapping[str, int]) -> NoReturn:
        """Raises `ShapeError` (``no-alternative``)."""
        raise ShapeError([told.no_alternative(self.name, structure.expanded, sizes)])

    def tell_failed(self, artifact: Artifact, error: Exception) -> None:
        """Warns that an artifact failed."""
        structure = artifact.structure
        after = structure.alternatives[artifact.spec.position + 1 :]
        told.warn(told.failed_artifact(self.name, artifact, error, after))

    def tell_wrong(self, error: WrongArtifact) -> None:
        """Warns that an artifact is wrong, or cannot be compared."""
        told.warn(error.diagnostics[0])

    def tell_refused(self, artifact: Artifact, error: Exception) -> None:
        """Warns that calls of an artifact run eagerly, because torch cannot compile again for them."""
        told.warn(told.failed_calls(self.name, artifact, error))

    def tell_many(self, structure: Structure, position: int) -> None:
        """Warns once that an alternative has too many artifacts."""
        if (structure, position) not in self._told:
            self._told.add((structure, position))
            what = label(structure.alternatives[position], position)
            told.warn(told.too_many(self.name, what, structure.ints, MOST_INTS, structure.signature))


class _Asking:
    """Returns what a call is, and runs nothing."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher

    def prologue(self, code: Code) -> list[str]:
        del code
        return []

    def body(self, code: Code, checked: Guard, expanded: Expanded) -> list[str]:
        structure = self.dispatcher.structure(expanded)
        named = ", ".join(f"{name!r}: {size}" for name, size in checked.sizes.items())
        return [f"return {code.use(structure, 'structure')}, {{{named}}}, {structure.values}"]


__all__ = ["Dispatcher"]
