"""What AOTInductor packages check, rely on and return.

A package checks the conditions that its graph asserts, and no more: that two sizes are one, that a size is the
number it was compiled for, ranks, dtypes and strides are checked only if ``AOTI_RUNTIME_CHECK_INPUTS`` is set when
it is called first. Without it, tensors of 5 and 3 rows are read out of bounds.

After, for ``x: Tensor[B, 4], y: Tensor[B, 4]`` with ``B <= 32``::

    checked   x.shape[0] <= 32
    relied    y.shape[0] == x.shape[0],  x.shape[1] == 4,  y.shape[1] == 4
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import COMPARISONS, Compare, Const, ParamKind, Predicate, Signature, Size, Static, Var
from ...ir.expanded import Expanded, Leaf
from ...ir.orient import orient
from ...ir.walk import free_vars
from ..flat import by_parameter, markers, positions
from ..printed import read_printed
from ..program import Demand, conjuncts, is_trivial, plain
from ..symbolic import Unreadable
from .inputs import Placeholder
from .model import Data, Enforced, Output
from .package_source import PackageSource, Returned, cpp_size, read_source

# A signature and the arguments of a call → the spec at their structure.
Expand = Callable[[Signature, Mapping[str, Any]], Expanded]

VARIABLE: Final = "AOTI_RUNTIME_CHECK_INPUTS"
_IN_ARCHIVE: Final = re.compile(r"(?:^|/)data/aotinductor/([^/]+)/[^/]+\.wrapper\.cpp$")
_MAPPED: Final = re.compile(r"\s(/\S*/data/aotinductor/[^/]+/[^/\n]+)\.so$", re.MULTILINE)


_CURES: Final = (
    "call it behind shapedsl's check: `sd.save_artifacts(…, aot=True)` and `sd.load_artifacts`",
    f"or set {VARIABLE}=1 before it is called first",
)


def is_package(value: object) -> bool:
    """Returns whether ``value`` is a package that torch loaded, or the path of one."""
    if isinstance(value, (str, os.PathLike)):
        return any("data/aotinductor/" in name for name in _names(Path(value)))
    return type(value).__name__ == "AOTICompiledModel" or type(value).__name__ == "AOTIModelPackageLoader"


def _names(path: Path) -> list[str]:
    """Returns what is in an archive; nothing of what is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return []


def enforced_by_package(package: Any, signature: Signature, expand: Expand) -> Enforced:
    """Returns what a package makes of its inputs. Nothing of it is run, and a path is not loaded.

    Args:
        package: The path of a ``.pt2`` file, or what `torch._inductor.aoti_load_package` returns.
        signature: The spec that it is to keep. Inputs that are passed by position are its parameters, in order.
        expand: Gives the spec at the structure that the package was made for.

    Raises:
        ShapeError: ``unsupported-by-torch``: its C++ cannot be found or read, or it takes other arguments than the
            spec has; what ``expand`` raises.
    """
    if isinstance(package, (str, os.PathLike)):
        return enforced_by_source(archived(Path(package), str(package)), signature, expand)
    return enforced_by_source(_mapped(package), signature, expand)


def enforced_by_source(text: str, signature: Signature, expand: Expand) -> Enforced:
    """Returns what a package with this C++ makes of its inputs; see `enforced_by_package`."""
    try:
        source = read_source(text)
    except Unreadable as error:
        raise _unreadable(str(error)) from None
    checks = source.always or os.environ.get(VARIABLE, "0")[:1] not in ("0", "")
    inputs = _Inputs(source, signature)
    return _Reader(source, inputs, expand(signature, inputs.arguments), checks).read()


# ----------------------------------------------------------------------------------- where the C++ is


def archived(file: Path | IO[bytes], called: str) -> str:
    """Returns the C++ in a package.

    Args:
        file: The package.
        called: What messages call it.

    Raises:
        ShapeError: ``unsupported-by-torch``: there is none, or there are several.
    """
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile:
        raise _unreadable(f"`{called}` is no archive") from None
    with archive:
        found = {match[1]: name for name in archive.namelist() if (match := _IN_ARCHIVE.search(name))}
        if not found:
            raise _unreadable(f"there is no C++ in `{called}`")
        if len(found) > 1 and "model" not in found:
            raise _unreadable(f"`{called}` holds several models: {', '.join(sorted(found))}")
        name = found.get("model") or next(iter(found.values()))
        return archive.read(name).decode("utf-8", errors="replace")


def _mapped(loaded: Any) -> str:
    """Returns the C++ of a package that torch loaded: it unpacks the file, and says nowhere where to.

    The unpacked machine code is mapped into the process, and the C++ lies beside it.
    """
    loader = getattr(loaded, "loader", loaded)
    trees = tuple(loader.get_call_spec())
    found: dict[str, None] = {}
    try:
        mapped = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        mapped = ""
    for base in dict.fromkeys(_MAPPED.findall(mapped)):
        file = Path(f"{base}.cpp")
        if file.exists():
            text = file.read_text(encoding="utf-8", errors="replace")
            if all(tree in text for tree in trees):
                found[text] = None
    if len(found) != 1:
        why = "several packages like it are loaded" if found else "its C++ is gone"
        raise _unreadable(why, "pass the path of its file instead")
    return next(iter(found))


def _unreadable(why: str, *helps: str) -> ShapeError:
    message = f"this package cannot be verified: {why}"
    helps = helps or ("compile it with `torch._inductor.aoti_compile_and_package`, which keeps the C++",)
    return ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message, helps=helps)])


# ------------------------------------------------------------------------------------------- inputs


@dataclass(frozen=True, slots=True)
class _Tensor:
    """One tensor that a package takes."""

    path: str
    rank: int
    leaf: Leaf | None

    def place(self, axis: int) -> str:
        return f"{self.path}.shape[{axis}]"


class _Inputs:
    """The tensors that a package takes, by the parameters of a spec.

    Attributes:
        arguments: By parameter, in the structure that it was compiled for.
    """

    def __init__(self, source: PackageSource, signature: Signature) -> None:
        from torch.utils import _pytree as pytree

        try:
            in_spec = pytree.treespec_loads(source.in_spec)
        except Exception as error:  # a class that nobody registered here
            said = (str(error).strip() or "?").splitlines()[0]
            raise _unreadable(f"torch cannot read how its arguments are nested: {said}"[:300]) from error
        args, kwargs = markers(in_spec)
        kinds = (ParamKind.KEYWORD_ONLY, ParamKind.VAR_KEYWORD)
        names = [param.name for param in signature.params if param.kind not in kinds]
        names += [f"arg{at}" for at in range(len(names), len(args))]
        self._marked = by_parameter(args, kwargs, names, signature)
        self._ranks = _ranks(source)
        count = in_spec.num_leaves
        self._tensors = _which(count, len(source.inputs), self._marked, signature)
        ranks: list[int | None] = [None] * count
        for number, at in enumerate(self._tensors):
            ranks[at] = self._ranks.get(number, 0)
        self.arguments: dict[str, Any] = {
            name: pytree.tree_map(lambda marker: _stand_in(ranks[marker.position]), tree)
            for name, tree in self._marked.items()
        }

    def of(self, expanded: Expanded) -> list[_Tensor]:
        """Returns the tensors, in the order of the package."""
        from torch.utils import _pytree as pytree

        leaves = positions(self._marked, expanded.leaves)
        paths = {
            marker.position: name + pytree.keystr(keys)
            for name, tree in self._marked.items()
            for keys, marker in pytree.tree_flatten_with_path(tree)[0]
        }
        found: list[_Tensor] = []
        for number, at in enumerate(self._tensors):
            leaf = leaves.get(at)
            path = str(leaf.path) if leaf is not None else paths[at]
            found.append(_Tensor(path, self._ranks.get(number, 0), leaf))
        return found


def _ranks(source: PackageSource) -> dict[int, int]:
    """Returns the rank of each input, as far as its C++ shows it."""
    ranks = {number: len(sizes) for number, sizes in source.shapes}
    for number, axis, _, _ in source.ranges:
        ranks[number] = max(ranks.get(number, 0), axis + 1)
    for number, rank in source.strides:
        ranks[number] = max(ranks.get(number, 0), rank)
    return ranks


def _which(count: int, tensors: int, marked: Mapping[str, Any], signature: Signature) -> list[int]:
    """Returns which flat arguments are tensors; the others are constants, which a package does not take."""
    if tensors == count:
        return list(range(count))
    from torch.utils import _pytree as pytree

    typed = {param.name for param in signature.params if type(param.type).__name__ not in ("AnyType", "ScalarType")}
    found = [marker.position for name, tree in marked.items() for marker in pytree.tree_leaves(tree) if name in typed]
    if len(found) != tensors:
        raise _unreadable(
            f"it takes {tensors} tensors among {count} arguments, and the spec does not say which",
            "write the types of all parameters in the spec: `_` for what is no tensor",
        )
    return sorted(found)


def _stand_in(rank: int | None) -> Any:
    return None if rank is None else Placeholder((0,) * rank)


# ------------------------------------------------------------------------------------------- reading


class _Reader:
    """Reads one package."""

    def __init__(self, source: PackageSource, inputs: _Inputs, expanded: Expanded, checks: bool) -> None:
        self.source = source
        self.tensors = inputs.of(expanded)
        self.expanded = expanded
        self.checks = checks
        self.sizes: dict[str, Size] = {}
        for number, each in enumerate(self.tensors):
            for axis in range(each.rank):
                self.sizes[f"{source.inputs[number]}_size[{axis}]"] = Var(each.place(axis))
        for name, value in source.names:
            try:
                self.sizes.setdefault(name, cpp_size(value, self.sizes.get))
            except Unreadable:
                continue

    def read(self) -> Enforced:
        unread: dict[str, None] = {}
        thrown = _once(self._thrown(unread))
        guarded = _once(self._guarded())
        checked = _once([*thrown, *guarded]) if self.checks else thrown
        relied = [each for each in guarded if each.predicate not in {other.predicate for other in checked}]
        result, data = self._result()
        return Enforced(
            "package",
            self.expanded,
            checked=tuple(checked),
            relied=tuple(relied),
            statics=tuple(self._statics()),
            result=result,
            data=tuple(data),
            unread=tuple(unread),
            remarks=tuple(self._remarks()),
            cures=() if self.checks else _CURES,
            dtypes=tuple((self.tensors[number].path, dtype) for number, dtype in self.source.dtypes),
        )

    def _remarks(self) -> Iterator[str]:
        if self.source.always:
            return
        if self.checks:
            yield f"equal sizes, numbers and dtypes are checked while {VARIABLE} is set, as it is in this process"
        else:
            yield "a package checks neither equal sizes nor numbers, ranks, dtypes and strides"

    def _thrown(self, unread: dict[str, None]) -> Iterator[Demand]:
        """Yields what every call is checked for."""
        data = set(self.source.data)
        for text in self.source.thrown:
            if set(re.findall(r"\b[us]\d+\b", text)) <= data:
                continue  # about data alone
            try:
                for part in conjuncts(read_printed(text, self.sizes.get)):
                    yield _demand(part)
            except Unreadable:
                unread[text] = None

    def _guarded(self) -> Iterator[Demand]:
        """Yields what is checked if the variable is set, and relied on in any case."""
        for number, sizes in self.source.shapes:
            each = self.tensors[number]
            for axis, text in enumerate(sizes):
                try:
                    size = cpp_size(text, self.sizes.get)
                except Unreadable:
                    continue
                yield _demand(orient(Compare(COMPARISONS["=="], Var(each.place(axis)), size)))
        for number, axis, op, bound in self.source.ranges:
            yield _demand(Compare(COMPARISONS[op], Var(self.tensors[number].place(axis)), Const(bound)))

    def _statics(self) -> Iterator[tuple[str, int]]:
        """Yields the sizes that the spec leaves static."""
        consts = {each.name for each in self.expanded.signature.variables if each.kind.name == "CONST"}
        for number, axis, op, value in self.source.ranges:
            each = self.tensors[number]
            dim = Static() if each.leaf is None else each.leaf.dims[axis]
            if op == "==" and (isinstance(dim, Static) or (isinstance(dim, Var) and dim.name in consts)):
                yield each.place(axis), value

    def _result(self) -> tuple[object, list[Data]]:
        from torch.utils import _pytree as pytree

        data: dict[str, Data] = {}
        outputs = [self._output(each, data) for each in self.source.outputs]
        try:
            out_spec = pytree.treespec_loads(self.source.out_spec)
        except Exception:  # a class that nobody registered here: it may return whatever it likes
            return None, []
        if out_spec.num_leaves != len(outputs):
            return None, []
        return pytree.tree_unflatten(outputs, out_spec), list(data.values())

    def _output(self, returned: Returned, data: dict[str, Data]) -> Output:
        if returned.sizes is None:
            return Output("other")

        def lookup(name: str) -> Size | None:
            if name not in self.sizes and name in self.source.data:
                data.setdefault(name, Data(name, 0))
                return Var(name)
            return self.sizes.get(name)

        def size(text: str) -> Size | None:
            try:
                return cpp_size(text, lookup)
            except Unreadable:
                return None

        sizes = tuple(size(text) for text in returned.sizes)
        return Output("tensor", sizes, returned.sizes, returned.dtype)


def _demand(predicate: Predicate) -> Demand:
    predicate = plain(predicate)
    match predicate:
        case Compare(op=op, left=Var(name=place), right=Const()) if op.name == "==":
            return Demand("specialized-dim", predicate, (place,))
        case Compare(op=op, left=Var(name=first), right=Var(name=second)) if op.name == "==":
            return Demand("merged-dims", predicate, (second, first))
        case _:
            return Demand("extra-assumption", predicate, tuple(sorted(free_vars(predicate))))


def _once(found: Any) -> list[Demand]:
    """Returns each demand that says something, once."""
    kept: dict[Predicate, Demand] = {}
    for each in found:
        if not is_trivial(each.predicate):
            kept.setdefault(each.predicate, each)
    return list(kept.values())


__all__ = ["archived", "enforced_by_package", "enforced_by_source", "is_package"]
