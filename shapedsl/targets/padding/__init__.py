"""Pad the arguments of a call, run it, and take the slots out of its result.

Before and after, with ``bucket S in {64, 128} pad ids with 0`` and 40 columns::

    f(ids)          run(ids of 64 columns)[:, :40]

`geometry` works out where slots are, once for a tuple of sizes; `tensors` pads, in memory that `buffers` keeps;
`cropping` undoes it. Where every size is a member already, tensors are passed as they are, or as views or copies
that torch does not tell from padded ones: else it would compile twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import torch

from ...diagnostics import Report
from ...ir import Alternative, Apply, Bucket, Dim, Step, Type, Var, Variadic
from ...ir.expanded import Expanded
from ...ir.padding import Grown, grown, mentions
from ...ir.paths import Attribute
from ...ir.taking import padded_name
from ...ir.variadic import splice
from ...ir.walk import free_vars, scalar_sizes, tensor_dims
from ...ir.write_sizes import write_dim
from ...runtime.parameters import Parameter
from ...runtime.slots import PaddingError
from .buffers import Pool, memory_of
from .containers import Copied, Tree, part, replaced, tree_of
from .cropping import Unpad, cropper, parse_path
from .geometry import Geometry, geometry
from .tensors import Lent, lend

MOST_REMEMBERED: Final = 1024  # geometries


class Padder:
    """Pads for one alternative at one structure. May be called in several threads at once.

    Attributes:
        needs: The sizes that `call` must have, by name.
    """

    def __init__(
        self,
        alternative: Alternative,
        expanded: Expanded,
        parameters: Sequence[Parameter],
        returns: Type | None = None,
        unpad: Mapping[str, Unpad] | None = None,
    ) -> None:
        """Args:
        alternative: With buckets.
        expanded: The structure.
        parameters: Of the callable, in the order of the values.
        returns: The claimed type.
        unpad: Path into the result → ``fn(output, sizes)``, which takes the slots out itself.

        Raises:
            ShapeError: ``unpadded-argument``, ``wrong-pad``.
        """
        report = Report()
        ranks = dict(expanded.ranks)
        self._expanded = expanded
        self._lengths = dict(expanded.lengths)
        self._buckets = tuple(_written_out(bucket, ranks) for bucket in alternative.buckets)
        self._grown = tuple(_with_fill(each, ranks) for each in grown(alternative, expanded.leaves, report))
        padded = [bucket.variable for bucket in alternative.buckets if bucket.pads is not None]
        self._bound = frozenset(name for leaf in expanded.leaves for dim in leaf.dims for name in free_vars(dim))
        self.needs = tuple(sorted(self._used(returns, padded) if not unpad else self._bound))
        self._check_names(returns, padded, report)
        report.raise_errors()
        drops = {drop.path.steps: drop for drop in (*expanded.signature.drops, *alternative.drops)}
        self._crop = cropper(returns, list(drops.values()), unpad or {}, padded)
        leaves = sorted({each.leaf for each in self._grown})
        paths = {at: expanded.leaves[at].path for at in leaves}
        self._places = {at: str(path) for at, path in paths.items()}
        self._index = {param.name: at for at, param in enumerate(parameters)}
        trees = tree_of([(paths[at], at) for at in leaves])
        at_roots = [(self._index[name], name, tree) for name, tree in trees.items()]
        self._direct = [(index, tree) for index, _, tree in at_roots if isinstance(tree, int)]
        self._trees = [(index, name, tree) for index, name, tree in at_roots if not isinstance(tree, int)]
        self._remembered: dict[tuple[tuple[int, ...], tuple[int, ...]], Geometry] = {}
        self._pool = Pool()

    def call(
        self, run: Callable[..., Any], sizes: Mapping[str, int], chosen: tuple[int, ...], values: Sequence[Any]
    ) -> Any:
        """Returns what ``run`` returns, without slots.

        Args:
            run: Takes ``values`` by position, padded.
            sizes: The caller's.
            chosen: The padded size of each bucket, in written order.
            values: One a parameter; a tuple for ``*args``, a dict for ``**kwargs``.

        Raises:
            ShapeError: ``wrong-pad`` where a tensor cannot be padded so; ``return-mismatch`` where the result is
                not what the return type claims.
        """
        return self.run(run, tuple([sizes[name] for name in self.needs]), chosen, values)

    def run(
        self, run: Callable[..., Any], sizes: tuple[int, ...], chosen: tuple[int, ...], values: Sequence[Any]
    ) -> Any:
        """As `call`, with ``sizes`` in the order of `needs`."""
        shape = self._remembered.get((sizes, chosen))
        if shape is None:
            real = {**self._lengths, **dict(zip(self.needs, sizes, strict=True))}
            shape = geometry(self._expanded, self._buckets, self._grown, real, chosen)
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[sizes, chosen] = shape
        call = _Call(shape)
        try:
            return self._run(run, values, call)
        except BaseException:
            for lent in call.lent:
                lent.drop()
            raise

    def _run(self, run: Callable[..., Any], values: Sequence[Any], call: _Call) -> Any:
        lent = call.lent
        passed = [*values]
        for index, leaf in self._direct:
            passed[index] = self._one(passed[index], leaf, call)
        for index, name, tree in self._trees:
            passed[index] = self._below(passed[index], tree, name, call)
        result = run(*passed)
        del passed
        for each in lent:
            if each.changed:
                self._take_back(lent, values)
                break
        if self._crop is not None:
            result = self._crop(result, call, ())
        if call.copied:
            own = None if call.geometry.changed else call.own
            for copied in call.copied:
                copied.take_back(own)
            call.copied.clear()
        for each in lent:
            each.end()
        return result

    def _take_back(self, lent: Sequence[Lent], values: Sequence[Any]) -> None:
        """Copies what the callee wrote back to the caller's tensors: all of it, or nothing."""
        tensors: list[tuple[str, torch.Tensor]] = []
        for leaf in self._expanded.leaves:
            if not leaf.scalar and leaf.path.root in self._index:
                with suppress(AttributeError, IndexError, KeyError, TypeError):  # the callee changed a container
                    found = part(values[self._index[leaf.path.root]], leaf.path.steps)
                    if isinstance(found, torch.Tensor):
                        tensors.append((str(leaf.path), found))
        for copy in [each.take_back(tensors) for each in lent if each.changed]:
            copy()

    def _used(self, returns: Type | None, padded: Sequence[str]) -> frozenset[str]:
        """Returns the sizes on which geometries depend."""
        sizes: list[Dim] = [each.dim for each in self._grown]
        sizes += [each.fill for each in self._grown if isinstance(each.fill, (Var, Apply))]
        sizes += [bucket.position for bucket in self._buckets if not isinstance(bucket.position, str)]
        sizes += _claimed(returns, padded)
        return self._bound & {*padded, *(name for size in sizes for name in free_vars(size))}

    def _check_names(self, returns: Type | None, padded: Sequence[str], report: Report) -> None:
        """Reports what cannot be worked out, since this structure does not have a size that it names."""
        known = {*self._bound, *self._lengths}
        named = known | {padded_name(bucket) for bucket in self._buckets}
        for each in self._grown:
            bucket = self._buckets[each.bucket]
            for what, size in (("fill", each.fill), ("position", bucket.position)):
                if isinstance(size, (Var, Apply)) and (missing := [n for n in free_vars(size) if n not in named]):
                    report.error(
                        "wrong-pad",
                        f"the {what} of `{self._expanded.leaves[each.leaf].path}` names `{missing[0]}`, a size that "
                        "these arguments do not have",
                        at=bucket.span,
                        help="name sizes of arguments that are always passed",
                    )
        for dim in _claimed(returns, padded):
            if missing := [name for name in free_vars(dim) if name not in known]:
                report.error(
                    "bucket-without-return",
                    f"the return type names `{missing[0]}`, a size that these arguments do not have, so slots "
                    f"cannot be found on its axis `{write_dim(dim)}`",
                    at=dim.span,
                    help="write `drop` or `keep` with the path of that result",
                )

    def clear(self) -> int:
        """Frees the memory that is kept for later calls; returns how many bytes that was."""
        return self._pool.clear()

    def _one(self, value: Any, leaf: int, call: _Call) -> Any:
        """Returns what the callee gets for one tensor, or one size."""
        geometry, lent = call.geometry, call.lent
        grows = geometry.leaves.get(leaf)
        if grows is None:
            return geometry.scalars.get(leaf, value)
        for each in lent:
            if each.original is value and each.geometry is grows:
                each.places.append(self._places[leaf])
                return each.padded  # passed twice: what is written to one is seen in the other
        made = lend(value, grows, self._places[leaf], leaf, self._pool)
        if made is None:
            return value
        lent.append(made)
        return made.padded

    def _below(self, value: Any, tree: Tree, path: str, call: _Call) -> Any:
        """Returns what the callee gets for a container."""
        parts: dict[Any, Any] = {}
        for step, below in tree.items():
            before = part(value, (step,))
            after = self._one(before, below, call) if isinstance(below, int) else self._below(before, below, path, call)
            if after is not before:
                parts[step] = after
        if not parts:
            return value
        made = replaced(value, parts)
        keys = frozenset(step if isinstance(step, Attribute) else step.key for step in parts)
        call.copied.append(Copied(value, made, keys, path))
        return made


def _claimed(returns: Type | None, padded: Sequence[str]) -> list[Dim]:
    """Returns what the return type says of sizes that are padded, where they are there."""
    dims = () if returns is None else (*tensor_dims(returns), *scalar_sizes(returns))
    return [dim for dim in dims if any(mentions(dim, name) for name in padded)]


def _written_out(bucket: Bucket, ranks: Mapping[str, int]) -> Bucket:
    return bucket if isinstance(bucket.position, str) else replace(bucket, position=splice(bucket.position, ranks))


def _with_fill(each: Grown, ranks: Mapping[str, int]) -> Grown:
    """Returns ``each`` with variadics written out."""
    return replace(each, fill=splice(each.fill, ranks)) if isinstance(each.fill, (Apply, Variadic)) else each


class _Call:
    """One call, for `cropping.Result`."""

    __slots__ = ("copied", "geometry", "lent")

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.lent: list[Lent] = []
        self.copied: list[Copied] = []

    def passed(self, tensor: object) -> torch.Tensor | None:
        """Returns the caller's tensor, if ``tensor`` is what was passed for it."""
        for lent in self.lent:
            if tensor is lent.padded:
                found: torch.Tensor = lent.original
                return found
        return None

    def own(self, value: Any) -> Any:
        """Returns the caller's object for what was passed for it; else ``value``."""
        found = self.passed(value)
        return next(
            (copied.original for copied in self.copied if copied.made is value), value if found is None else found
        )

    def replaced(self, value: Any, parts: Mapping[Step, tuple[Any, Any]]) -> Any:
        """Returns ``value`` with parts in it, before and after slots were taken out; the caller's, where it is that."""
        for copied in self.copied:
            if copied.made is value and copied.is_result(parts):
                return copied.original
        made = {step: after for step, (before, after) in parts.items() if after is not before}
        return replaced(value, made) if made else value

    def owned(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns ``tensor``, or a copy of it if it lies in memory that is used again."""
        memory = memory_of(tensor)
        for lent in self.lent:
            if lent.memory == memory:
                return tensor.clone()
        return tensor


__all__ = ["Padder", "PaddingError", "Unpad", "parse_path"]
