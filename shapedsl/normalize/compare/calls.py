"""Pair the parameters of two signatures, as callers name them: by position, by keyword, or both.

Before::

    def f(x, y, /, z, *, k = _)
    def f(a, y, /, w, z, *, k)

After: ``x`` is ``a``, ``y`` is ``y``, ``z`` is ``z`` and ``k`` is ``k``; ``w`` is new, and stands before ``z``.
What changed for callers besides sizes is told here: names, kinds, order, defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...ir import AnyType, Param, ParamKind, Signature
from ...ir.write import write_type
from .changes import Change, Effect, changed

_STYLES = {
    ParamKind.POSITIONAL_ONLY: frozenset(("position",)),
    ParamKind.POSITIONAL_OR_KEYWORD: frozenset(("position", "keyword")),
    ParamKind.KEYWORD_ONLY: frozenset(("keyword",)),
}
_VARIABLE = (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which parameters are the same.

    Attributes:
        pairs: Old and new.
        changes: What differs between and beside them, types apart.
    """

    pairs: tuple[tuple[Param, Param], ...]
    changes: tuple[Change, ...]


def pair(old: Signature, new: Signature) -> Pairing:
    """Returns the parameters of both that are the same for a caller."""
    found: dict[str, Param] = {}  # the old name → the new parameter
    taken: set[str] = set()

    def take(first: Param, second: Param) -> None:
        found[first.name] = second
        taken.add(second.name)

    positions = _positional(old.params), _positional(new.params)
    for first, second in zip(*positions, strict=False):
        if first.kind is second.kind is ParamKind.POSITIONAL_ONLY:
            take(first, second)
    for first in old.params:
        namesake = _namesake(first, new)
        if first.name not in found and namesake is not None and namesake.name not in taken:
            take(first, namesake)
    for first, second in zip(*positions, strict=False):  # what stands at one position, under another name
        if first.name not in found and second.name not in taken:
            take(first, second)
    pairs = tuple((first, found[first.name]) for first in old.params if first.name in found)
    gone = [param for param in old.params if param.name not in found]
    fresh = [param for param in new.params if param.name not in taken]
    return Pairing(pairs, tuple(_changes(old, new, pairs, gone, fresh)))


def _namesake(param: Param, new: Signature) -> Param | None:
    """Returns the parameter that a keyword names; of ``*args`` and ``**kwargs``, the one of the same kind."""
    if param.kind in _VARIABLE:
        return next((other for other in new.params if other.kind is param.kind), None)
    return next((other for other in new.params if other.name == param.name and other.kind not in _VARIABLE), None)


def completed(partial: Signature, whole: Signature) -> Signature:
    """Returns ``partial`` with the parameters of ``whole`` that it does not list, which are static.

    A file may leave parameters out; what stands on the callable names all of them.
    """
    listed = {param.name: param for param in partial.params}
    params = [listed[p.name] if p.name in listed else replace(p, type=AnyType(), span=None) for p in whole.params]
    for param in whole.params:
        listed.pop(param.name, None)
    return replace(partial, params=(*params, *listed.values()))


def _positional(params: Sequence[Param]) -> list[Param]:
    return [param for param in params if "position" in _STYLES.get(param.kind, ())]


def _changes(
    old: Signature,
    new: Signature,
    pairs: Sequence[tuple[Param, Param]],
    gone: Sequence[Param],
    fresh: Sequence[Param],
) -> Iterator[Change]:
    for param in gone:
        yield _removed(param, old, new, pairs)
    for param in fresh:
        yield _added(param, old, new, pairs)
    for old_param, new_param in pairs:
        if old_param.kind not in _VARIABLE:
            yield from _recalled(old_param, new_param)
            yield from _default(old_param, new_param)
    yield from _moved(new, pairs)


def _removed(param: Param, old: Signature, new: Signature, pairs: Sequence[tuple[Param, Param]]) -> Change:
    more, taken = _calls_with(param, new)
    behind = _behind(param, old, [first for first, _ in pairs])
    effect = Effect.EXCHANGED if behind else _effect(lost=more, gained=not _optional(param))
    message = f"the parameter `{_name(param)}` is gone" + taken
    if behind:
        message += f"; it stood before `{behind}`, which callers may pass by position"
    return changed("parameter", param.name, effect, message, texts=(_written(param), ""), spans=(param.span, new.span))


def _added(param: Param, old: Signature, new: Signature, pairs: Sequence[tuple[Param, Param]]) -> Change:
    more, taken = _calls_with(param, old)
    behind = _behind(param, new, [second for _, second in pairs])
    effect = Effect.EXCHANGED if behind else _effect(lost=not _optional(param), gained=more)
    message = f"the parameter `{_name(param)}` is new" + taken
    if not _optional(param):
        message += " and has no default"
    if behind:
        message += f"; it stands before `{behind}`, which callers may pass by position"
    return changed("parameter", param.name, effect, message, texts=("", _written(param)), spans=(None, param.span))


def _optional(param: Param) -> bool:
    return param.default or param.kind in _VARIABLE


def _calls_with(param: Param, other: Signature) -> tuple[bool, str]:
    """Returns whether passing ``param`` is refused by the signature that lacks it, and what is to be said if not."""
    styles = _STYLES.get(param.kind, frozenset(("any",)))
    if any(each.kind is ParamKind.VAR_KEYWORD for each in other.params):
        styles -= {"keyword"}
    return bool(styles), "" if styles else ", which `**` takes in the other version"


def _behind(param: Param, owner: Signature, others: Sequence[Param]) -> str:
    """Returns the first of ``others`` that stands behind ``param`` and may be passed by position, as it may."""
    order = [each.name for each in _positional(owner.params)]
    if param.name not in order:
        return ""
    names = {other.name for other in others}
    return next((name for name in order[order.index(param.name) + 1 :] if name in names), "")


def _effect(*, lost: bool, gained: bool) -> Effect:
    if lost and gained:
        return Effect.EXCHANGED
    if lost:
        return Effect.LOST
    return Effect.GAINED if gained else Effect.NONE


def _recalled(old: Param, new: Param) -> Iterator[Change]:
    """Names and kinds: the ways in which a caller can pass it."""
    before = {(style, old.name if style == "keyword" else "") for style in _STYLES[old.kind]}
    after = {(style, new.name if style == "keyword" else "") for style in _STYLES[new.kind]}
    lost, gained = before - after, after - before
    if old.name == new.name and not lost and not gained:
        return
    effect = _effect(lost=bool(lost), gained=bool(gained))
    if old.name != new.name:
        message = f"the parameter `{old.name}` is called `{new.name}` now"
        if ("keyword", old.name) in lost:
            message += f": calls with `{old.name}=` are refused"
    else:
        styles = {style for style, _ in lost}
        message = f"the parameter `{new.name}` is {new.kind.value} now, it was {old.kind.value}"
        if styles:
            message += f": calls that pass it by {styles.pop()} are refused"
    texts = f"{old.name}: {old.kind.value}", f"{new.name}: {new.kind.value}"
    yield changed("parameter", new.name, effect, message, texts=texts, spans=(old.span, new.span))


def _default(old: Param, new: Param) -> Iterator[Change]:
    if old.default == new.default:
        return
    effect, verb = (Effect.LOST, "has no default any more") if old.default else (Effect.GAINED, "has a default now")
    texts = "= _" if old.default else "", "= _" if new.default else ""
    message = f"the parameter `{new.name}` {verb}"
    yield changed("default", new.name, effect, message, texts=texts, spans=(old.span, new.span))


def _moved(new: Signature, pairs: Sequence[tuple[Param, Param]]) -> Iterator[Change]:
    """The order of what callers may pass by position."""
    positional = [p for p in pairs if all("position" in _STYLES.get(side.kind, ()) for side in p)]
    order = [param.name for param in new.params]
    sorted_pairs = sorted(positional, key=lambda each: order.index(each[1].name))
    for (_, was), (before, now) in zip(positional, sorted_pairs, strict=True):
        if was.name != now.name:
            message = f"`{now.name}` stands where `{was.name}` stood: calls by position mean something else"
            yield changed("parameter", now.name, Effect.EXCHANGED, message, spans=(before.span, now.span))
            return


def _name(param: Param) -> str:
    stars = {ParamKind.VAR_POSITIONAL: "*", ParamKind.VAR_KEYWORD: "**"}
    return stars.get(param.kind, "") + param.name


def _written(param: Param) -> str:
    return f"{_name(param)}: {write_type(param.type)}" + (" = _" if param.default else "")
