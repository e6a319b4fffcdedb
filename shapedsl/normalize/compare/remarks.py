"""What differs between two specs and refuses no call: claims, hints, messages, documentation, cases, values.

Names are the old spec's where a variable of the new one binds the same, so that renaming is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast

from ...diagnostics import Span
from ...ir import Alternative, Bucket, Comparison, Constraint, Operator, Path, Predicate, Signature, Size, Var, Variadic
from ...ir.write_clauses import write_alternatives, write_drops, write_values
from ..predicates import simplify_predicate
from .asking import Asker
from .changes import Change, Effect, Spans, Texts, changed
from .claims import claims
from .inclusion import definitions
from .places import Places

T = TypeVar("T")


def remarks(
    old: Signature, new: Signature, first: Places, second: Places, *, asker: Asker, reasons: dict[str, None]
) -> Iterator[Change]:
    """Yields what is listed besides the calls that callers lose and gain.

    Args:
        old, new: As they were read.
        first, second: The same at one structure, which tells which variables are the same.
        asker: Answers questions.
        reasons: Receives what could not be decided.
    """
    meaning = definitions(first, second, asker)
    names = _same_names(old, new, meaning)
    roots = {now.name: was.name for was, now in zip(old.params, new.params, strict=False)}
    roots = {now: was for now, was in roots.items() if now not in {param.name for param in old.params}}
    around = old.span, new.span
    yield from claims(old, new, first, second, meaning, asker=asker, reasons=reasons)
    yield from _hints(old, new, names)
    yield from _messages(old, new, names)
    if old.doc != new.doc:
        yield _listed("doc", (old.doc or "", new.doc or ""), "the documentation changed", around)
    translated = _renamed(new, names, roots)
    if translated.alternatives != old.alternatives:
        was, now = ("\n".join(write_alternatives(side.alternatives)) for side in (old, new))
        spans = _first_span(old) or old.span, _first_span(new) or new.span
        yield _listed("cases", (was, now), "the cases or buckets changed; `check` does not look at them", spans)
    before, after = tuple(_clauses(old)), tuple(_clauses(translated))
    for line in before:
        if line not in after:
            yield _listed(line.partition(" ")[0], (line, ""), f"`{line}` is gone", around)
    for line in after:
        if line not in before:
            yield _listed(line.partition(" ")[0], ("", line), f"`{line}` is new", around)


def _listed(kind: str, texts: Texts, message: str, spans: Spans) -> Change:
    return changed(kind, "", Effect.NONE, message, texts=texts, spans=spans)


def _first_span(signature: Signature) -> Span | None:
    return signature.alternatives[0].span if signature.alternatives else None


def _clauses(signature: Signature) -> Iterator[str]:
    for value in signature.values:
        yield from write_values([value])
    for drop in signature.drops:
        yield from write_drops([drop])


def _same_names(old: Signature, new: Signature, meaning: Mapping[str, Size]) -> dict[str, str]:
    """Returns the new name → the old name of each variable that binds the same."""
    was = {variable.name for variable in old.variables}
    now = {variable.name for variable in new.variables}
    names: dict[str, str] = {}
    for name, size in meaning.items():
        base = name.partition("[")[0]
        if isinstance(size, Var) and base in now and (other := size.name.partition("[")[0]) in was:
            names[base] = other
    return {**names, **{f"{name}_pad": f"{other}_pad" for name, other in names.items()}}


def _hints(old: Signature, new: Signature, names: Mapping[str, str]) -> Iterator[Change]:
    for variable in new.variables:
        before = old.variable(names.get(variable.name, ""))
        if before is None or before.hint == variable.hint:
            continue
        was, now = ("" if each.hint is None else f"hint {each.hint}" for each in (before, variable))
        if variable.hint is None:
            message = f"`{variable.name}` has no hint any more, it was {before.hint}"
        elif before.hint is None:
            message = f"`{variable.name}` has a hint now: {variable.hint}"
        else:
            message = f"the hint of `{variable.name}` is {variable.hint}, it was {before.hint}"
        yield _listed("hint", (was, now), message, (before.span or old.span, variable.span or new.span))


def _messages(old: Signature, new: Signature, names: Mapping[str, str]) -> Iterator[Change]:
    stated: dict[Predicate, Constraint] = {}
    for constraint in old.constraints:
        stated.setdefault(simplify_predicate(constraint.predicate), constraint)
    for constraint in new.constraints:
        before = stated.get(simplify_predicate(_renamed(constraint.predicate, names, {})))
        if before is not None and before.message != constraint.message:
            texts = before.message or "", constraint.message or ""
            message = f"the message of `{constraint.text}` changed"
            yield _listed("message", texts, message, (before.span, constraint.span))


def _renamed(node: T, names: Mapping[str, str], roots: Mapping[str, str]) -> T:
    """Returns ``node`` with other names: of variables, and of the parameters that paths start at."""
    return cast("T", _rename(node, names, roots))


def _rename(node: object, names: Mapping[str, str], roots: Mapping[str, str]) -> object:
    if isinstance(node, tuple):
        return tuple(_rename(each, names, roots) for each in cast("tuple[object, ...]", node))
    match node:
        case Var(name=name) | Variadic(name=name):
            return replace(node, name=names.get(name, name))
        case Path(root=root):
            return replace(node, root=roots.get(root, root))
        case Bucket(variable=name):
            node = replace(node, variable=names.get(name, name))
        case Alternative(hints=hints):
            node = replace(node, hints=tuple(sorted((names.get(name, name), hint) for name, hint in hints)))
        case _ if isinstance(node, (Enum, Span, Operator, Comparison)) or not is_dataclass(node):
            return node
        case _:
            pass
    parts = {each.name: _rename(getattr(node, each.name), names, roots) for each in fields(cast("Var", node))}
    return replace(cast("Var", node), **cast("dict[str, Any]", parts))
