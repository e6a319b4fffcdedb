"""Small files of shape functions, for tests that need no corpus."""

from __future__ import annotations

from collections.abc import Sequence

from shapedsl.frontends.stubs.shape_functions import Argument, Outcome, ShapeFunctions, load_shape_functions
from shapedsl.ir import Const, Dim, Var, Variadic

B, D, H, M, N, W = (Var(name) for name in "BDHMNW")
S, R = Variadic("S"), Variadic("R")

HEAD = """\
import shape_extensions.dsl as dsl
from shape_extensions import gufunc_broadcast, Int, IntTuple, IntTuples, type_shape_dsl_function
"""


def load(*functions: str) -> ShapeFunctions:
    """Returns the functions of a file, each of which is given without its decorator."""
    return load_shape_functions(HEAD + "".join(f"\n@type_shape_dsl_function\n{text}\n" for text in functions))


def result(body: str, *args: Argument, names: str = "a, b, c") -> Outcome:
    """Returns what a function of one expression gives; ``names`` are cut to the number of arguments."""
    params = ", ".join(names.split(", ")[: len(args)])
    return load(f"def f({params}):\n    return {body}").evaluate("f", args)


def dims(*values: int | Dim) -> tuple[Dim, ...]:
    """Returns a shape as results have it."""
    return tuple(Const(value) if isinstance(value, int) else value for value in values)


def written(outcome: Outcome) -> str:
    """Returns a result as text: dims as the language writes them."""
    from shapedsl.frontends.stubs.shape_functions import Evaluated, Invalid
    from shapedsl.ir.write_sizes import write_dim

    def text(value: object) -> str:
        if isinstance(value, tuple):
            return f"({', '.join(map(text, value))})"
        return write_dim(value)  # type: ignore[arg-type]

    if isinstance(outcome, Evaluated):
        return text(outcome.value)
    return f"Invalid: {outcome.message}" if isinstance(outcome, Invalid) else f"not evaluated: {outcome.reason}"


__all__ = ["B", "D", "H", "M", "N", "R", "S", "Sequence", "W", "dims", "load", "result", "written"]
