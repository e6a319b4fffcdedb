"""Run a callable so that nothing of the run is left behind.

Every run gets clones of its arguments and the same random numbers; what it changes (a module's buffers
and attributes) is noted and put back.

Before and after, for a module that counts its calls::

    counter.seen == 7      run: returns 3.5, leaves the buffer `seen` at 8      counter.seen == 7
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CellType, FunctionType, ModuleType
from typing import Any, Final

import torch
from torch.utils import _pytree as pytree


@dataclass(slots=True)
class Run:
    """What one run did.

    Attributes:
        result: What it returned.
        error: What it raised instead.
        arguments: The arguments, as the run left them.
        buffers: A module's buffers after the run, where they changed.
        attributes: Names of other tensors that a module holds and that the run changed.
        drew: Whether it drew random numbers.
        wrote: Whether a tensor of the arguments is another one afterwards, or holds something else.
    """

    result: Any = None
    error: Exception | None = None
    arguments: Any = None
    buffers: dict[str, Any] = field(default_factory=dict[str, Any])
    attributes: tuple[str, ...] = ()
    drew: bool = False
    wrote: bool = False


class Bench:
    """Where one callable is run, or several that should agree.

    Attributes:
        modules: What is put back, by name.
        grad: Whether autograd is on.
    """

    def __init__(self, target: Callable[..., Any], *others: Any) -> None:
        """Args:
        target: What is run; its modules have the names that differences speak of.
        others: What is run too, or given, with modules of their own.
        """
        self.modules = dict(_modules(target))
        known = {id(module) for module in self.modules.values()}
        self._own: list[tuple[str, torch.nn.Module]] = []  # of the others: they may have the same names
        for each in others:
            for name, module in _modules(each):
                if id(module) not in known:
                    known.add(id(module))
                    self._own.append((name, module))
        self.grad = False

    @staticmethod
    def ambient() -> bool:
        """Returns whether autograd is on here: torch compiles other code for it."""
        return torch.is_grad_enabled()

    def parameters(self, *, own: bool = False) -> dict[str, torch.nn.Parameter]:
        """Returns the parameters that gradients are taken of, by name.

        Args:
            own: Whether those that others hold, under the same names, take the place of the target's.
        """
        found = dict(_parameters(self.modules.items()))
        if own:
            found.update((name, each) for name, each in _parameters(self._own) if name in found)
        return found

    def run(self, call: Callable[[Any], Any], arguments: Any) -> Run:
        """Returns what ``call`` did with clones of ``arguments``.

        Args:
            call: Takes the arguments as one object.
            arguments: Any nesting of containers; they stay as they are.
        """
        given = cloned(arguments)
        kept = [(name, module, _Kept(module)) for name, module in (*self.modules.items(), *self._own)]
        done = Run(arguments=given)
        before = random.getstate()
        devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
        with torch.random.fork_rng(devices=devices), torch.set_grad_enabled(self.grad):
            if devices:
                torch.manual_seed(0)
            else:  # without what torch notes for devices that are not there, the whole stack among it
                torch.default_generator.manual_seed(0)
            held = _versions(given)
            random.seed(0)
            seeded, drawn = torch.get_rng_state(), random.getstate()
            try:
                done.result = cloned(call(given))
            except Exception as error:  # the user's code may raise anything
                done.error = error
            finally:
                done.wrote = held is None or held != _versions(given)
                done.drew = not torch.equal(seeded, torch.get_rng_state()) or drawn != random.getstate()
                random.setstate(before)
                attributes: list[str] = []
                for name, module, state in kept:
                    buffers, others = state.changed(module)
                    prefix = f"{name}." if name else ""
                    done.buffers.update({f"{prefix}{key}": value for key, value in buffers.items()})
                    attributes += [f"{prefix}{key}" for key in others]
                    state.restore(module)
                done.attributes = tuple(attributes)
        return done


class _Kept:
    """A module's own state, without its submodules' and its parameters' numbers."""

    def __init__(self, module: torch.nn.Module) -> None:
        self.entries = {key: _shallow(value) for key, value in vars(module).items()}
        self.tensors = [(tensor, tensor.detach().clone()) for tensor in _tensors(module)]

    def changed(self, module: torch.nn.Module) -> tuple[dict[str, Any], list[str]]:
        """Returns the buffers, and the names of the attributes, that are not as they were."""
        known = {id(tensor): copy for tensor, copy in self.tensors}
        buffers: dict[str, Any] = {}
        for name, buffer in module.named_buffers(recurse=False):
            if not _equal(buffer, known.get(id(buffer))):
                buffers[name] = buffer.detach().clone()
        attributes = [
            name
            for name, value in vars(module).items()
            if isinstance(value, torch.Tensor) and not _equal(value, known.get(id(value)))
        ]
        return buffers, attributes

    def restore(self, module: torch.nn.Module) -> None:
        """Puts everything back. What is as it was is not touched: other threads may run the module."""
        state = vars(module)
        for key in [key for key in state if key not in self.entries]:
            del state[key]
        for key, value in self.entries.items():
            if key not in state or not _same(state[key], value):
                state[key] = _shallow(value)
        for tensor, numbers in self.tensors:
            if not _equal(tensor, numbers):
                tensor.detach().resize_(numbers.shape).copy_(numbers)


def _versions(value: Any) -> list[tuple[int, int]] | None:
    """Returns which tensors a value holds, and how often each was written to; None where that is not known."""
    leaves = pytree.tree_leaves(value)
    if all((type(leaf) is torch.Tensor and not leaf.is_inference()) or isinstance(leaf, _PLAIN) for leaf in leaves):
        return [(id(leaf), leaf._version) for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return None


_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device)


def _shallow(value: Any) -> Any:
    return copy.copy(value) if isinstance(value, (dict, list, set)) else value


def _same(one: Any, other: Any) -> bool:
    """Returns whether an attribute is what it was: the same object, or a container of the same objects."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return [*one] == [*other] and all(value is other[key] for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(item is each for item, each in zip(one, other, strict=True))
    if isinstance(one, set):
        return bool(one == other)
    return one is other


def _parameters(modules: Iterable[tuple[str, torch.nn.Module]]) -> Iterator[tuple[str, torch.nn.Parameter]]:
    for prefix, module in modules:
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.requires_grad:
                yield f"{prefix}.{name}" if prefix else name, parameter


def _tensors(module: torch.nn.Module) -> Iterator[torch.Tensor]:
    yield from (buffer for buffer in module.buffers(recurse=False))
    for value in vars(module).values():
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):  # a cache
            yield from (item for item in value if isinstance(item, torch.Tensor))


def _equal(one: torch.Tensor, other: torch.Tensor | None) -> bool:
    if other is None or one.shape != other.shape or one.dtype != other.dtype:
        return False
    one = one.detach()
    return bool(((one == other) | ((one != one) & (other != other))).all())  # NaN is NaN


def _modules(target: Any) -> Iterator[tuple[str, torch.nn.Module]]:
    """Yields the modules that ``target`` is or can reach, with their names."""
    met: set[int] = set()
    for prefix, held in _held(target):
        if issubclass(type(held), torch.nn.Module):  # an attached spec is lowered when it is asked for its `__class__`
            for name, module in held.named_modules():
                if id(module) not in met:
                    met.add(id(module))
                    yield ".".join(part for part in (prefix, name) if part), module


def _held(target: Any) -> Iterator[tuple[str, Any]]:
    """Yields what ``target`` is and holds: a partial's arguments, a method's object, a function's variables."""
    while isinstance(target, functools.partial):
        yield from ((f"args[{at}]", value) for at, value in enumerate(target.args))
        yield from target.keywords.items()
        target = target.func
    owner = getattr(target, "__self__", target)
    yield "", owner
    if not isinstance(owner, (torch.nn.Module, ModuleType)):
        yield from vars(owner).items() if hasattr(owner, "__dict__") else ()
    function = inspect.unwrap(getattr(target, "__func__", target))
    if isinstance(function, FunctionType):
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if cell != CellType():  # an empty one has no contents to read
                yield name, cell.cell_contents
        yield from (
            (name, function.__globals__[name]) for name in function.__code__.co_names if name in function.__globals__
        )
        yield from (function.__kwdefaults__ or {}).items()


def cloned(value: Any, known: dict[int, tuple[Any, Any]] | None = None) -> Any:
    """Returns ``value`` with every tensor in it cloned, and every container copied; what was one object stays one.

    Modules, functions and classes stay as they are. A leaf of autograd's graph stays one.

    Args:
        value: Anything.
        known: By address, what was met, with its copy.
    """
    known = {} if known is None else known
    if id(value) not in known:
        known[id(value)] = value, _cloned(value, known)
    return known[id(value)][1]


def _cloned(value: Any, known: dict[int, tuple[Any, Any]]) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, tuple) and (type(value) is tuple or hasattr(value, "_fields")):
        parts = [cloned(item, known) for item in value]
        return tuple(parts) if type(value) is tuple else type(value)(*parts)
    if type(value) is list:
        items: list[Any] = []
        known[id(value)] = value, items
        items.extend(cloned(item, known) for item in value)
        return items
    if type(value) is dict:
        entries: dict[Any, Any] = {}
        known[id(value)] = value, entries
        entries.update((key, cloned(item, known)) for key, item in value.items())
        return entries
    if isinstance(value, (type, torch.nn.Module)) or callable(value):
        return value
    if not pytree.tree_is_leaf(value):
        return pytree.tree_map(lambda leaf: cloned(leaf, known), value)
    if not hasattr(value, "__dict__") and not dataclasses.is_dataclass(value):
        return value
    made = copy.copy(value)
    known[id(value)] = value, made
    for name in _names(value):
        object.__setattr__(made, name, cloned(getattr(value, name), known))
    return made


def _names(value: Any) -> list[str]:
    return [*vars(value)] if hasattr(value, "__dict__") else [each.name for each in dataclasses.fields(value)]


__all__ = ["Bench", "Run", "cloned"]
