"""Check names: every one that is asked about must be bound, and no two may look like one by mistake.

- ``unbound-name``: a ``where``, ``values`` or ``case`` names a size that no parameter holds. A named
  static size may stand in ``values`` and in the return type alone: the example gives it. A ``*name``
  is bound by tensors alone: a number that is a product does not tell of how many sizes.
- ``duplicate-name``: ``*batch`` and a dim ``batch`` in one def; two ``...`` or ``*name`` in one tensor.
- ``similar-name``: two names of four or more letters that differ in one edit or in case only, are not
  told apart by digits alone, and one of which occurs once.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Edit, Fix, Report, Span
from ..ir import Apply, Dim, Ellipsis, Signature, TensorType, Type, Var, VariableKind, Variadic
from ..ir.walk import nodes, scalar_sizes, subtypes, tensor_dims
from ..ir.write import write_dim
from .uses import alike, all_names, case_names, constraint_sizes, parameter_names, sizes_of, value_names, where_names


def check_names(signature: Signature, report: Report) -> None:
    """Adds ``unbound-name``, ``duplicate-name`` and ``similar-name`` findings."""
    unbound = _check_bound(signature, report)
    _check_duplicates(signature, report)
    _check_similar(signature, unbound, report)


# --------------------------------------------------------------------------------------- bound


def _check_bound(signature: Signature, report: Report) -> set[str]:
    """Returns the names that it told of."""
    starred = dict(_starred_numbers(signature))
    bound = dict.fromkeys(name for name, _ in parameter_names(signature) if name not in starred)
    constants = {v.name for v in signature.variables if v.kind is VariableKind.CONST}
    asked: list[tuple[str, Span | None]] = list(where_names(signature))
    for alternative in signature.alternatives:
        asked += case_names(alternative)
    asked += ((name, span) for name, span in value_names(signature) if name not in constants)
    told = set(starred)
    for name, span in starred.items():
        report.error(
            "unbound-name",
            f"no tensor binds `*{name}`",
            at=span or signature.span,
            label="how many sizes are multiplied?",
            help=f"write `*{name}` in a tensor of the parameters: a number does not say how many sizes it is made of",
        )
    for name, span in asked:
        if name in bound or name in told:
            continue
        told.add(name)
        like = next((other for other in bound if alike(name, other)), None)
        report.error(
            "unbound-name",
            f"no parameter binds `{name}`",
            at=span or signature.span,
            label=f"did you mean `{like}`?" if like else "stands in no parameter's type",
            help="sizes are integers; what fills padding is written `true` or `false`"
            if name in ("True", "False")
            else f"write `{name}` in the dim of a parameter, or a parameter `Scalar[{name}]`",
            fix=_rename(span, name, like),
        )
    return told


def _starred_numbers(signature: Signature) -> Iterator[tuple[str, Span | None]]:
    """Yields the variadics that stand in scalars and lengths, and in no tensor: nothing tells their rank."""
    types = [param.type for param in signature.params]
    dims = {node for type_ in types for dim in tensor_dims(type_) for node in nodes(dim)}
    for param in signature.params:
        for size in scalar_sizes(param.type):
            for node in nodes(size):
                if isinstance(node, Variadic) and node not in dims:
                    yield node.name, node.span or size.span or param.span


def _rename(span: Span | None, name: str, like: str | None) -> Fix | None:
    if span is None or like is None or span.text != name:
        return None
    return Fix(f"write `{like}`", (Edit(span, like),))


# ---------------------------------------------------------------------------------- duplicates


def _check_duplicates(signature: Signature, report: Report) -> None:
    single: dict[str, Span | None] = {}
    variadic: dict[str, Span | None] = {}
    dims: list[Dim] = [size for param in signature.params for size in sizes_of(param.type)]
    dims += sizes_of(signature.returns) if signature.returns is not None else ()
    dims += (size for constraint in signature.constraints for size in constraint_sizes(constraint))
    for dim in dims:
        _sort(dim, single, variadic)
    for name in sorted(single.keys() & variadic.keys()):
        report.error(
            "duplicate-name",
            f"`*{name}` and `{name}` are two things under one name",
            at=single[name] or signature.span,
            label="one size",
            also=[(variadic[name], "any number of sizes")],
            help=f"give one of them another name, e.g. `{name}_size`",
        )
    for param in signature.params:
        for tensor in _tensors(param.type):
            many = [dim for dim in tensor.dims or () if isinstance(dim, (Ellipsis, Variadic))]
            if len(many) > 1:
                report.error(
                    "duplicate-name",
                    "at most one `...` or `*name` may stand in a tensor",
                    at=many[1].span or tensor.span or param.span,
                    label=f"after `{write_dim(many[0])}`, this could begin anywhere",
                    also=[(many[0].span, "the first")],
                )


def _sort(dim: Dim, single: dict[str, Span | None], variadic: dict[str, Span | None]) -> None:
    match dim:
        case Var(name=name):
            single.setdefault(name, dim.span)
        case Variadic(name=name):
            variadic.setdefault(name, dim.span)
        case Apply(args=args):
            for arg in args:
                _sort(arg, single, variadic)
        case _:
            pass


def _tensors(type_: Type) -> Iterator[TensorType]:
    if isinstance(type_, TensorType):
        yield type_
    for inner in subtypes(type_):
        yield from _tensors(inner)


# --------------------------------------------------------------------------------- similar names


def likely_pairs(names: list[str]) -> list[tuple[str, str]]:
    """Returns all pairs that may be `alike`, the earlier name first, without comparing each with each.

    Two names one edit apart become equal when one letter, or none, is left out of each.
    """
    sharing: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        shorter = (name[:gap] + name[gap + 1 :] for gap in range(len(name)))
        for key in {name, name.lower(), *shorter}:
            sharing.setdefault(key, []).append(at)
    pairs = {
        (later, earlier) for group in sharing.values() for place, later in enumerate(group) for earlier in group[:place]
    }
    return [(names[earlier], names[later]) for later, earlier in sorted(pairs)]


def _check_similar(signature: Signature, unbound: set[str], report: Report) -> None:
    counts: dict[str, int] = {}
    first: dict[str, Span | None] = {}
    for name, span in all_names(signature):
        counts[name] = counts.get(name, 0) + 1
        first.setdefault(name, span)
    for variable in signature.variables:
        if variable.declared and variable.name in counts:
            counts[variable.name] += 1
    names = [name for name in counts if len(name) >= 4 and name not in unbound]
    for name, other in likely_pairs(names):
        if 1 in (counts[name], counts[other]) and alike(name, other):
            # the rarer one is the slip; of two that occur once, the later
            slip, meant = (name, other) if counts[name] < counts[other] else (other, name)
            report.warning(
                "similar-name",
                f"`{slip}` looks like `{meant}`, and occurs once",
                at=first[slip] or signature.span,
                label=f"did you mean `{meant}`?",
                also=[(first[meant], f"`{meant}` is here")],
                fix=_rename(first[slip], slip, meant),
            )


__all__ = ["check_names"]
