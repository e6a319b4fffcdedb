"""Annotations and decorators → IR.

A function's facts are read in three steps, none of which imports torch: what Python knows of the
callable (`callables`), each annotation to a type (`types`, strings through `namespace`), and several
sources of one parameter to one type (`unify`). The rest is the text frontend's: dims, predicates and
clauses are its fragments, and its `expand` resolves names, so that the two frontends agree.

Before::

    @shapes(hints={"B": 8})
    @where(B < 32)
    def f(x: Tensor[B, "2*D"]) -> Tensor[B]: ...

After::

    the IR of:  def f(x: Tensor[B, 2 * D]) -> Tensor[B]:
                    dim B hint 8
                    where B < 32
"""

from __future__ import annotations

from .read import read_callable
from .unify import unify

__all__ = ["read_callable", "unify"]
