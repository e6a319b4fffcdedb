"""Read ``torch_tensorrt.Input``, by what its objects hold: the package is not needed.

An input has one shape, or a least, an optimal and a greatest one. The range becomes a variable's, the optimum its hint;
where all three agree the size is a number. Each axis is a size of its own unless ``shared_dims`` ties it; axes with the same
three sizes may well be one, which is a choice.

Before::

    Input(min_shape=(1, 8), opt_shape=(4, 32), max_shape=(16, 128), name="q", shared_dims={0: "B"}, dtype=torch.half)

After::

    Items("tuple", (Named("B", 1, 16, hint=4), Named("q_1", 8, 128, hint=32)), dtype="float16")

Names of inputs are TensorRT's, not the parameters', so inputs are taken in order. A memory format and a domain of values have
no counterpart. A shape tensor's ranges are of its values: it is a tensor of as many ints. ``torch_tensor`` is an example, and says
nothing more.

Source: ``torch_tensorrt/_Input.py`` and ``_enums.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from ...diagnostics import Report, Span
from ...ir import AnyType, Param
from ...ir.dtypes import DTYPES, dtype_name
from .labels import Labels
from .model import Input, Items, LegacyDim, LegacySpec, Named, Pinned, TensorInput, Tree, UnknownInput, Unsaid
from .naming import as_name, free
from .notes import choice, loss, remark
from .verdict import Note

_DTYPES: Final = {  # TensorRT's and numpy's names that torch has not
    "b": "bool",
    "bf16": "bfloat16",
    "bool_": "bool",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "f8": "float8_e4m3fn",
    "float8": "float8_e4m3fn",
    "fp16": "float16",
    "fp32": "float32",
    "fp64": "float64",
    "fp8": "float8_e4m3fn",
    "i32": "int32",
    "i64": "int64",
    "i8": "int8",
    "u8": "uint8",
}
_UNSET: Final = ("", "unknown")
_PLAIN_LAYOUTS: Final = ("contiguous", "contiguous_format", "linear", "NCHW")
_PLAIN_DOMAIN: Final = (0, 2)  # of the values of TensorRT's own examples, where no domain is stated


@dataclass(frozen=True, slots=True)
class EngineInput:
    """One ``Input``: three shapes of one length, the same if it is static.

    Attributes:
        least, optimal, greatest: One size an axis; of a shape tensor, one value an element.
        name: TensorRT's; empty if it has none.
        shared: Axis → the name of its size, which other inputs may have too.
        dtype: As it is called where it comes from, without the module: ``float16``, ``f16``; empty if none is stated.
        layout: Likewise, of its memory format.
        domain: Of its values; None if none is stated.
        is_shape_tensor: Whether it holds sizes, and has none but its length.
        others: Keywords that say something else.
    """

    least: tuple[int, ...]
    optimal: tuple[int, ...]
    greatest: tuple[int, ...]
    name: str = ""
    shared: Mapping[int, str] = field(default_factory=dict[int, str])
    dtype: str = ""
    layout: str = ""
    domain: tuple[float, float] | None = None
    is_shape_tensor: bool = False
    others: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def rank(self) -> int:
        """Of the tensor."""
        return 1 if self.is_shape_tensor else len(self.least)


def is_engine_input(value: object) -> bool:
    """Returns whether ``value`` is a ``torch_tensorrt.Input``."""
    kind = type(value)
    return kind.__name__ == "Input" and kind.__module__.partition(".")[0] == "torch_tensorrt"


def engine_input(value: Any) -> EngineInput:
    """Returns what an ``Input`` object holds."""
    shape: Any = value.shape
    if isinstance(shape, Mapping):
        shapes = cast("Mapping[str, Sequence[int]]", shape)
        three = tuple(tuple(shapes[key]) for key in ("min_shape", "opt_shape", "max_shape"))
    else:
        three = (tuple(cast("Sequence[int]", shape)),) * 3
    shared: Any = getattr(value, "shared_dims", None) or {}
    domain: Any = getattr(value, "tensor_domain", None)
    return EngineInput(
        three[0],
        three[1],
        three[2],
        str(getattr(value, "name", None) or ""),
        dict(shared),
        _called(getattr(value, "dtype", None)) if getattr(value, "_explicit_set_dtype", True) else "",
        _called(getattr(value, "format", None)),
        None if domain is None else tuple(domain),
        bool(getattr(value, "is_shape_tensor", False)),
    )


def _called(value: Any) -> str:
    """Returns the name of a dtype or a memory format, of torch, of TensorRT, of numpy, without its module."""
    if value is None:
        return ""
    name: Any = value.__name__ if isinstance(value, type) else getattr(value, "name", value)
    return str(name).rpartition(".")[2]


def read_engine_inputs(
    given: Sequence[EngineInput | None],
    report: Report,
    *,
    name: str = "f",
    params: tuple[Param, ...] | None = None,
    inputs: Mapping[str, Input] | None = None,
    receiver: str | None = None,
    span: Span | None = None,
) -> LegacySpec | None:
    """Returns what ``inputs=`` of ``torch_tensorrt.compile`` says.

    Args:
        given: In the order of the inputs; None for one of another kind, which is static.
        report: Receives ``legacy-bounds`` for shapes that do not fit each other.
        name: Of the callable.
        params: Its parameters, if they are known.
        inputs: The example's, if there is one.
        receiver: ``self`` for a method.
        span: Of the argument, in source.

    Returns:
        None if an error was reported.
    """
    errors = len(report.errors)
    notes: list[Note] = []
    if params is None:
        params = tuple(Param(f"arg{at}", AnyType()) for at in range(len(given)))
        if params:
            message = "names of inputs are TensorRT's, not the parameters': they are counted"
            notes.append(remark(message, [param.name for param in params], span=span))
    reader = _Reader(report, given)
    items = tuple(
        Unsaid() if each is None else reader.tree(each, params[at].name if at < len(params) else f"arg{at}")
        for at, each in enumerate(given)
    )
    if len(report.errors) > errors:
        return None
    notes += reader.notes()
    if inputs is None:
        pairs = zip(params, given, strict=False)
        inputs = {p.name: UnknownInput() if each is None else TensorInput(each.rank) for p, each in pairs}
    return LegacySpec(name, params, Items("tuple", items, span=span), inputs, receiver, tuple(notes), "engine", span)


class _Reader:
    """Reads the inputs of one engine."""

    def __init__(self, report: Report, given: Iterable[EngineInput | None]) -> None:
        self._report = report
        shared = dict.fromkeys(label for each in given if each is not None for label in each.shared.values())
        self._labels = Labels()
        self._taken = [as_name(label) for label in shared]
        self._alike: dict[tuple[int, int, int], list[tuple[str, str]]] = {}
        self._hints: list[str] = []
        self._untyped: list[str] = []
        self._losses: list[Note] = []

    def tree(self, given: EngineInput, param: str) -> Tree:
        three = (given.least, given.optimal, given.greatest)
        dtype = self._beside(given, param)
        if given.is_shape_tensor:
            message = "the ranges of a shape tensor are of its values, and no spec can say them"
            self._losses.append(loss(message, [param], span=given.span))
            return Items("tuple", (Pinned(len(given.least), given.span),), dtype=dtype, span=given.span)
        if len({len(shape) for shape in three}) > 1:
            self._report.error(
                "legacy-bounds", f"the three shapes of `{given.name or param}` differ in rank", at=given.span
            )
            return Unsaid()
        dims = tuple(self._dim(given, param, axis, *sizes) for axis, sizes in enumerate(zip(*three, strict=True)))
        return Items("tuple", dims, dtype=dtype, span=given.span)

    def _beside(self, given: EngineInput, param: str) -> str | None:
        """Returns the dtype of an input, by torch's name; what else is said beside its sizes is a loss."""
        dtype = _DTYPES.get(given.dtype.lower()) or dtype_name(given.dtype.lower())
        if given.dtype in _UNSET:
            dtype = None
            self._untyped.append(param)
        elif dtype not in DTYPES:
            dtype = None
            self._losses.append(loss(f"`{given.dtype}` is no dtype that a spec can say", [param], span=given.span))
        if given.layout and given.layout not in _PLAIN_LAYOUTS:
            message = f"the memory format `{given.layout}` has no counterpart"
            self._losses.append(loss(message, [param], span=given.span))
        if given.domain not in (None, _PLAIN_DOMAIN):
            low, high = given.domain
            message = f"the domain of its values, [{low:g}, {high:g}), has no counterpart"
            self._losses.append(loss(message, [param], span=given.span))
        for keyword in given.others:
            self._losses.append(loss(f"`{keyword}=` of its `Input` has no counterpart", [param], span=given.span))
        return dtype

    def _dim(self, given: EngineInput, param: str, axis: int, low: int, best: int, high: int) -> LegacyDim:
        place = f"{param}.shape[{axis}]"
        if not low <= best <= high:
            self._report.error(
                "legacy-bounds",
                f"`{place}` is at least {low}, best {best} and at most {high}",
                at=given.span,
                label="not in this order",
            )
        rank = len(given.least)
        label = given.shared.get(axis, given.shared.get(axis - rank))
        if label is None and low == high:
            return Pinned(low, given.span)
        self._hints.append(place)
        if label is not None:
            return Named(self._labels.dim(label, place).name, low, high, best, given.span)
        name = free(as_name(f"{given.name or param}_{axis}"), self._taken)
        self._taken.append(name)
        self._alike.setdefault((low, best, high), []).append((place, name))
        return Named(name, low, high, best, given.span)

    def notes(self) -> Iterator[Note]:
        yield from self._losses
        if self._untyped:
            yield remark("no dtype is stated: TensorRT takes float32 for it, the spec any", self._untyped)
        if self._hints:
            yield remark("the optimal size became the hint", self._hints)
        for (low, best, high), found in self._alike.items():
            if len(found) > 1:
                names = ", ".join(f"`{name}`" for _, name in found)
                message = f"sizes with one range, [{low}, {high}] with {best} as the best, may be one size"
                places = [place for place, _ in found]
                yield choice(message, places, f"a variable for each: {names}", ["one size for all of them"])


__all__ = ["EngineInput", "engine_input", "is_engine_input", "read_engine_inputs"]
