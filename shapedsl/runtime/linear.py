"""Linear algebra on dims: coefficients of a variable, and elimination over the rationals.

``2 * (B + 1) - B`` has the coefficient 1 of ``B``; ``B * D`` has none, since ``D`` is no constant.
"""

from __future__ import annotations

from fractions import Fraction

from ..ir import Apply, Const, Size, Var, Variadic


def eliminate(matrix: list[list[Fraction]], columns: int) -> None:
    """Brings the first ``columns`` of ``matrix`` into reduced row echelon form, in place."""
    top = 0
    for column in range(columns):
        pivot = next((at for at in range(top, len(matrix)) if matrix[at][column]), None)
        if pivot is None:
            continue
        matrix[top], matrix[pivot] = matrix[pivot], matrix[top]
        scale = matrix[top][column]
        matrix[top] = [value / scale for value in matrix[top]]
        for at, row in enumerate(matrix):
            if at != top and row[column]:
                factor = row[column]
                matrix[at] = [value - factor * head for value, head in zip(row, matrix[top], strict=True)]
        top += 1


def linear(size: Size, name: str) -> int | None:
    """Returns ``k`` if ``size`` is ``k * name + (something without name)`` for a constant ``k``, else None."""
    match size:
        case Const() | Variadic():
            return 0
        case Var(name=other):
            return int(other == name)
        case Apply(op=op, args=args):
            parts = [linear(arg, name) for arg in args]
            if not any(part != 0 for part in parts):
                return 0
            if any(part is None for part in parts):
                return None
            first, *others = (part or 0 for part in parts)
            match op.name:
                case "+":
                    return first + others[0]
                case "-":
                    return first - others[0]
                case "neg":
                    return -first
                case "*":
                    return _scaled(args, first, others[0])
                case _:
                    return None


def _scaled(factors: tuple[Size, ...], left: int, right: int) -> int | None:
    match factors:
        case (Const(value=value), _):
            return value * right
        case (_, Const(value=value)):
            return value * left
        case _:
            return None
