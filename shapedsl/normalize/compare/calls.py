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
    return Pairing(pairs, tuple(_changes(new, pairs, gone, fresh)))


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
    new: Signature, pairs: Sequence[tuple[Param, Param]], gone: Sequence[Param], fresh: Sequence[Param]
) -> Iterator[Change]:
    for param in gone:
        yield _removed(param, new)
    for param in fresh:
        yield _added(param, new, pairs)
    for old_param, new_param in pairs:
        if old_param.kind not in _VARIABLE:
            yield from _recalled(old_param, new_param)
            yield from _default(old_param, new_param)
    yield from _moved(new, pairs)


def _removed(param: Param, new: Signature) -> Change:
    kept: set[str] = set()
    if any(other.kind is ParamKind.VAR_KEYWORD for other in new.params):
        kept.add("keyword")  # it is one of `**kwargs` now
    lost = _STYLES.get(param.kind, frozenset(("any",))) - kept
    optional = param.default or param.kind in _VARIABLE
    effect = Effect.LOST if lost else Effect.NONE
    if not optional:
        effect = Effect.EXCHANGED if lost else Effect.GAINED
    message = f"the parameter `{_name(param)}` is gone" + ("" if lost else ", `**` takes it")
    return changed("parameter", param.name, effect, message, texts=(_written(param), ""), spans=(param.span, new.span))


def _added(param: Param, new: Signature, pairs: Sequence[tuple[Param, Param]]) -> Change:
    optional = param.default or param.kind in _VARIABLE
    message = f"the parameter `{_name(param)}` is new" + ("" if optional else " and has no default")
    effect = Effect.GAINED if optional else Effect.EXCHANGED
    if optional and "position" in _STYLES.get(param.kind, ()):
        order = [other.name for other in _positional(new.params)]
        behind = [
            second.name
            for first, second in pairs
            if second.name in order
            and "position" in _STYLES.get(first.kind, ())
            and order.index(second.name) > order.index(param.name)
        ]
        if behind:
            effect = Effect.EXCHANGED
            message += f", and stands before `{behind[0]}`, which callers may pass by position"
    return changed("parameter", param.name, effect, message, texts=("", _written(param)), spans=(None, param.span))


def _recalled(old: Param, new: Param) -> Iterator[Change]:
    """Names and kinds: the ways in which a caller can pass it."""
    before = {(style, old.name if style == "keyword" else "") for style in _STYLES[old.kind]}
    after = {(style, new.name if style == "keyword" else "") for style in _STYLES[new.kind]}
    lost, gained = before - after, after - before
    if old.name == new.name and not lost and not gained:
        return
    effect = {
        (True, True): Effect.EXCHANGED,
        (True, False): Effect.LOST,
        (False, True): Effect.GAINED,
        (False, False): Effect.NONE,
    }[bool(lost), bool(gained)]
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
