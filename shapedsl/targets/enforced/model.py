"""What an artifact refuses, relies on and returns, in terms of the *places* of its inputs.

A place is one size of one input: ``x.shape[0]``, of an int the int itself. Each has a variable of its own, since
``x: Tensor[B], y: Tensor[B]`` promises that two sizes are one, and whether an artifact keeps that cannot be
said in terms of ``B``.

Before (an exported program)::

    x: FakeTensor(u0, 4)  y: FakeTensor(u0,)
    Guard failed: y.size()[0] == x.size()[0]
    Runtime assertion failed for expression Eq(Mod(u0, 8), 0)
    return FakeTensor(2*u0,)

After::

    checked   y.shape[0] == x.shape[0],  x.shape[0] % 8 == 0,  x.shape[1] == 4
    result    Output("tensor", (2 * x.shape[0],))
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...ir import Size, Var
from ...ir.expanded import Expanded, Leaf
from ..program import Demand


def place_variable(leaf: Leaf, axis: int) -> Var:
    """Returns the variable that stands for one size of an input: ``Var("x.shape[0]")``; of an int ``Var("n")``."""
    return Var(leaf.place(axis))


@dataclass(frozen=True, slots=True)
class Output:
    """One flat output.

    Attributes:
        kind: ``tensor``, ``int``, ``constant`` (its ``value`` is part of the artifact) or ``other``.
        sizes: Of a tensor one an axis, of an int one; over the places of the inputs, and the names in
            `Enforced.data`. None for one that the language has no words for.
        texts: The same as torch writes them.
        dtype: ``float32``; None where it is unknown.
        value: Of a constant.
        line: The line of the user's code that made it, where it can be told.
        granted: Sizes that torch took for other than 1 on the way to it, which nothing checks; None as in ``sizes``.
    """

    kind: str
    sizes: tuple[Size | None, ...] = ()
    texts: tuple[str, ...] = ()
    dtype: str | None = None
    value: object = None
    line: str | None = None
    granted: tuple[Size | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Data:
    """A size that the data of a call decides, such as the number of elements that are not zero.

    Attributes:
        name: torch's: ``u3``.
        low, high: Its range, inclusive; None for no bound.
        line: The line of the user's code that makes it, where it can be told.
    """

    name: str
    low: int | None = None
    high: int | None = None
    line: str | None = None


@dataclass(frozen=True, slots=True)
class Enforced:
    """What one artifact makes of its inputs. Predicates speak of places; see `place_variable`.

    Attributes:
        kind: What messages call it: ``exported program``, ``graph``, ``compiled function``, ``package``.
        expanded: The spec at the structure that the artifact was made for.
        checked: What it refuses at run time where it does not hold.
        relied: What it was made for without checking it: a call that violates it is computed wrong, or crashes.
        anew: What chooses it among others: a call that violates it is not refused, torch compiles it anew.
        statics: The size of each static place that it was made for, by place.
        result: What it returns, nested as it returns it, with an `Output` for each leaf; None where that is unknown.
        data: The sizes that data decides.
        unread: Conditions that it checks and that could not be read, as torch writes them: it may refuse more.
        remarks: What is said of it besides.
        cures: What to do about what it does not check.
        front: Whether shapedsl's own check stands in front of it; what that refuses is among ``checked``.
        label: Which artifact it is, where there are several: a case, a graph.
        dtypes: The dtype of each tensor that it was made for, by path: ``float32``.
    """

    kind: str
    expanded: Expanded
    checked: tuple[Demand, ...] = ()
    relied: tuple[Demand, ...] = ()
    anew: tuple[Demand, ...] = ()
    statics: tuple[tuple[str, int], ...] = ()
    result: object = None
    data: tuple[Data, ...] = ()
    unread: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    cures: tuple[str, ...] = ()
    front: bool = False
    label: str = ""
    dtypes: tuple[tuple[str, str], ...] = field(default=())


__all__ = ["Data", "Enforced", "Output", "place_variable"]
