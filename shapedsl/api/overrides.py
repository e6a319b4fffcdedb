"""A method that overrides one with a spec: what it keeps of that spec.

torch looks for a spec on the overriding function alone, and finds none. Callers of the base class may
go on calling as its spec says, so the spec holds for the override too, where that has the same
parameters; more of them if they have defaults. What the override's own annotations say comes on top.

Before::

    class Base(nn.Module):
        @shapes("where B < 32")
        def forward(self, x: Tensor[B, D]): ...

    class Net(Base):
        def forward(self, x: Tensor[B, 64], verbose=False): ...

After::

    class Net:
        def forward(self, x: Tensor[B, 64], verbose = _):
            where B < 32
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..diagnostics import Report
from ..ir import AnyType, Param, ParamKind, Signature
from .callables import is_module, plain_function

if TYPE_CHECKING:
    from ..frontends.annotated.callables import RawCallable, RawParameter

_VARIADIC = (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Overridden:
    """A method that overrides one with a spec, and was not given one itself.

    Attributes:
        signature: What it and the base's spec say together; its own, or None, where the parameters differ.
        bare: Its parameters, as if nothing was said of them.
        base: The base's spec.
        owner: The name of the base class.
        member: Where it stands: the names of the class and of the method.
        differs: How the parameters differ; nothing where the spec is carried over.
    """

    signature: Signature | None
    bare: Signature
    base: Signature
    owner: str
    member: tuple[str, str]
    differs: str

    def tell(self, report: Report) -> None:
        """Warns that torch does not see the base's spec; with both places."""
        cls, name = self.member
        message = f"`{cls}` overrides the `{name}` that `{self.owner}` has a spec for"
        report.warning(
            "spec-ignored",
            f"{message}, and {self.differs}" if self.differs else f"torch.compile would ignore this spec: {message}",
            at=self.bare.span,
            also=[(self.base.span, "the spec stands here")],
            help="decorate it with `shapes` and say what its parameters are"
            if self.differs
            else "use `shapedsl.compile`, which obeys it; or decorate the override with `shapes` too",
        )


def overridden(target: Any, read: Callable[[Any, Report], Signature | None], report: Report) -> Overridden | None:
    """Returns what ``target`` keeps of the spec that it overrides; None if it overrides none, or has its own.

    Args:
        target: A function, method, module or class.
        read: Returns the spec that a method carries itself.
        report: Receives what is wrong with the base's spec, and ``conflicting-sources``.
    """
    from ..frontends.annotated.callables import unwrap

    unwrapped = unwrap(target)
    if unwrapped is None or not isinstance(unwrapped[0].owner, type):
        return None
    (raw, function), owner = unwrapped, unwrapped[0].owner
    # `forward = helper` overrides too
    name = "forward" if target is owner or is_module(target) else raw.name.rpartition(".")[2]
    members = list(_members(owner.__mro__, name))
    if len(members) < 2 or not _is(members[0][1], function):
        return None
    return _carried(members, name, read, report)


def _carried(
    members: Sequence[tuple[type, Any]], name: str, read: Callable[[Any, Report], Signature | None], report: Report
) -> Overridden | None:
    """Returns what the first of ``members``, all called ``name``, keeps of the others' spec; they override each other."""
    from ..frontends.annotated.callables import unwrap
    from ..frontends.annotated.read import bare_signature
    from ..frontends.merge import apart, merge

    (cls, member), *others = members
    if not others or _is_decorated(member):
        return None
    owner, other = others[0]
    further = None if _is_decorated(other) else _carried(others, name, read, Report())
    if further is not None:
        base, owner_name = further.signature, further.owner
    else:
        base, owner_name = (read(other, report) if _is_decorated(other) else None), owner.__name__
    bare, old, new = bare_signature(member), unwrap(other), unwrap(member)
    if base is None or bare is None or old is None or new is None:
        return None
    own = read(member, report)
    differs = _differs(_callers(old[0], base), _callers(new[0]))
    if differs:
        return Overridden(own, bare, base, owner_name, _within(cls, name), differs)
    kept = replace(base, params=tuple([p for p in base.params if not _is_open(p) or _has_parameter(new[0], p.name)]))
    merged = merge(kept, bare if own is None else apart(own, kept), report)
    signature = replace(merged, name=bare.name, span=bare.span)
    return Overridden(signature, bare, base, owner_name, _within(cls, name), "")


def _within(cls: type, name: str) -> tuple[str, str]:
    return cls.__qualname__.rpartition("<locals>.")[2], name


def _members(mro: Sequence[type], name: str) -> Iterator[tuple[type, Any]]:
    for cls in mro:
        member = vars(cls).get(name)
        if member is not None:
            yield cls, getattr(member, "__func__", member)


def _is(member: Any, function: Any) -> bool:
    from ..frontends.annotated.callables import unwrap

    unwrapped = unwrap(member)
    return unwrapped is not None and unwrapped[1] is function


def _is_decorated(member: Any) -> bool:
    """Returns whether `shapes`, `where`, `attach` or torch's own decorator was put on ``member``."""
    from ..frontends.annotated.callables import unwrap
    from .sources import SPEC_ATTRIBUTE

    function = plain_function(member)
    unwrapped = unwrap(function)
    said = unwrapped is not None and unwrapped[0].facts is not None
    return said or any(hasattr(function, mark) for mark in (SPEC_ATTRIBUTE, "_dynamic_spec"))


def _callers(raw: RawCallable, base: Signature | None = None) -> list[RawParameter]:
    """Returns the parameters that callers know; not ``*args`` and ``**kwargs`` of which ``base`` says nothing."""
    open_ = () if base is None else [param.name for param in base.params if _is_open(param)]
    return [p for p in raw.parameters if p.name != raw.receiver and p.name not in open_]


def _is_open(param: Param) -> bool:
    return param.kind in _VARIADIC and isinstance(param.type, AnyType)


def _has_parameter(raw: RawCallable, name: str) -> bool:
    return any(parameter.name == name for parameter in raw.parameters)


def _differs(old: Sequence[RawParameter], new: Sequence[RawParameter]) -> str:
    """Returns how ``new`` cannot be called as ``old`` is; nothing if it can."""
    names, by_name = {parameter.name for parameter in old}, {parameter.name: parameter for parameter in new}
    lacking = [parameter.name for parameter in old if parameter.name not in by_name]
    if lacking:
        return f"lacks {_quoted(lacking)}"
    demanded = [p.name for p in new if p.name not in names and not p.default and p.kind not in _VARIADIC]
    if demanded:
        return f"{_quoted(demanded)} {'is' if len(demanded) == 1 else 'are'} new, and {_has(demanded)} no default"
    moved = [p.name for p in old if by_name[p.name].kind is not p.kind]
    if moved:
        return f"takes {_quoted(moved)} in another way"
    positional = [
        [p.name for p in each if p.kind is not ParamKind.KEYWORD_ONLY and p.kind not in _VARIADIC]
        for each in (old, new)
    ]
    if positional[1][: len(positional[0])] != positional[0]:
        return "takes its parameters in another order"
    return ""


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


__all__ = ["Overridden", "overridden"]
