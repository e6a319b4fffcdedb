"""What decorators and metadata said, unread: the annotation frontend's input beside annotations themselves."""

from __future__ import annotations

from .symbols import Predicate

TYPE_CHECKING = False  # typing's flag, without importing typing
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def predicate_text(predicate: object) -> str:
    """Returns a predicate's text.

    Raises:
        TypeError: It is none: Python evaluated ``B in {2, 4}`` or ``B == "x"`` to a bool, or it is a size.
    """
    if isinstance(predicate, Predicate):
        return predicate.text
    if isinstance(predicate, str):
        return predicate
    if isinstance(predicate, bool):
        raise TypeError(
            f'where() got {predicate}: Python decided the predicate; write it as text: where("B in {{2, 4}}")'
        )
    if hasattr(predicate, "__code__") or isinstance(predicate, type):
        raise TypeError(f"where needs its predicates: @where(B < 32) above {predicate!r}")
    raise TypeError(f"where() takes predicates, B < 32 or text, not {predicate!r}")


class Facts:
    """What decorators said of one function or class, unread.

    Attributes:
        code: The code of the function it was said of; `functools.wraps` copies facts onto wrappers. None of a class.
        owner: The class it was said of, which shares it with its methods; None of a function.
        shapes: Whether `shapes` was among the decorators: then plain strings in ``Annotated`` count.
        attach: Whether torch is to find the spec.
        hints: Sizes to optimize for.
        consts: Values of names that are constants; None for a static size taken from the example.
        params: By parameter: a string (what stands inside ``Tensor[…]``) or an annotation object.
        returns: The same, for the return value.
        wheres: Predicates as texts, in the order they stand in the source.
        clauses: Texts of def bodies.
        locals: What stood around the function when it was decorated, of what its string annotations may name.
    """

    __slots__ = (
        "attach",
        "clauses",
        "code",
        "consts",
        "hints",
        "locals",
        "owner",
        "params",
        "returns",
        "shapes",
        "wheres",
    )

    def __init__(self, code: object, owner: type | None = None) -> None:
        self.code = code
        self.owner = owner
        self.shapes = False
        self.attach = True
        self.hints: dict[str, int] = {}
        self.consts: dict[str, int | None] = {}
        self.params: dict[str, object] = {}
        self.returns: object = None
        self.wheres: list[str] = []
        self.clauses: list[str] = []
        self.locals: dict[str, object] = {}

    def say(
        self,
        text: str | None = None,
        *,
        hints: Mapping[str, int] | None = None,
        consts: Mapping[str, int | None] | None = None,
        params: Mapping[str, object] | None = None,
        returns: object = None,
        where: Any = None,
        attach: bool = True,
    ) -> None:
        """Adds what one ``shapes(…)`` says; decorators apply from the bottom up, so what is there already stands below.

        Raises:
            TypeError: ``where`` holds no predicate.
        """
        self.shapes = True
        self.attach = self.attach and attach
        self.hints = {**self.hints, **(hints or {})}
        self.consts = {**self.consts, **(consts or {})}
        self.params = {**self.params, **(params or {})}
        if returns is not None:
            self.returns = returns
        if where is not None:
            several = where.texts if isinstance(where, Predicates) else where
            if isinstance(several, (str, Predicate)) or not hasattr(several, "__iter__"):
                several = (several,)
            self.wheres[:0] = [predicate_text(predicate) for predicate in several]
        if text is not None:
            self.clauses.insert(0, text)

    def over(self, inner: Facts) -> Facts:
        """Returns what was said of a wrapper (this) and of what it wraps (``inner``) together."""
        both = Facts(inner.code)
        both.shapes = self.shapes or inner.shapes
        both.attach = self.attach and inner.attach
        both.hints = {**inner.hints, **self.hints}
        both.consts = {**inner.consts, **self.consts}
        both.params = {**inner.params, **self.params}
        both.returns = inner.returns if self.returns is None else self.returns
        both.wheres = [*self.wheres, *inner.wheres]
        both.clauses = [*self.clauses, *inner.clauses]
        both.locals = {**self.locals, **inner.locals}
        return both


def facts_of(function: object) -> Facts | None:
    """Returns what decorators said of ``function`` itself, not of one that it wraps."""
    facts = getattr(function, "__dict__", {}).get("__shapedsl__")
    return facts if isinstance(facts, Facts) and facts.code is getattr(function, "__code__", None) else None


def shared_facts_of(method: object) -> Facts | None:
    """Returns what decorators said of the class that ``method`` was written in."""
    facts = getattr(method, "__dict__", {}).get("__shapedsl_class__")
    return facts if isinstance(facts, Facts) else None


class Predicates:
    """Predicates as texts: metadata in ``Annotated[torch.Tensor, "B, D", where("B < 32")]``.

    Attributes:
        texts: One a predicate (a text may hold several).
    """

    __slots__ = ("texts",)

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts

    def __eq__(self, other: object) -> bool:
        return self.texts == other.texts if isinstance(other, Predicates) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.texts)

    def __repr__(self) -> str:
        return f"where({', '.join(map(repr, self.texts))})"


__all__ = ["Facts", "Predicates", "facts_of", "predicate_text", "shared_facts_of"]
