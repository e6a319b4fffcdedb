"""Operators of torch beside the shape functions that the stubs give them: what both take, and what both give.

An operator's tensors are named ``0``, ``1``, … among the arguments of its shape function: ``T(0)`` is the shape of
the first. Which function belongs to which operator, and with which arguments, is what the stubs say.
"""

# ruff: noqa: E741, N812, PLW0108 - the letters of convolutions, torch's own alias, and every call written out

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from shapedsl.frontends.stubs.shape_functions import IndexTensor, Slice
from shapedsl.ir import Ellipsis, Var

B, C, D, H, K, L, M, N, O, P, W = (Var(name) for name in "BCDHKLMNOPW")
Dims = tuple[Any, ...]


@dataclass(frozen=True)
class T:
    """The shape of a tensor, among arguments."""

    number: int


@dataclass(frozen=True)
class Operator:
    """One operator under one set of arguments.

    Attributes:
        name: What it is, and how it is called.
        tensors: The shapes of its tensors.
        function: Its shape function.
        args: What that takes.
        run: The operator on the tensors.
        symbolic: Whether the function has a result for variables.
        integers: Which of the tensors hold ints.
        cpu: torch cannot run it without memory.
        sized: ``run`` takes the sizes of the variables, as ``s``.
    """

    name: str
    tensors: Sequence[Dims]
    function: str
    args: Sequence[Any]
    run: Callable[..., Any]
    symbolic: bool = True
    integers: Sequence[int] = ()
    cpu: bool = False
    sized: bool = False


FOUND: list[Operator] = []


def op(
    name: str, tensors: Sequence[Dims], function: str, args: Sequence[Any], run: Callable[..., Any], **more: Any
) -> None:
    FOUND.append(Operator(name, tensors, function, args, run, **more))


IMAGE = (B, C, H, W)
X3 = (B, N, M)

# reductions
for name in ("sum", "mean", "amax", "amin", "prod", "argmax", "argmin", "any", "all", "logsumexp", "std", "var"):
    method: Any = getattr(torch, name)
    op(name, [X3], "reduce_shape", [T(0), 1, False], lambda x, f=method: f(x, 1))
    op(f"{name} keepdim", [X3], "reduce_shape", [T(0), -1, True], lambda x, f=method: f(x, -1, keepdim=True))
op("sum of all", [X3], "reduce_shape", [T(0), None, False], lambda x: x.sum())
op("sum of no dims", [X3], "reduce_shape", [T(0), (), False], lambda x: x.sum(()))
op("sum of two", [X3], "reduce_shape", [T(0), (0, -1), False], lambda x: x.sum((0, -1)))
op("mean of two keepdim", [X3], "reduce_shape", [T(0), (0, 1), True], lambda x: x.mean((0, 1), keepdim=True))
op("sum of a scalar", [()], "reduce_shape", [T(0), -1, False], lambda x: x.sum(-1))
op("median", [X3], "reduce_shape", [T(0), 0, False], lambda x: x.median(0).values)
op("mode", [X3], "reduce_shape", [T(0), 0, False], lambda x: x.mode(0).values, cpu=True)
op("kthvalue", [X3], "reduce_shape", [T(0), 2, True], lambda x: x.kthvalue(1, 2, keepdim=True).values, cpu=True)
op("aminmax", [X3], "reduce_shape", [T(0), 1, False], lambda x: x.aminmax(dim=1).min)
op("max with indices", [X3], "reduce_shape", [T(0), 1, False], lambda x: x.max(1).indices)
op("count_nonzero", [X3], "reduce_shape_no_keep", [T(0), (0, 2)], lambda x: x.count_nonzero((0, 2)))
op(
    "vector_norm",
    [X3],
    "reduce_shape",
    [T(0), (1, 2), True],
    lambda x: torch.linalg.vector_norm(x, dim=(1, 2), keepdim=True),
)
op("cosine_similarity", [X3, X3], "cosine_similarity_shape", [T(0), 1], lambda x, y: F.cosine_similarity(x, y, 1))
op(
    "cosine_similarity last",
    [X3, X3],
    "cosine_similarity_shape",
    [T(0), -1],
    lambda x, y: F.cosine_similarity(x, y, -1),
)

# element by element
for name in (
    "add",
    "sub",
    "mul",
    "div",
    "maximum",
    "minimum",
    "pow",
    "atan2",
    "eq",
    "lt",
    "fmod",
    "logical_and",
    "hypot",
):
    method = getattr(torch, name)
    op(name, [(B, 1, N), (M, N)], "broadcast", [T(0), T(1)], lambda x, y, f=method: f(x, y))
op("add of one shape", [X3, X3], "broadcast", [T(0), T(1)], lambda x, y: x + y)
op("add of a scalar", [X3, ()], "broadcast", [T(0), T(1)], lambda x, y: x + y)
op("add of variables", [(B,), (N,)], "broadcast", [T(0), T(1)], lambda x, y: x + y, symbolic=False)
op("add to an int", [(B, 1), (B, 6)], "broadcast", [T(0), T(1)], lambda x, y: x + y)
op("add_", [X3, (1, M)], "inplace_broadcast_shape", [T(0), T(1)], lambda x, y: x.add_(y))
op("lerp", [X3, (N, M)], "broadcast", [T(0), T(1)], lambda x, y: torch.lerp(x, y, 0.5))

# views
op("reshape", [IMAGE], "reshape_shape", [T(0), (B, -1)], lambda x, s: x.reshape(s["B"], -1), sized=True)
op("reshape whole", [(B, 6)], "reshape_shape", [T(0), (B, 2, 3)], lambda x, s: x.reshape(s["B"], 2, 3), sized=True)
op("reshape by ints", [(B, 12)], "reshape_shape", [T(0), (-1, 4)], lambda x, s: x.reshape(-1, 4), sized=True)
op("flatten", [IMAGE], "flatten_shape", [T(0), 1, -1], lambda x: x.flatten(1))
op("flatten middle", [IMAGE], "flatten_shape", [T(0), 1, 2], lambda x: x.flatten(1, 2))
op("flatten all", [IMAGE], "flatten_shape", [T(0), 0, -1], lambda x: x.flatten())
op("squeeze", [(B, 1, N, 1)], "squeeze_shape", [T(0), 1], lambda x: x.squeeze(1))
op("squeeze of a variable", [(B, N)], "squeeze_shape", [T(0), 1], lambda x: x.squeeze(1), symbolic=False)
op("squeeze last", [(B, N, 1)], "squeeze_shape", [T(0), -1], lambda x: x.squeeze(-1))
op("squeeze several", [(1, B, 1)], "squeeze_shape", [T(0), (0, -1)], lambda x: x.squeeze((0, -1)))
op("squeeze all", [(1, 3, 1)], "squeeze_shape", [T(0), None], lambda x: x.squeeze())
op("unsqueeze", [X3], "unsqueeze_shape", [T(0), 1], lambda x: x.unsqueeze(1))
op("unsqueeze last", [X3], "unsqueeze_shape", [T(0), -1], lambda x: x.unsqueeze(-1))
op("unsqueeze second last", [X3], "unsqueeze_shape", [T(0), -2], lambda x: x.unsqueeze(-2))
op("transpose", [X3], "transpose_shape", [T(0), 0, 2], lambda x: x.transpose(0, 2))
op("transpose from the end", [X3], "transpose_shape", [T(0), -2, -1], lambda x: x.transpose(-2, -1))
op("mT", [X3], "transpose_shape", [T(0), -2, -1], lambda x: x.mT)
op("T", [(B, N)], "reverse_shape", [T(0)], lambda x: x.T)
op("permute", [IMAGE], "permute_shape", [T(0), (0, 2, 3, 1)], lambda x: x.permute(0, 2, 3, 1))
op("movedim", [IMAGE], "movedim_scalar_shape", [T(0), 1, -1], lambda x: x.movedim(1, -1))
op("movedim several", [IMAGE], "movedim_tuple_shape", [T(0), (0, 1), (-1, 0)], lambda x: x.movedim((0, 1), (-1, 0)))
op("expand", [(B, 1, N)], "expand_shape", [T(0), (-1, 5, -1)], lambda x: x.expand(-1, 5, -1))
op("expand leading", [(1, N)], "expand_shape", [T(0), (7, 4, -1)], lambda x: x.expand(7, 4, -1))
op("repeat", [(B, N)], "repeat_shape", [T(0), (2, 1, 3)], lambda x: x.repeat(2, 1, 3))
op("tile", [X3], "tile_shape", [T(0), (2, 3)], lambda x: x.tile(2, 3))
op("narrow", [X3], "narrow_shape", [T(0), 1, 0, 2], lambda x: x.narrow(1, 0, 2))
op("select", [X3], "select_shape", [T(0), 1, 0], lambda x: x.select(1, 0))
op("select last", [X3], "select_shape", [T(0), -1, -1], lambda x: x.select(-1, -1))
op("unbind", [X3], "unbind_shape", [T(0), 1], lambda x: x.unbind(1)[0])
op("unfold", [(B, N)], "unfold_shape", [T(0), 1, 2, 2], lambda x: x.unfold(1, 2, 2))
op("diagonal", [(B, N, N)], "diagonal_shape", [T(0), 0, 1, 2], lambda x: x.diagonal(0, 1, 2))
op("diagonal above", [(B, 4, 6)], "diagonal_shape", [T(0), 1, 1, 2], lambda x: x.diagonal(1, 1, 2))
op("diagonal below", [(B, 4, 6)], "diagonal_shape", [T(0), -2, -2, -1], lambda x: x.diagonal(-2, -2, -1))
op("diagonal of variables", [(B, N, M)], "diagonal_shape", [T(0), 0, 1, 2], lambda x: x.diagonal(0, 1, 2))
op("diag_embed", [X3], "diag_embed_shape", [T(0), 1, -2, -1], lambda x: torch.diag_embed(x, 1))
op("diag_embed in front", [(B, N)], "diag_embed_shape", [T(0), -2, 0, 1], lambda x: torch.diag_embed(x, -2, 0, 1))

# joining and splitting
op("cat", [(B, N), (D, N)], "cat_shape", [(T(0), T(1)), 0], lambda x, y: torch.cat((x, y)))
op("cat last", [(B, N), (B, M), (B, 2)], "cat_shape", [(T(0), T(1), T(2)), -1], lambda *x: torch.cat(x, -1))
op("stack", [(B, N), (B, N)], "stack_shape", [(T(0), T(1)), 1], lambda x, y: torch.stack((x, y), 1))
op("split", [(B, 7)], "split_size_shapes", [T(0), 3, -1], lambda x: x.split(3, -1))
op("split of a variable", [(B, N)], "split_size_shapes", [T(0), 3, -1], lambda x: x.split(3, -1), symbolic=False)
op("split by sections", [(B, 7)], "split_sections_shapes", [T(0), (3, 4), 1], lambda x: x.split((3, 4), 1))
op("chunk", [(B, 8)], "chunk_shapes", [T(0), 3, 1], lambda x: x.chunk(3, 1))
op("meshgrid", [(B,), (N,)], "meshgrid_shapes", [(T(0), T(1)), "ij"], lambda x, y: torch.meshgrid(x, y, indexing="ij"))
op(
    "meshgrid xy",
    [(B,), (N,), (M,)],
    "meshgrid_shapes",
    [(T(0), T(1), T(2)), "xy"],
    lambda *x: torch.meshgrid(*x, indexing="xy"),
)
op("repeat_interleave", [X3], "repeat_interleave_shape", [T(0), 3, 1], lambda x: x.repeat_interleave(3, 1))
op("repeat_interleave flat", [(B, N)], "repeat_interleave_shape", [T(0), 3, None], lambda x: x.repeat_interleave(3))

op(
    "repeat_interleave to a size",
    [(B, 4)],
    "repeat_interleave_checked_shape",
    [T(0), 3, 12, 1],
    lambda x: x.repeat_interleave(3, 1, output_size=12),
)
op(
    "repeat_interleave by a tensor",
    [(B, 4), (4,)],
    "repeat_interleave_output_shape",
    [T(0), 8, 1],
    lambda x, i: x.repeat_interleave(i, 1, output_size=8),
    integers=[1],
)

# selecting
op("topk", [(B, 8)], "topk_shape", [T(0), -1, 3], lambda x: x.topk(3).values)
op("index_select", [X3, (K,)], "index_select_shape", [T(0), 1, T(1)], lambda x, i: x.index_select(1, i), integers=[1])
op("gather", [(B, N), (B, N)], "gather_shape", [T(0), 1, T(1)], lambda x, i: x.gather(1, i), integers=[1])
op(
    "scatter",
    [(B, N), (B, N), (B, N)],
    "scatter_shape",
    [T(0), 1, T(1), T(2)],
    lambda x, i, y: x.scatter(1, i, y),
    integers=[1],
)
op("take", [(B, N), (K, 2)], "take_shape", [T(0), T(1)], lambda x, i: x.take(i), integers=[1])
op("put", [(B, N), (K,), (K,)], "put_shape", [T(0), T(1), T(2)], lambda x, i, y: x.put(i, y), integers=[1], cpu=True)
op(
    "take_along_dim",
    [(B, N), (B, K)],
    "take_along_dim_shape",
    [T(0), T(1), 1],
    lambda x, i: x.take_along_dim(i, 1),
    integers=[1],
)
op(
    "take_along_dim flat",
    [(B, N), (K,)],
    "take_along_dim_shape",
    [T(0), T(1), None],
    lambda x, i: x.take_along_dim(i),
    integers=[1],
)
op(
    "index_add",
    [(B, N), (K,), (B, K)],
    "indexed_source_shape",
    [T(0), 1, T(1), T(2)],
    lambda x, i, y: x.index_add(1, i, y),
    integers=[1],
)
op(
    "index_fill",
    [(B, N), (K,)],
    "index_fill_shape",
    [T(0), 1, T(1)],
    lambda x, i: x.index_fill(1, i, 0.0),
    integers=[1],
)
op("multinomial", [(B, 9)], "multinomial_shape", [T(0), 3, False], lambda x: x.multinomial(3), cpu=True)
op("item", [X3], "index_shape", [T(0), 0], lambda x: x[0])
op("items", [IMAGE], "index_shape", [T(0), (Slice(), 0, Ellipsis(), None)], lambda x: x[:, 0, ..., None])
op("slices", [(B, 9)], "index_shape", [T(0), (Slice(1, None), Slice(None, -2, 3))], lambda x: x[1:, :-2:3])
op("slices of variables", [(B, N)], "index_shape", [T(0), (Slice(-3, None), Slice(2, 5))], lambda x: x[-3:, 2:5])
op("slice from the end", [(B, N)], "index_shape", [T(0), (Ellipsis(), Slice(-4, -1, 2))], lambda x: x[..., -4:-1:2])
op("indices", [X3, (K, 2)], "index_shape", [T(0), (Slice(), IndexTensor((K, 2)))], lambda x, i: x[:, i], integers=[1])
op(
    "indices beside each other",
    [IMAGE, (K, 1), (3,)],
    "index_shape",
    [T(0), (Slice(), IndexTensor((K, 1)), IndexTensor((3,)))],
    lambda x, i, j: x[:, i, j],
    integers=[1, 2],
)
op(
    "indices apart",
    [IMAGE, (K,), (K,)],
    "index_shape",
    [T(0), (Slice(), IndexTensor((K,)), Slice(), IndexTensor((K,)))],
    lambda x, i, j: x[:, i, :, j],
    integers=[1, 2],
)

# products
op("matmul", [(B, M, K), (K, N)], "matmul_shape", [T(0), T(1)], torch.matmul)
op("mm", [(M, K), (K, N)], "matmul_shape", [T(0), T(1)], torch.mm)
op("bmm", [(B, M, K), (B, K, N)], "matmul_shape", [T(0), T(1)], torch.bmm)
op("mv", [(M, K), (K,)], "matmul_shape", [T(0), T(1)], torch.mv)
op("dot", [(K,), (K,)], "matmul_shape", [T(0), T(1)], torch.dot)
op("vector by matrices", [(K,), (B, K, N)], "matmul_shape", [T(0), T(1)], torch.matmul)
op("matmul broadcast", [(B, 1, M, K), (H, K, N)], "matmul_shape", [T(0), T(1)], torch.matmul)
op("matmul of variables", [(M, K), (D, N)], "matmul_shape", [T(0), T(1)], torch.matmul, symbolic=False)
op("vecdot", [(B, K), (B, K)], "vecdot_shape", [T(0), T(1), -1], lambda x, y: torch.linalg.vecdot(x, y))
op("vecdot first", [(K, B), (K, B)], "vecdot_shape", [T(0), T(1), 0], lambda x, y: torch.linalg.vecdot(x, y, dim=0))
op("cross", [(B, 3), (B, 3)], "cross_shape", [T(0), T(1), -1], lambda x, y: torch.linalg.cross(x, y))
op(
    "cross in the middle",
    [(B, 3, N), (B, 3, N)],
    "cross_shape",
    [T(0), T(1), 1],
    lambda x, y: torch.linalg.cross(x, y, dim=1),
)
op("tensordot", [(B, N, M), (N, M, K)], "tensordot_shape", [T(0), T(1), 2], lambda x, y: torch.tensordot(x, y, 2))
op("tensordot outer", [(B,), (N,)], "tensordot_shape", [T(0), T(1), 0], lambda x, y: torch.tensordot(x, y, 0))
EQUATIONS: dict[str, list[Dims]] = {
    "bij,bjk->bik": [(B, M, K), (B, K, N)],
    "ij->ji": [(M, N)],
    "ii->i": [(N, N)],
    "i,j->ij": [(M,), (N,)],
    "bhqd,bhkd->bhqk": [(B, H, M, D), (B, H, N, D)],
    "...ij,...jk->...ik": [(B, H, M, K), (K, N)],
    "ij,jk": [(M, K), (K, N)],
    "ij->": [(M, N)],
}
for equation, shapes in EQUATIONS.items():
    op(
        f"einsum {equation}",
        shapes,
        "einsum_shape",
        [equation, tuple(map(T, range(len(shapes))))],
        lambda *x, e=equation: torch.einsum(e, *x),
    )

# linear algebra
op("eig", [(B, N, N)], "eig_shape", [T(0)], lambda x: torch.linalg.eig(x).eigenvalues)
op("eigvals", [(B, N, N)], "eigvals_shape", [T(0)], lambda x: torch.linalg.eigvalsh(x))
op("slogdet", [(B, N, N)], "slogdet_shape", [T(0)], lambda x: torch.linalg.slogdet(x).logabsdet)
op(
    "lu_solve",
    [(B, N, N), (B, N), (B, N, K)],
    "lu_solve_shape",
    [T(0), T(1), T(2), True],
    lambda a, p, b: torch.linalg.lu_solve(a, p.int(), b),
    integers=[1],
)
op("tensorinv", [(4, 6, 8, 3)], "tensorinv_shape", [T(0), 2], lambda x: torch.linalg.tensorinv(x, 2))
op("tensorsolve", [(2, 3, 6), (2, 3)], "tensorsolve_shape", [T(0), T(1)], torch.linalg.tensorsolve)
op(
    "tensorsolve moved",
    [(6, 2, 3), (2, 3)],
    "tensorsolve_moved_shape",
    [T(0), T(1), (0,)],
    lambda a, b: torch.linalg.tensorsolve(a, b, (0,)),
)
op("solve", [(B, N, N), (B, N, K)], "gufunc_broadcast", ["(n,n),(n,k)->(n,k)", (T(0), T(1))], torch.linalg.solve)

# layers
op("conv1d", [(B, C, L), (O, C, 3)], "conv_shape", [T(0), T(1), 1, 0, 1], lambda x, w: F.conv1d(x, w))
op(
    "conv1d dilated",
    [(B, C, L), (O, C, 3)],
    "conv_shape",
    [T(0), T(1), 2, 3, 2],
    lambda x, w: F.conv1d(x, w, None, 2, 3, 2),
)
op("conv2d", [IMAGE, (O, C, 3, 3)], "conv_shape", [T(0), T(1), 1, 1, 1], lambda x, w: F.conv2d(x, w, padding=1))
op(
    "conv2d strided",
    [IMAGE, (O, C, 3, 5)],
    "conv_shape",
    [T(0), T(1), (2, 1), (1, 2), 1],
    lambda x, w: F.conv2d(x, w, None, (2, 1), (1, 2)),
)
op(
    "conv3d",
    [(B, C, D, H, W), (O, C, 1, 2, 3)],
    "conv_shape",
    [T(0), T(1), 1, 1, 1],
    lambda x, w: F.conv3d(x, w, padding=1),
)
op(
    "conv_transpose1d",
    [(B, C, L), (C, O, 4)],
    "conv_transpose_shape",
    [T(0), T(1), 2, 1, 0, 1, 1],
    lambda x, w: F.conv_transpose1d(x, w, None, 2, 1),
)
op(
    "conv_transpose2d",
    [(B, 4, H, W), (4, O, 3, 3)],
    "conv_transpose_shape",
    [T(0), T(1), 2, 1, 1, 1, 2],
    lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, 1, 2),
)
op(
    "conv_transpose3d",
    [(B, C, D, H, W), (C, O, 2, 2, 2)],
    "conv_transpose_shape",
    [T(0), T(1), 2, 0, 0, 1, 1],
    lambda x, w: F.conv_transpose3d(x, w, None, 2),
)
for spatial, shape in ((1, (B, C, L)), (2, IMAGE), (3, (B, C, D, H, W))):
    maximum: Any = getattr(F, f"max_pool{spatial}d")
    average: Any = getattr(F, f"avg_pool{spatial}d")
    op(
        f"max_pool{spatial}d",
        [shape],
        "pool_shape",
        [T(0), spatial, 2, None, 0, 1, False],
        lambda x, f=maximum: f(x, 2),
    )
    op(
        f"max_pool{spatial}d padded",
        [shape],
        "pool_shape",
        [T(0), spatial, 3, 2, 1, 1, False],
        lambda x, f=maximum: f(x, 3, 2, 1),
    )
    op(
        f"avg_pool{spatial}d",
        [shape[1:]],
        "pool_shape",
        [T(0), spatial, 3, 1, 1, 1, False],
        lambda x, f=average: f(x, 3, 1, 1),
    )
    adaptive: Any = getattr(F, f"adaptive_avg_pool{spatial}d")
    op(
        f"adaptive_avg_pool{spatial}d",
        [shape],
        f"adaptive_pool{spatial}d_shape",
        [T(0), *[5] * spatial],
        lambda x, f=adaptive: f(x, 5),
    )
op(
    "max_pool2d ceil",
    [(B, C, 7, 10)],
    "pool_shape",
    [T(0), 2, 3, 2, 1, 1, True],
    lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
)
op(
    "max_pool2d ceil of variables",
    [IMAGE],
    "pool_shape",
    [T(0), 2, 3, 2, 1, 1, True],
    lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
)
op("adaptive_max_pool2d", [IMAGE], "adaptive_pool_gradual_shape", [T(0), 2], lambda x: F.adaptive_max_pool2d(x, (3, 4)))
op("interpolate to a size", [IMAGE], "interpolate_size_shape", [T(0), (7, 9)], lambda x: F.interpolate(x, (7, 9)))
op(
    "interpolate by a factor",
    [(B, C, L)],
    "interpolate_scalar_shape",
    [T(0), None, 2],
    lambda x: F.interpolate(x, scale_factor=2),
)
op(
    "interpolate by factors",
    [IMAGE],
    "interpolate_scale_shape",
    [T(0), (2, 3)],
    lambda x: F.interpolate(x, scale_factor=(2.0, 3.0)),
)
op("upsample_nearest", [IMAGE], "upsample_fallback_shape", [T(0)], lambda x: F.interpolate(x, scale_factor=1.5))
op("fold", [(B, 8, 6)], "fold_shape", [T(0), (4, 3), 4], lambda x: F.fold(x, (4, 3), 2))
op("fold to a list", [(B, 8, 6)], "fold_list_shape", [T(0), (4, 3), 4], lambda x: torch.nn.Fold((4, 3), 2)(x))
op(
    "fractional_max_pool2d",
    [IMAGE],
    "fractional_pool_extent",
    [(3, 4), 1],
    lambda x: F.fractional_max_pool2d(x, 2, output_size=(3, 4)).shape[-1],
)
op("pad", [IMAGE], "pad_shape", [T(0), (1, 2, 0, 3)], lambda x: F.pad(x, (1, 2, 0, 3)))
op("pad to the inside", [(B, 9)], "pad_shape", [T(0), (-1, -2)], lambda x: F.pad(x, (-1, -2)))
op("ZeroPad2d", [IMAGE], "symmetric_pad2d_shape", [T(0), 2], lambda x: torch.nn.ZeroPad2d(2)(x))
op("pixel_shuffle", [(B, 12, H, W)], "pixel_shuffle_shape", [T(0), 2], lambda x: F.pixel_shuffle(x, 2))
op("glu", [(B, 8)], "glu_shape", [T(0), -1], lambda x: F.glu(x))
op(
    "affine_grid",
    [(B, 2, 3)],
    "affine_grid_shape",
    [T(0), (B, 3, 5, 7)],
    lambda x, s: F.affine_grid(x, [s["B"], 3, 5, 7], align_corners=False),
    sized=True,
)
op(
    "GRU",
    [(B, L, 5)],
    "gru_output_shape",
    [T(0), 5, 7, True],
    lambda x: torch.nn.GRU(5, 7, batch_first=True, bidirectional=True, device=x.device)(x)[0],
)
op(
    "GRU state",
    [(L, B, 5)],
    "gru_state_shape",
    [T(0), 7, 2, False, False],
    lambda x: torch.nn.GRU(5, 7, 2, device=x.device)(x)[1],
)
op("LSTMCell", [(B, 5)], "lstm_cell_state_shape", [T(0), 7], lambda x: torch.nn.LSTMCell(5, 7, device=x.device)(x)[0])

# losses
for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
    loss: Any = getattr(F, name)
    op(name, [(B, N), (B, N)], "loss_shape", [T(0), "mean", None, None], lambda x, y, f=loss: f(x, y))
    op(
        f"{name} unreduced",
        [(B, N), (B, N)],
        "loss_shape",
        [T(0), "none", None, None],
        lambda x, y, f=loss: f(x, y, reduction="none"),
    )
op(
    "cross_entropy",
    [IMAGE, (B, H, W)],
    "classification_loss_shape",
    [T(0), "none", None, None],
    lambda x, y: F.cross_entropy(x, y, reduction="none"),
    integers=[1],
)
op(
    "nll_loss",
    [(B, C), (B,)],
    "classification_loss_shape",
    [T(0), "none", None, None],
    lambda x, y: F.nll_loss(x, y, reduction="none"),
    integers=[1],
)
op(
    "kl_div",
    [(B, N), (B, N)],
    "kl_div_loss_shape",
    [T(0), "batchmean", None, None],
    lambda x, y: F.kl_div(x, y, reduction="batchmean"),
)
op(
    "triplet_margin_loss",
    [(B, N)] * 3,
    "pairwise_distance_shape",
    [T(0), T(1), T(2)],
    lambda x, y, z: F.triplet_margin_loss(x, y, z, reduction="none"),
)
op(
    "cosine_embedding_loss",
    [(B, N), (B, N), (B,)],
    "cosine_embedding_score_shape",
    [T(0), T(1), T(0), T(2)],
    lambda x, y, z: F.cosine_embedding_loss(x, y, z, reduction="none"),
)

op(
    "ctc_loss",
    [(20, B, 5)],
    "ctc_unreduced_shape",
    [T(0)],
    lambda x: F.ctc_loss(
        x,
        torch.ones(x.shape[1], 3, dtype=torch.int64),
        torch.full(x.shape[1:2], 20),
        torch.full(x.shape[1:2], 3),
        reduction="none",
    ),
    cpu=True,
)

# Fourier transforms
op("fft", [X3], "fft_shape", [T(0), None, 1], lambda x: torch.fft.fft(x, dim=1))
op("fft padded", [X3], "fft_shape", [T(0), 16, -1], lambda x: torch.fft.fft(x, 16))
op("rfft", [X3], "rfft_shape", [T(0), None, -1], lambda x: torch.fft.rfft(x))
op("rfft padded", [X3], "rfft_shape", [T(0), 9, 0], lambda x: torch.fft.rfft(x, 9, 0))
op("irfft", [X3], "irfft_shape", [T(0), None, -1], lambda x: torch.fft.irfft(x))
op("irfft padded", [X3], "irfft_shape", [T(0), 9, -1], lambda x: torch.fft.irfft(x, 9))
op("rfft2", [X3], "rfft2_default_shape", [T(0)], lambda x: torch.fft.rfft2(x))
op("irfft2", [X3], "irfft2_default_shape", [T(0)], lambda x: torch.fft.irfft2(x))
op("hfft2", [X3], "hermitian_fft_shape", [T(0), T(0), (-2, -1), False, False], lambda x: torch.fft.hfft2(x))
op("ihfft2", [X3], "hermitian_fft_shape", [T(0), T(0), (-2, -1), True, False], lambda x: torch.fft.ihfft2(x))
op(
    "stft",
    [(B, 64)],
    "stft_shape",
    [T(0), 16, True, True],
    lambda x: torch.stft(x, 16, return_complex=True, window=torch.ones(16, device=x.device)),
)

# what is asked of a tensor, and what makes one
op(
    "Normal.sample",
    [(B, N)],
    "distribution_sample_shape",
    [(7, 2), T(0)],
    lambda x: torch.distributions.Normal(x, 1.0, validate_args=False).sample((7, 2)),  # type: ignore[no-untyped-call]
    cpu=True,
)
op("size", [X3], "size_dim_shape", [T(0), 1], lambda x: x.size(1))
op("size last", [X3], "size_dim_shape", [T(0), -1], lambda x: x.size(-1))
op("numel", [X3], "numel_shape", [T(0)], lambda x: x.numel())
op("dim", [X3], "dim_shape", [T(0)], lambda x: x.dim())
op("arange", [], "arange_extent", [N], lambda s: len(torch.arange(s["N"])), sized=True)
op("linspace", [], "nonnegative_extent", [N], lambda s: len(torch.linspace(0, 1, s["N"])), sized=True)
op(
    "arange by 2",
    [],
    "arange_step_extent",
    [0, N, 2],
    lambda s: len(torch.arange(0, s["N"], 2)),
    symbolic=False,
    sized=True,
)
op("arange from", [], "arange_step_extent", [2, N, 1], lambda s: len(torch.arange(2, s["N"])), sized=True)


def shape_of(result: Any) -> Any:
    """Returns the sizes of what an operator gives."""
    if isinstance(result, Tensor):
        return tuple(result.shape)
    return tuple(map(shape_of, result)) if isinstance(result, (tuple, list)) else result
