"""What the file need not define: broadcasting, reductions, equations, patterns, indices."""

from __future__ import annotations

from typing import Any

import pytest

from shapedsl.frontends.stubs.shape_functions import UNKNOWN, IndexTensor, ShapeFunctions, Slice
from shapedsl.ir import Ellipsis, Static

from .language import B, D, H, M, N, R, S, W, written

ALONE = ShapeFunctions()


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((B, N), (B, N), "(B, N)"),
        ((B, 1), (N,), "(B, N)"),
        ((), (N,), "(N)"),
        ((B,), (5,), "(5)"),
        ((3,), (1,), "(3)"),
        ((0,), (1,), "(0)"),
        ((3,), (2,), "Invalid: sizes 3 and 2 do not broadcast"),
        ((B,), (D,), "not evaluated: the sizes do not decide how B and D broadcast"),
        ((S, N), (S, N), "(*S, N)"),
        ((S, N), (1,), "(*S, N)"),
        ((S, N), (B, N), "not evaluated: the sizes do not decide how (*S, N) and (B, N) broadcast"),
        ((S, N), (1, N), "not evaluated: the sizes do not decide how (*S, N) and (1, N) broadcast"),
        ((6, 1), (4, 3, S), "not evaluated: the sizes do not decide how (6, 1) and (4, 3, *S) broadcast"),
        ((S,), (R,), "not evaluated: the sizes do not decide how (*S,) and (*R,) broadcast"),
        ((Static(),), (1,), "(_)"),
        ((Static(),), (Static(),), "(_)"),
        ((Static(),), (B,), "not evaluated: the sizes do not decide how _ and B broadcast"),
    ],
)
def test_broadcast(left: Any, right: Any, expected: str) -> None:
    assert written(ALONE.evaluate("broadcast", [left, right])) == expected


@pytest.mark.parametrize(
    ("signature", "shapes", "expected"),
    [
        ("(m,n),(n,p)->(m,p)", [(B, M, N), (N, D)], "(B, M, D)"),
        ("(m,n),(n,p)->(m,p)", [(S, M, N), (S, N, D)], "(*S, M, D)"),
        (" (n) , (n) -> () ", [(B, 3), (3,)], "(B)"),
        ("()->(k)", [(B,)], "not evaluated: `k` of `()->(k)` stands in no operand"),
        ("(n),(n)->()", [(3,), (4,)], "Invalid: `n` of `(n),(n)->()`: 3 is not 4"),
        ("(n),(n)->()", [(N,), (M,)], "not evaluated: the sizes do not decide `N == M`"),
        ("(m,n)->(m)", [(N,)], "Invalid: `(m,n)->(m)` needs 2 dims, not 1"),
        ("(m,n)->(m)", [(S, N)], "not evaluated: which dims of (*S, N) `(m,n)->(m)` takes is not known"),
        ("(n)->()", [(N,), (N,)], "not evaluated: `(n)->()` is for 1 shapes, not 2"),
        ("n->n", [(N,)], "not evaluated: `n->n` is no signature"),
    ],
)
def test_gufunc_broadcast(signature: str, shapes: Any, expected: str) -> None:
    assert written(ALONE.evaluate("gufunc_broadcast", [signature, shapes])) == expected


@pytest.mark.parametrize(
    ("shape", "axis", "keep", "expected"),
    [
        ((B, N), None, False, "()"),
        ((B, N), None, True, "(1, 1)"),
        ((B, N), (), False, "()"),
        ((B, N), -1, False, "(B)"),
        ((B, N), (0, -1), True, "(1, 1)"),
        ((B, N), 2, False, "Invalid: reduction dimension out of range"),
        ((B, N), (0, -2), False, "Invalid: reduction dimensions must be unique"),
        ((), 0, False, "()"),
        ((), 1, False, "Invalid: reduction dimension out of range"),
        ((S, N), -1, True, "(*S, 1)"),
        ((B, S), 0, False, "(*S)"),
        ((S,), None, False, "()"),
        ((S,), None, True, "not evaluated: how many dims (*S,) has is not known"),
        ((S, N), 0, False, "not evaluated: which dim of (*S, N) is 0 is not known"),
        ((S, N), -3, False, "not evaluated: which dim of (*S, N) is -3 is not known"),
        ((B, N), UNKNOWN, False, "not evaluated: the axis _ is not known"),
        ((B, N), 0, UNKNOWN, "not evaluated: nothing decides whether _ is true"),
    ],
)
def test_axis_reduce(shape: Any, axis: Any, keep: Any, expected: str) -> None:
    assert written(ALONE.evaluate("dsl.axis_reduce", [shape, axis, keep, True, True, True])) == expected


@pytest.mark.parametrize(
    ("equation", "shapes", "expected"),
    [
        ("ij,jk->ik", [(M, N), (N, D)], "(M, D)"),
        ("ij,jk", [(M, N), (N, D)], "(M, D)"),
        ("ba", [(M, N)], "(N, M)"),
        ("...i->...", [(S, N)], "(*S)"),
        ("...i,...i->...i", [(B, N), (N,)], "(B, N)"),
        ("i...j->j...i", [(M, S, N)], "(N, *S, M)"),
        ("ii->i", [(N, N)], "(N)"),
        ("ij,jk->ik", [(M, 1), (N, D)], "(M, D)"),
        ("ii->i", [(3, 4)], "Invalid: axis `i`: 3 is not 4"),
        ("ij->k", [(3, 4)], "Invalid: the result has the axis `k`, which no operand has, or has one twice"),
        ("i->ii", [(3,)], "Invalid: the result has the axis `i`, which no operand has, or has one twice"),
        ("ij->i", [(3,)], "Invalid: `i j` does not fit (3,)"),
        ("i->i", [(3, 4)], "Invalid: `i` does not fit (3, 4)"),
        ("i,i->i", [(3,)], "Invalid: the equation is for 2 operands, not 1"),
        ("i1->i", [(3, 4)], "Invalid: `i1` is no operand of an einsum equation"),
        ("ij,jk->ik", [(M, N), (B, D)], "not evaluated: the sizes do not decide how N and B broadcast"),
        ("ij->i", [(S,)], "not evaluated: which dims of (*S,) `i j` names is not known"),
        (UNKNOWN, [(S,)], "not evaluated: the pattern is not known"),
    ],
)
def test_einsum(equation: Any, shapes: Any, expected: str) -> None:
    assert written(ALONE.evaluate("dsl.einsum", [equation, shapes])) == expected


@pytest.mark.parametrize(
    ("function", "pattern", "shape", "axes", "expected"),
    [
        ("rearrange", "b c h w -> b h w c", (B, 3, H, W), None, "(B, H, W, 3)"),
        ("rearrange", "b c h w -> b (c h w)", (B, 3, H, W), None, "(B, 3 * H * W)"),
        ("rearrange", "b (h d) -> b h d", (B, 12), {"h": 4}, "(B, 4, 3)"),
        ("rearrange", "b (h d) -> b h d", (B, N), {"h": 4}, "(B, 4, N // 4)"),
        ("rearrange", "b n -> b 1 n", (B, N), None, "(B, 1, N)"),
        ("rearrange", "b 1 n -> b n", (B, 1, N), None, "(B, N)"),
        ("rearrange", "b () n -> b n", (B, 1, N), None, "(B, N)"),
        ("rearrange", "... a b -> ... b a", (S, M, N), None, "(*S, N, M)"),
        ("rearrange", "b ... -> b (...)", (B, S), None, "(B, prod(*S))"),
        ("rearrange", "b (h d) -> b h d", (B, 13), {"h": 4}, "Invalid: 13 does not divide by 4"),
        ("rearrange", "b (h d) -> b h d", (B, 12), None, "Invalid: nothing tells h and d apart"),
        ("rearrange", "a b -> a", (B, 12), None, "Invalid: axes stand on one side only: b"),
        ("rearrange", "a a -> a", (B, 12), None, "Invalid: an axis stands twice on one side"),
        ("rearrange", "a b", (B, 12), None, "Invalid: an einops pattern needs `->`"),
        ("rearrange", "a & -> a", (B, 12), None, "Invalid: `&` is no part of an einops pattern"),
        ("rearrange", "a b 1 -> a b", (B, N, 2), None, "Invalid: (): 1 is not 2"),
        ("rearrange", "a b -> b a", (B, N), UNKNOWN, "not evaluated: the lengths of the axes are not known"),
        ("reduce", "b c (h s) w -> b c h", (B, 3, H, W), {"s": 2}, "(B, 3, H // 2)"),
        ("reduce", "b c -> d", (B, 3), None, "Invalid: nothing gives the length of d"),
        ("repeat", "h w -> h w c", (H, W), {"c": 3}, "(H, W, 3)"),
        ("repeat", "h w -> (h r) w", (H, W), {"r": N}, "(H * N, W)"),
        ("repeat", "h w -> h", (H, W), None, "Invalid: the result lacks axes: w"),
    ],
)
def test_einops(function: str, pattern: str, shape: Any, axes: Any, expected: str) -> None:
    assert written(ALONE.evaluate(f"dsl.{function}", [pattern, shape, axes])) == expected


def test_einops_einsum() -> None:
    args: list[Any] = ["batch head q d, batch head k d -> batch head q k", [(B, H, M, D), (B, H, N, D)]]
    assert written(ALONE.evaluate("dsl.einops_einsum", args)) == "(B, H, M, N)"
    assert written(ALONE.evaluate("dsl.einops_einsum", ["a, a -> a", [(1,), (3,)]])) == "Invalid: axis `a`: 1 is not 3"


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0, "(N, 6)"),
        (-7, "(N, 6)"),
        (B, "(N, 6)"),
        (None, "(1, B, N, 6)"),
        (Slice(), "(B, N, 6)"),
        ((Slice(), 2), "(B, 6)"),
        ((Ellipsis(), 2), "(B, N)"),
        ((Ellipsis(), Slice(1, 5, 2)), "(B, N, 2)"),
        ((Ellipsis(), Slice(-2, None)), "(B, N, 2)"),
        ((Slice(1, None),), "(max(B - 1, 0), N, 6)"),
        ((Slice(None, 4),), "(min(B, 4), N, 6)"),
        ((Slice(None, None, 2),), "((B + 1) // 2, N, 6)"),
        ((Slice(), IndexTensor((D, 2))), "(B, D, 2, 6)"),
        ((IndexTensor((D,)), Slice(), IndexTensor((D,))), "(D, N)"),
        ((Ellipsis(), 6), "Invalid: index 6 is out of range for size 6"),
        ((0, 0, 0, 0), "Invalid: too many indices for (B, N, 6)"),
        ((Ellipsis(), Ellipsis()), "Invalid: an index can have one `...`"),
        ((Slice(None, None, -1),), "Invalid: the step of a slice must be positive"),
        ((Slice(N, None),), "not evaluated: the sizes do not decide whether N is negative"),
        (UNKNOWN, "not evaluated: the index _"),
        (True, "not evaluated: a bool as an index"),
        (IndexTensor((B,), mask=True), "not evaluated: the index an index"),
    ],
)
def test_index_shape(index: Any, expected: str) -> None:
    assert written(ALONE.evaluate("index_shape", [(B, N, 6), index])) == expected


def test_index_shape_of_unknown_rank() -> None:
    assert written(ALONE.evaluate("index_shape", [(B, S, N), (0, Ellipsis(), 1)])) == "(*S)"
    assert written(ALONE.evaluate("index_shape", [(S, N), 0])).startswith("not evaluated: which dims")
