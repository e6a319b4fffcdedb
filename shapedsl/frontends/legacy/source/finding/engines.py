"""``torch_tensorrt.compile(…, inputs=[Input(…)])``: ranges of sizes, which a ``.shapes`` file can say.

TensorRT takes no ShapesSpec, so these calls stay as they are.

Before::

    trt.compile(model, inputs=[trt.Input(min_shape=(1, 8), opt_shape=(4, 8), max_shape=(16, 8), name="q")])

After::

    Items("tuple", (Items("tuple", (Named("q_0", 1, 16, hint=4), Pinned(8))),))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from .....diagnostics import Report
from .....ir import AnyType, Param
from ...naming import as_name, free
from ...tensorrt import EngineInput, read_engine_inputs
from ..values import Constant, Dict, Imported, Made, Sequence, Tensor, Unknown, Value
from .apis import bind
from .example import signature_of
from .forks import worlds
from .plain import plain
from .refused import RefusedError, refuse
from .uses import Use

if TYPE_CHECKING:
    from collections.abc import Sequence as Sequence_

    import libcst as cst

    from ....stubs.tree import Tree as File
    from ...model import LegacySpec
    from ..observe import Argument, Frame

_WHY: Final = "takes no ShapesSpec"
_HELP: Final = "keep its `Input`s; `shapedsl convert --to shapes` writes their spec"
# The positional parameters before and with the inputs.
_COMPILERS: Final = {
    "compile": ("mod", "ir", "inputs"),
    "dynamo.compile": ("mod", "inputs"),
    "dynamo.trace": ("mod", "inputs"),
    "dynamo.export": ("mod", "inputs"),
    "ts.compile": ("mod", "inputs"),
    "convert_method_to_trt_engine": ("mod", "method_name", "inputs"),
    "dynamo.convert_exported_program_to_serialized_trt_engine": ("mod", "inputs"),
    "dynamo.convert_module_to_trt_engine": ("mod", "inputs"),
}
_PACKAGE: Final = "torch_tensorrt."
# Of an `Input`: those that are read, and an example, which says nothing more.
_KEYWORDS: Final = frozenset(
    (
        "shape",
        "min_shape",
        "opt_shape",
        "max_shape",
        "shape_ranges",
        "dtype",
        "format",
        "tensor_domain",
        "torch_tensor",
        "is_shape_tensor",
        "name",
        "shared_dims",
    )
)


def is_engine(name: str) -> bool:
    """Returns whether a function, by its qualified name, makes a TensorRT engine of inputs."""
    return name.startswith(_PACKAGE) and name.removeprefix(_PACKAGE) in _COMPILERS


def engine_use(file: File, node: cst.Call, name: str, args: Sequence_[Argument], frame: Frame) -> Use | None:
    """Returns the use that a call of a TensorRT compiler is; None if it has no ``Input``."""
    bound = bind(args, _COMPILERS[name.removeprefix(_PACKAGE)])
    keyword = next((each for each in ("inputs", "arg_inputs") if each in bound.values), None)
    value = bound.values[keyword] if keyword is not None else None
    named = bound.values.get("kwarg_inputs")
    if not (_has_inputs(value) or _has_inputs(named)):
        return None
    use = Use(name, node, frame, bound.nodes.get(keyword or "kwarg_inputs"), value, bound.values.get("mod"))
    use.only_shapes, use.only_help = _WHY, _HELP
    try:
        use.specs.append(_spec(file, use, value, named))
        use.worlds.append(value if value is not None else Constant(None, node))
    except RefusedError as error:
        use.reasons.append(error.reason)
    return use


def _has_inputs(value: Value | None) -> bool:
    match value:
        case Made(name=name):
            return is_input(name)
        case Sequence(items=items):
            return any(map(_has_inputs, items))
        case Dict(entries=entries):
            return any(_has_inputs(item) for _, item in entries.values())
        case _:
            return False


def is_input(name: str) -> bool:
    """Returns whether a qualified name is that of ``torch_tensorrt.Input``."""
    return name.startswith(_PACKAGE) and name.endswith((".Input", ".Input.from_tensor"))


def _spec(file: File, use: Use, value: Value | None, named: Value | None) -> LegacySpec:
    choices = worlds(value) if value is not None else []
    if choices is None or len(choices) > 1:
        raise refuse("several inputs are possible here", use.call, label="behind branches")
    given: list[EngineInput | None] = []
    params: list[Param] = []
    for world in choices:
        if not isinstance(world, Sequence):
            raise refuse("the inputs are no list that the file shows", world.node)
        given += [_input(item, file) for item in world.items]
    for at, each in enumerate(given):
        name = as_name(each.name) if each is not None and each.name else f"arg{at}"
        params.append(Param(free(name, [param.name for param in params]), AnyType()))
    if isinstance(named, Dict):
        for key, (_, item) in named.entries.items():
            given.append(_input(item, file))
            params.append(Param(str(key), AnyType()))
    signature = signature_of(use.target)
    if signature is not None and len(signature.params) == len(given) and not isinstance(named, Dict):
        params = list(signature.params)
    report = Report()
    spec = read_engine_inputs(
        given,
        report,
        name=signature.name if signature is not None else use.frame.name or "engine",
        params=tuple(params),
        receiver=signature.receiver if signature is not None else None,
        span=file.span(use.call),
    )
    if spec is None:
        error = report.errors[0]
        raise refuse(error.message, use.call, error.code, "; ".join(a.label for a in error.annotations))
    return spec


def _input(value: Value, file: File) -> EngineInput | None:
    match value:
        case Made(name=name, args=None) if is_input(name):
            raise refuse("the arguments of an `Input` are not known", value.node)
        case Made(name=name, args=args) if is_input(name):
            return _made(args or [], value, file)
        case Unknown():
            raise refuse(value.reason, value.node, value.code)
        case _:
            return None


def _made(args: list[tuple[str | None, Value]], made: Made, file: File) -> EngineInput | None:
    given = {name: value for name, value in args if name is not None}
    positional = [value for name, value in args if name is None]
    if made.name.endswith(".from_tensor"):
        tensor = positional[0] if positional else given.get("t")
        if not isinstance(tensor, Tensor) or tensor.sizes is None or None in tensor.sizes:
            return None
        sizes = tuple(size for size in tensor.sizes if size is not None)
        written = f"{file.code(tensor.node)}.dtype"
        return EngineInput(sizes, sizes, sizes, dtype=written, span=file.span(made.node))
    name = plain(given["name"]) if "name" in given else None
    shared = plain(given["shared_dims"]) if "shared_dims" in given else None
    if "shape_ranges" in given:  # what `InputTensorSpec` took: it wins over `shape`
        ranges = plain(given["shape_ranges"])
        three = [_sizes(each, "shape_ranges", made) for each in (ranges[0] if _is_range(ranges) else (None,) * 3)]
    else:
        three = [
            _shape(given.get(key, given.get("shape", positional[0] if positional else None)), key, made)
            for key in ("min_shape", "opt_shape", "max_shape")
        ]
    labels = cast("dict[int, str]", shared) if isinstance(shared, dict) else {}
    domain = plain(given["tensor_domain"]) if "tensor_domain" in given else None
    is_shape_tensor = "is_shape_tensor" in given and bool(plain(given["is_shape_tensor"]))
    return EngineInput(
        three[0],
        three[1],
        three[2],
        str(name or ""),
        labels,
        _called(given.get("dtype"), file),
        _called(given.get("format"), file),
        cast("tuple[float, float] | None", None if domain is None else tuple(domain)),
        is_shape_tensor,
        tuple(name for name in given if name not in _KEYWORDS),
        file.span(made.node),
    )


def _called(value: Value | None, file: File) -> str:
    """Returns the name of a dtype or a memory format; as it is written, where the file does not show it."""
    match value:
        case None | Constant(value=None):
            return ""
        case Imported(name=name):
            return name.rpartition(".")[2]
        case _:
            return file.code(value.node)


def _is_range(ranges: object) -> bool:
    """Returns whether a value is a list of one range: three shapes."""
    listed = cast("Sequence_[Sequence_[object]]", ranges) if isinstance(ranges, (list, tuple)) else ()
    return len(listed) == 1 and isinstance(listed[0], (list, tuple)) and len(listed[0]) == 3


def _shape(value: Value | None, key: str, made: Made) -> tuple[int, ...]:
    return _sizes(None if value is None else plain(value), key, made)


def _sizes(shape: object, key: str, made: Made) -> tuple[int, ...]:
    sizes = list(cast("Sequence_[object]", shape)) if isinstance(shape, (list, tuple)) else [None]
    found = tuple([size for size in sizes if isinstance(size, int)])
    if len(found) < len(sizes):
        raise refuse(f"the `{key}` of an `Input` is not known", made.node)
    return found


__all__ = ["engine_use", "is_engine", "is_input"]
