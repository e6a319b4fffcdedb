"""Trace a function with make_fx and a lowered spec, into a graph that refuses what the spec does.

make_fx takes positional arguments only, reads exactly ``(tuple, dict)`` as ``(args, kwargs)``, and
its graph asserts the spec's sizes but neither static dims, ranks nor the values of ints and flags:
another value gives the old result. So the traced function is a generated one with a positional
parameter for each passed argument, and the graph is given the target's own parameters and a check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import ParamKind, Var
from ...ir.expanded import Leaf, Lowered
from ...ir.structure import describe
from ...runtime.parameters import OMITTED, Parameter
from ..errors import trace_failure
from ..flat import markers, positions
from ..shapes_spec import ARGS, KWARGS, parts
from .arguments import refuse_fake, refuse_unregistered, returned_failure
from .example import distinct
from .forward import Call, positional, refuse_names
from .parameters import call_signature, parameters_of

if TYPE_CHECKING:
    from torch.fx import GraphModule
    from torch.fx.experimental.dynamic_spec import ShapesSpec


def make_fx(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    lowered: Lowered,
    *,
    check: Callable[..., object] | None = None,
    **options: Any,
) -> GraphModule:
    """Returns the graph of ``target``; it is called as ``target`` is.

    Args:
        target: A function, a module, or anything that can be called.
        args: The example, which satisfies the spec.
        kwargs: Its keyword arguments.
        lowered: The spec at the example's structure.
        check: Called with the arguments of each call of the graph; raises where they do not satisfy the spec.
        **options: torch's own, ``decomposition_table`` and the like.

    Raises:
        ShapeError: ``data-dependent``: the program branches on a size that the spec leaves open.
            ``unsupported-by-torch``: see `refuse_fake`, `refuse_unregistered` and `refuse_names`.
        TypeError: ``tracing_mode`` or ``dynamic_shapes`` is among the options: they are the spec's.
    """
    from torch._dispatch.python import enable_python_dispatcher
    from torch.fx.experimental.proxy_tensor import make_fx as torch_make_fx

    from .graph_code import guard_graph  # torch's classes are its bases

    for taken in ("tracing_mode", "dynamic_shapes"):
        if taken in options:
            raise TypeError(f"{taken}= is decided by the spec")
    parameters = parameters_of(target, lowered.expanded.signature)
    bound = call_signature(target, lowered.expanded.signature).bind(*args, **kwargs).arguments
    refuse_names(parameters)
    refuse_fake((args, kwargs), "make_fx")
    refuse_unregistered(bound, lowered, "make_fx")
    entry = positional(target, parameters, lowered, Call(len(args), kwargs), bound)
    options.setdefault("_allow_non_fake_inputs", True)  # parameters, and whatever else the target holds
    spec = _positional_spec(lowered, parameters)
    try:
        traced = torch_make_fx(entry, tracing_mode="fake", dynamic_shapes=spec, **options)
        with enable_python_dispatcher():  # as `export` does; the kernels in C++ of `F.pad` and others want numbers
            graph = traced(*distinct(tuple(bound.values()), target), ())
    except Exception as error:
        translated = trace_failure(error, lowered, bound) or returned_failure(error, "make_fx")
        if translated is None:
            raise
        raise translated from error
    present = [parameter for parameter in parameters if parameter.name in bound]
    return guard_graph(graph, present, Entrance(bound, lowered, check))


def _positional_spec(lowered: Lowered, parameters: Sequence[Parameter]) -> ShapesSpec:
    """Returns the spec of the positional entry, where ``*args`` is a tuple and ``**kwargs`` a dict."""
    from torch.fx.experimental.dynamic_spec import DictSpec, ParamsSpec, SeqSpec, ShapesSpec

    params, assumptions = parts(lowered)
    for parameter in parameters:
        if parameter.kind is ParamKind.VAR_POSITIONAL and ARGS in params:
            params[parameter.name] = SeqSpec(params.pop(ARGS))
        elif parameter.kind is ParamKind.VAR_KEYWORD and KWARGS in params:
            params[parameter.name] = DictSpec(params.pop(KWARGS))
    return ShapesSpec(ParamsSpec(params), assumptions=assumptions)


class Entrance:
    """Checks a call of the graph: the spec, and that static parts are those that the graph was made for.

    Attributes:
        structure: The example's, flattened as torch flattens it.
        leaves: The spec's leaf at each flat position.
        lowered: The spec.
    """

    def __init__(self, example: Mapping[str, Any], lowered: Lowered, check: Callable[..., object] | None) -> None:
        from torch.utils import _pytree as pytree

        values, self.structure = pytree.tree_flatten(list(example.values()))
        marked = dict(zip(example, markers(self.structure), strict=True))
        self.leaves = positions(marked, lowered.leaves)
        self.lowered = lowered
        self._check = check
        self._fixed = [_fixed(value, self.leaves.get(at)) for at, value in enumerate(values)]
        self._places = [
            f"{name}{pytree.keystr(path)}"
            for name, value in example.items()
            for path, _ in pytree.tree_flatten_with_path(value)[0]
        ]
        self._parameters = [(name, _described(value), pytree.tree_structure(value)) for name, value in example.items()]

    def __call__(self, values: list[Any], /, *args: Any, **kwargs: Any) -> None:
        """Raises `ShapeError` if the graph must not run.

        Args:
            values: One for each parameter that was passed when the graph was made.
            *args: As the graph was called.
            **kwargs: As the graph was called.
        """
        try:
            if self._check is not None:
                self._check(*args, **kwargs)
            self._require_fixed(values)
        except ShapeError:
            if not _symbolically_traced(values):
                raise

    def _require_fixed(self, arguments: list[Any]) -> None:
        """Raises `ShapeError` where a static part is not the example's: the graph would give a wrong result."""
        from torch.utils import _pytree as pytree

        values, structure = pytree.tree_flatten(arguments)
        if structure != self.structure:
            raise ShapeError([self._other_structure(arguments)])
        for value, fixed, place in zip(values, self._fixed, self._places, strict=True):
            seen = _baked(value)
            for key, expected in fixed.items():
                if seen.get(key) != expected:
                    if key in seen:
                        message = f"`{place}{key}` is {seen[key]}, but the graph was made for {expected}"
                    else:
                        message = f"`{place}` is {_described(value)}, but the graph was made for {_kind(fixed)}"
                    raise ShapeError([_finding("shape-violation", message)])

    def _other_structure(self, arguments: list[Any]) -> Diagnostic:
        """Returns what to say of arguments that are not structured as the example's were."""
        from torch.utils import _pytree as pytree

        for value, (name, kind, structure) in zip(arguments, self._parameters, strict=True):
            if pytree.tree_structure(value) == structure:
                continue
            if _described(value) == kind:
                return _finding("type-mismatch", f"`{name}` is not structured as it was when the graph was made")
            return _finding("type-mismatch", f"`{name}` is {_described(value)}, but the graph was made for {kind}")
        return _finding("type-mismatch", "the arguments are not structured as the example's were")


def _symbolically_traced(values: list[Any]) -> bool:
    """Returns whether ``torch.fx.symbolic_trace`` passed ``values``: it traces with stand-ins for tensors and ints alike."""
    from torch.fx import Proxy
    from torch.utils import _pytree as pytree

    return any(isinstance(leaf, Proxy) for leaf in pytree.tree_leaves(values))


def _described(value: object) -> str:
    return "omitted" if value is OMITTED else describe(value)


def _kind(fixed: Mapping[str, str]) -> str:
    """Returns what messages call a value of which ``fixed`` is baked in."""
    return "a tensor" if ".dim()" in fixed else fixed.get("", "another value")


def _finding(code: str, message: str) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message)


def _fixed(value: Any, leaf: Leaf | None) -> dict[str, str]:
    """Returns what a graph bakes in of an example's flat value, by suffix of its place."""
    fixed = _baked(value)
    for axis, dim in enumerate(() if leaf is None else leaf.dims):
        if isinstance(dim, Var):
            fixed.pop("" if leaf is not None and leaf.scalar else f".shape[{axis}]", None)
    return fixed


def _baked(value: Any) -> dict[str, str]:
    """Returns everything about a flat value that could be baked in; ``1`` is not ``True``, and NaN is NaN."""
    import torch

    if isinstance(value, torch.Tensor):
        sizes = {f".shape[{axis}]": str(size) for axis, size in enumerate(value.shape)}
        return {".dim()": str(value.dim()), **sizes}
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return {"": repr(value)}
    return {"": type(value).__name__}
