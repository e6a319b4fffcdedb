"""The last step of every frontend: types, declarations and wheres → a `Signature`.

It gives each name its kind, and turns declarations and tensor dims into constraints, so that two
frontends that saw the same facts give equal signatures. It checks nothing: `normalize.resolve` does.

Before::

    dim B in [0, 1024] hint 8
    def f(x: Tensor[B, D - 1]): where 32 > B

After::

    variables    B: dim, hint 8; D: dim
    constraints  B >= 0, B <= 1024 (declared); D - 1 >= 0 (dim); B < 32 (where)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..diagnostics import Span
from ..ir import (
    COMPARISONS,
    OPERATORS,
    Alternative,
    And,
    Apply,
    Compare,
    Const,
    Constraint,
    Dim,
    Drop,
    Level,
    Origin,
    Param,
    Predicate,
    Signature,
    Size,
    Type,
    Values,
    Var,
    Variable,
    VariableKind,
    Variadic,
)
from ..ir.orient import orient
from ..ir.walk import free_vars, scalar_sizes, tensor_dims
from ..ir.write import write_predicate


@dataclass(frozen=True, slots=True)
class Declaration:
    """A ``dim``, ``int`` or ``const X = _`` statement, for one of its names.

    Attributes:
        name: Without the star.
        kind: By its keyword.
        variadic: ``dim *name``.
        low, high: Inclusive; None for no bound. A dim's or const's ``low`` is 0 where none is written.
        modulus, residue: 1 and 0 where none is written.
        hint: The size to optimize for.
        span: The name's.
        range_span: Of ``[lo, hi]``.
        multiple_span: Of ``multiple of m plus r``.
        level: Where the statement stands.
    """

    name: str
    kind: VariableKind
    variadic: bool = False
    low: int | None = None
    high: int | None = None
    modulus: int = 1
    residue: int = 0
    hint: int | None = None
    span: Span | None = field(default=None, compare=False)
    range_span: Span | None = field(default=None, compare=False)
    multiple_span: Span | None = field(default=None, compare=False)
    level: Level = field(default=Level.DEF, compare=False)


def constraints_of(
    predicate: Predicate,
    *,
    message: str | None = None,
    text: str = "",
    span: Span | None = None,
    notes: tuple[tuple[Span, str], ...] = (),
) -> Iterator[Constraint]:
    """Yields ``predicate`` as oriented constraints, a conjunction as several.

    Args:
        predicate: With names resolved.
        message: What to say when one of them does not hold.
        text: How the user wrote it; used where it is one constraint, else each part is written out.
        span: Of the whole; a part's own span is preferred.
        notes: Secondary spans.
    """
    if isinstance(predicate, And):
        for arg in predicate.args:
            yield from constraints_of(arg, message=message, span=arg.span or span, notes=notes)
        return
    oriented = orient(predicate)
    yield Constraint(oriented, message, Origin.WHERE, text or write_predicate(oriented), predicate.span or span, notes)


def _declared(declaration: Declaration) -> Iterator[Constraint]:
    subject: Size = Variadic(declaration.name) if declaration.variadic else Var(declaration.name)
    facts = (
        (">=", subject, declaration.low, declaration.range_span),
        ("<=", subject, declaration.high, declaration.range_span),
        (
            "==",
            Apply(OPERATORS["%"], (subject, Const(declaration.modulus))),
            declaration.residue if declaration.modulus > 1 else None,
            declaration.multiple_span,
        ),
    )
    for op, left, bound, span in facts:
        if bound is not None:
            predicate = Compare(COMPARISONS[op], left, Const(bound))
            text = write_predicate(predicate).replace("*", "") if declaration.variadic else write_predicate(predicate)
            yield Constraint(predicate, None, Origin.DECLARED, text, span or declaration.span, level=declaration.level)


def _nonnegative(dim: Size) -> Constraint:
    predicate = Compare(COMPARISONS[">="], dim, Const(0))
    return Constraint(predicate, None, Origin.DIM, write_predicate(predicate), dim.span)


def assemble(
    *,
    name: str,
    params: Iterable[Param],
    returns: Type | None = None,
    declarations: Mapping[str, Declaration],
    wheres: Iterable[Constraint] = (),
    alternatives: Iterable[Alternative] = (),
    values: Iterable[Values] = (),
    ranks: Mapping[str, int] | None = None,
    drops: Iterable[Drop] = (),
    hints: Mapping[str, int] | None = None,
    index: int = 1,
    receiver: str | None = None,
    doc: str | None = None,
    span: Span | None = None,
    names: Mapping[str, Size] | None = None,
) -> Signature:
    """Returns the signature of one callable.

    Args:
        name: Dotted.
        params: Their types speak of variables only: consts, lets and type names are expanded.
        returns: The claimed return type.
        declarations: What is in scope, by name; those that nothing reaches are left out.
        wheres: From `constraints_of`.
        alternatives: In the order they are tried.
        values: What valid data is.
        ranks: Lengths of variadics.
        drops: At the def's own level.
        hints: Hints apart from declarations; they win.
        index: 2 for ``name@2``.
        receiver: ``self`` or ``cls``.
        doc: Documentation.
        span: The name's.
        names: The lets and consts in scope, expanded.
    """
    params, wheres, alternatives = tuple(params), tuple(wheres), tuple(alternatives)
    values, drops, ranks, hints = tuple(values), tuple(drops), ranks or {}, hints or {}

    sizes: dict[str, Span | None] = {}  # names that stand in a tensor dim
    variadic: set[str] = set()
    reached: dict[str, Span | None] = {}
    dims: list[Constraint] = []
    for param in params:
        for dim in tensor_dims(param.type):
            if isinstance(dim, (Var, Apply, Variadic)):
                dims.append(_nonnegative(dim))
                variadic.update(_starred(dim))
                sizes.update((used, dim.span) for used in free_vars(dim) if used not in sizes)
        for size in scalar_sizes(param.type):
            reached.update((used, size.span) for used in free_vars(size) if used not in reached)
    for used, at in _rest(wheres, alternatives, values):
        reached.setdefault(used, at)
    if returns is not None:
        for claimed in (*tensor_dims(returns), *scalar_sizes(returns)):
            for used in free_vars(claimed):
                if used in declarations and declarations[used].kind is VariableKind.CONST:
                    reached.setdefault(used, claimed.span)

    variables: list[Variable] = []
    constraints: dict[Constraint, Constraint] = {}
    for used in sorted({*sizes, *reached}):
        declared = declarations.get(used)
        if declared is None:
            kind = VariableKind.DIM if used in sizes else VariableKind.INT
            at = sizes.get(used, reached.get(used))
            variables.append(Variable(used, kind, used in variadic, hints.get(used), False, at))
            continue
        is_variadic = declared.variadic or used in variadic
        hint = hints.get(used, declared.hint)
        variables.append(Variable(used, declared.kind, is_variadic, hint, True, declared.span))
        for constraint in _declared(replace(declared, variadic=is_variadic)):
            constraints.setdefault(constraint, constraint)
    for constraint in dims:
        constraints.setdefault(constraint, constraint)
    # the first of equal constraints is kept, with its span; the others are told apart for what calls them redundant
    repeated = [constraint for constraint in wheres if constraints.setdefault(constraint, constraint) is not constraint]

    return Signature(
        name,
        params,
        returns,
        tuple(variables),
        tuple(constraints.values()),
        alternatives,
        values,
        tuple(sorted(ranks.items())),
        drops,
        index,
        receiver,
        doc,
        span,
        tuple(repeated),
        names or {},
    )


def _starred(dim: Dim) -> Iterator[str]:
    """Yields the names with a star: ``*batch``, ``prod(*batch)``."""
    if isinstance(dim, Variadic):
        yield dim.name
    elif isinstance(dim, Apply):
        for arg in dim.args:
            yield from _starred(arg)


def _rest(
    wheres: tuple[Constraint, ...], alternatives: tuple[Alternative, ...], values: tuple[Values, ...]
) -> Iterator[tuple[str, Span | None]]:
    """Yields the names that constraints, alternatives and values reach; a padded size reaches its own."""
    for constraint in wheres:
        for used in free_vars(constraint.predicate):
            yield used, constraint.span
    for alternative in alternatives:
        padded = {f"{bucket.variable}_pad": bucket.variable for bucket in alternative.buckets}
        for constraint in alternative.constraints:
            for used in free_vars(constraint.predicate):
                yield padded.get(used, used), constraint.span
        for hinted, _ in alternative.hints:
            yield hinted, alternative.span
        for bucket in alternative.buckets:
            yield bucket.variable, bucket.span
            sizes = [bucket.position, *(pad.fill for pad in bucket.pads or ())]
            for size in sizes:
                if isinstance(size, (Var, Apply)):
                    for used in free_vars(size):
                        yield padded.get(used, used), bucket.span
    for value in values:
        for size in (value.low, value.high):
            for used in free_vars(size):
                yield used, value.span


__all__ = ["Declaration", "assemble", "constraints_of", "orient"]
