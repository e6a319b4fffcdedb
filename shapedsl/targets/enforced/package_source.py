"""Read the C++ of an AOTInductor package: what it checks, what it relies on, and the sizes of what it returns.

A package is machine code beside the C++ that it was compiled from. What that throws for is checked at every call;
what stands behind ``AOTI_RUNTIME_CHECK_INPUTS`` only if the variable is set; and whatever it computes with is
relied on.

Before (shortened)::

    int64_t u0 = arg0_1_size[0];
    if (!(u0 <= 32L)) { throw std::runtime_error("Expected u0 <= 32 to be True but received " + …); }
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(arg1_1, {u0, 4L}, {4L, 1L}, "input"); }

After::

    names    u0 → (0, 0)
    thrown   "u0 <= 32"
    shapes   1 → ("u0", "4")          # if the variable is set
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ...ir import Const, Size
from ..printed import read_printed_size
from ..symbolic import Unreadable

_NAME: Final = r"[A-Za-z_]\w*"
_INPUT: Final = re.compile(rf'inputs_info_\[(\d+)\]\.name = "({_NAME})";')
_TREE: Final = re.compile(r"\b(in|out)_spec_ = R\"(\w*)\((.*?)\)\2\";", re.DOTALL)
_ASSIGNED: Final = re.compile(rf"^\s*(?:const )?(?:int64_t|auto) ({_NAME}) = (.+);$", re.MULTILINE)
_THROWN: Final = re.compile(
    r'^\s*if \(.*?\) \{ throw std::runtime_error\("Expected (.+?)(?: to be True)? but received ', re.MULTILINE
)
_STRIDED: Final = re.compile(
    rf"^(?P<line>.*)assert_size_stride\((?P<name>{_NAME}), \{{(?P<sizes>.*?)\}}, \{{.*?\}}, \".*?\""
    rf"(?:, cached_torch_dtype_(?P<dtype>\w+))?",
    re.MULTILINE,
)
_CHECKED: Final = re.compile(
    rf"if \((?:(?P<name>{_NAME})_size\[(?P<axis>\d+)\] (?P<op>[<>]) (?P<bound>\d+)L?"
    rf"|(?P<size>\d+)L? != (?P<named>{_NAME})_size\[(?P<at>\d+)\])\)"
)
_STRIDE: Final = re.compile(rf"!= ({_NAME})_stride\[(\d+)\]")
_DTYPE: Final = re.compile(rf"({_NAME})_expected_dtype = aoti_torch_dtype_(\w+)\(\);")
_ENVIRONMENT: Final = "_check_aoti_runtime_check_inputs_env()"
_ARRAY: Final = re.compile(rf"int64_t \*?({_NAME})(?:\[\])? ?= ?(?:\{{(.*?)\}}|nullptr);")
_ALLOCATED: Final = re.compile(
    rf"aoti_torch_empty_strided\w*\(\d+, ({_NAME}), {_NAME}, cached_torch_dtype_(\w+), .*?&({_NAME})_handle\)"
)
_VIEWED: Final = re.compile(rf"auto ({_NAME}) = .*?reinterpret_tensor_wrapper\(({_NAME}), \d+, ({_NAME}), ")
_RENAMED: Final = re.compile(rf"auto ({_NAME}) = std::move\(({_NAME})\);(?:  // reuse)?")
_RETURNED: Final = re.compile(rf"output_handles\[(\d+)\] = ({_NAME})\.release\(\);")

_REWRITTEN: Final = (
    (re.compile(r"\b(\d+)L+\b"), r"\1"),
    (re.compile(r"static_cast<int64_t>"), ""),
    (re.compile(r"\bc10::div_floor_integer\("), "FloorDiv("),
    (re.compile(r"\bstd::(max|min)(?:<[^>]*>)?\("), r"\1("),
)


@dataclass(frozen=True, slots=True)
class Returned:
    """A flat output: its sizes as the C++ says them, None where it does not, and its dtype."""

    sizes: tuple[str, ...] | None
    dtype: str | None


@dataclass(frozen=True, slots=True)
class PackageSource:
    """What the C++ of one model says.

    Attributes:
        inputs: Its tensors, as it calls them.
        in_spec, out_spec: How arguments and results are nested, as torch writes it.
        names: Each name of a size, with the expression that it was read by, in order.
        data: Names of sizes that the data of a call decides.
        thrown: Conditions that every call is checked for, as sympy prints them.
        shapes: The sizes of an input, by its number: relied on, and checked if the variable is set.
        always: Whether the same is checked without the variable.
        ranges: ``(input, axis, op, number)``: likewise.
        strides: How many strides of an input are known at least, by number: likewise.
        dtypes: Of the inputs, by number: likewise.
        outputs: What it returns.
    """

    inputs: tuple[str, ...]
    in_spec: str
    out_spec: str
    names: tuple[tuple[str, str], ...]
    data: tuple[str, ...]
    thrown: tuple[str, ...]
    shapes: tuple[tuple[int, tuple[str, ...]], ...]
    always: bool
    ranges: tuple[tuple[int, int, str, int], ...]
    strides: tuple[tuple[int, int], ...]
    dtypes: tuple[tuple[int, str], ...]
    outputs: tuple[Returned, ...]


def read_source(text: str) -> PackageSource:
    """Returns what the C++ of a package says.

    Args:
        text: The wrapper that AOTInductor generated.

    Raises:
        Unreadable: It is not such a one.
    """
    inputs = tuple(name for _, name in sorted((int(at), name) for at, name in _INPUT.findall(text)))
    trees = {which: tree for which, _, tree in _TREE.findall(text)}
    head, found, body = text.partition("::run_impl(")
    if not found or trees.keys() != {"in", "out"}:
        raise Unreadable("this is not the C++ of a package")
    body = body.partition("// AOTInductorModel::run_impl")[0]
    number = {name: at for at, name in enumerate(inputs)}
    shapes = {number[each["name"]]: _items(each["sizes"]) for each in _STRIDED.finditer(body) if each["name"] in number}
    ranges: list[tuple[int, int, str, int]] = []
    for each in _CHECKED.finditer(head):
        name, axis = each["name"] or each["named"], int(each["axis"] or each["at"] or 0)
        if name in number:
            op = {"<": ">=", ">": "<="}.get(each["op"] or "", "==")
            ranges.append((number[name], axis, op, int(each["bound"] or each["size"])))
    dtypes = {number[name]: dtype for name, dtype in _DTYPE.findall(head) if name in number}
    names, data = _assigned(body)
    return PackageSource(
        inputs,
        trees["in"],
        trees["out"],
        names,
        data,
        tuple(dict.fromkeys(_THROWN.findall(body))),
        tuple(sorted(shapes.items())),
        _ENVIRONMENT not in text,
        tuple(ranges),
        tuple((number[name], int(axis) + 1) for name, axis in _STRIDE.findall(head) if name in number),
        tuple(dtypes.items()),
        tuple(_outputs(body, inputs, shapes, dtypes)),
    )


def _assigned(body: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Returns the names of sizes that come from inputs, and of those that come from data."""
    names: list[tuple[str, str]] = []
    data: list[str] = []
    for name, value in _ASSIGNED.findall(body):
        if re.fullmatch(rf"{_NAME}\.(?:size\(\d+\)|item.*)", value):
            data.append(name)
        elif not re.search(r"::|->|[A-Za-z_]\w*\.", rewritten := _rewritten(value)):
            names.append((name, rewritten))
    return tuple(names), tuple(data)


def _outputs(
    body: str, inputs: tuple[str, ...], shapes: dict[int, tuple[str, ...]], dtypes: dict[int, str]
) -> Iterator[Returned]:
    arrays = {name: _items(values) for name, values in _ARRAY.findall(body)}
    known: dict[str, Returned] = {name: Returned(shapes.get(at), dtypes.get(at)) for at, name in enumerate(inputs)}
    events = [*_ALLOCATED.finditer(body), *_VIEWED.finditer(body), *_RENAMED.finditer(body), *_STRIDED.finditer(body)]
    for each in sorted(events, key=lambda match: match.start()):
        groups = each.groups()
        if each.re is _ALLOCATED:
            array, dtype, name = groups
            known[name] = Returned(arrays.get(array), dtype)
        elif each.re is _VIEWED:
            name, base, array = groups
            known[name] = Returned(arrays.get(array), known[base].dtype if base in known else None)
        elif each.re is _RENAMED:
            name, base = groups
            if base in known:
                known[name] = known[base]
        elif each["name"] not in known or known[each["name"]].sizes is None:
            known[each["name"]] = Returned(_items(each["sizes"]), each["dtype"])
    returned = dict(_RETURNED.findall(body))
    for at in range(len(returned)):
        yield known.get(returned.get(str(at), ""), Returned(None, None))


def _items(text: str) -> tuple[str, ...]:
    """Returns the items of an initializer list, as sympy would print them."""
    items: list[str] = []
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "({[") - (letter in ")}]")
        if letter == "," and not depth:
            items.append(text[start:at])
            start = at + 1
    items.append(text[start:])
    return tuple(_rewritten(each.strip()) for each in items if each.strip())


def _rewritten(text: str) -> str:
    for pattern, replacement in _REWRITTEN:
        text = pattern.sub(replacement, text)
    return text


Lookup = Callable[[str], "Size | None"]


def cpp_size(text: str, lookup: Lookup) -> Size:
    """Returns a size of the C++, as `read_source` wrote it down.

    Args:
        text: An expression.
        lookup: The text of a name → what it stands for.

    Raises:
        Unreadable: It has no words in the language.
    """
    if text.isdigit():
        return Const(int(text))
    return read_printed_size(text, lookup)


__all__ = ["PackageSource", "Returned", "cpp_size", "read_source"]
