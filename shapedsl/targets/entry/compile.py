"""``sd.compile``: one plain generated function that checks, finds the artifact, and calls it.

torch finds out that a call is outside its spec by compiling again, at every such call, and then
reports a bug of its own; so sizes are checked first. What a graph depends on beyond declared sizes
(None-ness, lengths, ranks, values of ``const X = _``) selects an artifact, made when first needed.

After, for two tensors (names shortened)::

    def project(x, w):
        if is_compiling(): return target(x, w)      # inside someone else's graph
        try: ...                                     # the check of `runtime.guard`
        except Exception: explain(x, w); raise
        try: return run(x, w)                        # torch's compiled function
        except Exception as error: translate(error); raise
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any, Final, TypeAlias

import torch

from ...diagnostics import Report
from ...ir import ParamKind, Signature, Size, VariableKind
from ...ir.expand import expand
from ...ir.expanded import Expanded, Lowered
from ...runtime.code import Code
from ...runtime.guard import Guard
from ...runtime.parameters import OMITTED, REQUIRED, Parameter, header, passed
from ...runtime.select import Selector
from ..errors import trace_failure
from ..shapes_spec import write
from ..tensors import torch_tensors
from .demands import demand_failure, note_symbols
from .parameters import parameters_of
from .shift import shift
from .source import entry_function

# An expanded signature, the values of `const X = _`, and whether an int may be negative.
Lower: TypeAlias = Callable[[Expanded, Mapping[str, int], bool], Lowered]

# torch's compiled function, and what raises its errors in the user's terms.
_Artifact: TypeAlias = tuple[Callable[..., Any], Callable[[Exception], None]]

# torch's limit of 8 counts dtypes, strides, requires_grad and values of `_` dims, and exceeding it is an error.
RECOMPILE_LIMIT: Final = 64


def require_options(options: Mapping[str, Any]) -> None:
    """Refuses options of torch.compile that the spec decides.

    Raises:
        TypeError: One is among ``options``.
    """
    for name in ("dynamic", "dynamic_shapes"):
        if name in options:
            raise TypeError(f"compile() takes no {name}=: the spec says what is dynamic")
    if not options.get("fullgraph", True):
        raise TypeError("compile() takes no fullgraph=False: a spec does not reach beyond a graph break")
    if not options.get("isolate_recompiles", True):
        raise TypeError("compile() takes no isolate_recompiles=False: artifacts would serve each other's calls")
    known = {"fullgraph", "isolate_recompiles", "backend", "mode", "options", "name", "disable", "recompile_limit"}
    for name in options:
        if name not in known:
            raise TypeError(f"compile() got an unexpected keyword argument {name!r}")


def compile_callable(target: Callable[..., Any], signature: Signature, lower: Lower, **options: Any) -> Any:
    """Returns ``target`` compiled under its spec: a module for a module, else a plain function.

    Args:
        target: A function, method, builtin, partial, callable object, module, staticmethod or classmethod.
        signature: Its spec, found satisfiable.
        lower: Makes the lowerable form; raises ShapeError where there is none.
        **options: torch.compile's.

    Raises:
        ShapeError: ``unknown-parameter``; or the spec cannot be lowered, as far as that shows without a call.
        TypeError: ``target`` cannot be called; or see `require_options`.
    """
    require_options(options)
    if isinstance(target, (staticmethod, classmethod)):  # as a decorator in a class body finds them
        wrapped = compile_callable(target.__func__, signature, lower, **options)
        return type(target)(wrapped)
    if not callable(target):
        raise TypeError(f"compile() takes a callable, not {target!r}")
    if isinstance(target, torch.nn.Module):
        from .module import SpecModule

        return SpecModule(target, Recipe(signature, lower, options))
    return checked_function(target, signature, lower, options)


class Recipe:
    """How a module is compiled: what `SpecModule` keeps in place of torch's context. Picklable if ``lower`` is."""

    def __init__(self, signature: Signature, lower: Lower, options: Mapping[str, Any]) -> None:
        self.signature = signature
        self.lower = lower
        self.options = dict(options)

    def __call__(self, target: Callable[..., Any]) -> Callable[..., Any]:
        """Returns ``target`` checked and compiled."""
        return checked_function(target, self.signature, self.lower, self.options)


def checked_function(
    target: Callable[..., Any], signature: Signature, lower: Lower, options: Mapping[str, Any]
) -> Callable[..., Any]:
    """Returns the function that checks a call and runs its artifact."""
    if any(param.name == signature.receiver for param in signature.params):
        return _with_receiver(target, signature, lower, options)
    return _front(target, parameters_of(target, signature), signature, lower, options)


def _front(
    target: Callable[..., Any],
    parameters: Sequence[Parameter],
    signature: Signature,
    lower: Lower,
    options: Mapping[str, Any],
) -> FunctionType:
    name = _name_of(target)
    maker = _Artifacts(target, parameters, lower, options, name)
    selector = Selector(signature, parameters, torch_tensors(), maker, name=name)
    _refuse_early(replace(signature, params=tuple(selector.listed)), lower)
    front = selector.front()
    if isinstance(target, FunctionType):
        # not `updated`: an attached spec must stay behind
        functools.update_wrapper(front, target, updated=())
    elif doc := getattr(target, "__doc__", None):
        front.__doc__ = doc
    return front


def _refuse_early(signature: Signature, lower: Lower) -> None:
    """Raises what any call would raise, where that can be known without one.

    Raises:
        ShapeError: ``negative-int``, ``not-invertible``, …: the spec cannot be lowered.
    """
    if any(variable.kind is VariableKind.CONST for variable in signature.variables):
        return  # only an example has the values
    report = Report()
    whole = expand(signature, None, is_tensor=torch_tensors().is_tensor, report=report)
    if whole is not None:  # else a rank or a length is open, which an example will tell
        shift(lower(whole, {}, True))


def _with_receiver(
    target: Callable[..., Any], signature: Signature, lower: Lower, options: Mapping[str, Any]
) -> Callable[..., Any]:
    """Returns the checked function of a spec that speaks of ``self``'s attributes: torch must see a parameter ``self``."""
    owner: object
    function: Callable[..., Any]
    if isinstance(target, torch.nn.Module):
        owner, function = target, torch.nn.Module.__call__
    elif inspect.ismethod(target):
        owner, function = target.__self__, target.__func__
    else:  # the plain function of a class has the receiver among its parameters
        return _front(target, parameters_of(target, signature), signature, lower, options)
    receiver = Parameter(signature.receiver or "self", ParamKind.POSITIONAL_ONLY)
    parameters = (receiver, *parameters_of(target, signature))
    return functools.partial(_front(function, parameters, signature, lower, options), owner)


def _name_of(target: Callable[..., Any]) -> str:
    while isinstance(target, functools.partial):
        target = target.func
    return getattr(target, "__name__", None) or type(target).__name__


class _Artifacts:
    """Makes the artifacts of one callable; writes the part of the generated function that calls them."""

    def __init__(
        self,
        target: Callable[..., Any],
        parameters: Sequence[Parameter],
        lower: Lower,
        options: Mapping[str, Any],
        name: str,
    ) -> None:
        self.target = target
        self.parameters = parameters
        self.lower = lower
        self.options = options
        self.name = name
        self._lock = threading.RLock()

    def prologue(self, code: Code) -> list[str]:
        is_compiling = code.use(torch.compiler.is_compiling, "is_compiling")
        target = code.use(self.target, "target")
        secret = [param for param in self.parameters if param.default is OMITTED]
        if not secret:
            return [f"if {is_compiling}(): return {target}({passed(self.parameters)})"]
        omitted = code.use(OMITTED, "omitted")
        kwargs = code.local()
        lines = [
            f"if {is_compiling}():",
            f"    if {' and '.join(f'{param.spelled} is not {omitted}' for param in secret)}:",
            f"        return {target}({passed(self.parameters)})",
            f"    {kwargs} = {{}}",
        ]
        lines += [f"    if {p.spelled} is not {omitted}: {kwargs}[{p.name!r}] = {p.spelled}" for p in secret]
        others = passed(self.parameters, {param.name: False for param in secret})
        lines.append(f"    return {target}({others}{', ' if others else ''}**{kwargs})")
        return lines

    def body(self, code: Code, checked: Guard, expanded: Expanded) -> list[str]:
        present = self._present(expanded)
        arguments = passed(self.parameters, present)
        consts = {v.name for v in expanded.signature.variables if v.kind is VariableKind.CONST}
        statics = [name for name in checked.sizes if name in consts]
        run, translate, error = code.prefix + "run", code.prefix + "translate", code.local()
        call = [
            f"try: return {run}({arguments})",
            f"except {code.use(Exception, 'Exception')} as {error}:",
            f"    {translate}({error})",
            "    raise",
        ]
        if not statics:

            def install(artifact: _Artifact) -> None:
                code.scope[run], code.scope[translate] = artifact

            install(self._starter(expanded, present, {}, install))
            return call
        table: dict[tuple[int, ...], _Artifact] = {}

        def build(*key: int) -> _Artifact:
            def install(artifact: _Artifact) -> None:
                table[key] = artifact

            with self._lock:
                if key not in table:
                    install(self._starter(expanded, present, dict(zip(statics, key, strict=True)), install))
                return table[key]

        found, values = code.local(), "".join(f"{checked.sizes[name]}, " for name in statics)
        return [
            f"{found} = {code.use(table.get, 'get')}(({values}))",
            f"if {found} is None: {found} = {code.use(build, 'build')}({values})",
            f"{run}, {translate} = {found}",
            *call,
        ]

    def _starter(
        self,
        expanded: Expanded,
        present: Mapping[str, bool],
        statics: Mapping[str, int],
        install: Callable[[_Artifact], None],
    ) -> _Artifact:
        """Returns what stands in for an artifact until the first call: that makes it, and installs it.

        Other threads wait for the first call to end: torch would compile once in each.
        """
        made: list[_Artifact] = []

        def run(*args: Any, **kwargs: Any) -> Any:
            with self._lock:
                if not made:
                    made.append(self._artifact(expanded, present, statics))
                    try:
                        return made[0][0](*args, **kwargs)
                    finally:
                        install(made[0])
            return made[0][0](*args, **kwargs)

        def translate(error: Exception) -> None:
            if made:
                made[0][1](error)

        return run, translate

    def _present(self, expanded: Expanded) -> dict[str, bool]:
        """Returns for each parameter with a default whether this structure passes it."""
        spoken = {param.name for param in expanded.signature.params}
        return {
            p.name: p.name in spoken or p.default is not OMITTED for p in self.parameters if p.default is not REQUIRED
        }

    def _artifact(self, expanded: Expanded, present: Mapping[str, bool], statics: Mapping[str, int]) -> _Artifact:
        lowered, offsets = shift(self.lower(expanded, statics, True))
        symbols: dict[str, Size] = {}
        entry = entry_function(
            self.target,
            self.parameters,
            lowered,
            name=self.name,
            present=present,
            offsets=offsets,
            note=note_symbols(symbols, lowered),
        )
        options: dict[str, Any] = {"recompile_limit": RECOMPILE_LIMIT, **self.options}
        options.update(fullgraph=True, isolate_recompiles=True)
        if options.get("options") is not None:
            options["options"] = dict(options["options"])  # torch pops entries out of it
        run: Callable[..., Any] = torch.compile(entry, dynamic_shapes=write(lowered), **options)
        if offsets:
            run = _shifted(run, self.parameters, present, offsets)

        def translate(error: Exception) -> None:
            """Raises what ``error`` means for the spec, if it means anything; else returns."""
            translated = trace_failure(error, lowered) or demand_failure(error, lowered, symbols)
            if translated is not None:
                raise translated from error

        return run, translate


def _shifted(
    run: Callable[..., Any], parameters: Sequence[Parameter], present: Mapping[str, bool], offsets: Mapping[str, int]
) -> FunctionType:
    """Returns a function that adds ``offsets`` before it calls ``run``."""
    spelled = {param.name: param.spelled for param in parameters}
    code = Code(spelled.values())
    lines = [f"{spelled[name]} = {spelled[name]} + {offset}" for name, offset in offsets.items()]
    lines.append(f"return {code.use(run, 'run')}({passed(parameters, present)})")
    return code.function(f"{code.prefix}f({header(parameters, code)})", lines, "shifted")
