r"""What decorators said of a class → what each of its methods shares, as in a ``class`` block of a ``.shapes`` file.

Before::

    @shapes("dim B in [1, 64]\nwhere B % 2 == 0")
    class Net:
        def forward(self, x: Tensor[B]): ...
        def encode(self, n: Scalar[N]): ...

After::

    class Net:
        dim B in [1, 64]
        where B % 2 == 0

        def forward(self, x: Tensor[B]): ...
        def encode(self, n: Scalar[N]): ...      # binds no B: the `where` does not hold here

Clauses that only a def has (``case``, ``values``, …) are the ``forward``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from ...diagnostics import Report
from ...ir import Const, Level
from ...surface.facts import Facts
from ..text.define import SharedWhere
from ..text.module import evaluate
from ..text.scope import Scope, Session
from ..text.syntax import Clause, ConstStatement, Let, SizesStatement, TypeStatement, Where
from .bodies import Body, DecoratorPlaces, whole

_SHARED = (ConstStatement, Let, SizesStatement, TypeStatement, Where)


@dataclass(frozen=True, slots=True)
class Shared:
    """What was said of the class that a method stands in.

    Attributes:
        facts: What was said; types of parameters are no part of it.
        places: Where.
        has_forward: Whether the class defines ``forward``, which has the clauses that only a def can have.
        others: Returns the names that each of the other methods binds, for a predicate which this one does not; None
            where nobody knows.
    """

    facts: Facts
    places: DecoratorPlaces
    has_forward: bool = True
    others: Callable[[], Iterable[Collection[str]]] | None = None


class ClassBody:
    """What the class says, read for one of its methods.

    Attributes:
        scope: With the class's declarations.
        wheres: Its predicates; those whose names the method binds hold for it.
        rest: Clauses that only a def has.
        hints: By name.
    """

    def __init__(self, shared: Shared, session: Session, report: Report) -> None:
        self._shared = shared
        self._report = report
        body = Body(shared.facts, shared.places, report)
        clauses = body.clauses()
        self.hints: Mapping[str, Const] = body.hints()
        self.rest: list[Clause] = [clause for clause in clauses if not isinstance(clause, _SHARED)]
        self.scope = Scope(session, None, Level.CLASS)
        self.scope.declare(clauses)
        evaluate(self.scope)
        wheres = [clause for clause in clauses if isinstance(clause, Where)]
        predicates = body.predicates()
        if predicates:
            wheres.append(Where(predicates, predicates[0].span))
        self.wheres = [SharedWhere(where, self.scope, order) for order, where in enumerate(wheres)]
        if self.rest and not shared.has_forward:
            self._refuse(self.rest)

    def _refuse(self, clauses: Iterable[Clause]) -> None:
        for clause in clauses:
            self._report.error(
                "syntax-error",
                "a class without a forward shares declarations and `where` only",
                at=getattr(clause, "span", None) or whole(self._shared.places.decorator(self._shared.facts.clauses[0])),
                help="say this of one of its methods",
            )

    def check_names(self, bound: Collection[str]) -> None:
        """Reports predicates and hints of which no method binds the names.

        Args:
            bound: The names that the method binds for which this was read.
        """
        wheres = [
            where
            for where in self.wheres
            if where.reaches and not where.used and not where.reaches.keys() <= set(bound)
        ]
        hints = [name for name in self.hints if name not in bound]
        if not wheres and not hints:
            return
        if self._shared.others is None:
            return
        others = [set(names) for names in self._shared.others()]
        for where in wheres:
            if not any(names >= where.reaches.keys() for names in others):
                self._report.error(
                    "unbound-name",
                    f"no method binds {', '.join(f'`{name}`' for name in sorted(where.reaches))}",
                    at=where.statement.span,
                    help="a `where` of a class holds for the methods whose parameters bind all its names",
                )
        known = sorted(set(bound).union(*others))
        for name in hints:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                self._report.error(
                    "unbound-name",
                    f"no method of this class has a size `{name}` to hint at",
                    at=whole(self._shared.places.decorator(name)),
                    help=f"did you mean `{near[0]}`?" if near else f"their sizes are {', '.join(known) or 'none'}",
                )


__all__ = ["ClassBody", "Shared"]
